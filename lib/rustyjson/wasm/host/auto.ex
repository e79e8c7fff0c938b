defmodule RustyJson.Wasm.Host.Auto do
  @moduledoc false
  # Stands for the host until it is known which one is used. Finding that out starts it, which counts as waiting.

  @behaviour RustyJson.Wasm.Host

  alias RustyJson.Wasm.Host

  @impl true
  def run(operation, body, bytes, %{sandbox: sandbox} = options) do
    chosen(sandbox, fn host, sandbox -> host.run(operation, body, bytes, %{options | sandbox: sandbox}) end)
  end

  @impl true
  def status, do: Host.status(:auto)

  defp chosen(%{timeout: timeout} = sandbox, call) do
    start = System.monotonic_time(:millisecond)

    case Host.choose(timeout) do
      {:ok, host} -> call.(host, %{sandbox | timeout: left(start + timeout)})
      :busy -> {:fault, :busy, ""}
    end
  end

  defp left(deadline), do: max(deadline - System.monotonic_time(:millisecond), 1)
end
