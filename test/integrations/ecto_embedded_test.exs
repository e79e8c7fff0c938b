defmodule RustyJson.EctoEmbeddedTest do
  @moduledoc "Embedded schemas of the real Ecto as types, judged against `Ecto.embedded_load/3` on what `RustyJson.decode/2` returns."

  use ExUnit.Case, async: true

  alias RustyJson.DecodeError
  alias RustyJson.Test.{Gen, Judge}
  alias RustyJson.Test.EctoSchemas.{Item, Order}

  @compile {:no_warn_undefined, [Ecto, Decimal]}

  unless Code.ensure_loaded?(Ecto.Schema), do: @moduletag(skip: "Ecto is not among the dependencies")

  @json ~s({"number": 7, "name": "n", "total": "12.50", "weight": 2, "state": "open", "kinds": ["a", null], "tags": ["x"],
    "counts": {"a": 1, "b": null}, "meta": {"a": [1]}, "day": "2024-02-29", "at": "10:00:01.5", "local": "2024-01-01T00:00:00.123",
    "sent": "2024-01-01T02:00:00.5+02:00", "sent_usec": "2024-01-01T00:00:00Z", "shout": "loud", "unknown": [1, {"a": 2}],
    "key": "550e8400-e29b-41d4-a716-446655440000", "first": {"s": "a"}, "items": [{"s": "b", "quantity": 2, "seen": true}, {}]})

  defp decode(json, options), do: Judge.same(json, options, &RustyJson.decode(json, &1))

  defp loaded(json, schema) do
    with {:ok, term} <- RustyJson.decode(json), do: {:ok, Ecto.embedded_load(schema, term, :json)}
  rescue
    # Ecto raises for a value that is not of the type.
    _error -> :error
  end

  defp blank(name), do: Module.concat(RustyJson.Test.EctoSchemas, name) |> struct()

  test "what embedded_load gives" do
    assert {:ok, order} = decode(@json, as: Order)
    assert {:ok, order} == loaded(@json, Order)
    assert order.sent == ~U[2024-01-01 00:00:00Z]
    assert {order.state, order.kinds, order.shout} == {:open, [:a, nil], "LOUD"}
    assert [%{sku: "b", quantity: 2, seen: nil, id: nil}, %{quantity: 1}] = order.items
    assert decode("{}", as: Order) == {:ok, blank(:Order)}
    assert decode(~s([{"s": "a"}]), as: [Item]) == {:ok, [%{blank(:Item) | sku: "a"}]}

    assert decode(~s({"items": null, "first": null, "tags": null, "name": null}), as: Order) ==
             loaded(~s({"items": null, "tags": null}), Order)

    # Null is no level, though an empty list is.
    for null <- [nil, :null] do
      assert decode(~s({"items": null}), as: Order, max_depth: 1, null: null) == {:ok, blank(:Order)}
    end

    assert {:error, %DecodeError{reason: :max_depth}} = decode(~s({"items": []}), as: Order, max_depth: 1)

    assert decode(~s({"name": null}), as: Order, null: :null) == {:ok, blank(:Order)}
    assert RustyJson.fetch(@json, "/items/0", as: Item) == {:ok, hd(order.items)}

    assert RustyJson.decode_stream(~s({"s": "a"}\n{"s": "b"}), format: :lines, as: Item) |> Enum.map(& &1.sku) ==
             ["a", "b"]

    assert {:ok, %{sku: "a"}} = decode(~s({"type": "i", "s": "a"}), as: {:tagged, "type", %{"i" => Item}})
  end

  test "errors have a position and a path" do
    for {json, position, path, message} <- [
          {~s({"number": 1.5}), 11, "/number", "Expected an integer"},
          {~s({"state": "lost"}), 10, "/state",
           ~s|Expected a value of the field's type at position 10 (line 1, column 11): Expected one of "open", "closed"|},
          {~s({"key": "x"}), 8, "/key", "Expected a value of the field's type"},
          {~s({"day": "2024-02-30", "number": "x"}), 8, "/day", "(line 1, column 9): Expected date"},
          {~s({"number": "x", "day": "2024-02-30"}), 11, "/number", "Expected an integer"},
          {~s({"items": [{"quantity": 1}, null]}), 28, "/items/1", "Expected an object"},
          {~s({"kinds": ["a", "c"]}), 10, "/kinds", "Expected a value of the field's type"},
          {~s({"shout": {"a": [1]}}), 10, "/shout", "Expected a value of the field's type"},
          {~s({"day": {"year": 1.5, "month": 1, "day": 1}}), 8, "/day",
           "Expected a value of the field's type"},
          {~s({"at": {"hour": [], "minute": {}}}), 7, "/at", "Expected a value of the field's type"},
          {~s({"sent": {"year": 1, "month": 1, "day": 1, "hour": true, "minute": 0}}), 9, "/sent",
           "Expected a value of the field's type"}
        ] do
      assert {:error, %DecodeError{reason: :type} = error} = decode(json, as: Order)
      assert {error.position, error.path} == {position, path}
      assert error.message =~ message
      assert loaded(json, Order) == :error
    end

    json = ~s({"state": 1, "number": "x", "items": [{"price": []}, {"quantity": {}}], "key": []})
    assert {:error, error} = decode(json, as: Order, errors: :all)
    assert Enum.map(error.errors, & &1.path) == ~w(/state /number /items/0/price /items/1/quantity /key)
  end

  # RustyJson is stricter than casts of Ecto, and exact.
  test "differences to embedded_load" do
    for {member, cast} <- [
          number: "12",
          weight: "1.5",
          paid: "true",
          paid: "0",
          total: ".5",
          counts: %{"a" => "1"}
        ] do
      json = RustyJson.encode!(%{member => cast})
      assert {:ok, _} = loaded(json, Order)
      assert {:error, %DecodeError{reason: :type}} = decode(json, as: Order)
    end

    assert {:ok, %{total: exact}} = decode(~s({"total": 1.50}), as: Order)
    assert {:ok, %{total: through_float}} = loaded(~s({"total": 1.50}), Order)
    assert {to_string(exact), to_string(through_float)} == {"1.50", "1.5"}
    assert {:ok, %{total: %{exp: 400}}} = decode(~s({"total": 1e400}), as: Order)
  end

  test "mutated documents: equal, but for the differences above", do: mutated(1_000)

  @tag :heavy
  @tag timeout: :infinity
  test "10,000 mutated documents", do: mutated(10_000)

  defp mutated(count) do
    {:ok, whole} = RustyJson.decode(@json)

    Gen.check(count, fn -> mutant(whole) end, fn json ->
      case {decode(json, as: Order), loaded(json, Order)} do
        {{:ok, ours}, {:ok, theirs}} -> assert rounded(ours) == rounded(theirs)
        {{:error, error}, {:ok, _}} -> assert stricter?(error), "#{inspect(error)}"
        {{:ok, _}, other} -> assert other == :error and json =~ ~r/\d[eE]\+?\d/, "#{inspect(other)}"
        {{:error, _}, _} -> :ok
      end
    end)
  end

  # Text in the place of a number or a boolean.
  defp stricter?(%{reason: :type, token: "\"" <> _, message: "Expected a" <> rest}),
    do: String.starts_with?(rest, ["n integer at", " number at", " boolean at", " decimal number at"])

  defp stricter?(_error), do: false

  defp rounded(%{items: items} = order),
    do: %{order | total: number(order.total), first: item(order.first), items: Enum.map(items, &item/1)}

  defp item(nil), do: nil
  defp item(item), do: %{item | price: number(item.price)}
  defp number(nil), do: nil
  defp number(decimal), do: Decimal.to_float(decimal)

  defp mutant(whole) do
    json = Enum.reduce(1..Enum.random(1..3), whole, fn _, map -> changed(map) end) |> RustyJson.encode!()
    if Enum.random(1..4) == 1, do: Gen.damage(json), else: json
  end

  defp changed(map) do
    {key, value} = Enum.random(map)

    case {Enum.random(1..5), value} do
      {1, _} -> Map.delete(map, key) |> Map.put("other", 1)
      {2, %{} = inner} when inner != %{} -> Map.put(map, key, changed(inner))
      {2, [%{} = inner | rest]} when inner != %{} -> Map.put(map, key, [changed(inner) | rest])
      {2, [_ | rest]} -> Map.put(map, key, [value() | rest])
      _ -> Map.put(map, key, value())
    end
  end

  defp value do
    Enum.random([
      nil,
      true,
      false,
      0,
      -1,
      1.5,
      2.0,
      12_345_678_901_234_567_890,
      "",
      "x",
      "12",
      "1.5",
      "true",
      "open",
      "a",
      [],
      [nil],
      ["a"],
      [1],
      %{},
      %{"a" => 1},
      [%{"s" => "z"}],
      %{"s" => 1},
      "2024-02-29",
      "2024-02-30",
      "10:00",
      "10:00:00",
      "2024-01-01 10:00:00Z",
      "2024-01-01T10:00:00.123456",
      "550e8400-e29b-41d4-a716-446655440000",
      ".5",
      "01",
      "1_0",
      "NaN",
      "Infinity",
      "-0"
    ])
  end
end
