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
  def write(term, bytes, %{sandbox: sandbox} = options) do
    chosen(sandbox, fn host, sandbox -> host.write(term, bytes, %{options | sandbox: sandbox}) end)
  end

  @impl true
  def status, do: Host.status(:auto)

  defp chosen(sandbox, call) do
    patience = Host.patience(sandbox)
    start = System.monotonic_time(:millisecond)

    case Host.choose(patience) do
      {:ok, host} -> call.(host, shortened(sandbox, left(start + patience)))
      {:error, reason} -> {:fault, :unavailable, reason}
      :busy -> {:fault, :busy, :starting}
    end
  end

  defp shortened(%{patience: _} = sandbox, left), do: %{sandbox | patience: left}
  defp shortened(sandbox, left), do: %{sandbox | timeout: left}

  defp left(deadline), do: max(deadline - System.monotonic_time(:millisecond), 1)
end
