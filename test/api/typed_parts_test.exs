defmodule RustyJson.TypedPartsTest do
  @moduledoc "`as:` with a type in `fetch/3`, `select/3`, streams and feeds, judged against `decode/2` into a type around it."

  use ExUnit.Case, async: true

  alias RustyJson.DecodeError
  alias RustyJson.Test.{Gen, Heap, Judge, Streams}
  alias RustyJson.Test.Schemas.{All, Circle, Line, Order, Square}

  defp fetch(json, pointer, options), do: Judge.same(json, options, &RustyJson.fetch(json, pointer, &1))
  defp select(json, paths, options), do: Judge.same(json, options, &RustyJson.select(json, paths, &1))
  defp decode(json, options), do: Judge.same(json, options, &RustyJson.decode(json, &1))

  defp fields(%DecodeError{} = error),
    do: {error.reason, error.position, error.line, error.column, error.path}

  @lines ~s({\n "first": {"sku": "a", "quantity": 1},\n "é": [{"sku": "b", "quantity": "2"}, {"sku": "c", "quantity": 3}]})

  describe "fetch and select" do
    # All line breaks before it were a list, of 5 words each.
    test "an error behind many line breaks takes no memory for them" do
      json = "[" <> String.duplicate("\n", 300_000) <> "\"x\"]"

      for {_, engine} <- Judge.engines() do
        options = [as: :integer] ++ engine
        {:error, error} = Heap.within(100_000, fn -> RustyJson.fetch(json, "/0", options) end)
        assert {error.position, error.line, error.column} == {300_001, 300_001, 1}
      end
    end

    test "a value of a type" do
      assert fetch(@lines, "/first", as: Line) == {:ok, %Line{sku: "a", quantity: 1}}
      assert fetch(@lines, "/é/1/quantity", as: :float) == {:ok, 3.0}
      assert fetch(@lines, "/none", as: Line) == :error
      assert fetch(@lines, "/none", as: Line, missing: {:default, 0}) == {:ok, 0}
      assert fetch("[null]", "/0", as: {:nullable, Line}) == {:ok, nil}
      assert fetch(~s(["2024-02-29"]), "/0", as: :date) == {:ok, ~D[2024-02-29]}
      assert RustyJson.fetch!(@lines, "/first", as: Line).sku == "a"
      assert_raise DecodeError, fn -> RustyJson.fetch!(@lines, "/é/0", as: Line) end

      assert select(@lines, %{x: "/é/1", y: "/first", z: "/none"}, as: Line) ==
               {:ok, %{x: %Line{sku: "c", quantity: 3}, y: %Line{sku: "a", quantity: 1}}}

      assert select(@lines, ["/é/1/sku", "/none", "/first/sku"], as: :string) == {:ok, ["c", nil, "a"]}
      # Places inside of each other, and the same one twice.
      assert select("[[1]]", ["/0", "", "/0/0", "/0"], as: :any) == {:ok, [[1], [[1]], 1, [1]]}

      assert select(~s([{"r": 1}, {"r": 2, "x": {"r": 3}}]), ["/1", "/1/x", "/0"], as: Circle) ==
               {:ok, [%Circle{r: 2.0}, %Circle{r: 3.0}, %Circle{r: 1.0}]}
    end

    test "an error has the position, the line and the path of the whole document" do
      assert {:error, error} = fetch(@lines, "/é/0", as: Line)
      {at, 3} = :binary.match(@lines, ~s("2"))
      assert fields(error) == {:type, at, 3, 33, "/é/0/quantity"}
      assert error.message == "Expected an integer at position #{at} (line 3, column 33)"
      assert {error.data, error.offset, error.token} == {@lines, 0, binary_part(@lines, at, 32)}
      assert RustyJson.DecodeError.explain(error) =~ "\n3 |  \"é\": [{"
      # The first one in the text, whatever the order of the pointers.
      assert {:error, error} = select(~s(["x", "y"]), ["/1", "/0"], as: :integer)
      assert fields(error) == {:type, 1, 1, 2, "/0"}
      assert {:error, error} = fetch(~s({"a~/b": {}}), "/a~0~1b", as: Circle)
      assert error.path == "/a~0~1b/r"
    end

    test "errors: :all" do
      json = ~s([{"r": "1"}, {"r": 2}, {}])
      assert {:error, error} = select(json, ["/2", "/0", "/1"], as: Circle, errors: :all)

      assert Enum.map(error.errors, &{&1.reason, &1.position, &1.path}) == [
               {:type, 7, "/0/r"},
               {:missing, 24, "/2/r"}
             ]

      assert fields(error) == {:type, 7, 1, 8, "/0/r"}
    end

    test "a fault anywhere is the error of decode/2; limits count from the root" do
      for json <- [
            ~s({"a": {"r": 1}, "b": tru}),
            ~s({"b": [1,], "a": {"r": "x"}}),
            ~s({"a": {"r": 01}}),
            ~s({"a": 1)
          ] do
        assert fetch(json, "/a", as: Circle) == Judge.decode(json)
      end

      assert fetch(~s({"a": {"r": 1}, "a": {"r": 2}}), "/a", as: Circle) == {:ok, %Circle{r: 2.0}}

      assert fetch(~s({"a": {"r": 1}, "a": {"r": 2}}), "/a", as: Circle, duplicate_keys: :first) ==
               {:ok, %Circle{r: 1.0}}

      assert {:error, %{reason: :duplicate_key}} =
               fetch(~s({"a": 1, "a": 2}), "/a", as: :integer, duplicate_keys: :error)

      for options <- [[max_depth: 2], [max_nodes: 4], [max_bytes: 12]] do
        json = ~s({"a": [{"r": 1}]})
        assert fetch(json, "/a", [as: [Circle]] ++ options) == Judge.decode(json, options)
      end
    end

    test "validate: false" do
      json = ~s({"a": {"r": 1}, "b": tru)
      assert fetch(json, "/a", as: Circle, validate: false) == {:ok, %Circle{r: 1.0}}
      assert {:error, error} = fetch(~s(\n{"a": {"r": "1"}), "/a", as: Circle, validate: false)
      assert fields(error) == {:type, 13, 2, 13, "/a/r"}
    end

    test "types that are none" do
      for type <- [nil, :text, String, {:enum, []}] do
        assert_raise ArgumentError, fn -> RustyJson.fetch("1", "", as: type) end
        assert_raise ArgumentError, fn -> RustyJson.select("1", [""], as: type) end
      end
    end
  end

  describe "against decode/2 into a type around it" do
    test "fetch, select, a stream of elements, and values at a path" do
      types = [
        Order,
        All,
        Square,
        Line,
        :date,
        :integer,
        {:map, :decimal},
        {:tagged, "type", %{"c" => Circle, "s" => Square}}
      ]

      Gen.check(150, fn -> {Enum.random(types), outer(Enum.random(1..4))} end, fn {type, json} ->
        for errors <- [:first, :all] do
          whole = decode(json, as: {:map, [type]}, errors: errors)
          {:ok, %{"é" => elements}} = RustyJson.decode(json)
          pointers = for {_element, n} <- Enum.with_index(elements), do: "/é/#{n}"
          parts = select(json, pointers, as: type, errors: errors)

          case whole do
            {:ok, %{"é" => values}} -> assert parts == {:ok, values}
            {:error, _} -> assert parts == whole
          end

          assert fetch(json, "/é", as: [type], errors: errors) ==
                   with({:ok, %{"é" => values}} <- whole, do: {:ok, values})
        end

        # Values before the error, then the error.
        streamed = Streams.items(json, [as: type, at: "/é/*"], :few)

        case decode(json, as: {:map, [type]}) do
          {:ok, %{"é" => values}} -> assert streamed == values
          {:error, error} -> assert List.last(streamed) == {:error, Streams.facts(error)}
        end
      end)
    end

    test "damaged documents" do
      Gen.check(200, fn -> Gen.damage(outer(2)) end, fn json ->
        case {RustyJson.decode(json), fetch(json, "/é/1", as: Line)} do
          {{:error, error}, {:error, other}} -> assert fields(other) == fields(error)
          {{:ok, _}, {:error, error}} -> assert error.reason in [:type, :missing]
          {{:ok, _}, _} -> :ok
        end

        Streams.items(json, [as: Line, at: "/é/*"], :few)
      end)
    end
  end

  # A document with elements that mostly fit one of the types.
  defp outer(count) do
    elements = for _ <- 1..count, do: Enum.random([line(), line(), line(), Gen.text(Gen.term(2))])
    ~s({ "é"\n: [#{Enum.join(elements, Enum.random([",", ",\n ", " , "]))}] \n})
  end

  defp line do
    members = [
      ~s("sku": "ü#{Enum.random(1..9)}"),
      ~s("quantity":\n #{Enum.random([1, 2.5, ~s("x"), 7, 8, 9])}),
      ~s("price": 1.10)
    ]

    "{" <> (members |> Enum.shuffle() |> Enum.take(Enum.random(2..3)) |> Enum.join(", ")) <> "}"
  end

  describe "streams and feeds" do
    @text ~s({"r": 1}\n{"r": "é"}\n\n{"x": [1]}\n{"r": 2.5}\n[}\n{"r": 3})

    test "lines: with tags, the others go on" do
      assert [
               {:ok, %Circle{r: 1.0}},
               {:error, type},
               {:error, missing},
               {:ok, %Circle{r: 2.5}},
               {:error, fault},
               {:ok, %Circle{r: 3.0}}
             ] = Streams.items(@text, format: :lines, as: Circle, on_error: :tag)

      assert Streams.short([{:error, type}, {:error, missing}, {:error, fault}]) ==
               [{:type, 15, "/r"}, {:missing, 31, "/r"}, {:expected_value, 45, "/0"}]

      assert {:type, 15, 2, 7, "/r", "Expected a number at position 15 (line 2, column 7)"} = type
      assert [%Circle{r: 1.0}, {:error, ^type}] = Streams.items(@text, format: :lines, as: Circle)
    end

    test "records, values, elements, and values at a path with pointers" do
      seq = "\x1E{\"r\": 1}\n\x1E{\"r\": null}\n\x1E{\"r\": 2}\n"

      assert [{:ok, _}, {:error, {:type, 17, 2, 8, "/r", _}}, {:ok, %Circle{r: 2.0}}] =
               Streams.items(seq, format: :seq, as: Circle, on_error: :tag)

      values = ~s({"r": 1} 2 {"r": 3})
      assert Streams.short(Streams.items(values, as: Circle)) == [%Circle{r: 1.0}, {:type, 9, ""}]
      # A tagged error is the last item.
      assert [{:ok, %Circle{}}, {:error, _}] = Streams.items(values, as: Circle, on_error: :tag)

      assert Streams.short(Streams.items("[1, 2,\n \"3\", 4]", format: :array, as: :integer)) == [
               1,
               2,
               {:type, 8, "/2"}
             ]

      assert Streams.items("1 2 3 4", as: :float) == [1.0, 2.0, 3.0, 4.0]
      assert Streams.items("12 [", as: :integer) |> Streams.short() == [12, {:unexpected_end, 4, "/0"}]

      json = ~s({"a": {"x": {"r": 1}, "y": {"r": 2}, "z": {"s": 2}}})

      assert [
               {"/a/x", %Circle{r: 1.0}},
               {"/a/y", %Circle{r: 2.0}},
               {:error, {:missing, 49, 1, 50, "/a/z/r", _}}
             ] = Streams.items(json, at: "/a/*", with_pointer: true, as: Circle)
    end

    test "dates, raw parts and limits" do
      dates = ~s("2024-02-29" "2024-02-30" "2024-03-01")
      assert [~D[2024-02-29], {:error, {:type, 13, 1, 14, "", _}}] = Streams.items(dates, as: :date)

      assert Streams.items(~s({"p": [1,  2]} {"p": {"a": 1.50}}), as: {:map, :raw})
             |> Enum.map(& &1["p"].encode) == ["[1,  2]", ~s({"a": 1.50})]

      assert [{:error, {:max_bytes, 0, _, _, _, _}}] = Streams.items(~s({"r": 1}), as: Circle, max_bytes: 5)

      assert [{:error, {:max_nodes, _, _, _, _, _}}] =
               Streams.items(~s({"r": 1, "s": [1, 2, 3]}), as: Circle, max_nodes: 4)

      assert [{:error, {:duplicate_key, 9, _, _, _, _}}] =
               Streams.items(~s({"r": 1, "r": 2}), as: Circle, duplicate_keys: :error)
    end

    test "many short values in one piece" do
      for {name, engine} <- Judge.engines(),
          {text, format} <- [
            {"[" <> Enum.map_join(1..20_000, ",", &"#{rem(&1, 10)}") <> "]", :array},
            {Enum.map_join(1..20_000, "\n", &"#{rem(&1, 10)}"), :lines}
          ] do
        # Each value is a call, and on a busy machine one takes wasmex milliseconds.
        engine = if engine[:engine] == :wasm, do: [timeout: 120_000] ++ engine, else: engine
        items = text |> RustyJson.decode_stream([format: format, as: :integer] ++ engine) |> Enum.to_list()
        assert items == Enum.map(1..20_000, &rem(&1, 10)), "#{name}"
      end
    end

    test "errors: :all lists the errors of the current value" do
      text = ~s({"r": 1}\n{"a": 1, "b": 2, "c": []}\n)

      assert [_, {:error, error}] =
               text
               |> RustyJson.decode_stream(format: :lines, as: Square, errors: :all, on_error: :tag)
               |> Enum.to_list()
               |> tl()
               |> then(&[nil | &1])

      assert Enum.map(error.errors, & &1.position) == [18, 26]
      assert {error.data, error.offset} == {~s({"a": 1, "b": 2, "c": []}), 9}
    end

    test "a part of a file has no lines" do
      path = Path.join(System.tmp_dir!(), "rustyjson_typed_#{System.unique_integer([:positive])}.ndjson")
      File.write!(path, ~s({"r": 1}\n{"r": 2}\n{"r": "3"}\n))
      on_exit(fn -> File.rm(path) end)
      assert [%Circle{r: 2.0}] = path |> RustyJson.Lines.stream({9, 9}, as: Circle) |> Enum.to_list()

      error =
        assert_raise DecodeError, fn ->
          path |> RustyJson.Lines.stream({9, 20}, as: Circle) |> Enum.to_list()
        end

      assert {error.position, error.line, error.path} == {24, nil, "/r"}
    end
  end
end
