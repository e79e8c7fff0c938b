defmodule RustyJson.ReleaseTest do
  @moduledoc "A release contains the libraries and the module, and runs from any folder."
  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Checkout, Judge}

  @app Path.expand("../fixtures/release_app", __DIR__)
  @root Path.expand("../..", __DIR__)
  @moduletag timeout: 600_000
  if match?({:win32, _}, :os.type()), do: @moduletag(skip: "programs are started as on Unix")

  setup_all do
    dir = Path.join(System.tmp_dir!(), "rustyjson-release-#{System.unique_integer([:positive])}")
    File.mkdir_p!(dir)
    on_exit(fn -> File.rm_rf!(dir) end)

    env = [
      {"MIX_ENV", "prod"},
      {"MIX_BUILD_PATH", Path.join(dir, "build")},
      {"RUSTYJSON_PATH", @root},
      {"RUSTYJSON_BUILD", "none"},
      {"RUSTYJSON_HEX", "0"},
      {"RUSTYJSON_DEPS", nil}
    ]

    File.cp_r!(@app, Path.join(dir, "app"))
    Checkout.seed!(Path.join(dir, "build"))
    arguments = ["release", "--path", Path.join(dir, "made")]

    {output, status} =
      System.cmd("mix", arguments, cd: Path.join(dir, "app"), env: env, stderr_to_stdout: true)

    assert status == 0, output

    # The folder in which the release was built no longer exists.
    moved = Path.join(dir, "elsewhere")
    File.rename!(Path.join(dir, "made"), moved)
    File.rm_rf!(Path.join(dir, "build"))
    File.rm_rf!(Path.join(dir, "app"))
    {:ok, release: moved}
  end

  defp eval(release, code, env) do
    env = [{"RELEASE_DISTRIBUTION", "none"}, {"RUSTYJSON_ENGINE", nil} | env]
    System.cmd(Path.join(release, "bin/sample"), ["eval", code], cd: "/", env: env, stderr_to_stdout: true)
  end

  if Judge.available?(:native) do
    test "native", %{release: release} do
      assert {output, 0} = eval(release, "Sample.run()", [])
      assert output =~ ~s(engine native\n{"a":[1,2.5,null]}\n3000001 elements)
    end
  end

  if Judge.available?(:built_in) do
    test "the sandbox, by runtime.exs", %{release: release} do
      assert {output, 0} = eval(release, "Sample.run()", [{"SAMPLE_ENGINE", "wasm"}])

      assert output =~
               ~s(engine wasm\n{"a":[1,2.5,null]}\nthe call needs more memory than max_memory: 8388608 bytes)
    end
  end

  test "the doctor, without Mix", %{release: release} do
    checked = "RustyJson.CLI.Doctor.run() == :error and exit({:shutdown, 1})"
    assert {output, 0} = eval(release, checked, [])
    assert output =~ "passed: decode, encode, errors"
    refute output =~ "cargo"

    [library] = Path.wildcard(Path.join(release, "lib/rustyjson-*/priv/native/*.so"))
    File.rename!(library, library <> ".away")
    assert {output, 1} = eval(release, checked, [])

    # A header is enough for the loader, which says "No such file or directory".
    <<start::binary-size(18), processor::16-little, rest::binary>> = File.read!(library <> ".away")
    other = %{62 => 183, 183 => 62, 243 => 62}[processor]
    File.write!(library, <<start::binary, other::16-little, rest::binary>>)
    assert {refused, 1} = eval(release, checked, [])
    File.rename!(library <> ".away", library)

    assert output =~ ~r/native +MISSING: there is no native library/
    assert output =~ "build what is MISSING on the machine that makes the release"
    assert output =~ "then make the release again"
    refute output =~ "mix deps.compile"

    other_machine = ~r/MISSING: the native library does not load: it is for \w+, but this machine is \w+\. /
    assert [_native, _built_in] = Regex.scan(other_machine, refused)
    refute refused =~ ~r/mix deps.compile|No such file/
    refute output =~ "cargo"
  end
end
