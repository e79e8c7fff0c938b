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
