# The project of a package's test suite, as `script/standin --packages` copies it: everything is as the package has it, but the dependencies are
# folders, and :jason is the one that JASON names. It is found by name, because Mix obeys only overrides of the top project.
Code.require_file("package.exs", __DIR__)
%{name: package} = Mix.Project.pop()

defmodule Standin.Package.MixProject do
  use Mix.Project

  @package package
  @folders "STANDIN_FOLDERS" |> System.get_env("") |> String.split(":", trim: true)

  def project do
    Keyword.merge(@package.project(),
      deps:
        dependencies(
          for(
            name <- ["STANDIN_CHECKOUT", "STANDIN_JASON"],
            do: Path.join(System.fetch_env!(name), "mix.exs")
          ),
          chosen()
        ),
      deps_path: "deps",
      build_path: "_build",
      lockfile: "none.lock",
      aliases: [],
      test_coverage: []
    )
  end

  def application, do: if(function_exported?(@package, :application, 0), do: @package.application(), else: [])

  defp chosen do
    library = if path = System.get_env("STANDIN_LIBRARY"), do: [rustyjson: path], else: []
    for {name, path} <- [jason: System.fetch_env!("STANDIN_JASON")] ++ library, into: %{}, do: {name, path}
  end

  defp dependencies([], found), do: for({name, path} <- found, do: {name, path: path, override: true})

  defp dependencies([file | rest], found) do
    # {:name, ...}, or helper(:name, ...).
    asked =
      for [_, name] <- Regex.scan(~r/^(?!.*only: (?::dev|\[:dev\]|:docs)).*[{(]:(\w+),/m, File.read!(file)),
          name = String.to_atom(name),
          not is_map_key(found, name),
          path = folder(name),
          uniq: true,
          do: {name, path}

    files = for {_name, path} <- asked, do: Path.join(path, "mix.exs")
    dependencies(rest ++ files, Map.merge(found, Map.new(asked)))
  end

  defp folder(name) do
    paths = for folder <- @folders, do: Path.expand(Path.join(folder, "#{name}"))
    Enum.find(paths, &File.regular?(Path.join(&1, "mix.exs")))
  end
end
