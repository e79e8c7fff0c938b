defprotocol RustyJson.Encoder do
  @moduledoc """
  The protocol that encodes structs.

  ## Deriving

      defmodule User do
        @derive {RustyJson.Encoder, only: [:name, :email]}
        defstruct [:name, :email, :password_hash]
      end

    * `:only` - the fields to encode, in this order
    * `:except` - the fields to leave out
    * `:key_case` - `:camel`, or names for some fields: `[first_name: "firstName"]`
    * `:omit` - fields with these values are left out: `nil`, or structs of these modules
    * `:also` - `[Jason.Encoder, JSON.Encoder]` or one of them: packages that call these libraries can encode the struct too, and get
      the same members. A protocol that does not exist where the struct is compiled is left out

  Without `:only` and `:except` all fields are encoded, which can leak fields that are added later. Both of them, a field that the struct
  lacks and an unknown option are errors at compile time (`ArgumentError`). For a struct that you do not own, use
  `Protocol.derive(RustyJson.Encoder, NameOfTheStruct, only: [...])`.

  ## Implementing

      defimpl RustyJson.Encoder, for: Money do
        def encode(money, opts) do
          RustyJson.Encode.map(%{amount: money.amount, currency: to_string(money.currency)}, opts)
        end
      end

  An implementation returns JSON as iodata, usually made by the functions of `RustyJson.Encode`, or a map or struct, which is then
  encoded in turn. A list is iodata, not an array.

  `MapSet`, `Range`, `URI` and `Duration` are encoded as an array, an object and two kinds of strings. Implement the protocol for them
  to change that, as you would for Jason. Other built-in types cannot be changed. The ports that a `URI` is written without are those that
  Elixir has for `http`, `https`, `ftp`, `sftp`, `tftp`, `ldap`, `ws` and `wss`, whatever `URI.default_port/2` was told about them.

  A struct without an implementation uses that of `Jason.Encoder` or Elixir's `JSON.Encoder`, if it has one and the library is
  loaded. Such a struct can contain structs that implement only `RustyJson.Encoder`. Otherwise encoding fails with
  `Protocol.UndefinedError`.
  """

  @fallback_to_any true

  @type opts :: RustyJson.Encode.opts()

  @doc """
  Encodes the value. Pass `opts` on to the functions of `RustyJson.Encode`.

      iex> RustyJson.encode!(RustyJson.Fragment.new(&RustyJson.Encoder.encode([1, 2], &1)))
      "[1,2]"
  """
  @spec encode(t(), opts()) :: iodata() | map()
  def encode(value, opts)
end

defimpl RustyJson.Encoder, for: Any do
  alias RustyJson.Encoder.{Derive, Interop}

  defmacro __deriving__(module, struct, options), do: Derive.implementation(module, struct, options)

  # Applications may implement the protocol for these types, so they have no implementation of their own.
  # Before Elixir 1.17 a struct named Duration is the application's.
  @known Enum.filter(RustyJson.Encode.Known.overridable(), &(&1 in RustyJson.Encode.Known.modules()))
  def encode(%module{} = value, opts) when module in @known,
    do: RustyJson.Encode.value(value, opts)

  def encode(value, opts) do
    case Interop.encode(value, opts) do
      {:ok, iodata} ->
        iodata

      :error ->
        raise Protocol.UndefinedError, protocol: @protocol, value: value, description: Derive.advice(value)
    end
  end
end

# The core encodes these types itself. The implementations serve direct calls of the protocol.
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

# Elixir's own protocol, since 1.18.
if Code.ensure_loaded?(JSON.Encoder) do
  defimpl JSON.Encoder, for: [RustyJson.Fragment, RustyJson.OrderedObject] do
    def encode(value, encoder), do: RustyJson.Encoder.Also.builtin(value, encoder)
  end
end
