defmodule RustyJson.Wasm.Host.Wasmtime.Nif do
  @moduledoc false
  # Only loads the library, so that this module changes as rarely as the library does.
  #
  # Functions without `dirty` in their name run on the caller's scheduler for about a millisecond and then return `:later`.
  # All return `:busy` if no place is free, and `{:fault, reason, detail}` if the call failed.

  alias RustyJson.Encoder.Plans
  alias RustyJson.Wasm.Host

  @on_load :load

  @typep host :: reference()
  # With the templates of RustyJson.Schema.Shape, `:decode` builds structs.
  @typep options :: binary() | {binary(), tuple()}
  @typep limits ::
           {pool_size :: pos_integer(), max_memory :: pos_integer(), timeout :: pos_integer(),
            fresh :: boolean(), start_by :: non_neg_integer()}
  # The number of a ticket, or 0.
  @typep place :: non_neg_integer()
  @opaque ticket :: reference()
  @typep again :: :later | :busy | Host.fault()

  @doc """
  Fails only if the library is loaded already, by a module of this name that still runs. The VM then keeps that module, with its
  library. A missing library does not fail, because another host can be used instead.
  """
  @spec load() :: :ok | {:error, :loaded}
  def load do
    case :erlang.load_nif(String.to_charlist(path()), 0) do
      :ok -> loaded()
      {:error, {:upgrade, _text}} -> {:error, :loaded}
      {:error, {_kind, text}} -> :persistent_term.put(__MODULE__, IO.chardata_to_string(text))
    end
  end

  # Functions of this library do not accept what an earlier one made: the next call compiles the module again.
  defp loaded do
    :persistent_term.erase(RustyJson.Wasm.Host.Wasmtime)
    :persistent_term.put(__MODULE__, nil)
  end

  @doc "Why the library did not load, or nil."
  @spec failure() :: nil | String.t()
  def failure, do: :persistent_term.get(__MODULE__, "it was never loaded")

  @doc "The library's file, without its extension."
  @spec path() :: Path.t()
  def path, do: Path.join(Host.priv(), "native/librustyjson_wasm_host")

  @spec load(binary(), pos_integer()) :: {:ok, host()} | Host.fault()
  def load(_wasm, _instances), do: :erlang.nif_error(:not_loaded)

  @spec run(host(), Host.operation(), options(), body :: binary(), limits(), place()) ::
          Host.decoded() | Host.many() | Host.fed() | Host.encoded() | again()
  def run(_host, _operation, _options, _body, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec run_dirty(host(), Host.operation(), options(), body :: binary(), limits(), place()) ::
          Host.decoded() | Host.many() | Host.fed() | Host.encoded() | again()
  def run_dirty(_host, _operation, _options, _body, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec write(host(), term(), Plans.t() | nil, options(), limits(), place()) :: Host.written() | again()
  def write(_host, _term, _plans, _options, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec write_dirty(host(), term(), Plans.t() | nil, options(), limits(), place()) :: Host.written() | again()
  def write_dirty(_host, _term, _plans, _options, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @doc "The clock of `start_by`, in milliseconds: a call on a dirty scheduler that comes later is `:busy`."
  @spec now() :: non_neg_integer()
  def now, do: :erlang.nif_error(:not_loaded)

  @doc """
  Joins the queue for an instance; `size` is the number of instances in the pool. The process receives `{reference, :free}` when one may
  be free, and asks for it with a call that has the number of its place. `leave/1` gives the ticket back, and so does the end of
  the process.
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
