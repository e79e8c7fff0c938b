defmodule RustyJson.DigitsTest do
  @moduledoc "Integers that are too long for `max_bytes` are refused before they are turned into digits, which takes more than linear time."

  use ExUnit.Case, async: true

  @moduletag :once

  import Bitwise

  alias RustyJson.{Encode, Fragment, OrderedObject}
  alias RustyJson.Test.Judge

  # Its digits take a third of a second natively, and OTP 25 nine seconds.
  @bits 1_600_000
  @limit [max_bytes: 65_536]

  for {name, engine} <- Judge.engines() do
    test "#{name}: what cannot fit is refused at once" do
      huge = 1 <<< @bits
      decimal = %{__struct__: Decimal, sign: 1, coef: huge, exp: 0}

      for term <- [
            huge,
            -huge,
            [1, %{a: huge}],
            %{huge => 1},
            %{~D[2024-02-29] => huge},
            %{{} => huge, 1 => huge},
            OrderedObject.new([{huge, 1}]),
            decimal,
            %{decimal | exp: -7},
            %{decimal | exp: 1 <<< 70},
            %{decimal => 1},
            Fragment.new(&Encode.value(huge, &1))
          ],
          more <- [[], [sort_keys: true], [integers: :js_safe], [unsupported: :inspect]] do
        # Keys that are tuples have no text.
        more = if is_map(term) and is_map_key(term, {}), do: [unsupported: :inspect], else: more
        {micros, result} = :timer.tc(fn -> RustyJson.encode(term, @limit ++ more ++ unquote(engine)) end)
        assert {:error, %{reason: :max_bytes}} = result
        assert micros < 1_000_000
      end
    end

    test "#{name}: a key that only Elixir knows does not have the digits of those beside it made" do
      huge = 1 <<< @bits

      for options <- [[redact: ["x"]], [key_case: :camel], [sort_keys: true], [maps: :strict]] do
        term = Map.new(1..40, &{&1, 1}) |> Map.merge(%{huge => 1, ~c"k" => 2})

        {micros, result} = :timer.tc(fn -> RustyJson.encode(term, @limit ++ options ++ unquote(engine)) end)

        assert {:error, %{reason: :max_bytes}} = result
        assert micros < 1_000_000

        assert {:ok, text} = RustyJson.encode(%{1 => 1, -2.5 => 3, ~c"k" => 2}, options ++ unquote(engine))
        assert RustyJson.decode!(text) == %{"1" => 1, "-2.5" => 3, "k" => 2}
      end
    end

    test "#{name}: what fits is written" do
      for bits <- [64, 65, 100, 1_000, 10_000], sign <- [1, -1], more <- [0, -1] do
        integer = sign * ((1 <<< bits) + more)
        text = Integer.to_string(integer)
        assert RustyJson.encode(integer, [max_bytes: byte_size(text)] ++ unquote(engine)) == {:ok, text}
        assert {:error, _} = RustyJson.encode(integer, [max_bytes: byte_size(text) - 1] ++ unquote(engine))
        object = ~s({"#{text}":0})

        assert RustyJson.encode(%{integer => 0}, [max_bytes: byte_size(object)] ++ unquote(engine)) ==
                 {:ok, object}

        # What is left out takes no room.
        assert RustyJson.encode(%{integer => nil}, [max_bytes: 2, omit: [nil]] ++ unquote(engine)) ==
                 {:ok, "{}"}
      end
    end

    # The digits of such a key took 8 seconds, whatever the limits.
    @tag :time
    test "#{name}: keys that are gathered or left out are held to the limits, too" do
      for bits <- [1_000_000, 4_000_000], more <- [[omit: [nil]], [omit: [nil], sort_keys: true]] do
        call = fn value ->
          RustyJson.encode(%{(1 <<< bits) => value}, [max_bytes: 1_000] ++ more ++ unquote(engine))
        end

        assert {micros, {:error, %{reason: :max_bytes}}} = :timer.tc(fn -> call.(1) end)
        assert micros < 500_000
        assert {micros, {:error, %{reason: :max_bytes}}} = :timer.tc(fn -> call.(nil) end)
        assert micros < 500_000
      end

      # A key that fits is written, whatever its digits cost.
      fits = 1 <<< 524_287
      text = ~s({"#{RustyJson.encode!(fits)}":1})

      for more <- [[omit: [nil]], [omit: [nil], sort_keys: true]] do
        options = [max_bytes: byte_size(text)] ++ more ++ unquote(engine)
        assert RustyJson.encode(%{fits => 1}, options) == {:ok, text}
        # Left out again and again it is more work than a text of this length may cost.
        assert {:error, %{reason: :max_bytes}} =
                 RustyJson.encode(List.duplicate(%{fits => nil}, 1_000), options)
      end

      long = 1 <<< 100_000
      text = ~s({"#{long}":1})

      for more <- [[omit: [nil]], [sort_keys: true], [omit: [nil], sort_keys: true, max_bytes: 100_000]] do
        assert RustyJson.encode(%{long => 1}, more ++ unquote(engine)) == {:ok, text}
      end
    end
  end

  for {name, engine} <- Judge.engines(), engine[:engine] == :wasm do
    test "#{name}: the digits of a key end with the call's time" do
      for more <- [[sort_keys: true], [omit: [nil]], [omit: [nil], sort_keys: true]] do
        call = fn ->
          RustyJson.encode(%{(1 <<< 4_000_000) => 1}, [timeout: 200] ++ more ++ unquote(engine))
        end

        assert {micros, {:error, %{reason: :timeout}}} = :timer.tc(call)
        assert micros < 800_000
      end
    end
  end
end
