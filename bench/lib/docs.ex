defmodule RustyJson.Bench.Docs do
  @moduledoc """
  Puts tables and pictures of committed result files into pages, so that no figure there is without its file:

      <!-- bench otp29 decode-native -->
      <!-- /bench -->

  `otp29` is the newest result file with this in its name. What stands between the two lines is replaced. Besides the
  tables of the files there are those of `RustyJson.Bench.Digest`.
  """

  alias RustyJson.Bench.Digest

  @block ~r/<!-- bench (\S+) (\S+) -->.*?<!-- \/bench -->/s

  @doc "Renews the blocks of these pages from the result files of a folder; gives what was not found."
  @spec renew([Path.t()], Path.t()) :: [String.t()]
  def renew(pages, dir) do
    for page <- pages, missing <- renew_page(page, dir), do: "#{Path.basename(page)}: #{missing}"
  end

  defp renew_page(page, dir) do
    text = File.read!(page)
    blocks = for [block, machine, id] <- Regex.scan(@block, text), uniq: true, do: {block, machine, id}

    {text, missing} =
      Enum.reduce(blocks, {text, []}, fn {block, machine, id}, {text, missing} ->
        case table(dir, machine, id) do
          nil -> {text, ["no table #{id} in a result file of #{machine}" | missing]}
          found -> {String.replace(text, block, block(found, machine, id, page)), missing}
        end
      end)

    File.write!(page, text)
    missing
  end

  # The newest file that has the table.
  defp table(dir, machine, id) do
    files = dir |> Path.join("*#{machine}*.json") |> Path.wildcard() |> Enum.sort(:desc)

    Enum.find_value(files, fn file ->
      result = file |> File.read!() |> RustyJson.decode!(engine: :native)
      table = Enum.find(result["tables"], &(&1["id"] == id)) || Digest.table(id, result)
      table && {file, result["machine"]["commit"], table}
    end)
  end

  defp block({file, commit, table}, machine, id, page) do
    here = Path.dirname(Path.expand(page))
    picture = Path.join(Path.rootname(file), id <> ".svg")
    image = if File.regular?(picture), do: "\n![#{table["title"]}](#{relative(picture, here)})\n"

    """
    <!-- bench #{machine} #{id} -->
    #{markdown(table)}
    #{Enum.map_join(table["notes"], "\n", &escape/1)}
    #{image}
    From [#{Path.basename(file)}](#{relative(file, here)})#{commit && ", measured at commit #{commit}"}.
    <!-- /bench -->
    """
    |> String.replace(~r/\n{3,}/, "\n\n")
    |> String.trim_trailing()
  end

  defp markdown(table) do
    [head | rows] =
      for row <- [table["head"] | table["rows"]], do: "| #{Enum.map_join(row, " | ", &escape/1)} |"

    rule = "|---|" <> String.duplicate("---:|", length(table["head"]) - 1)
    Enum.join(["**#{table["title"]}**", "", head, rule | rows], "\n") <> "\n"
  end

  defp escape(text),
    do: text |> String.replace("|", "\\|") |> String.replace("*", "\\*") |> String.replace("<", "&lt;")

  # From one folder to a file beside or above it.
  defp relative(file, from) do
    {file, from} = {Path.split(Path.expand(file)), Path.split(from)}
    common = Enum.zip(file, from) |> Enum.take_while(fn {a, b} -> a == b end) |> length()
    Path.join(List.duplicate("..", length(from) - common) ++ Enum.drop(file, common))
  end
end
