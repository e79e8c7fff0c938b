defmodule RustyJson.Bench.MixProject do
  use Mix.Project

  # Libraries to compare with, from the folders in RUSTYJSON_DEPS (with colons between), or from Hex if its client is installed.
  # wasmex is the other host of the wasm engine.
  @rivals [
    jason: "~> 1.4",
    jiffy: "~> 2.0",
    torque: "~> 0.5",
    glazer: "~> 1.1",
    wasmex: "~> 0.15.0",
    ecto: "~> 3.12",
    jaxon: "~> 2.0"
  ]

  # RUSTYJSON_BENCH_OLD=true uses RustyJson 0.3.10 instead of this version. Both have the same module names, so each has its
  # own VM and its own compiled structs.
  @old "0.3.10"

  def project do
    [
      app: :rustyjson_bench,
      version: "0.0.0",
      elixir: "~> 1.14",
      elixirc_paths: ["lib", "support"],
      deps: deps()
    ]
  end

  def application, do: [extra_applications: [:crypto]]

  defp deps do
    if System.get_env("RUSTYJSON_BENCH_OLD"),
      do: with_needs([{:rustyjson, @old}]),
      else: [{:rustyjson, path: ".."} | with_needs(rivals())]
  end

  defp rivals do
    without = "RUSTYJSON_BENCH_WITHOUT" |> System.get_env("") |> String.split([",", " "], trim: true)
    for {name, version} <- @rivals, to_string(name) not in without, can_run?(name), do: {name, version}
  end

  defp can_run?(:wasmex), do: Version.match?(System.version(), ">= 1.18.0-0")
  defp can_run?(_name), do: true

  # Packages of the folder, and the packages they need in turn, by the names in their mix.exs, because Mix obeys only overrides
  # of the top project. (castore serves downloads, but here everything is built.) Other packages come from Hex.
  defp with_needs(packages) do
    {local, hex} = Enum.split_with(packages, fn {name, _} -> local_path(name) end)
    names = Keyword.keys(local)
    local = for name <- names ++ needs(names, MapSet.new(names)), do: {name, local(name)}
    local ++ if(hex?(), do: hex, else: [])
  end

  defp local(:rustyjson), do: [path: local_path(:rustyjson)]
  defp local(name), do: [path: local_path(name), override: true]

  defp needs([], _seen), do: []

  defp needs([name | rest], seen) do
    new =
      for(
        [_, asked] <- Regex.scan(~r/\{:(\w+), "(?![^}]*only:)/, build_file(name)),
        do: String.to_atom(asked)
      )
      |> Enum.uniq()
      |> Enum.filter(&(&1 not in seen and &1 not in [:rustyjson, :castore] and local_path(&1)))

    new ++ needs(rest ++ new, MapSet.union(seen, MapSet.new(new)))
  end

  defp build_file(name) do
    case File.read(Path.join(local_path(name), "mix.exs")) do
      {:ok, text} -> text
      {:error, _} -> ""
    end
  end

  defp local_path(name) do
    folders = "RUSTYJSON_DEPS" |> System.get_env("") |> String.split(":", trim: true)
    paths = for folder <- folders, do: Path.expand(Path.join(folder, to_string(name)))

    if hex_client?(), do: Enum.find(paths, &package?/1)
  end

  defp package?(path), do: Enum.any?(~w(mix.exs rebar.config), &File.regular?(Path.join(path, &1)))

  # Mix needs Hex's client even to read the dependencies of a local package.
  defp hex_client?, do: Code.ensure_loaded?(Hex)
  defp hex?, do: System.get_env("RUSTYJSON_HEX") != "0" and hex_client?()
end
