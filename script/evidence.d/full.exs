defmodule RustyJson.Evidence.Full do
  @moduledoc false
  # The parts and steps of script/test --full, and what they skipped.

  import RustyJson.Evidence.Rows

  # Reasons of skips that mean that an optional package is not there.
  @packages ~r/not among the dependencies|StreamData is not loaded|no host can run the WebAssembly module/

  def full(%{"full" => full}) do
    [
      source(full, "full"),
      "",
      "| part | commit | step | command | passed | failed | time |",
      "|---|---|---|---|--:|--:|--:|",
      for([part, title, command, passed, failed, seconds] <- in_order(full["step"])) do
        "| #{part} | #{ran(full, part)} | #{cell(title)}#{cell(found(full, part, title))} | `#{cell(command)}` | #{number(passed)} | #{number(failed)} | #{time(seconds)} |\n"
      end,
      totals(full)
    ]
    |> text()
  end

  def skips(%{"full" => full}) do
    [
      "| skipped | why | steps |",
      "|--:|---|---|",
      for {why, skips} <- by_reason(full["skip"] || []) do
        count = skips |> Enum.map(fn [_, _, count, _] -> String.to_integer(count) end) |> Enum.sum()

        steps =
          skips |> Enum.map(fn [part, step | _] -> "#{part}: #{step}" end) |> Enum.uniq() |> Enum.join("; ")

        "| #{count} | #{cell(why)} | #{cell(steps)} |\n"
      end,
      missing_parts(full)
    ]
    |> text()
  end

  # The outcome of a step, or of a part.
  def result({:step, part, title}, %{"full" => full}) do
    case for([^part, ^title, _command, passed, failed, _] <- full["step"] || [], do: {passed, failed}) do
      [{passed, failed}] ->
        "#{number(passed)} passed, #{number(failed)} failed (#{ran(full, part)})"

      [] ->
        "not run"
    end
  end

  def result({:part, part}, %{"full" => full}) do
    steps = for [^part, title | _] = step <- full["step"] || [], do: {title, step}
    # Where there are steps that test, the others only prepare them.
    tests = for {title, step} <- steps, title =~ "test", do: {title, step}

    case for {_title, [_, _, _, passed, failed, _]} <- if(tests == [], do: steps, else: tests),
             do: {int(passed), int(failed)} do
      [] ->
        "not run"

      steps ->
        found = for [^part, _title, text] <- full["found"] || [], uniq: true, do: ", " <> text
        "#{number(sum(steps, 0))} passed, #{number(sum(steps, 1))} failed#{found} (#{ran(full, part)})"
    end
  end

  # What a step said.
  defp found(full, part, title) do
    case for [^part, ^title, text] <- full["found"] || [], do: text do
      [] -> ""
      texts -> ": " <> Enum.join(texts, ", ")
    end
  end

  # The commit and the day of a part.
  defp ran(full, part) do
    case for [^part, _result, date, _seconds, commit, state | _] <- full["part"] || [],
             do: {commit, date, state} do
      [{commit, date, state}] -> commit(commit, String.slice(date, 0, 10), state)
      [] -> "did not end"
    end
  end

  defp totals(full) do
    steps = for [_, _, _, passed, failed, _] <- full["step"] || [], do: {int(passed), int(failed)}
    "| all | | | | #{number(sum(steps, 0))} | #{number(sum(steps, 1))} | |"
  end

  defp missing_parts(full) do
    known = parts()
    done = for [part | _] <- full["part"] || [], do: part

    case known -- done do
      [] -> ""
      parts -> "\nThis record has no result of these parts: #{Enum.map_join(parts, ", ", &"`#{&1}`")}."
    end
  end

  # Steps in the order of the parts, whichever ran last.
  defp in_order(steps) do
    known = parts()
    Enum.sort_by(steps || [], fn [part | _] -> Enum.find_index(known, &(&1 == part)) end)
  end

  defp parts,
    do: ~r/^full_parts=\((.*)\)$/m |> Regex.run(File.read!("script/full")) |> Enum.at(1) |> String.split()

  # Tests that need a package are one reason.
  defp by_reason(skips) do
    skips
    |> Enum.group_by(fn [_, _, _, why] ->
      if why =~ @packages, do: "an optional package is not there", else: why
    end)
    |> Enum.sort()
  end
end
