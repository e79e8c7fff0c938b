defmodule RustyJson.Partial.Fields do
  @moduledoc false
  # What a document that is not complete has to know of its types: the fields of a struct by their keys, which values need no decoding,
  # and which ones grow.

  alias RustyJson.Schema.{Constraints, Type}

  # Bytes of an atom.
  @longest_name 1_020

  @enforce_keys [:struct, :by_key, :required, :strict]
  defstruct [:struct, :by_key, :required, :strict]

  @type t :: %__MODULE__{
          # With the defaults, and nil in required fields.
          struct: struct(),
          # The name, the type and the bit of a field.
          by_key: %{String.t() => {atom(), Type.t(), pos_integer()}},
          # The bits of the required fields.
          required: non_neg_integer(),
          strict: boolean()
        }

  @doc "What there is to know of a module with a schema."
  @spec new(module()) :: t()
  def new(module) do
    %{fields: fields, strict: strict} = schema = Type.schema!(module)

    numbered =
      fields |> Enum.with_index() |> Enum.map(fn {field, number} -> {field, Bitwise.bsl(1, number)} end)

    %__MODULE__{
      struct: schema[:base] || module.__struct__(),
      by_key: Map.new(numbered, fn {field, bit} -> {field.key, {field.name, field.type, bit}} end),
      required: for({%{required: true}, bit} <- numbered, reduce: 0, do: (bits -> Bitwise.bor(bits, bit))),
      strict: strict
    }
  end

  @doc "A string, a literal or a short integer as a value of the type, if it is one as it stands; nil if its text has to be decoded."
  @spec direct(Type.t(), term(), atom()) :: {:ok, term()} | nil
  def direct(:string, value, _null) when is_binary(value), do: {:ok, value}
  def direct(:integer, value, _null) when is_integer(value), do: {:ok, value}
  def direct(:boolean, value, _null) when is_boolean(value), do: {:ok, value}
  def direct(:number, value, _null) when is_integer(value), do: {:ok, value}
  def direct(:any, value, _null), do: {:ok, value}
  def direct({:checked, _type, %{format: _}}, _value, _null), do: nil

  def direct({:checked, type, constraints}, value, null) do
    with {:ok, value} <- direct(type, value, null),
         do: if(Constraints.allows?(constraints, type, value), do: {:ok, value})
  end

  # To prepare an enum of very many names for each value would take milliseconds.
  def direct({:enum, names}, text, _null) when is_binary(text) and byte_size(text) <= @longest_name do
    name = String.to_existing_atom(text)
    if name in names, do: {:ok, name}
  rescue
    _error in [ArgumentError, SystemLimitError] -> nil
  end

  def direct({:nullable, _type}, null, null), do: {:ok, nil}
  def direct({:nullable, type}, value, null), do: direct(type, value, null)
  def direct(_type, _value, _null), do: nil

  @doc "Whether a string of the type is shown while it grows."
  @spec grows?(Type.t()) :: boolean()
  def grows?({:nullable, type}), do: grows?(type)
  def grows?({:checked, type, _constraints}), do: grows?(type)
  def grows?(type), do: type in [:string, :any]

  @doc "Whether a string can become a value of the type when it is whole."
  @spec holds?(Type.t()) :: boolean()
  def holds?({:nullable, type}), do: holds?(type)
  def holds?({:checked, type, _constraints}), do: holds?(type)
  def holds?({kind, _}) when kind in [:enum, :loaded], do: true

  def holds?(type),
    do: type in [:decimal, :date, :time, :naive_datetime, :utc_datetime, :duration, :raw]

  # As the core adds them up.
  @lost_float 1
  @lost_decimal 2

  @doc """
  Whether a number that exceeds these limits, whatever follows, can be none of the type, or none where values are passed over. `decimals`:
  numbers without a type are decimals.
  """
  @spec lost?(Type.t() | :skip | :later | :tag | :wrong, 1..3, boolean()) :: boolean()
  def lost?({:nullable, type}, limits, decimals), do: lost?(type, limits, decimals)
  def lost?({:checked, type, _constraints}, limits, decimals), do: lost?(type, limits, decimals)
  def lost?(type, limits, _decimals) when type in [:float, :number], do: Bitwise.band(limits, @lost_float) > 0
  def lost?(:decimal, limits, _decimals), do: Bitwise.band(limits, @lost_decimal) > 0

  def lost?(type, limits, decimals) when type in [:skip, :any, :raw, :integer],
    do: Bitwise.band(limits, if(decimals, do: @lost_decimal, else: @lost_float)) > 0

  def lost?({:loaded, _type}, limits, decimals), do: lost?(:any, limits, decimals)
  def lost?(_other, _limits, _decimals), do: false

  @doc "Whether values of the type can be decoded together, as a list."
  @spec listed?(Type.t()) :: boolean()
  def listed?({kind, _}) when kind in [:loaded, :embeds_many], do: false
  def listed?(_type), do: true

  @typedoc "The least and the largest number of elements or members, if the field has any."
  @type limits :: nil | {non_neg_integer(), non_neg_integer() | :infinity}

  @doc "What a bracket opens in a value of the type. `plain`: arrays and objects of any type grow."
  @spec opens(:array | :object, Type.t(), boolean()) ::
          {:list | :map, Type.t(), limits()}
          | {:struct, module()}
          | {:tagged, String.t(), map()}
          | :whole
          | :wrong
  def opens(bracket, {:nullable, type}, plain), do: opens(bracket, type, plain)

  def opens(bracket, {:checked, type, constraints}, plain) do
    with {kind, element, nil} when kind in [:list, :map] <- opens(bracket, type, plain),
         do:
           {kind, element,
            {Map.get(constraints, :min_length, 0), Map.get(constraints, :max_length, :infinity)}}
  end

  def opens(:array, :any, true), do: {:list, :any, nil}
  def opens(:object, :any, true), do: {:map, :any, nil}
  def opens(_bracket, type, _plain) when type in [:any, :raw], do: :whole
  def opens(_bracket, {:loaded, _}, _plain), do: :whole
  def opens(:array, {:list, type}, _plain), do: {:list, type, nil}
  def opens(:array, {:embeds_many, module}, _plain), do: {:list, module, nil}
  def opens(:object, {:map, type}, _plain), do: {:map, type, nil}
  def opens(:object, {:tagged, _key, _variants} = type, _plain), do: type
  def opens(:object, type, _plain), do: if(Type.struct?(type), do: {:struct, type}, else: :wrong)
  def opens(_bracket, _type, _plain), do: :wrong
end
