defmodule RustyJson.Schema.Assemble do
  @moduledoc false
  # Turns the core's plain answer (core/src/parts/answer.rs) into structs, dates and decimals, as the types say. A document may have
  # taken over the module in the sandbox, so an answer that does not fit the type throws `:broken`.

  alias RustyJson.Long
  alias RustyJson.Parts.Raw
  alias RustyJson.Schema.{Constraints, Reflected, Type}

  @compile {:inline, field: 4}
  @compile {:no_warn_undefined, Duration}

  # The limit of decimals that is none.
  @unlimited 0xFFFF_FFFF

  @type context :: %{
          raw: Raw.text(),
          structs: %{module() => tuple()},
          decimals: {non_neg_integer() | :infinity, non_neg_integer() | :infinity},
          first: boolean(),
          null: atom()
        }

  @typedoc "A type in which what an answer names by its number stands in a tuple."
  @type t :: tuple() | Type.t()

  @doc "The type, as `value/3` takes it."
  @spec numbered(Type.t()) :: t()
  def numbered({:enum, names}), do: {:enum, List.to_tuple(names)}

  def numbered({:tagged, key, variants}),
    do: {:tagged, key, List.to_tuple(for {_tag, module} <- variants, do: module)}

  def numbered({kind, type}) when kind in [:list, :map, :nullable], do: {kind, numbered(type)}
  def numbered({:checked, type, constraints}), do: {:checked, numbered(type), constraints}
  def numbered(type), do: type

  @doc "The value. Throws `{:rustyjson, :date}` for an invalid date, and `{:rustyjson, :broken}` for an answer that does not fit the type."
  @spec value(t(), term(), context()) :: term()
  def value(:any, value, _context), do: value
  def value(:string, value, _context) when is_binary(value), do: value
  def value(:integer, value, _context) when is_integer(value), do: value
  def value(:float, value, _context) when is_float(value), do: value
  def value(:number, value, _context) when is_number(value), do: value
  def value(:boolean, value, _context) when is_boolean(value), do: value
  def value({:nullable, _type}, null, %{null: null}), do: nil
  def value({:nullable, type}, value, context), do: value(type, value, context)
  def value({:list, type}, list, context) when is_list(list), do: list(list, type, context)

  def value({:checked, type, constraints}, value, context) do
    assembled = value(type, value, context)
    unless Constraints.allows?(constraints, type, value), do: broken()
    with %{format: format} <- constraints, do: value(format, value, context)
    assembled
  end

  def value({:map, type}, pairs, context) when is_list(pairs), do: map(pairs, type, context)

  def value(:decimal, [sign, coefficient, exponent], %{decimals: limits}),
    do: decimal(sign, coefficient, exponent, limits)

  def value(:date, text, _context) when is_binary(text), do: date(&Date.from_iso8601/1, text)
  def value(:time, text, _context) when is_binary(text), do: date(&Time.from_iso8601/1, text)

  def value(:naive_datetime, text, _context) when is_binary(text),
    do: date(&NaiveDateTime.from_iso8601/1, text)

  def value(:utc_datetime, text, _context) when is_binary(text), do: date(&DateTime.from_iso8601/1, text)
  # The core refuses longer ones, whose numbers could have any length.
  def value(:duration, text, _context) when byte_size(text) <= 255, do: date(&Duration.from_iso8601/1, text)
  def value(:raw, [start, length], %{raw: text}), do: Raw.fragment(start, length, text)

  def value({:enum, names}, number, _context)
      when is_integer(number) and number >= 0 and number < tuple_size(names),
      do: elem(names, number)

  def value({:tagged, _key, modules}, [number, pairs], context)
      when is_integer(number) and number >= 0 and number < tuple_size(modules),
      do: modules |> elem(number) |> value(pairs, context)

  def value(module, pairs, %{structs: structs} = context)
      when is_map_key(structs, module) and is_list(pairs) do
    case :erlang.map_get(module, structs) do
      {:into, struct, types} -> fields(pairs, struct, types, context)
      schema -> module.__rustyjson_build__(pairs, schema, context)
    end
  end

  def value({:loaded, type}, null, %{null: null}), do: Reflected.load(type, nil)
  def value({:loaded, type}, value, _context), do: Reflected.load(type, value)
  def value({:embeds_many, module}, list, context) when is_list(list), do: list(list, module, context)

  def value(_type, _value, _context), do: broken()

  @spec broken() :: no_return()
  defp broken, do: throw({:rustyjson, :broken})

  defp list(list, type, context), do: list(list, type, context, [])

  defp list([value | rest], type, context, done),
    do: list(rest, type, context, [value(type, value, context) | done])

  defp list([], _type, _context, done), do: Long.in_order(done, [])
  defp list(_tail, _type, _context, _done), do: broken()

  defp map(pairs, type, %{first: first} = context) do
    members = members(pairs, type, context, [])
    # Of members with the same key, the last one wins.
    :maps.from_list(if first, do: members, else: :lists.reverse(members))
  end

  defp members([key, value | rest], type, context, done) when is_binary(key),
    do: members(rest, type, context, [{key, value(type, value, context)} | done])

  defp members([], _type, _context, done), do: done
  defp members(_other, _type, _context, _done), do: broken()

  # The judge of terms has bounded the integers by their bytes.
  defp decimal(sign, coefficient, exponent, {most_bits, most})
       when sign in [1, -1] and is_integer(coefficient) and coefficient >= 0 and is_integer(exponent) and
              abs(exponent) <= most do
    if coefficient > 0xFFFF_FFFF and bits(coefficient) > most_bits, do: broken()
    %{__struct__: Decimal, sign: sign, coef: coefficient, exp: exponent}
  end

  defp decimal(_sign, _coefficient, _exponent, _limits), do: broken()

  defp bits(coefficient), do: coefficient |> :binary.encode_unsigned() |> bit_size()

  @doc "The limits of decimals of these decode options, as a context has them."
  @spec decimals(RustyJson.Options.Values.t()) ::
          {non_neg_integer() | :infinity, non_neg_integer() | :infinity}
  def decimals(%{max_decimal_digits: digits, max_decimal_exponent: exponent}) do
    # A digit is less than 3.33 bits, and whole bytes are counted. Atoms are larger than all integers.
    bits = if digits == @unlimited, do: :infinity, else: 8 * max(div(digits * 333, 800) + 1, 8)
    {bits, if(exponent == @unlimited, do: :infinity, else: exponent)}
  end

  @doc """
  What a parser makes of a date. Throws if the text is not a date.

  An offset can move a time out of the years -9999 to 9999, which are all that Elixir writes and parses. Older versions of
  `DateTime.from_iso8601/1` raise then, and Elixir 1.20 returns such a time. Ecto 3.10 raises for a date whose parts are not integers.
  """
  @spec date((term() -> term()), term()) :: term()
  def date(parser, text) do
    case parser.(text) do
      {:ok, date} -> in_range(date)
      {:ok, date, _offset} -> in_range(date)
      _no_date -> throw({:rustyjson, :date})
    end
  rescue
    error in FunctionClauseError ->
      if error.module in [Calendar.ISO, DateTime, NaiveDateTime, Ecto.Type],
        do: throw({:rustyjson, :date}),
        else: reraise(error, __STACKTRACE__)
  end

  defp in_range(%DateTime{year: year}) when abs(year) > 9_999, do: throw({:rustyjson, :date})
  defp in_range(date), do: date

  ## Structs

  @doc "The value of the field with this number."
  @spec field(non_neg_integer(), term(), tuple(), context()) :: term()
  def field(number, value, types, context) do
    {_name, type, _required} = elem(types, number)
    value(type, value, context)
  end

  @doc "A struct with these fields, in any order. If a field is repeated, its last value wins."
  @spec fields([term()], struct(), tuple(), context()) :: struct()
  def fields(pairs, struct, types, context) do
    {struct, seen} = put(pairs, struct, types, context, 0)
    if missing?(types, tuple_size(types) - 1, seen), do: broken(), else: struct
  end

  defp put([number, value | rest], struct, types, context, seen)
       when is_integer(number) and number >= 0 and number < tuple_size(types) do
    {name, type, _required} = elem(types, number)
    struct = %{struct | name => value(type, value, context)}
    put(rest, struct, types, context, Bitwise.bor(seen, Bitwise.bsl(1, number)))
  end

  defp put([], struct, _types, _context, seen), do: {struct, seen}
  defp put(_other, _struct, _types, _context, _seen), do: broken()

  defp missing?(_types, -1, _seen), do: false

  defp missing?(types, number, seen) do
    {_name, _type, required} = elem(types, number)

    (required and Bitwise.band(Bitwise.bsr(seen, number), 1) == 0) or
      missing?(types, number - 1, seen)
  end
end
