defmodule RustyJson.CLITest do
  # Changes the application's environment, and captures the output of processes.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias RustyJson.Test.{Commands, Heap, Judge}

  @good ~s({"b":[1,2.50,"é"],\n "a":{"x":1e2,"x":null}})
  @bad ~s({"b":[1,2],\n "a":{"x":nul}})

  setup do
    Commands.keep([:engine, :wasm, :encode])
    {dir, write} = Commands.folder("cli")
    {:ok, write: write, dir: dir}
  end

  # Exit code, standard output and standard error.
  defp run(argv) do
    parent = self()

    errors =
      capture_io(:stderr, fn ->
        output = capture_io([encoding: :latin1], fn -> send(parent, {:code, code(argv)}) end)
        send(parent, {:output, output})
      end)

    assert_received {:code, code}
    assert_received {:output, output}
    {code, output, errors}
  end

  defp code(argv) do
    Mix.Tasks.Rustyjson.run(argv)
    0
  catch
    :exit, {:shutdown, code} -> code
  end

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

  test "--compact and --indent", %{write: file} do
    path = file.("doc.json", ~s({"a": [1]}))
    assert {0, ~s({"a":[1]}\n), ""} = run(["--compact", path])
    assert {0, ~s({\n    "a": [\n        1\n    ]\n}\n), ""} = run(["--indent", "4", path])
    assert {0, ~s({\n\t"a": [\n\t\t1\n\t]\n}\n), ""} = run(["--indent", "tab", path])
    assert {0, ~s({\n "a": [\n  1\n ]\n}\n), ""} = run(["--indent", "1", "--sort", path])
  end

  test "files that are compressed", %{write: file} do
    text = Enum.map_join(1..50_000, "", &~s({"id": #{&1}}\n))
    gz = file.("lines.ndjson.gz", :zlib.gzip(text) <> :zlib.gzip(~s({"id": 0}\n)))
    assert {0, output, ""} = run(["--lines", gz])
    assert output == String.replace(text, ": ", ":") <> ~s({"id":0}\n)
    assert {0, ^output, ""} = run(["--lines", "--fetch", "", gz])

    one = file.("one.json.gz", :zlib.gzip("[1, 2]"))
    assert {0, "[1,2]\n", ""} = run(["--compact", one])
    assert {0, "1\n2\n", ""} = run(["--array", one])
    assert {0, ^output, ""} = run(["--lines", file.("lines.ndjson", File.read!(gz))])

    for bytes <- [binary_part(:zlib.gzip(text), 0, 5_000), "[1]", "", "\x1f"] do
      assert {3, _, error} = run(["--lines", file.("bad.gz", bytes)])
      assert error =~ "bad.gz: is not complete gzip data"
    end
  end

  test "--version and --help" do
    assert {0, version, ""} = run(["--version"])
    assert version =~ ~r/^rustyjson \d+\.\d+\.\d+ \(Elixir #{Regex.escape(System.version())}, OTP \d+\)\n$/
  end

  test "each line has its number in errors, the first one too", %{write: file} do
    lines = file.("bad.ndjson", ~s([1,]\n[2]\n[3,]\n[4\n5]\n{"a":1} {"b":2}\n"x"))

    for arguments <- [["--lines"], ["--lines", "--sort"], ["--lines", "--validate"]] do
      assert {1, _, errors} = run(arguments ++ [lines])

      for place <- [
            "1:4: Expected value: Trailing comma",
            "3:4: ",
            "4:3: Unexpected end",
            "5:2: Unexpected data",
            "6:9: Unexpected data"
          ],
          do: assert(errors =~ "bad.ndjson:#{place}", inspect(arguments))
    end

    assert {1, "", errors} = run(["--lines", "--fetch", "/a", file.("first.ndjson", "{}")])
    assert errors =~ "first.ndjson:1: nothing at /a"
  end

  test "large documents are validated in pieces", %{write: file} do
    row = ~s({"id":1,"text":"#{String.duplicate("x", 1_000)}"},\n)
    rows = String.duplicate(row, 17_000)
    good = file.("good.json", "[" <> rows <> "0]")
    assert {0, "", ""} = run(["--validate", good])

    bad = file.("bad.json", "[" <> rows <> "nul]")
    assert {1, "", error} = run(["--validate", bad])
    assert error =~ "bad.json:17001:1: Expected value"

    cut = file.("cut.json", "[" <> rows <> "0")
    assert {1, "", error} = run(["--validate", cut])
    assert error =~ "cut.json:17001:2: Unexpected end of input: [ is not closed"

    assert {1, "", error} = run(["--validate", file.("two.json", "[" <> rows <> "0] 1")])
    assert error =~ "two.json:17001:4: Unexpected data after the value"

    if RustyJson.engine() == :native do
      task =
        Task.async(fn ->
          Process.flag(:max_heap_size, 20_000_000)
          run(["--validate", good])
        end)

      assert {0, "", ""} = Task.await(task, 60_000)
    end
  end

  test "lines of a file are read one after the other", %{write: file} do
    path = file.("blank.ndjson", String.duplicate("\n", 300_000) <> "1\n2")
    count = fn line, number, found -> [{line, number} | found] end

    assert Heap.within(100_000, fn -> RustyJson.CLI.Input.each_line(path, true, [], count) end) ==
             {:ok, [{"2", 300_002}, {"1", 300_001}]}
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

  test "takes a document a line", %{write: file} do
    lines = file.("lines.ndjson", ~s({"a": 1}\n{"a":2,}\r\n\n  {"b":3}))
    assert {1, ~s({"a":1}\n{"b":3}\n), error} = run(["--lines", lines])
    assert error =~ "#{lines}:2:8: Expected value: Trailing comma\n"

    assert {1, "", error} = run([lines])
    assert error =~ "#{lines}:2:1: Unexpected data after the value"
    assert error =~ "add --lines"
    assert {1, "1\n", error} = run(["--at", "/a", file.("more.ndjson", ~s({"a":1}\n{"a":2}\n))])
    assert error =~ "add --lines"
    assert {1, _, error} = run(["--lines", file.("two.ndjson", ~s({"a":1}\n{"a":2} 3\n))])
    refute error =~ "add --lines"

    # Several documents, none of which is a line.
    rows = file.("rows.json", ~s({\n "a": 1\n}\n{\n "a": 2\n}\n))

    for arguments <- [[rows], ["--at", "/b", rows], [file.("row.json", ~s({"a":1}{"a":2}))]] do
      assert {1, "", error} = run(arguments)
      refute error =~ "add --lines"
      assert error =~ "RustyJson.decode_stream/2 reads all"
    end
  end

  test "a directory is not a file" do
    assert run(["--validate", System.tmp_dir!()]) == {3, "", "#{System.tmp_dir!()}: is a directory\n"}
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

  test "--lines with a document of several lines", %{write: file} do
    hint = "\nIf the whole is one document, leave out --lines.\n"
    assert {1, "", error} = run(["--lines", file.("pretty.json", "{\n  \"a\": 1\n}\n")])
    assert [_, _] = String.split(error, hint)
    # Any other line that ends early is broken.
    assert {1, "1\n", error} = run(["--lines", file.("broken.ndjson", "1\n[2\n")])
    refute error =~ hint
  end

  test "a byte order mark, as programs on Windows write it", %{write: file} do
    marked = file.("marked.json", "\uFEFF[1]")
    assert {1, "", error} = run([marked])
    assert error =~ "marked.json:1:1: Byte order mark not allowed\n"
    assert error =~ "\n`tail -c +4 FILE` prints the file without it.\n"
    assert {"[1]", 0} = System.cmd("tail", ["-c", "+4", marked])
    # Streams skip it.
    assert {0, "[1]\n", ""} = run(["--lines", marked])

    utf16 =
      file.("utf16.json", <<0xFF, 0xFE>> <> :unicode.characters_to_binary("[1]", :utf8, {:utf16, :little}))

    assert {1, "", error} = run([utf16])
    assert error =~ "utf16.json:1:1: Byte order mark not allowed: The text is UTF-16, and JSON is UTF-8\n"
    refute error =~ "tail"
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

  test "a byte order mark before lines is left out, in every engine, and nowhere else", %{write: file} do
    marked = file.("marked.ndjson", "\uFEFF{\"a\":[1]}\r\n\uFEFF{\"a\":[2]}\n{\"a\":[3]}\n")
    broken = file.("broken.ndjson", "\uFEFF[1,]\n[2]\n")
    empty = file.("empty.ndjson", "\uFEFF\n[2]\n")

    for {_name, options} <- Judge.engines() do
      engine =
        ["--engine", "#{options[:engine]}"] ++ if(host = options[:host], do: ["--host", "#{host}"], else: [])

      lines = ["--lines" | engine]

      for {more, output} <- [
            {[], ~s({"a":[1]}\n{"a":[3]}\n)},
            {["--sort"], ~s({"a":[1]}\n{"a":[3]}\n)},
            {["--canonical"], ~s({"a":[1]}\n{"a":[3]}\n)},
            {["--fetch", "/a"], "[1]\n[3]\n"},
            {["--fetch", "/a/*"], "1\n3\n"},
            {["--at", "/a/*"], "1\n3\n"},
            {["--validate"], ""}
          ] do
        assert {1, ^output, errors} = run(lines ++ more ++ [marked])
        assert errors =~ ~r/\A\S+marked.ndjson:2:1: Byte order mark not allowed\n/
      end

      for more <- [[], ["--sort"], ["--at", "/*"]] do
        assert {1, _output, errors} = run(lines ++ more ++ [broken])
        assert errors =~ "broken.ndjson:1:4: Expected value: Trailing comma"
        assert {0, _output, ""} = run(lines ++ more ++ [empty])
      end

      # A whole document has none; a stream of its values can.
      whole = file.("whole.json", "\uFEFF[1]")

      for more <- [["--validate"], ["--fetch", "/0"], ["--fetch", "/*"]] do
        assert {1, "", errors} = run(engine ++ more ++ [whole])
        assert errors =~ "whole.json:1:1: Byte order mark not allowed"
      end

      assert {0, "1\n", ""} = run(engine ++ ["--array", whole])
    end
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

  test "a large document with a byte order mark is as wrong as a small one", %{write: file} do
    large = file.("large.json", ["\uFEFF[1", List.duplicate(",1", 8_100_000), "]"])

    for {_name, options} <- Judge.engines() do
      assert {1, "", errors} = run(["--validate", "--engine", "#{options[:engine]}", large])
      assert errors =~ "large.json:1:1: Byte order mark not allowed"
    end
  end
end
