defmodule RustyJson.Partial.Document do
  @moduledoc false
  # What there is of a document that is not complete: the containers that are open, with the children they have so far, and the
  # string or number that is being written. The core tells what happens in a piece as events (core/src/scan/partial/events.rs), flat in
  # one list; the sandbox is not trusted to tell a possible story.

  alias RustyJson.Decode.Input
  alias RustyJson.{Long, Options, OrderedObject}
  alias RustyJson.Partial.{Changes, Limits}

  use RustyJson.Partial.Events, ~w(array object close key at value member text end_of_text number)a

  defstruct stack: [], cursor: nil, rules: nil, limits: nil

  # The innermost container comes first. An array is `{:array, elements, count, length}` with the last element first. An object is
  # `{:object, members, seen, name, key, state, length}`: members as a map, or the last one first; the keys so far, where the members
  # do not tell them; the last key as the text has it and as it becomes; and whether its value is still to come (`:open`, or `:hidden`
  # or `:again` for a repeated key) or there (`:done`). The length is that of the container's pointer, about.
  #
  # The cursor is `{:text, text}`, `{:number, number}`, `{:done, term}` for a complete document, or nil.
  @type t :: %__MODULE__{stack: [tuple()], cursor: nil | tuple(), rules: tuple(), limits: Limits.t()}

  @doc "A document before its first byte; `:drop` leaves out strings until they are complete. (The core does so with numbers.)"
  @spec new(Options.t(), :keep | :strings | :drop) :: t()
  def new(%{keys: keys, values: values} = options, trailing) do
    kind =
      case {keys, values.objects} do
        {{_fun, kind}, _} -> kind
        {_, :ordered_objects} -> :ordered
        _ -> if(values.duplicate_keys == :first, do: :first, else: :last)
      end

    fun = if is_tuple(keys), do: keys
    rules = {kind, fun, trailing == :drop, values.duplicate_keys == :error, 0}
    %__MODULE__{rules: rules, limits: Limits.new(options)}
  end

  @doc """
  Applies the events of a piece that starts at `base`, and notes what they change. Throws `:malformed` for events that no honest core
  tells, and `{:repeated, name, place, path}` for a key that is repeated and must not be.
  """
  @spec apply_events(t(), [term()], non_neg_integer(), Changes.t()) :: {t(), Changes.t()}
  def apply_events(document, [], _base, changes), do: {document, changes}

  def apply_events(%{stack: stack, cursor: cursor, rules: rules} = document, events, base, changes) do
    rules = if elem(rules, 3), do: put_elem(rules, 4, base), else: rules
    limits = Limits.left(document.limits, events)
    {stack, cursor, changes} = run(events, stack, cursor, nil, rules, changes)
    {%{document | stack: stack, cursor: cursor, limits: limits}, changes}
  end

  # Elements one after the other, the usual case, first: only the list grows, and what is collected is a sixth.
  defp run([@value, _, @value | _] = events, [{:array, elements, count, length} | stack], nil, at, rules, nil)
       when elem(rules, 1) == nil do
    {rest, elements, count} = elements(events, elements, count)
    run(rest, [{:array, elements, count, length} | stack], nil, at, rules, nil)
  end

  defp run([@value, value | rest], stack, cursor, at, rules, changes)
       when cursor == nil or elem(cursor, 0) == :number do
    value = converted(value, rules)
    place = Changes.place(changes, stack)
    stack_and_cursor = add(stack, value, rules)
    same = cursor === {:number, value}
    changes = if same, do: changes, else: note(changes, place, {:set, value}, stack_and_cursor, rules)
    next(rest, stack_and_cursor, at, rules, changes)
  end

  defp run([@member, member | rest], [frame | stack], nil, at, rules, changes) do
    {frame, value} = key(frame, pair(member), at, stack, rules)
    value = converted(value, rules)
    place = Changes.place(changes, [frame | stack])
    stack_and_cursor = add([frame | stack], value, rules)
    next(rest, stack_and_cursor, nil, rules, note(changes, place, {:set, value}, stack_and_cursor, rules))
  end

  defp run([@key, member | rest], [frame | stack], nil, at, rules, changes) do
    {frame, _null} = key(frame, pair(member), at, stack, rules)
    run(rest, [frame | stack], nil, nil, rules, changes)
  end

  defp run([@text, text | rest], stack, cursor, at, rules, changes) when is_binary(text) do
    place = Changes.place(changes, stack)
    {cursor, change} = written(cursor, text)
    changes = if elem(rules, 2), do: changes, else: note(changes, place, change, {stack, cursor}, rules)
    run(rest, stack, cursor, at, rules, changes)
  end

  defp run([@end_of_text, text | rest], stack, {:text, before} = cursor, at, rules, changes)
       when is_binary(text) do
    place = Changes.place(changes, stack)
    # What was appended to has room behind it.
    whole = :binary.copy(before <> text)
    change = if elem(rules, 2), do: {:set, whole}, else: elem(written(cursor, text), 1)
    stack_and_cursor = add(stack, whole, rules)
    next(rest, stack_and_cursor, at, rules, note(changes, place, change, stack_and_cursor, rules))
  end

  defp run([@number, number | rest], stack, cursor, at, rules, changes)
       when cursor == nil or elem(cursor, 0) == :number do
    place = Changes.place(changes, stack)
    same = cursor === {:number, number}
    cursor = {:number, number}
    changes = if same, do: changes, else: note(changes, place, {:set, number}, {stack, cursor}, rules)
    run(rest, stack, cursor, at, rules, changes)
  end

  defp run([@close | rest], [frame | stack], nil, at, rules, changes),
    do: next(rest, add(stack, ended(frame, rules), rules), at, rules, changes)

  defp run([@array | rest], stack, nil, at, rules, changes) do
    place = Changes.place(changes, stack)
    stack = [{:array, [], 0, Changes.reach(stack)} | room(stack)]
    run(rest, stack, nil, at, rules, note(changes, place, {:set, []}, {stack, nil}, rules))
  end

  defp run([@object | rest], stack, nil, at, rules, changes) do
    place = Changes.place(changes, stack)
    stack = [object(rules, Changes.reach(stack)) | room(stack)]

    run(
      rest,
      stack,
      nil,
      at,
      rules,
      note(changes, place, {:set, close(hd(stack), :none, rules)}, {stack, nil}, rules)
    )
  end

  defp run([@at, offset, line, column | rest], stack, cursor, nil, rules, changes)
       when is_integer(offset) and is_integer(line) and is_integer(column),
       do: run(rest, stack, cursor, {elem(rules, 4) + offset, line, column}, rules, changes)

  defp run([], stack, cursor, nil, _rules, changes), do: {stack, cursor, changes}
  defp run(_events, _stack, _cursor, _at, _rules, _changes), do: throw(:malformed)

  defp elements([@value, value | rest], elements, count), do: elements(rest, [value | elements], count + 1)
  defp elements(rest, elements, count), do: {rest, elements, count}

  defp next(rest, {stack, cursor}, at, rules, changes), do: run(rest, stack, cursor, at, rules, changes)

  defp written(nil, text), do: {{:text, text}, {:set, text}}
  defp written({:text, before}, text), do: {{:text, before <> text}, {:append, text}}
  defp written(_cursor, _text), do: throw(:malformed)

  defp note(nil, _place, _change, _after, _rules), do: nil

  defp note(changes, place, change, {stack, cursor}, rules),
    do: Changes.note(changes, place, change, %__MODULE__{stack: stack, cursor: cursor, rules: rules})

  ## Containers

  defp object({:ordered, _, _, _, _}, length), do: {:object, [], %{}, nil, nil, :done, length}
  defp object({_kind, nil, _, _, _}, length), do: {:object, %{}, nil, nil, nil, :done, length}
  defp object(_rules, length), do: {:object, %{}, %{}, nil, nil, :done, length}

  defp pair(%OrderedObject{values: [pair]}), do: pair
  defp pair(%OrderedObject{}), do: throw(:malformed)

  defp pair(map) when map_size(map) == 1 do
    [pair] = :maps.to_list(map)
    pair
  end

  defp pair(_other), do: throw(:malformed)

  # The object with this key, whose value comes next.
  defp key({:object, members, seen, _, _, :done, length}, {name, value}, at, outer, {kind, fun, _, error, _}) do
    key = if fun, do: elem(fun, 0).(name), else: name
    again = if seen, do: is_map_key(seen, name), else: is_map_key(members, key)
    if again and error, do: throw({:repeated, name, at, way(outer)})

    state =
      case kind do
        :ordered -> if again, do: :again, else: :open
        :first -> if is_map_key(members, key), do: :hidden, else: :open
        :last -> :open
      end

    {{:object, members, seen && Map.put(seen, name, []), name, key, state, length}, value}
  end

  defp key(_frame, _pair, _at, _outer, _rules), do: throw(:malformed)

  # Whether a value may come now.
  defp room([]), do: []
  defp room([{:array, _, _, _} | _] = stack), do: stack
  defp room([{:object, _, _, _, _, state, _} | _] = stack) when state != :done, do: stack
  defp room(_stack), do: throw(:malformed)

  defp add([{:array, elements, count, length} | stack], value, _rules),
    do: {[{:array, [value | elements], count + 1, length} | stack], nil}

  defp add([{:object, members, seen, name, key, state, length} | stack], value, _rules) when state != :done,
    do: {[{:object, put(members, key, value, state), seen, name, key, :done, length} | stack], nil}

  defp add([], value, _rules), do: {[], {:done, value}}
  defp add(_stack, _value, _rules), do: throw(:malformed)

  defp put(members, key, value, _state) when is_list(members), do: [{key, value} | members]
  defp put(members, _key, _value, :hidden), do: members
  defp put(members, key, value, _state), do: Map.put(members, key, value)

  defp ended({:object, _, _, _, _, state, _}, _rules) when state != :done, do: throw(:malformed)
  defp ended(frame, rules), do: close(frame, :none, rules)

  # The container as it would be if it ended now, with what there is of the current value.
  defp close({:array, elements, _, _}, :none, _rules), do: Long.in_order(elements, [])
  defp close({:array, elements, _, _}, {:ok, value}, _rules), do: Long.in_order(elements, [value])

  defp close({:object, members, _, _, key, state, _}, {:ok, value}, rules) when state != :done,
    do: members |> put(key, value, state) |> of_kind(rules)

  defp close({:object, members, _, _, _, _, _}, _none, rules), do: of_kind(members, rules)

  defp of_kind(members, _rules) when is_list(members), do: members |> :lists.reverse() |> OrderedObject.new()
  defp of_kind(members, _rules), do: members

  defp converted(value, {_, nil, _, _, _}), do: value
  defp converted(value, {_, keys, _, _, _}), do: Input.keys(value, keys)

  ## What there is

  @doc "The value so far."
  @spec value(t()) :: {:ok, term()} | :none
  def value(%{cursor: {:done, value}}), do: {:ok, value}
  def value(%{stack: stack} = document), do: value(document, stack)

  @doc "The outermost of these containers, each with what there is of the next one, and of the current value."
  @spec value(t(), [tuple()]) :: {:ok, term()} | :none
  def value(%{cursor: cursor, rules: rules}, frames),
    do: List.foldl(frames, visible(cursor, rules), &{:ok, close(&1, &2, rules)})

  @doc "The open containers from this depth on, which starts at 1."
  @spec innermost(t(), pos_integer()) :: [tuple()]
  def innermost(%{stack: stack}, depth), do: Enum.take(stack, length(stack) - depth + 1)

  @doc "The complete document."
  @spec done(t()) :: {:ok, term()} | :none
  def done(%{cursor: {:done, value}}), do: {:ok, value}
  def done(_document), do: :none

  defp visible(nil, _rules), do: :none
  defp visible(_cursor, {_, _, true, _, _}), do: :none
  defp visible({_kind, value}, _rules), do: {:ok, value}

  ## Paths

  @doc "The indexes and keys on the way to the current value, or if `behind`, to the one before."
  @spec path(t(), boolean()) :: [non_neg_integer() | String.t() | atom()]
  def path(%{stack: []}, _behind), do: []
  def path(%{stack: [innermost | stack]}, behind), do: way(stack) ++ step(innermost, behind)

  defp way(stack), do: Enum.reduce(stack, [], &(step(&1, false) ++ &2))

  defp step({:array, _, count, _}, true), do: [count - 1]
  defp step({:array, _, count, _}, false), do: [count]
  defp step({:object, _, _, name, _, state, _}, behind) when behind or state != :done, do: [name]
  defp step(_object, _behind), do: []
end
