defmodule RustyJson.JsonApiTest do
  @moduledoc """
  The functions of Elixir's `JSON`: callbacks of `decode/3`, encoders that are functions. Where OTP or Elixir has them, they are the judge.
  """

  use ExUnit.Case, async: false

  alias RustyJson.Test.{Corpus, Gen, Judge}

  # Elixir 1.18 has them.
  @compile {:no_warn_undefined, [JSON, JSON.Encoder]}

  # The configured engine decides, so each of them is configured in turn.
  defp each_engine(fun) do
    before = Application.fetch_env(:rustyjson, :engine)

    try do
      for {name, options} <- Judge.engines(), name != :wasmex do
        Application.put_env(:rustyjson, :engine, options[:engine])
        RustyJson.Config.reload()
        fun.(name)
      end
    after
      case before do
        {:ok, engine} -> Application.put_env(:rustyjson, :engine, engine)
        :error -> Application.delete_env(:rustyjson, :engine)
      end

      RustyJson.Config.reload()
    end
  end

  # What each callback was called with, as the accumulator.
  defp recording do
    [
      array_start: &[{:array_start, &1}],
      array_push: &[{:array_push, &1} | &2],
      array_finish: &{{:array, Enum.reverse(&1)}, [:after | List.wrap(&2)]},
      object_start: &[{:object_start, &1}],
      object_push: &[{:object_push, &1, &2} | &3],
      object_finish: &{{:object, Enum.reverse(&1)}, [:after | List.wrap(&2)]},
      float: &{:float, &1},
      integer: &{:integer, &1},
      string: &{:string, &1},
      null: :nothing
    ]
  end

  @texts [
    "[]",
    "{}",
    ~s( [1, -2.50, 1e5, 1E-2, 0, 0.0, 12345678901234567890] ),
    ~s({"a": {"b": [null, true, false]}, "a": "x\\u0041\\n", "": []} rest),
    "[[], [[]], {\"k\": {}}]",
    "12 ",
    "12",
    "1.5e3",
    "\"text\" ,",
    "null[",
    "true"
  ]

  test "each callback, in its order" do
    expected = %{
      "[]" => {{:array, [{:array_start, :acc}]}, [:after, :acc], ""},
      "12" => {{:integer, "12"}, :acc, ""},
      "null[" => {:nothing, :acc, "["},
      "1.5e3" => {{:float, "1.5e3"}, :acc, ""},
      "[1e999]" => {{:array, [{:array_start, :acc}, {:array_push, {:float, "1.0e999"}}]}, [:after, :acc], ""}
    }

    each_engine(fn name ->
      for {text, result} <- expected,
          do: assert({name, RustyJson.decode(text, :acc, recording())} == {name, result})

      inner = {:array, [{:array_start, [{:object_start, 0}]}, {:array_push, {:integer, "1"}}]}

      assert RustyJson.decode(~s({"a":[1],"a":2}), 0, recording()) ==
               {{:object,
                 [
                   {:object_start, 0},
                   :after,
                   {:object_push, {:string, "a"}, inner},
                   {:object_push, {:string, "a"}, {:integer, "2"}}
                 ]}, [:after, 0], ""},
             "#{name}"
    end)
  end

  test "a float of any size reaches its callback" do
    numbers =
      ~w(1.5e281474976710656 1.0e-281474976710656 -2.0E+99999999999999999999 1.5e281474976710655 0.0e999)

    text = "[" <> Enum.join(numbers, ",") <> "]"
    decoders = %{float: & &1}

    each_engine(fn name ->
      assert {name, :rustyjson.decode(text, :acc, decoders)} == {name, {numbers, :acc, ""}}

      assert {name, RustyJson.decode("1e281474976710656 ", :acc, decoders)} ==
               {name, {"1.0e281474976710656", :acc, ""}}

      for size <- 1..(byte_size(text) - 1) do
        {first, rest} = {binary_part(text, 0, size), binary_part(text, size, byte_size(text) - size)}
        {:continue, state} = :rustyjson.decode_start(first, :acc, decoders)
        assert {name, :rustyjson.decode_continue(rest, state)} == {name, {numbers, :acc, ""}}
      end
    end)
  end

  test "invalid UTF-8 is an error, also where the configuration accepts it" do
    Application.put_env(:rustyjson, :decode, validate_strings: false)

    each_engine(fn name ->
      for decoders <- [[], [integer: & &1], [string: & &1]],
          do:
            assert(
              {name, RustyJson.decode(<<"[1,", ?", 255, ?", "]">>, nil, decoders)} ==
                {name, {:error, {:invalid_byte, 4, 255}}}
            )
    end)
  after
    Application.delete_env(:rustyjson, :decode)
    RustyJson.Config.reload()
  end

  test "every subset of the callbacks agrees with JSON.decode/3" do
    if Code.ensure_loaded?(JSON) do
      each_engine(fn name ->
        for _ <- 1..150 do
          decoders = Enum.filter(simple(), fn _ -> Enum.random([true, false]) end)

          for text <- @texts do
            theirs = otp(text, decoders)
            assert {name, text, decoders, ours(text, decoders)} == {name, text, decoders, theirs}
            if not match?({:error, _}, theirs), do: assert(erlang(text, decoders) == theirs)
          end
        end
      end)
    end
  end

  # Callbacks that go with the defaults of the others.
  defp simple do
    [
      array_push: &[{:pushed, &1} | &2],
      array_finish: &{{:elements, Enum.reverse(&1)}, &2},
      object_push: &[{&1, {:pushed, &2}} | &3],
      object_finish: &{{:members, Enum.reverse(&1)}, &2},
      float: &{:float, &1},
      integer: &{:integer, &1},
      string: &{:string, &1},
      null: {:null}
    ]
  end

  test "documents at random, and with a byte that is wrong" do
    if Code.ensure_loaded?(JSON) do
      each_engine(fn name ->
        Gen.check(200, fn -> Gen.text(Gen.term(3)) end, fn text ->
          assert ours(text, recording()) === otp(text, recording()), "#{name}"
          damaged = binary_part(text, 0, Enum.random(0..(byte_size(text) - 1)))
          assert ours(damaged, []) === otp(damaged, []), "#{name}"
        end)
      end)
    end
  end

  for part <- ~w(JSONTestSuite/test_parsing JSONTestSuite/test_transform) do
    if Corpus.skip(part), do: @tag(skip: Corpus.skip(part))

    test "#{part}: values, rests and errors of JSON.decode/3" do
      if Code.ensure_loaded?(JSON) do
        other =
          for file <- Corpus.names(unquote(part), "*.json"),
              text = Corpus.read!(unquote(part), file),
              file not in ["n_structure_100000_opening_arrays.json", "n_structure_open_array_object.json"],
              ours = RustyJson.decode(text, nil, []),
              theirs = JSON.decode(text, nil, []),
              ours !== theirs,
              not documented?(ours, theirs),
              do: {file, text, ours, theirs}

        assert other == []
      end
    end
  end

  # docs/erlang.md and docs/migrating-from-json.md list these.
  defp documented?({:error, _}, {value, nil, rest}) when value in [0, -0.0] or is_number(value),
    do: rest != ""

  # Of a wrong literal, such as `truth`, `JSON` names the second byte.
  defp documented?({:error, {:invalid_byte, at, _}}, {:error, {:invalid_byte, other, _}}), do: at - other < 4
  defp documented?({:error, {:unexpected_sequence, _, _}}, {:error, {:unexpected_end, _}}), do: true
  defp documented?({:error, {:unexpected_sequence, _, _}}, {:error, {:invalid_byte, _, _}}), do: true
  defp documented?({:error, {:unexpected_sequence, at, _}}, {:error, {:unexpected_sequence, at, _}}), do: true
  defp documented?({:error, {:invalid_byte, _, _}}, {:error, {:unexpected_end, _}}), do: true
  defp documented?({:error, {:byte_order_mark, 0}}, {:error, _}), do: true
  defp documented?({:error, {:max_depth, _}}, _), do: true
  defp documented?(_ours, _theirs), do: false

  test "errors" do
    each_engine(fn name ->
      for {text, error} <- [
            {"", {:unexpected_end, 0}},
            {"[1,", {:unexpected_end, 3}},
            {~s({"a), {:unexpected_end, 3}},
            {"[1, x]", {:invalid_byte, 4, ?x}},
            {~S(["a\x"]), {:invalid_byte, 4, ?x}},
            {"[-Infinity]", {:invalid_byte, 2, ?I}},
            {<<?", 255, ?">>, {:invalid_byte, 1, 255}},
            {~S(["\ud800\u0041"]), {:unexpected_sequence, 2, ~S(\ud800\u0041)}},
            {~S(["\uzzzz"]), {:unexpected_sequence, 2, ~S(\uzzzz)}},
            {"[1e999]", {:unexpected_sequence, 1, "1e999"}},
            {String.duplicate("[", 200), {:max_depth, 128}}
          ] do
        assert {name, text, RustyJson.decode(text, :acc, [])} == {name, text, {:error, error}}
        assert {name, text, RustyJson.decode(text, :acc, string: & &1)} == {name, text, {:error, error}}
      end
    end)
  end

  test "a decoder that raises is not caught, and none runs for an invalid value" do
    assert_raise RuntimeError, "mine", fn ->
      RustyJson.decode("[1.5]", nil, float: fn _ -> raise "mine" end)
    end

    assert catch_throw(RustyJson.decode("[1]", nil, integer: fn _ -> throw(:mine) end)) == :mine
    assert {:error, _} = RustyJson.decode("[1, x", nil, integer: fn _ -> raise "called" end)
  end

  test "wrong decoders" do
    for {decoders, message} <- [
          {[bogus: 1], ~r/^unknown decoder :bogus: decoders are :array_start/},
          {[flaot: 1], ~r/did you mean :float\?/},
          {[float: &{&1, &2}], ~r/^decoder :float takes a function of arity 1/},
          {:none, ~r/^decoders are a keyword list or a map, got: :none/}
        ] do
      assert_raise ArgumentError, message, fn -> RustyJson.decode("1", nil, decoders) end
    end

    assert_raise ArgumentError, ~r/array_finish and object_finish return/, fn ->
      RustyJson.decode("[]", nil, array_finish: fn _, _ -> :wrong end)
    end

    # Without array_finish the accumulator has to be a list, as in OTP.
    assert_raise ArgumentError, fn ->
      RustyJson.decode("[1]", nil, array_start: fn _ -> 0 end, array_push: &(&1 + &2))
    end

    assert_raise ArgumentError, fn -> :rustyjson.decode("1", nil, %{bogus: 1}) end
    assert_raise ArgumentError, fn -> :rustyjson.decode("1", nil, [:none]) end
  end

  test "values that come in pieces" do
    text = ~s({"a":[1.50,{"b":null}],"c":"é"} )

    each_engine(fn name ->
      for at <- 0..byte_size(text) do
        {first, rest} = :erlang.split_binary(text, at)
        decoders = Map.new(recording())

        result =
          case :rustyjson.decode_start(first, :acc, decoders) do
            {:continue, state} -> :rustyjson.decode_continue(rest, state)
            {value, acc, behind} -> {value, acc, behind <> rest}
          end

        {value, acc, _} = RustyJson.decode(text, :acc, recording())
        assert {^value, ^acc, rest} = result
        assert String.trim(rest) == "", "#{name} at #{at}"
      end
    end)
  end

  ## Encoders

  defmodule Plain do
    @derive {RustyJson.Encoder, only: [:b, :a], key_case: [a: "A"], omit: [nil]}
    defstruct [:a, :b, :c]
  end

  defmodule Kept do
    @derive RustyJson.Encoder
    defstruct [:a, b: false]
  end

  test "an encoder is called with each value and key" do
    parent = self()

    encoder = fn value, encoder ->
      send(parent, value)
      RustyJson.protocol_encode(value, encoder)
    end

    assert RustyJson.encode!([%{:a => 1, 2 => [nil, :x]}, 1.5], encoder) == ~s([{"2":[null,"x"],"a":1},1.5])

    for value <- [
          [%{:a => 1, 2 => [nil, :x]}, 1.5],
          %{:a => 1, 2 => [nil, :x]},
          "2",
          [nil, :x],
          nil,
          :x,
          "x",
          "a",
          1,
          1.5
        ],
        do: assert_received(^value)

    assert IO.iodata_to_binary(RustyJson.encode_to_iodata!([1], encoder)) == "[1]"
  end

  test "structs and other terms" do
    encoder = fn
      1, _encoder -> "one"
      other, encoder -> RustyJson.protocol_encode(other, encoder)
    end

    # Since OTP 26 the order of atoms in a map is not that of their names.
    members = %{a: ~s("a":null), b: ~s("b":false)}
    kept = "{" <> Enum.map_join(Map.keys(%Kept{}) -- [:__struct__], ",", &members[&1]) <> "}"

    each_engine(fn name ->
      for {term, text} <- [
            {%Plain{a: 1, b: [1]}, ~s({"b":[one],"A":one})},
            {%Plain{b: 2}, ~s({"b":2})},
            {%Kept{}, kept},
            {{1, 2}, "[one,2]"},
            {MapSet.new([1]), "[one]"},
            {1..2, ~s({"first":one,"last":2})},
            {RustyJson.OrderedObject.new(z: 1, a: 2), ~s({"z":one,"a":2})},
            {~D[2024-02-29], ~s("2024-02-29")},
            {RustyJson.Fragment.new("[ 1]"), "[ 1]"},
            {%{}, "{}"},
            {[], "[]"},
            {true, "true"},
            {"a\n", ~S("a\n")}
          ] do
        assert {name, RustyJson.encode!(term, encoder)} == {name, text}
        assert RustyJson.encode!(term, &RustyJson.protocol_encode/2) == RustyJson.encode!(term)
      end
    end)

    for term <- [self(), [1 | 2], "\xff", <<1::3>>] do
      assert_raise_any(fn -> RustyJson.encode!(term, encoder) end)
    end

    assert_raise ArgumentError, fn -> RustyJson.encode!(1, fn _, _ -> :no_iodata end) end
  end

  defp assert_raise_any(fun) do
    fun.()
    flunk("it does not raise")
  rescue
    error in [Protocol.UndefinedError, RustyJson.EncodeError] -> error
  end

  test "terms at random" do
    Gen.check(200, fn -> Gen.term(3) end, fn term ->
      assert RustyJson.encode!(term, &RustyJson.protocol_encode/2) == RustyJson.encode!(term)
    end)
  end

  if Code.ensure_loaded?(JSON) do
    defmodule OfElixir do
      @derive JSON.Encoder
      defstruct a: 1
    end

    test "as JSON does it" do
      encoder = fn protocol_encode ->
        fn
          1, _encoder -> "one"
          other, encoder -> protocol_encode.(other, encoder)
        end
      end

      for term <- [%{a: 1, b: [1, nil, :x]}, struct(OfElixir), ~T[12:00:00], [%{2 => 3.5}], "é\u2028"] do
        assert RustyJson.encode!(term, encoder.(&RustyJson.protocol_encode/2)) ==
                 JSON.encode!(term, encoder.(&JSON.protocol_encode/2))
      end
    end

    test "every function of JSON is one of RustyJson" do
      assert JSON.__info__(:functions) -- RustyJson.__info__(:functions) == []
    end
  end

  test "long lists and maps take no stack" do
    encoder = fn
      number, _encoder when is_integer(number) ->
        self() |> Process.info(:stack_size) |> elem(1) |> to_string()

      other, encoder ->
        RustyJson.protocol_encode(other, encoder)
    end

    for term <- [Enum.to_list(1..10_000), Map.new(1..10_000, &{"k#{&1}", &1})] do
      sizes = ~r/\d+/ |> Regex.scan(term |> RustyJson.encode!(encoder) |> String.replace(~r/"k\d+":/, ""))
      assert length(sizes) == 10_000
      assert sizes |> List.flatten() |> Enum.map(&String.to_integer/1) |> Enum.max() < 1_000
    end
  end

  ## Both sides

  defp ours(text, decoders), do: RustyJson.decode(text, :acc, with_null(decoders))

  defp erlang(text, decoders), do: :rustyjson.decode(text, :acc, Map.new(with_null(decoders)))
  defp otp(text, decoders), do: JSON.decode(text, :acc, with_null(decoders))

  defp with_null(decoders), do: Keyword.put_new(decoders, :null, nil)
end
