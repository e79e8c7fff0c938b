defmodule RustyJson.Sandbox.LaneTimeTest do
  @moduledoc """
  wasmex: a call that is sent again, or needs an instance of its own, has what its run left of its time, and none of another call's. Needs
  no wasmex.
  """

  # It quietens the log.
  use ExUnit.Case, async: false

  alias RustyJson.Wasm.Host.Wasmex.{Instance, Lane, Shares}
  alias RustyJson.Wasm.Host.Wasmex.Lane.Call

  @page 65_536

  # A call that has run since 1,000 ms and may run for 500.
  defp lane(call, ahead) do
    instance = %Instance{id: make_ref(), store: nil, instance: nil, memory: nil, memory_size: @page}
    calls = :queue.from_list([{0, ahead, call}, {1, nil, %{call | ref: :erlang.alias([:reply])}}])
    %Lane{instance: instance, kind: :kind, since: 1_000, number: 2, calls: calls, count: 2}
  end

  defp call do
    ref = :erlang.alias([:reply])

    %Call{
      ref: ref,
      pid: self(),
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

  # It has run for 100 ms, and its record lies elsewhere.
  defp running(call), do: %{lane(call, {16, 8}) | place: {32, 20}, since: Shares.now() - 100}
  defp with_lane(lane), do: %Shares{await: fn _ -> 0 end, lanes: %{lane.instance.id => lane}}

  describe "a call that runs when its patience ends" do
    test "is not sent again behind others" do
      %{ref: ref} = call = call()
      %{instance: %{id: id}} = lane = running(call)
      %{lanes: %{^id => lane}} = state = lane |> with_lane() |> Shares.give_up(ref)
      refute_received {^ref, _}

      assert {:again, _lane, call} = Lane.answered(lane, 0, :read, "12345678", lane.since + 300)
      assert %{queued: queued} = Shares.again(state, call)
      assert queued == %{}
      assert_received {^ref, {:again, 200}}
    end

    test "is not sent again after it was interrupted" do
      %{ref: ref} = call = call()
      %{instance: %{id: id}} = lane = running(call)
      %{lanes: %{^id => lane}} = state = lane |> with_lane() |> Shares.give_up(ref)
      assert %{queued: %{} = queued} = Shares.failed(state, lane, :interrupted)
      refute is_map_key(queued, ref)
      assert_received {^ref, {:again, left}} when left <= 400
    end

    test "gets its record if that is as long as expected" do
      %{ref: ref} = call = call()
      %{instance: %{id: id}} = lane = %{running(call) | place: {16, 8}}
      %{lanes: %{^id => lane}} = lane |> with_lane() |> Shares.give_up(ref)
      assert {:ok, %{count: 1}} = Lane.answered(lane, 0, :read, "12345678", lane.since + 300)
      assert_received {^ref, {:record, "12345678", ^id, _deadline}}
    end
  end

  test "one that waits behind others when its patience ends is told so" do
    lane = running(call())
    [_head, %{ref: ref}] = Lane.calls(lane)
    state = lane |> with_lane() |> Shares.give_up(ref)
    assert_received {^ref, {:fault, :busy, ""}}
    assert %{queued: queued} = Shares.discard(state, lane.instance.id)
    refute is_map_key(queued, ref)
    refute_received {^ref, _}
  end

  test "with an instance that gave a false record, its head has what is left" do
    %{ref: ref} = call = call()
    lane = running(call)
    assert %{waiting: waiting} = lane |> with_lane() |> Shares.discard(lane.instance.id)
    assert {:value, %{ref: ^ref, timeout: left}} = :queue.peek(waiting)
    assert left <= 400
  end

  describe "an instance that is not made within the time of a call" do
    setup do
      # Without wasmex the process that makes it ends with an error.
      %{level: level} = :logger.get_primary_config()
      :logger.set_primary_config(:level, :none)
      on_exit(fn -> :logger.set_primary_config(:level, level) end)
      %{ref: ref} = call = %{call() | timeout: 1, kind: 1_048_576}
      state = %Shares{await: & &1} |> Shares.wait(call) |> Shares.serve()
      assert [monitor] = Map.keys(state.starting)
      {:ok, state: state, monitor: monitor, ref: ref, fault: {:fault, :timeout, ""}}
    end

    test "is the fault of this call", %{state: state, monitor: monitor, ref: ref, fault: fault} do
      assert %{queued: queued} = Shares.made(state, monitor, {:shutdown, fault})
      assert queued == %{}
      assert_received {^ref, ^fault}
    end

    test "is not that of others", %{state: state, monitor: monitor, ref: ref, fault: fault} do
      # This one was served elsewhere in the meantime.
      %{ref: other} = behind = %{call() | kind: 1_048_576}
      state = state |> Shares.unqueue(ref) |> Shares.wait(behind)
      assert %{queued: %{^other => true}} = Shares.made(state, monitor, {:shutdown, fault})
      refute_received {^other, _}
    end

    test "is not waited for again by one whose patience has ended", %{
      state: state,
      monitor: monitor,
      ref: ref,
      fault: fault
    } do
      %{ref: other} = behind = %{call() | kind: 1_048_576}

      state =
        state
        |> Shares.unqueue(ref)
        |> Map.put(:waiting, :queue.new())
        |> Shares.wait(behind)
        |> Shares.give_up(other)

      refute_received {^other, _}
      Shares.made(state, monitor, {:shutdown, fault})
      assert_received {^other, {:fault, :busy, ""}}
    end
  end
end
