defmodule RustyJson.BoundedMessagesTest do
  @moduledoc "Messages and descriptions of terms that hold the same part many times are short, and keys become texts only as far as there is room."

  use ExUnit.Case, async: true

  import RustyJson.Test.Shared, only: [in_time: 2, in_time: 3, shared: 0]

  alias RustyJson.{EncodeError, Fragment, OrderedObject, Paths}
  alias RustyJson.Encode.{Measure, Unsupported}
  alias RustyJson.Test.{Judge, Structs}

  defmodule Key do
    defstruct [:number]

    defimpl String.Chars do
      def to_string(%{number: number}) do
        Process.put(Key, Process.get(Key, 0) + 1)
        String.duplicate("k", 100) <> "#{number}"
      end
    end
  end

  defmodule Long do
    defstruct []
    defimpl(Inspect, do: def(inspect(_, _), do: String.duplicate("é", 1_000_000)))
  end

  # `inspect/2` of a term that holds a part many times has no end.
  test "messages about a struct without an encoder" do
    term = fn -> %Structs.Bare{name: shared()} end

    for {_, engine} <- Judge.engines() do
      [told, explained] =
        in_time(2_000, term, fn term ->
          {:error, %{reason: :unsupported, message: told}} = :rustyjson.encode(term, engine)
          {:error, error} = RustyJson.encode(term, engine)
          [told, RustyJson.DecodeError.explain(error)]
        end)

      assert told == explained
      assert told =~ "protocol RustyJson.Encoder not implemented for %RustyJson.Test.Structs.Bare{"
      assert byte_size(told) < 10_000
    end

    {:error, message: message} = in_time(2_000, term, &RustyJson.EctoType.cast(&1, %{column: :text}))
    assert message =~ "cannot be stored as JSON: protocol RustyJson.Encoder not implemented for %"
  end

  # All of them were made before the limit was looked at.
  test "texts of keys" do
    keys = for number <- 1..100, do: %Key{number: number}
    texts = Map.new(keys, &{to_string(&1), 1})

    for {_, engine} <- Judge.engines(),
        options <- [[], [sort_keys: true], [maps: :strict], [omit: [nil]], [redact: ["/a"]]],
        options = [max_bytes: 2_000] ++ options ++ engine,
        object <- [Map.new(keys, &{&1, 1}), OrderedObject.new(Enum.map(keys, &{&1, 1}))] do
      Process.delete(Key)
      assert RustyJson.encode([object], options) == RustyJson.encode([texts], options)
      assert Process.get(Key) in 1..20
    end
  end

  test "texts of keys that have room, and those of members that are left out" do
    [written, left_out] = for value <- [1, nil], do: Map.new(1..20, &{%Key{number: &1}, value})

    for {_, engine} <- Judge.engines(), options <- [[sort_keys: true], [omit: [nil]], [maps: :strict]] do
      {:ok, text} = RustyJson.encode(written, options ++ engine)
      assert RustyJson.encode(written, [max_bytes: byte_size(text)] ++ options ++ engine) == {:ok, text}
    end

    assert RustyJson.encode(left_out, max_bytes: 2, omit: [nil]) == {:ok, "{}"}
  end

  test "unsupported: :inspect writes a bounded text" do
    for {_, engine} <- Judge.engines() do
      text = fn term ->
        in_time(3_000, fn -> RustyJson.encode!(term.(), [unsupported: :inspect] ++ engine) end)
      end

      assert byte_size(text.(fn -> [%Long{}] end)) < 8_300
      assert byte_size(text.(fn -> %{%Long{} => 1} end)) < 8_300
      assert text.(fn -> [[1 | 2]] end) == ~s(["[1 | 2]"])
    end
  end

  test "what is described is a part of a term" do
    for term <- [
          fn -> shared() end,
          fn -> MapSet.new([shared()]) end,
          fn -> %URI{path: shared()} end,
          fn -> %RuntimeError{message: shared()} end,
          fn ->
            {1, shared() |> List.duplicate(100_000) |> Enum.with_index() |> Map.new(fn {t, n} -> {n, t} end)}
          end,
          fn -> List.duplicate(shared(), 100_000) end,
          fn -> [Integer.pow(7, 100_000) | 1] end,
          fn -> String.duplicate("x", 10_000_000) end
        ] do
      text = in_time(5_000, term, &Unsupported.describe/1)
      assert byte_size(text) < 9_000
      assert String.valid?(text)

      message = in_time(5_000, term, &EncodeError.new({:invalid_struct, %{~D[2024-02-29] | day: &1}}).message)
      assert byte_size(message) < 9_000
    end

    assert Unsupported.describe(%{"a" => [1, {2}], "b" => "x"}) == ~s(%{"a" => [1, {2}], "b" => "x"})
    assert Unsupported.describe(Enum.to_list(1..100)) =~ ~r/^\[1, 2, .*16, \.\.\.\]$/
  end

  # `inspect/2` shows every digit, however few elements it shows, in quadratic time.
  test "messages about what is no option, no iodata or no pointer" do
    calls = [
      &RustyJson.encode(%Fragment{encode: fn _ -> &1 end}, []),
      &RustyJson.encode(1, pretty: [&1]),
      &RustyJson.encode(1, redact: [[&1]]),
      &RustyJson.encode(1, %{{:a, &1} => 1}),
      &RustyJson.decode("1", [&1]),
      &RustyJson.decode("1", max_bytes: [&1]),
      &RustyJson.decode("1", unknown_options: [&1]),
      &RustyJson.decode("[]", "", array_finish: fn _, _ -> [&1] end),
      &RustyJson.decode_many(&1),
      &RustyJson.decode_many([{&1}]),
      &RustyJson.decode_partial("1", lenient: [&1]),
      &RustyJson.fetch("1", &1),
      &RustyJson.select("1", &1),
      &RustyJson.LogFormatter.new(metadata: [&1]),
      &RustyJson.Schema.json_schema({&1})
    ]

    for part <- [fn -> Bitwise.bsl(1, 2_000_000) end, fn -> {shared(), 1} end], call <- calls do
      message =
        in_time(2_000, part, fn part ->
          try do
            {:error, error} = call.(part)
            Exception.message(error)
          rescue
            error in ArgumentError -> error.message
          end
        end)

      assert message =~ "..."
      assert byte_size(message) < 2_000
    end
  end

  test "sizes" do
    assert Measure.fits?([1, {2, %{a: "xy"}} | :b], 8, 2)
    refute Measure.fits?([1, {2, %{a: "xy"}} | :b], 5, 2)
    refute Measure.fits?([1, {2, %{a: "xy"}} | :b], 8, 1)
    refute Measure.fits?(Integer.pow(7, 1_000), 8, 100)
    assert Measure.text?(["ab", [?c | "d"]], 4)
    refute Measure.text?(["ab", [?c | "d"]], 3)
    assert Measure.bytes(["abc", [?d | "efg"]], 5) == {"abcde", true}
    assert Measure.bytes("abcdefg", 5) == {"abcde", true}
    assert Measure.text([?é, ["x" | "ü"]], 9) == {:ok, "éxü"}
    assert Measure.text(["éé"], 3) == {:cut, "é"}
    assert Measure.text([?a | :b], 9) == :error
  end

  test "inspect of what users hold is one short line" do
    for term <- [
          Paths.new!(for(n <- 1..1_000, do: "/key#{n}")),
          RustyJson.Feed.new(at: "/" <> String.duplicate("/a", 1_000)),
          RustyJson.Partial.new(),
          RustyJson.Encode.opts(),
          RustyJson.Schema.Shape.of({:list, {:enum, for(n <- 1..500, do: :"enum_name_#{n}")}})
        ] do
      text = inspect(term)
      assert byte_size(text) < 200
      assert text =~ ~r/^#RustyJson\.[\w.]+<.*>$/
    end
  end
end
