defmodule RustyJson.Bench.CLI do
  @moduledoc "The program behind `script/bench`."

  alias RustyJson.Bench
  alias RustyJson.Bench.{Contender, Docs, Sections}

  @switches [
    quick: :boolean,
    test: :boolean,
    only: :string,
    engine: :string,
    compare: :string,
    out: :string,
    docs: :boolean,
    check: :boolean,
    help: :boolean
  ]

  @usage """
  script/bench [OPTION ...]
    --quick            about a minute: fewer runs, less precise figures
    --test             runs every case once and checks the results, without timing
    --only A,B         only these sections: #{Enum.join(Sections.names(), " ")}
    --engine E         only native or only wasm
    --compare FILE     compares with an older result file and lists what became slower
    --out DIR          folder for the results (default bench/results)
    --docs             writes the tables in README.md, docs/ and bench/results/REPORT.md from the result files
    --check            fails when one of those tables is out of date
  Environment: RUSTYJSON_CORPUS, a folder of public documents; RUSTYJSON_DEPS, folders of other libraries' sources;
  RUSTYJSON_BENCH_MACHINE, this machine's name in the file names.
  """

  @spec main([String.t()]) :: no_return()
  def main(arguments) do
    case OptionParser.parse(arguments, strict: @switches) do
      {options, [], []} -> run(Map.new(options))
      {_, _, _} -> usage(:stderr, 2)
    end
  end

  defp run(%{help: true}), do: usage(:stdio, 0)

  defp run(%{docs: true}), do: say_and_halt(Docs.renew(Path.expand("..")))
  defp run(%{check: true}), do: say_and_halt(Docs.stale(Path.expand("..")))

  defp run(options) do
    sections = if options[:only], do: String.split(options.only, ",", trim: true), else: nil
    unknown = (sections || []) -- Sections.names()
    engine = options[:engine]

    if unknown != [] or engine not in [nil, "native", "wasm"] do
      usage(:stderr, 2)
    else
      options =
        for option <- [:out, :compare], options[option], into: options, do: {option, from(options[option])}

      System.halt(Bench.run(Map.merge(options, %{sections: sections, contenders: contenders(engine)})))
    end
  end

  defp say_and_halt(problems) do
    Enum.each(problems, &IO.puts(:stderr, &1))
    System.halt(if problems == [], do: 0, else: 1)
  end

  # Relative paths start at the caller's folder.
  defp from(path), do: Path.expand(path, System.get_env("RUSTYJSON_BENCH_FROM", File.cwd!()))

  defp contenders(nil), do: Contender.ids()
  defp contenders("native"), do: Contender.ids() -- ["built_in", "wasmex"]
  defp contenders("wasm"), do: Contender.ids() -- ["native"]

  defp usage(device, status) do
    IO.write(device, @usage)
    System.halt(status)
  end
end
