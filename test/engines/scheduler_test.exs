defmodule RustyJson.SchedulerTest do
  @moduledoc """
  No large document holds a normal scheduler: the VM's own monitor stays silent.

  The promise is about a millisecond, and the monitor counts whole ones, so the limit is two. The monitor uses the clock, so other work
  on the machine makes it report without cause. A call that really works on a normal scheduler holds it in every try; a try counts
  only if a plain loop, which gives way by itself, stays silent for as long afterwards. The loop makes terms, too. On a machine where a
  new page of memory takes microseconds, the VM's own collections of the caller's heap hold schedulers: those that its monitor reports are
  subtracted.
  `RUSTYJSON_LONG_SCHEDULE=1` is for an idle machine. Terms that a dirty NIF returns do not break the promise:
  the VM collects a heap of that size on a dirty scheduler too. Its own `binary_to_term` of the same 10 MB does, with slices
  of 6 to 31 ms on OTP 25 and 3 to 19 ms on OTP 29, which is why the native engine and the built-in host leave no large term to it. With
  wasmex it makes all terms, so there the limit is that of the VM.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Fragment
  alias RustyJson.Test.{Judge, Structs, Trace}
  alias RustyJson.Test.Schemas.{Leaf, Twig}

  @moduletag timeout: 300_000

  # Milliseconds. Ten megabytes take over thirty to decode.
  @limit "RUSTYJSON_LONG_SCHEDULE" |> System.get_env("2") |> String.to_integer()
  # With wasmex, the longest slice that the VM's own `binary_to_term` was seen to take, and half as much; and for calls that make no large
  # term, whose 10 MB wasmex copies in one go (7 ms).
  @limit_of_vm 45
  @limit_of_copy 15
  @quiet_tries 4
  @tries 8

  setup_all do
    record = %{
      "id" => 12_345,
      "name" => "a name",
      "score" => 1.5,
      "tags" => ["x", "y"],
      "ok" => true,
      "none" => nil
    }

    term = List.duplicate(record, 120_000)

    %{
      term: term,
      text:
        IO.iodata_to_binary([
          "[",
          Enum.intersperse(List.duplicate(RustyJson.encode!(record), 120_000), ","),
          "]"
        ])
    }
  end

  for {name, options} <- Judge.engines() do
    @tag options: options
    test "#{name}: decoding 10 MB", %{text: text, options: options} do
      assert_silent(limit(options), fn -> {:ok, _} = RustyJson.decode(text, options) end)
    end

    # A frame on the stack for each element was copied in one go.
    @tag options: options
    test "#{name}: a function for keys, in 9 MB of numbers", %{options: options} do
      numbers = "[" <> String.duplicate("1,", 4_500_000) <> "{}]"

      assert_silent(limit(options), fn ->
        {:ok, _} = RustyJson.decode(numbers, [keys: & &1] ++ patient(options))
      end)
    end

    # 122 KB once took 200 ms: every level was walked over again.
    @tag options: options
    test "#{name}: tagged structs in tagged structs", %{options: options} do
      for levels <- [120, 7_000] do
        deep = String.duplicate(~s({"next":), levels) <> "null" <> String.duplicate(~s(,"t":"leaf"}), levels)
        options = [as: {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}, max_depth: :infinity] ++ options
        assert_silent(fn -> {:ok, _} = RustyJson.decode(deep, options) end)
      end
    end

    @tag options: options
    test "#{name}: all errors of 120 KB", %{options: options} do
      wrong = "[" <> String.duplicate("1,", 60_000) <> "1]"
      options = [as: [:string], errors: :all, max_errors: 10_000] ++ options
      assert_silent(fn -> {:error, %{error_count: 60_001}} = RustyJson.decode(wrong, options) end)
    end

    @tag options: options
    test "#{name}: decoding 10 MB with an error at the end", %{text: text, options: options} do
      # Built here, because appending copies the whole binary on a normal scheduler.
      broken = text <> "x"
      assert_silent(limit(options, @limit_of_copy), fn -> {:error, _} = RustyJson.decode(broken, options) end)
    end

    @tag options: options
    test "#{name}: encoding 10 MB", %{term: term, options: options} do
      assert_silent(limit(options, @limit_of_copy), fn -> {:ok, _} = RustyJson.encode(term, options) end)
    end

    # Many short documents share a crossing, one of 60 KB has one for itself on the caller's scheduler, one of 1 MB runs elsewhere.
    for {count, bytes} <- [{300_000, 35}, {200, 60_000}, {12, 1_000_000}] do
      @tag options: options
      test "#{name}: decoding #{count} documents of #{bytes} bytes at once", %{text: text, options: options} do
        documents = List.duplicate(document(text, unquote(bytes)), unquote(count))
        assert_silent(limit(options), fn -> [{:ok, _} | _] = RustyJson.decode_many(documents, options) end)
      end
    end

    # A stack with a frame for each was looked through at each collection.
    @tag options: options
    test "#{name}: a million documents within max_bytes, and one beyond", %{options: options} do
      documents = List.duplicate("1", 1_000_000) ++ ["[1, 2, 3]"]
      options = [max_bytes: 5] ++ patient(options)
      assert_silent(limit(options), fn -> [{:ok, 1} | _] = RustyJson.decode_many(documents, options) end)
    end

    # 60 KB become 29 MB, 120 KB 58 MB: the native engine and the built-in host begin such texts on the caller's scheduler.
    for {size, levels} <- [{60_000, 480}, {120_000, 480}] do
      @tag options: options
      test "#{name}: laying out #{size} bytes nested #{levels} deep", %{options: options} do
        options = RustyJson.Options.encode(options)
        options = RustyJson.Options.laid_out(options, {"  ", "\n", "\n", " "}, {0, 1024, 0})
        text = nested(unquote(levels), unquote(size))
        assert_silent(fn -> {:ok, _} = options.engine.format(text, options) end)
      end

      @tag options: options
      test "#{name}: a pretty fragment of #{size} bytes nested #{levels} deep", %{options: options} do
        fragment = RustyJson.Fragment.new(nested(unquote(levels), unquote(size)))
        options = [pretty: true, max_depth: 1024] ++ options
        assert_silent(fn -> {:ok, _} = RustyJson.encode([fragment], options) end)
      end
    end
  end

  # The plan of 400,000 pointers has 25 MB, which were copied in one go for each text, and again for each piece in the sandbox. It takes
  # seconds to make, so it is made once.
  @tag timeout: 600_000
  test "values at 400,000 pointers, in each engine" do
    paths = RustyJson.Paths.new!(for(number <- 1..400_000, do: "/#{number}_#{String.duplicate("x", 30)}"))
    text = ~s({"1_#{String.duplicate("x", 30)}":[1],"other":2}\n)

    for {_name, options} <- Judge.engines(), limit = limit(options), options = patient(options) do
      assert_silent(limit, fn -> {:ok, [[1], nil | _]} = RustyJson.select(text, paths, options) end)

      assert_silent(limit, fn ->
        {:ok, [[[1], nil | _]], _feed} =
          [select: paths, format: :lines]
          |> Keyword.merge(options)
          |> RustyJson.Feed.new()
          |> RustyJson.Feed.push(text)
      end)
    end
  end

  defp limit(options, with_wasmex \\ @limit_of_vm),
    do: if(options[:host] == :wasmex, do: with_wasmex, else: @limit)

  defp patient(options),
    do:
      if(options[:engine] == :wasm, do: [timeout: 60_000, max_memory: 1_000_000_000] ++ options, else: options)

  # An array of the first records of the text, in about as many bytes.
  defp document(text, bytes) do
    case :binary.match(text, "},{", scope: {0, bytes}) do
      :nomatch -> ~s({"id":12345,"name":"a","ok":true,"x":1})
      {first, _} -> binary_part(text, 0, div(bytes, first + 1) * (first + 1)) <> "]"
    end
  end

  defp nested(levels, bytes) do
    [nest("[", levels), String.duplicate("1,", div(bytes, 2)), "1", nest("]", levels)]
    |> IO.iodata_to_binary()
  end

  defp nest(bracket, levels), do: String.duplicate(bracket, levels)

  # On any machine: copies are charged, and the library works on a dirty scheduler.
  for {name, options} <- Judge.engines(), name != :wasmex do
    @tag options: options
    test "#{name}: the plan of 100,000 pointers on a dirty scheduler", %{options: options} do
      paths = RustyJson.Paths.new!(Enum.map(1..100_000, &"/#{&1}"))
      :erlang.yield()
      {:reductions, before} = Process.info(self(), :reductions)
      RustyJson.Paths.plan(paths, false, false, "")
      {:reductions, later} = Process.info(self(), :reductions)
      # Three turns, which a copy in one go never takes.
      assert later - before > 3 * 4_000

      rows = [select: paths, format: :lines] ++ patient(options)

      select = fn -> {:ok, [1 | _]} = RustyJson.select(~s({"1":1}), paths, patient(options)) end
      push = fn -> {:ok, [[1 | _]], _feed} = RustyJson.Feed.push(RustyJson.Feed.new(rows), ~s({"1":1}\n)) end

      # The library itself says of a stream that it has a long plan.
      assert {called(select), called(push)} ==
               if(unquote(name) == :native,
                 do: {[:decode_dirty], [:feed, :feed_dirty]},
                 else: {[:sandbox_run_dirty], [:sandbox_run_dirty]}
               )
    end
  end

  # The functions of the library that do the work of a call.
  defp called(call) do
    for {Nif, function, _arity} <- Trace.calls([{Nif, :_, :_}], call),
        to_string(function) =~ ~r/feed|decode|run/,
        do: function
  end

  # Which scheduler does the work. The VM's monitor can tell this only on an idle machine.
  if :native in Keyword.keys(Judge.engines()) do
    test "native: short texts that are much work move to a dirty scheduler" do
      options = &RustyJson.Options.decode/1
      many = "[" <> String.duplicate("{},", 13_000) <> "{}]"
      wide = "{" <> Enum.map_join(1..6_500, ",", &~s("#{&1}":1)) <> "}"

      for text <- [many, wide] do
        assert byte_size(text) < options.([]).dirty_threshold
        assert Nif.decode(text, options.([]).bytes) == :dirty
        assert {:ok, term} = Nif.decode(text, options.(dirty_threshold: 0).bytes)
        assert RustyJson.decode(text, engine: :native) == {:ok, term}
      end

      assert {:error, %RustyJson.DecodeError{reason: :max_nodes}} =
               RustyJson.decode(many, engine: :native, max_nodes: 12_500)

      assert options.(floats: :decimals).dirty_threshold == 16_384
      assert options.(decoding_integer_digit_limit: 0).dirty_threshold == 4_096

      # 0 is never.
      for more <- [[], [floats: :decimals], [decoding_integer_digit_limit: 0]],
          do: assert(options.([dirty_threshold: 0] ++ more).dirty_threshold > 2 ** 40)
    end

    # Shapes that write few bytes, or none, for the time they take, each long enough for tens of milliseconds.
    test "native: work that writes few bytes moves to a dirty scheduler, and is charged" do
      twice = fn leaf, times -> Enum.reduce(1..times, leaf, fn _, list -> [list, list] end) end
      many = &List.duplicate(&1, 200_000)

      for {name, term, options} <- [
            {"iodata of empty lists", Fragment.new(twice.([], 18)), []},
            {"iodata of empty strings", Fragment.new(many.("")), []},
            {"iodata in iodata", Fragment.new(Enum.reduce(1..200_000, [], fn _, list -> [list] end)), []},
            {"empty fragments", many.(Fragment.new("")), []},
            {"function fragments", many.(Fragment.new(fn _ -> "1" end)), []},
            {"structs with encoders", many.(%Structs.AsText{text: "a"}), []},
            {"pids", many.(self()), []},
            {"URIs", many.(%URI{path: "/"}), []},
            {"a long URI", %URI{path: "/" <> String.duplicate("a", 1_000_000)}, []},
            {"a long time zone",
             %{%{~U[2024-01-01 00:00:00Z] | time_zone: String.duplicate("a", 1_000_000)} => 1}, []},
            {"dates", many.(~D[2024-01-01]), []},
            {"decimals", many.(%{__struct__: Decimal, sign: 1, coef: 1, exp: 0}), []},
            {"big integers", List.duplicate(Integer.pow(2, 4000), 5_000), []},
            {"keys that are dates", many.(%{~D[2024-01-01] => 1}), []},
            {"sorted maps", List.duplicate(Map.new(1..1000, &{&1, 1}), 500), [sort_keys: true]},
            {"a long sorted key", %{String.duplicate("a", 1_000_000) => 1}, [sort_keys: true]},
            {"deep lists", Enum.reduce(1..200_000, 1, fn _, list -> [list] end), [max_depth: :infinity]},
            {"deep pretty lists", Enum.reduce(1..3_000, 1, fn _, list -> [list] end),
             [max_depth: :infinity, pretty: true]}
          ] do
        %{bytes: bytes} = RustyJson.Options.encode(options)
        # A call is charged at most what is left of the turn.
        :erlang.yield()
        {:reductions, before} = Process.info(self(), :reductions)
        result = Nif.encode(term, bytes, nil)
        {:reductions, later} = Process.info(self(), :reductions)
        assert result == :dirty or elem(result, 0) == :suspended, name

        # Most of a turn, unless a first look shows that the work exceeds it.
        unless name in ["a long URI", "a long time zone", "a long sorted key", "deep lists"],
          do: assert(later - before > 2_000, "#{name}: #{later - before} reductions")

        if is_tuple(result), do: assert(byte_size(elem(result, 1)) < 3_000_000)
      end
    end

    # A key of 100,000 bytes once took 20 ms with 64 words, and was no work.
    test "native: words of redact: are looked for in long keys on a dirty scheduler" do
      words = for number <- 1..64, do: "secret_#{number}"
      key = &String.duplicate("s", &1)
      atoms = for number <- 1..2_000, do: String.to_atom("#{number}" <> key.(200))

      for {name, term, more} <- [
            {"a long key", %{key.(100_000) => 1}, []},
            {"beside a number as a key", %{key.(100_000) => 1, 1 => 2}, []},
            {"sorted", %{key.(100_000) => 1}, [sort_keys: true]},
            {"with pointers", %{key.(100_000) => 1}, [redact: ["/a", contains: words]]},
            {"left out", Map.new(1..500, &{"#{&1}" <> key.(4_000), nil}), [omit: [nil]]},
            {"many maps", for(number <- 1..3_000, do: %{("#{number}" <> key.(200)) => 1}), []},
            {"atoms", Map.new(atoms, &{&1, 1}), []},
            {"atoms of many maps", for(atom <- atoms, do: %{atom => 1}), []}
          ] do
        options = Keyword.merge([redact: [contains: words]], more)
        result = Nif.encode(term, RustyJson.Options.encode(options).bytes, nil)
        assert result == :dirty or is_tuple(result), name
        assert {:ok, json} = Judge.encode(term, options)
        assert RustyJson.encode(term, [engine: :native, scheduler: :normal] ++ options) == {:ok, json}
      end
    end

    test "native and built_in: thousands of keys to redact are read on a dirty scheduler" do
      %{values: values} = native = RustyJson.Options.encode(redact: Enum.map(1..10_000, &"key_#{&1}"))
      assert Nif.encode([1], native.bytes, nil) == :dirty

      for scheduler <- [:auto, :normal, :dirty] do
        options = [redact: values.redact, engine: :native, scheduler: scheduler]
        assert RustyJson.encode([1], options) == {:ok, "[1]"}
      end

      if Keyword.has_key?(Judge.engines(), :built_in) do
        built_in = RustyJson.Options.encode(redact: values.redact, engine: :wasm, host: :built_in)
        limits = RustyJson.Wasm.Host.limits(built_in.sandbox)
        assert Nif.sandbox_write([1], nil, built_in.bytes, limits, 0) == :later
        assert RustyJson.encode([1], redact: values.redact, engine: :wasm, host: :built_in) == {:ok, "[1]"}
      end
    end

    test "native: numbers of many digits and long sorted keys are written on a dirty scheduler" do
      long = Integer.pow(2, 8 * 600)
      decimal = %{__struct__: Decimal, sign: 1, coef: long, exp: -2}
      keys = Map.new(1..10, &{"#{&1}" <> String.duplicate("x", 20_000), &1})

      for {term, options} <- [
            {long, []},
            {[-long], []},
            {%{long => 1}, []},
            {decimal, []},
            {[%{decimal => 1}], []},
            {keys, [sort_keys: true]},
            {%{"a" => keys}, [maps: :strict]}
          ] do
        assert Nif.encode(term, RustyJson.Options.encode(options).bytes, nil) == :dirty
        assert {:ok, json} = Judge.encode(term, options)
        assert RustyJson.encode(term, [engine: :native, scheduler: :normal] ++ options) == {:ok, json}
        assert RustyJson.encode(term, [engine: :native, scheduler: :dirty] ++ options) == {:ok, json}
      end
    end
  end

  defp assert_silent(limit \\ @limit, fun, quiet \\ @quiet_tries, tries \\ @tries) do
    {micros, held} = :timer.tc(fn -> held(fun, limit) end)

    cond do
      held == [] ->
        :ok

      tries == 1 ->
        IO.puts("skipped: scheduler test: machine too busy to tell (#{show(held)})")

      held(fn -> loop(System.monotonic_time(:microsecond) + micros) end, limit) != [] ->
        assert_silent(limit, fun, quiet, tries - 1)

      quiet == 1 ->
        flunk("a normal scheduler was held in every try, the last time for #{show(held)}")

      true ->
        assert_silent(limit, fun, quiet - 1, tries - 1)
    end
  end

  defp loop(until) do
    Enum.reduce(1..1_000_000, 0, &(&1 + &2))
    true = 200_000 == length(Enum.map(1..200_000, &{&1}))
    if System.monotonic_time(:microsecond) < until, do: loop(until)
  end

  defp show(times), do: Enum.map_join(times, ", ", &"#{&1} ms")

  # How long the process that runs the function held a scheduler, each time, without what the VM's own collections of its heap took.
  defp held(fun, limit) do
    test = self()
    :erlang.garbage_collect()
    previous = :erlang.system_monitor(self(), long_schedule: limit, long_gc: limit - 1)

    {pid, reference} =
      spawn_monitor(fn ->
        receive(do: (:go -> :ok))
        fun.()
        # The monitor reports when a process yields, not when it ends.
        :erlang.yield()
        send(test, :done)
      end)

    send(pid, :go)
    assert_receive {:DOWN, ^reference, :process, ^pid, :normal}, 120_000
    restore(previous)
    reported(:long_schedule, pid) |> uncollected(reported(:long_gc, pid))
  end

  defp restore(:undefined), do: :erlang.system_monitor(:undefined)
  defp restore({pid, options}), do: :erlang.system_monitor(pid, options)

  # Both are whole milliseconds. A collection explains one turn: the one that it took all of but a millisecond.
  defp uncollected(turns, collections) do
    {turns, _rest} =
      Enum.reduce(turns, {[], collections}, fn turn, {held, collections} ->
        case Enum.find(collections, &(&1 >= turn - 1)) do
          nil -> {[turn | held], collections}
          collection -> {held, List.delete(collections, collection)}
        end
      end)

    turns
  end

  defp reported(what, pid) do
    receive do
      {:monitor, ^pid, ^what, info} -> [info[:timeout] | reported(what, pid)]
      {:monitor, other, ^what, _} when other != pid -> reported(what, pid)
    after
      0 -> []
    end
  end
end
