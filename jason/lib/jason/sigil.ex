defmodule Jason.Sigil do
  @moduledoc ~S"""
  Sigils for JSON in source code.

      iex> import Jason.Sigil
      iex> ~j'{"a": [1, 2]}'a
      %{a: [1, 2]}

  Modifiers: `a` is `keys: :atoms`, `A` is `keys: :atoms!`, `r` is `strings: :reference`, `c` is `strings: :copy`.
  """

  @modifiers %{
    ?a => {:keys, :atoms},
    ?A => {:keys, :atoms!},
    ?r => {:strings, :reference},
    ?c => {:strings, :copy}
  }

  @doc ~S"""
  Decodes JSON, at compile time if there is no interpolation.

      iex> import Jason.Sigil
      iex> ~j"[1, #{1 + 1}]"
      [1, 2]
  """
  defmacro sigil_j(term, modifiers)
  defmacro sigil_j({:<<>>, _meta, [text]}, modifiers) when is_binary(text), do: literal(text, modifiers)
  defmacro sigil_j(term, modifiers), do: quote(do: Jason.decode!(unquote(term), unquote(options(modifiers))))

  @doc ~S"""
  Decodes JSON at compile time, without interpolation.

      iex> import Jason.Sigil
      iex> ~J'"\u0078\\y"'
      "x\\y"
  """
  defmacro sigil_J(term, modifiers)
  defmacro sigil_J({:<<>>, _meta, [text]}, modifiers) when is_binary(text), do: literal(text, modifiers)

  defp literal(text, modifiers), do: Macro.escape(Jason.decode!(text, options(modifiers)))

  defp options(modifiers) do
    for modifier <- modifiers do
      @modifiers[modifier] || raise(ArgumentError, "unknown sigil modifier #{<<?", modifier, ?">>}")
    end
  end
end
