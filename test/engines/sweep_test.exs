defmodule RustyJson.SweepTest do
  @moduledoc """
  Every public function, with every option, on every shape of input: both engines give the same answer, and time, memory, schedulers and
  deadlines hold.

  `RustyJson.Test.Sweep` has the table. The light version compares 10 KB with 100 KB, with a bound that quadratic time exceeds. The heavy
  one goes up to 5 MB; only `script/sweep` runs it, because it takes most of an hour, and keeps its record. Its bound is 1.5 times the growth
  of what the VM itself needs for the same input (`RustyJson.Test.Sweep.Yardstick`).
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Test.{Clock, Judge, Sweep}
  alias RustyJson.Test.Sweep.{Inputs, Measure, Record, Turns, Yardstick}

  @moduletag timeout: 1_800_000

  # A term may have this many times the bytes of its text, and this many more.
  @times 400
  @more 32_000_000

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

  ## Answers

  for input <- [:text, :term] do
    test "both engines give the same answer for every function, option and shape of a #{input}" do
      assert_same(unquote(input), 1_000, &light_answers/1)
    end

    @tag :heavy
    @tag sweep: :answers
    test "both engines give the same answer for a #{input} of 20 KB, with every option of every function" do
      {calls, differ} = compared(unquote(input), 20_000, &every_way/1)
      Record.answers(unquote(input), calls, differ)
      assert differ == [], "#{length(differ)} differ"
    end
  end

  defp assert_same(input, size, ways) do
    {_calls, differ} = compared(input, size, ways)

    assert differ == [],
           "#{length(differ)} differ: #{inspect(Enum.take(differ, 5), pretty: true, limit: 100)}"
  end

  # How many calls were made in each engine, and those whose answers differ.
  defp compared(input, size, ways) do
    for shape <- shapes(input),
        value = shape.build.(size),
        call <- Sweep.calls(),
        call.input == input,
        way <- ways.(call),
        [{first, answer} | rest] = answers(call, way, shape, value),
        {engine, other} <- rest,
        reduce: {0, []} do
      {calls, differ} when other === answer ->
        {calls + 1, differ}

      {calls, differ} ->
        {calls + 1, [{call.name, shape.name, way, {first, short(answer)}, {engine, short(other)}} | differ]}
    end
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
    test "#{engine}: a #{input} of 100 KB takes no more time per byte than one of 10 KB", context do
      plan = plan(context, sizes: [10_000, 100_000], ratio: 4.5, hold: 100, brief: true)
      context.input |> shapes() |> Enum.flat_map(&shape(&1, plan, ways_of(&1))) |> assert_kept()
    end

    @tag :heavy
    @tag sweep: engine
    @tag timeout: :infinity
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of up to 5 MB, and each option up to 1 MB", context do
      middle = plan(context, sizes: [100_000, 1_000_000], ratio: 1.5, hold: 5, brief: false)
      long = %{middle | sizes: [100_000, 5_000_000]}

      for shape <- shapes(context.input), reduce: [] do
        wrong ->
          cases = recorded(shape, middle, &ways/1)
          longest = recorded(shape, long, fn _call -> [[]] end)
          # Inputs of a shape are garbage when it is done.
          for(%{faults: [_ | _]} = case <- cases ++ longest, do: case) ++ wrong
      end
      |> assert_kept()
    end
  end

  # All cases of a shape, or only those that were beyond the limits.
  defp recorded(%{name: name} = shape, plan, ways) do
    case Record.again?(name, plan) do
      nil ->
        Record.shape(name, plan, fn -> shape(shape, plan, ways) end)

      again? ->
        ways = fn call -> for way <- ways.(call), again?.(call.name, way), do: way end
        Record.again(name, plan, fn -> shape(shape, plan, ways) end)
    end
  end

  defp plan(context, fields),
    do: Map.merge(Map.take(context, [:engine, :chosen, :input]), Map.new([tries: 5] ++ fields))

  # With the two main functions each value of an option is measured, with others the options of their own.
  defp ways(%{all: true, takes: takes}), do: [[] | Sweep.ways(takes)]
  defp ways(%{ways: ways}), do: [[] | ways]
  # The light version takes each option with one shape.
  defp ways_of(%{name: :records}), do: fn call -> if call.all, do: ways(call), else: [[]] end
  defp ways_of(_shape), do: fn _call -> [[]] end

  defp every_way(%{takes: takes, ways: ways}) when takes in [:decode, :encode],
    do: [[] | Sweep.ways(takes) ++ ways]

  defp every_way(%{ways: ways}), do: [[] | ways]

  # RUSTYJSON_SWEEP_SHAPES=NAME,… leaves out all others.
  defp shapes(input) do
    all = if input == :text, do: Inputs.texts(), else: Inputs.terms()

    case System.get_env("RUSTYJSON_SWEEP_SHAPES") do
      nil -> all
      names -> for shape <- all, "#{shape.name}" in String.split(names, ","), do: shape
    end
  end

  # Each case until it keeps its limits, or its tries are over.
  defp shape(shape, %{input: input} = plan, ways) do
    calls = for %{input: ^input} = call <- Sweep.calls(), ways.(call) != [], do: call

    # Larger inputs are for the light version alone: up to 5 MB, no step is left.
    times = if plan.brief, do: & &1.times, else: fn _call -> 1 end

    plans =
      for times <- calls |> Enum.map(times) |> Enum.uniq(),
          into: %{},
          do: {times, held_to(plan, shape, times)}

    for call <- calls,
        plan = plans[times.(call)],
        way <- ways.(call),
        not looked_up?(shape.name, call, way),
        options = Sweep.options(call, plan.engine, plan.chosen, way, shape.options) do
      runs =
        glanced(call, options, way, plan) || measured(plan.inputs, call, options, way, plan, plan.tries, nil)

      faults = faults(runs, way, plan)

      %{
        call: call.name,
        way: way,
        runs: runs,
        shape: shape.name,
        faults: faults,
        yardstick: plan.growth,
        examined: if(not plan.brief and faults != [], do: examined(plan.inputs, call, options, runs))
      }
    end
  end

  # How the time grows in a process whose heap is large from the start, so that the VM hardly collects it; how the reductions grow; and
  # the milliseconds of the longest turn without the collections in it.
  defp examined([{small, _} | _] = inputs, call, options, [{_, first} | _] = runs) do
    {size, build} = List.last(inputs)
    {_, last} = List.last(runs)

    roomy =
      for {size, build} <- inputs do
        run = fn ->
          Measure.run(build, &call.run.(&1, options), div(@times * size, 8), 10 * @times * size, 60_000)
        end

        {size, Measure.better(run.(), run.())}
      end

    %{
      roomy: roomy |> Measure.growth() |> Float.round(2),
      reductions: Float.round(last.reductions / size / (max(first.reductions, 1) / small), 2),
      own: if(held(runs) > 0, do: Turns.longest(build, &call.run.(&1, options)).own, else: 0)
    }
  end

  defp held(runs), do: runs |> Enum.flat_map(&elem(&1, 1).held) |> Enum.max(fn -> 0 end)

  # The inputs, and how much more time per byte the larger one may take.
  defp held_to(plan, shape, times) do
    inputs = for size <- plan.sizes, do: {size * times, build(plan.input, shape, size * times)}
    growth = if plan.brief, do: 1.0, else: Yardstick.growth(plan.input, inputs, shape.options)
    Map.merge(plan, %{inputs: inputs, growth: growth, bound: plan.ratio, ratio: plan.ratio * growth})
  end

  # Tests do not consolidate protocols: the VM then looks in all folders for an implementation, a millisecond for each term.
  defp looked_up?(shape, %{takes: takes}, way) do
    shape in [:without_json, :without_encoder] and (way[:unsupported] != nil or takes == :log) and
      not Protocol.consolidated?(Inspect)
  end

  # A text is one binary, which processes share.
  defp build(:text, shape, size), do: with(text = shape.build.(size), do: fn -> text end)
  defp build(:term, shape, size), do: fn -> shape.build.(size) end

  # A look at the largest size: if it takes no longer than the shortest time that counts would grow to, the others cannot change the
  # verdict. The clock shows no less than the work, and costs less than the times of all threads.
  defp glanced(_call, _options, _way, %{brief: false}), do: nil

  defp glanced(call, options, way, %{inputs: [{small, _} | _] = inputs} = plan) do
    {size, _build} = largest = List.last(inputs)
    last = run(largest, call, options, plan, nil, &Clock.passed/1)
    runs = [{small, %{last | micros: Measure.least(), held: []}}, {size, last}]
    if faults(runs, way, plan) == [], do: runs
  end

  defp measured(inputs, call, options, way, plan, tries, before) do
    runs = for input <- inputs, do: {elem(input, 0), run(input, call, options, plan, before)}
    {_size, last} = List.last(runs)

    case faults(runs, way, plan) do
      [] ->
        runs

      _faults when tries <= 1 ->
        runs

      # A pause of the thread looks like a hold, and the limit of one is a few milliseconds.
      [held: _] when before == nil and not plan.brief ->
        measured(inputs, call, options, way, plan, 2 * tries, runs)

      # What takes seconds is not delayed by chance.
      _faults ->
        spent = if last.micros > 1_000_000, do: 2, else: 1
        measured(inputs, call, options, way, plan, tries - spent, runs)
    end
  end

  # What was too slow is measured again with all sizes; what held a scheduler, or did not end, by itself.
  defp run({size, build}, call, options, plan, before, watch \\ &Clock.work/1) do
    known = before && before |> List.keyfind(size, 0) |> elem(1)

    if known && known.ended == :ok && known.held == [] && Measure.growth(before) <= plan.ratio do
      known
    else
      build
      |> Measure.run(&call.run.(&1, options), 0, @times * size + @more, plan.hold, watch)
      |> Measure.better(known)
    end
  end

  defp faults(runs, way, plan) do
    ended = for {size, %{ended: ended}} <- runs, ended != :ok, do: {size, ended}
    held = for {size, %{held: [_ | _] = held}} <- runs, not Sweep.holds?(way), do: {size, held}

    [
      ended: ended,
      held: held,
      ratio: if(ended == [] and Measure.growth(runs) > plan.ratio, do: [Measure.growth(runs)], else: [])
    ]
    |> Enum.reject(fn {_kind, list} -> list == [] end)
  end

  defp assert_kept(cases) do
    wrong =
      for %{faults: [_ | _]} = case <- cases,
          do: {case.call, case.shape, case.way, case.faults, Measure.times(case.runs)}

    assert wrong == [],
           "#{length(wrong)} cases: #{inspect(Enum.take(wrong, 40), pretty: true, limit: 2000)}"
  end

  ## Rows of calls

  # Each is short work, and the scheduler is given back when enough was taken from the turn.
  @lengths [300, 1_000, 4_000, 16_000, 60_000]
  @slow [
    :deep,
    :late_utf8,
    :long_string,
    :long_years,
    :bottomless,
    :long_numbers,
    :repeated_keys,
    :escapes,
    :floats,
    :pairs,
    :improper
  ]
  @kinds for(name <- [:decode, :valid?, :canonicalize, :encode], do: {RustyJson, name, 2}) ++
           [{RustyJson.Feed, :push, 2}, {RustyJson.Formatter, :pretty_print, 2}]
  # Milliseconds.
  @turn 5.0

  for {engine, chosen} <- Judge.engines(), engine != :wasmex, input <- [:text, :term] do
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a row of calls with a #{input} gives the scheduler back", context do
      {rows, held} = rows(context, &(&1.name in @slow), &(&1.name in @kinds))
      assert held == []
      assert rows > 10 or System.get_env("RUSTYJSON_SWEEP_SHAPES") != nil
    end

    @tag :heavy
    @tag sweep: engine
    @tag timeout: :infinity
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: so does a row of calls of each function on each #{input}", context do
      {rows, held} = rows(context, fn _shape -> true end, fn _call -> true end)
      Record.rows(context.engine, context.input, rows, held)
      assert held == []
    end
  end

  # How many there were, and those that held it.
  defp rows(%{input: input, engine: engine, chosen: chosen}, shape?, call?) do
    for shape <- shapes(input),
        shape?.(shape),
        size <- @lengths,
        build = build(input, shape, size),
        %{input: ^input} = call <- Sweep.calls(),
        call?.(call),
        not looked_up?(shape.name, call, []),
        options = Sweep.options(call, engine, chosen, [], shape.options),
        %{own: own} = Turns.of_row(build, &call.run.(&1, options)),
        reduce: {0, []} do
      {rows, held} when own <= @turn -> {rows + 1, held}
      {rows, held} -> {rows + 1, [{call.name, shape.name, size, own} | held]}
    end
  end

  ## Deadlines

  for {engine, chosen} <- Judge.engines(), engine != :native, input <- [:text, :term] do
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of 1 MB ends within its deadline", context do
      assert due(context, 1_000_000) |> elem(1) == []
    end

    @tag :heavy
    @tag sweep: engine
    @tag engine: engine, chosen: chosen, input: input
    test "#{engine}: a #{input} of 5 MB ends within its deadline", context do
      {calls, late} = due(context, 5_000_000)
      Record.deadlines(context.engine, context.input, calls, late)
      assert late == []
    end
  end

  # Twice the timeout is promised; the rest is what a busy machine may add.
  @timeout 50
  # The encoders of an application run outside of the sandbox, and nothing ends them.
  @own_code [:own_encoders, :encoders_with_maps, :encoders_that_return_terms, :nested_encoders]
  @due 4 * @timeout * 1_000

  # How many calls were made, and those that were late.
  defp due(%{input: input, engine: engine, chosen: chosen}, size) do
    for shape <- shapes(input),
        shape.name not in @own_code,
        build = build(input, shape, size),
        %{input: ^input, sole: true} = call <- Sweep.calls(),
        options = Sweep.options(call, engine, chosen, [timeout: @timeout], shape.options),
        run = due(build, call, options, 5),
        reduce: {0, []} do
      {calls, late} when run.ended == :ok and run.clock <= @due -> {calls + 1, late}
      {calls, late} -> {calls + 1, [{call.name, shape.name, run} | late]}
    end
  end

  defp due(build, call, options, tries) do
    run = Measure.run(build, &call.run.(&1, options), 0, 2_000_000_000, 60_000)

    if tries == 1 or (run.ended == :ok and run.clock <= @due),
      do: run,
      else: due(build, call, options, tries - 1)
  end
end
