defmodule RustyJson.ReloadTest do
  @moduledoc "After the module of the native library is reloaded, the engines still work."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Engine.Native
  alias RustyJson.Test.{Judge, OtherVM}

  @doors [
    native: {Native.Nif, [engine: :native]},
    built_in: {Native.Nif, [engine: :wasm, host: :built_in]}
  ]

  for {engine, {module, options}} <- @doors,
      engine in Keyword.keys(Judge.engines()),
      {name, code} <- [
        load: ":code.load_file(module)",
        purge_and_load: ":code.purge(module); :code.load_file(module)",
        twice: "for _ <- 1..2, do: (:code.purge(module); :code.load_file(module))",
        delete_purge_and_load:
          ":code.delete(module); :code.purge(module); {:module, _} = :code.load_file(module)"
      ] do
    test "#{engine}: #{name}" do
      code = """
      {:ok, _} = Application.ensure_all_started(:rustyjson)
      {module, options} = #{inspect({unquote(module), unquote(options)})}
      works = fn ->
        {:ok, [1]} = RustyJson.decode("[1]", options)
        {:ok, "[1]"} = RustyJson.encode([1], options)
        nil = module.failure()
      end
      works.()
      Logger.configure(level: :none)
      #{unquote(code)}
      works.()
      :code.purge(module)
      works.()
      Enum.each(Process.list(), &:erlang.garbage_collect/1)
      works.()
      IO.puts("as before")
      """

      {text, status} = OtherVM.run(code, [])
      assert status == 0 and text =~ "as before", text
    end
  end
end
