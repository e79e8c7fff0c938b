defmodule RustyJson.ParityTest do
  @moduledoc "Jason's behaviour in rare cases, found by comparing its functions with RustyJson's one by one."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{DecodeError, Encode, Fragment, OrderedObject}
  alias RustyJson.Test.Judge

  import RustyJson.Sigil

  describe "OrderedObject" do
    test "is cut and counted like a list" do
      object = OrderedObject.new(a: 1, b: 2, c: 3)
      assert Enum.slice(object, 1, 2) == [b: 2, c: 3]
      assert Enum.slice(object, 1..-1//1) == [b: 2, c: 3]
      assert Enum.at(object, 1) == {:b, 2}
      assert Enum.at(object, -1) == {:c, 3}
      assert Enum.at(object, 3) == nil
      assert Enum.take(object, 1) == [a: 1]
      assert Enum.random(OrderedObject.new(a: 1)) == {:a, 1}
      assert Enum.slice(OrderedObject.new([]), 0..-1//1) == []
      assert Enum.zip(object, [1]) == [{{:a, 1}, 1}]
      assert Enum.count(object) == 3
      assert {:b, 2} in object
      refute {:b, 3} in object
    end

    test "gets new keys at the front, changes the others in place" do
      object = OrderedObject.new([{"a", 1}, {"b", 2}, {"a", 3}])
      assert put_in(object["c"], 4).values == [{"c", 4}, {"a", 1}, {"b", 2}, {"a", 3}]
      assert put_in(object["b"], 4).values == [{"a", 1}, {"b", 4}, {"a", 3}]
      assert {1, %{values: [{"b", 2}, {"a", 3}]}} = get_and_update_in(object["a"], fn _ -> :pop end)
      assert {nil, ^object} = get_and_update_in(object["c"], fn nil -> :pop end)
      assert {1, %{values: [{"b", 2}]}} = pop_in(object["a"])
    end
  end

  test "the escapes in a sigil are JSON's" do
    assert ~j'"a\nb\u00e9\\ \"\/"' == "a\nbé\\ \"/"
    assert ~J'"a\nb\u00e9\\ \"\/"' == "a\nbé\\ \"/"
    assert ~j'"#{"x"}\n"' == "x\n"

    assert_raise DecodeError, ~r/Invalid escape sequence: \\x/, fn ->
      Code.eval_string(~S|import RustyJson.Sigil; ~j'"\x41"'|)
    end
  end

  test "a function for keys gets each key in its order, and may make one of two" do
    text = ~s({"b":1,"A":{"x":1.5,"X":2},"a":[{"c":3,"C":4}],"b":5})

    for {options, expected} <- [
          {[], %{"B" => 5, "A" => [%{"C" => 4}]}},
          {[duplicate_keys: :first], %{"B" => 1, "A" => %{"X" => 1.5}}},
          {[floats: :decimals, duplicate_keys: :first],
           %{"B" => 1, "A" => %{"X" => %{__struct__: Decimal, sign: 1, coef: 15, exp: -1}}}}
        ] do
      called = fn key -> with(_ <- send(self(), {:key, key}), do: String.upcase(key)) end

      for {_, engine} <- Judge.engines() do
        assert RustyJson.decode(text, [keys: called] ++ options ++ engine) == {:ok, expected}
        assert {:messages, received} = Process.info(self(), :messages)
        assert for({:key, key} <- received, do: key) == ~w(b A x X a c C b)
        for _ <- received, do: receive(do: ({:key, _} -> :ok))
      end
    end

    assert {:error, %{reason: :duplicate_key, position: 47}} =
             Judge.decode(text, keys: &String.upcase/1, duplicate_keys: :error)

    many = for i <- 1..100, do: {"k#{i}", i}
    text = RustyJson.encode!(OrderedObject.new(many))

    assert Judge.decode(text, keys: &String.upcase/1) ==
             {:ok, Map.new(many, fn {k, v} -> {String.upcase(k), v} end)}

    assert {:ok, %OrderedObject{values: [{:b, 1}, {:b, %OrderedObject{values: []}}]}} =
             Judge.decode(~s({"x":1,"y":{}}), keys: fn _ -> :b end, objects: :ordered_objects)
  end

  test "a fragment may be built empty and filled later" do
    assert Judge.encode(%{struct(Fragment) | encode: "1"}) == {:ok, "1"}
  end

  test "Encode.map of a struct has its name" do
    fragment = Fragment.new(&Encode.map(%{__struct__: Some, a: 1}, &1))
    assert Judge.encode(fragment, sort_keys: true) == {:ok, ~s({"__struct__":"Elixir.Some","a":1})}
  end

  test "__struct__ may be named when deriving" do
    for {module, option} <- [Named: "only: [:__struct__, :a]", Unnamed: "except: [:__struct__]"] do
      Code.eval_string("""
      defmodule RustyJson.ParityTest.#{module} do
        @derive {RustyJson.Encoder, #{option}}
        defstruct a: 1
      end
      """)
    end

    for _ <- [:learns, :knows],
        options <- [[], [pretty: [indent: "", line_separator: "", after_colon: ""]]] do
      named = struct(RustyJson.ParityTest.Named)
      unnamed = struct(RustyJson.ParityTest.Unnamed)

      assert Judge.encode([named, unnamed], options) ==
               {:ok, ~s([{"__struct__":"Elixir.RustyJson.ParityTest.Named","a":1},{"a":1}])}
    end
  end

  test "an error made by hand has a message" do
    assert Exception.message(%DecodeError{position: 3, data: "abc"}) ==
             "Unexpected end of input at position 3"

    assert Exception.message(%DecodeError{position: 1, data: "abc"}) == "Unexpected input at position 1"
    assert Exception.message(%DecodeError{}) == "JSON decode error"
    assert_raise DecodeError, "no", fn -> raise DecodeError, "no" end
    assert_raise DecodeError, ~r/position 0/, fn -> raise DecodeError, position: 0, data: "x", token: nil end
    assert DecodeError.explain(%DecodeError{position: 1, data: "abc"}) =~ "position 1"
  end

  test "options for encoding parts by hand" do
    assert IO.iodata_to_binary(Encode.value(%{"a" => ["</"]}, Encode.opts(:html_safe))) ==
             ~S({"a":["\u003C\/"]})

    assert IO.iodata_to_binary(Encode.value([1], Encode.opts())) == "[1]"
    assert Encode.encode(["<"], %{escape: :html_safe, maps: :naive}) == {:ok, ~S(["\u003C"])}
  end

  test "the types of Jason are there" do
    {:ok, types} = Code.Typespec.fetch_types(RustyJson)
    names = for {:type, {name, _, []}} <- types, do: name
    assert [:decode_opt, :encode_opt, :escape, :floats, :keys, :maps, :objects, :strings] -- names == []
  end
end
