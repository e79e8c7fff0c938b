defmodule RustyJson.OtpJsonTest do
  @moduledoc "OTP's module `json`, which is resumable too, as the judge of streams that are cut at random."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Feed
  alias RustyJson.Test.{Corpus, Gen, Judge}

  @moduletag timeout: 600_000
  # Elixir before 1.18 does not know it.
  @compile {:no_warn_undefined, :json}

  unless Code.ensure_loaded?(:json), do: @moduletag(skip: "OTP has no module json before release 27")

  # OTP takes the first of repeated keys, and what the engines limit.
  @options [max_depth: :infinity, decoding_integer_digit_limit: 0, duplicate_keys: :first, on_error: :tag]
  @streams 300

  test "streams of documents" do
    Gen.check(@streams, &stream/0, fn pieces ->
      expected = theirs(pieces)
      refute :error in expected
      for {name, engine} <- Judge.engines(), do: assert(ours(pieces, engine) === expected, "#{name}")
    end)
  end

  test "streams with a byte that is wrong" do
    Gen.check(@streams, &damaged/0, fn pieces ->
      expected = theirs(pieces)
      for {name, engine} <- Judge.engines(), do: assert(agree?(ours(pieces, engine), expected), "#{name}")
    end)
  end

  for part <- ~w(JSONTestSuite/test_parsing JSONTestSuite/test_transform) do
    if Corpus.skip(part), do: @tag(skip: Corpus.skip(part))

    test "#{part}: each document in pieces" do
      # Streams skip a byte order mark, OTP does not.
      for file <- Corpus.names(unquote(part), "*.json"),
          text = Corpus.read!(unquote(part), file),
          not String.starts_with?(text, "\uFEFF") do
        pieces = cut(text)
        expected = theirs(pieces)

        for {name, engine} <- Judge.engines(),
            do: assert(agree?(ours(pieces, engine), expected), "#{name}: #{file}")
      end
    end
  end

  # OTP sees two values where there is nothing between a number and what follows, as in `1true`.
  defp agree?(ours, theirs), do: ours === theirs or (List.last(ours) == :error and ended_early?(ours, theirs))

  defp ended_early?(ours, theirs) do
    values = Enum.drop(ours, -1)
    :error in theirs and List.starts_with?(theirs, values)
  end

  ## Streams

  defp stream, do: Enum.map_join(0..Enum.random(0..4), fn _ -> document() <> blank() end) |> cut()

  # Brackets around it, so that documents need nothing between them.
  defp document, do: Gen.text([Gen.term(3)])

  defp blank, do: Enum.random(["", " ", "\n", "\r\n\t "])

  defp damaged do
    text = document()
    at = Enum.random(1..(byte_size(text) - 2))
    {before, <<byte, rest::binary>>} = :erlang.split_binary(text, at)
    wrong = Enum.random([Bitwise.bxor(byte, 1), Bitwise.bxor(byte, 128), ?", ?\\, ?,, ?]])
    cut(document() <> before <> <<wrong>> <> rest <> document())
  end

  defp cut(text) do
    places = for _ <- 1..Enum.random(1..8), do: Enum.random(0..byte_size(text))
    [0 | Enum.sort(places)] |> Enum.zip(Enum.sort(places) ++ [byte_size(text)]) |> Enum.map(&part(text, &1))
  end

  defp part(text, {from, to}), do: binary_part(text, from, to - from)

  ## Their values, and `:error` behind them

  defp ours(pieces, engine) do
    {items, feed} = Enum.flat_map_reduce(pieces, Feed.new(@options ++ engine), &push/2)
    {:ok, last} = Feed.finish(feed)

    for item <- items ++ last do
      case item do
        {:ok, term} -> term
        {:error, _error} -> :error
      end
    end
  end

  defp push(piece, feed) do
    {:ok, items, feed} = Feed.push(feed, piece)
    {items, feed}
  end

  defp theirs(pieces), do: between(pieces, "")

  defp between(pieces, rest) do
    case {String.replace(rest, ~r/\A[ \t\r\n]+/, ""), pieces} do
      {"", []} -> []
      {"", [piece | pieces]} -> between(pieces, piece)
      {text, pieces} -> follow(fn -> :json.decode_start(text, nil, %{null: nil}) end, pieces)
    end
  end

  defp follow(call, pieces) do
    case {safely(call), pieces} do
      {{:continue, state}, []} -> follow(fn -> :json.decode_continue(:end_of_input, state) end, [])
      {{:continue, state}, [piece | pieces]} -> follow(fn -> :json.decode_continue(piece, state) end, pieces)
      {{value, nil, rest}, pieces} -> [value | between(pieces, rest)]
      {:error, _pieces} -> [:error]
    end
  end

  defp safely(call) do
    call.()
  rescue
    _error in [ErlangError, ArgumentError] -> :error
  end
end
