defmodule RustyJson.Bench.Sections.Interning do
  @moduledoc "`keys: :intern` compared with the default, on the three published tables."

  alias RustyJson.Bench.{Bar, Corpus, Grid, Jobs, Shapes, Sharing, Table}

  @like [
    {100, 5, "34.2 µs", "23.6 µs"},
    {100, 10, "67.5 µs", "44.8 µs"},
    {1_000, 5, "335 µs", "237 µs"},
    {1_000, 10, "688 µs", "463 µs"},
    {10_000, 5, "3.46 ms", "2.45 ms"},
    {10_000, 10, "6.92 ms", "4.88 ms"}
  ]
  @unique [
    {"one object, 100 keys", {Shapes, :single, [100]}, "5.1 µs", "13.6 µs"},
    {"one object, 1,000 keys", {Shapes, :single, [1_000]}, "52 µs", "169 µs"},
    {"one object, 5,000 keys", {Shapes, :single, [5_000]}, "260 µs", "831 µs"},
    {"100 unlike objects", {Shapes, :unlike, [100]}, "35 µs", "96 µs"},
    {"500 unlike objects", {Shapes, :unlike, [500]}, "186 µs", "475 µs"}
  ]
  @scaling [
    {10, "3.5 µs", "3.0 µs"},
    {50, "17.1 µs", "12.5 µs"},
    {100, "33.8 µs", "23.8 µs"},
    {500, "170 µs", "119 µs"},
    {1_000, "339 µs", "242 µs"},
    {5_000, "1.81 ms", "1.24 ms"},
    {10_000, "3.47 ms", "2.49 ms"}
  ]

  @spec run(map()) :: map()
  def run(context) do
    unique = table(context, "interning-unique", "keys that do not repeat", unique())

    Grid.join([
      table(context, "interning-like", "objects with the same keys", like()) |> with_sharing(context),
      Map.put(unique, :goals, penalty(unique.results)),
      table(context, "interning-scaling", "objects with the same 5 keys, by the number of objects", scaling())
    ])
  end

  defp like do
    for {objects, keys, default, intern} <- @like do
      row("#{Table.count(objects)} objects × #{keys} keys", {Shapes, :like, [objects, keys]}, default, intern)
    end
  end

  defp unique, do: for({label, source, default, intern} <- @unique, do: row(label, source, default, intern))

  defp scaling do
    for {objects, default, intern} <- @scaling,
        do: row("#{Table.count(objects)} objects", {Shapes, :like, [objects, 5]}, default, intern)
  end

  defp row(label, {_, function, arguments} = source, default, intern) do
    name = Enum.join(["interning", function | arguments], "-")

    runs = [
      {"native", "native", []},
      {"intern", "native", [keys: :intern]},
      {"old", "old", []},
      {"old intern", "old", [keys: :intern]}
    ]

    {label, :decode, {:json, Corpus.made(name, source).file}, runs, [default, intern]}
  end

  defp table(context, id, title, rows) do
    Grid.run(context, %{
      id: id,
      title: "keys: :intern on #{title}",
      rows: rows,
      columns: [
        {"native", "default"},
        {"intern", ":intern"},
        {"old", "0.3.10"},
        {"old intern", "0.3.10 :intern"}
      ],
      extra: [
        {":intern / default", fn results -> Table.ratio(Grid.quotient(results, "intern", "native")) end}
      ],
      published: ["default", ":intern"]
    })
  end

  # Shows whether the default builds each key once or for every object: words on the heap, where shared words count once.
  defp with_sharing(%{tables: [table]} = answer, context) do
    file = Corpus.made("interning-like-1000-5", {Shapes, :like, [1_000, 5]}).file

    words =
      for {id, opts} <- [{"native", []}, {"native", [keys: :intern]}, {"old", []}, {"jason", []}],
          context.present[id] do
        {:ok, words} = Jobs.in_vm(RustyJson.Bench.Contender.side(id), Sharing, :words, [file, id, opts])

        "#{RustyJson.Bench.Contender.title(id)}#{if opts != [], do: " with keys: :intern"} #{Table.count(words)}"
      end

    note = "Words of the term of 1,000 objects × 5 keys, shared ones counted once: #{Enum.join(words, ", ")}."
    %{answer | tables: [%{table | notes: [note | table.notes]}]}
  end

  defp with_sharing(answer, _context), do: answer

  defp penalty(results) do
    penalties = for {_, by_label} <- results, q = Grid.quotient(by_label, "intern", "native"), do: q

    if penalties == [] do
      []
    else
      worst = Enum.max(penalties)

      [
        Bar.row(
          "keys: :intern on keys that do not repeat, worst / default",
          "< 2.5×",
          Table.ratio(worst) <> "×",
          worst < 2.5
        )
      ]
    end
  end
end
