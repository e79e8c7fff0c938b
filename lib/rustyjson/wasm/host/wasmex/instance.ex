defmodule RustyJson.Wasm.Host.Wasmex.Instance do
  @moduledoc false
  # One instance in wasmex. Its store performs one operation at a time and answers each request with a message.
  #
  # Functions throw `{:fault, reason, detail}`, and the lender then discards the instance.

  alias RustyJson.Wasm.{Abi, Host, Starter}

  # The package is optional.
  @compile {:no_warn_undefined,
            [Wasmex.Engine, Wasmex.EngineConfig, Wasmex.Instance, Wasmex.Memory, Wasmex.Module, Wasmex.Store] ++
              [Wasmex.Native, Wasmex.StoreOrCaller]}

  @enforce_keys [:store, :instance, :memory, :memory_size]
  defstruct [:store, :instance, :memory, :memory_size]

  @type t :: %__MODULE__{store: term(), instance: term(), memory: term(), memory_size: non_neg_integer()}
  @type call :: %{deadline: integer(), max_memory: pos_integer()}

  # Writes are copied on a normal scheduler.
  @chunk 524_288
  # wasmex's clock is a task on the threads that run modules. Sometimes it is queued on the thread that a module occupies, where no
  # other thread can take it (tokio-rs/tokio#4941): 1 of 5,000 endless loops was never stopped, nor any after it. So a call also
  # has fuel for its time. The densest documents burn 19 million units per millisecond here.
  @fuel_per_ms 50_000_000
  @fuel_to_start 50_000_000
  # Time to stop a module: wasmex's clock ticks every 10 ms, and late on a busy machine.
  @grace 1_000

  ## The package and the module

  # A function that adds two vectors: (func (param v128) (result v128) (i8x16.add (local.get 0) (local.get 0)))
  @addition <<0, "asm", 1::little-32, 1, 6, 1, 0x60, 1, 0x7B, 1, 0x7B, 3, 2, 1, 0, 10, 10, 1, 8, 0, 0x20, 0,
              0x20>> <>
              <<0, 0xFD, 0x6E, 0x0B>>
  @no_vectors "it needs vector instructions that wasmex can use, which this processor does not have (on riscv64 the extension V)"

  @doc "Compiles the module once; returns the reason if that is not possible, `:busy` if it takes too long."
  @spec ready(timeout()) :: :ok | :busy | {:error, String.t()}
  def ready(timeout \\ :infinity) do
    if ready?() do
      :ok
    else
      with {:ok, _} <- Starter.run(__MODULE__, timeout, &start/0), do: :ok
    end
  end

  defp ready?, do: :persistent_term.get(__MODULE__, nil) != nil

  defp start do
    with :ok <- if(ready?(), do: :ok, else: load(nil)), do: {:ok, __MODULE__}
  end

  @doc "Compiles this module, or the one that was built."
  @spec load(binary() | nil) :: :ok | {:error, String.t()}
  def load(wasm) do
    with true <-
           Code.ensure_loaded?(Wasmex) ||
             {:error, "the Hex package wasmex (~> 0.15.0) is not among the dependencies"},
         true <-
           most() > 0 || {:error, "wasmex can stop a module only on two or more processors"},
         {:ok, wasm} <- if(wasm, do: {:ok, wasm}, else: Host.guest()) do
      compile(wasm)
    end
  end

  defp compile(wasm) do
    # By default wasmex does not optimise.
    config = struct(Wasmex.EngineConfig, cranelift_opt_level: :speed, consume_fuel: true)

    with {:ok, engine} <- Wasmex.Engine.new(config),
         {:ok, store} <- Wasmex.Store.new(nil, engine),
         true <- vectors?(store) || {:error, @no_vectors},
         {:ok, module} <- Wasmex.Module.compile(store, wasm),
         :ok <- without_imports(module) do
      seed = :rand.uniform(0xFFFF_FFFF_FFFF)
      :persistent_term.put(__MODULE__, %{engine: engine, module: module, seed: seed})
    else
      {:error, reason} -> {:error, "wasmex cannot load the module: #{reason}"}
    end
  rescue
    error -> {:error, "wasmex does not work: #{Exception.message(error)}"}
  end

  # Where the processor has none, the compiler of wasmex panics, in many threads, and its message does not say why.
  defp vectors?(store) do
    match?({:ok, _}, Wasmex.Module.compile(store, @addition))
  rescue
    _ in ErlangError -> false
  end

  defp without_imports(module) do
    if Wasmex.Module.imports(module) == %{}, do: :ok, else: {:error, "it has imports"}
  end

  @doc "What the module's hashes are mixed with."
  @spec seed() :: non_neg_integer()
  def seed, do: :persistent_term.get(__MODULE__).seed

  @spec version() :: String.t()
  def version, do: to_string(Application.spec(:wasmex, :vsn))

  @doc "How many may run at once: one of wasmex's threads, which are as many as there are processors, has to be free."
  @spec most() :: non_neg_integer()
  def most do
    # A container may use fewer processors than it sees; wasmex counts the usable ones.
    known =
      for item <- [:logical_processors_available, :cpu_quota],
          n = :erlang.system_info(item),
          is_integer(n),
          do: n

    Enum.min(known, fn -> System.schedulers_online() end) - 1
  end

  @doc "Returns when whatever the instance was doing is over."
  @spec await(t()) :: term()
  def await(%{store: store, memory: memory}) do
    ref = make_ref()
    # A store performs its operations one after the other.
    :ok = Wasmex.Native.memory_size(store.resource, memory.resource, {self(), ref})
    receive do: ({^ref, size} -> size)
  end

  ## An instance

  @doc "A new one that may have this much memory."
  @spec new(call()) :: t()
  def new(%{max_memory: max_memory} = call) do
    %{engine: engine, module: module} = :persistent_term.get(__MODULE__)
    limits = struct(Wasmex.StoreLimits, memory_size: max_memory, instances: 1, memories: 1, tables: 1)

    with {:ok, store} <- Wasmex.Store.new(limits, engine),
         :ok <- Wasmex.StoreOrCaller.set_fuel(store, @fuel_to_start),
         {:ok, instance} <- Wasmex.Instance.new(store, module, %{}),
         {:ok, memory} <- Wasmex.Memory.from_instance(store, instance) do
      check_version(%__MODULE__{store: store, instance: instance, memory: memory, memory_size: 0}, call)
    else
      {:error, reason} -> throw(start_fault(reason))
    end
  end

  defp start_fault(reason) do
    if reason =~ "memory" and reason =~ "limit",
      do: {:fault, :memory_limit, ""},
      else: {:fault, :unavailable, "no instance: #{reason}"}
  end

  defp check_version(instance, call) do
    version = function(instance, "abi_version", [], call)

    if version == Abi.version(),
      do: sized(instance, call),
      else:
        throw({:fault, :unavailable, "the module's exports have version #{version}, not #{Abi.version()}"})
  end

  defp sized(%{store: store, memory: memory} = instance, call) do
    size = request(instance, call, &Wasmex.Native.memory_size(store.resource, memory.resource, &1))
    %{instance | memory_size: size}
  end

  @doc "Copies these parts, one after the other, into the module's input buffer."
  @spec write(t(), [binary()], call()) :: t()
  def write(instance, parts, call) do
    length = Enum.sum(for part <- parts, do: byte_size(part))
    if length > call.max_memory, do: throw({:fault, :memory_limit, ""})
    address = refuelled(instance, call, fn -> unsigned(function(instance, "input", [{32, length}], call)) end)
    if address == 0, do: throw({:fault, :memory_limit, ""})
    instance = within(instance, address, length, call)
    _end = Enum.reduce(parts, address, &write_part(instance, &2, &1, call))
    instance
  end

  # The store works in order, so this answer has arrived when the next one has.
  defp refuelled(%{store: store}, call, fun) do
    ref = make_ref()
    :ok = Wasmex.Native.store_or_caller_set_fuel(store.resource, left(call) * @fuel_per_ms, {self(), ref})

    try do
      fun.()
    after
      receive do
        {^ref, _} -> :ok
      after
        0 -> :ok
      end
    end
  end

  defp write_part(_instance, address, <<>>, _call), do: address

  defp write_part(instance, address, <<chunk::binary-size(@chunk), rest::binary>>, call) do
    write_chunk(instance, address, chunk, call)
    write_part(instance, address + @chunk, rest, call)
  end

  defp write_part(instance, address, chunk, call) do
    write_chunk(instance, address, chunk, call)
    address + byte_size(chunk)
  end

  defp write_chunk(%{store: store, memory: memory} = instance, address, chunk, call) do
    case request(
           instance,
           call,
           &Wasmex.Native.memory_write_binary(store.resource, memory.resource, address, chunk, &1)
         ) do
      :ok -> :ok
      {:error, _reason} -> throw({:fault, :invalid_result, "its input buffer lies outside its memory"})
    end
  end

  @doc "Calls an export that gives a record, and reads the record if it may be that long."
  @spec call(t(), String.t(), [{32 | 64, integer()}], call(), (pos_integer() -> boolean())) :: {binary(), t()}
  def call(instance, name, arguments, call, possible?) do
    {address, length} =
      Abi.place(function(instance, name, arguments, call)) || throw({:fault, :memory_limit, ""})

    if length == 0, do: throw({:fault, :invalid_result, "its result lies outside its memory"})
    unless possible?.(length), do: throw({:fault, :invalid_result, "its result is longer than any can be"})
    instance = within(instance, address, length, call)
    {read(instance, address, length, call), instance}
  end

  defp read(%{store: store, memory: memory} = instance, address, length, call) do
    case request(
           instance,
           call,
           &Wasmex.Native.memory_read_binary(store.resource, memory.resource, address, length, &1)
         ) do
      record when is_binary(record) -> record
      {:error, _reason} -> throw({:fault, :invalid_result, "its result lies outside its memory"})
    end
  end

  # wasmex allocates before it checks whether it can read, so the length is checked first. Memory only grows.
  defp within(%{memory_size: size} = instance, address, length, _call) when address + length <= size,
    do: instance

  defp within(instance, address, length, call) do
    instance = sized(instance, call)

    if address + length > instance.memory_size,
      do: throw({:fault, :invalid_result, "an address lies outside its memory"})

    instance
  end

  ## Operations

  defp function(%{store: store, instance: instance} = this, name, arguments, call) do
    left = left(call)
    arguments = for {bits, number} <- arguments, do: signed(bits, number)

    request = fn from ->
      Wasmex.Native.instance_call_exported_function(
        store.resource,
        instance.resource,
        name,
        arguments,
        from,
        left
      )
    end

    case request(this, call, request) do
      {:ok, [number]} -> number
      {:error, reason} -> throw(fault(this, reason, call))
    end
  end

  # wasmex passes WebAssembly's integers as signed ones.
  defp signed(32, number), do: with(<<number::32-signed>> <- <<number::32>>, do: number)
  defp signed(64, number), do: with(<<number::64-signed>> <- <<number::64>>, do: number)
  defp unsigned(number), do: with(<<number::32>> <- <<number::32>>, do: number)

  # wasmex does not report that a module was denied memory. A module that trapped with more than half of its limit in use was
  # probably denied, because buffers double.
  defp fault(instance, reason, call) do
    if reason =~ "unreachable" and 2 * sized(instance, call).memory_size > call.max_memory,
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

  defp request(instance, call, fun) do
    ref = make_ref()
    :ok = fun.({self(), ref})

    receive do
      {^ref, result} -> result
    after
      left(call) -> late(instance, ref)
    end
  end

  # After its timeout wasmex stops the module and sends nothing. The store works in order: when it answers the next request, the
  # module has stopped, and no late message can reach the caller, which might log it.
  defp late(%{store: store, memory: memory}, ref) do
    next = make_ref()
    :ok = Wasmex.Native.memory_size(store.resource, memory.resource, {self(), next})

    receive do
      {^next, _size} -> :stopped
    after
      @grace -> :running
    end

    receive do
      {^ref, result} -> result
    after
      0 -> throw({:fault, :timeout, ""})
    end
  end

  defp left(%{deadline: deadline}), do: max(deadline - System.monotonic_time(:millisecond), 1)
end
