defmodule RustyJson.Wasm.Host.Wasmex.Shares do
  @moduledoc false
  # What the process of `RustyJson.Wasm.Host.Wasmex.Lanes` knows: the instances, who has them, and who waits. Each function says what
  # follows from an event.

  alias RustyJson.Wasm.Host
  alias RustyJson.Wasm.Host.Wasmex.{Instance, Lane}
  alias RustyJson.Wasm.Host.Wasmex.Lane.Call

  # Most idle instances, whatever the pool sizes of the calls.
  @most_idle 64
  # Instances with more linear memory are not kept.
  @keep_memory 33_554_432
  # Times that a call is sent in a lane before its caller needs an instance of its own.
  @tries 3

  # `lanes`: by the numbers of their instances.
  # `owned`: instances by the places of their owners, and `owners`: who asked for which place, so that each is found in constant time.
  # `waiting`: calls, and callers that want to enter. Those that are not in `queued` wait no longer, and stay until it is their turn.
  # `condemned`: numbers of instances that somebody owns and that gave a false record before.
  # `starting`: kinds of instances that are made for lanes, and the calls in whose time. `stopping`: the processes that wait until
  # an instance has stopped.
  @enforce_keys [:await]
  defstruct await: nil,
            lanes: %{},
            owned: %{},
            owners: %{},
            monitors: %{},
            starting: %{},
            stopping: %{},
            idle: [],
            condemned: %{},
            waiting: :queue.new(),
            queued: %{},
            alarm: nil

  @type t :: %__MODULE__{}
  @type entry :: %Call{} | {:enter, reference(), GenServer.from(), pos_integer(), term()}

  ## The queue

  @doc "A call, or a caller that wants to enter, queues."
  @spec wait(t(), entry()) :: t()
  def wait(state, entry),
    do: %{state | waiting: :queue.in(entry, state.waiting), queued: Map.put(state.queued, key(entry), true)}

  @doc "A call is sent again, before others."
  @spec again(t(), %Call{}) :: t()
  # A late call does not queue again: nothing would end its wait. Nobody gets this answer where the caller has gone.
  def again(state, %{tries: tries, late: late} = call) when tries >= @tries or late do
    Lane.refer(call)
    state
  end

  def again(state, call),
    do: %{state | waiting: :queue.in_r(call, state.waiting), queued: Map.put(state.queued, call.ref, true)}

  defp key({:enter, place, _from, _size, _kind}), do: place
  defp key(%Call{ref: ref}), do: ref

  @doc "What has this key no longer waits."
  @spec unqueue(t(), reference()) :: t()
  def unqueue(state, key), do: %{state | queued: Map.delete(state.queued, key)}

  @doc "Starts what can start, in the order of the queue."
  @spec serve(t()) :: t()
  # The head of the queue goes first, even if a later call allows more instances.
  def serve(state) do
    case :queue.peek(state.waiting) do
      :empty ->
        state

      {:value, entry} ->
        cond do
          not is_map_key(state.queued, key(entry)) -> serve(%{state | waiting: :queue.drop(state.waiting)})
          served = start(state, entry) -> served |> served(entry) |> serve()
          true -> prepare(state, entry)
        end
    end
  end

  # What was asked for again is in front.
  defp served(state, entry), do: unqueue(%{state | waiting: :queue.drop(state.waiting)}, key(entry))

  @doc "How many instances are at work."
  @spec running(t()) :: non_neg_integer()
  def running(%{lanes: lanes, owned: owned, starting: starting, stopping: stopping}),
    do: map_size(lanes) + map_size(owned) + map_size(starting) + map_size(stopping)

  # nil if it has to wait.
  defp start(state, {:enter, place, from, size, kind}) do
    if running(state) < size do
      {instance, idle} = take(state.idle, kind)
      GenServer.reply(from, instance)
      %{state | owned: Map.put(state.owned, place, instance), idle: idle}
    end
  end

  defp start(state, %Call{pid: pid} = call) do
    cond do
      node(pid) == node() and not Process.alive?(pid) -> state
      running(state) < call.size and List.keymember?(state.idle, call.kind, 0) -> open(state, call)
      lane = shortest(state, call) -> state |> prepare(call) |> send_call(lane, call)
      true -> nil
    end
  end

  defp open(state, call) do
    {instance, idle} = take(state.idle, call.kind)
    state = %{state | idle: idle}
    lane = Lane.new(instance, call.kind, now())

    if Lane.open?(lane, call),
      do: send_call(state, lane, call),
      else: answered(state, call, {:again, call.timeout})
  end

  defp answered(state, call, answer) do
    Lane.reply(call, answer)
    state
  end

  defp send_call(state, lane, call) do
    lane = Lane.send_call(lane, call, now())
    put(state, lane)
  end

  defp shortest(%{lanes: lanes}, %{kind: kind} = call) do
    open = for {_id, %{kind: ^kind} = lane} <- lanes, Lane.open?(lane, call), do: lane
    Enum.min_by(open, & &1.count, fn -> nil end)
  end

  defp take(idle, kind) do
    case List.keytake(idle, kind, 0) do
      {{^kind, instance}, rest} -> {instance, rest}
      nil -> {nil, idle}
    end
  end

  # Makes another instance for lanes where one is allowed and none is being made. Callers that enter make their own.
  defp prepare(state, %Call{ref: ref, kind: kind, size: size, timeout: timeout}) do
    if running(state) < size and not starting?(state, kind) and
         not List.keymember?(state.idle, kind, 0) do
      deadline = now() + timeout
      {_pid, monitor} = spawn_monitor(fn -> make(%{deadline: deadline, max_memory: kind}) end)
      %{state | starting: Map.put(state.starting, monitor, {kind, ref})}
    else
      state
    end
  end

  defp prepare(state, _entry), do: state

  defp starting?(%{starting: starting}, kind), do: Enum.any?(starting, &match?({_monitor, {^kind, _ref}}, &1))

  defp make(call) do
    exit({:shutdown, {:instance, Instance.new(call)}})
  catch
    {:fault, _reason, _detail} = fault -> exit({:shutdown, fault})
  end

  @doc "An instance was made for lanes, or could not be made."
  @spec made(t(), reference(), term()) :: t()
  def made(state, monitor, reason) do
    {{kind, ref}, starting} = Map.pop!(state.starting, monitor)
    state = %{state | starting: starting}

    case reason do
      {:shutdown, {:instance, instance}} -> keep(state, kind, instance)
      {:shutdown, {:fault, :timeout, _} = fault} -> overdue(state, kind, ref, fault)
      {:shutdown, {:fault, _, _} = fault} -> refuse(state, kind, fault)
      other -> refuse(state, kind, {:fault, :unavailable, "no instance: #{inspect(other, limit: 5)}"})
    end
  end

  # The time of one call is over, not that of another: an instance is made for that one next, unless its patience has ended too.
  defp overdue(%{queued: queued} = state, kind, ref, fault) do
    case :queue.peek(state.waiting) do
      {:value, %Call{ref: ^ref}} when is_map_key(queued, ref) ->
        refuse(state, kind, fault)

      {:value, %Call{ref: other, kind: ^kind, late: true}} when is_map_key(queued, other) ->
        busy(state, other)

      _ ->
        state
    end
  end

  # Whoever waits for an instance of this kind at the head of the queue has the fault of making it. The next one tries again.
  defp refuse(state, kind, fault) do
    with {:value, entry} <- :queue.peek(state.waiting) do
      case {is_map_key(state.queued, key(entry)), entry} do
        {false, _entry} -> refuse(%{state | waiting: :queue.drop(state.waiting)}, kind, fault)
        {true, %Call{kind: ^kind}} -> state |> answered(entry, fault) |> served(entry)
        _ -> state
      end
    else
      :empty -> state
    end
  end

  @doc "A caller does not want to wait any longer."
  @spec give_up(t(), reference()) :: t()
  # A call that waits has waited too long, unless its instance is being made. One behind others in a lane has not started either.
  def give_up(%{queued: queued} = state, ref) when is_map_key(queued, ref) do
    case :queue.peek(state.waiting) do
      {:value, %Call{ref: ^ref, kind: kind} = call} ->
        if starting?(state, kind),
          do: %{state | waiting: :queue.in_r(%{call | late: true}, :queue.drop(state.waiting))},
          else: busy(state, ref)

      _ ->
        busy(state, ref)
    end
  end

  def give_up(%{lanes: lanes} = state, ref) do
    case Enum.find_value(lanes, fn {_id, lane} -> Lane.late(lane, ref) end) do
      nil ->
        state

      lane ->
        state = %{state | lanes: %{lanes | lane.instance.id => lane}}
        if Lane.head(lane).ref == ref, do: state, else: busy(state, ref)
    end
  end

  defp busy(state, ref) do
    send(ref, {ref, {:fault, :busy, ""}})
    unqueue(state, ref)
  end

  ## Lanes

  @doc "A lane has changed."
  @spec put(t(), Lane.t()) :: t()
  # A lane without calls is an idle instance.
  def put(state, %{count: 0} = lane),
    do: state |> remove(lane) |> keep(lane.kind, Lane.instance(lane))

  def put(state, lane),
    do: watch(%{state | lanes: Map.put(state.lanes, lane.instance.id, lane)}, Lane.deadline(lane))

  @doc "An instance said how much memory it has."
  @spec sized(t(), reference(), non_neg_integer()) :: t()
  # A lane is kept, or not, when its calls have ended.
  def sized(%{lanes: lanes} = state, id, size) when is_map_key(lanes, id),
    do: %{state | lanes: Map.update!(lanes, id, &Lane.sized(&1, size))}

  def sized(state, _id, size) when size <= @keep_memory, do: state

  def sized(state, id, _size),
    do: %{state | idle: Enum.reject(state.idle, fn {_kind, instance} -> instance.id == id end)}

  # One timer for all lanes. It may come early; then the next one is set.
  defp watch(%{alarm: {soonest, _timer}} = state, deadline) when soonest <= deadline, do: state

  defp watch(state, deadline) do
    with {_later, timer} <- state.alarm, do: Process.cancel_timer(timer)
    timer = Process.send_after(self(), :alarm, max(deadline - now(), 0) + 1)
    %{state | alarm: {deadline, timer}}
  end

  @doc "Calls whose time is over end."
  @spec expire(t()) :: t()
  def expire(state) do
    now = now()

    Enum.reduce(state.lanes, state, fn {_id, lane}, state ->
      if Lane.deadline(lane) <= now,
        do: failed(state, lane, {:fault, :timeout, ""}),
        else: watch(state, Lane.deadline(lane))
    end)
  end

  @doc "The head of a lane failed."
  @spec failed(t(), Lane.t(), Host.fault() | {:trap, String.t()} | :interrupted) :: t()
  # The head of the lane did it. wasmex counts its time from when it was sent, so one that was sent behind others may have had too little.
  def failed(state, lane, :interrupted) do
    if Lane.deadline(lane) <= now(),
      do: failed(state, lane, {:fault, :timeout, ""}),
      else: state |> close(lane, tl(Lane.calls(lane))) |> again(%{Lane.once_more(lane, now()) | alone: true})
  end

  # Whether memory was denied shows in how much there is, which the instance tells when it stops.
  def failed(state, lane, {:trap, reason}) do
    call = Lane.head(lane)
    told = fn size -> Lane.reply(call, Instance.fault(reason, size, lane.kind)) end
    state |> remove(lane) |> stop(lane.instance, told) |> send_again(tl(Lane.calls(lane)))
  end

  def failed(state, lane, fault) do
    Lane.reply(Lane.head(lane), fault)
    close(state, lane, tl(Lane.calls(lane)))
  end

  @doc "A lane is not used again."
  @spec close(t(), Lane.t(), [%Call{}]) :: t()
  # These calls of the lane are sent again, to another instance.
  def close(state, lane, calls),
    do: state |> remove(lane) |> stop(lane.instance, fn _size -> :ok end) |> send_again(calls)

  defp remove(state, lane), do: %{state | lanes: Map.delete(state.lanes, lane.instance.id)}
  defp send_again(state, calls), do: calls |> Enum.reverse() |> Enum.reduce(state, &again(&2, &1))

  ## Instances that are no longer used

  # This process never waits; another one does.
  defp stop(%{await: await} = state, instance, told) do
    {_pid, monitor} = spawn_monitor(fn -> told.(await.(instance)) end)
    %{state | stopping: Map.put(state.stopping, monitor, [])}
  end

  @doc "The process that waited for an instance has ended."
  @spec stopped(t(), reference()) :: t()
  def stopped(state, monitor), do: %{state | stopping: Map.delete(state.stopping, monitor)}

  @doc "The owner of a place is gone, or its instance may still run."
  @spec abandon(t(), reference()) :: t()
  def abandon(%{owned: owned} = state, place) do
    case owned do
      %{^place => instance} when instance != nil ->
        state |> stop(instance, fn _size -> :ok end) |> release(place)

      _ ->
        state |> release(place) |> serve()
    end
  end

  @doc "A place is free."
  @spec release(t(), reference()) :: t()
  # The caller is no longer watched, and waits for nothing.
  def release(%{owners: owners} = state, place) do
    case Map.pop(owners, place) do
      {nil, _owners} ->
        state

      {monitor, owners} ->
        Process.demonitor(monitor, [:flush])
        {instance, owned} = Map.pop(state.owned, place)
        condemned = if instance, do: Map.delete(state.condemned, instance.id), else: state.condemned
        monitors = Map.delete(state.monitors, monitor)
        unqueue(%{state | owners: owners, monitors: monitors, owned: owned, condemned: condemned}, place)
    end
  end

  @doc "This instance gave a false record: it is not used again."
  @spec discard(t(), reference()) :: t()
  def discard(%{lanes: lanes} = state, id) when is_map_key(lanes, id) do
    lane = Map.fetch!(lanes, id)
    close(state, lane, [Lane.once_more(lane, now()) | tl(Lane.calls(lane))])
  end

  def discard(state, id) do
    owned? = Enum.any?(state.owned, fn {_place, instance} -> instance != nil and instance.id == id end)
    state = if owned?, do: %{state | condemned: Map.put(state.condemned, id, true)}, else: state
    %{state | idle: Enum.reject(state.idle, fn {_kind, instance} -> instance.id == id end)}
  end

  @doc "An instance is idle."
  @spec keep(t(), term(), Instance.t() | nil) :: t()
  def keep(state, _kind, nil), do: state
  def keep(%{condemned: condemned} = state, _kind, %{id: id}) when is_map_key(condemned, id), do: state
  def keep(state, _kind, %{memory_size: size}) when size > @keep_memory, do: state

  def keep(state, kind, instance),
    do: %{state | idle: Enum.take([{kind, instance} | state.idle], @most_idle)}

  @doc "Milliseconds."
  @spec now() :: integer()
  def now, do: System.monotonic_time(:millisecond)
end
