defmodule RustyJson.Encode.Scope do
  @moduledoc false
  # Which pointers of `:redact` go on inside the terms that the core leaves to Elixir. One walk over the core's text finds the place
  # of each hole. Keys may have new names there, so a segment also fits the new name of its key; and where a key is missing, every
  # segment fits: rather too much is redacted than too little.

  alias RustyJson.{DecodeError, Engine, Options}
  alias RustyJson.Encoder.{Names, Plans}

  @doc "The holes, each with the pointers that go on in it if there are any at all."
  @spec around([Engine.hole()], binary(), Options.t()) :: [tuple()]
  def around(holes, json, options) do
    case Options.pointers(options) do
      [] ->
        holes

      pointers ->
        places(holes, json, 0, {[], nil}, {pointers, {options.values.key_case, Plans.renamed(options)}})
    end
  end

  defp places([{offset, depth, term, place} | holes], json, from, walk, call) do
    {stack, text} = walk(binary_part(json, from, offset - from), walk)
    # The holes that follow are in the same containers, and a key can be long.
    stack = Enum.map(stack, &read/1)
    pointers = stack |> Enum.reverse() |> Enum.map(&segment/1) |> descend(call)
    [{offset, depth, term, place, pointers} | places(holes, json, offset, {stack, text}, call)]
  end

  defp places([], _json, _from, _walk, _call), do: []

  @doc "The options for a list of the elements of an array from this number on."
  @spec elements(Options.t(), non_neg_integer()) :: Options.t()
  def elements(options, 0), do: options

  def elements(options, number) do
    case Options.pointers(options) do
      [] -> options
      pointers -> Options.with_pointers(options, Enum.flat_map(pointers, &from(&1, number)))
    end
  end

  defp from([segment | rest] = pointer, number) do
    case Integer.parse(segment) do
      {index, ""} when index >= number -> [[Integer.to_string(index - number) | rest]]
      {_index, ""} -> []
      _no_index -> [pointer]
    end
  end

  @doc "The rest of the pointers that start with these segments; nil is a segment that is not known."
  @spec descend([nil | String.t()], {[[String.t()]], names :: {term(), Plans.renamed()}}) :: [[String.t()]]
  def descend(path, {pointers, names}) do
    for pointer <- pointers, rest = rest(pointer, path, names), rest != [], do: rest
  end

  defp rest(pointer, [], _names), do: pointer

  defp rest([wanted | pointer], [segment | path], names),
    do: if(fits?(wanted, segment, names), do: rest(pointer, path, names), else: [])

  defp rest([], _path, _names), do: []

  defp fits?("*", _segment, _names), do: true
  defp fits?(_wanted, nil, _names), do: true
  defp fits?(same, same, _names), do: true

  defp fits?(wanted, segment, {key_case, renamed}),
    do: is_map_key(renamed, {wanted, segment}) or (key_case != nil and renamed?(wanted, segment, key_case))

  defp renamed?(wanted, segment, key_case) do
    Names.name(String.to_existing_atom(wanted), key_case) == segment
  rescue
    ArgumentError -> false
  end

  # The stack has the key or the index of each open container: a key as it is spelled, or `{key}` as it is. Values that are holes are
  # missing.
  defp walk(<<?[, rest::binary>>, {stack, _text}), do: walk(rest, {[0 | stack], nil})
  defp walk(<<?{, rest::binary>>, {stack, _text}), do: walk(rest, {[nil | stack], nil})
  defp walk(<<byte, rest::binary>>, {[_ | stack], _}) when byte in ~c"]}", do: walk(rest, {stack, nil})

  defp walk(<<?,, rest::binary>>, {[index | stack], _}) when is_integer(index),
    do: walk(rest, {[index + 1 | stack], nil})

  defp walk(<<?,, rest::binary>>, {[_key | stack], _}), do: walk(rest, {[nil | stack], nil})
  defp walk(<<?:, rest::binary>>, {[_ | stack], text}), do: walk(rest, {[text | stack], nil})
  defp walk(<<?", rest::binary>>, walk), do: string(rest, rest, 0, walk)
  defp walk(<<_, rest::binary>>, walk), do: walk(rest, walk)
  defp walk(<<>>, walk), do: walk

  defp string(<<?\\, _, rest::binary>>, start, size, walk), do: string(rest, start, size + 2, walk)

  defp string(<<?", rest::binary>>, start, size, {stack, _}),
    do: walk(rest, {stack, binary_part(start, 0, size)})

  defp string(<<_, rest::binary>>, start, size, walk), do: string(rest, start, size + 1, walk)
  defp string(<<>>, _start, _size, walk), do: walk

  defp read(key) when is_binary(key), do: {if(String.contains?(key, "\\"), do: unescaped(key), else: key)}
  defp read(frame), do: frame

  # The text of a fragment need not be JSON. What it has for a key fits every segment.
  defp unescaped(key) do
    case RustyJson.decode([?", key, ?"], max_bytes: 0) do
      {:ok, text} -> text
      {:error, %DecodeError{}} -> nil
      {:error, error} -> raise error
    end
  end

  defp segment(index) when is_integer(index), do: Integer.to_string(index)
  defp segment(nil), do: nil
  defp segment({key}), do: key
end
