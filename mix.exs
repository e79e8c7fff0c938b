defmodule RustyJson.MixProject do
  use Mix.Project

  @version "0.4.0"

  def project do
    [
      app: :rustyjson,
      version: @version,
      elixir: "~> 1.14",
      elixirc_paths: elixirc_paths(Mix.env()),
      # Without Mix's Hex client these packages are not declared, and Mix would warn where an application has them. Since Elixir 1.19
      # the option is deprecated.
      xref: if(Version.match?(System.version(), "< 1.19.0-0"), do: [exclude: undeclared()], else: []),
      # Since Elixir 1.19, Mix warns about what looks like a test and is not loaded.
      test_ignore_filters: [~r{^test/(fixtures|vectors)/}],
      # The compiler of the Rust parts is in lib/, so it runs after the Elixir compiler.
      compilers: Mix.compilers() ++ [:rustyjson],
      # Tests define encoders at run time.
      consolidate_protocols: Mix.env() != :test,
      start_permanent: Mix.env() == :prod,
      deps: deps(),
      description: "A JSON library with one Rust core: native for speed, WebAssembly for untrusted input",
      package: package(),
      docs: docs(),
      aliases: [docs: ["compile", &erlang_chunk/1, "docs", &link_results/1]]
    ]
  end

  def application do
    [mod: {RustyJson.Application, []}, extra_applications: extra_applications(Mix.env())]
  end

  # Since Elixir 1.15, tests see only the applications that are named.
  defp extra_applications(:test), do: [crypto: :optional]
  defp extra_applications(_env), do: []

  defp elixirc_paths(:test), do: ["lib", "test/support"]
  defp elixirc_paths(_env), do: ["lib"]

  # RustyJson needs no package to build, test or run. Mix aborts on any Hex package when its Hex client is missing, so
  # packages are declared only where the client is installed; see "Installation" in the README.
  defp deps do
    wanted = Enum.filter(packages(), &wanted?/1)
    {local, hex} = Enum.split_with(wanted, fn {name, _, _} -> local_path(name) end)

    hex = for {name, requirement, opts} <- hex, hex?(), do: {name, requirement, opts}
    hex ++ local_deps(local)
  end

  defp packages do
    tool = [only: :dev, runtime: false]

    [
      # CVE-2026-32686: Decimal 3 limits exponents by default; 2.4 does arithmetic in little memory; older versions do neither.
      {:decimal, "~> 2.4 or ~> 3.0", [optional: true]},
      # Not a dependency of applications: the stand-in for Jason, which has the same name, depends on this library.
      {:jason, "~> 1.4", [only: [:dev, :test]]},
      {:wasmex, "~> 0.15.0", [optional: true]},
      {:plug, "~> 1.14", [optional: true]},
      {:telemetry, "~> 1.0", [optional: true]},
      {:bandit, "~> 1.5", [only: [:dev, :test]]},
      {:ecto, "~> 3.10", [only: [:dev, :test]]},
      {:stream_data, "~> 1.1", [only: [:dev, :test]]},
      {:flow, "~> 1.2", [only: :test]},
      {:broadway, "~> 1.1", [only: :test]},
      {:flame, "~> 0.5", [only: :test]},
      {:benchee, "~> 1.3", tool},
      {:ex_doc, "~> 0.34", tool},
      {:credo, "~> 1.7", tool},
      {:dialyxir, "~> 1.4", tool}
    ]
  end

  defp undeclared do
    [Decimal, Jason, Jason.Encode, Jason.Encoder, Jason.Fragment, Ecto.Type, Sourceror, :telemetry] ++
      [Igniter, Igniter.Code.Common, Igniter.Mix.Task, Igniter.Mix.Task.Info] ++
      [Igniter.Project.Config, Igniter.Project.Deps] ++
      [Plug.BadRequestError, Plug.Conn, Plug.Parsers.ParseError, Plug.Parsers.RequestTooLargeError] ++
      [Plug.TimeoutError, Wasmex.Engine, Wasmex.Module, Wasmex.Native, Wasmex.Store]
  end

  defp wanted?({:wasmex, _, _}), do: Version.match?(System.version(), ">= 1.18.0-0")
  defp wanted?({:flame, _, _}), do: Version.match?(System.version(), ">= 1.15.0-0")
  defp wanted?(_package), do: true

  defp hex?, do: System.get_env("RUSTYJSON_HEX") != "0" and Code.ensure_loaded?(Hex)

  # RUSTYJSON_DEPS=DIR: DIR/NAME replaces the Hex package NAME, for offline builds. There can be several folders, with colons
  # between them. The packages they need in turn are found by name in their mix.exs, because Mix obeys only overrides of the top
  # project.
  defp local_deps(packages) do
    named = for {name, _, opts} <- packages, do: {name, [path: local_path(name), override: true] ++ opts}
    names = Keyword.keys(named)

    asked = for name <- asked_by(names, MapSet.new(names)), do: {name, path: local_path(name), override: true}
    named ++ asked
  end

  defp asked_by([], _seen), do: []

  defp asked_by([name | rest], seen) do
    text = File.read!(Path.join(local_path(name), "mix.exs"))

    new =
      for(
        [_, asked] <- Regex.scan(~r/^(?!.*(?:optional|only):).*\{:(\w+),/m, text),
        do: String.to_atom(asked)
      )
      |> Enum.uniq()
      |> Enum.filter(&(&1 not in seen and &1 != :rustyjson and local_path(&1)))

    new ++ asked_by(rest ++ new, MapSet.union(seen, MapSet.new(new)))
  end

  defp local_path(name) do
    for(
      dir <- String.split(System.get_env("RUSTYJSON_DEPS", ""), ":", trim: true),
      do: Path.expand(Path.join(dir, "#{name}"))
    )
    |> Enum.find(&File.regular?(Path.join(&1, "mix.exs")))
  end

  defp package do
    [
      licenses: ["MIT"],
      # The address of the repository goes in here, and as `source_url:` above, when this version is published.
      links: %{},
      # The module runs everywhere; native libraries run only on machines like the one that built them. The application
      # chooses the Rust toolchain: rust-toolchain.toml is for work on the project.
      files:
        ~w(lib src core/src core/Cargo.toml terms/src terms/Cargo.toml nif/src nif/Cargo.toml nif/build.rs wasm/guest wasm/host priv/wasm
           Cargo.toml Cargo.lock .cargo .formatter.exs mix.exs
           jason/lib jason/mix.exs jason/README.md docs README.md CHANGELOG.md SECURITY.md LICENSE usage-rules.md) ++
          Path.wildcard("checksums.txt")
    ]
  end

  defp docs do
    [
      main: "readme",
      extras: extras(),
      assets: %{"bench/results" => "bench/results", "docs/images" => "images"},
      before_closing_head_tag: &head/1,
      # Its callbacks take types that only the library uses.
      skip_undefined_reference_warnings_on: ["RustyJson.Engine"],
      groups_for_extras: [
        Guides: ~r/^README|docs\/[^\/]+$/,
        Notebooks: ~r/livebooks/,
        Decisions: ~r/decisions/,
        Project: ~r/CHANGELOG|SECURITY|CONTRIBUTING/
      ],
      groups_for_modules: [
        Erlang: [:rustyjson],
        Encoding: ~r/RustyJson\.(Encode|Encoder|Fragment|Helpers|OrderedObject)$/,
        Errors: ~r/RustyJson\.\w+Error$/,
        Engines: ~r/RustyJson\.(Engine|Wasm)/
      ]
    ]
  end

  # Pictures follow the colour scheme of the page, which can differ from the system's. Figures stay with their units, and
  # wide tables scroll.
  defp head(:html) do
    "<style>body.dark img { color-scheme: dark } body:not(.dark) img { color-scheme: light } " <>
      "td[style*=right] { white-space: nowrap } " <>
      ".content-inner table { display: block; overflow-x: auto; font-size: .85em }</style>"
  end

  defp head(_format), do: ""

  # ExDoc reads the documentation of an Erlang module from a chunk, which EDoc makes.
  defp erlang_chunk(_arguments) do
    options = [doclet: :edoc_doclet_chunks, layout: :edoc_layout_chunks, preprocess: true]
    directory = Path.join(Mix.Project.app_path(), "doc")
    apply(:edoc, :files, [[~c"src/rustyjson.erl"], [dir: String.to_charlist(directory)] ++ options])
  end

  # In the sources the results are one or two folders up; in the HTML they are beside the page.
  defp link_results(_arguments) do
    for page <- Path.wildcard("doc/*.html") do
      File.write!(page, Regex.replace(~r{(?:\.\./)+bench/results/}, File.read!(page), "bench/results/"))
    end
  end

  defp extras do
    ["README.md"] ++
      Path.wildcard("docs/*.{cheatmd,md}") ++
      ["livebooks/README.md": [filename: "notebooks", title: "Notebooks"]] ++
      Path.wildcard("livebooks/*.livemd") ++
      ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] ++ Path.wildcard("docs/decisions/*.md")
  end
end
