defmodule RustyJson.Partial.Lenient.Scalar do
  @moduledoc false
  # A text that starts like a string, a number or a word of JSON, where other text may stand in front of the document
  # (RustyJson.Partial.Lenient.Front). It is the document if nothing but white space follows it, or the end of its fence. Until that is
  # known its bytes are kept, and each is looked at once.

  alias RustyJson.Partial.Lenient.Filter

  @fence 3
  # Longer than any word.
  @longest_word 6

  # What was read so far, the last piece first. The mode is that of a string (:string, :escape), :number, the letters of a word, :behind
  # the value, or the number of backticks behind it.
  @typep mode :: :string | :escape | :number | :behind | binary() | pos_integer()

  @doc "Whether these bytes may start one."
  @spec starts?(binary()) :: boolean()
  def starts?(<<byte, _::binary>>), do: byte in ~c"\"-0123456789tfnTFN"

  @typedoc "More bytes decide, or these are the document, or other text."
  @type read :: {:more, Filter.t()} | {:document | :text, binary(), Filter.t()}

  @doc "The first bytes: what it takes for more of them to decide, or what they are, with all bytes so far."
  @spec new(binary(), Filter.t()) :: read()
  def new(<<first, rest::binary>> = bytes, lenient) do
    mode =
      case first do
        ?" -> :string
        letter when letter in ~c"tfnTFN" -> <<letter>>
        _number -> :number
      end

    read(scan(rest, mode, lenient), bytes, [], %{lenient | phase: :scalar})
  end

  @doc "The next bytes."
  @spec push(binary(), Filter.t()) :: read()
  def push(bytes, %{scalar: {mode, before}} = lenient),
    do: bytes |> scan(mode, lenient) |> read(bytes, before, lenient)

  @doc "All bytes, when nothing follows, and whether they are a value."
  @spec rest(Filter.t()) :: {binary(), Filter.t(), boolean()}
  def rest(%{scalar: {mode, before}} = lenient) do
    whole = mode in [:number, :behind] or (is_binary(mode) and mode in Filter.words(lenient))
    {all(before), %{lenient | scalar: nil, phase: :before}, whole}
  end

  defp read(decided, bytes, before, lenient) when decided in [:document, :text],
    do: {decided, all([bytes | before]), %{lenient | scalar: nil}}

  defp read(mode, bytes, before, lenient), do: {:more, %{lenient | scalar: {mode, [bytes | before]}}}

  defp all(pieces), do: pieces |> Enum.reverse() |> IO.iodata_to_binary()

  @spec scan(binary(), mode(), Filter.t()) :: mode() | :document | :text
  defp scan("", mode, _lenient), do: mode

  defp scan(<<byte, rest::binary>>, :string, lenient) do
    case byte do
      ?" -> scan(rest, :behind, lenient)
      ?\\ -> scan(rest, :escape, lenient)
      control when control < 0x20 -> if raw?(control, lenient), do: scan(rest, :string, lenient), else: :text
      _character -> scan(rest, :string, lenient)
    end
  end

  defp scan(<<byte, rest::binary>>, :escape, lenient) when byte in ~c"\"\\/bfnrtu",
    do: scan(rest, :string, lenient)

  defp scan(_bytes, :escape, _lenient), do: :text

  defp scan(<<byte, rest::binary>>, :number, lenient) when byte in ~c"0123456789+-.eE",
    do: scan(rest, :number, lenient)

  defp scan(bytes, :number, lenient), do: scan(bytes, :behind, lenient)

  defp scan(<<byte, rest::binary>>, word, lenient)
       when is_binary(word) and (byte in ?a..?z or byte in ?A..?Z) and byte_size(word) < @longest_word,
       do: scan(rest, word <> <<byte>>, lenient)

  defp scan(bytes, word, lenient) when is_binary(word),
    do: if(word in Filter.words(lenient), do: scan(bytes, :behind, lenient), else: :text)

  defp scan(<<space, rest::binary>>, :behind, lenient) when space in ~c" \t\r\n",
    do: scan(rest, :behind, lenient)

  defp scan(<<?`, rest::binary>>, :behind, %{fenced: true} = lenient), do: scan(rest, 1, lenient)
  defp scan(<<?`, rest::binary>>, ticks, lenient) when is_integer(ticks), do: ticks(rest, ticks + 1, lenient)
  defp scan(_bytes, _mode, _lenient), do: :text

  defp ticks(_rest, @fence, _lenient), do: :document
  defp ticks(rest, ticks, lenient), do: scan(rest, ticks, lenient)

  defp raw?(control, lenient), do: control in ~c"\r\n" and Filter.mends?(lenient, :raw_newlines)
end
