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
  alias RustyJson.Decode.Input
  alias RustyJson.Partial.{Changes, Record, Text}
  alias RustyJson.Schema.{Decode, Reflected, Shape}

  import RustyJson.Partial.Record, only: [direct: 3, grows?: 2, holds?: 1, opens: 3]

  @array 0
  @object 1
  @close 2
  @key 3
  @at 4
  @value 5
  @text 7
  @end_of_text 8
  @part 10
  @string 11

  @enforce_keys [:rules]
  defstruct [:rules, stack: [], cursor: nil, frozen: nil]

  # The innermost container comes first. Lengths are those of pointers, about; `names` are the keys so far, if none may be repeated.
  #
  #   {:list, elements, count, length, type}              the last element first
  #   {:map, members, name, length, type, state, names}   the state is :open or :hidden before a value, and :done behind it
  #   {:struct, struct, field, length, record, seen, tag, names}
  #                                  the field is {name, type} or :foreign before a value, and nil behind it; bits of fields that came
  #   {:whole, type, start, names}   shown when it is complete, or never if it has no type
  #   {:tagged, type, start, name, length, members, names}   before its tag; the places of its members
  #
  # The cursor is {:text, what, text, start} or {:done, value}. `frozen` is what is shown, the number of open containers, and when the error
  # is certain: at this number of them, or with the `:next` event.
  @type t :: %__MODULE__{
          rules: map(),
          stack: [tuple()],
          cursor: nil | tuple(),
          frozen: nil | {:none | {:ok, term()}, non_neg_integer(), nil | :over | :next | non_neg_integer()}
        }

  @doc "A document before its first byte, of the type in the options."
  @spec new(Options.t(), :keep | :strings | :drop) :: t()
  def new(%{as: as, values: values, keys: keys} = options, trailing) do
    %{type: type, structs: structs} = Shape.of(as)

    rules = %{
      type: type,
      records: Map.new(structs, fn {module, _types} -> {module, Record.new(module)} end),
      options: options,
      parts: %{Options.change(options, :decode, %{max_nodes: 0, errors: :first}) | max_bytes: 0},
      null: values.null,
      drop: trailing == :drop,
      first: values.duplicate_keys == :first,
      names: if(values.duplicate_keys == :error, do: %{}),
      # Whether containers of any type grow: their keys are strings then, and their objects maps.
      plain: keys == nil and values.keys == :strings and values.objects != :ordered_objects,
      all: values.errors == :all,
      text: nil,
      piece: nil
    }

    %__MODULE__{rules: rules}
  end

  @doc "The value so far."
  @spec value(t()) :: {:ok, term()} | :none
  def value(%{cursor: {:done, value}}), do: {:ok, value}
  def value(%{frozen: {shown, _open, _certain}}), do: shown
  def value(%{stack: stack, cursor: cursor, rules: rules}), do: shown(stack, cursor, rules)

  @doc "The complete document."
  @spec done(t()) :: {:ok, term()} | :none
  def done(%{cursor: {:done, value}}), do: {:ok, value}
  def done(_typed), do: :none

  @doc "How many containers are open."
  @spec open(t()) :: non_neg_integer()
  def open(%{frozen: {_shown, open, _certain}}), do: open
  def open(%{stack: stack}), do: length(stack)

  defp shown(stack, cursor, rules), do: List.foldl(stack, visible(cursor, rules), &outer/2)

  defp visible({:text, {:grow, _type}, text, _start}, %{drop: false}), do: {:ok, text}
  defp visible(_cursor, _rules), do: :none

  # The container as it would be if it ended now, with what there is of the current value.
  defp outer({:list, elements, _, _, _}, :none), do: {:ok, :lists.reverse(elements)}
  defp outer({:list, elements, _, _, _}, {:ok, value}), do: {:ok, :lists.reverse([value | elements])}
  defp outer({:map, members, name, _, _, :open, _}, {:ok, value}), do: {:ok, Map.put(members, name, value)}
  defp outer({:map, members, _, _, _, _, _}, _value), do: {:ok, members}
  defp outer({:struct, struct, {name, _}, _, _, _, _, _}, {:ok, value}), do: {:ok, %{struct | name => value}}
  defp outer({:struct, struct, _, _, _, _, _, _}, _value), do: {:ok, struct}
  defp outer(_invisible, _value), do: :none

  ## Events

  @doc """
  Applies the events of a piece of which these bytes start at `base`, and notes what they change. Throws what
  `RustyJson.Partial.Document.apply_events/4` throws, and `{:failed, exception}`.
  """
  @spec apply_events(t(), [term()], Text.t(), Text.piece(), Changes.t()) :: {t(), Changes.t()}
  def apply_events(%{frozen: nil} = typed, [], _text, _piece, changes), do: {typed, changes}
  def apply_events(%{frozen: {_, _, :over}} = typed, _events, _text, _piece, changes), do: {typed, changes}

  def apply_events(%{frozen: nil, rules: rules} = typed, events, text, piece, changes) do
    {stack, cursor, changes} =
      run(events, typed.stack, typed.cursor, %{rules | text: text, piece: piece}, changes)

    {%{typed | stack: stack, cursor: cursor}, changes}
  catch
    {:wrong, rest, stack, open, changes} -> freeze(typed, rest, stack, open, text, changes)
  end

  def apply_events(%{frozen: {shown, open, certain}} = typed, events, text, _piece, changes) do
    {now, least} = levels(events, open, open)

    cond do
      now == 0 ->
        complete(%{typed | frozen: {shown, 0, :over}}, text, changes)

      certain == :next and events != [] ->
        certain!(typed, text)
        {%{typed | frozen: {shown, now, nil}}, changes}

      is_integer(certain) and least <= certain ->
        certain!(typed, text)
        {%{typed | frozen: {shown, now, nil}}, changes}

      true ->
        {%{typed | frozen: {shown, now, certain}}, changes}
    end
  end

  # A value does not fit its type.
  defp freeze(%{rules: rules} = typed, rest, stack, open, text, changes) do
    shown = shown(stack, nil, rules)
    certain!(typed, text)
    # Outside of tagged structs it is uncertain only at a key whose colon has not come.
    certain = stack |> Enum.reverse() |> Enum.find_index(&tagged?/1) || :next
    # All that may follow are events of what is open.
    apply_events(%{typed | stack: [], cursor: nil, frozen: {shown, open, certain}}, rest, text, nil, changes)
  end

  defp tagged?({:tagged, _, _, _, _, _, _}), do: true
  defp tagged?({:struct, _, _, _, _, _, tag, _}), do: tag != nil
  defp tagged?(_frame), do: false

  # The whole document is there, so `decode(as:)` decides.
  defp complete(%{rules: %{options: options, all: all}} = typed, text, changes) do
    case Text.decode(text, options) do
      {:ok, value} -> {%{typed | cursor: {:done, value}}, changes && :whole}
      {:error, %DecodeError{}} when all -> {typed, changes}
      {:error, error} -> throw({:failed, error})
    end
  end

  # The error, if it is one whatever follows. Limits of the whole and repeated keys are looked after by the core and here.
  defp certain!(%{rules: %{all: true}}, _text), do: :ok

  defp certain!(%{rules: %{parts: parts, names: names}}, text) do
    parts = if names, do: Options.change(parts, :decode, %{duplicate_keys: :first}), else: parts

    case Text.decode(text, parts) do
      {:error, %{reason: reason} = error} when reason != :unexpected_end -> throw({:failed, error})
      _uncertain -> :ok
    end
  end

  # How many containers are open behind these events, and how few were.
  defp levels([event, _start | rest], open, least) when event in [@array, @object],
    do: levels(rest, open + 1, least)

  defp levels([@close, _stop | rest], open, least) when open > 0,
    do: levels(rest, open - 1, min(least, open - 1))

  defp levels([event, _ | rest], open, least) when event in [@key, @text, @string],
    do: levels(rest, open, least)

  defp levels([event, _, _ | rest], open, least) when event in [@part, @end_of_text],
    do: levels(rest, open, least)

  defp levels([event, _, _, _ | rest], open, least) when event in [@value, @at],
    do: levels(rest, open, least)

  defp levels([], open, least), do: {open, least}
  defp levels(_events, _open, _least), do: throw(:malformed)

  defp run([event | _] = events, [{:list, _, _, _, _} = list | stack], nil, rules, changes)
       when event in [@value, @part],
       do: elements(events, list, stack, rules, changes)

  defp run([@value, value, start, length | rest], stack, nil, rules, changes),
    do: whole({:ok, value}, place(start, length, rules), rest, stack, rules, changes)

  defp run([@part, start, length | rest], stack, nil, rules, changes),
    do: whole(:decode, place(start, length, rules), rest, stack, rules, changes)

  defp run([@key, name | rest], [frame | stack], nil, rules, changes) when is_binary(name) do
    case key(frame, name, nil, rules) do
      :wrong -> wrong(rest, [frame | stack], changes)
      frame -> run(rest, [frame | stack], nil, rules, changes)
    end
  end

  defp run([@at, offset, line, column, @key, name | rest], [frame | stack], nil, rules, changes)
       when is_binary(name) and is_integer(offset) and is_integer(line) and is_integer(column) do
    case key(frame, name, {from(offset, rules), line, column}, rules) do
      :wrong -> wrong(rest, [frame | stack], changes)
      frame -> run(rest, [frame | stack], nil, rules, changes)
    end
  end

  defp run([event, start | rest], stack, nil, rules, changes)
       when event in [@array, @object] and is_integer(start) and start >= 0 do
    length = Changes.reach(stack)

    case opened(event, expected(stack, rules), from(start, rules), length, rules) do
      :wrong ->
        wrong(rest, stack, length(stack) + 1, changes)

      frame ->
        place = Changes.place(changes, stack)
        stack = [frame | stack]
        run(rest, stack, nil, rules, noted(changes, place, frame))
    end
  end

  defp run([@close, stop | rest], [frame | stack], nil, rules, changes) when is_integer(stop) do
    case closed(frame, from(stop, rules), rules) do
      {:ok, value} -> added(value, rest, stack, rules, changes)
      {:set, value} -> set(value, rest, stack, rules, changes)
      {:passed, start} -> passed(start, from(stop, rules), rest, stack, rules, changes)
      :wrong -> wrong(rest, [frame | stack], length(stack), changes)
    end
  end

  defp run([@string, start | rest], stack, nil, rules, changes) when is_integer(start) and start >= 0 do
    case begun(expected(stack, rules), rules) do
      :wrong -> wrong(rest, stack, changes)
      what -> run(rest, stack, {:text, what, nil, from(start, rules)}, rules, changes)
    end
  end

  defp run([@text, text | rest], stack, {:text, what, before, start}, rules, changes) when is_binary(text) do
    cursor = {:text, what, if(kept?(what), do: joined(before, text)), start}
    changes = if match?({:grow, _}, what), do: told(changes, stack, before, text, rules), else: changes
    run(rest, stack, cursor, rules, changes)
  end

  defp run([@end_of_text, text, stop | rest], stack, {:text, what, before, start}, rules, changes)
       when is_binary(text) and is_integer(stop) do
    stop = from(stop, rules)

    case what do
      {:grow, type} -> grown(type, before, text, {start, stop}, rest, stack, rules, changes)
      {:hold, type} -> held(type, {start, stop}, rest, stack, rules, changes)
      :tag -> decided(joined(before, text), {start, stop}, rest, stack, rules, changes)
      :skip -> passed(start, stop, rest, stack, rules, changes)
    end
  end

  defp run([], stack, cursor, _rules, changes), do: {stack, cursor, changes}
  defp run(_events, _stack, _cursor, _rules, _changes), do: throw(:malformed)

  @spec wrong([term()], [tuple()], Changes.t()) :: no_return()
  defp wrong(rest, stack, changes), do: wrong(rest, stack, length(stack), changes)
  defp wrong(rest, stack, open, changes), do: throw({:wrong, rest, stack, open, changes})

  # Where a value stands, in all bytes.
  defp place(start, length, %{piece: {bytes, base}})
       when is_integer(start) and start >= 0 and is_integer(length) and length > 0 and
              start + length <= byte_size(bytes),
       do: {base + start, base + start + length}

  defp place(_start, _length, _rules), do: throw(:malformed)

  defp from(offset, %{piece: {_bytes, base}}), do: base + offset

  ## Types of values

  # What comes next: a value of a type, one that is passed over, a tag, or a member of a struct whose tag is not known.
  defp expected([], rules), do: rules.type
  defp expected([{:list, _, _, _, type} | _], _rules), do: type
  defp expected([{:map, _, _, _, type, :open, _} | _], _rules), do: type
  defp expected([{:map, _, _, _, _, :hidden, _} | _], _rules), do: :skip
  defp expected([{:struct, _, {_name, type}, _, _, _, _, _} | _], _rules), do: type
  defp expected([{:struct, _, :foreign, _, _, _, _, _} | _], _rules), do: :skip
  defp expected([{:whole, _, _, _} | _], _rules), do: :skip
  defp expected([{:tagged, {:tagged, name, _}, _, name, _, _, _} | _], _rules), do: :tag
  defp expected([{:tagged, _, _, name, _, _, _} | _], _rules) when is_binary(name), do: :skip
  defp expected(_stack, _rules), do: throw(:malformed)

  defp opened(_event, :skip, start, _length, rules), do: {:whole, nil, start, rules.names}
  defp opened(_event, :tag, _start, _length, _rules), do: :wrong

  defp opened(event, type, start, length, rules) do
    case opens(if(event == @array, do: :array, else: :object), type, rules.plain) do
      {:list, element} -> {:list, [], 0, length, element}
      {:map, value} -> {:map, %{}, nil, length, value, :done, rules.names}
      {:struct, module} -> struct(module, length, nil, rules)
      {:tagged, _, _} = type -> {:tagged, type, start, nil, length, [], rules.names}
      :whole -> {:whole, type, start, rules.names}
      :wrong -> :wrong
    end
  end

  defp struct(module, length, tag, %{records: records, names: names}) do
    record = Map.fetch!(records, module)
    {:struct, record.struct, nil, length, record, 0, tag, names}
  end

  # A container that begins shows up empty, or not at all.
  defp noted(nil, _place, _frame), do: nil
  defp noted(changes, place, {:list, _, _, _, _}), do: Changes.note(changes, place, {:set, []}, nil)

  defp noted(changes, place, {:map, members, _, _, _, _, _}),
    do: Changes.note(changes, place, {:set, members}, nil)

  defp noted(changes, place, {:struct, struct, _, _, _, _, _, _}),
    do: Changes.note(changes, place, {:set, struct}, nil)

  defp noted(changes, _place, _frame), do: changes

  ## Values

  # A value that is whole in its piece.
  defp whole(given, {start, stop}, rest, stack, rules, changes) do
    case expected(stack, rules) do
      :skip ->
        passed(start, stop, rest, stack, rules, changes)

      :tag ->
        tag = if given == :decode, do: nil, else: elem(given, 1)
        decided(tag, {start, stop}, rest, stack, rules, changes)

      type ->
        with {:ok, value} <- known(given, type, rules) || decode(slice(start, stop, rules), type, rules),
             do: set(value, rest, stack, rules, changes),
             else: (:wrong -> wrong(rest, stack, changes))
    end
  end

  defp known(:decode, _type, _rules), do: nil
  defp known({:ok, value}, type, rules), do: direct(type, value, rules.null)

  # Elements that come one after the other. Those that have to be decoded are so at once, as a list.
  defp elements([@value, value, start, length | rest] = events, list, stack, rules, changes) do
    _ = place(start, length, rules)

    case direct(elem(list, 4), value, rules.null) do
      {:ok, value} ->
        changes = noted_in(changes, [list | stack], value)
        elements(rest, with_element(list, value), stack, rules, changes)

      nil ->
        many(events, list, stack, rules, changes)
    end
  end

  defp elements([@part | _] = events, list, stack, rules, changes),
    do: many(events, list, stack, rules, changes)

  defp elements(rest, list, stack, rules, changes), do: run(rest, [list | stack], nil, rules, changes)

  defp many(events, {:list, _, _, _, type} = list, stack, rules, changes) do
    {start, stop, count, rest} = run_of(events, type, rules)

    case decode_many(slice(start, stop, rules), count, type, rules) do
      {:ok, values} ->
        {list, changes} =
          Enum.reduce(values, {list, changes}, fn value, {list, changes} ->
            {with_element(list, value), noted_in(changes, [list | stack], value)}
          end)

        elements(rest, list, stack, rules, changes)

      :wrong ->
        wrong(rest, [list | stack], changes)
    end
  end

  defp run_of(events, type, rules) do
    {start, stop, rest} = next_place(events, rules)
    if Record.listed?(type), do: run_of(rest, start, stop, 1, rules), else: {start, stop, 1, rest}
  end

  defp run_of([event | _] = events, start, stop, count, rules) when event in [@value, @part] do
    {from, to, rest} = next_place(events, rules)
    if from > stop, do: run_of(rest, start, to, count + 1, rules), else: throw(:malformed)
  end

  defp run_of(rest, start, stop, count, _rules), do: {start, stop, count, rest}

  defp next_place([@value, _value, start, length | rest], rules),
    do: rest |> placed(place(start, length, rules))

  defp next_place([@part, start, length | rest], rules), do: rest |> placed(place(start, length, rules))
  defp next_place(_events, _rules), do: throw(:malformed)
  defp placed(rest, {start, stop}), do: {start, stop, rest}

  defp decode_many(text, 1, type, rules),
    do: with({:ok, value} <- decode(text, type, rules), do: {:ok, [value]})

  defp decode_many(text, count, type, rules) do
    with {:ok, values} when length(values) != count <- decode("[" <> text <> "]", {:list, type}, rules),
         do: throw(:malformed)
  end

  defp with_element({:list, elements, count, length, type}, value),
    do: {:list, [value | elements], count + 1, length, type}

  # The next value, which is told as set.
  defp set(value, rest, stack, rules, changes),
    do: added(value, rest, stack, rules, noted_in(changes, stack, value))

  defp added(value, rest, stack, rules, changes) do
    {stack, cursor} = add(stack, value)
    run(rest, stack, cursor, rules, changes)
  end

  defp noted_in(nil, _stack, _value), do: nil

  defp noted_in(changes, stack, value),
    do: Changes.note(changes, Changes.place(changes, stack), {:set, value}, nil)

  defp add([], value), do: {[], {:done, value}}

  defp add([{:list, _, _, _, _} = list | stack], value), do: {[with_element(list, value) | stack], nil}

  defp add([{:map, members, name, length, type, :open, names} | stack], value),
    do: {[{:map, Map.put(members, name, value), name, length, type, :done, names} | stack], nil}

  defp add([{:struct, struct, {name, _type}, length, record, seen, tag, names} | stack], value),
    do: {[{:struct, %{struct | name => value}, nil, length, record, seen, tag, names} | stack], nil}

  defp add(_stack, _value), do: throw(:malformed)

  # A value that is not shown has ended.
  defp passed(start, stop, rest, stack, rules, changes) do
    stack =
      case stack do
        [{:whole, _, _, _} | _] -> stack
        [{:map, _, _, _, _, :hidden, _} = map | outer] -> [put_elem(map, 5, :done) | outer]
        [{:struct, _, :foreign, _, _, _, _, _} = struct | outer] -> [put_elem(struct, 2, nil) | outer]
        [{:tagged, _, _, _, _, _, _} = frame | outer] -> [with_member(frame, start, stop) | outer]
        _other -> throw(:malformed)
      end

    run(rest, stack, nil, rules, changes)
  end

  defp with_member({:tagged, type, from, name, length, members, names}, start, stop) when is_binary(name),
    do: {:tagged, type, from, nil, length, [{name, start, stop} | members], names}

  defp with_member(_frame, _start, _stop), do: throw(:malformed)

  # The value of a container that ends; `:set` if it was not shown before.
  defp closed({:list, elements, _, _, _}, _stop, _rules), do: {:ok, :lists.reverse(elements)}
  defp closed({:map, members, _, _, _, :done, _}, _stop, _rules), do: {:ok, members}

  defp closed({:struct, struct, nil, _, %{required: required}, seen, _, _}, _stop, _rules),
    do: if(Bitwise.band(seen, required) == required, do: {:ok, struct}, else: :wrong)

  defp closed({:whole, nil, start, _}, _stop, _rules), do: {:passed, start}

  defp closed({:whole, type, start, _}, stop, rules) do
    with {:ok, value} <- decode(slice(start, stop, rules), type, rules), do: {:set, value}
  end

  defp closed({:tagged, _, _, nil, _, _, _}, _stop, _rules), do: :wrong
  defp closed(_frame, _stop, _rules), do: throw(:malformed)

  ## Strings that are cut

  defp begun(what, _rules) when what in [:skip, :tag], do: what

  defp begun(type, rules) do
    cond do
      grows?(type, rules) -> {:grow, type}
      holds?(type) -> {:hold, type}
      true -> :wrong
    end
  end

  defp kept?({:grow, _type}), do: true
  defp kept?(what), do: what == :tag

  defp joined(nil, text), do: text
  defp joined(before, text), do: before <> text

  defp told(nil, _stack, _before, _text, _rules), do: nil
  defp told(changes, _stack, _before, _text, %{drop: true}), do: changes

  defp told(changes, stack, before, text, _rules) do
    change = if before == nil, do: {:set, text}, else: {:append, text}
    Changes.note(changes, Changes.place(changes, stack), change, nil)
  end

  defp grown(type, before, text, {start, stop}, rest, stack, rules, changes) do
    # What was appended to has room behind it.
    whole = :binary.copy(joined(before, text))

    with {:ok, ^whole} <- known({:ok, whole}, type, rules) || decode(slice(start, stop, rules), type, rules) do
      changes =
        if rules.drop,
          do: noted_in(changes, stack, whole),
          else: told(changes, stack, before, text, rules)

      added(whole, rest, stack, rules, changes)
    else
      :wrong -> wrong(rest, stack, changes)
      {:ok, _other} -> throw(:malformed)
    end
  end

  defp held(type, {start, stop}, rest, stack, rules, changes) do
    case decode(slice(start, stop, rules), type, rules) do
      {:ok, value} -> set(value, rest, stack, rules, changes)
      :wrong -> wrong(rest, stack, changes)
    end
  end

  ## Keys

  defp key({:map, members, _, length, type, :done, names}, name, at, rules) do
    names = distinct(names, name, at, rules)
    state = if rules.first and is_map_key(members, name), do: :hidden, else: :open
    {:map, members, name, length, type, state, names}
  end

  defp key({:struct, _, nil, _, _, _, {name, _}, _}, name, _at, %{first: false, names: nil}), do: :wrong

  defp key({:struct, struct, nil, length, record, seen, tag, names}, name, at, rules) do
    names = distinct(names, name, at, rules)

    case record.fields do
      %{^name => {field, type, bit}} ->
        hidden = rules.first and Bitwise.band(seen, bit) != 0
        field = if hidden, do: :foreign, else: {field, type}
        {:struct, struct, field, length, record, Bitwise.bor(seen, bit), tag, names}

      _foreign ->
        if record.strict and not match?({^name, _}, tag),
          do: :wrong,
          else: {:struct, struct, :foreign, length, record, seen, tag, names}
    end
  end

  defp key({:tagged, type, start, nil, length, members, names}, name, at, rules),
    do: {:tagged, type, start, name, length, members, distinct(names, name, at, rules)}

  defp key({:whole, type, start, names}, name, at, rules),
    do: {:whole, type, start, distinct(names, name, at, rules)}

  defp key(_frame, _name, _at, _rules), do: throw(:malformed)

  defp distinct(nil, _name, _at, _rules), do: nil

  defp distinct(names, name, {position, _line, _column} = at, %{text: text}) when is_map_key(names, name),
    do: throw({:repeated, name, at, Text.path(text, position)})

  defp distinct(names, name, _at, _rules), do: Map.put(names, name, [])

  ## Tags

  # The tag of a struct is known: what came before it is decoded now.
  defp decided(tag, place, rest, [frame | stack], rules, changes) do
    {:tagged, {:tagged, key, variants}, _start, _name, length, members, names} = frame

    with %{^tag => module} <- variants,
         {start, stop} = place,
         struct = struct(module, length, {key, tag}, rules),
         {:ok, struct} <- replayed(Enum.reverse([{key, start, stop} | members]), struct, rules) do
      place = Changes.place(changes, stack)
      struct = put_elem(struct, 7, names)
      run(rest, [struct | stack], nil, rules, noted(changes, place, struct))
    else
      _wrong -> wrong(rest, [frame | stack], changes)
    end
  end

  defp replayed([], struct, _rules), do: {:ok, struct}

  defp replayed([{name, start, stop} | members], struct, rules) do
    with {:struct, _, _, _, _, _, _, _} = struct <- tagged_key(struct, name, rules),
         {:ok, struct} <- replayed_value(struct, start, stop, rules),
         do: replayed(members, struct, rules)
  end

  # Here the tag is not repeated. It can be a field, too.
  defp tagged_key({:struct, _, _, _, %{fields: fields}, _, {name, _}, _} = struct, name, _rules)
       when not is_map_key(fields, name),
       do: put_elem(struct, 2, :foreign)

  defp tagged_key({:struct, _, _, _, _, _, tag, _} = struct, name, rules) do
    with {:struct, _, _, _, _, _, _, _} = struct <-
           struct |> put_elem(6, nil) |> put_elem(7, nil) |> key(name, nil, rules),
         do: put_elem(struct, 6, tag)
  end

  defp replayed_value({:struct, _, :foreign, _, _, _, _, _} = struct, _start, _stop, _rules),
    do: {:ok, put_elem(struct, 2, nil)}

  defp replayed_value({:struct, _, {_name, type}, _, _, _, _, _} = struct, start, stop, rules) do
    with {:ok, value} <- decode(slice(start, stop, rules), type, rules) do
      {[struct], nil} = add([struct], value)
      {:ok, struct}
    end
  end

  ## Decoding

  # The text of a value.
  defp slice(start, stop, %{piece: {bytes, base}})
       when start >= base and start <= stop and stop - base <= byte_size(bytes),
       do: binary_part(bytes, start - base, stop - start)

  defp slice(start, stop, %{text: text}), do: Text.slice(text, start, stop) || throw(:malformed)

  defp decode("null", {:embeds_many, _module}, _rules), do: {:ok, []}
  defp decode(text, {:embeds_many, module}, rules), do: decode(text, {:list, module}, rules)

  defp decode(text, {:loaded, type}, %{parts: parts, null: null}) do
    case Input.decode(text, %{parts | as: nil}) do
      {:ok, value} -> {:ok, Reflected.load(type, if(value === null, do: nil, else: value))}
      {:error, %DecodeError{}} -> :wrong
      {:error, error} -> throw({:failed, error})
    end
  catch
    {:rustyjson, :date} -> :wrong
  end

  defp decode(text, type, %{parts: parts}) do
    case Decode.decode(text, %{parts | as: type}) do
      {:ok, value} -> {:ok, value}
      {:error, %DecodeError{}} -> :wrong
      {:error, error} -> throw({:failed, error})
    end
  end
end
