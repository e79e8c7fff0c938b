defmodule RustyJson.Wasm.Starter do
  @moduledoc false
  # Starts what takes long to start, once: one process does it, and each caller waits at most as long as it wants to.
  #
  # A failure is remembered for a second, so that a host that cannot start does not compile the module again for every call.

  use GenServer

  @remember 1_000

  @type result :: {:ok, term()} | {:error, String.t()}

  @doc "Runs the function, or waits for the process that already runs it under this name; `:busy` if that takes too long."
  @spec run(term(), timeout(), (() -> result())) :: result() | :busy
  def run(name, timeout, start) do
    if Process.whereis(__MODULE__), do: ask({:run, name, start}, timeout), else: start.()
  end

  defp ask(request, timeout) do
    GenServer.call(__MODULE__, request, timeout)
  catch
    :exit, {:timeout, _} -> :busy
    # It has ended, because the application stops.
    :exit, {reason, _} -> {:error, "the process that starts it ended: #{inspect(reason, limit: 5)}"}
  end

  @doc "Forgets failures: the next call tries again."
  @spec forget() :: :ok
  def forget, do: if(Process.whereis(__MODULE__), do: GenServer.call(__MODULE__, :forget), else: :ok)

  @doc false
  def start_link(_options), do: GenServer.start_link(__MODULE__, [], name: __MODULE__)

  @impl true
  def init(_options), do: {:ok, %{running: %{}, failed: %{}}}

  @impl true
  def handle_call({:run, name, start}, from, state) do
    case remembered(state, name) do
      nil -> {:noreply, state |> started(name, start) |> waiting(name, from)}
      failure -> {:reply, failure, state}
    end
  end

  def handle_call(:forget, _from, state), do: {:reply, :ok, %{state | failed: %{}}}

  defp remembered(%{failed: failed}, name) do
    with {failure, at} <- failed[name], true <- now() - at < @remember, do: failure, else: (_ -> nil)
  end

  defp started(%{running: running} = state, name, _start) when is_map_key(running, name), do: state

  defp started(state, name, start) do
    {_pid, monitor} = spawn_monitor(fn -> exit({:shutdown, {__MODULE__, start.()}}) end)
    %{state | running: Map.put(state.running, name, {monitor, []})}
  end

  defp waiting(state, name, from),
    do: update_in(state.running[name], fn {monitor, waiting} -> {monitor, [from | waiting]} end)

  @impl true
  def handle_info({:DOWN, monitor, :process, _pid, reason}, state) do
    {name, {^monitor, waiting}} = Enum.find(state.running, &match?({_, {^monitor, _}}, &1))
    result = result(reason)
    Enum.each(waiting, &GenServer.reply(&1, result))
    state = %{state | running: Map.delete(state.running, name)}
    {:noreply, if(match?({:error, _}, result), do: put_in(state.failed[name], {result, now()}), else: state)}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp result({:shutdown, {__MODULE__, result}}), do: result
  defp result(reason), do: {:error, "starting it failed: #{inspect(reason, limit: 5)}"}

  defp now, do: System.monotonic_time(:millisecond)
end
