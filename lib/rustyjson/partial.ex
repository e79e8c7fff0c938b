defmodule RustyJson.Partial do
  @moduledoc """
  Shows a JSON document while it arrives: what a language model has written so far, or a slow peer has sent.

      iex> partial = RustyJson.Partial.new()
      iex> {:ok, partial} = RustyJson.Partial.push(partial, ~s({"title": "Hel))
      iex> RustyJson.Partial.value(partial)
      {:ok, %{"title" => "Hel"}}
      iex> {:ok, partial} = RustyJson.Partial.push(partial, ~s(lo", "tags": ["a", "b))
      iex> RustyJson.Partial.value(partial)
      {:ok, %{"title" => "Hello", "tags" => ["a", "b"]}}
      iex> {:ok, partial} = RustyJson.Partial.push(partial, ~s("]}))
      iex> RustyJson.Partial.finish(partial)
      {:ok, %{"tags" => ["a", "b"], "title" => "Hello"}}

  A piece may end anywhere, also inside an escape or a character. `push/2` takes time for the new bytes, and `value/1` for the
  direct children of the containers that are still open. A partial document is a plain term: it holds no instance of the sandbox, and
  after an error the one before it is still good.

  From one `value/1` to the next, arrays and objects only grow, and strings only get longer. Exceptions are the number at
  the end, as more digits come, and keys that are repeated in an object, which follow `:duplicate_keys`.

  See `RustyJson.decode_partial/2` for the options.
  """

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, Feed, Options, SandboxError}
  alias RustyJson.Decode.Atoms
  alias RustyJson.Encode.{Measure, Path}
  alias RustyJson.Engine.Codes
  alias RustyJson.Partial.{Changes, Document}
  alias RustyJson.Wasm.{Host, Stats}

  @enforce_keys [:plan, :options, :uncounted, :state, :document]
  # `shown` is the total when the changes last set the root, and `behind` that what came since then is still to be told.
  defstruct [
    :plan,
    :options,
    :uncounted,
    :state,
    :document,
    pending: "",
    base: 0,
    total: 0,
    shown: 0,
    behind: false
  ]

  @opaque t :: %__MODULE__{
            plan: binary(),
            options: Options.t(),
            uncounted: Options.t(),
            state: binary(),
            document: Document.t(),
            pending: binary(),
            base: non_neg_integer(),
            total: non_neg_integer(),
            shown: non_neg_integer(),
            behind: boolean()
          }

  @typedoc "What happened at a JSON Pointer: a value was set, or text was appended to a string."
  @type change :: {pointer :: String.t(), {:set, term()} | {:append, binary()}}

  # The format of core/src/scan/plan.rs, and its flag.
  @format 4
  @drop 1
  # Line and column 1, before a value, nothing read yet.
  @begun <<1::64-little, 1::64-little, 0, 1, 0::16-little>>
  # A key or number of more bytes waits until the core has found its end.
  @longest 1024
  # The core says so when an error stands behind a value.
  @behind "."
  # Bytes of one call, and where that has no memory.
  @longest_piece 16_777_216
  @slice 65_536
  @unexpected_end Codes.decode(:unexpected_end)
  # A document of at most as many bytes may be set as a whole with each piece.
  @free 16_384
  @no_stop 0xFFFF_FFFF_FFFF_FFFF

  @doc """
  A document before its first byte. It takes the options of `RustyJson.decode_partial/2`.

      iex> RustyJson.Partial.new(trailing: :dropp)
      ** (ArgumentError) option :trailing takes :keep, :strings or :drop, got: :dropp
  """
  @spec new([RustyJson.partial_option()] | map()) :: t()
  def new(opts \\ []) do
    {trailing, rest} = opts |> Options.to_list("a partial document") |> Keyword.pop(:trailing, :keep)
    drop = drops_numbers!(trailing)
    options = [strings: :copy] |> Kernel.++(rest) |> Options.decode() |> whole!()
    most = options.values.max_nodes
    plan = <<@format, if(drop, do: @drop, else: 0), most::64-little, 0::16-little>>
    document = Document.new(options, trailing)
    # Values and keys of all pieces are counted together, as the plan says.
    uncounted = if most == 0, do: options, else: Options.change(options, :decode, %{max_nodes: 0})
    %__MODULE__{plan: plan, options: options, uncounted: uncounted, state: @begun, document: document}
  end

  defp whole!(%{as: nil, parts: ""} = options), do: options
  defp whole!(_options), do: raise(ArgumentError, "a partial document takes neither :as nor :raw")

  defp drops_numbers!(:keep), do: false
  defp drops_numbers!(trailing) when trailing in [:strings, :drop], do: true

  defp drops_numbers!(other) do
    raise ArgumentError, "option :trailing takes :keep, :strings or :drop, got: #{inspect(other, limit: 5)}"
  end

  @doc """
  Takes the next piece.

      iex> {:error, error} = RustyJson.Partial.new() |> RustyJson.Partial.push(~s({"a": x))
      iex> {error.reason, error.position, error.path}
      {:expected_value, 6, "/a"}

  Text that no further piece can make valid is an error as soon as it is there: the error that `RustyJson.decode/2` gives for the bytes
  so far. So `[1e999` is one, and so is `[N`. With `duplicate_keys: :error`, a repeated key is one before its value comes. An integer of
  more digits than `:decoding_integer_digit_limit` is one when it ends, because as `…e-1000` it would be a float.
  """
  @spec push(t(), iodata()) :: {:ok, t()} | {:error, DecodeError.t() | SandboxError.t()}
  def push(partial, input) do
    with {:ok, partial, nil} <- pieces(partial, input, nil), do: {:ok, partial}
  end

  @doc """
  Takes the next piece, and says what it changes in the value.

      iex> partial = RustyJson.Partial.new()
      iex> {:ok, changes, partial} = RustyJson.Partial.push_changes(partial, ~s({"a": [1, "x))
      iex> changes
      [{"", {:set, %{}}}, {"/a", {:set, []}}, {"/a/0", {:set, 1}}, {"/a/1", {:set, "x"}}]
      iex> {:ok, changes, _partial} = RustyJson.Partial.push_changes(partial, ~s(y", ))
      iex> changes
      [{"/a/1", {:append, "y"}}]

  Changes that are applied in their order to the value before give the value after. The first one of a document sets `""`. An index is
  that of an element that is there, or of the next one. Where an ordered object repeats a key, the object itself is set.

  Pointers may have at most 16 times the bytes of the piece and 16 KB more, together with the members of such objects. A piece whose
  changes need more, because keys are very long or brackets very deep, gives one change instead, which sets `""`. That takes time for
  all that is open. A document of more than 16 KB is therefore set again only when it is complete, or has grown by an eighth: until
  then such a piece, and those after it, give no changes.
  """
  @spec push_changes(t(), iodata()) ::
          {:ok, [change()], t()} | {:error, DecodeError.t() | SandboxError.t()}
  def push_changes(partial, input) do
    case pieces(partial, input, :told) do
      {:ok, partial, :whole} -> root(partial)
      {:ok, partial, changes} -> {:ok, Changes.list(changes), partial}
      failed -> failed
    end
  end

  # To set the root takes time for all that is open, so of a long document it is done when an eighth is new: all of these times
  # together are then a multiple of the length.
  defp root(%{total: total, shown: shown, document: document} = partial) do
    cond do
      total <= @free -> {:ok, set(document), partial}
      total - shown >= div(total, 8) -> {:ok, set(document), %{partial | shown: total, behind: false}}
      Document.done(document) != :none -> {:ok, set(document), %{partial | shown: total, behind: false}}
      true -> {:ok, [], %{partial | behind: true}}
    end
  end

  defp set(document) do
    case Document.value(document) do
      {:ok, value} -> [{"", {:set, value}}]
      :none -> []
    end
  end

  @doc """
  The value so far, or `:none` if nothing can be told of it.

      iex> {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(), "[1, tru")
      iex> RustyJson.Partial.value(partial)
      {:ok, [1]}

      iex> RustyJson.Partial.value(RustyJson.Partial.new())
      :none
  """
  @spec value(t()) :: {:ok, term()} | :none
  def value(%{document: document}), do: Document.value(document)

  @doc """
  Says that nothing follows; gives what `RustyJson.decode/2` gives for all the bytes.

      iex> {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(), "[1, 2")
      iex> {:error, error} = RustyJson.Partial.finish(partial)
      iex> {error.reason, error.position}
      {:unexpected_end, 5}
  """
  @spec finish(t()) :: {:ok, term()} | {:error, DecodeError.t() | SandboxError.t()}
  def finish(partial) do
    with {:ok, partial, nil} <- piece("", true, partial, nil),
         :none <- Document.done(partial.document),
         do: {:error, malformed(partial)}
  end

  @doc false
  # The error of a document of which nothing can be told.
  @spec nothing(t()) :: DecodeError.t()
  def nothing(%{base: base, pending: pending, options: options} = partial) do
    {line, column} = place(partial)
    position = base + byte_size(pending)
    DecodeError.new({@unexpected_end, position, line, column, ""}, pending, options, base)
  end

  ## Pieces

  defp pieces(%{options: %{max_bytes: most}, total: total} = partial, input, changes) do
    if most > 0 and not Measure.text?(input, most - total) do
      {:error, DecodeError.new({Codes.decode(:max_bytes), 0, 1, 1, ""}, "", partial.options)}
    else
      bytes = if is_binary(input), do: input, else: IO.iodata_to_binary(input)
      changes = changes && if(partial.behind, do: :whole, else: Changes.new(byte_size(bytes)))
      sliced(bytes, %{partial | total: total + byte_size(bytes)}, changes)
    end
  end

  # A value that ends in its piece is decoded at once, others child by child. So a long piece is divided only if the sandbox has no
  # memory for it, or if its events would take too much.
  defp sliced(bytes, partial, changes) do
    case piecewise(Feed.slices(bytes, @longest_piece), partial, changes) do
      {:error, %SandboxError{reason: :memory_limit}} when byte_size(bytes) > @slice ->
        piecewise(Feed.slices(bytes, @slice), partial, changes)

      done ->
        done
    end
  end

  defp piecewise(slices, partial, changes), do: Enum.reduce_while(slices, {:ok, partial, changes}, &slice/2)

  defp slice(bytes, {:ok, partial, changes}) do
    case piece(bytes, false, partial, changes) do
      {:ok, _partial, _changes} = done -> {:cont, done}
      {:error, _error} = failed -> {:halt, failed}
    end
  end

  defp piece("", false, partial, changes), do: {:ok, partial, changes}

  # A short token that is not over is read again; the end of a long one is looked for. (`<>` would make room for more behind it.)
  defp piece(bytes, last, %{pending: pending} = partial, changes) when byte_size(pending) > @longest,
    do: ask(bytes, byte_size(pending), last, partial, changes)

  defp piece(bytes, last, %{pending: ""} = partial, changes), do: ask(bytes, 0, last, partial, changes)

  defp piece(bytes, last, %{pending: pending} = partial, changes),
    do: ask(IO.iodata_to_binary([pending | bytes]), 0, last, %{partial | pending: ""}, changes)

  defp ask(bytes, held, last, partial, changes) do
    case engine(bytes, held, last, partial) do
      {events, kept, state, :more} ->
        with {:ok, partial, changes} <- told(events, partial, changes),
             do: {:ok, waiting(bytes, kept, held, %{partial | state: state}), changes}

      {[], 0, state, :join} when held > 0 ->
        ask(partial.pending <> bytes, 0, last, %{partial | state: state, pending: ""}, changes)

      {events, _kept, _state, trouble} when is_tuple(trouble) ->
        with {:ok, partial, _changes} <- told(events, partial, changes),
             do: {:error, error(trouble, bytes, partial)}

      {:error, :atom_limit} ->
        {line, column} = place(partial)
        {:error, error({Codes.decode(:atom_limit), 0, line, column, "", 0, 0}, "", partial)}

      {:error, %SandboxError{}} = failed ->
        failed

      _other ->
        {:error, malformed(partial)}
    end
  end

  defp told(events, %{document: document} = partial, changes) do
    {document, changes} = Document.apply_events(document, events, partial.base, changes)
    {:ok, %{partial | document: document}, changes}
  catch
    :malformed -> {:error, malformed(partial)}
    {:repeated, name, place, path} -> {:error, repeated(name, place, Path.steps(path), partial)}
  end

  defp waiting(bytes, kept, 0, partial) when kept == byte_size(bytes),
    do: %{partial | base: partial.base + kept, pending: ""}

  defp waiting(bytes, 0, held, partial) when held > 0, do: %{partial | pending: partial.pending <> bytes}

  # A part of a piece would keep all of it.
  defp waiting(bytes, kept, _held, partial) do
    rest = binary_part(bytes, kept, byte_size(bytes) - kept)
    %{partial | base: partial.base + kept, pending: :binary.copy(rest)}
  end

  ## Errors

  defp error({code, offset, line, column, path, start, stop}, bytes, %{base: base} = partial) do
    path = path(partial, path)

    DecodeError.new(
      {within(code, partial.document), base + offset, line, column, path},
      binary_part(bytes, start, stop - start),
      partial.options,
      base + start
    )
  end

  # The core does not know what is open.
  defp within(@unexpected_end, %{stack: [frame | _]}) do
    if elem(frame, 0) == :array, do: Codes.decode(:unclosed_array), else: Codes.decode(:unclosed_object)
  end

  defp within(code, _document), do: code

  defp path(%{document: document}, path) do
    {inner, behind} = if path == @behind, do: {"", true}, else: {path, false}
    document |> Document.path(behind) |> Path.steps() |> Path.join(inner)
  end

  # The document says where, and the core's words quote the key; its bytes are gone.
  defp repeated(name, {position, line, column}, path, %{options: options}) do
    name = if is_atom(name), do: Atom.to_string(name), else: name

    DecodeError.new(
      {Codes.decode(:duplicate_key), position, line, column, path},
      quoted(name),
      options,
      position
    )
  end

  defp quoted(name) do
    case RustyJson.encode(name) do
      {:ok, text} -> text
      {:error, _invalid} -> <<?", name::binary, ?">>
    end
  end

  # Line and column behind what is pending, which has no line break.
  defp place(%{state: <<line::64-little, column::64-little, _::binary>>, pending: pending}) do
    characters = for(<<byte <- pending>>, Bitwise.band(byte, 0xC0) != 0x80, reduce: 0, do: (n -> n + 1))
    {line, column + characters}
  end

  # The sandbox told events that do not fit together.
  defp malformed(%{options: %{sandbox: sandbox}}) do
    Stats.failed(Host.get(sandbox.host), :invalid_result)
    SandboxError.new(:invalid_result, "its events do not fit together")
  end

  ## The engine

  defp engine(bytes, held, last, %{uncounted: %{engine: engine} = options} = partial) do
    %{plan: plan, state: state, base: base} = partial
    run = fn options, stop -> engine.feed({base + held, held, last, stop, plan, state}, bytes, options) end
    Atoms.feed(run, options, @no_stop)
  end

  defimpl Inspect do
    # What arrived is not shown: it may be long, or secret.
    def inspect(%{total: total, document: document}, _opts) do
      state = if Document.done(document) == :none, do: "#{length(document.stack)} open", else: "complete"
      "#RustyJson.Partial<#{total} bytes, #{state}>"
    end
  end
end
