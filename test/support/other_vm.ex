defmodule RustyJson.Test.OtherVM do
  @moduledoc "A separate VM, for code that can end it or that needs other limits."

  @doc "Runs the code with these switches of `elixir` and these environment variables. Returns the output and the exit code."
  @spec run(String.t(), [String.t()], [{String.t(), String.t()}]) :: {String.t(), non_neg_integer()}
  def run(code, switches, more \\ []) do
    paths = Enum.flat_map(:code.get_path(), &["-pa", List.to_string(&1)])
    env = [{"RUSTYJSON_ENGINE", "native"}, {"ERL_CRASH_DUMP_SECONDS", "0"}]
    System.cmd("elixir", switches ++ paths ++ ["-e", code], env: env ++ more, stderr_to_stdout: true)
  end

  # These functions are compiled, because evaluated code would be slow.

  @doc "An object with this many members. Each key is the name and a number."
  @spec object(String.t(), pos_integer()) :: String.t()
  def object(name, n), do: "{" <> Enum.map_join(1..n, ",", &~s("#{name}#{&1}":1)) <> "}"

  @doc "Creates atoms until the table has room for only this many more."
  @spec fill(String.t(), pos_integer()) :: :ok
  def fill(name, room) do
    Enum.find(Stream.iterate(1, &(&1 + 1)), fn i -> left() <= room or !String.to_atom("#{name}#{i}") end)
    :ok
  end

  @doc "The number of atoms that the table has room for."
  @spec left() :: integer()
  def left, do: :erlang.system_info(:atom_limit) - :erlang.system_info(:atom_count)
end
