defmodule RustyJson.DecimalLimitsTest do
  @moduledoc """
  CVE-2026-32686: a few bytes such as `1e1000000000` become a Decimal with which a calculation takes all memory. No route that makes
  decimals gives one, unless the limits are lifted.
  """

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Feed, Partial}
  alias RustyJson.Test.{Judge, Streams}
  alias RustyJson.Test.Schemas.Line

  @huge "1e1000000000"
  @long "0.000" <> String.duplicate("1", 35)
  @bad [{@huge, :decimal_exponent}, {"-1E-1000000000", :decimal_exponent}, {@long, :decimal_digits}]

  defp refused(json, call) do
    Judge.same(json, [], fn engine ->
      assert {:error, %DecodeError{} = error} = call.(engine)
      {error.reason, error.position}
    end)
  end

  test "documents, parts, many documents and canonical text" do
    for {number, reason} <- @bad do
      exact = [floats: :decimals]
      json = ~s({"a":[#{number}],"b":{}})
      assert refused(json, &RustyJson.decode(json, exact ++ &1)) == {reason, 6}
      assert refused(json, &RustyJson.decode(json, [objects: :ordered_objects] ++ exact ++ &1)) == {reason, 6}
      assert refused(json, &RustyJson.decode(json, [raw: ["/a"]] ++ exact ++ &1)) == {reason, 6}
      assert refused(json, &RustyJson.decode(json, [raw: ["/b"]] ++ exact ++ &1)) == {reason, 6}
      assert refused(json, &RustyJson.fetch(json, "/a/0", exact ++ &1)) == {reason, 6}
      assert refused(json, &RustyJson.fetch(json, "/b", exact ++ &1)) == {reason, 6}
      assert refused(json, &hd(RustyJson.decode_many([json, "1"], exact ++ &1))) == {reason, 6}

      # Without decimals it is a float, or out of range for one.
      assert Judge.same(json, [], &match?({:ok, _}, RustyJson.decode(json, &1))) == (number != @huge)
      assert Judge.same(json, [], &match?({:ok, _}, RustyJson.canonicalize(json, &1))) == (number != @huge)
    end
  end

  test "types, also numbers in strings" do
    for {number, reason} <- @bad do
      for json <- ["[#{number}]", ~s(["#{number}"])] do
        assert refused(json, &RustyJson.decode(json, [as: [:decimal]] ++ &1)) == {reason, 1}
        assert refused(json, &RustyJson.decode(json, [as: [:decimal], errors: :all] ++ &1)) == {reason, 1}

        assert refused(json, &RustyJson.fetch(json, "/0", [as: :decimal, floats: :decimals] ++ &1)) ==
                 {reason, 1}
      end

      json = ~s({"sku":"a","quantity":1,"price":#{number}})
      assert refused(json, &RustyJson.decode(json, [as: Line] ++ &1)) == {reason, 32}

      assert refused(json, &RustyJson.decode(json, [as: {:map, :any}, floats: :decimals] ++ &1)) ==
               {reason, 32}
    end

    for json <- [String.duplicate("9", 35), "-" <> String.duplicate("9", 35)] do
      assert refused(json, &RustyJson.decode(json, [as: :decimal] ++ &1)) == {:decimal_digits, 0}
      assert {:ok, _} = Judge.same(json, [], &RustyJson.decode(json, [as: :integer] ++ &1))
    end

    long = String.duplicate("9", 60)
    unlimited = [as: :decimal, max_decimal_digits: :infinity, max_decimal_exponent: :infinity]
    nines = String.to_integer(long)
    assert Judge.same(long, [], &RustyJson.decode(long, unlimited ++ &1)) == {:ok, decimal(nines, 0)}

    assert Judge.same(@huge, [], &RustyJson.decode(@huge, unlimited ++ &1)) ==
             {:ok, decimal(1, 1_000_000_000)}

    # The type alone says which numbers it takes, also for a part of a document.
    for {number, exponent} <- [{"1e400", 400}, {@huge, 1_000_000_000}] do
      json = ~s({"a":#{number},"b":1e999,"c":#{String.duplicate("9", 2_000)}})

      assert Judge.same(json, [], &RustyJson.fetch(json, "/a", unlimited ++ &1)) ==
               {:ok, decimal(1, exponent)}

      assert Judge.same(json, [], &RustyJson.select(json, ["/a"], unlimited ++ &1)) ==
               {:ok, [decimal(1, exponent)]}

      assert refused(json, &RustyJson.fetch(json, "/a", [as: :float] ++ &1)) == {:number_out_of_range, 5}

      assert refused(json, &RustyJson.fetch(json, "/c", [as: :integer] ++ &1)) ==
               {:integer_digits, byte_size(json) - 2_001}
    end
  end

  test "streams, in pieces of any size, and partial documents" do
    for {number, reason} <- @bad, {_name, engine} <- Judge.engines() do
      for text <- ["[#{number}]\n", "#{number}\n"] do
        options = [format: :lines, floats: :decimals] ++ engine

        assert [error: %{reason: ^reason}] =
                 text |> RustyJson.decode_stream([on_error: :tag] ++ options) |> Enum.to_list()

        for size <- [1, 7] do
          feed = Feed.new(floats: :decimals, format: :lines)

          assert {:error, %{reason: ^reason}} =
                   Enum.reduce_while(Streams.pieces(text, size), feed, fn piece, feed ->
                     case Feed.push(feed, piece) do
                       {:ok, [], feed} -> {:cont, feed}
                       {:error, error, [], _feed} -> {:halt, {:error, error}}
                     end
                   end)
        end
      end

      assert {:error, %{reason: ^reason}} =
               RustyJson.decode_partial("[#{number},", [floats: :decimals] ++ engine)

      partial = Partial.new([floats: :decimals] ++ engine)
      assert {:error, %{reason: ^reason}} = Partial.push(partial, "[#{number},")
    end
  end

  test "the error names the limit" do
    message = &elem(RustyJson.decode(&1, [floats: :decimals] ++ &2), 1).message
    assert message.("1e7000", []) =~ "Decimal with an exponent beyond 6144 at position 0"
    assert message.("1e70", max_decimal_exponent: 60) =~ "Decimal with an exponent beyond 60 at"
    assert message.("1.23", max_decimal_digits: 2) =~ "Decimal with more than 2 digits at"
  end

  test "the limits are those of Decimal" do
    if Code.ensure_loaded?(Decimal) and function_exported?(Decimal, :parse, 2) do
      digits = &Enum.map_join(1..&1, fn _ -> Enum.random(~w(0 0 1 9)) end)

      for _ <- 1..2_000 do
        integer = Enum.random(["0", "1" <> digits.(Enum.random(1..40))])
        exponent = Enum.random([0, 6_100, 6_144, 6_145, 6_180, 99_999_999_999_999]) + Enum.random(-3..3)
        number = "#{integer}.#{digits.(Enum.random(1..40))}e#{Enum.random(["", "-"])}#{abs(exponent)}"
        limited = [max_digits: 34, max_exponent: 6_144]
        expected = with {decimal, ""} <- apply(Decimal, :parse, [number, limited]), do: {:ok, decimal}

        case RustyJson.decode(number, floats: :decimals) do
          {:ok, _} = decoded -> assert decoded == expected, number
          {:error, _} -> assert expected == :error, number
        end
      end
    end
  end

  test "encoding a decimal with a huge exponent is short" do
    for exponent <- [1_000_000_000, -1_000_000_000, 4_000_000_000_000, Integer.pow(10, 30)],
        term <- [decimal(1, exponent), %{"a" => [decimal(-15, exponent)]}],
        options <- [[], [max_bytes: 200], [pretty: true], [canonical: true], [sort_keys: true]] do
      assert {:ok, json} = Judge.encode(term, options)
      assert byte_size(json) < 200
    end

    assert {:error, %{reason: :max_bytes}} = Judge.encode(decimal(1, 1_000_000_000), max_bytes: 5)
  end

  defp decimal(coefficient, exponent),
    do: %{
      __struct__: Decimal,
      sign: if(coefficient < 0, do: -1, else: 1),
      coef: abs(coefficient),
      exp: exponent
    }
end
