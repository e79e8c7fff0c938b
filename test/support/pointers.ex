defmodule RustyJson.Test.Pointers do
  @moduledoc "Looks up JSON Pointers (RFC 6901) in terms. Written for clarity, as the reference for `select/3`."

  @doc "The value at a pointer in a decoded document, or `:absent`."
  def look_up(term, ""), do: {:ok, term}

  def look_up(term, "/" <> tokens) do
    tokens |> String.split("/") |> Enum.map(&unescape/1) |> Enum.reduce_while({:ok, term}, &step/2)
  end

  defp unescape(token), do: token |> String.replace("~1", "/") |> String.replace("~0", "~")

  defp step(token, {:ok, map}) when is_map(map) and not is_struct(map) do
    if is_map_key(map, token), do: {:cont, {:ok, Map.fetch!(map, token)}}, else: {:halt, :absent}
  end

  defp step(token, {:ok, list}) when is_list(list) do
    index = if token =~ ~r/\A(0|[1-9][0-9]*)\z/, do: String.to_integer(token)
    if index && index < length(list), do: {:cont, {:ok, Enum.at(list, index)}}, else: {:halt, :absent}
  end

  defp step(_token, {:ok, _scalar}), do: {:halt, :absent}

  @doc "The pointers of all values in a term."
  def all(term, pointer \\ "")

  def all(map, pointer) when is_map(map),
    do: [pointer | Enum.flat_map(map, fn {key, value} -> all(value, "#{pointer}/#{escape(key)}") end)]

  def all(list, pointer) when is_list(list),
    do: [
      pointer | list |> Enum.with_index() |> Enum.flat_map(fn {value, i} -> all(value, "#{pointer}/#{i}") end)
    ]

  def all(_scalar, pointer), do: [pointer]

  @doc "The token that spells a key."
  def escape(key), do: key |> String.replace("~", "~0") |> String.replace("/", "~1")

  @doc "A similar pointer, which may lead to another value or to none."
  def near(pointer) do
    case Enum.random(1..5) do
      1 -> pointer <> "/" <> Enum.random(["", "0", "-", "01", "1", "a"])
      2 -> pointer |> String.split("/") |> Enum.drop(-1) |> Enum.join("/")
      3 -> String.replace(pointer, ~r/(?<!~)[^\/~]\z/u, "")
      _ -> pointer
    end
  end
end
