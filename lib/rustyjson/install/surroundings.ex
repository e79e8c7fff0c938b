defmodule RustyJson.Install.Surroundings do
  @moduledoc false
  # What the steps have to know about the project in this folder.

  alias RustyJson.Encoder.Interop
  alias RustyJson.Install
  alias RustyJson.Install.Parsers

  @sources "{lib,web}/**/*.ex"

  @doc "The project of the current Mix."
  @spec project() :: Install.project()
  def project do
    paths = Mix.Project.deps_paths()

    %{
      packages: Map.keys(paths),
      setting: &Application.get_env/2,
      library: library(Mix.Project.config()[:deps] || []),
      folder: folder(paths),
      standin?: Interop.standin?(),
      parsers: parsers(@sources) ++ parsers("apps/*/" <> @sources),
      config?: File.regular?(Mix.Project.config()[:config_path] || Install.config())
    }
  end

  @doc """
  The folder of `:rustyjson`, from that of the project. Settings and umbrellas decide where dependencies are.

      iex> RustyJson.Install.Surroundings.folder(%{rustyjson: Path.expand("../../deps/rustyjson")})
      "../../deps/rustyjson"
  """
  @spec folder(%{optional(atom()) => Path.t()}) :: Path.t()
  def folder(%{rustyjson: path}), do: relative(Path.split(Path.expand(path)), Path.split(File.cwd!()))
  def folder(_paths), do: Path.join("deps", "rustyjson")

  # `Path.relative_to/3` knows no `..` before Elixir 1.16.
  defp relative([part | path], [part | from]), do: relative(path, from)

  defp relative(path, from),
    do: Path.join(List.duplicate("..", length(from)) ++ path ++ if(path == [], do: ["."], else: []))

  @doc "The options of the line of `:rustyjson` in `mix.exs`."
  @spec library([tuple()]) :: keyword()
  def library(deps) do
    case List.keyfind(deps, :rustyjson, 0) do
      {:rustyjson, options} when is_list(options) -> options
      {:rustyjson, _version, options} -> options
      _hex -> []
    end
  end

  @doc """
  Whether a line with these options lacks the `override: true` that it needs beside the stand-in.

  The stand-in asks for the library at the path above its own or, where that is a folder of the dependencies, by version
  (`jason/mix.exs`). A line with the same path is the same dependency for Mix, unless these options differ.

      iex> RustyJson.Install.Surroundings.override?(path: "../rustyjson")
      false
      iex> RustyJson.Install.Surroundings.override?(path: "deps/rustyjson")
      true
  """
  @spec override?(keyword()) :: boolean()
  def override?(library),
    do: library[:override] in [nil, false] and (elsewhere?(library) or differs?(library))

  defp elsewhere?(library) do
    Enum.any?([:git, :github], &library[&1]) or
      (is_binary(library[:path]) and Path.dirname(Path.expand(library[:path])) == Mix.Project.deps_path())
  end

  defp differs?(library),
    do:
      Enum.any?([:app, :compile], &Keyword.has_key?(library, &1)) or
        Keyword.get(library, :env, :prod) != :prod

  defp parsers(wildcard) do
    for file <- Path.wildcard(wildcard), call <- Parsers.calls(File.read!(file)), do: {file, call}
  end
end
