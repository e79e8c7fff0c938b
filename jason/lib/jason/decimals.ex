defmodule Jason.Decimals do
  @moduledoc false
  # `floats: :decimals`. Of a number with an exponent and no fraction Jason makes the decimal of the text with ".0" before the exponent,
  # so that `1E2` has the coefficient 10. RustyJson keeps the number as written: `1E2` and `1.0E2` have other exponents, and the decimal
  # does not tell which of two texts it was. So the text is changed before.

  alias RustyJson.Standin

  @digits ?0..?9

  @spec decode(binary(), map()) :: {:ok, term()} | {:error, Exception.t()}
  def decode(input, given) do
    unless Code.ensure_loaded?(Decimal),
      do: raise(ArgumentError, "decimal library not found, :decimals option not available")

    Standin.decode_changed(input, given, &with_fractions/1)
  end

  @doc """
  The text, in which each number with an exponent and no fraction gets a fraction. nil if it has no such number. The text need not be valid JSON.

      iex> Jason.Decimals.with_fractions(~S([1E2,-10e-3,1.5e2,"1e1"]))
      ~S([1.0E2,-10.0e-3,1.5e2,"1e1"])
      iex> Jason.Decimals.with_fractions(~S(["\\"1e1",1.5,1]))
      nil
  """
  @spec with_fractions(binary()) :: binary() | nil
  def with_fractions(text), do: outside(text, 0, {text, 0, <<>>})

  # `at` is the position. What stands before `from` was copied, and a binary that grows takes no memory for each number.
  defp outside(<<?", rest::binary>>, at, made), do: string(rest, at + 1, made)

  defp outside(<<digit, rest::binary>>, at, made) when digit in @digits, do: integer(rest, at + 1, made)
  defp outside(<<_, rest::binary>>, at, made), do: outside(rest, at + 1, made)
  defp outside(<<>>, _at, made), do: ended(made)

  defp string(<<?\\, _, rest::binary>>, at, made), do: string(rest, at + 2, made)
  defp string(<<?", rest::binary>>, at, made), do: outside(rest, at + 1, made)
  defp string(<<_, rest::binary>>, at, made), do: string(rest, at + 1, made)
  defp string(<<>>, _at, made), do: ended(made)

  defp integer(<<digit, rest::binary>>, at, made) when digit in @digits, do: integer(rest, at + 1, made)

  defp integer(<<e, rest::binary>>, at, {text, from, copy}) when e in ~c"eE" do
    copy = <<copy::binary, binary_part(text, from, at - from)::binary, ".0">>
    number(rest, at + 1, {text, at, copy})
  end

  defp integer(rest, at, made), do: number(rest, at, made)

  # Behind its integer part.
  defp number(<<byte, rest::binary>>, at, made) when byte in @digits or byte in ~c".eE+-",
    do: number(rest, at + 1, made)

  defp number(rest, at, made), do: outside(rest, at, made)

  defp ended({_text, 0, _copy}), do: nil

  defp ended({text, from, copy}),
    do: <<copy::binary, binary_part(text, from, byte_size(text) - from)::binary>>
end
