defmodule RustyJson.Evidence.Mutants do
  @moduledoc false
  # Changed sources, and whether a test noticed.

  import RustyJson.Evidence.Rows

  def part(%{"mutants" => record} = records) do
    reasons = records["mutants_reasons"]
    rows = Enum.sort(record["mutants"] || [])

    [
      source(record, "mutants"),
      "",
      "| file | commit | changes | caught | ended by a limit of time or memory | missed | of these explained | did not compile | processor time per change |",
      "|---|---|--:|--:|--:|--:|--:|--:|--:|",
      for [file, _, _, _, _, unviable, seconds, commit, date, state | again] = row <- rows do
        [tried | _] = counts = mutants([row], record, reasons)

        "| `#{file}` | #{commit(commit, date, state)}#{tried_again(again)} | #{Enum.map_join(counts, " | ", &number/1)} | #{number(unviable)} | " <>
          "#{per_change(seconds, tried + int(unviable))} |\n"
      end,
      "| all | | #{rows |> mutants(record, reasons) |> Enum.map_join(" | ", &number/1)} | | |",
      not_changed_yet(rows),
      "",
      "| missed | change | in the line | why |",
      "|---|---|---|---|",
      for [file, place, what, line] <- record["missed"] || [] do
        "| `#{file}:#{place}` | #{what |> cell() |> code()} | #{line |> cell() |> code()} | #{unnoticed(file, what, line, reasons) || "**Open.**"} |\n"
      end
    ]
    |> text()
  end

  def result(%{"mutants" => %{"mutants" => rows} = record} = records) do
    [tried, _caught, _ended, missed, explained] = mutants(rows, record, records["mutants_reasons"])
    dates = for row <- rows, do: Enum.at(row, 8)

    "#{length(rows)} of #{length(rows ++ not_changed(rows))} files changed: #{number(tried - missed)} of #{number(tried)} changes noticed " <>
      "(#{Float.round(100 * (tried - missed) / max(tried, 1), 1)} %), #{missed} missed, of these #{explained} explained (#{Enum.min(dates)} to #{Enum.max(dates)})"
  end

  # Changes, those that were caught, ended by a limit, missed, and missed with a reason.
  defp mutants(rows, record, reasons) do
    files = Enum.map(rows, &hd/1)

    explained =
      Enum.count(record["missed"] || [], fn [file, _, what, line] ->
        file in files and unnoticed(file, what, line, reasons)
      end)

    [tried, caught, missed, ended] =
      for at <- 1..4, do: rows |> Enum.map(&(&1 |> Enum.at(at) |> int())) |> Enum.sum()

    [tried, caught, ended, missed, explained]
  end

  defp tried_again([commit]), do: "; missed ones again on #{String.slice(commit, 0, 7)}"
  defp tried_again([]), do: ""

  # A run that was interrupted has not measured it.
  defp per_change("unknown", _count), do: ""
  defp per_change(seconds, count), do: "#{Float.round(int(seconds) / max(count, 1), 1)} s"

  # The first line whose patterns fit.
  defp unnoticed(file, what, line, reasons) do
    Enum.find_value(reasons["reason"] || [], fn [files, changes, lines, reason] ->
      if like?(file, files) and like?(what, changes) and like?(line, lines), do: reason
    end)
  end

  defp not_changed(rows) do
    [_, list] = Regex.run(~r/^usual_files=\((.*?)\)$/ms, File.read!("script/mutants"))
    files = for pattern <- String.split(list), file <- Path.wildcard(pattern), do: file
    Enum.sort(files) -- Enum.map(rows, &hd/1)
  end

  defp not_changed_yet(rows) do
    case length(not_changed(rows)) do
      0 -> ""
      count -> "\n#{count} other files that `script/mutants` lists were not changed yet."
    end
  end
end
