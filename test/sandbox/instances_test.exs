defmodule RustyJson.Sandbox.InstancesTest do
  @moduledoc "Instances: what carries over between calls, waiting callers, and cleanup after a caller dies."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Options, SandboxError}
  alias RustyJson.Test.{Clock, Contained, Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  # Returns the previous document as a string. The record is at address 2048, the previous document at 2056.
  @peek """
  (i32.store8 (i32.const 2048) (i32.const 1))
  (i32.store8 (i32.const 2049) (i32.const 131))
  (i32.store8 (i32.const 2050) (i32.const 109))
  (i32.store8 (i32.const 2054) (i32.const 8))
  (memory.copy (i32.const 2055) (i32.const 3072) (i32.const 8))
  (memory.copy (i32.const 3072) (i32.const #{Guest.document()}) (i32.const 8))
  (i64.const #{Guest.record(2048, 15)})
  """

  # Traps while other native code runs. The full run repeats this 10,000 times.
  @beside "RUSTYJSON_FAULTS" |> System.get_env("200") |> String.to_integer()

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [engine: :wasm, host: host, timeout: 10_000]}
      end

      test "isolation: a fallen guest finds the earlier document with :reuse, nothing with :fresh", %{
        host: host,
        options: options
      } do
        with_guest(host, Guest.wasm(fault: @peek), fn ->
          reuse = [pool_size: 1, isolation: :reuse] ++ options
          fresh = [pool_size: 1, isolation: :fresh] ++ options
          assert {:ok, _} = RustyJson.decode("!secret!", reuse)
          assert RustyJson.decode("!other!!", reuse) == {:ok, "!secret!"}

          for document <- ["!secret!", "!other!!", "!third!!"] do
            assert RustyJson.decode(document, fresh) == {:ok, <<0::64>>}
          end
        end)
      end

      test "calls of all kinds and lengths use one instance one after the other", %{options: options} do
        options = [pool_size: 1] ++ options

        # Around the least input buffer, the length from which buffers are given back, and that of a dirty scheduler.
        lengths = Enum.concat([1..3, 4_000..4_100//7, 16_300..16_400//20, 65_500..65_600//30, [200_000]])

        for length <- Enum.flat_map(lengths, &[&1, 1, &1 - div(&1, 3)]) do
          text = String.duplicate("a", length)
          json = ~s(["#{text}"])
          assert RustyJson.decode(json, options) == {:ok, [text]}
          assert RustyJson.encode([text], options) == {:ok, json}
          # Such an integer has no tape.
          assert RustyJson.encode([text, 1_180_591_620_717_411_303_424], options) ==
                   {:ok, ~s(["#{text}",1180591620717411303424])}

          assert RustyJson.canonicalize(json, options) == {:ok, json}
          assert json |> List.wrap() |> RustyJson.decode_stream(options) |> Enum.to_list() == [[text]]
          assert RustyJson.decode_many([json, "1"], options) == [{:ok, [text]}, {:ok, 1}]
        end
      end

      test "an instance that grew past its share is not kept", %{host: host, options: options} do
        text = "\"" <> String.duplicate("a", 20_000_000) <> "\""
        assert {:ok, _} = RustyJson.decode("1", options)
        kept = WasmHosts.counts(host)[:kept]
        for _ <- 1..5, do: assert({:ok, _} = RustyJson.decode(text, options))
        now = WasmHosts.counts(host)[:kept]
        # In the built-in host, the instances of other threads stay.
        if host == :built_in, do: assert(now <= kept), else: assert(now < max(kept, 1))
      end

      test "when all instances are taken, a call waits for at most its timeout", %{
        host: host,
        options: options
      } do
        document = waiting_document(host)

        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          slow =
            Task.async(fn ->
              RustyJson.decode("!", [pool_size: 1, timeout: 2_000] ++ Keyword.delete(options, :timeout))
            end)

          assert eventually(fn -> WasmHosts.counts(host)[:running] == 1 end)
          short = [pool_size: 1, timeout: 100] ++ Keyword.delete(options, :timeout)
          {milliseconds, answer} = Clock.time(fn -> RustyJson.decode(document, short) end)
          assert {:error, %SandboxError{reason: :busy}} = answer
          assert milliseconds in 90..1_500
          waits = [pool_size: 1, timeout: 10_000] ++ Keyword.delete(options, :timeout)
          assert RustyJson.decode(document, waits) == {:ok, nil}
          assert {:error, %SandboxError{reason: :timeout}} = Task.await(slow)
          assert WasmHosts.counts(host)[:waiting] == 0
        end)
      end

      test "callers that are killed while they wait give their place in the queue back", %{
        host: host,
        options: options
      } do
        document = waiting_document(host)

        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          given = fn timeout -> [pool_size: 1, timeout: timeout] ++ Keyword.delete(options, :timeout) end
          slow = Task.async(fn -> RustyJson.decode("!", given.(2_000)) end)
          assert eventually(fn -> WasmHosts.counts(host)[:running] == 1 end)

          waiting = for _ <- 1..8, do: spawn_monitor(fn -> RustyJson.decode(document, given.(20_000)) end)
          assert eventually(fn -> WasmHosts.counts(host)[:waiting] > 0 end)
          for {pid, _} <- waiting, do: Process.exit(pid, :kill)
          for {_, monitor} <- waiting, do: assert_receive({:DOWN, ^monitor, _, _, _}, 5_000)

          assert RustyJson.decode(document, given.(10_000)) == {:ok, nil}
          assert {:error, %SandboxError{reason: :timeout}} = Task.await(slow)
          assert eventually(fn -> WasmHosts.counts(host)[:waiting] == 0 end)
          assert eventually(fn -> WasmHosts.counts(host)[:running] == 0 end)
        end)
      end

      test "a call that ran out of time is told within twice the time, and gets no message later", %{
        host: host,
        options: options
      } do
        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          call = fn ->
            assert refused(100, [:timeout, :busy], "!", [pool_size: 1] ++ options) >= 99
          end

          Clock.within(200, call, 10)
          assert {:message_queue_len, 0} = Process.info(self(), :message_queue_len)
        end)
      end

      # Dirty schedulers have a queue of unknown length.
      test "a call that waits in vain is told in time, in either queue", %{host: host, options: options} do
        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          callers = 6 * System.schedulers_online()

          for size <- [2, callers], text <- ["!", "!" <> String.duplicate(" ", 100_000)] do
            call = fn -> refused(300, [:timeout, :busy], text, [pool_size: size] ++ options) end

            # The slowest caller, in the best of several tries.
            Clock.within(2 * 300 + 300, fn ->
              Task.await_many(for(_ <- 1..callers, do: Task.async(call)), 60_000)
            end)

            assert eventually(fn -> WasmHosts.counts(host)[:running] == 0 end)
          end
        end)
      end

      # wasmex runs modules on one thread per processor, and needs one of these threads for its timer.
      test "modules without end on every processor are stopped", %{host: host, options: options} do
        loops = [pool_size: 8, timeout: 50] ++ Keyword.delete(options, :timeout)
        patient = [pool_size: 8, timeout: 20_000] ++ Keyword.delete(options, :timeout)

        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          calls = for _ <- 1..8, do: Task.async(fn -> RustyJson.decode("!", loops) end)

          for answer <- Task.await_many(calls, 20_000) do
            assert {:error, %SandboxError{reason: reason}} = answer
            assert reason in [:timeout, :busy]
          end

          assert RustyJson.decode("[]", patient) == {:ok, nil}
          assert eventually(fn -> WasmHosts.counts(host)[:running] == 0 end)
        end)
      end

      test "fifty callers on two instances are all served", %{options: options} do
        options = [pool_size: 2] ++ options
        tasks = for i <- 1..50, do: Task.async(fn -> RustyJson.decode("[#{i}]", options) end)
        assert Task.await_many(tasks, 30_000) == for(i <- 1..50, do: {:ok, [i]})
      end

      test "what failed is counted, and instances are", %{host: host, options: options} do
        assert {:ok, _} = RustyJson.decode("1", options)
        %{^host => before} = RustyJson.stats()
        assert before.kept >= 1 and before.running == 0 and before.waiting == 0

        with_guest(host, Guest.wasm(fault: Guest.fault(:trap)), fn ->
          for _ <- 1..3, do: {:error, %SandboxError{reason: :trap}} = RustyJson.decode("!", options)
        end)

        %{^host => later} = RustyJson.stats()
        assert later.trap == before.trap + 3
        assert Map.take(later, [:busy, :timeout]) == Map.take(before, [:busy, :timeout])
      end

      test "traps disturb no other native code beside them", %{host: host, options: options} do
        with_guest(host, Guest.wasm(fault: Guest.fault(:trap)), fn ->
          beside = for _ <- 1..2, do: Task.async(fn -> beside(@beside) end)
          traps = for _ <- 1..4, do: Task.async(fn -> trap(@beside, options) end)
          Task.await_many(beside ++ traps, 3_600_000)
        end)
      end

      test "callers that are killed leave nothing behind", %{host: host, options: options} do
        text = "[" <> String.duplicate("1.25,", 200_000) <> "1]"

        for _ <- 1..30 do
          {pid, monitor} = spawn_monitor(fn -> RustyJson.decode(text, [pool_size: 2] ++ options) end)
          Process.sleep(:rand.uniform(8) - 1)
          Process.exit(pid, :kill)
          assert_receive {:DOWN, ^monitor, _, _, _}, 5_000
        end

        assert eventually(fn -> WasmHosts.counts(host)[:running] == 0 end)
        assert RustyJson.decode("[1]", [pool_size: 1] ++ options) == {:ok, [1]}
        assert {:message_queue_len, 0} = Process.info(self(), :message_queue_len)
      end

      test "a thousand faults leave memory as it was", %{host: host, options: options} do
        options = [timeout: 10_000, max_memory: 4_194_304] ++ Keyword.delete(options, :timeout)

        with_guest(host, Guest.wasm(fault: Guest.fault(:trap)), fn ->
          fail = fn times ->
            for _ <- 1..times, do: {:error, %SandboxError{reason: :trap}} = RustyJson.decode("!", options)
          end

          fail.(200)
          before = Contained.resident()
          fail.(max(1_000, @beside))
          assert Contained.resident() - before < 64_000
        end)
      end
    end
  end

  # Milliseconds until the error arrived.
  defp refused(timeout, reasons, text, options) do
    options = [timeout: timeout] ++ Keyword.delete(options, :timeout)
    {micros, answer} = :timer.tc(fn -> RustyJson.decode(text, options) end)
    assert {:error, %SandboxError{reason: reason}} = answer
    assert reason in reasons
    div(micros, 1000)
  end

  # wasmex's timer fails sometimes: it never stopped one of several thousand loops (RUSTYJSON_FAULTS=10000 shows this).
  @tag host: :wasmex
  if reason = WasmHosts.missing(:wasmex), do: @tag(skip: reason)

  test "wasmex: a call has fuel for its time, and no more" do
    alias RustyJson.Wasm.Host.Wasmex.Instance
    assert {:ok, _} = RustyJson.decode("[]", engine: :wasm, host: :wasmex)
    call = %{deadline: System.monotonic_time(:millisecond) + 1_000, max_memory: 10_000_000}
    options = Options.encode([]).bytes
    lengths = [{32, byte_size(options) + 3}, {32, byte_size(options)}]

    {_record, instance} =
      Instance.call(Instance.new(call), [options, <<131, 97, 1>>], "encode", lengths, call, fn _ -> true end)

    store = struct(Wasmex.StoreOrCaller, resource: instance.store)
    assert {:ok, fuel} = apply(Wasmex.StoreOrCaller, :get_fuel, [store])
    assert fuel in 1_000_000_000..50_000_000_000
    assert {:message_queue_len, 0} = Process.info(self(), :message_queue_len)
  end

  defp trap(times, options) do
    for _ <- 1..times, do: assert({:error, %SandboxError{reason: :trap}} = RustyJson.decode("!", options))
  end

  # Runs :crypto, :zlib and, if available, the native engine, and checks each result.
  defp beside(times) do
    text = String.duplicate("0123456789", 2_000)
    {digest, crc} = {:crypto.hash(:sha256, text), :erlang.crc32(text)}
    native? = RustyJson.Engine.Native.loaded?()
    json = ~s({"a":[1,2.5,"#{text}"]})

    for _ <- 1..times do
      assert :crypto.hash(:sha256, text) == digest
      assert text |> :zlib.gzip() |> :zlib.gunzip() |> :erlang.crc32() == crc
      if native?, do: assert(RustyJson.decode!(json, engine: :native) == %{"a" => [1, 2.5, text]})
    end
  end

  # In the built-in host, short calls run at once in the instance of their scheduler; only long ones wait.
  defp waiting_document(:built_in), do: "[" <> String.duplicate(" ", 70_000) <> "]"
  defp waiting_document(:wasmex), do: "[]"

  defp eventually(fun, tries \\ 200) do
    cond do
      fun.() -> true
      tries == 0 -> false
      true -> Process.sleep(50) && eventually(fun, tries - 1)
    end
  end
end
