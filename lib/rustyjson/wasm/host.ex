defmodule RustyJson.Wasm.Host do
  @moduledoc """
  What runs the WebAssembly module: `RustyJson.Wasm.Host.BuiltIn`, which is built in, or `RustyJson.Wasm.Host.Wasmex`, which
  needs the Hex package `wasmex`.

  A host trusts nothing that the module returns. It checks addresses and lengths against the module's memory, and that a
  result is a JSON-shaped term or a text, before it passes it on.
  """

  alias RustyJson.Engine.Native.Remedy
  alias RustyJson.Wasm.{Host, Starter}

  @typedoc "What is done: a document to a term, a term in External Term Format to text, text to text."
  @type operation :: :decode | :many | :feed | :encode | :gzip | :format | :canonicalize

  @type sandbox :: %{
          required(:host) => :auto | :built_in | :wasmex,
          required(:pool_size) => pos_integer(),
          required(:max_memory) => pos_integer(),
          required(:timeout) => pos_integer(),
          required(:isolation) => :reuse | :fresh,
          optional(:deadline) => integer(),
          optional(:patience) => pos_integer(),
          optional(:events) => true
        }

  @typedoc "The reason of a `RustyJson.SandboxError`, with a detail."
  @type fault :: {:fault, RustyJson.SandboxError.reason(), String.t() | :starting}

  @typedoc "What decoding gives. Of a type whose structs this host does not build, `{:ok, {:plain, answer}}`."
  @type decoded :: {:ok, term()} | {:error, RustyJson.Engine.decode_failure()}

  @typedoc "What encoding gives."
  @type encoded ::
          {:ok, binary()}
          | {:partial, binary(), [RustyJson.Engine.hole()]}
          | {:error, RustyJson.Engine.encode_failure()}

  @typedoc "What a piece of a stream gives."
  @type fed :: RustyJson.Engine.fed() | :unknown_atoms

  @typedoc "What many documents give: the terms of those without a failure."
  @type many :: {:many, [term()], [{non_neg_integer(), RustyJson.Engine.decode_failure()}]} | :refused

  @doc "Runs one call. `bytes` are the options as the module reads them, and with `:encode` the plans of structs."
  @callback run(operation(), body :: binary(), bytes :: binary(), RustyJson.Options.t()) ::
              decoded() | many() | fed() | encoded() | fault()

  @typedoc """
  What writing gives. The modules are those whose plans were used. Where many parts of the term left no text, their number stands beside it.
  """
  @type written :: planned() | {:lost, planned(), non_neg_integer()} | :external

  @typedoc "An answer, with the modules whose plans were used."
  @type planned :: answer() | {:planned, answer(), [module()]}

  @typedoc "A text, a text with holes and their terms, or an error."
  @type answer ::
          {:ok, binary()}
          | {:partial, binary(), [RustyJson.Engine.hole()]}
          | {:error, RustyJson.Engine.encode_failure()}

  @doc """
  Encodes a term that the host itself reads. `:external`: this host reads none, and needs `run/4` with External Term Format.
  """
  @callback write(term(), bytes :: binary(), RustyJson.Options.t()) :: written() | fault()

  @doc false
  # How long a call waits for an instance: as long as it may run, unless it is one of several that share their time.
  @spec patience(sandbox()) :: pos_integer()
  def patience(%{patience: patience}), do: patience
  def patience(%{timeout: timeout}), do: timeout

  @typedoc "Limits as the built-in host takes them: the last element is the time that the call may wait to start."
  @type limits ::
          {pool_size :: pos_integer(), max_memory :: pos_integer(), timeout :: pos_integer(),
           fresh :: boolean(), patience :: non_neg_integer()}

  @doc false
  @spec limits(sandbox()) :: limits()
  def limits(%{pool_size: size, max_memory: memory, timeout: timeout, isolation: isolation} = sandbox),
    do: {size, memory, timeout, isolation == :fresh, patience(sandbox)}

  @doc "What the engine runs on, or why it does not work and what to install."
  @callback status() :: {:ok, map()} | {:error, String.t()}

  @hosts [built_in: Host.BuiltIn, wasmex: Host.Wasmex]

  @doc false
  @spec get(:auto | :built_in | :wasmex) :: module()
  def get(:built_in), do: Host.BuiltIn
  def get(:wasmex), do: Host.Wasmex
  def get(:auto), do: :persistent_term.get(__MODULE__, nil) || Host.Auto

  @doc false
  # Which one `:auto` is, or why there is none; `:busy` if that is not known in time.
  @spec choose(timeout()) :: {:ok, module()} | {:error, String.t()} | :busy
  def choose(timeout), do: Starter.run(__MODULE__, timeout, &find/0)

  defp find do
    with {:ok, module, _info} <- first() do
      :persistent_term.put(__MODULE__, module)
      {:ok, module}
    end
  end

  # The built-in one is many times as fast on small documents.
  defp first do
    Enum.reduce_while(@hosts, {:error, nil}, fn {name, module}, {:error, reasons} ->
      case module.status() do
        {:ok, info} ->
          {:halt, {:ok, module, info}}

        {:error, reason} ->
          {:cont, {:error, if(reasons, do: reasons <> "; ", else: "") <> "#{name}: #{reason}"}}
      end
    end)
  end

  @doc false
  @spec status(:auto | :built_in | :wasmex) :: {:ok, map()} | {:error, String.t()}
  def status(:auto), do: with({:ok, _module, info} <- first(), do: {:ok, info})
  def status(name), do: get(name).status()

  @doc "The module's file."
  @spec guest_path() :: Path.t()
  def guest_path, do: Path.join(priv(), "wasm/rustyjson.wasm")

  @doc "The folder of what was built."
  @spec priv() :: Path.t()
  def priv do
    case :code.priv_dir(:rustyjson) do
      dir when is_list(dir) -> List.to_string(dir)
      {:error, :bad_name} -> Path.expand("priv")
    end
  end

  @doc "The module, or why there is none."
  @spec guest() :: {:ok, binary()} | {:error, String.t()}
  def guest do
    with {:error, reason} <- File.read(guest_path()) do
      {:error,
       "there is no WebAssembly module (#{Path.relative_to_cwd(guest_path())}: #{:file.format_error(reason)}). " <>
         Remedy.here(
           "Install Rust from https://rustup.rs, run rustup target add wasm32-unknown-unknown, then mix deps.compile rustyjson --force"
         )}
    end
  end
end
