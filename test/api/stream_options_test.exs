defmodule RustyJson.StreamOptionsTest do
  @moduledoc "Streams in pieces: options, sources, consumers, and what a feed does after an error."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [items: 2, items: 3, short: 1]

  alias RustyJson.{DecodeError, Feed, Fragment}
  alias RustyJson.Test.Judge

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

    test "duplicate_keys: :error compares the keys of a value, and not those around the values" do
      for {_, engine} <- Judge.engines(), select <- [[], [select: %{a: "/a"}]] do
        options = [duplicate_keys: :error] ++ select ++ engine
        around = ~s({"a":{"a":1},"b":0,"b":0,"a":{"a":2}})
        values = if select == [], do: [%{"a" => 1}, %{"a" => 2}], else: [%{a: 1}, %{a: 2}]
        assert around |> RustyJson.decode_stream([at: "/a"] ++ options) |> Enum.to_list() == values

        within = ~s([{"a":1,"b":0,"b":0}])

        for form <- [[at: "/*"], [format: :array]] do
          assert_raise DecodeError, ~r/Duplicate key "b"/, fn ->
            within |> RustyJson.decode_stream(form ++ options) |> Stream.run()
          end
        end
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
  end
end
