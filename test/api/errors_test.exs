defmodule RustyJson.ErrorsTest do
  @moduledoc "Error messages."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, EncodeError}
  alias RustyJson.Test.Judge

  # The rows of the reference's table of invalid input, then one row for each other reason.
  @messages [
    {"{a: 1}", [], "Unquoted object key at position 1 (line 1, column 2)"},
    {"[1,]", [], "Expected value at position 3 (line 1, column 4): Trailing comma"},
    {"[1, 2,]", [], "Expected value at position 6 (line 1, column 7): Trailing comma"},
    {"[01]", [], "Leading zeros in numbers at position 1 (line 1, column 2)"},
    {"[NaN]", [], "NaN not valid JSON at position 1 (line 1, column 2)"},
    {"[Infinity]", [], "Infinity not valid JSON at position 1 (line 1, column 2)"},
    {~S(["\x00"]), [], ~S"Invalid escape sequence: \x at position 2 (line 1, column 3)"},
    {"{'a': 1}", [], "Single quotes not allowed at position 1 (line 1, column 2)"},
    {~S({"foo":"bar\'s"}), [], ~S"Invalid escape sequence: \' at position 11 (line 1, column 12)"},
    {~S(["\uD800"]), [], "Lone surrogate in string at position 2 (line 1, column 3)"},
    {"", [], "Unexpected end of input at position 0 (line 1, column 1)"},
    {"```json\n{}\n```", [], "Expected value at position 0 (line 1, column 1): Markdown code fence"},
    {<<0x1F, 0x8B, 8, 0>>, [], "Expected value at position 0 (line 1, column 1): Compressed data (gzip)"},
    {<<0xFF, 0xFE, ?1, 0>>, [],
     "Byte order mark not allowed at position 0 (line 1, column 1): The text is UTF-16, and JSON is UTF-8"},
    {"invalid", [], "Expected value at position 0 (line 1, column 1)"},
    {~S("\u12G4"), [], ~S"Invalid unicode escape: \u12G4 at position 1 (line 1, column 2)"},
    {~S("\u1"), [], ~S"Invalid unicode escape: \u1 at position 1 (line 1, column 2)"},
    {"\"a\nb\"", [], "Unescaped control character 0x0A in string at position 2 (line 1, column 3)"},
    {"\"\xFF\"", [], "Invalid UTF-8 byte 0xFF at position 1 (line 1, column 2)"},
    {"[-x]", [], "Invalid number at position 2 (line 1, column 3)"},
    {"[1e400]", [], "Number out of range at position 1 (line 1, column 2)"},
    {~S({"a" 1}), [], "Expected colon after object key at position 5 (line 1, column 6)"},
    {"[1 2]", [], "Expected comma or closing bracket at position 3 (line 1, column 4)"},
    {~S({"a":1 "b"}), [], "Expected comma or closing brace at position 7 (line 1, column 8)"},
    {"// a", [], "Expected value at position 0 (line 1, column 1): JSON has no comments"},
    {"{/**/}", [], "Expected object key at position 1 (line 1, column 2): JSON has no comments"},
    {~s({"a"/**/}), [],
     "Expected colon after object key at position 4 (line 1, column 5): JSON has no comments"},
    {"[1 /* b */]", [],
     "Expected comma or closing bracket at position 3 (line 1, column 4): JSON has no comments"},
    {~s({"a":1,\n// b\n}), [], "Expected object key at position 8 (line 2, column 1): JSON has no comments"},
    {"1 // b", [], "Unexpected data after the value at position 2 (line 1, column 3): JSON has no comments"},
    {"[1 / 2]", [],
     "Expected comma or closing bracket at position 3 (line 1, column 4): JSON has no comments"},
    {"{,}", [], "Expected object key at position 1 (line 1, column 2)"},
    {"1 2", [], "Unexpected data after the value at position 2 (line 1, column 3)"},
    {"\uFEFF1", [], "Byte order mark not allowed at position 0 (line 1, column 1)"},
    {~S({"x":1,"x":2}), [duplicate_keys: :error], ~S|Duplicate key "x" at position 7 (line 1, column 8)|},
    {"[[1]]", [max_depth: 1], "Nesting deeper than 1 at position 1 (line 1, column 2)"},
    {"[1]", [max_nodes: 1], "More than 1 values and keys at position 1 (line 1, column 2)"},
    {"[1]", [max_bytes: 2], "Input larger than 2 bytes at position 0 (line 1, column 1)"},
    {"123", [decoding_integer_digit_limit: 2],
     "Integer with more than 2 digits at position 0 (line 1, column 1)"},
    {~S({"no such atom 8a1c":1}), [keys: :atoms!],
     ~S|Unknown atom "no such atom 8a1c" at position 1 (line 1, column 2)|},
    {"[1,\n2,\n \"é\" x]", [], "Expected comma or closing bracket at position 13 (line 3, column 6)"}
  ]

  for {text, options, message} <- @messages do
    @tag text: text, options: options, message: message
    test "#{inspect(text)} #{inspect(options)}", %{text: text, options: options, message: message} do
      assert {:error, %DecodeError{} = error} = Judge.decode(text, options)
      assert error.message == message
    end
  end

  test "the token is the input from the position, at most 32 bytes" do
    assert {:error, %{token: "invalid"}} = Judge.decode("invalid")
    assert {:error, %{token: token}} = Judge.decode("[1, x" <> String.duplicate("y", 100))
    assert token == "x" <> String.duplicate("y", 31)
    assert {:error, %{token: ""}} = Judge.decode("[1")
  end

  test "decode! raises the same error" do
    for {_, options} <- Judge.engines() do
      {:error, error} = RustyJson.decode("[1,", options)
      assert_raise DecodeError, error.message, fn -> RustyJson.decode!("[1,", options) end
    end
  end

  test "explain shows the line and a caret" do
    {:error, error} = Judge.decode("{\n  \"a\": [1, oops]\n}")
    assert DecodeError.explain(error) =~ "2 |   \"a\": [1, oops]\n  |           "
    [_, caret] = Regex.run(~r/\n( *\| *)\^/, DecodeError.explain(error))
    assert String.length(caret) == String.length(~s(2 |   "a": [1, ))
    assert DecodeError.explain(error) =~ "/a/1"
  end

  test "explain shows where the data of a stream starts within a line" do
    assert [{:error, error}] =
             ["{\"rows\": [{\"a\": 1}, ", "{\"a\": }]}"]
             |> RustyJson.decode_stream(on_error: :tag, at: "/rows/*")
             |> Enum.filter(&match?({:error, _}, &1))

    assert {error.line, error.column} == {1, 27}
    assert DecodeError.explain(error) =~ "1 | …{\"a\": }]}\n  |        ^"
  end

  test "explain of an error of the sandbox is its message" do
    error = %RustyJson.SandboxError{reason: :timeout, message: "took too long"}
    assert DecodeError.explain(error) == Exception.message(error)
  end

  test "explain cuts a long path, the field has all of it" do
    {:error, error} = Judge.decode(String.duplicate("[", 200))
    assert error.path == String.duplicate("/0", 128)
    assert String.ends_with?(DecodeError.explain(error), "\nat " <> String.duplicate("/0", 40) <> "…")

    {:error, error} = Judge.decode(~s({"x#{String.duplicate("é", 100)}": nul}))
    assert String.ends_with?(DecodeError.explain(error), "\nat /x" <> String.duplicate("é", 39) <> "…")
  end

  test "explain shows control characters instead of sending them to the terminal" do
    {:error, error} = RustyJson.decode(~s({"\\u001b[31m\\u009b\\u202e": [1, "a\e]0;x\a\u009bb", x}))
    assert error.path == "/\e[31m\u009b\u202e/1"
    assert String.ends_with?(DecodeError.explain(error), "\nat /␛[31m��/1")

    {:error, error} = RustyJson.decode("[\"\e[31m\t\u009b\"")
    text = DecodeError.explain(error)
    assert text =~ ~s(1 | ["␛[31m )
    refute text =~ ~r/[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202e}]/u
  end

  test "messages show characters that hide text or change its direction as bytes" do
    {:error, error} = Judge.decode(~s({"a\u202e": 1, "a\u202e": 2}), duplicate_keys: :error)
    assert error.message =~ ~s(Duplicate key "a<0xE2><0x80><0xAE>" at)

    {:error, error} = Judge.decode(~s(["\\\u2066"]))
    assert error.message =~ "Invalid escape sequence: \\<0xE2><0x81><0xA6> at"
  end

  test "paths are bounded, with keys that are cut" do
    for length <- [128, 129, 100_000] do
      key = String.duplicate("k", length)
      {:error, error} = Judge.decode(~s({"#{key}": x}))
      assert error.path == if(length == 128, do: "/" <> key, else: "/" <> String.duplicate("k", 128) <> "…")
      {:error, %EncodeError{path: path}} = Judge.encode(%{key => <<255>>})
      assert path == error.path
      {:error, %EncodeError{path: path}} = Judge.encode(%{key => %RustyJson.Fragment{encode: fn _ -> :x end}})
      assert path == error.path
    end

    half = String.duplicate("/0", 64)
    {:error, error} = Judge.decode(String.duplicate("[", 100_000), max_depth: :infinity)
    assert error.path == half <> "/…" <> half

    deep = Enum.reduce(1..1_000, <<255>>, fn _, inner -> [inner] end)
    {:error, %EncodeError{path: path}} = Judge.encode(deep, max_depth: :infinity)
    assert path == half <> "/…" <> half
  end

  test "paths of parts that are put together are bounded" do
    key = String.duplicate("k", 120)
    deep = fn inner -> Enum.reduce(1..20, inner, fn i, inner -> %{"#{i}#{key}" => inner} end) end

    term =
      Enum.reduce(1..3, <<255>>, fn _, inner ->
        deep.(%RustyJson.Test.Structs.Money{amount: inner, currency: 1})
      end)

    {:error, %EncodeError{path: path}} = Judge.encode(term)
    assert byte_size(path) in 3_600..4_096

    assert String.starts_with?(path, "/20#{key}/19#{key}") and path =~ "/…/" and
             String.ends_with?(path, "/1#{key}/amount")
  end

  test "paths are the same, whoever finds them" do
    texts = [
      ~s({"a":{"b":[true,),
      ~s([[],[1],{},{"a/b~":{"\\u0061\\n\\"\\ud83d\\ude00é\\/":[0,),
      ~s({"#{String.duplicate("é", 100)}":{"#{String.duplicate("\\u00e9", 100)}":[),
      String.duplicate(~s({"#{String.duplicate("/", 60)}":), 100),
      String.duplicate("[1,", 128),
      String.duplicate("[1,", 129),
      String.duplicate(~s([{"k":), 5_000),
      String.duplicate("[", 1_000) <> "0" <> String.duplicate("]", 700) <> ",",
      String.duplicate("[", 1_000) <> "0" <> String.duplicate("]", 950) <> ~s(,{"x":)
    ]

    for text <- texts do
      {:error, error} = Judge.decode(text, max_depth: :infinity)
      assert RustyJson.Encode.Path.locate(text) == error.path
      assert byte_size(error.path) <= 4_096
    end
  end

  test "messages show the start of long strings and keys" do
    {:error, error} = Judge.encode(String.duplicate("a", 100_000) <> <<255>>)
    shown = inspect(String.duplicate("a", 1_000), binaries: :as_binaries, limit: 50)
    assert error.message == "invalid byte 0xFF in #{shown}"
    assert String.ends_with?(shown, " 97, ...>>") and byte_size(shown) < 500

    {:error, error} =
      Judge.encode(%{String.duplicate("k", 200) => 1, String.to_atom(String.duplicate("k", 200)) => 2},
        maps: :strict
      )

    assert error.message == "duplicate key: #{String.duplicate("k", 128)}…"
  end

  test "explain of an empty input says that it is empty" do
    {:error, error} = Judge.decode("")

    assert DecodeError.explain(error) ==
             "Unexpected end of input at position 0 (line 1, column 1)\n\nThe input is empty."
  end

  test "explain of the end of a stream, which kept no text, neither says that the input is empty nor shows a line" do
    for {_name, engine} <- Judge.engines() do
      feed = RustyJson.Feed.new([at: "/*"] ++ engine)
      {:ok, [1], feed} = RustyJson.Feed.push(feed, "[1,")
      {:error, error, []} = RustyJson.Feed.finish(feed)

      assert DecodeError.explain(error) ==
               "Unexpected end of input at position 3 (line 1, column 4): [ is not closed\nat /1"
    end
  end

  test "explain of a place in a line of a megabyte is short" do
    text = "[" <> String.duplicate("1,", 500_000) <> "x]"
    {:error, error} = Judge.decode(text)
    assert String.length(DecodeError.explain(error)) < 500
  end

  test "explain of invalid UTF-8 is valid text" do
    for text <- ["[\"\xFF\xFE\"]", "\0\0\0", "[\e[31m]", "\"\u202E\n\""] do
      {:error, error} = Judge.decode(text)
      assert String.valid?(DecodeError.explain(error))
      refute DecodeError.explain(error) =~ ~r/[\x00-\x09\x0b-\x1f]/
    end
  end

  test "inspect does not dump a long input" do
    {:error, error} = Judge.decode("[" <> String.duplicate("\"secret\",", 10_000) <> "x]")
    assert byte_size(inspect(error)) < 1000
    assert byte_size(error.data) > 80_000
  end

  test "encode! raises the same error" do
    for {_, options} <- Judge.engines() do
      {:error, error} = RustyJson.encode(["\xFF"], options)
      assert_raise EncodeError, error.message, fn -> RustyJson.encode!(["\xFF"], options) end
    end
  end

  test "a long binary in an encode error is not dumped" do
    {:error, error} = Judge.encode(String.duplicate("a", 1_000_000) <> "\xFF")
    assert byte_size(error.message) < 1000
    assert error.message =~ "invalid byte 0xFF in <<97, 97, 97"
  end

  test "paths lead to the failing term" do
    for {term, path} <- [
          {["\xFF"], "/0"},
          {%{"a/b" => %{"c~d" => "\xFF"}}, "/a~1b/c~0d"},
          {%{"a\"b" => [1, [2, "\xFF"]]}, "/a\"b/1/1"},
          {%{users: [%{name: "ok"}, %{name: "\xFF"}]}, "/users/1/name"},
          {{1, {2, "\xFF"}}, "/1/1"},
          {[~D[2024-01-15], %RustyJson.Test.Structs.All{a: 1, b: "\xFF"}], "/1/b"},
          {[%RustyJson.Test.Structs.Money{amount: "\xFF"}], "/0/amount"},
          {%{"k" => [%RustyJson.Test.Structs.AsMap{value: [0, "\xFF"]}]}, "/k/0/value/1"}
        ] do
      assert {:error, %EncodeError{path: ^path}} = Judge.encode(term)
    end
  end

  test "a repeated key in an error of encode/2 cannot hide text or change its direction" do
    {:error, error} = RustyJson.encode(%{:"a\u202Eb\n" => 1, "a\u202Eb\n" => 2}, maps: :strict)
    assert error.message == "duplicate key: a<0xE2><0x80><0xAE>b\\n"
    {:error, error} = RustyJson.encode(%{:å => 1, "å" => 2}, maps: :strict)
    assert error.message == "duplicate key: å"
  end
end
