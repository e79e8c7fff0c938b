defmodule RustyJson.Encode.Sources do
  @moduledoc false
  # The sources of lazy arrays, taken out of a document that the sandbox writes: what crosses is copied, and a source may be a list of
  # millions of rows. Only plain maps are looked into, which costs little; a lazy array elsewhere crosses with its source. So it does in a
  # map with a key that the core does not know: the core may leave the whole map to Elixir. Without protocols a lazy array is a struct like
  # any other.

  alias RustyJson.{Engine, Lazy, Options}

  # Members that are looked at. A map that holds the same map twice, and so on, has 2^n of them with n maps. Lazy arrays behind them
  # cross with their sources.
  @most 100_000

  @typedoc "The sources by their numbers, and how many members may still be looked at."
  @type sources :: %{non_neg_integer() => Enumerable.t()}

  @doc "The document with numbers for the sources, and the sources."
  @spec out(term(), Options.t()) :: {term(), sources()}
  def out(term, %{engine: Engine.Wasm, values: %{protocol: true}}) do
    {term, {sources, _left}} = walk(term, {%{}, @most})
    {term, sources}
  end

  def out(term, _options), do: {term, %{}}

  defp walk(%Lazy{source: source}, {sources, left}) do
    number = map_size(sources)
    {%Lazy{source: {__MODULE__, number}}, {Map.put(sources, number, source), left}}
  end

  defp walk(%_module{} = struct, state), do: {struct, state}

  defp walk(map, {sources, left}) when is_map(map) and map_size(map) <= left do
    state = {sources, left - map_size(map)}

    if map |> Map.keys() |> Enum.all?(&known?/1),
      do: Enum.reduce(map, {map, state}, fn {key, value}, {map, state} -> member(key, value, map, state) end),
      else: {map, state}
  end

  defp walk(term, state), do: {term, state}

  defp known?(key), do: is_binary(key) or is_atom(key) or is_integer(key)

  defp member(key, value, map, {before, _left} = state) when is_map(value) do
    case walk(value, state) do
      {_same, {sources, _left} = state} when map_size(sources) == map_size(before) -> {map, state}
      {value, state} -> {Map.put(map, key, value), state}
    end
  end

  defp member(_key, _value, map, state), do: {map, state}

  @doc "The lazy array with its own source."
  @spec back(Lazy.t(), sources()) :: Lazy.t()
  def back(%Lazy{source: {__MODULE__, number}}, sources), do: %Lazy{source: Map.fetch!(sources, number)}
  def back(lazy, _sources), do: lazy
end
