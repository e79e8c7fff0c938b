defmodule RustyJson.Wasm.Host.Auto do
  @moduledoc false
  # Stands for the host until it is known which one is used. Finding that out starts it, which counts as waiting.

  @behaviour RustyJson.Wasm.Host

  alias RustyJson.Wasm.Host

  @impl true
  def decode(json, packed, sandbox), do: chosen(sandbox, & &1.decode(json, packed, &2))

  @impl true
  def encode(etf, extra, packed, sandbox), do: chosen(sandbox, & &1.encode(etf, extra, packed, &2))

  @impl true
  def transform(text, extra, operation, sandbox),
    do: chosen(sandbox, & &1.transform(text, extra, operation, &2))

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
