defmodule RustyJson.Encode.Sources do
  @moduledoc false
  # The sources of lazy arrays, taken out of a document that the sandbox writes: what crosses is copied, and a source may be a list of
  # millions of rows. Only plain maps are looked into, which costs little; a lazy array elsewhere crosses with its source. Without
  # protocols a lazy array is a struct like any other.

  alias RustyJson.{Engine, Lazy, Options}

  @doc "The document with numbers for the sources, and the sources."
  @spec out(term(), Options.t()) :: {term(), [Enumerable.t()]}
  def out(term, %{engine: Engine.Wasm, values: %{protocol: true}}) do
    {term, sources} = walk(term, [])
    {term, Enum.reverse(sources)}
  end

  def out(term, _options), do: {term, []}

  defp walk(%Lazy{source: source}, sources),
    do: {%Lazy{source: {__MODULE__, length(sources)}}, [source | sources]}

  defp walk(%_module{} = struct, sources), do: {struct, sources}

  defp walk(map, sources) when is_map(map),
    do:
      Enum.reduce(map, {map, sources}, fn {key, value}, {map, sources} -> member(key, value, map, sources) end)

  defp walk(term, sources), do: {term, sources}

  defp member(key, value, map, sources) when is_map(value) do
    case walk(value, sources) do
      {_same, ^sources} -> {map, sources}
      {value, sources} -> {Map.put(map, key, value), sources}
    end
  end

  defp member(_key, _value, map, sources), do: {map, sources}

  @doc "The lazy array with its own source."
  @spec back(Lazy.t(), [Enumerable.t()]) :: Lazy.t()
  def back(%Lazy{source: {__MODULE__, number}}, sources), do: %Lazy{source: Enum.fetch!(sources, number)}
  def back(lazy, _sources), do: lazy
end
