defmodule Mix.Tasks.Rustyjson do
  @shortdoc "Checks, formats and sorts JSON files"

  @moduledoc """
  Checks and formats JSON.

      mix rustyjson FILE...        # pretty-printed to standard output
      mix rustyjson -              # the same, from standard input
      mix rustyjson --validate a.json b.json
      mix rustyjson package.json --fetch /version --raw
      mix rustyjson users.json.gz --fetch '/users/*/name' --raw
      mix rustyjson --lines --validate --engine wasm --timeout 50 untrusted.ndjson

  | option | what it does |
  |---|---|
  | `--pretty` | one element per line, indented by two spaces (the default, except with `--lines`, `--array` and `--at`) |
  | `--indent N\\|tab` | the same, indented by N spaces or by a tab |
  | `--minify`, `--compact`, `-c` | removes insignificant whitespace |
  | `--validate` | prints nothing; the exit code is the result |
  | `--canonical` | canonical JSON (RFC 8785) |
  | `--fetch POINTER` | only the value at this JSON Pointer, such as `/user/name`; with `*`, such as `/users/*/name`, all values. It is an error if there is none, unlike with `--at` |
  | `--raw`, `-r` | with `--fetch`, `--at`, `--array` or `--lines`: strings without quotes and escapes, other values as they were written; with `-c`, those without insignificant whitespace |
  | `--sort` | sorts the members of objects by their keys |
  | `--lines` | every line is a document (NDJSON); output is one line per document; the memory for a file stays constant |
  | `--array` | the elements of one array, a line each, in constant memory |
  | `--at POINTER` | the values at this place of one document, such as `/results/*`, a line each, in constant memory; with `--lines` those of each line |
  | `--engine native\\|wasm` | the engine; see `RustyJson.engine/0` |
  | `--host built_in\\|wasmex` | the host that runs the module, for the wasm engine |
  | `--timeout MS`, `--max-memory BYTES` | limits of each document, for the wasm engine |
  | `--max-depth N` | deepest nesting (128) |
  | `--stats` | prints sizes, counts and times to standard error |
  | `--quiet` | prints no progress |
  | `--version` | prints the version |

  Numbers, strings, order and repeated keys are printed as they were written. `--sort` decodes and encodes the document: numbers are
  written as `RustyJson.encode/2` writes them, and the last of repeated keys remains.

  Of `config :rustyjson`, the engine and the limits of documents apply. Options for how terms and texts are read and written, such as
  `floats:` and `redact:`, do not.

  A gzip file is decompressed. `--validate` needs no more memory for a large file than for a small one; with the wasm
  engine, whose limits are those of a whole document, or with a configured `max_bytes` or `max_nodes`, it reads the whole file.

  Errors go to standard error as `FILE:LINE:COLUMN: message`, with the line and a caret. If standard error is a terminal, so does
  progress on inputs of #{div(RustyJson.CLI.Progress.from(), 1_000_000)} MB and more. With `--canonical` and `--fetch`, an error in the value
  itself names the line and column in the value.

  `script/rustyjson` in a checkout of RustyJson is the same command for use outside of a project.

  The VM reads standard input as fast as it comes and keeps what is not yet dealt with, so a large input needs constant memory only as a
  file, also a `.gz`.

  OTP 26 and 27 decode standard input themselves if the locale is UTF-8, and read invalid UTF-8 as Latin-1. With these versions,
  pass a file instead to have invalid UTF-8 reported.

  ## Exit codes

  | code | meaning |
  |---|---|
  | 0 | every document is valid |
  | 1 | a document is invalid, exceeds `--max-depth` or a configured limit, has nothing at the place of `--fetch`, or has more than 1,024 levels, which are not indented |
  | 2 | the command line is wrong |
  | 3 | a file cannot be read, or the output cannot be written |
  | 4 | the sandbox stopped a document because of time or memory |
  | 5 | no engine works; `mix rustyjson.doctor` says why |

  With several files, all are checked, and the highest code is returned.
  """

  use Mix.Task

  alias RustyJson.CLI

  @impl true
  def run(argv) do
    in_project()

    case CLI.run(argv, "mix rustyjson", fn -> Mix.Task.run("help", ["rustyjson"]) end) do
      0 -> :ok
      code -> exit({:shutdown, code})
    end
  end

  # Standard output is for JSON, so the compiler's messages go to standard error.
  defp in_project do
    output = Process.group_leader()
    Process.group_leader(self(), Process.whereis(:standard_error))
    Mix.Task.run("app.config")
    Process.group_leader(self(), output)
  end
end
