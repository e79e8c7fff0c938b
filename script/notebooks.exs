# The runner behind script/notebooks; see there.
#
# A notebook is Markdown with Elixir cells. Below some cells is the result in Livebook's form, an output comment and a block. Cells
# share one environment. A check of its arguments replaces Mix.install, and the stand-ins in test/support/livebook replace Kino
# and VegaLite.

for name <- ~w(vega_lite kino), do: Code.require_file("../test/support/livebook/#{name}.exs", __DIR__)

# A notebook that runs again with another choice redefines its modules.
Code.compiler_options(ignore_module_conflict: true)

defmodule Notebook do
  @moduledoc "Parts of a notebook: text between cells, cells, and the results shown below them."

  @fence "```"
  @shown "<!-- livebook:{\"output\":true} -->\n\n```\n"

  @doc "A list of strings and `{:cell, code, shown, line}`; together they are the file."
  def parse(text), do: text |> String.split("```elixir\n") |> cells(1, [])

  defp cells([last], _line, parts), do: Enum.reverse([last | parts])

  defp cells([text, next | rest], line, parts) do
    line = line + lines(text) + 1
    [code, behind] = String.split(next, "\n" <> @fence <> "\n", parts: 2)
    {shown, behind} = shown(behind, [])
    after_cell = line + lines(next) - lines(behind)
    cells([behind | rest], after_cell, [{:cell, code, shown, line}, text | parts])
  end

  # Results are directly below their cell.
  defp shown("\n" <> @shown <> rest, results) do
    [result, behind] = String.split(rest, "\n" <> @fence <> "\n", parts: 2)
    shown(behind, [result | results])
  end

  defp shown(text, results), do: {Enum.reverse(results), text}

  defp lines(text), do: text |> String.graphemes() |> Enum.count(&(&1 == "\n"))

  @doc "The file of such a list."
  def write(parts), do: Enum.map_join(parts, &part/1)

  defp part({:cell, code, shown, _line}) do
    results = for result <- shown, do: ["\n", @shown, result, "\n", @fence, "\n"]
    IO.iodata_to_binary(["```elixir\n", code, "\n", @fence, "\n", results])
  end

  defp part(text), do: text
end

defmodule Notebook.Run do
  @moduledoc "Evaluates the cells of one notebook, one after the other."

  @doc "The parts with the current results; exits with the first failure."
  def run(parts, file) do
    env = Code.env_for_eval(file: file)

    {parts, _} =
      Enum.map_reduce(parts, {[], env}, fn
        {:cell, code, shown, line}, state -> cell(code, shown, line, file, state)
        text, state -> {text, state}
      end)

    parts
  end

  defp cell(code, shown, line, file, {binding, env}) do
    quoted = code |> Code.string_to_quoted!(file: file, line: line) |> Macro.prewalk(&install/1)
    {result, printed} = captured(fn -> Code.eval_quoted_with_env(quoted, binding, env) end)
    {value, binding, env} = result
    check_display(value)
    results = if shown == [], do: [], else: printed ++ [inspect(value, pretty: true, width: 98)]
    {{:cell, code, results, line}, {binding, env}}
  rescue
    error -> reraise "#{file}:#{line}: #{Exception.message(error)}", __STACKTRACE__
  end

  defp install({{:., meta, [{:__aliases__, _, [:Mix]}, :install]}, call, arguments}) do
    {{:., meta, [Notebook.Install, :check]}, call, arguments}
  end

  defp install(other), do: other

  defp captured(fun) do
    {:ok, device} = StringIO.open("")
    group_leader = Process.group_leader()
    Process.group_leader(self(), device)

    try do
      result = fun.()
      {_, text} = StringIO.contents(device)
      {result, if(text == "", do: [], else: [String.trim_trailing(text, "\n")])}
    after
      Process.group_leader(self(), group_leader)
    end
  end

  # Livebook shows the value of a cell.
  defp check_display(%VegaLite{} = chart), do: VegaLite.check!(chart)
  defp check_display(_value), do: :ok
end

