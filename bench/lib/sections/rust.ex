defmodule RustyJson.Bench.Sections.Rust do
  @moduledoc "The core by itself: criterion's figures of `bench/rust`, next to other Rust libraries."

  alias RustyJson.Bench.{Corpus, Measure, RustTools, Shapes, Table}

  @who ["core", "guest in wasmtime", "serde_json", "simd-json", "sonic-rs"]

  @spec run(map()) :: map()
  def run(context) do
    documents = documents(context)
    dir = RustTools.documents("rust", documents)
    answer = RustTools.cargo(arguments(context), environment(context, dir), context.say)
    report(context, documents, answer)
  end

  defp documents(%{test: true}), do: [{"log", Shapes.log()}, {"deep100", File.read!(get("deep100"))}]

  defp documents(_context) do
    standard = for name <- Corpus.standard(), file = get(name), do: {name, File.read!(file)}
    [{"log", Shapes.log()} | standard]
  end

  defp get(name) do
    case Corpus.get(name) do
      {:ok, document} -> document.file
      {:skip, _} -> nil
    end
  end

  # As tests, the benches run once. They build faster, without optimisation.
  defp arguments(%{test: true}), do: ~w(test --benches)

  defp arguments(context) do
    {warm_up, measurement} = if context.quick, do: {"0.1", "0.3"}, else: {"0.5", "2"}

    options =
      ~w(--noplot --warm-up-time #{warm_up} --measurement-time #{measurement} --sample-size #{if context.quick, do: 10, else: 40})

    ~w(bench --bench core --features wasm -- ) ++ options
  end

  # The other libraries choose their instructions at compile time, so all are compiled for this machine.
  defp environment(context, dir) do
    guest =
      System.get_env("RUSTYJSON_BENCH_GUEST") ||
        Path.expand("../../priv/wasm/rustyjson.wasm", RustTools.dir())

    flags = if context.test, do: [], else: [{"RUSTFLAGS", "-Ctarget-cpu=native"}]
    [{"RUSTYJSON_BENCH_DOCUMENTS", dir}, {"RUSTYJSON_BENCH_GUEST", guest} | flags]
  end

  ## Report

  defp report(%{test: true}, documents, {:ok, _output}), do: %{checked: length(documents)}
  defp report(_context, _documents, {:error, why}), do: %{notes: ["skipped: Rust benches: #{why}"]}

  defp report(_context, documents, {:ok, _output}) do
    cases =
      for op <- [:decode, :encode],
          {name, text} <- documents,
          who <- @who,
          found = found(op, name, who, text),
          do: found

    %{cases: cases, tables: for(op <- [:decode, :encode], do: table(op, documents, cases))}
  end

  defp found(op, name, who, text) do
    label = if who == "core", do: %{decode: "core to ETF", encode: "core from ETF"}[op], else: who
    # The folder names that criterion uses.
    file = Path.join([RustTools.target(), "criterion", "#{op}_#{name}", label, "new", "estimates.json"])

    with {:ok, json} <- File.read(file), %{"median" => median} <- RustyJson.decode!(json, engine: :native) do
      interval = median["confidence_interval"]
      ns = median["point_estimate"]

      %{
        table: "rust-#{op}",
        document: name,
        sha256: Measure.sha256(text),
        bytes: byte_size(text),
        op: op,
        mode: :criterion,
        contender: who,
        title: who,
        median_ns: ns,
        q1_ns: interval["lower_bound"],
        q3_ns: interval["upper_bound"],
        mb_s: byte_size(text) / ns * 1_000,
        # There is no yardstick here, so the times themselves are compared.
        ratio: ns,
        ratio_q1: interval["lower_bound"],
        ratio_q3: interval["upper_bound"]
      }
    else
      _ -> nil
    end
  end

  defp table(op, documents, cases) do
    who = for who <- @who, Enum.any?(cases, &(&1.contender == who)), do: who
    at = fn name, who -> Enum.find(cases, &(&1.op == op and &1.document == name and &1.contender == who)) end

    %{
      id: "rust-#{op}",
      title: "The Rust core alone, #{op}: MB/s (medians by criterion)",
      head: ["document", "size"] ++ who,
      rows:
        for {name, text} <- documents do
          [name, Table.bytes(byte_size(text))] ++
            for(w <- who, found = at.(name, w), do: Table.count(found.mb_s))
        end,
      notes: notes(op)
    }
  end

  defp notes(:decode) do
    [
      "The core and the guest write External Term Format; the other libraries build their own tree. Everything is compiled for this machine.",
      "`log` has the shape of the record in a 2014 post on serialization in Rust, which measured on another machine, " <>
        "in MB/s read: rapidjson 164, gogoprotobuf 319, Cap'n Proto 665."
    ]
  end

  defp notes(:encode),
    do: ["The same post, in MB/s written: rapidjson 294, gogoprotobuf 519, Cap'n Proto 3,420."]
end
