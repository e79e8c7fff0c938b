defmodule RustyJson.Encoder.Derive do
  @moduledoc false
  # The implementation that `@derive RustyJson.Encoder` generates.

  alias RustyJson.Encode
  alias RustyJson.Encode.Text
  alias RustyJson.Encoder.{Names, Plans}

  @doc "The implementation for a struct. Its fields are data, so that the core can learn them."
  @spec implementation(module(), map(), keyword() | term()) :: Macro.t()
  def implementation(module, struct, options) do
    fields = fields(struct, options)
    options = if is_list(options), do: options, else: []
    plan = Plans.plan(fields, names(fields, options[:key_case]), omitted(options[:omit]))

    quote do
      defimpl RustyJson.Encoder, for: unquote(module) do
        def encode(struct, opts) do
          unquote(__MODULE__).encode(struct, unquote(Macro.escape(plan)), opts)
        end

        @doc false
        def __plan__, do: unquote(Macro.escape(plan))
      end
    end
  end

  defp names(_fields, nil), do: nil
  defp names(fields, :camel), do: for(field <- fields, do: name!(Names.name(field, :camel)))

  defp names(fields, given) when is_list(given) or is_map(given) do
    if Names.table?(Map.new(given)) do
      known!(for({field, _name} <- given, do: field), :key_case, fields)
      for field <- fields, do: name!(Names.name(field, Map.new(given)))
    else
      bad_names!(given)
    end
  end

  defp names(_fields, given), do: bad_names!(given)

  # The core writes an atom faster than a string that it does not know. These are as many as the fields.
  defp name!(name) do
    if String.length(name) > 255,
      do: raise(ArgumentError, "`:key_case` has a name of more than 255 characters: #{inspect(name)}")

    String.to_atom(name)
  end

  defp bad_names!(given),
    do:
      raise(
        ArgumentError,
        "`:key_case` takes :camel or names as `[first_name: \"firstName\"]`, got: #{inspect(given)}"
      )

  defp omitted(nil), do: nil

  defp omitted(omitted) do
    if Names.omit?(omitted),
      do: omitted,
      else: raise(ArgumentError, "`:omit` takes a list of nil and modules, got: #{inspect(omitted)}")
  end

  @doc "The text of a struct by this plan."
  @spec encode(struct(), Plans.plan(), RustyJson.Encode.opts()) :: iodata()
  def encode(struct, plan, opts) do
    members = members(struct, Plans.fields(plan))

    case plan do
      {fields, _names, _omitted} when is_tuple(fields) -> Text.planned!(struct, plan, opts)
      _fields -> Encode.keyword(members, opts)
    end
  end

  @doc "The fields of a struct with their values, in this order. Raises if it lacks one."
  @spec members(struct(), [atom()]) :: keyword()
  def members(struct, fields), do: for(field <- fields, do: {field, Map.fetch!(struct, field)})

  defp fields(struct, options) do
    fields = Map.keys(struct) -- [:__struct__]
    options = if is_list(options), do: options, else: []

    case {options[:only], options[:except]} do
      {nil, nil} -> fields
      {nil, except} -> fields -- known!(except, :except, fields)
      {only, _} -> known!(only, :only, fields)
    end
  end

  # As in Jason, `:__struct__` may be listed.
  defp known!(named, option, fields) do
    case named -- [:__struct__ | fields] do
      [] ->
        named

      unknown ->
        raise ArgumentError,
              "`#{inspect(option)}` specified keys (#{inspect(unknown)}) that are not defined in defstruct: " <>
                inspect(fields)
    end
  end

  @doc "What to do about a value without an implementation."
  @spec advice(term()) :: String.t()
  def advice(%_{}) do
    """
    RustyJson.Encoder protocol must always be explicitly implemented.

    If you own the struct, you can derive the implementation specifying \
    which fields should be encoded to JSON:

        @derive {RustyJson.Encoder, only: [....]}
        defstruct ...

    It is also possible to encode all fields, although this should be \
    used carefully to avoid accidentally leaking private information \
    when new fields are added:

        @derive RustyJson.Encoder
        defstruct ...

    Finally, if you don't own the struct you want to encode to JSON, \
    you may use Protocol.derive/3 placed outside of any module:

        Protocol.derive(RustyJson.Encoder, NameOfTheStruct, only: [...])
        Protocol.derive(RustyJson.Encoder, NameOfTheStruct)
    """
  end

  def advice(_value), do: "RustyJson.Encoder protocol must always be explicitly implemented"
end
