defmodule RustyJson.Encode.Scope do
  @moduledoc false
  # Which pointers of `:redact` go on inside the terms that the core leaves to Elixir. One walk over the core's text finds the place
  # of each hole; the core leaves fragments to Elixir that would lead it astray. Keys may have new names there, so a segment also fits
  # the new name of its key; and where a key is missing, every segment fits: rather too much is redacted than too little. The same holds
  # for text of other libraries, which is decoded.

  alias RustyJson.{DecodeError, Engine, Options, OrderedObject, Pointer}
  alias RustyJson.Encoder.{Names, Plans}
  alias RustyJson.Options.Shape

  @doc "The holes, each with the pointers that go on in it if there are any at all."
  @spec around([Engine.hole()], binary(), Options.t()) :: [tuple()]
  def around(holes, json, options) do
    case Options.pointers(options) do
      [] ->
        holes

      pointers ->
        places(holes, json, 0, {[], nil}, {pointers, names(options)})
    end
  end

  defp names(%{values: %{key_case: key_case}} = options), do: {key_case, Plans.renamed(options)}

  @doc "A term that was decoded from a text with ordered objects, without what is redacted in it. Its keys may have new names, such as these."
  @spec hide(term(), Plans.renamed(), Options.t()) :: term()
  def hide(term, _noted, %{values: %{redact: []}}), do: term

  def hide(term, noted, %{values: %{redact: redact, redacted: text}} = options) do
    {key_case, renamed} = names(options)
    call = {text, {Shape.keys(redact), Shape.words(redact)}, {key_case, Plans.merged(renamed, noted)}}
    hidden(term, Options.pointers(options), call)
  end

  defp hidden(%OrderedObject{values: members} = object, pointers, call),
    do: %{object | values: for({key, value} <- members, do: {key, member(key, value, pointers, call)})}

  defp hidden(list, [_ | _] = pointers, call) when is_list(list) do
    for {value, index} <- Enum.with_index(list), do: at(Integer.to_string(index), value, pointers, call)
  end

  defp hidden(list, [], call) when is_list(list), do: for(value <- list, do: hidden(value, [], call))
  defp hidden(value, _pointers, _call), do: value

  defp member(key, value, pointers, {text, hidden, names} = call),
    do: if(hides?(key, hidden, names), do: text, else: at(key, value, pointers, call))

  @doc "Whether keys of `:redact` hide what stands under this name, which may be another one of a field."
  @spec hides?(String.t(), Options.t()) :: boolean()
  def hides?(key, %{values: %{redact: redact}} = options),
    do: hides?(key, {Shape.keys(redact), Shape.words(redact)}, names(options))

  defp hides?(key, {keys, words}, {key_case, renamed}) do
    fields = renamed |> Map.get(key, %{}) |> Map.keys()
    Enum.any?([key, new_name(key, key_case) | fields], &Shape.hidden?(&1, keys, words))
  end

  defp at(segment, value, pointers, {text, _hidden, names} = call) do
    if Enum.any?(pointers, &(match?([_], &1) and fits?(hd(&1), segment, names))),
      do: text,
      else: hidden(value, onward(pointers, segment, names), call)
  end

  defp places([{offset, depth, term, place} | holes], json, from, walk, call) do
    {stack, _text} = walk = walk(binary_part(json, from, offset - from), walk, call)
    [{offset, depth, term, place, inner(stack, call)} | places(holes, json, offset, walk, call)]
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
    case Pointer.index(segment) do
      nil -> [pointer]
      index when index >= number -> [[Integer.to_string(index - number) | rest]]
      _before -> []
    end
  end

  # The pointers that go on in a value, by those that go on in its container.
  defp inner([], {pointers, _names}), do: pointers
  defp inner([{_at, []} | _stack], _call), do: []

  defp inner([{at, inside} | _stack], {_pointers, names}), do: onward(inside, segment(at), names)

  defp onward(pointers, segment, names),
    do: for([wanted | [_ | _] = rest] <- pointers, fits?(wanted, segment, names), do: rest)

  defp fits?("*", _segment, _names), do: true
  defp fits?(_wanted, nil, _names), do: true
  defp fits?(same, same, _names), do: true

  defp fits?(wanted, segment, {key_case, renamed}),
    do:
      match?(%{^segment => %{^wanted => []}}, renamed) or
        new_name(wanted, key_case) == segment or new_name(segment, key_case) == wanted

  # Text of other libraries keeps its names, whatever `:key_case` says.
  defp new_name(key, nil), do: key

  defp new_name(key, key_case) do
    Names.name(String.to_existing_atom(key), key_case)
  rescue
    ArgumentError -> key
  end

  # The stack has the key, as it is spelled, or the index that is reached in each open container, with the pointers that go on in the
  # container. Values that are holes are missing.
  defp walk(<<?[, rest::binary>>, {stack, _text}, call), do: walk(rest, {open(0, stack, call), nil}, call)
  defp walk(<<?{, rest::binary>>, {stack, _text}, call), do: walk(rest, {open(nil, stack, call), nil}, call)

  defp walk(<<byte, rest::binary>>, {[_ | stack], _}, call) when byte in ~c"]}",
    do: walk(rest, {stack, nil}, call)

  defp walk(<<?,, rest::binary>>, {[{index, inside} | stack], _}, call) when is_integer(index),
    do: walk(rest, {[{index + 1, inside} | stack], nil}, call)

  defp walk(<<?,, rest::binary>>, {[{_key, inside} | stack], _}, call),
    do: walk(rest, {[{nil, inside} | stack], nil}, call)

  defp walk(<<?:, rest::binary>>, {[{_, inside} | stack], text}, call),
    do: walk(rest, {[{text, inside} | stack], nil}, call)

  defp walk(<<?", rest::binary>>, walk, call), do: string(rest, rest, 0, walk, call)
  defp walk(<<_, rest::binary>>, walk, call), do: walk(rest, walk, call)
  defp walk(<<>>, walk, _call), do: walk

  defp open(at, stack, call), do: [{at, inner(stack, call)} | stack]

  defp string(<<?\\, _, rest::binary>>, start, size, walk, call),
    do: string(rest, start, size + 2, walk, call)

  defp string(<<?", rest::binary>>, start, size, {stack, _}, call),
    do: walk(rest, {stack, binary_part(start, 0, size)}, call)

  defp string(<<_, rest::binary>>, start, size, walk, call), do: string(rest, start, size + 1, walk, call)
  defp string(<<>>, _start, _size, walk, _call), do: walk

  defp segment(index) when is_integer(index), do: Integer.to_string(index)
  defp segment(nil), do: nil
  defp segment(key), do: if(String.contains?(key, "\\"), do: unescaped(key), else: key)

  # A module under attack need not write JSON. What it has for a key fits every segment.
  defp unescaped(key) do
    case RustyJson.decode([?", key, ?"], max_bytes: 0, as: nil, raw: []) do
      {:ok, text} -> text
      {:error, %DecodeError{}} -> nil
      {:error, error} -> raise error
    end
  end
end
