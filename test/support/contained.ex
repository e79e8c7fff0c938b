defmodule RustyJson.Test.Contained do
  @moduledoc """
  Triggers a fault many times and checks that nothing leaks.

  `RUSTYJSON_FAULTS=10000` is the long run. It prints the time and the resident memory before and after.
  """

  import ExUnit.Assertions

  alias RustyJson.SandboxError

  @doc "How often each fault is triggered."
  def times, do: "RUSTYJSON_FAULTS" |> System.get_env("50") |> String.to_integer()

  @doc "Whether this is the long run."
  def long?, do: times() >= 1_000

  @doc "Each decode ends in one of these reasons; a good call, which needs a new instance, follows it."
  def decode(name, document, options, reasons) do
    flat(name, options[:host], fn ->
      assert {:error, %SandboxError{reason: reason}} = RustyJson.decode(document, options)
      assert reason in reasons, "#{name}: #{reason}"
      assert RustyJson.decode("[]", Keyword.put(options, :timeout, 10_000)) == {:ok, nil}
    end)
  end

  @doc "Calls the function `times/0` times. Resident memory and the number of atoms must not grow."
  def flat(name, host, fun) do
    # The first calls allocate memory that is kept.
    for _ <- 1..div(times(), 10), do: fun.()
    {before, atoms} = {resident(), :erlang.system_info(:atom_count)}
    {micros, _} = :timer.tc(fn -> for _ <- 1..times(), do: fun.() end)
    later = resident()

    if long?(),
      do: IO.puts("#{host}, #{name}: #{times()} in #{div(micros, 1000)} ms, #{before} to #{later} KB")

    assert later - before < 32_000, "#{host}, #{name}: from #{before} to #{later} KB"
    assert :erlang.system_info(:atom_count) - atoms < 100
  end

  @doc "Resident memory in kilobytes; 0 where the system does not report it."
  def resident do
    case File.read("/proc/self/status") do
      {:ok, text} -> ~r/VmRSS:\s+(\d+)/ |> Regex.run(text) |> List.last() |> String.to_integer()
      {:error, _} -> 0
    end
  end
end
