defmodule RustyJson.UnpackTest do
  @moduledoc "Packs libraries built on this machine, and installs them in a checkout without Rust."
  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Build
  alias RustyJson.Build.{Archive, Precompiled, Translation}
  alias RustyJson.Test.{Checkout, Judge}

  @root Path.expand("../..", __DIR__)
  @moduletag timeout: 300_000
  if match?({:win32, _}, :os.type()), do: @moduletag(skip: "programs are started as on Unix")

  setup_all do
    {:ok, packed: if(Judge.available?(:native), do: pack!())}
  end

  setup do
    dir = Path.join(System.tmp_dir!(), "rustyjson-unpack-#{System.unique_integer([:positive])}")
    File.mkdir_p!(dir)
    on_exit(fn -> File.rm_rf!(dir) end)
    {:ok, dir: dir}
  end

  # Without priv/, and nothing on the PATH could build one.
  defp checkout(dir), do: Checkout.copy!(Path.join(dir, "rustyjson"))

  defp mix(dir, arguments, build \\ nil, more \\ []) do
    env = [
      {"MIX_ENV", "prod"},
      {"RUSTYJSON_BUILD", build},
      {"CARGO_TARGET_DIR", nil},
      {"RUSTYJSON_ENGINE", nil},
      {"MIX_BUILD_PATH", nil},
      {"MIX_BUILD_ROOT", nil},
      {"MIX_DEPS_PATH", nil},
      {"RUSTYJSON_HEX", "0"},
      {"RUSTYJSON_DEPS", nil},
      {"PATH", path(dir)},
      {"RUSTYJSON_PRECOMPILED", nil} | more
    ]

    System.cmd(System.find_executable("mix"), arguments, cd: dir, env: env, stderr_to_stdout: true)
  end

  # Only the programs that Elixir's own scripts call.
  defp path(dir) do
    bin = Path.join(Path.dirname(dir), "bin")
    File.mkdir_p!(bin)

    for name <- ~w(sh env elixir erl erlexec dirname basename readlink sed uname expr tput stat),
        program = System.find_executable(name),
        do: File.ln_s(program, Path.join(bin, name))

    bin
  end

  # Fake tools: cargo only copies the library that is already built.
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

  # Packed once. A test gets a copy of the archive and of its checksum.
  defp archive(dir, packed) do
    for file <- [packed, packed <> ".sha256"], do: File.cp!(file, Path.join(dir, Path.basename(file)))
    Path.join(dir, Path.basename(packed))
  end

  defp pack! do
    dir = Path.join(System.tmp_dir!(), "rustyjson-packed-#{System.unique_integer([:positive])}")
    on_exit(fn -> File.rm_rf!(dir) end)

    {output, 0} =
      System.cmd(Path.join(@root, "script/package"), [dir],
        env: [{"RUSTYJSON_BUILD", "none"}],
        stderr_to_stdout: true
      )

    output |> String.split() |> List.last()
  end

  if Judge.available?(:native) do
    test "an archive of this machine is all that is needed", %{dir: dir, packed: packed} do
      rustyjson = checkout(dir)
      {output, 0} = mix(rustyjson, ["compile"])

      assert [_] =
               Regex.scan(
                 ~r/warning: cargo \(Rust\) is missing\. Install Rust .*`mix rustyjson\.unpack`/,
                 output
               )

      assert output =~ "\n  * the native library is not built: RustyJson has no native engine"
      assert output =~ "\n  * the WebAssembly module is not built: RustyJson has no wasm engine"

      file = archive(dir, packed)
      assert {output, 0} = mix(rustyjson, ["rustyjson.unpack", file])
      assert output =~ "priv/native/librustyjson_nif.so"

      # What it is made of, with the checksums of the crates.
      bill = rustyjson |> Path.join("priv/native/sbom.cdx.json") |> File.read!() |> RustyJson.decode!()
      assert %{"bomFormat" => "CycloneDX", "components" => components} = bill

      assert %{"version" => _, "hashes" => [%{"alg" => "SHA-256", "content" => checksum}]} =
               Enum.find(components, &(&1["name"] == "itoa"))

      assert File.read!(Path.join(@root, "Cargo.lock")) =~ checksum

      {output, 0} =
        mix(rustyjson, [
          "do",
          "compile.rustyjson",
          "--force",
          "+",
          "run",
          "-e",
          "IO.inspect(RustyJson.engine())"
        ])

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
      Mix.Tasks.Rustyjson.Unpack.run([file])
    end

    sha = :sha256 |> :crypto.hash("no archive") |> Base.encode16()

    assert_raise Mix.Error, ~r/cannot be unpacked/, fn ->
      Mix.Tasks.Rustyjson.Unpack.run([file, "--sha256", sha])
    end
  end

  test "without a checksum it says what is needed", %{dir: dir} do
    file = Path.join(dir, "x.tar.gz")
    File.write!(file, "no archive")

    assert_raise Mix.Error,
                 "#{file}.sha256 does not exist: it, or --sha256 HEX, must give the checksum of the archive",
                 fn ->
                   Mix.Tasks.Rustyjson.Unpack.run([file])
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
                     Mix.Tasks.Rustyjson.Unpack.run([file, "--sha256", "0000"])
                   end
    end

    for name <- ["rustyjson-v0.4.0-#{here}.tar.gz", "x.tar.gz"] do
      file = Path.join(dir, name)
      File.write!(file, "no archive")

      assert_raise Mix.Error, ~r/has the checksum/, fn ->
        Mix.Tasks.Rustyjson.Unpack.run([file, "--sha256", "0000"])
      end
    end
  end

  test "nothing else is written", %{dir: dir} do
    file = Path.join(dir, "x.tar.gz")
    :ok = :erl_tar.create(file, [{~c"priv/native/../../lib/evil.ex", "x"}], [:compressed])
    sha = :sha256 |> :crypto.hash(File.read!(file)) |> Base.encode16()

    assert_raise Mix.Error, ~r/contains an unexpected file/, fn ->
      Mix.Tasks.Rustyjson.Unpack.run([file, "--sha256", sha])
    end
  end

  ## Precompiled libraries, from a server that stands for the page of a release

  @app_version Mix.Project.config()[:version]

  # Starts a server for this folder and returns its address.
  defp serve(folder) do
    RustyJson.Build.Tools.start(:inets)
    folder = String.to_charlist(folder)
    options = [port: 0, bind_address: {127, 0, 0, 1}, server_name: ~c"release", server_root: folder]
    {:ok, server} = apply(:inets, :start, [:httpd, [document_root: folder] ++ options])
    on_exit(fn -> apply(:inets, :stop, [:httpd, server]) end)
    "http://127.0.0.1:#{apply(:httpd, :info, [server])[:port]}"
  end

  defp release(dir) do
    folder = Path.join(dir, "release")
    File.mkdir_p!(folder)
    folder
  end

  defp precompiled(rustyjson, from) do
    settings = Build.settings([], rustyjson, "unused")
    Precompiled.install(from, @app_version, [:native, :guest], settings)
  end

  # An archive of a library that claims to be built from these sources, with its checksum.
  defp pack(folder, rustyjson, settings) do
    library = "priv/native/" <> Path.basename(Build.artifact(:native, rustyjson))
    digest = Build.digest(:native, settings)
    file = Path.join(folder, Archive.name(@app_version, Build.machine()))
    entries = [{library, "a library"}, {library <> ".digest", digest}]
    names = for {name, content} <- entries, do: {String.to_charlist(name), content}
    :ok = :erl_tar.create(file, names, [:compressed])
    File.write!(file <> ".sha256", Archive.sha256(File.read!(file)) <> "  " <> Path.basename(file) <> "\n")
    {file, Path.join(rustyjson, library)}
  end

  test "precompiled: the archive for this machine, from a server and from a folder", %{dir: dir} do
    {rustyjson, folder} = {checkout(dir), release(dir)}
    {_file, library} = pack(folder, rustyjson, Build.settings([], rustyjson, "unused"))

    for from <- [serve(folder), serve(folder) <> "/", folder, "file://" <> folder] do
      File.rm(library)
      assert precompiled(rustyjson, from) == :ok
      assert File.read!(library) == "a library"
    end
  end

  test "precompiled: checksums.txt of the package decides", %{dir: dir} do
    {rustyjson, folder} = {checkout(dir), release(dir)}
    {file, library} = pack(folder, rustyjson, Build.settings([], rustyjson, "unused"))
    from = serve(folder)
    name = Path.basename(file)
    checksums = Path.join(rustyjson, "checksums.txt")

    File.write!(checksums, "#{String.duplicate("0", 64)}  #{name}\n")
    assert {:refused, text} = precompiled(rustyjson, from)

    assert text ==
             "#{from}/#{name} has the checksum #{Archive.sha256(File.read!(file))}, not #{String.duplicate("0", 64)}; " <>
               "nothing was installed"

    refute File.exists?(library)

    File.write!(
      checksums,
      "#{String.duplicate("0", 64)}  rustyjson-v#{@app_version}-sparc64-linux-gnu.tar.gz\n"
    )

    assert precompiled(rustyjson, from) ==
             {:unavailable,
              "the release has no archive for #{Build.machine()}: checksums.txt does not list #{name}"}

    File.write!(checksums, File.read!(file <> ".sha256"))
    assert precompiled(rustyjson, from) == :ok
    assert File.exists?(library)
  end

  test "precompiled: only the parts that are asked for", %{dir: dir} do
    {rustyjson, folder} = {checkout(dir), release(dir)}
    settings = Build.settings([], rustyjson, "unused")
    {_file, library} = pack(folder, rustyjson, settings)
    assert Precompiled.install(folder, @app_version, [:guest], settings) == :ok
    refute File.exists?(library)
  end

  test "precompiled: a relative folder is named by the path that was tried", %{dir: dir} do
    rustyjson = checkout(dir)

    assert {:unavailable, text} = precompiled(rustyjson, "no/archives")
    assert text =~ Path.expand("no/archives/rustyjson-v")
  end

  test "a module never has the translation of another one", %{dir: dir} do
    module = Build.artifact(:guest, dir)
    translation = Translation.file(module)
    files = &[{"priv/wasm/rustyjson.wasm", &1}, {"priv/wasm/rustyjson.wasm.digest", &2}]
    packaged = fn -> File.write!(translation, :zlib.gzip([Translation.banner("of a package"), "int x;"])) end

    names = Precompiled.place(files.("of a package", "sources"), dir)
    assert names == ["priv/wasm/rustyjson.wasm", "priv/wasm/rustyjson.wasm.digest"]
    packaged.()

    # Another build of the same sources.
    assert Precompiled.place(files.("of an archive", "sources"), dir) == []
    assert File.read!(module) == "of a package"
    assert Translation.current?(module)

    # And one of others.
    Precompiled.place([{"priv/native/librustyjson_nif.so", "a library"} | files.("new", "others")], dir)
    assert File.read!(module) == "new"
    refute File.exists?(translation)
    assert File.read!(Path.join(dir, "priv/native/librustyjson_nif.so")) == "a library"

    packaged.()
    Precompiled.place(files.("of a package", "others"), dir)
    assert File.read!(module) == "of a package"
    assert Translation.current?(module)
  end

  test "checksums of sha256sum, which puts a star before the name on Windows" do
    for star <- ["", "*"] do
      text = "AB01 #{star}other.tar.gz\nCD02 #{star}x.tar.gz\n"
      assert Archive.checksum(text, "x.tar.gz") == "cd02"
    end
  end

  test "two builds at once install the same files", %{dir: dir} do
    content = String.duplicate("library", 100_000)
    files = [{"priv/native/librustyjson_nif.so", content}, {"priv/native/librustyjson_nif.so.digest", "0"}]

    1..8
    |> Enum.map(fn _ -> Task.async(fn -> for _ <- 1..20, do: :ok = Archive.place(files, dir) end) end)
    |> Task.await_many(60_000)

    native = Path.join(dir, "priv/native")
    assert native |> File.ls!() |> Enum.sort() == ["librustyjson_nif.so", "librustyjson_nif.so.digest"]
    assert File.read!(Path.join(native, "librustyjson_nif.so")) == content
  end

  test "precompiled: missing, damaged, and made for something else", %{dir: dir} do
    {rustyjson, folder} = {checkout(dir), release(dir)}
    settings = Build.settings([], rustyjson, "unused")
    from = serve(folder)
    place = from <> "/" <> Archive.name(@app_version, Build.machine())

    assert precompiled(rustyjson, from) == {:unavailable, "#{place}.sha256 does not exist (404)"}
    assert {:unavailable, text} = precompiled(rustyjson, "http://127.0.0.1:1")
    assert text =~ "cannot be read"
    assert {:unavailable, text} = precompiled(rustyjson, folder)
    assert text =~ "no such file"

    {file, library} = pack(folder, rustyjson, settings)
    bytes = File.read!(file)
    File.write!(file, binary_part(bytes, 0, byte_size(bytes) - 1))
    assert {:refused, text} = precompiled(rustyjson, from)
    assert text =~ "has the checksum"

    File.write!(file, "no archive")
    File.write!(file <> ".sha256", Archive.sha256("no archive"))
    assert {:refused, text} = precompiled(rustyjson, from)
    assert text =~ "#{place} cannot be unpacked"

    File.write!(file <> ".sha256", "")
    assert {:refused, text} = precompiled(rustyjson, from)
    assert text =~ "has no checksum of rustyjson-v"

    pack(folder, rustyjson, %{settings | system: "sparc64-linux-gnu"})
    assert {:refused, text} = precompiled(rustyjson, from)
    assert text =~ "its native part is for another machine, another allocator or other sources"

    refute File.exists?(library)
  end

  if Judge.available?(:native) do
    test "precompiled: compiling without Rust takes it", %{dir: dir, packed: packed} do
      {rustyjson, folder} = {checkout(dir), release(dir)}
      file = archive(folder, packed)
      env = [{"RUSTYJSON_PRECOMPILED", serve(folder)}]
      arguments = ["do", "compile", "+", "run", "-e", "IO.inspect(RustyJson.engine())"]

      {output, 0} = mix(rustyjson, arguments, nil, env)
      refute output =~ "warning"
      assert output =~ "rustyjson: precompiled libraries installed from http://127.0.0.1:"
      assert output =~ ":native"

      File.rm_rf!(Path.join(rustyjson, "priv"))
      File.write!(file, "damaged")
      {output, 1} = mix(rustyjson, ["compile"], nil, env)
      assert output =~ "has the checksum"
      assert output =~ "nothing was installed"
    end
  end
end
