defmodule RustyJson.Wasm.Host.Wasmex.Lanes do
  @moduledoc false
  # Owns the instances in wasmex, and shares them out to a limited number at once. There are two ways to use one:
  #
  # - Short calls are sent here. This process sends them on, up to a few behind one another in each instance (a lane), and passes the
  #   answers to their callers, who judge them.
  # - A caller with a long call, or one that takes several steps, enters, and gets an instance for itself until it leaves.
  #
  # Who comes when all is taken queues, first come first served, until its patience ends. Its deadline starts with its call, not while it
  # queues. After a fault the instance is not used again, and the calls that were sent behind the guilty one are sent to another. An
  # instance that may still run counts until it has stopped.

  use GenServer

  alias RustyJson.Wasm.Host
  alias RustyJson.Wasm.Host.Wasmex.{Instance, Lane, Shares}
  alias RustyJson.Wasm.Host.Wasmex.Lane.Call

  # How much longer than its time a call may take until its caller gives up, in milliseconds.
  @grace 2_000

  @typedoc "What kind an instance is: only those of the kind asked for are lent. It is the most memory that one may have."
  @type kind :: pos_integer() | nil
  @opaque place :: reference()

  ## For callers

  @doc "Makes a short call. `patience` is how long it may wait to start, in milliseconds."
  @spec call(GenServer.server(), %Call{}, patience :: pos_integer()) :: Lane.answer()
  def call(lanes, call, patience) do
    # Sending to a name that nobody has raises.
    case GenServer.whereis(lanes) do
      nil -> lost(:noproc)
      pid -> ask(pid, call, patience)
    end
  end

  defp ask(lanes, call, patience) do
    # Without an alias an answer could come after the caller has given up.
    ref = :erlang.monitor(:process, lanes, alias: :reply_demonitor)
    send(lanes, {:call, %{call | ref: ref, pid: self()}})

    receive do
      {^ref, answer} -> answer
      {:DOWN, ^ref, _, _, reason} -> lost(reason)
    after
      patience ->
        send(lanes, {:give_up, ref})
        started(ref, call.timeout + @grace)
    end
  end

  # The lanes know whether it has started.
  defp started(ref, timeout) do
    receive do
      {^ref, answer} -> answer
      {:DOWN, ^ref, _, _, reason} -> lost(reason)
    after
      timeout ->
        Process.demonitor(ref, [:flush])
        receive(do: ({^ref, answer} -> answer), after: (0 -> {:fault, :timeout, ""}))
    end
  end

  defp lost(reason),
    do: {:fault, :unavailable, "the process of its instances ended: #{inspect(reason, limit: 5)}"}

  @doc "The record of this instance was false: it is not used again."
  @spec discard(GenServer.server(), reference()) :: :ok
  def discard(lanes, id), do: GenServer.cast(lanes, {:discard, id})

  @doc "A place, and an instance of this kind if one is idle."
  @spec enter(GenServer.server(), pos_integer(), kind(), timeout :: pos_integer()) ::
          {place(), Instance.t() | nil} | :busy | Host.fault()
  def enter(lanes, size, kind, timeout) do
    place = make_ref()

    try do
      {place, GenServer.call(lanes, {:enter, place, size, kind}, timeout)}
    catch
      :exit, {:timeout, _} ->
        GenServer.cast(lanes, {:leave, place, kind, nil})
        :busy

      :exit, {reason, _} ->
        lost(reason)
    end
  end

  @doc "Tells which new instance the place is used for."
  @spec hold(GenServer.server(), place(), Instance.t()) :: :ok
  def hold(lanes, place, instance), do: GenServer.cast(lanes, {:hold, place, instance})

  @doc "Gives the place back, and the instance for others unless it is nil; `:running`: perhaps it has not stopped."
  @spec leave(GenServer.server(), place(), kind(), Instance.t() | nil | :running) :: :ok
  def leave(lanes, place, kind, instance), do: GenServer.cast(lanes, {:leave, place, kind, instance})

  @doc "Instances at work, instances idle, callers waiting."
  @spec counts(GenServer.server()) :: keyword(non_neg_integer())
  def counts(lanes) do
    GenServer.call(lanes, :counts)
  catch
    :exit, {_reason, {GenServer, :call, _}} -> [running: 0, kept: 0, waiting: 0]
  end

  @doc "Starts the process of this name, if it does not run. `await` returns when an instance has stopped."
  @spec ensure(module(), (Instance.t() -> term())) :: :ok
  def ensure(name, await) do
    if Process.whereis(name) == nil, do: start(name, await)
    :ok
  end

  # Before the application has started, as in a call while code compiles, nobody supervises the process. It outlives its first caller.
  defp start(name, await) do
    spec = %{id: name, start: {__MODULE__, :start_link, [name, await]}}

    if Process.whereis(RustyJson.Supervisor),
      do: Supervisor.start_child(RustyJson.Supervisor, spec),
      else: GenServer.start(__MODULE__, await, name: name)
  catch
    # The supervisor has ended, because the application stops. Calls then say that there is no process.
    :exit, {_reason, {GenServer, :call, _}} -> :ok
  end

  @doc false
  def start_link(name, await), do: GenServer.start_link(__MODULE__, await, name: name)

  ## The process

  @impl true
  def init(await), do: {:ok, %Shares{await: await}}

  @impl true
  def handle_call({:enter, place, size, kind}, {pid, _} = from, state) do
    monitor = Process.monitor(pid)

    state = %{
      state
      | monitors: Map.put(state.monitors, monitor, place),
        owners: Map.put(state.owners, place, monitor)
    }

    {:noreply, state |> Shares.wait({:enter, place, from, size, kind}) |> Shares.serve()}
  end

  def handle_call(:counts, _from, state),
    do:
      {:reply, [running: Shares.running(state), kept: length(state.idle), waiting: map_size(state.queued)],
       state}

  @impl true
  def handle_cast({:hold, place, instance}, %{owned: owned} = state) do
    owned = if is_map_key(owned, place), do: %{owned | place => instance}, else: owned
    {:noreply, %{state | owned: owned}}
  end

  def handle_cast({:leave, place, _kind, :running}, state), do: {:noreply, Shares.abandon(state, place)}

  def handle_cast({:leave, place, kind, instance}, state),
    do: {:noreply, state |> Shares.keep(kind, instance) |> Shares.release(place) |> Shares.serve()}

  def handle_cast({:discard, id}, state), do: {:noreply, state |> Shares.discard(id) |> Shares.serve()}

  @impl true
  def handle_info({{id, _number, :size}, size}, state), do: {:noreply, Shares.sized(state, id, size)}

  def handle_info({{id, number, what}, answer}, %{lanes: lanes} = state) when is_map_key(lanes, id) do
    lane = Map.fetch!(lanes, id)

    case Lane.answered(lane, number, what, answer, Shares.now()) do
      {:ok, lane} -> {:noreply, state |> Shares.put(lane) |> Shares.serve()}
      {:again, lane, call} -> {:noreply, state |> Shares.again(call) |> Shares.put(lane) |> Shares.serve()}
      {:failed, lane, fault} -> {:noreply, state |> Shares.failed(lane, fault) |> Shares.serve()}
    end
  end

  # With an empty queue it is sent at once, if a lane is open to it.
  def handle_info({:call, call}, state), do: {:noreply, state |> Shares.wait(call) |> Shares.serve()}
  def handle_info({:give_up, ref}, state), do: {:noreply, state |> Shares.give_up(ref) |> Shares.serve()}
  def handle_info(:alarm, state), do: {:noreply, %{state | alarm: nil} |> Shares.expire() |> Shares.serve()}

  def handle_info({:DOWN, monitor, :process, _pid, reason}, %{monitors: monitors, starting: starting} = state) do
    cond do
      place = monitors[monitor] -> {:noreply, state |> Shares.unqueue(place) |> Shares.abandon(place)}
      is_map_key(starting, monitor) -> {:noreply, state |> Shares.made(monitor, reason) |> Shares.serve()}
      true -> {:noreply, state |> Shares.stopped(monitor) |> Shares.serve()}
    end
  end

  # Answers of an instance that is no longer used.
  def handle_info(_message, state), do: {:noreply, state}
end
