defmodule RustyJson.NativeJsonTest do
  @moduledoc """
  What nativejson-benchmark asks of a library: JSON_checker and the round trips from `RUSTYJSON_CORPUS`, and tables of
  the same kinds as its doubles and strings, written here.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Corpus, only: [corpus_tests: 3]

  alias RustyJson.Test.{Corpus, Judge, Vectors}

  @checker "nativejson/jsonchecker"
  @roundtrip "nativejson/roundtrip"

  corpus_tests @checker, "JSON_checker" do
    for file <- Corpus.names(@checker, "pass*.json") do
      @tag document: file
      test "JSON_checker: accepts #{file}", %{document: file} do
        assert {:ok, _} = Judge.decode(Corpus.read!(@checker, file))
      end
    end

    # EXCLUDE marks what RFC 8259 allows: a string as root, and depth 20.
    for file <- Corpus.names(@checker, "fail*.json") do
      @tag document: file, excluded: String.contains?(file, "EXCLUDE")
      test "JSON_checker: #{file}", %{document: file, excluded: excluded} do
        {outcome, _} = Judge.decode(Corpus.read!(@checker, file))
        assert outcome == if(excluded, do: :ok, else: :error)
      end
    end
  end

  # Floats are written in Erlang's layout, which differs from the text in the file for these.
  @other_layout %{
    "roundtrip24.json" => "[5.0e-324]"
  }

  corpus_tests @roundtrip, "roundtrip" do
    for file <- Corpus.names(@roundtrip) do
      @tag document: file
      test "roundtrip: #{file}", %{document: file} do
        text = String.trim(Corpus.read!(@roundtrip, file))
        assert {:ok, term} = Judge.decode(text)
        Judge.assert_encodes(term, Map.get(@other_layout, file, text))
      end
    end
  end

  test "66 doubles or more, to the last bit" do
    doubles = Vectors.table(:doubles)
    assert length(doubles) >= 66

    for {_, text, bits} <- doubles do
      assert {:ok, [float]} = Judge.decode("[" <> text <> "]")
      assert <<^bits::64>> = <<float::float>>, "#{text} became #{inspect(float)}"
    end
  end

  for {name, text, bytes} <- [
        {"empty", ~S(""), ""},
        {"plain", ~S("Grüße"), "Grüße"},
        {"line feed", ~S("one\ntwo"), "one\ntwo"},
        {"every short escape", ~S("\"\\\/\b\f\n\r\t"), "\"\\/\b\f\n\r\t"},
        {"NUL", ~S("\u0000"), <<0>>},
        {"one byte", ~S("\u0026"), <<0x26>>},
        {"two bytes", ~S("\u00A3"), <<0xC2, 0xA3>>},
        {"three bytes", ~S("\u20AA"), <<0xE2, 0x82, 0xAA>>},
        {"four bytes", ~S("\uD834\uDD60"), <<0xF0, 0x9D, 0x85, 0xA0>>}
      ] do
    @tag text: text, bytes: bytes
    test "string: #{name}", %{text: text, bytes: bytes} do
      Judge.assert_decodes(text, bytes)
    end
  end
end
