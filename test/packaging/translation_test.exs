defmodule RustyJson.Packaging.TranslationTest do
  @moduledoc "The module as C: each of its loops and functions has the check that stops it, and the file belongs to the module."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Build.{Tools, Translation}
  alias RustyJson.Wasm.Host

  missing =
    cond do
      match?({:missing, _}, Tools.wasm2c()) -> elem(Tools.wasm2c(), 1)
      System.find_executable("wasm-dis") == nil -> "wasm-dis (binaryen) is missing"
      not File.regular?(Host.guest_path()) -> "the WebAssembly module is not built"
      true -> nil
    end

  if missing, do: @moduletag(skip: missing)

  test "each loop, each function and each access to memory is checked" do
    {text, 0} = System.cmd("wasm-dis", [Host.guest_path()], stderr_to_stdout: true)
    {:ok, code, counts} = Translation.translate(Host.guest_path())
    code = IO.iodata_to_binary(code)

    # binaryen counts them independently of wasm2c.
    assert counts.loops == count(text, ~r/\(loop\b/) and counts.loops > 100
    assert counts.functions == count(text, ~r/^ \(func /m) and counts.functions > 100
    assert count(code, ~r/:\s*WASM_RT_SPEND\(/) == counts.loops
    assert count(code, ~r/^  WASM_RT_ENTER\(/m) == counts.functions
    accesses = count(text, ~r/\((?:v128|[if](?:32|64))\.(?:load|store)\w*\b/)
    assert counts.accesses == accesses and accesses > 10_000

    assert count(code, ~r/_unchecked\(wasm_rt_local_memory_base, &instance->w2c_memory, WASM_RT_AT\(/) ==
             accesses

    assert counts.fill == 1 and counts.copy == 1 and counts.moves > counts.functions
    # Nothing is left to include but the runtime and the C library.
    assert Regex.scan(~r/^\s*#\s*include "([^"]+)"/m, code, capture: :all_but_first) == [["wasm-rt.h"]]
  end

  test "the translation that is built belongs to the module" do
    assert Translation.current?(Host.guest_path())
    other = Path.join(System.tmp_dir!(), "rustyjson_translation_#{System.unique_integer([:positive])}")
    File.mkdir_p!(other)

    try do
      wasm = Path.join(other, "rustyjson.wasm")
      File.cp!(Translation.file(Host.guest_path()), Translation.file(wasm))
      File.write!(wasm, File.read!(Host.guest_path()) <> "\0")
      refute Translation.current?(wasm)
    after
      File.rm_rf!(other)
    end
  end

  test "an unexpected form is an error that names it" do
    assert {:error, message} = Translation.rewrite("", "  FUNC_PROLOGUE ;\n  FUNC_EPILOGUE;\n", "/nowhere")
    assert message =~ "unexpected form (functions)"
    assert {:error, message} = Translation.rewrite("", "var_L0:;\n", "/nowhere")
    assert message =~ "unexpected form (loops)"
  end

  defp count(text, pattern), do: length(Regex.scan(pattern, text))
end
