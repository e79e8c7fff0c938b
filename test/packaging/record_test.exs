defmodule RustyJson.RecordTest do
  @moduledoc "The record of script/test --full: what a run writes, and when a later run adds to it."
  use ExUnit.Case, async: true

  @root Path.expand("../..", __DIR__)
  @moduletag :once
  @moduletag timeout: 120_000
  unless System.find_executable("bash") && System.find_executable("git"),
    do: @moduletag(skip: "needs bash and git")

  # Two parts: one whose step runs tests and skips some, and one that passes only when a file is there.
  @script """
  set -euo pipefail
  root=$PWD
  have() { command -v "$1" >/dev/null 2>&1; }
  version_of() { echo 1.0.0; }
  . script/steps
  one() { step "mix test, one" printf '5 tests, 1 failure, 2 skipped\\nskipped: 2 tests: no %s\\n' "$root/corpus"; }
  two() { step "two" looks; }
  looks() { echo "found: a file in $root/x"; test -f there; }
  record_open full parts
  for each in "$@"; do ! passed_before "$each" || { echo "$each has passed"; continue; }; run_part "$each"; done
  finish || true
  """

  @tag :tmp_dir
  test "parts have a commit of their own, and are replaced when they run again", %{tmp_dir: dir} do
    File.mkdir_p!(Path.join(dir, "script"))

    for name <- ~w(steps record),
        do: File.cp!(Path.join(@root, "script/#{name}"), Path.join(dir, "script/#{name}"))

    File.write!(Path.join(dir, "run"), @script)
    git(dir, ~w(init -q))
    File.write!(Path.join(dir, ".gitignore"), "_build\nthere\n")
    commit(dir)

    assert run(dir, ~w(one two)) =~ "2 passed, 2 failed, 2 skipped"
    record = rows(dir)

    assert [
             ["one", "failed", _date, _seconds, commit, "clean", processor],
             ["two", "failed", _, _, commit, "clean", processor]
           ] = record["part"]

    assert [[_kind, ^processor, _count, _system]] = record["machine"]

    assert [["one", "mix test, one", command, "2", "1", _], ["two", "two", "looks", "0", "1", _]] =
             record["step"]

    # Without the folder of this machine.
    assert command == ~S(printf 5 tests, 1 failure, 2 skipped\nskipped: 2 tests: no %s\n corpus)
    assert record["found"] == [["two", "two", "a file in x"]]
    assert record["skip"] == [["one", "mix test, one", "2", "no corpus"]]
    # A part that runs again replaces what it said before; the other's rows stay.
    File.write!(Path.join(dir, "there"), "")
    run(dir, ~w(two))
    assert [["one", "failed" | _], ["two", "passed" | _]] = rows(dir)["part"]
    assert length(rows(dir)["step"]) == 2
    assert length(rows(dir)["found"]) == 1
    assert run(dir, ~w(two)) =~ "two has passed"

    # A commit of the record alone changes no source. After any other one a part runs again; the rest of the record stays.
    commit(dir)
    assert run(dir, ~w(two)) =~ "two has passed"
    File.write!(Path.join(dir, "source"), "new")
    commit(dir)
    refute run(dir, ~w(two)) =~ "has passed"

    assert [["one", "failed", _, _, ^commit, "clean", _], ["two", "passed", _, _, other, "clean", _]] =
             rows(dir)["part"]

    assert other != commit

    # What is not committed has no commit that others could check.
    File.write!(Path.join(dir, "source"), "newer")
    run(dir, ~w(two))
    assert ["two", "passed", _, _, _, "changed", _] = List.last(rows(dir)["part"])

    # Rows of another machine stay, and name its processor.
    assert length(rows(dir)["machine"]) == 1
    file = Path.join(dir, "docs/records/full.tsv")
    File.write!(file, file |> File.read!() |> String.replace(processor, "Another"))
    run(dir, ~w(two))
    assert [["one" | one], ["two" | two]] = rows(dir)["part"]
    assert {List.last(one), List.last(two)} == {"Another", processor}
    assert [[_, "Another" | _], [_, ^processor | _]] = rows(dir)["machine"]
  end

  defp run(dir, parts) do
    {output, 0} = System.cmd("bash", ["run" | parts], cd: dir, stderr_to_stdout: true)
    output
  end

  defp rows(dir) do
    file = Path.join(dir, "docs/records/full.tsv")
    rows = for line <- file |> File.read!() |> String.split("\n", trim: true), do: String.split(line, "\t")
    Enum.group_by(rows, &hd/1, &tl/1)
  end

  defp commit(dir) do
    git(dir, ~w(add -A))
    git(dir, ~w(-c user.name=a -c user.email=a@b commit -q -m x))
  end

  defp git(dir, arguments), do: {_, 0} = System.cmd("git", arguments, cd: dir, stderr_to_stdout: true)
end
