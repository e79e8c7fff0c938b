defmodule RustyJson.Bench.Grid do
  @moduledoc "A table with a row for each input and a column for each thing compared, next to published figures."

  alias RustyJson.Bench.{Case, Jobs, Table}

  @typedoc """
  * `rows` - `{label, operation, input, runs, published}`; `published` are cells for the columns of that name
  * `columns` - `{label of a run, heading}`; those that nothing was measured for are left out
  * `extra` - `{heading, function of a row's results by label}`
  """
  @type spec :: %{
          required(:id) => String.t(),
          required(:title) => String.t(),
          required(:rows) => [tuple()],
          required(:columns) => [{String.t(), String.t()}],
          optional(:extra) => [{String.t(), (map() -> String.t())}],
          optional(:published) => [String.t()],
          optional(:notes) => [String.t()]
        }

  @doc "Measures the table. Returns the table, the cases, notes, and the results of each row by its label."
  @spec run(map(), spec()) :: map()
  def run(context, spec) do
    measured =
      for {label, op, input, runs, published} <- spec.rows do
        context.say.("#{spec.id}: #{label}")
        answer = Jobs.run(context, %{op: op, input: input, runs: runs, budget: div(context.budget, 2)})
        %{label: label, op: op, answer: answer, published: published}
      end

    %{
      cases: Enum.flat_map(measured, &cases(spec.id, &1)),
      notes: for(row <- measured, note <- row.answer.notes, do: "#{spec.id}, #{row.label}: #{note}"),
      tables: if(context.test, do: [], else: [table(spec, measured)]),
      results: Map.new(measured, &{&1.label, &1.answer.results}),
      checked: Enum.sum(for row <- measured, do: row.answer.checked)
    }
  end

  defp cases(id, row), do: Case.of(id, %{name: row.label}, row.op, :fresh, row.answer)

  defp table(spec, measured) do
    columns =
      for {label, head} <- spec.columns, Enum.any?(measured, & &1.answer.results[label]), do: {label, head}

    extra =
      for {_, fun} = column <- spec[:extra] || [],
          Enum.any?(measured, &(fun.(&1.answer.results) != "–")),
          do: column

    published = for head <- spec[:published] || [], do: "#{head}*"

    %{
      id: spec.id,
      title: spec.title,
      head: [""] ++ Enum.map(columns, &elem(&1, 1)) ++ Enum.map(extra, &elem(&1, 0)) ++ published,
      rows: Enum.map(measured, &row(&1, columns, extra)),
      notes:
        (spec[:notes] || []) ++
          if(published == [], do: [], else: ["* published for RustyJson 0.3, measured on an Apple M1 Pro"]),
      chart: chart(measured, columns)
    }
  end

  defp row(row, columns, extra) do
    results = row.answer.results
    times = for {label, _} <- columns, do: Table.time(get_in(results, [label, :time, :median]))
    [row.label] ++ times ++ for({_, fun} <- extra, do: fun.(results)) ++ row.published
  end

  defp chart(measured, columns) do
    rows =
      for row <- measured do
        points =
          for {label, head} <- columns,
              r = row.answer.results[label],
              into: %{},
              do: {head, r.time.median / 1_000}

        {row.label, points}
      end

    %{unit: "µs", series: Enum.map(columns, &elem(&1, 1)), rows: rows}
  end

  @doc "A function for `extra`: how many times faster `ours` is than `theirs`."
  @spec faster(String.t(), String.t()) :: (map() -> String.t())
  def faster(ours, theirs) do
    fn results -> Table.ratio(quotient(results, theirs, ours)) end
  end

  @doc "The ratio of two runs' ratios to the yardstick, which holds across VMs; nil when one is missing."
  @spec quotient(map(), String.t(), String.t()) :: float() | nil
  def quotient(results, a, b) do
    if results[a] && results[b], do: results[a].ratio.median / results[b].ratio.median
  end

  @doc "Runs of these contenders without options."
  @spec plain([String.t()]) :: [tuple()]
  def plain(ids), do: for(id <- ids, do: {id, id, []})

  @doc "Combines several answers."
  @spec join([map()]) :: map()
  def join(answers) do
    %{
      cases: Enum.flat_map(answers, & &1.cases),
      tables: Enum.flat_map(answers, & &1.tables),
      notes: Enum.flat_map(answers, & &1.notes),
      goals: Enum.flat_map(answers, &(&1[:goals] || [])),
      checked: Enum.sum(for answer <- answers, do: answer[:checked] || 0)
    }
  end
end
