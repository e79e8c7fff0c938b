defmodule Jason.Sigil do
  @moduledoc ~S"""
  Sigils for JSON in source code.

      iex> import Jason.Sigil
      iex> ~j'{"a": [1, 2]}'a
      %{a: [1, 2]}

  Modifiers: `a` is `keys: :atoms`, `A` is `keys: :atoms!`, `r` is `strings: :reference`, `c` is `strings: :copy`.
  """

  @doc ~S"""
  Decodes JSON, at compile time if there is no interpolation.

      iex> import Jason.Sigil
      iex> ~j"[1, #{1 + 1}]"
      [1, 2]
  """
  defmacro sigil_j(term, modifiers), do: RustyJson.Sigil.expanded(term, modifiers, Jason, "")

  @doc ~S"""
  Decodes JSON at compile time, without interpolation.

      iex> import Jason.Sigil
      iex> ~J'"\u0078\\y"'
      "x\\y"
  """
  defmacro sigil_J(term, modifiers), do: RustyJson.Sigil.expanded(term, modifiers, Jason, "")
end
