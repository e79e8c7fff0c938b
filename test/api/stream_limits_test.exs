defmodule RustyJson.StreamLimitsTest do
  @moduledoc "Streams in pieces: limits hold wherever the pieces are cut, in time and memory in proportion to the text."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [items: 2, short: 1, bytes: 1, pieces: 2]

  alias RustyJson.{DecodeError, Feed}
  alias RustyJson.Test.{Heap, Judge}

  describe "pointers" do
    # Each value has two bytes, and a pointer of eight thousand.
    defp long_pointers(count) do
      key = String.duplicate("k", 1_000)

      {String.duplicate(~s({"#{key}":), 8) <> "[" <> String.duplicate("1,", count),
       "/" <> String.duplicate("*/", 8) <> "*"}
    end

    test "of many values are returned a few at a time" do
      {text, at} = long_pointers(25_000)

      for {_name, engine} <- Judge.engines() do
        task =
          Task.async(fn ->
            stream = RustyJson.decode_stream(text, [at: at, with_pointer: true, on_error: :tag] ++ engine)

            Enum.reduce(stream, {0, 0}, fn
              {:ok, {pointer, 1}}, {count, most} ->
                assert byte_size(pointer) > 8_000
                {count + 1, if(rem(count, 500) == 0, do: max(most, binaries()), else: most)}

              {:error, %DecodeError{reason: :unexpected_end}}, acc ->
                acc
            end)
          end)

        assert {25_000, most} = Task.await(task, 120_000)
        assert most < 20_000_000
      end
    end

    defp binaries do
      :erlang.garbage_collect()
      {:binary, kept} = Process.info(self(), :binary)
      kept |> Enum.map(&elem(&1, 1)) |> Enum.sum()
    end

    test "of one push have a limit" do
      {text, at} = long_pointers(25_000)

      for {_name, engine} <- Judge.engines() do
        feed = Feed.new([at: at, with_pointer: true] ++ engine)

        assert {:error, %DecodeError{reason: :pointers_too_long, line: 1} = error, items, feed} =
                 Feed.push(feed, text)

        assert length(items) in 1_000..5_000
        assert error.position == 8 * 1_004 + 2 * length(items)
        assert Feed.finish(feed) == {:error, error, []}

        feed = Feed.new([at: at, with_pointer: true] ++ engine)
        pieces = for <<piece::binary-size(1_000) <- text>>, do: piece
        assert {:ok, feed} = Enum.reduce_while(pieces, {:ok, feed}, &short_piece/2)
        assert Feed.push(feed, "2]") |> elem(0) == :ok
      end
    end

    defp short_piece(piece, {:ok, feed}) do
      case Feed.push(feed, piece) do
        {:ok, _items, feed} -> {:cont, {:ok, feed}}
        error -> {:halt, error}
      end
    end
  end

  describe "limits" do
    test "of one value, of the stream, of the depth" do
      assert short(items("[12345,123456,1]", format: :array, max_bytes: 5)) == [12_345, {:max_bytes, 7, "/1"}]
      assert short(items("[[1],[1,2,3]]", format: :array, max_nodes: 3)) == [[1], {:max_nodes, 10, "/1/2"}]
      assert short(items("[[1],[[2]]]", format: :array, max_depth: 2)) == [[1], {:max_depth, 6, "/1/0"}]
      assert short(items(~s({"a":[[1]]}), at: "/b", max_depth: 2)) == [{:max_depth, 6, "/a"}]
      assert short(items("1 2 3 4", max_total_bytes: 4)) == [1, 2, {:max_total_bytes, 4, ""}]
      assert items("1 2 3 4", max_total_bytes: 7) == [1, 2, 3, 4]

      assert short(items("[" <> String.duplicate("1", 1025) <> "]", format: :array)) == [
               {:integer_digits, 1, "/0"}
             ]
    end
  end

  # All line breaks in front of its place were a list, of 5 words each.
  test "an error behind a value of many line breaks takes no memory for them" do
    for {_, engine} <- Judge.engines() do
      feed = Feed.new([format: :array, max_total_bytes: 300_003] ++ engine)
      {:ok, [1], feed} = Feed.push(feed, "[1,[" <> String.duplicate("\n", 299_998))
      {:error, error, [], _feed} = Heap.within(100_000, fn -> Feed.push(feed, "11") end)
      assert {error.reason, error.line, error.column} == {:max_total_bytes, 299_999, 2}
    end
  end

  # The whole text gave the error behind the limit, short pieces the limit.
  test "a wrong value that is too long has one error, wherever it is cut" do
    for {text, format, max, expected} <- [
          {"[1,[1,2x]]", :array, 5, [1, {:expected_comma_or_array_end, 7, "/1/1"}]},
          {"[1,[1,2,3,4 x]]", :array, 5, [1, {:max_bytes, 3, "/1"}]},
          {~s([1,"abcdefgh\x01"]), :array, 5, [1, {:max_bytes, 3, "/1"}]},
          {~s({"a":1,"b":[1,2,3,4,5,6 x]}), :values, 15, [{:max_bytes, 0, ""}]},
          {"1\n[1,2,3,4 x]\n2", :lines, 5, [1, {:max_bytes, 2, ""}]}
        ],
        {_name, engine} <- Judge.engines() do
      options = [format: format, max_bytes: max] ++ engine

      for cut <- 1..byte_size(text), size <- [byte_size(text), 1, 2] do
        {first, rest} = String.split_at(text, cut)

        pieces = [first | pieces(rest, size)]
        assert {pieces, fed(pieces, options)} == {pieces, expected}
      end
    end
  end

  defp fed(pieces, options) do
    {items, rest} =
      Enum.reduce_while(pieces, {[], Feed.new(options)}, fn piece, {items, feed} ->
        case Feed.push(feed, piece) do
          {:ok, more, feed} -> {:cont, {items ++ more, feed}}
          {:error, error, more, _feed} -> {:halt, {items ++ more, error}}
        end
      end)

    with %Feed{} <- rest, {:ok, more} <- Feed.finish(rest) do
      items ++ more
    else
      {:error, error, more} -> items ++ more ++ [placed(error)]
      error -> items ++ [placed(error)]
    end
  end

  defp placed(error), do: {error.reason, error.position, error.path}

  test "values of a type have the limits of its numbers" do
    line = RustyJson.Test.Schemas.Line
    price = %{__struct__: Decimal, sign: 1, coef: 1, exp: 999}
    text = ~S({"sku":"a","quantity":1,"price":1e999})
    lines = [struct!(line, sku: "a", quantity: 1, price: price)]

    for options <- [[], [format: :lines], [max_nodes: 100]],
        do: assert(items(text, [as: line] ++ options) == lines)

    assert items("[#{text}]", at: "/*", as: line) == lines

    assert [{:number_out_of_range, 13, _path}] =
             short(items(~S([{"quantity":1e999}]), format: :array, as: line))

    assert [{:number_out_of_range, 1, _path}] = short(items("[1e999]", at: "/*", as: :raw))
    assert [{:number_out_of_range, 5, _path}] = short(items(~S({"x":1e999,"a":1}), at: "/a", as: line))
  end

  describe "a feed" do
    test "takes one-byte pieces in linear time" do
      reductions = fn size ->
        text = "[\"" <> String.duplicate("a", size)
        {:reductions, before} = Process.info(self(), :reductions)

        Enum.reduce(bytes(text), Feed.new(format: :array), fn byte, feed -> elem(Feed.push(feed, byte), 2) end)

        {:reductions, later} = Process.info(self(), :reductions)
        later - before
      end

      reductions.(1_000)
      assert reductions.(20_000) < 12 * reductions.(2_000)
    end
  end
end
