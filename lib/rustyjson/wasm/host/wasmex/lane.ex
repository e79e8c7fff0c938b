defmodule RustyJson.Wasm.Host.Wasmex.Lane do
  @moduledoc false
  # An instance and the calls that were sent to it one behind the other, without waiting for the answers: the store works them off in
  # this order. Functions of a lane are run by the process of `RustyJson.Wasm.Host.Wasmex.Lanes`, which gets all answers.
  #
  # With a call goes the reading of its record, from where the last one was and as long as it is expected to be. If that was wrong, the
  # record is read again, provided that no other call has followed; otherwise the call is sent again, and at last the caller has to ask for
  # an instance of its own.

  alias RustyJson.Wasm.{Abi, Host}
  alias RustyJson.Wasm.Host.Wasmex.Instance

  # Calls between two questions how much memory there is.
  @calls_to_ask 64
  # Most calls in a lane: enough to keep wasmex busy while a scheduler does something else.
  @longest 16

  defmodule Call do
    @moduledoc false
    # What a caller asks for. `lengths` are the arguments of the export, `expected` and `most` the lengths of its record. A call is late
    # once the patience of its caller has ended.
    @enforce_keys [:kind, :size, :timeout, :name, :input, :lengths, :expected, :most]
    defstruct @enforce_keys ++ [:ref, :pid, alone: false, late: false, tries: 0]
  end

  @enforce_keys [:instance, :kind, :since]
  defstruct [:instance, :kind, :since, :number, :place, calls: :queue.new(), count: 0]

  @type t :: %__MODULE__{}

  @typedoc """
  What a caller gets: the record, from which instance, and by when its judge must have ended; or that it needs one of its own, and what is
  left of its time.
  """
  @type answer :: {:record, binary(), reference(), integer()} | {:again, integer()} | Host.fault()

  @typedoc "What an answer of the store means for the lane."
  @type outcome ::
          {:ok, t()}
          | {:again, t(), %Call{}}
          | {:failed, t(), Host.fault() | {:trap, String.t()} | :interrupted}

  @doc "A lane without calls."
  @spec new(Instance.t(), term(), integer()) :: t()
  def new(instance, kind, now),
    do: %__MODULE__{instance: instance, kind: kind, since: now, number: instance.calls}

  @doc "Whether a call can be sent behind the others: all of them read ahead, and none must be alone."
  @spec open?(t(), %Call{}) :: boolean()
  def open?(%{count: 0} = lane, call), do: Instance.room?(lane.instance, byte_size(call.input))
  def open?(_lane, %{alone: true}), do: false

  def open?(%{count: count, instance: instance} = lane, call) do
    count < @longest and instance.record != nil and not head(lane).alone and
      Instance.room?(instance, byte_size(call.input))
  end

  @doc "Sends a call to a lane that is open to it."
  @spec send_call(t(), %Call{}, integer()) :: t()
  def send_call(%{instance: instance, number: number} = lane, call, now) do
    from = {self(), {instance.id, number, :call}}
    :ok = Instance.send_call(instance, call.input, call.name, call.lengths, call.timeout, from)
    ahead = ahead(instance, call)
    with {address, length} <- ahead, do: send_read(lane, number, address, length)
    if rem(number, @calls_to_ask) == 0, do: Instance.size(instance, {self(), {instance.id, number, :size}})

    %{
      lane
      | calls: :queue.in({number, ahead, call}, lane.calls),
        count: lane.count + 1,
        number: number + 1,
        since: if(lane.count == 0, do: now, else: lane.since)
    }
  end

  defp ahead(%{record: nil}, _call), do: nil
  defp ahead(%{record: address, memory_size: size}, call), do: {address, min(call.expected, size - address)}

  defp send_read(%{instance: instance}, number, address, length),
    do: Instance.send_read(instance, address, length, {self(), {instance.id, number, :read}})

  @doc "The call that the store works on, or whose record is being read."
  @spec head(t()) :: %Call{}
  def head(%{calls: calls}), do: calls |> :queue.head() |> elem(2)

  @doc "All calls, in order."
  @spec calls(t()) :: [%Call{}]
  def calls(%{calls: calls}), do: for({_number, _ahead, call} <- :queue.to_list(calls), do: call)

  @doc "The lane, if this call is in it, with the call late: it is not sent again. Else nil."
  @spec late(t(), reference()) :: t() | nil
  def late(%{calls: calls} = lane, ref) do
    if Enum.any?(calls(lane), &(&1.ref == ref)) do
      late = fn {number, ahead, call} -> [{number, ahead, %{call | late: call.late or call.ref == ref}}] end
      %{lane | calls: :queue.filter(late, calls)}
    end
  end

  @doc "When the head's time is over."
  @spec deadline(t()) :: integer()
  def deadline(lane), do: lane.since + head(lane).timeout

  @doc "How much memory the instance has."
  @spec sized(t(), non_neg_integer()) :: t()
  def sized(%{instance: instance} = lane, size), do: %{lane | instance: %{instance | memory_size: size}}

  @doc "The instance, when there are no calls."
  @spec instance(t()) :: Instance.t()
  def instance(%{instance: instance, number: number}), do: %{instance | calls: number}

  @doc "An answer of the store about call number `number`, which is the head, because the store works in order."
  @spec answered(t(), non_neg_integer(), :call | :read, term(), integer()) :: outcome()
  def answered(lane, number, what, answer, now) do
    {^number, ahead, call} = :queue.head(lane.calls)

    case {what, answer} do
      {:call, {:ok, [place]}} ->
        placed(lane, ahead, Abi.place(place), now)

      {:call, {:error, reason}} ->
        {:failed, lane, {:trap, reason}}

      # wasmex has stopped the call, and says nothing about it.
      {:read, _bytes} when lane.place == nil ->
        {:failed, lane, :interrupted}

      {:read, bytes} when is_binary(bytes) ->
        record(lane, call, bytes, ahead, now)

      {:read, {:error, _reason}} ->
        {:failed, lane, {:fault, :invalid_result, "its result lies outside its memory"}}
    end
  end

  defp placed(lane, _ahead, nil, _now), do: {:failed, lane, {:fault, :memory_limit, ""}}

  defp placed(lane, _ahead, {_address, 0}, _now),
    do: {:failed, lane, {:fault, :invalid_result, "its result lies outside its memory"}}

  # The answer to the reading ahead follows.
  defp placed(lane, ahead, place, _now) when ahead != nil, do: {:ok, %{lane | place: place}}
  defp placed(lane, nil, place, now), do: read(%{lane | place: place}, now)

  # Reads a record from where it is.
  defp read(%{place: {address, length} = place, instance: instance} = lane, now) do
    if length <= head(lane).most and address + length <= instance.memory_size do
      {{:value, {number, _ahead, call}}, calls} = :queue.out(lane.calls)
      send_read(lane, number, address, length)

      {:ok,
       %{lane | instance: %{instance | record: address}, calls: :queue.in_r({number, place, call}, calls)}}
    else
      # A caller with an instance of its own finds out whether that can be.
      again(lane, now)
      {:ok, done(lane)}
    end
  end

  # The reading was sent before it was known where the record is, and how long.
  defp record(%{place: {address, length}, instance: instance} = lane, call, bytes, ahead, now) do
    cond do
      match?({^address, most} when most >= length, ahead) ->
        reply(call, {:record, cut(bytes, length), instance.id, lane.since + call.timeout})
        {:ok, %{done(lane) | since: now}}

      lane.count == 1 ->
        read(lane, now)

      address + length <= instance.memory_size ->
        call = %{once_more(lane, now) | expected: length}
        {:again, %{done(lane) | since: now, instance: %{instance | record: address}}, call}

      # The same.
      true ->
        again(lane, now)
        {:ok, %{done(lane) | since: now}}
    end
  end

  defp again(lane, now), do: lane |> once_more(now) |> refer()

  @doc "The head, to be sent again: it has only what is left of its time."
  @spec once_more(t(), integer()) :: %Call{}
  def once_more(lane, now) do
    call = head(lane)
    %{call | tries: call.tries + 1, timeout: max(deadline(lane) - now, 1)}
  end

  # A part would keep the whole in memory.
  defp cut(bytes, length) when length == byte_size(bytes), do: bytes
  defp cut(bytes, length) when 8 * length > 7 * byte_size(bytes), do: binary_part(bytes, 0, length)
  defp cut(bytes, length), do: :binary.copy(binary_part(bytes, 0, length))

  defp done(lane), do: %{lane | calls: :queue.drop(lane.calls), count: lane.count - 1, place: nil}

  @doc "Tells a caller that its call needs an instance of its own."
  @spec refer(%Call{}) :: term()
  def refer(%{timeout: left} = call), do: reply(call, {:again, left})

  @doc "Answers a caller."
  @spec reply(%Call{}, answer()) :: term()
  def reply(%{ref: ref}, answer), do: send(ref, {ref, answer})
end
