defmodule RustyJson.Test.Clock do
  @moduledoc """
  Limits the time of calls in tests. Other work on the machine can delay a call, so a late call is tried again. A call that is late
  because of a bug is late every time.
  """

  import ExUnit.Assertions

  @tries 3

  @doc "The time of the function in milliseconds, and its result."
  def time(fun) do
    {micros, result} = :timer.tc(fun)
    {div(micros, 1000), result}
  end

  @doc "Asserts that a function takes at most this many times as long as another one, by the best of runs in turn."
  def ratio(most, fun, other, tries \\ 8, best \\ {:infinity, :infinity}) do
    {a, b} = best
    best = {a, b} = {min(a, micros(fun)), min(b, micros(other))}

    cond do
      tries < 6 and a <= most * b -> :ok
      tries > 1 -> ratio(most, fun, other, tries - 1, best)
      true -> flunk("took #{a} µs, and the other one #{b} µs: allowed are #{most} times as many")
    end
  end

  # Each run has a process of its own, so that none pays for the garbage of another.
  defp micros(fun), do: Task.async(fn -> fun |> :timer.tc() |> elem(0) end) |> Task.await(120_000)

  @doc "Asserts that the function takes at most this many milliseconds in one of a few tries. Returns its last result."
  def within(most, fun, tries \\ @tries) do
    {milliseconds, result} = time(fun)

    cond do
      milliseconds <= most -> result
      tries > 1 -> within(most, fun, tries - 1)
      true -> flunk("took #{milliseconds} ms in the last of some tries, allowed are #{most}")
    end
  end
end
