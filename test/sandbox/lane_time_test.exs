defmodule RustyJson.Sandbox.LaneTimeTest do
  @moduledoc "wasmex: a call that is sent again, or needs an instance of its own, has what its run left of its time. Needs no wasmex."

  use ExUnit.Case, async: true

  alias RustyJson.Wasm.Host.Wasmex.{Instance, Lane, Shares}
  alias RustyJson.Wasm.Host.Wasmex.Lane.Call

  @page 65_536

  # A call that has run since 1,000 ms and may run for 500.
  defp lane(call, ahead) do
    instance = %Instance{id: make_ref(), store: nil, instance: nil, memory: nil, memory_size: @page}
    calls = :queue.from_list([{0, ahead, call}, {1, nil, call}])
    %Lane{instance: instance, kind: :kind, since: 1_000, number: 2, calls: calls, count: 2}
  end

  defp call do
    ref = :erlang.alias([:reply])

    %Call{
      ref: ref,
      kind: :kind,
      size: 1,
      timeout: 500,
      name: "decode",
      input: "",
      lengths: [],
      expected: 8,
      most: 64
    }
  end

  test "its record is too long to be read in the lane" do
    %{ref: ref} = call = call()
    <<at_16_of_length_100::64>> = <<16::32, 100::32>>
    answer = {:ok, [at_16_of_length_100]}
    assert {:ok, %{count: 1}} = Lane.answered(lane(call, nil), 0, :call, answer, 1_300)
    assert_received {^ref, {:again, 200}}
  end

  test "its record lies elsewhere" do
    call = call()
    lane = %{lane(call, {16, 8}) | place: {32, 20}}
    assert {:again, %{since: 1_300}, again} = Lane.answered(lane, 0, :read, "12345678", 1_300)
    assert %{timeout: 200, tries: 1, expected: 20} = again
  end

  test "after some tries it has what is left then" do
    %{ref: ref} = call = call()
    state = %Shares{await: & &1}
    assert Shares.again(state, %{call | timeout: 70, tries: 3}) == state
    assert_received {^ref, {:again, 70}}
  end
end
