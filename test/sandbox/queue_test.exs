defmodule RustyJson.Sandbox.QueueTest do
  @moduledoc """
  Callers that wait for an instance: all are served in time, waiting costs little, and nothing leaks.

  RUSTYJSON_CALLERS=50000 is the long run. It requires four fifths of the throughput of ten callers.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Clock, Guest, WasmHosts}
  alias RustyJson.Wasm.Host.Wasmex.Lane.Call
  alias RustyJson.Wasm.Host.Wasmex.Lanes

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @callers "RUSTYJSON_CALLERS" |> System.get_env("3000") |> String.to_integer()
  # A short run would measure the machine rather than the queue.
  @share if @callers >= 50_000, do: 0.8, else: 0.3
  @document ~s({"id":12345,"name":"a","ok":true})

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.missing(host), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [engine: :wasm, host: host, timeout: 60_000]}
      end

      test "many callers make about as many calls as ten, at every pool size", %{options: options} do
        for size <- [1, 2, 8] do
          options = [pool_size: size] ++ options

          assert Enum.any?(1..5, fn _ -> per_second(@callers, options) >= @share * per_second(10, options) end),
                 "with pool_size: #{size}"
        end
      end

      test "nobody starves, and nobody finds a message later", %{host: host, options: options} do
        options = [pool_size: 1] ++ options

        callers =
          for _ <- 1..200 do
            Task.async(fn ->
              for _ <- 1..200, do: {:ok, _} = RustyJson.decode(@document, options)
              {:message_queue_len, n} = Process.info(self(), :message_queue_len)
              n
            end)
          end

        assert callers |> Task.await_many(120_000) |> Enum.all?(&(&1 == 0))
        assert %{^host => %{running: 0, waiting: 0}} = RustyJson.stats()
      end

      if reason = Guest.missing(), do: @tag(skip: reason)

      test "callers that give up are told in time, whatever became of their place", %{
        host: host,
        options: options
      } do
        with_guest(host, Guest.wasm(fault: "(loop $a (br $a)) (unreachable)"), fn ->
          slow = Task.async(fn -> RustyJson.decode("!", [pool_size: 1] ++ at_most(options, 1_500)) end)
          assert eventually(fn -> WasmHosts.counts(host)[:running] == 1 end)

          # Their timeout expires about when the place becomes free, so some are woken after they have given up.
          waiting =
            for i <- 1..300,
                do:
                  Task.async(fn ->
                    waits([pool_size: 1] ++ at_most(options, 1_200 + rem(i, 30) * 20))
                  end)

          for answer <- Task.await_many(waiting, 60_000), do: assert({:ok, 0} = answer)
          assert {:error, %SandboxError{reason: :timeout}} = Task.await(slow)
          assert eventually(fn -> WasmHosts.counts(host)[:running] == 0 end)
          assert RustyJson.decode("[]", [pool_size: 1] ++ options) == {:ok, nil}
          assert WasmHosts.counts(host)[:waiting] == 0
        end)
      end

      test "callers that are killed at any moment take no place along", %{host: host, options: options} do
        options = [pool_size: 1] ++ options
        stop = :atomics.new(1, [])
        busy = for _ <- 1..4, do: Task.async(fn -> until(stop, options) end)

        for _ <- 1..300 do
          {pid, monitor} = spawn_monitor(fn -> until(stop, options) end)
          if :rand.uniform(2) == 1, do: Process.sleep(1)
          Process.exit(pid, :kill)
          assert_receive {:DOWN, ^monitor, _, _, _}, 10_000
        end

        :atomics.put(stop, 1, 1)
        Task.await_many(busy, 60_000)
        assert {:ok, _} = RustyJson.decode(@document, options)
        assert eventually(fn -> WasmHosts.counts(host)[:waiting] == 0 end)
        assert WasmHosts.counts(host)[:running] == 0
      end
    end
  end

  @tag host: :built_in
  if reason = WasmHosts.missing(:built_in), do: @tag(skip: reason)

  test "built_in: who waits does not look through the messages that it has already" do
    options = [engine: :wasm, host: :built_in, pool_size: 1, timeout: 60_000]
    {stop, long} = {:atomics.new(1, []), "[" <> String.duplicate("1,", 6_000_000) <> "1]"}
    messages = 500_000

    # A caller that comes between two calls of the holder does not wait.
    assert Enum.any?(1..10, fn _ ->
             waiter = caller_with_messages(messages, options)
             :atomics.put(stop, 1, 0)
             holder = Task.async(fn -> until(stop, long, options) end)
             assert eventually(fn -> WasmHosts.counts(:built_in)[:running] == 1 end)
             send(waiter.pid, :go)
             waits = fn -> WasmHosts.counts(:built_in)[:waiting] == 1 end
             assert eventually(fn -> waits.() or not Process.alive?(waiter.pid) end)
             waited = Process.alive?(waiter.pid)
             assert Task.await(waiter, 60_000) < messages / 2
             :atomics.put(stop, 1, 1)
             Task.await(holder, 60_000)
             waited
           end)
  end

  # The reductions of its call. The VM's collections look through messages on the heap.
  defp caller_with_messages(count, options) do
    Task.async(fn ->
      Process.flag(:message_queue_data, :off_heap)
      for _ <- 1..count, do: send(self(), :other)
      receive(do: (:go -> :ok))
      {:reductions, before} = Process.info(self(), :reductions)
      # Too long for the caller's scheduler.
      {:ok, _} = RustyJson.decode(~s(["#{String.duplicate("a", 70_000)}"]), options)
      {:reductions, now} = Process.info(self(), :reductions)
      now - before
    end)
  end

  @tag host: :built_in
  if reason = WasmHosts.missing(:built_in), do: @tag(skip: reason)

  test "built_in: a caller that is woken and suspended does not keep others waiting" do
    options = [engine: :wasm, host: :built_in, pool_size: 1, timeout: 10_000]
    stop = :atomics.new(1, [])
    callers = for _ <- 1..8, do: spawn_link(fn -> until(stop, options) end)
    Process.sleep(50)
    Enum.each(callers, &suspend/1)
    Process.sleep(50)
    tasks = for _ <- 1..20, do: Task.async(fn -> RustyJson.decode(@document, options) end)
    for answer <- Task.await_many(tasks, 20_000), do: assert({:ok, _} = answer)
    :atomics.put(stop, 1, 1)
    Enum.each(callers, &:erlang.resume_process/1)
    assert eventually(fn -> WasmHosts.counts(:built_in)[:waiting] == 0 end)
  end

  @tag host: :built_in
  if reason = WasmHosts.missing(:built_in), do: @tag(skip: reason)

  # Long calls have the only place, one after the other, and the other dirty schedulers are occupied for a time.
  test "built_in: waiting for a dirty scheduler counts as waiting for a place" do
    options = [engine: :wasm, host: :built_in, pool_size: 1, timeout: 60_000]
    long = "[" <> String.duplicate("1.5,", 12_000_000) <> "1]"
    text = "[" <> String.duplicate("1,", 500_000) <> "1]"
    {took, true} = Clock.time(fn -> RustyJson.valid?(long, options) end)
    # The place stays taken for longer than the caller waits, on a quick machine, too.
    patience = div(took * 2, 3)
    busy = div(patience * 2, 3)
    occupied = List.duplicate(busy, :erlang.system_info(:dirty_cpu_schedulers_online) - 1)

    refused = fn ->
      assert eventually(fn -> WasmHosts.counts(:built_in)[:running] == 0 end)
      callers = for _ <- 1..24, do: Task.async(fn -> RustyJson.valid?(long, options) end)
      assert eventually(fn -> WasmHosts.counts(:built_in)[:waiting] == 23 end)
      for time <- occupied, do: spawn_link(fn -> :erts_debug.dirty_cpu(:wait, time) end)
      Process.sleep(20)
      {time, answer} = Clock.time(fn -> RustyJson.decode(text, at_most(options, patience)) end)
      assert callers |> Task.await_many(60_000) |> Enum.all?()
      {time, with({:error, %SandboxError{reason: reason}} <- answer, do: reason)}
    end

    # Other work can delay a call.
    assert Enum.any?(1..3, fn _ -> match?({time, :busy} when time < patience + div(busy, 2), refused.()) end)
  end

  @tag host: :built_in
  if reason = WasmHosts.missing(:built_in) || Guest.missing(), do: @tag(skip: reason)

  # The place is free after 900 ms. The waiting caller, which comes a little later, looks by itself after 250, 500 and 750.
  test "built_in: the place of a killed caller goes to the next one at once" do
    options = [engine: :wasm, host: :built_in, pool_size: 1]
    long = "[" <> String.duplicate(" ", 100_000) <> "]"

    served = fn ->
      with_guest(:built_in, Guest.wasm(fault: "(loop $a (br $a)) (unreachable)"), fn ->
        {killed, monitor} = spawn_monitor(fn -> RustyJson.decode("!", at_most(options, 900)) end)
        assert eventually(fn -> WasmHosts.counts(:built_in)[:running] == 1 end)
        waiting = Task.async(fn -> RustyJson.decode(long, at_most(options, 950)) end)
        assert eventually(fn -> WasmHosts.counts(:built_in)[:waiting] == 1 end)
        Process.exit(killed, :kill)
        assert_receive {:DOWN, ^monitor, _, _, :killed}, 10_000
        Task.await(waiting)
      end)
    end

    assert Enum.any?(1..3, fn _ -> served.() == {:ok, nil} end)
  end

  # The process that calls of wasmex wait in. Places need no instances.
  describe "the process of the lanes" do
    setup do
      lanes = start_supervised!(%{id: :lanes, start: {Lanes, :start_link, [__MODULE__.Lanes, & &1]}})
      {:ok, lanes: lanes}
    end

    test "a place that is left costs the same however many wait", %{lanes: lanes} do
      few = cost(lanes, 100)
      many = cost(lanes, @callers)
      assert many < 4 * few + 20, "#{few} reductions with 100, #{many} with #{@callers}"
    end

    test "waiting ends with the process, and with its patience", %{lanes: lanes} do
      {place, nil} = Lanes.enter(lanes, 1, :kind, 5_000)
      gone = for _ <- 1..50, do: spawn(fn -> Lanes.enter(lanes, 1, :kind, 60_000) end)
      assert eventually(fn -> Lanes.counts(lanes)[:waiting] == 50 end)
      assert Lanes.enter(lanes, 1, :kind, 10) == :busy
      for pid <- gone, do: Process.exit(pid, :kill)
      assert eventually(fn -> Lanes.counts(lanes) == [running: 1, kept: 0, waiting: 0] end)
      instance = %{memory_size: 65_536}
      Lanes.leave(lanes, place, :kind, instance)
      assert {_place, ^instance} = Lanes.enter(lanes, 1, :kind, 5_000)
    end

    test "those behind a call that gives up are served", %{lanes: lanes} do
      {_place, nil} = Lanes.enter(lanes, 1, :kind, 5_000)
      head = Task.async(fn -> Lanes.call(lanes, call(), 200) end)
      assert eventually(fn -> Lanes.counts(lanes)[:waiting] == 1 end)
      behind = Task.async(fn -> Lanes.enter(lanes, 2, :kind, 5_000) end)
      assert Task.await(head) == {:fault, :busy, ""}
      assert {_place, nil} = Task.await(behind)
    end
  end

  # It may use one instance.
  defp call do
    %Call{kind: :kind, size: 1, timeout: 5_000, name: "decode", input: "", lengths: [], expected: 1, most: 1}
  end

  # Reductions of the process for each caller that waits, is served and leaves.
  defp cost(lanes, callers) do
    {place, _} = Lanes.enter(lanes, 1, :kind, 5_000)

    tasks =
      for _ <- 1..callers do
        Task.async(fn ->
          {place, _} = Lanes.enter(lanes, 1, :kind, 60_000)
          Lanes.leave(lanes, place, :kind, nil)
        end)
      end

    assert eventually(fn -> Lanes.counts(lanes)[:waiting] == callers end)
    {:reductions, before} = Process.info(lanes, :reductions)
    Lanes.leave(lanes, place, :kind, nil)
    Task.await_many(tasks, 60_000)
    assert eventually(fn -> Lanes.counts(lanes) == [running: 0, kept: 0, waiting: 0] end)
    {:reductions, later} = Process.info(lanes, :reductions)
    div(later - before, callers)
  end

  defp per_second(callers, options) do
    stop = :atomics.new(1, [])
    pids = for _ <- 1..callers, do: spawn_link(fn -> receive(do: (:go -> count(stop, options, 0))) end)
    start = System.monotonic_time()
    for pid <- pids, do: send(pid, :go)
    Process.sleep(if @callers >= 50_000, do: 4_000, else: 400)
    :atomics.put(stop, 1, 1)
    me = self()
    for pid <- pids, do: send(pid, {:tell, me})
    calls = for _ <- pids, do: receive(do: ({:calls, n} -> n))
    Enum.sum(calls) / (System.monotonic_time() - start)
  end

  defp count(stop, options, n) do
    if :atomics.get(stop, 1) == 0 do
      {:ok, _} = RustyJson.decode(@document, options)
      count(stop, options, n + 1)
    else
      receive(do: ({:tell, pid} -> send(pid, {:calls, n})))
    end
  end

  # Seen once in OTP 27: `internal_error`, although the process was alive.
  defp suspend(pid, tries \\ 10) do
    :erlang.suspend_process(pid)
  rescue
    error in ErlangError ->
      if tries == 1 or not Process.alive?(pid), do: reraise(error, __STACKTRACE__)
      suspend(pid, tries - 1)
  end

  defp until(stop, document \\ @document, options) do
    if :atomics.get(stop, 1) == 0 do
      RustyJson.decode(document, options)
      until(stop, document, options)
    end
  end

  # The messages left after the call has returned, and a little later.
  defp waits(options) do
    {micros, answer} = :timer.tc(fn -> RustyJson.decode("[]", options) end)
    assert answer == {:ok, nil} or match?({:error, %SandboxError{reason: :busy}}, answer)
    assert div(micros, 1000) <= 2 * options[:timeout]
    Process.sleep(20)
    {:message_queue_len, n} = Process.info(self(), :message_queue_len)
    {:ok, n}
  end

  defp at_most(options, timeout), do: Keyword.put(options, :timeout, timeout)

  defp eventually(fun, tries \\ 400) do
    cond do
      fun.() -> true
      tries == 0 -> false
      true -> Process.sleep(25) && eventually(fun, tries - 1)
    end
  end
end
