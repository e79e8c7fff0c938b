defmodule RustyJson.Parts.Raw do
  @moduledoc false
  # The option `raw:` of `RustyJson.decode/2`: places as the core reads them (core/src/parts/raw.rs), and the fragments of an answer
  # from the sandbox, in which a part is the tuple of its offset and length.

  require RustyJson.Parts.Kind

  alias RustyJson.{Fragment, Long, OrderedObject, Pointer}
  alias RustyJson.Parts.Kind

  @header <<Kind.raw(), 0, 0, 0>>
  # Bytes of a node without the places of what is below.
  @node 9
  # Parts up to this size are copied, so that they do not keep the whole text in memory.
  @copied 64

  @typedoc "A text, and how many of its bytes may still be copied if all parts are."
  @type text :: {binary(), nil | :atomics.atomics_ref()}

  @doc "The places, if they are all JSON Pointers."
  @spec check!([term()]) :: [String.t()]
  def check!(places) do
    Enum.each(places, &Pointer.tokens!(&1, "option :raw"))
    places
  end

  @doc "The plan of these places."
  @spec plan([String.t(), ...]) :: binary()
  def plan(places) do
    tree = Enum.reduce(places, %{}, &insert(Pointer.tokens_or_any!(&1, "option :raw"), &2))
    {nodes, _behind} = write(tree, byte_size(@header))
    IO.iodata_to_binary([@header | nodes])
  end

  defp insert([], tree), do: Map.put(tree, :ends, true)
  defp insert([token | tokens], tree), do: Map.put(tree, token, insert(tokens, Map.get(tree, token, %{})))

  # Writes the node that starts at byte `at` of the plan. Returns where the next byte goes: to measure what is below again at each level
  # would take quadratic time.
  defp write(tree, at) do
    {any, names} = tree |> Map.delete(:ends) |> Map.pop(:any)
    names = Enum.sort(names)
    start = at + @node + 4 * length(names)

    {blobs, {behind, places}} =
      Enum.map_reduce(names, {start, []}, fn {name, tree}, {at, places} ->
        head = <<byte_size(name)::32-little, name::binary>>
        {node, behind} = write(tree, at + byte_size(head))
        {[head | node], {behind, [<<at::32-little>> | places]}}
      end)

    head =
      <<if(tree[:ends], do: 1, else: 0), if(any, do: behind, else: 0)::32-little, length(names)::32-little>>

    {below, behind} = if any, do: write(any, behind), else: {[], behind}
    {[head, Enum.reverse(places), blobs | below], behind}
  end

  @doc "A text that fragments are taken from, and whether they are copied."
  @spec text(binary(), boolean()) :: text()
  # No two parts of an honest answer overlap. Many large ones that do would be copied again and again.
  def text(json, copy), do: {json, if(copy, do: left(byte_size(json)))}

  defp left(bytes) do
    left = :atomics.new(1, [])
    :atomics.put(left, 1, bytes)
    left
  end

  @doc "The fragment at this place. Throws `{:rustyjson, :broken}` if it does not lie in the text, or parts overlap."
  @spec fragment(term(), term(), text()) :: Fragment.t()
  def fragment(start, length, {json, left})
      when is_integer(start) and start >= 0 and is_integer(length) and length > 0 and
             start + length <= byte_size(json) do
    if left && :atomics.sub_get(left, 1, length) < 0, do: throw({:rustyjson, :broken})
    text = binary_part(json, start, length)
    %Fragment{encode: if(left != nil or length <= @copied, do: :binary.copy(text), else: text)}
  end

  def fragment(_start, _length, _text), do: throw({:rustyjson, :broken})

  @doc "The term with fragments for places. Throws as `fragment/3` does."
  @spec fragments(term(), text()) :: term()
  def fragments({start, length}, text), do: fragment(start, length, text)
  def fragments(list, text) when is_list(list), do: Long.map(list, &fragments(&1, text))

  def fragments(%OrderedObject{values: values} = object, text),
    do: %{object | values: Long.map(values, fn {key, value} -> {key, fragments(value, text)} end)}

  # With keys that are atoms, an object can look like a struct. A decimal has no places.
  def fragments(map, text) when is_map(map),
    do:
      map
      |> Map.to_list()
      |> Long.map(fn {key, value} -> {key, fragments(value, text)} end)
      |> :maps.from_list()

  def fragments(other, _text), do: other
end
