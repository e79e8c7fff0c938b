defmodule RustyJson.Bench.Sections.Counts do
  @moduledoc """
  Instructions of the core, counted by callgrind on a fixed set of documents: a regression shows on a noisy machine too.
  `bench/rust/instructions.json` has the counts of the last version; `RUSTYJSON_BENCH_BASELINE=write` writes them anew.
  """

  alias RustyJson.Bench.{Bar, Corpus, Documents, RustTools, Shapes, Table}

  # A larger increase of instructions is a regression.
  @allowed 0.02
  @baseline "instructions.json"

  @spec run(map()) :: map()
  def run(%{test: true}), do: %{}

  def run(context) do
    with {:ok, _} <- RustTools.cargo(~w(build --release --bin count), [], context.say),
         {:ok, level} <- RustTools.run(program(), ["level"]),
         {:ok, _} <- RustTools.run("valgrind", ["--version"]) do
      report(context, String.trim(level))
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

  defp report(context, level) do
    baseline = baseline()

    rows =
      for {name, json} <- documents(), op <- ["decode", "encode"] do
        context.say.("callgrind: #{op} #{name}")
        count = count(op, Corpus.made("count-#{name}", json).file)
        {"#{op} #{name}", byte_size(json), count, baseline["#{op} #{name}"]}
      end

    if System.get_env("RUSTYJSON_BENCH_BASELINE") == "write", do: write(rows)
    %{tables: [table(rows), cpu(level)], goals: goals(rows)}
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
        end,
      chart: %{
        unit: "instructions / byte",
        series: ["core"],
        rows: for({name, bytes, count, _} <- rows, do: {name, %{"core" => count / bytes}})
      }
    }
  end

  defp goals(rows) do
    changes = for {name, _, count, before} <- rows, before, do: {name, count / before}

    if changes == [] do
      []
    else
      {name, worst} = Enum.max_by(changes, &elem(&1, 1))
      here = "#{Float.round((worst - 1) * 100, 1)}% (#{name})"
      [Bar.row("instructions, most over the baseline", "≤ 2%", here, worst <= 1 + @allowed)]
    end
  end

  ## Instruction sets

  # valgrind emulates a processor without AVX-512, so the program chooses other instructions there.
  defp cpu(level) do
    {:ok, output} = RustTools.run("valgrind", ["--tool=none", "-q", program(), "level"])
    emulated = output |> String.split("\n", trim: true) |> List.last()
    {:ok, native} = {:ok, native_level()}

    %{
      id: "cpu",
      title: "Instruction set chosen at run time",
      head: ["", "has", "chosen"],
      rows: [
        ["core, this processor", flags(), level],
        ["core, valgrind's processor", "sse4_2 avx2", emulated],
        ["native library in the BEAM", flags(), native],
        ["WebAssembly guest", "simd128", "simd128, when compiled"]
      ]
    }
  end

  defp native_level do
    case apply(RustyJson, :engine_info, []).engines[:native] do
      {:ok, info} -> to_string(info[:simd])
      _ -> "–"
    end
  end

  defp flags do
    case File.read("/proc/cpuinfo") do
      {:ok, text} ->
        ~w(sse4_2 avx2 avx512f avx512bw asimd) |> Enum.filter(&(text =~ ~r/\b#{&1}\b/)) |> Enum.join(" ")

      {:error, _} ->
        "?"
    end
  end
end
