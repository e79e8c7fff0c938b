defmodule RustyJson.Wasm.Events do
  @moduledoc false
  # Telemetry of the sandbox. The package is optional; whether it is there is found out when the configuration is read, so that
  # calls without it pay nothing.

  alias RustyJson.Wasm.Host

  @compile {:no_warn_undefined, :telemetry}
  @event [:rustyjson, :sandbox, :stop]
  @names %{Host.Wasmtime => :wasmtime, Host.Wasmex => :wasmex, Host.Auto => :auto}

  @doc "Sandbox options that say whether calls are measured."
  @spec sandbox() :: map()
  def sandbox, do: if(Code.ensure_loaded?(:telemetry), do: %{events: true}, else: %{})

  @doc "Runs a call into the sandbox and tells what came of it."
  @spec measured(Host.operation(), binary(), atom(), (() -> result)) :: result when result: term()
  def measured(operation, body, host, run) do
    start = System.monotonic_time()
    result = run.()
    measurements = %{duration: System.monotonic_time() - start, bytes: byte_size(body)}
    # `:auto` is known once it has run.
    host = Map.fetch!(@names, Host.get(host))
    :telemetry.execute(@event, measurements, %{host: host, operation: operation, reason: reason(result)})
    result
  end

  defp reason({:fault, reason, _detail}), do: reason
  defp reason(_result), do: nil
end
