defmodule RustyJson.Decode.Long do
  @moduledoc false
  # Lists as long as a document.

  @doc """
  The results of a function for each element, in their order. `Enum.map/2` keeps a frame on the stack for each element, and the VM copies
  a stack of millions of frames in one go, which holds a scheduler for 50 ms.
  """
  @spec map([term()], (term() -> term())) :: [term()]
  def map(list, fun), do: map(list, fun, [])

  defp map([element | rest], fun, done), do: map(rest, fun, [fun.(element) | done])
  defp map([], _fun, done), do: :lists.reverse(done)
end
