defmodule RustyJson.DecimalOracleTest do
  @moduledoc "Random texts of decimals, compared in every engine with a parser that works with integers alone."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  @digits 34
  @exponent 6_144

  # Sign, coefficient and exponent, by the grammar of a JSON number.
  defp parsed(text) do
    [_, minus, whole, fraction, exponent] =
      Regex.run(~r/\A(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?\z/, text) |> padded()

    exponent = if exponent == "", do: 0, else: exponent |> String.trim_leading("+") |> String.to_integer()
    coefficient = String.to_integer(whole <> fraction)
    {if(minus == "-", do: -1, else: 1), coefficient, exponent - byte_size(fraction)}
  end

  defp padded(parts), do: parts ++ List.duplicate("", 5 - length(parts))

  defp decimal({sign, coefficient, exponent}),
    do: %{__struct__: Decimal, sign: sign, coef: coefficient, exp: exponent}

  # Of two limits that a number exceeds, either may be named.
  defp broken({_sign, coefficient, exponent}) do
    digits = coefficient |> Integer.digits() |> length()

    for {true, reason} <- [
          {digits > @digits, :decimal_digits},
          {abs(exponent) > @exponent, :decimal_exponent}
        ],
        do: reason
  end

  defp digits(0), do: ""
  defp digits(count), do: for(_ <- 1..count, into: "", do: Enum.random(~w(0 0 0 1 5 9)))

  # Lengths near the limits, zeros at both ends, exponents near theirs, with signs and leading zeros, and beyond 64 bits.
  defp number do
    minus = Enum.random(["", "-"])

    whole =
      Enum.random(["0", "0", Enum.random(~w(1 7 9)) <> digits(Enum.random([0, 1, 16, 18, 19, 32, 33, 34]))])

    size = Enum.random([0, 1, 2, 17, 20, 32, 33, 34, 35])
    fraction = if size == 0, do: "", else: "." <> Enum.random(["", "000"]) <> digits(size)

    power =
      Enum.random([0, 1, 22, 308, 6_110, 6_143, 6_144, 6_145, 6_178, 4_294_967_296, 9_223_372_036_854_775_807]) +
        Enum.random(-2..2)

    power = Enum.random(["", "0", "0000"]) <> Integer.to_string(abs(power))
    mark = Enum.random(["e", "E"]) <> Enum.random(["", "+", "-"])
    exponent = if fraction == "" or Enum.random([true, false]), do: mark <> power, else: ""
    minus <> whole <> fraction <> exponent
  end

  defp check(text, options) do
    number = parsed(text)

    case {broken(number), Judge.same(text, options, &RustyJson.decode(text, options ++ &1))} do
      {[], decoded} -> assert {text, decoded} == {text, {:ok, decimal(number)}}
      {reasons, {:error, error}} -> assert error.reason in reasons, text
      {reasons, decoded} -> flunk("#{text}: #{inspect(reasons)}, got #{inspect(decoded)}")
    end
  end

  @lifted [max_decimal_digits: :infinity, max_decimal_exponent: :infinity]

  # An exponent of about 64 bits is out of range whatever the limits are.
  defp check_lifted(text, options) do
    {_sign, _coefficient, exponent} = number = parsed(text)
    decoded = Judge.same(text, options, &RustyJson.decode(text, options ++ @lifted ++ &1))

    if abs(exponent) < 1_000_000_000_000,
      do: assert({text, decoded} == {text, {:ok, decimal(number)}}),
      else: assert({:error, %{reason: :number_out_of_range, position: 0}} = decoded)
  end

  defp run(count) do
    for seed <- 1..count do
      :rand.seed(:exsss, {seed, 26, 4})
      text = number()
      check(text, floats: :decimals)
      check(text, as: :decimal)
      check_lifted(text, floats: :decimals)
      check_lifted(text, as: :decimal)
    end
  end

  test "random decimals, with the limits and without" do
    run(3_000)
  end

  @tag :heavy
  test "many random decimals" do
    run(100_000)
  end

  test "zeros keep their sign and exponent" do
    for text <-
          ~w(-0.0 0.0 -0e0 0E-0000 -0.000e5 0e6144 -0E+0006144 0e-6144 0e6145 -0e-6145 1.0e000001 1e+0 -1E-00),
        options <- [[floats: :decimals], [as: :decimal]],
        do: check(text, options)
  end
end
