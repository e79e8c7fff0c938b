defmodule RustyJson.Bench.Progress do
  @moduledoc "A line that says what is being measured: renewed at a terminal, one every few seconds elsewhere."

  @every_ms 10_000

  @spec say(String.t()) :: :ok
  def say(text) do
    now = System.monotonic_time(:millisecond)
    {started, shown} = Process.get(__MODULE__, {now, now - @every_ms})
    line = "#{div(now - started, 1000)} s: #{text}"

    cond do
      tty?() ->
        IO.write(:stderr, ["\r\e[K", line])
        Process.put(__MODULE__, {started, now})

      now - shown >= @every_ms ->
        IO.puts(:stderr, line)
        Process.put(__MODULE__, {started, now})

      true ->
        Process.put(__MODULE__, {started, shown})
    end

    :ok
  end

  @doc "Clears the line for other output."
  @spec finish() :: :ok
  def finish do
    if tty?(), do: IO.write(:stderr, "\r\e[K")
    :ok
  end

  defp tty?, do: match?({:ok, _}, :io.columns(:standard_error))
end
