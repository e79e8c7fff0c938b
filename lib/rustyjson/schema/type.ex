defmodule RustyJson.Schema.Type do
  @moduledoc false
  # The types of schemas, and their names in errors.

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Options.Unknown
  alias RustyJson.Schema.Reflected

  # Duration came with Elixir 1.17.
  @duration if Code.ensure_loaded?(Duration), do: [:duration], else: []
  @scalars ~w(any string integer float number boolean decimal date time naive_datetime utc_datetime)a ++
             @duration ++ [:raw]

  # Modules of values that have a type of their own, and no schema.
  @named %{
    Date => :date,
    DateTime => :utc_datetime,
    Decimal => :decimal,
    Duration => :duration,
    Float => :float,
    Integer => :integer,
    NaiveDateTime => :naive_datetime,
    String => :string,
    Time => :time
  }

  @type t ::
          atom()
          | {:list | :map | :nullable, t()}
          | {:enum, [atom()]}
          | {:tagged, String.t(), %{String.t() => module()}}
          # Types that only fields of Ecto schemas have, see RustyJson.Schema.Reflected.
          | {:loaded, term()}
          | {:embeds_many, module()}
          # A type with the constraints of a field, see RustyJson.Schema.Constraints.
          | {:checked, t(), map()}

  # Lists, maps and nullable types that stand in each other. The time to prepare a type grows with the square of that.
  @deepest 256

  @doc "The type in its normal form, or an ArgumentError."
  @spec check!(term()) :: t()
  def check!(type), do: check!(type, @deepest)

  @doc "The same for a field of a schema, which the error names."
  @spec of_schema!(term(), atom()) :: t()
  def of_schema!(type, field) do
    check!(type)
  rescue
    error in ArgumentError ->
      reraise ArgumentError, "the field #{inspect(field)}: #{error.message}", __STACKTRACE__
  end

  defp check!(_type, 0), do: raise(ArgumentError, "a type nested deeper than #{@deepest} levels")
  defp check!(type, _left) when type in @scalars, do: type
  defp check!([type], left), do: {:list, check!(type, left - 1)}

  defp check!({kind, type}, left) when kind in [:list, :map], do: {kind, check!(type, left - 1)}

  defp check!({:nullable, type}, left) do
    with type when not is_tuple(type) or elem(type, 0) != :nullable <- check!(type, left - 1),
         do: {:nullable, type}
  end

  defp check!({:enum, names} = type, _left) when length(names) > 0 do
    if Enum.all?(names, &(is_atom(&1) and &1 not in [nil, true, false])),
      do: {:enum, Enum.uniq(names)},
      else: wrong!(type)
  end

  defp check!({:tagged, key, variants} = type, _left) when is_binary(key) and map_size(variants) > 0 do
    if Enum.all?(variants, fn {tag, module} -> is_binary(tag) and module?(module) end),
      do: type,
      else: wrong!(type)
  end

  defp check!(type, _left), do: if(module?(type), do: type, else: wrong!(type))

  # A module can be compiled later, so its schema is checked on use.
  defp module?(type),
    do: is_atom(type) and not is_map_key(@named, type) and match?("Elixir." <> _, Atom.to_string(type))

  @doc "The same for a type that may be the one of a field, with its constraints."
  @spec of_field!(term()) :: t()
  def of_field!({:nullable, {:checked, _type, _constraints}} = type), do: type
  def of_field!({:checked, _type, _constraints} = type), do: type
  def of_field!(type), do: check!(type)

  @doc "Returns the type if it is valid. Otherwise, or if a module has no schema, raises an ArgumentError that says why."
  @spec given!(term()) :: term()
  def given!(type) do
    _ = type |> check!() |> modules!([])
    type
  end

  defp modules!(type, seen) do
    if type in seen do
      seen
    else
      _ = tags!(type)
      Enum.reduce(inner(type), [type | seen], &modules!/2)
    end
  end

  # The tag can be a field of its own, which then has to take it.
  defp tags!({:tagged, key, variants}) do
    for {tag, module} <- variants, field <- schema!(module).fields, field.key == key do
      with {:enum, names} <- bare(field.type), false <- Enum.any?(names, &(Atom.to_string(&1) == tag)) do
        raise ArgumentError,
              "the tag #{inspect(tag)} is not a value of the field #{inspect(field.name)} of #{inspect(module)}, " <>
                "whose key is #{inspect(key)} too and whose type is #{inspect(field.type, limit: 5)}"
      end
    end
  end

  defp tags!(_type), do: []

  defp bare({:nullable, type}), do: type
  defp bare(type), do: type

  @spec wrong!(term()) :: no_return()
  defp wrong!(:duration) when @duration == [],
    do: raise(ArgumentError, "the type :duration needs Elixir 1.17 or newer")

  defp wrong!(type) do
    scalars = Enum.map_join(@scalars, ", ", &inspect/1)

    raise ArgumentError,
          "unknown type #{Excerpt.brief(type)}#{meant(type)} a type is #{scalars}, [type], {:map, type}, {:nullable, type}, " <>
            "{:enum, atoms}, {:tagged, key, modules} or a module with a schema"
  end

  defp meant({:enum, [name | _]}) when is_binary(name), do: ", whose values are written as atoms:"

  defp meant(type) when is_map_key(@named, type), do: ", did you mean #{inspect(@named[type])}?"

  defp meant(type),
    do:
      with(name when name != nil <- Unknown.near(type, @scalars), do: ", did you mean #{inspect(name)}?") ||
        ":"

  @doc "The schema of a module."
  @spec schema!(module()) :: map()
  def schema!(module) do
    cond do
      not Code.ensure_loaded?(module) -> none!(module)
      function_exported?(module, :__rustyjson_schema__, 0) -> module.__rustyjson_schema__()
      Reflected.schema?(module) -> Reflected.schema(module)
      true -> none!(module)
    end
  end

  @spec none!(module()) :: no_return()
  defp none!(module),
    do: raise(ArgumentError, "#{inspect(module)} has no schema: add use RustyJson.Schema to it")

  @doc "A term that is another one when the schema of the module is, or nil if it has none."
  @spec version(module()) :: term()
  def version(module) do
    cond do
      function_exported?(module, :__rustyjson_version__, 0) -> module.__rustyjson_version__()
      Reflected.schema?(module) -> Reflected.version(module)
      true -> nil
    end
  end

  @doc "The types inside a type."
  @spec inner(t()) :: [t()]
  def inner({kind, type}) when kind in [:list, :map, :nullable], do: [type]
  def inner({:checked, type, _constraints}), do: [type]
  def inner({:enum, _names}), do: []
  def inner({:loaded, _type}), do: []
  def inner({:embeds_many, module}), do: [module]
  def inner({:tagged, key, variants}), do: for({_tag, module} <- variants, do: {:variant, module, key})
  def inner({:variant, module, _key}), do: inner(module)
  def inner(scalar) when scalar in @scalars, do: []
  def inner(module), do: for(field <- schema!(module).fields, do: field.type)

  @doc "Whether a type is a module with a schema."
  @spec struct?(t()) :: boolean()
  def struct?(type), do: is_atom(type) and type not in @scalars
end
