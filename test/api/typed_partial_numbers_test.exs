defmodule RustyJson.TypedPartialNumbersTest do
  @moduledoc "Typed documents that are looked at before they are complete: numbers beyond the limits, and what a piece has cut."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.TypedPartials, only: [check: 3, check: 4]

  alias RustyJson.{DecodeError, Partial}
  alias RustyJson.Test.{Judge, Streams}
  alias RustyJson.Test.Schemas.{Leaf, Line, Twig}

  @moduletag timeout: 3_600_000

  defmodule Dog do
    @moduledoc false
    use RustyJson.Schema, rename: :camel, encoder: false

    schema do
      field(:good_boy, :boolean)
      field(:tags, {:map, :float}, default: %{})
    end
  end

  defmodule Cat do
    @moduledoc false
    use RustyJson.Schema, encoder: false

    schema do
      field(:name, :string)
    end
  end

  @tree {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}

  describe "numbers" do
    # Where they exceed a limit: with their last byte, or with the byte behind them.
    @beyond [
      {"1e999", "", [], :number_out_of_range},
      {"-123e308", "", [], :number_out_of_range},
      {"1" <> String.duplicate("0", 1024), ",", [], :integer_digits},
      {"12345", ",", [decoding_integer_digit_limit: 4], :integer_digits},
      {"12345", "", [decoding_integer_digit_limit: 4, floats: :decimals], :integer_digits},
      {"1.2345", "", [max_decimal_digits: 4, floats: :decimals], :decimal_digits},
      {"1e10", "", [max_decimal_exponent: 9, floats: :decimals], :decimal_exponent},
      {"1e-1000000000000000", ",", [max_decimal_exponent: :infinity, floats: :decimals], :number_out_of_range}
    ]

    test "of members without a field have the limits of decode/2" do
      for {number, behind, options, reason} <- @beyond, before <- [~S({"x":), ~S({"sku":"a","x":[{"y":)] do
        text = before <> number <> if(before =~ "[", do: "}]}", else: "}")
        check(text, Line, options)
        check(~s([#{text}]), [Line], [duplicate_keys: :first] ++ options)
        check(~S({"t":"leaf",) <> String.trim_leading(text, "{"), @tree, [repeats: true] ++ options)
        check(String.trim_trailing(text, "}") <> ~S(,"t":"leaf"}), @tree, [repeats: true] ++ options)

        for {_name, engine} <- Judge.engines(), type <- [Line, {:map, :any}, {:map, :raw}] do
          pushed = push_pieces(Streams.bytes(before <> number <> behind), [as: type] ++ options ++ engine)
          assert {:error, %DecodeError{reason: ^reason}} = pushed
        end
      end
    end

    test "have the limits of their types, in front of a tag, too" do
      for {text, type, options} <- [
            {~S({"price":1e999,"sku":"a","quantity":1}), Line, []},
            {~S({"price":1e-6000,"sku":"a","quantity":1}), Line, max_nodes: 100},
            {~S({"price":1e999,"sku":"a","quantity":1}), Line, duplicate_keys: :error},
            {~S({"price":1e999,"t":"line","sku":"a","quantity":1}), {:tagged, "t", %{"line" => Line}}, []},
            {~S({"tags":{"a":1e-9999},"t":"dog","goodBoy":true}), {:tagged, "t", %{"dog" => Dog}},
             floats: :decimals},
            {~S({"a":1,"a":1e999,"b":[]}), {:map, {:nullable, :decimal}}, duplicate_keys: :first},
            {~S({"a":{"b":[1e999],"b":[2e999]}}), {:map, {:map, [:decimal]}}, duplicate_keys: :first},
            {~S([1e-9999,1.) <> String.duplicate("1", 2_000) <> "]", [:float], floats: :decimals}
          ] do
        check(text, type, [repeats: true] ++ options)

        if type != {:map, {:nullable, :decimal}},
          do: assert({:ok, _} = RustyJson.decode(text, [as: type] ++ options))
      end

      for {text, type} <- [{"[1e310", [:float]}, {"[1e310", [{:nullable, :number}]}, {"[1e7000", [:decimal]}],
          floats <- [:native, :decimals],
          {_name, engine} <- Judge.engines() do
        assert {:error, %DecodeError{}} =
                 push_pieces(Streams.bytes(text), [as: type, floats: floats] ++ engine)
      end
    end

    test "may have exponents of any length" do
      for number <-
            ~w(1e-1000000000000000 1e-0000000000000000005 0e99999999999999999 -0.0E-99999999999999999999
              1e0000000000000000000000002 1.5e+00000000000000000001),
          text = ~s({"a":#{number},"b":[#{number}]}),
          floats <- [:native, :decimals],
          options = [floats: floats, max_decimal_exponent: :infinity] do
        for type <- [:any, Dog, {:map, {:nullable, :raw}}, {:tagged, "t", %{"dog" => Dog}}],
            do: check(text, type, options)

        check("[#{number}]", [:float], options)
        check("[#{number}]", [:decimal], options)

        for {_name, engine} <- Judge.engines(),
            as <- [nil, :any, :raw],
            pieces <- [[text], Streams.bytes(text)] do
          options = [as: as] ++ options ++ engine
          streamed = RustyJson.decode_stream(pieces, [on_error: :tag] ++ options) |> Enum.map(&outcome/1)
          assert streamed == [outcome(RustyJson.decode(text, options))]
        end
      end
    end
  end

  defp outcome({:error, error}), do: {error.reason, error.position, error.path}
  defp outcome(result), do: result

  defp push_pieces(pieces, options) do
    Enum.reduce_while(pieces, {:ok, Partial.new(options)}, fn piece, {:ok, partial} ->
      with {:error, _error} = failed <- Partial.push(partial, piece),
           do: {:halt, failed},
           else: (pushed -> {:cont, pushed})
    end)
  end

  test "what a piece has cut is no error while the tag of a struct may come again" do
    digits = String.duplicate("1", 40)

    values = [
      "\"é\"",
      "\"😀\"",
      ~S("\ud83d\ude00"),
      ~S("\u00e9\n"),
      "-12.5e-10",
      "true",
      "null",
      "1e400e",
      ~S("\ud83d"),
      "\"\xF0\x9F\"",
      "1.x"
    ]

    pet = {:tagged, "kind", %{"dog" => Dog, "cat" => Cat}}

    for value <- [digits <> "e-39" | values],
        start <- [
          ~S("goodBoy":1,"x":),
          ~S("tags":{"a":["x"]},"x":),
          ~S("goodBoy":true,"tags":{"a":),
          ~S("tags":{"a":[)
        ] do
      closing =
        String.duplicate("]", length(String.split(start, ":[")) - 1) <>
          String.duplicate("}", length(String.split(start, ":{")) - 1)

      closing = if String.ends_with?(start, ~S("x":)), do: "", else: closing
      text = ~s({"kind":"dog",#{start}#{value}#{closing},"kind":"cat","name":"é"})

      for type <- [pet, [pet]] do
        text = if type == pet, do: text, else: "[" <> text <> "]"

        halves =
          for at <- 1..(byte_size(text) - 1),
              do: [binary_part(text, 0, at), binary_part(text, at, byte_size(text) - at)]

        options = [repeats: true, decoding_integer_digit_limit: 30]
        check(text, type, options, [[text], Streams.bytes(text) | halves])
      end
    end
  end
end
