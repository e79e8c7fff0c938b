defmodule RustyJson.Evidence.Rows do
  @moduledoc false
  # What the parts of documents have in common: where a record comes from, and how its figures are written.

  def source(record, name) do
    machines =
      Enum.map_join(record["machine"], " and ", fn [machine, processor, count, system] ->
        "#{machine}, #{processor}, #{count} processors, #{system}"
      end)

    tools =
      Enum.map_join(Enum.uniq(record["tool"] || []), "; ", fn [name, version] -> "#{name} #{version}" end)

    "From [#{name}.tsv](records/#{name}.tsv): #{if record["commit"], do: "commit #{commit(record)}, "}#{machines}; #{tools}.#{notes(record)}"
  end

  defp notes(record), do: Enum.map_join(record["note"] || [], fn [note] -> " " <> note end)

  def commit(%{"commit" => [[commit, date, state] | _]}), do: commit(commit, date, state)

  def commit(commit, date, state),
    do: "#{String.slice(commit, 0, 7)}, #{date}#{if state != "clean", do: ", with changes"}"

  # A `*` stands for any text.
  def like?(text, pattern) do
    source = pattern |> Regex.escape() |> String.replace("\\*", ".*")
    text =~ ~r/\A#{source}\z/
  end

  def sum(steps, at), do: steps |> Enum.map(&elem(&1, at)) |> Enum.sum()
  def int(text), do: String.to_integer(text)
  def cell(text), do: String.replace(text, "|", "\\|")
  def code(text), do: "`#{text}`"

  def number(text) when is_binary(text), do: Regex.replace(~r/\B(?=(\d{3})+$)/, text, ",")
  def number(integer), do: integer |> Integer.to_string() |> number()

  def time(seconds) do
    case int(seconds) do
      seconds when seconds < 120 -> "#{seconds} s"
      seconds -> "#{div(seconds + 30, 60)} min"
    end
  end

  def text(lines),
    do:
      lines
      |> Enum.map(fn
        rows when is_list(rows) -> rows |> Enum.join() |> String.trim_trailing("\n")
        line -> line
      end)
      |> Enum.reject(&(&1 == []))
      |> Enum.join("\n")
      |> String.trim_trailing("\n")
end
