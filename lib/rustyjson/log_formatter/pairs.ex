defmodule RustyJson.LogFormatter.Pairs do
  @moduledoc false
  # Keyword lists as objects: the arguments and states in crash reports often are such lists, and redaction looks only at the keys of
  # objects. A walk of its own, so it is made only for formatters that redact, and ends where the line would be too long anyway.

  alias RustyJson.OrderedObject

  # Each term takes at least two bytes of a line.
  @most_terms 32_768
  # Of the message and the metadata of most events.
  @usual_depth 3

  @doc "The term with keyword lists as objects; `nil` if it has too many parts."
  @spec objects(term()) :: {:ok, term()} | nil
  def objects(term), do: if(settled?(term, @usual_depth), do: {:ok, term}, else: changed(term))

  defp changed(term) do
    {term, _left} = walk(term, @most_terms)
    {:ok, term}
  catch
    :too_many -> nil
  end

  # Most events have no list of pairs. To see that takes a fifth of the time of the walk, which makes all maps anew.
  defp settled?(%OrderedObject{}, _depth), do: false

  defp settled?(map, depth) when is_map(map),
    do: is_struct(map) or (depth > 0 and all_settled?(:maps.values(map), depth - 1))

  defp settled?([first | _] = list, depth) when not is_tuple(first),
    do: depth > 0 and all_settled?(list, depth - 1)

  defp settled?([_pair | _], _depth), do: false
  defp settled?(tuple, _depth) when is_tuple(tuple), do: false
  defp settled?(_scalar, _depth), do: true

  defp all_settled?([value | rest], depth)
       when is_binary(value) or is_atom(value) or is_number(value) or is_pid(value),
       do: all_settled?(rest, depth)

  defp all_settled?([value | rest], depth), do: settled?(value, depth) and all_settled?(rest, depth)
  defp all_settled?(rest, _depth), do: rest == []

  @doc "Whether a list is one of pairs with atoms as keys."
  @spec keyword?(term()) :: boolean()
  def keyword?([{key, _value} | rest]) when is_atom(key), do: rest == [] or keyword?(rest)
  def keyword?(_other), do: false

  defp walk(_term, left) when left <= 0, do: throw(:too_many)
  defp walk([_ | _] = list, left), do: if(keyword?(list), do: object(list, left), else: items(list, left))

  defp walk(tuple, left) when is_tuple(tuple) do
    {items, left} = tuple |> Tuple.to_list() |> items(left)
    {List.to_tuple(items), left}
  end

  defp walk(%OrderedObject{values: values} = object, left) when is_list(values) do
    {values, left} = items(values, left)
    {%{object | values: values}, left}
  end

  # Structs are encoded by their own encoders.
  defp walk(map, left) when is_map(map) and not is_struct(map) do
    {members, left} = map |> Map.to_list() |> values(left)
    {Map.new(members), left}
  end

  defp walk(term, left), do: {term, left - 1}

  defp object(pairs, left) do
    {pairs, left} = values(pairs, left)
    {OrderedObject.new(pairs), left}
  end

  defp values(pairs, left) do
    Enum.map_reduce(pairs, left - 1, fn {key, value}, left ->
      {value, left} = walk(value, left)
      {{key, value}, left}
    end)
  end

  defp items([item | rest], left) do
    {item, left} = walk(item, left)
    {rest, left} = items(rest, left)
    {[item | rest], left}
  end

  defp items(tail, left), do: {tail, left}
end
