defmodule RustyJson.Schema.Load do
  @moduledoc false
  # The libraries build the value of a type at once, but for values that only Elixir can make, such as those of Ecto's types. They
  # leave them as `{RustyJson.Schema.Load, value}`, and the whole as `{:left, value}`. That stands in another `{:left, value}` if values
  # were dropped, because their keys came again, and some of these may have been left, too.

  alias RustyJson.Long
  alias RustyJson.Schema.{Assemble, Shape, Type}

  @doc "The whole value. Throws `{:rustyjson, :date}` if one that was left is not of its type."
  @spec all(term(), Shape.t(), atom()) :: term()
  def all({:left, value}, %{type: type, loads: loads}, null), do: value(type, value, {loads, %{null: null}})
  def all(value, _shape, _null), do: value

  @spec value(Type.t(), term(), {map(), map()}) :: term()
  defp value(type, {__MODULE__, value}, {_loads, context}), do: Assemble.value(type, value, context)
  defp value(_type, nil, _context), do: nil
  defp value({:nullable, type}, value, context), do: value(type, value, context)
  defp value({:checked, type, _constraints}, value, context), do: value(type, value, context)

  defp value({kind, type}, list, context) when kind in [:list, :embeds_many] and is_list(list),
    do: Long.map(list, &value(type, &1, context))

  defp value({:map, type}, map, context) when is_map(map) and not is_struct(map),
    do:
      map
      |> Map.to_list()
      |> Long.map(fn {key, value} -> {key, value(type, value, context)} end)
      |> :maps.from_list()

  defp value(_type, %module{} = struct, {loads, _} = context) when is_map_key(loads, module) do
    Enum.reduce(loads[module], struct, fn {name, type}, struct ->
      case struct do
        %{^name => value} -> %{struct | name => value(type, value, context)}
      end
    end)
  end

  # A default.
  defp value(_type, value, _context), do: value
end
