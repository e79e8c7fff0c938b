defmodule RustyJson.LogFormatter.Short do
  @moduledoc false
  # Terms with less in them, for a line that exceeds a limit: the deeper, the fewer. What is left out is described. Keys keep their
  # places, so that what is redacted stays redacted.

  # Bytes of a string, elements of a list or a map, levels.
  @sizes %{1 => {1_024, 32, 6}, 2 => {256, 8, 4}, 3 => {64, 4, 1}}

  @known [Date, Time, NaiveDateTime, DateTime]

  @doc "The members of a line, shortened more or less."
  @spec members([{String.t(), term()}], 1..3) :: [{String.t(), term()}]
  def members(members, step), do: for({name, value} <- members, do: {name, short(value, @sizes[step])})

  defp short(text, {bytes, _, _}) when is_binary(text) and byte_size(text) > bytes,
    do: binary_part(text, 0, bytes) <> "… (#{byte_size(text)} bytes)"

  defp short(bits, _sizes) when is_bitstring(bits) and not is_binary(bits), do: "a bitstring"

  defp short(integer, _sizes)
       when is_integer(integer) and abs(integer) >= 0x1_0000_0000_0000_0000_0000_0000_0000_0000,
       do: "an integer"

  defp short(%module{} = struct, _sizes) when module in @known, do: struct
  defp short(%RustyJson.OrderedObject{values: values}, sizes), do: values |> Map.new() |> short(sizes)
  defp short(%module{}, _sizes), do: inspect(module)
  defp short(map, {_, _, 0}) when is_map(map), do: "a map with #{map_size(map)} members"
  defp short([_ | _], {_, _, 0}), do: "a list"
  defp short(tuple, {_, _, 0}) when is_tuple(tuple), do: "a tuple with #{tuple_size(tuple)} elements"

  defp short(map, {_, most, _} = sizes) when is_map(map) do
    shown = for {key, value} <- Enum.take(map, most), into: %{}, do: {key(key), short(value, inner(sizes))}
    left = map_size(map) - most
    if left > 0, do: Map.put(shown, "…", "#{left} more members"), else: shown
  end

  defp short(tuple, sizes) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> short(sizes)
  defp short([_ | _] = list, {_, most, _} = sizes), do: items(list, most, inner(sizes))
  defp short(term, _sizes), do: term

  defp items([], _left, _sizes), do: []
  defp items([_ | _], 0, _sizes), do: ["… more elements"]
  defp items([item | rest], left, sizes), do: [short(item, sizes) | items(rest, left - 1, sizes)]
  defp items(_tail, _left, _sizes), do: ["… an improper end"]

  defp key(key) when is_binary(key) and byte_size(key) > 128, do: binary_part(key, 0, 128) <> "…"
  defp key(key) when is_binary(key) or is_atom(key) or is_number(key), do: key
  defp key(_other), do: "a key that is no text"

  defp inner({bytes, most, levels}), do: {bytes, div(most, 2), levels - 1}
end
