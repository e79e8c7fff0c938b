defmodule RustyJson.PartsTest do
  @moduledoc "`fetch/3` and `select/3` return the values that `decode/2` and a look-up give, and the errors of `decode/2`."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Fragment, OrderedObject, Paths}
  alias RustyJson.Test.{Corpus, Gen, Judge, Pointers, Vectors}

  # RFC 6901 section 5.
  @rfc ~S({"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8})
  @rfc_answers [
    {"/foo", ["bar", "baz"]},
    {"/foo/0", "bar"},
    {"/", 0},
    {"/a~1b", 1},
    {"/c%d", 2},
    {"/e^f", 3},
    {"/g|h", 4},
    {"/i\\j", 5},
    {"/k\"l", 6},
    {"/ ", 7},
    {"/m~0n", 8}
  ]

  defp fetch(json, pointer, options \\ []),
    do: Judge.same(json, options, &RustyJson.fetch(json, pointer, &1))

  defp select(json, paths, options \\ []), do: Judge.same(json, options, &RustyJson.select(json, paths, &1))

  describe "pointers" do
    test "the examples of RFC 6901" do
      assert fetch(@rfc, "") == RustyJson.decode(@rfc)
      for {pointer, value} <- @rfc_answers, do: assert(fetch(@rfc, pointer) == {:ok, value}, pointer)
      {pointers, values} = Enum.unzip(@rfc_answers)
      assert select(@rfc, pointers) == {:ok, values}
    end

    test "what the RFC says about tokens" do
      rows = [
        {~s({"~1": 1, "/": 2}), "/~01", {:ok, 1}},
        {~s({"~1": 1, "/": 2}), "/~1", {:ok, 2}},
        {~s({"": {"": 1}}), "//", {:ok, 1}},
        {~s([1, 2]), "/1", {:ok, 2}},
        {~s([1, 2]), "/2", :error},
        {~s([1, 2]), "/-", :error},
        {~s([1, 2]), "/01", :error},
        {~s([1, 2]), "/+1", :error},
        {~s([1, 2]), "/1.0", :error},
        {~s([1, 2]), "/", :error},
        {~s([1, 2]), "/18446744073709551616", :error},
        {~s({"01": 1, "-": 2, "*": 3, "1": 4}), "/01", {:ok, 1}},
        {~s({"01": 1, "-": 2, "*": 3, "1": 4}), "/-", {:ok, 2}},
        {~s({"01": 1, "-": 2, "*": 3, "1": 4}), "/*", {:ok, 3}},
        {~s({"01": 1, "-": 2, "*": 3, "1": 4}), "/1", {:ok, 4}},
        {~s({"a": 1}), "/*", :error},
        {~s({"\\u0061\\u00e9": 1}), "/aé", {:ok, 1}},
        {~s({"a": null}), "/a", {:ok, nil}},
        {~s({"a": null}), "/b", :error},
        {~s({"a": "bc"}), "/a/0", :error},
        {~s("x"), "", {:ok, "x"}},
        {~s("x"), "/0", :error},
        {~s( [ [ ] , { } ] ), "/1", {:ok, %{}}},
        {~s([[], {}]), "/0/0", :error},
        {~s([[1, [2, 3]], 4]), "/0/1/1", {:ok, 3}}
      ]

      for {json, pointer, answer} <- rows,
          do: assert(fetch(json, pointer) == answer, "#{pointer} in #{json}")
    end

    test "malformed ones are an ArgumentError at the call" do
      for pointer <- ["a", "/~", "/~2", "/a~", "#/a", <<"/", 255>>, :a, nil, 1] do
        assert_raise ArgumentError, ~r/JSON Pointer/, fn -> RustyJson.fetch("x", pointer) end
        assert_raise ArgumentError, ~r/JSON Pointer/, fn -> RustyJson.select("x", [pointer]) end
      end

      assert_raise ArgumentError, ~r/list or a map/, fn -> RustyJson.select("1", "/a") end
      assert_raise ArgumentError, ~r/list or a map/, fn -> Paths.new!(~D[2024-01-01]) end
    end
  end

  describe "answers" do
    test "lists and maps, present, null and missing" do
      json = ~s({"a": null, "b": [1, {"c": 2}]})
      assert select(json, []) == {:ok, []}
      assert select(json, %{}) == {:ok, %{}}
      assert select(json, ["/b/1/c", "/x", "/a", "/b/0"]) == {:ok, [2, nil, nil, 1]}
      assert select(json, ["/a", "/x"], missing: {:default, :no}) == {:ok, [nil, :no]}
      assert select(json, %{a: "/a", x: "/x", c: "/b/1/c"}) == {:ok, %{a: nil, c: 2}}

      assert select(json, %{"a" => "/a", 1 => "/x"}, missing: {:default, nil}) ==
               {:ok, %{"a" => nil, 1 => nil}}

      assert fetch(json, "/x", missing: {:default, 0}) == {:ok, 0}
      assert fetch(json, "/a", missing: {:default, 0}) == {:ok, nil}
    end

    test "the same pointer twice, and values inside of each other" do
      json = ~s({"a": {"b": {"c": 1}}})

      assert select(json, ["/a/b/c", "/a", "", "/a/b", "/a"]) ==
               {:ok,
                [
                  1,
                  %{"b" => %{"c" => 1}},
                  %{"a" => %{"b" => %{"c" => 1}}},
                  %{"c" => 1},
                  %{"b" => %{"c" => 1}}
                ]}
    end

    test "fetch! raises KeyError or the error" do
      assert RustyJson.fetch!("[1]", "/0") == 1
      error = assert_raise KeyError, fn -> RustyJson.fetch!("[1]", "/1") end
      assert {error.key, error.term} == {"/1", nil}
      assert_raise DecodeError, fn -> RustyJson.fetch!("[1", "/0") end
    end

    test "iodata" do
      assert fetch([~s({"a"), [?:, " 1}"]], "/a") == {:ok, 1}
      assert {:ok, %Fragment{encode: "1"}} = fetch([~s({"a"), [?:, " 1}"]], "/a", as: :raw)
    end

    test "many pointers, and many elements" do
      json = RustyJson.encode!(Map.new(0..999, &{"k#{&1}", Enum.to_list(0..&1)}))
      pointers = for n <- 999..0//-1, do: "/k#{n}/#{div(n, 2)}"
      assert select(json, pointers) == {:ok, for(n <- 999..0//-1, do: div(n, 2))}
    end
  end

  describe "options" do
    test "repeated keys, on the way and at the end" do
      json = ~s({"a": {"b": 1}, "\\u0061": {"c": 2, "c": 3}, "b": 4, "b": {"x": 5}})
      paths = ["/a/b", "/a/c", "/b", "/b/x"]
      assert select(json, paths) == {:ok, [nil, 3, %{"x" => 5}, 5]}
      assert select(json, paths, duplicate_keys: :first) == {:ok, [1, nil, 4, nil]}
      assert {:error, %{reason: :duplicate_key} = error} = select(json, paths, duplicate_keys: :error)
      assert {:error, error} == RustyJson.decode(json, duplicate_keys: :error)
      # The same key in different objects is not a repeated key.
      assert select(~s([{"a": 1}, {"a": 2}]), ["/0/a", "/1/a"], duplicate_keys: :first) == {:ok, [1, 2]}
    end

    test "what is wanted is decoded as by decode/2" do
      json = ~s({"n": 1.10, "o": {"b": 1, "a": 2, "a": 3}, "big": 123456789012345678901234567890})
      assert fetch(json, "/n", floats: :decimals) == {:ok, decimal(1, 110, -2)}
      assert fetch(json, "/big") == {:ok, 123_456_789_012_345_678_901_234_567_890}

      assert fetch(json, "/o", objects: :ordered_objects) ==
               {:ok, OrderedObject.new([{"b", 1}, {"a", 2}, {"a", 3}])}

      assert fetch(json, "/o", keys: :atoms!) == {:ok, %{b: 1, a: 3}}
      assert fetch(json, "/o", keys: &String.upcase/1) == {:ok, %{"A" => 3, "B" => 1}}
      new = "never_seen_#{System.unique_integer([:positive])}"
      assert {:ok, map} = RustyJson.fetch(~s({"x": {"#{new}": 1}}), "/x", keys: :atoms)
      assert map |> Map.keys() |> hd() |> Atom.to_string() == new
    end

    test "keys outside of what is wanted make no atoms" do
      json = ~s({"never_an_atom_of_ours": {"a": {"nor_this_one_in_parts": 1}}, "b": {"a": 1}})
      assert fetch(json, "/b", keys: :atoms!) == {:ok, %{a: 1}}

      assert {:error, %{reason: :unknown_atom, position: 33}} =
               fetch(json, "/never_an_atom_of_ours/a", keys: :atoms!)
    end

    test "parts that stay text are encoded unchanged" do
      json = ~s({"a": { "n" : 1.50, "s": "\\u00e9" }, "b": [1, 2]})
      assert {:ok, part} = fetch(json, "/a", as: :raw)
      assert part == Fragment.new(~S({ "n" : 1.50, "s": "\u00e9" }))
      assert RustyJson.encode!([part]) == ~S([{ "n" : 1.50, "s": "\u00e9" }])
      assert select(json, %{b: "/b", x: "/x"}, as: :raw) == {:ok, %{b: Fragment.new("[1, 2]")}}
      assert select(json, ["/x"], as: :raw) == {:ok, [nil]}
    end

    test "limits are those of the document" do
      json = ~s({"a": 1, "b": [[[2]]], "c": 12345})

      for options <- [[max_depth: 3], [max_nodes: 8], [max_bytes: 30], [decoding_integer_digit_limit: 4]] do
        assert {:error, error} = fetch(json, "/a", options)
        assert {:error, error} == RustyJson.decode(json, options)
      end

      assert fetch(json, "/a", max_depth: 4, max_nodes: 10) == {:ok, 1}
    end

    test "validate: false stops early and takes the first" do
      assert fetch(~s({"a": {"b": 1, "b": 2}, "a": 3} x), "/a/b", validate: false) == {:ok, 1}
      assert select(~s({"a": 1, "b": 2, oops), ["/b", "/a"], validate: false) == {:ok, [2, 1]}
      # Members after the end of an object do not belong to it.
      assert select(~s({"a": {"x": 1}, oops), ["/a/y", "/a/x"], validate: false) == {:ok, [nil, 1]}
      assert {:error, %{reason: :unquoted_key}} = fetch(~s({"a": 1, oops), "/b", validate: false)
      assert fetch(~s({"a": 1}), "/b", validate: false) == :error
      assert fetch(~s([0, 1, 2), "/1", validate: false, duplicate_keys: :first) == {:ok, 1}
    end

    test "options that are wrong, or contradict each other" do
      for options <- [
            [as: :struct],
            [validate: nil],
            [missing: 1],
            [nonsense: 1],
            [validate: false, duplicate_keys: :last],
            [validate: false, duplicate_keys: :first, duplicate_keys: :error],
            [:as],
            %{as: 1}
          ],
          do: assert_raise(ArgumentError, fn -> RustyJson.fetch("1", "", options) end)
    end
  end

  describe "against decode/2 and a look-up" do
    test "random documents and pointers, for each way with repeated keys" do
      Gen.check(300, fn -> Gen.text(Gen.term()) end, fn json ->
        for duplicates <- [:last, :first] do
          term = RustyJson.decode!(json, duplicate_keys: duplicates)
          all = Pointers.all(term)
          pointers = for _ <- 1..Enum.random(1..8), do: all |> Enum.random() |> Pointers.near()
          expected = for pointer <- pointers, do: Pointers.look_up(term, pointer)

          for options <- [[], [validate: duplicates == :last, missing: {:default, :absent}]] do
            options = if duplicates == :first, do: [duplicate_keys: :first] ++ options, else: options
            assert {:ok, values} = select(json, pointers, options)

            for {value, expected} <- Enum.zip(values, expected) do
              assert value === value(expected, options[:missing])
            end
          end

          # Without repeated keys nothing changes, and with them it is the error of decode/2, wherever the pointers lead.
          case RustyJson.decode(json, duplicate_keys: :error) do
            {:ok, _term} -> assert select(json, pointers, duplicate_keys: :error) == select(json, pointers)
            error -> assert select(json, pointers, duplicate_keys: :error) == error
          end

          for pointer <- pointers, {:ok, %{encode: text}} <- [fetch(json, pointer, as: :raw)] do
            assert {:ok, RustyJson.decode!(text)} ==
                     Pointers.look_up(RustyJson.decode!(json), pointer)
          end
        end
      end)
    end

    test "a fault anywhere is the error of decode/2" do
      Gen.check(400, fn -> Gen.damage(Gen.text(Gen.term())) end, fn json ->
        for options <- [
              [],
              [duplicate_keys: :error],
              [validate_strings: false],
              [max_nodes: 10],
              [max_depth: 2]
            ] do
          expected = error(RustyJson.decode(json, options))

          for pointer <- ["/nothing/here", "/0", "", "/a"],
              do: assert(error(fetch(json, pointer, options)) == expected, inspect({pointer, options}))
        end
      end)
    end

    test "every vector" do
      for {text, options} <- Vectors.texts(), IO.iodata_length(text) < 20_000 do
        options = Enum.to_list(options)

        if options[:keys] in [nil, :strings, :copy, :intern] do
          expected = error(RustyJson.decode(text, options))
          assert error(fetch(text, "/nothing/here", options)) == expected, inspect(text, limit: 100)
          if expected == nil, do: assert(fetch(text, "", options) == RustyJson.decode(text, options))
        end
      end
    end

    @tag skip: Corpus.skip("JSONTestSuite/test_parsing")
    test "every file of JSONTestSuite" do
      for file <- Corpus.names("JSONTestSuite/test_parsing", "*.json"),
          text = Corpus.read!("JSONTestSuite/test_parsing", file),
          byte_size(text) < 100_000 do
        assert error(fetch(text, "/0/0")) == error(RustyJson.decode(text)), file
      end
    end
  end

  defp value({:ok, value}, _missing), do: value
  defp value(:absent, {:default, default}), do: default
  defp value(:absent, nil), do: nil

  defp error({:error, error}), do: error
  defp error(_answer), do: nil

  defp decimal(sign, coefficient, exponent) do
    if Code.ensure_loaded?(Decimal),
      do: struct(Decimal, sign: sign, coef: coefficient, exp: exponent),
      else: %{__struct__: Decimal, sign: sign, coef: coefficient, exp: exponent}
  end

  test "an answer too large for a normal scheduler" do
    json = RustyJson.encode!(for n <- 1..9_000, do: [n])
    assert byte_size(json) < 131_072
    assert fetch(json, "") == RustyJson.decode(json)
    assert select(json, ["", "/0", "/8999"]) == {:ok, [RustyJson.decode!(json), [1], [9000]]}
  end
end
