defprotocol Jason.Encoder do
  @moduledoc """
  The protocol that encodes structs.

      defmodule User do
        @derive {Jason.Encoder, only: [:name, :email]}
        defstruct [:name, :email, :password_hash]
      end

  ## Deriving

    * `:only` - the fields to encode, in this order
    * `:except` - the fields to leave out

  Without either option all fields are encoded. RustyJson's engines encode structs with a derived implementation by themselves, as
  they do for `RustyJson.Encoder`. A struct can derive both.

  ## Implementing

      defimpl Jason.Encoder, for: Money do
        def encode(money, opts), do: Jason.Encode.map(%{amount: money.amount}, opts)
      end

  An implementation returns JSON as iodata, usually made by the functions of `Jason.Encode`. A struct that implements only
  `RustyJson.Encoder` is encoded through that.
  """

  @fallback_to_any true

  @type opts :: Jason.Encode.opts()

  @doc "Encodes the value. Pass `opts` on to the functions of `Jason.Encode`."
  @spec encode(t(), opts()) :: iodata()
  def encode(value, opts)
end

defimpl Jason.Encoder, for: Any do
  defmacro __deriving__(module, struct, options), do: Jason.Derive.implementation(module, struct, options)

  # The package need not be there when this is compiled. It is a direct call of the protocol: RustyJson encodes decimals itself.
  @compile {:no_warn_undefined, Decimal}
  def encode(%{__struct__: Decimal} = decimal, _opts), do: [?", Decimal.to_string(decimal), ?"]

  def encode(value, opts) do
    case RustyJson.Standin.own_implementation(value) do
      nil ->
        raise Protocol.UndefinedError,
          protocol: @protocol,
          value: value,
          description: Jason.Derive.advice(value)

      implementation ->
        implementation.encode(value, Jason.Encode.options(opts))
    end
  end
end

# RustyJson encodes these types itself. The implementations serve direct calls of the protocol.
defimpl Jason.Encoder,
  for: [Atom, Integer, Float, List, Map, Date, Time, NaiveDateTime, DateTime] do
  def encode(value, opts), do: Jason.Encode.value(value, opts)
end

defimpl Jason.Encoder, for: BitString do
  def encode(binary, opts) when is_binary(binary), do: Jason.Encode.string(binary, opts)

  def encode(bitstring, _opts) do
    raise Protocol.UndefinedError,
      protocol: @protocol,
      value: bitstring,
      description: "cannot encode a bitstring to JSON"
  end
end

defimpl Jason.Encoder, for: Jason.Fragment do
  def encode(%{encode: encode}, opts), do: encode.(opts)
end

defimpl Jason.Encoder, for: Jason.OrderedObject do
  def encode(%{values: values}, opts), do: Jason.Encode.keyword(values, opts)
end
