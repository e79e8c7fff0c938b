# The processes that make the calls and those that watch them; see script/soak.

defmodule Soak.Histogram do
  @moduledoc "Latencies in buckets that grow by an eighth of a power of two."

  @steps 8
  @buckets 256

  def new, do: :counters.new(@buckets, [:write_concurrency])

  def add(counters, microseconds) do
    :counters.add(counters, min(trunc(@steps * :math.log2(max(microseconds, 1))) + 1, @buckets), 1)
  end

  def quantiles(counters, shares) do
    counts = for bucket <- 1..@buckets, do: :counters.get(counters, bucket)
    total = Enum.sum(counts)
    for share <- shares, do: if(total == 0, do: 0, else: find(counts, share * total, 0, 1))
  end

  defp find([count | rest], rank, seen, bucket) do
    if seen + count >= rank or rest == [],
      do: round(:math.pow(2, bucket / @steps)),
      else: find(rest, rank, seen + count, bucket + 1)
  end
end

defmodule Soak.Worker do
  @moduledoc "One of the processes: it repeatedly picks a document and an engine, and checks the result."

  # Of 100 documents.
  @mix good: 80, broken: 17, hostile: 3

  def start(cases, state), do: spawn_link(fn -> loop(cases, state) end)

  defp loop(cases, state) do
    receive do
      {:stop, from} -> send(from, {:stopped, self()})
    after
      0 ->
        {engine, cases_of} = Enum.random(cases)
        call(engine, Enum.random(Map.fetch!(cases_of, kind())), state)
        loop(cases, state)
    end
  end

  defp kind do
    dice = :rand.uniform(100)

    Enum.reduce_while(@mix, 0, fn {kind, share}, sum ->
      if dice <= sum + share, do: {:halt, kind}, else: {:cont, sum + share}
    end)
  end

  defp call(engine, {kind, name, what, options, right?}, state) do
    {time, outcome} = :timer.tc(fn -> run(what, options) end)
    Soak.Histogram.add(state.times[{engine, kind}], time)
    :ets.update_counter(state.table, {engine, label(outcome)}, 1, {{engine, label(outcome)}, 0})
    unless right?.(outcome), do: wrong(engine, name, outcome, state)
  end

  defp run({:decode, json}, options), do: RustyJson.decode(json, options)
  defp run({:encode, term}, options), do: RustyJson.encode(term, options)

  defp run({:stream, json, rows}, options) do
    stream = json |> pieces() |> RustyJson.decode_stream(options)
    {:ok, if(rows == :all, do: Enum.to_list(stream), else: Enum.take(stream, rows))}
  rescue
    error in [RustyJson.DecodeError, RustyJson.SandboxError] -> {:error, error}
  end

  defp run({:encode_stream, rows}, options) do
    {:ok, rows |> RustyJson.encode_stream(options) |> Enum.join()}
  rescue
    error in [RustyJson.EncodeError, RustyJson.SandboxError] -> {:error, error}
  end

  defp run({:partial, json}, options) do
    partial = RustyJson.Partial.new(options)

    with %RustyJson.Partial{} = partial <- Enum.reduce_while(pieces(json), partial, &push/2),
         do: RustyJson.Partial.finish(partial)
  end

  defp push(piece, partial) do
    case RustyJson.Partial.push(partial, piece) do
      {:ok, partial} -> {:cont, partial}
      failed -> {:halt, failed}
    end
  end

  # Pieces end anywhere.
  defp pieces(json) do
    Stream.unfold(json, fn
      "" -> nil
      json -> :erlang.split_binary(json, min(:rand.uniform(5_000), byte_size(json)))
    end)
  end

  defp label({:ok, _}), do: :ok
  defp label({:error, error}), do: error.reason

  # Good documents may wait for an instance for as long as their timeout.
  defp wrong(engine, name, outcome, state) do
    shown = inspect(outcome, limit: 5, printable_limit: 100)
    :ets.insert(state.table, {{:wrong, System.unique_integer()}, "#{engine}, #{name}: #{shown}"})
  end
end

defmodule Soak.Killer do
  @moduledoc "Ends processes during their call, which must leave nothing behind."

  def start(engines), do: spawn_link(fn -> loop(engines) end)

  defp loop(engines) do
    document = "[" <> String.duplicate("[],", :rand.uniform(500_000)) <> "0]"
    options = Enum.random(engines)
    pid = spawn(fn -> Enum.random([&decode/2, &stream/2, &partial/2]).(document, options) end)
    Process.sleep(:rand.uniform(20))
    Process.exit(pid, :kill)
    Process.sleep(:rand.uniform(200))
    loop(engines)
  end

  defp decode(document, options), do: RustyJson.decode(document, options)

  defp stream(document, options),
    do: [document] |> Stream.map(& &1) |> RustyJson.decode_stream([format: :array] ++ options) |> Enum.count()

  defp partial(document, options), do: RustyJson.Partial.push(RustyJson.Partial.new(options), document)
end

defmodule Soak.Watch do
  @moduledoc "Watches memory, instances and blocked schedulers."

  def start(limit_ms, table) do
    spawn_link(fn ->
      :erlang.system_monitor(self(), [{:long_schedule, limit_ms}])
      held(table)
    end)
  end

  defp held(table) do
    receive do
      {:monitor, _pid, :long_schedule, info} ->
        :ets.insert(table, {{:held, System.unique_integer()}, {info[:timeout], where(info)}})
    end

    held(table)
  end

  defp where(info), do: "from #{inspect(info[:in])} to #{inspect(info[:out])}"

  def rss do
    case File.read("/proc/self/status") do
      {:ok, text} ->
        text |> then(&Regex.run(~r/VmRSS:\s+(\d+)/, &1)) |> Enum.at(1) |> String.to_integer() |> div(1024)

      {:error, _} ->
        ps()
    end
  end

  defp ps do
    {text, 0} = System.cmd("ps", ["-o", "rss=", "-p", System.pid()])
    text |> String.trim() |> String.to_integer() |> div(1024)
  end

  def sample, do: %{rss: rss(), binary: div(:erlang.memory(:binary), 1_048_576)}

  def instances(engines) do
    if Enum.any?(engines, &(&1[:host] == :built_in)), do: RustyJson.Wasm.Host.BuiltIn.counts(), else: []
  end
end
