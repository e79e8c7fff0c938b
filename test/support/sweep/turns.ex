defmodule RustyJson.Test.Sweep.Turns do
  @moduledoc """
  How long a call holds a normal scheduler at a time, with and without the collections of the VM, as the VM's own trace tells.

  The monitor that the sweep uses reports a turn as a whole. A collection of a large heap is one step of the VM, however short the code
  around it is: what remains of the longest turn is the code's own.
  """

  @typedoc "Milliseconds: of the longest turn, of the longest without its collections, and of all collections."
  @type turns :: %{turn: float(), own: float(), collected: float()}

  alias RustyJson.Test.Sweep.Measure

  # Turns up to this many milliseconds need no further run.
  @enough 5.0
  # Milliseconds of a row of calls: three times as long as a turn may be.
  @row 15

  @doc "The best of some runs, because a turn is longer where other programs have the processor."
  @spec longest((() -> input), (input -> term()), pos_integer()) :: turns() when input: term()
  def longest(build, call, tries \\ 10) do
    case once(build, call) do
      %{own: own} = turns when own <= @enough or tries == 1 -> turns
      turns -> Map.merge(turns, longest(build, call, tries - 1), fn _key, a, b -> min(a, b) end)
    end
  end

  @doc "The same for a row of calls, of which each is too short for the monitor: whether each takes from the turn what it costs."
  @spec of_row((() -> input), (input -> term())) :: turns() when input: term()
  def of_row(build, call), do: longest(build, &row(&1, call, System.monotonic_time(:millisecond) + @row))

  defp row(input, call, until) do
    Measure.outcome(call, input)
    if System.monotonic_time(:millisecond) < until, do: row(input, call, until)
  end

  defp once(build, call) do
    {pid, monitor} =
      spawn_monitor(fn ->
        input = build.()
        :erlang.garbage_collect()
        receive(do: (:go -> :ok))
        Measure.outcome(call, input)
        :erlang.yield()
      end)

    :erlang.trace(pid, true, [:running, :garbage_collection, :scheduler_id, :monotonic_timestamp])
    send(pid, :go)
    turns = followed(pid, monitor, %{in: nil, gc: nil, waste: 0, turn: 0, own: 0, collected: 0})
    unit = :erlang.convert_time_unit(1, :millisecond, :native)

    for key <- [:turn, :own, :collected], into: %{}, do: {key, Float.round(turns[key] / unit, 1)}
  end

  defp followed(pid, monitor, state) do
    receive do
      {:trace_ts, ^pid, event, _info, scheduler, time} ->
        followed(pid, monitor, event(event, normal?(scheduler), time, state))

      {:DOWN, ^monitor, :process, ^pid, _reason} ->
        state
    end
  end

  defp event(:in, true, time, state), do: %{state | in: time, waste: 0}

  defp event(:out, _normal, time, %{in: began, waste: waste} = state) when began != nil do
    %{state | in: nil, turn: max(state.turn, time - began), own: max(state.own, time - began - waste)}
  end

  defp event(start, _normal, time, state) when start in [:gc_minor_start, :gc_major_start],
    do: %{state | gc: time}

  defp event(stop, _normal, time, %{gc: began} = state)
       when stop in [:gc_minor_end, :gc_major_end] and began != nil,
       do: %{state | gc: nil, waste: state.waste + time - began, collected: state.collected + time - began}

  defp event(_other, _normal, _time, state), do: state

  defp normal?(scheduler), do: scheduler in 1..:erlang.system_info(:schedulers)
end
