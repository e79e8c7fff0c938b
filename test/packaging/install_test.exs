defmodule RustyJson.InstallTest do
  @moduledoc "Libraries that were built here, packed, and installed where there is no Rust."
  use ExUnit.Case, async: true

  alias RustyJson.Test.Judge

  @root Path.expand("../..", __DIR__)
  @moduletag timeout: 300_000
  if match?({:win32, _}, :os.type()), do: @moduletag(skip: "programs are started as on Unix")

  setup do
    dir = Path.join(System.tmp_dir!(), "rustyjson-install-#{System.unique_integer([:positive])}")
    File.mkdir_p!(dir)
    on_exit(fn -> File.rm_rf!(dir) end)
    {:ok, dir: dir}
  end

  # A checkout without priv/, and nothing on the PATH that could build one.
  defp checkout(dir) do
    target = Path.join(dir, "rustyjson")
    File.mkdir_p!(target)

    for name <- ~w(lib core nif wasm mix.exs .formatter.exs .cargo Cargo.toml Cargo.lock),
        File.exists?(Path.join(@root, name)),
        do: File.cp_r!(Path.join(@root, name), Path.join(target, name))

    target
  end

  defp mix(dir, arguments, build \\ nil) do
    env = [
      {"MIX_ENV", "prod"},
      {"RUSTYJSON_BUILD", build},
      {"CARGO_TARGET_DIR", nil},
      {"RUSTYJSON_ENGINE", nil},
      {"MIX_BUILD_PATH", nil},
      {"RUSTYJSON_HEX", "0"},
      {"RUSTYJSON_DEPS", nil},
      {"PATH", path(dir)}
    ]

    System.cmd(System.find_executable("mix"), arguments, cd: dir, env: env, stderr_to_stdout: true)
  end

  # Only what Elixir's own scripts call.
  defp path(dir) do
    bin = Path.join(Path.dirname(dir), "bin")
    File.mkdir_p!(bin)

    for name <- ~w(sh env elixir erl erlexec dirname basename readlink sed uname expr tput stat),
        program = System.find_executable(name),
        do: File.ln_s(program, Path.join(bin, name))

    bin
  end

  # Tools that build what is built already.
  defp tools(dir) do
    built = Path.join(@root, "priv/native/librustyjson_nif.so")
    copy = ~s(mkdir -p "$CARGO_TARGET_DIR/release" && cp "#{built}" "$CARGO_TARGET_DIR/release/")

    for {name, line} <- [{"cargo", copy}, {"rustc", "echo rustc 1.95.0"}, {"cc", "exit 1"}] do
      file = Path.join(path(dir), name)
      File.write!(file, "#!/bin/sh\n#{line}\n")
      File.chmod!(file, 0o755)
    end

    for name <- ~w(mkdir cp), do: File.ln_s(System.find_executable(name), Path.join(path(dir), name))
  end

  defp archive(dir) do
    {output, 0} =
      System.cmd(Path.join(@root, "script/package"), [dir],
        env: [{"RUSTYJSON_BUILD", "none"}],
        stderr_to_stdout: true
      )

    output |> String.split() |> List.last()
  end

  if Judge.available?(:native) do
    test "an archive of this machine is all that is needed", %{dir: dir} do
      rustyjson = checkout(dir)
      {output, 0} = mix(rustyjson, ["compile"])

      assert [_] =
               Regex.scan(
                 ~r/warning: cargo \(Rust\) is missing\. Install Rust .*`mix rustyjson\.install`/,
                 output
               )

      assert output =~ "\n  * the native library is not built: RustyJson has no native engine"
      assert output =~ "\n  * the WebAssembly module is not built: RustyJson has no wasm engine"

      file = archive(dir)
      assert {output, 0} = mix(rustyjson, ["rustyjson.install", file])
      assert output =~ "priv/native/librustyjson_nif.so"

      {output, 0} =
        mix(rustyjson, ["do", "compile", "--force", "+", "run", "-e", "IO.inspect(RustyJson.engine())"])

      refute output =~ "warning"
      assert output =~ ":native"
    end
  end

  if Judge.available?(:native) do
    test "what is built is there for the same run", %{dir: dir} do
      rustyjson = checkout(dir)
      tools(rustyjson)
      {output, 0} = mix(rustyjson, ["run", "-e", "IO.inspect(RustyJson.engine())"], "native")
      refute output =~ "warning"
      assert output =~ ":native"
    end
  end

  test "what is not as its checksum says is not taken", %{dir: dir} do
    file = Path.join(dir, "x.tar.gz")
    File.write!(file, "no archive")
    File.write!(file <> ".sha256", "0000  x.tar.gz\n")

    assert_raise Mix.Error, ~r/has the checksum [0-9a-f]{64}, not 0000/, fn ->
      Mix.Tasks.Rustyjson.Install.run([file])
    end

    sha = :sha256 |> :crypto.hash("no archive") |> Base.encode16()

    assert_raise Mix.Error, ~r/cannot be unpacked/, fn ->
      Mix.Tasks.Rustyjson.Install.run([file, "--sha256", sha])
    end
  end

  test "without a checksum it says what is needed", %{dir: dir} do
    file = Path.join(dir, "x.tar.gz")
    File.write!(file, "no archive")

    assert_raise Mix.Error,
                 "#{file}.sha256 does not exist: it, or --sha256 HEX, must give the checksum of the archive",
                 fn ->
                   Mix.Tasks.Rustyjson.Install.run([file])
                 end
  end

  test "an archive of another kind of machine is refused", %{dir: dir} do
    here = RustyJson.Build.machine()

    for {version, machine} <- [{"0.4.0", "sparc64-linux-gnu"}, {"0.4.0-rc.1", "sparc64-windows"}] do
      file = Path.join(dir, "rustyjson-v#{version}-#{machine}.tar.gz")
      File.write!(file, "no archive")

      assert_raise Mix.Error,
                   "#{file} is for #{machine}, but this machine is #{here}; nothing was installed",
                   fn ->
                     Mix.Tasks.Rustyjson.Install.run([file, "--sha256", "0000"])
                   end
    end

    for name <- ["rustyjson-v0.4.0-#{here}.tar.gz", "x.tar.gz"] do
      file = Path.join(dir, name)
      File.write!(file, "no archive")

      assert_raise Mix.Error, ~r/has the checksum/, fn ->
        Mix.Tasks.Rustyjson.Install.run([file, "--sha256", "0000"])
      end
    end
  end

  test "nothing else is written", %{dir: dir} do
    file = Path.join(dir, "x.tar.gz")
    :ok = :erl_tar.create(file, [{~c"priv/native/../../lib/evil.ex", "x"}], [:compressed])
    sha = :sha256 |> :crypto.hash(File.read!(file)) |> Base.encode16()

    assert_raise Mix.Error, ~r/contains an unexpected file/, fn ->
      Mix.Tasks.Rustyjson.Install.run([file, "--sha256", sha])
    end
  end
end
