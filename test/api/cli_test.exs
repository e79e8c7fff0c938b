defmodule RustyJson.CLITest do
  @moduledoc "`mix rustyjson`: layouts, validation, counts, limits, and its command line."
  # Changes the application's environment, and captures the output of processes.
  use ExUnit.Case, async: false

  alias RustyJson.Test.{Commands, Judge}

  @good ~s({"b":[1,2.50,"é"],\n "a":{"x":1e2,"x":null}})
  @bad ~s({"b":[1,2],\n "a":{"x":nul}})

  setup do
    Commands.keep([:engine, :wasm, :encode])
    {dir, write} = Commands.folder("cli")
    {:ok, write: write, dir: dir}
  end

  defp run(argv), do: Commands.run(Mix.Tasks.Rustyjson, argv)

  test "--compact and --indent", %{write: file} do
    path = file.("doc.json", ~s({"a": [1]}))
    assert {0, ~s({"a":[1]}\n), ""} = run(["--compact", path])
    assert {0, ~s({\n    "a": [\n        1\n    ]\n}\n), ""} = run(["--indent", "4", path])
    assert {0, ~s({\n\t"a": [\n\t\t1\n\t]\n}\n), ""} = run(["--indent", "tab", path])
    assert {0, ~s({\n "a": [\n  1\n ]\n}\n), ""} = run(["--indent", "1", "--sort", path])
  end

  test "--version and --help" do
    assert {0, version, ""} = run(["--version"])
    assert version =~ ~r/^rustyjson \d+\.\d+\.\d+ \(Elixir #{Regex.escape(System.version())}, OTP \d+\)\n$/
  end

  test "lays out as written, or sorted", %{write: file} do
    good = file.("good.json", @good)
    assert {0, ~s({"b":[1,2.50,"é"],"a":{"x":1e2,"x":null}}\n), ""} = run(["--minify", good])
    assert {0, pretty, ""} = run([good])
    assert pretty == RustyJson.Formatter.pretty_print(@good) <> "\n"
    assert {0, ~s({"a":{"x":null},"b":[1,2.5,"é"]}\n), ""} = run(["--minify", "--sort", good])
    assert {0, sorted, ""} = run(["--sort", good])
    assert sorted == RustyJson.encode!(RustyJson.decode!(@good), pretty: true, sort_keys: true) <> "\n"
  end

  test "validates without output, shows the place, and goes on to the other files", %{write: file, dir: dir} do
    good = file.("good.json", @good)
    bad = file.("bad.json", @bad)
    assert {0, "", ""} = run(["--validate", good])

    assert {1, "", error} = run(["--validate", bad, good])
    assert error == "#{bad}:2:11: Expected value\n\n2 |  \"a\":{\"x\":nul}}\n  |           ^\nat /a/x\n"

    missing = Path.join(dir, "missing.json")
    assert {3, "", error} = run(["--validate", missing, bad])
    assert error =~ "#{missing}: no such file or directory\n"
    assert error =~ "#{bad}:2:11: "
    assert {3, "", _} = run(["--validate", dir])
  end

  test "counts", %{write: file} do
    good = file.("good.json", @good)
    assert {0, "", stats} = run(["--validate", "--stats", good])

    assert stats =~
             ~r/^#{Regex.escape(good)}: 44 B in, 7 values, 3 keys, depth 2; \w+ engine: decoded in [\d.]+ ms$/

    assert {0, _, stats} = run(["--minify", "--stats", good])
    assert stats =~ ~r/: 44 B in, \d+ B out, 7 values, .* decoded in [\d.]+ ms, formatted in [\d.]+ ms$/
  end

  test "counts of rejected documents", %{write: file} do
    assert {1, "", error} = run(["--stats", file.("bad.json", "[1,]")])
    assert error =~ ~r/bad.json: rejected, 4 B in; \w+ engine: stopped after [\d.]+ ms$/

    lines = file.("some.ndjson", ~s([1]\n[2,]\n{"a":3}\n))
    assert {1, _, error} = run(["--stats", "--lines", lines])
    assert error =~ ~r/: 3 documents, 1 of them rejected, \d+ B in, \d+ B out, 4 values, 1 keys, depth 1; /
  end

  test "deeper than allowed", %{write: file} do
    deep = file.("deep.json", String.duplicate("[", 200) <> String.duplicate("]", 200))
    assert {1, "", error} = run([deep])
    assert error =~ "Nesting deeper than 128"
    assert error =~ "--max-depth N raises the limit"
    assert {0, _, ""} = run(["--max-depth", "200", deep])
    assert {0, _, ""} = run(["--max-depth", "200", "--sort", deep])
  end

  test "what is too deep to be indented, or long when it is", %{write: file} do
    deep = file.("deep.json", [List.duplicate("[", 2_000), List.duplicate("]", 2_000)])
    ones = file.("ones.json", ["[1", List.duplicate(",1", 500_000), "]"])

    dense =
      file.("dense.json", [
        List.duplicate("[", 120),
        "1",
        List.duplicate(",1", 50_000),
        List.duplicate("]", 120)
      ])

    # The default sandbox has room for less.
    for {name, options} <- Judge.engines() do
      engine =
        ["--engine", "#{options[:engine]}"] ++ if(host = options[:host], do: ["--host", "#{host}"], else: [])

      assert {1, "", error} = run(engine ++ ["--max-depth", "5000", deep])

      assert error ==
               "#{deep}: more than 1024 levels of nesting, which are not indented; --minify prints them\n"

      assert {1, "", ^error} = run(engine ++ ["--max-depth", "5000", "--fetch", "/0", deep])
      assert {0, _output, ""} = run(engine ++ ["--max-depth", "5000", "--minify", deep])

      if name == :native do
        assert {0, output, ""} = run(engine ++ ["--indent", "200", ones])
        assert byte_size(output) == 500_001 * 203 + 3
        assert {0, output, ""} = run(engine ++ [dense])
        assert byte_size(output) > 64 * 100_000 + 2_000_000
      end
    end
  end

  test "the command line is checked before anything is read" do
    for {argv, words} <- [
          {[], "no FILE given"},
          {["--bogus", "x"], "unknown option --bogus\n"},
          {["--validat", "x"], "unknown option --validat, did you mean --validate?"},
          {["--max-dept=3", "x"], "unknown option --max-dept, did you mean --max-depth?"},
          {["-x", "x"], "unknown option -x\n"},
          {["x", "--indent"], "option --indent needs a value"},
          {["--pretty", "--minify", "x"], "--pretty and --minify cannot be combined"},
          {["--pretty", "--lines", "x"], "--pretty and --lines cannot be combined"},
          {["--pretty", "--at", "/a", "x"], "--pretty and --at cannot be combined"},
          {["--engine", "fast", "x"], "--engine takes auto, native, wasm, not fast"},
          {["--timeout", "soon", "x"], "option --timeout does not take soon"},
          {["--engine", "native", "--timeout", "9", "x"], "--timeout is for --engine wasm"},
          {["--engine", "native", "--max-memory", "9", "x"], "--max-memory is for --engine wasm"},
          {["--engine", "wasm", "--timeout", "0", "x"], "option :timeout takes an integer"}
        ] do
      assert {2, "", error} = run(argv)
      assert error =~ words
      assert error =~ "mix help rustyjson"
    end
  end

  test "the engine may be named by the configuration", %{write: file} do
    alias RustyJson.CLI.Arguments
    {:ok, arguments} = Arguments.parse(["--timeout", "100", file.("good.json", @good)])
    Application.put_env(:rustyjson, :engine, :wasm)
    assert Arguments.check(arguments) == :ok

    if Judge.available?(:native) do
      Application.put_env(:rustyjson, :engine, :native)
      assert Arguments.check(arguments) == {:error, "--timeout is for --engine wasm"}
    end
  end

  if Judge.available?(:built_in) do
    test "the sandbox stops a document", %{write: file} do
      large = file.("large.json", "[" <> String.duplicate("[],", 8_000_000) <> "0]")
      good = file.("good.json", @good)
      wasm = ["--validate", "--engine", "wasm", "--host", "built_in"]
      assert {0, "", ""} = run(wasm ++ [good])
      assert {4, "", error} = run(wasm ++ ["--timeout", "10", large, good])
      assert error =~ ~r/^#{Regex.escape(large)}: .* timeout: 10 ms$/m
      assert {4, "", error} = run(wasm ++ ["--timeout", "5000", "--max-memory", "4000000", large])
      assert error =~ "max_memory"
    end
  end
end
