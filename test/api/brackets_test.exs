defmodule RustyJson.Feed.BracketsTest do
  @moduledoc "Documents in pieces that are nested without a limit: of the brackets that are open, a call gets those that its piece can close."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{Feed, Partial}
  alias RustyJson.Test.Judge

  @levels 60_000

  for {engine, chosen} <- Judge.engines() do
    @tag options: [max_depth: :infinity] ++ chosen
    test "#{engine}: the state stays small, however deep", %{options: options} do
      text = String.duplicate(~s([{"a":), @levels)

      for piece <- [100, 7_000, 300_000] do
        feed = Enum.reduce(pieces(text, piece), Feed.new(options), &fed/2)
        partial = Enum.reduce(pieces(text, piece), Partial.new(options), &pushed/2)
        for %{state: state} <- [feed, partial], do: assert(byte_size(state) < 2_000)
      end
    end

    # A piece of a byte is a call, and each call of wasmex wakes threads.
    @tag options: [max_depth: :infinity] ++ chosen,
         levels: div(@levels, if(engine == :wasmex, do: 40, else: 4))
    test "#{engine}: brackets close as they opened, wherever pieces end", %{options: options, levels: levels} do
      for {open, close} <- [{"[", "]"}, {~s({"a":), "}"}, {~s([{"a":), "}]"}],
          tail <- [",7]", "]", "}", ",{}]"] do
        text = "[" <> String.duplicate(open, levels) <> "[]" <> String.duplicate(close, levels) <> tail
        whole = RustyJson.decode(text, options)

        for size <- [1, 333, 4_096, 50_000], do: assert(in_pieces(text, size, options) === whole)
        assert in_pieces(text, :random, options) === whole
      end
    end

    @tag options: [max_depth: :infinity] ++ chosen
    test "#{engine}: depth that comes and goes, in elements of an array", %{options: options} do
      deep = fn levels -> String.duplicate("[", levels) <> "1" <> String.duplicate("]", levels) end
      text = "[" <> Enum.map_join([1, 9_000, 3, 20_000, 5_000], ",", deep) <> "]"
      {:ok, items} = RustyJson.decode(text, options)

      for size <- [1_000, 1_024, 33_000] do
        assert text |> pieces(size) |> RustyJson.decode_stream([format: :array] ++ options) |> Enum.to_list() ===
                 items

        assert text
               |> pieces(size)
               |> RustyJson.decode_stream([at: "/*", with_pointer: true] ++ options)
               |> Enum.to_list() ===
                 items |> Enum.with_index() |> Enum.map(fn {item, index} -> {"/#{index}", item} end)
      end
    end
  end

  defp in_pieces(text, size, options) do
    pieces = pieces(text, size)
    answer = partial(pieces, Partial.new(options))

    # A feed gives the same error, or the value.
    with {:error, error} <- answer do
      assert {:error, %{reason: reason, position: position}, _items, _feed} = feed(pieces, Feed.new(options))
      assert {reason, position} == {error.reason, error.position}
    end

    # Of the text, an error of a partial document has only what it kept.
    with {:error, %{reason: reason, position: position}} <- answer do
      {:error, whole} = RustyJson.decode(text, options)
      assert {reason, position} == {whole.reason, whole.position}
      {:error, whole}
    end
  end

  defp partial(pieces, partial) do
    Enum.reduce_while(pieces, partial, fn piece, partial ->
      case Partial.push(partial, piece) do
        {:ok, partial} -> {:cont, partial}
        failed -> {:halt, failed}
      end
    end)
    |> then(fn
      %Partial{} = partial -> Partial.finish(partial)
      failed -> failed
    end)
  end

  defp feed([], feed), do: Feed.finish(feed)

  defp feed([piece | rest], feed) do
    with {:ok, _items, feed} <- Feed.push(feed, piece), do: feed(rest, feed)
  end

  defp fed(piece, feed), do: with({:ok, [], feed} <- Feed.push(feed, piece), do: feed)
  defp pushed(piece, partial), do: with({:ok, partial} <- Partial.push(partial, piece), do: partial)

  defp pieces("", _size), do: []

  defp pieces(text, size) do
    length = min(if(size == :random, do: Enum.random(1..2_000), else: size), byte_size(text))
    {piece, rest} = :erlang.split_binary(text, length)
    [piece | pieces(rest, size)]
  end
end
