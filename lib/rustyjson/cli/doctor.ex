defmodule RustyJson.CLI.Doctor do
  @moduledoc """
  Prints the report of `mix rustyjson.doctor`. It needs no Mix, so it also runs in a release:

      bin/my_app eval 'RustyJson.CLI.Doctor.run() == :error and exit({:shutdown, 1})'

  In a running VM (`bin/my_app rpc …`), the numbers of the sandbox are those of that VM, before the self-test.
  """

  alias RustyJson.Build.Tools
  alias RustyJson.Encoder.Interop
  alias RustyJson.CLI.Doctor.{Machine, SelfTest}
  alias RustyJson.CLI.{Output, Progress}
  alias RustyJson.Standin.Stale
  alias RustyJson.Wasm.Host

  @rust "1.95.0"
  @packages [
    {:wasmex, Wasmex, "~> 0.15.0", "another host for the wasm engine, with Elixir 1.18 or newer"},
    {:decimal, Decimal, "~> 2.4 or ~> 3.0", "for the option floats: :decimals"},
    {:jason, Jason, "~> 1.4", "for structs that derive only Jason.Encoder"},
    {:plug, Plug, "~> 1.14", "for RustyJson.PlugParser, which decodes request bodies"},
    {:telemetry, :telemetry, "~> 1.0", "for events after calls (RustyJson.Telemetry)"}
  ]

  @doc """
  Prints the report. Returns `:ok` if at least one engine works and all available ones pass their test, and `:closed` if nobody reads the
  report to its end.
  """
  @spec run() :: :ok | :error | :closed
  def run, do: Output.unless_closed(&report/0)

  defp report do
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    machine()
    engines = engines()
    in_use()
    limits()
    policies(Enum.sort(RustyJson.Config.policies()))
    sandbox(for {_, [engine: :wasm, host: host], {:ok, _}} <- engines, do: host)
    tools(for {_, options, {:error, _}} <- engines, options[:host] != :wasmex, do: options)
    packages()
    self_test(for {name, options, {:ok, _}} <- engines, do: {name, options})
  end

  defp machine do
    version = Application.spec(:rustyjson, :vsn)
    heading("RustyJson #{version} on Elixir #{System.version()}, OTP #{System.otp_release()}")
    row("machine", "#{:erlang.system_info(:system_architecture)}, #{System.schedulers_online()} schedulers")
    row("CPU features", Machine.features())
  end

  ## Engines

  defp engines do
    heading("Engines")
    statuses = RustyJson.Engine.statuses()

    engines = [
      {"native", [engine: :native], statuses[:native]},
      {"wasm, built in", [engine: :wasm, host: :built_in], Host.status(:built_in)},
      {"wasm, wasmex (package)", [engine: :wasm, host: :wasmex], Host.status(:wasmex)}
    ]

    Enum.each(engines, fn {name, options, status} -> row(name, describe(options, status)) end)
    Enum.each(Machine.artifacts(Host.priv()), fn {name, text} -> row(name, text) end)
    engines
  end

  # A package that nobody needs.
  defp describe([engine: :wasm, host: :wasmex], {:error, reason}) do
    if Code.ensure_loaded?(Wasmex),
      do: describe([], {:error, reason}),
      else: "optional, not installed (see below)"
  end

  defp describe(_options, {:error, reason}), do: "MISSING: " <> reason
  defp describe(_options, {:ok, info}), do: Enum.join(["works" | details(info)], ", ")

  defp details(info), do: for({name, value} <- Enum.sort(info), name != :host, do: "#{name} #{show(value)}")

  defp show(value) when is_binary(value) or is_atom(value), do: "#{value}"
  defp show(value), do: inspect(value)

  defp in_use do
    %{engine: engine, asked: asked, by: by} = RustyJson.engine_info()
    who = %{config: "config :rustyjson, engine:", environment: "RUSTYJSON_ENGINE", default: "default"}[by]
    row("in use", "#{engine} (requested: #{asked}, by #{who})")
  end

  ## Settings

  defp limits do
    heading("Configured limits")
    values = RustyJson.Config.values(:decode)

    limits =
      [:max_bytes, :max_depth, :max_nodes, :decoding_integer_digit_limit] ++
        [:max_decimal_digits, :max_decimal_exponent, :dirty_threshold]

    for name <- limits,
        do: row("#{name}", limit(name, values[name]))

    written = RustyJson.Config.values(:encode)
    for name <- [:max_bytes, :max_depth], do: row("encode #{name}", limit(name, written[name]))

    for name <- [:timeout, :max_memory, :pool_size, :isolation],
        do: row("wasm #{name}", limit(name, values.sandbox[name]))

    host(values.sandbox)
  end

  # Which host a call takes, and why.
  defp host(%{host: :auto}) do
    case Host.status(:auto) do
      {:ok, %{host: :wasmex}} ->
        row("wasm host", "auto: calls use wasmex, because the built-in host does not work (see above)")
        at_once()

      {:ok, %{host: name}} ->
        row("wasm host", "auto: calls use #{name}, the built-in host, because it works")

      {:error, _reasons} ->
        row("wasm host", "auto: calls of the wasm engine fail, because no host works (see above)")
    end
  end

  defp host(%{host: name}) do
    row("wasm host", "#{name}: calls use it, because it is configured")
    if name == :wasmex, do: at_once()
  end

  defp at_once,
    do: row("wasmex", "runs at most #{Host.Wasmex.most()} instances at once, whatever pool_size is")

  defp policies([]), do: :ok

  defp policies(policies) do
    heading("Policies")

    for {name, %{given: given, decode: values}} <- policies,
        do: row("#{inspect(name)}", "#{engine(values)}: #{options(given)}")
  end

  defp engine(%{resolved: engine}), do: "#{RustyJson.Engine.name(engine)} engine"

  defp options([]), do: "no options"

  defp options(given),
    do: Enum.map_join(given, ", ", fn {name, value} -> "#{name}: #{inspect(value, limit: 5)}" end)

  defp limit(_name, 0), do: "no limit"

  defp limit(name, 0xFFFF_FFFF) when name in [:max_depth, :max_decimal_digits, :max_decimal_exponent],
    do: "no limit"

  defp limit(:timeout, ms), do: "#{ms} ms"

  defp limit(name, bytes) when name in [:max_bytes, :max_memory],
    do: "#{bytes} bytes (#{Progress.size(bytes)})"

  defp limit(_name, value), do: "#{value}"

  ## RustyJson.stats/0

  defp sandbox([]), do: :ok

  defp sandbox(hosts) do
    heading("Sandbox, since this VM started")
    counts = RustyJson.stats()
    for host <- hosts, do: row("#{host}", "#{instances(counts[host])}; #{failures(counts[host])}")
  end

  defp instances(stats), do: "#{stats.running} running, #{stats.kept} kept, #{stats.waiting} waiting"

  # All other counts are failed calls.
  defp failures(stats) do
    for({reason, count} <- Map.drop(stats, [:running, :kept, :waiting]), count > 0, do: "#{reason} #{count}")
    |> Enum.sort()
    |> case do
      [] -> "no call failed"
      counts -> "failed calls: " <> Enum.join(counts, ", ")
    end
  end

  ## Build tools and packages

  defp tools(absent) do
    heading("Build tools (an archive with built libraries needs none)")

    if Code.ensure_loaded?(Mix),
      do: installed(absent),
      else:
        row(
          "not used",
          "by a release: build what is MISSING on the machine that makes the release, and make it again"
        )
  end

  # What works needs no tools until it is built again.
  defp installed(absent) do
    missing =
      Enum.uniq(for part <- [:native, :guest], {what, hint} <- Tools.missing(part, @rust), do: {what, hint})

    optimiser = if Tools.wasm_opt?(), do: [], else: [{"wasm-opt is missing", Tools.hint(:wasm_opt)}]
    translator = for {:missing, what} <- [Tools.wasm2c()], do: {what, Tools.hint(:wasm2c)}

    case missing ++ optimiser ++ translator do
      [] -> row("installed", "cargo, a C compiler, the wasm32-unknown-unknown target, wasm-opt, wasm2c")
      list -> for {what, hint} <- list, do: tool(absent, what, hint)
    end
  end

  defp tool([], what, hint),
    do: row("optional", "#{what}, which you need only to build RustyJson again. #{hint}")

  defp tool(_absent, what, hint), do: row("MISSING", "#{what}. #{hint}")

  defp packages do
    heading("Optional packages")

    for {name, module, requirement, purpose} <- @packages do
      if Code.ensure_loaded?(module),
        do: row("#{name}", "#{Application.spec(name, :vsn) || "installed"}, #{purpose(module, purpose)}"),
        else: row("#{name}", "not installed: {:#{name}, \"#{requirement}\"}, #{purpose}")
    end
  end

  defp purpose(Jason, purpose),
    do:
      if(Interop.standin?(),
        do: "the stand-in, which runs on RustyJson#{stale(Stale.modules())}",
        else: purpose
      )

  defp purpose(_module, purpose), do: purpose

  defp stale([]), do: ""

  defp stale([module | more]) do
    others = if more == [], do: " was", else: " and #{length(more)} more were"
    ". #{inspect(module)}#{others} compiled with another :jason. #{Stale.advice()}"
  end

  ## Self-test

  defp self_test([]) do
    heading("Self-test")
    row("FAILED", "no engine works: see MISSING above")
    :error
  end

  defp self_test(engines) do
    heading("Self-test")
    results = for {name, options} <- engines, do: {name, SelfTest.run(options)}
    Enum.each(results, fn {name, result} -> row(name, verdict(result)) end)
    if Enum.all?(results, &match?({_, {:ok, _}}, &1)), do: :ok, else: :error
  end

  defp verdict({:ok, words}), do: "passed: #{words}"
  defp verdict({:error, words}), do: "FAILED: #{words}"

  defp heading(text), do: IO.puts("\n" <> text)
  defp row(name, text), do: IO.puts("  " <> String.pad_trailing(name, 28) <> " " <> text)
end
