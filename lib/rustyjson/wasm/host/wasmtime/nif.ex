defmodule RustyJson.Wasm.Host.Wasmtime.Nif do
  @moduledoc false
  # Only loads the library: a module whose NIFs are loaded cannot be reloaded.
  #
  # Functions without `dirty` in their name run on the caller's scheduler for about a millisecond and then return `:later`.
  # All return `:busy` if no place is free, and `{:fault, reason, detail}` if the call failed.

  @on_load :load

  @typep host :: reference()
  @typep limits ::
           {pool_size :: pos_integer(), max_memory :: pos_integer(), timeout :: pos_integer(),
            fresh :: boolean(), start_by :: non_neg_integer()}
  # The number of a ticket, or 0.
  @typep place :: non_neg_integer()
  @opaque ticket :: reference()
  @typep again :: :later | :busy | RustyJson.Wasm.Host.fault()

  @doc "Never fails: a library that is not there is a reason to use another host, not to stop."
  @spec load() :: :ok
  def load do
    case :erlang.load_nif(String.to_charlist(path()), 0) do
      :ok -> :persistent_term.put(__MODULE__, nil)
      {:error, {_kind, text}} -> :persistent_term.put(__MODULE__, IO.chardata_to_string(text))
    end
  end

  @doc "Why the library did not load, or nil."
  @spec failure() :: nil | String.t()
  def failure, do: :persistent_term.get(__MODULE__, "it was never loaded")

  @doc "The library's file, without its extension."
  @spec path() :: Path.t()
  def path, do: Path.join(RustyJson.Wasm.Host.priv(), "native/librustyjson_wasm_host")

  @spec load(binary(), pos_integer()) :: {:ok, host()} | RustyJson.Wasm.Host.fault()
  def load(_wasm, _instances), do: :erlang.nif_error(:not_loaded)

  @spec decode(host(), binary(), tuple(), limits(), place()) ::
          {:ok, term()} | {:etf, binary()} | {:error, RustyJson.Engine.decode_failure()} | again()
  def decode(_host, _json, _packed, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec decode_dirty(host(), binary(), tuple(), limits(), place()) ::
          {:ok, term()} | {:etf, binary()} | {:error, RustyJson.Engine.decode_failure()} | again()
  def decode_dirty(_host, _json, _packed, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec encode(host(), binary(), binary(), tuple(), limits(), place()) ::
          {:ok, binary()}
          | {:partial, binary(), [RustyJson.Wasm.Host.hole()]}
          | {:error, RustyJson.Engine.encode_failure()}
          | again()
  def encode(_host, _etf, _extra, _packed, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec encode_dirty(host(), binary(), binary(), tuple(), limits(), place()) ::
          {:ok, binary()}
          | {:partial, binary(), [RustyJson.Wasm.Host.hole()]}
          | {:error, RustyJson.Engine.encode_failure()}
          | again()
  def encode_dirty(_host, _etf, _extra, _packed, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec transform(host(), binary(), binary(), tuple(), limits(), place()) ::
          {:ok, binary()} | {:error, RustyJson.Engine.decode_failure()} | again()
  def transform(_host, _text, _extra, _operation, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec transform_dirty(host(), binary(), binary(), tuple(), limits(), place()) ::
          {:ok, binary()} | {:error, RustyJson.Engine.decode_failure()} | again()
  def transform_dirty(_host, _text, _extra, _operation, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @doc "The clock of `start_by`, in milliseconds: a call on a dirty scheduler that comes later is `:busy`."
  @spec now() :: non_neg_integer()
  def now, do: :erlang.nif_error(:not_loaded)

  @doc """
  Queues for one of so many instances. `{reference, :free}` comes when there may be one; a call with the number asks for it. Whoever
  holds the ticket gives it back with `leave/1`; it ends with the process that holds it.
  """
  @spec queue(host(), pos_integer(), reference()) :: {place(), ticket()}
  def queue(_host, _size, _reference), do: :erlang.nif_error(:not_loaded)

  @doc "Goes on waiting. In how many milliseconds to look again whether somebody who was called does not come."
  @spec look(ticket()) :: pos_integer()
  def look(_ticket), do: :erlang.nif_error(:not_loaded)

  @doc "Stops waiting. Whether a message is still to come."
  @spec leave(ticket()) :: boolean()
  def leave(_ticket), do: :erlang.nif_error(:not_loaded)

  @spec counts(host()) :: keyword(non_neg_integer())
  def counts(_host), do: :erlang.nif_error(:not_loaded)
end
