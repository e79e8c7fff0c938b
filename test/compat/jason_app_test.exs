defmodule RustyJson.JasonAppTest do
  @moduledoc """
  An application that uses Jason runs on RustyJson after the one word is replaced, and its own tests pass.

  It runs in a separate VM, because it derives and implements protocols. If Jason is available, the original application runs too,
  which shows that its tests assert Jason's behaviour.
  """
  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  @app Path.expand("../fixtures/jason_app", __DIR__)
  @tag timeout: 120_000

  for {name, options} <- Judge.engines() do
    test "with RustyJson, #{name}" do
      assert {output, 0} = run("RustyJson", unquote(Macro.escape(options)))
      assert output =~ ~r/1[45] (tests, 0 failures|passed)/
    end
  end

  if Code.ensure_loaded?(Jason) do
    test "with Jason" do
      assert {output, 0} = run("Jason", [])
      assert output =~ ~r/1[45] (tests, 0 failures|passed)/
    end
  end

  defp run(library, options) do
    dir = Path.join(System.tmp_dir!(), "rustyjson-app-#{System.unique_integer([:positive])}")
    File.mkdir_p!(dir)
    on_exit(fn -> File.rm_rf!(dir) end)

    files = for file <- sources(), do: replaced(file, dir, library)

    paths =
      for ebin <- Path.wildcard(Path.join(Mix.Project.build_path(), "lib/*/ebin")),
          argument <- ["-pa", ebin],
          do: argument

    required = Enum.flat_map(files, &["-r", &1])
    System.cmd("elixir", paths ++ ["-e", configure(options)] ++ required, stderr_to_stdout: true)
  end

  defp sources do
    lib = ~w(lib/shop/catalog.ex lib/shop/api.ex lib/shop/settings.ex)
    lib ++ ~w(test/test_helper.exs test/shop.exs)
  end

  defp replaced(file, dir, library) do
    text = @app |> Path.join(file) |> File.read!() |> String.replace("Jason", library)
    path = Path.join(dir, Path.basename(file))
    File.write!(path, text)
    path
  end

  defp configure([]), do: ":ok"

  defp configure(options) do
    host =
      if options[:host],
        do: "Application.put_env(:rustyjson, :wasm, host: #{inspect(options[:host])});",
        else: ""

    "#{host} Application.put_env(:rustyjson, :engine, #{inspect(options[:engine])}); " <>
      "{:ok, _} = Application.ensure_all_started(:rustyjson)"
  end
end
