defmodule RustyJson.Bench.Report do
  @moduledoc "Writes `bench/results/REPORT.md`: every table of the newest result files, by subject."

  alias RustyJson.Bench.Docs

  # A heading, a sentence about it, and the tables by machine and id.
  @sections [
    {"Standard documents, native engine", "", "otp29", ~w(decode-native encode-native)},
    {"Standard documents, sandbox with the built-in host", "", "otp29", ~w(decode-built_in encode-built_in)},
    {"Standard documents, sandbox with wasmex", "", "otp29", ~w(decode-wasmex encode-wasmex)},
    {"Long-lived processes",
     "One process per contender keeps its heap. Its garbage collections are part of the time, and the term to encode is on its heap.",
     "otp29",
     ~w(decode-long-lived-native encode-long-lived-native decode-long-lived-built_in encode-long-lived-built_in
        decode-long-lived-wasmex encode-long-lived-wasmex)},
    {"Copied strings, and documents made from another seed", "", "otp29",
     ~w(decode-copied decode-seed encode-seed)},
    {"Relative to the BEAM's own format", "", "otp29", ~w(beside-the-beam)},
    {"Small calls, and what the sandbox adds", "", "otp29", ~w(calls sandbox-cost)},
    {"Encoding structs", "", "otp29", ~w(structs)},
    {"Memory", "", "otp29", ~w(memory pinned)},
    {"The Rust core alone", "", "otp25", ~w(rust-decode rust-encode instructions)},
    {"Optimizations that were tried", "", "experiments",
     ~w(experiments experiments-2 experiments-3 experiments-4 experiments-5 instruction-sets)}
  ]

  @doc "The text of the report, for a page with this path."
  @spec text(Path.t(), Path.t()) :: String.t()
  def text(page, dir) do
    sections = for section <- @sections, do: section(section, page, dir)

    """
    # Every table of the benchmarks

    `script/bench --docs` writes this page from the newest result files in this folder; `script/test` fails when it is
    out of date. [docs/performance.md](../../docs/performance.md) has the tables that most readers need, and says how
    the figures were measured.

    #{Enum.join(sections ++ [rest(page, dir)], "\n")}
    """
    |> String.replace(~r/\n{3,}/, "\n\n")
    |> String.trim_trailing()
    |> Kernel.<>("\n")
  end

  defp section({heading, words, machine, ids}, page, dir) do
    tables = for id <- ids, {file, result, table} <- [Docs.find(dir, machine, id)], do: {file, result, table}
    chapter(heading, words, tables, page)
  end

  # Tables that no section names, so that no new table is lost. Older files have a table of goals.
  defp rest(page, dir) do
    named = for {_, _, machine, ids} <- @sections, id <- ids, do: {machine, id}

    tables =
      for machine <- ["otp29", "otp25"],
          file <- dir |> Path.join("*#{machine}*.json") |> Path.wildcard(),
          %{"id" => id} <- Docs.read(file)["tables"],
          {machine, id} not in named and id != "bar",
          uniq: true,
          do: Docs.find(dir, machine, id)

    chapter("More tables", "", Enum.uniq(tables), page)
  end

  defp chapter(_heading, _words, [], _page), do: ""

  defp chapter(heading, words, tables, page) do
    tables = for {file, result, table} <- tables, do: Docs.table(table, file, result, page)
    Enum.join(["## #{heading}", words | tables], "\n\n") <> "\n"
  end
end
