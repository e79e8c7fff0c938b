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

  @takes ": ~j and ~J take a, A, r and c"

  @doc ~S"""
  Decodes JSON, at compile time if there is no interpolation. Escapes are those of JSON.

      iex> import RustyJson.Sigil
      iex> ~j"[1, #{1 + 1}]"
      [1, 2]
      iex> ~j'"\u0041\n"'
      "A\n"
  """
  defmacro sigil_j(term, modifiers), do: expanded(term, modifiers, RustyJson, @takes)

  @doc ~S"""
  Decodes JSON at compile time, without interpolation.

      iex> import RustyJson.Sigil
      iex> ~J'"\u0078\\y"'
      "x\\y"
  """
  defmacro sigil_J(term, modifiers), do: expanded(term, modifiers, RustyJson, @takes)

  @doc false
  # Also for the stand-in for Jason, which adds nothing to the message about a modifier.
  @spec expanded(Macro.t(), charlist(), module(), String.t()) :: Macro.t()
  def expanded({:<<>>, _meta, [text]}, modifiers, library, takes) when is_binary(text),
    do: Macro.escape(library.decode!(text, options(modifiers, takes)))

  def expanded(term, modifiers, library, takes),
    do: quote(do: unquote(library).decode!(unquote(term), unquote(options(modifiers, takes))))

  defp options(modifiers, takes) do
    for modifier <- modifiers do
      @modifiers[modifier] || raise(ArgumentError, "unknown sigil modifier #{inspect(<<modifier>>)}#{takes}")
    end
  end
end
