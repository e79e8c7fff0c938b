defmodule RustyJson.Sandbox.StackTest do
  @moduledoc "A guest that recurses without end, in a VM whose schedulers have the smallest stacks, ends in a trap and nothing worse."

  use ExUnit.Case, async: true

  @moduletag :once
  # The other VM may have to build the library first.
  @moduletag timeout: 600_000

  alias RustyJson.Test.{Guest, WasmHosts}

  if reason = WasmHosts.no_other(:built_in), do: @moduletag(skip: reason)

  @script """
  options = [engine: :wasm, host: :built_in, timeout: 60_000]
  {:ok, [1]} = RustyJson.decode("[1]", options)
  :ok = RustyJson.Test.Replaceable.replace(File.read!(hd(System.argv())))
  large = "!" <> String.duplicate(" ", 200_000)

  for text <- ["!", large] do
    {:error, %RustyJson.SandboxError{reason: :trap}} = RustyJson.decode(text, options)
  end

  :ok = RustyJson.Test.Replaceable.replace(nil)
  deep = String.duplicate("[", 100_000) <> String.duplicate("]", 100_000)
  {:ok, term} = RustyJson.decode(deep, [max_depth: :infinity] ++ options)
  {:ok, ^deep} = RustyJson.encode(term, [max_depth: :infinity] ++ options)
  IO.puts("alive")
  """

  test "with +sss 20 and +sssdcpu 20" do
    path = Path.join(System.tmp_dir!(), "rustyjson_recursion_#{System.unique_integer([:positive])}.wasm")
    File.write!(path, Guest.wasm(fault: "(call $recurse) (i64.const 0)", memory: 8))

    paths =
      for directory <- Path.wildcard(Path.join(Mix.Project.build_path(), "lib/*/ebin")),
          do: ["-pa", directory]

    stacks = ["--erl", "+sss 20 +sssdcpu 20"]
    started = ["-e", "{:ok, _} = Application.ensure_all_started(:rustyjson)", "-e", @script, path]

    try do
      assert {output, 0} =
               System.cmd("elixir", stacks ++ List.flatten(paths) ++ started, stderr_to_stdout: true)

      assert output =~ "alive"
    after
      File.rm(path)
    end
  end
end
