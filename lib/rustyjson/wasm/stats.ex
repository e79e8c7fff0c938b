defmodule RustyJson.Wasm.Stats do
  @moduledoc false
  # Counts failed sandbox calls for each host and reason. Successful calls are not counted.

  alias RustyJson.SandboxError
  alias RustyJson.Wasm.Host

  @reasons [:busy, :timeout, :memory_limit, :trap, :invalid_result, :unavailable]
  @hosts [built_in: Host.BuiltIn, wasmex: Host.Wasmex]

  @doc "Makes the counters."
  @spec start() :: :ok
  def start do
    unless counters(),
      do:
        :persistent_term.put(
          __MODULE__,
          :counters.new(length(@hosts) * length(@reasons), [:write_concurrency])
        )

    :ok
  end

  @doc "Counts a call that failed."
  @spec failed(module(), SandboxError.reason()) :: :ok
  def failed(host, reason) do
    with counters when counters != nil <- counters(), do: :counters.add(counters, place(host, reason), 1)
    :ok
  end

  for {{_name, host}, row} <- Enum.with_index(@hosts), {reason, column} <- Enum.with_index(@reasons) do
    defp place(unquote(host), unquote(reason)), do: unquote(row * length(@reasons) + column + 1)
  end

  # A call that ended before a host was found.
  defp place(Host.Auto, reason), do: place(Host.BuiltIn, reason)

  @doc "The figures of every host."
  @spec all() :: %{built_in: RustyJson.host_stats(), wasmex: RustyJson.host_stats()}
  def all, do: Map.new(@hosts, fn {name, host} -> {name, Map.merge(instances(host), failures(host))} end)

  defp failures(host) do
    counters = counters()
    Map.new(@reasons, &{&1, if(counters, do: :counters.get(counters, place(host, &1)), else: 0)})
  end

  # Does not start a host that has not been used yet.
  defp instances(host) do
    if host.started?(), do: Map.new(host.counts()), else: %{running: 0, kept: 0, waiting: 0}
  end

  defp counters, do: :persistent_term.get(__MODULE__, nil)
end
