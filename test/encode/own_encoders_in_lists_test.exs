defmodule RustyJson.OwnEncodersInListsTest do
  @moduledoc "Structs with an encoder of their own at the start of a list."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  describe "structs with an encoder of their own at the start of a list" do
    defmodule Price do
      defstruct [:amount]
    end

    defimpl RustyJson.Encoder, for: Price do
      def encode(%{amount: amount}, options), do: RustyJson.Encode.value(amount, options)
    end

    defmodule Named do
      @derive RustyJson.Encoder
      defstruct [:name]
    end

    defp price(amount), do: %Price{amount: amount}

    test "are written like other structs" do
      for {term, text} <- [
            {[price(1)], "[1]"},
            {[price(1), price([2, price(3)])], "[1,[2,3]]"},
            {[price(1), 2, price(3), "a"], ~s([1,2,3,"a"])},
            {[price(1), %Named{name: price(2)}, price(3)], ~s([1,{"name":2},3])},
            {[price(1), ~D[2024-02-29], %{a: [price(2)]}], ~s([1,"2024-02-29",{"a":[2]}])},
            {[price([price([price(nil)])])], "[[[null]]]"},
            {price([price(1), %Price{amount: %{}}]), "[1,{}]"}
          ] do
        for options <- [[], [escape: :html_safe], [sort_keys: true], [compress: :gzip], [max_bytes: 1_000]] do
          expected = RustyJson.encode!(RustyJson.Fragment.new(text), options)
          assert Judge.encode(term, options) == {:ok, expected}
        end

        assert Judge.encode(term, pretty: true) == {:ok, RustyJson.Formatter.pretty_print(text)}
      end
    end

    test "have errors with their paths" do
      for {term, path} <- [
            {[price(1), price(<<255>>)], "/1"},
            {[price(1), price([2, <<255>>])], "/1/1"},
            {[price(1), 2, <<255>>], "/2"},
            {[price(1), 2, [price(<<255>>)]], "/2/0"},
            {[price(1), %Named{name: [<<255>>]}], "/1/name/0"},
            {%{a: [price(1), [price([price(<<255>>)])]]}, "/a/1/0/0"}
          ] do
        assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8, path: ^path}} = Judge.encode(term)
      end

      for term <- [[price(1) | 2], [price(1), 3 | 2], [price(1), price(2) | price(3)]],
          do: assert({:error, %RustyJson.EncodeError{reason: :improper_list}} = Judge.encode(term))

      assert {:ok, "[1]"} = Judge.encode([price(1)], max_depth: 1)
      assert {:error, %RustyJson.EncodeError{reason: :max_depth}} = Judge.encode([price([2])], max_depth: 1)
      assert {:error, %RustyJson.EncodeError{reason: :max_depth}} = Judge.encode([[price(2)]], max_depth: 1)
    end

    test "an error deep inside takes linear time" do
      deep = Enum.reduce(1..60, price(<<255>>), fn _, inner -> price([inner]) end)
      assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8}} = Judge.encode([deep])
    end
  end
end
