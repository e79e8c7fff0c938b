defmodule RustyJson.Bench do
  @moduledoc """
  Measures RustyJson beside other libraries and the BEAM's own binary format.

  `run/1` goes through the sections, prints their tables, and writes a result file.
  """

  alias RustyJson.Bench.{Compare, Contender, Corpus, Jobs, Peer, Progress, Results, Sections}

  @doc "Runs the benchmark. Returns the exit status: 1 if a result was wrong or something became slower."
  @spec run(map()) :: 0 | 1
  def run(options) do
    started = System.monotonic_time(:second)
    context = context(options)
    answers = for section <- sections(options), do: Sections.run(section, context)
    Jobs.renew()
    Corpus.clean()
    Progress.finish()
    notes = context.notes ++ Enum.flat_map(answers, & &1.notes)
    for note <- Enum.uniq(notes), do: IO.puts(note)
    seconds = System.monotonic_time(:second) - started
    finish(options, context, answers, notes, seconds)
  end

  defp context(options) do
    {present, absent} = Peer.survey()
    asked = options[:contenders] || Contender.ids()
    present = Map.take(present, asked)
    test = options[:test] == true
    quick = options[:quick] == true

    versions =
      for id <- Contender.ids(), version = present[id], do: "#{Contender.title(id)} #{version(id, version)}"

    IO.puts("OTP #{Contender.otp()}, Elixir #{System.version()}: " <> Enum.join(versions, ", ") <> "\n")

    %{
      present: present,
      test: test,
      quick: quick,
      budget: if(quick, do: 250, else: 3_000),
      rounds: if(quick, do: 3, else: 15),
      say: if(options[:say], do: options.say, else: &Progress.say/1),
      notes: for(why <- absent, do: "not measured: #{why}") ++ missing(asked, present, test)
    }
  end

  defp version("old", _version), do: ""
  defp version(_id, version), do: version

  # In a test, a missing engine must be reported as a skip. wasmex is a package like the other libraries.
  defp missing(asked, present, test) do
    for id <- asked, id in Contender.ours(), present[id] == nil do
      word = if test and id != "wasmex", do: "skipped", else: "not measured"
      "#{word}: #{Contender.title(id)}: it is not there"
    end
  end

  defp sections(%{sections: names}) when is_list(names), do: names
  defp sections(%{test: true}), do: Sections.names()
  defp sections(%{quick: true}), do: Sections.quick()
  defp sections(_options), do: Sections.names()

  ## The end

  defp finish(%{test: true}, _context, answers, notes, seconds) do
    wrong = wrong(notes)
    cases = answers |> Enum.map(& &1.checked) |> Enum.sum()
    IO.puts("#{cases} passed, #{length(wrong)} failed (#{seconds} s)")
    if wrong == [], do: 0, else: 1
  end

  defp finish(options, context, answers, notes, seconds) do
    result = %{
      machine: Results.machine(),
      contenders: context.present,
      sources: Results.sources(),
      flags: %{quick: context.quick, sections: options[:sections] || "all", seconds: seconds},
      cases: Enum.flat_map(answers, & &1.cases),
      tables: Enum.flat_map(answers, & &1.tables),
      notes: notes
    }

    write(result, Map.get(options, :out, default_dir()), seconds)
    compared = if options[:compare], do: Compare.print(result, options.compare), else: 0
    if wrong(notes) == [], do: compared, else: 1
  end

  defp wrong(notes),
    do:
      for(note <- notes, String.contains?(note, "is left out") or String.contains?(note, "wrong:"), do: note)

  defp write(_result, nil, seconds), do: IO.puts("#{seconds} s")

  defp write(result, dir, seconds) do
    file = Results.write(result, dir)
    IO.puts("#{Path.relative_to_cwd(file)}, #{seconds} s")
  end

  defp default_dir, do: System.get_env("RUSTYJSON_BENCH_RESULTS") || Path.expand("results")
end
