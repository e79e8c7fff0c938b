defmodule RustyJson.StreamTest do
  @moduledoc "Streams in pieces: the table of edge cases, in every engine, cut at every byte."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [items: 1, items: 2, items: 3, short: 1, bytes: 1, pieces: 2]

  alias RustyJson.{DecodeError, Feed, Fragment}
  alias RustyJson.Test.{Heap, Judge}

  describe "values" do
    test "white space is optional beside strings, arrays and objects" do
      assert items(~s([1]{"a":2}"b"[] 3)) == [[1], %{"a" => 2}, "b", [], 3]
      assert items(~s(1[2]3"a"true{}null)) == [1, [2], 3, "a", true, %{}, nil]
      assert items("") == []
      assert items(" \n") == []
    end

    test "numbers and literals have to be told apart" do
      assert short(items("1true")) == [1, {:trailing_data, 1, ""}]
      assert short(items("true1")) == [true, {:trailing_data, 4, ""}]
      assert short(items("01")) == [{:leading_zero, 0, ""}]
      assert short(items("[1],")) == [[1], {:expected_value, 3, ""}]
    end

    test "cut inside of characters, escapes, surrogate pairs, literals and numbers" do
      text = ~S(["é😀","\ud83d\ude00\u00e9\n",true,false,null,-12.5e-3])
      assert items(text) == [RustyJson.decode!(text)]
    end

    test "a number at the end waits for the end" do
      assert {:ok, [], feed} = Feed.push(Feed.new(), "12")
      assert Feed.finish(feed) == {:ok, [12]}
      assert {:ok, [123], _} = Feed.push(feed, "3 ")
    end

    test "errors have the place in the stream" do
      text = "[1]\n{\"a\":[1\n,x]}"
      assert [[1], {:error, {:expected_value, 13, 3, 2, "/a/1", message}}] = items(text)
      assert message =~ "Expected value at position 13 (line 3, column 2)"
    end

    test "words of other languages" do
      assert short(items("NaN")) == [{:nan, 0, ""}]
      assert short(items("[-Infinity]")) == [{:infinity, 1, "/0"}]
      assert short(items("1 Inf")) == [1, {:expected_value, 2, ""}]
    end
  end

  describe "a byte order mark" do
    test "at the start is skipped in every format, wherever the pieces are cut" do
      for {text, options} <- [
            {"[1] 2", []},
            {~s({"a":1}\r\n[2]\r\n), [format: :lines]},
            {"\x1E[1]\n\x1E2\n", [format: :seq]},
            {"[1,2]", [format: :array]},
            {~s({"a":[1]}), [at: "/a/*", with_pointer: true]},
            {"[1]", [at: ""]},
            {"[1,2]", [format: :array, as: {:list, :integer}, on_error: :tag]},
            {"", [format: :lines]},
            {"", []}
          ] do
        marked = items("\uFEFF" <> text, options)
        assert marked == items(text, options) or options[:on_error] == :tag
      end

      assert [{:expected_value, 4, 1, 2, "/0", _}] =
               for({:error, facts} <- items("\uFEFF[x", format: :lines), do: facts)

      assert items("\uFEFF1\n2", format: :lines, max_total_bytes: 6) == [1, 2]
    end

    test "elsewhere, or of UTF-16, is an error" do
      assert short(items("1\n\uFEFF2", format: :lines)) == [1, {:byte_order_mark, 2, ""}]
      assert short(items(" \uFEFF1")) == [{:expected_value, 1, ""}]
      assert short(items("\uFEFF\uFEFF1")) == [{:expected_value, 3, ""}]
      assert short(items("\xFE\xFF1")) == [{:byte_order_mark, 0, ""}]
      assert [{reason, 0, ""}] = short(items("\xEF\xBB"))
      assert reason == :expected_value
      assert {:error, %{reason: :byte_order_mark}} = RustyJson.decode("\uFEFF1")
    end
  end

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

  describe "the elements of an array" do
    test "as they come" do
      assert items(~s( [1, [2], {"a": 3}, "b"] ), format: :array) == [1, [2], %{"a" => 3}, "b"]
      assert items("[]", format: :array) == []
    end

    test "those before a fault are delivered" do
      for {text, expected} <- [
            {"[1 2]", [1, {:expected_comma_or_array_end, 3, "/0"}]},
            {"[1,2", [1, {:unexpected_end, 4, "/1"}]},
            {"[1,]", [1, {:trailing_comma, 3, "/1"}]},
            {"[1]x", [1, {:trailing_data, 3, ""}]},
            {"[1][", [1, {:trailing_data, 3, ""}]},
            {"{}", [{:expected_array, 0, ""}]},
            {"12", [{:expected_array, 0, ""}]},
            {"x", [{:expected_value, 0, ""}]},
            {"", [{:unexpected_end, 0, ""}]},
            {~s([1,{"x":[2,tru]}]), [1, {:expected_value, 11, "/1/x/1"}]}
          ] do
        assert short(items(text, format: :array)) == expected, text
      end
    end
  end

  describe "at:" do
    @text ~s({"n":[0],"results":[{"id":1},{"id":2,"x":[3]}],"more":{"results":[9]},"results":[4]})

    test "a place, wildcards, pointers" do
      assert items(@text, at: "/results/*") == [%{"id" => 1}, %{"id" => 2, "x" => [3]}, 4]
      assert items(@text, at: "/results/*/id") == [1, 2]
      assert items(@text, at: "/*/*/x/0") == [3]
      assert items(@text, at: "/results/1/x", with_pointer: true) == [{"/results/1/x", [3]}]
      assert items(@text, at: "/more/*", with_pointer: true) == [{"/more/results", [9]}]
      assert items("[1]", at: "") == [[1]]
    end

    test "a segment of digits is an index, or that key" do
      assert items("[5,6,7]", at: "/1") == [6]
      assert items(~s({"1":5,"01":6}), at: "/1") == [5]
      assert items("[5,6,7]", at: "/01") == []
    end

    test "keys are compared and shown as RFC 6901 has them" do
      assert items(~s({"a/b~":{"\\u0078":1}}), at: "/a~1b~0/x", with_pointer: true) == [{"/a~1b~0/x", 1}]
      assert items(~s({"":{"":1}}), at: "//") == [1]
    end

    test "without a match the document is validated all the same" do
      assert items("1", at: "/a") == []
      assert items("[1,[2]]", at: "/a/b") == []
      assert short(items(~s({"a":[1,x]}), at: "/b")) == [{:expected_value, 8, "/a"}]
      assert short(items(~s({"a":1e400}), at: "/b")) == [{:number_out_of_range, 5, "/a"}]
      assert short(items(~s({"a":"\\ud83d"}), at: "/b")) == [{:lone_surrogate, 6, "/a"}]
      assert short(items(~s({"b":[1,{"x":tru}]}), at: "/b/*")) == [1, {:expected_value, 13, "/b/1/x"}]
      assert short(items("{", at: "/b")) == [{:unexpected_end, 1, ""}]
    end
  end

  describe "lines" do
    test "blank lines and CRLF" do
      assert items("1\r\n\r\n \n{\"a\":2}\n[3]", format: :lines) == [1, %{"a" => 2}, [3]]
      assert items("", format: :lines) == []
    end

    test "a bad line with :tag is one item" do
      assert [{:ok, 1}, {:error, _}, {:ok, 3}, {:error, _}, {:ok, 5}] =
               tagged("1\n[2\n3\n4 4\n5", format: :lines)

      assert short(items("1\n[2\n3", format: :lines)) == [1, {:unexpected_end, 4, "/0"}]
    end

    test "the comma at the end of a line that is too long is not one of the next line" do
      for {_name, engine} <- Judge.engines(), pieces <- [["[1,1,1,\n]\n2"], ["[1,1,1", ",\n]\n2"]] do
        options = [format: :lines, max_bytes: 5, on_error: :tag] ++ engine
        items = pieces |> Stream.map(& &1) |> RustyJson.decode_stream(options) |> Enum.to_list()
        assert [{:error, %{reason: :max_bytes}}, {:error, %{reason: :expected_value}}, {:ok, 2}] = items
      end
    end

    test "a line over max_bytes is left out without being kept" do
      text = "[12]\n[" <> String.duplicate("1,", 50) <> "1]\n[3]"
      options = [format: :lines, max_bytes: 10, on_error: :tag]
      assert [{:ok, [12]}, {:error, _}, {:ok, [3]}] = items(text, options)

      {:ok, _, feed} = Feed.push(Feed.new(options), "[" <> String.duplicate("1,", 50))
      assert feed.pending == ""
      assert {:ok, [], _} = Feed.push(feed, "1]")
    end
  end

  describe "sequences (RFC 7464)" do
    test "separators" do
      assert items("\x1E1\n\x1E\x1E{\"a\":2}\n\x1E[3]", format: :seq) == [1, %{"a" => 2}, [3]]
      assert items("", format: :seq) == []
    end

    test "what may be cut off, and text before the first, are errors" do
      assert short(items("\x1E12\x1E3\n", format: :seq)) == [{:unexpected_end, 3, ""}]
      assert short(items("\x1Etrue", format: :seq)) == [{:unexpected_end, 5, ""}]
      assert short(items("1\n\x1E2\n", format: :seq)) == [{:expected_record, 0, ""}]
      assert [{:error, _}, {:ok, 2}, {:error, _}, {:ok, 4}] = tagged("1\n\x1E2\n\x1E3\x1E4\n", format: :seq)
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

  describe "options of decode/2" do
    test "make the same terms" do
      text = ~s([{"b":1.50,"a":{"b":2}},{"b":1,"b":2}])

      for options <- [
            [keys: :atoms],
            [keys: :atoms!],
            [keys: &String.upcase/1],
            [keys: :intern],
            [floats: :decimals],
            [objects: :ordered_objects],
            [objects: :ordered_objects, keys: &String.upcase/1],
            [duplicate_keys: :first],
            [strings: :reference]
          ] do
        assert items(text, [format: :array] ++ options) == RustyJson.decode!(text, options)
      end
    end

    test "keys: :atoms and new names; :atoms! and unknown ones" do
      new = for i <- 1..3, do: "stream_#{System.unique_integer([:positive])}_#{i}"
      text = "[" <> Enum.map_join(new, ",", &~s({"#{&1}":1})) <> "]"
      assert short(items(text, [format: :array, keys: :atoms!], :few)) == [{:unknown_atom, 2, "/0"}]
      assert items(text, [format: :array, keys: :atoms], :few) == RustyJson.decode!(text, keys: :atoms)
      bad = ~s([{"stream_test":1},{"stream_#{System.unique_integer([:positive])}":x}])

      assert short(items(bad, [format: :array, keys: :atoms], :few)) |> List.last() |> elem(0) ==
               :expected_value

      # Engines agree on which error comes first.
      for {text, options, error} <- [
            {~s({"KEY":x}), [], :expected_value},
            {~s({"KEY":1,]), [at: ""], :expected_key},
            {~s({"KEY":1} x), [format: :lines], :trailing_data},
            {~s([[1],{"KEY":), [format: :array], :unexpected_end},
            {~s({"KEY":1} x), [], :unknown_atom},
            {~s({"KEY":1}\n{"KEY":x}), [format: :lines], :unknown_atom}
          ] do
        text = String.replace(text, "KEY", "stream_#{System.unique_integer([:positive])}")

        assert short(items(text, [keys: :atoms!] ++ options, :few)) |> List.last() |> elem(0) == error
      end
    end
  end

  describe "decode_stream/2" do
    test "takes iodata and enumerables, closes the source once" do
      assert Enum.to_list(RustyJson.decode_stream(["[1", [" ]"], ?2])) == [[1], 2]
      me = self()
      source = Stream.resource(fn -> 1 end, &{["#{&1} "], &1 + 1}, fn _ -> send(me, :closed) end)
      assert source |> RustyJson.decode_stream() |> Enum.take(3) == [1, 2, 3]
      assert_received :closed
      refute_received :closed
    end

    test "a consumer that stops, fails or goes on later: the source is closed once" do
      me = self()
      source = Stream.resource(fn -> 1 end, &{["#{&1} #{&1} "], &1 + 1}, fn _ -> send(me, :closed) end)
      stream = RustyJson.decode_stream(source)

      assert stream |> Stream.zip(stream) |> Enum.take(3) == [{1, 1}, {1, 1}, {2, 2}]
      for _ <- 1..2, do: assert_received(:closed)

      assert_raise RuntimeError, "enough", fn -> Enum.each(stream, &if(&1 == 2, do: raise("enough"))) end
      assert_received :closed

      assert catch_throw(Enum.each(stream, &if(&1 == 3, do: throw(:enough)))) == :enough
      assert_received :closed

      bad = Stream.map(source, &if(&1 == "2 2 ", do: "x", else: &1))
      assert_raise DecodeError, fn -> bad |> RustyJson.decode_stream() |> Stream.run() end
      assert_received :closed

      assert_raise ArgumentError, fn ->
        source |> Stream.map(&{&1}) |> RustyJson.decode_stream() |> Stream.run()
      end

      assert_received :closed
      refute_received :closed
    end

    test "a source that ends by itself, with or without a last piece" do
      for pieces <- [
            Stream.take(["1 ", "2 ", "3"], 3),
            Stream.take_while(["1 ", "2 ", "3", ""], &(&1 != "")),
            ["1 2 ", "", "3"]
          ] do
        assert pieces |> Stream.map(& &1) |> RustyJson.decode_stream() |> Enum.to_list() == [1, 2, 3]
      end

      # It takes no notice of being suspended.
      deaf = fn {:cont, acc}, fun -> {:done, Enum.reduce(["[1", ",2]", "3"], acc, &elem(fun.(&1, &2), 1))} end
      assert deaf |> RustyJson.decode_stream() |> Enum.to_list() == [[1, 2], 3]
    end

    test "a record that ends in a later piece, before others" do
      for {_, engine} <- Judge.engines() do
        for {format, text} <- [lines: "[1]\n\"x\"\r\n\n 3 \n{}", seq: "\x1E[1]\x1E\"x\"\n\x1E\x1E3 \x1E{}"],
            cut <- 0..byte_size(text) do
          pieces = [binary_part(text, 0, cut), binary_part(text, cut, byte_size(text) - cut)]
          stream = RustyJson.decode_stream(pieces |> Stream.map(& &1), [format: format] ++ engine)
          assert Enum.to_list(stream) == [[1], "x", 3, %{}]
        end
      end
    end

    test "delivers what stands before a fault, then raises" do
      assert_raise DecodeError, ~r/position 4/, fn ->
        RustyJson.decode_stream("[1] x") |> Enum.each(&send(self(), &1))
      end

      assert_received [1]
    end

    test "a fault of the source goes through" do
      source =
        Stream.map(["[1] ", :bad], fn
          :bad -> raise("bad source")
          piece -> piece
        end)

      assert_raise RuntimeError, fn -> Enum.to_list(RustyJson.decode_stream(source)) end
      assert source |> RustyJson.decode_stream() |> Enum.take(1) == [[1]]
    end

    test "large values and large pieces" do
      value = Enum.map(1..40_000, &%{"id" => &1})
      text = RustyJson.encode!([value, 1, value])

      for {_, engine} <- Judge.engines() do
        assert RustyJson.decode_stream(text, [format: :array] ++ engine) |> Enum.to_list() == [
                 value,
                 1,
                 value
               ]

        pieces = for <<piece::binary-size(7_001) <- text>>, do: piece
        rest = binary_part(text, length(pieces) * 7_001, byte_size(text) - length(pieces) * 7_001)
        source = Stream.concat(pieces, [rest])

        assert RustyJson.decode_stream(source, [at: "/*/39999/id"] ++ engine) |> Enum.to_list() == [
                 40_000,
                 40_000
               ]
      end
    end
  end

  describe "a feed" do
    test "repeats its error" do
      {:error, error, [1], feed} = Feed.push(Feed.new(), "1 x")
      assert Feed.push(feed, "2") == {:error, error, [], feed}
      assert Feed.finish(feed) == {:error, error, []}
    end

    test "with :tag ends after its error" do
      {:ok, [{:ok, 1}, {:error, %DecodeError{}}], feed} = Feed.push(Feed.new(on_error: :tag), "1 x")
      assert {:ok, [], _} = Feed.push(feed, "2")
      assert Feed.finish(feed) == {:ok, []}
    end

    test "explains an error by the current value" do
      {:error, error, [], _} = Feed.push(Feed.new(format: :lines), "\n{\"a\": tru}\n")
      assert {error.data, error.offset, error.position, error.token} == {"{\"a\": tru}", 1, 7, "tru}"}
      assert DecodeError.explain(error) =~ "2 | {\"a\": tru}\n"
    end

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

  describe "as: :raw" do
    test "the text of each value, unchanged, wherever the pieces are cut" do
      text = ~S({"a":[ {"b" : 1.50,"b":"\u00e9"}, 1e2 ]})
      values = [Fragment.new(~S({"b" : 1.50,"b":"\u00e9"})), Fragment.new("1e2")]
      assert items(text, at: "/a/*", as: :raw) == values
      assert items(text, at: "/a/*", as: :raw, with_pointer: true) == Enum.zip(["/a/0", "/a/1"], values)
      assert items("[1 ]\n\n 2\r\n", format: :lines, as: :raw) == [Fragment.new("[1 ]"), Fragment.new("2")]
      assert items("\x1e[1 ]\n", format: :seq, as: :raw) == [Fragment.new("[1 ]")]
      assert items("1 [ ]", as: :raw) == [Fragment.new("1"), Fragment.new("[ ]")]
      assert items("[1.0]", format: :array, as: :raw, on_error: :tag) == [ok: Fragment.new("1.0")]
    end

    test "errors are those of the values" do
      assert [%Fragment{encode: "1"}, {:expected_value, 8, "/1/a"}] =
               short(items(~s([1,{"a":tru}]), format: :array, as: :raw))

      repeated = ~s([{"a":1,"a":2}])
      assert [%Fragment{}] = items(repeated, format: :array, as: :raw)
      assert [{:error, _}] = items(repeated, format: :array, as: :raw, duplicate_keys: :error)
    end

    test "makes no atoms" do
      key = "never an atom #{System.unique_integer([:positive])}"
      text = ~s([{"#{key}":1}])
      assert [%Fragment{}] = items(text, format: :array, as: :raw, keys: :atoms)
      assert_raise ArgumentError, fn -> String.to_existing_atom(key) end
    end
  end

  describe "options that are wrong" do
    test "are an ArgumentError at the call" do
      for options <- [
            [format: :csv],
            [at: "a"],
            [at: "/a~2"],
            [at: :a],
            [at: "/a", format: :array],
            [with_pointer: true],
            [on_error: :skip],
            [max_total_bytes: -1],
            [as: :bogus],
            [as: :raw, keys: :bogus],
            [keyz: :atoms],
            :format
          ] do
        assert_raise ArgumentError, fn -> RustyJson.decode_stream([], options) end
        assert_raise ArgumentError, fn -> Feed.new(options) end
      end
    end
  end

  defp tagged(text, options), do: items(text, [on_error: :tag] ++ options)
end
