defmodule RustyJson.Sandbox.LateAnswersTest do
  @moduledoc """
  wasmex: no answer of an instance that a call has for itself is left to the caller when the call has ended. Needs no wasmex: its store is a
  process here that takes some time for each operation.
  """

  use ExUnit.Case, async: true

  alias RustyJson.Test.OtherVM

  @wasmex """
  Code.compiler_options(ignore_module_conflict: true)

  defmodule Wasmex.StoreLimits do
    defstruct [:memory_size, :instances, :memories, :tables]
  end

  defmodule Wasmex.Store do
    def new(_limits, _engine), do: {:ok, %{resource: spawn(&work/0)}}

    def work do
      receive do: ({time, {pid, tag}, answer} -> Process.sleep(time) && send(pid, {tag, answer}))
      work()
    end
  end

  defmodule Wasmex.Native do
    def times(times), do: :persistent_term.put(__MODULE__, times)

    defp work(store, name, from, answer) do
      send(store, {Map.get(:persistent_term.get(__MODULE__), name, 0), from, answer})
      :ok
    end

    def store_or_caller_set_fuel(_store, _fuel, _from), do: :ok
    def instance_new(store, _module, _imports, _links, from), do: work(store, :new, from, :instance)
    def memory_from_instance(store, _instance, from), do: work(store, :memory, from, :memory)
    def memory_size(store, _memory, from), do: work(store, :size, from, 200_000_000)
    def memory_write_binary(store, _memory, _at, _bytes, from), do: work(store, :write, from, {:error, "out of bounds"})

    def instance_call_exported_function(store, _instance, name, _arguments, from, _timeout),
      do: work(store, name, from, {:ok, [4096]})
  end

  defmodule Mailbox do
    def count, do: receive(do: (_message -> 1 + count()), after: (200 -> 0))
  end

  alias RustyJson.Wasm.Host.Wasmex.{Instance, Loader}
  loaded = %{engine: :engine, module: :module, checked: :atomics.new(1, []), nobody: self()}
  :persistent_term.put(Loader, loaded)

  # What the call gave, and the messages that came behind it.
  ended = fn times, timeout, run ->
    Wasmex.Native.times(times)
    call = %{deadline: System.monotonic_time(:millisecond) + timeout, max_memory: 1_000_000_000}
    given = try(do: run.(call), catch: (fault -> fault))
    IO.inspect({if(is_struct(given), do: :instance, else: Tuple.delete_at(given, 2)), Mailbox.count()})
  end

  """

  defp run(code), do: OtherVM.run(@wasmex <> code, [])

  test "where an instance takes longer than the call has" do
    assert {text, 0} = run("ended.(%{new: 30}, 5, &Instance.new/1)")
    assert text =~ ", 0}"
    # The module's exports have another version.
    assert {text, 0} = run("ended.(%{:new => 30, :memory => 30, \"input\" => 30}, 40, &Instance.new/1)")
    assert text =~ ", 0}"
  end

  test "where the module has another version" do
    assert {"{{:fault, :unavailable}, 0}\n", 0} = run("ended.(%{\"input\" => 30}, 1_000, &Instance.new/1)")
  end

  test "where the module gives no buffer for a long input" do
    assert {"{{:fault, :invalid_result}, 0}\n", 0} =
             run("""
             {:ok, %{resource: store}} = Wasmex.Store.new(nil, nil)
             instance = struct(Instance, id: make_ref(), store: store, memory: :memory)
             instance = struct(instance, memory_size: 200_000_000, room: 200_000_000)
             call = &Instance.call(instance, [String.duplicate("a", 20_000_000)], "decode", [], &1, fn _ -> true end)
             ended.(%{}, 1_000, call)
             """)
  end
end
