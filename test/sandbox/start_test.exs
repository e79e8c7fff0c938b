defmodule RustyJson.Sandbox.StartTest do
  @moduledoc "The first call, and a host that cannot start: one process starts it, and the other calls wait for at most their timeout."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{OtherVM, WasmHosts}
  alias RustyJson.Wasm.Starter

  setup do
    on_exit(&Starter.forget/0)
  end

  test "one process starts it, and everybody gets what it gave" do
    starts = :counters.new(1, [])
    start = fn -> with :ok <- :counters.add(starts, 1, 1), :ok <- Process.sleep(100), do: {:ok, :here} end
    tasks = for _ <- 1..40, do: Task.async(fn -> Starter.run(:slow, 10_000, start) end)
    assert Enum.all?(Task.await_many(tasks), &(&1 == {:ok, :here}))
    assert :counters.get(starts, 1) == 1
  end

  test "a failure is remembered, also one by an exit, and forgotten" do
    for fail <- [fn -> {:error, "no"} end, fn -> exit(:no) end] do
      starts = :counters.new(1, [])
      start = fn -> with :ok <- :counters.add(starts, 1, 1), do: fail.() end
      name = make_ref()
      answers = for _ <- 1..40, do: Starter.run(name, 10_000, start)
      assert [{:error, text}] = Enum.uniq(answers)
      assert text =~ "no"
      assert :counters.get(starts, 1) == 1
      Starter.forget()
      assert {:error, _} = Starter.run(name, 10_000, start)
      assert :counters.get(starts, 1) == 2
    end
  end

  test "who waits too long is told, is not waited for, and finds no message later" do
    test = self()

    start = fn ->
      send(test, {:starter, self()})
      receive(do: (:go -> {:ok, :here}))
    end

    assert Starter.run(:held, 50, start) == :busy
    assert Starter.run(:held, 50, start) == :busy
    assert_receive {:starter, pid}
    refute_received {:starter, _}
    send(pid, :go)
    assert Starter.run(:held, 10_000, fn -> {:ok, :here} end) == {:ok, :here}
    Process.sleep(20)
    assert {:message_queue_len, 0} = Process.info(self(), :message_queue_len)
  end

  test "a call that waits while the process that starts hosts ends has an error" do
    code = """
    pid = spawn(fn -> receive(do: (_message -> exit(:shutdown))) end)
    Process.register(pid, RustyJson.Wasm.Starter)
    {:error, error} = RustyJson.decode("1", engine: :wasm, host: :auto)
    IO.puts(error.reason)
    IO.puts(error.message)
    """

    assert {"unavailable\n" <> text, 0} = OtherVM.run(code, [])
    assert text =~ "shutdown"
  end

  test "start_engine: options and errors" do
    assert_raise ArgumentError, fn -> RustyJson.start_engine(engine: :other) end
    assert_raise ArgumentError, fn -> RustyJson.start_engine(timeout: 5) end

    assert_raise ArgumentError, ~r/options of start_engine are a keyword list or a map, got: :wasm/, fn ->
      apply(RustyJson, :start_engine, [:wasm])
    end

    for name <- [:built_in, :wasmex] do
      case {WasmHosts.missing(name), RustyJson.start_engine(engine: :wasm, host: name)} do
        {nil, result} -> assert result == :ok
        {_reason, result} -> assert {:error, %SandboxError{reason: :unavailable}} = result
      end
    end
  end

  test "a policy in a supervisor: its engine starts, and an unknown one stops the start" do
    host = if WasmHosts.missing(:built_in), do: :wasmex, else: :built_in
    Application.put_env(:rustyjson, :policies, edge: [engine: :wasm, host: host])
    RustyJson.Config.reload()

    on_exit(fn ->
      Application.delete_env(:rustyjson, :policies)
      RustyJson.Config.reload()
    end)

    children = [{RustyJson, policy: :edge}]

    if WasmHosts.missing(host) do
      assert {:error, %SandboxError{reason: :unavailable}} = RustyJson.start_engine(policy: :edge)
    else
      assert {:ok, supervisor} = Supervisor.start_link(children, strategy: :one_for_one)
      Supervisor.stop(supervisor)
    end

    %{start: {module, function, arguments}} = Supervisor.child_spec({RustyJson, policy: :egde}, [])
    message = ~r/unknown policy :egde, did you mean :edge\?/
    assert_raise ArgumentError, message, fn -> apply(module, function, arguments) end
  end

  if reason = WasmHosts.missing(:wasmex), do: @tag(skip: reason)

  test "wasmex: a call that times out while the host starts says so" do
    # The process that starts hosts is stopped, so none starts.
    code = """
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    :sys.suspend(RustyJson.Wasm.Starter)
    {:error, error} = RustyJson.decode("1", engine: :wasm, host: :wasmex, timeout: 50)
    IO.puts(error.message)
    """

    assert {text, 0} = OtherVM.run(code, [])
    assert text =~ "no instance became free within the timeout: the host was still starting after 50 ms"
  end

  if reason = WasmHosts.missing(:built_in), do: @tag(skip: reason)
  @tag :tmp_dir
  test "a library that was missing, or broken, is loaded once it is there", %{tmp_dir: dir} do
    # The same application in another folder, at first without the library.
    app = Path.join(Path.expand(dir), "rustyjson")
    File.mkdir_p!(Path.join(app, "priv/native"))
    File.ln_s!(Application.app_dir(:rustyjson, "ebin"), Path.join(app, "ebin"))
    File.ln_s!(Path.expand(Path.join(RustyJson.Wasm.Host.priv(), "wasm")), Path.join(app, "priv/wasm"))
    library = Path.expand(RustyJson.Engine.Native.Nif.path() <> ".so")

    code = """
    true = :code.add_patha(~c"#{app}/ebin")
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    file = "#{app}/priv/native/librustyjson_nif.so"

    try = fn ->
      RustyJson.Wasm.Starter.forget()
      with {:error, error} <- RustyJson.start_engine(engine: :wasm, host: :built_in), do: IO.puts(error.message)
    end

    try.()
    File.write!(file, "broken")
    try.()
    File.rm!(file)
    File.ln_s!("#{library}", file)
    IO.inspect(try.())
    IO.inspect(RustyJson.decode("[1]", engine: :wasm, host: :built_in))
    """

    assert {text, 0} = OtherVM.run(code, [])
    assert [missing, broken, ":ok", "{:ok, [1]}"] = text |> String.split("\n", trim: true) |> Enum.take(-4)
    assert missing =~ "is not built"
    assert broken =~ "does not load"
    refute broken =~ "No such file"
  end

  for host <- [:built_in, :wasmex] do
    if reason = WasmHosts.missing(host), do: @tag(skip: reason)

    test "#{host}: a thousand first calls wait at most for their time" do
      code = """
      {:ok, _} = Application.ensure_all_started(:rustyjson)
      call = fn ->
        {micros, answer} = :timer.tc(fn -> RustyJson.decode("[1]", engine: :wasm, host: #{inspect(unquote(host))}, timeout: 1_000) end)
        {div(micros, 1000), with({:error, error} <- answer, do: error.reason)}
      end
      answers = Task.await_many(for(_ <- 1..1_000, do: Task.async(call)), 60_000)
      kinds = answers |> Enum.map(&elem(&1, 1)) |> Enum.uniq() |> Enum.sort()
      IO.inspect({answers |> Enum.map(&elem(&1, 0)) |> Enum.max(), kinds -- [:busy, {:ok, [1]}]})
      """

      # The best of several tries, because the machine may be busy.
      assert Enum.any?(1..3, fn _ ->
               {text, 0} = OtherVM.run(code, [])
               assert [_, most] = Regex.run(~r/\{(\d+), \[\]\}/, text) || text
               String.to_integer(most) <= 2 * 1_000
             end)
    end
  end
end
