defmodule RustyJson.InstallTest do
  @moduledoc "The steps of `mix rustyjson.install`, for projects with different packages, and as they are printed."
  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Install
  alias RustyJson.Install.{Parsers, Printed, Surroundings}

  import ExUnit.CaptureIO

  defp project(changes \\ []) do
    %{
      packages: [:phoenix, :postgrex, :plug, :absinthe_plug, :tesla, :jason, :rustyjson],
      setting: fn _app, _key -> nil end,
      library: [],
      folder: "deps/rustyjson",
      standin?: false,
      parsers: [],
      config?: true
    }
    |> Map.merge(Map.new(changes))
  end

  defp lines(project, asked), do: Enum.flat_map(Install.steps(project, asked), & &1.lines)

  defp calls(text), do: for(call <- Parsers.calls(text), do: {"lib/endpoint.ex", call})

  describe "the steps" do
    test "only for the packages of the project" do
      assert Install.steps(project(packages: [:rustyjson, :decimal]), []) == []
      assert lines(project(packages: [:phoenix]), []) == ["config :phoenix, :json_library, RustyJson"]

      assert lines(project(packages: [:myxql, :ecto_sqlite3]), []) == [
               "config :myxql, :json_library, RustyJson",
               "config :ecto_sqlite3, :json_library, RustyJson"
             ]

      assert Enum.map(Install.steps(project(), []), & &1.option) ==
               [:phoenix, :ecto, :plug, :absinthe, :tesla, :stand_in]
    end

    test "only what was asked for" do
      for {options, asked} <- [
            {[phoenix: true, stand_in: true], [:phoenix, :stand_in]},
            {[sandbox: true], [:sandbox, :plug]},
            {[all: true, tesla: false], [:phoenix, :ecto, :plug, :absinthe, :stand_in]},
            {[plug: false], [:phoenix, :ecto, :absinthe, :tesla, :stand_in]},
            {[phoenix: true, plug: false], [:phoenix]},
            {[], []}
          ],
          do: assert(Install.asked(options) == asked)

      assert Enum.map(Install.steps(project(), [:ecto, :tesla]), & &1.option) == [:ecto, :tesla]
      steps = Install.steps(project(packages: [:tesla]), [:phoenix, :tesla])
      assert Install.without_step(steps, [:phoenix, :tesla]) == [:phoenix]
    end

    test "not what is set already" do
      assert lines(project(packages: [:phoenix], setting: fn :phoenix, :json_library -> RustyJson end), []) ==
               []

      assert [step] = Install.steps(project(packages: [:phoenix], setting: fn _, _ -> JSON end), [])
      assert {step.place, elem(step.change, 0)} == {"config/config.exs, instead of JSON", :config}
      assert [step] = Install.steps(project(packages: [:phoenix], setting: fn _, _ -> MyApp.Json end), [])

      assert {step.place, step.change} ==
               {"config/config.exs, by hand because it is MyApp.Json now", :by_hand}

      assert lines(project(packages: [:jason], standin?: true), []) == []

      edge = fn app, key -> if {app, key} == {:rustyjson, :policies}, do: [edge: []] end
      assert Enum.map(Install.steps(project(setting: edge), [:sandbox]), & &1.option) == []
      assert Enum.map(Install.steps(project(), [:sandbox]), & &1.option) == [:sandbox]
    end

    # A second `config :rustyjson, policies: [...]` would replace a map, as only keyword lists are merged.
    test "a policy for a map of policies is put in it by hand" do
      assert Install.steps(project(setting: fn _, _ -> %{edge: []} end), [:sandbox]) == []
      assert [step] = Install.steps(project(setting: fn _, _ -> %{webhook: []} end), [:sandbox])
      assert {step.change, step.place} == {:by_hand, "config/config.exs, in the map of policies"}
      assert ["edge: [engine: :wasm," <> _] = step.lines
    end

    test "the stand-in comes from where the library comes from" do
      for {library, line, own?} <- [
            {[], ~s({:jason, path: "deps/rustyjson/jason", override: true}), false},
            {[only: :prod], ~s({:jason, path: "deps/rustyjson/jason", override: true}), false},
            {[git: "url"], ~s({:jason, path: "deps/rustyjson/jason", override: true}), true},
            {[git: "url", override: true], ~s({:jason, path: "deps/rustyjson/jason", override: true}), false},
            {[path: "../rustyjson"], ~s({:jason, path: "../rustyjson/jason", override: true}), false},
            {[path: "../rustyjson", env: :dev], ~s({:jason, path: "../rustyjson/jason", override: true}),
             true},
            {[path: "deps/rustyjson"], ~s({:jason, path: "deps/rustyjson/jason", override: true}), true}
          ] do
        assert [step] = Install.steps(project(library: library), [:stand_in])
        assert step.lines == [line]
        assert step.place =~ "override: true" == own?
      end

      # An application of an umbrella, and a setting.
      for folder <- ["../../deps/rustyjson", "vendor/rustyjson"] do
        assert [%{lines: [line]}] = Install.steps(project(folder: folder), [:stand_in])
        assert line == ~s({:jason, path: "#{folder}/jason", override: true})
        assert Surroundings.folder(%{rustyjson: Path.expand(folder)}) == folder
      end

      assert Surroundings.folder(%{}) == "deps/rustyjson"
      assert Surroundings.library([{:a, "~> 1.0"}, {:rustyjson, "~> 0.4"}]) == []
      assert Surroundings.library([{:rustyjson, path: "x"}]) == [path: "x"]
      assert Surroundings.library([{:rustyjson, "~> 0.4", override: true}]) == [override: true]
      assert Surroundings.library([]) == []
    end

    test "the policy is one that the library takes" do
      [step] = Install.steps(project(), [:sandbox])
      {:config, :rustyjson, [:policies, :edge], text} = step.change
      {options, _} = Code.eval_string(text)
      assert RustyJson.Options.check!(:decode, options)

      {[{:config, _, _}] = settings, _} = step.lines |> Enum.join("\n") |> parsed()
      assert [{:config, _, [:rustyjson, [policies: [edge: ^options]]]}] = evaluated(settings)
    end
  end

  defp parsed(text), do: {[Code.string_to_quoted!(text)], text}

  defp evaluated([{:config, meta, [app, options]}]),
    do: [{:config, meta, [app, options |> Code.eval_quoted() |> elem(0)]}]

  describe "calls of plug Plug.Parsers" do
    @endpoint """
    defmodule Endpoint do
      plug Plug.Parsers,
        parsers: [:urlencoded, :multipart, :json],
        pass: ["*/*"],
        json_decoder: Jason
    end
    """

    test "get the decoder, or the parser of the sandbox" do
      assert [{"lib/endpoint.ex", %{line: 2} = call}] = calls(@endpoint)

      assert Parsers.rewritten(call, :json) ==
               {:ok,
                ~s(plug Plug.Parsers,\n  parsers: [:urlencoded, :multipart, :json],\n  pass: ["*/*"],\n  json_decoder: RustyJson)}

      assert Parsers.rewritten(call, :sandbox) ==
               {:ok,
                ~s(plug Plug.Parsers,\n  parsers: [:urlencoded, :multipart, RustyJson.PlugParser],\n) <>
                  ~s(  pass: ["*/*"],\n  rustyjson: [policy: :edge])}

      [step] = Install.steps(project(packages: [:plug], parsers: calls(@endpoint)), [])
      assert {step.place, step.change} == {"lib/endpoint.ex:2", {:parsers, :json, "lib/endpoint.ex"}}
    end

    test "other forms" do
      unreadable = {:error, "its options are not written out there"}

      for {call, json, sandbox} <- [
            {"parsers: [:json]", "parsers: [:json], json_decoder: RustyJson",
             "parsers: [RustyJson.PlugParser], rustyjson: [policy: :edge]"},
            {"parsers: [{:json, length: 10, json_decoder: Jason}], json_decoder: Jason",
             "parsers: [json: [length: 10, json_decoder: RustyJson]], json_decoder: RustyJson",
             "parsers: [{RustyJson.PlugParser, [length: 10]}], rustyjson: [policy: :edge]"},
            {"parsers: [:json], json_decoder: Phoenix.json_library()", :same,
             "parsers: [RustyJson.PlugParser], rustyjson: [policy: :edge]"},
            {"parsers: [:json], json_decoder: {RustyJson, :decode!, [[keys: :copy]]}", :same,
             "parsers: [RustyJson.PlugParser], rustyjson: [policy: :edge, keys: :copy]"},
            {"parsers: [{:json, json_decoder: RustyJson}]", :same,
             "parsers: [{RustyJson.PlugParser, []}], rustyjson: [policy: :edge]"},
            {"parsers: [Plug.Parsers.JSON]", "parsers: [Plug.Parsers.JSON], json_decoder: RustyJson",
             "parsers: [RustyJson.PlugParser], rustyjson: [policy: :edge]"},
            {"parsers: [{:json, @options}]", unreadable, unreadable},
            {"parsers: [{:json, options()}], json_decoder: Jason", unreadable, unreadable},
            {"parsers: [:urlencoded]", :same, :same},
            {"parsers: [RustyJson.PlugParser], rustyjson: [policy: :webhook]", :same, :same}
          ] do
        [call] = Parsers.calls("plug(Plug.Parsers, #{call})")
        for {mode, text} <- [json: json, sandbox: sandbox], do: assert(rewritten(call, mode) == text)
      end
    end

    test "arguments of the decoder stay" do
      for {decoder, json, sandbox} <- [
            {"{Jason, :decode!, [[floats: :decimals]]}", "{RustyJson, :decode!, [[floats: :decimals]]}",
             "[policy: :edge, floats: :decimals]"},
            {"{Phoenix.json_library(), :decode!, [[keys: :copy]]}", :same, "[policy: :edge, keys: :copy]"},
            {"{Jason, :decode!, [@options]}", "{RustyJson, :decode!, [@options]}", :by_hand},
            {"{Jason, :decode!, []}", "RustyJson", "[policy: :edge]"},
            {"{Poison, :decode!, []}", "RustyJson", "[policy: :edge]"},
            {"JSON", "RustyJson", "[policy: :edge]"},
            # The policy of the decoder would win over the one of the sandbox.
            {"{RustyJson, :decode!, [[policy: :webhook]]}", :same, :by_hand},
            {"{RustyJson, :decode!, [[engine: :native]]}", :same, :by_hand}
          ] do
        [call] = Parsers.calls("plug Plug.Parsers, parsers: [:json], json_decoder: #{decoder}")
        assert rewritten(call, :json) == with_text(json, "parsers: [:json], json_decoder: ", decoder)
        sandboxed = with_text(sandbox, "parsers: [RustyJson.PlugParser], rustyjson: ", decoder)
        assert rewritten(call, :sandbox) == sandboxed
      end

      text = "plug Plug.Parsers, parsers: [{:json, json_decoder: {Jason, :decode!, [[keys: :copy]]}}]"
      [call] = Parsers.calls(text <> ", json_decoder: Jason")
      own = "parsers: [json: [json_decoder: {RustyJson, :decode!, [[keys: :copy]]}]], json_decoder: RustyJson"
      assert rewritten(call, :json) == own
      sandboxed = "parsers: [{RustyJson.PlugParser, []}], rustyjson: [policy: :edge, keys: :copy]"
      assert rewritten(call, :sandbox) == sandboxed
    end

    test "a decoder that may do something else is left to the reader" do
      for decoder <- [
            "MyApp.Json",
            "MyApp.Jason",
            "{MyApp.Json, :decode!, []}",
            "{Jason, :decode, []}",
            "{Poison, :decode!, [%{keys: :atoms}]}",
            "@decoder",
            "Application.compile_env(:my_app, :json)"
          ],
          options <- [
            "parsers: [:json], json_decoder: #{decoder}",
            "parsers: [{:json, json_decoder: #{decoder}}], json_decoder: Jason"
          ],
          mode <- [:json, :sandbox] do
        [call] = Parsers.calls("plug Plug.Parsers, #{options}")
        assert Parsers.rewritten(call, mode) == by_hand(decoder)
      end

      steps =
        Install.steps(
          project(packages: [:plug], parsers: calls(String.replace(@endpoint, "Jason", "MyApp.Json"))),
          []
        )

      assert [%{change: :by_hand, place: "lib/endpoint.ex:2, by hand because its decoder is MyApp.Json" <> _}] =
               steps
    end

    test "a decoder whose name means another module in the file is left to the reader" do
      plug = "plug Plug.Parsers, parsers: [:json], json_decoder: "

      for {before, decoder, name} <- [
            {"alias MyApp.Json, as: Jason", "Jason", "Jason"},
            {"alias MyApp.{Jason, Other}", "{Jason, :decode!, [[keys: :atoms]]}", "Jason"},
            {"alias MyApp.JSON", "JSON", "JSON"},
            {"require Mine, as: Poison", "{Poison, :decode!, []}", "Poison"},
            {"defmodule Jason.Extra do\nend", "Jason", "Jason"}
          ],
          mode <- [:json, :sandbox] do
        file = "defmodule Endpoint do\n#{before}\n#{plug}#{decoder}\nend"
        another = {:error, "#{name} is another module in this file"}
        assert [call] = Parsers.calls(file)
        assert Parsers.rewritten(call, mode) == another
        # As with Igniter, which gives the call and its file.
        assert [call] = Parsers.calls(plug <> decoder, file)
        assert Parsers.rewritten(call, mode) == another
      end

      [call] = Parsers.calls("alias Jason.Encoder\nalias MyApp.Json\n#{plug}Jason")
      assert rewritten(call, :json) == "parsers: [:json], json_decoder: RustyJson"
    end

    defp with_text(:same, _before, _decoder), do: :same
    defp with_text(:by_hand, _before, decoder), do: by_hand(decoder)
    defp with_text(text, before, _decoder), do: before <> text

    defp by_hand(decoder), do: {:error, "its decoder is #{decoder}"}

    test "what is not a plain list, or has comments, is left to the reader" do
      text =
        "plug Plug.Parsers, @options\nplug Plug.Parsers\nplug Plug.Parsers,\n  # ours\n  parsers: [:json]\n# after\n"

      assert [options, none, comment] = Parsers.calls(text)
      assert Parsers.rewritten(options, :json) == {:error, "its options are not written out there"}
      assert Parsers.rewritten(none, :json) == {:error, "its options are not written out there"}
      assert Parsers.rewritten(comment, :sandbox) == {:error, "there are comments in the call"}
      assert Parsers.calls("defmodule") == []

      steps = Install.steps(project(packages: [:plug], parsers: calls(text)), [:plug])
      assert Enum.map(steps, & &1.change) == [:by_hand, :by_hand, :by_hand]
      assert hd(steps).place =~ "lib/endpoint.ex:1, by hand because its options are not written out there"
    end

    # A call on its own line reads like one that was written by hand.
    defp rewritten(call, mode) do
      with {:ok, text} <- Parsers.rewritten(call, mode) do
        "plug Plug.Parsers, " <> options = String.replace(text, ~r/\s+/, " ")
        options
      end
    end
  end

  test "as text" do
    text = Printed.text(project(packages: [:plug, :postgrex]), [])

    assert text == """
           Steps for the packages of this project. No file was changed.

           1. Ecto with PostgreSQL: json and jsonb columns
              in config/config.exs
                  config :postgrex, :json_library, RustyJson
              then run
                  mix deps.compile postgrex --force

           2. Plug: bodies of requests
              in the module that calls plug Plug.Parsers
                  plug Plug.Parsers,
                    parsers: [:urlencoded, :multipart, :json],
                    pass: ["*/*"],
                    json_decoder: RustyJson

           --sandbox adds a policy that decodes bodies of requests in the sandbox.\
           """

    without = project(packages: [:plug, :postgrex], config?: false)

    created =
      "This project has no config/config.exs. Create it, with this as its first line:\n       import Config\n\n1. "

    assert Printed.text(without, []) =~ created
    refute Printed.text(without, [:plug]) =~ "import Config"

    assert Printed.text(project(packages: []), []) =~ ~r/\ANothing to do/
    assert Printed.text(project(packages: []), [:stand_in]) =~ ~r/\ANothing to do for --stand-in:/
  end

  # test/integrations/igniter_test.exs puts Igniter among the packages, whose part of the task it tests.
  @igniter System.get_env("RUSTYJSON_IGNITER") not in [nil, ""] && "RUSTYJSON_IGNITER is set"

  describe "the task" do
    @tag skip: @igniter
    test "knows the packages and the sources of the project it runs in, and changes nothing" do
      before = File.read!("mix.exs")
      text = capture_io(fn -> Mix.Tasks.Rustyjson.Install.run(["--tesla"]) end)
      assert text =~ "Nothing to do for --tesla"
      assert File.read!("mix.exs") == before
      assert Map.keys(Mix.Project.deps_paths()) == Surroundings.project().packages
      assert Surroundings.project().config? == File.exists?("config/config.exs")
    end

    @tag skip: @igniter
    test "a misspelt option is named" do
      assert_raise Mix.Error, ~r/unknown option --phonix, did you mean --phoenix\?/, fn ->
        Mix.Tasks.Rustyjson.Install.run(["--phonix"])
      end
    end

    test "with a file it still is rustyjson.unpack, and says so" do
      file = Path.join(System.tmp_dir!(), "rustyjson-install-#{System.unique_integer([:positive])}.tar.gz")
      File.write!(file, "no archive")
      on_exit(fn -> File.rm(file) end)

      text =
        capture_io(fn ->
          assert_raise Mix.Error, ~r/has the checksum [0-9a-f]{64}, not 0000/, fn ->
            Mix.Tasks.Rustyjson.Install.run([file, "--sha256", "0000"])
          end
        end)

      assert text =~ "mix rustyjson.install FILE is now called mix rustyjson.unpack FILE"
    end
  end
end
