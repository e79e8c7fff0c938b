defmodule RustyJson.RawTest do
  @moduledoc "`decode(json, raw: places)`: parts that stay text, in every engine."

  use ExUnit.Case, async: true

  alias RustyJson.{Fragment, OrderedObject}
  alias RustyJson.Test.{Gen, Judge}

  defp decode(json, raw, options \\ []), do: Judge.decode(json, [raw: raw] ++ options)
  defp fragment(text), do: Fragment.new(text)

  test "places, with and without wildcards" do
    json = ~s({"a": {"b": [1.50, {"c":2}]}, "l": [ "x" , null,{}], "z": 1})

    rows = [
      {[], RustyJson.decode!(json)},
      {["/nothing", "/z/x", "/a/b/7"], RustyJson.decode!(json)},
      {["/z"], %{"a" => %{"b" => [1.5, %{"c" => 2}]}, "l" => ["x", nil, %{}], "z" => fragment("1")}},
      {["/a/b/1/c", "/l/0"],
       %{"a" => %{"b" => [1.5, %{"c" => fragment("2")}]}, "l" => [fragment(~s("x")), nil, %{}], "z" => 1}},
      {["/l/*"],
       %{
         "a" => %{"b" => [1.5, %{"c" => 2}]},
         "l" => [fragment(~s("x")), fragment("null"), fragment("{}")],
         "z" => 1
       }},
      {["/*/b"], %{"a" => %{"b" => fragment(~s([1.50, {"c":2}]))}, "l" => ["x", nil, %{}], "z" => 1}},
      {["/a/b/0", "/a", "/a/*/1"],
       %{"a" => fragment(~s({"b": [1.50, {"c":2}]})), "l" => ["x", nil, %{}], "z" => 1}},
      {["/*/*/0", "/l/1"],
       %{"a" => %{"b" => [fragment("1.50"), %{"c" => 2}]}, "l" => ["x", fragment("null"), %{}], "z" => 1}}
    ]

    for {places, term} <- rows, do: assert(decode(json, places) == {:ok, term}, inspect(places))
    assert decode(" [1] ", [""]) == {:ok, fragment("[1]")}

    assert decode(~s({"*": 1, "a/b": 2, "~": 3}), ["/a~1b", "/~0"]) ==
             {:ok, %{"*" => 1, "a/b" => fragment("2"), "~" => fragment("3")}}

    assert decode(~s({"\\u0061": 1}), ["/a"]) == {:ok, %{"a" => fragment("1")}}
  end

  test "what was text is encoded unchanged" do
    json = ~s({"payload":{ "n" : 1.50, "s": "\\u00e9" },"id":1})
    {:ok, term} = decode(json, ["/payload"], objects: :ordered_objects)
    assert RustyJson.encode!(term) == json
  end

  test "other options" do
    json = ~s({"a": [1.10], "a": [2.20, {"k": 1}], "b": 3.30})
    assert decode(json, ["/a"]) == {:ok, %{"a" => fragment(~s([2.20, {"k": 1}])), "b" => 3.3}}
    assert decode(json, ["/a"], duplicate_keys: :first) == {:ok, %{"a" => fragment("[1.10]"), "b" => 3.3}}
    assert {:error, %{reason: :duplicate_key, position: 14}} = decode(json, ["/a"], duplicate_keys: :error)

    assert decode(json, ["/a/*"], objects: :ordered_objects) ==
             {:ok,
              OrderedObject.new([
                {"a", [fragment("1.10")]},
                {"a", [fragment("2.20"), fragment(~s({"k": 1}))]},
                {"b", 3.3}
              ])}

    assert decode(json, ["/a/1"], keys: :atoms!) == {:ok, %{a: [2.2, fragment(~s({"k": 1}))], b: 3.3}}

    assert decode(json, ["/a"], keys: &String.upcase/1) ==
             {:ok, %{"A" => fragment(~s([2.20, {"k": 1}])), "B" => 3.3}}

    assert decode(json, ["/a"], strings: :copy, null: :null) ==
             {:ok, %{"a" => fragment(~s([2.20, {"k": 1}])), "b" => 3.3}}
  end

  test "an object that looks like a struct" do
    for value <- ["null", "true", "\"Elixir.Date\""], keys <- [:atoms, :atoms!, :strings] do
      json = ~s({"__struct__": #{value}, "a": [1, {"b": 2}]})
      key = if keys == :strings, do: "a", else: :a
      assert {:ok, %{^key => [1, part]}} = decode(json, ["/a/1"], keys: keys)
      assert part == fragment(~s({"b": 2}))
    end
  end

  test "faults are those of decode/2, in the parts too" do
    for json <- [
          ~s({"a": [1,]}),
          ~s({"a": {"b" 1}}),
          ~s({"a": "\\ud800"}),
          ~s({"a": 1} x),
          ~s({"a": 1e999}),
          "",
          "[",
          ~s({"a"})
        ] do
      assert {:error, error} = decode(json, ["/a", "/*/b"])
      assert RustyJson.decode(json) == {:error, error}
    end

    json = ~s({"a": [[[1, 2, 3]]], "b": 1})

    for options <- [[max_depth: 3], [max_nodes: 5], [max_bytes: 10]] do
      assert {:error, error} = decode(json, ["/a"], options)
      assert RustyJson.decode(json, options) == {:error, error}
    end
  end

  test "options that are wrong, or contradict each other" do
    for raw <- [["a"], [1], "/a", ["/~2"]],
        do: assert_raise(ArgumentError, fn -> RustyJson.decode("1", raw: raw) end)

    assert_raise ArgumentError, fn -> RustyJson.decode("1", raw: ["/a"], as: :integer) end
    assert_raise ArgumentError, fn -> RustyJson.fetch("1", "", raw: ["/a"]) end
    assert_raise ArgumentError, fn -> RustyJson.Feed.new(raw: ["/a"]) end
  end

  test "random documents: with its parts decoded, a term is the whole" do
    Gen.check(200, fn -> Gen.text(Gen.term()) end, fn json ->
      places = Enum.take_random(["/0", "/*", "/*/0", "/1/*", "/*/*", "/a", "/0/*/1"], 3)
      whole = RustyJson.decode!(json)
      assert {:ok, term} = decode(json, places)
      assert put_back(term) == whole
    end)
  end

  test "many documents" do
    for {_name, engine} <- Judge.engines() do
      assert RustyJson.decode_many([~s({"a":[1]}), "[", ~s({"a":2})], [raw: ["/a"]] ++ engine)
             |> Enum.map(&elem(&1, 0)) ==
               [:ok, :error, :ok]

      assert [{:ok, %{"a" => %Fragment{encode: "[1]"}}}] =
               RustyJson.decode_many([~s({"a":[1]})], [raw: ["/a"]] ++ engine)
    end
  end

  test "a part of a large document" do
    json = RustyJson.encode!(%{a: Enum.to_list(1..100_000), b: %{c: String.duplicate("x", 100_000)}})
    assert {:ok, %{"a" => %Fragment{encode: text}, "b" => %{"c" => _}}} = decode(json, ["/a"])
    assert RustyJson.decode!(text) == Enum.to_list(1..100_000)
  end

  defp put_back(%Fragment{encode: text}), do: RustyJson.decode!(text)
  defp put_back(list) when is_list(list), do: Enum.map(list, &put_back/1)
  defp put_back(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, put_back(value)} end)
  defp put_back(other), do: other
end
