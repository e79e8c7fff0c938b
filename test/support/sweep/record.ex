defmodule RustyJson.Test.Sweep.Record do
  @moduledoc """
  What the heavy sweep measured: a line on the terminal, and rows of the file that `RUSTYJSON_SWEEP_RECORD` names (`script/sweep` sets
  it, and `script/evidence` makes tables from it). Each shape is written when it is done, so a run that is cut short leaves what it has.
  """

  alias RustyJson.Test.Sweep
  alias RustyJson.Test.Sweep.Measure

  # Of the cases of a shape that are beyond the limits, and of calls that differ or are late.
  @most 20

  @doc "Measures the cases of a shape, and writes their largest figures."
  @spec shape(atom(), map(), (() -> [map()])) :: [map()]
  def shape(name, plan, measure) do
    {began, waited} = {System.monotonic_time(:millisecond), waited()}
    cases = measure.()
    seconds = Float.round((System.monotonic_time(:millisecond) - began) / 1_000, 1)
    beyond = for %{faults: [_ | _]} = case <- cases, do: case
    head = [plan.engine, plan.input, name, Enum.map_join(plan.sizes, "-", &size/1)]

    yardstick = cases |> Enum.map(& &1.yardstick) |> Enum.max() |> Float.round(2)
    slow = for %{roomy: roomy} = case <- cases, roomy, do: case
    roomy = if slow == [], do: ["", ""], else: largest(slow, &Float.round(&1.roomy, 2))
    figures = Enum.flat_map([&slower/1, &memory/1, &held/1], &largest(cases, &1)) ++ [length(slow) | roomy]
    times = [seconds, Float.round((waited() - waited) / 1.0e9, 1)]
    row(["shape" | head] ++ [length(cases), length(beyond)] ++ times ++ [yardstick | figures])

    for case <- Enum.take(beyond, @most),
        do:
          row(
            ["beyond" | head] ++
              [
                title(case),
                text({case.faults, Measure.times(case.runs), case.roomy && Float.round(case.roomy, 2)})
              ]
          )

    cases
  end

  @doc "How many calls both engines answered, and those whose answers differ."
  @spec answers(atom(), non_neg_integer(), [tuple()]) :: :ok
  def answers(input, calls, differ), do: listed("answers", [input], calls, differ)

  @doc "How many calls had a deadline, and those that were late."
  @spec deadlines(atom(), atom(), non_neg_integer(), [tuple()]) :: :ok
  def deadlines(engine, input, calls, late), do: listed("deadlines", [engine, input], calls, late)

  defp listed(kind, head, calls, wrong) do
    row([kind | head] ++ [calls, length(wrong)])
    for each <- Enum.take(wrong, @most), do: row(["wrong", kind | head] ++ [text(each)])
    :ok
  end

  ## Figures of a case

  # Relative to the yardstick.
  defp slower(%{runs: runs, yardstick: yardstick}), do: Float.round(Measure.growth(runs) / yardstick, 2)
  defp memory(%{runs: runs}), do: with({size, run} = List.last(runs), do: round(run.bytes / size))

  defp held(%{way: way, runs: runs}) do
    if Sweep.holds?(way), do: 0, else: runs |> Enum.flat_map(&elem(&1, 1).held) |> Enum.max(fn -> 0 end)
  end

  defp largest(cases, figure) do
    case = Enum.max_by(cases, figure)
    [figure.(case), title(case)]
  end

  defp title(%{call: {module, name, arity}, way: way}) do
    module = module |> inspect() |> String.replace_prefix("RustyJson.", "")
    String.trim_trailing("#{module}.#{name}/#{arity} #{way |> inspect() |> String.slice(1..-2//1)}")
  end

  ## Rows

  defp row(fields) do
    line = Enum.map_join(fields, "\t", &(&1 |> to_string() |> String.replace(["\t", "\n"], " ")))
    IO.puts(line)
    if file = System.get_env("RUSTYJSON_SWEEP_RECORD"), do: File.write!(file, line <> "\n", [:append])
  end

  # Functions of a run have numbers that say nothing.
  defp text(term) do
    term
    |> inspect(limit: 50, printable_limit: 200, charlists: :as_lists)
    |> String.replace(~r/#Function<[^>]*>/, "fn")
    |> String.slice(0, 800)
  end

  defp size(bytes) when bytes >= 1_000_000, do: "#{div(bytes, 1_000_000)} MB"
  defp size(bytes), do: "#{div(bytes, 1_000)} KB"

  # Nanoseconds that threads of this VM were ready, but had no processor (Linux); a busy machine has large ones.
  defp waited do
    for file <- Path.wildcard("/proc/self/task/*/schedstat"),
        {:ok, text} <- [File.read(file)],
        [_ran, waited | _] <- [String.split(text)],
        reduce: 0,
        do: (sum -> sum + String.to_integer(waited))
  end
end
