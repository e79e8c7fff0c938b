# The endurance run behind script/soak; see there.

for file <-
      ~w(bench/support/documents.ex script/soak.d/cases.exs script/soak.d/processes.exs),
    do: Code.require_file("../" <> file, __DIR__)

defmodule Soak do
  @moduledoc false

  alias Soak.{Case, Histogram, Killer, Watch, Worker}

  @engines [
    native: [engine: :native],
    built_in: [engine: :wasm, host: :built_in],
    wasmex: [engine: :wasm, host: :wasmex]
  ]
  @kinds [:good, :broken, :hostile]

  def main(minutes) do
    engines = for {name, options} <- @engines, there?(options), do: {name, options}
    if engines == [], do: raise(RustyJson.EngineError)
    state = state(engines)
    processes = number("RUSTYJSON_SOAK_PROCESSES", 50)

    IO.puts(
      "#{processes} processes, #{minutes} minutes, engines: #{Enum.map_join(engines, ", ", &elem(&1, 0))}"
    )

    cases = for {name, options} <- engines, do: {name, Enum.group_by(Case.all(options), &elem(&1, 0))}
    Watch.start(number("RUSTYJSON_SOAK_HELD_MS", 100), state.table)

    # The state after the warm-up, when nothing runs, must be the state at the end.
    run = fn minutes -> run(minutes, processes, cases, state, engines) end
    warm = run.(minutes / 4)
    rest = run.(minutes * 3 / 4)
    verdict(warm, rest, state, engines)
  end

  defp run(minutes, processes, cases, state, engines) do
    workers = for _ <- 1..processes, do: Worker.start(cases, state)
    killer = Killer.start(Keyword.values(engines))

    watch(minutes, state, engines)
    Process.unlink(killer)
    Process.exit(killer, :kill)
    for worker <- workers, do: send(worker, {:stop, self()})
    for worker <- workers, do: receive(do: ({:stopped, ^worker} -> :ok))
    quiet()
  end

  # Killed processes may still have a running call.
  defp quiet do
    Process.sleep(3_000)
    Enum.each(Process.list(), &:erlang.garbage_collect/1)
    Watch.sample()
  end

  defp there?(options) do
    match?({:ok, [1]}, RustyJson.decode("[1]", options))
  rescue
    _ -> false
  end

  defp number(name, default), do: String.to_integer(System.get_env(name, "#{default}"))

  defp state(engines) do
    times = for {engine, _} <- engines, kind <- @kinds, into: %{}, do: {{engine, kind}, Histogram.new()}
    %{times: times, table: :ets.new(:soak, [:public, write_concurrency: true])}
  end

  ## While it runs

  defp watch(minutes, state, engines) do
    total = round(minutes * 60_000)
    tell(max(div(total, 30), 1_000), now(), total, state, engines)
  end

  defp tell(every, start, total, state, engines) do
    Process.sleep(every)
    elapsed = now() - start
    IO.puts(line(elapsed, Watch.sample(), state, engines))

    if elapsed < total and wrong(state) == [],
      do: tell(every, start, total, state, engines)
  end

  defp line(elapsed, sample, state, engines) do
    calls = for {{_, _}, n} when is_integer(n) <- outcomes(state), do: n
    instances = for {key, n} <- Watch.instances(Keyword.values(engines)), do: " #{key} #{n}"

    "#{String.pad_leading("#{div(elapsed, 1000)}", 5)} s  #{Enum.sum(calls)} calls  RSS #{sample.rss} MB, binaries #{sample.binary} MB;" <>
      "#{instances}; held #{length(held(state))}; " <> Enum.map_join(engines, "; ", &latency(&1, state))
  end

  defp latency({engine, _}, state) do
    [p50, p99, p999] = Histogram.quantiles(state.times[{engine, :good}], [0.5, 0.99, 0.999])
    "#{engine} good p50 #{ms(p50)} p99 #{ms(p99)} p99.9 #{ms(p999)} ms"
  end

  defp ms(microseconds), do: Float.round(microseconds / 1000, 2)

  defp outcomes(state),
    do:
      for(
        {{engine, _} = key, n} <- :ets.tab2list(state.table),
        engine not in [:wrong, :held],
        do: {key, n}
      )

  defp wrong(state), do: for({{:wrong, _}, text} <- :ets.tab2list(state.table), do: text)
  defp held(state), do: for({{:held, _}, what} <- :ets.tab2list(state.table), do: what)
  defp now, do: System.monotonic_time(:millisecond)

  ## In the end

  defp verdict(warm, rest, state, engines) do
    IO.puts("\nOutcomes")
    for {{engine, label}, n} <- Enum.sort(outcomes(state)), do: IO.puts("  #{engine} #{label}: #{n}")
    IO.puts("Latency, p50 / p99 / p99.9 in ms")

    for {{engine, kind}, counters} <- Enum.sort(state.times) do
      quantiles = Histogram.quantiles(counters, [0.5, 0.99, 0.999])
      IO.puts("  #{engine} #{kind}: #{Enum.map_join(quantiles, " / ", &ms/1)}")
    end

    IO.puts("Quiet after a quarter: RSS #{warm.rss} MB, binaries #{warm.binary} MB")
    IO.puts("Quiet in the end: RSS #{rest.rss} MB, binaries #{rest.binary} MB;#{instances_text(engines)}")
    {ours, others} = Enum.split_with(held(state), fn {_ms, where} -> where =~ "RustyJson" end)

    IO.puts(
      "Schedulers held: #{length(ours)} times in RustyJson, #{length(others)} times elsewhere, #{worst(others)} ms at most"
    )

    report(wrong_answers(state) ++ holders(ours, worst(others)) ++ left(engines) ++ growth(warm, rest))
  end

  defp worst(held), do: held |> Enum.map(&elem(&1, 0)) |> Enum.max(fn -> 0 end)

  defp instances_text(engines),
    do: for({key, n} <- Watch.instances(Keyword.values(engines)), do: " #{key} #{n}")

  defp wrong_answers(state), do: for(text <- Enum.take(wrong(state), 5), do: "wrong answer: #{text}")

  # On an overloaded machine, every process is delayed now and then.
  defp holders(ours, control) do
    for {ms, where} <- ours |> Enum.sort(:desc) |> Enum.take(3),
        ms > control,
        do: "a scheduler was held for #{ms} ms, #{where}"
  end

  defp left(engines) do
    for {key, n} <- Watch.instances(Keyword.values(engines)),
        key != :kept,
        n > 0,
        do: "left behind: #{key} #{n}"
  end

  defp growth(warm, rest) do
    [
      rest.rss > warm.rss * 1.15 + 50 && "memory grew from #{warm.rss} to #{rest.rss} MB",
      rest.binary > warm.binary + 20 && "#{rest.binary} MB of binaries are left"
    ]
    |> Enum.filter(& &1)
  end

  defp report([]), do: IO.puts("passed")

  defp report(problems) do
    Enum.each(problems, &IO.puts("FAILED: #{&1}"))
    System.halt(1)
  end
end

[minutes] = System.argv()
minutes |> Float.parse() |> elem(0) |> Soak.main()
