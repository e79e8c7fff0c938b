defmodule RustyJson.CompareTest do
  # Captures the output of processes.
  use ExUnit.Case, async: false

  @moduletag :once

  alias Mix.Tasks.Rustyjson.Compare
  alias RustyJson.Test.Commands

  setup do
    {_dir, write} = Commands.folder("compare")
    {:ok, write: write}
  end

  defp run(argv), do: Commands.run(Compare, argv, :unicode)

  defp rows(output), do: for("  RustyJson" <> row <- String.split(output, "\n"), do: row)

  test "the memory of many documents is that of all results", %{write: file} do
    line = [?", String.duplicate("a", 998), ?"]
    many = file.("many.ndjson", for(_ <- 1..3_000, do: [line, ?\n]))
    assert {0, output, ""} = run(["--time", "1", "--encode", many])
    assert [_ | _] = rows = rows(output)
    # 3,000 texts of 1,000 bytes, and what the VM takes for each.
    for row <- rows do
      assert [_, memory] = Regex.run(~r/([\d.]+) MB/, row), row
      assert Float.parse(memory) >= {3.0, ""} and Float.parse(memory) < {6.0, ""}, row
    end
  end

  test "a table for each file and direction", %{write: file} do
    one = file.("one.json", ~s({"b":[1,2.5,"é"],"a":{"x":null}}))
    lines = file.("many.ndjson", ~s({"a":1}\n\n[2]\n))
    gz = file.("one.json.gz", :zlib.gzip("[1]"))
    assert {0, output, ""} = run(["--time", "1", one, lines, gz])

    for title <- [
          "decode #{one} (33 B)",
          "encode #{one} (33 B)",
          "decode #{lines} (10 B, 2 documents)",
          "encode #{gz} (3 B)"
        ],
        do: assert(output =~ title)

    works = for {_engine, {:ok, _}} <- RustyJson.Engine.statuses(), do: 1
    assert length(rows(output)) == 6 * length(works)

    for row <- rows(output),
        do:
          assert(
            row =~ ~r/, (native|wasm) +[\d.]+ (µs|ms) +[\d.]+ µs – [\d.]+ (µs|ms) +(~|[\d.]+x) +[\d.]+ K?B/
          )

    for {library, module} <- [{"Jason", Jason}, {"JSON", JSON}] do
      if Code.ensure_loaded?(module),
        do: assert(output =~ "\n  #{library}"),
        else: assert(output =~ ~r/not loaded: .*#{library}/)
    end
  end

  test "one direction", %{write: file} do
    path = file.("one.json", "[1]")
    assert {0, output, ""} = run(["--time", "1", "--decode", path])
    refute output =~ "encode "
    assert {0, output, ""} = run(["--time", "1", "--encode", path])
    refute output =~ "decode "
  end

  # From OTP 27 on there is one, and from Elixir 1.18 on its JSON takes the place of it.
  unless Code.ensure_loaded?(:json) do
    test "the null of OTP's json is no difference", %{write: file} do
      Code.eval_string("""
      defmodule :json do
        def decode(text), do: RustyJson.decode!(text, null: :null)
        def encode(term), do: RustyJson.encode!(term, null: :null)
      end
      """)

      on_exit(fn ->
        :code.purge(:json)
        :code.delete(:json)
      end)

      assert {0, output, ""} = run(["--time", "1", file.("null.json", ~s([null,{"a":null,"null":1}]))])
      rows = for "  json (OTP" <> _ = row <- String.split(output, "\n"), do: row
      assert length(rows) == 2
      for row <- rows, do: assert(row =~ ~r/equal$/ or row =~ "1.0x")
    end
  end

  test "an error of decoding is shown once", %{write: file} do
    assert {1, output, ""} = run(["--time", "1", file.("broken.json", "[1")])
    assert [decoding, encoding] = String.split(output, "\nencode ")
    for row <- rows(decoding), do: assert(row =~ "Unexpected end of input")
    for row <- rows(encoding), do: assert(row =~ ~r/ - +not decoded$/)
    assert length(rows(encoding)) >= 1
  end

  test "what cannot be compared", %{write: file} do
    assert {1, output, ""} = run(["--time", "1", file.("bad.json", "[1,]")])
    assert output =~ "Expected value at position 3 (line 1, column 4): Trailing comma"
    assert {3, _, error} = run(["--time", "1", "/nowhere.json"])
    assert error =~ "/nowhere.json: no such file"
    assert {3, _, error} = run(["--time", "1", file.("empty.ndjson", "\n")])
    assert error =~ "has no document"

    for {argv, words} <- [
          {[], "no FILE given"},
          {["--bogus", "x"], "unknown option --bogus"},
          {["--time", "0", "x"], "--time takes"},
          {["--time", "x", "y"], "does not take x"}
        ] do
      assert {2, "", error} = run(argv)
      assert error =~ words
    end
  end
end
