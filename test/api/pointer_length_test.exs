defmodule RustyJson.PointerLengthTest do
  @moduledoc "Long pointers, which applications pass on from users, and deep types: linear time, and a limit with a name."
  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Schema
  alias RustyJson.Test.{Heap, Judge}

  @most 65_535
  @json ~s({"a":{"a":1}})

  # Each call that takes a pointer, of this many tokens.
  defp calls(tokens, engine) do
    pointer = String.duplicate("/a", tokens)

    [
      fetch: fn -> RustyJson.fetch(@json, pointer, engine) end,
      select: fn -> RustyJson.select(@json, %{x: pointer}, engine) end,
      raw: fn -> RustyJson.decode(@json, [raw: [pointer]] ++ engine) end,
      any: fn -> RustyJson.decode(@json, [raw: [String.replace(pointer, "a", "*")]] ++ engine) end,
      stream: fn -> @json |> RustyJson.decode_stream([at: pointer] ++ engine) |> Enum.to_list() end,
      redact: fn -> RustyJson.encode(%{"a" => 1}, [redact: [pointer]] ++ engine) end
    ]
  end

  @tag timeout: 120_000
  @tag :time
  test "a pointer takes time in proportion to its length" do
    for {name, engine} <- Judge.engines() do
      for {call, run} <- calls(@most, engine) do
        # A quadratic one took 3 s for 16,000 tokens, which is 50 s for these.
        {time, _result} = :timer.tc(run)
        assert {name, call, time < 4_000_000} == {name, call, true}, "#{call}: #{div(time, 1000)} ms"
      end
    end
  end

  test "a longer one is refused, and the error is short" do
    for {_, engine} <- Judge.engines(), {_call, run} <- calls(@most + 1, engine) do
      error = assert_raise ArgumentError, run
      assert error.message =~ "a JSON Pointer of at most 65535 tokens"
      assert byte_size(error.message) < 200
    end
  end

  test "one of a megabyte is refused before its tokens are made" do
    pointer = String.duplicate("/", 1_000_000)
    Heap.within(100_000, fn -> assert_raise ArgumentError, fn -> RustyJson.fetch(@json, pointer) end end)
  end

  test "a token of a megabyte, in a pointer and in what changes, without a list of what is escaped" do
    key = String.duplicate("~/", 500_000)
    token = String.duplicate("~0~1", 500_000)
    json = RustyJson.encode!(%{key => [1]})
    start = binary_part(json, 0, byte_size(json) - 2)

    for {_, engine} <- Judge.engines() do
      Heap.within(1_000_000, fn ->
        assert RustyJson.fetch(json, "/" <> token, engine) == {:ok, [1]}
        assert RustyJson.fetch(json, "/" <> token <> "~0", engine) == :error
        {:ok, changes, _partial} = engine |> RustyJson.Partial.new() |> RustyJson.Partial.push_changes(start)
        # Without an `assert` of the text, which a failure would show.
        true = List.keymember?(changes, "/" <> token, 0)
      end)
    end
  end

  test "plans of many pointers are those of one walk" do
    pointers = for a <- 0..20, b <- ["x", "y/z", "~"], c <- 0..3, do: ["r#{a}", b, "#{c}"]
    document = Enum.reduce(pointers, %{}, fn [a, b, c], all -> put(all, [a, b, c], a <> b <> c) end)
    texts = Enum.map(pointers, &Enum.map_join(&1, fn token -> "/" <> escaped(token) end))
    json = RustyJson.encode!(document)

    for {_, engine} <- Judge.engines() do
      assert RustyJson.select(json, texts, engine) == {:ok, Enum.map(pointers, &Enum.join/1)}
      {:ok, decoded} = RustyJson.decode(json, [raw: texts] ++ engine)
      assert decoded["r20"]["y/z"]["3"].encode == ~s("r20y/z3")
    end
  end

  defp put(map, [key], value), do: Map.put(map, key, value)
  defp put(map, [key | keys], value), do: Map.put(map, key, put(Map.get(map, key, %{}), keys, value))

  defp escaped(token), do: token |> String.replace("~", "~0") |> String.replace("/", "~1")

  test "a deep type is refused" do
    deep = fn levels -> Enum.reduce(1..levels, :integer, fn _, type -> {:list, type} end) end
    assert {:error, %{reason: :type}} = RustyJson.decode("[1]", as: deep.(255))

    assert_raise ArgumentError, ~r/deeper than 256 levels/, fn ->
      RustyJson.decode("[1]", as: deep.(10_000))
    end

    assert_raise ArgumentError, ~r/deeper/, fn -> Schema.Type.check!([deep.(300)]) end
  end
end
