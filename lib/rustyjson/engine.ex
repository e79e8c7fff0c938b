defmodule RustyJson.Engine do
  @moduledoc """
  The behaviour of the two engines, `RustyJson.Engine.Native` and `RustyJson.Engine.Wasm`.

  Both give the same answer for every input. `RustyJson.engine/0` returns the one in use.
  """

  alias RustyJson.{Config, Engine, Options}
  alias RustyJson.Engine.MapOrder

  @typedoc "A decode error: code, byte offset, line, column and JSON Pointer."
  @type decode_failure :: {1..255, non_neg_integer(), pos_integer(), pos_integer(), String.t()}

  @typedoc "The errors of a document as a type: how many there are, whether Elixir has to judge some values, and the first errors."
  @type decode_failures :: {pos_integer(), boolean(), [decode_failure(), ...]}

  @typedoc "An encode error: code, JSON Pointer and details for the message."
  @type encode_failure :: {1..255, String.t(), term()}

  @typedoc "A place in the output that Elixir must fill: offset, depth, term, and whether it is a key or a value."
  @type hole :: {non_neg_integer(), non_neg_integer(), term(), :key | :value}

  @callback decode(json :: binary(), Options.t()) ::
              {:ok, term()} | {:error, decode_failure() | decode_failures() | RustyJson.SandboxError.t()}

  @doc "Decodes many documents; the results are in their order."
  @callback decode_many([binary()], Options.t()) :: [
              {:ok, term()} | {:error, decode_failure() | RustyJson.SandboxError.t()}
            ]

  @typedoc """
  What came of a piece of a stream: a list of values (each behind its pointer, if they are asked for), the number of bytes that
  are dealt with, the state, and why it stopped.

  `:more` waits for the next piece, `:again` goes on with the rest at once, `:join` wants the bytes that were kept in front of
  this piece. An error has its code, its offset from the piece, line, column and JSON Pointer, and where the current value
  starts and ends.
  """
  @type fed ::
          {[term()], non_neg_integer(), binary(),
           :more
           | :again
           | :join
           | {1..255, integer(), pos_integer(), pos_integer(), String.t(), non_neg_integer(),
              non_neg_integer()}}

  @typedoc """
  Bytes of the stream before the piece, and how many of them are kept outside; whether nothing follows; the number of a key to stop at;
  the packed plan and state.
  """
  @type question ::
          {before :: non_neg_integer(), held :: non_neg_integer(), last :: boolean(),
           stop :: non_neg_integer(), plan :: binary(), state :: binary()}

  @doc "Decodes the values that a piece of a stream completes."
  @callback feed(question(), piece :: binary(), Options.t()) ::
              fed() | :unknown_atoms | {:error, RustyJson.SandboxError.t()}

  @callback encode(term(), Options.t()) ::
              {:ok, binary()}
              | {:partial, binary(), [hole()]}
              | {:error, encode_failure() | RustyJson.SandboxError.t()}

  @doc "Compresses a text that Elixir completed, at the level of the options."
  @callback gzip(binary(), Options.t()) ::
              {:ok, binary()} | {:error, encode_failure() | RustyJson.SandboxError.t()}

  @doc "Formats JSON text in the layout of these encode options, at their depth and within their limits."
  @callback format(binary(), Options.t()) ::
              {:ok, binary()} | {:error, decode_failure() | RustyJson.SandboxError.t()}

  @doc """
  Writes JSON text in canonical form (RFC 8785). The bytes are the options of decoding and the length of the longest output.
  """
  @callback canonicalize(binary(), Options.t()) ::
              {:ok, binary()} | {:error, decode_failure() | RustyJson.SandboxError.t()}

  @doc "What the engine runs on, or why it does not work and what to install."
  @callback status() :: {:ok, map()} | {:error, String.t()}

  # The native engine, without events and with them.
  @native [Engine.Native, Engine.Native.Watched]
  @engines [native: Engine.Native, wasm: Engine.Wasm]

  @doc false
  @spec resolve(:auto | :native | :wasm) :: module()
  def resolve(:wasm), do: Engine.Wasm
  def resolve(:native), do: if(Engine.Native.loaded?(), do: native(), else: Engine.Missing)

  def resolve(:auto) do
    cond do
      Engine.Native.loaded?() -> native()
      match?({:ok, _}, status(Engine.Wasm)) -> Engine.Wasm
      true -> Engine.Missing
    end
  end

  defp native, do: if(Config.native_events?(), do: Engine.Native.Watched, else: Engine.Native)

  @doc false
  # The same engine without events, for what handlers of events do themselves.
  @spec silent(module()) :: module()
  def silent(Engine.Native.Watched), do: Engine.Native
  def silent(engine), do: engine

  @doc false
  @spec statuses() :: keyword({:ok, map()} | {:error, String.t()})
  def statuses, do: for({name, module} <- @engines, do: {name, status(module)})

  @doc false
  # Whether this is the native engine, with events or without.
  @spec native?(module()) :: boolean()
  def native?(engine), do: engine in @native

  @doc false
  @spec name(module()) :: :native | :wasm | :none
  def name(engine) when engine in @native, do: :native
  def name(Engine.Wasm), do: :wasm
  def name(Engine.Missing), do: :none

  @doc false
  # How encode walks maps above 32 keys for this engine on the running OTP.
  @spec large_maps(module()) :: :forwards | :backwards
  def large_maps(Engine.Native.Watched), do: large_maps(Engine.Native)

  def large_maps(engine) do
    case :persistent_term.get({__MODULE__, engine}, nil) do
      nil ->
        order = MapOrder.large_maps(engine)
        :persistent_term.put({__MODULE__, engine}, order)
        order

      order ->
        order
    end
  end

  defp status(module) do
    if Code.ensure_loaded?(module),
      do: module.status(),
      else: {:error, "#{inspect(module)} is not part of this build"}
  end
end
