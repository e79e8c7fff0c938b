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
  # `callers`: who asked for which place, so that each place is found in constant time. One that no longer waits stays in the
  # queue until it is its turn.
  def init(await) do
    {:ok,
     %{await: await, taken: %{}, callers: %{}, monitors: %{}, idle: [], waiting: :queue.new(), asleep: 0}}
  end

  @impl true
  def handle_call({:enter, place, size, kind}, {pid, _} = from, state) do
    monitor = Process.monitor(pid)

    {:noreply,
     serve(%{
       state
       | monitors: Map.put(state.monitors, monitor, place),
         callers: Map.put(state.callers, place, {:asleep, monitor}),
         waiting: :queue.in({place, from, size, kind}, state.waiting),
         asleep: state.asleep + 1
     })}
  end

  def handle_call(:counts, _from, state) do
    {:reply, [running: map_size(state.taken), kept: length(state.idle), waiting: state.asleep], state}
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
    case :queue.peek(state.waiting) do
      {:value, {place, _from, _size, _kind}} when not is_map_key(state.callers, place) ->
        serve(%{state | waiting: :queue.drop(state.waiting)})

      {:value, {_place, _from, size, _kind} = head} when map_size(state.taken) < size ->
        state |> lend(head) |> serve()

      _ ->
        state
    end
  end

  defp lend(state, {place, from, _size, kind}) do
    {instance, idle} = take(state.idle, kind)
    GenServer.reply(from, instance)
    {:asleep, monitor} = Map.fetch!(state.callers, place)

    %{
      state
      | taken: Map.put(state.taken, place, instance),
        callers: Map.put(state.callers, place, {:served, monitor}),
        idle: idle,
        waiting: :queue.drop(state.waiting),
        asleep: state.asleep - 1
    }
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

  # The caller is no longer watched, and waits for nothing.
  defp forget(%{callers: callers} = state, place) do
    case callers do
      %{^place => {what, monitor}} ->
        Process.demonitor(monitor, [:flush])
        asleep = if what == :asleep, do: state.asleep - 1, else: state.asleep

        %{
          state
          | callers: Map.delete(callers, place),
            monitors: Map.delete(state.monitors, monitor),
            asleep: asleep
        }

      _ ->
        state
    end
  end

  defp keep(state, _kind, nil), do: state

  defp keep(state, kind, instance),
    do: %{state | idle: Enum.take([{kind, instance} | state.idle], @most_idle)}
end
