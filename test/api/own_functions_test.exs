defmodule RustyJson.OwnFunctionsTest do
  @moduledoc "What the application gives a call in the wrong form is named, and lists of many parts take time in proportion."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Measure

  alias RustyJson.OrderedObject
  alias RustyJson.Test.{Clock, Judge}

  test "empty parts of iodata are no bytes" do
    parts = [List.duplicate("", 5_000), "1"]

    for {_name, engine} <- Judge.engines() do
      options = [max_bytes: 100] ++ engine
      assert RustyJson.encode(RustyJson.Fragment.new(fn _ -> parts end), options) == {:ok, "1"}
      assert RustyJson.encode(RustyJson.Fragment.new(parts), options) == {:ok, "1"}
      assert RustyJson.decode(parts, options) == {:ok, 1}
    end
  end

  test "many wrong parts of a document take time in proportion to their number" do
    for {_name, engine} <- Judge.engines() do
      select = fn count ->
        json = "[" <> Enum.map_join(1..count, ",", fn _ -> ~s("x") end) <> "]"
        pointers = RustyJson.Paths.new!(for number <- 0..(count - 1), do: "/#{number}")

        fn ->
          assert {:error, %{error_count: ^count}} =
                   RustyJson.select(json, pointers, [as: :integer, errors: :all] ++ engine)
        end
      end

      # In proportion it is 16 times, and 3 times that with the collections of a larger heap. The square would be 256 times.
      Clock.ratio(64, select.(20_000), select.(1_250))
    end
  end

  # Jason looks keys up with `:lists.keyfind/3`, for which 1 and 1.0 are equal, and changes members with a pattern, for which they are not.
  test "Access of an ordered object has numbers as keys as Jason has them" do
    object = OrderedObject.new([{1, :a}, {1.0, :b}, {2, :c}])
    assert object[1.0] == :a
    assert OrderedObject.pop(object, 1.0) === {:a, OrderedObject.new([{1, :a}, {2, :c}])}
    assert OrderedObject.pop(object, 3) == {nil, object}

    assert OrderedObject.get_and_update(object, 1.0, &{&1, :new}) ===
             {:b, OrderedObject.new([{1, :a}, {1.0, :new}, {2, :c}])}
  end

  test "improper lists, and lists of pairs, are named" do
    for {run, message} <- [
          {fn -> RustyJson.select("{}", ["/a" | "/b"]) end,
           "select takes a list or a map of JSON Pointers, got: "},
          {fn -> RustyJson.select("{}", a: "/a") end,
           "select takes a list or a map of JSON Pointers, got: [a: \"/a\"]"},
          {fn -> RustyJson.decode_stream([], select: ["/a" | "/b"]) end,
           "option :select takes a list or a map"},
          {fn -> RustyJson.decode("1", raw: ["/a" | "/b"]) end,
           "option :raw takes a list of JSON Pointers, got: "},
          {fn -> RustyJson.decode("1", as: {:enum, [:a | :b]}) end, "unknown type {:enum, [:a | :b]}"}
        ] do
      assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, run
    end
  end

  test "what is pushed and is not iodata is named" do
    for {_engine, options} <- Judge.engines(),
        input <- [nil, :text, ["[1", nil], ["[1" | :text], [256], <<1::3>>] do
      message = "a piece of text must be iodata, got: #{inspect(input)}"

      for run <- [
            fn -> options |> RustyJson.Partial.new() |> RustyJson.Partial.push(input) end,
            fn -> options |> RustyJson.Partial.new() |> RustyJson.Partial.push_changes(input) end,
            fn ->
              [max_bytes: 100]
              |> Keyword.merge(options)
              |> RustyJson.Partial.new()
              |> RustyJson.Partial.push(input)
            end,
            fn -> RustyJson.decode_partial(input, options) end,
            fn -> options |> RustyJson.Feed.new() |> RustyJson.Feed.push(input) end,
            fn ->
              [max_total_bytes: 100]
              |> Keyword.merge(options)
              |> RustyJson.Feed.new()
              |> RustyJson.Feed.push(input)
            end
          ] do
        assert_raise ArgumentError, message, run
      end
    end

    for input <- [nil, ["data: 1", nil]] do
      assert_raise ArgumentError, "a piece of text must be iodata, got: #{inspect(input)}", fn ->
        RustyJson.ServerSentEvents.push(RustyJson.ServerSentEvents.new(), input)
      end
    end
  end

  # The message alone would be there for a piece of any kind, and a function that reads nothing would raise for none.
  test "a piece that is iodata is read, all of it or as much as the function takes" do
    for input <- ["[1]", [?[, "1", [] | "]"], ["[", [[?1]], "]"]] do
      assert Input.piece!(input) == "[1]"
      assert Input.piece!(input, &Measure.bytes(&1, 2)) == {"[1", true}
      assert Input.piece!(input, &Measure.bytes(&1, 3)) == {"[1]", false}
    end

    # An error of the function that is no error of its argument stays what it is.
    assert_raise KeyError, fn -> Input.piece!("", fn _ -> raise KeyError, key: :a, term: %{} end) end
  end
end
