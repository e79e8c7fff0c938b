defmodule RustyJson.Partial.Lenient.Content do
  @moduledoc false
  # The document itself, in which commas, words and line breaks are mended, and what stands behind it.

  import RustyJson.Partial.Lenient.Filter,
    only: [behind_space: 1, mends?: 2, noted: 3, passed: 2, prose: 1, space: 4]

  alias RustyJson.Partial.Lenient.{Breaks, Filter}

  @fence "```"

  @doc "The next bytes of the document."
  @spec scan(binary(), Filter.t()) :: Filter.passed()
  # Positions count from the first byte here, which stands at `at`.
  def scan(bytes, %{mode: mode, depth: depth} = lenient),
    do: scan(bytes, mode, {bytes, 0, 0}, depth, "", lenient)

  # `{bytes, from, at}`: what stands before `from` is in `out`, and the rest starts at `at`. A run of bytes that stay as they are is passed
  # over at once, without garbage for each byte. `out` is one binary that grows in place: a list would take many times the memory of a
  # text in which every other byte is mended.
  defp scan(rest, mode, {bytes, from, at}, depth, out, lenient) when mode != :escape do
    at = if mode == :outside, do: outside(rest, at), else: string(rest, at)
    rest = part(bytes, at, byte_size(bytes))
    special(rest, mode, {bytes, from, at}, depth, out, lenient)
  end

  defp scan(rest, mode, place, depth, out, lenient), do: special(rest, mode, place, depth, out, lenient)

  defp outside(<<byte, rest::binary>>, at) when byte not in ~c"\"[{]},NTF`", do: outside(rest, at + 1)
  defp outside(_rest, at), do: at

  defp string(<<byte, rest::binary>>, at) when byte not in ~c"\"\\\n\r", do: string(rest, at + 1)
  defp string(_rest, at), do: at

  defp special(<<byte, rest::binary>>, :outside, {bytes, from, at}, depth, out, lenient) do
    case byte do
      ?" ->
        scan(rest, :string, {bytes, from, at + 1}, depth, out, lenient)

      open when open in ~c"[{" ->
        scan(rest, :outside, {bytes, from, at + 1}, depth + 1, out, lenient)

      close when close in ~c"]}" and depth <= 1 ->
        ended(rest, {bytes, from, at + 1}, out, lenient)

      close when close in ~c"]}" ->
        scan(rest, :outside, {bytes, from, at + 1}, depth - 1, out, lenient)

      ?, ->
        comma(rest, {bytes, from, at}, depth, out, lenient)

      letter when letter in ~c"NTF" ->
        bytes |> part(at, byte_size(bytes)) |> literal({bytes, from, at}, depth, out, lenient)

      ?` when depth == 0 and lenient.fenced ->
        bytes |> part(at, byte_size(bytes)) |> ended({bytes, from, at}, out, lenient)

      _other ->
        scan(rest, :outside, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  defp special(<<byte, rest::binary>>, :string, {bytes, from, at} = place, depth, out, lenient) do
    case byte do
      ?" -> scan(rest, :outside, {bytes, from, at + 1}, depth, out, lenient)
      ?\\ -> scan(rest, :escape, {bytes, from, at + 1}, depth, out, lenient)
      line_break -> line_break(line_break, rest, place, depth, out, lenient)
    end
  end

  defp special(<<_byte, rest::binary>>, :escape, {bytes, from, at}, depth, out, lenient),
    do: scan(rest, :string, {bytes, from, at + 1}, depth, out, lenient)

  defp special("", mode, {bytes, from, at}, depth, out, lenient),
    do: {<<out::binary, part(bytes, from, at)::binary>>, %{passed(lenient, at) | mode: mode, depth: depth}}

  defp part(bytes, from, at), do: binary_part(bytes, from, at - from)

  defp position(%{at: {position, _, _}}, at), do: position + at

  # This stands there in place of the next bytes.
  defp instead(text, length, mend, {bytes, from, at}, out, lenient),
    do:
      {{bytes, at + length, at + length}, <<out::binary, part(bytes, from, at)::binary, text::binary>>,
       noted(lenient, mend, position(lenient, at))}

  # The rest waits for more.
  defp hold({bytes, from, at}, depth, out, lenient) do
    held = part(bytes, at, byte_size(bytes))
    lenient = %{passed(lenient, at) | mode: :outside, depth: depth, held: :binary.copy(held)}
    {<<out::binary, part(bytes, from, at)::binary>>, lenient}
  end

  defp comma(rest, {bytes, from, at} = place, depth, out, lenient) do
    behind = if mends?(lenient, :trailing_commas), do: behind_space(rest), else: :far

    case behind do
      "" ->
        hold(place, depth, out, lenient)

      <<close, _::binary>> when close in ~c"]}" ->
        {place, out, lenient} = instead(" ", 1, :trailing_commas, place, out, lenient)
        scan(rest, :outside, place, depth, out, lenient)

      _other ->
        scan(rest, :outside, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  defp literal(<<_, behind::binary>> = rest, {bytes, from, at} = place, depth, out, lenient) do
    case Enum.find(Filter.literals(lenient), fn {word, _json} -> same?(rest, word) end) do
      {word, json} when byte_size(rest) >= byte_size(word) ->
        {place, out, lenient} = instead(json, byte_size(word), :python_literals, place, out, lenient)
        scan(part(rest, byte_size(word), byte_size(rest)), :outside, place, depth, out, lenient)

      {_word, _json} ->
        hold(place, depth, out, lenient)

      _none ->
        scan(behind, :outside, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  # One starts with the other.
  defp same?(rest, word), do: String.starts_with?(rest, word) or String.starts_with?(word, rest)

  defp line_break(byte, rest, {bytes, from, at} = place, depth, out, lenient) do
    if mends?(lenient, :raw_newlines) do
      escape = if byte == ?\n, do: "\\n", else: "\\r"
      {place, out, lenient} = instead(escape, 1, :raw_newlines, place, out, lenient)
      breaks = Breaks.add(lenient.breaks, position(lenient, at), byte)
      scan(rest, :string, place, depth, out, %{lenient | breaks: breaks})
    else
      scan(rest, :string, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  defp ended(rest, {bytes, from, at}, out, lenient) do
    {more, lenient} = behind(rest, %{passed(lenient, at) | phase: :after, depth: 0, mode: :outside})
    {[<<out::binary, part(bytes, from, at)::binary>> | more], lenient}
  end

  @doc "The next bytes behind the document."
  @spec behind(binary(), Filter.t()) :: Filter.passed()
  def behind(bytes, lenient) do
    {rest, {spaces, _, _}} = space(bytes, 0, 1, 1)
    {out, lenient} = follows(rest, passed(lenient, spaces))
    {[part(bytes, 0, spaces) | out], lenient}
  end

  defp follows("", lenient), do: {[], lenient}

  defp follows(bytes, %{fenced: fenced} = lenient) do
    prose = mends?(lenient, :prose)

    cond do
      fenced and String.starts_with?(bytes, @fence) -> fence_ended(bytes, lenient)
      fenced and String.starts_with?(@fence, bytes) -> {[], %{lenient | held: bytes}}
      prose -> {[], %{prose(lenient) | phase: :dropped}}
      true -> {bytes, %{lenient | phase: :ended}}
    end
  end

  defp fence_ended(<<@fence, rest::binary>>, lenient) do
    lenient = noted(lenient, :code_fence, position(lenient, 0))
    {out, lenient} = behind(rest, %{passed(lenient, 3) | fenced: false})
    {["   " | out], lenient}
  end
end
