defmodule Mix.Tasks.Rustyjson.Install do
  @shortdoc "Shows how the packages of a project use RustyJson; with Igniter, sets them up"

  @moduledoc """
  Makes the packages of a project use RustyJson.

      mix rustyjson.install             # the steps for this project
      mix rustyjson.install --phoenix   # only these
      mix igniter.install rustyjson --all

  Without [Igniter](https://hexdocs.pm/igniter) among the dependencies, the task prints the lines to paste, and changes no file.
  With Igniter, it makes these changes: it shows them first and asks. `mix igniter.install rustyjson` adds the dependency and then runs this task.

  | option | for the package | what it sets |
  |---|---|---|
  | `--phoenix` | phoenix | `config :phoenix, :json_library, RustyJson` |
  | `--ecto` | postgrex, myxql, ecto_sqlite3 | `config :postgrex, :json_library, RustyJson`, and the same for the others |
  | `--plug` | plug | `json_decoder: RustyJson` in calls of `plug Plug.Parsers` |
  | `--sandbox` | plug | `RustyJson.PlugParser` there, with a policy `:edge` that runs in the sandbox |
  | `--absinthe` | absinthe_plug | shows the line |
  | `--tesla` | tesla | shows the line |
  | `--stand-in` | jason | the line in `mix.exs` that puts [the stand-in](standin.html) in Jason's place |
  | `--all` | | all of these but `--sandbox`, which can be added |

  `--plug` and `--sandbox` keep the options of `json_decoder: {Jason, :decode!, [options]}`. A decoder of your own stays as it is: the step then
  says so and shows an example. So does the step for a `json_library` of your own.

  Without an option, the task shows all steps for the packages that the project has; with Igniter at a terminal it asks for each. A package
  that uses RustyJson is left out. `--no-plug` and so on leave a step out of `--all`.

  `mix rustyjson.install FILE.tar.gz` still installs an archive of libraries. That task is now called `mix rustyjson.unpack`.

  The exit code is 0, or 1 for an option that does not exist.
  """

  use Mix.Task

  alias RustyJson.CLI.Switches
  alias RustyJson.Install
  alias RustyJson.Install.{Edits, Printed, Surroundings}

  @compile {:no_warn_undefined, [Igniter, Igniter.Mix.Task, Igniter.Mix.Task.Args, Igniter.Mix.Task.Info]}

  @task "rustyjson.install"

  @impl true
  def run(argv) do
    Mix.Task.run("loadpaths")

    cond do
      archive?(argv) -> unpack(argv)
      igniter?() -> ignite(argv)
      true -> print(argv)
    end
  end

  # Igniter has options with values of their own.
  defp archive?(argv) do
    {_options, arguments, _wrong} = OptionParser.parse(argv, strict: [sha256: :string] ++ Install.switches())
    Enum.any?(arguments, &String.ends_with?(&1, ".gz"))
  end

  defp unpack(argv) do
    Mix.shell().info("mix rustyjson.install FILE is now called mix rustyjson.unpack FILE")
    Mix.Task.run("rustyjson.unpack", argv)
  end

  defp print(argv) do
    case OptionParser.parse(argv, strict: Install.switches()) do
      {options, [], []} ->
        Mix.shell().info(Printed.text(Surroundings.project(), Install.asked(options)))

      {_options, _arguments, [wrong | _]} ->
        text = Switches.wrong(wrong, Install.switches())
        Mix.raise("mix rustyjson.install: #{text}\nmix help rustyjson.install lists the options")

      {_options, arguments, []} ->
        unexpected(arguments)
    end
  end

  defp unexpected([argument | _]),
    do:
      Mix.raise(
        "mix rustyjson.install takes options alone, got: #{argument}; mix help rustyjson.install lists them"
      )

  ## With Igniter, which calls these functions of an installer. They are those of `Igniter.Mix.Task`.

  defp igniter?, do: Code.ensure_loaded?(Igniter.Mix.Task)

  defp ignite(argv) do
    Application.ensure_all_started(:rewrite)
    # Raises for an option that does not exist.
    {_options, arguments} = OptionParser.parse!(argv, strict: Install.switches() ++ global())
    if arguments != [], do: unexpected(arguments)

    igniter = Igniter.Mix.Task.configure_and_run(%{Igniter.new() | task: @task}, __MODULE__, argv)
    Igniter.do_or_dry_run(igniter, igniter.args.options)
  end

  defp global, do: Igniter.Mix.Task.Info.global_options()[:switches]

  @doc false
  def supports_umbrella?, do: false

  @doc false
  def installer?, do: true

  @doc false
  def info(_argv, _parent),
    do:
      struct(Igniter.Mix.Task.Info, schema: Install.switches(), example: "mix igniter.install rustyjson --all")

  @doc false
  def parse_argv(argv) do
    {options, _arguments, _others} = OptionParser.parse(argv, switches: Install.switches() ++ global())
    struct(Igniter.Mix.Task.Args, options: options, argv: argv, argv_flags: argv)
  end

  @doc false
  def igniter(igniter) do
    project = Map.merge(Edits.project(igniter), igniter.assigns[:rustyjson] || %{})
    options = igniter.args.options
    asked = Install.asked(options)
    steps = Install.steps(project, asked)

    cond do
      asked != [] and steps == [] -> Igniter.add_notice(igniter, Printed.absent(asked))
      asked != [] -> Edits.apply_steps(igniter, steps)
      options[:yes] || igniter.assigns[:test_mode?] -> Edits.show(igniter, steps)
      true -> Edits.apply_steps(igniter, steps |> Edits.changes() |> Enum.filter(&wanted?/1))
    end
  end

  # Only shown.
  defp wanted?(%{change: :by_hand}), do: true
  defp wanted?(step), do: Mix.shell().yes?("#{Printed.step(step)}\n\nMake this change?")
end
