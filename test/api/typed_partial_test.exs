defmodule RustyJson.TypedPartialTest do
  @moduledoc "Typed documents that are looked at before they are complete, in every engine, cut at every byte."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.TypedPartials, only: [check: 2, check: 3, check: 4]

  alias RustyJson.{DecodeError, Partial}
  alias RustyJson.Test.{Clock, Gen, Judge, Streams}
  alias RustyJson.Test.Schemas.{All, Leaf, Line, Node, Order, Square, Twig}

  @moduletag timeout: 3_600_000

  @order ~S({"id": 7, "@type":"ord\u00e9r", "x":[1,{"y":2.5}], "total": 12.50, "state":"paid",) <>
           ~S("orderLines":[{"sku":"a","quantity":2,"price":1e2},{"sku":"bc","quantity":3}],) <>
           ~S("note":"he\nllo","placedOn":"2024-02-29"} )
  @all ~S({"string":"s","integer":123456789012345678901234567890,"float":1,"number":2.5,"boolean":true,) <>
         ~S("any":{"a":[1,2.5,"x",null]},"decimal":"1.50","date":"2024-01-01","time":"10:00:00",) <>
         ~S("naive":"2024-01-01T00:00:00","utc":"2024-01-01T00:00:00+01:00","list":[1,null,3],) <>
         ~S("map":{"a":"b","c/d":"e"},"enum":"c d","maybe":null})
  @tree {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}

  defp shown(text, options) do
    partial = Enum.reduce(Streams.bytes(text), Partial.new(options), &elem(Partial.push(&2, &1), 1))
    Partial.value(partial)
  end

  describe "what is shown" do
    # The start of a document, its type, and the value so far.
    for {text, type, shown} <- [
          {"{", Order, struct(Order)},
          {~S({"id":7,"@type":"ab), Order, struct(Order, id: 7, kind: "ab")},
          {~S({"id":7), Order, struct(Order)},
          {~S({"id":7 ), Order, struct(Order, id: 7)},
          {~S({"total":12.5), Order, struct(Order)},
          {~S({"total":12.50,), Order,
           struct(Order, total: %{__struct__: Decimal, sign: 1, coef: 1250, exp: -2})},
          {~S({"state":"pai), Order, struct(Order)},
          {~S({"state":"paid"), Order, struct(Order, state: :paid)},
          {~S({"placedOn":"2024-02-29), Order, struct(Order)},
          {~S({"orderLines":[{"sku":"a"},{"sku":"b), Order, :missing},
          {~S({"orderLines":[{"sku":"a","quantity":1},{"sku":"b), Order,
           struct(Order, order_lines: [struct(Line, sku: "a", quantity: 1), struct(Line, sku: "b")])},
          {~S({"other":{"sku":[1,"x), Order, struct(Order)},
          {~S(["a","b), [:string], ["a", "b"]},
          {~S(["a",["b), [:raw], [RustyJson.Fragment.new(~S("a"))]},
          {~S({"a":{"b":[1,"c), :any, %{"a" => %{"b" => [1, "c"]}}},
          {~S({"a":{"b":"c), {:map, {:map, :string}}, %{"a" => %{"b" => "c"}}},
          {~S({"state":"green","next":{"t":"leaf"}), @tree, :none},
          {~S({"state":"green","next":{"t":"leaf"},"t":"lea), @tree, :none},
          {~S({"state":"green","next":{"t":"leaf"},"t":"leaf"), @tree,
           struct(Leaf, state: :green, next: struct(Leaf))},
          {~S([{"t":"leaf"},{"t":"twig","next":{"state":"green"), [@tree], [struct(Leaf), struct(Twig)]},
          {"tru", :boolean, :none},
          {"12", :integer, :none},
          {"", Order, :none}
        ] do
      @tag text: text, type: type, expected: shown
      test "of #{text} as #{inspect(type)}", %{text: text, type: type, expected: expected} do
        for {_name, engine} <- Judge.engines() do
          options = [as: type] ++ engine

          if expected == :missing do
            assert {:error, %DecodeError{reason: :missing, path: "/orderLines/0/quantity"}} =
                     RustyJson.decode_partial(text, options)
          else
            assert shown(text, options) == if(expected == :none, do: :none, else: {:ok, expected})

            case RustyJson.decode_partial(text, options) do
              {:ok, value, :partial} -> assert value == expected
              {:ok, value, :complete} -> assert {:ok, value} == RustyJson.decode(text, options)
              {:error, error} -> assert {expected, error.reason} == {:none, :unexpected_end}
            end
          end
        end
      end
    end

    test "with trailing: :drop, strings wait until they are complete" do
      for {_name, engine} <- Judge.engines() do
        assert shown(~S({"@type":"ab), [as: Order, trailing: :drop] ++ engine) == {:ok, struct(Order)}

        assert shown(~S({"@type":"ab"), [as: Order, trailing: :drop] ++ engine) ==
                 {:ok, struct(Order, kind: "ab")}
      end

      check(@order, Order, trailing: :drop)
    end

    test "what needs options of keys or objects is shown when it is complete" do
      for {_name, engine} <- Judge.engines() do
        options = [as: {:map, :any}, objects: :ordered_objects] ++ engine
        assert shown(~S({"a":{"b":1), options) == {:ok, %{}}
        assert shown(~S({"a":{"b":1}), options) == {:ok, %{"a" => RustyJson.OrderedObject.new([{"b", 1}])}}
      end

      check(~S({"a":{"ok":[1,{"error":2}]}}), {:map, :any}, keys: :atoms!)
      check(~S({"a":{"ok":[1,{"error":2}]}}), {:map, :any}, objects: :ordered_objects)
    end
  end

  describe "every step" do
    for {text, type} <- [
          {@order, Order},
          {@all, All},
          {"[#{@all},\n#{@all}]", [All]},
          {~S({"value":1,"left":{"value":2.5,"right":null},"right":{"left":{"left":{}}}}), Node},
          {~S({"t":"twig","next":{"next":{"state":"green","t":"leaf"},"t":"twig"},"others":[{"kind":"twig","state":"brown"}]}),
           @tree},
          {~S([{"next":null,"t":"leaf","state":"green"},{"t":"leaf"}]), [@tree]},
          {~S(["a", [1, {"b" : 2}], 1.50]), [:raw]},
          {~S([1, 2.5, -3e2, 4]), [:float]},
          {~S({"a":{"b":[1,"c",{}]},"d":[]}), :any},
          {~S([true,null,false]), [{:nullable, :boolean}]},
          {~S([["a"],[],["b","c"]]), [[:string]]},
          {~S("é\ud83d\ude00"), :string},
          {~S([1e400]), [:decimal]}
        ] do
      test "of #{String.slice(text, 0, 60)} as #{inspect(type)}" do
        text = unquote(text)
        halves = for at <- 0..byte_size(text)//3, do: Tuple.to_list(String.split_at(text, at))
        type = unquote(Macro.escape(type))
        check(text, type, [], [[text], Streams.bytes(text) | halves])
        check(text, type, duplicate_keys: :error)
        check(text, type, duplicate_keys: :first)
        check(text, type, max_nodes: 1_000, errors: :all)
      end
    end

    for {text, type} <- [
          {~S({"a":"x"}), Square},
          {~S({"a":1,"b":1}), Square},
          {~S({}), Square},
          {~S([1,"x"]), [:string]},
          {"12", :string},
          {~S("abc"), :integer},
          {~S({"t":"nope","x":1}), @tree},
          {~S({"x":1}), @tree},
          {~S([{"t":1}]), [@tree]},
          {~S([{"t":"leaf","state":"grey"}]), [@tree]},
          {~S([{"state":"grey","t":"leaf"}, x]), [@tree]},
          {~S({"t":"twig","next":{"t":"leaf","state":"grey"}} ), @tree},
          {~S({"date":"2024-13-01"}), {:map, :date}},
          {~S([1.5]), [:integer]},
          {~S([1e400]), [:float]},
          {~S([1e99999999999]), [:decimal]},
          {"[1,]", [:integer]},
          {~S({"a" 1}), {:map, :any}},
          {~S(["a), [:string]},
          {~S({"id":1), Order},
          {~S([[1],2]), [[:integer]]},
          {~S({"a":[1]}), {:map, :integer}},
          {String.replace(@order, "\"sku\":\"bc\"", "\"sku\":12"), Order},
          {String.replace(@order, "\"quantity\":3", "\"q\":3"), Order},
          {String.replace(@all, "\"c d\"", "\"e\""), All},
          {@order <> "x", Order}
        ] do
      test "of #{String.slice(text, 0, 60)} … #{:erlang.phash2(text)} as #{inspect(type)}, which is wrong" do
        text = unquote(text)
        type = unquote(Macro.escape(type))
        check(text, type)
        check(text, type, errors: :all)
        check(text, type, duplicate_keys: :first)
        check(text, type, duplicate_keys: :error)
        check("\n" <> text, type, max_nodes: 100)
      end
    end

    test "of repeated keys" do
      text = ~S({"value":1,"left":{"value":2},"value":3,"left":{"value":4,"value":5}})
      check(text, Node, repeats: true)
      check(text, Node, repeats: true, duplicate_keys: :first)
      check(text, Node, duplicate_keys: :error)
      check(~S({"x":[{"y":1,"y":2}]}), Line, duplicate_keys: :error)

      # A map checks the values that it drops, too.
      for {text, type} <- [
            {~S({"a":1,"a":"x"}), {:map, :integer}},
            {~S({"a":1,"a":2,"b":3}), {:map, :integer}},
            {~S({"a":1,"a":1e400}), {:map, :any}},
            {~S({"a":1,"a":{"b":[2,"c"]},"d":"e"}), {:map, :any}},
            {~S({"a":"b","a":"c","a":"de"}), {:map, :string}},
            {~S({"a":["b"],"a":["c",1]}), {:map, [:string]}},
            {~S({"a":{"b":"c"},"a":{"b":"d","b":1}}), {:map, {:map, :string}}},
            {~S({"a":"2024-01-01","a":"2024-13-01"}), {:map, :date}},
            {~S({"a":{"t":"leaf"},"a":{"t":"twig","others":[{"t":"leaf"}]}}), {:map, @tree}},
            {~S({"a":{"t":"leaf"},"a":{"t":"leaf","state":"grey"}}), {:map, @tree}},
            {~S({"a":{"a":1},"a":{"a":3,"c":4}}), {:map, Square}}
          ] do
        halves = for at <- 1..(byte_size(text) - 1), do: Tuple.to_list(String.split_at(text, at))
        check(text, type, [repeats: true, duplicate_keys: :first], [[text], Streams.bytes(text) | halves])
      end

      # The tag decides again. Until the document is complete the value stands still.
      for text <- [
            ~S({"t":"leaf","state":"green","t":"twig","others":[]}),
            ~S([{"t":"leaf","t":"leaf"},1]),
            ~S({"t":"leaf","state":"grey","t":"twig"})
          ],
          options <- [[], [duplicate_keys: :first], [duplicate_keys: :error]],
          do: check(text, @tree, [repeats: true] ++ options)
    end

    test "of limits" do
      for most <- 1..12, do: check(~S({"a":[1,2,{"b":3}],"c":"d"}), :any, max_nodes: most)
      for most <- 1..4, do: check(~S([[{"a":[1]}]]), :any, max_depth: most)
      check(~S([12345678]), [:integer], decoding_integer_digit_limit: 4)
      check(~S([1.2345678]), [:decimal], max_decimal_digits: 4)
      check(~S([1e99]), [:decimal], max_decimal_exponent: 9)
      check(~S([1234567.8e9]), [:float], decoding_integer_digit_limit: 4, max_decimal_digits: 1)
    end

    test "of random documents, right and damaged" do
      for _run <- 1..150 do
        text = Gen.term(3) |> Gen.text()
        check(text, :any, repeats: true)
        check(Gen.damage(text), :any, repeats: true)
      end

      for _run <- 1..100,
          text = Enum.random([@order, @all]),
          do: check(Gen.damage(text), Enum.random([Order, All, :any]), repeats: true)
    end
  end

  test "an error comes with the bytes that make it certain" do
    for {_name, engine} <- Judge.engines(),
        {text, type, reason, path} <- [
          {~S({"id":"), Order, :type, "/id"},
          {~S({"id":[), Order, :type, "/id"},
          {~S({"state":"x"), Order, :enum, "/state"},
          {~S({"placedOn":"x"), Order, :type, "/placedOn"},
          {~S({"orderLines":[{"sku":1,), Order, :type, "/orderLines/0/sku"},
          {~S({"orderLines":[{}), Order, :missing, "/orderLines/0/sku"},
          {~S({"a":1,"b":), Square, :unknown_key, ""},
          {~S({"a":1,"b" :), Square, :unknown_key, ""},
          {~S([{"state":1,"t":"leaf"}), [@tree], :type, "/0/state"}
        ] do
      {before, last} = String.split_at(text, -1)
      # A key is told behind its closing quote, and certain with its colon.
      new = Partial.new([as: type] ++ engine)
      partial = Enum.reduce(Streams.bytes(before), new, &elem(Partial.push(&2, &1), 1))
      assert {:error, %DecodeError{reason: ^reason, path: ^path}} = Partial.push(partial, last)
    end
  end

  test "an error of a type is the same wherever the text is cut, also where decode/2 looks at all of the text before" do
    for {_name, engine} <- Judge.engines(),
        {text, type, options, path} <- [
          {~S({"a":"x","b":1,"b":2}), {:map, :integer}, [duplicate_keys: :error], "/a"},
          {~S({"a":"x","b":1,"b":2}), {:map, :integer}, [duplicate_keys: :error, lenient: [:prose]], "/a"},
          {~S([{"id":1,"@type":[1,2,3]}]), [Order], [max_nodes: 6], "/0/@type"}
        ],
        at <- 0..byte_size(text) do
      {first, second} = String.split_at(text, at)

      result =
        with {:ok, partial} <- Partial.push(Partial.new([as: type] ++ options ++ engine), first),
             do: Partial.push(partial, second)

      assert {:error, %DecodeError{reason: :type, path: ^path}} = result

      assert {:error, %DecodeError{reason: other}} =
               RustyJson.decode(text, [as: type] ++ Keyword.drop(options, [:lenient]) ++ engine)

      assert other != :type
    end
  end

  test "an error in a value that a map drops comes as early" do
    for {_name, engine} <- Judge.engines(),
        {before, last, type} <- [
          {~S({"a":1,), ~S("a":"x"), {:map, :integer}},
          {~S({"a":["b"],"a":["c",), "1,", {:map, [:string]}},
          {~S({"a":{"b":1},"a":{"b":), "[", {:map, {:map, :integer}}}
        ] do
      new = Partial.new([as: type, duplicate_keys: :first] ++ engine)
      assert {:ok, partial} = Partial.push(new, before)
      assert {:error, %DecodeError{reason: :type, path: "/a" <> _}} = Partial.push(partial, last)
      assert {:error, %DecodeError{reason: :type}} = Partial.push(new, before <> last)
    end
  end

  test "changes name the fields of structs" do
    {:ok, changes, partial} = Partial.push_changes(Partial.new(as: Order), ~S({"orderLines":[{"sku":"a))
    line = struct(Line)

    assert changes == [
             {"", {:set, struct(Order)}},
             {"/order_lines", {:set, []}},
             {"/order_lines/0", {:set, line}},
             {"/order_lines/0/sku", {:set, "a"}}
           ]

    {:ok, changes, _partial} = Partial.push_changes(partial, ~S(b","quantity":2},{"x":"y))
    assert [{"/order_lines/0/sku", {:append, "b"}}, {"/order_lines/0/quantity", {:set, 2}}, _] = changes
  end

  test "members without a field make no atoms, and their values are not kept" do
    {:ok, partial} = Partial.push(Partial.new(as: Line), ~S({"no_such_atom_here_1":{"no_such_atom_here_2":[))
    atoms = :erlang.system_info(:atom_count)

    partial =
      Enum.reduce(1..200, partial, fn n, partial ->
        {:ok, partial} = Partial.push(partial, ~s({"no_such_atom_#{n}_x":"#{String.duplicate("y", 1_000)}"},))
        partial
      end)

    assert :erlang.system_info(:atom_count) == atoms
    assert {:ok, %Line{}} = Partial.value(partial)
    assert :erts_debug.flat_size(Map.delete(partial, :text)) < 5_000
  end

  # Pushes a text byte by byte, up to its first error.
  defp push_bytes(bytes, options) do
    Enum.reduce_while(bytes, Partial.new(options), fn byte, partial ->
      case Partial.push(partial, byte) do
        {:ok, partial} -> {:cont, partial}
        {:error, _error} -> {:halt, nil}
      end
    end)
  end

  # Ten times the text takes less than thirty times as long: a square takes a hundred times. Other tests run at the same time, and the best
  # of runs of a second is further from the best possible than that of runs of 50 ms: alone, a byte took 2.2 to 3.9 µs, long text or short.
  defp linear(text, size, options) do
    [short, long] = for size <- [size, 10 * size], do: Streams.bytes(text.(size))
    Clock.ratio(30, fn -> push_bytes(long, options) end, fn -> push_bytes(short, options) end)
  end

  describe "long documents" do
    test "take time in proportion to their length, byte by byte" do
      row = ~S({"sku":"a-1","quantity":2,"price":1.5,"other":[1,2]},)

      text =
        &(~s({"sku":"#{String.duplicate("x", 10 * &1)}","quantity":1,"lines":[) <> String.duplicate(row, &1))

      for {_name, engine} <- Judge.engines(), do: linear(text, 400, [as: {:map, :any}] ++ engine)
    end

    test "lists of 1,000 structs" do
      lines = for n <- 1..1_000, do: %Line{sku: "sku #{n}", quantity: n, price: nil}
      text = RustyJson.encode!(lines)
      pieces = Streams.pieces(text, 20)

      for {_name, engine} <- Judge.engines() do
        partial = Enum.reduce(pieces, Partial.new([as: [Line]] ++ engine), &elem(Partial.push(&2, &1), 1))

        assert Partial.value(partial) == {:ok, lines}
        assert Partial.finish(partial) == {:ok, lines}
      end
    end

    test "tagged structs in each other, with the tag last, and wrong ones" do
      for {_name, engine} <- Judge.engines(), tag <- ["leaf", "none"] do
        text = &(String.duplicate(~S({"next":), &1) <> "null" <> String.duplicate(~s(,"t":"#{tag}"}), &1))

        linear(text, 300, [as: @tree, max_depth: :infinity] ++ engine)
      end
    end
  end

  test "inspect/1 is one short line" do
    {:ok, partial} = Partial.push(Partial.new(as: Order), ~S({"id":7,"orderLines":[))
    assert inspect(partial) == "#RustyJson.Partial<22 bytes, 2 open>"
  end

  test "options that are none" do
    assert_raise ArgumentError, ~r/^unknown type String, did you mean :string\?/, fn ->
      Partial.new(as: String)
    end

    for new <- [&Partial.new/1, &RustyJson.decode_partial("1", &1)],
        options <- [[raw: ["/a"]], [raw: ["/a"], as: Order]] do
      error = assert_raise ArgumentError, fn -> new.(options) end

      assert ["unknown option :raw: a partial document takes", accepted] =
               String.split(error.message, " :trailing, ")

      refute accepted =~ ":raw"
    end

    assert_raise ArgumentError, ~r/:as or :lenient/, fn -> Partial.finish(Partial.new(), as: Order) end
  end

  test "finish/2 takes another type" do
    {:ok, partial} = Partial.push(Partial.new(as: :any), ~S({"sku":1}))
    assert {:error, %{errors: errors}} = Partial.finish(partial, as: Line, errors: :all)
    assert Enum.map(errors, &{&1.reason, &1.path}) == [type: "/sku", missing: "/quantity"]
  end

  test "elements before a wrong one are shown, however many come in one piece" do
    text =
      ~S([{"sku":"a","quantity":1},{"sku":"b","quantity":2},{"sku":3,"quantity":3},{"sku":"d","quantity":4})

    shown = [struct!(Line, sku: "a", quantity: 1), struct!(Line, sku: "b", quantity: 2)]

    for {options, ended} <- [
          {[errors: :all], &match?({:ok, ^shown, :partial}, &1)},
          {[], &match?({:error, _}, &1)}
        ] do
      assert ended.(RustyJson.decode_partial(text, [as: {:list, Line}] ++ options))
    end

    for wrong <- [1, 2, 7] do
      numbers = for number <- 1..8, do: if(number == wrong, do: "x", else: number)
      text = "[" <> Enum.map_join(numbers, ",", &inspect/1)
      before = Enum.to_list(1..(wrong - 1)//1)
      assert RustyJson.decode_partial(text, as: {:list, :integer}, errors: :all) == {:ok, before, :partial}
    end
  end

  # The type was prepared again for each value, which takes 100 ms with 50,000 names.
  test "values of an enum that is too long to be kept" do
    names = for n <- 1..20_000, do: :"a_name_of_an_enum_#{n}"
    pieces = List.duplicate(~s("a_name_of_an_enum_20000",), 30)

    for {_name, engine} <- Judge.engines() do
      partial = Partial.new([as: [{:nullable, {:enum, names}}]] ++ engine)
      {:ok, partial} = Partial.push(partial, "[")
      {:reductions, before} = Process.info(self(), :reductions)

      partial =
        Enum.reduce(pieces, partial, fn piece, partial ->
          {:ok, partial} = Partial.push(partial, piece)
          partial
        end)

      {:reductions, reductions} = Process.info(self(), :reductions)
      assert Partial.value(partial) == {:ok, List.duplicate(:a_name_of_an_enum_20000, 30)}
      assert reductions - before < 1_000_000
      # No atom, another atom, and a string that is longer than any.
      for text <- ["no_atom_has_this_name", "ok", String.duplicate("x", 2_000)],
          do: assert({:error, %{reason: :enum}} = Partial.push(partial, ~s("#{text}",)))
    end
  end
end
