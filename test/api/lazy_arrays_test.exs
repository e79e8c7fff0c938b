defmodule RustyJson.LazyArraysTest do
  @moduledoc "Lazy arrays have the text and the errors of lists, and are never held as a whole."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [joined: 2]

  alias RustyJson.{EncodeError, Fragment}
  alias RustyJson.Test.Judge

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:rows, :n]
  end

  for {name, engine} <- Judge.engines() do
    describe "#{name}" do
      @describetag engine: engine

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

      test "the deepest nesting is that of a list", %{engine: engine} do
        lazy = &RustyJson.lazy/1

        for make <- [&%{a: lazy.(&1)}, &%{a: [1, lazy.(&1)]}, &[lazy.(&1)], &%{a: lazy.([0, lazy.(&1)])}],
            source <- [[], [1], Stream.map([], & &1), Stream.map([1], & &1), [lazy.([])]],
            max_depth <- 1..4 do
          options = [max_depth: max_depth] ++ engine

          case RustyJson.encode(make.(source), options) do
            {:ok, text} ->
              assert joined(make.(source), options) == text

            {:error, error} ->
              raised = assert_raise EncodeError, fn -> joined(make.(source), options) end

              assert Map.take(raised, [:path, :message, :reason]) ==
                       Map.take(error, [:path, :message, :reason])
          end
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

  test "pointers hide elements of lazy arrays before they are encoded" do
    for {_engine, options} <- Judge.engines(), more <- [[], [pretty: true], [sort_keys: true]] do
      options = [redact: ["/rows/*/bad", "/rows/1/deep"], max_depth: 3] ++ more ++ options
      rows = [%{bad: <<255>>, a: 1}, %{deep: [[[]]], a: 2}, %{bad: self()}]
      expected = RustyJson.encode!(%{rows: rows}, options)
      assert expected =~ "[REDACTED]"
      assert RustyJson.encode!(%{rows: RustyJson.lazy(rows)}, options) == expected
      assert %{rows: RustyJson.lazy(rows)} |> RustyJson.encode_stream(options) |> Enum.join() == expected
    end
  end

  test "without protocols a lazy array is a struct like any other" do
    for {_engine, options} <- Judge.engines() do
      stream = RustyJson.encode_stream(%{d: RustyJson.lazy([1])}, [protocol: false] ++ options)
      assert Enum.join(stream) == ~s({"d":{"source":[1]}})
    end
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
    for {_engine, options} <- Judge.engines(), wrap <- [& &1, &[1, &1]] do
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

    for {_engine, options} <- Judge.engines(),
        more <- [[], [maps: :strict], [sort_keys: true], [key_case: :camel], [redact: ["/x"]]],
        key <- keys,
        wrap <- [& &1, &%{"outer" => &1}, &%{1.5 => &1}] do
      document = wrap.(%{key => RustyJson.lazy(1..2), "other" => %{c: RustyJson.lazy([3])}})
      assert joined(document, more ++ options) == RustyJson.encode!(document, more ++ options)
    end

    for {_engine, options} <- Judge.engines() do
      document = %{<<1::3>> => RustyJson.lazy(1..2)}
      options = [unsupported: :inspect, redact: [:password]] ++ options
      assert joined(document, options) == ~s|{"<<1::size(3)>>":[1,2]}|
    end
  end

  test "max_bytes ends encode/2 of a lazy array without end" do
    for {_engine, options} <- Judge.engines() do
      endless = RustyJson.lazy(Stream.cycle([1]))
      assert {:error, %{reason: :max_bytes}} = RustyJson.encode(endless, [max_bytes: 1_000] ++ options)
      assert {:error, %{reason: :max_bytes}} = RustyJson.encode(%{a: endless}, [max_bytes: 1_000] ++ options)
      short = RustyJson.lazy(Stream.take(Stream.cycle([1]), 3))
      assert RustyJson.encode(short, [max_bytes: 7] ++ options) == {:ok, "[1,1,1]"}
      assert RustyJson.encode(RustyJson.lazy([]), [max_bytes: 2] ++ options) == {:ok, "[]"}
    end
  end
end
