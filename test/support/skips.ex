defmodule RustyJson.Test.Skips do
  @moduledoc "An ExUnit formatter that names every test that was left out, and why, once all have run."

  use GenServer

  @impl true
  def init(_options), do: {:ok, []}

  @impl true
  def handle_cast({:test_finished, %ExUnit.Test{state: {left_out, reason}} = test}, skips)
      when left_out in [:skipped, :excluded] do
    {:noreply, ["#{inspect(test.module)} #{test.name}: #{reason}" | skips]}
  end

  def handle_cast({:suite_finished, _times}, skips) do
    for skip <- Enum.sort(skips), do: IO.puts("skipped: " <> String.replace(skip, ~r/\s+/, " "))
    {:noreply, []}
  end

  def handle_cast(_event, skips), do: {:noreply, skips}
end
