defmodule RustyJson.SweepTest do
  @moduledoc """
  Every public function, with every option, on every shape of input: both engines give the same answer, and time, memory, schedulers and
  deadlines hold.

  `RustyJson.Test.Sweep` has the table. The light version compares 20 KB with 200 KB, with a bound that quadratic time exceeds. The heavy
  one (`RUSTYJSON_HEAVY=1`) goes up to 5 MB, and prints the largest figures. `RUSTYJSON_SWEEP_RECORD=FILE` also appends them to a file, with a
  line for each shape when it is done.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Options.Schema
  alias RustyJson.Test.{Judge, Sweep}
  alias RustyJson.Test.Sweep.{Inputs, Measure}

  @moduletag timeout: 1_800_000

  # The internals of an engine, and tasks for a terminal.
  @inner [RustyJson.Engine, RustyJson.Wasm.Host, RustyJson.CLI, Mix.Tasks, RustyJson.Test]
  # Types of `RustyJson` that list the options of functions with more than those of decode and encode.
  @types [
    stream_option: {RustyJson, :decode_stream, 2},
    part_option: {RustyJson, :fetch, 3},
    partial_option: {RustyJson, :decode_partial, 2},
    stream_encode_option: {RustyJson, :encode_stream, 2}
  ]

  # A term may have this many times the bytes of its text, and this many more.
  @times 400
  @more 32_000_000
  # What short runs take beside their work is left out: shorter times count as these microseconds.
  @least 300

  setup_all do
    before = Application.get_env(:rustyjson, :policies)
    Application.put_env(:rustyjson, :policies, Sweep.policies())
    RustyJson.Config.reload()

    on_exit(fn ->
      if before,
        do: Application.put_env(:rustyjson, :policies, before),
        else: Application.delete_env(:rustyjson, :policies)

      RustyJson.Config.reload()
    end)
  end

  ## The table is complete

  test "every public function is in the table" do
    missing = public() -- Sweep.known()
    assert missing == [], "not in RustyJson.Test.Sweep: #{inspect(missing)}"
    gone = for name <- Sweep.known(), not exported?(name), do: name
    assert gone == [], "in the table, but not there: #{inspect(gone)}"
  end

  test "every function of RustyJson is in the table" do
    known = for {RustyJson, name, arity} <- Sweep.known(), do: {name, arity}

    # A default makes a function of fewer arguments.
    for {name, arity} <- RustyJson.__info__(:functions),
        do: assert(Enum.any?(known, fn {n, a} -> n == name and a >= arity end), "#{name}/#{arity} is missing")
  end

  test "every option and value of the schema is in the table" do
    for direction <- [:decode, :encode], {name, %{type: type}} <- Schema.entries(direction) do
      values = for way <- Sweep.ways(direction), {^name, value} <- way, do: value
      assert values != [], "option #{inspect(name)} of #{direction} is missing"
      assert Schema.atoms(type) -- values == [], "values of #{inspect(name)} of #{direction} are missing"
      if type == :boolean, do: assert(values != [Schema.entries(direction)[name].default])
    end
  end

  test "every option of streams, parts, partial documents and the formatter is in the table" do
    {:ok, types} = Code.Typespec.fetch_types(RustyJson)

    for {type, call} <- @types, name <- options_of(types, type) do
      ways = Enum.find(Sweep.calls(), &(&1.name == call)).ways
      assert Enum.any?(ways, &Keyword.has_key?(&1, name)), "#{inspect(name)} of #{type} is missing"
    end

    {:ok, types} = Code.Typespec.fetch_types(RustyJson.Formatter)
    ways = for %{name: {RustyJson.Formatter, _, _}, ways: ways} <- Sweep.calls(), way <- ways, do: way

    # A policy chooses the engine of each run.
    for name <- options_of(types, :opts) -- [:policy],
        do:
          assert(Enum.any?(ways, &Keyword.has_key?(&1, name)), "#{inspect(name)} of the formatter is missing")
  end

  test "every option of logs and requests is in the table" do
    assert_options({RustyJson.LogFormatter, :format, 2}, RustyJson.LogFormatter.Setup.names())

    # Those of decode/2 are in the table already.
    if Code.ensure_loaded?(RustyJson.PlugParser),
      do:
        assert_options(
          {RustyJson.PlugParser, :parse, 5},
          Keyword.keys(RustyJson.Options.Functions.get(:plug_parser).own)
        )
  end

  defp assert_options(name, options) do
    %{ways: ways} = Enum.find(Sweep.calls(), &(&1.name == name))

    for option <- options,
        do:
          assert(
            Enum.any?(ways, &Keyword.has_key?(&1, option)),
            "#{inspect(option)} of #{inspect(name)} is missing"
          )
  end

  defp public do
    {:ok, modules} = :application.get_key(:rustyjson, :modules)

    for module <- modules,
        not Enum.any?(@inner, &String.starts_with?("#{module}", "#{&1}")),
        {:docs_v1, _, _, _, %{}, _, docs} <- [Code.fetch_docs(module)],
        {{kind, name, arity}, _, _, %{}, _} <- docs,
        kind in [:function, :macro],
        do: {module, name, arity}
  end

  defp exported?({module, name, arity}) do
    Code.ensure_loaded!(module)
    function_exported?(module, name, arity) or macro_exported?(module, name, arity)
  end

  defp options_of(types, wanted) do
    {_kind, {^wanted, type, _}} = Enum.find(types, fn {_kind, {name, _, _}} -> name == wanted end)
    pairs(type)
  end

  defp pairs({:type, _, :tuple, [{:atom, _, name}, _value]}), do: [name]
  defp pairs({:type, _, kind, types}) when kind in [:union, :list], do: Enum.flat_map(types, &pairs/1)
  defp pairs(_other), do: []

  ## Answers

  for input <- [:text, :term] do
    test "both engines give the same answer for every function, option and shape of a #{input}" do
      assert_same(unquote(input), 1_000, &light_answers/1)
    end

    @tag :heavy
    test "both engines give the same answer for a #{input} of 20 KB, with every option of every function" do
      assert_same(unquote(input), 20_000, &every_way/1)
    end
  end

  defp assert_same(input, size, ways) do
    differ =
      for shape <- shapes(input),
          value = shape.build.(size),
          call <- Sweep.calls(),
          call.input == input,
          way <- ways.(call),
          [{first, answer} | rest] = answers(call, way, shape, value),
          {engine, other} <- rest,
          other !== answer,
          do: {call.name, shape.name, way, {first, short(answer)}, {engine, short(other)}}

    assert differ == [],
           "#{length(differ)} differ: #{inspect(Enum.take(differ, 5), pretty: true, limit: 100)}"
  end

  # An option of decode and encode with the main functions, one of their own with the others.
  defp light_answers(%{all: true} = call), do: every_way(call)
  defp light_answers(%{ways: ways}), do: [[] | ways]

  defp answers(call, way, shape, value) do
    answers =
      for {engine, chosen} <- Judge.engines(),
          options = Sweep.options(call, engine, chosen, way, shape.options),
          do: {engine, Measure.outcome(&call.run.(&1, options), value)}

    if answers == [], do: [{:none, nil}], else: answers
  end

  defp short(answer), do: answer |> inspect(limit: 20, printable_limit: 200) |> String.slice(0, 400)

  ## Time, memory and schedulers

  for {engine, chosen} <- Judge.engines(), input <- [:text, :term] do
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of 200 KB takes no more time per byte than one of 20 KB", context do
      plan = %{
        sizes: [20_000, 200_000],
        ratio: 4.5,
        hold: 100,
        tries: 5,
        brief: true,
        engine: context.engine,
        chosen: context.chosen
      }

      context.input |> sweep(plan, &light_ways/2) |> assert_kept(plan)
    end

    @tag :heavy
    @tag timeout: :infinity
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of up to 5 MB, and each option up to 1 MB", context do
      plan = %{
        sizes: [100_000, 1_000_000],
        ratio: 1.5,
        hold: 5,
        tries: 5,
        brief: false,
        engine: context.engine,
        chosen: context.chosen
      }

      title("#{context.engine}, #{context.input}s")
      cases = sweep(context.input, plan, fn call, _shape -> ways(call) end)
      record(context, cases, plan)
      long = %{plan | sizes: [100_000, 5_000_000]}
      longest = sweep(context.input, long, fn _call, _shape -> [[]] end)
      record(context, longest, long)
      assert_kept(cases, plan)
      assert_kept(longest, long)
    end
  end

  # With the two main functions each value of an option is measured, with others the options of their own.
  defp ways(%{all: true, takes: takes}), do: [[] | Sweep.ways(takes)]
  defp ways(%{ways: ways}), do: [[] | ways]
  # The light version takes each option with a few shapes.
  @light [:records]
  defp light_ways(%{all: true} = call, shape) when shape in @light, do: ways(call)
  defp light_ways(_call, _shape), do: [[]]

  defp every_way(%{takes: takes, ways: ways}) when takes in [:decode, :encode],
    do: [[] | Sweep.ways(takes) ++ ways]

  defp every_way(%{ways: ways}), do: [[] | ways]

  defp shapes(:text), do: Inputs.texts()
  defp shapes(:term), do: Inputs.terms()

  # Each case until it keeps its limits, or its tries are over.
  defp sweep(input, plan, ways) do
    Enum.flat_map(shapes(input), &shape_done(&1, plan, fn -> shape(input, &1, plan, ways) end))
  end

  defp shape(input, shape, plan, ways) do
    for call <- Sweep.calls(),
        call.input == input,
        inputs = for(size <- plan.sizes, do: {size * call.times, build(input, shape, size * call.times)}),
        way <- ways.(call, shape.name),
        not looked_up?(shape.name, call, way),
        options = Sweep.options(call, plan.engine, plan.chosen, way, shape.options),
        do: {{call.name, shape.name, way}, measured(inputs, call, options, way, plan, plan.tries, nil)}
  end

  # Tests do not consolidate protocols: the VM then looks in all folders for an implementation, a millisecond for each term.
  defp looked_up?(shape, %{takes: takes}, way) do
    shape in [:without_json, :without_encoder] and (way[:unsupported] != nil or takes == :log) and
      not Protocol.consolidated?(Inspect)
  end

  # A text is one binary, which processes share.
  defp build(:text, shape, size), do: with(text = shape.build.(size), do: fn -> text end)
  defp build(:term, shape, size), do: fn -> shape.build.(size) end

  # The largest size first: if it takes no longer than the shortest time that counts would grow to, the others cannot change the verdict.
  defp measured(inputs, call, options, way, plan, tries, before) do
    {size, _build} = largest = List.last(inputs)
    last = run(largest, call, options, plan, before)
    quick? = last.ended == :ok and last.micros / size <= plan.ratio * @least / elem(hd(inputs), 0)

    runs =
      if quick? and plan.brief do
        [{elem(hd(inputs), 0), %{last | micros: @least, held: []}}, {size, last}]
      else
        for(input <- Enum.drop(inputs, -1), do: {elem(input, 0), run(input, call, options, plan, before)}) ++
          [{size, last}]
      end

    cond do
      faults(runs, way, plan) == [] or tries == 1 -> runs
      true -> measured(inputs, call, options, way, plan, tries - 1, runs)
    end
  end

  defp run({size, build}, call, options, plan, before) do
    run = Measure.run(build, &call.run.(&1, options), @times * size + @more, plan.hold)
    Measure.better(run, before && List.keyfind(before, size, 0) |> elem(1))
  end

  defp ratio([{small, first} | rest]) do
    {large, last} = List.last(rest)
    max(last.micros, @least) / large / (max(first.micros, @least) / small)
  end

  defp faults(runs, way, plan) do
    ended = for {size, %{ended: ended}} <- runs, ended != :ok, do: {size, ended}
    held = for {size, %{held: [_ | _] = held}} <- runs, not Sweep.holds?(way), do: {size, held}

    [
      ended: ended,
      held: held,
      ratio: if(ended == [] and ratio(runs) > plan.ratio, do: [ratio(runs)], else: [])
    ]
    |> Enum.reject(fn {_kind, list} -> list == [] end)
  end

  defp assert_kept(cases, plan) do
    wrong =
      for {{name, shape, way}, runs} <- cases,
          [_ | _] = faults <- [faults(runs, way, plan)],
          do: {name, shape, way, faults, times(runs)}

    assert wrong == [],
           "#{length(wrong)} of #{length(cases)} cases: #{inspect(Enum.take(wrong, 40), pretty: true, limit: 2000)}"
  end

  defp times(runs), do: for({size, run} <- runs, do: {size, round(run.micros), run.bytes})

  ## The record

  defp tell(line) do
    IO.puts(line)
    if file = System.get_env("RUSTYJSON_SWEEP_RECORD"), do: File.write!(file, line <> "\n", [:append])
  end

  defp title(what) do
    {commit, _} = System.cmd("git", ["rev-parse", "--short", "HEAD"], stderr_to_stdout: true)

    tell(
      "\n#{what}: #{DateTime.utc_now() |> DateTime.truncate(:second)}, commit #{String.trim(commit)}, Elixir #{System.version()}, " <>
        "OTP #{System.otp_release()}, #{System.schedulers_online()} schedulers"
    )
  end

  # Only in the heavy version: a run that is cut short leaves what it has measured.
  defp shape_done(shape, %{hold: 5} = plan, run) do
    {micros, waited} = {System.monotonic_time(:millisecond), waited()}
    cases = run.()

    beyond =
      for {{name, _, way}, runs} <- cases,
          [_ | _] = faults <- [faults(runs, way, plan)],
          do: {name, way, faults}

    seconds = Float.round((System.monotonic_time(:millisecond) - micros) / 1_000, 1)

    tell(
      "#{shape.name}, #{inspect(plan.sizes)}: #{length(cases)} cases, #{seconds} s, in which the VM's threads waited " <>
        "#{Float.round((waited() - waited) / 1.0e9, 1)} s for a processor; #{length(beyond)} beyond the limits"
    )

    for each <- Enum.take(beyond, 20), do: tell("  beyond: #{inspect(each, limit: 50, charlists: :as_lists)}")
    cases
  end

  defp shape_done(_shape, _plan, run), do: run.()

  # Nanoseconds that threads of this VM were ready, but had no processor (Linux); a busy machine has large ones.
  defp waited do
    for file <- Path.wildcard("/proc/self/task/*/schedstat"),
        {:ok, text} <- [File.read(file)],
        [_ran, waited | _] <- [String.split(text)],
        reduce: 0,
        do: (sum -> sum + String.to_integer(waited))
  end

  defp record(context, cases, plan) do
    tell("\n#{context.engine}, #{context.input}s: #{length(cases)} cases")
    largest("time per byte, #{inspect(plan.sizes)}", cases, fn runs -> Float.round(ratio(runs), 2) end)
    largest("memory per byte", cases, fn runs -> round(memory(runs)) end)

    largest("ms on a normal scheduler", cases, fn runs ->
      runs |> Enum.flat_map(&elem(&1, 1).held) |> Enum.max(fn -> 0 end)
    end)
  end

  defp memory(runs), do: with({size, run} = List.last(runs), do: run.bytes / size)

  defp largest(title, cases, figure) do
    figures = for {name, runs} <- cases, do: {figure.(runs), name, times(runs)}
    sorted = figures |> Enum.map(&elem(&1, 0)) |> Enum.sort()

    tell(
      "#{title}: median #{Enum.at(sorted, div(length(sorted), 2))}, 99th percentile #{Enum.at(sorted, div(99 * length(sorted), 100))}"
    )

    for {value, {name, shape, way}, times} <- figures |> Enum.sort_by(&elem(&1, 0), :desc) |> Enum.take(12),
        do: tell("  #{value} #{inspect(name)} #{shape} #{inspect(way)} #{inspect(times)}")
  end

  ## Deadlines

  for {engine, chosen} <- Judge.engines(), engine != :native, input <- [:text, :term] do
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of 1 MB ends within its deadline", context do
      assert_due(context, 1_000_000)
    end

    @tag :heavy
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of 5 MB ends within its deadline", context do
      assert_due(context, 5_000_000)
    end
  end

  # Twice the timeout is promised; the rest is what a busy machine may add.
  @timeout 50
  # The encoders of an application run outside of the sandbox, and nothing ends them.
  @own_code [:own_encoders, :encoders_with_maps, :encoders_that_return_terms, :nested_encoders]
  @due 4 * @timeout * 1_000

  defp assert_due(%{input: input, engine: engine, chosen: chosen}, size) do
    late =
      for shape <- shapes(input),
          shape.name not in @own_code,
          build = build(input, shape, size),
          %{input: ^input, sole: true} = call <- Sweep.calls(),
          options = Sweep.options(call, engine, chosen, [timeout: @timeout], shape.options),
          run = due(build, call, options, 5),
          run.ended != :ok or run.clock > @due,
          do: {call.name, shape.name, run}

    assert late == [], inspect(late, pretty: true)
  end

  defp due(build, call, options, tries) do
    run = Measure.run(build, &call.run.(&1, options), 2_000_000_000, 60_000)

    if tries == 1 or (run.ended == :ok and run.clock <= @due),
      do: run,
      else: due(build, call, options, tries - 1)
  end
end
