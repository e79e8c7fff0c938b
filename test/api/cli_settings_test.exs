defmodule RustyJson.CLISettingsTest do
  @moduledoc "What the configuration of an application changes about the commands: the engine and the limits, and nothing else."

  # Changes the application's environment, and captures the output of processes.
  use ExUnit.Case, async: false

  alias RustyJson.CLI.Doctor.SelfTest
  alias RustyJson.Test.{Commands, Judge}

  setup do
    Commands.keep([:engine, :wasm, :decode, :encode, :policies])
    {_dir, write} = Commands.folder("settings")
    {:ok, write: write}
  end

  defp run(argv), do: Commands.run(Mix.Tasks.Rustyjson, argv)

  defp configure(settings) do
    Application.put_all_env(rustyjson: Keyword.merge([decode: [], encode: []], settings))
    RustyJson.Config.reload()
  end

  # Each engine, as the command line names it.
  defp engines do
    for {_name, options} <- Judge.engines(),
        do:
          ["--engine", "#{options[:engine]}"] ++
            if(host = options[:host], do: ["--host", "#{host}"], else: [])
  end

  # Options that a call would show in its result.
  @form [
    decode: [
      keys: :atoms!,
      floats: :decimals,
      objects: :ordered_objects,
      duplicate_keys: :error,
      validate_strings: false,
      null: :null,
      raw: ["/unknown key of a test"],
      errors: :all
    ],
    encode: [
      redact: ["password"],
      redacted: "-",
      omit: [nil],
      compress: :gzip,
      pretty: true,
      escape: :html_safe,
      maps: :strict,
      integers: :js_safe,
      invalid_utf8: :replace,
      lean: true
    ]
  ]

  # Of the settings that contradict others or those above.
  @more [
    [decode: [as: {:list, :integer}], encode: [canonical: true]],
    [decode: [as: :integer], encode: [unsupported: :inspect, null: :undefined]]
  ]

  test "options for the form of terms and texts do not apply", %{write: file} do
    doc =
      file.("doc.json", ~s({"password":"</","unknown key of a test":[1.5,9007199254740993,null],"b":1,"b":2}))

    lines = file.("lines.ndjson", ~s({"password":1.5}\n{"a":null,"a":null}\n))
    sorted = ~s({"b":2,"password":"</","unknown key of a test":[1.5,9007199254740993,null]}\n)
    bad = file.("bad.json", ~s(["\xFF"]))

    for settings <- [@form | @more] do
      configure(settings)

      for engine <- engines() do
        assert {0, ^sorted, ""} = run(engine ++ ["--sort", "--minify", doc])
        assert {0, "", ""} = run(engine ++ ["--validate", doc])
        assert {0, text, ""} = run(engine ++ ["--minify", doc])
        assert text == File.read!(doc) <> "\n"
        assert {0, "1.5\n", ""} = run(engine ++ ["--fetch", "/unknown key of a test/0", doc])
        assert {0, "</\n", ""} = run(engine ++ ["--fetch", "/password", "--raw", doc])
        assert {0, ~s("</"\n), ""} = run(engine ++ ["--at", "/password", doc])
        assert {0, ~s("</"\n), ""} = run(engine ++ ["--at", "/password", "--sort", doc])
        assert {0, ~s({"password":1.5}\n{"a":null}\n), ""} = run(engine ++ ["--lines", "--sort", lines])
        assert {0, ~s({"password":1.5}\n{"a":null,"a":null}\n), ""} = run(engine ++ ["--lines", lines])
        assert {0, "", stats} = run(engine ++ ["--stats", "--validate", doc])
        assert stats =~ "7 values, 3 keys, depth 2"
        assert {1, "", error} = run(engine ++ ["--validate", bad])
        assert error =~ "Invalid UTF-8 byte 0xFF"
      end
    end
  end

  test "limits apply, however long the document is", %{write: file} do
    rows = "[" <> String.duplicate(~s("#{String.duplicate("x", 1_000)}",\n), 17_000) <> "0]"
    large = file.("large.json", rows)
    small = file.("small.json", "[[1,2],[3]]")

    for {limit, path, words} <- [
          {[max_bytes: 10_000_000], large, "Input larger than 10000000 bytes"},
          {[max_bytes: 10], small, "Input larger than 10 bytes"},
          {[max_nodes: 10_000], large, "More than 10000 values"},
          {[max_depth: 1], small, "Nesting deeper than 1"}
        ] do
      configure(decode: limit)

      for engine <- engines() do
        assert {1, "", error} = run(engine ++ ["--validate", path])
        assert error =~ words
        assert {1, "", error} = run(engine ++ ["--sort", path])
        assert error =~ words
      end
    end

    configure(encode: [max_bytes: 5])

    for engine <- engines() do
      assert {1, "", error} = run(engine ++ ["--sort", small])
      assert error =~ "5 bytes"
    end
  end

  test "settings can be maps", %{write: file} do
    small = file.("small.json", "[1]")
    configure(wasm: %{timeout: 1_000}, decode: %{null: :null}, encode: %{pretty: true})
    for engine <- engines(), do: assert({0, "[1]\n", ""} = run(engine ++ ["--minify", small]))
  end

  if Judge.available?(:native) and Judge.available?(:built_in) do
    test "the engine of the command line lays out texts, too", %{write: file} do
      configure(encode: [engine: :native])
      small = file.("small.json", "[1]")
      wasm = ["--engine", "wasm", "--host", "built_in", "--timeout", "5000", "--max-memory"]

      # The text fits into the sandbox. Its layout does not, in which each level adds to the length of each line.
      long =
        file.("long.json", [
          List.duplicate("[", 120),
          "1",
          List.duplicate(",1", 200_000),
          List.duplicate("]", 120)
        ])

      assert {0, "", ""} = run(wasm ++ ["20000000", "--validate", long])
      assert {4, "", error} = run(wasm ++ ["20000000", long])
      assert error =~ "max_memory"
      assert {0, "[1]\n", ""} = run(wasm ++ ["20000000", "--minify", small])
    end
  end

  test "the application's settings are the same after a run", %{write: file} do
    small = file.("small.json", "[1]")
    configure(wasm: %{timeout: 1_000}, encode: [max_depth: 100])
    settings = Application.get_all_env(:rustyjson)

    for engine <- engines(), {code, text} <- [{0, "[1]"}, {1, "[1"}] do
      assert {^code, _output, _errors} = run(engine ++ ["--max-depth", "50", file.("some.json", text)])
      assert Application.get_all_env(:rustyjson) == settings
      assert RustyJson.Options.encode([]).values.max_depth == 100
    end

    # The policy is one of the configured engine.
    if Judge.available?(:native) and Judge.available?(:built_in) do
      configure(engine: :wasm, policies: [webhook: [timeout: 250]])
      assert {0, "[1]\n", ""} = run(["--engine", "native", "--minify", small])
      assert {0, "[1]\n", stats} = run(["--engine", "native", "--stats", "--lines", small])
      assert stats =~ "native engine"
    end
  end

  test "a value that exceeds a limit of encoding ends a stream of sorted values", %{write: file} do
    rows = file.("rows.json", ~s([{"b":1},{"b":2,"a":1},{}]))
    configure(encode: [max_bytes: 8])

    for engine <- engines() do
      for sort <- [["--array"], ["--at", "/*"]] do
        assert {1, ~s({"b":1}\n), error} = run(engine ++ ["--sort" | sort] ++ [rows])
        assert error == "#{rows}: output larger than 8 bytes\n"
      end

      assert {1, ~s({"b":1}\n), error} = run(engine ++ ["--sort", "--lines", "--at", "/*", rows])
      assert error == "#{rows}:1: output larger than 8 bytes\n"
    end

    configure(encode: [max_depth: 1])
    deep = file.("deep.json", "[[1]]")

    for engine <- engines(), more <- [[], ["--lines"]] do
      assert {1, "", error} = run(engine ++ ["--sort" | more] ++ [deep])
      assert error =~ "nesting deeper than 1\n--max-depth N raises the limit."
      assert {0, _output, ""} = run(engine ++ ["--sort", "--max-depth", "2" | more] ++ [deep])
    end
  end

  test "the doctor and the comparison look at the engines alone", %{write: file} do
    doc = file.("doc.json", ~s({"a":[1.5,null]}))
    limits = [decode: [max_bytes: 50, max_depth: 1, decoding_integer_digit_limit: 2], encode: [max_bytes: 50]]

    for settings <- [@form, limits] do
      configure(settings)
      for {_name, options} <- Judge.engines(), do: assert({:ok, _what} = SelfTest.run(options))
    end

    configure(@form)
    assert {0, output, _errors} = Commands.run(Mix.Tasks.Rustyjson.Compare, ["--time", "1", doc], :unicode)
    refute output =~ "NOT EQUAL"
  end
end
