defmodule RustyJson.SchemaTest do
  @moduledoc "`decode(json, as: type)`: structs with schemas and the other types, in every engine."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Fragment}
  alias RustyJson.Test.{Gen, Judge}
  alias RustyJson.Test.Schemas.{All, Circle, Line, Node, Order, Square}

  defp decode(json, type, options \\ []),
    do: Judge.same(json, options, &RustyJson.decode(json, [as: type] ++ &1))

  defp refused(json, type, options \\ []) do
    assert {:error, %DecodeError{} = error} = decode(json, type, options)
    {error.reason, error.position, error.path}
  end

  defp decimal(sign, coefficient, exponent),
    do: %{__struct__: Decimal, sign: sign, coef: coefficient, exp: exponent}

  @order ~s({"id": 7, "@type": "sale", "total": "12.50", "state": "paid", "extra": [{"x": 1}],
    "orderLines": [{"sku": "a", "quantity": 2, "price": 1.10}, {"quantity": 1, "sku": "b"}], "placedOn": "2024-02-29"})

  describe "structs" do
    test "fields in any order, renamed, nested, with defaults; other members are skipped" do
      assert {:ok, order} = decode(@order, Order)

      assert order == %Order{
               id: 7,
               kind: "sale",
               total: decimal(1, 1250, -2),
               state: :paid,
               order_lines: [
                 %Line{sku: "a", quantity: 2, price: decimal(1, 110, -2)},
                 %Line{sku: "b", quantity: 1, price: nil}
               ],
               note: nil,
               placed_on: ~D[2024-02-29]
             }
    end

    test "a schema may contain itself" do
      json = ~s({"left": {"value": 1.5, "left": {}}, "right": null})

      assert decode(json, Node) ==
               {:ok, %Node{value: 0, left: %Node{value: 1.5, left: %Node{}}, right: nil}}

      assert refused(~s({"left": {"left": {"lft": 1}}}), Node) == {:unknown_key, 19, "/left/left"}
    end

    test "lists, maps and tags" do
      assert decode("[]", [Line]) == {:ok, []}

      assert decode(~s({"x": {"r": 1}, "y": {"r": 2.5}}), {:map, Circle}) ==
               {:ok, %{"x" => %Circle{r: 1.0}, "y" => %Circle{r: 2.5}}}

      shape = {:tagged, "type", %{"circle" => Circle, "square" => Square}}

      assert decode(~s([{"type": "circle", "r": 1}, {"a": 2, "type": "square"}]), [shape]) ==
               {:ok, [%Circle{r: 1.0}, %Square{a: 2.0}]}

      assert refused(~s({"a": 1, "type": "oval"}), shape) == {:enum, 17, "/type"}
      assert refused(~s({"a": 1}), shape) == {:missing, 7, "/type"}
      assert refused(~s({}), shape) == {:missing, 1, "/type"}
      assert refused(~s({"type": 1}), shape) == {:type, 9, "/type"}
      assert refused(~s({"type": "square", "a": 1, "b": 2}), shape) == {:unknown_key, 27, ""}
    end

    test "repeated keys follow duplicate_keys" do
      json = ~s({"sku": "a", "quantity": 1, "sku": "b"})
      assert {:ok, %Line{sku: "b"}} = decode(json, Line)
      assert {:ok, %Line{sku: "a"}} = decode(json, Line, duplicate_keys: :first)
      assert {:duplicate_key, 28, ""} = refused(json, Line, duplicate_keys: :error)
      assert decode(~s({"a": 1, "a": 2}), {:map, :integer}) == {:ok, %{"a" => 2}}
      assert decode(~s({"a": 1, "a": 2}), {:map, :integer}, duplicate_keys: :first) == {:ok, %{"a" => 1}}

      tagged = {:tagged, "t", %{"c" => Circle, "s" => Square}}
      both = ~s({"t": "c", "r": 1, "a": 2, "t": "s"})
      assert decode(both, tagged, duplicate_keys: :first) == {:ok, %Circle{r: 1.0}}
      assert refused(both, tagged) == {:unknown_key, 11, ""}
    end
  end

  describe "types" do
    test "values that are of the type" do
      rows = [
        {:any, ~s({"a": [1, null]}), %{"a" => [1, nil]}},
        {:string, ~S("\u00e9"), "é"},
        {:integer, "-12345678901234567890123", -12_345_678_901_234_567_890_123},
        {:float, "1", 1.0},
        {:float, "-0", -0.0},
        {:float, "-0e1", -0.0},
        {:float, "0", 0.0},
        {:number, "-0", 0},
        {:integer, "-0", 0},
        {:decimal, "-0", decimal(-1, 0, 0)},
        {:decimal, "-0.0", decimal(-1, 0, -1)},
        {:decimal, ~s("-0"), decimal(-1, 0, 0)},
        {:float, "-0.0", -0.0},
        {:float, "123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890.0},
        {:float, "1e2", 100.0},
        {:number, "1", 1},
        {:number, "1.0", 1.0},
        {:boolean, "true", true},
        {:decimal, "1", decimal(1, 1, 0)},
        {:decimal, "-1.50", decimal(-1, 150, -2)},
        {:decimal, ~s("1e3"), decimal(1, 1, 3)},
        {:decimal, ~s("-0.10"), decimal(-1, 10, -2)},
        {:decimal, "0", decimal(1, 0, 0)},
        {:decimal, "123456789012345678901234567890.5",
         decimal(1, 1_234_567_890_123_456_789_012_345_678_905, -1)},
        {:date, ~s("2024-02-29"), ~D[2024-02-29]},
        {:time, ~s("23:59:59.123"), ~T[23:59:59.123]},
        {:naive_datetime, ~s("2024-01-01T00:00:00"), ~N[2024-01-01 00:00:00]},
        {:utc_datetime, ~s("2024-01-01T02:00:00+02:00"), ~U[2024-01-01 00:00:00Z]},
        {:raw, ~s( {"a": 1.50} ), Fragment.new(~s({"a": 1.50}))},
        {[:integer], "[1, 2]", [1, 2]},
        {{:list, :integer}, "[]", []},
        {{:map, :integer}, ~s({"a": 1}), %{"a" => 1}},
        {{:nullable, :integer}, "null", nil},
        {{:nullable, [:integer]}, "[1]", [1]},
        {{:enum, [:a, :b]}, ~S("\u0062"), :b},
        {[{:map, {:nullable, [:raw]}}], ~s([{"x": [1, {"y":2}], "z": null}]),
         [%{"x" => [Fragment.new("1"), Fragment.new(~s({"y":2}))], "z" => nil}]}
      ]

      for {type, json, value} <- rows do
        assert {:ok, decoded} = decode(json, type), "#{json} as #{inspect(type)}"
        assert Judge.same?(decoded, value), "#{json} as #{inspect(type)}: #{inspect(decoded)}"
      end
    end

    test "null is nil in types, whatever it is elsewhere" do
      assert decode(~s([null, 1]), [{:nullable, :integer}], null: :null) == {:ok, [nil, 1]}

      assert decode(~s({"sku": "a", "quantity": 1, "price": null}), Line, null: :undefined) ==
               {:ok, %Line{sku: "a", quantity: 1}}

      assert decode("[null]", :any, null: :null) == {:ok, [:null]}
    end

    test "floats: :decimals is for values of :any" do
      for {type, json, value} <- [
            {:float, "1.5", 1.5},
            {[:number], "[1.5, 2]", [1.5, 2]},
            {{:map, :any}, ~s({"a": 1.5}), %{"a" => decimal(1, 15, -1)}},
            {[{:nullable, :float}], "[1.5, null, 1]", [1.5, nil, 1.0]}
          ] do
        assert decode(json, type, floats: :decimals) == {:ok, value}
        many = "[" <> json <> "]"
        fetch = &RustyJson.fetch(many, "/0", [as: type] ++ &1)
        assert Judge.same(many, [floats: :decimals], fetch) == {:ok, value}
      end
    end

    test "values that are not" do
      others = ["null", "true", "1", "1.5", ~s("x"), "[1]", ~s({"a": 1})]

      accepted = %{
        :string => [~s("x")],
        :integer => ["1"],
        :float => ["1", "1.5"],
        :number => ["1", "1.5"],
        :boolean => ["true"],
        :decimal => ["1", "1.5"],
        :date => [],
        :time => [],
        :naive_datetime => [],
        :utc_datetime => [],
        [:integer] => ["[1]"],
        {:map, :integer} => [~s({"a": 1})],
        {:nullable, :integer} => ["1", "null"],
        {:enum, [:x]} => [~s("x")]
      }

      for {type, good} <- accepted, json <- others do
        if json in good,
          do: assert({:ok, _} = decode(json, type)),
          else: assert({:type, 0, ""} == refused(json, type), "#{json} as #{inspect(type)}")
      end

      assert refused(~s("y"), {:enum, [:x]}) == {:enum, 0, ""}

      # Not numbers, although `Decimal` has values of these names.
      for text <- [
            "",
            "x",
            "1x",
            "0x1",
            "1 ",
            "01",
            "+1",
            ".5",
            "1.",
            "NaN",
            "Infinity",
            "-Infinity",
            "nan",
            "inf"
          ],
          do: assert(refused(~s("#{text}"), :decimal) == {:type, 0, ""}, text)

      for {type, text} <- [
            date: "2024-02-30",
            time: "25:00:00",
            naive_datetime: "2024-01-01",
            utc_datetime: "2024-01-01T00:00:00"
          ],
          do: assert(refused(~s(["#{text}"]), [type]) == {:type, 1, "/0"})
    end

    test "times whose offset leaves the years that Elixir knows" do
      for text <- ["9999-12-31T23:59:59-00:01", "-9999-01-01T00:00:00+12:00", "9999-12-31t23:59:59-00:01"] do
        json = ~s(["#{text}"])
        assert refused(json, [:utc_datetime]) == {:type, 1, "/0"}

        for {_name, engine} <- Judge.engines() do
          assert {:error, %{reason: :type}} = RustyJson.fetch(json, "/0", [as: :utc_datetime] ++ engine)
          options = [as: [:utc_datetime]] ++ engine
          assert {:error, %{errors: [%{reason: :type}]}} = RustyJson.decode(json, [errors: :all] ++ options)
          assert {:error, %{reason: :type}} = RustyJson.Partial.push(RustyJson.Partial.new(options), json)
        end
      end
    end

    test "an unknown type, or a module without a schema" do
      for type <- [
            :text,
            {:list, 1},
            [],
            [:integer, :string],
            {:enum, []},
            {:enum, ["a"]},
            String,
            NoSuchModule,
            {:tagged, "t", %{}}
          ] do
        assert_raise ArgumentError, fn -> RustyJson.decode("1", as: type) end
      end

      assert_raise ArgumentError,
                   ~r/^unknown type {:enum, \["a"\]}, whose values are written as atoms: a type is/,
                   fn ->
                     RustyJson.decode("1", as: {:enum, ["a"]})
                   end

      assert_raise ArgumentError, ~r/^the field :born: unknown type :dat, did you mean :date\?/, fn ->
        defmodule Misspelt do
          use RustyJson.Schema
          schema(do: field(:born, :dat))
        end
      end

      # A struct of the value is not a type.
      assert_raise ArgumentError, ~r/^the field :born: unknown type Date, did you mean :date\?/, fn ->
        defmodule Named do
          use RustyJson.Schema
          schema(do: field(:born, Date))
        end
      end
    end
  end

  describe "errors" do
    test "the first in the order of the text, with its path" do
      rows = [
        {~s({"id": "7"}), {:type, 7, "/id"}},
        {~s({"id": 7, "@type": null}), {:type, 19, "/@type"}},
        {~s({"id": 7}), {:missing, 8, "/@type"}},
        {~s({}), {:missing, 1, "/id"}},
        {~s( [] ), {:type, 1, ""}},
        {~s({"id": 7, "state": "closed"}), {:enum, 19, "/state"}},
        {~s({"orderLines": [{"sku": "a", "quantity": 1}, {"sku": "b", "price": 1 }]}),
         {:missing, 69, "/orderLines/1/quantity"}},
        {~S({"orderLines": {"a": 1}}), {:type, 15, "/orderLines"}},
        {~s({"id": 1.0}), {:type, 7, "/id"}},
        {~s({"placedOn": "2024-02-30", "id": "x"}), {:type, 13, "/placedOn"}},
        {~s({"id": "x", "placedOn": "2024-02-30"}), {:type, 7, "/id"}},
        {~s({"placedOn": "2024-02-30", "id": tru}), {:type, 13, "/placedOn"}},
        {~s({"placedOn": "2024-02-29", "placedOn": "2024-02-31", "id": 1, "x": ), {:type, 39, "/placedOn"}},
        {~s({"id": tru}), {:type, 7, "/id"}},
        {~s({"x": tru, "id": 7}), {:expected_value, 6, "/x"}},
        {~s({"x": [1,], "id": "7"}), {:trailing_comma, 9, "/x/1"}},
        {~s({"id": 7, "@type": "a" "b"), {:expected_comma_or_object_end, 23, "/@type"}}
      ]

      for {json, expected} <- rows, do: assert(refused(json, Order) == expected, json)
    end

    test "messages say what was expected" do
      rows = [
        {"1", :string, "Expected a string at position 0 (line 1, column 1)"},
        {"1.5", :integer, "Expected an integer at position 0 (line 1, column 1)"},
        {~s("2024-13-01"), :date, "Expected a date at position 0 (line 1, column 1)"},
        {~s({"x": 1}), Square, ~s|Unknown key "x" at position 1 (line 1, column 2)|},
        {~s("z"), {:enum, [:a]}, ~s|Unknown value "z" at position 0 (line 1, column 1): Expected "a"|},
        {~s("z"), {:enum, [:"é\""]}, ~S|Unknown value "z" at position 0 (line 1, column 1): Expected "é\""|},
        {~s("z"), {:enum, [:"a\\b"]},
         ~S|Unknown value "z" at position 0 (line 1, column 1): Expected "a\\b"|},
        {~s([{"x": "z"}]), [{:map, {:nullable, {:enum, [:a, :"b c"]}}}],
         ~s|Unknown value "z" at position 7 (line 1, column 8): Expected one of "a", "b c"|},
        {~s({"state": "x"}), Order,
         ~s|Unknown value "x" at position 10 (line 1, column 11): Expected one of "open", "paid"|},
        {~s({"type": "x"}), {:tagged, "type", %{"c" => Circle, "b" => Square}},
         ~s|Unknown value "x" at position 9 (line 1, column 10): Expected one of "b", "c"|},
        {"{}", Circle, ~s|Missing member at position 1 (line 1, column 2): Expected "r"|},
        {~s({"a": [{}]}), {:map, [{:tagged, "kind", %{"c" => Circle}}]},
         ~s|Missing member at position 8 (line 1, column 9): Expected "kind"|}
      ]

      for {json, type, message} <- rows do
        assert {:error, error} = decode(json, type)
        assert error.message == message
      end
    end

    test "a message lists the values of an enum, up to a length" do
      names = for n <- 1..100, do: :"name#{n}"
      assert {:error, error} = decode(~s("x"), {:enum, names})
      assert error.message =~ ~s|: Expected one of "name1", "name2", |
      assert error.message =~ ~r/… \(\d+ more\)$/
      assert byte_size(error.message) < 500
      assert {:error, error} = RustyJson.fetch(~s({"a": {"state": "x"}}), "/a", as: Order)

      assert error.message ==
               ~s|Unknown value "x" at position 16 (line 1, column 17): Expected one of "open", "paid"|

      assert {:error, %{errors: [first, _]} = error} =
               decode(~s({"state": "x", "id": "y"}), Order, errors: :all) |> two()

      assert error.message == first.message and first.message =~ "Expected one of"
    end

    defp two({:error, %{errors: errors} = error}), do: {:error, %{error | errors: Enum.take(errors, 2)}}

    test "limits are those of decode/2" do
      json = ~s({"r": 1, "x": [[[1]]], "big": 12345})

      for options <- [[max_depth: 3], [max_nodes: 5], [max_bytes: 10], [decoding_integer_digit_limit: 4]] do
        {:error, expected} = RustyJson.decode(json, options)
        assert refused(json, Circle, options) == {expected.reason, expected.position, expected.path}
      end

      assert {:ok, _} = decode(json, Circle, max_depth: 4, max_nodes: 12)
      assert refused("[[1]]", [[:integer]], max_depth: 1) == {:max_depth, 1, "/0"}
    end

    test "errors: :all" do
      json =
        ~s({"id": "7", "state": "x", "placedOn": "2024-02-30", "orderLines": [{"sku": 1}, 5], "@type": "a", "note": []})

      assert {:error, error} = decode(json, Order, errors: :all)

      assert Enum.map(error.errors, &{&1.reason, &1.path}) == [
               {:type, "/id"},
               {:enum, "/state"},
               {:type, "/placedOn"},
               {:type, "/orderLines/0/sku"},
               {:missing, "/orderLines/0/quantity"},
               {:type, "/orderLines/1"},
               {:type, "/note"},
               {:missing, "/total"}
             ]

      assert {error.reason, error.path} == {:type, "/id"}
      assert {:error, %{errors: nil}} = decode(json, Order)
      many = RustyJson.encode!(List.duplicate("x", 150))
      assert {:error, %{errors: errors}} = decode(many, [:integer], errors: :all)
      assert length(errors) == 100

      assert {:error, %{errors: [%{reason: :type}, %{reason: :unexpected_end}]}} =
               decode(~s(["x"), [:integer], errors: :all)

      assert {:error, %{errors: [%{reason: :max_nodes}], error_count: 1}} =
               decode(many, [:integer], errors: :all, max_nodes: 10)
    end
  end

  describe "against decode/2" do
    test "what a schema encodes, it decodes" do
      Gen.check(150, &record/0, fn record ->
        assert {:ok, json} = RustyJson.encode(record)
        assert {:ok, decoded} = decode(json, All)
        assert decoded == record
        assert decode(RustyJson.encode!([record, record]), [All]) == {:ok, [record, record]}
      end)
    end

    test "damage gives an error at the same place, or one of the schema before it" do
      Gen.check(200, fn -> Gen.damage(RustyJson.encode!(record())) end, fn json ->
        case {decode(json, All), RustyJson.decode(json)} do
          {{:error, error}, {:error, expected}} -> assert error.position <= expected.position
          {{:error, error}, {:ok, _}} -> assert error.reason in [:type, :missing, :enum]
          {{:ok, _}, {:ok, _}} -> :ok
          {{:ok, _}, {:error, _}} -> flunk("decoded what is not JSON")
        end
      end)
    end

    # Other tests make atoms at the same time, so these are looked for by their names.
    test "no atom comes from the input" do
      for n <- 1..500, {_name, engine} <- Judge.engines() do
        names = for part <- ~w(x y z v), do: "never_#{n}_an_atom_#{part}"
        [x, y, z, v] = names
        json = ~s({"r": 1, "#{x}": {"#{y}": 1}, "z": "#{z}"})
        assert {:ok, %Circle{}} = RustyJson.decode(json, [as: Circle, keys: :atoms] ++ engine)
        assert {:error, %{reason: :enum}} = RustyJson.decode(~s("#{v}"), [as: {:enum, [:a]}] ++ engine)
        for name <- names, do: assert_raise(ArgumentError, fn -> String.to_existing_atom(name) end)
      end
    end
  end

  test "encoders have the same names" do
    {:ok, order} = decode(@order, Order)
    json = RustyJson.encode!(order)
    assert json =~ ~s({"id":7,"@type":"sale","total":"12.50","state":"paid","orderLines":[{"sku":"a")
    assert decode(json, Order) == {:ok, order}
  end

  test "schemas that are wrong" do
    for {options, fields} <- [
          {[rename: :snake], []},
          {[unknown_keys: :fail], []},
          {[other: 1], []},
          {[], quote(do: field(:a, :text))},
          {[], quote(do: field("a", :string))},
          {[], quote(do: field(:a, :string, key: 1))},
          {[], quote(do: field(:a, :string, other: 1))},
          # A document would name the module of the struct.
          {[], quote(do: field(:__struct__, :string))},
          {[],
           quote do
             field(:a, :string)
             field(:b, :string, key: "a")
           end},
          # The native library once panicked at such a schema.
          {[],
           quote do
             field(:a, :string, key: "x")
             field(:a, :string, key: "y")
           end}
        ] do
      name = Module.concat(__MODULE__, "Wrong#{System.unique_integer([:positive])}")

      code =
        quote do
          defmodule unquote(name) do
            use RustyJson.Schema, unquote(options)

            schema do
              unquote(fields)
            end
          end
        end

      assert_raise ArgumentError, fn -> Code.eval_quoted(code) end
    end
  end

  defp record do
    %All{
      string: Gen.string(),
      integer: Gen.integer(),
      float: Gen.float(),
      number: Enum.random([Gen.integer(), Gen.float()]),
      boolean: Enum.random([true, false]),
      any: Gen.term(3),
      decimal:
        decimal(Enum.random([1, -1]), rem(abs(Gen.integer()), Integer.pow(10, 34)), Enum.random(-30..0)),
      date: Date.add(~D[2024-01-01], Enum.random(-9_999..9_999)),
      time: Time.add(~T[00:00:00.000], Enum.random(0..86_399_000), :millisecond),
      naive: NaiveDateTime.add(~N[2024-01-01 00:00:00], Enum.random(-999_999..999_999)),
      utc: DateTime.add(~U[2024-01-01 00:00:00.000000Z], Enum.random(-999_999..999_999), :microsecond),
      list: for(_ <- 1..3, do: Enum.random([nil, Gen.integer()])),
      map: for(_ <- 1..Enum.random(1..3), into: %{}, do: {Gen.string(), Gen.string()}),
      enum: Enum.random([:a, :b, :"c d"]),
      maybe: Enum.random([true, false, nil])
    }
  end
end
