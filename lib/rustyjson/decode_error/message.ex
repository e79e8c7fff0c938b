defmodule RustyJson.DecodeError.Message do
  @moduledoc false
  # The message for an error of the core. `rest` is the input from the position, truncated.

  @texts %{
    unexpected_end: "Unexpected end of input",
    expected_value: "Expected value",
    unquoted_key: "Unquoted object key",
    leading_zero: "Leading zeros in numbers",
    nan: "NaN not valid JSON",
    infinity: "Infinity not valid JSON",
    single_quotes: "Single quotes not allowed",
    lone_surrogate: "Lone surrogate in string",
    invalid_number: "Invalid number",
    number_out_of_range: "Number out of range",
    expected_colon: "Expected colon after object key",
    expected_comma_or_array_end: "Expected comma or closing bracket",
    expected_comma_or_object_end: "Expected comma or closing brace",
    expected_key: "Expected object key",
    trailing_data: "Unexpected data after the value",
    byte_order_mark: "Byte order mark not allowed",
    atom_too_long: "Key longer than 255 characters cannot be an atom",
    out_of_memory: "Out of memory",
    expected_array: "Expected an array",
    expected_record: "Expected a record separator",
    key_too_long: "Key longer than 1024 bytes in a pointer",
    type_string: "Expected a string",
    type_integer: "Expected an integer",
    type_float: "Expected a number",
    type_number: "Expected a number",
    type_boolean: "Expected a boolean",
    type_decimal: "Expected a decimal number",
    type_date: "Expected a date",
    type_time: "Expected a time",
    type_naive_datetime: "Expected a date and time",
    type_utc_datetime: "Expected a date and time with an offset",
    type_duration: "Expected a duration",
    type_list: "Expected an array",
    type_object: "Expected an object",
    type_loaded: "Expected a value of the field's type",
    missing: "Missing member",
    min: "Number below the minimum",
    max: "Number above the maximum",
    min_length: "String too short",
    max_length: "String too long",
    pattern: "String does not match the pattern",
    format: "String in another format",
    min_items: "Too few elements or members",
    max_items: "Too many elements or members",
    inexact_integer: "Integer that canonical JSON cannot represent exactly",
    max_total_bytes: "Stream larger than max_total_bytes",
    pointers_too_long: "Pointers of one piece longer than 16 MB and 64 times the piece",
    rows_too_long: "Rows of one piece larger than 16 MB and 64 times the piece",
    atom_limit: "More new keys than the VM's table of atoms has room for"
  }

  # Where a comment can stand.
  @between [:expected_value, :expected_key, :expected_colon, :trailing_data] ++
             [:expected_comma_or_array_end, :expected_comma_or_object_end]

  @shown 64

  alias RustyJson.DecodeError.Snippet

  @doc "What is wrong."
  @spec text(atom(), binary(), RustyJson.Options.t()) :: {String.t(), String.t()} | String.t()
  def text(:trailing_comma, _rest, _options), do: {"Expected value", "Trailing comma"}

  def text(:expected_value, <<0x1F, 0x8B, _::binary>>, _options),
    do: {"Expected value", "Compressed data (gzip)"}

  def text(:expected_value, "```" <> _, _options), do: {"Expected value", "Markdown code fence"}

  # The next byte may be in the next piece of a stream, whose errors are the same.
  def text(reason, <<?/, _::binary>>, _options) when reason in @between,
    do: {@texts[reason], "JSON has no comments"}

  def text(:byte_order_mark, <<0xFF, 0xFE, _::binary>>, _options), do: utf16()
  def text(:byte_order_mark, <<0xFE, 0xFF, _::binary>>, _options), do: utf16()
  def text(:unclosed_array, _rest, _options), do: {"Unexpected end of input", "[ is not closed"}
  def text(:unclosed_object, _rest, _options), do: {"Unexpected end of input", "{ is not closed"}
  def text(:invalid_escape, rest, _options), do: "Invalid escape sequence: " <> escape(rest)
  def text(:invalid_unicode_escape, rest, _options), do: "Invalid unicode escape: " <> unicode_escape(rest)
  def text(:control_character, rest, _options), do: "Unescaped control character #{hex(rest)} in string"
  def text(:invalid_utf8, rest, _options), do: "Invalid UTF-8 byte #{hex(rest)}"
  def text(:duplicate_key, rest, _options), do: "Duplicate key " <> string(rest)
  def text(:unknown_key, rest, _options), do: "Unknown key " <> string(rest)
  def text(:enum, rest, _options), do: "Unknown value " <> string(rest)
  def text(:unknown_atom, rest, _options), do: "Unknown atom " <> string(rest)
  def text(:max_depth, _rest, options), do: "Nesting deeper than #{options.values.max_depth}"

  def text(:integer_digits, _rest, options),
    do: "Integer with more than #{options.values.decoding_integer_digit_limit} digits"

  def text(:decimal_digits, _rest, options),
    do: "Decimal with more than #{options.values.max_decimal_digits} digits"

  def text(:decimal_exponent, _rest, options),
    do: "Decimal with an exponent beyond #{options.values.max_decimal_exponent}"

  def text(:max_nodes, _rest, options), do: "More than #{options.values.max_nodes} values and keys"
  def text(:max_bytes, _rest, options), do: "Input larger than #{options.max_bytes} bytes"
  def text(reason, _rest, _options), do: Map.fetch!(@texts, reason)

  @doc "The whole line: what is wrong first, where then."
  @spec at({String.t(), String.t()} | String.t(), non_neg_integer(), nil | pos_integer(), pos_integer()) ::
          String.t()
  def at({text, more}, position, line, column), do: at(text, position, line, column) <> ": " <> more
  def at(text, position, nil, _column), do: "#{text} at position #{position}"
  def at(text, position, line, column), do: "#{text} at position #{position} (line #{line}, column #{column})"

  defp utf16, do: {"Byte order mark not allowed", "The text is UTF-16, and JSON is UTF-8"}

  defp escape(<<?\\, char::utf8, _::binary>>), do: "\\" <> printable(<<char::utf8>>)
  defp escape(<<?\\, byte, _::binary>>), do: "\\ and byte " <> hex(<<byte>>)
  defp escape(_rest), do: "\\"

  # \u and what stands where the four digits should be. A quote ends the string.
  defp unicode_escape(rest) do
    # A compromised guest can report this error where the text has no escape.
    [text] = Regex.run(~r/\A\\u[^"]{0,4}/s, rest) || [""]
    text |> Snippet.whole_characters() |> printable()
  end

  defp hex(<<byte, _::binary>>), do: "0x" <> String.pad_leading(Integer.to_string(byte, 16), 2, "0")
  defp hex(<<>>), do: "0x"

  # A key as it is written in the input.
  defp string(rest) do
    case Regex.run(~r/\A"(?:[^"\\]|\\.)*"/s, rest) do
      [text] when byte_size(text) <= @shown ->
        printable(text)

      _ ->
        (rest |> binary_part(0, min(byte_size(rest), @shown)) |> Snippet.whole_characters() |> printable()) <>
          "…"
    end
  end

  @doc "Always one line, whatever the text contains. Characters that hide text or change its direction are shown as bytes too."
  @spec printable(binary()) :: String.t()
  def printable(text), do: show(text, [])

  defp show(<<char::utf8, rest::binary>>, shown) when char in 0x20..0x7E or char > 0x9F do
    text = <<char::utf8>>
    plain? = String.printable?(text) and Snippet.visible(text) == text
    show(rest, [if(plain?, do: text, else: bytes(text)) | shown])
  end

  defp show(<<byte, rest::binary>>, shown), do: show(rest, [bytes(<<byte>>) | shown])
  defp show(<<>>, shown), do: shown |> Enum.reverse() |> IO.iodata_to_binary()

  defp bytes(text), do: for(<<byte <- text>>, do: "<" <> hex(<<byte>>) <> ">")
end
