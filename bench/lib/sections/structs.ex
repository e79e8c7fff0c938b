defmodule RustyJson.Bench.Sections.Structs do
  @moduledoc "Structs, and mixed data compared with plain maps."

  alias RustyJson.Bench.{Grid, Structs}

  @rows [
    {"derived, 5 fields", :five},
    {"derived, 10 fields", :ten},
    {"own, with Encode.map", :custom},
    {"list of 1,000 derived", :list},
    {"list of 1,000 own", :customs},
    {"3 levels", :nested},
    {"mixed, each tenth a struct", :mixed},
    {"the same as plain maps", :plain}
  ]
  @columns [
    {"native", "native"},
    {"built_in", "wasm"},
    {"jason", "Jason"},
    {"elixir", "JSON"},
    {"old", "0.3.10"}
  ]

  @spec run(map()) :: map()
  def run(context) do
    runs = for {id, _} <- @columns, do: {id, id, []}

    Grid.run(context, %{
      id: "structs",
      title: "Encoding structs",
      rows: for({label, kind} <- @rows, do: {label, :encode, {:term, {Structs, :build, [kind]}}, runs}),
      columns: @columns,
      faster: [{"0.3.10 ×", "native", "old"}, {"Jason ×", "native", "jason"}]
    })
  end
end
