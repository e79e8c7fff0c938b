defmodule Jason.Decimals do
  @moduledoc false
  # `floats: :decimals`. Of a number with an exponent and no fraction Jason makes the decimal of the text with ".0" before the exponent,
  # so that `1E2` has the coefficient 10. RustyJson keeps the number as written; here the text is changed before.

  # A string, which stays, or the digits between the start of such a number and its exponent.
  @token ~r/"(?:[^"\\]++|\\.)*+"?|(?<![.\d])\d++(?=[eE])/s

  @spec decode(binary(), map(), (binary(), map() -> {:ok, term()} | {:error, Exception.t()})) ::
          {:ok, term()} | {:error, Exception.t()}
  def decode(input, given, engine) do
    unless Code.ensure_loaded?(Decimal),
      do: raise(ArgumentError, "decimal library not found, :decimals option not available")

    with true <- Regex.match?(~r/\d[eE]/, input),
         {:ok, _term} = done <- engine.(Regex.replace(@token, input, &with_fraction/1), given) do
      done
    else
      # Errors are about the text as it is.
      _none_or_error -> engine.(input, given)
    end
  end

  defp with_fraction(<<?", _rest::binary>> = string), do: string
  defp with_fraction(digits), do: digits <> ".0"
end
