defmodule RustyJson.CorpusTest do
  @moduledoc "Number tables, canonicalization inputs and documents from `RUSTYJSON_CORPUS`."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Corpus, only: [corpus_tests: 3]

  alias RustyJson.Test.{Corpus, Judge}

  @numbers "numbers"
  @rfc8785 "rfc8785/input"
  @documents "documents"

  @number ~r/\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z/
  @infinities [0x7FF0000000000000, 0xFFF0000000000000]

  corpus_tests @numbers, "number tables" do
    for file <- Corpus.names(@numbers, "*.txt") do
      @tag document: file
      test "numbers of #{file}, to the last bit", %{document: file} do
        rows = for line <- String.split(Corpus.read!(@numbers, file), "\n", trim: true), do: row(line)
        {json, other} = Enum.split_with(rows, fn {_, text} -> Regex.match?(@number, text) end)

        {infinite, finite} =
          json |> Enum.map(&as_float/1) |> Enum.split_with(fn {bits, _} -> bits in @infinities end)

        # One document for the finite ones: a single call per table and engine.
        assert {:ok, floats} = Judge.decode("[" <> Enum.map_join(finite, ",", &elem(&1, 1)) <> "]")
        for {{bits, text}, float} <- Enum.zip(finite, floats), do: assert(bits(float) == bits, text)

        for {_, text} <- infinite, do: Judge.assert_rejects(text, :number_out_of_range, 0)
        for {_, text} <- other, do: assert({:error, _} = Judge.decode(text))
        assert {:ok, json} = Judge.encode(floats)
        Judge.assert_decodes(json, floats)
      end
    end
  end

  defp row(line) do
    [_half, _single, bits, text] = String.split(line, " ", parts: 4)
    {String.to_integer(bits, 16), text}
  end

  # The tables have integers too; here they are to be read as floats.
  defp as_float({bits, text}), do: {bits, if(text =~ ~r/[.eE]/, do: text, else: text <> ".0")}

  defp bits(float) do
    <<bits::64>> = <<float::float>>
    bits
  end

  corpus_tests @rfc8785, "canonicalization inputs" do
    for file <- Corpus.names(@rfc8785) do
      @tag document: file
      test "rfc8785 #{file}: the same data as its canonical form", %{document: file} do
        assert {:ok, input} = Judge.decode(Corpus.read!(@rfc8785, file))
        assert {:ok, output} = Judge.decode(Corpus.read!("rfc8785/output", file))
        # Canonical JSON writes 56.0 as 56 and 1e30 as 1e+30: equal as numbers.
        assert input == output
      end
    end

    # Without floats and keys above U+FFFF, sorting by bytes is canonical.
    for file <- ["arrays.json", "french.json", "unicode.json"] do
      @tag document: file
      test "rfc8785 #{file}: sorted output is the canonical form", %{document: file} do
        assert {:ok, input} = Judge.decode(Corpus.read!(@rfc8785, file))
        Judge.assert_encodes(input, [sort_keys: true], Corpus.read!("rfc8785/output", file))
      end
    end
  end

  corpus_tests @documents, "documents" do
    for file <- Corpus.names(@documents, "*.json") do
      @tag document: file
      test "document #{file}: engines agree and nothing is lost", %{document: file} do
        text = Corpus.read!(@documents, file)
        assert {:ok, term} = Judge.decode(text)

        for options <- [[], [pretty: true], [escape: :unicode_safe], [sort_keys: true]] do
          assert {:ok, json} = Judge.encode(term, options)
          assert {:ok, again} = Judge.decode(json)
          assert Judge.same?(again, term)
        end
      end

      @tag document: file
      test "document #{file}: engines agree under every option", %{document: file} do
        text = Corpus.read!(@documents, file)

        for options <- [
              [keys: :intern],
              [keys: :copy, strings: :copy],
              [floats: :decimals],
              [objects: :ordered_objects],
              [duplicate_keys: :error],
              [max_nodes: 5_000],
              [max_depth: 3]
            ] do
          Judge.decode(text, options)
        end
      end
    end

    test "documents, a line each" do
      for line <- String.split(Corpus.read!(@documents, "amazon_cellphones.ndjson"), "\n", trim: true) do
        assert {:ok, term} = Judge.decode(line)
        assert {:ok, json} = Judge.encode(term)
        assert {:ok, ^term} = Judge.decode(json)
      end
    end
  end
end
