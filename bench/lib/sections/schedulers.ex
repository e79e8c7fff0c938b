defmodule RustyJson.Bench.Sections.Schedulers do
  @moduledoc "Fairness: longest runs, throughput with many processes, normal and dirty schedulers."

  alias RustyJson.Bench.{Bar, Contender, Corpus, Documents, Grid, Jobs, Load, Shapes, Table}

  @processes [1, 2, 8, 50]

  @doc "The longest run on a normal scheduler."
  @spec fairness(map()) :: map()
  def fairness(context) do
    bytes = if context.test, do: 300_000, else: 10_000_000
    document = Corpus.made("fairness", {Shapes, :settlement, [bytes]})

    rows =
      for op <- [:encode, :decode], id <- Contender.ids(), context.present[id] do
        context.say.("fairness: #{op}, #{id}")
        times = if context.test, do: 1, else: 5
        {op, id, Jobs.in_vm(Contender.side(id), Load, :longest, [id, op, document.file, times])}
      end

    %{
      cases: [],
      tables: if(context.test, do: [], else: [fairness_table(rows)]),
      notes: for({op, id, {:error, why}} <- rows, do: "fairness, #{op}, #{id} is left out: #{why}"),
      goals: Enum.flat_map(rows, &silent/1),
      checked: length(rows)
    }
  end

  defp fairness_table(rows) do
    %{
      id: "fairness",
      title: "One call on a 10 MB document: longest time on a normal scheduler, and reductions",
      head: ["", "longest", "reductions"],
      rows:
        for {op, id, {:ok, {longest, reductions}}} <- rows do
          [
            "#{op}, #{id}",
            if(longest == 0, do: "under 1 ms", else: "#{longest} ms"),
            Table.count(reductions)
          ]
        end,
      notes: [
        "Reported by :erlang.system_monitor(self(), [{:long_schedule, 1}]). RustyJson charges the time in native code to " <>
          "the process as reductions."
      ],
      chart: nil
    }
  end

  defp silent({op, id, {:ok, {longest, _}}}) do
    here = if longest == 0, do: "under 1 ms", else: "#{longest} ms"
    goal? = id in Contender.ours()

    if goal?,
      do: [Bar.row("10 MB #{op}, #{id}: longest run on a normal scheduler", "1 ms", here, longest <= 1)],
      else: []
  end

  defp silent(_), do: []

  @doc "Throughput and latency with 1, 2, 8 and 50 processes."
  @spec load(map()) :: map()
  def load(context) do
    documents = [
      Corpus.made("records1", {Documents, :records, [6]}),
      Corpus.made("records40", {Documents, :records, [40]})
    ]

    rows =
      for document <- documents,
          op <- [:encode, :decode],
          id <- Contender.ids(),
          context.present[id] do
        context.say.("load: #{op} #{document.name}, #{id}")

        {"#{op} #{Table.bytes(document.bytes)}, #{id}", loads(context, id, [], op, document.file)}
      end

    tables = [load_table("load", "Throughput and latency by the number of processes", rows)]

    %{
      cases: [],
      tables: if(context.test, do: [], else: tables),
      notes: [],
      goals: scaling(context, rows),
      checked: length(rows)
    }
  end

  defp loads(context, id, opts, op, file) do
    for processes <- @processes, into: %{} do
      milliseconds = if context.test, do: 5, else: min(context.budget, 1_000)
      arguments = [id, opts, op, file, processes, milliseconds]

      case Jobs.in_vm(Contender.side(id), Load, :run, arguments) do
        {:ok, answer} -> {processes, answer}
        {:error, _} -> {processes, nil}
      end
    end
  end

  defp load_table(id, title, rows) do
    %{
      id: id,
      title: title <> ": thousands of calls per second, then the 99th percentile of the call's time",
      head: [""] ++ Enum.map(@processes, &"#{&1}") ++ Enum.map(@processes, &"p99 #{&1}"),
      rows:
        for {label, answers} <- rows do
          calls =
            for n <- @processes,
                do: with(%{calls: calls} <- answers[n], do: Table.digits(calls / 1_000)) || "–"

          p99 = for n <- @processes, do: Table.time(answers[n] && answers[n].p99)
          [label] ++ calls ++ p99
        end,
      notes: [],
      chart: %{
        unit: "calls / s",
        series: Enum.map(@processes, &"#{&1} processes"),
        rows:
          for {label, answers} <- rows do
            {label, Map.new(@processes, &{"#{&1} processes", answers[&1] && answers[&1].calls})}
          end
      }
    }
  end

  # With as many processes as schedulers, or more, throughput should grow with the schedulers.
  defp scaling(%{test: true}, _rows), do: []

  defp scaling(_context, rows) do
    cores = System.schedulers_online()

    for {label, %{1 => %{calls: one}, 50 => %{calls: fifty}}} <- rows,
        String.ends_with?(label, ", native") do
      goal = Table.ratio(cores * 0.8)

      Bar.row(
        "50 processes / 1 process, #{label}, #{cores} schedulers",
        "≥ #{goal}×",
        "#{Table.ratio(fifty / one)}×",
        fifty / one >= cores * 0.8
      )
    end
  end

  @doc "Normal and dirty schedulers, in the published form."
  @spec dirty(map()) :: map()
  def dirty(context) do
    sizes = [
      {"1 KB", {Documents, :records, [6]}, ["9 µs", "62 µs"]},
      {"10 KB", {Documents, :records, [62]}, ["177 µs", "136 µs"]},
      {"5 MB", {Shapes, :settlement, [if(context.test, do: 50_000, else: 5_000_000)]}, ["43 ms", "43 ms"]}
    ]

    encode = [
      {"normal", "native", [scheduler: :normal]},
      {"dirty", "native", [scheduler: :dirty]},
      {"native", "native", []}
    ]

    decode = [
      {"normal", "native", [dirty_threshold: 0]},
      {"dirty", "native", [dirty_threshold: 1]},
      {"native", "native", []}
    ]

    rows =
      for {label, source, published} <- sizes, {op, runs} <- [encode: encode, decode: decode] do
        file = Corpus.made("scheduler-#{String.replace(label, " ", "")}", source).file
        {"#{op} #{label}", op, {:json, file}, runs, if(op == :encode, do: published, else: ["", ""])}
      end

    table =
      Grid.run(context, %{
        id: "dirty",
        title: "Normal and dirty schedulers",
        rows: rows,
        columns: [{"normal", "normal"}, {"dirty", "dirty"}, {"native", "default"}],
        extra: [{"dirty / normal", fn results -> Table.ratio(Grid.quotient(results, "dirty", "normal")) end}],
        published: ["normal", "dirty"]
      })

    Grid.join([table, dirty_load(context)])
  end

  defp dirty_load(context) do
    file = Corpus.made("scheduler-1KB", {Documents, :records, [6]}).file

    rows =
      for op <- [:encode, :decode], kind <- [:normal, :dirty], context.present["native"] do
        opts =
          if op == :encode, do: [scheduler: kind], else: [dirty_threshold: if(kind == :dirty, do: 1, else: 0)]

        {"#{op} 1 KB, #{kind}", loads(context, "native", opts, op, file)}
      end

    table = load_table("dirty-load", "Normal and dirty schedulers by the number of processes", rows)

    note =
      "RustyJson 0.3 published: with 50 processes, normal schedulers had 1.7 times the throughput of dirty ones " <>
        "(encode) and 2.2 times (decode)."

    tables = if context.test, do: [], else: [%{table | notes: [note]}]
    %{cases: [], tables: tables, notes: [], checked: length(rows)}
  end
end
