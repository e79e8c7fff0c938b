defmodule RustyJson.EncodeStreamTest do
  @moduledoc "The joined pieces equal the output of `encode!/2`, for every option and size of pieces."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [until_fault: 1]

  alias RustyJson.{EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.Judge

  defmodule Own do
    defstruct [:id]

    defimpl RustyJson.Encoder do
      def encode(%{id: id}, opts), do: RustyJson.Encode.map(%{own: id}, opts)
    end
  end

  defmodule Written do
    defstruct [:text]

    defimpl RustyJson.Encoder do
      def encode(%{text: text}, _opts), do: text
    end
  end

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:rows, :n]
  end

  defmodule Throws do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts), do: throw(:encoder)
    end
  end

  @options [
    [],
    [pretty: true],
    [pretty: 4],
    [pretty: "\t"],
    [pretty: [indent: " ", line_separator: "\r\n", after_colon: "  "]],
    [sort_keys: true],
    [escape: :unicode_safe],
    [maps: :strict],
    [pretty: true, sort_keys: true, escape: :html_safe],
    [escape: :javascript_safe, integers: :js_safe, invalid_utf8: :replace, unsupported: :inspect],
    [redact: ["x", :own], redacted: "-"],
    [redact: ["/0", "/2/b", "/*/x"], pretty: 1],
    [redact: ["/*"]],
    [key_case: :camel, omit: [nil]]
  ]

  defp elements do
    [
      1,
      "é/\u2028",
      %{b: [1.5, nil], a: %{"x" => {1, 2}}},
      [],
      %{},
      %Own{id: 7},
      ~D[2024-02-29],
      [[%Own{id: [%Own{id: 1}]}]],
      %Derived{rows: [1], n: 2}
    ]
  end

  defp joined(term, options), do: term |> RustyJson.encode_stream(options) |> Enum.join()

  for {name, engine} <- Judge.engines() do
    describe "#{name}" do
      @describetag engine: engine

      test "joined pieces are the bytes of encode!/2", %{engine: engine} do
        for options <- @options, flush <- [1, 7, 100, 65_536], count <- [0, 1, 2, 9] do
          elements = Enum.take(elements(), count)
          options = options ++ engine
          text = RustyJson.encode!(elements, options)
          assert joined(Stream.map(elements, & &1), [flush: flush] ++ options) == text
          assert joined(elements, [flush: flush] ++ options) == text

          for wrap <- [&%{z: 1, rows: &1, a: [2]}, &[x: [%{y: &1}]], &%Derived{rows: &1, n: %Own{id: 3}}] do
            wrap = fn rows -> OrderedObject.new(doc: wrap.(rows)) end
            lazy = wrap.(RustyJson.lazy(Stream.map(elements, & &1)))
            assert joined(lazy, [flush: flush] ++ options) == RustyJson.encode!(wrap.(elements), options)
            assert RustyJson.encode!(lazy, options) == RustyJson.encode!(wrap.(elements), options)
          end
        end
      end

      test "lines and sequences", %{engine: engine} do
        lines = Enum.map_join(elements(), &(RustyJson.encode!(&1, engine) <> "\n"))
        assert joined(elements(), [format: :lines] ++ engine) == lines
        sequence = Enum.map_join(elements(), &("\x1E" <> RustyJson.encode!(&1, engine) <> "\n"))
        assert joined(elements(), [format: :seq] ++ engine) == sequence
        assert joined([], [format: :lines] ++ engine) == ""
        text = joined(elements(), [format: :seq] ++ engine)
        assert text |> RustyJson.decode_stream([format: :seq] ++ engine) |> Enum.count() == length(elements())
      end

      test "each line is the text of its element, for every option and size of pieces", %{engine: engine} do
        for options <- @options, !options[:pretty], {format, mark} <- [lines: "", seq: "\x1E"] do
          options = options ++ engine
          text = Enum.map_join(elements(), &(mark <> RustyJson.encode!(&1, options) <> "\n"))

          for flush <- [1, 7, 100, 65_536], source <- [elements(), Stream.map(elements(), & &1)] do
            assert joined(source, [format: format, flush: flush] ++ options) == text
          end
        end
      end

      test "a fragment never ends its record", %{engine: engine} do
        text = "{\n\r\n \"a\": [1,\n2],\t\"b\": \"\\n\"\n}\n"
        {:ok, raw} = RustyJson.decode(~s({"a":) <> text <> "}", [raw: ["/a"]] ++ engine)
        list = text |> String.codepoints() |> Enum.map(&[&1])

        for fragment <- [
              raw["a"],
              RustyJson.Fragment.new(text),
              RustyJson.Fragment.new(list),
              RustyJson.Fragment.new(fn _ -> list end),
              %Written{text: text}
            ],
            {element, expected} <- [
              {fragment, ~S({"a":[1,2],"b":"\n"})},
              {[1, %{k: fragment}], ~S([1,{"k":{"a":[1,2],"b":"\n"}}])}
            ],
            more <- [[], [max_bytes: 10_000], [unsupported: :inspect], [redact: ["/9"]]],
            {format, mark} <- [lines: "", seq: "\x1E"] do
          assert joined([0, element, 2], [format: format] ++ more ++ engine) ==
                   mark <> "0\n" <> mark <> expected <> "\n" <> mark <> "2\n"
        end

        for forged <- ["1\n2", "\"a\nb\"", "\"\x1E\"", "1\r2"], format <- [:lines, :seq] do
          error =
            assert_raise EncodeError, fn ->
              joined([0, [RustyJson.Fragment.new(forged)]], [format: format] ++ engine)
            end

          assert {error.reason, error.path} == {:invalid_iodata, "/1/0"}
        end

        # In an array, line breaks are whitespace.
        assert joined([RustyJson.Fragment.new("[\n]")], engine) == "[[\n]]"
      end

      test "lines that take longer than a time slice", %{engine: engine} do
        rows =
          for i <- 1..1_000, do: [%{i: i, text: String.duplicate("é\"", 600)}, List.duplicate(%{i: 1.5}, i)]

        lines = Enum.map_join(rows, &(RustyJson.encode!(&1, engine) <> "\n"))
        assert joined(rows, [format: :lines, flush: 100_000_000] ++ engine) == lines
        assert joined(rows, [format: :seq] ++ engine) |> String.replace("\x1E", "") == lines
      end

      test "lazy arrays side by side, nested, and in structs", %{engine: engine} do
        lazy = &RustyJson.lazy(Stream.map(&1, fn i -> %{id: i} end))
        rows = &Enum.map(&1, fn i -> %{id: i} end)

        for flush <- [1, 65_536] do
          make = fn rows ->
            %{a: rows.(1..3), b: %{c: rows.(4..6), d: [rows.(7..8)]}, e: %Derived{rows: rows.(9..9)}, f: %{}}
          end

          term = make.(lazy)
          options = [flush: flush, sort_keys: true] ++ engine
          assert joined(term, options) == RustyJson.encode!(make.(rows), [sort_keys: true] ++ engine)
          assert joined(lazy.(1..2), [flush: flush] ++ engine) == RustyJson.encode!(rows.(1..2), engine)
        end
      end

      test "rows of a lazy array do not cross with the document", %{engine: engine} do
        rows = List.duplicate(%{text: String.duplicate("x", 100)}, 20_000)
        text = joined(%{rows: RustyJson.lazy(rows)}, [max_bytes: 3_000_000] ++ engine)
        assert byte_size(text) == 20_000 * 112 + 10
        parent = self()

        spawn_monitor(fn ->
          stream = RustyJson.encode_stream(%{rows: RustyJson.lazy(rows)}, engine)
          :erlang.garbage_collect()
          {:memory, before} = Process.info(self(), :memory)
          assert Enum.take(stream, 1) != []
          {:memory, later} = Process.info(self(), :memory)
          send(parent, {:grown, later - before})
        end)

        assert_receive {:grown, grown}, 60_000
        assert grown < 1_000_000
      end

      test "gzip is one member", %{engine: engine} do
        for level <- [:gzip, {:gzip, 0}, {:gzip, 9}] do
          packed = joined(1..20_000, [compress: level, flush: 1_000] ++ engine)
          assert :zlib.gunzip(packed) == RustyJson.encode!(Enum.to_list(1..20_000), engine)
        end
      end

      test "elements before a faulty one come first, then the error with its path", %{engine: engine} do
        rows = Stream.map(1..50, &if(&1 == 43, do: %{x: <<255>>}, else: &1))

        for {term, options, path} <- [
              {rows, [], "/42/x"},
              {rows, [format: :lines], "/42/x"},
              {rows, [format: :seq, flush: 100], "/42/x"},
              {Stream.map(1..50, &if(&1 == 43, do: %Own{id: {<<255>>}}, else: &1)),
               [format: :lines, flush: 100], "/42/own/0"},
              {%{data: RustyJson.lazy(rows)}, [], "/data/42/x"},
              {Stream.map(1..50, &if(&1 == 43, do: [[1 | 2]], else: &1)), [], "/42/0"}
            ] do
          # Every element before the faulty one is there, also what is short of a piece, and what is compressed.
          for more <- [[], [flush: 1], [flush: 1_000], [compress: :gzip]] do
            stream = RustyJson.encode_stream(term, Keyword.merge(options, more) ++ engine)
            {pieces, error} = until_fault(stream)
            assert {error.__struct__, error.path} == {EncodeError, path}
            text = pieces |> IO.iodata_to_binary() |> unpacked(more)
            assert Regex.scan(~r/\d+/, text) == for(i <- 1..42, do: [to_string(i)])
          end
        end
      end

      test "the elements of an improper list come first, then the error of encode/2", %{engine: engine} do
        for list <- [[1, 2 | 3], Enum.reduce(1..5_000, 0, &[&1 | &2])], format <- [:array, :lines] do
          {:error, expected} = RustyJson.encode(list, engine)

          error =
            assert_raise EncodeError, fn ->
              list
              |> RustyJson.encode_stream([format: format, flush: 1] ++ engine)
              |> Enum.each(&send(self(), &1))
            end

          assert Map.take(error, [:reason, :path, :message]) == Map.take(expected, [:reason, :path, :message])
          assert_received text when is_binary(text)
        end
      end

      test "limits", %{engine: engine} do
        assert_raise EncodeError, ~r/deeper than 2/, fn -> joined([[[1]]], [max_depth: 2] ++ engine) end
        assert joined([[1]], [max_depth: 2] ++ engine) == "[[1]]"
        assert joined([[[1]]], [max_depth: 2, format: :lines] ++ engine) == "[[1]]\n"
        assert joined(1..3, [max_bytes: 7] ++ engine) == "[1,2,3]"

        assert_raise EncodeError, ~r/larger than 6/, fn ->
          joined(1..3, [max_bytes: 6, flush: 1] ++ engine)
        end
      end

      test "the error of a text that is too long has the path of the place", %{engine: engine} do
        rows = ["é", 1.5, [], nil, %{}, "a/b", 1, 2, 3, 4]

        too_long = fn term, options ->
          term |> RustyJson.encode_stream(options) |> Enum.to_list() |> catch_error()
        end

        for wrap <- [& &1, &%{rows: &1}, &[[1, %{x: &1}], 1]],
            source <- [rows, Stream.map(rows, & &1)],
            options <- [[], [pretty: true], [redact: ["/9"]]],
            options = options ++ engine,
            text = RustyJson.encode!(wrap.(rows), options),
            most <- (byte_size(text) - 30)..(byte_size(text) - 1)//3,
            flush <- [1, 65_536] do
          source = if wrap.(rows) == rows, do: source, else: wrap.(RustyJson.lazy(source))
          error = too_long.(source, [max_bytes: most, flush: flush] ++ options)
          path = text |> binary_part(0, most) |> RustyJson.Encode.Path.locate()
          assert {error.reason, error.path} == {:max_bytes, path}
        end

        for format <- [:lines, :seq] do
          error = too_long.([1, [2, %{a: "text"}], 3], [format: format, max_bytes: 14] ++ engine)
          assert {error.reason, error.path} == {:max_bytes, "/1/1/a"}
        end

        # The texts of three structs are too long together.
        term = %{"a" => List.duplicate(%Written{text: ~s("123456789")}, 3)}
        {:error, expected} = RustyJson.encode(term, [max_bytes: 25] ++ engine)
        assert {expected.reason, expected.path} == {:max_bytes, "/a/1"}
        assert too_long.(term, [max_bytes: 25] ++ engine).path == expected.path
      end
    end
  end

  test "what is a sequence, and what is a document" do
    assert joined(1..3, []) == "[1,2,3]"
    assert joined(MapSet.new([1]), []) == "[1]"
    assert joined(%{a: 1}, []) == ~s({"a":1})
    assert joined(OrderedObject.new(b: 1, a: 2), []) == ~s({"b":1,"a":2})
    assert joined(%Own{id: 1}, []) == ~s({"own":1})
    assert joined("x", []) == ~s("x")
    assert joined(Stream.cycle([1]) |> Stream.take(2), []) == "[1,1]"
  end

  test "pieces end between elements and have at least the bytes of flush" do
    pieces = 1..1_000 |> RustyJson.encode_stream(flush: 100) |> Enum.to_list()
    assert Enum.join(pieces) == RustyJson.encode!(Enum.to_list(1..1_000))
    assert pieces |> Enum.drop(-1) |> Enum.all?(&(byte_size(&1) >= 100))
    refute Enum.any?(tl(pieces), &(&1 =~ ~r/^\d/))
  end

  test "halting closes the source" do
    me = self()
    source = Stream.resource(fn -> 1 end, &{[&1], &1 + 1}, fn _ -> send(me, :closed) end)
    assert source |> RustyJson.encode_stream(flush: 10) |> Enum.take(2) |> Enum.join() =~ "[1,2,3,4"
    assert_received :closed
    refute_received :closed

    assert %{a: RustyJson.lazy(source)} |> RustyJson.encode_stream(flush: 10, compress: :gzip) |> Enum.take(1) !=
             []

    assert_received :closed
    refute_received :closed
  end

  # Numbers, and behind the 40th what the name says. It is opened and closed by messages.
  defp source(last) do
    me = self()

    Stream.resource(
      fn -> opened(me) end,
      fn
        41 -> {last_of(last), 42}
        42 -> {:halt, 42}
        i -> {[i], i + 1}
      end,
      fn _ -> send(me, :closed) end
    )
  end

  defp opened(me) do
    send(me, :opened)
    1
  end

  defp last_of(:raise), do: raise("no row")
  defp last_of(:throw), do: throw(:no_row)
  defp last_of(rows), do: rows

  # Each of them ends in its own way, and none may leave the source open, or close it twice.
  defp consumers do
    stop = fn stop ->
      &Enum.reduce(&1, 0, fn _, n -> if n == 3, do: stop.(), else: n + 1 end)
    end

    [
      to_list: &Enum.to_list/1,
      take: &Enum.take(&1, 2),
      stream_take: &(&1 |> Stream.take(2) |> Enum.to_list()),
      take_none: &Enum.take(&1, 0),
      raise: stop.(fn -> raise "consumer" end),
      throw: stop.(fn -> throw(:consumer) end),
      exit: stop.(fn -> exit(:consumer) end),
      halt_at_the_end: &Enum.find(&1, fn piece -> String.ends_with?(piece, "]") end),
      concat: &(&1 |> Stream.concat(["more"]) |> Enum.to_list()),
      suspend: &suspended/1,
      suspend_and_halt: fn stream ->
        {:suspended, pieces, next} = Enumerable.reduce(stream, {:cont, []}, &{:suspend, [&1 | &2]})
        next.({:halt, pieces})
      end
    ]
  end

  defp suspended(stream) do
    stream
    |> Enumerable.reduce({:suspend, []}, &{:suspend, [&1 | &2]})
    |> Stream.iterate(fn {:suspended, pieces, next} -> next.({:cont, pieces}) end)
    |> Enum.find_value(&done/1)
  end

  defp done({:suspended, _pieces, _next}), do: nil
  defp done({_ended, pieces}), do: Enum.reverse(pieces)

  defp outcome(fun) do
    {:ok, fun.()}
  catch
    kind, reason -> {kind, reason}
  end

  defp opened_and_closed(counts \\ {0, 0}) do
    receive do
      :opened -> counts |> put_elem(0, elem(counts, 0) + 1) |> opened_and_closed()
      :closed -> counts |> put_elem(1, elem(counts, 1) + 1) |> opened_and_closed()
    after
      0 -> counts
    end
  end

  test "every consumer closes the source once, whatever the source and the encoder do" do
    for last <- [[], :raise, :throw, [<<255>>], [%Throws{}]],
        {name, consumer} <- consumers(),
        flush <- [1, 10, 65_536],
        compress <- [false, :gzip],
        wrap <- [& &1, &Stream.map(&1, fn row -> row end), &%{a: RustyJson.lazy(&1)}] do
      stream = last |> source() |> wrap.() |> RustyJson.encode_stream(flush: flush, compress: compress)
      result = outcome(fn -> consumer.(stream) end)
      {opened, closed} = opened_and_closed()

      if opened != closed or opened > 1,
        do: flunk(inspect({last, name, flush, compress, result, opened, closed}))
    end
  end

  test "a consumer that suspends gets the same pieces" do
    for flush <- [1, 10, 65_536], format <- [:array, :lines, :seq], count <- [0, 1, 40] do
      rows = Stream.map(1..40, &%{id: &1}) |> Stream.take(count)
      stream = RustyJson.encode_stream(rows, flush: flush, format: format)
      pieces = Enum.to_list(stream)
      assert suspended(stream) == pieces
      assert stream |> Stream.zip(Stream.cycle([0])) |> Enum.map(&elem(&1, 0)) == pieces
      assert Enum.zip([stream, stream]) == Enum.zip(pieces, pieces)
      assert Enum.concat(Enum.take(stream, 3), Enum.drop(stream, 3)) == pieces
    end
  end

  test "a source that gives each row once: what failed stays an error, although the rest can be encoded" do
    for {_engine, options} <- Judge.engines(), format <- [:array, :lines, :seq], before <- [0, 3] do
      {:ok, rows} = Agent.start_link(fn -> [1, <<255>>, 3] end)
      once = Stream.repeatedly(fn -> Agent.get_and_update(rows, &next_row/1) end) |> Stream.take_while(& &1)
      elements = List.duplicate(0, before) ++ [%{a: RustyJson.lazy(once)}]
      stream = RustyJson.encode_stream(Stream.map(elements, & &1), [format: format] ++ options)
      error = assert_raise EncodeError, fn -> Enum.to_list(stream) end
      assert error.reason == :invalid_utf8
      assert error.path == "/#{before}/a/1"
      Agent.stop(rows)
    end
  end

  test "a source that gives each row once is not read again when a later element fails" do
    for {_engine, options} <- Judge.engines() do
      {:ok, rows} = Agent.start_link(fn -> [1_000_000_000, 2_000_000_000] end)
      once = Stream.repeatedly(fn -> Agent.get_and_update(rows, &next_row/1) end) |> Stream.take_while(& &1)
      elements = Stream.map([%{}, %{rows: RustyJson.lazy(once)}, %{b: <<255>>}], & &1)
      stream = RustyJson.encode_stream(elements, [format: :lines, flush: 1] ++ options)
      error = assert_raise EncodeError, fn -> Enum.each(stream, &send(self(), {:piece, &1})) end
      assert error.path == "/2/b"
      assert pieces() == ~s({}\n{"rows":[1000000000,2000000000]}\n)
      Agent.stop(rows)
    end
  end

  test "a source that is slower than the sandbox allows loses no rows" do
    for {_engine, [engine: :wasm, host: _] = options} <- Judge.engines() do
      {:ok, rows} = Agent.start_link(fn -> [1, 2] end)

      once =
        Stream.repeatedly(fn ->
          Process.sleep(150)
          Agent.get_and_update(rows, &next_row/1)
        end)

      rows_of_two = [%{rows: once |> Stream.take_while(& &1) |> RustyJson.lazy()}]
      stream = RustyJson.encode_stream(Stream.map(rows_of_two, & &1), [timeout: 200] ++ options)
      assert Enum.join(stream) == ~s([{"rows":[1,2]}])
      Agent.stop(rows)
    end
  end

  describe "lazy arrays in elements" do
    test "without an end take no memory" do
      for {_engine, options} <- Judge.engines(),
          format <- [:array, :lines, :seq],
          wrap <- [& &1, &Stream.map(&1, fn e -> e end)] do
        endless =
          Stream.map(Stream.iterate(1, &(&1 + 1)), &%{id: &1, more: RustyJson.lazy(Stream.cycle([0]))})

        elements = [%{n: 1}, %{deep: [%{rows: RustyJson.lazy(Stream.cycle([[1]]))}]}, %{n: 2}]

        for rows <- [elements, [%{rows: RustyJson.lazy(endless)}], [RustyJson.lazy(Stream.cycle([1]))]] do
          task =
            Task.async(fn ->
              Process.flag(:max_heap_size, %{size: 2_000_000, kill: true, error_logger: false})

              rows
              |> wrap.()
              |> RustyJson.encode_stream([format: format, flush: 1_000] ++ options)
              |> Enum.take(50)
            end)

          assert length(Task.await(task, 60_000)) == 50
        end
      end
    end

    test "give the text of lists" do
      for {_engine, options} <- Judge.engines(),
          {format, more} <- [
            array: [],
            array: [pretty: true],
            lines: [],
            seq: [],
            array: [redact: ["/1/rows/1", "id"]]
          ],
          flush <- [1, 65_536] do
        make = fn lazy ->
          [
            %{id: 0},
            %{id: 1, rows: lazy.([1, %{id: 2, x: lazy.([])}, lazy.([[3], lazy.(["é"])])])},
            lazy.([]),
            [1, lazy.([%{a: Fragment.new("[1,\n2]")}]), %{b: lazy.([nil])}],
            2
          ]
        end

        options = [format: format, flush: flush] ++ more ++ options
        expected = make.(& &1) |> RustyJson.encode_stream(options) |> Enum.join()
        lazy = fn rows -> rows |> Stream.map(& &1) |> RustyJson.lazy() end
        assert make.(lazy) |> RustyJson.encode_stream(options) |> Enum.join() == expected
        assert make.(&RustyJson.lazy/1) |> RustyJson.encode_stream(options) |> Enum.join() == expected
      end
    end

    test "and errors: each has its path, and what stands before is there" do
      for {_engine, options} <- Judge.engines(), format <- [:array, :lines, :seq] do
        for {rows, path} <- [
              {[%{a: RustyJson.lazy([1, <<255>>])}], "/0/a/1"},
              {[0, %{a: RustyJson.lazy([1, %{b: RustyJson.lazy([<<255>>])}])}], "/1/a/1/b/0"},
              {[%{a: RustyJson.lazy([1]), b: <<255>>}], "/0/b"},
              {[<<255>>, %{a: RustyJson.lazy(Stream.cycle([1]))}], "/0"},
              {[%{a: RustyJson.lazy([1])}, <<255>>], "/1"},
              {[%{a: RustyJson.lazy([1]), b: [Fragment.new(fn _ -> raise EncodeError, message: "no" end)]}],
               "/0/b/0"}
            ] do
          stream = RustyJson.encode_stream(rows, [format: format] ++ options)
          error = assert_raise EncodeError, fn -> Stream.run(stream) end
          assert error.path == path
        end
      end
    end
  end

  test "without protocols a lazy array is a struct like any other" do
    for {_engine, options} <- Judge.engines() do
      stream = RustyJson.encode_stream(%{d: RustyJson.lazy([1])}, [protocol: false] ++ options)
      assert Enum.join(stream) == ~s({"d":{"source":[1]}})
    end
  end

  defp pieces(texts \\ []) do
    receive do
      {:piece, text} -> pieces([texts | text])
    after
      0 -> IO.iodata_to_binary(texts)
    end
  end

  defp next_row([]), do: {nil, []}
  defp next_row([row | rows]), do: {row, rows}

  test "a file's lines as elements" do
    path = Path.join(System.tmp_dir!(), "rustyjson-#{System.unique_integer([:positive])}.txt")
    lines = for i <- 1..500, do: "line #{i}\n"
    File.write!(path, lines)

    for {_engine, options} <- Judge.engines(), flush <- [1, 1_000, 65_536] do
      assert joined(File.stream!(path), [flush: flush] ++ options) == RustyJson.encode!(lines, options)
    end

    File.rm!(path)
  end

  test "rows are made while they are written" do
    me = self()

    rows =
      Stream.map(1..100_000, fn i ->
        if rem(i, 10_000) == 0, do: send(me, i)
        i
      end)

    assert %{rows: RustyJson.lazy(rows)} |> RustyJson.encode_stream() |> Enum.take(1) != []
    assert_received 10_000
    refute_received 50_000
  end

  # The work of the process itself.
  defp reductions(run) do
    task = fn ->
      {:reductions, before} = Process.info(self(), :reductions)
      run.()
      {:reductions, now} = Process.info(self(), :reductions)
      now - before
    end

    task |> Task.async() |> Task.await(60_000)
  end

  test "many lazy arrays in one document or element take time in proportion" do
    for {_engine, options} <- RustyJson.Test.Judge.engines(), wrap <- [& &1, &[1, &1]] do
      [few, many] =
        for count <- [500, 4_000] do
          reductions(fn ->
            document = Map.new(1..count, &{"key#{&1}", RustyJson.lazy([&1])})
            document |> wrap.() |> RustyJson.encode_stream(options) |> Stream.run()
          end)
        end

      assert many < 16 * few
    end
  end

  test "lazy arrays beside keys that only Elixir writes" do
    keys = [~c"ab", ~D[2024-02-29], 1.5, 10 ** 30, :a, "b", 1]

    for {_engine, options} <- RustyJson.Test.Judge.engines(),
        more <- [[], [maps: :strict], [sort_keys: true], [key_case: :camel], [redact: ["/x"]]],
        key <- keys,
        wrap <- [& &1, &%{"outer" => &1}, &%{1.5 => &1}] do
      document = wrap.(%{key => RustyJson.lazy(1..2), "other" => %{c: RustyJson.lazy([3])}})
      assert joined(document, more ++ options) == RustyJson.encode!(document, more ++ options)
    end

    for {_engine, options} <- RustyJson.Test.Judge.engines() do
      document = %{<<1::3>> => RustyJson.lazy(1..2)}
      options = [unsupported: :inspect, redact: [:password]] ++ options
      assert joined(document, options) == ~s|{"<<1::size(3)>>":[1,2]}|
    end
  end

  test "elements before one whose encoder throws" do
    for {_engine, options} <- RustyJson.Test.Judge.engines() do
      stream = RustyJson.encode_stream([1, 2, %Throws{}, 3], options)
      assert catch_throw(Enum.each(stream, &send(self(), {:piece, &1}))) == :encoder
      assert_received {:piece, "[1,2"}
    end
  end

  # What was compressed up to a fault has no end.
  defp unpacked(text, compress: :gzip) do
    z = :zlib.open()
    :ok = :zlib.inflateInit(z, 31)
    text = z |> :zlib.inflate(text) |> IO.iodata_to_binary()
    :zlib.close(z)
    text
  end

  defp unpacked(text, _options), do: text

  test "options that are wrong are an ArgumentError at the call" do
    for {term, options} <- [
          {[1], [format: :csv]},
          {[1], [flush: 0]},
          {[1], [format: :lines, pretty: true]},
          {[1], [format: :seq, pretty: 2]},
          {%{a: 1}, [format: :array]},
          {[1], [bogus: 1]},
          {[1], [1]},
          {[1], [{"flush", 1}]},
          {[1], :lines}
        ] do
      assert_raise ArgumentError, fn -> RustyJson.encode_stream(term, options) end
    end
  end

  test "the limit on the bytes is exceeded at the same place as in encode/2" do
    terms = [
      Enum.to_list(1..30),
      [[1, 2, 3], [4, 5, [6, 7, %{"a" => "bcd", "k" => [1, 2]}]], "end"],
      [["é\n", %{"é" => "\u2028"}], %{a: %{b: 1, c: "1:\":"}}],
      for(i <- 1..3, do: %Derived{rows: [i], n: ":"}),
      %{"a" => [1, 2, 3], "b" => %{"c" => "long", "d" => 1}}
    ]

    for {_name, engine} <- Judge.engines(),
        term <- terms,
        # Learns the plan of the struct.
        options <- [[], [pretty: true], [escape: :unicode_safe], [redact: ["/1"]]],
        options = options ++ engine,
        most <- 1..(byte_size(RustyJson.encode!(term, options)) - 1) do
      options = [max_bytes: most] ++ options
      {:error, error} = RustyJson.encode(term, options)
      assert catch_error(joined(term, options)) == error
    end
  end

  test "max_bytes ends encode/2 of a lazy array without end" do
    for {_engine, options} <- RustyJson.Test.Judge.engines() do
      endless = RustyJson.lazy(Stream.cycle([1]))
      assert {:error, %{reason: :max_bytes}} = RustyJson.encode(endless, [max_bytes: 1_000] ++ options)
      assert {:error, %{reason: :max_bytes}} = RustyJson.encode(%{a: endless}, [max_bytes: 1_000] ++ options)
      short = RustyJson.lazy(Stream.take(Stream.cycle([1]), 3))
      assert RustyJson.encode(short, [max_bytes: 7] ++ options) == {:ok, "[1,1,1]"}
      assert RustyJson.encode(RustyJson.lazy([]), [max_bytes: 2] ++ options) == {:ok, "[]"}
    end
  end
end
