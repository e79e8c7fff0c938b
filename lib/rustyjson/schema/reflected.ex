defmodule RustyJson.Schema.Reflected do
  @moduledoc false
  # Ecto schemas as types, read through their `__schema__/1`. RustyJson does not depend on Ecto: who has such a schema has Ecto.
  #
  # A document gives the struct that `Ecto.embedded_load/3` makes of it. The core checks the plain types and skips what the schema
  # does not have; `Ecto.Type.embedded_load/3` loads values of all other types.

  alias RustyJson.Schema.Assemble

  @compile {:no_warn_undefined, Ecto.Type}

  @doc "Whether a module is an Ecto schema."
  @spec schema?(module()) :: boolean()
  def schema?(module),
    do: function_exported?(module, :__schema__, 1) and function_exported?(module, :__struct__, 0)

  @doc "The schema of the module, as `RustyJson.Schema` describes its own. All fields are optional, and null is nil in them."
  @spec schema(module()) :: map()
  def schema(module) do
    fields = for pair <- module.__schema__(:load), do: field(pair)
    %{fields: fields, strict: false, encoder: false, base: module.__schema__(:loaded)}
  end

  @doc "A term that is another one when the module was compiled from other code."
  @spec version(module()) :: term()
  def version(module), do: module.module_info(:md5)

  defp field({name, {:source, source, type}}), do: field(name, source, type)
  defp field({name, type}), do: field(name, name, type)

  defp field(name, source, type),
    do: %{name: name, key: Atom.to_string(source), type: type(type), required: false, default: nil}

  # Ecto before 3.12 has the parameters in a tuple of three.
  defp type({:parameterized, {Ecto.Embedded, embed}}), do: embedded(embed)
  defp type({:parameterized, Ecto.Embedded, embed}), do: embedded(embed)

  defp type(type) do
    case checked(type) do
      nil -> {:loaded, type}
      checked -> {:nullable, checked}
    end
  end

  defp embedded(%{cardinality: :one, related: module}), do: {:nullable, module}
  defp embedded(%{cardinality: :many, related: module}), do: {:embeds_many, module}

  # The types that the core checks itself.
  defp checked(type) when type in [:id, :integer], do: :integer
  defp checked(type) when type in [:string, :binary, :binary_id], do: :string
  defp checked(type) when type in [:float, :boolean, :decimal], do: type
  defp checked({:array, type}), do: inside(:list, type)
  defp checked({:map, type}), do: inside(:map, type)
  defp checked(_type), do: nil

  defp inside(kind, type) do
    with checked when checked != nil <- checked(type), do: {kind, {:nullable, checked}}
  end

  @doc "The value of a type of Ecto. Throws what an invalid date does for a value that is not of the type."
  @spec load(term(), term()) :: term()
  def load(type, value), do: Assemble.date(&Ecto.Type.embedded_load(type, &1, :json), value)
end
