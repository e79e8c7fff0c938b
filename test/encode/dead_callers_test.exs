defmodule RustyJson.DeadCallersTest do
  @moduledoc "A native call on a dirty scheduler ends when its process is killed. Without `max_bytes` it could go on without end."
  use ExUnit.Case, async: false

  @moduletag :once
  @moduletag skip: not RustyJson.Test.Judge.available?(:native)

  # 2^60 empty texts take no memory.
  defp endless, do: RustyJson.Fragment.new(Enum.reduce(1..60, "", fn _, inner -> [inner, inner] end))

  @tag :time
  test "callers that are killed give their dirty schedulers back" do
    sandbox = [engine: :wasm, timeout: 60_000, host: :built_in]

    for options <- [[], [pretty: true], [scheduler: :dirty], sandbox],
        _ <- 1..:erlang.system_info(:dirty_cpu_schedulers) do
      {pid, monitor} =
        spawn_monitor(fn ->
          RustyJson.encode(endless(), Keyword.put_new(options, :engine, :native))
        end)

      refute_receive {:DOWN, ^monitor, _, _, _}, 50
      Process.exit(pid, :kill)
    end

    assert {:ok, "[1]"} =
             Task.await(
               Task.async(fn -> RustyJson.encode([1], engine: :native, scheduler: :dirty) end),
               10_000
             )

    assert Enum.any?(1..100, fn _ ->
             Process.sleep(100)
             RustyJson.Wasm.Host.BuiltIn.counts()[:running] == 0
           end)
  end

  @tag :time
  test "a long call on a dirty scheduler is not cut short" do
    deep = Enum.reduce(1..3_000, [], fn _, inner -> [inner] end)
    options = [engine: :native, scheduler: :dirty, max_depth: :infinity]

    for options <- [options, [pretty: true] ++ options] do
      text = RustyJson.encode!(deep, options)
      assert RustyJson.decode!(text, engine: :native, max_depth: :infinity) == deep

      assert text ==
               RustyJson.encode!(deep, engine: :wasm, pretty: options[:pretty] || false, max_depth: :infinity)
    end
  end
end
