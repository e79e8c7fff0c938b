defmodule RustyJson.StreamTest do
  @moduledoc "Streams in pieces: the table of edge cases, in every engine, cut at every byte."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [items: 1, items: 2, short: 1]

  alias RustyJson.Feed
  alias RustyJson.Test.Judge

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
    test "is read in pieces of any length" do
      for {_name, engine} <- Judge.engines(),
          {format, text} <- [lines: "\uFEFF{\"a\":1}\n[2]\n3", seq: "\uFEFF\x1E{\"a\":1}\n\x1E[2]\n\x1E3\n"],
          first <- 1..6,
          second <- 0..(byte_size(text) - first) do
        {head, rest} = :erlang.split_binary(text, first)
        {middle, last} = :erlang.split_binary(rest, second)
        pieces = Stream.map([head, middle, last], & &1)
        options = [format: format] ++ engine
        assert pieces |> RustyJson.decode_stream(options) |> Enum.to_list() == [%{"a" => 1}, [2], 3]

        # The mark has no column.
        limited = [max_total_bytes: 9, on_error: :tag] ++ options
        [error: error] = pieces |> RustyJson.decode_stream(limited) |> Enum.to_list()
        assert {error.reason, error.position, error.column} == {:max_total_bytes, 9, 7}
      end
    end

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

      for {text, innermost} <- [
            {~s({"x":[1,), "["},
            {~s([{"a":1), "{"},
            {~s([[1,{"b":[2]), "{"},
            {"[[tru", "["}
          ] do
        assert [{:error, {:unexpected_end, _, _, _, _, message}}] = items(text, at: "/a/b")
        assert {text, message =~ innermost <> " is not closed"} == {text, true}
      end
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

  defp tagged(text, options), do: items(text, [on_error: :tag] ++ options)
end
