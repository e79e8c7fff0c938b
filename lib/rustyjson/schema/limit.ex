defmodule RustyJson.Schema.Limit do
  @moduledoc false
  # The smallest or largest number of a type: an integer, a float or a Decimal. (This library does not depend on Decimal.)

  import Bitwise

  alias RustyJson.Schema.Type

  @type t :: number() | struct()

  # The core compares integers of 128 bits.
  @most (1 <<< 127) - 1
  @largest 1.7976931348623157e308

  defguardp is_decimal(value) when is_struct(value) and :erlang.map_get(:__struct__, value) == Decimal

  @doc "Whether a limit fits numbers of this type, or what the option takes."
  @spec check(term(), Type.t()) :: :ok | {:error, String.t()}
  def check(%{__struct__: Decimal, coef: coefficient}, :decimal) when is_integer(coefficient), do: :ok
  def check(value, :decimal) when is_number(value), do: :ok
  def check(_value, :decimal), do: {:error, "a number or a decimal"}
  def check(value, :integer) when is_integer(value) and abs(value) <= @most, do: :ok
  def check(_value, :integer), do: {:error, "an integer of at most 127 bits"}
  def check(value, _type) when is_number(value) and abs(value) <= @most, do: :ok
  def check(value, :float) when is_float(value), do: :ok
  def check(_value, _type), do: {:error, "a number of at most 127 bits"}

  @doc "The limit as the core reads it: what an integer, a float and a decimal are compared with."
  @spec packed(t(), :min | :max, Type.t()) :: iodata()
  def packed(value, name, type) do
    {sign, coefficient, exponent} = if type == :decimal, do: parts(value), else: {1, 0, 0}
    {integer, float} = if type == :decimal, do: {0, 0.0}, else: {whole(value, name), nearest(value, name)}
    digits = Integer.to_string(coefficient)
    negative = if sign < 0, do: 1, else: 0

    [<<integer::128-signed-little, float::64-float-little, negative, exponent::64-signed-little>>] ++
      [<<byte_size(digits)::32-little>>, digits]
  end

  # The smallest integer that a minimum allows, or the largest that a maximum allows.
  defp whole(value, _name) when is_integer(value), do: value
  defp whole(value, _name) when value > @most, do: @most
  defp whole(value, _name) when value < -@most, do: -@most
  defp whole(value, :min), do: ceil(value)
  defp whole(value, :max), do: floor(value)

  # The same of floats.
  defp nearest(value, _name) when is_float(value), do: value

  defp nearest(value, name) do
    float = value * 1.0

    cond do
      name == :min and float < value -> next(float, 1)
      name == :max and float > value -> next(float, -1)
      true -> float
    end
  end

  # The float beside this one, which is not 0: towards larger ones for 1, smaller ones for -1.
  defp next(float, step) do
    <<bits::64>> = <<float::64-float>>
    step = if float < 0, do: -step, else: step
    <<next::64-float>> = <<bits + step::64>>
    next
  end

  @doc "Sign, coefficient and exponent of a number: the digits of its shortest text, if it is a float."
  @spec parts(t() | {integer(), non_neg_integer(), integer()}) :: {integer(), non_neg_integer(), integer()}
  def parts({_sign, _coefficient, _exponent} = parts), do: parts
  def parts(%{sign: sign, coef: coefficient, exp: exponent}), do: {sign, coefficient, exponent}
  def parts(value) when is_integer(value), do: {if(value < 0, do: -1, else: 1), abs(value), 0}

  def parts(value) when is_float(value) do
    {mantissa, exponent} =
      case value |> abs() |> Float.to_string() |> String.split("e") do
        [mantissa] -> {mantissa, 0}
        [mantissa, exponent] -> {mantissa, String.to_integer(exponent)}
      end

    [whole, fraction] = String.split(mantissa, ".")
    sign = if value < 0, do: -1, else: 1
    {sign, String.to_integer(whole <> fraction), exponent - byte_size(fraction)}
  end

  @doc "Compares two numbers, exactly."
  @spec order(t() | tuple(), t() | tuple()) :: :lt | :eq | :gt
  def order(a, b) when is_number(a) and is_number(b), do: compare(a, b)

  def order(a, b) do
    {{sign_a, coefficient_a, exponent_a}, {sign_b, coefficient_b, exponent_b}} = {parts(a), parts(b)}
    {sign_a, sign_b} = {sign(sign_a, coefficient_a), sign(sign_b, coefficient_b)}

    cond do
      sign_a != sign_b -> compare(sign_a, sign_b)
      sign_a == 0 -> :eq
      sign_a < 0 -> size(coefficient_b, exponent_b, coefficient_a, exponent_a)
      true -> size(coefficient_a, exponent_a, coefficient_b, exponent_b)
    end
  end

  defp sign(_sign, 0), do: 0
  defp sign(sign, _coefficient), do: sign

  # By their digits: the exponent can be so large that no memory holds the integer.
  defp size(a, exponent_a, b, exponent_b) do
    {a, b} = {Integer.to_string(a), Integer.to_string(b)}

    with :eq <- compare(byte_size(a) + exponent_a, byte_size(b) + exponent_b),
         do: compare(String.trim_trailing(a, "0"), String.trim_trailing(b, "0"))
  end

  defp compare(a, b) when a < b, do: :lt
  defp compare(a, b) when a > b, do: :gt
  defp compare(_a, _b), do: :eq

  @doc "The limit as text."
  @spec text(t()) :: String.t()
  def text(value) when is_number(value), do: to_string(value)

  def text(value) when is_decimal(value) do
    {sign, coefficient, exponent} = parts(value)
    exponent = if exponent == 0, do: "", else: "e#{exponent}"
    "#{sign * coefficient}" <> exponent
  end

  @doc "The limit as a number of JSON: a Decimal as the integer or the float that is nearest to it."
  @spec number(t()) :: number()
  def number(value) when is_number(value), do: value

  def number(value) when is_decimal(value) do
    case parts(value) do
      {sign, coefficient, exponent} when exponent in 0..300 -> sign * coefficient * Integer.pow(10, exponent)
      {sign, coefficient, exponent} -> sign * float("#{coefficient}.0e#{exponent}")
    end
  end

  defp float(text) do
    case Float.parse(text) do
      {float, ""} -> float
      _too_large -> @largest
    end
  rescue
    ArgumentError -> @largest
  end
end
