defmodule RustyJson.Partial.Limits do
  @moduledoc false
  # How deep a document may still get, and how many values and keys it may still have, if the sandbox tells its events: the module keeps
  # these limits itself, unless it was taken over.

  alias RustyJson.{Engine, Options, OrderedObject}

  use RustyJson.Partial.Events,
      ~w(array object close key at value member text end_of_text number part string beyond lost)a

  # More than any document has.
  @none 0xFFFF_FFFF_FFFF

  @type t :: nil | {depth :: non_neg_integer(), nodes :: non_neg_integer()}

  @doc "What a document may have that has not begun."
  @spec new(Options.t()) :: t()
  def new(%{engine: engine, values: %{max_depth: depth, max_nodes: nodes}}),
    do: if(Engine.native?(engine), do: nil, else: {depth, if(nodes == 0, do: @none, else: nodes)})

  @doc "What is left behind these events. Throws `:malformed` for more than there may be."
  @spec left(t(), [term()]) :: t()
  def left(nil, _events), do: nil
  def left({depth, nodes}, events), do: run(events, depth, nodes)

  @doc "The same for a typed document, whose values are decoded here: only what is open is counted."
  @spec left_open(t(), [term()]) :: t()
  def left_open(nil, _events), do: nil
  def left_open({depth, nodes}, events), do: {brackets(events, depth), nodes}

  defp brackets([], depth), do: depth

  defp brackets([event, _start | rest], depth) when event in [@array, @object] and depth > 0,
    do: brackets(rest, depth - 1)

  defp brackets([@close, _stop | rest], depth), do: brackets(rest, depth + 1)

  defp brackets([event, _ | rest], depth) when event in [@key, @text, @string, @lost],
    do: brackets(rest, depth)

  defp brackets([event, _, _ | rest], depth) when event in [@part, @beyond, @end_of_text],
    do: brackets(rest, depth)

  defp brackets([event, _, _, _ | rest], depth) when event in [@value, @at], do: brackets(rest, depth)
  defp brackets(_events, _depth), do: throw(:malformed)

  defp run([], depth, nodes), do: {depth, nodes}
  defp run([@value, value | rest], depth, nodes), do: run(rest, depth, without(value, depth, nodes))

  # The object around a member is open already.
  defp run([@member, member | rest], depth, nodes),
    do: run(rest, depth, without(member, depth + 1, nodes + 1))

  defp run([event | rest], depth, nodes) when event in [@array, @object] and depth > 0 and nodes > 0,
    do: run(rest, depth - 1, nodes - 1)

  defp run([@close | rest], depth, nodes), do: run(rest, depth + 1, nodes)

  defp run([event, _item | rest], depth, nodes) when event in [@key, @end_of_text] and nodes > 0,
    do: run(rest, depth, nodes - 1)

  # These values are counted when they end.
  defp run([event, _item | rest], depth, nodes) when event in [@text, @number], do: run(rest, depth, nodes)
  defp run([@at, _offset, _line, _column | rest], depth, nodes), do: run(rest, depth, nodes)
  defp run(_events, _depth, _nodes), do: throw(:malformed)

  # What is left of the nodes behind a value.
  defp without([], depth, nodes) when depth > 0 and nodes > 0, do: nodes - 1

  defp without([_ | _] = list, depth, nodes) when depth > 0 and nodes > 0,
    do: elements(list, depth - 1, nodes - 1)

  defp without(%OrderedObject{values: members}, depth, nodes) when depth > 0 and nodes > 0,
    do: members(members, depth - 1, nodes - 1)

  defp without(%{__struct__: Decimal}, _depth, nodes) when nodes > 0, do: nodes - 1

  defp without(%{} = map, depth, nodes) when depth > 0 and nodes > 0,
    do: map |> :maps.to_list() |> members(depth - 1, nodes - 1)

  defp without(scalar, _depth, nodes) when nodes > 0 and not is_list(scalar) and not is_map(scalar),
    do: nodes - 1

  defp without(_value, _depth, _nodes), do: throw(:malformed)

  defp elements([], _depth, nodes), do: nodes
  defp elements([value | rest], depth, nodes), do: elements(rest, depth, without(value, depth, nodes))

  defp members([], _depth, nodes), do: nodes

  defp members([{_key, value} | rest], depth, nodes),
    do: members(rest, depth, without(value, depth, nodes - 1))
end
