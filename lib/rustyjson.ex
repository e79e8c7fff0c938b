defmodule RustyJson do
  @moduledoc """
  Encodes and decodes JSON. A drop-in replacement for Jason, with one Rust core in two engines:

    * **native** - a library inside the VM, for speed
    * **wasm** - the same core as a WebAssembly module with a memory cap and a deadline, for input that you do not trust

  Both engines return the same terms, the same bytes and the same errors. See `engine/0`, `RustyJson.Config` for settings,
  and `RustyJson.Encoder` for structs.
  """

  require RustyJson.Encode.Known
  require RustyJson.Options.Cache
  require RustyJson.Options.Lists

  alias RustyJson.{
    DecodeError,
    EncodeError,
    Engine,
    EngineError,
    Feed,
    Options,
    Partial,
    Parts,
    Paths,
    SandboxError,
    Schema
  }

  alias RustyJson.Decode.{Callbacks, Input, Many, Valid}
  alias RustyJson.Encode.{Callback, Canonical, Known, Text}
  alias RustyJson.Options.{Cache, Lists, Words}

  # The functions that raise then make no `{:ok, result}`, which takes 10 of the 150 ns of a short call.
  @compile {:inline, decode: 2, encode: 2, bang: 1}

  @longest_without_room Engine.Heap.longest_without()

  @typedoc "An option of `decode/2`."
  @type decode_option :: unquote(Words.type(:decode))

  @typedoc "An option of `decode_stream/2` and `RustyJson.Feed`; see there."
  @type stream_option ::
          unquote(Words.type(:decode_stream)) | decode_option()

  @typedoc "An option of `fetch/3` and `select/3`; see there."
  @type part_option ::
          unquote(Words.type(:parts)) | decode_option()

  @typedoc "An option of `decode_partial/2` and `RustyJson.Partial`; see there."
  @type partial_option :: unquote(Words.type(:partial)) | decode_option()

  @typedoc "What `RustyJson.Partial` can mend, see there."
  @type mend :: :code_fence | :prose | :trailing_commas | :raw_newlines | :python_literals

  @typedoc "An option of `encode/2`."
  @type encode_option :: unquote(Words.type(:encode))

  @typedoc "An option of `encode_stream/2`; see there."
  @type stream_encode_option :: unquote(Words.type(:encode_stream)) | encode_option()

  @typedoc "The reason for which `decode/3` returns no value, with the offset in bytes."
  @type decoders_error ::
          {:unexpected_end, non_neg_integer()}
          | {:invalid_byte, non_neg_integer(), byte()}
          | {:unexpected_sequence, non_neg_integer(), binary()}
          | {DecodeError.reason(), non_neg_integer()}

  @typedoc "A function that encodes values, see `encode!/2`."
  @type encoder :: (term(), encoder() -> iodata())

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

  @typedoc "Counts for one host: running and kept instances, waiting callers, and failed calls per reason. See `stats/0`."
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
    Cache.cached(decode: lists) = Cache.all()

    case Lists.find(lists, opts) do
      {{longest, kept}, options} when is_binary(input) and byte_size(input) <= longest ->
        case Engine.Native.Nif.decode(input, kept) do
          {:ok, _term} = done -> done
          other -> Input.ended(other, input, options)
        end

      {{:sandbox, number, _check}, options}
      when is_binary(input) and byte_size(input) <= @longest_without_room ->
        case Engine.Native.Nif.sandbox_decode(input, number) do
          {:ok, _term} = done -> done
          false -> Input.given(input, options)
          answer -> Input.sandboxed(answer, input, options)
        end

      {{shape, _plain, _usual} = prepared, options} when shape != :sandbox ->
        Schema.Decode.decode(input, options, prepared, nil)

      {_ready, options} ->
        Input.given(input, options)

      nil ->
        Input.given(input, Options.decode(opts))
    end
  end

  @doc """
  Decodes the first value of a binary with callbacks, as Elixir's `JSON.decode/3` does.

      iex> RustyJson.decode("[1.50, 2] [3]", :acc, float: &{:float, &1})
      {[{:float, "1.50"}, 2], :acc, " [3]"}

      iex> push = fn key, value, acc -> [{String.to_atom(key), value} | acc] end
      iex> RustyJson.decode(~s({"a": {"b": null}}), nil, object_push: push, object_finish: fn acc, old -> {acc, old} end)
      {[a: [b: nil]], nil, ""}

      iex> RustyJson.decode("[1, x", nil, [])
      {:error, {:invalid_byte, 4, ?x}}

  Returns `{term, acc, rest}`: the value, the accumulator and the bytes behind the value. The decoders are a keyword list or a map:

    * `:array_start`, `:object_start` - `fun(acc)` returns the accumulator of the container; by default `[]`
    * `:array_push` - `fun(value, acc)`, and `:object_push` - `fun(key, value, acc)` return the next accumulator; by default they
      prepend the value or `{key, value}`
    * `:array_finish`, `:object_finish` - `fun(acc, acc_before)` returns `{value, acc}`; by default the list in the order of the text, or
      a map with the first of repeated keys, and `acc_before`
    * `:float`, `:integer`, `:string` - `fun(text)` returns the value; `:string` is called for keys too. A float has a fraction: the
      text of `1e5` is `"1.0e5"`
    * `:null` - the term for `null`; `nil` by default

  The engine reads the whole value first; then the callbacks run, in the order of the text. Limits, the engine and its sandbox are those
  that `RustyJson.Config` sets. Errors are those of `JSON.decode/3`: `{:error, {:unexpected_end, position}}`,
  `{:error, {:invalid_byte, position, byte}}` or `{:error, {:unexpected_sequence, position, bytes}}`. If a value exceeds a limit, the
  error has the reason of the `RustyJson.DecodeError`, such as `{:error, {:max_depth, position}}`; if the sandbox stopped the call, it is
  a `RustyJson.SandboxError`.
  """
  @spec decode(binary(), term(), keyword() | map()) ::
          {term(), term(), binary()} | {:error, decoders_error() | SandboxError.t()}
  def decode(binary, acc, decoders) when is_binary(binary) do
    case Callbacks.check(decoders) do
      {:ok, decoders} -> Callbacks.first(binary, acc, Map.put_new(decoders, :null, nil))
      {:error, text} -> raise ArgumentError, text
    end
  end

  @doc """
  Decodes JSON, or raises.

      iex> RustyJson.decode!(~s({"a": true}), keys: :atoms)
      %{a: true}

      iex> RustyJson.decode!("[01]")
      ** (RustyJson.DecodeError) Leading zeros in numbers at position 1 (line 1, column 2)
  """
  @spec decode!(iodata(), [decode_option()] | map()) :: term()
  def decode!(input, opts \\ []), do: input |> decode(opts) |> bang()

  defp bang({:ok, result}), do: result
  defp bang({:error, error}), do: raise(error)

  @doc """
  Returns whether a document is valid: `true` where `decode/2` with the same options returns `{:ok, term}`. It builds no terms and creates
  no atoms, and takes a fraction of the time of `decode/2`.

      iex> RustyJson.valid?(~s({"a": [1, 2.5, null]}))
      true

      iex> RustyJson.valid?("[1, 2,]")
      false

      iex> RustyJson.valid?(~s({"a": 1, "a": 2}), duplicate_keys: :error)
      false

  The rules and limits are those of `decode/2`. A document that exceeds one is not valid, and neither is one that the sandbox stops
  because of its time or memory. If no instance of the sandbox was free (`:busy`), or the engine does not work (`:unavailable`), nothing
  is known about the document, and the call raises the `RustyJson.SandboxError`.

  Options that only change terms (`:strings`, `:objects`, `:null`, `:raw`) have no effect. `keys: fun` is not called, and `keys: :atoms`
  only limits the length of keys. `keys: :atoms!` and `:as` take as long as `decode/2`.
  """
  @spec valid?(iodata(), [decode_option()] | map()) :: boolean()
  def valid?(input, opts \\ []) do
    Cache.cached(decode: lists) = Cache.all()

    case Lists.find(lists, opts) do
      {{longest, kept}, %{check: check} = options}
      when is_binary(input) and byte_size(input) <= longest and check != nil ->
        with :dirty <- Engine.Native.Nif.valid(input, kept), do: Valid.valid?(input, options)

      {{:sandbox, _number, check}, options}
      when is_binary(input) and byte_size(input) <= @longest_without_room and check != nil ->
        case Engine.Native.Nif.sandbox_decode(input, check) do
          {:ok, term} -> term == true
          false -> Valid.valid?(input, options)
          answer -> Valid.sandboxed(answer, input, options)
        end

      {_ready, options} ->
        Valid.valid?(input, options)

      nil ->
        Valid.valid?(input, Options.decode(opts))
    end
  end

  @doc """
  Decodes many documents in one call, which is faster than one call for each.

      iex> RustyJson.decode_many([~s({"a": 1}), "[2]"])
      [{:ok, %{"a" => 1}}, {:ok, [2]}]

      iex> [{:ok, [1]}, {:error, error}, {:ok, nil}] = RustyJson.decode_many(["[1]", "[", "null"])
      iex> error.reason
      :unexpected_end

  Returns what `decode/2` returns for each document, in the order of the list, and takes the same options. Limits such as
  `:max_bytes` apply to each document, so bound the length of the list as well.

  The wasm engine sends documents into the sandbox in batches of up to 64 KB. `:timeout` covers the whole list. If a batch
  traps, exceeds its memory or takes too long, RustyJson halves it until it finds the document responsible. Only that document
  returns a `RustyJson.SandboxError`. With `isolation: :fresh` each document gets an instance of its own.
  """
  @spec decode_many([iodata()], [decode_option()] | map()) :: [
          {:ok, term()} | {:error, DecodeError.t() | SandboxError.t()}
        ]
  def decode_many(inputs, opts \\ []), do: Many.decode(inputs, Options.decode(opts))

  @doc """
  Decodes a stream of JSON lazily. It holds only a few pieces of the input in memory.

      iex> ["[1] [2", "] {\\"a\\"", ": 3}"] |> Stream.map(& &1) |> RustyJson.decode_stream() |> Enum.to_list()
      [[1], [2], %{"a" => 3}]

      iex> RustyJson.decode_stream(~s({"results": [{"id": 1}, {"id": 2}]}), at: "/results/*/id") |> Enum.sum()
      3

      # Before Elixir 1.16: File.stream!("events.ndjson", [], 65_536)
      File.stream!("events.ndjson", 65_536) |> RustyJson.decode_stream(format: :lines)

  The source is a list or a binary, which is read as iodata, or any other enumerable of iodata. Its pieces can end anywhere. Invalid
  JSON raises `RustyJson.DecodeError`, after the stream has returned the values before it; positions count from the start of the
  stream. When the consumer halts, the stream closes the source and does not validate the rest. A byte order mark (UTF-8) at the start
  of the stream is skipped, as files from Windows have one; in `decode/2` it is an error.

  ## Options

  #{Words.doc(:decode_stream)}
    * `:max_bytes`, `:max_nodes` - limits of one value
    * `:max_depth` - the limit on nesting, counted from the root of the document
    * `:duplicate_keys` - applies within each value. With `:at`, keys around the values are not compared, and every value at the
      pointer is returned
    * `:strings` - `:copy` by default
    * `:as` - decodes each value into a type of `RustyJson.Schema`. A value that is not of the type is an error like invalid JSON

        iex> lines = ~s({"id": 1, "user": {"city": "Oslo"}}\\n{"id": 2}\\n)
        iex> lines |> RustyJson.decode_stream(format: :lines, select: %{id: "/id", city: "/user/city"}) |> Enum.to_list()
        [%{id: 1, city: "Oslo"}, %{id: 2}]
        iex> lines |> RustyJson.decode_stream(format: :lines, select: %{id: "/id", city: "/user/city"}, columns: 1_000) |> Enum.to_list()
        [%{id: [1, 2], city: ["Oslo", nil]}]

  All options of `decode/2` except `:raw` are accepted too. `:timeout` applies to each 32 KB of a piece, with the
  bytes that were waiting. In the sandbox, iodata may have at most `:max_memory` bytes, and each element of a source that is iodata; a binary
  may be longer.
  """
  @spec decode_stream(Enumerable.t(), [stream_option()] | map()) :: Enumerable.t()
  def decode_stream(source, opts \\ []), do: RustyJson.Feed.Source.decode(source, Feed.new(opts))

  @doc """
  Decodes one value of a document, at a JSON Pointer (RFC 6901). It checks the rest of the document but builds no terms for it.

      iex> json = ~s({"user": {"name": "Ada", "tags": ["x", "y"]}})
      iex> RustyJson.fetch(json, "/user/name")
      {:ok, "Ada"}
      iex> RustyJson.fetch(json, "/user/tags/1")
      {:ok, "y"}
      iex> RustyJson.fetch(json, "/user/email")
      :error

      iex> RustyJson.fetch(~s({"user": {"born": "1815-12-10"}}), "/user/born", as: :date)
      {:ok, ~D[1815-12-10]}

      iex> {:error, error} = RustyJson.fetch(~s({"a": 1, "b": x}), "/a")
      iex> error.message
      "Expected value at position 14 (line 1, column 15)"

  The pointer `""` is the whole document. In keys, write `~1` for `/` and `~0` for `~`. The result is `{:ok, nil}` if the value is
  `null`, and `:error` if there is no such value, for example below a number or a string. A malformed pointer raises `ArgumentError`.

  ## Options

  #{Words.doc(:parts)}

  All options of `decode/2` except `:raw` are accepted too. `:keys`, `:floats` and `:objects` apply to the value at the pointer, limits to the
  whole document.
  """
  @spec fetch(iodata(), String.t(), [part_option()] | map()) ::
          {:ok, term()} | :error | {:error, DecodeError.t() | SandboxError.t()}
  def fetch(input, pointer, opts \\ []), do: Parts.fetch(input, pointer, opts)

  @doc """
  Decodes one value of a document, or raises. Raises `KeyError` if there is no such value.

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
  Decodes as much as there is of a document that may not be complete.

      iex> RustyJson.decode_partial(~s({"title": "Hel))
      {:ok, %{"title" => "Hel"}, :partial}

      iex> RustyJson.decode_partial("[1, 2]")
      {:ok, [1, 2], :complete}

      iex> RustyJson.decode_partial(~s({"a": "b", "c": "d), trailing: :drop)
      {:ok, %{"a" => "b"}, :partial}

  The last element is `:complete` when `decode/2` succeeds, otherwise `:partial`. Text that cannot become valid is an error (an escape
  `\\u` when its digits are complete), and so is a document of which nothing can be told yet, with the reason `:unexpected_end`. With
  `:strings` and `:drop`, a document that is a number is such a document until a space or line break ends the number, and so it is with
  `:as`. With `errors: :all`, a value of a wrong type or against a constraint does not end a document that still grows. The document is
  `:partial`, its value is what came before that, and `RustyJson.Partial.finish/2` gives the list of errors. Of an array or object that has
  such a value in it and is there to its end, nothing is shown. A whole document with such a value gives the error of `decode/2`. See
  `RustyJson.Partial` for a document that grows.

  ## Options

  #{Words.doc(:partial)}
    * `:as` - a type: see "Typed documents" in `RustyJson.Partial`
    * `:strings` - `:copy` by default

  And those of `decode/2`, except `:raw`.

  | so far | `:keep` | `:strings` | `:drop` |
  |---|---|---|---|
  | `{"a": "ba` | `%{"a" => "ba"}` | `%{"a" => "ba"}` | `%{}` |
  | `{"a": "x\\u12` | `%{"a" => "x"}` | `%{"a" => "x"}` | `%{}` |
  | `[1, 2` | `[1, 2]` | `[1]` | `[1]` |
  | `[1.` | `[1]` | `[]` | `[]` |
  | `[-` | `[]` | `[]` | `[]` |
  | `[tru` | `[]` | `[]` | `[]` |
  | `{"a` | `%{}` | `%{}` | `%{}` |
  | `{"a":1,` | `%{"a" => 1}` | `%{"a" => 1}` | `%{"a" => 1}` |
  | `"ab` | `"ab"` | `"ab"` | nothing |
  | `12` | `12`, complete | nothing | nothing |
  """
  @spec decode_partial(iodata(), [partial_option()] | map()) ::
          {:ok, term(), :complete | :partial} | {:error, DecodeError.t() | SandboxError.t()}
  def decode_partial(input, opts \\ []), do: Partial.Once.decode(input, opts)

  @doc """
  Decodes several values of a document, at JSON Pointers, in one pass.

      iex> json = ~s({"id": 7, "user": {"name": "Ada", "email": null}})
      iex> RustyJson.select(json, %{id: "/id", name: "/user/name", email: "/user/email", age: "/user/age"})
      {:ok, %{id: 7, name: "Ada", email: nil}}
      iex> RustyJson.select(json, ["/id", "/user/age"])
      {:ok, [7, nil]}
      iex> RustyJson.select(json, ["/id", "/user/age"], missing: {:default, :unknown})
      {:ok, [7, :unknown]}

  A list of pointers returns a list of values, with `nil` for missing values. A map of pointers returns a map with the same keys, without
  those of missing values. If you use the same pointers often, prepare them with `RustyJson.Paths.new!/1`.

      iex> {:ok, [payload]} = RustyJson.select(~s({"payload": {"n": 1.50}}), ["/payload"], as: :raw)
      iex> RustyJson.encode!(%{forwarded: payload})
      ~s({"forwarded":{"n": 1.50}})

  Takes the options of `fetch/3`.
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

  The error is a `RustyJson.EncodeError` for a term that has no JSON form, and a `Protocol.UndefinedError` for a struct without a
  `RustyJson.Encoder`. In the wasm engine it can also be a `RustyJson.SandboxError`. Exceptions that an implementation of a protocol
  raises are not caught.

  ## Options

  #{Words.doc(:encode)}
  """
  @spec encode(term(), [encode_option()] | map()) ::
          {:ok, String.t()} | {:error, EncodeError.t() | SandboxError.t() | Exception.t()}
  def encode(term, opts \\ []) do
    Cache.cached(encode: lists, plans: plans) = cached = Cache.all()

    case Lists.find(lists, opts) do
      {ready, options} when is_integer(ready) and not Known.is_of_structs(term) ->
        case Engine.Native.Nif.encode(term, ready, plans) do
          json when is_binary(json) -> {:ok, json}
          begun -> Text.begun(begun, term, plans, options)
        end

      {{:sandbox, number}, options} when not Known.is_of_structs(term) ->
        case Engine.Native.Nif.sandbox_encode(term, number, plans) do
          {:ok, _text} = done -> done
          false -> Text.given(term, options)
          answer -> Text.sandboxed(answer, term, plans, options)
        end

      {ready, options} ->
        Text.configured(term, ready, cached, options)

      nil ->
        Text.given(term, Options.encode(opts))
    end
  end

  @doc """
  Encodes a term, or raises.

      iex> RustyJson.encode!(%{b: 2, a: 1}, sort_keys: true, pretty: true) |> String.split("\\n")
      ["{", ~s(  "a": 1,), ~s(  "b": 2), "}"]

  Instead of options it takes an encoder, as Elixir's `JSON.encode!/2` does: a function that is called with each value and key, and with
  itself. See `protocol_encode/2`.

      iex> encoder = fn
      ...>   {x, y}, _encoder -> [?<, to_string(x), ?|, to_string(y), ?>]
      ...>   other, encoder -> RustyJson.protocol_encode(other, encoder)
      ...> end
      iex> RustyJson.encode!(%{at: {1, 2}}, encoder)
      ~s({"at":<1|2>})
  """
  @spec encode!(term(), [encode_option()] | map() | encoder()) :: String.t()
  def encode!(term, opts \\ [])

  def encode!(term, encoder) when is_function(encoder, 2),
    do: term |> encoder.(encoder) |> IO.iodata_to_binary()

  def encode!(term, opts), do: term |> encode(opts) |> bang()

  @doc """
  Encodes a value as `encode!/1` does, and calls the encoder with the values and keys in it. Call it in an encoder of `encode!/2` for
  values that the encoder does not treat itself.

      iex> RustyJson.protocol_encode([1, :a], &RustyJson.protocol_encode/2) |> IO.iodata_to_binary()
      ~s([1,"a"])

  Structs with a derived `RustyJson.Encoder`, and those that implement only Elixir's `JSON.Encoder`, call the encoder with their fields.
  Other structs are encoded as a whole, and with a configured `:redact` also those that implement only `JSON.Encoder`. The limits of
  `encode/2` hold for each value by itself, and so do configured options, except that no text is compressed, and members are not sorted,
  renamed, left out or compared (`maps: :strict`). Keys of a configured `:redact` hide values as in `encode!/1`; JSON Pointers in it raise
  `ArgumentError`.
  """
  @spec protocol_encode(term(), encoder()) :: iodata()
  def protocol_encode(value, encoder) when is_function(encoder, 2), do: Callback.encode(value, encoder)

  @doc """
  Writes JSON in canonical form (RFC 8785). Documents with the same meaning get the same text, which you can sign or hash.

      iex> RustyJson.canonicalize(~s({"b": [1.0, 1e2, "\\u0041"], "a": null}))
      {:ok, ~s({"a":null,"b":[1,100,"A"]})}

      iex> RustyJson.encode(%{b: 2.50, a: "€"}, canonical: true)
      {:ok, ~s({"a":"€","b":2.5})}

      iex> {:error, error} = RustyJson.canonicalize("[9007199254740993]")
      iex> error.reason
      :inexact_integer

  Members are sorted by the UTF-16 units of their keys. Numbers are written as ECMAScript writes them. Only quotes, backslashes and
  control characters are escaped. Repeated keys, lone surrogates, and integers that a float cannot represent exactly are errors. With
  `canonical: true`, `encode/2` writes a `Decimal` as a string, as it does without. Its `:max_bytes` limits the canonical text; the text
  from which that is made, with white space in fragments, may have six times as many bytes and 64 KiB more.

  Takes the limits of `decode/2` (`:max_bytes`, `:max_depth`, `:max_nodes`, `:decoding_integer_digit_limit`), the options that
  choose an engine, and `:policy`, of which these apply.
  """
  @spec canonicalize(iodata(), [decode_option()] | map()) ::
          {:ok, String.t()} | {:error, DecodeError.t() | SandboxError.t()}
  def canonicalize(input, opts \\ []), do: Canonical.canonicalize(input, opts)

  @doc """
  Encodes a sequence or a document as a stream of binaries. It holds only a few of them in memory.

      iex> 1..3 |> Stream.map(&%{id: &1}) |> RustyJson.encode_stream() |> Enum.join()
      ~s([{"id":1},{"id":2},{"id":3}])

      iex> [[1], %{a: 2}] |> RustyJson.encode_stream(format: :lines) |> Enum.join()
      ~s([1]\\n{"a":2}\\n)

      iex> rows = Stream.map(1..2, &[&1])
      iex> %{ok: true, rows: RustyJson.lazy(rows)} |> RustyJson.encode_stream(sort_keys: true) |> Enum.join()
      ~s({"ok":true,"rows":[[1],[2]]})

  An enumerable (a list, a stream, a range) is a sequence of elements. A map, an ordered object or a struct with an encoder is one
  document. In it, and in elements, mark arrays with `lazy/1` to compute their elements on demand. A lazy array that the encoder of your
  own struct encodes is computed at once.

  Pieces end between elements, which can be those of a lazy array. When the consumer halts, the stream closes the source. A term that cannot be encoded raises
  `RustyJson.EncodeError` with its path, after the stream has returned the elements before it.

  ## Options

  #{Words.doc(:encode_stream)}

  All options of `encode/2` are accepted too, except `canonical: true`, and `:pretty` where `:format` is not `:array`. `:compress` uses
  Erlang's `:zlib` and writes one gzip member.
  """
  @spec encode_stream(term(), [stream_encode_option()] | map()) :: Enumerable.t()
  def encode_stream(term, opts \\ []), do: RustyJson.Encode.Stream.encode(term, opts)

  @doc """
  Returns an array for use inside a term. `encode_stream/2` computes its elements while it writes them. `encode/2` computes all of them
  first, and stops once `:max_bytes` is exceeded; in the sandbox also at the `:timeout`, and when their texts exceed `:max_memory`.

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
  The same as `encode!/2`. With an encoder it returns what that returns.

      iex> RustyJson.encode_to_iodata!([1])
      "[1]"
  """
  @spec encode_to_iodata!(term(), [encode_option()] | map() | encoder()) :: iodata()
  def encode_to_iodata!(term, opts \\ [])
  def encode_to_iodata!(term, encoder) when is_function(encoder, 2), do: encoder.(term, encoder)
  def encode_to_iodata!(term, opts), do: encode!(term, opts)

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
    * `:host` - `:auto`, `:built_in` or `:wasmex`, for the wasm engine
    * `:policy` - a [policy](`RustyJson.Config#module-policies`), whose engine and host start. An unknown one raises ArgumentError

  If the engine cannot start, the result is `{:error, exception}`: a `RustyJson.EngineError`, or a `RustyJson.SandboxError` with
  the reason `:unavailable`. Both say what is missing. RustyJson remembers for one second that wasmex failed, and does not
  try it again in that time.

  Without `start_engine/1`, the first call starts the engine. One process starts it, and other calls wait for at most their `:timeout`.
  If the application is configured with `engine: :wasm`, the engine starts with RustyJson itself.
  """
  @spec start_engine(engine: :auto | :native | :wasm, host: :auto | :built_in | :wasmex, policy: atom()) ::
          :ok | {:error, EngineError.t() | SandboxError.t()}
  def start_engine(opts \\ []) do
    {_own, opts} = Options.split!(:start_engine, opts)

    case Options.decode(opts) do
      %{engine: Engine.Wasm, sandbox: %{host: host}} -> started(RustyJson.Wasm.Host.status(host))
      %{engine: Engine.Missing} -> {:error, EngineError.exception([])}
      _native -> :ok
    end
  end

  defp started({:ok, _status}), do: :ok
  defp started({:error, reason}), do: {:error, SandboxError.new(:unavailable, reason)}

  @doc """
  Lets a supervisor start an engine. If you put `{RustyJson, engine: :wasm}` among its children, the engine is ready before the children
  that follow. Takes the options of `start_engine/1`. A supervisor can have one such child for each engine and policy. The supervisor does
  not start if the engine cannot start, or if no policy has that name.

      iex> children = [{RustyJson, engine: RustyJson.engine()}, {RustyJson, engine: :auto}]
      iex> {:ok, supervisor} = Supervisor.start_link(children, strategy: :one_for_one)
      iex> Supervisor.stop(supervisor)
      :ok
  """
  @spec child_spec(keyword()) :: Supervisor.child_spec()
  def child_spec(opts), do: %{id: {__MODULE__, opts}, start: {__MODULE__, :start_link, [opts]}}

  @doc false
  # There is no process to supervise. Supervisors print an exception as text if it has a stack trace.
  @spec start_link(keyword()) :: :ignore | {:error, {Exception.t(), Exception.stacktrace()}}
  def start_link(opts) do
    with {:error, exception} <- start_engine(opts),
         do: {:error, {exception, [{__MODULE__, :start_link, 1, []}]}},
         else: (:ok -> :ignore)
  end

  @doc """
  Returns counts for each host of the wasm engine, for metrics and alerts: `running` and `kept` instances, callers `waiting` for
  an instance, and the failed calls since the VM started, per reason of `RustyJson.SandboxError`.

      iex> RustyJson.stats() |> Map.fetch!(:built_in) |> Map.keys() |> Enum.sort()
      [:busy, :invalid_result, :kept, :memory_limit, :running, :timeout, :trap, :unavailable, :waiting]
  """
  @spec stats() :: %{built_in: host_stats(), wasmex: host_stats()}
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
    {asked, by} = RustyJson.Config.asked()
    engine = Engine.name(RustyJson.Config.decode().engine)
    %{engine: engine, asked: asked, by: by, engines: Engine.statuses()}
  end
end
