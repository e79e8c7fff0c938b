defmodule RustyJson.Options.Lists do
  @moduledoc false
  # Lists of options that calls gave, by the name of their first option: to compare lists takes longer than to find an atom.

  alias RustyJson.Options

  @typedoc "The first value of a list, the other options, what a call needs if only the native library has work to do, and the options."
  @type entry :: {term(), keyword(), ready :: term(), Options.t()}
  @type t :: %{atom() => [entry()]}

  @doc "What is known of the list that starts with this value, among those with the same first name."
  @spec among([entry()], term(), term()) :: entry() | nil
  def among([{known, [], _ready, _options} = entry | more], value, []),
    do: if(same?(known, value), do: entry, else: among(more, value, []))

  def among([{known, others, _ready, _options} = entry | more], value, rest),
    do: if(same?(known, value) and same_options?(others, rest), do: entry, else: among(more, value, rest))

  def among([], _value, _rest), do: nil

  # The VM compares two lists by a call, which takes 10 ns, and two atoms at once.
  defp same?([item | known], [item | given]), do: same?(known, given)
  defp same?(known, given), do: known === given

  defp same_options?([{name, known} | others], [{name, given} | rest]),
    do: same?(known, given) and same_options?(others, rest)

  defp same_options?(others, rest), do: others == [] and rest == []

  @doc "What is known of a list."
  @spec find(t(), term()) :: entry() | nil
  def find(lists, [{name, value} | rest]) when is_map_key(lists, name),
    do: lists |> Map.fetch!(name) |> among(value, rest)

  def find(_lists, _given), do: nil

  @doc "The same with another list."
  @spec put(t(), keyword(), term(), Options.t()) :: t()
  def put(lists, [{name, value} | rest], ready, options) do
    entry = {value, rest, ready, options}
    Map.update(lists, name, [entry], &(&1 ++ [entry]))
  end

  @doc "The number of lists."
  @spec count(t()) :: non_neg_integer()
  def count(lists), do: Enum.sum(for {_name, entries} <- lists, do: length(entries))
end
