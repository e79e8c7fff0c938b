defmodule RustyJson.Bench.Sections.Calls do
  @moduledoc "The cost of a call into the sandbox with 35 bytes, with a kept instance and with a new one."

  alias RustyJson.Bench.{Corpus, Grid}

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

    Grid.run(context, %{
      id: "calls",
      title: "Time of one call on a 35-byte document",
      rows: for(op <- [:decode, :encode], do: {"#{op}", op, {:json, document.file}, @runs}),
      columns: for({label, _, _} <- @runs, do: {label, label})
    })
  end
end
