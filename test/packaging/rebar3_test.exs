defmodule RustyJson.Rebar3Test do
  @moduledoc "An Erlang application built by rebar3: it compiles, and calls only functions that exist."
  use ExUnit.Case, async: true

  @moduletag :once

  @app Path.expand("../fixtures/rebar3_app", __DIR__)
  @moduletag timeout: 300_000
  if System.find_executable("rebar3") == nil, do: @moduletag(skip: "rebar3 is not installed")
  if match?({:win32, _}, :os.type()), do: @moduletag(skip: "programs are started as on Unix")

  @tag :tmp_dir
  test "rebar3 do eunit, xref", %{tmp_dir: dir} do
    File.cp_r!(@app, dir)

    libraries =
      for module <- [RustyJson, Kernel],
          do: module |> :code.which() |> Path.expand() |> Path.join("../../..") |> Path.expand()

    env = [
      {"ERL_LIBS", Enum.join(libraries, ":")},
      {"REBAR_CACHE_DIR", Path.join(dir, "cache")},
      {"REBAR_OFFLINE", "1"}
    ]

    {output, status} =
      System.cmd("rebar3", ["do", "eunit,", "xref"], cd: dir, env: env, stderr_to_stdout: true)

    assert status == 0, output
    assert output =~ "6 tests, 0 failures"
  end
end
