defmodule RustyJson.Wasm.Host.Wasmex.Instance do
  @moduledoc false
  # One instance in wasmex. Its store performs one operation after the other, in the order in which they were sent, and answers each with
  # a message. Being woken by such a message takes longer than all that a small document needs, so operations are sent one behind the
  # other, and only an answer that is needed is waited for.
  #
  # The functions that wait throw `{:fault, reason, detail}`, and the lender then discards the instance.

  alias RustyJson.Wasm.{Abi, Host}
  alias RustyJson.Wasm.Host.Wasmex.Loader

  # The package is optional.
  @compile {:no_warn_undefined, [Wasmex.Native, Wasmex.Store]}

  @enforce_keys [:id, :store, :instance, :memory, :memory_size]
  defstruct [:id, :store, :instance, :memory, :memory_size, address: 0, room: 0, record: nil, calls: 0]

  @typedoc """
  `room` bytes of input fit at `address`. The last record was at the address `record`; the next one is likely to be there too.
  `calls` counts those in lanes.
  """
  @type t :: %__MODULE__{
          id: reference(),
          store: term(),
          instance: term(),
          memory: term(),
          memory_size: non_neg_integer(),
          address: non_neg_integer(),
          room: non_neg_integer(),
          record: nil | non_neg_integer(),
          calls: non_neg_integer()
        }
  @type call :: %{deadline: integer(), max_memory: pos_integer()}
  @typedoc "Who is to get the answer to an operation, and what comes with it."
  @type from :: {pid(), term()}

  # Writes are copied on a normal scheduler, and wait in a queue of 1,024 operations.
  @chunk 524_288
  @chunks_ahead 32
  # The least room that is asked for, so that small inputs need not ask for any: one slice of many documents, with its options.
  @room 73_728
  # wasmex's clock is a task on the threads that run modules. Sometimes it is queued on the thread that a module occupies, where no
  # other thread can take it (tokio-rs/tokio#4941): 1 of 5,000 endless loops was never stopped, nor any after it. So a call also
  # has fuel for its time. The densest documents burn 19 million units per millisecond here.
  @fuel_per_ms 50_000_000
  @fuel_to_start 50_000_000
  # Time to stop a module: wasmex's clock ticks every 10 ms, and late on a busy machine.
  @grace 1_000

  ## An instance

  @doc "A new one that may have this much memory, with room for so much input."
  @spec new(call(), non_neg_integer()) :: t()
  def new(%{max_memory: max_memory} = call, input \\ 0) do
    %{engine: engine, module: module} = loaded = Loader.loaded()
    limits = struct(Wasmex.StoreLimits, memory_size: max_memory, instances: 1, memories: 1, tables: 1)

    with {:ok, %{resource: store}} <- Wasmex.Store.new(limits, engine) do
      this = %__MODULE__{id: make_ref(), store: store, instance: nil, memory: nil, memory_size: 0}
      fuel(this, @fuel_to_start)
      start = &Wasmex.Native.instance_new(store, module, %{}, [], &1)
      this |> request(call, start) |> started(this, call, max(input, @room), loaded)
    else
      {:error, reason} -> throw(start_fault(reason))
    end
  end

  defp started({:error, reason}, _this, _call, _input, _loaded), do: throw(start_fault(reason))

  defp started(instance, this, call, input, %{checked: checked}) do
    this = %{this | instance: instance}
    memory = request(&Wasmex.Native.memory_from_instance(this.store, instance, &1))
    version = if :atomics.get(checked, 1) == 0, do: request(&export(this, "abi_version", [], left(call), &1))
    address = request(&export(this, "input", [signed(32, input)], left(call), &1))

    tidy([version, address], fn ->
      case answer(this, call, memory) do
        {:error, reason} ->
          throw(start_fault(reason))

        memory ->
          this |> Map.put(:memory, memory) |> checked(call, version, checked) |> roomy(call, address, input)
      end
    end)
  end

  defp start_fault(reason) do
    if reason =~ "memory" and reason =~ "limit",
      do: {:fault, :memory_limit, ""},
      else: {:fault, :unavailable, "no instance: #{reason}"}
  end

  defp checked(this, _call, nil, _checked), do: this

  defp checked(this, call, request, checked) do
    case result(this, call, request) do
      version when version == unquote(Abi.version()) ->
        :atomics.put(checked, 1, 1)
        this

      version ->
        # The answer to the request behind it has come, too.
        sized(this, call)
        throw({:fault, :unavailable, "the module's exports have version #{version}, not #{Abi.version()}"})
    end
  end

  defp roomy(this, call, address, room) do
    case unsigned(result(this, call, address)) do
      0 -> throw({:fault, :memory_limit, ""})
      address -> sized(%{this | address: address, room: room}, call)
    end
  end

  defp sized(this, call), do: %{this | memory_size: request(this, call, &size(this, &1))}

  @doc "Asks how much memory it has. The answer also says that all before it is done."
  @spec size(t(), from()) :: :ok
  def size(%{store: store, memory: memory}, from), do: Wasmex.Native.memory_size(store, memory, from)

  @doc "Returns when whatever the instance was doing is over."
  @spec await(t()) :: term()
  def await(instance) do
    request = request(&size(instance, &1))
    receive do: ({^request, size} -> size)
  end

  ## A call of an instance that others use too

  @doc "Whether this input can be sent ahead."
  @spec room?(t(), non_neg_integer()) :: boolean()
  def room?(%{address: address, room: room, memory_size: size}, length),
    do: length <= room and address + length <= size

  @doc "Sends all operations of a call but the reading of its record."
  @spec send_call(t(), binary(), String.t(), [{32 | 64, integer()}], pos_integer(), from()) :: :ok
  def send_call(
        %{store: store, memory: memory, address: address} = this,
        input,
        name,
        arguments,
        timeout,
        from
      ) do
    fuel(this, timeout * @fuel_per_ms)
    # It fits, so that this cannot fail.
    :ok = Wasmex.Native.memory_write_binary(store, memory, address, input, nobody())
    export(this, name, signed(arguments), timeout, from)
  end

  @doc "Sends for this many bytes from there. Memory only grows, so that they are there."
  @spec send_read(t(), non_neg_integer(), non_neg_integer(), from()) :: :ok
  def send_read(%{store: store, memory: memory, memory_size: size}, address, length, from)
      when address + length <= size,
      do: Wasmex.Native.memory_read_binary(store, memory, address, length, from)

  ## A call of an instance that nobody else has

  @doc """
  Copies these parts, one after the other, into the module's input buffer, calls an export that gives a record, and reads the record if
  it may be that long.
  """
  @spec call(t(), [binary()], String.t(), [{32 | 64, integer()}], call(), (pos_integer() -> boolean())) ::
          {binary(), t()}
  def call(this, parts, name, arguments, call, possible?) do
    length = IO.iodata_length(parts)
    if length > call.max_memory, do: throw({:fault, :memory_limit, ""})
    this = room(this, length, call)
    fuel(this, left(call) * @fuel_per_ms)
    {_end, writes} = Enum.reduce(parts, {this.address, []}, &write(this, &1, &2, call))
    called = request(&export(this, name, signed(arguments), left(call), &1))
    size = request(&size(this, &1))

    tidy([size | writes], fn ->
      place = result(this, call, called)
      Enum.each(writes, &written(this, call, &1))
      read(%{this | memory_size: answer(this, call, size)}, Abi.place(place), call, possible?)
    end)
  end

  defp room(%{room: room} = this, length, _call) when length <= room, do: this

  defp room(this, length, call) do
    fuel(this, left(call) * @fuel_per_ms)

    case unsigned(result(this, call, request(&export(this, "input", [signed(32, length)], left(call), &1)))) do
      0 -> throw({:fault, :memory_limit, ""})
      address -> %{this | address: address, room: length}
    end
  end

  defp write(_this, <<>>, state, _call), do: state

  defp write(this, <<chunk::binary-size(@chunk), rest::binary>>, state, call),
    do: write(this, rest, write_chunk(this, chunk, state, call), call)

  defp write(this, chunk, state, call), do: write_chunk(this, chunk, state, call)

  defp write_chunk(this, chunk, {_address, writes} = state, call) when length(writes) >= @chunks_ahead do
    tidy(writes, fn -> Enum.each(writes, &written(this, call, &1)) end)
    write_chunk(this, chunk, put_elem(state, 1, []), call)
  end

  defp write_chunk(%{store: store, memory: memory}, chunk, {address, writes}, _call) do
    request = request(&Wasmex.Native.memory_write_binary(store, memory, address, chunk, &1))
    {address + byte_size(chunk), [request | writes]}
  end

  defp written(this, call, request) do
    with {:error, _reason} <- answer(this, call, request),
         do: throw({:fault, :invalid_result, "its input buffer lies outside its memory"})
  end

  @doc "Calls an export about the same input, and reads its record."
  @spec call_again(t(), String.t(), [{32 | 64, integer()}], call(), (pos_integer() -> boolean())) ::
          {binary(), t()}
  def call_again(this, name, arguments, call, possible?) do
    called = request(&export(this, name, signed(arguments), left(call), &1))
    read(this, Abi.place(result(this, call, called)), call, possible?)
  end

  defp read(_this, nil, _call, _possible?), do: throw({:fault, :memory_limit, ""})

  defp read(_this, {_address, 0}, _call, _possible?),
    do: throw({:fault, :invalid_result, "its result lies outside its memory"})

  defp read(this, {address, length}, call, possible?) do
    unless possible?.(length), do: throw({:fault, :invalid_result, "its result is longer than any can be"})
    this = within(this, address, length, call)
    {request(this, call, &send_read(this, address, length, &1)), %{this | record: address}}
  end

  # wasmex allocates before it checks whether it can read, so the length is checked first. Memory only grows.
  defp within(%{memory_size: size} = this, address, length, _call) when address + length <= size, do: this

  defp within(this, address, length, call) do
    this = sized(this, call)

    if address + length > this.memory_size,
      do: throw({:fault, :invalid_result, "an address lies outside its memory"})

    this
  end

  ## Operations

  defp fuel(%{store: store}, fuel), do: :ok = Wasmex.Native.store_or_caller_set_fuel(store, fuel, nobody())

  defp nobody, do: {Loader.loaded().nobody, 0}

  defp export(%{store: store, instance: instance}, name, arguments, timeout, from),
    do: Wasmex.Native.instance_call_exported_function(store, instance, name, arguments, from, timeout)

  defp signed(arguments), do: for({bits, number} <- arguments, do: signed(bits, number))

  # wasmex passes WebAssembly's integers as signed ones.
  defp signed(32, number), do: with(<<number::32-signed>> <- <<number::32>>, do: number)
  defp signed(64, number), do: with(<<number::64-signed>> <- <<number::64>>, do: number)
  defp unsigned(number), do: with(<<number::32>> <- <<number::32>>, do: number)

  defp result(this, call, request) do
    case answer(this, call, request) do
      {:ok, [number]} -> number
      {:error, reason} -> throw(fault(reason, sized(this, call).memory_size, call.max_memory))
    end
  end

  @doc """
  Why a call failed, from wasmex's words. wasmex does not report that a module was denied memory: one that trapped with more than half of
  its limit in use was probably denied, because buffers double.
  """
  @spec fault(String.t(), non_neg_integer(), pos_integer()) :: Host.fault()
  def fault(reason, memory_size, max_memory) do
    if reason =~ "unreachable" and 2 * memory_size > max_memory,
      do: {:fault, :memory_limit, ""},
      else: trap(reason)
  end

  defp trap(reason) do
    case Regex.run(~r/wasm trap: [^)\n]*/, reason) do
      ["wasm trap: interrupt"] -> {:fault, :timeout, ""}
      ["wasm trap: all fuel consumed" <> _] -> {:fault, :timeout, ""}
      [trap] -> {:fault, :trap, trap}
      nil -> if reason =~ "not found", do: {:fault, :unavailable, reason}, else: {:fault, :trap, reason}
    end
  end

  defp request(this, call, operation), do: answer(this, call, request(operation))

  defp request(operation) do
    request = make_ref()
    :ok = operation.({self(), request})
    request
  end

  # If something throws, the answers to these requests, which came before the one that made it throw, are not left to the caller.
  defp tidy(requests, fun) do
    fun.()
  catch
    fault ->
      Enum.each(requests, &forget/1)
      throw(fault)
  end

  defp forget(request) do
    receive do
      {^request, _answer} -> :ok
    after
      0 -> :ok
    end
  end

  defp answer(this, call, request) do
    receive do
      {^request, answer} -> answer
    after
      left(call) -> late(this, request)
    end
  end

  # After its timeout wasmex stops the module and sends nothing. The store works in order: when it answers the next request, the
  # module has stopped, and no late message can reach the caller, which might log it.
  defp late(%{memory: nil}, request) do
    # No module runs while its instance is made, so this takes no longer than the processor needs to come to it.
    receive do
      {^request, answer} -> answer
    after
      @grace -> throw({:fault, :timeout, ""})
    end
  end

  defp late(this, request) do
    next = request(&size(this, &1))

    receive do
      {^next, _size} -> :stopped
    after
      @grace -> :running
    end

    receive do
      {^request, answer} -> answer
    after
      0 -> throw({:fault, :timeout, ""})
    end
  end

  defp left(%{deadline: deadline}), do: max(deadline - System.monotonic_time(:millisecond), 1)
end
