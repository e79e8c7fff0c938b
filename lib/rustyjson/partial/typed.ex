defmodule RustyJson.Partial.Typed do
  @moduledoc false
  # What there is of a typed document that is not complete. The core tells the events of an untyped document, and where things stand
  # (core/src/scan/partial/events.rs). A value that is whole is decoded into its type from its text, by the code of `decode(as:)`; only
  # containers and strings that are cut are followed here. So the sandbox is trusted with no more than the values.
  #
  # All text is kept: `finish/1` decodes it, and so does a value that does not fit its type, to get the error of `decode(as:)`. That
  # error may not be certain yet: inside of a tagged struct, whose tag can be repeated. The value then grows no more (`frozen`) until the
  # struct ends, or the document does. So a document is decoded a few times at most, whatever comes.

  alias RustyJson.{DecodeError, Options}
  alias RustyJson.Partial.{Changes, Fields, Frames, Limits, Steps, Text}
  alias RustyJson.Schema.Shape

  use RustyJson.Partial.Events, ~w(array object close key at value text end_of_text part string beyond lost)a

  @enforce_keys [:rules]
  defstruct [:rules, :limits, stack: [], cursor: nil, frozen: nil]

  # `frozen` is what is shown, the number of open containers, and when the error is certain: at this number of them, or with the `:next`
  # byte that is not white space.
  @type t :: %__MODULE__{
          rules: map(),
          limits: Limits.t(),
          stack: Frames.stack(),
          cursor: Steps.cursor(),
          frozen: nil | {:none | {:ok, term()}, non_neg_integer(), nil | :over | :next | non_neg_integer()}
        }

  @doc "A document before its first byte, of the type in the options."
  @spec new(Options.t(), :keep | :strings | :drop) :: t()
  def new(%{as: as, values: values, keys: keys} = options, trailing) do
    %{type: type, structs: structs} = Shape.of(as)

    rules = %{
      type: type,
      structs: Map.new(structs, fn {module, _types} -> {module, Fields.new(module)} end),
      options: options,
      parts: %{Options.change(options, :decode, %{max_nodes: 0, errors: :first}) | max_bytes: 0},
      null: values.null,
      decimals: values.floats == :decimals,
      drop: trailing == :drop,
      first: values.duplicate_keys == :first,
      names: if(values.duplicate_keys == :error, do: %{}),
      # Whether containers of any type grow: their keys are strings then, and their objects maps.
      plain: keys == nil and values.keys == :strings and values.objects != :ordered_objects,
      all: values.errors == :all,
      text: nil,
      piece: nil
    }

    %__MODULE__{rules: rules, limits: Limits.new(options)}
  end

  @doc "The same with other options of its calls."
  @spec with_options(t(), (Options.t() -> Options.t())) :: t()
  def with_options(%{rules: %{options: options, parts: parts} = rules} = typed, change),
    do: %{typed | rules: %{rules | options: change.(options), parts: change.(parts)}}

  @doc "The value so far."
  @spec value(t()) :: {:ok, term()} | :none
  def value(%{cursor: {:done, value}}), do: {:ok, value}
  def value(%{frozen: {shown, _open, _certain}}), do: shown
  def value(%{stack: stack, cursor: cursor, rules: rules}), do: Frames.shown(stack, visible(cursor, rules))

  @doc "The complete document."
  @spec done(t()) :: {:ok, term()} | :none
  def done(%{cursor: {:done, value}}), do: {:ok, value}
  def done(_typed), do: :none

  @doc "Whether it is complete and has a wrong value, which `errors: :all` leaves to `finish/2`."
  @spec over?(t()) :: boolean()
  def over?(%{frozen: {_shown, _open, certain}}), do: certain == :over
  def over?(_typed), do: false

  @doc "How many containers are open."
  @spec open(t()) :: non_neg_integer()
  def open(%{frozen: {_shown, open, _certain}}), do: open
  def open(%{stack: stack}), do: length(stack)

  defp visible({:text, {:grow, _type}, text, _start}, %{drop: false}), do: {:ok, text}
  defp visible(_cursor, _rules), do: :none

  ## Events

  @doc """
  Applies the events of a piece of which these bytes start at `base`, and notes what they change. Throws what
  `RustyJson.Partial.Document.apply_events/4` throws, and `{:failed, exception}`.
  """
  @spec apply_events(t(), [term()], Text.t(), Text.piece(), Changes.t()) :: {t(), Changes.t()}
  def apply_events(%{limits: limits} = typed, events, text, piece, changes),
    do: told(%{typed | limits: Limits.left_open(limits, events)}, events, text, piece, changes)

  defp told(%{frozen: nil} = typed, [], _text, _piece, changes), do: {typed, changes}
  defp told(%{frozen: {_, _, :over}} = typed, _events, _text, _piece, changes), do: {typed, changes}

  defp told(%{frozen: nil, rules: rules} = typed, events, text, piece, changes) do
    {stack, cursor, changes} =
      Steps.run(events, typed.stack, typed.cursor, %{rules | text: text, piece: piece}, changes)

    {%{typed | stack: stack, cursor: cursor}, changes}
  catch
    {:wrong, wrong} -> freeze(typed, wrong, text)
    # The number at the end is wrong already.
    {:lost, wrong} -> freeze(typed, wrong, Text.read(text, nil))
  end

  defp told(%{frozen: {shown, open, certain}} = typed, events, text, piece, changes) do
    {now, least} = levels(events, open, open)

    cond do
      now == 0 ->
        complete(%{typed | frozen: {shown, 0, :over}}, text, changes)

      certain == :next and (events != [] or more?(piece)) ->
        certain!(typed, text)
        {%{typed | frozen: {shown, now, nil}}, changes}

      is_integer(certain) and least <= certain ->
        certain!(typed, text)
        {%{typed | frozen: {shown, now, nil}}, changes}

      true ->
        {%{typed | frozen: {shown, now, certain}}, changes}
    end
  end

  # Whether a piece has more than white space: behind a key, a colon, which no event tells.
  defp more?(nil), do: false
  defp more?({<<space, rest::binary>>, base}) when space in ~c" \t\r\n", do: more?({rest, base + 1})
  defp more?({rest, _base}), do: rest != ""

  # A value does not fit its type.
  defp freeze(typed, %{rest: rest, stack: stack, open: open, visible: visible, changes: changes}, text) do
    shown = Frames.shown(stack, visible)
    certain!(typed, text)
    # Outside of tagged structs it is uncertain only at a key whose colon has not come.
    certain = stack |> Enum.reverse() |> Enum.find_index(&Frames.tagged?/1) || :next
    # All that may follow are events of what is open.
    told(%{typed | stack: [], cursor: nil, frozen: {shown, open, certain}}, rest, text, nil, changes)
  end

  # The whole document is there, so `decode(as:)` decides.
  defp complete(%{rules: %{options: options, all: all}} = typed, text, changes) do
    case Text.decode(text, options) do
      {:ok, value} -> {%{typed | cursor: {:done, value}}, changes && :whole}
      {:error, %DecodeError{}} when all -> {typed, changes}
      {:error, error} -> throw({:failed, error})
    end
  end

  # The error, if it is one whatever follows. What ends with the bytes so far may go on: a number, an escape, a character.
  defp certain!(%{rules: %{all: true}}, _text), do: :ok

  defp certain!(typed, text) do
    with %{} = error <- wrong(typed, Text.certain(text)), do: throw({:failed, error}), else: (nil -> :ok)
  end

  # Limits of the whole and repeated keys are looked after by the core and here.
  defp wrong(%{rules: %{parts: parts, names: names}}, text) do
    parts = if names, do: Options.change(parts, :decode, %{duplicate_keys: :first}), else: parts

    case Text.decode(text, parts) do
      {:error, %{reason: reason} = error} when reason != :unexpected_end -> error
      _uncertain -> nil
    end
  end

  @doc """
  The error of a type before this position, where the core found another one; nil if there is none. `decode(as:)` looks for some errors in
  the whole text before it looks at types, which in smaller pieces would have been wrong sooner.
  """
  @spec sooner(t(), Text.t(), non_neg_integer()) :: nil | Exception.t()
  def sooner(%{rules: %{all: true}}, _text, _position), do: nil
  def sooner(%{rules: %{options: %{values: %{max_nodes: 0}}, names: nil}}, _text, _position), do: nil
  def sooner(typed, text, position), do: wrong(typed, text |> Text.read(position) |> Text.certain())

  # How many containers are open behind these events, and how few were.
  defp levels([event, _start | rest], open, least) when event in [@array, @object],
    do: levels(rest, open + 1, least)

  defp levels([@close, _stop | rest], open, least) when open > 0,
    do: levels(rest, open - 1, min(least, open - 1))

  defp levels([event, _ | rest], open, least) when event in [@key, @text, @string, @lost],
    do: levels(rest, open, least)

  defp levels([event, _, _ | rest], open, least) when event in [@part, @beyond, @end_of_text],
    do: levels(rest, open, least)

  defp levels([event, _, _, _ | rest], open, least) when event in [@value, @at],
    do: levels(rest, open, least)

  defp levels([], open, least), do: {open, least}
  defp levels(_events, _open, _least), do: throw(:malformed)
end
