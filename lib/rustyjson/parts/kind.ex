defmodule RustyJson.Parts.Kind do
  @moduledoc false
  # The first byte of a plan of parts, which says what kind of plan follows. The core has the same numbers (core/src/parts).

  @doc "The values at JSON Pointers."
  defmacro select, do: 1

  @doc "A value of a type."
  defmacro typed, do: 2

  @doc "The whole value, of which the parts at some places stay text."
  defmacro raw, do: 3

  @doc "Nothing: whether the document is right."
  defmacro check, do: 4
end
