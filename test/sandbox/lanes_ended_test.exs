defmodule RustyJson.Sandbox.LanesEndedTest do
  @moduledoc "wasmex: calls while the process that owns the instances ends."

  use ExUnit.Case, async: true

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
end
