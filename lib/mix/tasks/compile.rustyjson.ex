defmodule Mix.Tasks.Compile.Rustyjson do
  @shortdoc "Builds the native library and the WebAssembly module"

  @moduledoc """
  Builds the Rust parts of RustyJson into `priv/`, each if its sources changed.

  | part | result | needs |
  |---|---|---|
  | `:guest` | `priv/wasm/rustyjson.wasm`, and the same as C | cargo, the target `wasm32-unknown-unknown`, `wasm-opt`, `wasm2c` |
  | `:native` | `priv/native/librustyjson_nif.so`, with both engines | cargo, a C compiler |

  `RUSTYJSON_BUILD=native,guest` (or `none`) chooses the parts, or `config :rustyjson, build: [...]`; by default both are built.
  The native library contains the module, so `:guest` alone is for applications that use the wasm engine with the Hex package
  wasmex. (`:host` is accepted and needs nothing: before 0.4 it was a library of its own.)

  A missing tool causes a warning that says what will be missing and how to get it; the application still compiles. Nothing is
  built if the artifacts are up to date, such as those of a package. `FORCE_RUSTYJSON_BUILD=true` runs cargo anyway.

  `config :rustyjson, precompiled: "https://…"`, or `RUSTYJSON_PRECOMPILED`, names where the archives of a release are: an address or
  the absolute path of a folder. The archive for this machine is checked by its checksum, which `checksums.txt` in the package has, or
  `FILE.sha256` beside the archive. Parts that would have to be built are then taken from it. If there is no archive for this machine, a
  warning says so and the libraries are built. An archive that is not what the checksum says ends the compile.

  Cargo works in `_build/rustyjson`, or in `CARGO_TARGET_DIR`. `RUSTYJSON_ALLOCATOR` chooses the allocator of the native
  library: `mimalloc` (default), `jemalloc`, `snmalloc` or `system`. `RUSTYJSON_TARGET`, such as `x86_64-unknown-linux-gnu.2.28`, builds it
  with cargo-zigbuild for machines with that glibc or a newer one. `RUSTYJSON_AUDITABLE=1` builds it with cargo-auditable, which lists the
  crates in the library for scanners.
  """

  use Mix.Task.Compiler

  alias RustyJson.Build
  alias RustyJson.Build.Precompiled

  @doors [native: RustyJson.Engine.Native.Nif]

  @impl true
  def run(_args) do
    config = Application.get_all_env(:rustyjson)
    settings = Build.settings(config, File.cwd!(), target_dir())

    parts = Build.parts(config)
    results = precompiled(Precompiled.from(config), parts, settings) || built(parts, settings)
    link_priv()
    open_again(results)
    report(results)
    outcome(results)
  end

  @impl true
  def clean do
    Enum.each(Build.all(), &Build.clean(&1, File.cwd!()))
  end

  # A new module is a new library.
  defp built(parts, settings) do
    ahead = Build.ahead(parts, settings)

    {results, _settings} =
      Enum.map_reduce(parts, settings, fn part, settings ->
        result = Build.build(part, settings)
        {{part, result}, if(result == :built, do: %{settings | force: true}, else: settings)}
      end)

    Task.await_many(ahead, :infinity)
    results
  end

  # Only what is refused ends the compile: where there is no archive, the libraries are built.
  defp precompiled(nil, _parts, _settings), do: nil
  defp precompiled(_from, _parts, %{force: true}), do: nil

  defp precompiled(from, parts, settings) do
    missing = Enum.reject(parts, &Build.current?(&1, settings))

    case missing != [] and Precompiled.install(from, Mix.Project.config()[:version], missing, settings) do
      {:refused, text} ->
        for part <- missing, do: {part, {:failed, text}}

      {:unavailable, text} ->
        Mix.shell().error("warning: no precompiled libraries: #{text}")
        nil

      :ok ->
        Mix.shell().info("rustyjson: precompiled libraries installed from #{from}")
        parts |> built(settings) |> Enum.map(&installed(&1, missing))

      false ->
        nil
    end
  end

  # This VM has not loaded it yet.
  defp installed({part, :current}, missing), do: {part, if(part in missing, do: :built, else: :current)}
  defp installed(result, _missing), do: result

  # Compiling these modules loaded them with the old library, or none. This VM may go on to run the application, so unload them.
  defp open_again(results) do
    for {part, door} <- @doors, results[part] == :built and :code.is_loaded(door) != false do
      :code.purge(door)
      :code.delete(door)
      :code.purge(door)
    end
  end

  # One warning per cause.
  defp report(results) do
    for({_part, {:missing, cause, effect}} <- results, do: {cause, effect})
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Enum.each(fn {cause, effects} -> Mix.shell().error(warning(cause, effects)) end)

    for {_part, {:failed, text}} <- results, do: Mix.shell().error("error: " <> text)
  end

  defp warning(cause, effects), do: "warning: #{cause}" <> Enum.map_join(effects, &"\n  * #{&1}")

  defp outcome(results) do
    failed = for {part, {:failed, text}} <- results, do: diagnostic(part, text)

    cond do
      failed != [] -> {:error, failed}
      Enum.any?(results, &match?({_, :built}, &1)) -> {:ok, []}
      true -> {:noop, []}
    end
  end

  defp diagnostic(part, text) do
    %Mix.Task.Compiler.Diagnostic{
      compiler_name: "rustyjson",
      file: Path.expand("Cargo.toml"),
      message: "#{part}: #{text}",
      position: 0,
      severity: :error
    }
  end

  # One cargo directory for every MIX_ENV, because the artifacts are the same.
  defp target_dir do
    build =
      if System.get_env("MIX_BUILD_PATH"),
        do: Mix.Project.build_path(),
        else: Path.dirname(Mix.Project.build_path())

    System.get_env("CARGO_TARGET_DIR") || Path.join(build, "rustyjson")
  end

  # Mix linked priv/ into the build before this compiler created it.
  defp link_priv, do: Mix.Project.build_structure()
end
