defmodule RustyJson.Test.Shared do
  @moduledoc "Terms and iodata that hold the same part many times, and a limit for the time of calls with them."

  import ExUnit.Assertions

  alias RustyJson.Test.Clock

  @doc "Iodata of 2^60 such parts."
  def endless(part), do: Enum.reduce(1..60, part, fn _, text -> [text, text] end)

  @doc "A term that would take all memory if it was copied."
  def shared, do: Enum.reduce(1..60, "x", fn _, term -> [{term, %{term => term}}] end)

  @doc "The result of a function that ends within this many milliseconds. It is stopped if it has no end."
  def in_time(most, fun), do: in_time(most, fn -> nil end, fn nil -> fun.() end)

  @doc """
  The same for a function of a term. The term is made in the process that takes the time: a message to another one has a copy of each part.
  """
  def in_time(most, term, fun), do: Clock.within(most, fn -> ended(fn -> fun.(term.()) end) end)

  defp ended(fun) do
    task = Task.async(fn -> Clock.first(fun) end)

    case Task.yield(task, 20_000) || Task.shutdown(task, :brutal_kill) do
      {:ok, result} -> result
      nil -> flunk("no end")
    end
  end
end
