defmodule RustyJson.TermsInPlaceTest do
  @moduledoc "Terms that the native engine reads and writes directly in memory, compared with those of the VM's functions."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Engine.Native
  alias RustyJson.Test.{Judge, OtherVM, Shapes}

  @moduletag timeout: 300_000

  setup_all do
    if Native.loaded?(), do: :ok, else: {:skip, "there is no native engine"}
  end

  test "the layout of terms is the known one here, and terms are read and written in place" do
    assert {:ok, %{in_place: true}} = Native.status()
  end

  test "with RUSTYJSON_IN_PLACE=false the VM's functions are asked, and give the same" do
    code = """
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    {:ok, %{in_place: in_place}} = RustyJson.Engine.Native.status()
    IO.puts("in place: \#{in_place}, " <> RustyJson.Test.Shapes.digest())
    """

    asked = OtherVM.run(code, [], [{"RUSTYJSON_IN_PLACE", "false"}])
    assert asked == {"in place: false, #{Shapes.digest()}\n", 0}
  end

  test "structs are the same without" do
    json = ~s([{"sku": "a", "quantity": 1, "price": 1.50}, {"quantity": 2, "x": [], "sku": "b"}])

    code = """
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    {:ok, lines} = RustyJson.decode(~S'#{json}', as: [RustyJson.Test.Schemas.Line])
    IO.write(:erlang.phash2(lines))
    """

    {:ok, lines} = RustyJson.decode(json, as: [RustyJson.Test.Schemas.Line])
    assert OtherVM.run(code, [], [{"RUSTYJSON_IN_PLACE", "false"}]) == {"#{:erlang.phash2(lines)}", 0}
  end

  test "terms of every shape have the same JSON, or the same error, in every engine" do
    for term <- Shapes.terms(), more <- [[], [pretty: true], [sort_keys: true]] do
      results = for {_, options} <- Judge.engines(), do: comparable(RustyJson.encode(term, options ++ more))
      assert [_] = Enum.uniq(results), "#{inspect(term)}: #{inspect(results)}"
    end
  end

  defp comparable({:error, error}), do: {error.__struct__, Map.get(error, :path), Exception.message(error)}
  defp comparable(done), do: done

  test "decoded terms are what they would be if the VM had made them, also after collections and in other processes" do
    for json <- Shapes.documents(), {:ok, term} <- [RustyJson.decode(json, engine: :native)] do
      made = :erlang.binary_to_term(:erlang.term_to_binary(term))
      assert term === made
      assert hash(term) == hash(made)
      same_maps(term)
      :erlang.garbage_collect()
      assert term === made
      assert Task.await(Task.async(fn -> term end)) === made
    end
  end

  defp hash(term), do: {:erlang.phash2(term), :erlang.term_to_binary(term)}

  # Every key is found, and updating these maps gives the maps that the VM makes itself.
  defp same_maps(%{} = map) do
    pairs = Map.to_list(map)
    for {key, value} <- pairs, do: assert(Map.fetch!(map, key) === value)
    assert Enum.reduce(pairs, %{}, fn {key, value}, made -> Map.put(made, key, value) end) === map
    for {key, _} <- pairs, do: assert(map_size(Map.delete(map, key)) == map_size(map) - 1)
    for {key, _} <- pairs, do: assert(Map.put(map, key, :new)[key] == :new)
    assert map_size(Map.put(map, :another, 1)) == map_size(map) + 1
    for {_, value} <- pairs, do: same_maps(value)
  end

  defp same_maps(list) when is_list(list), do: Enum.each(list, &same_maps/1)
  defp same_maps(_scalar), do: :ok

  test "objects of one shape share their keys" do
    json = "[" <> Enum.map_join(1..100, ",", fn i -> ~s({"one":#{i},"two":2,"three":3}) end) <> "]"
    term = RustyJson.decode!(json, engine: :native)
    # Each map has 3 words and its values, each cell 2; a tuple of keys has 4, and the keys 3 each.
    assert :erts_debug.size(term) < 100 * 8 + 50
    assert :erts_debug.flat_size(term) >= 100 * 12
  end

  test "a process that decodes again and again collects as usual" do
    json = Enum.find(Shapes.documents(), &(byte_size(&1) > 4000))
    term = RustyJson.decode!(json, engine: :native)
    # A VM can start each process with more.
    {:min_heap_size, least} = :erlang.system_info(:min_heap_size)
    most = max(1_000_000, 2 * least)

    Task.async(fn ->
      for round <- 1..500 do
        assert RustyJson.decode!(json, engine: :native) === term
        if rem(round, 50) == 0, do: :erlang.garbage_collect()
      end

      assert Process.info(self(), :total_heap_size) |> elem(1) < most
    end)
    |> Task.await(60_000)
  end
end
