defmodule RustyJson.LogFormatter.Pairs do
  @moduledoc false
  # Keyword lists as objects: the arguments and states in crash reports often are such lists, and redaction looks only at the keys of
  # objects. A walk of its own, so it is made only for formatters that redact, and ends where the line would be too long anyway.

  alias RustyJson.OrderedObject

  # Each term takes at least two bytes of a line.
  @most_terms 32_768

  @doc "The term with keyword lists as objects; `nil` if it has too many parts."
  @spec objects(term()) :: {:ok, term()} | nil
  def objects(term) do
    {term, _left} = walk(term, @most_terms)
    {:ok, term}
  catch
    :too_many -> nil
  end

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
    if flat?(:maps.values(map)) do
      {map, left - map_size(map)}
    else
      {members, left} = map |> Map.to_list() |> values(left)
      {Map.new(members), left}
    end
  end

  defp walk(term, left), do: {term, left - 1}

  # Most metadata has no value with parts.
  defp flat?([value | _rest]) when is_list(value) or is_tuple(value) or is_map(value), do: false
  defp flat?([_value | rest]), do: flat?(rest)
  defp flat?([]), do: true

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
