defmodule RustyJson.Test.Skips do
  @moduledoc """
  An ExUnit formatter that prints, after the last test, how many tests were skipped for each reason:

      skipped: 56 tests: wasmex is not among the dependencies

  `script/test` reads these lines.
  """

  use GenServer

  @impl true
  def init(_options), do: {:ok, %{}}

  @impl true
  # `script/test --full` runs the heavy tests that are left out here, and the suite of the other engine those that run once.
  def handle_cast({:test_finished, %ExUnit.Test{tags: tags, state: {:excluded, _}}}, skips)
      when is_map_key(tags, :heavy) or is_map_key(tags, :once),
      do: {:noreply, skips}

  def handle_cast({:test_finished, %ExUnit.Test{state: {left_out, reason}}}, skips)
      when left_out in [:skipped, :excluded] do
    {:noreply, Map.update(skips, String.replace("#{reason}", ~r/\s+/, " "), 1, &(&1 + 1))}
  end

  def handle_cast({:suite_finished, _times}, skips) do
    for {reason, count} <- Enum.sort(skips), do: IO.puts("skipped: #{tests(count)}: #{reason}")
    {:noreply, %{}}
  end

  def handle_cast(_event, skips), do: {:noreply, skips}

  defp tests(1), do: "1 test"
  defp tests(count), do: "#{count} tests"
end
