defmodule RustyJson.RegressionsTest do
  @moduledoc "Bugs that JSON libraries of this kind have released, each as a test."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.{Clock, Judge, Structs}

  test "unicode_safe writes surrogate pairs, never five digits" do
    Judge.assert_encodes("😀", [escape: :unicode_safe], ~S("\uD83D\uDE00"))

    Judge.assert_encodes(
      %{"😀" => %Structs.AsText{text: "😀"}},
      [escape: :unicode_safe],
      ~S({"\uD83D\uDE00":"\uD83D\uDE00"})
    )
  end

  test "invalid UTF-8 is an error when a struct is present" do
    for struct <- [
          %Structs.All{},
          %Structs.Money{amount: 1, currency: "x"},
          ~D[2024-01-15],
          Fragment.new("1")
        ] do
      assert {:error, %EncodeError{message: "invalid byte 0xFF in <<255>>"}} = Judge.encode([struct, "\xFF"])
      assert {:error, %EncodeError{}} = Judge.encode(%{"\xFF" => struct})
    end

    for text <- ["\xFF", "a\xFF", "\xC3"],
        struct <- [%Structs.All{a: text}, %Structs.Money{currency: text}] do
      assert {:error, %EncodeError{message: "invalid byte" <> _}} = Judge.encode([struct])
    end
  end

  test "maps: :strict with a struct inside" do
    Judge.assert_encodes(%{"d" => ~D[2024-01-15]}, [maps: :strict], ~S({"d":"2024-01-15"}))

    Judge.assert_encodes(
      [%Structs.Only{name: 1, email: %{"x" => 1}}],
      [maps: :strict],
      ~S([{"name":1,"email":{"x":1}}])
    )

    Judge.assert_encodes(
      %Structs.Money{amount: 1, currency: "x"},
      [maps: :strict],
      ~S({"amount":1,"currency":"x"})
    )

    Judge.assert_encode_error(
      [%Structs.All{a: %{"x" => 1, x: 2}}],
      [maps: :strict],
      "duplicate key: x",
      "/0/a"
    )

    Judge.assert_encode_error(
      %Structs.Money{amount: %{"x" => 1, x: 2}},
      [maps: :strict],
      "duplicate key: x",
      "/amount"
    )
  end

  test "sort_keys goes on inside and beside structs" do
    term = %{
      "b" => %Structs.All{b: %{"z" => 1, "y" => 2}, a: 1},
      "a" => [%Structs.Only{email: "e", name: "n"}]
    }

    Judge.assert_encodes(
      term,
      [sort_keys: true],
      ~S({"a":[{"email":"e","name":"n"}],"b":{"a":1,"b":{"y":2,"z":1}}})
    )

    Judge.assert_encodes(
      %Structs.Money{amount: 1, currency: "x"},
      [sort_keys: true],
      ~S({"amount":1,"currency":"x"})
    )

    Judge.assert_encodes(
      %Structs.AsMap{value: %{"b" => 1, "a" => 2}},
      [sort_keys: true],
      ~S({"value":{"a":2,"b":1}})
    )
  end

  test "keys: :atoms with floats: :decimals" do
    decimal = %{__struct__: Decimal, sign: 1, coef: 15, exp: -1}

    Judge.assert_decodes(~S({"a":1.5,"b":{"c":[1.5]}}), [keys: :atoms, floats: :decimals], %{
      a: decimal,
      b: %{c: [decimal]}
    })
  end

  test "strings: :copy does not pin the input" do
    json = ~s(["#{String.duplicate("a", 100)}","#{String.duplicate("b", 10_000)}"])

    for {_, options} <- Judge.engines() do
      [text, _] = RustyJson.decode!(json, [strings: :copy] ++ options)
      assert :binary.referenced_byte_size(text) < 1000
    end
  end

  test "duplicate_keys: :error sees escaped keys" do
    Judge.assert_rejects(~S({"a":1,"\u0061":2}), [duplicate_keys: :error], :duplicate_key, 7)
    Judge.assert_rejects(~S({"\u0061":1,"a":2}), [duplicate_keys: :error], :duplicate_key, 12)
    Judge.assert_rejects(~S({"\u0061":1,"\u0061":2}), [duplicate_keys: :error], :duplicate_key, 12)
    Judge.assert_rejects(~S({"😀":1,"\uD83D\uDE00":2}), [duplicate_keys: :error], :duplicate_key, 10)
  end

  test "a repeated key between others" do
    Judge.assert_decodes(~S({"a":1,"b":2,"b":3,"c":4}), %{"a" => 1, "b" => 3, "c" => 4})
    assert {:ok, map} = Judge.decode(~S({"a":1,"b":2,"b":3,"c":4}))
    assert map_size(map) == 3
    assert Map.keys(map) == ["a", "b", "c"]
  end

  test "more than 32 keys with repeated ones make a sound map" do
    for size <- [32, 33, 34, 64, 65, 1000], repeat <- [1, 2, div(size, 2), size] do
      members =
        for i <- Enum.concat(1..size, 1..repeat), do: ~s("k#{i}":#{:erlang.unique_integer([:positive])})

      assert {:ok, map} = Judge.decode("{" <> Enum.join(members, ",") <> "}")
      assert map_size(map) == size
      assert Enum.sort(Map.keys(map)) == Enum.sort(for i <- 1..size, do: "k#{i}")
      # Lookups, updates and comparisons reveal a broken map.
      for i <- 1..size, do: assert(Map.has_key?(map, "k#{i}"))
      assert Map.new(Map.to_list(map)) == map
      assert map |> Map.put("new", 1) |> Map.delete("new") == map
    end
  end

  test "improper lists are an error" do
    for term <- [[1 | 2], [[1 | 2]], %{"a" => [1 | "x"]}, {[1 | 2]}, [1, 2 | %{}]] do
      assert {:error, %EncodeError{}} = Judge.encode(term)
    end
  end

  test "zero microseconds are kept" do
    Judge.assert_encodes(~T[14:30:00.000000], ~S("14:30:00.000000"))
    Judge.assert_encodes(~U[2024-01-15 14:30:00.000Z], ~S("2024-01-15T14:30:00.000Z"))
    Judge.assert_encodes(~N[2024-01-15 14:30:00.00], ~S("2024-01-15T14:30:00.00"))
  end

  test "Decimals of 39 and more digits stay strings" do
    for digits <- [38, 39, 40, 77, 78, 400] do
      decimal = %{__struct__: Decimal, sign: 1, coef: Integer.pow(10, digits) - 1, exp: 0}
      Judge.assert_encodes([decimal], ~s(["#{String.duplicate("9", digits)}"]))
    end
  end

  test "a Decimal with a gigantic exponent is not written out" do
    Judge.assert_encodes(%{__struct__: Decimal, sign: 1, coef: 1, exp: 1_000_000_000}, ~S("1E+1000000000"))
    Judge.assert_encodes(%{__struct__: Decimal, sign: -1, coef: 1, exp: -1_000_000_000}, ~S("-1E-1000000000"))
  end

  test "malformed escapes and exponents are errors with a place" do
    for text <- [~S("\u), ~S("\u1), ~S("\u12), ~S("\u123), "\"\\uD83D\\", ~S("\uD83D\u), ~S("\uD83D\uDE0)] do
      Judge.assert_rejects(text, :unexpected_end, byte_size(text))
    end

    for text <- ["1e", "1E+", "1.0e-", "-", "0."],
        do: Judge.assert_rejects(text, :unexpected_end, byte_size(text))

    for text <- ["1e]", "1E+x", "1.0e--1"],
        do: assert({:error, %{reason: :invalid_number}} = Judge.decode(text))
  end

  test "garbage between tokens is an error" do
    for garbage <- ["x", "\0", "\v", "\u00A0", "\uFEFF", "//", "\xFF", ";"] do
      for text <- [
            "[#{garbage}1]",
            "[1#{garbage}]",
            "[1,#{garbage}2]",
            "#{garbage}[1]",
            "[1]#{garbage}",
            "{\"a\"#{garbage}:1}"
          ] do
        assert {:error, %RustyJson.DecodeError{}} = Judge.decode(text)
      end
    end
  end

  test "a character of several bytes across every boundary" do
    for char <- ["é", "漢", "😀"], before <- 0..70, last <- [0, 1, 20] do
      text = String.duplicate("a", before) <> char <> String.duplicate("b", last)
      Judge.assert_decodes("\"" <> text <> "\"", text)
      Judge.assert_encodes(text, "\"" <> text <> "\"")
    end
  end

  test "a character cut at every boundary is an error" do
    for before <- 0..70, cut <- ["\xC3", "\xE6\xBC", "\xF0\x9F\x98"] do
      text = String.duplicate("a", before) <> cut
      Judge.assert_rejects("\"" <> text <> "\"", :invalid_utf8, before + 1)
      assert {:error, %EncodeError{}} = Judge.encode(text)
    end
  end

  test "integers beyond 64 bits keep every digit" do
    for power <- [63, 64, 65, 127, 128, 129, 1000, 3000], delta <- [-1, 0, 1], sign <- [1, -1] do
      integer = sign * (Integer.pow(2, power) + delta)
      Judge.assert_decodes(Integer.to_string(integer), integer)
      Judge.assert_encodes(integer, Integer.to_string(integer))
    end
  end

  test "options reach fragments and nested encoders" do
    nested = fn text ->
      [
        %Structs.AsText{text: text},
        Fragment.new(&RustyJson.Encode.string(text, &1)),
        %Structs.AsMap{value: text}
      ]
    end

    Judge.assert_encodes(
      nested.("</a>"),
      [escape: :html_safe],
      ~S(["\u003C\/a>","\u003C\/a>",{"value":"\u003C\/a>"}])
    )

    Judge.assert_encodes(nested.("é"), [escape: :unicode_safe], ~S(["\u00E9","\u00E9",{"value":"\u00E9"}]))
    strict = Fragment.new(&RustyJson.Encode.map(%{"a" => 1, a: 2}, &1))
    assert {:error, %EncodeError{message: "duplicate key: a"}} = Judge.encode([strict], maps: :strict)
  end

  test "OrderedObject and Fragment are laid out with the rest" do
    term = %{"a" => OrderedObject.new([{"c", [1]}, {"b", 2}]), "f" => Fragment.new(~S({"x":[1,2]}))}

    Judge.assert_encodes(term, [pretty: true], """
    {
      "a": {
        "c": [
          1
        ],
        "b": 2
      },
      "f": {
        "x": [
          1,
          2
        ]
      }
    }\
    """)
  end

  test "structs in the middle of a pretty document" do
    term = [%{"m" => %Structs.Money{amount: 1, currency: "x"}}, %Structs.Only{name: [], email: %{}}]

    Judge.assert_encodes(term, [pretty: true], """
    [
      {
        "m": {
          "amount": 1,
          "currency": "x"
        }
      },
      {
        "name": [],
        "email": {}
      }
    ]\
    """)
  end

  test "max_bytes is checked before iodata is flattened" do
    # As one binary this would be 200 GB.
    part = String.duplicate("x", 100_000)
    iodata = Enum.reduce(1..21, part, fn _, inner -> [inner, inner] end)
    assert {:error, %{reason: :max_bytes, position: 0}} = Judge.decode_quietly(iodata, max_bytes: 1_000_000)
  end

  test "keys: :intern takes more keys than its cache" do
    json = "[" <> Enum.map_join(1..10_000, ",", &~s({"key#{&1}":1,"same":2})) <> "]"
    Judge.assert_decodes(json, [keys: :intern], Enum.map(1..10_000, &%{"key#{&1}" => 1, "same" => 2}))
  end

  test "a document of 400 bytes takes no exponential time" do
    nest = fn nest, n ->
      if n == 0, do: "1", else: ~s([{"a":0,"b":1},{"a":) <> nest.(nest, n - 1) <> ~s(,"c":1}])
    end

    text = nest.(nest, 60)

    for {_, options} <- Judge.engines(),
        do: Clock.within(1_000, fn -> RustyJson.decode!(text, options) end)
  end

  test "control bytes: six bytes of output for one of input" do
    for size <- [1, 10, 100, 1000, 100_000] do
      Judge.assert_encodes(String.duplicate(<<0>>, size), "\"" <> String.duplicate("\\u0000", size) <> "\"")
    end

    Judge.assert_encodes(
      String.duplicate("é", 10_000),
      [escape: :unicode_safe],
      "\"" <> String.duplicate("\\u00E9", 10_000) <> "\""
    )
  end

  test "a struct that nobody made encodable does not leak" do
    for term <- [%Structs.Bare{name: "n", password_hash: "h"}, [%{"u" => %Structs.Bare{}}]] do
      assert match?({:error, %Protocol.UndefinedError{}}, Judge.encode(term)) or
               match?({:raised, Protocol.UndefinedError, _}, Judge.encode(term))
    end
  end

  test "a term that shares itself stops at max_bytes" do
    term = Enum.reduce(1..60, "x", fn _, inner -> [inner, inner] end)

    for {_engine, options} <- Judge.engines() do
      assert {:error, %EncodeError{reason: :max_bytes}} =
               RustyJson.encode(term, [max_bytes: 100_000] ++ options)

      assert {:error, %EncodeError{reason: :max_bytes}} =
               RustyJson.encode(%{a: {1, term}}, [max_bytes: 9] ++ options)

      assert {:ok, _} = RustyJson.encode(Enum.to_list(1..10_000), [max_bytes: 100_000] ++ options)

      assert {:error, %EncodeError{reason: :improper_list}} =
               RustyJson.encode(%{a: {1, [2 | 3]}}, [max_bytes: 99] ++ options)
    end
  end
end
