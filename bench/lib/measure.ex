defmodule RustyJson.Bench.Measure do
  @moduledoc """
  Takes the time of several functions on one input, in the VM it is called in.

  A round runs each of them once, so that what disturbs the machine disturbs all alike; a ratio to the yardstick is the
  median over rounds. `:fresh` makes a new process for every run, `:long` keeps one for each function, and its garbage
  collections count. Calls under 50 µs are made several times in a run.
  """

  alias RustyJson.Bench.{Contender, Stats}

  @typedoc """
  * `input` - `{:json, file}` or `{:term, {module, function, arguments}}`
  * `runs` - `{label, contender, options}`; the yardstick is added
  """
  @type job :: %{
          op: :decode | :encode | :roundtrip | :save,
          input: tuple(),
          runs: [{String.t(), Contender.id(), keyword()}],
          mode: :fresh | :long,
          budget: pos_integer(),
          rounds: pos_integer(),
          test: boolean()
        }

  @typedoc "Of one function: nanoseconds, ratios to the yardstick, reductions and collections of one call."
  @type result :: map()

  @yardstick "yardstick"
  @most_rounds 2_000

  @doc "Results by label, notes on libraries that were left out, and the sizes of the input."
  @spec run(job()) :: map()
  def run(job) do
    input = input(job)
    {functions, notes} = checked(job, input)
    functions = [{@yardstick, yardstick(job.op, input)} | functions]
    results = if job.test, do: %{}, else: timed(job, functions)
    checked = length(functions) - 1
    for key <- Process.delete(__MODULE__), do: :persistent_term.erase(key)
    File.rm(saved())

    %{
      results: results,
      notes: notes,
      checked: checked,
      bytes: byte_size(input.json),
      sha256: sha256(input.json)
    }
  end

  @doc "A document's digest."
  @spec sha256(binary()) :: String.t()
  def sha256(json), do: Base.encode16(:crypto.hash(:sha256, json), case: :lower)

  ## Input

  defp input(%{input: {:json, file}}) do
    json = File.read!(file)
    term = RustyJson.decode!(json)
    %{json: json, term: term, etf: :erlang.term_to_binary(term)}
  end

  defp input(%{input: {:term, {module, function, arguments}}} = job) do
    term = apply(module, function, arguments)
    [{_, id, opts} | _] = job.runs
    %{json: Contender.get(id, opts).encode.(term), term: term, etf: :erlang.term_to_binary(term)}
  end

  # A large input is shared, not copied into each process. A long-lived process has its input on the heap.
  defp call(:decode, contender, input), do: with_input(contender.decode, input.json)
  defp call(:encode, contender, input), do: with_input(contender.encode, input.term)

  defp call(:roundtrip, contender, input),
    do: with_input(fn json -> contender.encode.(contender.decode.(json)) end, input.json)

  defp call(:save, contender, input), do: with_input(&save(contender.encode.(&1)), input.term)

  defp save(binary) do
    File.write!(saved(), binary)
    saved()
  end

  defp saved, do: Path.join(System.tmp_dir!(), "rustyjson-bench-#{System.pid()}.saved")

  defp with_input(function, input) do
    key = {__MODULE__, make_ref()}
    :persistent_term.put(key, input)
    Process.put(__MODULE__, [key | Process.get(__MODULE__, [])])
    {function, fn -> :persistent_term.get(key) end}
  end

  defp yardstick(:decode, input), do: with_input(&:erlang.binary_to_term/1, input.etf)
  defp yardstick(:encode, input), do: with_input(&:erlang.term_to_binary/1, input.term)

  defp yardstick(:save, input), do: with_input(&save(:erlang.term_to_binary(&1)), input.term)

  defp yardstick(:roundtrip, input),
    do: with_input(&:erlang.term_to_binary(:erlang.binary_to_term(&1)), input.etf)

  ## Equal results first

  defp checked(job, input) do
    expected = if job.op == :decode, do: input.term, else: RustyJson.decode!(input.json)

    Enum.reduce(job.runs, {[], []}, fn {label, id, opts}, {functions, notes} ->
      function = call(job.op, Contender.get(id, opts), input)

      case check(job.op, function, expected) do
        :ok -> {functions ++ [{label, function}], notes}
        {:error, why} -> {functions, notes ++ ["#{label} is left out: #{why}"]}
      end
    end)
  end

  defp check(op, {function, input}, expected) do
    result = function.(input.())
    if value(op, result) === expected, do: :ok, else: {:error, "its result is another one"}
  rescue
    error -> {:error, error |> Exception.message() |> String.slice(0, 80) |> String.replace("\n", " ")}
  end

  defp value(:decode, term), do: term
  defp value(:save, file), do: file |> File.read!() |> RustyJson.decode!()
  defp value(_op, json), do: RustyJson.decode!(json)

  ## Time

  defp timed(job, functions) do
    {_, yardstick} = hd(functions)
    calls = calls(job.mode, yardstick)
    runners = for {label, function} <- functions, do: {label, runner(job.mode, function)}
    for {_, run} <- runners, do: run.(calls)
    rounds = rounds(job, runners, calls, now() + job.budget * 1_000_000, [])
    for {_, run} <- runners, do: run.(:stop)
    summary(rounds, calls)
  end

  defp calls(mode, function) do
    once = Enum.min(for _ <- 1..5, do: elem(batch(function, 1), 0))
    wanted = if mode == :fresh, do: 50_000, else: 5_000_000
    least = if mode == :fresh, do: 1, else: 3
    (wanted / max(once, 50)) |> ceil() |> max(least) |> min(20_000)
  end

  defp rounds(job, runners, calls, deadline, done) do
    count = length(done)

    if (count >= job.rounds and now() > deadline) or count == @most_rounds do
      done
    else
      # In any order, so that none always runs after the same other one.
      round = for {label, run} <- Enum.shuffle(runners), into: %{}, do: {label, run.(calls)}
      rounds(job, runners, calls, deadline, [round | done])
    end
  end

  defp runner(:fresh, function) do
    fn
      :stop -> :ok
      calls -> in_process(function, calls)
    end
  end

  defp runner(:long, {function, input}) do
    pid = spawn_link(fn -> serve({function, on_heap(input.())}) end)

    fn calls ->
      send(pid, {self(), calls})
      if calls != :stop, do: receive(do: ({^pid, result} -> result))
    end
  end

  # Binaries are shared either way.
  defp on_heap(binary) when is_binary(binary), do: fn -> binary end

  defp on_heap(term) do
    copy = term |> :erlang.term_to_binary() |> :erlang.binary_to_term()
    fn -> copy end
  end

  defp serve(function) do
    receive do
      {_, :stop} ->
        :ok

      {from, calls} ->
        send(from, {self(), batch(function, calls)})
        serve(function)
    end
  end

  @doc "Runs a function repeatedly in a new process."
  @spec in_process({(term() -> term()), (... -> term())}, pos_integer()) :: tuple()
  def in_process(function, calls) do
    {pid, monitor} = spawn_monitor(fn -> exit({:took, batch(function, calls)}) end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, {:took, result}} ->
        # Gives the VM time to free the memory of the process.
        if elem(result, 0) > 1_000_000, do: Process.sleep(2)
        result

      {:DOWN, ^monitor, :process, ^pid, reason} ->
        exit(reason)
    end
  end

  # Nanoseconds, reductions, collections.
  defp batch({function, input}, calls) do
    value = input.()
    {collections, _, _} = :erlang.statistics(:garbage_collection)
    {:reductions, reductions} = Process.info(self(), :reductions)
    start = now()
    repeat(function, value, calls)
    time = now() - start
    {:reductions, after_reductions} = Process.info(self(), :reductions)
    {after_collections, _, _} = :erlang.statistics(:garbage_collection)
    {time, after_reductions - reductions, after_collections - collections}
  end

  defp repeat(_function, _value, 0), do: :ok

  defp repeat(function, value, calls) do
    function.(value)
    repeat(function, value, calls - 1)
  end

  defp now, do: System.monotonic_time(:nanosecond)

  ## Summary

  defp summary(rounds, calls) do
    for label <- Map.keys(hd(rounds)), into: %{} do
      times = for round <- rounds, do: elem(round[label], 0) / calls
      ratios = for round <- rounds, do: elem(round[label], 0) / elem(round[@yardstick], 0)

      {label,
       %{
         time: Stats.spread(times),
         ratio: Stats.spread(ratios),
         reductions: Stats.median(for round <- rounds, do: elem(round[label], 1) / calls),
         collections: Stats.median(for round <- rounds, do: elem(round[label], 2) / calls),
         rounds: length(rounds),
         calls: calls
       }}
    end
  end
end
