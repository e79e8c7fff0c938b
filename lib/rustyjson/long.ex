defmodule RustyJson.Long do
  @moduledoc false
  # Lists as long as a document, without a long turn of a scheduler.

  @doc """
  The results of a function for each element, in their order. `Enum.map/2` keeps a frame on the stack for each element, and the VM copies
  a stack of millions of frames in one go, which holds a scheduler for 50 ms.
  """
  @spec map([term()], (term() -> term())) :: [term()]
  def map(list, fun), do: map(list, fun, [])

  @doc """
  Reverses a list and puts it before another one. `:lists.reverse/2` takes 160,000 elements in one turn of a scheduler; where they are
  scattered over a large heap, that is 13 ms. What is not a list raises the same error as there.
  """
  @spec in_order([element], [element]) :: [element] when element: term()
  def in_order([last | done], behind), do: in_order(done, [last | behind])
  def in_order([], behind), do: behind
  def in_order(_no_list, _behind), do: :erlang.error(:badarg)

  defp map([element | rest], fun, done), do: map(rest, fun, [fun.(element) | done])
  defp map([], _fun, done), do: in_order(done, [])
end
