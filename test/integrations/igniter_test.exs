# Igniter depends on Jason, and would make a circle with the stand-in if it were a dependency here. Any project that has it lends it:
# RUSTYJSON_IGNITER names the folder of its compiled packages, such as ../shop/_build/dev/lib.
for name <- ~w(igniter rewrite sourceror glob_ex text_diff spitfire ex_ast owl req),
    folder = System.get_env("RUSTYJSON_IGNITER"),
    do: Code.append_path(Path.join([folder, name, "ebin"]))

defmodule RustyJson.IgniterTest do
  @moduledoc "`mix rustyjson.install` with the real Igniter, on projects in its memory."
  use ExUnit.Case, async: true

  unless Code.ensure_loaded?(Igniter),
    do: @moduletag(skip: "RUSTYJSON_IGNITER does not name compiled packages with Igniter")

  @compile {:no_warn_undefined, [Igniter, Igniter.Test, Igniter.Mix.Task, Rewrite, Rewrite.Source]}

  @endpoint """
  defmodule Test.Endpoint do
    use Plug.Builder

    # Bodies.
    plug Plug.Parsers,
      parsers: [:urlencoded, :json],
      pass: ["*/*"],
      json_decoder: Jason

    plug :other
  end
  """

  @project """
  defmodule Test.MixProject do
    use Mix.Project

    def project, do: [app: :test, version: "0.1.0", deps: deps()]

    defp deps do
      [
        {:rustyjson, git: "https://git.example.com/rustyjson.git"},
        {:jason, "~> 1.2"}
      ]
    end
  end
  """

  defp install(argv, changes \\ %{}) do
    files = %{
      ".formatter.exs" => "[inputs: [], locals_without_parens: [plug: 1, plug: 2]]",
      "config/config.exs" => "import Config\n\nconfig :phoenix, :json_library, Jason\n",
      "lib/endpoint.ex" => @endpoint,
      "mix.exs" => @project
    }

    project = %{
      packages: [:phoenix, :postgrex, :plug, :tesla, :jason],
      setting: fn _app, _key -> nil end,
      library: [git: "url"],
      standin?: false
    }

    Application.ensure_all_started(:rewrite)

    [files: Map.merge(files, changes)]
    |> Igniter.Test.test_project()
    |> Igniter.assign(:rustyjson, project)
    |> Igniter.Mix.Task.configure_and_run(Mix.Tasks.Rustyjson.Install, argv)
  end

  defp content(igniter, path), do: igniter.rewrite |> Rewrite.source!(path) |> Rewrite.Source.get(:content)

  defp notices(igniter), do: Enum.join(igniter.notices, "\n")

  test "sets the configuration, the decoder and the stand-in" do
    igniter = install(["--all"])
    assert {igniter.issues, igniter.warnings} == {[], []}

    config = content(igniter, "config/config.exs")
    assert config =~ "config :phoenix, :json_library, RustyJson\n"
    assert config =~ "config :postgrex, json_library: RustyJson\n"
    refute config =~ "Jason"

    # Igniter may move blank lines and write parentheses.
    assert content(igniter, "lib/endpoint.ex") =~
             ~r/# Bodies\.\n  plug.Plug.Parsers,\n    parsers: \[:urlencoded, :json\],\n    pass: \["\*\/\*"\],\n    json_decoder: RustyJson\n/

    assert {{:ok, dependencies}, _} = igniter |> content("mix.exs") |> dependencies()

    assert {:jason, path: "deps/rustyjson/jason", override: true} in dependencies
    assert {:rustyjson, git: "https://git.example.com/rustyjson.git", override: true} in dependencies

    assert notices(igniter) =~ "mix deps.compile postgrex --force"
    assert notices(igniter) =~ "mix deps.unlock jason && mix deps.get && mix deps.compile --force"
    assert notices(igniter) =~ "{Tesla.Middleware.JSON, engine: RustyJson}"
  end

  defp dependencies(text) do
    {_tree, found} =
      text
      |> Code.string_to_quoted!()
      |> Macro.prewalk(:error, fn
        {:defp, _, [{:deps, _, _}, [do: list]]} = node, _found -> {node, {:ok, list}}
        node, found -> {node, found}
      end)

    {found, text}
  end

  test "a policy and the parser of the sandbox" do
    igniter = install(["--sandbox"])
    config = content(igniter, "config/config.exs")
    assert config =~ "config :phoenix, :json_library, Jason"
    assert config =~ ~r/config :rustyjson,\s+policies: \[\s+edge: \[\s+engine: :wasm,/

    assert content(igniter, "lib/endpoint.ex") =~
             ~r/parsers: \[:urlencoded, RustyJson.PlugParser\],\n    pass: \["\*\/\*"\],\n    rustyjson: \[policy: :edge\]\n/

    Igniter.Test.assert_unchanged(igniter, "mix.exs")
  end

  test "only what was asked for; without an option nothing is changed, and the steps are shown" do
    igniter = install(["--phoenix"])
    Igniter.Test.assert_unchanged(igniter, ["mix.exs", "lib/endpoint.ex"])
    assert content(igniter, "config/config.exs") =~ "config :phoenix, :json_library, RustyJson"

    igniter = install([])
    Igniter.Test.assert_unchanged(igniter, ["mix.exs", "lib/endpoint.ex", "config/config.exs"])
    assert notices(igniter) =~ "config :postgrex, :json_library, RustyJson"
    assert notices(igniter) =~ "lib/endpoint.ex:5"
  end

  test "twice is like once, and other options are left alone" do
    igniter = install(["--all", "--yes", "--of-another-package", "x"]) |> Igniter.Test.apply_igniter!()

    again =
      Igniter.Mix.Task.configure_and_run(igniter, Mix.Tasks.Rustyjson.Install, [
        "--plug",
        "--phoenix",
        "--ecto"
      ])

    Igniter.Test.assert_unchanged(again, ["lib/endpoint.ex", "config/config.exs", "mix.exs"])
  end

  test "an option without a step is a notice" do
    igniter = install(["--absinthe"])
    Igniter.Test.assert_unchanged(igniter, ["mix.exs", "lib/endpoint.ex", "config/config.exs"])
    assert notices(igniter) =~ "Nothing to do for --absinthe: the package is not among the dependencies"
  end

  test "a call that it cannot read is a notice" do
    igniter =
      install(["--plug"], %{"lib/endpoint.ex" => "defmodule E do\n  plug Plug.Parsers, @options\nend\n"})

    Igniter.Test.assert_unchanged(igniter, "lib/endpoint.ex")
    assert notices(igniter) =~ "lib/endpoint.ex:2, by hand because its options are not written out there"
  end
end
