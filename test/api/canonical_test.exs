defmodule RustyJson.CanonicalTest do
  @moduledoc "Canonical JSON (RFC 8785): `canonicalize/2` and `encode(term, canonical: true)`."

  use ExUnit.Case, async: true

  alias RustyJson.{EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.{Corpus, Gen, Judge, NumberSeries}

  defp canonicalize(json, options \\ []), do: Judge.same(json, options, &RustyJson.canonicalize(json, &1))
  defp encode(term, options \\ []), do: Judge.encode(term, [canonical: true] ++ options)

  describe "RFC 8785" do
    test "the example of section 3.2.2" do
      given = ~S({
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      })

      expected =
        ~S({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],) <>
          ~S("string":"€$\u000f\nA'B\"\\\\\"/"})

      assert canonicalize(given) == {:ok, expected}
      assert canonicalize(expected) == {:ok, expected}
      assert encode(RustyJson.decode!(given)) == {:ok, expected}
    end

    test "keys are sorted by UTF-16 units" do
      given = ~S({"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7})
      values = [2, 4, 6, 7, 1, 5, 3]
      assert {:ok, text} = canonicalize(given)
      assert Regex.scan(~r/:(\d)/, text, capture: :all_but_first) == Enum.map(values, &["#{&1}"])
    end

    # Appendix B.
    @numbers [
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"},
      {0xFFEFFFFFFFFFFFFF, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xC340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44B52D02C7E14AF5, "9.999999999999997e+22"},
      {0x44B52D02C7E14AF6, "1e+23"},
      {0x44B52D02C7E14AF7, "1.0000000000000001e+23"},
      {0x444B1AE4D6E2EF4E, "999999999999999700000"},
      {0x444B1AE4D6E2EF4F, "999999999999999900000"},
      {0x444B1AE4D6E2EF50, "1e+21"},
      {0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"},
      {0x3EB0C6F7A0B5ED8D, "0.000001"},
      {0x41B3DE4355555553, "333333333.3333332"},
      {0x41B3DE4355555554, "333333333.33333325"},
      {0x41B3DE4355555555, "333333333.3333333"},
      {0x41B3DE4355555556, "333333333.3333334"},
      {0x41B3DE4355555557, "333333333.33333343"},
      {0xBECBF647612F3696, "-0.0000033333333333333333"},
      {0x43143FF3C1CB0959, "1424953923781206.2"}
    ]

    test "the numbers of appendix B" do
      for {bits, text} <- @numbers, <<float::float>> = <<bits::64>>, do: assert(encode(float) == {:ok, text})
    end

    @tag skip: Corpus.skip("rfc8785")
    test "the published documents" do
      for file <- Corpus.names("rfc8785/input", "*.json") do
        expected = Corpus.read!("rfc8785/output", file)
        given = Corpus.read!("rfc8785/input", file)
        assert canonicalize(given) == {:ok, expected}, file
        assert canonicalize(expected) == {:ok, expected}, file
        assert encode(RustyJson.decode!(given)) == {:ok, expected}, file
      end
    end

    # RUSTYJSON_NUMBERS=10000000 takes a few minutes.
    @lines String.to_integer(System.get_env("RUSTYJSON_NUMBERS", "100000"))
    @tag timeout: :infinity
    @tag skip: if(Code.ensure_loaded?(:crypto), do: false, else: "Erlang has no crypto")
    test "the published number series" do
      bits = Stream.take(NumberSeries.bits(), @lines)

      for {name, engine} <- Judge.engines() do
        write = fn floats ->
          {:ok, "[" <> texts} = RustyJson.encode(floats, [canonical: true] ++ engine)
          texts |> String.trim_trailing("]") |> String.split(",")
        end

        assert NumberSeries.digest_of(bits, write) == NumberSeries.digest(@lines), "#{name}"
      end
    end
  end

  describe "terms" do
    test "maps, structs, dates, and decimals as encode/2 writes them" do
      assert encode(%{:b => [1.0, -0.0, 1.0e21], :a => ~D[2024-01-01], "é" => nil, 1 => true}) ==
               {:ok, ~S({"1":true,"a":"2024-01-01","b":[1,0,1e+21],"é":null})}

      assert encode(OrderedObject.new([{"b", 1}, {"a", %{d: 1, c: 2}}])) ==
               {:ok, ~S({"a":{"c":2,"d":1},"b":1})}

      assert encode(1..3) == {:ok, ~S({"first":1,"last":3})}

      if Code.ensure_loaded?(Decimal) do
        assert encode([struct(Decimal, sign: 1, coef: 110, exp: -2)]) == {:ok, ~S(["1.10"])}
      end
    end

    test "the text of fragments and of encoders is made canonical" do
      assert encode(%{z: Fragment.new(~S({"b": 1.0, "a": "\u0041"}))}) == {:ok, ~S({"z":{"a":"A","b":1}})}
      fragment = Fragment.new(fn opts -> RustyJson.Encode.value(%{y: 2.0, x: 1}, opts) end)
      assert encode([fragment]) == {:ok, ~S([{"x":1,"y":2}])}
      assert {:error, %EncodeError{reason: :invalid_iodata}} = encode([1, Fragment.new("[1,]")])
    end

    test "integers that no canonical text denotes" do
      assert encode(9_007_199_254_740_992) == {:ok, "9007199254740992"}
      assert encode(-9_007_199_254_740_994) == {:ok, "-9007199254740994"}
      assert encode(Integer.pow(10, 21)) == {:ok, "1e+21"}

      for integer <- [9_007_199_254_740_993, Integer.pow(2, 60), -Integer.pow(3, 50), Integer.pow(10, 400)] do
        assert {:error, %EncodeError{reason: :inexact_integer, path: "/0/a"} = error} =
                 encode([%{a: integer}])

        assert error.message =~ "#{integer}" |> String.slice(0, 40)
      end
    end

    test "repeated keys, invalid UTF-8 and limits" do
      assert {:error, %EncodeError{reason: :duplicate_key, path: "/x"} = error} =
               encode(%{x: %{:a => 1, "a" => 2}})

      assert error.message == "duplicate key: a"
      assert {:error, %EncodeError{reason: :invalid_utf8}} = encode([<<255>>])
      assert encode([1.0, 2.0], max_bytes: 5) == {:ok, "[1,2]"}
      assert {:error, %EncodeError{reason: :max_bytes}} = encode([1.0, 2.0], max_bytes: 4)
      assert {:error, %EncodeError{reason: :max_bytes}} = encode(List.duplicate(1, 1000), max_bytes: 100)
      assert encode(Integer.pow(10, 308), max_bytes: 6) == {:ok, "1e+308"}
      assert {:error, %EncodeError{reason: :max_bytes}} = encode(Integer.pow(10, 308), max_bytes: 5)
      spaces = RustyJson.Fragment.new(["[", String.duplicate(" ", 1_000), "]"])
      assert encode(spaces, max_bytes: 2) == {:ok, "[]"}

      assert {:error, %EncodeError{reason: :max_bytes} = error} =
               encode(String.duplicate("x", 70_000), max_bytes: 9)

      assert error.message == "output larger than 9 bytes"
      assert {:error, %EncodeError{reason: :max_depth}} = encode([[[1]]], max_depth: 2)
      assert encode([[[1]]], max_depth: 3) == {:ok, "[[[1]]]"}
      deep = Enum.reduce(1..500, [], fn _, list -> [list] end)
      assert encode(deep, max_depth: :infinity) == RustyJson.encode(deep, max_depth: :infinity)
    end

    test "compression comes last" do
      assert {:ok, bytes} = encode(%{b: 1.0, a: 2}, compress: :gzip)
      assert :zlib.gunzip(bytes) == ~S({"a":2,"b":1})
    end

    test "options that leave a choice are an ArgumentError on the call" do
      for option <- [pretty: true, sort_keys: true, escape: :html_safe] do
        assert_raise ArgumentError, ~r/contradicts canonical: true/, fn ->
          RustyJson.encode(1, [option, canonical: true])
        end

        assert {:ok, _} = RustyJson.encode(1, [option, canonical: false])
      end

      assert_raise ArgumentError, fn -> RustyJson.encode_stream([1], canonical: true) end
    end
  end

  describe "texts" do
    test "faults are those of decode/2" do
      for json <- ["", "[1,]", ~S("\ud800"), <<?", 255, ?">>, "1e400", "\uFEFF1", ~S({"a":1,"\u0061":2})] do
        assert {:error, error} = canonicalize(json)
        assert RustyJson.decode(json, duplicate_keys: :error) == {:error, error}
      end

      assert {:error, %{reason: :inexact_integer, position: 6, path: "/a"} = error} =
               canonicalize(~S({"a": 9007199254740993}))

      assert error.message =~ "Integer that canonical JSON cannot represent exactly at position 6"
    end

    test "limits and options" do
      assert {:error, %{reason: :max_depth}} = canonicalize("[[1]]", max_depth: 1)
      assert {:error, %{reason: :max_nodes}} = canonicalize("[1, 2]", max_nodes: 2)
      assert {:error, %{reason: :max_bytes}} = canonicalize(["[1", ", 2]"], max_bytes: 5)
      assert canonicalize(["[1", ", 2]"]) == {:ok, "[1,2]"}
      assert_raise ArgumentError, ~r/canonicalize takes/, fn -> RustyJson.canonicalize("1", keys: :atoms) end
      assert_raise ArgumentError, fn -> RustyJson.canonicalize("1", [:keys]) end
    end

    test "a second time changes nothing, and means the same" do
      Gen.check(200, fn -> Gen.text(Gen.term()) end, fn json ->
        case canonicalize(json) do
          {:ok, text} ->
            assert canonicalize(text) == {:ok, text}
            assert as_floats(RustyJson.decode!(text)) == as_floats(RustyJson.decode!(json))
            assert encode(RustyJson.decode!(json)) == {:ok, text}

          {:error, %{reason: reason}} ->
            assert reason in [:duplicate_key, :inexact_integer]
        end
      end)
    end

    # Numbers in range are the same 64-bit floats.
    defp as_floats(list) when is_list(list), do: Enum.map(list, &as_floats/1)
    defp as_floats(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, as_floats(value)} end)
    defp as_floats(number) when is_number(number), do: number * 1.0
    defp as_floats(other), do: other

    test "a large object" do
      members = for n <- Enum.shuffle(1..20_000), do: {"key #{n}", %{b: n, a: [n]}}
      {:ok, text} = canonicalize(RustyJson.encode!(OrderedObject.new(members)))
      assert text == RustyJson.encode!(Map.new(members), sort_keys: true)
    end
  end
end
