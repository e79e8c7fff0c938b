defmodule RustyJson.Feed.Columns do
  @moduledoc false
  # The option `columns:` of a stream: rows wait until there are enough of them, and become columns. An error comes behind the rows before it.

  alias RustyJson.{Feed, Parts}

  @typedoc "The number of rows that wait, and these, the last one first."
  @type rows :: {non_neg_integer(), [tuple()]}

  @doc "What a call of a feed returns, with columns in place of rows. `last`: nothing follows."
  @spec gather([term()], boolean(), Feed.t()) :: {[term()], Feed.t()}
  def gather(items, _last, %{plan: %{select: nil}} = feed), do: {items, feed}
  def gather(items, _last, %{plan: %{select: %{columns: nil}}} = feed), do: {items, feed}

  def gather(items, last, %{plan: plan, rows: rows} = feed) do
    {rows, done} = Enum.reduce(items, {rows, []}, &item(&1, &2, plan))
    {rows, done} = if last or feed.ended != nil, do: flush(rows, done, plan), else: {rows, done}
    {Enum.reverse(done), %{feed | rows: rows}}
  end

  defp item({:error, _exception} = error, {rows, done}, plan) do
    {rows, done} = flush(rows, done, plan)
    {rows, [error | done]}
  end

  defp item({:ok, row}, state, plan), do: row(row, state, plan)
  defp item(row, state, plan), do: row(row, state, plan)

  defp row(row, {{count, rows}, done}, %{select: %{columns: most}} = plan) when count + 1 == most,
    do: flush({most, [row | rows]}, done, plan)

  defp row(row, {{count, rows}, done}, _plan), do: {{count + 1, [row | rows]}, done}

  # The error that ended the stream is the last item, and the rows before it are complete.
  defp flush({0, []}, done, _plan), do: {{0, []}, done}

  defp flush({_count, rows}, done, %{tag: tag, select: %{paths: paths}}) do
    columns = rows |> Parts.columns(paths) |> named(paths)
    {{0, []}, [if(tag, do: {:ok, columns}, else: columns) | done]}
  end

  defp named(columns, %{keys: nil}), do: columns
  defp named(columns, %{keys: keys}), do: keys |> Enum.zip(columns) |> Map.new()
end
