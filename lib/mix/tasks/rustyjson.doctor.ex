defmodule Mix.Tasks.Rustyjson.Doctor do
  @shortdoc "Shows which engines of RustyJson work here, and what is missing"

  @moduledoc """
  Shows what RustyJson runs on, what is missing and how to get it, and tests every engine and host that is there.

      mix rustyjson.doctor

  Sections: versions and CPU; the engines and hosts; the engine in use and who asked for it; limits as they are
  configured; instances, waiting callers and failed calls of the sandbox; tools that a build needs; optional packages; the
  self-test.

  In a release, where there is no Mix: `bin/my_app eval 'RustyJson.CLI.Doctor.run()'`, or `rpc` in place of `eval` for the
  sandbox of the VM that is at work.

  It takes no arguments. Exit code 0 when at least one engine works and every one that is there passes its self-test, else 1;
  2 when the command line is wrong.
  """

  use Mix.Task

  @requirements ["app.config"]

  @impl true
  def run([]) do
    unless RustyJson.CLI.Doctor.run() == :ok, do: exit({:shutdown, 1})
  end

  def run(argv) do
    IO.puts(:stderr, "mix rustyjson.doctor takes no arguments, got: #{Enum.join(argv, " ")}")
    exit({:shutdown, 2})
  end
end
