defmodule RustyJson.Bench.Sections.Published do
  @moduledoc "The tables that RustyJson 0.3 published, with its figures next to the new ones."

  alias RustyJson.Bench.{Corpus, Grid, Shapes, Table}

  @who ["native", "built_in", "jason", "old"]
  @columns [{"native", "native"}, {"built_in", "wasm"}, {"jason", "Jason"}, {"old", "0.3.10"}]

  @doc "Settlement reports of three sizes."
  @spec settlement(map()) :: map()
  def settlement(context) do
    rows =
      for {megabytes, encode, decode} <- [
            {"10.87", ["24 ms", "131 ms", "5.5"], ["61 ms", "152 ms", "2.5"]},
            {"9.79", ["21 ms", "124 ms", "5.9"], ["55 ms", "134 ms", "2.4"]},
            {"9.38", ["21 ms", "104 ms", "5.0"], ["50 ms", "119 ms", "2.4"]}
          ],
          {op, published} <- [encode: encode, decode: decode] do
        {"#{op} #{megabytes} MB", op, settlement_input(context, megabytes), Grid.plain(@who), published}
      end

    Grid.run(context, %{
      id: "settlement",
      title: "Settlement reports of the sizes that RustyJson 0.3 published",
      rows: rows,
      columns: @columns,
      extra: [{"Jason ×", Grid.faster("native", "jason")}, {"reductions", &reductions/1}],
      published: ["RustyJson", "Jason", "×"],
      notes: [
        "Reductions: those of one native call. RustyJson charges the time in native code to the process, so that " <>
          "scheduling stays fair. RustyJson 0.3 published 404 for the 10.87 MB encode because it charged nothing for " <>
          "24 ms of work."
      ]
    })
  end

  defp settlement_input(context, megabytes) do
    bytes = round(String.to_float(megabytes) * 1_000_000)
    bytes = if context.test, do: div(bytes, 50), else: bytes
    made("settlement-#{megabytes}", {Shapes, :settlement, [bytes]})
  end

  defp made(name, source), do: {:json, Corpus.made(name, source).file}
  defp reductions(results), do: Table.count(get_in(results, ["native", :reductions]))

  @doc "The documents of nativejson-benchmark, and the shapes published with them."
  @spec nativejson(map()) :: map()
  def nativejson(context) do
    items = if context.test, do: 500, else: 50_000

    made = [
      {"large_list (50k)", made("large_list", {Shapes, :large_list, [items]}), ["16.0 ms", "62"]},
      {"deep_nested (100)", {:json, standard("deep100")}, ["6.75 µs", "148K"]},
      {"wide_object (5k)", {:json, standard("wide5k")}, ["0.61 ms", "1,626"]}
    ]

    public = [
      {"canada", ["6.55 ms", "153"]},
      {"citm_catalog", ["3.09 ms", "323"]},
      {"twitter", ["2.33 ms", "430"]}
    ]

    public = for {name, published} <- public, file = standard(name), do: {name, {:json, file}, published}

    decode =
      for {label, input, published} <- public ++ made,
          do: {label, :decode, input, Grid.plain(@who), published}

    Grid.join([
      Grid.run(context, %{
        id: "nativejson-decode",
        title: "nativejson-benchmark and other documents: decode",
        rows: decode,
        columns: @columns,
        extra: [{"calls/s", &per_second/1}, {"reductions", &reductions/1}],
        published: ["average", "calls/s"]
      }),
      roundtrip(context, public)
    ])
  end

  defp roundtrip(_context, []), do: %{cases: [], tables: [], notes: []}

  defp roundtrip(context, public) do
    published = %{
      "canada" => ["14 ms", "48 ms", "3.4", "~3,500"],
      "citm_catalog" => ["6 ms", "14 ms", "2.5", "~300"],
      "twitter" => ["4 ms", "9 ms", "2.3", "~2,000"]
    }

    Grid.run(context, %{
      id: "nativejson-roundtrip",
      title: "nativejson-benchmark: decode, then encode",
      rows: for({name, input, _} <- public, do: {name, :roundtrip, input, Grid.plain(@who), published[name]}),
      columns: @columns,
      extra: [{"Jason ×", Grid.faster("native", "jason")}, {"reductions", &reductions/1}],
      published: ["RustyJson", "Jason", "×", "reductions"]
    })
  end

  defp standard(name) do
    case Corpus.get(name) do
      {:ok, document} -> document.file
      {:skip, _} -> nil
    end
  end

  defp per_second(%{"native" => %{time: %{median: ns}}}), do: Table.count(1_000_000_000 / ns)
  defp per_second(_results), do: "–"

  @doc "Small, medium and large."
  @spec sizes(map()) :: map()
  def sizes(context) do
    small = ~s({"id":1,"name":"Annalena"})
    medium = {RustyJson.Bench.Documents, :records, [45]}
    large = {RustyJson.Bench.Documents, :records, [3_150]}

    rows =
      for {label, source, encode, decode} <- [
            {"small (25 B)", small, "~1", "1.3"},
            {"medium (7 KB)", medium, "3–6", "2"},
            {"large (500 KB)", large, "3–4", "1.2"}
          ],
          {op, published} <- [encode: encode, decode: decode] do
        name = label |> String.split() |> hd()
        {"#{op} #{label}", op, made("size-#{name}", source), Grid.plain(@who), [published]}
      end

    Grid.run(context, %{
      id: "sizes",
      title: "Small, medium and large documents",
      rows: rows,
      columns: @columns,
      extra: [{"Jason ×", Grid.faster("native", "jason")}],
      published: ["Jason ×"]
    })
  end

  @doc "Saving the rows of a settlement file as JSON."
  @spec save(map()) :: map()
  def save(context) do
    rows =
      for {count, published} <- [{13_073, ["70 ms", "1,556 ms", "22"]}, {10_961, ["51 ms", "1,317 ms", "26"]}] do
        input = {:term, {Shapes, :rows, [if(context.test, do: div(count, 50), else: count)]}}
        {"#{Table.count(count)} rows", :save, input, Grid.plain(@who), published}
      end

    Grid.run(context, %{
      id: "save",
      title: "Encoding the rows of a settlement file and writing them to disk",
      rows: rows,
      columns: @columns,
      extra: [{"Jason ×", Grid.faster("native", "jason")}],
      published: ["RustyJson", "Jason", "×"]
    })
  end
end
