defmodule RustyJson.Evidence.Sweep do
  @moduledoc false
  # What script/sweep measured.

  import RustyJson.Evidence.Rows

  def part(%{"sweep" => record} = records) do
    [
      source(record, "sweep") <> again(record),
      "",
      "| engine | input | bytes | shapes | cases | beyond the limits | of these, again by themselves | time per byte, most, relative to the VM's | bytes of memory per byte, most | time |",
      "|---|---|---|--:|--:|--:|--:|---|---|--:|",
      for {[engine, input, sizes], rows} <- swept(record) do
        beyond = for [^engine, ^input, _shape, ^sizes | _] = row <- record["beyond"] || [], do: row

        "| #{engine} | #{input} | #{sizes} | #{length(rows)} | #{rows |> total(4) |> number()} | #{total(rows, 5)} | #{length(beyond)} | #{most(rows, 9)} | " <>
          "#{most(rows, 11)} | #{rows |> total(6) |> time()} |\n"
      end,
      "",
      "| calls | cases | differ, are late, or hold a scheduler |",
      "|---|--:|--:|",
      for(
        {[input], [calls, wrong]} <- summed(record["answers"], 1),
        do: "| both engines, #{input} of 20 KB | #{number(calls)} | #{wrong} |\n"
      ),
      for(
        {[engine, input], [calls, wrong]} <- summed(record["deadlines"], 2),
        do: "| #{engine}, #{input} of 5 MB, deadline | #{number(calls)} | #{wrong} |\n"
      ),
      for(
        {[engine, input], [rows, held]} <- summed(record["rows"], 2),
        do: "| #{engine}, rows of calls with a #{input} of 300 bytes to 60 KB | #{number(rows)} | #{held} |\n"
      ),
      for([kind | rest] <- record["wrong"] || [], do: wrong(kind, rest, records["sweep_reasons"])),
      "",
      "| beyond the limits | in | cases | shapes | time per byte, most | in a large heap, most | reductions per byte, most | own turn, most | why |",
      "|---|---|--:|---|--:|--:|--:|--:|---|",
      for {{call, engine, why}, rows} <- beyond(record, records["sweep_reasons"]) do
        shapes = rows |> Enum.map(&Enum.at(&1, 2)) |> Enum.uniq() |> Enum.join(", ")
        figures = Enum.map_join(6..9, " | ", &largest(rows, &1))
        "| `#{call}` | #{engine} | #{length(rows)} | #{shapes} | #{figures} | #{why} |\n"
      end
    ]
    |> text()
  end

  def result(%{"sweep" => record}) do
    rows = record |> swept() |> Enum.flat_map(&elem(&1, 1))

    "#{rows |> total(4) |> number()} cases, #{total(rows, 5)} beyond the limits, #{length(record["beyond"] || [])} of them also when measured by themselves; " <>
      "#{kept(record["deadlines"], 2)} deadlines missed; #{kept(record["answers"], 1)} answers of the engines different" <>
      "#{if record["note"], do: "; not whole, see verification"} (#{commit(record)})"
  end

  # Of a shape that was measured again, the last row counts.
  defp swept(record) do
    (record["shape"] || [])
    |> Map.new(&{Enum.take(&1, 4), &1})
    |> Map.values()
    |> Enum.group_by(fn [engine, input, _shape, sizes | _] -> [engine, input, sizes] end)
    |> Enum.sort(:desc)
  end

  # "1 of 63,153": the wrong ones of all, of rows that have their numbers behind so many names.
  defp kept(rows, names) do
    counts = for {_names, counts} <- summed(rows, names), do: counts
    [all, wrong] = for at <- [0, 1], do: counts |> Enum.map(&Enum.at(&1, at)) |> Enum.sum()
    "#{wrong} of #{number(all)}"
  end

  # An answer that is not the same in both engines.
  defp wrong("answers", [input, what], reasons) do
    [_, module, name, arity, shape, way] =
      Regex.run(~r/\A\{\{(\S+), :(\w+), (\d+)\}, :(\w+), (\[.*?\]), \{/, what)

    call = "#{module}.#{name}/#{arity} #{way}"
    reason = why(["both", input, shape, "", call, "", "", "9", "", "9"], reasons)
    "\nThe answer of `#{call}` to the #{input} `#{shape}` was another one in each engine. #{reason}\n"
  end

  defp wrong(kind, rest, _reasons), do: "\nWrong in #{kind}: #{rest |> Enum.join(", ") |> cell()}\n"

  # Rows of the same name, from runs of different shapes, as one.
  defp summed(rows, names) do
    (rows || [])
    |> Enum.group_by(&Enum.take(&1, names), &Enum.drop(&1, names))
    |> Enum.sort()
    |> Enum.map(fn {name, counts} ->
      {name, counts |> Enum.zip_with(fn column -> column |> Enum.map(&int/1) |> Enum.sum() end)}
    end)
  end

  defp total(rows, at),
    do:
      rows
      |> Enum.map(&(&1 |> Enum.at(at) |> Float.parse() |> elem(0)))
      |> Enum.sum()
      |> round()
      |> Integer.to_string()

  defp most(rows, at) do
    row = Enum.max_by(rows, &(&1 |> Enum.at(at) |> Float.parse() |> elem(0)))
    "#{Enum.at(row, at)}: `#{row |> Enum.at(at + 1) |> cell()}`, #{Enum.at(row, 2)}"
  end

  defp beyond(record, reasons) do
    (record["beyond"] || [])
    |> Enum.group_by(fn [engine, _input, _shape, _sizes, call | _] = row ->
      {call |> String.split(" ") |> hd(), engine, why(row, reasons)}
    end)
    |> Enum.sort()
  end

  # The first line whose patterns fit.
  defp why([engine, _input, shape, _sizes, call | figures], reasons) do
    Enum.find_value(reasons["reason"] || [], collected(figures), fn [engines, calls, shapes, reason] ->
      if fits?(engine, engines) and fits?(call, calls) and fits?(shape, shapes), do: reason
    end)
  end

  # The limits are those of the sweep.
  defp collected([_faults, _growth, roomy, _reductions, own]) do
    if float(roomy) <= 1.5 and float(own) < 5.0,
      do: "Collections of the VM: in a large heap, and in its own turns, it keeps to the limits.",
      else: "Not examined."
  end

  defp float(text), do: text |> Float.parse() |> elem(0)

  defp fits?(text, patterns), do: patterns |> String.split("|") |> Enum.any?(&like?(text, &1))

  # The largest figure of some rows, as far as they have it.
  defp largest(rows, at) do
    case for row <- rows, text = Enum.at(row, at), {figure, _} <- [Float.parse(text)], do: figure do
      [] -> ""
      figures -> "#{Enum.max(figures)}"
    end
  end

  defp again(record) do
    Enum.map_join(record["again"] || [], fn [commit, _date, shapes] ->
      " Measured again on #{String.slice(commit, 0, 7)}: #{shapes}."
    end)
  end
end
