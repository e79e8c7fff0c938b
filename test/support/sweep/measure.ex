defmodule RustyJson.Test.Sweep.Measure do
  @moduledoc """
  Runs a call in a process of its own, and says how long it took, how much memory it had, and how long it held a normal scheduler.

  The input of a term is built in that process, because a message would lose what its parts share. A process with a heap over the
  limit is killed.
  """

  alias RustyJson.Test.Clock

  @typedoc "`micros` are of work, `clock` is the time that passed (`RustyJson.Test.Clock`); `reductions` are those that the VM counted; `held` are milliseconds on a normal scheduler, as the VM's monitor tells them; `bytes` are those of the heap and of binaries."
  @type run :: %{
          ended: :ok | :killed | {:down, term()},
          micros: number(),
          clock: number(),
          reductions: non_neg_integer(),
          bytes: non_neg_integer(),
          held: [pos_integer()]
        }

  @word :erlang.system_info(:wordsize)
  @patience 60_000
  # What short runs take beside their work is left out: shorter times count as these microseconds.
  @least 300

  @doc """
  One run. The heap has `words` from the start, 0 for what the VM chooses. `hold` is the number of milliseconds on a normal scheduler
  above which the monitor reports. `watch` measures the time: `Clock.work/1` or `Clock.passed/1`.
  """
  @spec run((() -> input), (input -> term()), non_neg_integer(), pos_integer(), pos_integer(), function()) ::
          run()
        when input: term()
  def run(build, call, words, most_bytes, hold, watch \\ &Clock.work/1) do
    parent = self()
    heap = %{size: div(most_bytes, @word), kill: true, error_logger: false}

    {pid, monitor} =
      :erlang.spawn_opt(
        fn ->
          input = build.()
          :erlang.garbage_collect()
          Process.flag(:max_heap_size, heap)
          send(parent, {:built, self()})
          receive(do: (:go -> :ok))
          before = reductions()
          {micros, clock, answer} = watch.(fn -> outcome(call, input) end)
          {reductions, bytes} = {reductions() - before, held_bytes()}
          # The monitor reports when a process yields, not when it ends.
          :erlang.yield()

          send(
            parent,
            {:ended, self(),
             %{
               ended: :ok,
               micros: micros,
               clock: clock,
               reductions: reductions,
               bytes: bytes,
               alive: is_tuple(answer)
             }}
          )
        end,
        [:monitor | if(words > 0, do: [min_heap_size: words], else: [])]
      )

    receive do
      {:built, ^pid} -> :ok
      {:DOWN, ^monitor, :process, ^pid, reason} -> exit(reason)
    after
      @patience -> :ok
    end

    watched(hold, fn ->
      send(pid, :go)

      receive do
        {:DOWN, ^monitor, :process, ^pid, reason} -> ended(pid, reason)
      after
        @patience ->
          Process.exit(pid, :kill)
          ended(pid, :too_long)
      end
    end)
    |> then(fn run -> Map.put(run, :held, collect(pid)) end)
  end

  defp ended(pid, :normal), do: receive(do: ({:ended, ^pid, run} -> Map.delete(run, :alive)))
  defp ended(_pid, :killed), do: %{ended: :killed, micros: 0, clock: 0, reductions: 0, bytes: 0}
  defp ended(_pid, reason), do: %{ended: {:down, reason}, micros: 0, clock: 0, reductions: 0, bytes: 0}

  @doc "The answer of a call, exceptions included."
  @spec outcome((input -> term()), input) :: {:returned | :raised, term()} when input: term()
  def outcome(call, input) do
    {:returned, call.(input)}
  rescue
    error -> {:raised, error}
  end

  defp reductions, do: self() |> Process.info(:reductions) |> elem(1)

  defp held_bytes do
    {:total_heap_size, words} = Process.info(self(), :total_heap_size)
    {:binary, binaries} = Process.info(self(), :binary)
    sizes = binaries |> Enum.uniq_by(&elem(&1, 0)) |> Enum.map(&elem(&1, 1))
    words * @word + Enum.sum(sizes)
  end

  defp watched(hold, fun) do
    previous = :erlang.system_monitor(self(), [{:long_schedule, hold}])

    try do
      fun.()
    after
      restore(previous)
    end
  end

  defp restore(:undefined), do: :erlang.system_monitor(:undefined)
  defp restore({pid, options}), do: :erlang.system_monitor(pid, options)

  defp collect(pid) do
    receive do
      {:monitor, ^pid, :long_schedule, info} -> [info[:timeout] | collect(pid)]
      {:monitor, _, :long_schedule, _} -> collect(pid)
    after
      0 -> []
    end
  end

  @doc "Microseconds that shorter runs count as."
  @spec least() :: pos_integer()
  def least, do: @least

  @doc "How many times more time per byte the last of these runs took than the first."
  @spec growth([{pos_integer(), run()}]) :: float()
  def growth([{small, first} | rest]) do
    {large, last} = List.last(rest)
    max(last.micros, @least) / large / (max(first.micros, @least) / small)
  end

  @doc "Size, microseconds and bytes of runs."
  @spec times([{pos_integer(), run()}]) :: [{pos_integer(), non_neg_integer(), non_neg_integer()}]
  def times(runs), do: for({size, run} <- runs, do: {size, round(run.micros), run.bytes})

  @doc "The best of two runs: the shorter time, the smaller memory, and a hold only if both have one."
  @spec better(run(), run() | nil) :: run()
  def better(run, nil), do: run
  def better(%{ended: :ok}, %{ended: bad} = run) when bad != :ok, do: run
  def better(%{ended: bad} = run, _before) when bad != :ok, do: run

  def better(a, b) do
    held = if Enum.max(a.held, fn -> 0 end) <= Enum.max(b.held, fn -> 0 end), do: a.held, else: b.held

    %{
      a
      | micros: min(a.micros, b.micros),
        clock: min(a.clock, b.clock),
        reductions: min(a.reductions, b.reductions),
        bytes: min(a.bytes, b.bytes),
        held: held
    }
  end
end
