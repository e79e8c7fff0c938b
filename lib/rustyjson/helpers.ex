defmodule RustyJson.Helpers do
  @moduledoc """
  Builds objects whose keys are known at compile time.

  Both macros return a `RustyJson.Fragment` and keep the order of the keys. A key must be ASCII text without `"`, `\\`, `/` and
  control characters (below U+0020); anything else is an error at compile time.
  """

  alias RustyJson.{Encode, EncodeError, Fragment}

  @doc """
  Builds an object from a literal keyword list.

      iex> import RustyJson.Helpers
      iex> RustyJson.encode!(json_map(foo: 1, bar: [2]))
      ~s({"foo":1,"bar":[2]})
  """
  defmacro json_map(keyword) do
    keyword = Macro.expand(keyword, __CALLER__)
    Enum.each(keyword, fn {key, _value} -> check_key!(key) end)
    quote(do: unquote(__MODULE__).object(unquote(keyword)))
  end

  @doc """
  Builds an object from some keys of a map. A key that the map lacks is an ArgumentError.

      iex> import RustyJson.Helpers
      iex> RustyJson.encode!(json_map_take(%{a: 1, b: 2, c: 3}, [:c, :b]))
      ~s({"c":3,"b":2})
  """
  defmacro json_map_take(map, keys) do
    keys = Macro.expand(keys, __CALLER__)
    Enum.each(keys, &check_key!/1)
    quote(do: unquote(__MODULE__).take(unquote(map), unquote(keys)))
  end

  @doc false
  @spec object(keyword()) :: Fragment.t()
  def object(members), do: Fragment.new(&Encode.keyword(members, &1))

  @doc false
  @spec take(map(), [atom()]) :: Fragment.t()
  def take(map, keys) do
    if is_map(map) and Enum.all?(keys, &is_map_key(map, &1)) do
      object(for key <- keys, do: {key, Map.fetch!(map, key)})
    else
      raise ArgumentError,
            "expected a map with keys: #{inspect(keys)}, got: #{RustyJson.Encode.Excerpt.inspect(map)}"
    end
  end

  defp check_key!(key) do
    text = to_string(key)

    for <<byte <- text>>, byte > 0x7F or byte < 0x20 or byte in ~c'"\\/' do
      raise EncodeError, "invalid byte #{inspect(byte, base: :hex)} in literal key: #{inspect(text)}"
    end
  end
end
