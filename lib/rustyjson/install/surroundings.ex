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
    %{
      packages: Map.keys(Mix.Project.deps_paths()),
      setting: &Application.get_env/2,
      library: library(Mix.Project.config()[:deps] || []),
      standin?: Interop.standin?(),
      parsers: parsers(@sources) ++ parsers("apps/*/" <> @sources)
    }
  end

  @doc "The options of the line of `:rustyjson` in `mix.exs`."
  @spec library([tuple()]) :: keyword()
  def library(deps) do
    case List.keyfind(deps, :rustyjson, 0) do
      {:rustyjson, options} when is_list(options) -> options
      {:rustyjson, _version, options} -> options
      _hex -> []
    end
  end

  defp parsers(wildcard) do
    for file <- Path.wildcard(wildcard), call <- Parsers.calls(File.read!(file)), do: {file, call}
  end
end
