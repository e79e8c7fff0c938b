defmodule RustyJson.Engine.Native.Nif do
  @moduledoc false
  # Only loads the library, so that this module changes as rarely as the library does.

  @on_load :load

  @doc """
  Fails only if the library is loaded already, by a module of this name that still runs. The VM then keeps that module, with its
  library. A missing library does not fail, because another engine can be used instead.
  """
  @spec load() :: :ok | {:error, :loaded}
  def load do
    # Another library may have no sandbox.
    :persistent_term.erase(RustyJson.Wasm.Host.BuiltIn)

    case :erlang.load_nif(String.to_charlist(spelled(path())), 0) do
      :ok -> :persistent_term.put(__MODULE__, :loaded)
      {:error, {:upgrade, _text}} -> {:error, :loaded}
      {:error, {_kind, text}} -> :persistent_term.put(__MODULE__, IO.chardata_to_string(text))
    end
  end

  # A library stays mapped, and the system's loader would find it by the name of its file, although the file is a newly built one by now.
  # Another spelling of the path makes the loader look at the file.
  defp spelled(path) do
    again = :persistent_term.get({__MODULE__, :again}, "")
    :persistent_term.put({__MODULE__, :again}, again <> "./")
    Path.dirname(path) <> "/" <> again <> Path.basename(path)
  end

  @doc "Why the library did not load, or does not belong to these modules, or nil."
  @spec failure() :: nil | String.t()
  def failure do
    # Functions of the library can be called only after `load/0` has returned.
    with :loaded <- :persistent_term.get(__MODULE__, "it was never loaded") do
      failure = misfit()
      :persistent_term.put(__MODULE__, failure)
      failure
    end
  end

  defp misfit do
    if abi_version() != RustyJson.Wasm.Abi.version(),
      do: "it was built from other sources than these modules"
  rescue
    # An older library has no such function, or too few functions to be loaded.
    _error in [ErlangError, UndefinedFunctionError] -> "it was built from older sources than these modules"
  end

  @doc "The library's file, without its extension."
  @spec path() :: Path.t()
  def path do
    case :code.priv_dir(:rustyjson) do
      dir when is_list(dir) -> Path.join(List.to_string(dir), "native/librustyjson_nif")
      {:error, :bad_name} -> Path.expand("priv/native/librustyjson_nif")
    end
  end

  @doc "The same with the extension that the VM appends: .so on macOS too."
  @spec file() :: Path.t()
  def file, do: path() <> if(match?({:win32, _}, :os.type()), do: ".dll", else: ".so")

  @typep options :: binary()
  @typep plans :: nil | RustyJson.Encoder.Plans.t()

  # With the templates of RustyJson.Schema.Shape it builds structs.
  @typep decoding :: options() | {options(), tuple()}

  @spec decode(binary(), decoding() | kept()) ::
          {:ok, term()} | {:error, RustyJson.Engine.decode_failure()} | :dirty
  def decode(_json, _options), do: :erlang.nif_error(:not_loaded)

  @doc "Whether a document is right; `:dirty` if the library does not keep these options."
  @spec valid(binary(), kept()) :: boolean() | :dirty
  def valid(_json, _options), do: :erlang.nif_error(:not_loaded)

  @spec decode_dirty(binary(), decoding()) :: {:ok, term()} | {:error, RustyJson.Engine.decode_failure()}
  def decode_dirty(_json, _options), do: :erlang.nif_error(:not_loaded)

  @doc "Decodes the first documents of a list: what is left of it needs another call, or its first one a call alone."
  @spec decode_many([binary()], options(), threshold :: non_neg_integer()) ::
          {[{:ok, term()} | {:error, RustyJson.Engine.decode_failure()}], [binary()], :more | :alone}
  def decode_many(_documents, _options, _threshold), do: :erlang.nif_error(:not_loaded)

  @spec feed(RustyJson.Engine.question(), binary(), options()) :: RustyJson.Engine.fed() | :dirty
  def feed(_question, _piece, _options), do: :erlang.nif_error(:not_loaded)

  @spec feed_dirty(RustyJson.Engine.question(), binary(), options()) :: RustyJson.Engine.fed()
  def feed_dirty(_question, _piece, _options), do: :erlang.nif_error(:not_loaded)

  @type encoded ::
          binary()
          | {:partial, binary(), [RustyJson.Engine.hole()]}
          | {:error, RustyJson.Engine.encode_failure()}
          | {:planned, encoded(), [module()]}
          | {:lost, encoded(), non_neg_integer()}

  @type suspended :: {:suspended, binary(), [tuple()], [tuple()], [module()], non_neg_integer()}

  @typedoc "Options, or the number by which the library keeps them."
  @type kept :: options() | integer()

  @doc "A number for these options, which the library then need not read in each call. The options, if it does not keep them."
  @spec keep_options(:decode | :encode, options()) :: kept()
  def keep_options(_function, _options), do: :erlang.nif_error(:not_loaded)

  # With a module whose plan is current, which is then not reported.
  @spec encode(term(), kept(), plans() | {plans(), module(), RustyJson.Encoder.Plans.plan()}) ::
          encoded() | suspended() | :dirty
  def encode(_term, _options, _plans), do: :erlang.nif_error(:not_loaded)

  @spec encode_dirty(term(), options(), plans()) :: encoded()
  def encode_dirty(_term, _options, _plans), do: :erlang.nif_error(:not_loaded)

  @spec resume_dirty(suspended(), options(), plans()) :: encoded()
  def resume_dirty(_suspended, _options, _plans), do: :erlang.nif_error(:not_loaded)

  @type laid_out :: binary() | {:error, RustyJson.Engine.decode_failure()}

  @typedoc "What is written so far and where to go on: offset, depth and the last token."
  @type suspended_format :: {:suspended, binary(), {non_neg_integer(), non_neg_integer(), 0..3}}

  @spec format(binary(), options()) :: laid_out() | suspended_format()
  def format(_text, _options), do: :erlang.nif_error(:not_loaded)

  @spec format_dirty(binary(), options(), nil | suspended_format()) :: laid_out()
  def format_dirty(_text, _options, _suspended), do: :erlang.nif_error(:not_loaded)

  @spec canonicalize(binary(), options()) :: laid_out()
  def canonicalize(_text, _options), do: :erlang.nif_error(:not_loaded)

  @spec canonicalize_dirty(binary(), options()) :: laid_out()
  def canonicalize_dirty(_text, _options), do: :erlang.nif_error(:not_loaded)

  @spec gzip(binary(), options()) :: binary() | {:error, RustyJson.Engine.encode_failure()}
  def gzip(_bytes, _options), do: :erlang.nif_error(:not_loaded)

  @spec abi_version() :: non_neg_integer()
  def abi_version, do: :erlang.nif_error(:not_loaded)

  @spec info() :: map()
  def info, do: :erlang.nif_error(:not_loaded)

  ## The sandbox

  # Functions without `dirty` in their name run on the caller's scheduler for about a millisecond and then return `:later`. The others
  # return `:busy` if no place is free. All return `{:fault, reason, detail}` if the call failed.

  @typep limits ::
           {pool_size :: pos_integer(), max_memory :: pos_integer(), timeout :: pos_integer(),
            fresh :: boolean(), start_by :: non_neg_integer()}
  # The number of a ticket, or 0.
  @typep place :: non_neg_integer()
  @opaque ticket :: reference()

  @doc "Whether the library has the module, and it starts."
  @spec sandbox_status() :: :ok | RustyJson.Wasm.Host.fault()
  def sandbox_status, do: :erlang.nif_error(:not_loaded)

  @type ran ::
          RustyJson.Wasm.Host.decoded()
          | RustyJson.Wasm.Host.many()
          | RustyJson.Wasm.Host.fed()
          | RustyJson.Wasm.Host.encoded()
          | RustyJson.Wasm.Host.fault()

  @spec sandbox_run(RustyJson.Wasm.Host.operation(), decoding(), binary(), limits(), place()) ::
          ran() | :later
  def sandbox_run(_operation, _options, _body, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec sandbox_run_dirty(RustyJson.Wasm.Host.operation(), decoding(), binary(), limits(), place()) ::
          ran() | :busy
  def sandbox_run_dirty(_operation, _options, _body, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @type wrote :: RustyJson.Wasm.Host.written() | RustyJson.Wasm.Host.fault()

  @spec sandbox_write(term(), plans(), options(), limits(), place()) :: wrote() | :later
  def sandbox_write(_term, _plans, _options, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @spec sandbox_write_dirty(term(), plans(), options(), limits(), place()) :: wrote() | :busy
  def sandbox_write_dirty(_term, _plans, _options, _limits, _ticket), do: :erlang.nif_error(:not_loaded)

  @doc "A number for calls with these options and limits, on the caller's scheduler; nil if the library does not keep them."
  @spec sandbox_keep(:decode | :encode, options(), limits()) :: integer() | nil
  def sandbox_keep(_function, _options, _limits), do: :erlang.nif_error(:not_loaded)

  @doc "Decodes a text in such a call; `false` if the library did not give the number."
  @spec sandbox_decode(binary(), integer()) :: ran() | :later | false
  def sandbox_decode(_json, _number), do: :erlang.nif_error(:not_loaded)

  # As with `encode/3`, the plans may come with a module whose plan is current.
  @spec sandbox_encode(
          term(),
          integer(),
          plans() | {plans(), module(), RustyJson.Encoder.Plans.plan()}
        ) :: wrote() | :later | false
  def sandbox_encode(_term, _number, _plans), do: :erlang.nif_error(:not_loaded)

  @doc "The clock of `start_by`, in milliseconds: a call on a dirty scheduler that comes later is `:busy`."
  @spec sandbox_now() :: non_neg_integer()
  def sandbox_now, do: :erlang.nif_error(:not_loaded)

  @doc """
  Joins the queue for a place; `size` is the number of places. The process receives `{reference, :free}` when one may be free, and
  asks for it with a call that has the number of its place. `sandbox_leave/1` gives the ticket back, and so does the end of the
  process.
  """
  @spec sandbox_queue(size :: pos_integer(), reference()) :: {place(), ticket()}
  def sandbox_queue(_size, _reference), do: :erlang.nif_error(:not_loaded)

  @doc "Goes on waiting. In how many milliseconds to look again whether somebody who was called does not come."
  @spec sandbox_look(ticket()) :: pos_integer()
  def sandbox_look(_ticket), do: :erlang.nif_error(:not_loaded)

  @doc "Stops waiting. Whether a message is still to come."
  @spec sandbox_leave(ticket()) :: boolean()
  def sandbox_leave(_ticket), do: :erlang.nif_error(:not_loaded)

  @doc "Long calls running, instances that there are, and callers waiting."
  @spec sandbox_counts() :: keyword(non_neg_integer())
  def sandbox_counts, do: :erlang.nif_error(:not_loaded)
end
