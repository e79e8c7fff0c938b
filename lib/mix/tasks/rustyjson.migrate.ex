defmodule Mix.Tasks.Rustyjson.Migrate do
  @shortdoc "Replaces Jason by RustyJson in the source of a project"

  @moduledoc """
  Replaces the module `Jason` by `RustyJson` in the source of a project, and lists what needs a hand.

      mix rustyjson.migrate             # lib, test, config and priv, also those below apps/
      mix rustyjson.migrate lib/web     # only these folders or files
      mix rustyjson.migrate --dry-run   # shows the lines as they would be, and changes nothing
      mix rustyjson.migrate --check     # changes nothing; exit code 1 if there is something to replace

  Files are parsed: `Jason` is replaced where it is a module, as in `Jason.encode!/1` or `@derive Jason.Encoder`, and not in strings
  and comments. A file in which `Jason` is another module, by an alias or because it defines one, stays as it is
  and is listed.

  The list has what compiles and then does something else, with file and line: fields of `Jason.DecodeError`, `rescue ArgumentError`
  around `keys: :atoms!`, the field `encode` of fragments, implementations for types that RustyJson encodes itself, `config :jason`,
  the dependency in `mix.exs`, private modules of Jason, and `Jason` in templates and doctests. It also has the lines in which the task
  could not find the place of `Jason`. `docs/migrating-from-jason.md` says what differs and why.

  Run `mix format` afterwards, because lines become longer.
  """

  use Mix.Task

  alias RustyJson.CLI.Switches
  alias RustyJson.Migrate

  @switches [dry_run: :boolean, check: :boolean]

  @impl true
  def run(argv) do
    case OptionParser.parse(argv, strict: @switches) do
      {options, paths, []} ->
        migrate(Migrate.files(paths), options)

      {_options, _paths, [wrong | _]} ->
        Mix.raise(
          "mix rustyjson.migrate: #{Switches.wrong(wrong, @switches)}\nmix help rustyjson.migrate lists the options"
        )
    end
  end

  defp migrate(files, options) do
    results = Enum.map(files, &Migrate.file/1)
    changed = Enum.filter(results, &(&1.changes != []))
    keep? = options[:dry_run] || options[:check] || false

    Enum.each(changed, &show(&1, options[:dry_run]))
    unless keep?, do: Enum.each(changed, &File.write!(&1.path, &1.text))
    by_hand(Enum.flat_map(results, & &1.notes))
    summary(changed, keep?)

    if options[:check] && changed != [], do: exit({:shutdown, 1})
  end

  defp show(%{path: path, changes: changes}, true) do
    for {line, text} <- changes, do: Mix.shell().info("#{path}:#{line}: #{String.trim(text)}")
  end

  defp show(%{path: path, changes: changes}, _dry_run),
    do: Mix.shell().info("#{path}: #{lines(length(changes))}")

  defp by_hand([]), do: :ok

  defp by_hand(notes) do
    Mix.shell().info("\nLook at these by hand:")
    for {path, line, text} <- notes, do: Mix.shell().info("  #{path}:#{line}: #{text}")
  end

  defp summary([], _keep?), do: Mix.shell().info("\nNothing to replace.")

  defp summary(changed, keep?) do
    count = changed |> Enum.map(&length(&1.changes)) |> Enum.sum()
    files = if length(changed) == 1, do: "1 file", else: "#{length(changed)} files"
    verb = if keep?, do: "would change", else: "changed"
    Mix.shell().info("\n#{lines(count)} #{verb} in #{files}.#{unless keep?, do: " Now run mix format."}")
  end

  defp lines(1), do: "1 line"
  defp lines(count), do: "#{count} lines"
end
