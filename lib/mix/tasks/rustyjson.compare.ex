defmodule Mix.Tasks.Rustyjson.Compare do
  @shortdoc "Compares RustyJson with the JSON libraries of the project, on your documents"

  @moduledoc """
  Shows what RustyJson would gain on your own documents, before you change anything.

      mix rustyjson.compare FILE...
      mix rustyjson.compare --time 2000 priv/fixtures/*.json

  It decodes each document, and encodes the result, with Jason, Elixir's `JSON` and OTP's `json`, as far as they are loaded, and with
  each engine of RustyJson that works. `Jason (stand-in)` runs on RustyJson, too. For each it prints:

    * the time of a call: the median, and the range in which the median lies with 95 % confidence
    * the speed relative to the first library of the table (`2.0x` is twice as fast), if the ranges do not overlap; otherwise `~`
    * by how much the memory of a new process grows in one call whose results are kept, its terms and binaries together
    * whether the term, or the text, is equal to that of the first library. Encoded objects can have their members in another order,
      so texts are also equal if they decode to the same term

  | option | what it does |
  |---|---|
  | `--time MS` | how long each library is measured, in milliseconds (default 1,000) |
  | `--decode`, `--encode` | measures only that |

  A file whose name ends in `.ndjson` or `.jsonl` is a list of documents, one per line; a call then decodes all of them. Files ending in
  `.gz` are decompressed. Run it with `MIX_ENV=prod`, on a machine that does nothing else.

  The exit code is 0 if all results are equal, 1 if some are not, 2 if the command line is wrong, and 3 if a file cannot be read.
  """

  use Mix.Task

  alias RustyJson.CLI.{Compare, Output, Switches}

  @requirements ["app.config"]
  @switches [time: :integer, decode: :boolean, encode: :boolean]

  @impl true
  def run(argv) do
    case OptionParser.parse(argv, strict: @switches) do
      {options, [_ | _] = files, []} -> compare(files, options)
      {_options, [], []} -> wrong("no FILE given")
      {_options, _files, [switch | _]} -> wrong(Switches.wrong(switch, @switches))
    end
  end

  defp compare(files, options) do
    time = Keyword.get(options, :time, 1_000)
    if time < 1, do: wrong("--time takes a number of milliseconds from 1")
    directions = for direction <- [:decode, :encode], options[direction], do: direction
    directions = if directions == [], do: [:decode, :encode], else: directions

    case Output.of_task(fn -> Compare.run(files, directions, time) end) do
      code when code in [0, :closed] -> :ok
      code -> exit({:shutdown, code})
    end
  end

  @spec wrong(String.t()) :: no_return()
  defp wrong(text) do
    IO.puts(:stderr, "mix rustyjson.compare: #{text}\nmix help rustyjson.compare lists the options")
    exit({:shutdown, 2})
  end
end
