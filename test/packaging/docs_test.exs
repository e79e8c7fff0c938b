defmodule RustyJson.DocsTest do
  @moduledoc "Documents: their code parses as Elixir, and the files that they link to exist."
  use ExUnit.Case, async: true

  @moduletag :once

  @root Path.expand("../..", __DIR__)
  @files ~w(*.md docs/**/*.md docs/**/*.cheatmd livebooks/*.livemd)
         |> Enum.flat_map(&Path.wildcard(Path.join(@root, &1)))

  # A script creates these, so they may not exist yet.
  @made ~w(bench/results fuzz/corpus)

  for file <- @files do
    name = Path.relative_to(file, @root)

    test "#{name}: code" do
      for [_, code] <- Regex.scan(~r/^```elixir\n(.*?)^```/ms, File.read!(unquote(file))) do
        assert {:ok, _} = Code.string_to_quoted(code), code
      end
    end

    test "#{name}: links" do
      text = Regex.replace(~r/^```.*?^```/ms, File.read!(unquote(file)), "")

      for [_, target] <- Regex.scan(~r/\]\(([^)#\s]+)[^)]*\)/, text), not (target =~ "://") do
        assert File.exists?(Path.expand(target, Path.dirname(unquote(file)))), "#{target} is not there"
      end

      for [_, path] <-
            Regex.scan(~r/`((?:lib|core|nif|wasm|test|docs|script|fuzz|bench|livebooks)\/[\w\/.]*)`/, text),
          path not in @made do
        assert File.exists?(Path.join(unquote(@root), path)), "#{path} is not there"
      end
    end
  end

  # Direct dependencies of the crates, without those on other crates of the workspace.
  @manifests ~w(core terms nif wasm/guest wasm/host wasm/model fuzz)

  test "docs/dependencies.md: every direct dependency, with the version in the lock files" do
    rows =
      Regex.scan(~r/^\| \[([\w-]+)\]\S+ \| (\S+) \|/m, read("docs/dependencies.md"), capture: :all_but_first)

    listed = for [name, _version] <- rows, do: name
    assert Enum.sort(listed) == @manifests |> Enum.flat_map(&direct/1) |> Enum.uniq() |> Enum.sort()

    locks = Enum.map_join(["", "fuzz/", "wasm/model/"], &read(&1 <> "Cargo.lock"))
    for [name, version] <- rows, do: assert(locks =~ ~s(name = "#{name}"\nversion = "#{version}), name)
  end

  test "docs/dependencies.md: the audits name the crates of the native library with the versions in the lock file" do
    rows = Regex.scan(~r/^\| ([\w-]+) \| ([\d.]+) \|/m, read("docs/dependencies.md"), capture: :all_but_first)
    assert length(rows) > 20

    for [name, version] <- rows,
        do: assert(read("Cargo.lock") =~ ~s(name = "#{name}"\nversion = "#{version}"), name)
  end

  test "docs/openvex.json: statements about this version" do
    {:ok, vex} = RustyJson.decode(read("docs/openvex.json"))
    assert vex["@context"] =~ "openvex.dev/ns/"
    version = Mix.Project.config()[:version]

    for statement <- vex["statements"] do
      assert %{"vulnerability" => %{"name" => name}, "status" => "not_affected", "justification" => why} =
               statement

      assert why in ~w(vulnerable_code_not_present inline_mitigations_already_exist)
      assert [%{"@id" => product}] = statement["products"]
      assert product == "pkg:hex/rustyjson@#{version}", name
    end

    # What the first statement rests on.
    [_, mimalloc] = Regex.run(~r/name = "mimalloc"\nversion = "([\d.]+)"/, read("Cargo.lock"))
    assert Version.compare(mimalloc, "0.1.39") != :lt
  end

  defp direct(folder) do
    for section <- Regex.scan(~r/^\[[^\]\n]*dependencies\]\n(.*?)(?=^\[|\z)/ms, read("#{folder}/Cargo.toml")),
        [_, name] <- Regex.scan(~r/^([\w-]+)[ .]/m, List.last(section)),
        not String.starts_with?(name, "rustyjson-"),
        do: name
  end

  defp read(name), do: File.read!(Path.join(@root, name))
end
