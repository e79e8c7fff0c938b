defmodule RustyJson.StreamCorpusTest do
  @moduledoc "Public documents in pieces: the same term, or the same error at the same place, as `decode/2` of the whole."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Streams, only: [bytes: 1, facts: 1, fed: 2]

  alias RustyJson.Test.{Corpus, Judge}

  @moduletag timeout: 600_000
  @suites for part <- ~w(JSONTestSuite/test_parsing JSONTestSuite/test_transform),
              do: {part, Corpus.skip(part)}
  # Beyond this many bytes a document is cut at some places only.
  @short 400
  @bytes 20_000

  for {name, engine} <- Judge.engines(), {part, skip} <- @suites do
    if skip, do: @tag(skip: skip)

    @tag engine: engine
    test "#{name}: #{part}, cut anywhere", %{engine: engine} do
      for file <- Corpus.names(unquote(part), "*.json"), text = Corpus.read!(unquote(part), file) do
        expected = whole(text, engine)

        for pieces <- cuts(text, unquote(name)),
            do: assert(pieces |> fed([at: ""] ++ engine) |> one(expected) == expected, file)
      end
    end
  end

  # Files that are too long for every cut.
  for {name, engine} <- Judge.engines(), {part, skip} <- [{"documents", Corpus.skip("documents")}] do
    if skip, do: @tag(skip: skip)

    @tag engine: engine
    test "#{name}: #{part}, in pieces of odd sizes", %{engine: engine} do
      for file <- Corpus.names(unquote(part), "*.json"), text = Corpus.read!(unquote(part), file) do
        assert RustyJson.decode_stream(pieces(text, 7_919), [at: ""] ++ engine) |> Enum.to_list() ==
                 [RustyJson.decode!(text, engine)]
      end
    end
  end

  # A value with something behind it is delivered before the error.
  defp one([_value, {:error, {:trailing_data, _, _, _, _, _}} = error], [{:error, _}]), do: [error]
  defp one(items, _expected), do: items

  # Streams skip it.
  defp whole("\uFEFF" <> text, engine) do
    with [{:error, {reason, position, line, column, path, message}}] <- whole(text, engine) do
      message = String.replace(message, "position #{position}", "position #{position + 3}")
      [{:error, {reason, position + 3, line, column, path, message}}]
    end
  end

  defp whole(text, engine) do
    case RustyJson.decode(text, engine) do
      {:ok, term} ->
        [term]

      {:error, error} ->
        [{:error, facts(error)}]
    end
  end

  defp cuts(text, name) do
    places = if name == :native and byte_size(text) <= @short, do: 0..byte_size(text), else: some(text)
    halves = for at <- places, do: [binary_part(text, 0, at), binary_part(text, at, byte_size(text) - at)]
    if byte_size(text) <= @bytes, do: [[text], bytes(text) | halves], else: [[text] | halves]
  end

  defp some("" = _text), do: []
  defp some(text), do: for(part <- 1..3, do: div(byte_size(text) * part, 4))

  defp pieces(text, size), do: Stream.unfold(text, &next(&1, size))

  defp next("", _size), do: nil
  defp next(text, size) when byte_size(text) <= size, do: {text, ""}
  defp next(text, size), do: {binary_part(text, 0, size), binary_part(text, size, byte_size(text) - size)}
end
