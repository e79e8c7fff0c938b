defmodule RustyJson.EnumerationTest do
  @moduledoc """
  Every document of a few tokens in every engine, against the digests of the naive reader. `RUSTYJSON_TOKENS=5,4` sets the most tokens: of
  documents that are decoded and checked, and of those that are cut at each place. `script/enumerate` runs it so.
  """

  use ExUnit.Case, async: true

  alias RustyJson.Test.{Enumeration, Judge}

  @moduletag :once
  @moduletag timeout: :infinity

  defp asked, do: System.get_env("RUSTYJSON_TOKENS", "")

  defp longest(part, usual) do
    case asked() |> String.split(",", trim: true) |> Enum.at(part) do
      nil -> usual
      number -> String.to_integer(number)
    end
  end

  # For the record.
  defp tell(engine, part, longest, documents, comparisons, began) do
    seconds = System.monotonic_time(:second) - began

    row = [
      "enumerated",
      "#{engine}: #{part}",
      longest,
      length(Enumeration.tokens()),
      documents,
      comparisons,
      seconds
    ]

    if asked() != "", do: row |> Enum.join("\t") |> IO.puts()
  end

  for {engine, options} <- Judge.engines() do
    @tag options: options
    test "#{engine}: decode/2 and valid?/2 say what the naive reader says", %{options: options} do
      {longest, began} = {longest(0, 3), System.monotonic_time(:second)}

      counts =
        for {length, token, digest} <- Enumeration.digests(), length <= longest do
          {found, count} =
            Enumeration.reduce(token, length - 1, {0, 0}, fn text, {digest, count} ->
              {:erlang.crc32(digest, Enumeration.verdict(text, options)), count + 1}
            end)

          assert found == digest,
                 "#{length} tokens, the first #{inspect(token)}: another answer than the naive reader's"

          count
        end

      tell(unquote(engine), "decode, valid?", longest, Enum.sum(counts), 2 * Enum.sum(counts), began)
    end

    @tag options: options
    test "#{engine}: Feed and Partial, cut at each place, say what decode/2 says", %{options: options} do
      {longest, began} = {longest(1, 2), System.monotonic_time(:second)}

      {documents, comparisons} =
        for length <- 0..longest, reduce: {0, 0} do
          counts ->
            Enumeration.reduce("", length, counts, fn text, {documents, comparisons} ->
              {documents + 1, Enumeration.cut(text, options, comparisons)}
            end)
        end

      assert comparisons > 2 * documents - 2
      tell(unquote(engine), "Feed and Partial at each cut", longest, documents, comparisons, began)
    end
  end
end
