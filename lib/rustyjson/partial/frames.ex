defmodule RustyJson.Partial.Frames do
  @moduledoc false
  # The open containers of a typed document, the innermost first. Each is a record: a tuple whose elements have names. `length` is about
  # that of its pointer (RustyJson.Partial.Changes), and `names` are its keys so far, if none may be repeated.

  alias RustyJson.Long
  alias RustyJson.Partial.{Fields, Text}

  require Record

  # A list, with the last element first. `limits` are the least and the largest number of elements, if the field has any.
  Record.defrecord(:in_list, elements: [], count: 0, length: 0, type: nil, limits: nil)

  # A map, and the last key. The state is :open or :hidden before its value, and :done behind it. `count` is the number of keys.
  Record.defrecord(:in_map,
    members: %{},
    name: nil,
    length: 0,
    type: nil,
    state: :done,
    names: nil,
    count: 0,
    limits: nil
  )

  # A struct. Before a value, the field is {name, type}, or :foreign for a key without a field; nil behind it. `seen` has a bit for each
  # field that came, `fields` is what there is to know of the module, and `tag` the key and the value of the tag, if it has one.
  Record.defrecord(:in_struct,
    struct: nil,
    field: nil,
    length: 0,
    fields: nil,
    seen: 0,
    tag: nil,
    names: nil
  )

  # A value that is shown when it is complete, or never if it has no type. `later`: its type is unknown, because it stands in front of
  # a tag.
  Record.defrecord(:in_whole, type: nil, start: 0, names: nil, later: false)

  # A tagged struct before its tag. `members` are the keys so far and the places of their values, the last one first.
  Record.defrecord(:in_tagged, type: nil, start: 0, name: nil, length: 0, members: [], names: nil)

  @type t :: tuple()
  @type stack :: [t()]
  @type at :: nil | {non_neg_integer(), pos_integer(), pos_integer()}

  ## What is shown

  @doc "The outermost container as it would be if all ended now, with what there is of the current value."
  @spec shown(stack(), {:ok, term()} | :none) :: {:ok, term()} | :none
  def shown(stack, visible), do: List.foldl(stack, visible, &outer/2)

  defp outer(in_list(elements: elements), :none), do: {:ok, Long.in_order(elements, [])}
  defp outer(in_list(elements: elements), {:ok, value}), do: {:ok, Long.in_order(elements, [value])}

  defp outer(in_map(members: members, name: name, state: :open), {:ok, value}),
    do: {:ok, Map.put(members, name, value)}

  defp outer(in_map(members: members), _value), do: {:ok, members}

  defp outer(in_struct(struct: struct, field: {name, _type}), {:ok, value}),
    do: {:ok, %{struct | name => value}}

  defp outer(in_struct(struct: struct), _value), do: {:ok, struct}
  defp outer(_invisible, _value), do: :none

  @doc "What a container shows when it begins, or :none."
  @spec empty(t()) :: {:ok, term()} | :none
  def empty(frame), do: outer(frame, :none)

  @doc "Whether the type of a container can change, because its tag can be repeated."
  @spec tagged?(t()) :: boolean()
  def tagged?(in_tagged()), do: true
  def tagged?(in_struct(tag: tag)), do: tag != nil
  def tagged?(_frame), do: false

  ## What may come next

  @doc """
  The type of the next value; or :skip for one that is passed over, :later for one whose type is not asked for yet, :tag for a tag, :wrong
  if there may be none.
  """
  @spec expected(stack(), map()) :: term()
  def expected([], rules), do: rules.type
  def expected([in_list(type: type, limits: nil) | _], _rules), do: type

  def expected([in_list(type: type, count: count, limits: {_least, most}) | _], _rules),
    do: if(count < most, do: type, else: :wrong)

  # A value that is dropped for an earlier one has to be of the type, too.
  def expected([in_map(type: type, state: state) | _], _rules) when state != :done, do: type
  def expected([in_struct(field: {_name, type}) | _], _rules), do: type
  def expected([in_struct(field: :foreign) | _], _rules), do: :skip
  def expected([in_whole(later: true) | _], _rules), do: :later
  def expected([in_whole() | _], _rules), do: :skip
  def expected([in_tagged(type: {:tagged, name, _}, name: name) | _], _rules), do: :tag
  def expected([in_tagged(name: name) | _], _rules) when is_binary(name), do: :later
  def expected(_stack, _rules), do: throw(:malformed)

  @doc "The container that a bracket at this position opens as a value of the type."
  @spec opened(:array | :object, term(), non_neg_integer(), non_neg_integer(), map()) :: t() | :wrong
  def opened(_bracket, what, start, _length, rules) when what in [:skip, :later],
    do: in_whole(start: start, names: rules.names, later: what == :later)

  def opened(_bracket, wrong, _start, _length, _rules) when wrong in [:tag, :wrong], do: :wrong

  def opened(bracket, type, start, length, rules) do
    case Fields.opens(bracket, type, rules.plain) do
      {:list, element, limits} ->
        in_list(length: length, type: element, limits: limits)

      {:map, value, limits} ->
        in_map(length: length, type: value, names: rules.names, limits: limits)

      {:struct, module} ->
        struct_of(module, length, nil, rules)

      {:tagged, _, _} = type ->
        in_tagged(type: type, start: start, length: length, names: rules.names)

      :whole ->
        in_whole(type: type, start: start, names: rules.names)

      :wrong ->
        :wrong
    end
  end

  @doc "The struct of a module before its first member."
  @spec struct_of(module(), non_neg_integer(), nil | {String.t(), String.t()}, map()) :: t()
  def struct_of(module, length, tag, %{structs: structs, names: names}) do
    fields = Map.fetch!(structs, module)
    in_struct(struct: fields.struct, length: length, fields: fields, tag: tag, names: names)
  end

  ## Keys

  @doc "The container with its next key, which stands at this place if keys may not be repeated."
  @spec key(t(), String.t(), at(), map()) :: t() | :wrong
  def key(in_struct(field: nil, tag: {name, _}), name, _at, %{first: false, names: nil}), do: :wrong

  # All elements of a record are given where it is made anew with each value: to set some of them copies it for each.
  def key(
        in_struct(
          struct: struct,
          field: nil,
          length: length,
          fields: fields,
          seen: seen,
          tag: tag,
          names: names
        ),
        name,
        at,
        rules
      ) do
    names = distinct(names, name, at, rules)

    case fields.by_key do
      %{^name => {field, type, bit}} ->
        hidden = rules.first and Bitwise.band(seen, bit) != 0

        in_struct(
          struct: struct,
          field: if(hidden, do: :foreign, else: {field, type}),
          length: length,
          fields: fields,
          seen: Bitwise.bor(seen, bit),
          tag: tag,
          names: names
        )

      _foreign ->
        if fields.strict and not match?({^name, _}, tag),
          do: :wrong,
          else:
            in_struct(
              struct: struct,
              field: :foreign,
              length: length,
              fields: fields,
              seen: seen,
              tag: tag,
              names: names
            )
    end
  end

  def key(
        in_map(members: members, state: :done, names: names, count: count, limits: limits) = frame,
        name,
        at,
        rules
      ) do
    names = distinct(names, name, at, rules)
    state = if rules.first and is_map_key(members, name), do: :hidden, else: :open

    if limits == nil or count < elem(limits, 1),
      do: in_map(frame, name: name, state: state, names: names, count: count + 1),
      else: :wrong
  end

  def key(in_tagged(name: nil, names: names) = frame, name, at, rules),
    do: in_tagged(frame, name: name, names: distinct(names, name, at, rules))

  def key(in_whole(names: names) = frame, name, at, rules),
    do: in_whole(frame, names: distinct(names, name, at, rules))

  def key(_frame, _name, _at, _rules), do: throw(:malformed)

  defp distinct(nil, _name, _at, _rules), do: nil

  defp distinct(names, name, {position, _line, _column} = at, %{text: text}) when is_map_key(names, name),
    do: throw({:repeated, name, at, Text.path(text, position)})

  defp distinct(names, name, _at, _rules), do: Map.put(names, name, [])

  ## Values

  @doc "The containers with their next value, and the whole document if it was the last one."
  @spec add(stack(), term()) :: {stack(), nil | {:done, term()}}
  def add([in_struct(struct: struct, field: {name, _type}) = frame | stack], value) do
    in_struct(length: length, fields: fields, seen: seen, tag: tag, names: names) = frame
    struct = %{struct | name => value}
    frame = in_struct(struct: struct, length: length, fields: fields, seen: seen, tag: tag, names: names)
    {[frame | stack], nil}
  end

  def add([in_list() = frame | stack], value), do: {[element(frame, value) | stack], nil}

  def add([in_map(members: members, name: name, state: :open) = frame | stack], value),
    do: {[in_map(frame, members: Map.put(members, name, value), state: :done) | stack], nil}

  def add([in_map(state: :hidden) = frame | stack], _dropped),
    do: {[in_map(frame, state: :done) | stack], nil}

  def add([], value), do: {[], {:done, value}}
  def add(_stack, _value), do: throw(:malformed)

  @doc "The list with its next element."
  @spec element(t(), term()) :: t()
  def element(
        in_list(elements: elements, count: count, length: length, type: type, limits: limits),
        value
      ),
      do: in_list(elements: [value | elements], count: count + 1, length: length, type: type, limits: limits)

  @doc "The containers behind a value that is not shown."
  @spec passed(stack(), non_neg_integer(), non_neg_integer()) :: stack()
  def passed([in_whole() | _] = stack, _start, _stop), do: stack

  def passed([in_struct(field: :foreign) = frame | stack], _start, _stop),
    do: [in_struct(frame, field: nil) | stack]

  def passed([in_tagged(name: name, members: members) = frame | stack], start, stop) when is_binary(name),
    do: [in_tagged(frame, name: nil, members: [{name, start, stop} | members]) | stack]

  def passed(_stack, _start, _stop), do: throw(:malformed)

  @doc "The value of a container that ends; `:decode` and `:passed` have its start."
  @spec closed(t()) ::
          {:ok, term()} | {:decode, term(), non_neg_integer()} | {:passed, non_neg_integer()} | :wrong
  def closed(in_list(elements: elements, limits: nil)), do: {:ok, Long.in_order(elements, [])}

  def closed(in_list(elements: elements, count: count, limits: {least, _most})),
    do: if(count >= least, do: {:ok, Long.in_order(elements, [])}, else: :wrong)

  def closed(in_map(members: members, state: :done, count: count, limits: limits)),
    do: if(limits == nil or count >= elem(limits, 0), do: {:ok, members}, else: :wrong)

  def closed(in_struct(struct: struct, field: nil, fields: %{required: required}, seen: seen)),
    do: if(Bitwise.band(seen, required) == required, do: {:ok, struct}, else: :wrong)

  def closed(in_whole(type: nil, start: start)), do: {:passed, start}
  def closed(in_whole(type: type, start: start)), do: {:decode, type, start}
  def closed(in_tagged(name: nil)), do: :wrong
  def closed(_frame), do: throw(:malformed)
end
