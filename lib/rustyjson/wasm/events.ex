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
  documents are tried again. The body is nil where the host itself reads a term.
  """
  @spec measured({Host.operation(), [atom()]}, binary() | nil, atom(), (() -> result)) :: result
        when result: term()
  def measured(operation, body, host, run) do
    start = System.monotonic_time()

    case run.() do
      # The call is made again elsewhere.
      again when again in [:external, nil] -> again
      result -> emit(operation, body, host, start, result)
    end
  end

  defp emit({operation, retried}, body, host, start, result) do
    duration = System.monotonic_time() - start
    # The host behind `:auto` is known only after the call.
    host = Host.get(host)
    measurements = %{duration: duration, bytes: size(body, result)}
    reason = reason(result)
    about = %{host: @names[host], operation: operation, reason: reason, retried: reason in retried}
    Telemetry.emit(:sandbox, measurements, about)
    result
  end

  # Of a term that the host reads, only the text has a size.
  defp size(nil, result), do: text_size(result)
  defp size(body, _result), do: byte_size(body)

  defp text_size({:ok, text}), do: byte_size(text)
  defp text_size({:partial, text, _holes}), do: byte_size(text)
  defp text_size({:planned, answer, _modules}), do: text_size(answer)
  defp text_size({:lost, answer, _parts}), do: text_size(answer)
  defp text_size({:since, _started, answer}), do: text_size(answer)
  defp text_size(_fault), do: 0

  defp reason({:since, _started, answer}), do: reason(answer)
  defp reason({:fault, reason, _detail}), do: reason
  defp reason(_result), do: nil
end
