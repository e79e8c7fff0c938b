defmodule RustyJson.Sandbox.TapeTest do
  @moduledoc "Terms that the built-in host writes into the module's memory itself: a guest that lies about it, and limits."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{EncodeError, Fragment, OrderedObject, SandboxError}
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Test.{Clock, Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  defmodule Row do
    @derive RustyJson.Encoder
    defstruct [:id, :name, :at, :rest]
  end

  defmodule Named do
    @derive {RustyJson.Encoder, key_case: [id: "Id\""], omit: [nil, Date]}
    defstruct [:id, :name, :at]
  end

  @moduletag host: :built_in
  @options [engine: :wasm, host: :built_in, timeout: 10_000, max_memory: 64 * 1_048_576]

  if reason = WasmHosts.missing(:built_in), do: @moduletag(skip: reason)

  describe "a guest that lies:" do
    if reason = Guest.missing(), do: @describetag(skip: reason)

    test "room outside its memory, or less than it was asked for" do
      for room <- [Guest.memory(), 0xFFFF_FFFF, 1, 40] do
        with_guest(:built_in, Guest.wasm(room: "(i64.const #{room})"), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1], @options)
        end)
      end

      with_guest(:built_in, Guest.wasm(input: "(i32.const 0)"), fn ->
        assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1], @options)
      end)
    end

    test "an answer that is no text, and a text longer than the term's can be" do
      long = String.duplicate("a", 10_000)

      for data <- [<<2, 0::32, "null">>, <<0, 9, 0::32>>, <<3>>, <<4>>, <<1, long::binary>>] do
        with_guest(:built_in, Guest.wasm(data: data, always: true), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1], @options)
        end)
      end

      with_guest(:built_in, Guest.wasm(data: <<1, long::binary>>, always: true), fn ->
        assert {:ok, ^long} = RustyJson.encode([long], @options)
      end)
    end

    test "holes where the host has put none, fewer or more, out of order, and behind the text" do
      hole = fn {offset, number} -> <<offset::32-little, number::32-little, 0::32>> end

      for {holes, term} <- [
            {[1], [1]},
            {[], [self()]},
            {[1, 1], [self()]},
            {[3], [self()]},
            {[1], [self(), self()]},
            {[2, 1], [self(), self()]}
          ],
          options <- [@options, [unsupported: :inspect] ++ @options] do
        data =
          <<2, length(holes)::32-little, holes |> Enum.with_index() |> Enum.map_join(hole)::binary, "[]">>

        with_guest(:built_in, Guest.wasm(data: data, always: true), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode(term, options)
        end)
      end

      with_guest(:built_in, Guest.wasm(data: <<1, "[]">>, always: true), fn ->
        assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([self()], @options)
      end)
    end
  end

  test "a term that shares its parts is stopped while it is written" do
    term = Enum.reduce(1..60, 1, fn _, part -> [part, part] end)
    assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(term, @options)

    assert {:error, %SandboxError{reason: :timeout}} =
             RustyJson.encode(term, Keyword.put(@options, :timeout, 1))

    assert {:error, %EncodeError{reason: :max_bytes}} = RustyJson.encode(term, [max_bytes: 1000] ++ @options)
    assert {:ok, "[1]"} = RustyJson.encode([1], @options)
  end

  test "a term that is small on a tape and whose text exceeds the memory limit" do
    map = %{String.duplicate("k", 100_000) => 1}
    term = Enum.reduce(1..12, map, fn _, part -> [part, part] end)
    options = Keyword.put(@options, :max_memory, 16 * 1_048_576)
    assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(term, options)
  end

  test "what an earlier call left in a kept instance takes no memory from the next one" do
    options = Keyword.merge(@options, max_memory: 32 * 1_048_576, pool_size: 1)
    strings = fn bytes -> List.duplicate(String.duplicate("x", 997), div(bytes, 1_000)) end

    for {first, second} <- [{3_000_000, 13_000_000}, {8_000_000, 9_000_000}, {8_000_000, 12_000_000}] do
      json = RustyJson.encode!(strings.(second), engine: :native)
      assert {:ok, term} = RustyJson.decode(json, Keyword.put(options, :isolation, :fresh))
      assert {:ok, _text} = RustyJson.encode(strings.(first), options)
      assert RustyJson.decode(json, options) == {:ok, term}
    end

    # An instance that failed is not kept: the next test starts with a small one.
    shared = Enum.reduce(1..60, 1, fn _, part -> [part, part] end)
    assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(shared, options)
  end

  # Each refers to its parts many times over, or is much work for a short text.
  defp shared do
    long = String.duplicate("x", 200_000)
    grown = fn start, levels, again -> Enum.reduce(1..levels, start, fn _, part -> again.(part) end) end

    [
      {"maps with integers as keys", grown.(long, 5, fn part -> Map.new(1..12, &{&1, part}) end)},
      {"maps with long keys", grown.(1, 40, &%{(long <> "a") => &1, (long <> "b") => &1})},
      {"maps with atoms as keys", grown.(1, 60, &%{a: &1, b: &1})},
      {"large maps", grown.("x", 20, fn part -> Map.new(1..40, &{"k#{&1}", part}) end)},
      {"lists", grown.(long, 60, &[&1, &1])},
      {"tuples", grown.(long, 60, &{&1, &1})},
      {"improper lists", grown.([1 | 2], 60, &[&1, &1])},
      {"keys that are lists", grown.(1, 60, &%{~c"ab" => &1, 1 => &1})},
      {"structs", grown.(1, 60, &%Row{id: &1, name: &1})},
      {"structs that leave out nothing", grown.(1, 60, &%Named{id: &1, name: &1, at: 1})},
      {"integers", grown.(2 ** 100_000, 30, &[&1, &1])},
      {"integers as keys", grown.(1, 30, &%{(2 ** 100_000) => &1, 1 => &1})},
      {"fragments", grown.(Fragment.new(long), 60, &[&1, &1])},
      {"fragments of lists", Fragment.new(grown.(long, 60, &[&1, &1]))},
      {"sets", grown.(1, 60, &MapSet.new([&1, [&1]]))},
      {"objects", grown.(1, 60, &OrderedObject.new([{"a", &1}, {"b", &1}]))},
      {"dates", grown.(~D[2026-01-02], 60, &[&1, &1])},
      {"holes", grown.(self(), 60, &[&1, &1])}
    ]
  end

  # AddressSanitizer takes its own time.
  @tag :memory
  test "terms that share their parts end at max_bytes as soon as natively" do
    for {name, term} <- shared(), options <- [[], [sort_keys: true], [redact: ["none"]], [pretty: true]] do
      options = [max_bytes: 2_000, max_depth: 200] ++ options
      # The first call may learn plans.
      [_, native] = for _ <- 1..2, do: RustyJson.encode(term, [engine: :native] ++ options)
      assert {:error, error} = native
      assert error.reason == :max_bytes or (name == "improper lists" and error.reason == :improper_list)
      assert RustyJson.encode(term, options ++ @options) == native, name

      for engine <- [[engine: :native], @options] do
        times = for _ <- 1..5, do: elem(:timer.tc(fn -> RustyJson.encode(term, engine ++ options) end), 0)
        assert Enum.min(times) < 10_000, "#{name} took #{Enum.min(times)} µs"
      end
    end
  end

  # The VM does not know its memory where malloc gives all of it, as under AddressSanitizer.
  @tag :memory
  test "terms that share their parts end at the memory limit or the deadline" do
    options = [max_depth: 200, timeout: 100] ++ Keyword.put(@options, :max_memory, 16 * 1_048_576)
    before = :erlang.memory(:total)

    # An improper list is found before the memory ends, and so is what has no text.
    for {name, term} <- shared(), name not in ["improper lists", "holes"] do
      Clock.within(1_000, fn ->
        assert {:error, %SandboxError{reason: reason}} = RustyJson.encode(term, options), name
        assert reason in [:memory_limit, :timeout]
      end)
    end

    assert :erlang.memory(:total) - before < 100_000_000
  end

  test "work that writes nothing ends with the deadline" do
    empty = Enum.reduce(1..60, [], fn _, part -> [part, part] end)

    for term <- [Fragment.new(empty), [Fragment.new([empty | "1"])]] do
      Clock.within(1_000, fn ->
        options = Keyword.put(@options, :timeout, 200)
        assert {:error, %SandboxError{reason: :timeout}} = RustyJson.encode(term, options)
      end)
    end
  end

  test "a call on the caller's scheduler ends early, and its instance stays" do
    RustyJson.encode!([1], @options)
    bytes = RustyJson.Options.encode([]).bytes
    limits = {8, 268_435_456, 5_000, false, 5_000}
    kept = Nif.sandbox_counts()[:kept]
    assert Nif.sandbox_write(Enum.to_list(1..1_000_000), nil, bytes, limits, 0) == :later
    assert Nif.sandbox_counts()[:kept] == kept
    assert {:ok, "[1,2]"} = Nif.sandbox_write([1, 2], nil, bytes, limits, 0)
    assert {:ok, "[1]"} = Nif.sandbox_write({1}, nil, bytes, limits, 0)
    assert {:partial, "[]", [{1, 1, pid, :value}]} = Nif.sandbox_write([self()], nil, bytes, limits, 0)
    assert pid == self()
  end

  test "a long term is left to a dirty scheduler before much of it is written" do
    bytes = RustyJson.Options.encode([]).bytes
    write = fn term -> Nif.sandbox_write(term, nil, bytes, {8, 268_435_456, 5_000, false, 5_000}, 0) end
    row = %{"id" => 1, "name" => "a name", "tags" => ["x", "y"], "at" => %{"x" => 1.5, "y" => nil}}
    rows = fn count -> List.duplicate(row, count) end
    tree = Enum.reduce(1..5, 1, fn _, part -> %{"a" => part, "b" => part, "c" => [part, 1.5]} end)

    long = [
      rows.(20_000),
      %{"meta" => nil, "rows" => rows.(20_000)},
      List.duplicate(Enum.to_list(1..40), 3_000),
      [[rows.(20_000), 1], "end"],
      List.duplicate(String.duplicate("x", 1_000), 2_000),
      List.duplicate(tree, 500)
    ]

    assert {:ok, _text} = write.(rows.(500))
    short = rows.(1_000)

    for {term, number} <- Enum.with_index(long) do
      assert write.(term) == :later
      {time, whole} = compared(fn -> write.(term) end, fn -> write.(short) end)
      assert time < whole / 2, "term #{number}: #{time} µs, a short one #{whole} µs"
    end

    # What its start does not show is noticed behind it.
    assert write.(List.duplicate(%{}, 100) ++ rows.(20_000)) == :later
  end

  # Other programs only lengthen a call. So more calls are made while they were too long, and the shortest of all of them count.
  defp compared(call, whole, time \\ :infinity, most \\ :infinity, tries \\ 20) do
    {time, most} = {min(fastest(call), time), min(fastest(whole), most)}
    if time < most / 2 or tries == 1, do: {time, most}, else: compared(call, whole, time, most, tries - 1)
  end

  defp fastest(call), do: Enum.min(for _ <- 1..50, do: elem(:timer.tc(call), 0))
end
