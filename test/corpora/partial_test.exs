defmodule RustyJson.PartialCorpusTest do
  @moduledoc "Public documents that are looked at while they arrive: what there is only grows, and the end is that of `decode/2`."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Corpus, Judge, Partials, Streams}

  @moduletag timeout: 600_000
  @parts ~w(JSONTestSuite/test_parsing JSONTestSuite/test_transform nativejson/jsonchecker nativejson/roundtrip rfc8785/input)
  @suites for part <- @parts, do: {part, Corpus.skip(part)}
  # Longer documents are looked at behind some of their bytes.
  @short 1_000

  for {name, engine} <- Judge.engines(), {part, skip} <- @suites do
    if skip, do: @tag(skip: skip)

    @tag engine: engine
    test "#{name}: #{part}, behind every byte", %{engine: engine} do
      for file <- Corpus.names(unquote(part), "*.json"), text = Corpus.read!(unquote(part), file) do
        lists =
          if byte_size(text) <= @short,
            do: [[text], Streams.bytes(text)],
            else: [Streams.pieces(text, div(byte_size(text), 97))]

        for options <- [[], [trailing: :drop], [objects: :ordered_objects]],
            do: Partials.check_engine(text, options ++ engine, lists)
      end
    end
  end

  for {name, engine} <- Judge.engines(), {part, skip} <- [{"documents", Corpus.skip("documents")}] do
    if skip, do: @tag(skip: skip)

    @tag engine: engine
    test "#{name}: #{part}, in pieces of odd sizes", %{engine: engine} do
      for file <- Corpus.names(unquote(part), "*.json"), text = Corpus.read!(unquote(part), file) do
        pieces = Streams.pieces(text, div(byte_size(text), 7) + 1)
        Partials.check_engine(text, [objects: :ordered_objects] ++ engine, [pieces], false)
      end
    end
  end
end
