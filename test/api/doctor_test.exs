defmodule RustyJson.DoctorTest do
  @moduledoc "The report of `mix rustyjson.doctor`."

  # It captures the output of processes.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias Mix.Tasks.Rustyjson.Doctor
  alias RustyJson.Test.{Commands, Judge}

  test "the doctor names every engine and what it found" do
    report = capture_io(fn -> Doctor.run([]) end)
    assert report =~ "RustyJson #{Application.spec(:rustyjson, :vsn)} on Elixir #{System.version()}"
    for name <- ["native", "wasm, built in", "wasm, wasmex"], do: assert(report =~ "\n  #{name}")

    for {name, _} <- Judge.engines(),
        name = String.replace("#{name}", "_", " "),
        do: assert(report =~ ~r/#{name}.* passed: decode, encode, errors/)

    # wasmex is a package that only some want.
    for {name, reason} <- Judge.missing() do
      assert reason != ""
      assert report =~ if(name == :wasmex, do: ~r/wasmex.* optional, not installed/, else: ~r/MISSING/)
    end

    if Judge.available?(:native) and Judge.available?(:built_in), do: refute(report =~ "MISSING")
    assert report =~ "in use                       #{RustyJson.engine()} "
    assert report =~ "wasm timeout"

    for host <- [:built_in, :wasmex] do
      counts? = report =~ ~r/#{host} +\d+ running, \d+ kept, \d+ waiting; /
      assert counts? == Judge.available?(host)
    end
  end

  test "the doctor says which host a call takes, and why" do
    report = capture_io(fn -> Doctor.run([]) end)
    [line] = Regex.run(~r/wasm host +(.*)/, report, capture: :all_but_first)

    case {RustyJson.Config.values(:decode).sandbox.host, RustyJson.Wasm.Host.status(:auto)} do
      {:auto, {:ok, %{host: host}}} ->
        # The built-in one where it works.
        assert host == if(Judge.available?(:built_in), do: :built_in, else: :wasmex)
        assert line =~ "auto: calls use #{host}, "

      {:auto, {:error, _}} ->
        assert line =~ "no host works"

      {host, _} ->
        assert line == "#{host}: calls use it, because it is configured"
    end
  end

  test "the doctor shows the limits of decoding and of encoding" do
    Commands.keep([:decode, :encode])

    Application.put_all_env(
      rustyjson: [decode: [max_bytes: 1_000], encode: [max_bytes: 70_000, max_depth: :infinity]]
    )

    RustyJson.Config.reload()
    report = capture_io(fn -> Doctor.run([]) end)
    assert report =~ ~r/\n  max_bytes +1000 bytes/
    assert report =~ ~r/\n  encode max_bytes +70000 bytes/
    assert report =~ ~r/\n  encode max_depth +no limit/
  end

  test "the self-test does not depend on the limits that are configured" do
    Commands.keep([:wasm])
    Application.put_env(:rustyjson, :wasm, timeout: 1, max_memory: 8 * 1024 * 1024)
    RustyJson.Config.reload()
    report = capture_io(fn -> Doctor.run([]) end)
    assert report =~ "passed"
    refute report =~ "FAILED"
  end

  # `bin/my_app rpc` runs it in a node that serves.
  test "the doctor leaves the log of a running node as it is" do
    test = self()
    %{level: level} = :logger.get_primary_config()
    leader = spawn_link(fn -> tell_levels(test) end)

    task =
      Task.async(fn ->
        Process.group_leader(self(), leader)
        RustyJson.CLI.Doctor.run()
      end)

    assert Task.await(task, 60_000) in [:ok, :error]
    assert_received {:level, ^level}
    refute_received {:level, :none}
  end

  # An output that sees the level of the log whenever something is printed.
  defp tell_levels(test) do
    receive do
      {:io_request, from, reference, _request} ->
        send(test, {:level, :logger.get_primary_config().level})
        send(from, {:io_reply, reference, :ok})
    end

    tell_levels(test)
  end

  test "the doctor takes no arguments" do
    error = capture_io(:stderr, fn -> assert catch_exit(Doctor.run(["--bogus"])) == {:shutdown, 2} end)
    assert error == "mix rustyjson.doctor takes no arguments, got: --bogus\n"
  end

  if Judge.available?(:built_in) do
    test "the doctor counts calls that the sandbox stopped" do
      large = "[" <> String.duplicate("[],", 8_000_000) <> "0]"
      %{built_in: before} = RustyJson.stats()

      # On a busy machine, the timeout can expire before an instance is free.
      assert {:error, %{reason: reason}} =
               RustyJson.decode(large, engine: :wasm, host: :built_in, timeout: 10)

      assert reason in [:timeout, :busy]
      report = capture_io(fn -> Doctor.run([]) end)
      assert [_, count] = Regex.run(~r/built_in +.*; failed calls: .*#{reason} (\d+)/, report)
      assert String.to_integer(count) > before[reason]
    end
  end
end
