defmodule RustyJson.EvidenceTest do
  @moduledoc "script/evidence --check: records name commits of this history."
  use ExUnit.Case, async: true

  @root Path.expand("../..", __DIR__)
  @moduletag :once
  unless System.find_executable("bash") && System.find_executable("git"),
    do: @moduletag(skip: "needs bash and git")

  @tag :tmp_dir
  test "a commit that is not in the history is refused where the history is there", %{tmp_dir: dir} do
    checkout = Path.join(dir, "checkout")
    File.mkdir_p!(Path.join(checkout, "docs/records"))
    File.mkdir_p!(Path.join(checkout, "script"))
    for name <- ~w(evidence evidence.exs evidence.d), do: copy(checkout, "script/#{name}")
    for name <- ~w(evidence verification fuzzing), do: write(checkout, "docs/#{name}.md", "")

    # The folder stands in the checkout of the project, whose history is not its own.
    unknown = "0123456789ab"
    write(checkout, "docs/records/sweep.tsv", "commit\t#{unknown}\t2026-11-29\tclean\n")
    assert check(checkout) == {"", 0}

    git(checkout, ~w(init -q))
    commit(checkout)
    commit(checkout)
    assert {text, 1} = check(checkout)
    assert text =~ "docs/records/sweep.tsv: the commit #{unknown} is not in the history"

    known = checkout |> git(~w(rev-parse --short=12 HEAD~1)) |> String.trim()
    write(checkout, "docs/records/sweep.tsv", rows(List.duplicate(known, 6)))
    assert check(checkout) == {"", 0}

    unknown = for digit <- 1..6, do: String.duplicate("#{digit}", 12)
    write(checkout, "docs/records/sweep.tsv", rows(unknown))
    assert {text, 1} = check(checkout)

    assert for([_, commit] <- Regex.scan(~r/the commit (\d+) is not/, text), do: commit) |> Enum.sort() ==
             unknown

    shallow = Path.join(dir, "shallow")
    commit(checkout)
    git(dir, ["clone", "-q", "--depth", "1", "file://" <> checkout, shallow])
    assert check(shallow) == {"", 0}
  end

  # One of each kind that names a commit; the last one was measured twice.
  defp rows([commit, part, fuzz, again, mutants, mutants_again]) do
    """
    commit\t#{commit}\t2026-11-29\tclean
    part\tmiri\tpassed\t2026-11-29T10:00Z\t9\t#{part}\tclean\tx
    fuzz\tscan\t9\t9\t9\t9\t9\t0\t#{fuzz}\t2026-11-29\tclean
    again\t#{again}\t2026-11-29\tdeep
    mutants\tx.rs\t9\t9\t9\t9\t9\t9\t#{mutants}\t2026-11-29\tclean\t#{mutants_again}
    """
  end

  defp copy(dir, name), do: File.cp_r!(Path.join(@root, name), Path.join(dir, name))
  defp write(dir, name, text), do: File.write!(Path.join(dir, name), text)
  defp check(dir), do: System.cmd("bash", ["script/evidence", "--check"], cd: dir, stderr_to_stdout: true)

  defp commit(dir) do
    git(dir, ~w(add -A))
    git(dir, ~w(-c user.name=x -c user.email=x@x commit -q --allow-empty -m x))
  end

  defp git(dir, arguments) do
    {output, 0} = System.cmd("git", arguments, cd: dir, stderr_to_stdout: true)
    output
  end
end
