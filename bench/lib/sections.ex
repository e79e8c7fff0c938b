defmodule RustyJson.Bench.Sections do
  @moduledoc "The sections of a run, by the names for `--only`."

  alias RustyJson.Bench.{Progress, Table}
  alias RustyJson.Bench.Sections, as: S

  @all [
    {"speed", S.Speed, :run, [:fresh]},
    {"long", S.Speed, :run, [:long]},
    {"seeds", S.Seeds, :run, []},
    {"structs", S.Structs, :run, []},
    {"memory", S.Memory, :run, []},
    {"calls", S.Calls, :run, []},
    {"parts", S.Parts, :run, []},
    {"moving", S.Moving, :run, []},
    {"streams", S.Streams, :run, []},
    {"rust", S.Rust, :run, []},
    {"counts", S.Counts, :run, []}
  ]
  # The sections of a run of one minute.
  @quick ["speed"]

  @spec names() :: [String.t()]
  def names, do: Enum.map(@all, &elem(&1, 0))

  @spec quick() :: [String.t()]
  def quick, do: @quick

  @doc "Runs a section and prints its tables: its cases, tables and notes."
  @spec run(String.t(), map()) :: %{cases: [map()], tables: [Table.t()], notes: [String.t()]}
  def run(name, context) do
    {^name, module, function, arguments} = List.keyfind(@all, name, 0)
    empty = %{cases: [], tables: [], notes: [], checked: 0}
    answer = Map.merge(empty, apply(module, function, [context | arguments]))
    Progress.finish()
    for table <- answer.tables, do: IO.puts(Table.text(table))
    answer
  end
end
