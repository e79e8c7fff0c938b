defmodule RustyJson.CLIInputsTest do
  @moduledoc "`mix rustyjson`: files that are compressed, large, not there, of many lines, or begin with a byte order mark."
  # Changes the application's environment, and captures the output of processes.
  use ExUnit.Case, async: false

  alias RustyJson.Test.{Commands, Heap, Judge}

  setup do
    Commands.keep([:engine, :wasm, :encode])
    {_dir, write} = Commands.folder("cli")
    {:ok, write: write}
  end

  defp run(argv), do: Commands.run(Mix.Tasks.Rustyjson, argv)

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
      assert error =~ "RustyJson.decode_stream/2 reads several documents"
    end
  end

  test "a directory is not a file" do
    assert run(["--validate", System.tmp_dir!()]) == {3, "", "#{System.tmp_dir!()}: is a directory\n"}
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

  test "a large document with a byte order mark is as wrong as a small one", %{write: file} do
    large = file.("large.json", ["\uFEFF[1", List.duplicate(",1", 8_100_000), "]"])

    for {_name, options} <- Judge.engines() do
      assert {1, "", errors} = run(["--validate", "--engine", "#{options[:engine]}", large])
      assert errors =~ "large.json:1:1: Byte order mark not allowed"
    end
  end
end
