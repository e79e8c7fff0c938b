defmodule RustyJson.PortableTest do
  @moduledoc "Libraries for machines with an older C library: how they are built, and the reader that says what a library needs."
  use ExUnit.Case, async: false

  alias RustyJson.Build
  alias RustyJson.Test.Judge

  @root Path.expand("../..", __DIR__)
  @library Path.join(@root, "priv/native/librustyjson_nif.so")
  @moduletag timeout: 120_000
  unless match?({:unix, :linux}, :os.type()), do: @moduletag(skip: "reads libraries of Linux")

  defp elf(arguments) do
    System.cmd("elixir", [Path.join(@root, "script/elf.exs") | arguments], stderr_to_stdout: true)
  end

  if Judge.available?(:native) and System.find_executable("readelf") do
    test "the reader says what readelf says" do
      {output, 0} = elf([@library])
      {dynamic, 0} = System.cmd("readelf", ["-dW", @library])
      {versions, 0} = System.cmd("readelf", ["-VW", @library])

      needed = Regex.scan(~r/NEEDED.*\[(.*)\]/, dynamic, capture: :all_but_first)
      assert needed != []
      assert Regex.scan(~r/^needs (.*)$/m, output, capture: :all_but_first) == needed

      newest =
        ~r/GLIBC_([\d.]+)/
        |> Regex.scan(versions, capture: :all_but_first)
        |> Enum.map(fn [version] -> version |> String.split(".") |> Enum.map(&String.to_integer/1) end)
        |> Enum.max(fn -> nil end)

      assert output =~ "\nglibc #{if newest, do: Enum.join(newest, "."), else: "none"}\n"
    end
  end

  if Judge.available?(:native) do
    test "a library that needs more is refused" do
      assert {output, 1} = elf([@library, "2.1"])
      assert output =~ ~r/needs glibc 2\.\d+, more than 2\.1$/m
    end
  end

  @tag :tmp_dir
  test "RUSTYJSON_TARGET builds with zig, and takes the library of that target", %{tmp_dir: root} do
    bin = Path.join(root, "bin")
    output = Path.join(root, "target/x86_64-unknown-linux-gnu/release")
    Enum.each([bin, output], &File.mkdir_p!/1)
    File.write!(Path.join(output, "librustyjson_nif.so"), "for old machines")

    for {name, line} <- [
          {"cargo", ~s(echo "$@" >arguments)},
          {"rustc", "echo rustc 1.95.0"},
          {"cc", "exit 1"}
        ] do
      File.write!(Path.join(bin, name), "#!/bin/sh\n#{line}\n")
      File.chmod!(Path.join(bin, name), 0o755)
    end

    path = System.get_env("PATH")
    on_exit(fn -> System.put_env("PATH", path) end)
    System.put_env("PATH", bin <> ":" <> path)

    settings = %{
      Build.settings([], root, Path.join(root, "target"))
      | target: "x86_64-unknown-linux-gnu.2.28",
        auditable: true
    }

    assert Build.build(:native, settings) == :built

    assert File.read!(Path.join(root, "arguments")) =~
             "auditable zigbuild --target x86_64-unknown-linux-gnu.2.28 --profile release"

    assert File.read!(Build.artifact(:native, root)) == "for old machines"
    # The digest says which sources it is made from, not for which machine: one build serves them all.
    assert Build.digest(:native, settings) == Build.digest(:native, %{settings | target: nil})
  end
end
