defmodule RustyJson.ErlangTest do
  @moduledoc "The Erlang module: its conventions, and the behaviour of OTP's `json`, from a table and compared with `json` if it exists."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Gen, Judge}

  # Texts and the results of json:decode_start/3 at the end of the input: {value, rest}, or the error that it raises.
  @values [
    # Literals
    {"true", {true, ""}},
    {"false", {false, ""}},
    {"null", {:null, ""}},
    {"  null\t\r\n", {:null, ""}},
    {"tru", :unexpected_end},
    {"nul", :unexpected_end},
    {"fals", :unexpected_end},
    {"TRUE", {:invalid_byte, ?T}},
    # Numbers
    {"0", {0, ""}},
    {"-0", {0, ""}},
    {"1", {1, ""}},
    {"-1", {-1, ""}},
    {"9007199254740993", {9_007_199_254_740_993, ""}},
    {"-123456789012345678901234567890", {-123_456_789_012_345_678_901_234_567_890, ""}},
    {"1.5", {1.5, ""}},
    {"-1.5e3", {-1500.0, ""}},
    {"1e5", {100_000.0, ""}},
    {"1E+5", {100_000.0, ""}},
    {"1.5e-3", {0.0015, ""}},
    {"0.1e-400", {0.0, ""}},
    {"1e400", {:unexpected_sequence, "1e400"}},
    {"-", :unexpected_end},
    {"1.", :unexpected_end},
    {"1e", :unexpected_end},
    {"1e+", :unexpected_end},
    {"-a", {:invalid_byte, ?a}},
    {"1.a", {:invalid_byte, ?a}},
    {"1.e1", {:invalid_byte, ?e}},
    {".5", {:invalid_byte, ?.}},
    {"+1", {:invalid_byte, ?+}},
    # Strings
    {~S(""), {"", ""}},
    {~S("héllo 🔑"), {"héllo 🔑", ""}},
    {~S("\"\\\/\b\f\n\r\t"), {"\"\\/\b\f\n\r\t", ""}},
    {~S("\u0041\u00e9\u20AC"), {"Aé€", ""}},
    {~S("\ud83d\udd11"), {"🔑", ""}},
    {~S("\u0000"), {"\0", ""}},
    {~S("abc), :unexpected_end},
    {"\"\\", :unexpected_end},
    {~S("\u12), :unexpected_end},
    {~S("\ud83d), :unexpected_end},
    {~S("\x"), {:invalid_byte, ?x}},
    {~S("\u12g4"), {:unexpected_sequence, ~S(\u12g4)}},
    {~S("\ud800\u0041"), {:unexpected_sequence, ~S(\ud800\u0041)}},
    {~S("\udc00"), {:unexpected_sequence, ~S(\udc00)}},
    {"\"\\u00\xFF0\"", {:unexpected_sequence, "\\u00\xFF0"}},
    {"\"\\ud83d\\u\xFF0ab\"", {:unexpected_sequence, "\\ud83d\\u\xFF0ab"}},
    {"\"\n\"", {:invalid_byte, ?\n}},
    {"\"\0\"", {:invalid_byte, 0}},
    {"\"\xff\"", {:invalid_byte, 0xFF}},
    {"\"\xC0\x80\"", {:invalid_byte, 0xC0}},
    {"\"\xC3\x28\"", {:invalid_byte, 0x28}},
    {"\"\xE2\x28\xA1\"", {:invalid_byte, 0x28}},
    {"\"\xE2\x82\x28\"", {:invalid_byte, 0x28}},
    {"\"\xE0\x9F\x80\"", {:invalid_byte, 0x9F}},
    {"\"\xED\xA0\x80\"", {:invalid_byte, 0xA0}},
    {"\"\xF0\x8F\x80\x80\"", {:invalid_byte, 0x8F}},
    {"\"\xF1\x80\x80\xC0\"", {:invalid_byte, 0xC0}},
    {"\"\xF1\x80\xC0\x80\"", {:invalid_byte, 0xC0}},
    {"\"\xF4\x90\x80\x80\"", {:invalid_byte, 0x90}},
    {"\"\xF5\x80\x80\x80\"", {:invalid_byte, 0xF5}},
    # Arrays and objects
    {"[]", {[], ""}},
    {" [ ] ", {[], ""}},
    {"[1,[2,[3]],{}]", {[1, [2, [3]], %{}], ""}},
    {"{}", {%{}, ""}},
    {~S({"a":1,"b":{"c":[null]}}), {%{"a" => 1, "b" => %{"c" => [:null]}}, ""}},
    {~S({"a":1,"a":2}), {%{"a" => 1}, ""}},
    {~s({ "a" :\n1 }), {%{"a" => 1}, ""}},
    {"[", :unexpected_end},
    {"[1", :unexpected_end},
    {"[1,", :unexpected_end},
    {"{", :unexpected_end},
    {~S({"a"), :unexpected_end},
    {~S({"a":), :unexpected_end},
    {~S({"a":1,), :unexpected_end},
    {"[1,]", {:invalid_byte, ?]}},
    {"[1 2]", {:invalid_byte, ?2}},
    {"[,]", {:invalid_byte, ?,}},
    {~S({"a" 1}), {:invalid_byte, ?1}},
    {~S({"a":1,}), {:invalid_byte, ?}}},
    {"{1:2}", {:invalid_byte, ?1}},
    {"]", {:invalid_byte, ?]}},
    {"", :unexpected_end},
    {" \n\t", :unexpected_end},
    {"\uFEFF1", {:invalid_byte, 0xEF}},
    {"'a'", {:invalid_byte, ?'}},
    {"NaN", {:invalid_byte, ?N}},
    # Text after the value
    {"[1] [2]", {[1], " [2]"}},
    {"[1]]", {[1], "]"}},
    {"1 2", {1, " 2"}},
    {"1true", {1, "true"}},
    {"truex", {true, "x"}},
    {~S("a""b"), {"a", ~S("b")}},
    {"{} \n", {%{}, ""}}
  ]

  # Inputs where this decoder is stricter, or finds the wrong byte of a word; OTP reports its second byte, or `unexpected_end`.
  @ours [
    {"01", {:invalid_byte, ?0}},
    {"nil", {:invalid_byte, ?i}},
    {"[trux1]", {:invalid_byte, ?x}},
    {"[falsy", {:invalid_byte, ?y}},
    {~S("\ud800"), {:unexpected_sequence, ~S(\ud800)}}
  ]

  defp decoded(module, pieces) do
    [first | rest] = pieces
    finish(module.decode_start(first, :acc, %{}), rest, module)
  rescue
    error in ErlangError -> error.original
  end

  defp finish({:continue, state}, [], module),
    do: finish(module.decode_continue(:end_of_input, state), [], module)

  defp finish({:continue, state}, [piece | rest], module),
    do: finish(module.decode_continue(piece, state), rest, module)

  defp finish({value, :acc, rest}, pieces, _module), do: {value, IO.iodata_to_binary([rest | pieces])}

  for {text, expected} <- @values ++ @ours do
    test "decode_start/3 of #{inspect(text, binaries: :infer)}" do
      {text, expected} = unquote(Macro.escape({text, expected}))
      assert decoded(:rustyjson, [text]) == expected
    end
  end

  # White space after the value is not a rest if it is in the same piece, but is one if it arrives in a later piece.
  defp same?({value, rest}, {value, expected}) when is_binary(rest),
    do: String.trim(rest) == String.trim(expected)

  defp same?(answer, expected), do: answer == expected

  # Errors that show a sequence of bytes, of which a piece may hold only the first.
  @sequences [
    {~S("\uxxxx"), {:unexpected_sequence, ~S(\uxxxx)}},
    {~S(["a\uD8AA\uDCxx",1]), {:unexpected_sequence, ~S(\uD8AA\uDCxx)}},
    {~S("\ud8aa\udcxx"), {:unexpected_sequence, ~S(\ud8aa\udcxx)}},
    {~S("\ud8aa\u00e9"), {:unexpected_sequence, ~S(\ud8aa\u00e9)}},
    {~S("\ud8aa\n12345"), {:unexpected_sequence, ~S(\ud8aa)}},
    {~S("\ud8aax"), {:unexpected_sequence, ~S(\ud8aa)}},
    {~S("\\ud8aa\u00xx"), {:unexpected_sequence, ~S(\u00xx)}},
    {~S("\\\ud8aa\u00xx"), {:unexpected_sequence, ~S(\ud8aa\u00xx)}},
    {~S("\u12"]), {:unexpected_sequence, ~S(\u12"])}},
    {~S({"\ux":1}), {:unexpected_sequence, ~S(\ux":1)}},
    {~S("\u1), :unexpected_end},
    {~S("\ux), :unexpected_end},
    {~S("\ux"), :unexpected_end},
    {~S("\ud8aa\ux), :unexpected_end},
    {"1e999", {:unexpected_sequence, "1e999"}},
    {"[1e999-5]", {:unexpected_sequence, "1e999"}},
    {"[-1.5E+999.5]", {:unexpected_sequence, "-1.5E+999"}},
    {"-1e999 ", {:unexpected_sequence, "-1e999"}},
    {"-Infinity", {:invalid_byte, ?I}},
    {"[-Infinix]", {:invalid_byte, ?I}},
    {"Infinity", {:invalid_byte, ?I}},
    {"-I", {:invalid_byte, ?I}},
    {"NaN", {:invalid_byte, ?N}},
    {"[Nax]", {:invalid_byte, ?N}},
    {"\xEF\xBB\xBF[]", {:invalid_byte, 0xEF}},
    {"\xEF", {:invalid_byte, 0xEF}},
    {~s({"a":"\x01"}), {:invalid_byte, 1}},
    {~S({"\x":1}), {:invalid_byte, ?x}}
  ]

  test "decode_continue/2: cut anywhere, and byte by byte" do
    for {text, expected} <- @values ++ @ours ++ @sequences do
      for at <- 0..byte_size(text) do
        {one, two} = :erlang.split_binary(text, at)
        answer = decoded(:rustyjson, [one, two])
        assert same?(answer, expected), inspect({one, two, answer})
      end

      bytes = ["" | for(<<byte <- text>>, do: <<byte>>)]
      assert same?(decoded(:rustyjson, bytes), expected), text
    end
  end

  test "decode_start/3: long values, and many in one buffer" do
    text = "[" <> Enum.map_join(1..50_000, ",", &"#{&1}") <> "]"
    assert {value, :acc, "[]"} = :rustyjson.decode_start(text <> "[]", :acc, %{})
    assert length(value) == 50_000

    buffer = String.duplicate("[1] ", 20_000)
    assert count(buffer, 0) == 20_000
  end

  defp count("", n), do: n

  defp count(buffer, n) do
    {[1], :acc, rest} = :rustyjson.decode_start(buffer, :acc, %{})
    count(rest, n + 1)
  end

  test "decode_start/3: limits are errors of their own" do
    assert decoded(:rustyjson, [String.duplicate("[", 200)]) == :max_depth
    assert decoded(:rustyjson, [String.duplicate("1", 2000)]) == :integer_digits
  end

  test "decode_start/3 and decode_continue/2: arguments" do
    for arguments <- [["1", 0, %{nul: nil}], ["1", 0, %{float: 1}], [[1], 0, %{}], ["1", 0, []]] do
      assert_raise ArgumentError, fn -> apply(:rustyjson, :decode_start, arguments) end
    end

    {:continue, state} = :rustyjson.decode_start("[", 0, %{})
    assert_raise ArgumentError, fn -> :rustyjson.decode_continue([1], state) end
    assert_raise ArgumentError, fn -> :rustyjson.decode_continue("1", :state) end
  end

  unless Code.ensure_loaded?(:json), do: @tag(skip: "OTP has no module json before release 27")

  test "OTP's json gives the same" do
    for {text, expected} <- @values, text != "1e400", do: assert(decoded(:json, [text]) == expected, text)

    Gen.check(500, &document/0, fn {text, at} ->
      {one, two} = :erlang.split_binary(text, at)
      ours = decoded(:rustyjson, [one, two])
      theirs = decoded(:json, [one, two])
      assert same?(ours, theirs), inspect({one, two, ours, theirs})
    end)
  end

  defp document do
    text = Gen.text(Gen.term(3))
    {text, Enum.random(0..byte_size(text))}
  end

  for {name, engine} <- Judge.engines() do
    @tag engine: engine
    test "#{name}: decode/2", %{engine: engine} do
      assert :rustyjson.decode(["[nu", ~S(ll,{"a":1.5}])], engine) == {:ok, [:null, %{"a" => 1.5}]}
      assert {:error, %{reason: :max_bytes}} = :rustyjson.decode("[1,2]", [max_bytes: 4] ++ engine)
      assert :rustyjson.decode("null", [null: :undefined] ++ engine) == {:ok, :undefined}
      assert :rustyjson.decode("null", Map.new([null: nil] ++ engine)) == {:ok, nil}
      assert :rustyjson.decode(~S({"a":1,"a":2}), [duplicate_keys: :first] ++ engine) == {:ok, %{"a" => 1}}

      assert :rustyjson.decode(~s({"a":\n[1,]}), engine) ==
               {:error,
                %{
                  reason: :trailing_comma,
                  message: "Expected value at position 9 (line 2, column 4): Trailing comma",
                  position: 9,
                  line: 2,
                  column: 4,
                  path: "/a/1",
                  token: "]}"
                }}
    end

    @tag engine: engine
    test "#{name}: all errors of a type are maps in a list", %{engine: engine} do
      options = [as: [:integer], errors: :all, max_errors: 2] ++ engine

      for {:error, error} <- [
            :rustyjson.decode(~S([1,"a","b","c"]), options),
            :rustyjson.find(~S({"k":[1,"a","b","c"]}), "/k", options)
          ] do
        assert %{error_count: 3, errors: [%{reason: reason, token: _} = first, second]} = error
        assert {error.reason, error.position, error.path} == {reason, first.position, first.path}
        assert {first.path, second.path} in [{"/1", "/2"}, {"/k/1", "/k/2"}]
        refute is_map_key(first, :errors) or is_map_key(first, :__struct__)
      end

      assert {:error, error} = :rustyjson.decode(~S(["a"]), [as: [:integer]] ++ engine)
      refute is_map_key(error, :errors) or is_map_key(error, :error_count)
    end

    @tag engine: engine
    test "#{name}: null is nil in a type that allows it, and null elsewhere", %{engine: engine} do
      json = ~S([null,{"a":null,"b":[null]}])
      assert :rustyjson.decode("null", [as: {:nullable, :integer}] ++ engine) == {:ok, nil}

      assert :rustyjson.decode(json, [as: {:list, {:nullable, {:map, :any}}}] ++ engine) ==
               {:ok, [nil, %{"a" => :null, "b" => [:null]}]}
    end

    @tag engine: engine
    test "#{name}: find/3", %{engine: engine} do
      json = ~S({"a":[{"b":null}],"":7,"x/y":1.5})
      assert :rustyjson.find(json, "/a/0/b", engine) == {:ok, :null}
      assert :rustyjson.find(json, "/a/0", [keys: :copy] ++ engine) == {:ok, %{"b" => :null}}
      assert :rustyjson.find([json], "/x~1y", Map.new(engine)) == {:ok, 1.5}
      assert :rustyjson.find(json, "/", engine) == {:ok, 7}
      assert :rustyjson.find(json, "/b", engine) == :error
      assert :rustyjson.find(json, "/a/1", [missing: {:default, 0}] ++ engine) == {:ok, 0}
      assert {:error, %{reason: :trailing_comma, path: "/0/1"}} = :rustyjson.find("[[1,]]", "/1", engine)
    end

    @tag engine: engine
    test "#{name}: encode/2", %{engine: engine} do
      assert :rustyjson.encode([:null, nil, :undefined, true], engine) ==
               {:ok, ~S([null,"nil","undefined",true])}

      assert :rustyjson.encode(%{:a => ~c"ab", "b" => 1.0e5}, [:sort_keys] ++ engine) ==
               {:ok, ~S({"a":[97,98],"b":1.0e5})}

      assert :rustyjson.encode(%{"k" => ["\xFF"]}, engine) ==
               {:error, %{reason: :invalid_utf8, message: "invalid byte 0xFF in <<255>>", path: "/k/0"}}

      assert {:error, %{reason: :unsupported, message: message}} = :rustyjson.encode([self()], engine)
      assert message =~ "PID"
    end
  end

  test "without options" do
    assert :rustyjson.decode("[null]") == {:ok, [:null]}
    assert :rustyjson.encode([:null]) == {:ok, "[null]"}
    assert :rustyjson.find("[1,null]", "/1") == {:ok, :null}
    assert {:error, %{reason: :unexpected_end}} = :rustyjson.decode("")
  end

  test "a wrong argument is a badarg with a sentence" do
    assert sentence(fn -> :rustyjson.decode("1", colour: :red) end) =~ "unknown option :colour"
    assert sentence(fn -> :rustyjson.decode("1", :keys) end) =~ "a proplist or a map"
    assert sentence(fn -> :rustyjson.decode("1", objects: :ordered_objects) end) =~ "returns Elixir structs"

    assert sentence(fn -> :rustyjson.encode(1, %{null: 0}) end) =~
             "option :null takes nil, :null or :undefined"

    for pointer <- ["a", ~c"/a", :a, ["/a"]] do
      assert sentence(fn -> :rustyjson.find("1", pointer) end) ==
               ~S(find takes a JSON Pointer as a binary, such as <<"/a/0">>)
    end

    assert sentence(fn -> :rustyjson.find("1", "/~2") end) =~ "JSON Pointer"
    assert sentence(fn -> :rustyjson.find("1", "", as: :raw) end) =~ "returns Elixir structs"

    assert sentence(fn -> :rustyjson.decode("1", raw: ["/a"]) end) =~
             ~S(raw => [<<"/a">>] returns Elixir structs)

    assert sentence(fn -> :rustyjson.decode("1", [:a | :b]) end) =~ "a proplist or a map"
    assert sentence(fn -> :rustyjson.encode(1, [{:null, nil} | 1]) end) =~ "a proplist or a map"
    assert {:ok, 1} = :rustyjson.decode("1", raw: [])

    for state <- [1, {:rustyjson, 1, {1, %{}}, 0}, {:rustyjson, %{}, {1, %{}}, 0}],
        do: assert(sentence(fn -> :rustyjson.decode_continue("1", state) end) =~ "a continuation")

    assert sentence(fn -> :rustyjson.decode(:a) end) =~ "iodata"
    assert sentence(fn -> :rustyjson.decode_start("1", 0, []) end) =~ "a binary and a map of decoders"

    assert sentence(fn -> :rustyjson.decode("1", 0, %{nul: nil}) end) =~
             "unknown decoder :nul, did you mean :null?"

    assert sentence(fn -> :rustyjson.decode("1", 0, %{float: 1}) end) =~
             "decoder :float takes a function of arity 1"
  end

  test "a badarg is one of the function that was called, and its callers follow" do
    for {name, arguments} <- [
          decode: [:a, []],
          encode: [1, [colour: :red]],
          find: ["1", "a", []],
          decode_start: ["1", 0, []],
          decode_continue: ["1", 1]
        ] do
      {:badarg, [called, caller | _]} = stacked(fn -> apply(:rustyjson, name, arguments) end)
      assert {:rustyjson, ^name, ^arguments, _} = called
      assert elem(caller, 0) == __MODULE__
    end
  end

  test "an error of the caller's own function keeps its reason and its stack" do
    json = ~s({"a":1})

    for {_name, engine} <- Judge.engines() do
      named = [keys: &:erlang.binary_to_integer/1] ++ engine
      failing = [keys: fn _key -> :erlang.error(:mine) end] ++ engine
      lazy = fn -> RustyJson.Fragment.new(fn _opts -> :erlang.binary_to_integer("a") end) end

      for call <- [&:rustyjson.decode(json, &1), &:rustyjson.find(json, "", &1)] do
        assert {:badarg, {:erlang, :binary_to_integer, _, _}} = raised(fn -> call.(named) end)
        assert {:mine, {__MODULE__, _, _, _}} = raised(fn -> call.(failing) end)
      end

      assert {:badarg, {:erlang, :binary_to_integer, _, _}} =
               raised(fn -> :rustyjson.encode(lazy.(), engine) end)

      assert sentence(fn -> :rustyjson.decode([json | :a], named) end) =~ "iodata"
      assert sentence(fn -> :rustyjson.find(:a, "", engine) end) =~ "iodata"
    end
  end

  defp raised(fun) do
    {reason, stack} = stacked(fun)
    {reason, hd(stack)}
  end

  defp stacked(fun) do
    fun.()
    flunk("no error")
  catch
    :error, reason -> {reason, __STACKTRACE__}
  end

  # Works like the shell: the error information at the top of the stack names the function that formats the error.
  defp sentence(fun) do
    fun.()
    flunk("no error")
  rescue
    _ in ArgumentError ->
      [{module, _, _, _} | _] = stack = __STACKTRACE__
      module.format_error(:badarg, stack).general
  end

  test "errors of decode_start/3 carry the details" do
    {:continue, state} = :rustyjson.decode_start("[1,\n", 0, %{})
    :rustyjson.decode_continue("]", state)
    flunk("no error")
  rescue
    error in ErlangError ->
      assert error.original == {:invalid_byte, ?]}
      [{:rustyjson, _, _, info} | _] = stack = __STACKTRACE__
      assert %{position: 4, line: 2, column: 1, path: "/1"} = info[:error_info].cause
      assert :rustyjson.format_error(error.original, stack).general =~ "Trailing comma"
  end
end
