defmodule RustyJson.Bench.Sections.Counts do
  @moduledoc """
  Instructions of the core, counted by callgrind on a fixed set of documents: a regression shows on a noisy machine too.
  `bench/rust/instructions.json` has the counts of the last version; `RUSTYJSON_BENCH_BASELINE=write` writes them anew.
  """

  alias RustyJson.Bench.{Corpus, Documents, RustTools, Shapes, Table}

  @baseline "instructions.json"

  @spec run(map()) :: map()
  def run(%{test: true}), do: %{}

  def run(context) do
    with {:ok, _} <- RustTools.cargo(~w(build --release --bin count), [], context.say),
         {:ok, _} <- RustTools.run("valgrind", ["--version"]) do
      report(context)
    else
      {:error, why} -> %{notes: ["skipped: instruction counts: #{why}"]}
    end
  end

  defp program, do: Path.join([RustTools.target(), "release", "count"])

  defp documents do
    [
      settlement: Shapes.settlement(100_000),
      records: Documents.records(600),
      geojson: Documents.geojson(76),
      api_response: Documents.api_response(75),
      log: Shapes.log(),
      wide: Documents.wide(1_000),
      deep: Documents.deep(100)
    ]
  end

  defp report(context) do
    baseline = baseline()

    rows =
      for {name, json} <- documents(), op <- ["decode", "encode"] do
        context.say.("callgrind: #{op} #{name}")
        count = count(op, Corpus.made("count-#{name}", json).file)
        {"#{op} #{name}", byte_size(json), count, baseline["#{op} #{name}"]}
      end

    if System.get_env("RUSTYJSON_BENCH_BASELINE") == "write", do: write(rows)
    %{tables: [table(rows)]}
  end

  # The instructions of one more call.
  defp count(op, file) do
    [one, three] = for times <- ["1", "3"], do: instructions([program(), op, file, times])
    div(three - one, 2)
  end

  defp instructions(command) do
    {:ok, output} =
      RustTools.run("valgrind", ["--tool=callgrind", "--callgrind-out-file=/dev/null" | command])

    [_, count] = Regex.run(~r/Collected : (\d+)/, output)
    String.to_integer(count)
  end

  defp baseline do
    case File.read(Path.join(RustTools.dir(), @baseline)) do
      {:ok, json} -> RustyJson.decode!(json, engine: :native)
      {:error, _} -> %{}
    end
  end

  defp write(rows) do
    counts = for {name, _, count, _} <- rows, into: %{}, do: {name, count}
    text = RustyJson.encode!(counts, pretty: true, sort_keys: true, engine: :native) <> "\n"
    File.write!(Path.join(RustTools.dir(), @baseline), text)
  end

  defp table(rows) do
    %{
      id: "instructions",
      title: "Instructions per call of the core, counted by callgrind",
      head: ["", "size", "instructions", "per byte", "baseline", "change"],
      rows:
        for {name, bytes, count, before} <- rows do
          change = if before, do: "#{Float.round((count / before - 1) * 100, 1)}%", else: "–"

          [
            name,
            Table.bytes(bytes),
            Table.count(count),
            Table.ratio(count / bytes),
            Table.count(before),
            change
          ]
        end
    }
  end
end
