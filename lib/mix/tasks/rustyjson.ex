defmodule Mix.Tasks.Rustyjson do
  @shortdoc "Checks, lays out and sorts JSON files"

  @moduledoc """
  Checks JSON and lays it out.

      mix rustyjson FILE...        # pretty-printed to standard output
      mix rustyjson -              # the same, from standard input
      mix rustyjson --validate a.json b.json
      mix rustyjson --lines --validate --engine wasm --timeout 50 untrusted.ndjson

  | option | what it does |
  |---|---|
  | `--pretty` | an element a line, indented by two spaces (the default) |
  | `--minify` | no white space that means nothing |
  | `--validate` | no output; the exit code tells |
  | `--sort` | members of objects sorted by their keys |
  | `--lines` | every line is a document of its own (NDJSON); output is a line each; memory stays constant |
  | `--engine native\\|wasm` | the engine; see `RustyJson.engine/0` |
  | `--host wasmtime\\|wasmex` | who runs the module, on the wasm engine |
  | `--timeout MS`, `--max-memory BYTES` | limits of each document, on the wasm engine |
  | `--max-depth N` | deepest nesting (128) |
  | `--stats` | sizes, counts and times, on standard error |
  | `--quiet` | no progress on standard error |

  Numbers, strings, order and repeated keys come out as they were written. With `--sort` the document is decoded and
  encoded again: numbers are spelt as `RustyJson.encode/2` spells them, and of repeated keys the last stays.

  What is wrong goes to standard error as `FILE:LINE:COLUMN: message`, with the line and a caret. Progress on inputs of
  #{div(RustyJson.CLI.Progress.from(), 1_000_000)} MB and more goes there, too.

  OTP 26 and 27 decode standard input themselves where the locale is UTF-8, and read invalid UTF-8 as Latin-1. There, name
  the file to have invalid UTF-8 reported.

  ## Exit codes

  | code | meaning |
  |---|---|
  | 0 | every document is JSON |
  | 1 | a document is not JSON, or exceeds `--max-depth` |
  | 2 | the command line is wrong |
  | 3 | a file cannot be read, or the output cannot be written |
  | 4 | the sandbox stopped a document: time, memory |
  | 5 | no engine works; `mix rustyjson.doctor` says why |

  With several files all are looked at, and the highest code counts.
  """

  use Mix.Task

  alias RustyJson.CLI.{Arguments, Documents}

  @impl true
  def run(argv) do
    with {:ok, arguments} <- Arguments.parse(argv),
         :ok <- in_project(fn -> Arguments.check(arguments) end) do
      without_log(fn -> Documents.run(arguments) end) |> leave()
    else
      :help -> Mix.Task.run("help", ["rustyjson"])
      {:error, text} -> usage(text)
    end
  end

  # Standard output is for JSON, so what the compiler says goes to standard error.
  defp in_project(fun) do
    output = Process.group_leader()
    Process.group_leader(self(), Process.whereis(:standard_error))
    Mix.Task.run("app.config")
    Process.group_leader(self(), output)
    fun.()
  end

  # A reader that goes away is a crash to the VM's log (OTP 28 and newer); here it has seen enough.
  defp without_log(fun) do
    %{level: level} = :logger.get_primary_config()
    :logger.set_primary_config(:level, :none)

    try do
      fun.()
    after
      :logger.set_primary_config(:level, level)
    end
  end

  defp usage(text) do
    IO.puts(:stderr, "mix rustyjson: #{text}\nmix help rustyjson lists the options")
    leave(2)
  end

  defp leave(0), do: :ok
  defp leave(code), do: exit({:shutdown, code})
end
