defmodule RustyJson.Bench.Load do
  @moduledoc "Runs several processes at once in the current VM, and measures the effect on schedulers."

  alias RustyJson.Bench.Contender

  # Latencies are counted in buckets that are 4 % wide.
  @per_octave 16
  @buckets 40 * @per_octave

  @doc "Calls per second of all processes together, and the latencies of single calls in nanoseconds."
  @spec run(Contender.id(), keyword(), :decode | :encode, Path.t(), pos_integer(), pos_integer()) :: map()
  def run(id, opts, op, file, processes, milliseconds) do
    json = File.read!(file)
    :persistent_term.put(__MODULE__, if(op == :decode, do: json, else: RustyJson.decode!(json)))
    function = Map.fetch!(Contender.get(id, opts), op)
    together(function, processes, div(milliseconds, 5))
    {counters, ns} = together(function, processes, milliseconds)
    counts = for bucket <- 1..@buckets, do: :counters.get(counters, bucket)
    calls = Enum.sum(counts)
    :persistent_term.erase(__MODULE__)
    %{calls: calls * 1.0e9 / ns, p50: percentile(counts, calls * 0.5), p99: percentile(counts, calls * 0.99)}
  end

  defp together(function, processes, milliseconds) do
    counters = :counters.new(@buckets, [:write_concurrency])
    start = now()
    deadline = start + milliseconds * 1_000_000

    monitors =
      for _ <- 1..processes do
        {_, monitor} =
          spawn_monitor(fn -> work(function, :persistent_term.get(__MODULE__), counters, now(), deadline) end)

        monitor
      end

    for monitor <- monitors do
      receive do: ({:DOWN, ^monitor, :process, _, :normal} -> :ok)
    end

    {counters, now() - start}
  end

  defp work(_function, _input, _counters, at, deadline) when at > deadline, do: :ok

  defp work(function, input, counters, at, deadline) do
    function.(input)
    done = now()
    :counters.add(counters, bucket(done - at), 1)
    work(function, input, counters, done, deadline)
  end

  defp bucket(ns), do: min(@buckets, trunc(:math.log2(max(ns, 1)) * @per_octave) + 1)

  defp percentile(counts, wanted) do
    counts
    |> Enum.with_index(1)
    |> Enum.reduce_while(0, fn {count, bucket}, sum ->
      if sum + count >= wanted, do: {:halt, {:at, bucket}}, else: {:cont, sum + count}
    end)
    |> case do
      {:at, bucket} -> :math.pow(2, (bucket - 0.5) / @per_octave)
      _ -> nil
    end
  end

  @doc """
  Milliseconds of the longest run on a normal scheduler that `:erlang.system_monitor/2` reports for processes that make
  one call each, 0 when all stay under one millisecond; and the reductions of one call.
  """
  @spec longest(Contender.id(), :decode | :encode, Path.t(), pos_integer()) :: {non_neg_integer(), number()}
  def longest(id, op, file, times) do
    json = File.read!(file)
    :persistent_term.put(__MODULE__, if(op == :decode, do: json, else: RustyJson.decode!(json)))
    function = Map.fetch!(Contender.get(id), op)
    # The first call warms up the data that later calls use.
    observed(function)
    :erlang.system_monitor(self(), [{:long_schedule, 1}])
    runs = for _ <- 1..times, do: observed(function)
    Process.sleep(20)
    :erlang.system_monitor(:undefined)
    pids = Enum.map(runs, &elem(&1, 0))
    {Enum.max([0 | reports(pids)]), RustyJson.Bench.Stats.median(Enum.map(runs, &elem(&1, 1)))}
  end

  defp observed(function) do
    {pid, monitor} =
      spawn_monitor(fn ->
        input = :persistent_term.get(__MODULE__)
        {:reductions, before} = Process.info(self(), :reductions)
        result = function.(input)
        {:reductions, done} = Process.info(self(), :reductions)
        exit({:reductions, done - before, is_binary(result)})
      end)

    receive do: ({:DOWN, ^monitor, :process, ^pid, {:reductions, reductions, _}} -> {pid, reductions})
  end

  defp reports(pids) do
    receive do
      {:monitor, pid, :long_schedule, info} ->
        if pid in pids, do: [info[:timeout] | reports(pids)], else: reports(pids)
    after
      0 -> []
    end
  end

  defp now, do: System.monotonic_time(:nanosecond)
end
