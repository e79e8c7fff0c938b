defmodule RustyJson.Sandbox.LanesEndedTest do
  @moduledoc "wasmex: calls while the process that owns the instances ends, or was never started by the application."

  use ExUnit.Case, async: true

  alias RustyJson.Test.{OtherVM, WasmHosts}
  alias RustyJson.Wasm.Host.Wasmex.Lane.Call
  alias RustyJson.Wasm.Host.Wasmex.Lanes

  @call %Call{kind: :kind, size: 1, timeout: 10, name: "decode", input: "", lengths: [], expected: 1, most: 1}

  # It ends with the first message.
  defp ending, do: spawn(fn -> receive(do: (_message -> exit(:shutdown))) end)

  test "a call gets a fault" do
    assert {:fault, :unavailable, text} = Lanes.call(ending(), @call, 1_000)
    assert text =~ "shutdown"
    assert {:fault, :unavailable, text} = Lanes.call(__MODULE__.Nobody, @call, 1_000)
    assert text =~ "noproc"
  end

  test "who enters gets a fault" do
    assert {:fault, :unavailable, text} = Lanes.enter(ending(), 1, :kind, 1_000)
    assert text =~ "shutdown"
    assert {:fault, :unavailable, text} = Lanes.enter(__MODULE__.Nobody, 1, :kind, 1_000)
    assert text =~ "noproc"
  end

  test "counts are those of no instance" do
    assert Lanes.counts(ending()) == [running: 0, kept: 0, waiting: 0]
    assert Lanes.counts(__MODULE__.Nobody) == [running: 0, kept: 0, waiting: 0]
  end

  test "while the application stops nothing is started, and nothing raised" do
    code = """
    pid = spawn(fn -> receive(do: (_message -> exit(:shutdown))) end)
    Process.register(pid, RustyJson.Supervisor)
    IO.inspect(RustyJson.Wasm.Host.Wasmex.Lanes.ensure(:lanes, & &1))
    """

    assert OtherVM.run(code, []) == {":ok\n", 0}
  end

  # As where the code of the host is loaded again, twice.
  test "an instance is at work no longer if the process is killed that waits until it has stopped" do
    test = self()

    await = fn instance ->
      send(test, {instance, self()})
      Process.sleep(:infinity)
    end

    {:ok, lanes} = GenServer.start(Lanes, await)

    {owner, monitor} =
      spawn_monitor(fn ->
        {place, nil} = Lanes.enter(lanes, 1, :kind, 1_000)
        Lanes.hold(lanes, place, %{id: place})
        exit(place)
      end)

    assert_receive {:DOWN, ^monitor, _, ^owner, place}
    assert_receive {%{id: ^place}, waits}
    assert Lanes.counts(lanes)[:running] == 1
    assert Lanes.enter(lanes, 1, :kind, 50) == :busy
    Process.exit(waits, :kill)
    assert {_place, nil} = Lanes.enter(lanes, 1, :kind, 1_000)
    GenServer.stop(lanes)
  end

  test "without the application it runs, and does not end with its first caller" do
    code = """
    ensure = fn -> RustyJson.Wasm.Host.Wasmex.Lanes.ensure(:lanes, & &1) end
    {pid, monitor} = spawn_monitor(fn -> :ok = ensure.() end)
    receive(do: ({:DOWN, ^monitor, _, ^pid, reason} -> IO.inspect(reason)))
    for task <- for(_ <- 1..20, do: Task.async(ensure)), do: :ok = Task.await(task)
    IO.inspect(RustyJson.Wasm.Host.Wasmex.Lanes.counts(:lanes))
    """

    assert {text, 0} = OtherVM.run(code, [])
    assert text == ":normal\n[running: 0, kept: 0, waiting: 0]\n"
  end

  if reason = WasmHosts.missing(:wasmex), do: @tag(skip: reason)

  test "without the application a call works" do
    code = """
    options = [engine: :wasm, host: :wasmex]
    IO.inspect(RustyJson.decode("[1]", options))
    IO.inspect(RustyJson.encode([1], [isolation: :fresh] ++ options))
    """

    assert OtherVM.run(code, []) == {~s({:ok, [1]}\n{:ok, "[1]"}\n), 0}
  end
end
