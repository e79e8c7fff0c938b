defmodule RustyJson.Partial.Steps do
  @moduledoc false
  # What the events of a piece (core/src/scan/partial/events.rs) make of a typed document, one after the other. Each function ends with
  # the call for the next event, or throws: `:malformed` for events that do not fit together, and `{:wrong, %{...}}` at a value that its
  # type does not take, or `{:lost, %{...}}` at a number that goes on.

  alias RustyJson.Partial.{Changes, Fields, Frames, Tags, Values}

  import RustyJson.Partial.Frames, only: :macros

  use RustyJson.Partial.Events, ~w(array object close key at value text end_of_text part string beyond lost)a

  @typedoc "A string that is cut: what it is for, its text so far if that is needed, its position. Or the whole document."
  @type cursor ::
          nil
          | {:text, {:grow | :hold, term()} | :tag | :skip, nil | binary(), integer()}
          | {:done, term()}

  @doc "The open containers and the current value behind these events, and what changed."
  @spec run([term()], Frames.stack(), cursor(), map(), Changes.t()) :: {Frames.stack(), cursor(), Changes.t()}
  def run([event | _] = events, [in_list(limits: nil) = list | stack], nil, rules, changes)
      when event in [@value, @part, @beyond],
      do: elements(events, list, stack, rules, changes)

  def run([@value, value, start, length | rest], stack, nil, rules, changes),
    do: whole({:ok, value}, Values.place(start, length, rules), rest, stack, rules, changes)

  def run([@part, start, length | rest], stack, nil, rules, changes),
    do: whole(:decode, Values.place(start, length, rules), rest, stack, rules, changes)

  def run([@beyond, start, length | rest], stack, nil, rules, changes) do
    place = Values.place(start, length, rules)

    if Frames.expected(stack, rules) == :skip,
      do: wrong(rest, stack, changes),
      else: whole(:decode, place, rest, stack, rules, changes)
  end

  def run([@lost, limits | rest], stack, nil, rules, changes) when limits in 1..3 do
    if stack |> Frames.expected(rules) |> Fields.lost?(limits, rules.decimals),
      do: throw({:lost, at(rest, stack, length(stack), :none, changes)}),
      else: run(rest, stack, nil, rules, changes)
  end

  def run([@key, name | rest], [frame | stack], nil, rules, changes) when is_binary(name),
    do: keyed(Frames.key(frame, name, nil, rules), rest, [frame | stack], rules, changes)

  def run([@at, offset, line, column, @key, name | rest], [frame | stack], nil, rules, changes)
      when is_binary(name) and is_integer(offset) and is_integer(line) and is_integer(column) do
    frame
    |> Frames.key(name, {Values.from(offset, rules), line, column}, rules)
    |> keyed(rest, [frame | stack], rules, changes)
  end

  def run([event, start | rest], stack, nil, rules, changes)
      when event in [@array, @object] and is_integer(start) and start >= 0 do
    bracket = if event == @array, do: :array, else: :object
    type = Frames.expected(stack, rules)

    case Frames.opened(bracket, type, Values.from(start, rules), Changes.reach(stack), rules) do
      :wrong -> wrong(rest, stack, length(stack) + 1, changes)
      frame -> run(rest, [frame | stack], nil, rules, begun(changes, frame, stack))
    end
  end

  def run([@close, stop | rest], [frame | stack], nil, rules, changes) when is_integer(stop) do
    case Frames.closed(frame) do
      {:ok, value} ->
        added(value, rest, stack, rules, changes)

      {:decode, type, start} ->
        start
        |> Values.decode(Values.from(stop, rules), type, rules)
        |> set(rest, [frame | stack], stack, rules, changes)

      {:passed, start} ->
        run(rest, Frames.passed(stack, start, Values.from(stop, rules)), nil, rules, changes)

      :wrong ->
        wrong(rest, [frame | stack], length(stack), changes)
    end
  end

  def run([@string, start | rest], stack, nil, rules, changes) when is_integer(start) and start >= 0 do
    case stack |> Frames.expected(rules) |> purpose() do
      :wrong -> wrong(rest, stack, changes)
      what -> run(rest, stack, {:text, what, nil, Values.from(start, rules)}, rules, changes)
    end
  end

  def run([@text, text | rest], stack, {:text, what, before, start}, rules, changes) when is_binary(text) do
    case what do
      {:grow, _type} ->
        changes = appended(changes, stack, before, text, rules)
        run(rest, stack, {:text, what, joined(before, text), start}, rules, changes)

      :tag ->
        run(rest, stack, {:text, what, joined(before, text), start}, rules, changes)

      _not_shown ->
        run(rest, stack, {:text, what, nil, start}, rules, changes)
    end
  end

  def run([@end_of_text, text, stop | rest], stack, {:text, what, before, start}, rules, changes)
      when is_binary(text) and is_integer(stop) do
    stop = Values.from(stop, rules)

    case what do
      {:grow, type} -> grown(type, before, text, {start, stop}, rest, stack, rules, changes)
      {:hold, type} -> start |> Values.decode(stop, type, rules) |> set(rest, stack, stack, rules, changes)
      :tag -> decided(joined(before, text), {start, stop}, rest, stack, rules, changes)
      :skip -> run(rest, Frames.passed(stack, start, stop), nil, rules, changes)
    end
  end

  def run([], stack, cursor, _rules, changes), do: {stack, cursor, changes}
  def run(_events, _stack, _cursor, _rules, _changes), do: throw(:malformed)

  @spec wrong([term()], Frames.stack(), non_neg_integer(), {:ok, binary()} | :none, Changes.t()) ::
          no_return()
  defp wrong(rest, stack, open, visible \\ :none, changes),
    do: throw({:wrong, at(rest, stack, open, visible, changes)})

  @spec wrong([term()], Frames.stack(), Changes.t()) :: no_return()
  defp wrong(rest, stack, changes), do: wrong(rest, stack, length(stack), changes)

  # The rest of the events, the containers whose values are still shown, how many are open, and the last string if it is shown.
  defp at(rest, stack, open, visible, changes),
    do: %{rest: rest, stack: stack, open: open, visible: visible, changes: changes}

  defp keyed(:wrong, rest, stack, _rules, changes), do: wrong(rest, stack, changes)
  defp keyed(frame, rest, [_ | stack], rules, changes), do: run(rest, [frame | stack], nil, rules, changes)

  # A container that begins is shown empty, or not at all.
  defp begun(nil, _frame, _stack), do: nil

  defp begun(changes, frame, stack) do
    case Frames.empty(frame) do
      {:ok, value} -> Changes.note(changes, Changes.place(changes, stack), {:set, value}, nil)
      :none -> changes
    end
  end

  ## Values

  # A value that is whole in its piece.
  defp whole(given, {start, stop} = place, rest, stack, rules, changes) do
    case Frames.expected(stack, rules) do
      :wrong ->
        wrong(rest, stack, changes)

      what when what in [:skip, :later] ->
        run(rest, Frames.passed(stack, start, stop), nil, rules, changes)

      :tag ->
        tag = if given == :decode, do: nil, else: elem(given, 1)
        decided(tag, place, rest, stack, rules, changes)

      type ->
        given |> Values.typed(place, type, rules) |> set(rest, stack, stack, rules, changes)
    end
  end

  # The next value of these containers, which is told as set; if it is wrong, the containers that are open are others.
  defp set({:ok, value}, rest, _open, stack, rules, changes),
    do: added(value, rest, stack, rules, set_in(changes, stack, value))

  defp set(:wrong, rest, open, stack, _rules, changes), do: wrong(rest, open, length(stack), changes)

  defp added(value, rest, stack, rules, changes) do
    {stack, cursor} = Frames.add(stack, value)
    run(rest, stack, cursor, rules, changes)
  end

  defp set_in(nil, _stack, _value), do: nil

  defp set_in(changes, stack, value),
    do: Changes.note(changes, Changes.place(changes, stack), {:set, value}, nil)

  # Elements that come one after the other. Those that have to be decoded are so at once, as a list.
  defp elements([@value, value, start, length | rest] = events, list, stack, rules, changes) do
    _ = Values.place(start, length, rules)

    case Fields.direct(in_list(list, :type), value, rules.null) do
      {:ok, value} ->
        changes = set_in(changes, [list | stack], value)
        elements(rest, Frames.element(list, value), stack, rules, changes)

      nil ->
        several(events, list, stack, rules, changes)
    end
  end

  defp elements([event | _] = events, list, stack, rules, changes) when event in [@part, @beyond],
    do: several(events, list, stack, rules, changes)

  defp elements(rest, list, stack, rules, changes), do: run(rest, [list | stack], nil, rules, changes)

  defp several(events, list, stack, rules, changes) do
    {{result, values}, rest} = Values.several(events, in_list(list, :type), rules)

    {list, changes} =
      Enum.reduce(values, {list, changes}, fn value, {list, changes} ->
        {Frames.element(list, value), set_in(changes, [list | stack], value)}
      end)

    if result == :ok,
      do: elements(rest, list, stack, rules, changes),
      else: wrong(rest, [list | stack], changes)
  end

  ## Strings that are cut

  # Whether what there is of a string of the type is shown, or waits until it is whole.
  defp purpose(what) when what in [:skip, :tag, :wrong], do: what
  defp purpose(:later), do: :skip

  defp purpose(type) do
    cond do
      Fields.grows?(type) -> {:grow, type}
      Fields.holds?(type) -> {:hold, type}
      true -> :wrong
    end
  end

  defp joined(nil, text), do: text
  defp joined(before, text), do: before <> text

  defp appended(nil, _stack, _before, _text, _rules), do: nil
  defp appended(changes, _stack, _before, _text, %{drop: true}), do: changes

  defp appended(changes, stack, before, text, _rules) do
    change = if before == nil, do: {:set, text}, else: {:append, text}
    Changes.note(changes, Changes.place(changes, stack), change, nil)
  end

  defp grown(type, before, text, place, rest, stack, %{drop: drop} = rules, changes) do
    # What was appended to has room behind it.
    whole = :binary.copy(joined(before, text))

    case Values.typed({:ok, whole}, place, type, rules) do
      {:ok, ^whole} when drop -> added(whole, rest, stack, rules, set_in(changes, stack, whole))
      {:ok, ^whole} -> added(whole, rest, stack, rules, appended(changes, stack, before, text, rules))
      {:ok, _other} -> throw(:malformed)
      :wrong when drop -> wrong(rest, stack, changes)
      :wrong -> wrong(rest, stack, length(stack), {:ok, whole}, appended(changes, stack, before, text, rules))
    end
  end

  ## Tags

  defp decided(tag, place, rest, [frame | stack], rules, changes) do
    case Tags.decided(tag, place, frame, rules) do
      {:ok, struct} -> run(rest, [struct | stack], nil, rules, begun(changes, struct, stack))
      :wrong -> wrong(rest, [frame | stack], changes)
    end
  end
end
