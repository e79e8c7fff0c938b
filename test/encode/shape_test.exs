defmodule RustyJson.ShapeTest do
  @moduledoc "`key_case:` and `omit:`, on the call and in `@derive`."
  use ExUnit.Case, async: true

  alias RustyJson.{Encode, Fragment, OrderedObject}
  alias RustyJson.Test.Judge
  alias RustyJson.Test.Shaped.{Camel, Full, Named, NoEncoder, Own, Plain, Same, Sparse, Twin}

  import RustyJson.Test.Shaped, only: [decoded: 2, errors: 2, json: 2, modes: 0]

  @modes modes()

  describe "key_case" do
    test "atom keys become camel case, strings are data" do
      for {atom, name} <- [
            first_name: "firstName",
            _private_key: "_privateKey",
            __a: "__a",
            a__b: "aB",
            line_2_b: "line2B",
            HTTP_status: "HTTPStatus",
            ok?: "ok?",
            größe_äb: "größeäb"
          ] do
        assert json(%{atom => 1}, key_case: :camel) == RustyJson.encode!(%{name => 1})
        assert RustyJson.Encoder.Names.name(atom, :camel) == name
      end

      assert json(%{"first_name" => :first_name}, key_case: :camel) == ~s({"first_name":"first_name"})
    end

    test "in every kind of object" do
      term = [
        %{first_name: %{last_name: 1}},
        %Plain{first_name: 1, last_name: nil},
        OrderedObject.new(last_name: 1, first_name: 2),
        Fragment.new(&Encode.map(%{first_name: 1}, &1)),
        Fragment.new(&[?{, ?", Encode.key(:first_name, &1), ?", ":1}"]),
        %Own{pass_word: 1},
        %{~D[2024-02-29] => 1, first_name: 2}
      ]

      expected = [
        %{"firstName" => %{"lastName" => 1}},
        %{"firstName" => 1, "lastName" => nil},
        %{"firstName" => 2, "lastName" => 1},
        %{"firstName" => 1},
        %{"firstName" => 1},
        %{"passWord" => 1, "at" => %{"passWord" => 1}},
        %{"2024-02-29" => 1, "firstName" => 2}
      ]

      for mode <- @modes, do: assert(decoded(term, [key_case: :camel] ++ mode) == expected)
      assert decoded(Map.from_struct(%NoEncoder{}), key_case: :camel, protocol: false) == %{"passWord" => nil}
    end

    test "a map of names" do
      names = %{first_name: "given \"name\"", unused: "x"}
      assert json(%{first_name: 1}, key_case: names) == ~S({"given \"name\"":1})
      assert decoded(%Plain{first_name: 1}, key_case: names) == %{"given \"name\"" => 1, "last_name" => nil}
    end

    test "maps: :strict sees keys that become the same" do
      for error <- errors(%{first_name: 1, firstName: 2}, key_case: :camel, maps: :strict),
          do: assert(error.message == "duplicate key: firstName")

      for error <- errors(%{:first_name => 1, "firstName" => 2}, key_case: :camel, maps: :strict),
          do: assert(error.reason == :duplicate_key)

      for error <- errors(%Same{}, maps: :strict), do: assert(error.reason == :duplicate_key)
      assert json(%Same{}, []) == ~s({"x":1,"x":2})
    end

    test "a range is ordered and compared by its new names" do
      for range <- [1..9, 1..(2 ** 65)], last = range.last do
        assert json(range, sort_keys: true, key_case: %{first: "z"}) == ~s({"last":#{last},"z":1})
        assert json(range, key_case: %{first: "z"}) == ~s({"z":1,"last":#{last}})

        for error <- errors(range, maps: :strict, key_case: %{first: "last"}),
            do: assert(error.message == "duplicate key: last")
      end

      assert json(1..9//2, sort_keys: true, key_case: %{step: "a", first: "z"}, redact: ["z"]) ==
               ~s({"a":2,"last":9,"z":"[REDACTED]"})
    end

    test "large maps, sorted and not" do
      map = Map.new(1..3000, &{:"key_number_#{&1}", &1})
      expected = Map.new(map, fn {_, n} -> {"keyNumber#{n}", n} end)
      for mode <- @modes, do: assert(decoded(map, [key_case: :camel] ++ mode) == expected)
    end
  end

  describe "omit" do
    test "members, never elements" do
      term = %{
        a: nil,
        b: [nil, {nil}],
        c: %{d: nil},
        e: ~D[2024-02-29],
        f: %Plain{first_name: nil, last_name: 1}
      }

      expected = %{"b" => [nil, [nil]], "c" => %{}, "f" => %{"last_name" => 1}}

      for mode <- @modes do
        assert decoded(term, [omit: [nil, Date]] ++ mode) == expected
        assert decoded(%{"a" => nil}, [omit: [nil]] ++ mode) == %{}
        assert decoded(OrderedObject.new(a: nil, b: 1), [omit: [nil]] ++ mode) == %{"b" => 1}
        assert decoded(%Plain{}, [omit: [Plain]] ++ mode) == %{"first_name" => nil, "last_name" => nil}
        assert decoded(%{a: %Plain{}, b: %Own{}}, [omit: [Plain, Own]] ++ mode) == %{}
      end

      assert json([%{a: nil}, 1], omit: [nil], pretty: 0) == "[\n{},\n1\n]"
    end
  end

  describe "derive" do
    test "names and what is left out" do
      assert json(%Camel{first_name: 1}, []) == ~s({"_private":null,"aB":null,"firstName":1})
      assert json([%Named{first_name: 1, age: 2}], []) == ~S([{"given/\"name":1,"age":2}])
      assert json(%Sparse{}, []) == "{}"
      assert json([%Sparse{}, %Sparse{pass_word: 1}], []) == ~s([{},{"passWord":1}])
      assert json(%Sparse{first_name: 1, born_on: ~D[2024-02-29]}, []) == ~s({"firstName":1})

      # Sorted or compared, they were written all the same.
      for mode <- @modes,
          do: assert(decoded([%Sparse{first_name: 1}, %Sparse{}], mode) == [%{"firstName" => 1}, %{}])

      assert json(%Sparse{first_name: 1, pass_word: []}, pretty: true) |> RustyJson.decode!() ==
               %{"firstName" => 1, "passWord" => []}
    end

    test "beats the call" do
      for mode <- @modes do
        assert decoded(%Named{first_name: 1}, [key_case: :camel] ++ mode) == %{
                 "given/\"name" => 1,
                 "age" => nil
               }

        assert decoded(%Full{}, [omit: [nil], key_case: :camel] ++ mode) == %{"firstName" => nil}
        assert decoded(%Sparse{born_on: ~D[2024-02-29]}, [omit: [Plain]] ++ mode) == %{}
        assert decoded(%Sparse{first_name: %Plain{}}, [omit: [Plain]] ++ mode) |> map_size() == 1
      end
    end

    test "a struct that lost a field" do
      for {_, engine} <- Judge.engines(), struct <- [%Sparse{first_name: 1}, %Named{}, %Camel{}] do
        assert_raise KeyError, fn -> RustyJson.encode!([Map.delete(struct, :first_name)], engine) end
      end
    end

    test "bad options are compile errors" do
      for {options, message} <- [
            {[key_case: :snake], "`:key_case` takes"},
            {[key_case: [b: "x"]], "that are not defined in defstruct"},
            {[key_case: [a: :x]], "`:key_case` takes"},
            {[omit: nil, key_case: [a: String.duplicate("x", 256)]], "255 characters"},
            {[omit: [true]], "`:omit` takes"}
          ] do
        assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, fn ->
          defmodule Bad do
            @derive {RustyJson.Encoder, options}
            defstruct [:a]
          end
        end
      end
    end
  end

  # Maps that are sorted are gathered first, others are written member by member, or as they are.
  test "lean: true writes the fields of built-in structs with a key that only Elixir writes, too" do
    key = ~c"k"
    plain = fn struct -> struct |> Map.from_struct() |> Map.delete(:__struct__) end

    for struct <- [
          ~D[2024-02-29],
          ~U[2024-02-29 12:00:00Z],
          URI.parse("http://x"),
          1..2,
          MapSet.new([1]),
          1..(2 ** 70)
        ],
        struct = Map.put(struct, key, nil),
        wrap <- [& &1, &%{a: [&1]}],
        more <- [[], [sort_keys: true], [omit: [nil]], [redact: ["x"]], [key_case: :camel], [maps: :strict]] do
      assert json(wrap.(struct), [lean: true] ++ more) == json(wrap.(plain.(struct)), more)
    end
  end

  test "the same members, whether or not they are sorted" do
    :rand.seed(:exsss, 17)
    terms = for _ <- 1..150, do: random(3)
    alike = for n <- 1..40, do: %{first_name: n, last_name: if(rem(n, 3) == 0, do: nil, else: [n])}

    # They share their keys, and not their plans.
    swapped = for m <- [Twin, Plain, Twin], do: %{%Plain{first_name: 1} | __struct__: m}

    for term <- [alike, [swapped, alike, swapped], List.duplicate(alike, 300) | terms],
        options <- [
          [redact: ["password", "token", "1", :first_name]],
          [key_case: :camel],
          [key_case: %{first_name: "given", secret: "s\"x"}],
          [omit: [nil]],
          [omit: [nil, Plain, Date]],
          [redact: [:secret], key_case: :camel, omit: [nil, Plain]],
          [redact: ["/*/first_name", "/0/last_name/*", "/*/*/secret", "/1", "/nil/*/*", "/first_name/2.5"]],
          [redact: ["/*/*/*", "/true", :secret], key_case: :camel, omit: [nil], unsupported: :inspect]
        ] do
      sorted = decoded(term, [sort_keys: true] ++ options)
      for mode <- [[], [pretty: true]], do: assert(decoded(term, options ++ mode) == sorted)
    end
  end

  @keys ["password", :password, "first_name", :first_name, :last_name, 1, 2.5, ~c"token", :secret, nil, true] ++
          [~D[2024-02-29], "", :"", 1_000_000_000_000_000_000_000]

  defp random(0), do: Enum.random([nil, 1, "x", %{}, [], %Plain{first_name: 1}, ~D[2024-02-29], %Sparse{}])
  defp random(depth), do: Enum.random([&random_map/1, &random_list/1, &random/1]).(depth - 1)

  defp random_list(depth) do
    list = for _ <- 1..Enum.random(1..3), do: random(depth)
    Enum.random([list, list, List.to_tuple(list), MapSet.new(list)])
  end

  defp random_map(depth) do
    more = if Enum.random(1..8) == 1, do: Map.new(1..40, &{"key#{&1}", nil}), else: %{}
    Enum.reduce(0..Enum.random(0..6), more, fn _, map -> Map.put(map, Enum.random(@keys), random(depth)) end)
  end

  test "bad values are refused" do
    for {option, message} <- [
          {[redact: [contains: ""]], "in which a word is no text that a key can contain"},
          {[redact: [contains: []]], "whose value is no list of words"},
          {[redact: [contains: ["a" | "b"]]], "whose value is no list of words"},
          {[redact: [contains: [nil]]], "in which a word"},
          {[redact: [contains: <<255>>]], "in which a word"},
          {[redact: [contain: "a"]], "which is neither a string nor an atom"},
          {[redact: [contains: for(n <- 1..65, do: "w#{n}")]], ":redact takes at most 64 words"},
          {[key_case: :snake], ":key_case takes nil, :camel or a map from atoms to strings"},
          {[key_case: %{"a" => "b"}], ":key_case"},
          {[omit: nil], ":omit takes a list of nil and modules"},
          {[redact: ["a", "/a~2"]],
           ":redact takes keys and JSON Pointers, got the entry \"/a~2\", which is not a JSON Pointer"},
          {[redact: [nil]], "got the entry nil, which is neither a string nor an atom that is a key"},
          {[redact: [:a, 1]], "got the entry 1, which is neither a string nor an atom that is a key"},
          {[redact: ["/" <> <<255>>]], "which is not UTF-8"},
          {[redact: for(i <- 1..65, do: "/#{i}")], ":redact takes at most 64 JSON Pointers, got: 65"},
          {[omit: [:null]], ":omit takes a list of nil and modules, got: [:null]"},
          {[omit: [nil, :undefined]], ":omit takes a list of nil and modules, got: [nil, :undefined]"},
          {[omit: [nil], null: :null], "omit: [nil] and null: :null contradict each other"},
          {[null: :undefined, omit: [Date, nil]], "omit: [nil] and null: :undefined contradict each other"},
          {[redact: for(n <- 1..65, do: "/#{n}")], ":redact"},
          {[redacted: <<255>>], ":redacted takes a string"}
        ] do
      assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, fn -> RustyJson.encode([], option) end
    end
  end
end
