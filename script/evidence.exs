# The parts of documents that come from records: script/evidence says how to run it. A part stands between <!-- record NAME --> and
# <!-- /record -->. Figures are read from docs/records/*.tsv, which the commands write that the tables name.
for name <- ~w(rows commits full sweep mutants claims),
    do: Code.require_file("evidence.d/#{name}.exs", __DIR__)

defmodule RustyJson.Evidence do
  @moduledoc false

  import RustyJson.Evidence.Rows

  alias RustyJson.Evidence.{Claims, Commits, Full, Mutants, Sweep}

  @documents ~w(docs/evidence.md docs/verification.md docs/fuzzing.md)

  def main(arguments) when arguments in [[], ["--check"]] do
    records = Map.new(Path.wildcard("docs/records/*.tsv"), &{Path.basename(&1, ".tsv"), read(&1)})

    for document <- @documents, text = File.read!(document), new = made(text, records), new != text do
      if arguments == ["--check"], do: document, else: File.write!(document, new)
    end
    |> Enum.reject(&(&1 == :ok))
    |> outdated()

    if arguments == ["--check"], do: records |> Commits.unknown() |> refused()
  end

  def main(_arguments) do
    IO.puts(:stderr, "script/evidence takes nothing, or --check")
    System.halt(2)
  end

  defp outdated([]), do: :ok

  defp outdated(documents) do
    IO.puts(:stderr, "out of date: #{Enum.join(documents, ", ")}; run script/evidence")
    System.halt(1)
  end

  defp refused([]), do: :ok

  defp refused(lines) do
    Enum.each(lines, &IO.puts(:stderr, &1))
    System.halt(1)
  end

  # The rows of each kind.
  defp read(file) do
    file
    |> File.read!()
    |> String.split("\n", trim: true)
    |> Enum.map(&String.split(&1, "\t"))
    |> Enum.group_by(&hd/1, &tl/1)
  end

  defp made(text, records) do
    Regex.replace(~r/<!-- record (\w+) -->\n.*?<!-- \/record -->/s, text, fn _, name ->
      "<!-- record #{name} -->\n#{part(name, records)}\n<!-- /record -->"
    end)
  end

  ## Parts

  defp part("full", %{"full" => _} = records), do: Full.full(records)
  defp part("skips", %{"full" => _} = records), do: Full.skips(records)
  defp part("sweep", %{"sweep" => _} = records), do: Sweep.part(records)
  defp part("mutants", %{"mutants" => _} = records), do: Mutants.part(records)
  defp part("claims", records), do: Claims.part(records)

  defp part("enumeration", %{"enumeration" => record}) do
    [
      source(record, "enumeration"),
      "",
      "| what | most tokens | documents | comparisons, all equal | time |",
      "|---|--:|--:|--:|--:|",
      for [what, longest, _tokens, documents, comparisons, seconds] <- record["enumerated"] || [] do
        "| #{cell(what)} | #{longest} | #{number(documents)} | #{number(comparisons)} | #{time(seconds)} |\n"
      end
    ]
    |> text()
  end

  defp part("json_tests", %{"json_tests" => record}) do
    [
      source(record, "json_tests"),
      "",
      "| tests of | engine | commit | equal | different, as documented | left out |",
      "|---|---|---|--:|--:|--:|",
      for [suite, engine, commit, equal, differ, left_out] <- record["json_tests"] || [] do
        "| #{suite} | #{engine} | #{commit} | #{number(equal)} | #{differ} | #{left_out} |\n"
      end
    ]
    |> text()
  end

  defp part("fuzz", %{"fuzz" => record}) do
    [
      source(record, "fuzz"),
      "",
      "| target | commit | processor time | executions | per s | edges | features | corpus | findings |",
      "|---|---|--:|--:|--:|--:|--:|--:|--:|",
      for [target, seconds, runs, edges, features, corpus, findings, commit, date, state] <-
            Enum.sort(record["fuzz"] || []) do
        "| `#{target}` | #{commit(commit, date, state)} | #{time(seconds)} | #{number(runs)} | #{number(div(int(runs), max(int(seconds), 1)))} | " <>
          "#{Enum.map_join([edges, features, corpus, findings], " | ", &number/1)} |\n"
      end
    ]
    |> text()
  end

  defp part(name, _records), do: "No record of `#{name}` has been made."
end

RustyJson.Evidence.main(System.argv())
