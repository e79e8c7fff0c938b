defmodule RustyJson.Bench.Sections.Calls do
  @moduledoc "The cost of a call into the sandbox with 35 bytes, with a kept instance and with a new one."

  alias RustyJson.Bench.{Bar, Corpus, Grid, Table}

  @runs [
    {"native", "native", []},
    {"built-in", "built_in", []},
    {"built-in fresh", "built_in", [isolation: :fresh]},
    {"wasmex", "wasmex", []},
    {"wasmex fresh", "wasmex", [isolation: :fresh]}
  ]

  @spec run(map()) :: map()
  def run(context) do
    {:ok, document} = Corpus.get("object35")

    answer =
      Grid.run(context, %{
        id: "calls",
        title: "Time of one call on a 35-byte document",
        rows: for(op <- [:decode, :encode], do: {"#{op}", op, {:json, document.file}, @runs, []}),
        columns: for({label, _, _} <- @runs, do: {label, label})
      })

    Map.put(answer, :goals, Enum.flat_map(answer.results, &goals/1))
  end

  defp goals({op, results}) do
    limits = [{"built-in fresh", 25_000}, {"wasmex", 120_000}]

    for {label, limit} <- limits, result = results[label] do
      time = result.time.median
      Bar.row("35 bytes, #{op}, #{label}", "≤ #{Table.time(limit)}", Table.time(time), time <= limit)
    end
  end
end
