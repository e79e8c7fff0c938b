defmodule Mix.Tasks.Rustyjson do
  @shortdoc "Checks, formats and sorts JSON files"

  @moduledoc """
  Checks and formats JSON.

      mix rustyjson FILE...        # pretty-printed to standard output
      mix rustyjson -              # the same, from standard input
      mix rustyjson --validate a.json b.json
      mix rustyjson package.json --fetch /version --raw
      mix rustyjson --lines --validate --engine wasm --timeout 50 untrusted.ndjson

  | option | what it does |
  |---|---|
  | `--pretty` | one element per line, indented by two spaces (the default) |
  | `--minify` | removes insignificant whitespace |
  | `--validate` | prints nothing; the exit code is the result |
  | `--canonical` | canonical JSON (RFC 8785) |
  | `--fetch POINTER` | only the value at this JSON Pointer, such as `/user/name` |
  | `--raw` | with `--fetch`: the text of the value as it is |
  | `--sort` | sorts the members of objects by their keys |
  | `--lines` | every line is a document (NDJSON); output is one line per document; memory stays constant |
  | `--array` | the elements of one array, a line each, in constant memory |
  | `--at POINTER` | the values at this place of one document, such as `/results/*`, a line each, in constant memory |
  | `--engine native\\|wasm` | the engine; see `RustyJson.engine/0` |
  | `--host built_in\\|wasmex` | the host that runs the module, for the wasm engine |
  | `--timeout MS`, `--max-memory BYTES` | limits of each document, for the wasm engine |
  | `--max-depth N` | deepest nesting (128) |
  | `--stats` | prints sizes, counts and times to standard error |
  | `--quiet` | prints no progress |

  Numbers, strings, order and repeated keys are printed as they were written. `--sort` decodes and encodes the document: numbers are
  written as `RustyJson.encode/2` writes them, and the last of repeated keys remains.

  Errors go to standard error as `FILE:LINE:COLUMN: message`, with the line and a caret, and so does progress on inputs of
  #{div(RustyJson.CLI.Progress.from(), 1_000_000)} MB and more.

  OTP 26 and 27 decode standard input themselves if the locale is UTF-8, and read invalid UTF-8 as Latin-1. With these versions,
  pass a file instead to have invalid UTF-8 reported.

  ## Exit codes

  | code | meaning |
  |---|---|
  | 0 | every document is valid |
  | 1 | a document is invalid, exceeds `--max-depth`, or has nothing at the place of `--fetch` |
  | 2 | the command line is wrong |
  | 3 | a file cannot be read, or the output cannot be written |
  | 4 | the sandbox stopped a document because of time or memory |
  | 5 | no engine works; `mix rustyjson.doctor` says why |

  With several files, all are checked, and the highest code is returned.
  """

  use Mix.Task

  alias RustyJson.CLI.{Arguments, Documents, Output}

  @impl true
  def run(argv) do
    with {:ok, arguments} <- Arguments.parse(argv),
         :ok <- in_project(fn -> Arguments.check(arguments) end) do
      Output.without_log(fn -> Documents.run(arguments) end) |> leave()
    else
      :help -> Output.unless_closed(fn -> Mix.Task.run("help", ["rustyjson"]) end)
      {:error, text} -> usage(text)
    end
  end

  # Standard output is for JSON, so the compiler's messages go to standard error.
  defp in_project(fun) do
    output = Process.group_leader()
    Process.group_leader(self(), Process.whereis(:standard_error))
    Mix.Task.run("app.config")
    Process.group_leader(self(), output)
    fun.()
  end

  defp usage(text) do
    IO.puts(:stderr, "mix rustyjson: #{text}\nmix help rustyjson lists the options")
    leave(2)
  end

  defp leave(0), do: :ok
  defp leave(code), do: exit({:shutdown, code})
end
