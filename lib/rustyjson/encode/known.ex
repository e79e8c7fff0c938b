defmodule RustyJson.Encode.Known do
  @moduledoc false
  # Who encodes a struct. Well-known structs that the core leaves to Elixir: another calendar, invalid fields, bounds beyond 64 bits.

  alias RustyJson.Encode.Measure
  alias RustyJson.{EncodeError, Fragment, OrderedObject}

  # Duration came with Elixir 1.17.
  @compile {:no_warn_undefined, [Decimal, Duration]}
  @duration if Code.ensure_loaded?(Duration), do: [Duration], else: []
  @calendar [Date, Time, NaiveDateTime, DateTime]
  # The application may implement the protocol for these instead.
  @overridable [MapSet, Range, URI, Duration]
  # They become text here, and not in the core.
  @texts @calendar ++ @duration ++ [Decimal, URI]
  @modules @calendar ++ @duration ++ [Decimal, URI, MapSet, Range, Fragment, OrderedObject]

  @doc "Whether this is a struct, or a list that starts with one: then it is looked up first who encodes it."
  defguard is_of_structs(term)
           when is_struct(term) or (is_list(term) and term != [] and is_struct(hd(term)))

  @doc "Whether a call has a plan for structs of this module."
  defguard has_plan(module, plans) when is_map(plans) and is_map_key(plans, module)

  # A map can have any atom as `__struct__`. With one of these, a protocol that is not consolidated finds its implementation for values of
  # a built-in type, or itself, and either would come back here.
  @no_structs [nil, Atom, BitString, Float, Function, Integer, List, Map, PID, Port, Reference, Tuple]

  @doc "The implementation of a protocol for a value, which may be a struct that nobody's functions made."
  @spec implementation(module(), term()) :: module() | nil
  def implementation(protocol, %module{}) when module in @no_structs,
    do: protocol.impl_for(%{__struct__: Any})

  def implementation(protocol, value), do: protocol.impl_for(value)

  @doc "Structs that the core encodes when it meets them, whatever is in them."
  @spec modules() :: [module()]
  def modules, do: @modules

  @doc "Those of them that become texts."
  @spec texts() :: [module()]
  def texts, do: @texts

  @doc "Those of them for which the application may implement the protocol instead."
  @spec overridable() :: [module()]
  def overridable, do: @overridable

  @doc "What to encode instead, or `:error` for any other struct. Raises if the fields are not those of the type."
  @spec plain(term()) :: {:ok, term()} | :error
  def plain(%module{} = struct) when module in @modules do
    if module in @texts and not scalars?(struct), do: raise("a field that no such struct has")
    {:ok, form(struct)}
  rescue
    _ -> reraise EncodeError.new({:invalid_struct, struct}), __STACKTRACE__
  end

  def plain(_term), do: :error

  @doc """
  Whether there are only strings, atoms and short integers in the fields of a struct, as in all valid ones that become texts. A list can
  hold the same string many times.
  """
  @spec scalars?(struct()) :: boolean()
  def scalars?(struct), do: struct |> :maps.values() |> Enum.all?(&scalar?/1)

  defp scalar?(integer) when is_integer(integer), do: Measure.short_integer?(integer)
  # Microseconds and their precision.
  defp scalar?({number, digits}) when is_integer(number) and is_integer(digits),
    do: scalar?(number) and scalar?(digits)

  defp scalar?(other), do: is_binary(other) or is_atom(other)

  defp form(%module{} = value) when module in @calendar, do: module.to_iso8601(value)

  defp form(%{__struct__: Duration} = value), do: Duration.to_iso8601(value)

  # A valid Decimal comes here only with a huge exponent. It is written even if the package is missing.
  defp form(%{__struct__: Decimal, sign: sign, coef: coef, exp: exp})
       when sign in [1, -1] and is_integer(coef) and coef >= 0 and is_integer(exp) and abs(exp) > 0xFFFF_FFFF,
       do: scientific(sign, Integer.to_string(coef), exp)

  defp form(%{__struct__: Decimal} = value), do: Decimal.to_string(value, :scientific)
  defp form(%URI{} = value), do: URI.to_string(value)
  defp form(%MapSet{} = value), do: MapSet.to_list(value)
  defp form(%Range{} = value), do: OrderedObject.new(range(Map.from_struct(value)))

  defp scientific(sign, <<first::binary-size(1), rest::binary>>, exp) do
    exp = exp + byte_size(rest)
    fraction = if rest == "", do: "", else: "." <> rest
    "#{if sign < 0, do: "-"}#{first}#{fraction}E#{if exp > 0, do: "+"}#{exp}"
  end

  # Ranges from before Elixir 1.12 have no step.
  defp range(%{first: first, last: last} = range) when is_integer(first) and is_integer(last) do
    case Map.get(range, :step, 1) do
      1 -> [first: first, last: last]
      step when is_integer(step) -> [first: first, last: last, step: step]
    end
  end
end