defmodule Notebook.Results do
  @moduledoc "Compares results without the order of members: the VM's versions print the atoms of a map in different orders."

  def same?(parts, now), do: length(parts) == length(now) and Enum.all?(Enum.zip(parts, now), &same_part?/1)

  defp same_part?({{:cell, code, shown, line}, {:cell, code, now, line}}),
    do: shown == now or Enum.map(shown, &normal/1) == Enum.map(now, &normal/1)

  defp same_part?({part, now}), do: part == now

  @doc "A result, with the members of maps and of JSON objects in a fixed order."
  def normal(text) do
    case Code.string_to_quoted(text) do
      {:ok, quoted} -> Macro.postwalk(quoted, &member_order/1)
      {:error, _no_term} -> json(text)
    end
  end

  defp member_order({:%{}, _meta, members}), do: {:%{}, [], Enum.sort(members)}
  defp member_order({name, _meta, arguments}), do: {name, [], arguments}
  defp member_order(text) when is_binary(text), do: json(text)
  defp member_order(other), do: other

  defp json(text) do
    case RustyJson.decode(text) do
      {:ok, term} when is_map(term) or is_list(term) -> {:json, term}
      _no_container -> text
    end
  end
end

defmodule Notebook.Install do
  @moduledoc "Replaces Mix.install: checks its arguments."

  @packages ~w(rustyjson kino kino_vega_lite wasmex telemetry jason)a

  def check(packages, options \\ []) do
    for package <- packages do
      name = elem(package, 0)
      name in @packages || raise "Mix.install of an unknown package: #{inspect(name)}"
      valid?(elem(package, 1)) || raise "Mix.install of #{name} with #{inspect(elem(package, 1))}"
    end

    List.keymember?(packages, :rustyjson, 0) || raise "Mix.install without rustyjson"

    Keyword.keys(options) -- [:consolidate_protocols, :config, :system_env] == [] ||
      raise "unknown option of Mix.install"

    :ok
  end

  defp valid?(path: path), do: File.regular?(Path.join(path, "mix.exs"))

  defp valid?(requirement) when is_binary(requirement),
    do: match?({:ok, _}, Version.parse_requirement(requirement))

  defp valid?(_other), do: false
end

defmodule Notebook.Main do
  @moduledoc false

  def main(arguments) do
    {write, files} = Enum.split_with(arguments, &(&1 == "--write"))
    files = if files == [], do: Path.wildcard(Path.expand("../livebooks/*.livemd", __DIR__)), else: files
    results = for file <- files, do: notebook(file, write != [])
    failed = Enum.count(results, &(&1 == :failed))
    IO.puts("#{length(results) - failed} passed, #{failed} failed")
    if failed > 0, do: System.halt(1)
  end

  # Tries each option of the selects; the results shown belong to the first.
  defp notebook(file, write?) do
    text = File.read!(file)
    parts = Notebook.parse(text)
    now = Notebook.Run.run(parts, Path.relative_to_cwd(file))
    Kino.Input.others(fn -> Notebook.Run.run(parts, Path.relative_to_cwd(file)) end)
    compare(file, text, parts, now, write?)
  rescue
    error ->
      IO.puts("#{Path.relative_to_cwd(file)}: FAILED\n  #{Exception.format(:error, error, __STACKTRACE__)}")
      :failed
  end

  defp compare(file, text, parts, now, write?) do
    cells = for {:cell, _, _, _} = cell <- parts, do: cell

    cond do
      Notebook.Results.same?(parts, now) ->
        shown = cells |> Enum.map(fn {_, _, shown, _} -> length(shown) end) |> Enum.sum()
        IO.puts("#{Path.relative_to_cwd(file)}: #{length(cells)} cells, #{shown} shown results")
        :passed

      write? ->
        File.write!(file, Notebook.write(now))
        IO.puts("#{Path.relative_to_cwd(file)}: written (#{byte_size(text)} bytes before)")
        :passed

      true ->
        for {{:cell, _, shown, line} = cell, cell_now} <- Enum.zip(parts, now),
            not Notebook.Results.same?([cell], [cell_now]) do
          IO.puts("#{file}:#{line}: the results differ from those shown\n  shown: #{inspect(shown)}")
          IO.puts("  now:   #{inspect(elem(cell_now, 2))}")
        end

        :failed
    end
  end
end

Notebook.Main.main(System.argv())
