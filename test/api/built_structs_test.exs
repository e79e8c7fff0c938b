defmodule RustyJson.BuiltStructsTest do
  @moduledoc "Structs that the native library and the built-in host build in place, beside those that Elixir makes of plain answers."

  use ExUnit.Case, async: true

  alias RustyJson.{Fragment, OrderedObject}
  alias RustyJson.Test.{Clock, Judge}

  defmodule Item do
    use RustyJson.Schema

    schema do
      field(:on, :date, default: ~D[2000-01-01])
      field(:raw, :raw, default: "none")
      field(:at, {:map, {:nullable, :time}}, default: %{"now" => "12:00:00"})
      field(:kind, {:enum, [:small, :large]}, default: {:of, "any", :kind})
      field(:self, [__MODULE__], default: [1, nil])
    end
  end

  defmodule Wide do
    use RustyJson.Schema

    schema do
      for number <- 1..40, do: field(:"f#{number}", {:nullable, :integer}, default: number)
    end
  end

  defmodule Pair do
    use RustyJson.Schema

    schema do
      field(:b, :any)
      field(:a, {:map, :any}, default: nil)
    end
  end

  defp decode(json, type, options \\ []),
    do: Judge.same(json, options, &RustyJson.decode(json, [as: type] ++ &1))

  test "fields that are missing have their defaults, whatever these are" do
    assert decode("{}", Item) == {:ok, %Item{}}
    assert %Item{self: [1, nil], kind: {:of, "any", :kind}, at: %{"now" => "12:00:00"}} = %Item{}

    json =
      ~s({"self": [{}, {"on": "2024-02-29", "self": []}], "kind": "large", "at": {"x": "23:59:59", "y": null}})

    assert decode(json, Item) ==
             {:ok,
              %Item{
                self: [%Item{}, %Item{on: ~D[2024-02-29], self: []}],
                kind: :large,
                at: %{"x" => ~T[23:59:59], "y" => nil}
              }}

    assert {:error, %{reason: :type, path: "/self/0/at/x"}} =
             decode(~s({"self": [{"at": {"x": "24:61"}}]}), Item)
  end

  defmodule Huge do
    use RustyJson.Schema

    schema do
      for number <- 1..200, do: field(:"f#{number}", :integer, default: number)
    end
  end

  test "structs with few of their fields share the others: a document of three bytes for each takes a few words for each" do
    for {text, words, expected} <- [
          {"{}", 4, %Huge{}},
          {~s({"f200":0}), 150, %Huge{f200: 0}},
          {~s({"f2":0,"f1":1,"f199":7,"f2":2}), 250, %Huge{f199: 7}}
        ] do
      assert {:ok, structs} = decode("[" <> Enum.join(List.duplicate(text, 50), ",") <> "]", [Huge])
      assert length(structs) == 50 and Enum.all?(structs, &(&1 == expected))
      # Wasmex has these with the structs that Elixir makes.
      assert :erts_debug.size(structs) < 50 * words + 2_000
    end

    all = Map.new(1..200, &{"f#{&1}", -&1})
    assert decode(RustyJson.encode!(all), Huge) == {:ok, struct(Huge, for(n <- 1..200, do: {:"f#{n}", -n}))}
    assert {:ok, items} = decode("[" <> Enum.join(List.duplicate("{}", 50), ",") <> "]", [Item])
    assert items == List.duplicate(%Item{}, 50) and :erts_debug.size(items) < 300
  end

  test "members in every order, repeated and unknown ones" do
    members = [~s("on": "2024-01-31"), ~s("kind": "small"), ~s("raw": [1, 2]), ~s("x": {"on": 1})]
    expected = %Item{on: ~D[2024-01-31], kind: :small, raw: Fragment.new("[1, 2]")}

    for members <- permutations(members) do
      assert decode("{" <> Enum.join(members, ", ") <> "}", Item) == {:ok, expected}
    end

    twice = ~s({"kind": "small", "on": "2024-01-01", "kind": "large", "on": "2024-01-02"})
    assert decode(twice, Item) == {:ok, %Item{kind: :large, on: ~D[2024-01-02]}}
    assert decode(twice, Item, duplicate_keys: :first) == {:ok, %Item{kind: :small, on: ~D[2024-01-01]}}
  end

  defmodule Dated do
    use RustyJson.Schema

    schema do
      field(:numbers, [:integer], default: [])
      field(:on, {:nullable, :date})
      field(:days, {:map, :date}, default: %{})
    end
  end

  test "a date that is dropped for another has to be valid, too" do
    for rule <- [:last, :first], options = [duplicate_keys: rule] do
      for json <- [
            ~s({"on": "x", "on": "2024-01-01"}),
            ~s({"on": "2024-01-01", "on": "x"}),
            ~s({"days": {"a": "x", "a": "2024-01-01"}}),
            ~s({"days": {"a": "2024-01-01", "a": "x"}}),
            ~s({"days": {"a": "x"}, "days": {}})
          ] do
        result = decode(json, Dated, options)
        # The first member with a name has won before a second one is looked at.
        if rule == :last, do: assert({:error, %{reason: :type}} = result, json)
      end

      # These are dates that only Elixir reads.
      assert {:ok, %Dated{on: ~D[-0001-01-01]}} =
               decode(~s({"on": "-0001-01-01", "on": "-0001-01-01"}), Dated, options)
    end
  end

  test "an invalid date behind more values than fit in a short call" do
    ones = Enum.map_join(1..13_000, ",", fn _ -> "1" end)

    assert {:error, %{reason: :type, path: "/on"}} = decode(~s({"numbers": [#{ones}], "on": "x"}), Dated)

    assert {:error, %{errors: [%{path: "/numbers/13000"}, %{path: "/on"}]}} =
             decode(~s({"numbers": [#{ones}, "1"], "on": "x"}), Dated, errors: :all)
  end

  test "a repeated field does not stand for one that is missing" do
    for {json, at, path} <- [
          {~s({"sku": "a", "sku": "b"}), 23, "/quantity"},
          {~s({"quantity": 1, "price": 2, "price": 1}), 38, "/sku"}
        ],
        duplicates <- [:first, :last] do
      assert {:error, %{reason: :missing, position: ^at, path: ^path}} =
               decode(json, RustyJson.Test.Schemas.Line, duplicate_keys: duplicates)
    end
  end

  defp permutations([]), do: [[]]
  defp permutations(list), do: for(first <- list, rest <- permutations(list -- [first]), do: [first | rest])

  test "more fields than a small map has" do
    assert decode("{}", Wide) == {:ok, %Wide{}}
    json = RustyJson.encode!(for number <- 1..39//2, into: %{}, do: {"f#{number}", nil})

    {:ok, wide} =
      decode("[#{json}, {\"f40\": -1}]", [Wide]) |> then(fn {:ok, [wide, other]} -> {:ok, {wide, other}} end)

    assert {%Wide{f1: nil, f2: 2, f39: nil, f40: 40}, %Wide{f1: 1, f40: -1}} = wide
    assert map_size(elem(wide, 0)) == 41
  end

  defmodule Branch do
    use RustyJson.Schema

    schema do
      field(:below, {:tagged, "kind", %{"branch" => __MODULE__}}, default: nil)
      field(:more, [:any], default: [])
    end
  end

  test "tagged structs in tagged structs, as deep as the limit" do
    type = {:tagged, "kind", %{"branch" => Branch}}

    nested = fn depth ->
      Enum.reduce(1..depth, "null", &~s({"below": #{&2}, "more": [#{&1}], "kind": "branch"}))
    end

    # A function for keys lets Elixir make the structs.
    for options <- [[], [keys: &String.upcase/1]] do
      assert {:ok, branch} = decode(nested.(30), type, [max_depth: 31] ++ options)
      assert Enum.reduce(1..30, branch, fn _, %Branch{below: below} -> below end) == nil
      assert {:ok, %Branch{below: %Branch{}}} = decode(nested.(127), type, options)
      assert {:error, %{reason: :max_depth}} = decode(nested.(31), type, [max_depth: 31] ++ options)
    end
  end

  test "many large structs in a short text" do
    for count <- [400, 20_000] do
      assert {:ok, [%Wide{f40: 40} | _] = list} =
               decode("[{}" <> String.duplicate(",{}", count - 1) <> "]", [Wide])

      assert length(list) == count
    end
  end

  test "maps whose keys repeat" do
    long = String.duplicate("long ", 20)

    for count <- [1, 5, 32, 33, 500],
        duplicates <- [:first, :last],
        keys <- [:strings, :copy, :atoms!, :atoms] do
      names =
        for number <- 1..count,
            do: Enum.at(["k#{number}", "\\u006b#{number}", long <> "#{number}"], rem(number, 3))

      members = Enum.with_index(names ++ Enum.reverse(names))
      json = "{" <> Enum.map_join(members, ",", fn {name, value} -> ~s("#{name}":#{value}) end) <> "}"
      expected = if duplicates == :first, do: Enum.reverse(members), else: members
      expected = for {name, value} <- expected, into: %{}, do: {String.replace(name, "\\u006b", "k"), value}
      options = [duplicate_keys: duplicates, keys: keys]
      assert decode(json, {:map, :integer}, options) == {:ok, expected}
      assert decode("[#{json},#{json}]", [{:map, :integer}], options) == {:ok, [expected, expected]}
    end
  end

  test "options are for what is of any type" do
    json = ~s({"a": {"never_seen_in_pair": {"b": null}}, "b": {"b": [null], "a": 1.5}})

    assert decode(json, Pair, null: :null, floats: :decimals, objects: :ordered_objects) ==
             {:ok,
              %Pair{
                b:
                  OrderedObject.new([
                    {"b", [:null]},
                    {"a", %{__struct__: Decimal, sign: 1, coef: 15, exp: -1}}
                  ]),
                a: %{"never_seen_in_pair" => OrderedObject.new([{"b", :null}])}
              }}

    assert decode(json, Pair, keys: :atoms) ==
             {:ok, %Pair{b: %{b: [nil], a: 1.5}, a: %{"never_seen_in_pair" => %{b: nil}}}}

    new = "new_atom_in_a_struct_#{System.unique_integer([:positive])}"
    assert {:ok, %Pair{b: %{} = map}} = decode(~s({"b": {"#{new}": 1}}), Pair, keys: :atoms)
    assert map == %{String.to_existing_atom(new) => 1}
    upper = [keys: &String.upcase/1]

    assert decode(~s({"b": {"x": [{"y": 1}]}, "a": {"z": null}}), Pair, upper) ==
             {:ok, %Pair{b: %{"X" => [%{"Y" => 1}]}, a: %{"z" => nil}}}

    assert decode(~s({"b": null}), Pair, null: :undefined) == {:ok, %Pair{b: :undefined}}
  end

  @dates [
    date: {Date, "2024-02-29"},
    time: {Time, "23:59:59.250"},
    naive_datetime: {NaiveDateTime, "2024-02-29T23:59:59.000001"},
    utc_datetime: {DateTime, "2024-02-29T23:59:59.5Z"}
  ]

  test "dates and times are what from_iso8601/1 makes of them" do
    forms = %{
      date: ~w(2024-02-29 0000-01-01 9999-12-31 -0001-01-01 +2024-01-01),
      time:
        ~w(00:00:00 23:59:59.999999 10:00:00.1 10:00:00,1 10:00:00.1234567 T10:00:00 10:00:00Z 24:00:00 23:59:60),
      naive_datetime: ["2024-02-29T10:11:12", "2024-02-29 10:11:12.000", "2024-02-29T10:11:12Z", "2024-02-29"],
      utc_datetime:
        ~w(2024-02-29T10:11:12Z 2024-02-29T10:11:12.120Z 2024-02-29T10:11:12+02:00 2024-02-29T00:11:12-01:30) ++
          ["2024-02-29 10:11:12Z", "2024-02-29T10:11:12z", "2024-02-29T10:11:12"]
    }

    for {type, texts} <- forms, text <- texts, do: assert_date(type, text)

    days =
      for year <- ~w(1900 2000 2023 2024),
          month <- 0..13,
          day <- [0, 1, 28, 29, 30, 31, 32],
          do: {year, month, day}

    for {year, month, day} <- days do
      assert_date(:date, "#{year}-#{two(month)}-#{two(day)}")
    end

    for _ <- 1..400, {type, {_module, text}} <- @dates do
      {before, <<_, rest::binary>>} = :erlang.split_binary(text, Enum.random(0..(byte_size(text) - 1)))
      assert_date(type, before <> Enum.random(~w(0 1 2 3 5 6 9 - + . : T Z é) ++ [" ", ""]) <> rest)
    end
  end

  defp assert_date(type, text) do
    {module, _text} = @dates[type]
    json = RustyJson.encode!([text, 1.5])

    case module.from_iso8601(text) do
      {:error, _reason} ->
        assert {:error, %{reason: :type, path: "/0", position: 1}} = decode(json, [type]), text

      valid ->
        assert {:error, %{reason: :type, path: "/1"}} = decode(json, [type]), text
        assert decode(RustyJson.encode!(%{"at" => text}), {:map, type}) == {:ok, %{"at" => elem(valid, 1)}}
    end
  end

  defp two(number), do: String.pad_leading("#{number}", 2, "0")

  test "texts are copied or not, as the options say" do
    long = String.duplicate("x", 1000)
    json = RustyJson.encode!([%{on: "2024-01-01", raw: long}, %{raw: "y"}])

    for options <- [[], [strings: :copy]], engine <- [[engine: :native], [engine: :wasm]] do
      assert {:ok, [%Item{raw: first}, %Item{raw: second}]} =
               RustyJson.decode(json, [as: [Item]] ++ options ++ engine)

      assert {first.encode, second.encode} == {~s("#{long}"), ~s("y")}
      whole = if options == [], do: :binary.referenced_byte_size(json), else: 1002
      assert :binary.referenced_byte_size(first.encode) == whole
    end
  end

  test "terms stay when the schema's data is collected, and the module is compiled again" do
    code = fn default ->
      quote do
        defmodule RustyJson.BuiltStructsTest.Again do
          use RustyJson.Schema

          schema do
            field(:a, :integer, default: unquote(default))
            field(:b, {:enum, [:x, :y]})
          end
        end
      end
    end

    Code.put_compiler_option(:ignore_module_conflict, true)
    on_exit(fn -> Code.put_compiler_option(:ignore_module_conflict, false) end)

    found =
      for default <- 1..5 do
        Code.eval_quoted(code.(default))

        {:ok, list} =
          RustyJson.decode(~s([{"b": "x"}, {"b": "y", "a": 0}]), as: [RustyJson.BuiltStructsTest.Again])

        :erlang.garbage_collect()
        list
      end

    assert Enum.map(found, fn [first, second] -> {first.a, first.b, second.a, second.b} end) ==
             for(default <- 1..5, do: {default, :x, 0, :y})
  end

  defmodule Some do
    use RustyJson.Schema
    schema(do: for(number <- 1..250, do: field(:"f#{number}", :integer, default: 0)))
  end

  defmodule Many do
    use RustyJson.Schema
    schema(do: for(number <- 1..2_000, do: field(:"f#{number}", :integer, default: 0)))
  end

  # Each call looks its templates through. For 2,000 fields that took milliseconds, on the caller's scheduler.
  test "a call with a struct of many fields takes time in proportion to them" do
    for {name, engine} <- Judge.engines(), name != :wasmex do
      [few, many] =
        for type <- [Some, Many],
            do: fn -> for _ <- 1..20, do: {:ok, _} = RustyJson.decode(~s({"f1":1}), [as: type] ++ engine) end

      Clock.ratio(20, many, few)
    end
  end
end
