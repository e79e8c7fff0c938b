defmodule RustyJson.Test.Judge do
  @moduledoc """
  Makes a call in every available engine and compares the term, the bytes, and every field of an error.

  All checks of vectors go through here, so an engine that is built is never left out. `RUSTYJSON_REQUIRE` names the
  engines (`native,built_in,wasmex`) that must be available. Without it, the tests of a missing engine are skipped with a reason.
  """

  import ExUnit.Assertions

  alias RustyJson.{DecodeError, EncodeError, SandboxError}

  @engines [
    native: [engine: :native],
    built_in: [engine: :wasm, host: :built_in],
    wasmex: [engine: :wasm, host: :wasmex]
  ]

  # The words that a message starts with. errors_test.exs tests the rest of the message.
  @heads %{
    unexpected_end: "Unexpected end of input",
    expected_value: "Expected value",
    trailing_comma: "Expected value",
    unquoted_key: "Unquoted object key",
    leading_zero: "Leading zeros in numbers",
    nan: "NaN not valid JSON",
    infinity: "Infinity not valid JSON",
    single_quotes: "Single quotes not allowed",
    invalid_escape: "Invalid escape sequence: \\",
    invalid_unicode_escape: "Invalid unicode escape: \\u",
    lone_surrogate: "Lone surrogate in string",
    control_character: "Unescaped control character 0x",
    invalid_utf8: "Invalid UTF-8 byte 0x",
    invalid_number: "Invalid number",
    number_out_of_range: "Number out of range",
    expected_colon: "Expected colon after object key",
    expected_comma_or_array_end: "Expected comma or closing bracket",
    expected_comma_or_object_end: "Expected comma or closing brace",
    expected_key: "Expected object key",
    trailing_data: "Unexpected data after the value",
    duplicate_key: "Duplicate key ",
    max_depth: "Nesting deeper than ",
    max_nodes: "More than ",
    max_bytes: "Input larger than ",
    integer_digits: "Integer with more than ",
    decimal_digits: "Decimal with more than ",
    decimal_exponent: "Decimal with an exponent beyond ",
    unknown_atom: "Unknown atom ",
    byte_order_mark: "Byte order mark not allowed",
    atom_too_long: "Key longer than 255 characters cannot be an atom"
  }

  @token 32

  @doc "The available engines, with the options that choose them."
  def engines, do: for({name, options, nil} <- status(), do: {name, options})

  @doc "The engines that are not available, with the reason."
  def missing, do: for({name, _, reason} <- status(), reason, do: {name, reason})

  @doc "Whether this engine is available."
  def available?(name), do: List.keymember?(engines(), name, 0)

  defp status do
    with nil <- :persistent_term.get({__MODULE__, :status}, nil) do
      status = for {name, options} <- @engines, do: {name, options, failure(options)}
      :persistent_term.put({__MODULE__, :status}, status)
      status
    end
  end

  # The first call waits until the host has compiled the module, which takes long on a busy machine and in an emulator.
  defp failure(options) do
    patient = if options[:engine] == :wasm, do: [timeout: 120_000], else: []

    case RustyJson.decode("[1]", patient ++ options) do
      {:ok, [1]} -> nil
      {:error, error} -> one_line(error)
    end
  rescue
    error -> one_line(error)
  end

  defp one_line(error), do: error |> Exception.message() |> String.replace(~r/\s+/, " ")

  @doc "Decodes the text in every engine. All must return the same `{:ok, term}` or `{:error, error}`."
  def decode(text, options \\ []) do
    outcome = unanimous(text, options, fn options -> RustyJson.decode(text, options) end)
    with {:error, %DecodeError{} = error} <- outcome, do: check_error(error, IO.iodata_to_binary(text))
    outcome
  end

  @doc "The same, for texts that are too long to be checked here."
  def decode_quietly(text, options),
    do: unanimous("…", options, fn options -> RustyJson.decode(text, options) end)

  @doc "Encodes the term in every engine. All must give the same `{:ok, json}`, `{:error, error}` or `{:raised, name, message}`."
  def encode(term, options \\ []) do
    unanimous(term, options, fn options -> RustyJson.encode(term, options) end)
  end

  @doc "Calls the function with the options of every engine. All must return the same result."
  def same(input, options, call), do: unanimous(input, options, call)

  @doc "Passes when every engine decodes the text to this very term."
  def assert_decodes(text, options \\ [], term) do
    case decode(text, options) do
      {:ok, decoded} ->
        unless same?(decoded, term),
          do: flunk("decoded #{show(text)} to\n#{show(decoded)}\ninstead of\n#{show(term)}")

      other ->
        flunk("did not decode #{show(text)}: #{show(other)}")
    end
  end

  @doc "Passes when every engine rejects the text for this reason (or one of these) at this position."
  def assert_rejects(text, options \\ [], reason, position, path \\ nil) do
    case decode(text, options) do
      {:error, %DecodeError{} = error} ->
        if error.reason not in List.wrap(reason) or error.position != position do
          as = "as #{error.reason} at #{error.position}, not as #{inspect(reason)} at #{position}"
          flunk("rejected #{show(text)} #{as}")
        end

        if path, do: assert(error.path == path)
        error

      other ->
        flunk("did not reject #{show(text)} but gave #{show(other)}")
    end
  end

  @doc "Passes when every engine encodes the term to these bytes."
  def assert_encodes(term, options \\ [], bytes) do
    assert {:ok, bytes} == encode(term, options)
  end

  @doc "Passes when every engine rejects the term with this message (or a match) and path (unless nil)."
  def assert_encode_error(term, options \\ [], message, path) do
    assert {:error, %EncodeError{} = error} = encode(term, options)
    if is_binary(message), do: assert(error.message == message), else: assert(error.message =~ message)
    if path, do: assert(error.path == path)
    error
  end

  @doc "Equal to the last bit: `-0.0` is not `0.0`, `1` not `1.0`."
  def same?(a, b), do: a === b and :erlang.term_to_binary(a) == :erlang.term_to_binary(b)

  defp unanimous(input, options, call) do
    case for {name, chosen} <- engines(), do: {name, outcome(call, with_engine(options, chosen))} do
      [] ->
        flunk("no engine is there: #{inspect(missing())}")

      [{first_name, first} | others] ->
        for {name, other} <- others, not same?(first, other) do
          flunk(
            "#{name} and #{first_name} differ on #{show(input)} with #{inspect(options)}:\n" <>
              "#{first_name}: #{show(first)}\n#{name}: #{show(other)}"
          )
        end

        first
    end
  end

  defp with_engine(options, chosen) when is_map(options), do: Enum.into(chosen, options)
  defp with_engine(options, chosen), do: chosen ++ options

  defp outcome(call, options) do
    case call.(options) do
      {:error, %SandboxError{} = error} -> {:sandbox, error.reason}
      other -> other
    end
  rescue
    error -> {:raised, error.__struct__, Exception.message(error)}
  end

  ## What must hold for every decode error, worked out from the text alone

  defp check_error(error, text) do
    assert error.position in 0..byte_size(text)
    # Iodata that is too long is never flattened, so the error has no data.
    assert error.data == text or (error.reason == :max_bytes and error.data == "")
    before = binary_part(text, 0, error.position)
    lines = :binary.split(before, "\n", [:global])
    assert error.line == length(lines)
    assert error.column == characters(List.last(lines)) + 1
    check_token(error, binary_part(error.data, error.position, byte_size(error.data) - error.position))
    check_message(error)
    assert error.path == "" or String.starts_with?(error.path, "/")
    assert String.valid?(error.path)
  end

  # Bytes that start a character. An invalid byte counts unless it looks like a continuation byte.
  defp characters(line),
    do: for(<<byte <- line>>, byte not in 0x80..0xBF, reduce: 0, do: (count -> count + 1))

  # At most 32 bytes of the rest. If a character does not fit, it can be left out.
  defp check_token(%{token: token}, rest) do
    assert byte_size(token) <= @token
    assert String.starts_with?(rest, token)
    assert byte_size(token) >= min(byte_size(rest), @token) - 3
  end

  defp check_message(%{message: message, reason: reason} = error) do
    assert String.starts_with?(message, Map.fetch!(@heads, reason))
    assert message =~ "at position #{error.position} (line #{error.line}, column #{error.column})"
    assert String.valid?(message)
    refute message =~ "\n"
    assert Exception.message(error) == message
  end

  defp show(term), do: inspect(term, limit: 50, printable_limit: 400)
end
