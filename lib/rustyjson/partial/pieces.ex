defmodule RustyJson.Partial.Pieces do
  @moduledoc false
  # How a piece of text gets into a partial document: the mends of `:lenient`, the engine, and then the document, which takes the events
  # that the engine found.

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, Feed, Options, Partial, SandboxError}
  alias RustyJson.Decode.{Atoms, Input}
  alias RustyJson.Encode.Measure
  alias RustyJson.Engine.Codes
  alias RustyJson.Feed.State
  alias RustyJson.Partial.{Changes, Document, Errors, Lenient, Text, Typed}
  alias RustyJson.Partial.Lenient.Positions

  @typedoc "What the piece changed, if that was asked for; `:whole` if it is too much to say."
  @type changes :: nil | :whole | Changes.t()
  @type taken ::
          {:ok, Partial.t(), changes()} | {:error, DecodeError.t() | SandboxError.t()}

  # A key or number of more bytes waits until the core has found its end.
  @longest 1024
  # Bytes of one call, and where that has no memory.
  @longest_piece 16_777_216
  @slice 65_536

  @doc "Takes the next piece. `changes` is `:told` if what it changes is to be said, otherwise nil."
  @spec push(Partial.t(), iodata(), nil | :told) :: taken()
  def push(partial, input, changes), do: in_time(partial, &pushed(&1, input, changes))

  defp pushed(%{total: total} = partial, input, changes) do
    case excess(input, partial) do
      nil ->
        bytes = Input.piece!(input)
        changes = changes && if(partial.behind, do: :whole, else: Changes.new(byte_size(bytes)))
        lenient(bytes, %{partial | total: total + byte_size(bytes)}, changes)

      :max_bytes ->
        {:error, DecodeError.new({Codes.decode(:max_bytes), 0, 1, 1, ""}, "", partial.options)}

      error ->
        {:error, error}
    end
  end

  defp excess(input, %{options: %{max_bytes: 0} = options}), do: Measure.excess(input, 0, options)

  defp excess(input, %{options: %{max_bytes: most}, total: total}),
    do: if(not Measure.text?(input, most - total), do: :max_bytes)

  defp lenient(bytes, %{lenient: nil} = partial, changes), do: sliced(bytes, partial, changes)

  defp lenient(bytes, %{lenient: before} = partial, changes) do
    {mended, lenient} = Lenient.push(before, bytes)

    %{partial | lenient: lenient}
    |> begin(Lenient.start(before), Lenient.start(lenient))
    |> mended(mended, changes)
  end

  # Errors have the positions of the original text.
  defp mended(%{lenient: lenient, text: text} = partial, bytes, changes) do
    with {:error, _error} = failed <- sliced(bytes, partial, changes),
         do: Positions.original(failed, lenient, Text.append(text, bytes))
  end

  @doc "Takes what the mends of `:lenient` held back, when nothing follows."
  @spec rest(Partial.t()) :: taken()
  def rest(partial), do: in_time(partial, &held_back/1)

  defp held_back(%{lenient: before} = partial) do
    {held, lenient} = Lenient.rest(before)
    partial = begin(%{partial | lenient: lenient}, Lenient.start(before), Lenient.start(lenient))
    if held == "", do: {:ok, partial, nil}, else: mended(partial, held, nil)
  end

  @doc "Says that nothing follows."
  @spec finish(Partial.t()) :: taken()
  def finish(partial), do: in_time(partial, &piece("", true, &1, nil))

  @doc "The document for a call that starts now and has several parts: one deadline covers all of them."
  @spec due(Partial.t()) :: Partial.t()
  def due(%{options: options} = partial) do
    case Options.started(options) do
      nil -> partial
      started -> with_options(partial, &Options.due(&1, started))
    end
  end

  # All calls of the engine for a piece share one deadline, which the next piece does not have, unless both are parts of one call.
  defp in_time(%{options: %{sandbox: %{deadline: _}}} = partial, run), do: run.(partial)

  defp in_time(partial, run) do
    with {:ok, %{options: %{sandbox: %{deadline: _}}} = partial, changes} <- partial |> due() |> run.(),
         do: {:ok, with_options(partial, &Options.undue/1), changes}
  end

  defp with_options(%{options: options, uncounted: uncounted, document: document} = partial, change) do
    document =
      case document do
        %Typed{} -> Typed.with_options(document, change)
        _untyped -> document
      end

    %{partial | options: change.(options), uncounted: change.(uncounted), document: document}
  end

  # The document starts behind other text.
  defp begin(partial, nil, {position, line, column} = start),
    do: %{
      partial
      | base: position,
        state: State.outside(line, column, :begun),
        text: Text.starts(partial.text, start)
    }

  defp begin(partial, _before, _start), do: partial

  # A value that ends in its piece is decoded at once, others child by child. So a long piece is divided only if the sandbox has no
  # memory for it, or if its events would take too much.
  defp sliced(bytes, partial, changes) when byte_size(bytes) <= @slice, do: kept(bytes, partial, changes)

  defp sliced(bytes, partial, changes) do
    with {:error, %SandboxError{reason: :memory_limit}} <-
           piecewise(Feed.slices(bytes, @longest_piece), partial, changes),
         do: piecewise(Feed.slices(bytes, @slice), partial, changes)
  end

  defp piecewise(slices, partial, changes) do
    Enum.reduce_while(slices, {:ok, partial, changes}, fn bytes, {:ok, partial, changes} ->
      case kept(bytes, partial, changes) do
        {:ok, _partial, _changes} = done -> {:cont, done}
        {:error, _error} = failed -> {:halt, failed}
      end
    end)
  end

  defp kept(bytes, %{text: nil} = partial, changes), do: piece(bytes, false, partial, changes)

  defp kept(bytes, %{text: text} = partial, changes),
    do: piece(bytes, false, %{partial | text: Text.append(text, bytes)}, changes)

  defp piece("", false, partial, changes), do: {:ok, partial, changes}

  # A short token that is not over is read again; the end of a long one is looked for. (`<>` would make room for more behind it.)
  defp piece(bytes, last, %{pending: pending} = partial, changes) when byte_size(pending) > @longest,
    do: ask(bytes, byte_size(pending), last, partial, changes)

  defp piece(bytes, last, %{pending: ""} = partial, changes), do: ask(bytes, 0, last, partial, changes)

  defp piece(bytes, last, %{pending: pending} = partial, changes),
    do: ask(IO.iodata_to_binary([pending | bytes]), 0, last, %{partial | pending: ""}, changes)

  defp ask(bytes, held, last, partial, changes) do
    {state, below} = State.raise(partial.state, partial.below, byte_size(bytes))
    partial = %{partial | state: state, below: below}

    case engine(bytes, held, last, partial) do
      {events, kept, state, :more} ->
        with {:ok, document, changes} <- told(events, bytes, kept, partial, changes) do
          {base, pending} = waiting(bytes, kept, held, partial)
          {state, below} = State.lower(state, below, partial.options.values.max_depth)
          now = %{document: document, state: state, below: below, base: base, pending: pending}
          {:ok, Map.merge(partial, now), changes}
        end

      {[], 0, state, :join} when held > 0 ->
        ask(partial.pending <> bytes, 0, last, %{partial | state: state, pending: ""}, changes)

      {events, _kept, _state, trouble} when is_tuple(trouble) ->
        with {:ok, document, _changes} <- told(events, bytes, nil, partial, changes),
             do: {:error, Errors.error(trouble, bytes, %{partial | document: document})}

      {:error, :atom_limit} ->
        {:error, Errors.atom_limit(partial)}

      {:error, %SandboxError{}} = failed ->
        failed

      _other ->
        {:error, Errors.malformed(partial)}
    end
  end

  # `kept` of the bytes were read; nil if the core found an error, which is one whatever follows.
  defp told(events, bytes, kept, %{document: document, base: base, text: text} = partial, changes) do
    {document, changes} =
      case document do
        %Typed{} ->
          read = Text.read(text, kept && base + kept)
          Typed.apply_events(document, events, read, {bytes, base}, changes)

        _untyped ->
          Document.apply_events(document, events, base, changes)
      end

    {:ok, document, changes}
  catch
    :malformed -> {:error, Errors.malformed(partial)}
    {:failed, error} -> {:error, error}
    {:repeated, name, place, path} -> {:error, Errors.repeated(name, place, path, partial)}
  end

  # The position of the bytes that wait for more, and these bytes.
  defp waiting(bytes, kept, 0, %{base: base}) when kept == byte_size(bytes), do: {base + kept, ""}
  defp waiting(bytes, 0, held, %{base: base, pending: pending}) when held > 0, do: {base, pending <> bytes}

  # A part of a piece would keep all of it.
  defp waiting(bytes, kept, _held, %{base: base}),
    do: {base + kept, bytes |> binary_part(kept, byte_size(bytes) - kept) |> :binary.copy()}

  defp engine(bytes, held, last, %{uncounted: %{engine: engine} = options} = partial) do
    %{plan: plan, state: state, base: base} = partial
    run = fn options, stop -> engine.feed({base + held, held, last, stop, plan, state}, bytes, options) end
    Atoms.feed(run, options)
  end
end
