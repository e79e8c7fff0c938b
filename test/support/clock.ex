defmodule RustyJson.Test.Clock do
  @moduledoc """
  Limits the time of calls in tests. Other work can delay a call, so a call goes before the other tests, and a late one is tried again. A
  call that is late because of a bug is late every time.
  """

  import ExUnit.Assertions

  @tries 3

  @doc "The time of the function in milliseconds, and its result."
  def time(fun) do
    {micros, result} = first(fn -> :timer.tc(fun) end)
    {div(micros, 1000), result}
  end

  @doc "Runs the function before processes of other tests."
  def first(fun) do
    before = Process.flag(:priority, :high)

    try do
      fun.()
    after
      Process.flag(:priority, before)
    end
  end

  @doc "The same for the shortest of a few calls, if the first was long."
  def shortest(fun, tries \\ 5) do
    {took, result} = time(fun)

    if took < 500 or tries == 1 do
      {took, result}
    else
      {again, result} = shortest(fun, tries - 1)
      {min(took, again), result}
    end
  end

  @doc """
  The microseconds of work that the function takes, those of the clock, and its result. On Linux the work is at most the processor time of
  all threads of the VM, because the clock also counts other programs.
  """
  @spec work((() -> result)) :: {non_neg_integer(), non_neg_integer(), result} when result: term()
  def work(fun) do
    before = processor()
    {micros, result} = :timer.tc(fun)
    {if(before, do: min(micros, div(processor() - before, 1000)), else: micros), micros, result}
  end

  @doc "The same from the clock alone, which shows no less than the work and is quick to read."
  @spec passed((() -> result)) :: {non_neg_integer(), non_neg_integer(), result} when result: term()
  def passed(fun) do
    {micros, result} = :timer.tc(fun)
    {micros, micros, result}
  end

  # In nanoseconds.
  defp processor do
    case Path.wildcard("/proc/self/task/*/schedstat") do
      [] -> nil
      files -> files |> Enum.map(&thread/1) |> Enum.sum()
    end
  end

  # A thread can end between listing and reading.
  defp thread(file) do
    with {:ok, text} <- File.read(file),
         {nanoseconds, _} <- Integer.parse(text),
         do: nanoseconds,
         else: (_ -> 0)
  end

  @doc """
  Whether other programs have the processors: then longer runs take more time for the same work, because they are interrupted and find the
  caches taken.
  """
  def busy?, do: Enum.any?(1..5, fn _ -> interrupted?() end)

  defp interrupted? do
    {work, passed, _sum} = work(fn -> Enum.reduce(1..10_000_000, 0, &(&1 + &2)) end)
    passed > 1.2 * work
  end

  @doc "Fails with this text, unless the machine is too busy to tell."
  def flunk_unless_busy(text) do
    if busy?(), do: IO.puts("skipped: test of time: machine too busy to tell (#{text})"), else: flunk(text)
  end

  @doc """
  Asserts that a function takes at most this many times as long as another one, by the best of runs in turn. The order changes from run
  to run, because the second one may find the memory that the first one gave back.
  """
  def ratio(most, fun, other, tries \\ 12, best \\ {:infinity, :infinity}) do
    best = {a, b} = in_turn(rem(tries, 2), fun, other, best)

    cond do
      tries < 10 and a <= most * b -> :ok
      tries > 1 -> ratio(most, fun, other, tries - 1, best)
      true -> flunk_unless_busy("took #{a} µs, and the other one #{b} µs: allowed are #{most} times as many")
    end
  end

  defp in_turn(0, fun, other, {a, b}) do
    a = min(a, micros(fun))
    {a, min(b, micros(other))}
  end

  defp in_turn(1, fun, other, {a, b}), do: 0 |> in_turn(other, fun, {b, a}) |> then(fn {b, a} -> {a, b} end)

  # Each run has a process of its own, so that none pays for the garbage of another.
  defp micros(fun), do: Task.async(fn -> first(fn -> fun |> work() |> elem(0) end) end) |> Task.await(120_000)

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
