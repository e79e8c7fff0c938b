defmodule RustyJson.Options.Lists do
  @moduledoc false
  # Lists of options that calls gave, by the name of their first option: to compare lists takes longer than to find an atom. Maps of
  # options stand under a key that no option has. The entry for a call without options comes first.

  alias RustyJson.Options

  @maps %{}

  @typedoc "What options became: those of decode or encode, with what the function has of its own."
  @type known :: Options.t() | {map(), Options.t()} | map()
  @typedoc "What a call needs if only the library has work to do, or nil; and what the options became."
  @type found :: {ready :: term(), known()}
  @typedoc "The first value of a list, and the other options."
  @type entry :: {term(), keyword(), found()}
  @type t :: {found() | nil, %{(atom() | %{}) => [entry()]}}

  @doc "No lists."
  @spec new(found() | nil) :: t()
  def new(found), do: {found, %{}}

  @doc "What is known of a list or map of options, or nil. A macro, because calls of another module take 10 of the 150 ns of a short call."
  defmacro find(lists, given) do
    quote do
      case unquote(given) do
        [] ->
          {found, _lists} = unquote(lists)
          found

        [{name, value} | rest] ->
          case unquote(lists) do
            {_found, %{^name => entries}} when is_atom(name) ->
              unquote(__MODULE__).among(entries, value, rest)

            _none ->
              nil
          end

        given ->
          unquote(__MODULE__).find_map(unquote(lists), given)
      end
    end
  end

  @doc "What is known of a map of options."
  @spec find_map(t(), term()) :: found() | nil
  def find_map({_found, %{@maps => maps}}, given) when is_map(given), do: among(maps, given, [])
  def find_map(_lists, _given), do: nil

  @doc "What is known of the list that starts with this value, among those with the same first name."
  @spec among([entry()], term(), term()) :: found() | nil
  def among([{known, [], found} | more], value, []),
    do: if(same?(known, value), do: found, else: among(more, value, []))

  def among([{known, others, found} | more], value, rest),
    do: if(same?(known, value) and same_options?(others, rest), do: found, else: among(more, value, rest))

  def among([], _value, _rest), do: nil

  # The VM compares two lists by a call, which takes 10 ns, and two atoms at once.
  defp same?([item | known], [item | given]), do: same?(known, given)
  defp same?(known, given), do: known === given

  defp same_options?([{name, known} | others], [{name, given} | rest]),
    do: same?(known, given) and same_options?(others, rest)

  defp same_options?(others, rest), do: others == [] and rest == []

  @doc "The same with another list."
  @spec put(t(), keyword() | map(), found()) :: t()
  def put({nil, lists}, [], found), do: {found, lists}
  def put(lists, [{name, value} | rest], found), do: add(lists, name, {value, rest, found})
  def put(lists, given, found), do: add(lists, @maps, {given, [], found})

  defp add({nothing, lists}, name, entry), do: {nothing, Map.update(lists, name, [entry], &(&1 ++ [entry]))}

  @doc "The number of lists."
  @spec count(t()) :: non_neg_integer()
  def count({_found, lists}), do: Enum.sum(for {_name, entries} <- lists, do: length(entries))
end
