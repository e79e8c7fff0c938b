defmodule RustyJson.Bench.Bar do
  @moduledoc "The goals of the project, and whether a run meets them."

  alias RustyJson.Bench.{Stats, Table}

  @large 64 * 1024

  # Contender, direction, least size of a document, mean, worst.
  @goals [
    {"native", :decode, 0, 0.95, 1.3},
    {"native", :encode, 0, 1.0, 1.4},
    {"built_in", :decode, @large, 1.6, 2.4},
    {"built_in", :encode, @large, 2.2, 3.0}
  ]

  @doc "A row for each goal that the run measured."
  @spec table(map()) :: Table.t()
  def table(result) do
    fresh = Enum.filter(result.cases, &(&1.mode == :fresh and &1.table in ["decode", "encode"]))

    rows = [
      goals(fresh),
      old(fresh),
      rivals(fresh),
      small(fresh),
      wasm_and_old(fresh),
      others(result)
    ]

    %{
      id: "bar",
      title: "Goals",
      head: ["what", "goal", "here", "met"],
      rows: for(row <- List.flatten(rows), row != nil, do: cells(row)),
      notes: [],
      chart: nil
    }
  end

  defp cells(%{what: what, goal: goal, here: here, met: met}),
    do: [what, goal, here, if(met, do: "yes", else: "NO")]

  defp goals(cases) do
    for {id, op, size, mean, worst} <- @goals,
        ratios = for(c <- of(cases, id, op), c.bytes >= size, do: c.ratio),
        ratios != [] do
      [here, most] = [Stats.mean(ratios), Enum.max(ratios)]

      what =
        "#{id} #{op} / #{yardstick(op)}, mean (worst)#{if size > 0, do: ", ≥ 64 KB"}, #{length(ratios)} documents"

      row(
        what,
        "#{mean} (#{worst})",
        "#{Table.ratio(here)} (#{Table.ratio(most)})",
        here <= mean and most <= worst
      )
    end
  end

  defp yardstick(:decode), do: "b2t"
  defp yardstick(:encode), do: "t2b"

  defp of(cases, id, op), do: Enum.filter(cases, &(&1.contender == id and &1.op == op))

  # The rival's time relative to RustyJson's, by document.
  defp beside(cases, ours, theirs, op, least) do
    for own <- of(cases, ours, op),
        own.bytes >= least,
        other <- of(cases, theirs, op),
        other.document == own.document,
        do: {own.document, other.ratio / own.ratio}
  end

  defp old(cases) do
    for op <- [:decode, :encode], pairs = beside(cases, "native", "old", op, 0), pairs != [] do
      mean = Stats.mean(for {_, lead} <- pairs, do: lead)
      row("native #{op} beside RustyJson 0.3.10, mean", "3.00×", Table.ratio(mean) <> "×", mean >= 3)
    end
  end

  defp rivals(cases) do
    for op <- [:decode, :encode],
        {id, title} <- titles(cases),
        pairs = beside(cases, "native", id, op, 1_000),
        pairs != [] do
      {document, least} = Enum.min_by(pairs, &elem(&1, 1))
      here = "#{Table.ratio(least)}× (#{document})"
      row("native #{op} beside #{title}, nearest of ≥ 1 KB", "> 1×", here, least > 1)
    end
  end

  defp titles(cases) do
    for %{contender: id, title: title} <- cases,
        id not in ["native", "built_in", "wasmex"],
        uniq: true,
        do: {id, title}
  end

  defp small(cases) do
    for op <- [:decode, :encode],
        native <- of(cases, "native", op),
        native.document == "object35" do
      others =
        for c <- cases, c.op == op, c.document == "object35", {c.contender, c.title} in titles(cases), do: c

      [first(native, op, others), wasm_call(cases, native, op)]
    end
  end

  defp first(_native, _op, []), do: nil

  defp first(native, op, others) do
    best = Enum.min_by(others, & &1.ratio)
    here = "#{Table.time(native.median_ns)}, #{best.title} #{Table.time(best.median_ns)}"
    row("35 bytes, native #{op}: no slower than any library", "first", here, native.ratio <= best.ratio)
  end

  defp wasm_call(cases, native, op) do
    case Enum.find(of(cases, "built_in", op), &(&1.document == "object35")) do
      nil ->
        nil

      wasm ->
        more = wasm.median_ns - native.median_ns

        row(
          "35 bytes, wasm #{op} more than native, instance kept",
          "≤ 1 µs",
          Table.time(max(more, 0)),
          more <= 1_000
        )
    end
  end

  defp wasm_and_old(cases) do
    pairs = beside(cases, "built_in", "old", :decode, @large)

    if pairs != [] do
      {document, least} = Enum.min_by(pairs, &elem(&1, 1))
      mean = Stats.mean(for {_, lead} <- pairs, do: lead)
      here = "#{Table.ratio(mean)}× (#{Table.ratio(least)}×, #{document})"
      row("wasm decode beside RustyJson 0.3.10's native, ≥ 64 KB, mean (nearest)", "1.50×", here, mean >= 1.5)
    end
  end

  # Goals that other sections check.
  defp others(result), do: result |> Map.get(:goals, [])

  @doc "A row of this table."
  @spec row(String.t(), String.t(), String.t(), boolean()) :: map()
  def row(what, goal, here, met), do: %{what: what, goal: goal, here: here, met: met}
end
