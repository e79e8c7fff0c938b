# The parts of documents that come from records: script/evidence says how to run it. A part stands between <!-- record NAME --> and
# <!-- /record -->. Figures are read from docs/records/*.tsv, which the commands write that the tables name.
Code.require_file("evidence.d/commits.exs", __DIR__)

defmodule RustyJson.Evidence do
  @moduledoc false

  alias RustyJson.Evidence.Commits

  @documents ~w(docs/evidence.md docs/verification.md docs/fuzzing.md)
  # Reasons of skips that mean that an optional package is not there.
  @packages ~r/not among the dependencies|StreamData is not loaded|no host can run the WebAssembly module/

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

  defp part("full", %{"full" => full}) do
    [
      source(full, "full"),
      "",
      "| part | commit | step | command | passed | failed | time |",
      "|---|---|---|---|--:|--:|--:|",
      for([part, title, command, passed, failed, seconds] <- in_order(full["step"])) do
        "| #{part} | #{ran(full, part)} | #{cell(title)}#{cell(found(full, part, title))} | `#{cell(command)}` | #{number(passed)} | #{number(failed)} | #{time(seconds)} |\n"
      end,
      totals(full)
    ]
    |> text()
  end

  defp part("skips", %{"full" => full}) do
    [
      "| skipped | why | steps |",
      "|--:|---|---|",
      for {why, skips} <- by_reason(full["skip"] || []) do
        count = skips |> Enum.map(fn [_, _, count, _] -> String.to_integer(count) end) |> Enum.sum()

        steps =
          skips |> Enum.map(fn [part, step | _] -> "#{part}: #{step}" end) |> Enum.uniq() |> Enum.join("; ")

        "| #{count} | #{cell(why)} | #{cell(steps)} |\n"
      end,
      missing_parts(full)
    ]
    |> text()
  end

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

  defp part("sweep", %{"sweep" => record} = records) do
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

  defp part("mutants", %{"mutants" => record} = records) do
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

  defp part("claims", records) do
    [
      "| promise | what was tried against it | command | result |",
      "|---|---|---|---|",
      for {promise, tried, command, results} <- claims() do
        "| #{promise} | #{tried} | `#{command}` | #{results |> Enum.map(&result(&1, records)) |> Enum.uniq() |> Enum.join("; ")} |\n"
      end
    ]
    |> text()
  end

  defp part(name, _records), do: "No record of `#{name}` has been made."

  ## What is promised, what was tried, and where the result is recorded

  defp claims do
    [
      {"RFC 8259: valid documents are decoded, others are errors at a byte",
       "every document of a few tokens, against a naive reader", "script/enumerate", [:enumerated]},
      {"The same", "JSONTestSuite, number tables, serde_json, random and damaged documents",
       "script/test --full --only standard",
       [{:step, "standard", "cargo test"}, {:step, "standard", "cargo test, scalar"}]},
      {"Both engines return the same terms, bytes and errors",
       "every vector, generated documents and terms, in each engine", "script/test --full --only standard",
       [{:step, "standard", "mix test, native"}, {:step, "standard", "mix test, wasm"}]},
      {"The same on Elixir 1.18 and OTP 27", "the Mix tests in a Debian root",
       "script/test --full --only usual_elixir", [{:part, "usual_elixir"}]},
      {"The same on the newest Elixir and OTP", "the Mix tests in a Debian root",
       "script/test --full --only newest_elixir", [{:part, "newest_elixir"}]},
      {"The same there with wasmex and the other optional packages",
       "the Mix tests, and Jason's on the stand-in", "script/test --full --only with_packages",
       [{:part, "with_packages"}]},
      {"`decode/3`, `encode!/1` and the Erlang functions do what those of `JSON` and `json` do",
       "the tests of Elixir and OTP", "script/json_tests", [:json_tests]},
      {"A call in the sandbox ends in a term or an error within its limits",
       "modules that trap, loop, grow, recurse, write out of bounds and lie (`test/sandbox`)",
       "script/test --full --only standard", [{:step, "standard", "mix test, wasm"}]},
      {"Time in proportion to the size of the input, within memory, deadlines and turns of a scheduler",
       "every public function, on every shape of input up to 5 MB, and with every option up to 1 MB",
       "script/sweep", [:swept]},
      {"No memory error in the native library",
       "AddressSanitizer in the VM, also for escapes and a long run at each length at which a buffer grows",
       "script/test --full --only asan",
       [
         {:step, "asan", "AddressSanitizer: mix test, native"},
         {:step, "asan", "AddressSanitizer: mix test, wasm"}
       ]},
      {"The sandbox has a queue. It never gives a place to two callers. It never forgets a caller. It sends nothing after a call has ended",
       "two or three callers that come, wait, give up, die or are suspended, in all orders or in those with at most five switches (loom); faults put into its sources",
       "script/test --full --only model", [{:step, "model", "model: cargo test"}]},
      {"Tests notice changes of the code",
       "operators, conditions, branches and results of functions in the sources that read, judge and limit, changed one at a time",
       "script/mutants", [:mutants]},
      {"No undefined behaviour in the core", "Miri", "script/test --full --only miri", [{:part, "miri"}]},
      {"No input crashes it", "fuzz targets, each for a minute to half an hour of processor time",
       "script/fuzz", [:fuzzed]},
      {"Archives for Linux load on glibc 2.28 and newer",
       "what the library needs is read from it; a program opens it in Debian 11 and 12, and Erlang loads it in Debian 12",
       "script/test --full --only archives",
       for(
         title <- ["glibc 2.28", "load in bullseye", "load in bookworm"],
         do: {:step, "archives", "archives: " <> title}
       )},
      {"Archives for musl need no `libgcc_s`",
       "what the library needs is read from it; a program opens it in a root that has only musl",
       "script/test --full --only archives",
       [{:step, "archives", "archives: musl"}, {:step, "archives", "archives: load on musl"}]},
      {"No dependency has a known vulnerability", "cargo-deny", "script/test --full --only dependencies",
       [{:part, "dependencies"}]}
    ]
  end

  defp result(:swept, %{"sweep" => record}) do
    rows = record |> swept() |> Enum.flat_map(&elem(&1, 1))

    "#{rows |> total(4) |> number()} cases, #{total(rows, 5)} beyond the limits, #{length(record["beyond"] || [])} of them also when measured by themselves; " <>
      "#{kept(record["deadlines"], 2)} deadlines missed; #{kept(record["answers"], 1)} answers of the engines different" <>
      "#{if record["note"], do: "; not whole, see verification"} (#{commit(record)})"
  end

  defp result(:mutants, %{"mutants" => %{"mutants" => [_ | _] = rows} = record} = records) do
    [tried, _caught, _ended, missed, explained] = mutants(rows, record, records["mutants_reasons"])
    dates = for row <- rows, do: Enum.at(row, 8)

    "#{length(rows)} of #{length(rows ++ not_changed(rows))} files changed: #{number(tried - missed)} of #{number(tried)} changes noticed " <>
      "(#{Float.round(100 * (tried - missed) / max(tried, 1), 1)} %), #{missed} missed, of these #{explained} explained (#{Enum.min(dates)} to #{Enum.max(dates)})"
  end

  defp result(:enumerated, %{"enumeration" => record}) do
    rows = record["enumerated"] || []

    sum = fn at ->
      rows
      |> Enum.map(&(&1 |> Enum.at(at) |> String.to_integer()))
      |> Enum.sum()
      |> Integer.to_string()
      |> number()
    end

    "#{sum.(4)} comparisons, all equal (#{commit(record)})"
  end

  defp result(:json_tests, %{"json_tests" => record}) do
    rows = record["json_tests"] || []
    sum = fn at -> rows |> Enum.map(&(&1 |> Enum.at(at) |> String.to_integer())) |> Enum.sum() end
    "#{number("#{sum.(3)}")} equal, #{sum.(4)} different as documented (#{commit(record)})"
  end

  defp result(:fuzzed, %{"fuzz" => %{"fuzz" => [_ | _]} = record}) do
    sum = fn at -> record["fuzz"] |> Enum.map(&(&1 |> Enum.at(at) |> int())) |> Enum.sum() end
    dates = for row <- record["fuzz"], do: Enum.at(row, 8)

    "#{length(record["fuzz"])} targets, #{number(sum.(2))} executions in #{div(sum.(1), 60)} minutes, #{sum.(6)} findings open (#{Enum.min(dates)} to #{Enum.max(dates)})"
  end

  defp result({:step, part, title}, %{"full" => full}) do
    case for([^part, ^title, _command, passed, failed, _] <- full["step"] || [], do: {passed, failed}) do
      [{passed, failed}] ->
        "#{number(passed)} passed, #{number(failed)} failed (#{ran(full, part)})"

      [] ->
        "not run"
    end
  end

  defp result({:part, part}, %{"full" => full}) do
    steps = for [^part, title | _] = step <- full["step"] || [], do: {title, step}
    # Where there are steps that test, the others only prepare them.
    tests = for {title, step} <- steps, title =~ "test", do: {title, step}

    case for {_title, [_, _, _, passed, failed, _]} <- if(tests == [], do: steps, else: tests),
             do: {int(passed), int(failed)} do
      [] ->
        "not run"

      steps ->
        found = for [^part, _title, text] <- full["found"] || [], uniq: true, do: ", " <> text
        "#{number(sum(steps, 0))} passed, #{number(sum(steps, 1))} failed#{found} (#{ran(full, part)})"
    end
  end

  defp result(_, _records), do: "not run"

  # What a step said.
  defp found(full, part, title) do
    case for [^part, ^title, text] <- full["found"] || [], do: text do
      [] -> ""
      texts -> ": " <> Enum.join(texts, ", ")
    end
  end

  ## The sweep

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

  # A `*` stands for any text.
  defp like?(text, pattern) do
    source = pattern |> Regex.escape() |> String.replace("\\*", ".*")
    text =~ ~r/\A#{source}\z/
  end

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

  ## Mutants

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

  ## Rows

  defp source(record, name) do
    machines =
      Enum.map_join(record["machine"], " and ", fn [machine, processor, count, system] ->
        "#{machine}, #{processor}, #{count} processors, #{system}"
      end)

    tools =
      Enum.map_join(Enum.uniq(record["tool"] || []), "; ", fn [name, version] -> "#{name} #{version}" end)

    "From [#{name}.tsv](records/#{name}.tsv): #{if record["commit"], do: "commit #{commit(record)}, "}#{machines}; #{tools}.#{notes(record)}"
  end

  defp notes(record), do: Enum.map_join(record["note"] || [], fn [note] -> " " <> note end)

  defp commit(%{"commit" => [[commit, date, state] | _]}), do: commit(commit, date, state)

  defp commit(commit, date, state),
    do: "#{String.slice(commit, 0, 7)}, #{date}#{if state != "clean", do: ", with changes"}"

  # The commit and the day of a part.
  defp ran(full, part) do
    case for [^part, _result, date, _seconds, commit, state | _] <- full["part"] || [],
             do: {commit, date, state} do
      [{commit, date, state}] -> commit(commit, String.slice(date, 0, 10), state)
      [] -> "did not end"
    end
  end

  defp totals(full) do
    steps = for [_, _, _, passed, failed, _] <- full["step"] || [], do: {int(passed), int(failed)}
    "| all | | | | #{number(sum(steps, 0))} | #{number(sum(steps, 1))} | |"
  end

  defp missing_parts(full) do
    known = parts()
    done = for [part | _] <- full["part"] || [], do: part

    case known -- done do
      [] -> ""
      parts -> "\nThis record has no result of these parts: #{Enum.map_join(parts, ", ", &"`#{&1}`")}."
    end
  end

  # Steps in the order of the parts, whichever ran last.
  defp in_order(steps) do
    known = parts()
    Enum.sort_by(steps || [], fn [part | _] -> Enum.find_index(known, &(&1 == part)) end)
  end

  defp parts,
    do: ~r/^full_parts=\((.*)\)$/m |> Regex.run(File.read!("script/full")) |> Enum.at(1) |> String.split()

  # Tests that need a package are one reason.
  defp by_reason(skips) do
    skips
    |> Enum.group_by(fn [_, _, _, why] ->
      if why =~ @packages, do: "an optional package is not there", else: why
    end)
    |> Enum.sort()
  end

  defp sum(steps, at), do: steps |> Enum.map(&elem(&1, at)) |> Enum.sum()
  defp int(text), do: String.to_integer(text)
  defp cell(text), do: String.replace(text, "|", "\\|")
  defp code(text), do: "`#{text}`"

  defp number(text) when is_binary(text), do: Regex.replace(~r/\B(?=(\d{3})+$)/, text, ",")
  defp number(integer), do: integer |> Integer.to_string() |> number()

  defp time(seconds) do
    case int(seconds) do
      seconds when seconds < 120 -> "#{seconds} s"
      seconds -> "#{div(seconds + 30, 60)} min"
    end
  end

  defp text(lines),
    do:
      lines
      |> Enum.map(fn
        rows when is_list(rows) -> rows |> Enum.join() |> String.trim_trailing("\n")
        line -> line
      end)
      |> Enum.reject(&(&1 == []))
      |> Enum.join("\n")
      |> String.trim_trailing("\n")
end

RustyJson.Evidence.main(System.argv())
