defmodule RustyJson.Bench.Docs do
  @moduledoc """
  Puts tables and pictures of committed result files into pages, so that every figure there comes from a file:

      <!-- bench otp29 speed-decode -->
      <!-- /bench -->

  `otp29` selects the newest result file with this in its name. The text between the two lines is replaced. A block can
  name a table of a result file, one of `RustyJson.Bench.Digest`, or `speed`, the picture of `RustyJson.Bench.Picture`.
  `bench/results/REPORT.md` has every table; `RustyJson.Bench.Report` writes it.
  """

  alias RustyJson.Bench.{Digest, Picture, Report}

  @block ~r/<!-- bench (\S+) (\S+) -->.*?<!-- \/bench -->/s
  @picture "speed.svg"

  @doc "Writes the tables in the pages of a repository. Returns what is missing."
  @spec renew(Path.t()) :: [String.t()]
  def renew(root) do
    {files, missing} = files(root)
    for {file, text} <- changed(files), do: File.write!(file, text)
    missing
  end

  @doc "Returns the files that `renew/1` would change, and what is missing."
  @spec stale(Path.t()) :: [String.t()]
  def stale(root) do
    {files, missing} = files(root)

    stale =
      for {file, _text} <- changed(files),
          do: "#{Path.relative_to(file, root)} is out of date: run script/bench --docs"

    stale ++ missing
  end

  defp changed(files), do: for({file, text} <- files, File.read(file) != {:ok, text}, do: {file, text})

  @doc "The newest result file that has a table: the file, its content and the table."
  @spec find(Path.t(), String.t(), String.t()) :: {Path.t(), map(), map()} | nil
  def find(dir, machine, id) do
    files = dir |> Path.join("*#{machine}*.json") |> Path.wildcard() |> Enum.sort(:desc)

    Enum.find_value(files, fn file ->
      result = read(file)
      lookup = fn id -> with({_, _, table} <- find(dir, machine, id), do: table) end
      table = Enum.find(result["tables"], &(&1["id"] == id)) || Digest.table(id, result, lookup)
      table && {file, result, table}
    end)
  end

  @doc "A result file's content."
  @spec read(Path.t()) :: map()
  def read(file) do
    case Process.get({__MODULE__, file}) do
      nil ->
        result = file |> File.read!() |> RustyJson.decode!(engine: :native)
        Process.put({__MODULE__, file}, result)
        result

      result ->
        result
    end
  end

  defp files(root) do
    dir = Path.join(root, "bench/results")
    pages = [Path.join(root, "README.md") | Path.wildcard(Path.join(root, "docs/**/*.md"))]
    rendered = for page <- pages, do: render(page, dir)
    report = Path.join(dir, "REPORT.md")

    picture =
      for {_, _, table} <- [find(dir, "otp29", "means")], do: {Path.join(dir, @picture), Picture.draw(table)}

    {for({page, text, _} <- rendered, do: {page, text}) ++ [{report, Report.text(report, dir)} | picture],
     for({_, _, missing} <- rendered, each <- missing, do: each)}
  end

  defp render(page, dir) do
    text = File.read!(page)
    blocks = for [block, machine, id] <- Regex.scan(@block, text), uniq: true, do: {block, machine, id}

    {text, missing} =
      Enum.reduce(blocks, {text, []}, fn {block, machine, id}, {text, missing} ->
        case block(page, dir, machine, id) do
          nil ->
            {text, ["#{Path.basename(page)}: no result file of #{machine} has the table #{id}" | missing]}

          new ->
            {String.replace(text, block, "<!-- bench #{machine} #{id} -->\n#{new}\n<!-- /bench -->"), missing}
        end
      end)

    {page, text, missing}
  end

  defp block(page, dir, machine, "speed") do
    with {file, result, table} <- find(dir, machine, "means") do
      image = relative(Path.join(dir, @picture), page)
      "![#{table["picture"]["title"]}](#{image})\n\n#{source(file, result, page)}"
    end
  end

  defp block(page, dir, machine, id) do
    with {file, result, table} <- find(dir, machine, id), do: table(table, file, result, page)
  end

  @doc "A table as Markdown, with its notes and the file it comes from, for this page."
  @spec table(map(), Path.t(), map(), Path.t()) :: String.t()
  def table(table, file, result, page) do
    notes = Enum.map_join(table["notes"], "\n", &escape/1)

    ["**#{table["title"]}**", markdown(table), notes, source(file, result, page)]
    |> Enum.reject(&(&1 == ""))
    |> Enum.join("\n\n")
  end

  defp source(file, result, page) do
    commit = result["machine"]["commit"]
    "From [#{Path.basename(file)}](#{relative(file, page)})#{commit && ", measured at commit #{commit}"}."
  end

  defp markdown(table) do
    [head | rows] =
      for row <- [table["head"] | table["rows"]], do: "| #{Enum.map_join(row, " | ", &escape/1)} |"

    rule = "|---|" <> String.duplicate("---:|", length(table["head"]) - 1)
    Enum.join([head, rule | rows], "\n")
  end

  defp escape(text),
    do: text |> String.replace("|", "\\|") |> String.replace("*", "\\*") |> String.replace("<", "&lt;")

  # The path of a file relative to the folder of a page.
  defp relative(file, page) do
    {file, from} = {Path.split(Path.expand(file)), page |> Path.expand() |> Path.dirname() |> Path.split()}
    common = Enum.zip(file, from) |> Enum.take_while(fn {a, b} -> a == b end) |> length()
    Path.join(List.duplicate("..", length(from) - common) ++ Enum.drop(file, common))
  end
end
