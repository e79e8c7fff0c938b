defmodule RustyJson.OrderedObject do
  @moduledoc """
  An object that keeps the order of its members and all duplicates.

  It wraps a list of pairs, and implements the behaviour `Access` and the protocol `Enumerable`. A lookup takes time
  proportional to the number of members.

      iex> object = RustyJson.decode!(~s({"b":1,"a":2}), objects: :ordered_objects)
      iex> object["a"]
      2
      iex> Enum.to_list(object)
      [{"b", 1}, {"a", 2}]
  """

  @behaviour Access

  @type t :: %__MODULE__{values: [{String.Chars.t(), term()}]}

  defstruct values: []

  @doc """
  Builds an object from pairs.

      iex> RustyJson.OrderedObject.new(b: 1, a: 2) |> RustyJson.encode!()
      ~s({"b":1,"a":2})
  """
  @spec new([{String.Chars.t(), term()}]) :: t()
  def new(values) when is_list(values), do: %__MODULE__{values: values}

  @doc """
  Returns the value of the first member with this key.

      iex> RustyJson.OrderedObject.fetch(RustyJson.OrderedObject.new(a: 1), :a)
      {:ok, 1}
  """
  @impl Access
  @spec fetch(t(), term()) :: {:ok, term()} | :error
  def fetch(%__MODULE__{values: values}, key) do
    case List.keyfind(values, key, 0) do
      {_, value} -> {:ok, value}
      nil -> :error
    end
  end

  @doc """
  Updates the first member with this key. A new member goes to the front, as in Jason and in keyword lists.

      iex> RustyJson.OrderedObject.new(a: 1) |> RustyJson.OrderedObject.get_and_update(:a, &{&1, &1 + 1})
      {1, RustyJson.OrderedObject.new(a: 2)}
  """
  @impl Access
  @spec get_and_update(t(), term(), (term() -> {term(), term()} | :pop)) :: {term(), t()}
  def get_and_update(%__MODULE__{values: values} = object, key, function) do
    {before, current, rest} = around(Enum.split_while(values, &(elem(&1, 0) !== key)))

    case function.(current) do
      {result, value} -> {result, %{object | values: before ++ [{key, value} | rest]}}
      :pop -> {current, %{object | values: before ++ rest}}
      other -> raise "the given function must return a two-element tuple or :pop, got: #{inspect(other)}"
    end
  end

  defp around({before, [{_key, value} | rest]}), do: {before, value, rest}
  defp around({all, []}), do: {[], nil, all}

  @doc """
  Removes all members with this key, and returns the value of the first.

      iex> RustyJson.OrderedObject.new(a: 1, b: 2) |> RustyJson.OrderedObject.pop(:a)
      {1, RustyJson.OrderedObject.new(b: 2)}
  """
  @impl Access
  @spec pop(t(), term(), term()) :: {term(), t()}
  def pop(%__MODULE__{values: values} = object, key, default \\ nil) do
    case fetch(object, key) do
      {:ok, value} -> {value, %{object | values: Enum.reject(values, &(elem(&1, 0) === key))}}
      :error -> {default, object}
    end
  end

  defimpl Enumerable do
    def count(%{values: values}), do: {:ok, length(values)}
    def member?(%{values: values}, pair), do: {:ok, Enum.any?(values, &(&1 === pair))}
    # Enumerable.List's slices are for lists, and differ between versions of Elixir.
    def slice(_object), do: {:error, __MODULE__}
    def reduce(%{values: values}, acc, fun), do: Enumerable.List.reduce(values, acc, fun)
  end
end
