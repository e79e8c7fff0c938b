defmodule RustyJson.Bench.Pairs do
  @moduledoc """
  Pairs of functions, each measured beside what it is held to.

  A round runs both, each in a new process, and equally often: once, or where the slower one takes less than 50 µs, as often as takes
  100 µs after one call that is not counted. The ratio is the median over rounds.
  """

  alias RustyJson.Bench.Table

  @typedoc """
  A label, what is measured, the name of what it stands beside, that, and the highest ratio that meets the goal.
  """
  @type row :: {String.t(), (() -> term()), String.t(), (() -> term()), number() | nil}

  @doc "A section's answer: one table of these pairs."
  @spec run([row()], String.t(), String.t(), map()) :: map()
  def run(rows, id, title, context) do
    rows = for row <- rows, do: measured(row, id, context)

    if context.test,
      do: %{checked: length(rows)},
      else: %{checked: length(rows), tables: [table(rows, id, title)]}
  end

  defp table(rows, id, title) do
    %{
      id: id,
      title: title,
      head: ["", "time", "beside", "its time", "ratio", "goal"],
      rows:
        for(
          row <- rows,
          do: [
            row.label,
            Table.time(row.time),
            row.beside,
            Table.time(row.other),
            Table.ratio(row.ratio),
            if(row.goal, do: "≤ #{row.goal}", else: "–")
          ]
        )
    }
  end

  defp measured({label, fun, beside, other, goal}, _id, %{test: true}) do
    for result <- [fun.(), other.()], do: check!(label, result)
    %{label: label, beside: beside, goal: goal}
  end

  defp measured({label, fun, beside, other, goal}, id, context) do
    context.say.("#{id}: #{label}")
    for result <- [fun.(), other.()], do: check!(label, result)
    calls = calls(max(time(fun, 1), time(other, 1)))
    until = System.monotonic_time(:millisecond) + div(context.budget, 2)
    times = rounds({fun, other, calls}, until, [])

    %{
      label: label,
      beside: beside,
      goal: goal,
      time: times |> Enum.map(&elem(&1, 0)) |> median(),
      other: times |> Enum.map(&elem(&1, 1)) |> median(),
      ratio: times |> Enum.map(fn {a, b} -> a / b end) |> median()
    }
  end

  # An error takes less time than what is asked for.
  defp check!(label, result) do
    if result in [false, nil, :error] or match?({:error, _}, result),
      do: raise("#{label} gives #{inspect(result, limit: 5)}")
  end

  defp rounds({fun, other, calls} = pair, until, times) do
    order = Enum.shuffle([fun, other])
    took = for each <- order, into: %{}, do: {each, time(each, calls)}
    times = [{took[fun], took[other]} | times]

    if length(times) >= 5 and System.monotonic_time(:millisecond) > until,
      do: times,
      else: rounds(pair, until, times)
  end

  defp calls(nanoseconds) when nanoseconds < 50_000, do: div(100_000, max(nanoseconds, 100)) + 1
  defp calls(_nanoseconds), do: 1

  # Nanoseconds of one of these calls.
  defp time(fun, calls) do
    Task.async(fn ->
      if calls > 1, do: fun.()
      div(timed(fun, calls), calls)
    end)
    |> Task.await(:infinity)
  end

  defp timed(fun, calls) do
    start = System.monotonic_time(:nanosecond)
    for _ <- 1..calls, do: fun.()
    System.monotonic_time(:nanosecond) - start
  end

  defp median(list), do: list |> Enum.sort() |> Enum.at(div(length(list), 2))
end
