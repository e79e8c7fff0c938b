defmodule RustyJson.Wasm.Events do
  @moduledoc false
  # Events of the sandbox (`RustyJson.Telemetry`). The package is optional. RustyJson looks for it when it reads the configuration, so
  # calls without it cost no more.

  alias RustyJson.Telemetry
  alias RustyJson.Wasm.Host

  @names %{Host.BuiltIn => :built_in, Host.Wasmex => :wasmex, Host.Auto => :auto}

  @doc "The sandbox option that turns measuring on, if the package is loaded."
  @spec sandbox() :: map()
  def sandbox, do: if(Telemetry.package?(), do: %{events: true}, else: %{})

  @doc """
  Runs a call into the sandbox and emits an event with its duration and result. With the operation come the faults after which the
  documents are tried again.
  """
  @spec measured({Host.operation(), [atom()]}, term(), atom(), (() -> result)) :: result when result: term()
  def measured(operation, body, host, run) do
    start = System.monotonic_time()

    case run.() do
      # The call is made again elsewhere.
      again when again in [:external, nil] -> again
      result -> emit(operation, size(body, result), host, start, result)
    end
  end

  # A term that the host reads has no size of its own.
  defp size(body, _result) when is_binary(body), do: byte_size(body)
  defp size(_term, {:ok, text}), do: byte_size(text)
  defp size(_term, {:partial, text, _holes}), do: byte_size(text)
  defp size(term, {:planned, answer, _modules}), do: size(term, answer)
  defp size(term, {:since, _started, answer}), do: size(term, answer)
  defp size(_term, _fault), do: 0

  defp emit({operation, retried}, bytes, host, start, result) do
    measurements = %{duration: System.monotonic_time() - start, bytes: bytes}
    # The host behind `:auto` is known only after the call.
    host = Map.fetch!(@names, Host.get(host))
    reason = reason(result)
    about = %{host: host, operation: operation, reason: reason, retried: reason in retried}
    Telemetry.emit(:sandbox, measurements, about)
    result
  end

  defp reason({:since, _started, answer}), do: reason(answer)
  defp reason({:fault, reason, _detail}), do: reason
  defp reason(_result), do: nil
end
