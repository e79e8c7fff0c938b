defmodule RustyJson.StreamSelectTest do
  @moduledoc "`select:` and `columns:` of streams and feeds, judged against `select/3` of each line."
  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Feed, Paths}
  alias RustyJson.Test.Judge

  @paths %{id: "/id", city: "/user/city", all: "/user", first: "/tags/0"}
  @lines [
    ~s({"id": 1, "user": {"city": "Oslo", "zip": "0150"}, "tags": ["a", "b"]}),
    ~s({"id": 2, "tags": []}),
    ~s(  {"user": null, "id": 3.5e0, "id": 4} ),
    "7",
    ~s([{"id": 1}]),
    ~s({"user": {"city": null}})
  ]

  # The items in every engine, for every length of pieces: from a stream and from a feed.
  defp items(text, options) do
    results =
      for {_, engine} <- Judge.engines(), size <- [1, 7, 50, 10_000] do
        options = engine ++ options
        pieces = text |> Feed.slices(size) |> Enum.to_list()
        items = pieces |> Stream.map(& &1) |> RustyJson.decode_stream(options) |> Enum.to_list()
        assert items == fed(pieces, options)
        items
      end

    assert [items] = Enum.uniq(results)
    items
  end

  defp fed(pieces, options) do
    {items, feed} =
      Enum.reduce(pieces, {[], Feed.new(options)}, fn piece, {items, feed} ->
        {:ok, more, feed} = Feed.push(feed, piece)
        {items ++ more, feed}
      end)

    {:ok, more} = Feed.finish(feed)
    items ++ more
  end

  defp selected(line, paths, options \\ []) do
    {:ok, row} = RustyJson.select(line, paths, options)
    row
  end

  defp lines(options), do: @lines |> Enum.join("\n") |> items([format: :lines] ++ options)

  test "rows are what select/3 gives of each line" do
    for paths <- [@paths, Map.values(@paths), Paths.new!(@paths), [], %{}],
        options <- [[], [keys: :atoms], [duplicate_keys: :first], [null: :null], [objects: :ordered_objects]] do
      expected = for line <- @lines, do: selected(line, paths, options)
      assert lines([select: paths] ++ options) == expected
      assert lines([select: paths, on_error: :tag] ++ options) == Enum.map(expected, &{:ok, &1})
    end

    assert lines(select: ["/id"], keys: &String.upcase/1) ==
             for(line <- @lines, do: selected(line, ["/id"]))
  end

  test "columns of a number of rows" do
    for rows <- [1, 2, 4, 6, 100] do
      expected =
        for chunk <- Enum.chunk_every(@lines, rows) do
          chunk = for line <- chunk, do: selected(line, @paths, missing: {:default, nil})
          for {name, _} <- @paths, into: %{}, do: {name, Enum.map(chunk, & &1[name])}
        end

      assert lines(select: @paths, columns: rows) == expected
      assert lines(select: @paths, columns: rows, on_error: :tag) == Enum.map(expected, &{:ok, &1})
    end

    assert lines(select: ["/id", "/none"], columns: 10) == [
             [[1, 2, 4, nil, nil, nil], [nil, nil, nil, nil, nil, nil]]
           ]

    assert items("", format: :lines, select: @paths, columns: 2) == []
  end

  test "every form of a stream" do
    values = [~s({"a": 1}), ~s({"a": 2}), ~s({"b": 3})]

    for {options, text} <- [
          {[format: :values], Enum.join(values, " ")},
          {[format: :array], "[#{Enum.join(values, ",")}]"},
          {[format: :seq], Enum.map_join(values, &"\x1E#{&1}\n")},
          {[at: "/x/*"], ~s({"x": [#{Enum.join(values, ",")}]})}
        ] do
      assert items(text, [select: ["/a"]] ++ options) == [[1], [2], [nil]]
      assert items(text, [select: %{a: "/a"}, columns: 2] ++ options) == [%{a: [1, 2]}, %{a: [nil]}]
    end

    text = ~s({"x": [#{Enum.join(values, ",")}]})

    assert items(text, at: "/x/*", with_pointer: true, select: ["/a"]) ==
             [{"/x/0", [1]}, {"/x/1", [2]}, {"/x/2", [nil]}]
  end

  test "errors come behind the rows before them, and name the place in the stream" do
    text = ~s({"id": 1}\n{"id": 2}\n{"id": 3x}\n{"id": 4}\n)
    options = [format: :lines, select: %{id: "/id"}, on_error: :tag]
    whole = items(text, Keyword.delete(options, :select))
    assert [{:ok, %{id: 1}}, {:ok, %{id: 2}}, {:error, error}, {:ok, %{id: 4}}] = items(text, options)
    assert {:error, error} == Enum.at(whole, 2)

    assert [{:ok, %{id: [1, 2]}}, {:error, ^error}, {:ok, %{id: [4]}}] = items(text, options ++ [columns: 10])

    for {_, engine} <- Judge.engines() do
      feed = Feed.new([format: :lines, select: ["/id"], columns: 10] ++ engine)
      assert {:error, %DecodeError{line: 3}, [[[1, 2]]], feed} = Feed.push(feed, text)
      assert {:error, %DecodeError{}, []} = Feed.finish(feed)
    end
  end

  # What only the decoding of a value finds.
  test "errors in a wanted value, and none in what is not wanted" do
    text = ~s({"id": 1}\n{"id": 1e400, "x": 1}\n{"id": 2, "x": 1e400}\n)

    for {_, engine} <- Judge.engines(), paths <- [["/id"], ["/x"]] do
      options = [format: :lines, on_error: :tag, select: paths] ++ engine
      streamed = text |> RustyJson.decode_stream(options) |> Enum.to_list()

      for {line, item} <- Enum.zip(String.split(text, "\n", trim: true), streamed) do
        case {RustyJson.select(line, paths, engine), item} do
          {{:ok, row}, item} ->
            assert item == {:ok, row}

          {{:error, wanted}, {:error, error}} ->
            assert error.reason == wanted.reason and error.path == wanted.path
        end
      end
    end
  end

  test "limits" do
    for {_, engine} <- Judge.engines(),
        {limit, reason} <-
          [[max_bytes: 10], [max_nodes: 3], [max_depth: 1]] |> Enum.zip([:max_bytes, :max_nodes, :max_depth]) do
      options = [format: :lines, select: ["/a"], on_error: :tag] ++ limit ++ engine
      items = ~s({"a": 1}\n{"a": [1,2,3,4]}\n{"a": 2}\n) |> RustyJson.decode_stream(options) |> Enum.to_list()
      assert [{:ok, [1]}, {:error, %DecodeError{reason: ^reason, line: 2}}, {:ok, [2]}] = items
    end
  end

  test "one file for many processes" do
    path = Path.join(System.tmp_dir!(), "rustyjson_select_#{System.unique_integer([:positive])}.ndjson")
    on_exit(fn -> File.rm(path) end)
    File.write!(path, for(n <- 1..1_000, do: ~s({"n": #{n}, "text": "#{n}"}\n)))

    rows =
      for range <- RustyJson.Lines.ranges(path, 3),
          row <- RustyJson.Lines.stream(path, range, select: ["/n"]),
          do: row

    assert rows == for(n <- 1..1_000, do: [n])
  end

  # Two bytes of a line can become a row of any length.
  describe "rows" do
    @wide for n <- 1..200, do: "/#{n}"
    @short String.duplicate("1\n", 65_536)

    test "of one push have a limit" do
      for {_, engine} <- Judge.engines(), on_error <- [:raise, :tag] do
        options = [format: :lines, select: @wide, on_error: on_error] ++ engine
        most = 16_777_216 + 64 * byte_size(@short)
        feed = Feed.new(options)

        {error, items, feed} =
          case Feed.push(feed, @short) do
            {:error, error, items, feed} -> {error, items, feed}
            {:ok, items, feed} -> {items |> List.last() |> elem(1), Enum.drop(items, -1), feed}
          end

        assert %DecodeError{reason: :rows_too_long, line: line, position: position} = error
        assert error.message =~ "Rows of one piece larger than 16 MB and 64 times the piece"
        assert {line, position} == {length(items) + 1, 2 * length(items)}
        assert (length(items) * 200 * 16) in most..(most + 2_000_000)
        assert Feed.finish(feed) == if(on_error == :tag, do: {:ok, []}, else: {:error, error, []})

        feed = Feed.new(options)
        {:ok, items, feed} = Feed.push(feed, binary_part(@short, 0, 10_000))
        assert length(items) == 5_000
        assert {:ok, [_ | _], feed} = Feed.push(feed, binary_part(@short, 0, 10_000))
        assert Feed.finish(feed) == {:ok, []}
      end
    end

    test "of a stream come a few at a time" do
      for {_, engine} <- Judge.engines(),
          {line, rows, per_line} <- [{"1\n", 40_000, 200}, {"x\n1\n", 1_000, 8_000}] do
        paths = for n <- 1..per_line, do: "/#{n}"
        text = String.duplicate(line, rows)
        options = [format: :lines, select: paths, on_error: :tag] ++ engine

        # All rows take at least 128 MB, and the heap may have 100.
        task =
          Task.async(fn ->
            Process.flag(:max_heap_size, %{size: 12_500_000, kill: true, error_logger: false})
            text |> RustyJson.decode_stream(options) |> Enum.count(&match?({:ok, [nil | _]}, &1))
          end)

        assert Task.await(task, 120_000) == rows
      end
    end

    test "of repeated pointers and of maps count too" do
      for {_, engine} <- Judge.engines(),
          select <- [List.duplicate("/a", 1_000), Map.new(1..1_000, &{&1, "/a"})] do
        feed = Feed.new([format: :lines, select: select] ++ engine)
        assert {:error, %DecodeError{reason: :rows_too_long}, _rows, _feed} = Feed.push(feed, @short)
      end
    end

    # The rows of a call end behind the one that takes more cells than the piece has bytes, and 4,096.
    test "of one call are few, where each is long" do
      for {_, engine} <- Judge.engines() do
        %{plan: plan, options: options} = feed = Feed.new([format: :lines, select: @wide] ++ engine)
        question = {0, 0, false, 0xFFFF_FFFF_FFFF_FFFF, plan.packed, feed.state}

        assert {rows, 698, _state, :again} =
                 options.engine.feed(question, binary_part(@short, 0, 65_536), options)

        assert rows == List.duplicate([], 349)
      end
    end
  end

  test "a mark at the start and short pieces" do
    for {options, values} <- [
          {[format: :lines], [1, 2, 3]},
          {[format: :lines, select: [""]], [[1], [2], [3]]}
        ] do
      assert items("\uFEFF1\n2\n3\n", options) == values

      for {_, engine} <- Judge.engines(), cut <- 1..6 do
        {head, rest} = :erlang.split_binary("\uFEFF1\n2\n3\n", cut)

        assert [head, rest]
               |> Stream.map(& &1)
               |> RustyJson.decode_stream(options ++ engine)
               |> Enum.to_list() == values
      end
    end
  end

  test "a mark behind white space is no value, with and without select" do
    for {_, engine} <- Judge.engines(),
        {format, text} <- [lines: " \uFEFF{}\n", seq: "\x1E \uFEFF{}\n"],
        select <- [[], [select: ["/a"]]] do
      feed = Feed.new([format: format] ++ select ++ engine)
      {:ok, [], feed} = Feed.push(feed, "")
      assert {:error, %DecodeError{reason: :expected_value, column: column}, []} = pushed(feed, text)
      assert column == if(format == :lines, do: 2, else: 3)
    end
  end

  defp pushed(feed, text) do
    with {:ok, [], feed} <- Feed.push(feed, text),
         do: Feed.finish(feed),
         else: ({:error, error, items, _feed} -> {:error, error, items})
  end

  test "options that are wrong" do
    for {options, message} <- [
          {[select: ["id"]], ~r/takes a JSON Pointer, such as "\/a\/0", got: "id"/},
          {[select: :id], ~r/takes a list or a map of JSON Pointers, got: :id/},
          {[select: ["/a"], as: :integer], ~r/:select or :as, not both/},
          {[select: ["/a"], columns: 0], ~r/option :columns takes an integer from 1, got: 0/},
          {[columns: 5], ~r/option :columns needs :select/},
          {[select: ["/a"], at: "/*", with_pointer: true, columns: 5],
           ~r/:columns or :with_pointer, not both/},
          {[select: ["/a"], raw: ["/b"]], ~r/a stream does not take :raw/}
        ] do
      assert_raise ArgumentError, message, fn -> Feed.new(options) end
    end
  end
end
