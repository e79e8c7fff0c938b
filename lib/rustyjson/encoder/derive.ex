defmodule RustyJson.Encoder.Derive do
  @moduledoc false
  # The implementation that `@derive RustyJson.Encoder` generates.

  alias RustyJson.Encoder.Plans

  @doc "The implementation for a struct. Its fields are data, so that the core can learn them."
  @spec implementation(module(), map(), keyword() | term()) :: Macro.t()
  def implementation(module, struct, options) do
    fields = fields(struct, options)
    plan = Plans.plan(fields)

    quote do
      defimpl RustyJson.Encoder, for: unquote(module) do
        def encode(struct, opts) do
          RustyJson.Encode.keyword(unquote(__MODULE__).members(struct, unquote(fields)), opts)
        end

        @doc false
        def __plan__, do: unquote(Macro.escape(plan))
      end
    end
  end

  @doc "The fields of a struct with their values, in this order."
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
