defmodule RustyJson.Bench.Sections.Speed do
  @moduledoc "The standard documents: every contender compared with the BEAM's own binary format."

  alias RustyJson.Bench.{Case, Contender, Corpus, Jobs, Stats, Table}

  @large 64 * 1024

  @doc "`:fresh` makes a process for each run; `:long` keeps one, and counts its garbage collections."
  @spec run(map(), :fresh | :long) :: map()
  def run(context, mode) do
    {documents, skipped} = documents()

    measured =
      for document <- documents, op <- [:decode, :encode] do
        context.say.("#{op} #{document.name}, #{mode}")
        unless context.quick or context.test, do: Jobs.renew()
        runs = for id <- Contender.ids(), do: {id, id, []}
        {document, op, Jobs.run(context, %{op: op, input: {:json, document.file}, runs: runs, mode: mode})}
      end

    cases =
      for {document, op, answer} <- measured, do: Case.of(table_id(op, mode), document, op, mode, answer)

    cases = List.flatten(cases)
    notes = for {document, _, answer} <- measured, note <- answer.notes, do: "#{document.name}: #{note}"
    checked = Enum.sum(for {_, _, answer} <- measured, do: answer.checked)
    %{cases: cases, tables: tables(context, cases, mode), notes: skipped ++ notes, checked: checked}
  end

  defp documents do
    answers = Enum.map(Corpus.standard(), &Corpus.get/1)
    {for({:ok, document} <- answers, do: document), for({:skip, why} <- answers, do: "skipped: " <> why)}
  end

  @spec table_id(atom(), atom()) :: String.t()
  def table_id(op, :fresh), do: "#{op}"
  def table_id(op, :long), do: "#{op}-long-lived"

  ## Tables

  defp tables(%{test: true}, _cases, _mode), do: []

  defp tables(context, cases, mode) do
    for op <- [:decode, :encode],
        id <- Contender.ours(),
        own = Enum.filter(cases, &(&1.op == op and &1.contender == id)),
        own != [] do
      others =
        for other <- Contender.ids(),
            other not in [id],
            context.present[other],
            other not in hidden(id),
            do: other

      table(op, id, mode, own, others, cases)
    end
  end

  # An engine is compared with other libraries, and wasm with native.
  defp hidden("native"), do: ["built_in", "wasmex"]
  defp hidden("built_in"), do: ["wasmex"]
  defp hidden("wasmex"), do: ["built_in"]

  defp table(op, id, mode, own, others, cases) do
    unit = if op == :decode, do: "b2t", else: "t2b"

    %{
      id: "#{table_id(op, mode)}-#{id}",
      title: "#{String.capitalize("#{op}")}, #{Contender.title(id)}: #{words(mode)}",
      head:
        ["document", "size", unit, "time", "±", "MB/s", "/#{unit}"] ++
          gc_head(mode) ++ Enum.map(others, &short/1),
      rows: Enum.map(own, &row(&1, others, cases, mode)) ++ means(own, others, cases, mode),
      notes: [
        "Columns right of /#{unit}: speed relative to that library (2.0 = twice as fast)" <>
          if(id == "native",
            do: ".",
            else: ", from the ratios to #{unit} because each engine ran in its own VM."
          )
      ]
    }
  end

  defp words(:fresh), do: "a new process per run"
  defp words(:long), do: "one long-lived process, garbage collections included"

  defp gc_head(:fresh), do: []
  defp gc_head(:long), do: ["GCs"]

  @spec short(String.t()) :: String.t()
  def short("otp"), do: "OTP"
  def short("elixir"), do: "JSON"
  def short("jason"), do: "Jason"
  def short("old"), do: "0.3.10"
  def short(id), do: id

  defp row(own, others, cases, mode) do
    [
      own.document,
      Table.bytes(own.bytes),
      Table.time(own.yardstick_ns),
      Table.time(own.median_ns),
      Table.spread(%{median: own.median_ns, q1: own.q1_ns, q3: own.q3_ns}),
      Table.count(own.mb_s),
      Table.ratio(own.ratio)
    ] ++
      if(mode == :long, do: [gcs(own.collections)], else: []) ++
      for(other <- others, do: Table.ratio(beside(own, other, cases)))
  end

  defp gcs(n) when n < 10, do: :erlang.float_to_binary(n / 1, decimals: 2)
  defp gcs(n), do: Table.count(n)

  defp beside(own, other, cases) do
    case find(cases, own, other) do
      nil -> nil
      theirs -> theirs.ratio / own.ratio
    end
  end

  defp find(cases, own, id),
    do: Enum.find(cases, &(&1.op == own.op and &1.document == own.document and &1.contender == id))

  defp means(own, others, cases, mode) do
    large = Enum.filter(own, &(&1.bytes >= @large))

    for {label, rows} <- [{"mean", own}, {"mean ≥ 64 KB", large}], rows != [] do
      summary(label, rows, others, cases, mode, &Stats.mean/1)
    end ++
      [
        summary(
          "worst",
          own,
          others,
          cases,
          mode,
          fn list -> if(list != [], do: Enum.max(list)) end,
          &worst/1
        )
      ]
  end

  # The document on which a rival comes closest.
  defp worst([]), do: nil
  defp worst(list), do: Enum.min(list)

  defp summary(label, rows, others, cases, mode, fun, fun_others \\ nil) do
    ratios = for own <- rows, do: own.ratio

    beside =
      for other <- others do
        values = for own <- rows, value = beside(own, other, cases), do: value
        Table.ratio((fun_others || fun).(values))
      end

    [label, "", "", "", "", "", Table.ratio(fun.(ratios))] ++ if(mode == :long, do: [""], else: []) ++ beside
  end
end
