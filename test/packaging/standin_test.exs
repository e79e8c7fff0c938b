defmodule RustyJson.StandinTest do
  @moduledoc """
  The stand-in for Jason in an umbrella whose package calls Jason: before the move, with a line that forgets `override:`, after the move with
  an old lock file and a package that was compiled before, from the folder of one application, and in a release.

  A small package takes the place of the real Jason, so nothing has to be fetched.
  """
  use ExUnit.Case, async: true

  alias RustyJson.Test.Checkout

  @root Path.expand("../..", __DIR__)
  @moduletag :once
  @moduletag timeout: 900_000
  if match?({:win32, _}, :os.type()), do: @moduletag(skip: "programs are started as on Unix")

  @files %{
    # Not the real one: it says so in its output.
    "other/mix.exs" => """
    defmodule Other.MixProject do
      use Mix.Project
      def project, do: [app: :jason, version: "1.4.4"]
    end
    """,
    "other/lib/jason.ex" => """
    defmodule Jason do
      def encode!(term), do: "another Jason: " <> Jason.Encoder.encode(term, nil)
    end

    defprotocol Jason.Encoder do
      @fallback_to_any true
      def encode(term, opts)
    end

    defimpl Jason.Encoder, for: Any do
      defmacro __deriving__(module, _struct, _options) do
        quote do
          defimpl Jason.Encoder, for: unquote(module) do
            def encode(%{name: name}, _opts), do: name
          end
        end
      end

      def encode(_term, _opts), do: "?"
    end
    """,
    "items/mix.exs" => """
    defmodule Items.MixProject do
      use Mix.Project
      def project, do: [app: :items, version: "0.1.0", deps: [{:jason, path: "../other"}]]
    end
    """,
    "items/lib/items.ex" => """
    defmodule Items do
      @derive {Jason.Encoder, only: [:name]}
      defstruct [:name, :secret]
      def json, do: Jason.encode!(%Items{name: "an item", secret: 1})
    end
    """,
    "umbrella/mix.exs" => """
    defmodule Umbrella.MixProject do
      use Mix.Project

      def project do
        [apps_path: "apps", deps: [LINES], releases: [shop: [version: "0.1.0", applications: [web: :permanent]]]]
      end
    end
    """,
    "umbrella/apps/web/mix.exs" => """
    defmodule Web.MixProject do
      use Mix.Project

      def project do
        [
          app: :web,
          version: "0.1.0",
          build_path: "../../_build",
          deps_path: "../../deps",
          lockfile: "../../mix.lock",
          deps: [{:items, path: "../../../items"}, LINES]
        ]
      end
    end
    """,
    "umbrella/apps/web/lib/web.ex" => """
    defmodule Web do
      def json, do: Items.json()
    end
    """,
    # What Hex wrote before the move.
    "umbrella/mix.lock" => """
    %{
      "jason": {:hex, :jason, "1.4.4", "b9226785a9aa77b6857ca22832cffa5d5011a667207eb2a0ad56adb5db443b8a", [:mix], [], "hexpm", "c5eb0cab91f094599f94d55bc63409236a8ec69a21a67814529e8d5f6cc90b3b"},
    }
    """
  }

  @web "umbrella/apps/web"

  setup do
    dir = Path.join(System.tmp_dir!(), "rustyjson-standin-#{System.unique_integer([:positive])}")
    on_exit(fn -> File.rm_rf!(dir) end)
    {:ok, dir: dir}
  end

  defp write(dir, lines) do
    for {file, text} <- @files do
      path = Path.join(dir, file)

      text =
        String.replace(text, ", LINES", if(lines == "", do: "", else: ", " <> lines))
        |> String.replace("LINES", lines)

      File.mkdir_p!(Path.dirname(path))
      # A file that did not change is not compiled anew.
      if File.read(path) != {:ok, text}, do: File.write!(path, text)
    end
  end

  defp mix(dir, folder, arguments) do
    env = [
      {"MIX_ENV", "test"},
      {"RUSTYJSON_HEX", "0"},
      {"RUSTYJSON_BUILD", "none"},
      {"RUSTYJSON_DEPS", nil},
      {"RUSTYJSON_ENGINE", nil},
      # Of the run of these tests, whose folders the other projects would use, too.
      {"MIX_BUILD_ROOT", nil},
      {"MIX_BUILD_PATH", nil},
      {"MIX_DEPS_PATH", nil}
    ]

    System.cmd("mix", arguments, cd: Path.join(dir, folder), env: env, stderr_to_stdout: true)
  end

  @json ["run", "-e", "IO.puts(Web.json())"]

  test "an umbrella moves", %{dir: dir} do
    write(dir, "")
    Checkout.seed!(Path.join(dir, "umbrella/_build/test"))
    assert {output, 0} = mix(dir, "umbrella", @json)
    assert output =~ "another Jason: an item"

    # Two packages of one name: Mix says what to add.
    write(dir, ~s({:jason, path: "#{@root}/jason"}, {:rustyjson, path: "#{@root}"}))
    assert {output, 1} = mix(dir, "umbrella", @json)
    assert output =~ ~r/the dependency :?jason in mix.exs is overriding a child dependency/
    assert output =~ ~s(override: true)

    # The package was compiled against the other Jason.
    write(dir, ~s({:jason, path: "#{@root}/jason", override: true}))
    assert {output, 0} = mix(dir, "umbrella", @json)
    assert output =~ ~s(\n{"name":"an item"}\n)

    assert {output, 0} = mix(dir, @web, @json)
    assert output =~ ~s({"name":"an item"}\n)
    refute output =~ "lock"

    assert {output, 0} = mix(dir, "umbrella", ["release", "--path", Path.join(dir, "made")])
    assert output =~ "Release created"
    shop = Path.join(dir, "made/bin/shop")
    env = [{"RELEASE_DISTRIBUTION", "none"}]

    assert {output, 0} =
             System.cmd(shop, ["eval", "Application.ensure_all_started(:web); IO.puts(Web.json())"],
               env: env,
               stderr_to_stdout: true
             )

    assert output =~ ~s({"name":"an item"}\n)

    assert {output, 0} = mix(dir, "umbrella", ["run", "-e", "RustyJson.CLI.Doctor.run()"])
    assert output =~ "stand-in"
  end

  # Where Mix keeps what Git or Hex fetched. The application chooses the source of the library.
  test "a folder of dependencies of another name", %{dir: dir} do
    vendor = Path.join(dir, "vendor/rustyjson")
    File.mkdir_p!(Path.join(vendor, "lib"))
    File.cp_r!(Path.join(@root, "jason"), Path.join(vendor, "jason"))
    File.write!(Path.join(vendor, "lib/rustyjson.ex"), "")

    code = """
    Mix.start()

    defmodule App do
      use Mix.Project
      def project, do: [app: :app, version: "0.1.0", deps_path: hd(System.argv())]
    end

    Code.require_file("#{vendor}/jason/mix.exs")
    IO.inspect(Mix.Project.config()[:deps], label: "deps")
    """

    script = Path.join(dir, "deps.exs")
    File.write!(script, code)

    for {deps_path, deps} <- [
          {Path.join(dir, "vendor"), ~s([rustyjson: ">= 0.4.0"])},
          {Path.join(dir, "deps"), ~s([rustyjson: [path: "#{vendor}"]])}
        ] do
      assert {output, 0} =
               System.cmd("elixir", [script, deps_path],
                 cd: dir,
                 env: [{"MIX_DEPS_PATH", nil}],
                 stderr_to_stdout: true
               )

      assert output =~ "deps: " <> deps
    end
  end
end
