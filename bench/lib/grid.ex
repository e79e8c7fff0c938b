defmodule RustyJson.Bench.Grid do
  @moduledoc "A table with a row for each input and a column for each thing compared."

  alias RustyJson.Bench.{Case, Jobs, Table}

  @typedoc """
  * `rows` - `{label, operation, input, runs}`
  * `columns` - `{label of a run, heading}`; those that nothing was measured for are left out
  * `faster` - `{heading, ours, theirs}`: how many times faster one run is than another
  """
  @type spec :: %{
          required(:id) => String.t(),
          required(:title) => String.t(),
          required(:rows) => [tuple()],
          required(:columns) => [{String.t(), String.t()}],
          optional(:faster) => [{String.t(), String.t(), String.t()}]
        }

  @doc "Measures the table. Returns the table, the cases and notes."
  @spec run(map(), spec()) :: map()
  def run(context, spec) do
    measured =
      for {label, op, input, runs} <- spec.rows do
        context.say.("#{spec.id}: #{label}")
        answer = Jobs.run(context, %{op: op, input: input, runs: runs, budget: div(context.budget, 2)})
        %{label: label, op: op, answer: answer}
      end

    %{
      cases: Enum.flat_map(measured, &Case.of(spec.id, %{name: &1.label}, &1.op, :fresh, &1.answer)),
      notes: for(row <- measured, note <- row.answer.notes, do: "#{spec.id}, #{row.label}: #{note}"),
      tables: if(context.test, do: [], else: [table(spec, measured)]),
      checked: Enum.sum(for row <- measured, do: row.answer.checked)
    }
  end

  defp table(spec, measured) do
    there? = fn label -> Enum.any?(measured, & &1.answer.results[label]) end
    columns = for {label, head} <- spec.columns, there?.(label), do: {label, head}
    faster = for {_, ours, theirs} = column <- spec[:faster] || [], there?.(ours), there?.(theirs), do: column

    %{
      id: spec.id,
      title: spec.title,
      head: [""] ++ Enum.map(columns, &elem(&1, 1)) ++ Enum.map(faster, &elem(&1, 0)),
      rows: Enum.map(measured, &row(&1.label, &1.answer.results, columns, faster))
    }
  end

  # The ratio of two runs' ratios to the yardstick holds across VMs.
  defp row(label, results, columns, faster) do
    times = for {label, _} <- columns, do: Table.time(get_in(results, [label, :time, :median]))

    speeds =
      for {_, ours, theirs} <- faster,
          do:
            Table.ratio(
              results[ours] && results[theirs] && results[theirs].ratio.median / results[ours].ratio.median
            )

    [label] ++ times ++ speeds
  end
end
