defmodule RustyJson.Jason.MixProject do
  use Mix.Project

  # Packages ask for Jason "~> 1.4". The documented functions are those of this version of Jason.
  @version "1.4.5"
  @library Path.expand("..", __DIR__)

  def project do
    [
      app: :jason,
      version: @version,
      elixir: "~> 1.14",
      # Decimal can be a package of the application. Since Elixir 1.19 the option is deprecated.
      xref: if(Version.match?(System.version(), "< 1.19.0-0"), do: [exclude: [Decimal]], else: []),
      consolidate_protocols: Mix.env() != :test,
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      description:
        "The modules of Jason, on RustyJson: {:jason, \"~> 1.4\", hex: :rustyjson_jason, override: true}",
      package: package(),
      docs: [main: "readme", extras: ["README.md"]]
    ]
  end

  def application, do: [extra_applications: []]

  # In a checkout the library is the folder above. It is a dependency by name in the published package, in a sparse checkout, and
  # where Mix keeps the library itself as a dependency (deps/rustyjson), whose source the application chooses. The project that is loaded while
  # this runs is the application.
  defp deps do
    if File.regular?(Path.join(@library, "lib/rustyjson.ex")) and
         Path.dirname(@library) != Mix.Project.deps_path(),
       do: [{:rustyjson, path: @library}],
       else: [{:rustyjson, ">= 0.4.0"}]
  end

  defp package do
    [
      name: "rustyjson_jason",
      licenses: ["MIT"],
      links: %{},
      files: ~w(lib mix.exs README.md)
    ]
  end
end
