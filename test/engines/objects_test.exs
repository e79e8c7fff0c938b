defmodule RustyJson.ObjectsTest do
  @moduledoc "Objects of every small size, in sequences of shapes: the decoder remembers orders of keys, but not repeated keys."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  # Keys that share their first eight bytes, differ only in length, or need an escape in the text.
  @keys for(n <- 0..36, do: "key #{rem(n * 7, 37)}") ++
          for(n <- 0..36, do: "profile_#{rem(n * 5, 37)}_colour") ++ ["", "a", "aa", "aaa", "é", "\n", "z\"z"]

  for {name, options} <- Judge.engines() do
    @tag options: options
    test "#{name}: like objects, like objects in another order, and with a repeated key", %{options: options} do
      for size <- [0, 1, 2, 3, 4, 5, 8, 11, 12, 13, 16, 17, 31, 32, 33, 34, 64, 65], turn <- 0..3 do
        keys = Enum.take(rotate(@keys, turn * 11), size)
        pairs = Enum.with_index(keys)
        orders = [pairs, pairs, Enum.reverse(pairs), pairs, rotate(pairs, 3)]
        repeated = for {key, value} <- Enum.take(pairs, 2), do: pairs ++ [{key, value + 100}]
        objects = orders ++ repeated ++ orders
        json = "[" <> Enum.map_join(objects, ",", &object/1) <> "]"
        assert RustyJson.decode(json, options) == {:ok, Enum.map(objects, &Map.new/1)}

        first = for pairs <- objects, do: pairs |> Enum.reverse() |> Map.new()
        assert RustyJson.decode(json, [duplicate_keys: :first] ++ options) == {:ok, first}
        refused = RustyJson.decode(json, [duplicate_keys: :error] ++ options)

        if repeated == [],
          do: assert({:ok, _} = refused),
          else: assert({:error, %{reason: :duplicate_key}} = refused)
      end
    end

    @tag options: options
    test "#{name}: an error about a repeated key names the second one", %{options: options} do
      json = ~s([{"b":1,"a":2,"c":3},{"b":1,"a":2,"b":3}])
      assert {:error, %{position: 34}} = RustyJson.decode(json, [duplicate_keys: :error] ++ options)
    end
  end

  for {name, options} <- Judge.engines() do
    @tag options: options
    test "#{name}: keys as existing atoms, of every length, in call after call", %{options: options} do
      names = for length <- 0..40, do: String.slice("atoms_of_objects_test_of_every_short_length", 0, length)
      atoms = for name <- names, do: String.to_atom(name)
      json = "{" <> Enum.map_join(names, ",", &~s("#{&1}":"#{&1}")) <> "}"
      escaped = ~S({"\u0061toms_":1,"atoms_o":2})

      for _ <- 1..3 do
        assert RustyJson.decode(json, [keys: :atoms!] ++ options) == {:ok, Map.new(Enum.zip(atoms, names))}
        assert RustyJson.decode(escaped, [keys: :atoms!] ++ options) == {:ok, %{atoms_: 1, atoms_o: 2}}

        for unknown <- ["atoms_of_objectz", "btoms_of", "atoms_of_objects_test_of_every_zhort"] do
          json = ~s({"#{unknown}":1})
          assert {:error, %{reason: :unknown_atom}} = RustyJson.decode(json, [keys: :atoms!] ++ options)
        end
      end
    end
  end

  defp rotate(list, by) do
    {a, b} = Enum.split(list, by)
    b ++ a
  end

  defp object(pairs),
    do: "{" <> Enum.map_join(pairs, ",", fn {k, v} -> "#{RustyJson.encode!(k)}:#{v}" end) <> "}"

  test "maps whose keys start alike, are the start of each other, or hold NUL are those that the VM makes" do
    parts = [
      "",
      "a",
      "b",
      "\0",
      "é",
      "long key",
      "long key ",
      "long key 1",
      "long key 2",
      "12345678",
      "123456789",
      "z\"\\"
    ]

    names = for a <- parts, b <- ["", "\0", "a", "\n"], do: a <> b

    for size <- [1, 2, 3, 5, 8, 17, 31, 32, 33],
        _ <- 1..40,
        keys = names |> Enum.uniq() |> Enum.take_random(size),
        members = Enum.with_index(keys),
        text = "{" <> Enum.map_join(members, ",", fn {key, n} -> "#{RustyJson.encode!(key)}:#{n}" end) <> "}",
        {_, engine} <- Judge.engines(),
        json <- [text, "[#{text},#{text}]"] do
      map = Map.new(members)
      expected = if json == text, do: map, else: [map, map]
      decoded = RustyJson.decode!(json, engine)
      assert decoded === expected
      assert :erlang.term_to_binary(decoded) == :erlang.term_to_binary(expected)
      assert :erts_debug.flat_size(decoded) <= :erts_debug.flat_size(expected)

      for map <- List.wrap(decoded), {key, n} <- members do
        assert %{^key => ^n} = map
        assert Map.put(map, key, :new) === Map.put(Map.new(members), key, :new)
      end
    end
  end
end
