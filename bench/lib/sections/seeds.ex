defmodule RustyJson.Bench.Sections.Seeds do
  @moduledoc """
  What the standard run leaves out, for the native engine beside the fastest other libraries: decoding with `strings: :copy`,
  and the generated documents made from another seed.
  """

  alias RustyJson.Bench.{Case, Corpus, Documents, Jobs, Kinds, Stats, Table}

  @seed 4711
  @made [
    {"records10k", {Documents, :records, [10_000, @seed]}},
    {"records1k", {Documents, :records, [1_300, @seed]}},
    {"records40", {Documents, :records, [40, @seed]}},
    {"geojson", {Documents, :geojson, [170, @seed]}},
    {"not_ascii", {Kinds, :not_ascii, [@seed]}},
    {"integers", {Kinds, :integers, [@seed]}},
    {"config", {Kinds, :config, [@seed]}},
    {"chat", {Kinds, :chat, [@seed]}},
    {"webhook", {Kinds, :webhook, [@seed]}},
    {"log", {Kinds, :log, [@seed]}},
    {"api_response", {Documents, :api_response, [95, @seed]}}
  ]
  @others ["torque", "glazer"]
  @copied {"copied", "native", [strings: :copy]}

  @spec run(map()) :: map()
  def run(context) do
    standard = for name <- Corpus.standard(), {:ok, document} <- [Corpus.get(name)], do: document
    others = for {name, source} <- @made, do: Corpus.made("seed-" <> name, source)

    parts = [
      {"decode-copied", "Decode with strings: :copy, RustyJson native", :decode, standard, [@copied]},
      {"decode-seed", "Decode, documents of another seed, RustyJson native", :decode, others,
       [{"native", "native", []}, @copied]},
      {"encode-seed", "Encode, documents of another seed, RustyJson native", :encode, others,
       [{"native", "native", []}]}
    ]

    parts = for part <- parts, do: measured(context, part)

    %{
      cases: for({_, cases, _, _} <- parts, each <- cases, do: each),
      tables: if(context.test, do: [], else: for({part, cases, _, _} <- parts, do: table(part, cases))),
      notes: Enum.flat_map(parts, &elem(&1, 2)),
      checked: parts |> Enum.map(&elem(&1, 3)) |> Enum.sum()
    }
  end

  defp measured(context, {id, _title, op, documents, own} = part) do
    answers =
      for document <- documents do
        context.say.("#{id} #{document.name}")
        unless context.quick or context.test, do: Jobs.renew()
        runs = own ++ for other <- @others, do: {other, other, []}
        {document, Jobs.run(context, %{op: op, input: {:json, document.file}, runs: runs})}
      end

    cases = for {document, answer} <- answers, each <- Case.of(id, document, op, :fresh, answer), do: each
    notes = for {document, answer} <- answers, note <- answer.notes, do: "#{document.name}: #{note}"
    {part, cases, notes, answers |> Enum.map(&elem(&1, 1).checked) |> Enum.sum()}
  end

  # For each of our own runs: its ratio to the BEAM's format, and the speed relative to each library.
  defp table({id, title, op, documents, own}, cases) do
    labels = for {label, _, _} <- own, do: label
    rows = for document <- documents, do: {document, ratios(cases, document.name)}
    unit = if op == :decode, do: "/b2t", else: "/t2b"
    heads = for label <- labels, column <- [unit | @others], do: head(column, label, labels)

    %{
      id: id,
      title: title,
      head: ["document", "size" | heads],
      rows: lines(rows, labels) ++ means(rows, labels),
      notes: [
        "#{unit} is the time relative to the BEAM's own format; the columns right of it are speeds relative to that library."
      ]
    }
  end

  defp head(column, label, labels) when length(labels) > 1 and label == "copied", do: column <> ", copied"
  defp head(column, _label, _labels), do: column

  defp ratios(cases, name),
    do: for(%{document: ^name} = one <- cases, into: %{}, do: {one.contender, one.ratio})

  defp lines(rows, labels) do
    for {document, ratios} <- rows do
      [document.name, Table.bytes(document.bytes)] ++
        for(cell <- cells(ratios, labels), do: Table.ratio(cell))
    end
  end

  defp cells(ratios, labels) do
    for label <- labels, other <- [nil | @others] do
      ours = ratios[label]
      theirs = ratios[other]
      if other, do: ours && theirs && theirs / ours, else: ours
    end
  end

  defp means(rows, labels) do
    columns = rows |> Enum.map(fn {_, ratios} -> cells(ratios, labels) end) |> Enum.zip_with(& &1)

    [
      ["mean", ""] ++
        for(column <- columns, do: column |> Enum.reject(&is_nil/1) |> Stats.mean() |> Table.ratio())
    ]
  end
end
