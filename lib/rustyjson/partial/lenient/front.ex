defmodule RustyJson.Partial.Lenient.Front do
  @moduledoc false
  # What stands in front of a document: white space, other text, a fence, or the beginning of a value that is the document if nothing
  # follows it.

  import RustyJson.Partial.Lenient.Filter,
    only: [behind_space: 1, mends?: 2, noted: 3, prose: 1, space: 4, words: 1]

  alias RustyJson.Partial.Lenient.{Content, Filter, Scalar}

  @fence "```"

  @doc "Takes bytes in front of the document."
  @spec before(binary(), Filter.t()) :: Filter.passed()
  # A run of bytes that start nothing is passed over at once. In white space everything else may start something; in other text only a
  # bracket and a fence.
  def before(bytes, %{at: {position, line, column}, prose: prose} = lenient) do
    {rest, at} = if prose, do: text(bytes, position, line, column), else: space(bytes, position, line, column)

    opening(rest, %{lenient | at: at})
  end

  defp text(<<?\n, rest::binary>>, position, line, _column), do: text(rest, position + 1, line + 1, 1)

  defp text(<<byte, rest::binary>>, position, line, column) when byte in 0x80..0xBF,
    do: text(rest, position + 1, line, column)

  defp text(<<byte, rest::binary>>, position, line, column) when byte not in ~c"{[`",
    do: text(rest, position + 1, line, column + 1)

  defp text(rest, position, line, column), do: {rest, {position, line, column}}

  defp opening("", lenient), do: {[], lenient}

  defp opening(bytes, lenient) do
    fence = mends?(lenient, :code_fence) and not lenient.fenced
    prose = mends?(lenient, :prose)

    cond do
      fence and String.starts_with?(bytes, @fence) ->
        fence(bytes, lenient)

      fence and String.starts_with?(@fence, bytes) ->
        {[], %{lenient | held: bytes}}

      not prose ->
        begin(bytes, lenient)

      not lenient.prose and not lenient.tried and Scalar.starts?(bytes) ->
        bytes |> Scalar.new(lenient) |> scalar()

      true ->
        maybe(begins?(bytes, lenient), bytes, lenient)
    end
  end

  defp fence(<<@fence, rest::binary>>, %{at: {position, line, column}} = lenient) do
    lenient = noted(lenient, :code_fence, position)

    info(rest, %{
      lenient
      | at: {position + 3, line, column + 3},
        phase: :info,
        fenced: true,
        prose: false,
        tried: false,
        refused: nil
    })
  end

  @doc "What comes of bytes that started like a value: see `RustyJson.Partial.Lenient.Scalar`."
  @spec scalar(Scalar.read()) :: Filter.passed()
  def scalar({:more, lenient}), do: {[], lenient}
  def scalar({:document, bytes, lenient}), do: begin(bytes, lenient)
  def scalar({:text, bytes, lenient}), do: before(bytes, %{lenient | phase: :before, tried: true})

  @doc "The next bytes of the line of a fence: the rest of it, unless the document starts in it."
  @spec info(binary(), Filter.t()) :: Filter.passed()
  def info(bytes, %{at: {position, line, column}} = lenient) do
    case language(bytes, position, column) do
      {<<?\n, rest::binary>>, {position, _column}} ->
        before(rest, %{lenient | at: {position + 1, line + 1, 1}, phase: :before})

      {"", {position, column}} ->
        {[], %{lenient | at: {position, line, column}}}

      {rest, {position, column}} ->
        before(rest, %{lenient | at: {position, line, column}, phase: :before})
    end
  end

  defp language(<<byte, _::binary>> = rest, position, column) when byte in ~c"\n{[\"",
    do: {rest, {position, column}}

  defp language(<<byte, rest::binary>>, position, column) when byte in 0x80..0xBF,
    do: language(rest, position + 1, column)

  defp language(<<_byte, rest::binary>>, position, column), do: language(rest, position + 1, column + 1)
  defp language("", position, column), do: {"", {position, column}}

  defp maybe(true, bytes, lenient), do: begin(bytes, lenient)
  defp maybe(:more, bytes, lenient), do: {[], %{lenient | held: bytes}}

  defp maybe(false, <<byte, rest::binary>>, lenient),
    do: before(rest, lenient |> refused(byte, rest) |> prose() |> moved(byte))

  # What an error shows if no document follows. The byte behind the brace decides, as in the core.
  defp refused(%{refused: nil, at: {position, line, column}} = lenient, ?{, rest) do
    {<<first, _::binary>>, place} = space(rest, position + 1, line, column + 1)
    %{lenient | refused: {no_key(first), place}}
  end

  defp refused(lenient, _byte, _rest), do: lenient

  defp no_key(?'), do: :single_quotes

  defp no_key(byte) when byte in ?a..?z or byte in ?A..?Z or byte in ?0..?9 or byte in ~c"_$",
    do: :unquoted_key

  defp no_key(_byte), do: :expected_key

  # Whether an array or object starts here: a bracket, and behind it what may stand there. A list can start with a word, but so can text
  # in brackets, so the whole word counts.
  defp begins?(<<bracket, rest::binary>>, lenient) when bracket in ~c"{[" do
    case {behind_space(rest), bracket} do
      {"", _} ->
        :more

      # A reference such as [1] in the text, where an object is asked for.
      {behind, ?[} when lenient.objects and lenient.prose ->
        is_binary(behind) and binary_part(behind, 0, 1) == "{"

      {:far, _} ->
        true

      {<<?', name::binary>>, ?{} ->
        quoted?(name)

      {<<byte, _::binary>>, ?{} ->
        byte in ~c"\"}"

      {<<byte, _::binary>>, ?[} when byte in ~c"\"{[]-0123456789" ->
        true

      {word, ?[} ->
        lenient |> words() |> Enum.find_value(false, &word?(word, &1))
    end
  end

  defp begins?(_bytes, _lenient), do: false

  @longest_name 128

  # Python's form of an object is the document, in which the core finds the error: its inner brackets would be another one. A list such as
  # ['a', 'b'] stands in text, too.
  defp quoted?(name) do
    case name |> binary_part(0, min(byte_size(name), @longest_name)) |> :binary.split("'") do
      [_name, _more] -> name |> behind_name() |> colon?()
      [_start] -> if byte_size(name) < @longest_name, do: :more, else: false
    end
  end

  defp behind_name(name) do
    [_name, behind] = :binary.split(name, "'")
    behind_space(behind)
  end

  defp colon?(""), do: :more
  defp colon?(<<byte, _::binary>>), do: byte == ?:
  defp colon?(:far), do: false

  defp word?(bytes, word) do
    if String.starts_with?(bytes, word) and byte_size(bytes) > byte_size(word),
      do: :binary.at(bytes, byte_size(word)) in ~c" \t\r\n,]",
      else: if(String.starts_with?(word, bytes), do: :more)
  end

  defp moved(%{at: {position, line, column}} = lenient, byte) when byte in 0x80..0xBF,
    do: %{lenient | at: {position + 1, line, column}}

  defp moved(%{at: {position, line, column}} = lenient, _byte),
    do: %{lenient | at: {position + 1, line, column + 1}}

  @doc "The document starts with these bytes."
  @spec begin(binary(), Filter.t()) :: Filter.passed()
  def begin(bytes, %{at: at} = lenient),
    do: Content.scan(bytes, %{lenient | phase: :document, start: at, prose: false})
end
