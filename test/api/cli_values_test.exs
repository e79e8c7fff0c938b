defmodule RustyJson.CLIValuesTest do
  @moduledoc "`mix rustyjson`: values at places of documents, canonical text, and options that exclude each other."
  # Changes the application's environment, and captures the output of processes.
  use ExUnit.Case, async: false

  alias RustyJson.Test.{Commands, Judge}

  setup do
    Commands.keep([:engine, :wasm, :encode])
    {_dir, write} = Commands.folder("cli")
    {:ok, write: write}
  end

  defp run(argv), do: Commands.run(Mix.Tasks.Rustyjson, argv)

  test "--array and --at stream values, a line each", %{write: file} do
    rows = file.("rows.json", ~s({"n":[0],"rows":[{"b":1,"a":[2, 3]},"x",4]}))
    assert {0, ~s({"b":1,"a":[2,3]}\n"x"\n4\n), ""} = run(["--at", "/rows/*", rows])
    assert {0, ~s({"a":[2,3],"b":1}\n"x"\n4\n), ""} = run(["--at", "/rows/*", "--sort", rows])
    assert {0, "", ""} = run(["--at", "/rows/*", "--validate", rows])

    written = file.("written.json", ~S({"a":[ {"x" : 1.50,"x":1e2,"s":"\u00e9"}, -0.0 ]}))
    assert {0, ~S({"x":1.50,"x":1e2,"s":"\u00e9"}) <> "\n-0.0\n", ""} = run(["--at", "/a/*", written])
    assert {0, ~S({"s":"é","x":100.0}) <> "\n-0.0\n", ""} = run(["--at", "/a/*", "--sort", written])
    assert {0, "", ""} = run(["--at", "/none", rows])

    large = file.("large.json", "[" <> Enum.map_join(1..200_000, ",", &~s({"id":#{&1}})) <> "]")
    assert {0, output, ""} = run(["--array", large])
    assert output == Enum.map_join(1..200_000, "", &~s({"id":#{&1}}\n))

    bad = file.("bad.json", "[1,\n {\"x\": tru}]")
    assert {1, "1\n", error} = run(["--array", bad])
    assert error =~ "bad.json:2:8: Expected value\n"
    assert error =~ "at /1/x"
    assert {1, "", error} = run(["--array", rows])
    assert error =~ "Expected an array"
  end

  test "--fetch prints one value, laid out, or with --raw as it is", %{write: file} do
    path = file.("doc.json", ~s({"a": {"b" : [1,\n2.50]}, "s": "é", "n": null}))
    assert {0, "[\n  1,\n  2.50\n]\n", ""} = run(["--fetch", "/a/b", path])
    assert {0, "[1,2.50]\n", ""} = run(["--fetch", "/a/b", "--minify", path])
    assert {0, "[1,\n2.50]\n", ""} = run(["--fetch", "/a/b", "--raw", path])
    assert {0, "[1,2.5]\n", ""} = run(["--fetch", "/a/b", "--canonical", path])
    assert {0, "null\n", ""} = run(["--fetch", "/n", "--raw", path])
    assert {0, "", ""} = run(["--fetch", "/a/b", "--validate", path])
    assert {1, "", error} = run(["--fetch", "/a/c", path])
    assert error =~ "doc.json: nothing at /a/c"

    lines = file.("lines.ndjson", ~s({"id":1}\n{"id":2}\n{}\n))
    assert {1, "1\n2\n", error} = run(["--lines", "--fetch", "/id", lines])
    assert error =~ "lines.ndjson:3: nothing at /id"

    bad = file.("bad.json", ~s({"a":1,\n x}))
    assert {1, "", error} = run(["--fetch", "/a", bad])
    assert error =~ "bad.json:2:2: Unquoted object key"
  end

  test "--raw prints strings without quotes", %{write: file} do
    path = file.("doc.json", ~S({"s": "a\"b\u00e9\n", "l": ["x", 1.50, {"y" : "z"}, null]}))
    assert {0, ~s(a"bé\n\n), ""} = run(["--fetch", "/s", "--raw", path])
    assert {0, ~s(x\n1.50\n{"y" : "z"}\nnull\n), ""} = run(["--at", "/l/*", "--raw", path])
    assert {0, ~s(x\n1.50\n{"y" : "z"}\nnull\n), ""} = run(["--fetch", "/l/*", "--raw", path])
    lines = file.("lines.ndjson", ~s("a"\n[ 1]\n"b"))
    assert {0, "a\n[ 1]\nb\n", ""} = run(["--lines", "--raw", lines])
  end

  test "--fetch with * prints all values", %{write: file} do
    path = file.("users.json", ~s({"users":[{"name":"A","t":[1,2]},{"x":1},{"name":"B"}]}))
    assert {0, ~s("A"\n"B"\n), ""} = run(["--fetch", "/users/*/name", path])
    assert {0, "[\n  1,\n  2\n]\n", ""} = run(["--fetch", "/users/*/t", path])
    assert {1, "", error} = run(["--fetch", "/users/*/none", path])
    assert error =~ "users.json: nothing at /users/*/none"

    lines = file.("users.ndjson", ~s({"n":[1,2]}\n{"n":[]}\n{"n":[3]}\n{"n":[))
    assert {1, "1\n2\n3\n", error} = run(["--lines", "--fetch", "/n/*", lines])
    assert error =~ "users.ndjson:2: nothing at /n/*"
    assert error =~ "users.ndjson:4:7: Unexpected end of input: [ is not closed"
  end

  test "--lines with --at", %{write: file} do
    lines = file.("rows.ndjson", ~s({"n":[{"a": 1},"x"]}\n\n{"n":[]}\n{"m":1}\n{"n":[3]}\n{"n":[4,}\n))
    assert {1, output, error} = run(["--lines", "--at", "/n/*", lines])
    assert output == ~s({"a":1}\n"x"\n3\n4\n)
    assert error =~ "rows.ndjson:6:9: Expected value"

    assert {0, ~s({"a":1}\nx\n3\n), ""} =
             run(["--lines", "--at", "/n/*", "--raw", "--quiet", file.("r", ~s({"n":[{"a":1},"x",3]}))])

    assert {1, "", _} = run(["--lines", "--at", "/n/*", "--validate", lines])
  end

  test "--canonical", %{write: file} do
    path = file.("doc.json", ~s({"b": 1.0, "a": "\\u00e9"}))
    assert {0, ~s({"a":"é","b":1}\n), ""} = run(["--canonical", path])
    bad = file.("bad.json", "[9007199254740993]")
    assert {1, "", error} = run(["--canonical", bad])
    assert error =~ "bad.json:1:2: Integer that canonical JSON cannot represent exactly"
  end

  test "combinations of --fetch, --raw and --canonical that contradict each other" do
    for {arguments, message} <- [
          {["--raw"], "--raw needs --fetch, --at, --array or --lines"},
          {["--raw", "--lines", "--sort"], "--raw and --sort cannot be combined"},
          {["--indent", "2", "--compact"], "--indent and --minify cannot be combined"},
          {["--indent", "2", "--lines"], "--indent and --lines cannot be combined"},
          {["--indent", "two"], "--indent takes a number of spaces from 0 to 1000, or tab, not two"},
          {["--lines", "--at", "/a", "--stats"], "--stats and --at cannot be combined"},
          {["--fetch", "/a", "--raw", "--canonical"], "--raw and --canonical cannot be combined"},
          {["--fetch", "/a", "--raw", "--pretty"], "--raw and --pretty cannot be combined"},
          {["--fetch", "/a", "--raw", "--indent", "2"], "--raw and --indent cannot be combined"},
          {["--fetch", "/a", "--raw", "--validate"], "--raw and --validate cannot be combined"},
          {["--fetch", "/a", "--sort"], "--sort and --fetch cannot be combined"},
          {["--canonical", "--sort"], "--sort and --canonical cannot be combined"},
          {["--canonical", "--pretty"], "--canonical and --pretty cannot be combined"},
          {["--canonical", "--array"], "--canonical and --array cannot be combined"},
          {["--fetch", "/a", "--at", "/b"], "--fetch and --at cannot be combined"},
          {["--fetch", "/a", "--stats"], "--stats and --fetch cannot be combined"},
          {["--fetch", "a"], "takes a JSON Pointer"}
        ] do
      assert {2, "", error} = run(arguments ++ ["x"])
      assert error =~ message
    end
  end

  test "--raw with --compact, as -rc of jq", %{write: file} do
    path = file.("d.json", ~s({"a": [ "x\\n", {"b": 1.50} , null]}))
    lines = file.("d.ndjson", ~s({"a": "x"}\n "y" \n{"a": [1, 2]}\n))
    assert {0, ~s(x\n\n{"b":1.50}\nnull\n), ""} = run(["-rc", "--at", "/a/*", path])
    assert {0, ~s(["x\\n",{"b":1.50},null]\n), ""} = run(["-r", "-c", "--fetch", "/a", path])
    assert {0, ~s({"a":"x"}\ny\n{"a":[1,2]}\n), ""} = run(["--raw", "--minify", "--lines", lines])
    assert {1, "x\n[1,2]\n", _} = run(["-rc", "--lines", "--fetch", "/a", lines])
  end

  test "--array, --at and --lines exclude each other" do
    assert {2, "", error} = run(["--array", "--at", "/a", "x"])
    assert error =~ "--array and --at cannot be combined"
    assert {2, "", error} = run(["--lines", "--array", "x"])
    assert error =~ "cannot be combined"
    assert {2, "", error} = run(["--at", "a", "x"])
    assert error =~ "JSON Pointer"
    assert {2, "", error} = run(["--at", "/a", "--stats", "x"])
    assert error =~ "--stats and --at"
  end

  test "an error in a value that was fetched has its place in that value", %{write: file} do
    doc = file.("doc.json", ~s({"x": 1,\n\n "a": [{"b": 1,\n"b":2}]}))
    assert {1, "", error} = run(["--canonical", "--fetch", "/a", doc])
    assert error =~ ~s(#{doc}: line 2, column 1 of the value at /a: Duplicate key "b"\n\n2 | "b":2}]\n  | ^\n)

    assert {1, "1\n", error} =
             run([
               "--canonical",
               "--fetch",
               "/a/*",
               "--lines",
               file.("l", ~s({}\n{"a":[1,90071992547409931]}))
             ])

    assert error =~ "/l:1: nothing at /a/*\n"
    assert error =~ "/l:2: line 1, column 1 of a value at /a/*: Integer that canonical JSON"
    assert error =~ "\nat /a/*\n"
  end

  if Judge.available?(:built_in) do
    test "a string that the sandbox can find but not decode is an error", %{write: file} do
      large = file.("string.json", ["[\"", :binary.copy("x", 3_000_000), "\"]"])
      wasm = ["--engine", "wasm", "--host", "built_in", "--max-memory"]
      fetch = ["--fetch", "/0", "--raw"]

      codes =
        for memory <- 2_000_000..10_000_000//250_000 do
          {code, output, errors} = run(fetch ++ wasm ++ ["#{memory}", large])
          assert {code, byte_size(output)} in [{0, 3_000_001}, {4, 0}]
          assert code == 0 or errors =~ "string.json: the call needs more memory than max_memory"
          code
        end

      assert Enum.uniq(codes) == [4, 0]
    end
  end
end
