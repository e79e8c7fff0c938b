defmodule RustyJson.CLI do
  @moduledoc false
  # The command line, for Mix and for the script `rustyjson`.

  alias RustyJson.CLI.{Arguments, Documents, Output}

  @doc "Runs the command line and ends the VM with its exit code."
  @spec main([String.t()]) :: no_return()
  def main(argv) do
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    argv |> run("rustyjson", fn -> IO.puts(help()) end) |> System.halt()
  end

  @doc "Runs the command line; gives its exit code. `name` is what the command is called, `help` prints its help."
  @spec run([String.t()], String.t(), (() -> term())) :: 0..5
  def run(argv, name, help) do
    with {:ok, arguments} <- Arguments.parse(argv), :ok <- Arguments.check(arguments) do
      Output.without_log(fn -> Documents.run(arguments) end)
    else
      :help -> printed(help)
      :version -> printed(fn -> IO.puts(version()) end)
      {:error, text} -> wrong(name, text)
    end
  end

  defp printed(fun) do
    Output.of_task(fun)
    0
  end

  defp wrong(name, text) do
    IO.puts(:stderr, "#{name}: #{text}\n#{hint(name)} lists the options")
    2
  end

  defp hint("mix " <> task), do: "mix help #{task}"
  defp hint(name), do: "#{name} --help"

  # Needs no engine.
  defp version do
    "rustyjson #{Application.spec(:rustyjson, :vsn)} (Elixir #{System.version()}, OTP #{System.otp_release()})"
  end

  defp help do
    {:docs_v1, _, _, _, %{"en" => text}, _, _} = Code.fetch_docs(Mix.Tasks.Rustyjson)

    text
    |> String.replace("mix rustyjson ", "rustyjson ")
    # Tables are for pages: here a row is an option, and below it what it does.
    |> String.replace(~r/^\|.*\n\|---.*\n/m, "")
    |> String.replace(~r/^\| (.*?) \| (.*) \|$/m, "    \\1\n        \\2")
    |> String.replace("\\|", "|")
  end
end
