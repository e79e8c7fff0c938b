defmodule Jason.Helpers do
  @moduledoc """
  Builds objects whose keys are known at compile time.

  Both macros return a `Jason.Fragment` and keep the order of the keys. A key must be ASCII text without `"`, `\\`, `/` and control
  characters; anything else is an error at compile time.
  """

  alias Jason.{Encode, Fragment, Keys}

  @doc """
  Builds an object from a literal keyword list.

      iex> import Jason.Helpers
      iex> Jason.encode!(json_map(foo: 1, bar: [2]))
      ~s({"foo":1,"bar":[2]})
  """
  defmacro json_map(keyword) do
    keyword = Macro.expand(keyword, __CALLER__)
    Enum.each(keyword, fn {key, _value} -> Keys.check!(key) end)
    quote(do: unquote(__MODULE__).object(unquote(keyword)))
  end

  @doc """
  Builds an object from some keys of a map. A key that the map lacks is an ArgumentError.

      iex> import Jason.Helpers
      iex> Jason.encode!(json_map_take(%{a: 1, b: 2, c: 3}, [:c, :b]))
      ~s({"c":3,"b":2})
  """
  defmacro json_map_take(map, keys) do
    keys = Macro.expand(keys, __CALLER__)
    Enum.each(keys, &Keys.check!/1)
    quote(do: unquote(__MODULE__).take(unquote(map), unquote(keys)))
  end

  @doc false
  @spec object(keyword()) :: Fragment.t()
  def object(members) do
    keys = Keyword.keys(members)

    if Enum.any?(keys, &Keys.unescaped?/1),
      do: %Fragment{encode: &Keys.object(Map.new(members), keys, &1)},
      else: %Fragment{encode: &Encode.keyword(members, &1)}
  end

  @doc false
  @spec take(map(), [atom()]) :: Fragment.t()
  def take(map, keys) do
    if is_map(map) and Enum.all?(keys, &is_map_key(map, &1)),
      do: object(for(key <- keys, do: {key, Map.fetch!(map, key)})),
      else: raise(ArgumentError, "expected a map with keys: #{inspect(keys)}, got: #{inspect(map)}")
  end
end
