defmodule RustyJson.Sigil do
  @moduledoc ~S"""
  Sigils for JSON in source code.

      iex> import RustyJson.Sigil
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
  Decodes JSON, at compile time if there is no interpolation. Escapes are those of JSON.

      iex> import RustyJson.Sigil
      iex> ~j"[1, #{1 + 1}]"
      [1, 2]
      iex> ~j'"\u0041\n"'
      "A\n"
  """
  defmacro sigil_j(term, modifiers)

  defmacro sigil_j({:<<>>, _meta, [string]}, modifiers) when is_binary(string), do: decode(string, modifiers)

  defmacro sigil_j(term, modifiers) do
    quote(do: RustyJson.decode!(unquote(term), unquote(options(modifiers))))
  end

  @doc ~S"""
  Decodes JSON at compile time, without interpolation.

      iex> import RustyJson.Sigil
      iex> ~J'"\u0078\\y"'
      "x\\y"
  """
  defmacro sigil_J(term, modifiers)

  defmacro sigil_J({:<<>>, _meta, [string]}, modifiers) when is_binary(string), do: decode(string, modifiers)

  defp decode(string, modifiers), do: Macro.escape(RustyJson.decode!(string, options(modifiers)))

  defp options(modifiers) do
    for modifier <- modifiers do
      @modifiers[modifier] ||
        raise ArgumentError, "unknown sigil modifier #{inspect(<<modifier>>)}: ~j and ~J take a, A, r and c"
    end
  end
end
