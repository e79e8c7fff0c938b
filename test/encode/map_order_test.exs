defmodule RustyJson.MapOrderTest do
  @moduledoc "Objects come in the order of `Map.to_list/1` on the running OTP, for maps of every size."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Properties

  for size <- [1, 2, 8, 31, 32, 33, 34, 40, 100, 5_000] do
    test "#{size} string keys" do
      Properties.map_order(Map.new(1..unquote(size), &{"key #{&1}", &1}))
    end

    test "#{size} atom keys" do
      Properties.map_order(Map.new(1..unquote(size), &{String.to_atom("map order #{&1}"), &1}))
    end

    test "#{size} integer keys" do
      Properties.map_order(Map.new(1..unquote(size), &{&1 * 7919, &1}))
    end

    test "#{size} keys, nested" do
      map = Map.new(1..unquote(size), &{"k#{&1}", &1})
      assert {:ok, json} = RustyJson.Test.Judge.encode([%{"a" => map, "b" => map}])
      [object] = Regex.run(~r/"a":(\{.*?\}),"b":/s, json, capture: :all_but_first)
      assert {:ok, ^object} = RustyJson.Test.Judge.encode(map)
    end
  end

  test "keys of mixed types, beyond 32" do
    map = for i <- 1..20, key <- [i, "s#{i}", String.to_atom("mixed #{i}")], into: %{}, do: {key, i}
    Properties.map_order(map)
  end

  test "struct fields in the order of Map.to_list/1 without __struct__" do
    uri = URI.parse("https://a.b/c")
    assert {:ok, json} = RustyJson.Test.Judge.encode(uri, protocol: false, lean: true)
    keys = uri |> Map.from_struct() |> Map.keys() |> Enum.map(&Atom.to_string/1)
    assert Regex.scan(~r/"(\w+)":/, json, capture: :all_but_first) == Enum.map(keys, &[&1])
  end
end
