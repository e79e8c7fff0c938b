defmodule RustyJson.Test.Checkout do
  @moduledoc """
  Copies of the sources that are already compiled, for tests that start Mix in a project of their own.

  To compile the library takes longer than most of what such a test does, so it is compiled once, without engines, in a folder of the
  build that later runs find again. Sources and compiled files keep their times, by which Mix sees that nothing changed.
  """

  @sources ~w(lib src core terms nif wasm mix.exs .formatter.exs .cargo Cargo.toml Cargo.lock)

  @doc "Writes a compiled checkout without engines to this folder, which must not exist, and returns the folder."
  @spec copy!(Path.t()) :: Path.t()
  def copy!(target) do
    compiled!()
    File.mkdir_p!(Path.dirname(target))
    cp!([place()], target)
  end

  @doc "Writes the compiled library where Mix looks for it in this folder of a build."
  @spec seed!(Path.t()) :: Path.t()
  def seed!(build) do
    compiled!()
    library = Path.join(build, "lib/rustyjson")
    File.mkdir_p!(Path.dirname(library))
    cp!([Path.join(place(), "_build/prod/lib/rustyjson")], library)
    # A relative link, which Mix makes again.
    File.rm(Path.join(library, "priv"))
    library
  end

  defp compiled!,
    do: :global.trans({__MODULE__, self()}, fn -> once(:persistent_term.get(__MODULE__, false)) end)

  defp once(true), do: :ok

  defp once(false) do
    File.mkdir_p!(place())
    for name <- @sources, do: File.rm_rf!(Path.join(place(), name))
    # Tests run in the folder of the sources.
    cp!(for(name <- @sources, File.exists?(name), do: Path.expand(name)), place())
    {_output, 0} = System.cmd("mix", ["compile"], cd: place(), env: env(), stderr_to_stdout: true)
    :persistent_term.put(__MODULE__, true)
  end

  defp place, do: Path.join(Mix.Project.build_path(), "checkout")

  defp env do
    [{"MIX_ENV", "prod"}, {"RUSTYJSON_BUILD", "none"}, {"RUSTYJSON_HEX", "0"}] ++
      for(
        name <- ~w(RUSTYJSON_DEPS RUSTYJSON_PRECOMPILED MIX_BUILD_ROOT MIX_BUILD_PATH MIX_DEPS_PATH),
        do: {name, nil}
      )
  end

  defp cp!(from, to) do
    {"", 0} = System.cmd("cp", ["-a" | from] ++ [to], stderr_to_stdout: true)
    to
  end
end
