defmodule RustyJson.CLI.Progress do
  @moduledoc false
  # Prints a line per second to standard error during long work.

  @from 16_000_000
  @every 1_000

  @doc "Size in bytes from which inputs show progress."
  @spec from() :: pos_integer()
  def from, do: @from

  @doc "Whether progress is shown: not into a file or a pipe."
  @spec shown?(boolean()) :: boolean()
  def shown?(quiet), do: not quiet and match?({:ok, %{type: :device}}, File.stat("/dev/stderr"))

  @doc "Runs the function and prints each second how long it has run."
  @spec during(boolean(), String.t(), (... -> result)) :: result when result: term()
  def during(false, _doing, fun), do: fun.()

  def during(true, doing, fun) do
    ticker = spawn_link(fn -> tick(doing, System.monotonic_time(:millisecond)) end)

    try do
      fun.()
    after
      Process.unlink(ticker)
      Process.exit(ticker, :kill)
    end
  end

  defp tick(doing, start) do
    Process.sleep(@every)
    seconds = div(System.monotonic_time(:millisecond) - start, 1000)
    IO.puts(:stderr, "#{doing}, #{seconds} s")
    tick(doing, start)
  end

  @doc "Prints the progress if the last line is a second old. Takes and returns the time of the last line."
  @spec step(integer(), boolean(), (... -> String.t())) :: integer()
  def step(last, false, _text), do: last

  def step(last, true, text) do
    now = System.monotonic_time(:millisecond)

    if now - last >= @every do
      IO.puts(:stderr, text.())
      now
    else
      last
    end
  end

  @doc "A size in readable units."
  @spec size(non_neg_integer()) :: String.t()
  def size(bytes) when bytes < 1_000, do: "#{bytes} B"
  def size(bytes) when bytes < 1_000_000, do: "#{Float.round(bytes / 1_000, 1)} KB"
  def size(bytes), do: "#{Float.round(bytes / 1_000_000, 1)} MB"
end
