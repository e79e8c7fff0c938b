defmodule RustyJson.Bench.Sections.Structs do
  @moduledoc "Structs: the published rows, and mixed data compared with plain maps."

  alias RustyJson.Bench.{Bar, Grid, Table}

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
  @published %{five: "~2", ten: "~2", custom: "~2.5", list: "~2", nested: "~2"}

  @spec run(map()) :: map()
  def run(context) do
    rows =
      for {label, kind} <- @rows do
        input = {:term, {RustyJson.Bench.Structs, :build, [kind]}}

        {label, :encode, input, Grid.plain(["native", "built_in", "jason", "elixir", "old"]),
         [@published[kind] || ""]}
      end

    answer =
      Grid.run(context, %{
        id: "structs",
        title: "Encoding structs",
        rows: rows,
        columns: [
          {"native", "native"},
          {"built_in", "wasm"},
          {"jason", "Jason"},
          {"elixir", "JSON"},
          {"old", "0.3.10"}
        ],
        extra: [{"0.3.10 ×", Grid.faster("native", "old")}, {"Jason ×", Grid.faster("native", "jason")}],
        published: ["× 0.3.2"]
      })

    Map.put(answer, :goals, mixed(answer.results))
  end

  defp mixed(%{
         "mixed, each tenth a struct" => %{"native" => mixed},
         "the same as plain maps" => %{"native" => plain}
       }) do
    ratio = mixed.time.median / plain.time.median
    [Bar.row("mixed data / the same data as plain maps, native", "≤ 1.2", Table.ratio(ratio), ratio <= 1.2)]
  end

  defp mixed(_results), do: []
end
