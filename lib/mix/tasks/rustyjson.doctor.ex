defmodule Mix.Tasks.Rustyjson.Doctor do
  @shortdoc "Shows which engines of RustyJson work on this machine, and what is missing"

  @moduledoc """
  Shows what RustyJson runs on, what is missing and how to get it, and tests every available engine and host.

      mix rustyjson.doctor

  It prints versions and CPU features, the engines and hosts, the engine in use and what selected it, the configured limits, the
  sandbox's instances, waiting callers and failed calls, the build tools, the optional packages, and the self-test.

  A release has no Mix. There, call the function: `bin/my_app eval 'RustyJson.CLI.Doctor.run() == :error and exit({:shutdown, 1})'`, or
  `bin/my_app rpc 'RustyJson.CLI.Doctor.run()'` to see the sandbox of the running VM.

  The task takes no arguments. The exit code is 0 if at least one engine works and every available one passes its self-test, 1 if
  not, and 2 for a wrong command line. If the reader of the output ends early, such as `head`, the task ends with 0.
  """

  use Mix.Task

  alias RustyJson.CLI
  alias RustyJson.CLI.Output

  @requirements ["app.config"]

  @impl true
  def run([]) do
    if Output.without_log(&CLI.Doctor.run/0) == :error, do: exit({:shutdown, 1})
  end

  def run(argv) do
    IO.puts(:stderr, "mix rustyjson.doctor takes no arguments, got: #{Enum.join(argv, " ")}")
    exit({:shutdown, 2})
  end
end
