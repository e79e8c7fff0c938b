defmodule RustyJson.Evidence.Commits do
  @moduledoc false
  # The commits that records name, against the history of this checkout.

  # Where rows of each kind have a commit. That of "json_tests" is another repository's.
  @places %{"commit" => [0], "part" => [4], "fuzz" => [7], "mutants" => [7, 10], "again" => [0]}

  @doc "A line for each commit that the history does not have. Without a whole history, nothing is known to be wrong."
  def unknown(records) do
    case history() do
      nil -> []
      history -> Enum.flat_map(records, fn {name, record} -> unknown(name, record, history) end)
    end
  end

  defp unknown(name, record, history) do
    for {kind, places} <- @places,
        row <- record[kind] || [],
        commit <- named(row, places),
        not Enum.any?(history, &String.starts_with?(&1, commit)),
        uniq: true,
        do: "docs/records/#{name}.tsv: the commit #{commit} is not in the history of this checkout"
  end

  defp named(row, places), do: for(at <- places, commit = Enum.at(row, at), do: commit)

  # A folder without one of its own may stand in another checkout.
  defp history do
    with git when git != nil <- System.find_executable("git"),
         {"\nfalse\n", 0} <- git(~w(rev-parse --show-cdup --is-shallow-repository)),
         {commits, 0} <- git(~w(rev-list HEAD)) do
      String.split(commits)
    else
      _ -> nil
    end
  end

  defp git(arguments), do: System.cmd("git", arguments, stderr_to_stdout: true)
end
