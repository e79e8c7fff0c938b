defmodule RustyJson.Bench.Compare do
  @moduledoc "Compares a run with an older result file."

  alias RustyJson.Bench.Table

  # Smaller differences are noise, and so are those within the middle halves of both runs.
  @noise 0.05

  @doc "Prints the ratios, old / new. Returns 1 if RustyJson became slower anywhere, or has no case in both."
  @spec print(map(), Path.t()) :: 0 | 1
  def print(result, file) do
    old = file |> File.read!() |> RustyJson.decode!(engine: :native)
    before = Map.new(old["cases"], &{key(&1["table"], &1["document"], &1["contender"]), &1})

    pairs =
      for new <- result.cases, found = before[key(new.table, new.document, new.contender)], do: {found, new}

    IO.puts(Table.text(table(pairs, Path.basename(file))))
    for warning <- warnings(old, result, pairs), do: IO.puts(warning)
    ours = for {_old, new} = pair <- pairs, ours?(new), do: pair
    if ours == [], do: IO.puts("no case of RustyJson is in both")
    if ours == [] or Enum.any?(ours, fn {old, new} -> slower?(old, new) end), do: 1, else: 0
  end

  defp key(table, document, contender), do: {to_string(table), document, contender}
  defp ours?(new), do: new.contender in RustyJson.Bench.Contender.ours()

  defp table(pairs, name) do
    rows =
      for {old, new} <- pairs, ours?(new) do
        mark = if slower?(old, new), do: "SLOWER", else: ""
        before = [Table.time(old["median_ns"]), Table.ratio(old["ratio"])]
        now = [Table.time(new.median_ns), Table.ratio(new.ratio)]

        ["#{new.table} #{new.document}, #{new.contender}"] ++
          before ++ now ++ [Table.ratio(old["ratio"] / new.ratio), mark]
      end

    %{
      id: "compare",
      title: "Compared with #{name}",
      head: ["case", "before", "/yard", "now", "/yard", "faster ×", ""],
      rows: rows,
      notes: ["From the ratios to the BEAM's own format, which vary less between machines."]
    }
  end

  defp slower?(old, new) do
    new.ratio > old["ratio"] * (1 + @noise) and new.ratio_q1 > old["ratio_q3"]
  end

  defp warnings(old, result, pairs) do
    machine =
      if old["machine"]["name"] != result.machine.name,
        do: ["another machine: #{old["machine"]["name"]}"],
        else: []

    digests =
      for {old, new} <- pairs,
          old["sha256"] != new.sha256,
          uniq: true,
          do: "another document: #{new.document}"

    machine ++ digests
  end
end
