defmodule RustyJson do
  @moduledoc """
  Encodes and decodes JSON. A drop-in replacement for Jason, with one Rust core in two engines:

    * **native** - a library in the VM, for speed
    * **wasm** - the same core as a WebAssembly module under a memory cap and a deadline, for input you do not trust

  Both engines return the same terms, the same bytes and the same errors. See `engine/0`, `RustyJson.Config` for settings,
  and `RustyJson.Encoder` for structs.
  """

  alias RustyJson.{DecodeError, EncodeError, Engine, EngineError, Feed, Options, Parts, Paths, SandboxError}
  alias RustyJson.Decode.{Input, Many}
  alias RustyJson.Encode.{Canonical, Text}
  alias RustyJson.Options.Words

  @typedoc "An option of `decode/2`."
  @type decode_option :: unquote(Words.type(:decode))

  @typedoc "An option of `decode_stream/2` and `RustyJson.Feed`; see there."
  @type stream_option ::
          {:format, :values | :lines | :seq | :array}
          | {:at, String.t()}
          | {:with_pointer, boolean()}
          | {:on_error, :raise | :tag}
          | {:max_total_bytes, non_neg_integer()}
          | decode_option()

  @typedoc "An option of `fetch/3` and `select/3`; see there."
  @type part_option ::
          {:missing, {:default, term()}} | {:as, :any | :raw} | {:validate, boolean()} | decode_option()

  @typedoc "An option of `encode/2`."
  @type encode_option :: unquote(Words.type(:encode))

  @typedoc "An option of `encode_stream/2`; see there."
  @type stream_encode_option :: {:format, :array | :lines | :seq} | {:flush, pos_integer()} | encode_option()

  @typedoc "The same as `t:decode_option/0`, under Jason's name."
  @type decode_opt :: decode_option()

  @typedoc "The same as `t:encode_option/0`, under Jason's name."
  @type encode_opt :: encode_option()

  # Types that Jason has too.
  for {direction, names} <- [decode: [:keys, :strings, :floats, :objects], encode: [:escape, :maps]],
      name <- names do
    @typedoc "Values of the option `#{inspect(name)}` of `#{direction}/2`."
    @type unquote({name, [], []}) :: unquote(Words.type(direction, name))
  end

  @typedoc "Numbers of one host: running and kept instances, waiting callers, and failed calls per reason. See `stats/0`."
  @type host_stats :: %{
          running: non_neg_integer(),
          kept: non_neg_integer(),
          waiting: non_neg_integer(),
          busy: non_neg_integer(),
          timeout: non_neg_integer(),
          memory_limit: non_neg_integer(),
          trap: non_neg_integer(),
          invalid_result: non_neg_integer(),
          unavailable: non_neg_integer()
        }

  @doc """
  Decodes JSON.

      iex> RustyJson.decode(~s({"a": [1, 2.5, null]}))
      {:ok, %{"a" => [1, 2.5, nil]}}

      iex> {:error, error} = RustyJson.decode("[1, 2,]")
      iex> error.message
      "Expected value at position 6 (line 1, column 7): Trailing comma"

  Returns `RustyJson.DecodeError` for invalid input. In the wasm engine, a call that exceeds its limits returns
  `RustyJson.SandboxError`.

  ## Options

  #{Words.doc(:decode)}
  """
  @spec decode(iodata(), [decode_option()] | map()) ::
          {:ok, term()} | {:error, DecodeError.t() | SandboxError.t()}
  def decode(input, opts \\ []) do
    case Options.decode(opts) do
      # The common case: no work before or after the engine.
      %{max_bytes: 0, keys: nil, as: nil, engine: engine} = options when is_binary(input) ->
        case by(engine, input, options) do
          {:ok, _term} = done -> done
          {:error, failure} -> {:error, Input.error(failure, input, options)}
        end

      options ->
        Input.decode(input, options)
    end
  end

  # A call of a known module is faster than a dynamic one: see `RustyJson.Encode.Text`.
  @compile {:inline, by: 3}
  defp by(Engine.Native, input, options), do: Engine.Native.decode(input, options)
  defp by(engine, input, options), do: engine.decode(input, options)

  @doc """
  Decodes JSON, or raises.

      iex> RustyJson.decode!(~s({"a": true}), keys: :atoms)
      %{a: true}

      iex> RustyJson.decode!("[01]")
      ** (RustyJson.DecodeError) Leading zeros in numbers at position 1 (line 1, column 2)
  """
  @spec decode!(iodata(), [decode_option()] | map()) :: term()
  def decode!(input, opts \\ []) do
    case decode(input, opts) do
      {:ok, term} -> term
      {:error, error} -> raise error
    end
  end

  @doc """
  Decodes many documents at once, which takes less time than one after the other.

      iex> RustyJson.decode_many([~s({"a": 1}), "[2]"])
      [{:ok, %{"a" => 1}}, {:ok, [2]}]

      iex> [{:ok, [1]}, {:error, error}, {:ok, nil}] = RustyJson.decode_many(["[1]", "[", "null"])
      iex> error.reason
      :unexpected_end

  Returns what `decode/2` returns for each document, in the order of the list, and takes the same options. Limits such as
  `:max_bytes` apply to each document.

  In the wasm engine, documents cross into the sandbox together, up to 64 KB of them at a time. `:timeout` covers the whole
  list. If a crossing traps, exceeds its memory or takes too long, RustyJson halves it until it has found the document
  responsible. Only that document returns a `RustyJson.SandboxError`. With `isolation: :fresh` each document gets an instance
  of its own, and crosses alone.
  """
  @spec decode_many([iodata()], [decode_option()] | map()) :: [
          {:ok, term()} | {:error, DecodeError.t() | SandboxError.t()}
        ]
  def decode_many(inputs, opts \\ []), do: Many.decode(inputs, Options.decode(opts))

  @doc """
  Decodes a stream of JSON, lazily and in the memory of a few pieces.

      iex> ["[1] [2", "] {\\"a\\"", ": 3}"] |> Stream.map(& &1) |> RustyJson.decode_stream() |> Enum.to_list()
      [[1], [2], %{"a" => 3}]

      iex> RustyJson.decode_stream(~s({"results": [{"id": 1}, {"id": 2}]}), at: "/results/*/id") |> Enum.sum()
      3

      File.stream!("events.ndjson", [], 65_536) |> RustyJson.decode_stream(format: :lines)

  A list or binary is iodata; any other source is an enumerable of iodata, cut anywhere. Faults raise
  `RustyJson.DecodeError`, after the values before them; positions count from the start of the stream. When the consumer
  halts, the source is closed, and the rest is not validated.

  ## Options

    * `:format` - `:values` (default), one after the other; `:lines`, a value on each line (NDJSON); `:seq`, values behind
      record separators (RFC 7464); `:array`, the elements of one array
    * `:at` - instead of a format: the values at this JSON Pointer of one document, in which `*` is any element or member
    * `:with_pointer` - with `:at`: `{pointer, value}` instead of the value
    * `:on_error` - `:raise` (default), or `:tag`: values are `{:ok, value}`, and a fault is `{:error, exception}`. It is the
      last item, but for lines and sequences, which go on with the next one
    * `:max_bytes`, `:max_nodes` - of one value
    * `:max_depth` - counted from the root of the document
    * `:max_total_bytes` - of the stream; 0 (default) is no limit
    * `:strings` - `:copy` by default

  And those of `decode/2`. `:timeout` is that of one call, and one call takes at most 64 KB and what was waiting.
  """
  @spec decode_stream(Enumerable.t(), [stream_option()] | map()) :: Enumerable.t()
  def decode_stream(source, opts \\ []), do: RustyJson.Feed.Source.decode(source, Feed.new(opts))

  @doc """
  Decodes one value of a document, at a JSON Pointer (RFC 6901). The rest is checked, and not built.

      iex> json = ~s({"user": {"name": "Ada", "tags": ["x", "y"]}})
      iex> RustyJson.fetch(json, "/user/name")
      {:ok, "Ada"}
      iex> RustyJson.fetch(json, "/user/tags/1")
      {:ok, "y"}
      iex> RustyJson.fetch(json, "/user/email")
      :error

      iex> {:error, error} = RustyJson.fetch(~s({"a": 1, "b": x}), "/a")
      iex> error.message
      "Expected value at position 14 (line 1, column 15)"

  `""` is the whole document. `"~1"` stands for `/` in a key and `"~0"` for `~`. `null` is `{:ok, nil}`; a member or an element
  that is not there is `:error`, and so is what would be below a number or a string. A malformed pointer is an `ArgumentError`.

  ## Options

    * `:missing` - `{:default, term}`: `{:ok, term}` instead of `:error`
    * `:as` - `:any` (default), or `:raw`: a `RustyJson.Fragment` of the text, which is encoded unchanged
    * `:validate` - `true` (default): a fault anywhere is the error of `decode/2`. `false` stops as soon as the value is known, and takes
      the first of repeated keys: only for text that you trust

  And those of `decode/2`. `:keys`, `:floats` and `:objects` concern the value that is wanted, limits the document.
  """
  @spec fetch(iodata(), String.t(), [part_option()] | map()) ::
          {:ok, term()} | :error | {:error, DecodeError.t() | SandboxError.t()}
  def fetch(input, pointer, opts \\ []), do: Parts.fetch(input, pointer, opts)

  @doc """
  Decodes one value of a document, or raises: `KeyError` if it is not there.

      iex> RustyJson.fetch!(~s({"a": [1, 2]}), "/a/0")
      1

      iex> RustyJson.fetch!("{}", "/a")
      ** (KeyError) key "/a" not found
  """
  @spec fetch!(iodata(), String.t(), [part_option()] | map()) :: term()
  def fetch!(input, pointer, opts \\ []) do
    case fetch(input, pointer, opts) do
      {:ok, value} -> value
      :error -> raise KeyError, key: pointer, term: nil
      {:error, error} -> raise error
    end
  end

  @doc """
  Decodes several values of a document, at JSON Pointers, in one pass.

      iex> json = ~s({"id": 7, "user": {"name": "Ada", "email": null}})
      iex> RustyJson.select(json, %{id: "/id", name: "/user/name", email: "/user/email", age: "/user/age"})
      {:ok, %{id: 7, name: "Ada", email: nil}}
      iex> RustyJson.select(json, ["/id", "/user/age"])
      {:ok, [7, nil]}
      iex> RustyJson.select(json, ["/id", "/user/age"], missing: {:default, :unknown})
      {:ok, [7, :unknown]}

  A list selects a list, in which what is missing is `nil`; a map selects a map, which lacks what is missing. `RustyJson.Paths.new!/1`
  prepares pointers that are used again.

      iex> {:ok, [payload]} = RustyJson.select(~s({"payload": {"n": 1.50}}), ["/payload"], as: :raw)
      iex> RustyJson.encode!(%{forwarded: payload})
      ~s({"forwarded":{"n": 1.50}})

  It takes the options of `fetch/3`.
  """
  @spec select(
          iodata(),
          Paths.t() | [String.t()] | %{optional(term()) => String.t()},
          [part_option()] | map()
        ) ::
          {:ok, [term()] | map()} | {:error, DecodeError.t() | SandboxError.t()}
  def select(input, paths, opts \\ []), do: Parts.select(input, paths, opts)

  @doc """
  Encodes a term.

      iex> RustyJson.encode(%{a: [1, 2.5, nil]})
      {:ok, ~s({"a":[1,2.5,null]})}

      iex> {:error, error} = RustyJson.encode([<<255>>])
      iex> {error.message, error.path}
      {"invalid byte 0xFF in <<255>>", "/0"}

  Returns `RustyJson.EncodeError` for a term that has no JSON form, `Protocol.UndefinedError` for a struct without a
  `RustyJson.Encoder`, and in the wasm engine `RustyJson.SandboxError`. Exceptions raised by an implementation of a protocol
  are not caught.

  ## Options

  #{Words.doc(:encode)}
  """
  @spec encode(term(), [encode_option()] | map()) ::
          {:ok, String.t()} | {:error, EncodeError.t() | SandboxError.t() | Exception.t()}
  def encode(term, opts \\ []), do: Text.encode(term, Options.encode(opts))

  @doc """
  Encodes a term, or raises.

      iex> RustyJson.encode!(%{b: 2, a: 1}, sort_keys: true, pretty: true) |> String.split("\\n")
      ["{", ~s(  "a": 1,), ~s(  "b": 2), "}"]
  """
  @spec encode!(term(), [encode_option()] | map()) :: String.t()
  def encode!(term, opts \\ []) do
    case encode(term, opts) do
      {:ok, json} -> json
      {:error, error} -> raise error
    end
  end

  @doc """
  Writes JSON in canonical form (RFC 8785): one text for all texts that mean the same, to be signed or hashed.

      iex> RustyJson.canonicalize(~s({"b": [1.0, 1e2, "\\u0041"], "a": null}))
      {:ok, ~s({"a":null,"b":[1,100,"A"]})}

      iex> RustyJson.encode(%{b: 2.50, a: "€"}, canonical: true)
      {:ok, ~s({"a":"€","b":2.5})}

      iex> {:error, error} = RustyJson.canonicalize("[9007199254740993]")
      iex> error.reason
      :inexact_integer

  Members are sorted by the UTF-16 units of their keys, numbers are written as ECMAScript writes them, and only quotes, backslashes and
  control characters are escaped. Repeated keys, lone surrogates, and integers that such a number cannot represent exactly are errors. A
  `Decimal` stays the string that `encode/2` writes.

  It takes the limits of `decode/2` (`:max_bytes`, `:max_depth`, `:max_nodes`, `:decoding_integer_digit_limit`) and the options that
  choose an engine.
  """
  @spec canonicalize(iodata(), [decode_option()] | map()) ::
          {:ok, String.t()} | {:error, DecodeError.t() | SandboxError.t()}
  def canonicalize(input, opts \\ []), do: Canonical.canonicalize(input, opts)

  @doc """
  Encodes a sequence or a document as a stream of binaries, in the memory of a few of them.

      iex> 1..3 |> Stream.map(&%{id: &1}) |> RustyJson.encode_stream() |> Enum.join()
      ~s([{"id":1},{"id":2},{"id":3}])

      iex> [[1], %{a: 2}] |> RustyJson.encode_stream(format: :lines) |> Enum.join()
      ~s([1]\\n{"a":2}\\n)

      iex> rows = Stream.map(1..2, &[&1])
      iex> %{ok: true, rows: RustyJson.lazy(rows)} |> RustyJson.encode_stream(sort_keys: true) |> Enum.join()
      ~s({"ok":true,"rows":[[1],[2]]})

  What is enumerable (a list, a stream, a range) is a sequence of elements; a map, an ordered object and a struct with an
  encoder is one document, in which `lazy/1` marks the arrays that are made while they are written.

  Pieces end between elements. When the consumer halts, the source is closed. A fault raises `RustyJson.EncodeError` with its
  path, after the elements before it.

  ## Options

    * `:format` - of a sequence: `:array` (default); `:lines`, an element on each line (NDJSON); `:seq`, elements behind record
      separators (RFC 7464)
    * `:flush` - bytes that a piece has at least, but for the last (default `65_536`)

  And those of `encode/2`; `:compress` makes one gzip member, in Erlang's `:zlib`.
  """
  @spec encode_stream(term(), [stream_encode_option()] | map()) :: Enumerable.t()
  def encode_stream(term, opts \\ []), do: RustyJson.Encode.Stream.encode(term, opts)

  @doc """
  An array inside a term whose elements are made while `encode_stream/2` writes it.

      iex> RustyJson.encode!(%{rows: RustyJson.lazy(1..3)})
      ~s({"rows":[1,2,3]})
  """
  @spec lazy(Enumerable.t()) :: RustyJson.Lazy.t()
  def lazy(source), do: %RustyJson.Lazy{source: source}

  @doc """
  The same as `encode/2`, under the name that Phoenix calls. Returns one binary, which is iodata too.

      iex> RustyJson.encode_to_iodata([1])
      {:ok, "[1]"}
  """
  @spec encode_to_iodata(term(), [encode_option()] | map()) ::
          {:ok, iodata()} | {:error, EncodeError.t() | SandboxError.t() | Exception.t()}
  def encode_to_iodata(term, opts \\ []), do: encode(term, opts)

  @doc """
  The same as `encode!/2`.

      iex> RustyJson.encode_to_iodata!([1])
      "[1]"
  """
  @spec encode_to_iodata!(term(), [encode_option()] | map()) :: iodata()
  def encode_to_iodata!(term, opts \\ []), do: encode!(term, opts)

  @doc """
  Returns the engine for calls that do not set `:engine`. `engine_info/0` says why it was chosen.

      iex> RustyJson.engine() in [:native, :wasm]
      true

  Raises `RustyJson.EngineError` if no engine is available.
  """
  @spec engine() :: :native | :wasm
  def engine do
    case Engine.name(RustyJson.Config.decode().engine) do
      :none -> raise RustyJson.EngineError
      name -> name
    end
  end

  @doc """
  Starts an engine before the first call. The wasm engine compiles its module, which takes 50 ms or more.

      iex> RustyJson.start_engine(engine: RustyJson.engine())
      :ok

  Options:

    * `:engine` - `:auto`, `:native` or `:wasm`; the default is the configured engine
    * `:host` - `:auto`, `:wasmtime` or `:wasmex`, for the wasm engine

  If the engine cannot start, the result is `{:error, exception}`: a `RustyJson.EngineError`, or a `RustyJson.SandboxError` with
  the reason `:unavailable`. Both say what is missing. RustyJson remembers a failure for one second, and does not try again in
  that time.

  Without `start_engine/1` the first call starts the engine. One process starts it, and each call waits for at most its `:timeout`.
  If the application is configured with `engine: :wasm`, the engine starts with RustyJson itself.
  """
  @spec start_engine(engine: :auto | :native | :wasm, host: :auto | :wasmtime | :wasmex) ::
          :ok | {:error, EngineError.t() | SandboxError.t()}
  def start_engine(opts \\ []) do
    case opts |> Keyword.validate!([:engine, :host]) |> Options.decode() do
      %{engine: Engine.Wasm, sandbox: %{host: host}} -> started(RustyJson.Wasm.Host.status(host))
      %{engine: Engine.Missing} -> {:error, EngineError.exception([])}
      _native -> :ok
    end
  end

  defp started({:ok, _status}), do: :ok
  defp started({:error, reason}), do: {:error, SandboxError.new(:unavailable, reason)}

  @doc """
  Lets a supervisor start an engine: with `{RustyJson, engine: :wasm}` among its children, the engine is ready before the children
  that follow. Takes the options of `start_engine/1`. If the engine cannot start, the supervisor does not start either.

      iex> {:ok, supervisor} = Supervisor.start_link([{RustyJson, engine: RustyJson.engine()}], strategy: :one_for_one)
      iex> Supervisor.stop(supervisor)
      :ok
  """
  @spec child_spec(keyword()) :: Supervisor.child_spec()
  def child_spec(opts), do: %{id: __MODULE__, start: {__MODULE__, :start_link, [opts]}}

  @doc false
  # There is no process to supervise.
  @spec start_link(keyword()) :: :ignore | {:error, Exception.t()}
  def start_link(opts), do: with(:ok <- start_engine(opts), do: :ignore)

  @doc """
  Returns numbers for each host of the wasm engine, for metrics and alerts: `running` and `kept` instances, callers `waiting` for
  one, and the number of failed calls per reason of `RustyJson.SandboxError` since the VM started.

      iex> RustyJson.stats() |> Map.fetch!(:wasmtime) |> Map.keys() |> Enum.sort()
      [:busy, :invalid_result, :kept, :memory_limit, :running, :timeout, :trap, :unavailable, :waiting]
  """
  @spec stats() :: %{wasmtime: host_stats(), wasmex: host_stats()}
  def stats, do: RustyJson.Wasm.Stats.all()

  @doc """
  Returns the engine in use, what selected it, and the status of every engine.

      iex> RustyJson.engine_info().engine == RustyJson.engine()
      true
  """
  @spec engine_info() :: %{
          engine: :native | :wasm | :none,
          asked: :auto | :native | :wasm,
          by: :config | :environment | :default,
          engines: keyword({:ok, map()} | {:error, String.t()})
        }
  def engine_info do
    {asked, by} = RustyJson.Config.asked_engine()
    engine = Engine.name(RustyJson.Config.decode().engine)
    %{engine: engine, asked: asked, by: by, engines: Engine.statuses()}
  end
end
