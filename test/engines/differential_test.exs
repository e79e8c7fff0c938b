defmodule RustyJson.DifferentialTest do
  @moduledoc """
  Engines against each other, and encode against decode, over a seeded generator: see `RustyJson.Test.Gen` for how to
  run another sequence or a longer one.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Gen, Judge, Properties, Vectors}

  @option_sets [
    [],
    [keys: :intern],
    [keys: :copy, strings: :copy],
    [floats: :decimals],
    [objects: :ordered_objects],
    [objects: :ordered_objects, floats: :decimals],
    [duplicate_keys: :first],
    [duplicate_keys: :error],
    [validate_strings: false],
    [null: :null],
    [keys: :atoms!, validate_strings: false],
    [max_depth: 3],
    [max_nodes: 10],
    [decoding_integer_digit_limit: 10],
    [dirty_threshold: 1]
  ]

  @encode_sets [
    [escape: :html_safe],
    [escape: :javascript_safe],
    [escape: :unicode_safe],
    [pretty: true],
    [pretty: [indent: "\t", line_separator: "\r\n", after_colon: ""]],
    [sort_keys: true],
    [sort_keys: true, pretty: 1],
    [maps: :strict],
    [null: :null],
    [max_depth: 3],
    [max_bytes: 50],
    [scheduler: :dirty],
    [compress: :gzip],
    [compress: {:gzip, 1}]
  ]

  test "every vector under every option: engines agree" do
    for {text, options} <- Vectors.texts(), IO.iodata_length(text) < 20_000, set <- @option_sets do
      Judge.decode(text, merge(options, set))
    end
  end

  defp merge(options, set), do: Keyword.merge(Enum.to_list(options), set)

  test "every accepted vector: encoding what was decoded is a fixpoint" do
    for {_, text, _} <- Vectors.table(:accept), do: Properties.fixpoint(text)
  end

  test "every prefix of every small vector: engines agree" do
    for {text, _} <- Vectors.texts(), is_binary(text), byte_size(text) <= 80, size <- 0..byte_size(text) do
      Judge.decode(binary_part(text, 0, size))
    end
  end

  test "every vector of encode under every option: engines agree" do
    for {_, term, options, _} <- Vectors.table(:encode), set <- @encode_sets do
      Judge.encode(term, merge(options, set))
    end
  end

  test "random terms survive" do
    Gen.check(600, &Gen.term/0, &Properties.survives/1)
  end

  test "random terms with wide maps survive, in the order of Map.to_list/1" do
    Gen.check(100, &Gen.wide_term/0, fn term ->
      Properties.survives(term)
      Properties.map_order(term)
    end)
  end

  test "random terms under every option of encode: engines agree" do
    Gen.check(150, &Gen.term/0, fn term -> for set <- @encode_sets, do: Judge.encode(term, set) end)
  end

  test "random terms: every escape mode decodes to the same term" do
    Gen.check(200, &Gen.term/0, &Properties.escapes/1)
  end

  test "random terms: pretty, then minified, is the plain form" do
    Gen.check(200, &Gen.term/0, &Properties.pretty/1)
  end

  test "random terms: sorted output is sorted" do
    Gen.check(200, &Gen.term/0, &Properties.sorted/1)
  end

  test "random texts become the term they were written from" do
    Gen.check(400, fn -> with_text(Gen.term()) end, fn {term, text} ->
      Judge.assert_decodes(text, term)
      Properties.fixpoint(text)
    end)
  end

  test "random texts under every option of decode: engines agree" do
    Gen.check(100, fn -> Gen.text(Gen.term()) end, fn text ->
      for set <- @option_sets, do: Judge.decode(text, set)
    end)
  end

  test "damaged texts: engines agree on the term or on the error and its place" do
    Gen.check(3000, fn -> Gen.damage(Gen.text(Gen.term(3))) end, &Properties.agrees/1)
  end

  test "damaged vectors: engines agree under a random option" do
    texts = for {text, _} <- Vectors.texts(), is_binary(text), byte_size(text) < 2000, do: text

    Gen.check(3000, fn -> {Gen.damage(Enum.random(texts)), Enum.random(@option_sets)} end, fn {text, options} ->
      Properties.agrees(text, options)
    end)
  end

  test "random bytes: engines agree" do
    Gen.check(2000, fn -> :rand.bytes(Enum.random(0..60)) end, &Properties.agrees/1)
  end

  test "random bytes in a string: engines agree" do
    Gen.check(2000, fn -> "\"" <> :rand.bytes(Enum.random(0..80)) <> "\"" end, fn text ->
      Properties.agrees(text)
      Properties.agrees(text, validate_strings: false)
    end)
  end

  defp with_text(term), do: {term, Gen.text(term)}
end
