defmodule RustyJson.ValidTest do
  @moduledoc "`RustyJson.valid?/2` says what `decode/2` says, in every engine, and makes no atom."

  use ExUnit.Case, async: true

  alias RustyJson.Test.{Corpus, Gen, Judge, Vectors}

  defp agree(text, options) do
    for {name, engine} <- Judge.engines() do
      options = Enum.to_list(options) ++ engine
      decoded = RustyJson.decode(text, options)
      # To show a document of decimals takes seconds.
      if RustyJson.valid?(text, options) != match?({:ok, _}, decoded),
        do: flunk("#{name}: #{inspect(decoded)}")
    end
  end

  test "all vectors" do
    for {text, options} <- Vectors.texts(), do: agree(text, options)
  end

  for part <- ~w(JSONTestSuite/test_parsing JSONTestSuite/test_transform nativejson/jsonchecker documents) do
    if Corpus.skip(part), do: @tag(skip: Corpus.skip(part))

    test "#{part}" do
      for file <- Corpus.names(unquote(part), "*.json"), text = Corpus.read!(unquote(part), file) do
        for options <- [[], [duplicate_keys: :error], [floats: :decimals], [max_nodes: 20], [max_depth: 3]],
            do: agree(text, options)
      end
    end
  end

  test "documents that were damaged" do
    Gen.check(300, &damaged/0, fn text -> agree(text, []) end)
  end

  test "keys that look like a few characters, and are too long for an atom" do
    for count <- [254, 255, 1_019, 1_020, 2_000], char <- ["\u0301", "x", "😀"] do
      agree(~s({"e#{String.duplicate(char, count)}":1}), keys: :atoms)
    end
  end

  defp damaged do
    text = Gen.text(Gen.term(3))
    at = Enum.random(0..(byte_size(text) - 1))
    {before, <<byte, rest::binary>>} = :erlang.split_binary(text, at)

    Enum.random([
      text,
      before,
      before <> rest,
      <<before::binary, Enum.random([?,, ?], ?", ?\\, 200, Bitwise.bxor(byte, 1)]), rest::binary>>
    ])
  end

  test "limits" do
    for options <- [
          [max_bytes: 6],
          [max_bytes: 7],
          [max_nodes: 3],
          [max_nodes: 4],
          [max_depth: 1],
          [decoding_integer_digit_limit: 1],
          [floats: :decimals, max_decimal_digits: 2],
          [floats: :decimals, max_decimal_exponent: 1],
          [floats: :decimals, keys: :atoms],
          [dirty_threshold: 1],
          [validate_strings: false],
          [strings: :copy, objects: :ordered_objects, null: :null, raw: ["/0"]]
        ],
        text <- [
          "[12, 3]",
          "[[1]]",
          "[1.25e3]",
          "[1,2,3]",
          "[\"\xff\"]",
          ~s([{"a":1,"a":null}]),
          "",
          "[1",
          ~s([{"a":1e400}])
        ],
        do: agree(text, options)

    # Without a copy of the list.
    assert RustyJson.valid?(["[1", [",", "2]"]], max_bytes: 5)
    refute RustyJson.valid?(["[1", [",", "2]"]], max_bytes: 4)
  end

  test "types" do
    for text <- ["[1]", "[1.5]", "[true"], do: agree(text, as: [:integer])
  end

  test "keys of a value with a type become no atoms either" do
    long = String.duplicate("é", 256)

    for as <- [:any, {:map, :any}, {:map, {:map, :integer}}, [:any], {:map, :raw}],
        {_name, engine} <- Judge.engines() do
      names = for _ <- 1..2, do: "typed key #{System.unique_integer([:positive])}"
      [outer, inner] = names
      options = [as: as, keys: :atoms] ++ engine
      text = if is_list(as), do: ~s([{"#{outer}":{"#{inner}":1}}]), else: ~s({"#{outer}":{"#{inner}":1}})
      assert RustyJson.valid?(text, options)
      refute RustyJson.valid?(text, [as: {:map, :date}, keys: :atoms] ++ engine)
      for name <- names, do: assert_raise(ArgumentError, fn -> String.to_existing_atom(name) end)
      agree(text, as: as, keys: :atoms)
      agree(String.replace(text, outer, long), as: as, keys: :atoms)
      agree(String.replace(text, inner, long), as: as, keys: :atoms)
      agree(String.replace(text, inner, long <> "\": 1, \"a"), as: as, keys: :atoms)
      agree([text, "]"], as: as, keys: :atoms)
      agree(text, as: as, keys: :atoms, max_bytes: 5)
    end
  end

  test "keys become no atoms" do
    name = "valid key #{System.unique_integer([:positive])}"
    long = String.duplicate("é", 256)

    for {_name, engine} <- Judge.engines() do
      assert RustyJson.valid?(~s({"#{name}":1}), [keys: :atoms] ++ engine)
      refute RustyJson.valid?(~s([{"#{long}":1}]), [keys: :atoms] ++ engine)
      refute RustyJson.valid?(~s({"#{name}":1}), [keys: :atoms!] ++ engine)
      assert RustyJson.valid?(~s({"keys":1}), [keys: :atoms!] ++ engine)
      assert RustyJson.valid?(~s({"a":1}), [keys: fn _ -> raise "called" end] ++ engine)
    end

    assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
  end

  test "wrong options and input raise, as in decode/2" do
    assert_raise ArgumentError, ~r/unknown option :timout, did you mean :timeout\?/, fn ->
      RustyJson.valid?("1", timout: 1)
    end

    assert_raise ArgumentError, fn -> RustyJson.valid?(:atom) end
  end

  test "no term is built" do
    text = "[" <> String.duplicate("{\"a\":[1,2,3]},", 5_000) <> "0]"

    for {name, engine} <- Judge.engines(), name != :wasmex do
      task =
        Task.async(fn ->
          RustyJson.valid?(text, engine)
          {_, before} = Process.info(self(), :memory)
          assert RustyJson.valid?(text, engine)
          {_, later} = Process.info(self(), :memory)
          later - before
        end)

      assert Task.await(task) < 20_000, "#{name}"
    end
  end

  if Judge.available?(:built_in) do
    test "the sandbox: what it stops is not valid, what it never took raises" do
      large = "[" <> String.duplicate("[],", 16_000_000) <> "0]"
      wasm = [engine: :wasm, host: :built_in]
      refute RustyJson.valid?(large, wasm ++ [timeout: 40])
      refute RustyJson.valid?(large, wasm ++ [max_memory: 1_000_000])
      assert RustyJson.valid?(large, wasm)
    end
  end
end
