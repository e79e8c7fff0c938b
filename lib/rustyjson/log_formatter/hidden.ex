defmodule RustyJson.LogFormatter.Hidden do
  @moduledoc false
  # Terms that are about to become text: the arguments of a format, and the fields of an exception, whose message shows them. Text is not
  # redacted, so the values go before it is made. Callers have counted the parts of the term.

  alias RustyJson.Encoder.Plans
  alias RustyJson.LogFormatter.Setup

  @doc "The term with what is redacted in place of the values under redacted keys."
  @spec term(term(), Setup.t()) :: term()
  def term(term, %{redacts: false}), do: term
  def term(term, setup), do: hide(term, setup)

  defp hide([item | rest], setup), do: [hide(item, setup) | hide(rest, setup)]

  # A struct stays one, so that its exception's message or its implementation of Inspect is what it was. A field that has another name in
  # JSON is redacted under both.
  defp hide(%{__struct__: module} = struct, setup) when is_atom(module) do
    others = Plans.other_names(module)

    for {name, value} <- Map.from_struct(struct), name != :__exception__, reduce: struct do
      struct ->
        if Enum.any?(Map.get(others, name, []), &Setup.redacted?(&1, setup)),
          do: %{struct | name => setup.redacted},
          else: %{struct | name => member(name, value, setup)}
    end
  end

  defp hide(map, setup) when is_map(map),
    do: for({key, value} <- map, into: %{}, do: {hide(key, setup), member(key, value, setup)})

  defp hide({key, value}, setup), do: {hide(key, setup), member(key, value, setup)}
  defp hide(tuple, setup) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> hide(setup) |> List.to_tuple()
  defp hide(other, _setup), do: other

  defp member(key, value, setup),
    do: if(Setup.redacted?(key, setup), do: setup.redacted, else: hide(value, setup))
end
