defmodule RustyJson.Test.Sweep.Record do
  @moduledoc """
  What the heavy sweep measured: a line on the terminal, and rows of the file that `RUSTYJSON_SWEEP_RECORD` names (`script/sweep` sets
  it, and `script/evidence` makes tables from it). Each shape is written when it is done, so a run that is cut short leaves what it has.
  """

  alias RustyJson.Test.Sweep
  alias RustyJson.Test.Sweep.Measure

  # Of calls that differ or are late.
  @most 50

  @doc "Measures the cases of a shape, and writes their largest figures."
  @spec shape(atom(), map(), (() -> [map()])) :: [map()]
  def shape(name, plan, measure) do
    {began, waited} = {System.monotonic_time(:millisecond), waited()}
    cases = measure.()
    seconds = Float.round((System.monotonic_time(:millisecond) - began) / 1_000, 1)
    head = head(name, plan)

    yardstick = cases |> Enum.map(& &1.yardstick) |> Enum.max() |> Float.round(2)
    figures = Enum.flat_map([&slower/1, &memory/1, &held/1], &largest(cases, &1))
    times = [seconds, Float.round((waited() - waited) / 1.0e9, 1)]
    row(["shape" | head] ++ [length(cases), length(beyond(cases))] ++ times ++ [yardstick | figures])
    listed(head, cases)
  end

  @doc "Measures the cases of a shape that were beyond the limits again, by themselves; those that are still beyond take their rows."
  @spec again(atom(), map(), (() -> [map()])) :: [map()]
  def again(name, plan, measure) do
    cases = measure.()
    listed(head(name, plan), cases)
  end

  defp head(name, plan), do: [plan.engine, plan.input, name, Enum.map_join(plan.sizes, "-", &size/1)]
  defp beyond(cases), do: for(%{faults: [_ | _]} = case <- cases, do: case)

  defp listed(head, cases) do
    for %{examined: examined} = case <- beyond(cases),
        do:
          row(
            ["beyond" | head] ++
              [
                title(case.call, case.way),
                text({case.faults, Measure.times(case.runs)}),
                Float.round(Measure.growth(case.runs), 2),
                examined.roomy,
                examined.reductions,
                examined.own
              ]
          )

    cases
  end

  @doc "The cases of a shape that the record has as beyond the limits, as a function that says whether a case is one; nil without a record of such."
  @spec again?(atom(), map()) :: nil | (term(), keyword() -> boolean())
  def again?(name, plan) do
    if file = System.get_env("RUSTYJSON_SWEEP_AGAIN") do
      head = ["beyond" | Enum.map(head(name, plan), &to_string/1)]

      titles =
        for line <- File.stream!(file),
            fields = line |> String.trim_trailing("\n") |> String.split("\t"),
            Enum.take(fields, 5) == head,
            do: Enum.at(fields, 5)

      &(title(&1, &2) in titles)
    end
  end

  @doc "How many calls both engines answered, and those whose answers differ."
  @spec answers(atom(), non_neg_integer(), [tuple()]) :: :ok
  def answers(input, calls, differ), do: counted("answers", [input], calls, differ)

  @doc "How many calls had a deadline, and those that were late."
  @spec deadlines(atom(), atom(), non_neg_integer(), [tuple()]) :: :ok
  def deadlines(engine, input, calls, late), do: counted("deadlines", [engine, input], calls, late)

  @doc "How many rows of calls were made, and those that held a scheduler for too long."
  @spec rows(atom(), atom(), non_neg_integer(), [tuple()]) :: :ok
  def rows(engine, input, rows, held), do: counted("rows", [engine, input], rows, held)

  defp counted(kind, head, calls, wrong) do
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
    [figure.(case), title(case.call, case.way)]
  end

  defp title({module, name, arity}, way) do
    module = module |> inspect() |> String.replace_prefix("RustyJson.", "")
    way = way |> inspect() |> String.slice(1..-2//1) |> without_functions()
    String.trim_trailing("#{module}.#{name}/#{arity} #{way}")
  end

  ## Rows

  defp row(fields) do
    line = Enum.map_join(fields, "\t", &(&1 |> to_string() |> String.replace(["\t", "\n"], " ")))
    IO.puts(line)
    if file = System.get_env("RUSTYJSON_SWEEP_RECORD"), do: File.write!(file, line <> "\n", [:append])
  end

  # Functions of a run have numbers that say nothing.
  defp without_functions(text), do: String.replace(text, ~r/#Function<[^>]*>/, "fn")

  defp text(term) do
    term
    |> inspect(limit: 50, printable_limit: 200, charlists: :as_lists)
    |> without_functions()
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
