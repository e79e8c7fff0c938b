defmodule RustyJson.Wasm.Host.Wasmex.Loader do
  @moduledoc false
  # Compiles the module in wasmex, once, and keeps it for all instances.

  alias RustyJson.Wasm.{Host, Starter}

  # The package is optional.
  @compile {:no_warn_undefined, [Wasmex.Engine, Wasmex.Module, Wasmex.Store]}

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

  @doc "Compiles this module, or the one that was built, unless that one was only set aside for another."
  @spec load(binary() | nil) :: :ok | {:error, String.t()}
  def load(wasm) do
    case :persistent_term.get(__MODULE__, nil) do
      nil -> load_first(wasm)
      %{real: real} when wasm == nil and real != nil -> :persistent_term.put(__MODULE__, real)
      %{real: real} = loaded -> compile(wasm, loaded.engine, real || loaded)
    end
  end

  defp load_first(wasm) do
    with true <-
           Code.ensure_loaded?(Wasmex) ||
             {:error, "the Hex package wasmex (~> 0.15.0) is not among the dependencies"},
         true <-
           most() > 0 || {:error, "wasmex can stop a module only on two or more processors"},
         {:ok, wasm} <- if(wasm, do: {:ok, wasm}, else: Host.guest()),
         {:ok, engine} <- engine() do
      compile(wasm, engine, nil)
    end
  end

  # By default wasmex does not optimise.
  defp engine do
    Wasmex.Engine.new(struct(Wasmex.EngineConfig, cranelift_opt_level: :speed, consume_fuel: true))
  rescue
    error -> {:error, "wasmex does not work: #{Exception.message(error)}"}
  end

  # `real` is what is loaded besides: this module takes its place for a time.
  defp compile(wasm, engine, real) do
    with {:ok, store} <- Wasmex.Store.new(nil, engine),
         true <- vectors?(store) || {:error, @no_vectors},
         {:ok, module} <- Wasmex.Module.compile(store, wasm),
         :ok <- without_imports(module) do
      put(engine, module, real)
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

  defp put(engine, module, real) do
    :persistent_term.put(__MODULE__, %{
      engine: engine,
      module: module.resource,
      real: real,
      seed: :rand.uniform(0xFFFF_FFFF_FFFF),
      # Set once an instance had the right version.
      checked: :atomics.new(1, []),
      # A process that has ended gets the answers that nobody needs, so that they wake nobody.
      nobody: spawn(fn -> :ok end)
    })
  end

  @doc "What is loaded."
  @spec loaded() :: map()
  def loaded, do: :persistent_term.get(__MODULE__)

  @doc "What the module's hashes are mixed with."
  @spec seed() :: non_neg_integer()
  def seed, do: loaded().seed

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
end
