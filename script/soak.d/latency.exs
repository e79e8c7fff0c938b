# Measures how long good documents take in the native engine while other processes decode hostile ones:
#   MIX_ENV=prod mix run script/soak.d/latency.exs [SECONDS]
# Eight processes decode a good document every few milliseconds, like requests. In every second round, eight more processes decode
# hostile documents without a pause. Rounds alternate, so that other load on the machine affects both kinds alike.

for file <- ~w(../../bench/support/documents.ex cases.exs processes.exs), do: Code.require_file(file, __DIR__)

defmodule Soak.Latency do
  @moduledoc false

  alias RustyJson.Bench.Documents
  alias Soak.{Case, Histogram}

  @good ~w(object_1kb records_40 settlement)
  @processes 8
  @rounds 5

  def main(seconds) do
    hostile = for {:hostile, _, {:decode, json}, options, _} <- Case.all(engine: :native), do: {json, options}
    documents = Map.new(Documents.all())
    milliseconds = round(seconds * 1000 / (2 * @rounds * length(@good)))

    for name <- @good do
      json = documents[name].()
      times = %{idle: Histogram.new(), hostile: Histogram.new()}

      for _ <- 1..@rounds do
        round(json, [], times.idle, milliseconds)
        round(json, hostile, times.hostile, milliseconds)
      end

      IO.puts("#{name}, #{byte_size(json)} bytes: p50 / p99 / p99.9 in µs, calls")

      for {load, counters} <- [idle: times.idle, hostile: times.hostile],
          do: IO.puts("  #{load}: #{show(counters)}")
    end
  end

  defp show(counters) do
    calls = Enum.sum(for bucket <- 1..256, do: :counters.get(counters, bucket))
    Enum.join(Histogram.quantiles(counters, [0.5, 0.99, 0.999]), " / ") <> ", #{calls}"
  end

  defp round(json, hostile, counters, milliseconds) do
    bad = for _ <- 1..@processes, hostile != [], do: spawn_link(fn -> attack(hostile) end)
    good = for _ <- 1..@processes, do: spawn_link(fn -> ask(json, counters) end)
    Process.sleep(milliseconds)

    for pid <- good ++ bad do
      Process.unlink(pid)
      Process.exit(pid, :kill)
    end

    # Calls on a dirty scheduler run to their end.
    Process.sleep(300)
  end

  defp attack(hostile) do
    {json, options} = Enum.random(hostile)
    RustyJson.decode(json, options)
    attack(hostile)
  end

  defp ask(json, counters) do
    Process.sleep(:rand.uniform(8))
    {time, {:ok, _}} = :timer.tc(fn -> RustyJson.decode(json, engine: :native) end)
    Histogram.add(counters, time)
    ask(json, counters)
  end
end

case System.argv() do
  [] -> Soak.Latency.main(60)
  [seconds] -> Soak.Latency.main(String.to_integer(seconds))
end
