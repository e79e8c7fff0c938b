defmodule RustyJson.Paths do
  @moduledoc """
  Prepares JSON Pointers for `RustyJson.select/3`.

      iex> paths = RustyJson.Paths.new!(%{id: "/id", city: "/address/city"})
      iex> RustyJson.select(~s({"id": 7, "address": {"city": "Oslo"}}), paths)
      {:ok, %{id: 7, city: "Oslo"}}

  Prepare pointers once, for example in a module attribute. The result is a plain term that works on any node and in both engines.
  A pointer has at most #{RustyJson.Pointer.most_tokens()} tokens. Preparing one takes time proportional to its length, so you can pass on
  pointers that users wrote.
  """

  require RustyJson.Parts.Kind

  alias RustyJson.Encode.{Excerpt, Path}
  alias RustyJson.Parts.Kind
  alias RustyJson.Pointer

  @enforce_keys [:nodes, :answers, :overlap, :count, :keys, :places, :pointers]
  defstruct [:nodes, :answers, :overlap, :count, :keys, :places, :pointers]

  @opaque t :: %__MODULE__{
            # The tree of tokens as core/src/parts/plan.rs reads it.
            nodes: binary(),
            # The number of places with an answer, the largest number of them that are nested in each other, and the number of nodes.
            answers: non_neg_integer(),
            overlap: non_neg_integer(),
            count: pos_integer(),
            # The keys of the resulting map, or nil for a list; and the number of the answer for each.
            keys: nil | [term()],
            places: [non_neg_integer()],
            # The pointer of each answer.
            pointers: tuple()
          }

  # The size in bytes of a plan's header, and of a node without the places of its children.
  @header 12
  @node 24
  # The size of the index before each name.
  @index 8
  @raw 1
  @trusted 2

  @doc """
  Prepares pointers. With a list, `RustyJson.select/3` returns a list; with a map, it returns a map with the same keys.

      iex> paths = RustyJson.Paths.new!(["/a", "/b/0"])
      iex> RustyJson.select(~s({"a": 1, "b": [2]}), paths)
      {:ok, [1, 2]}

      iex> RustyJson.Paths.new!(["a"])
      ** (ArgumentError) RustyJson.Paths.new!/1 takes a JSON Pointer, such as "/a/0", got: "a"
  """
  @spec new!([String.t()] | %{optional(term()) => String.t()}) :: t()
  def new!(%__MODULE__{} = paths), do: refused!(paths, "RustyJson.Paths.new!/1")
  def new!(pointers), do: of(pointers, "RustyJson.Paths.new!/1")

  @doc false
  # Paths, or what they are made of. Errors name the caller.
  @spec of(t() | [String.t()] | map(), String.t()) :: t()
  def of(%__MODULE__{} = paths, _caller), do: paths
  # Names are those of a map.
  def of([{_name, _pointer} | _] = pairs, caller), do: refused!(pairs, caller)
  def of(pointers, caller) when length(pointers) >= 0, do: build(pointers, nil, caller)

  def of(pointers, caller) when is_map(pointers) and not is_struct(pointers) do
    {keys, pointers} = pointers |> Map.to_list() |> Enum.unzip()
    build(pointers, keys, caller)
  end

  def of(other, caller), do: refused!(other, caller)

  @spec refused!(term(), String.t()) :: no_return()
  defp refused!(other, caller),
    do: Excerpt.refuse!("#{caller} takes a list or a map of JSON Pointers", other)

  defp build(pointers, keys, caller) do
    tree = Enum.reduce(pointers, empty(), &insert(Pointer.tokens!(&1, caller), &1, &2))
    {nodes, _behind, written} = write(tree, @header, 0, %{count: 0, answers: 0, overlap: 0, places: %{}})

    %__MODULE__{
      nodes: IO.iodata_to_binary(nodes),
      answers: written.answers,
      overlap: written.overlap,
      count: written.count,
      keys: keys,
      places: Enum.map(pointers, &Map.fetch!(written.places, &1)),
      pointers: written.places |> Enum.sort_by(&elem(&1, 1)) |> Enum.map(&elem(&1, 0)) |> List.to_tuple()
    }
  end

  @doc false
  # The pointer of the answer with this number, as errors show paths.
  @spec path(t(), non_neg_integer()) :: String.t()
  def path(%__MODULE__{pointers: pointers}, number),
    do: pointers |> elem(number) |> Pointer.tokens!("a path") |> Path.steps()

  # Each token has only one spelling, so two pointers are the same only if their texts are equal.
  defp empty, do: {nil, %{}}

  defp insert([], pointer, {_pointer, below}), do: {pointer, below}

  defp insert([token | tokens], pointer, {own, below}),
    do: {own, Map.put(below, token, insert(tokens, pointer, Map.get(below, token, empty())))}

  # Writes the node that starts at byte `at` of the plan. `around` counts the places with an answer that contain it. Returns where the next
  # byte goes, too: to measure what is below again at each level would take quadratic time.
  defp write({pointer, below}, at, around, %{count: number, answers: first} = written) do
    written = %{written | count: number + 1}
    {answer, around, written} = answer(pointer, around, written)
    names = Enum.sort(below)
    indices = for {{name, _}, n} <- Enum.with_index(names), index = Pointer.index(name), do: {index, n}
    start = at + @node + 4 * (length(names) + length(indices))

    {blobs, {behind, places, written}} =
      Enum.map_reduce(names, {start, [], written}, fn {name, node}, {at, places, written} ->
        head = <<Pointer.index(name) || 0::64-little, byte_size(name)::32-little, name::binary>>
        {blob, behind, written} = write(node, at + byte_size(head), around, written)
        {[head | blob], {behind, [at | places], written}}
      end)

    places = places |> Enum.reverse() |> List.to_tuple()

    head = [
      <<number::32-little, answer::32-little, first::32-little, written.answers::32-little>>,
      <<length(names)::32-little>>,
      for(at <- Tuple.to_list(places), do: <<at + @index::32-little>>),
      <<length(indices)::32-little>>,
      for({_index, n} <- Enum.sort(indices), do: <<elem(places, n)::32-little>>)
    ]

    {[head | blobs], behind, written}
  end

  defp answer(nil, around, written), do: {0, around, written}

  defp answer(pointer, around, %{answers: answers} = written) do
    written = %{
      written
      | answers: answers + 1,
        overlap: max(written.overlap, around + 1),
        places: Map.put(written.places, pointer, answers)
    }

    {answers + 1, around + 1, written}
  end

  @doc false
  # The plan in the form that the core reads, behind the options of the call. `raw` asks for places in the text instead of values;
  # `trusted` skips validation.
  @spec plan(t(), boolean(), boolean(), binary()) :: binary()
  def plan(%__MODULE__{nodes: nodes, answers: answers, overlap: overlap, count: count}, raw, trusted, options) do
    flags = if(raw, do: @raw, else: 0) + if(trusted, do: @trusted, else: 0)

    header = <<Kind.select(), flags, min(overlap, 0xFFFF)::16-little, answers::32-little, count::32-little>>
    # `<>` would copy the plan of 100,000 pointers in one go, which holds a scheduler for milliseconds.
    IO.iodata_to_binary([options, header | nodes])
  end

  defimpl Inspect do
    def inspect(%{pointers: pointers}, _opts) do
      shown = Kernel.inspect(Tuple.to_list(pointers), limit: 3, printable_limit: 60, width: :infinity)
      "#RustyJson.Paths<#{shown}>"
    end
  end
end
