defmodule RustyJson.Test.Replaceable do
  @moduledoc """
  Lets the built-in host run other modules than its own, which misbehave.

  The module is part of the native library. So a library without one takes its place (the feature `replaceable`), which loads the
  modules of tests: each is translated and compiled like the real one. Modules that differ only in the record they answer with are
  compiled once, and the record is put into the library.
  """

  alias RustyJson.Build.{Tools, Translation}
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Test.Guest

  @source "lib/rustyjson/engine/native/nif.ex"
  @runtime Path.expand("wasm/host/runtime")

  @doc "The reason why this cannot be done on this machine, or nil."
  def missing do
    cond do
      match?({:missing, _}, Tools.wasm2c()) -> elem(Tools.wasm2c(), 1)
      System.find_executable("cargo") == nil -> "cargo is missing"
      System.find_executable("cc") == nil -> "a C compiler is missing"
      true -> nil
    end
  end

  @doc "Gives the built-in host another module, or its own again with nil."
  def replace(nil) do
    unload()
    {:module, Nif} = :code.load_file(Nif)
    :ok
  end

  def replace(wasm) do
    door =
      once(:door, fn ->
        build()
        door()
      end)

    {empty, slot} = Guest.emptied(wasm)
    compiled = once({:compiled, :erlang.md5(empty)}, fn -> compile(empty) end)
    module = once({:module, :erlang.md5(wasm)}, fn -> fill(compiled, wasm, slot) end)

    unless function_exported?(Nif, :sandbox_replace, 1) do
      unload()
      {:module, Nif} = :code.load_binary(Nif, String.to_charlist(@source), door)
    end

    with {:fault, :unavailable, reason} <- apply(Nif, :sandbox_replace, [module]), do: {:error, reason}
    with {:fault, :unavailable, reason} <- Nif.sandbox_status(), do: {:error, reason}
  end

  defp unload do
    :code.purge(Nif)
    :code.delete(Nif)
    :code.purge(Nif)
  end

  defp once(key, fun) do
    with nil <- :persistent_term.get({__MODULE__, key}, nil) do
      value = fun.()
      :persistent_term.put({__MODULE__, key}, value)
      value
    end
  end

  # The library, in the folder of the build. RUSTYJSON_REPLACEABLE names one that was built before, with AddressSanitizer.
  defp build do
    library = System.get_env("RUSTYJSON_REPLACEABLE") || cargo()
    File.cp!(library, library() <> ".so")
  end

  defp cargo do
    target = System.get_env("CARGO_TARGET_DIR") || Path.expand("_build/rustyjson")
    arguments = ~w(build --profile quick -p rustyjson-nif --features replaceable)
    {output, status} = run("cargo", arguments, [{"CARGO_TARGET_DIR", target}])
    if status != 0, do: raise("cargo could not build the library of the tests:\n" <> output)
    Path.join(target, "quick/librustyjson_nif.so")
  end

  # What is loaded into this VM beforehand, such as the runtime of AddressSanitizer, is not meant for compilers.
  defp run(program, arguments, env \\ []),
    do: System.cmd(program, arguments, stderr_to_stdout: true, env: [{"LD_PRELOAD", nil} | env])

  defp library, do: Path.join(folder(), "library")

  # The module that loads it, with one function more.
  defp door do
    source = File.read!(@source)
    path = inspect(library())

    changed =
      source
      |> String.replace(~r/  def path do\n.*?\n  end\n/s, "  def path, do: #{path}\n")
      |> String.replace(
        ~r/\nend\n\z/,
        "\n  def sandbox_replace(_path), do: :erlang.nif_error(:not_loaded)\nend\n"
      )

    true = changed =~ path
    options = Code.compiler_options(ignore_module_conflict: true)
    unload()
    [{Nif, door}] = Code.compile_string(changed, @source)
    Code.compiler_options(options)
    door
  end

  defp fill(compiled, wasm, slot) do
    library = base(wasm) <> ".so"
    File.write!(library, Guest.filled(File.read!(compiled), slot))
    library
  end

  defp base(wasm), do: Path.join(folder(), Base.encode16(:erlang.md5(wasm), case: :lower))

  # Apart from the library that it may become with an empty slot.
  defp compile(wasm) do
    base = base(wasm) <> "-empty"
    File.write!(base <> ".wasm", wasm)
    {:ok, text, _counts} = Translation.translate(base <> ".wasm")
    File.write!(base <> ".c", text)

    arguments =
      ~w(-shared -fPIC -O1 -w -std=gnu11 -I#{@runtime} -DRUSTYJSON_TABLE=rustyjson_module_baseline) ++
        [
          "-DRUSTYJSON_GUEST=\"#{base}.c\"",
          @runtime <> "/module.c",
          @runtime <> "/runtime.c",
          "-lm",
          "-o",
          base <> ".so"
        ]

    {output, status} = run("cc", arguments)
    if status != 0, do: raise("a module of the tests could not be compiled:\n" <> output)
    base <> ".so"
  end

  defp folder do
    once(:folder, fn ->
      folder = Path.join(System.tmp_dir!(), "rustyjson-guests-#{System.pid()}")
      File.mkdir_p!(folder)
      System.at_exit(fn _status -> File.rm_rf(folder) end)
      folder
    end)
  end
end
