defmodule Jason.OrderedObject do
  @moduledoc """
  An object that keeps the order of its members and all duplicates.

  It wraps a list of pairs, and implements the behaviour `Access` and the protocol `Enumerable`.

      iex> object = Jason.decode!(~s({"b":1,"a":2}), objects: :ordered_objects)
      iex> object["a"]
      2
      iex> Enum.to_list(object)
      [{"b", 1}, {"a", 2}]
  """

  alias RustyJson.OrderedObject, as: Own

  @behaviour Access

  @type t :: %__MODULE__{values: [{String.Chars.t(), term()}]}

  defstruct values: []

  @doc """
  Builds an object from pairs.

      iex> Jason.OrderedObject.new(b: 1, a: 2) |> Jason.encode!()
      ~s({"b":1,"a":2})
  """
  @spec new([{String.Chars.t(), term()}]) :: t()
  def new(values) when is_list(values), do: %__MODULE__{values: values}

  @doc "Returns the value of the first member with this key."
  @impl Access
  @spec fetch(t(), term()) :: {:ok, term()} | :error
  def fetch(%__MODULE__{values: values}, key), do: Own.fetch(Own.new(values), key)

  @doc "Updates the first member with this key. A new member goes to the front."
  @impl Access
  @spec get_and_update(t(), term(), (term() -> {term(), term()} | :pop)) :: {term(), t()}
  def get_and_update(%__MODULE__{values: values}, key, function),
    do: values |> Own.new() |> Own.get_and_update(key, function) |> wrapped()

  @doc "Removes all members with this key, and returns the value of the first."
  @impl Access
  @spec pop(t(), term(), term()) :: {term(), t()}
  def pop(%__MODULE__{values: values}, key, default \\ nil),
    do: values |> Own.new() |> Own.pop(key, default) |> wrapped()

  defp wrapped({result, %Own{values: values}}), do: {result, new(values)}

  @doc false
  # A decoded term with this struct in place of RustyJson's.
  @spec own(term()) :: term()
  def own(list) when is_list(list), do: Enum.map(list, &own/1)
  def own(%Own{values: values}), do: new(for {key, value} <- values, do: {key, own(value)})
  def own(other), do: other

  # These functions look at the field `values` only.
  defimpl Enumerable do
    defdelegate count(object), to: Enumerable.RustyJson.OrderedObject
    defdelegate member?(object, pair), to: Enumerable.RustyJson.OrderedObject
    # That one takes only its own struct, says Elixir 1.20.
    def slice(_object), do: {:error, __MODULE__}
    defdelegate reduce(object, acc, fun), to: Enumerable.RustyJson.OrderedObject
  end
end
