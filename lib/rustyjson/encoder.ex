defprotocol RustyJson.Encoder do
  @moduledoc """
  How a struct is encoded.

  ## Deriving

      defmodule User do
        @derive {RustyJson.Encoder, only: [:name, :email]}
        defstruct [:name, :email, :password_hash]
      end

    * `:only` - the fields to encode, in this order
    * `:except` - the fields to leave out

  Without either all fields are encoded, which can leak what is added later. A field that the struct does not have is
  an error at compile time. A struct of someone else is derived for by
  `Protocol.derive(RustyJson.Encoder, NameOfTheStruct, only: [...])`.

  ## Implementing

      defimpl RustyJson.Encoder, for: Money do
        def encode(money, opts) do
          RustyJson.Encode.map(%{amount: money.amount, currency: to_string(money.currency)}, opts)
        end
      end

  An implementation returns JSON as iodata (a list is iodata, not an array), best made by the functions of
  `RustyJson.Encode`; or a map or struct, which is then encoded in turn.

  A struct with neither raises `Protocol.UndefinedError`. Where it has an implementation of `Jason.Encoder`, or of
  Elixir's `JSON.Encoder`, and those are loaded, that one is used, also for a struct that holds others which know
  `RustyJson.Encoder` only.
  """

  @fallback_to_any true

  @type opts :: RustyJson.Encode.opts()

  @doc """
  Encodes the value. `opts` are passed on to the functions of `RustyJson.Encode`.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encoder.encode([1, 2], &1)))
      "[1,2]"
  """
  @spec encode(t(), opts()) :: iodata() | map()
  def encode(value, opts)
end

defimpl RustyJson.Encoder, for: Any do
  alias RustyJson.Encoder.{Derive, Interop}

  defmacro __deriving__(module, struct, options), do: Derive.implementation(module, struct, options)

  def encode(value, opts) do
    case Interop.encode(value, opts) do
      {:ok, iodata} ->
        iodata

      :error ->
        raise Protocol.UndefinedError, protocol: @protocol, value: value, description: Derive.advice(value)
    end
  end
end

# What the core knows reaches it by itself; these serve calls of the protocol function.
defimpl RustyJson.Encoder,
  for: [
    Atom,
    Integer,
    Float,
    List,
    Map,
    Tuple,
    Date,
    Time,
    NaiveDateTime,
    DateTime,
    URI,
    MapSet,
    Range,
    RustyJson.Fragment,
    RustyJson.OrderedObject
  ] do
  def encode(value, opts), do: RustyJson.Encode.value(value, opts)
end

defimpl RustyJson.Encoder, for: BitString do
  def encode(binary, opts) when is_binary(binary), do: RustyJson.Encode.value(binary, opts)

  def encode(bitstring, _opts) do
    raise Protocol.UndefinedError,
      protocol: @protocol,
      value: bitstring,
      description: "cannot encode a bitstring to JSON"
  end
end

if Code.ensure_loaded?(Decimal) do
  defimpl RustyJson.Encoder, for: Decimal do
    def encode(value, opts), do: RustyJson.Encode.value(value, opts)
  end
end
