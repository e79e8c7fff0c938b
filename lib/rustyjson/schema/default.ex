defmodule RustyJson.Schema.Default do
  @moduledoc false
  # Defaults of fields as JSON, for a JSON Schema. Nothing checks that a default is of the type of its field, because a program may well
  # keep another term there; a document could not have such a value.

  alias RustyJson.Schema.Type

  @doc "The JSON of a default, if it is a plain value of the type."
  @spec json(term(), Type.t()) :: {:ok, term()} | :error
  def json(value, {:nullable, type}), do: json(value, type)
  def json(value, {:checked, type, _constraints}), do: json(value, type)
  def json(value, type) when type in [:any, :raw], do: plain(value)
  def json(value, :string) when is_binary(value), do: plain(value)
  def json(value, :integer) when is_integer(value), do: {:ok, value}
  def json(value, type) when type in [:float, :number, :decimal] and is_number(value), do: {:ok, value}
  def json(value, :boolean) when is_boolean(value), do: {:ok, value}
  def json([], {:list, _type}), do: {:ok, []}
  def json(value, {:map, _type}) when value == %{}, do: {:ok, value}
  def json(value, {:enum, names}), do: if(value in names, do: plain(value), else: :error)
  def json(_value, _type), do: :error

  # Terms that are their own JSON.
  defp plain(value) when is_number(value) or is_boolean(value), do: {:ok, value}
  defp plain(value) when is_binary(value), do: if(String.valid?(value), do: {:ok, value}, else: :error)
  defp plain(value) when is_atom(value) and value != nil, do: {:ok, Atom.to_string(value)}
  defp plain([]), do: {:ok, []}
  defp plain(value) when value == %{}, do: {:ok, %{}}
  defp plain(_value), do: :error
end
