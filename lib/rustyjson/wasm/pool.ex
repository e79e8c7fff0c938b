defmodule RustyJson.Wasm.Pool do
  @moduledoc false
  # Lends instances of a host that has no pool, to a limited number of callers at once.
  #
  # The others queue, first come first served, until their timeout. A caller that dies gives its place back, and its instance is
  # not lent again. If the instance may still run, the place stays taken until it has stopped.

  use GenServer

  # Most idle instances, whatever the pool sizes of the calls.
  @most_idle 64

  @typedoc "What a host keeps, and what kind it is: only instances of the kind asked for are lent."
  @type kind :: term()
  @type instance :: term()
  @opaque place :: reference()

  @doc "A place, and an instance of this kind if one is idle."
  @spec enter(GenServer.server(), pos_integer(), kind(), timeout :: pos_integer()) ::
          {place(), instance() | nil} | :busy
  def enter(pool, size, kind, timeout) do
    place = make_ref()

    try do
      {place, GenServer.call(pool, {:enter, place, size, kind}, timeout)}
    catch
      :exit, {:timeout, _} ->
        GenServer.cast(pool, {:leave, place, kind, nil})
        :busy
    end
  end

  @doc "Tells which new instance the place is used for."
  @spec hold(GenServer.server(), place(), instance()) :: :ok
  def hold(pool, place, instance), do: GenServer.cast(pool, {:hold, place, instance})

  @doc "Gives the place back, and the instance for others unless it is nil; `:running`: perhaps it has not stopped."
  @spec leave(GenServer.server(), place(), kind(), instance() | nil | :running) :: :ok
  def leave(pool, place, kind, instance), do: GenServer.cast(pool, {:leave, place, kind, instance})

  @doc "Places taken, instances idle, callers waiting."
  @spec counts(GenServer.server()) :: keyword(non_neg_integer())
  def counts(pool), do: GenServer.call(pool, :counts)

  @doc "Starts the pool of this name, if it does not run. `await` returns when an instance has stopped."
  @spec ensure(module(), (instance() -> term())) :: :ok
  def ensure(name, await) do
    with nil <- Process.whereis(name) do
      spec = %{id: name, start: {__MODULE__, :start_link, [name, await]}}
      Supervisor.start_child(RustyJson.Supervisor, spec)
    end

    :ok
  end

  @doc false
  def start_link(name, await), do: GenServer.start_link(__MODULE__, await, name: name)

  @impl true
  def init(await), do: {:ok, %{await: await, taken: %{}, monitors: %{}, idle: [], waiting: :queue.new()}}

  @impl true
  def handle_call({:enter, place, size, kind}, {pid, _} = from, state) do
    monitor = Process.monitor(pid)
    state = put_in(state.monitors[monitor], place)
    {:noreply, serve(%{state | waiting: :queue.in({place, monitor, from, size, kind}, state.waiting)})}
  end

  def handle_call(:counts, _from, state) do
    {:reply, [running: map_size(state.taken), kept: length(state.idle), waiting: :queue.len(state.waiting)],
     state}
  end

  @impl true
  def handle_cast({:hold, place, instance}, %{taken: taken} = state) do
    taken = if is_map_key(taken, place), do: %{taken | place => instance}, else: taken
    {:noreply, %{state | taken: taken}}
  end

  def handle_cast({:leave, place, _kind, :running}, state), do: {:noreply, await(state, place)}

  def handle_cast({:leave, place, kind, instance}, state),
    do: {:noreply, state |> release(place) |> keep(kind, instance) |> serve()}

  @impl true
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, state) do
    case state.monitors do
      %{^monitor => place} -> {:noreply, await(state, place)}
      _ -> {:noreply, state}
    end
  end

  def handle_info({:stopped, place}, state), do: {:noreply, state |> release(place) |> serve()}

  def handle_info(_message, state), do: {:noreply, state}

  # The head of the queue goes first, even if a later call allows a larger pool.
  defp serve(state) do
    with {:value, {place, _monitor, from, size, kind}} <- :queue.peek(state.waiting),
         true <- map_size(state.taken) < size do
      {instance, idle} = take(state.idle, kind)
      GenServer.reply(from, instance)

      serve(%{
        state
        | taken: Map.put(state.taken, place, instance),
          idle: idle,
          waiting: :queue.drop(state.waiting)
      })
    else
      _ -> state
    end
  end

  defp take(idle, kind) do
    case List.keytake(idle, kind, 0) do
      {{^kind, instance}, rest} -> {instance, rest}
      nil -> {nil, idle}
    end
  end

  # This process never waits; another one does.
  defp await(%{taken: taken, await: await} = state, place) do
    case taken do
      %{^place => instance} when instance != nil ->
        pool = self()

        spawn(fn ->
          try do
            await.(instance)
          after
            send(pool, {:stopped, place})
          end
        end)

        forget(state, place)

      _ ->
        state |> release(place) |> serve()
    end
  end

  defp release(state, place), do: forget(%{state | taken: Map.delete(state.taken, place)}, place)

  # Stops monitoring the caller, which no longer waits.
  defp forget(state, place) do
    waiting = :queue.filter(&(elem(&1, 0) != place), state.waiting)
    {monitors, gone} = {state.monitors, for({monitor, ^place} <- state.monitors, do: monitor)}
    Enum.each(gone, &Process.demonitor(&1, [:flush]))
    %{state | monitors: Map.drop(monitors, gone), waiting: waiting}
  end

  defp keep(state, _kind, nil), do: state

  defp keep(state, kind, instance),
    do: %{state | idle: Enum.take([{kind, instance} | state.idle], @most_idle)}
end
