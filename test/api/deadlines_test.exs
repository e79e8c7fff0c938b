defmodule RustyJson.DeadlinesTest do
  @moduledoc "The deadline of the sandbox covers what the application gives a call: functions, sources of lazy arrays, and long lists."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Clock, only: [shortest: 1]

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Clock, Judge}

  defmodule Slow do
    defstruct [:id]

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts) do
        Process.put(@for, Process.get(@for, 0) + 1)
        Process.sleep(20)
        "1"
      end
    end
  end

  # A call may also wait in vain for an instance.
  @late [:timeout, :busy]

  defp sandbox(options \\ []) do
    for {_engine, [{:engine, :wasm} | _] = engine} <- Judge.engines(), do: options ++ engine
  end

  describe "a lazy array in encode/2" do
    test "takes no more from its source than exceeds max_bytes" do
      for {engine, options} <- Judge.engines(),
          element <- [
            String.duplicate("x", 1_000),
            [String.duplicate("x", 1_000)],
            %{a: [String.duplicate("x", 1_000)]}
          ] do
        counter = :counters.new(1, [])
        source = Stream.repeatedly(fn -> :counters.add(counter, 1, 1) && element end)

        assert {:error, %{reason: :max_bytes}} =
                 RustyJson.encode([RustyJson.lazy(source)], [max_bytes: 20_000] ++ options)

        assert :counters.get(counter, 1) <= 21, "#{engine}"
      end
    end

    test "has all its elements when the text is shorter than they look" do
      long = String.duplicate("x", 1_000)
      source = fn element -> RustyJson.lazy(Stream.map(1..5, fn _ -> element end)) end

      for {_engine, options} <- Judge.engines() do
        assert {:ok, text} = RustyJson.encode(source.(%{a: long}), [max_bytes: 100, redact: [:a]] ++ options)
        assert text == "[" <> Enum.map_join(1..5, ",", fn _ -> ~s({"a":"[REDACTED]"}) end) <> "]"

        assert {:ok, text} =
                 RustyJson.encode(source.(%{a: nil, b: 1}), [max_bytes: 41, omit: [nil]] ++ options)

        assert text == ~s([{"b":1},{"b":1},{"b":1},{"b":1},{"b":1}])

        # Written in place of a term that is longer.
        replaced = [unsupported: fn _ -> nil end, max_bytes: 3_000] ++ options
        assert {:ok, "[null,null,null,null,null]"} = RustyJson.encode(source.([long | 1]), replaced)

        assert {:ok, "[12,12,12,12,12]"} = RustyJson.encode(source.(12), [max_bytes: 16] ++ options)
        assert {:error, %{reason: :max_bytes}} = RustyJson.encode(source.(12), [max_bytes: 15] ++ options)
      end
    end

    test "ends with the deadline and the memory of the sandbox" do
      for options <- sandbox() do
        {took, result} =
          shortest(fn -> RustyJson.encode(RustyJson.lazy(Stream.cycle([1])), [timeout: 50] ++ options) end)

        assert {:error, %SandboxError{reason: reason}} = result
        assert reason in [:memory_limit | @late]
        assert took < 2_000

        taken = :counters.new(1, [])
        slow = Stream.map(1..30, fn i -> :counters.add(taken, 1, 1) && Process.sleep(20) && i end)

        assert {:error, %SandboxError{reason: reason}} =
                 RustyJson.encode([RustyJson.lazy(slow)], [timeout: 50] ++ options)

        assert reason in @late
        assert :counters.get(taken, 1) <= 4

        large = Stream.cycle([String.duplicate("x", 100_000)])

        assert {:error, %SandboxError{reason: :memory_limit}} =
                 RustyJson.encode(RustyJson.lazy(large), [max_memory: 10_000_000] ++ options)
      end
    end
  end

  describe "the deadline of the sandbox" do
    test "covers a function for keys" do
      json = ~s({"a": 1, "b": {"c": 2}, "d": 3})
      calls = :counters.new(1, [])
      slow = fn key -> :counters.add(calls, 1, 1) && Process.sleep(40) && key end

      for options <- sandbox(keys: slow, timeout: 20) do
        for run <- [
              fn -> RustyJson.decode(json, options) end,
              fn -> RustyJson.decode(json, [objects: :ordered_objects] ++ options) end,
              fn -> RustyJson.fetch(json, "/b", options) end,
              fn -> RustyJson.decode(json, [as: {:map, :any}] ++ options) end,
              fn -> [json, json, json] |> RustyJson.decode_many(options) |> List.last() end
            ] do
          before = :counters.get(calls, 1)
          assert {:error, %SandboxError{reason: reason}} = run.()
          assert reason in @late
          assert :counters.get(calls, 1) - before <= 1
        end
      end
    end

    test "what such a function raises or throws is the caller's" do
      for {_engine, options} <- Judge.engines() do
        assert catch_throw(RustyJson.decode(~s({"a":1}), [keys: fn _ -> throw(:mine) end] ++ options)) ==
                 :mine
      end
    end

    test "covers a long list of documents" do
      documents = List.duplicate("[1]", 200_000)

      for options <- sandbox(timeout: 10),
          more <- [[], [as: [:integer]], [raw: ["/0"]], [keys: &String.upcase/1], [keys: :atoms]] do
        {took, results} = shortest(fn -> RustyJson.decode_many(documents, more ++ options) end)
        assert length(results) == 200_000
        assert {:error, %SandboxError{reason: reason}} = List.last(results)
        assert reason in @late
        assert took < 1_000, "#{inspect(more)}: #{took} ms"
      end
    end
  end

  describe "the deadline of the sandbox, where each document has a new atom" do
    test "covers the whole list" do
      documents = for i <- 1..20_000, do: ~s({"rustyjson_own_functions_#{i}": 1})

      for options <- sandbox(timeout: 10, keys: :atoms) do
        results = RustyJson.decode_many(documents, options)
        assert length(results) == 20_000
        assert {:error, %SandboxError{reason: reason}} = List.last(results)
        assert reason in @late
      end
    end
  end

  test "an own encoder that gives finished text is the last one when the time is over" do
    rows = for id <- 1..20, do: %Slow{id: id}

    for options <- sandbox(timeout: 50),
        term <- [rows, %{a: rows}, [[1 | rows]], Map.new(rows, &{&1.id, &1})] do
      Process.put(Slow, 0)
      assert {:error, %SandboxError{reason: reason}} = RustyJson.encode(term, options)
      assert reason in @late
      assert Process.get(Slow) <= 4
    end
  end

  @tag :time
  test "the pieces of a typed document have a deadline each" do
    text = "{" <> Enum.map_join(1..200_000, ",", &~s("k#{&1}":#{&1}.5))

    for options <- sandbox(timeout: 40) do
      partial = RustyJson.Partial.new([as: {:map, :decimal}] ++ options)

      Clock.within(400, fn ->
        assert {:error, %SandboxError{reason: reason}} = RustyJson.Partial.push(partial, text)
        assert reason in @late
      end)

      # The time of one piece is not that of the next.
      {:ok, partial} =
        RustyJson.Partial.push(RustyJson.Partial.new([as: {:map, :decimal}] ++ options), ~s({"a":1))

      Process.sleep(60)
      assert {:ok, partial} = RustyJson.Partial.push(partial, "}")
      assert {:ok, %{"a" => _}} = RustyJson.Partial.finish(partial)
    end
  end

  test "all parts of decode_partial/2 share its timeout" do
    slow = fn key -> Process.sleep(60) && key end
    {text, value} = {~s({"b":{"a":1}}), %{"b" => %{"a" => 1}}}

    for options <- sandbox(timeout: 100, keys: slow), more <- [[], [as: {:map, :any}], [lenient: [:prose]]] do
      assert {:error, %SandboxError{reason: reason}} = RustyJson.decode_partial(text, options ++ more)
      assert reason in @late
    end

    # Each call of its own has its own.
    for options <- sandbox(timeout: 100, keys: slow) do
      assert {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(options), text)
      assert {:ok, ^value} = RustyJson.Partial.finish(partial)
    end
  end
end
