defmodule RustyJson.LogFormatter.Short do
  @moduledoc false
  # Terms with less in them, for a line that exceeds a limit: the deeper, the fewer. What is left out is described. Keys under which
  # something is redacted are never shortened.

  alias RustyJson.Encode.Unsupported
  alias RustyJson.LogFormatter.{Pairs, Setup}
  alias RustyJson.OrderedObject

  # Bytes of a string, elements of a list or a map, levels. The first step leaves an event of ordinary terms as it is, but for the
  # strings and lists that fill the line.
  @sizes %{1 => {8_192, 256, 12}, 2 => {1_024, 32, 6}, 3 => {256, 8, 4}, 4 => {64, 4, 1}}

  # Parts of a struct that is left whole, and bytes of its strings.
  @small_parts 32
  @small_bytes 256
  @known [Date, Time, NaiveDateTime, DateTime]
  @longest_key 128

  @doc "The number of steps, of which each leaves out more."
  @spec steps() :: pos_integer()
  def steps, do: 4

  @doc "The members of a line, shortened."
  @spec members([{String.t(), term()}], pos_integer(), Setup.t()) :: [{String.t(), term()}]
  def members(members, step, setup) do
    sizes = @sizes[step]
    for {name, value} <- members, do: {name, member(name, value, sizes, setup)}
  end

  # Metadata that was asked for by name stays, if shortened.
  defp member(name, meta, {bytes, most, levels}, %{names: %{metadata: name}, metadata: [_ | _]} = setup)
       when is_map(meta),
       do: short(meta, {bytes, max(most, map_size(meta)), levels}, setup)

  defp member(_name, value, sizes, setup), do: short(value, sizes, setup)

  defp short(text, {bytes, _, _}, _setup) when is_binary(text) and byte_size(text) > bytes,
    do: binary_part(text, 0, bytes) <> "… (#{byte_size(text)} bytes)"

  defp short(bits, _sizes, _setup) when is_bitstring(bits) and not is_binary(bits), do: "a bitstring"

  defp short(integer, _sizes, _setup)
       when is_integer(integer) and abs(integer) >= 0x1_0000_0000_0000_0000_0000_0000_0000_0000,
       do: "an integer"

  defp short(%module{} = struct, _sizes, _setup) when module in @known, do: struct

  defp short(%OrderedObject{values: values}, sizes, setup) when is_list(values) do
    if proper_pairs?(values), do: pairs(values, sizes, setup), else: inspect(OrderedObject)
  end

  defp short(%module{} = struct, _sizes, _setup), do: if(small?(struct), do: struct, else: inspect(module))
  defp short(map, {_, _, 0}, _setup) when is_map(map), do: "a map with #{map_size(map)} members"
  defp short([_ | _], {_, _, 0}, _setup), do: "a list"
  defp short(tuple, {_, _, 0}, _setup) when is_tuple(tuple), do: "a tuple with #{tuple_size(tuple)} elements"
  defp short(map, sizes, setup) when is_map(map), do: map |> Map.to_list() |> pairs(sizes, setup)
  defp short(tuple, sizes, setup) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> items(sizes, setup)

  defp short([_ | _] = list, sizes, setup) do
    if setup.redacts and Pairs.keyword?(list), do: pairs(list, sizes, setup), else: items(list, sizes, setup)
  end

  defp short(term, _sizes, _setup), do: term

  defp pairs(pairs, {_, _, 0}, _setup), do: "a map with #{length(pairs)} members"

  defp pairs(pairs, {_, most, _} = sizes, setup) do
    {shown, left} = Enum.split(pairs, most)
    shown = for {key, value} <- shown, do: {key(key, setup), short(value, inner(sizes), setup)}
    OrderedObject.new(if(left == [], do: shown, else: shown ++ [{"…", "#{length(left)} more members"}]))
  end

  defp items(list, {_, most, _} = sizes, setup), do: items(list, most, inner(sizes), setup)

  defp items([], _left, _sizes, _setup), do: []
  defp items([_ | _], 0, _sizes, _setup), do: ["… more elements"]

  defp items([item | rest], left, sizes, setup),
    do: [short(item, sizes, setup) | items(rest, left - 1, sizes, setup)]

  defp items(_tail, _left, _sizes, _setup), do: ["… an improper end"]

  defp inner({bytes, most, levels}), do: {bytes, max(div(most, 2), 1), levels - 1}

  # The text that the encoder would write, so that it redacts the same values.
  defp key(key, _setup) when is_atom(key) or is_number(key), do: key

  defp key(key, setup) do
    text = text(key)

    if byte_size(text) > @longest_key and text not in setup.kept_keys,
      do: binary_part(text, 0, @longest_key) <> "…",
      else: text
  end

  # As the encoder describes a key without a text form.
  defp text(key) do
    to_string(key)
  rescue
    _no_text -> Unsupported.describe(key)
  end

  defp proper_pairs?([{_key, _value} | rest]), do: proper_pairs?(rest)
  defp proper_pairs?(rest), do: rest == []

  defp small?(struct) do
    is_tuple(measure(struct, {@small_parts, @small_bytes}))
  catch
    :large -> false
  end

  defp measure(_term, {parts, bytes}) when parts == 0 or bytes < 0, do: throw(:large)

  defp measure(bits, {parts, bytes}) when is_bitstring(bits),
    do: checked({parts - 1, bytes - byte_size(bits)})

  defp measure([head | tail], left), do: measure(tail, measure(head, left))
  defp measure(tuple, left) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> measure(left)

  defp measure(map, left) when is_map(map),
    do: :maps.fold(fn key, value, left -> measure(value, measure(key, left)) end, left, map)

  defp measure(integer, {parts, bytes}) when is_integer(integer) and abs(integer) > 0xFFFF_FFFF_FFFF_FFFF,
    do: checked({parts - 1, bytes - :erlang.external_size(integer)})

  defp measure(_term, {parts, bytes}), do: {parts - 1, bytes}

  defp checked({_parts, bytes}) when bytes < 0, do: throw(:large)
  defp checked(left), do: left
end
