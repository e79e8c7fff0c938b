defmodule RustyJson.BrokenTermsTest do
  @moduledoc "Structs that nobody's functions made, and encoders that give no text: an error, and no exception, from every engine."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.{Gen, Judge, Structs}

  defmodule Gives do
    @moduledoc "Its implementation returns whatever it holds."
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, _opts), do: value
    end
  end

  defmodule Text do
    @moduledoc "A key whose `String.Chars` gives whatever it holds."
    defstruct [:value]

    defimpl String.Chars do
      def to_string(%{value: value}) when is_function(value), do: value.()
      def to_string(%{value: value}), do: value
    end
  end

  @options [
    [],
    [pretty: true],
    [sort_keys: true],
    [maps: :strict],
    [max_bytes: 10_000],
    [compress: :gzip],
    [escape: :html_safe]
  ]

  defp decimal(fields),
    do: Map.merge(%{__struct__: Decimal, sign: 1, coef: 1, exp: 0}, Map.new(fields))

  # The failing term at the root, and in the middle where the path has to say so.
  defp assert_error(term, reason, message) do
    for options <- @options do
      assert {:error, %EncodeError{} = error} = Judge.encode(term, options)
      assert {error.reason, error.path} == {reason, ""}, inspect({term, options, error})
      assert error.message =~ message
      assert String.valid?(error.message)
      refute error.message =~ "\n"

      among = [1, %Structs.AsText{text: "a"}, %{"k" => [%Structs.AsText{text: "b"}, term]}]
      assert {:error, %EncodeError{reason: ^reason, path: path}} = Judge.encode(among, options)
      assert path == "/2/k/1", inspect({term, options})
    end
  end

  test "calendar structs" do
    utc = ~U[2020-01-01 00:00:00Z]

    for {struct, changes} <- [
          {~D[2020-01-01], [%{year: "x"}, %{day: nil}, %{calendar: NoSuchCalendar}, %{calendar: 5}]},
          {~T[01:02:03], [%{hour: :x}, %{microsecond: 5}, %{microsecond: {5, 9}}, %{microsecond: {-5, 6}}]},
          # Elixir knows no leap second.
          {~T[01:02:03], [%{hour: 24}, %{second: 60}, %{microsecond: {5, 6, :x}}]},
          {~N[2020-01-01 01:02:03], [%{minute: 1.5}, %{year: self()}, %{hour: 99}]},
          {utc, [%{minute: 75}, %{utc_offset: "x"}, %{std_offset: nil}, %{zone_abbr: 5, year: nil}]}
        ] do
      for change <- changes do
        assert_error(Map.merge(struct, change), :invalid_struct, "invalid #{inspect(struct.__struct__)}: %{")
      end

      field = if struct.__struct__ == Time, do: :hour, else: :month
      assert_error(Map.delete(struct, field), :invalid_struct, "invalid #{inspect(struct.__struct__)}: %{")
    end
  end

  test "URI, MapSet and Range" do
    uri = URI.parse("http://a/b")

    for change <- [%{host: 5}, %{path: {1}}, %{path: "b"}, %{port: "x"}, %{query: %{}}, %{scheme: 1}],
        do: assert_error(Map.merge(uri, change), :invalid_struct, "invalid URI: %{")

    assert_error(Map.delete(uri, :path), :invalid_struct, "invalid URI: %{")
    assert_error(Map.put(MapSet.new([1]), :map, 5), :invalid_struct, "invalid MapSet: %{")
    assert_error(Map.delete(MapSet.new([1]), :map), :invalid_struct, "invalid MapSet: %{")
    assert_error(Map.delete(1..2, :last), :invalid_struct, "invalid Range: %{")

    for change <- [%{first: 1.5}, %{last: "x"}, %{step: nil}, %{step: [password: "x"]}],
        do: assert_error(Map.merge(1..2, change), :invalid_struct, "invalid Range: %{")
  end

  test "Decimal" do
    for fields <- [[coef: "x"], [coef: :foo], [coef: 1.5], [exp: "x"], [exp: nil, coef: 5]],
        do: assert_error(decimal(fields), :invalid_struct, "invalid Decimal: %{")

    assert_error(Map.delete(decimal([]), :exp), :invalid_struct, "invalid Decimal: %{")
  end

  test "a Decimal with an exponent beyond 64 bits is written, package or not" do
    huge = Integer.pow(2, 100)
    assert Judge.encode(decimal(exp: huge)) == {:ok, ~s("1E+#{huge}")}
    assert Judge.encode(decimal(exp: huge, coef: 123, sign: -1)) == {:ok, ~s("-1.23E+#{huge + 2}")}
    assert Judge.encode([decimal(exp: -huge, coef: 120)]) == {:ok, ~s(["1.20E-#{huge - 2}"])}
  end

  test "Fragment and OrderedObject" do
    for encode <- [5, :a, nil, <<1::3>>, %{}, fn -> "" end, fn _, _ -> "" end],
        do: assert_error(%Fragment{encode: encode}, :invalid_struct, "invalid RustyJson.Fragment: %{")

    assert_error(Map.delete(%Fragment{encode: "1"}, :encode), :invalid_struct, "RustyJson.Fragment")
    assert_error(Map.delete(%OrderedObject{}, :values), :invalid_struct, "RustyJson.OrderedObject")

    for values <- [5, %{}, %{a: 1}, nil],
        do: assert_error(%OrderedObject{values: values}, :invalid_struct, "invalid RustyJson.OrderedObject")
  end

  test "the path of an improper OrderedObject is its own, whether or not its members are gathered" do
    broken = %OrderedObject{values: [{"a", 1} | 2]}

    for options <- [[], [sort_keys: true], [maps: :strict], [omit: [nil]], [redact: ["b"]]],
        {term, path} <- [{broken, ""}, {[1, broken], "/1"}, {%{"x" => [broken]}, "/x/0"}] do
      assert {:error, error} = Judge.same(term, options, &RustyJson.encode(term, options ++ &1))
      assert {error.reason, error.path, options} == {:improper_list, path, options}
    end

    # Behind a value that Elixir encodes, too.
    own = Fragment.new(fn _ -> "2" end)

    for {term, path} <- [
          {[1, own | 3], ""},
          {%{"x" => [1, own | 3]}, "/x"},
          {%OrderedObject{values: [{"a", own} | 2]}, ""}
        ],
        options <- [[], [sort_keys: true]] do
      assert {:error, error} = Judge.same(term, options, &RustyJson.encode(term, options ++ &1))
      assert {error.reason, error.path, options} == {:improper_list, path, options}
    end
  end

  test "pairs of an OrderedObject that are none" do
    for values <- [[1], [{1, 2, 3}], [[1, 2]], [{"a", 1}, :b], [{~c"a", 1}, :b], [{~c"a", 1} | :b]],
        options <- @options,
        do: assert({:error, %EncodeError{}} = Judge.encode(%OrderedObject{values: values}, options))
  end

  # `decode(keys: :atoms)` makes the first three.
  test "maps with any value as __struct__" do
    modules = [
      nil,
      true,
      false,
      NoSuchModule,
      Any,
      Atom,
      BitString,
      Float,
      Function,
      Integer,
      List,
      Map,
      PID,
      Tuple,
      Enum
    ]

    for module <- modules, struct <- [%{__struct__: module}, %{:__struct__ => module, :a => 1, "b" => 2}] do
      for options <- [[redact: [:a]], [key_case: :camel], [omit: [nil]] | @options],
          term <- [struct, [struct], %{x: struct}] do
        assert {:error, %Protocol.UndefinedError{protocol: RustyJson.Encoder}} = Judge.encode(term, options)
      end

      for options <- [[], [pretty: true], [redact: [:a]]], term <- [[struct], %{x: [struct]}] do
        assert {:ok, text} = Judge.encode(term, [unsupported: fn _value -> "instead" end] ++ options)
        assert text =~ "instead"
        assert {:ok, _text} = Judge.encode(term, [unsupported: :inspect] ++ options)
      end

      assert {:ok, _text} = Judge.encode(struct, protocol: false)

      log =
        RustyJson.LogFormatter.format(%{level: :info, msg: {:report, %{a: struct}}, meta: %{time: 0}}, %{})

      assert {:ok, %{"level" => "info", "message" => _}} = log |> IO.iodata_to_binary() |> RustyJson.decode()
    end

    for other <- [1, "x", %{}], do: assert({:ok, _object} = Judge.encode(%{__struct__: other}))
  end

  test "what an encoder or a fragment gives instead of iodata" do
    for value <- [:x, nil, 5, 1.5, {1}, self(), fn -> 1 end, <<1::3>>] do
      assert_error(
        %Gives{value: value},
        :invalid_iodata,
        "RustyJson.Encoder.RustyJson.BrokenTermsTest.Gives returned"
      )

      assert_error(Fragment.new(fn _ -> value end), :invalid_iodata, "a fragment's function returned")
    end

    for value <- [[:x], ["1" | :x], [300], ["a", [[-1]]], [<<1::3>>]] do
      assert_error(%Gives{value: value}, :invalid_iodata, "iodata")
      assert_error(Fragment.new(fn _ -> value end), :invalid_iodata, "iodata")
      assert_error(Fragment.new(value), :invalid_iodata, "iodata")
    end

    assert_error(Fragment.new(fn _ -> %{} end), :invalid_iodata, "a fragment's function returned %{}")
  end

  test "text that is no iodata is an error wherever it is looked at or joined" do
    for bad <- [[300], ["1" | :x]], part <- [%Gives{value: bad}, Fragment.new(fn _ -> bad end)] do
      for redact <- [[], ["/a/b"]], {_engine, engine} <- Judge.engines() do
        options = [redact: redact] ++ engine

        for {term, path} <- [
              {%{a: part}, "/a"},
              {[%Gives{value: "1"}, 2, part], "/2"},
              {[%Gives{value: "1"}, 2, [part]], "/2/0"}
            ] do
          assert {:error, %EncodeError{reason: :invalid_iodata, path: ^path}} =
                   RustyJson.encode(term, options)

          for term <- [term, Map.new([{:l, RustyJson.lazy([1])}, {:t, term}])] do
            stream = RustyJson.encode_stream(term, options)
            assert %EncodeError{reason: :invalid_iodata, path: at} = catch_error(Stream.run(stream))
            assert String.ends_with?(at, path)
          end
        end
      end
    end
  end

  defmodule Account do
    @derive {Inspect, except: [:password]}
    defstruct [:name, :password]
  end

  test "the fields of a struct that its Inspect hides, in one of Elixir that is broken" do
    account = %Account{name: "ada", password: "s3cret"}

    for value <- [account, [account], {account, %{a: account}}, %{account => [account]}],
        term <- [
          %{~D[2024-02-29] | year: value},
          %Fragment{encode: {value}},
          %{URI.parse("http://x") | host: value}
        ] do
      assert {:error, %EncodeError{reason: :invalid_struct, message: message}} = Judge.encode(term)
      refute message =~ "s3cret"
      assert message =~ "RustyJson.BrokenTermsTest.Account"
    end
  end

  test "keys that are not text" do
    version = %{Version.parse!("1.2.3") | pre: 5}

    broken = [
      version,
      [:a],
      [97 | 98],
      [0xD800],
      %{URI.parse("http://a") | host: 5},
      %{~D[2020-01-01] | year: "x"}
    ]

    odd = [%Text{value: :x}, %Text{value: 5}, %Text{value: ~c"a"}, %Text{value: nil}]

    for key <- [decimal(coef: "x") | broken ++ odd], options <- @options do
      assert {:error, %EncodeError{reason: :invalid_key, path: "/0"}} = Judge.encode([%{key => 1}], options)
    end
  end

  # Fields of the right names with values of any kind, one or two of them wrong or gone.
  @values [
            nil,
            true,
            :inf,
            0,
            -1,
            12,
            2 ** 70,
            1.5,
            "",
            "x",
            "/p",
            <<255>>,
            <<1::3>>,
            [],
            [1],
            [?a],
            [1 | 2],
            [:a],
            {}
          ] ++
            [
              {5, 3},
              {-5, 3},
              %{},
              %{a: 1},
              Calendar.ISO,
              80,
              9999,
              3600,
              "Etc/UTC",
              [{"a", 1}],
              [{[:a], 1}],
              [{:a, 1} | 2]
            ]

  defp damaged do
    base =
      Enum.random([
        ~D[2020-01-01],
        ~T[01:02:03.5],
        ~N[2020-01-01 01:02:03],
        ~U[2020-01-01 00:00:00.123Z],
        URI.parse("http://u:p@a:80/b?c#d"),
        MapSet.new([1, :a]),
        1..3,
        decimal(coef: 15, exp: -1),
        Fragment.new("1"),
        OrderedObject.new(a: 1)
      ])

    for(_ <- 1..Enum.random(1..2), reduce: base, do: (struct -> damage(struct)))
  end

  defp damage(struct) do
    field = struct |> Map.keys() |> List.delete(:__struct__) |> Enum.random()
    if Enum.random(1..6) == 1, do: struct, else: Map.put(struct, field, Enum.random(@values))
  end

  test "whatever the fields are, engines agree, and nothing is raised" do
    around = [
      & &1,
      &[1, &1],
      &%{"k" => &1},
      &%{&1 => 1},
      &OrderedObject.new([{&1, 2}]),
      &MapSet.new([&1]),
      &{&1}
    ]

    without_protocol = [[protocol: false], [lean: true], [lean: true, sort_keys: true]]

    Gen.check(
      3_000,
      fn -> {Enum.random(around).(damaged()), Enum.random(@options ++ without_protocol)} end,
      fn
        {term, options} ->
          case Judge.encode(term, options) do
            {:ok, json} -> assert is_binary(json)
            {:error, %EncodeError{path: path}} -> assert String.valid?(path)
            {:error, %Protocol.UndefinedError{protocol: RustyJson.Encoder}} -> :ok
          end
      end
    )
  end

  defmodule Plain do
    defstruct [:a]
  end

  defmodule Spoken do
    defstruct [:a]
    defimpl(RustyJson.Encoder, do: def(encode(_, _), do: raise("called")))
  end

  test "no protocol is called where the call wants none, whatever the keys are" do
    for struct <- [%Plain{a: 1}, %Spoken{a: 1}],
        mode <- [
          [],
          [sort_keys: true],
          [maps: :strict],
          [key_case: :camel],
          [redact: ["x"]],
          [omit: [nil]],
          [pretty: true]
        ] do
      assert {:ok, json} = struct |> Map.put(~c"k", 1) |> Judge.encode([protocol: false] ++ mode)
      assert RustyJson.decode!(json) == %{"a" => 1, "k" => 1}
    end
  end

  test "what the code of someone else raises is theirs" do
    raises = fn -> raise "broken" end

    for term <- [%{%Text{value: raises} => 1}, Fragment.new(fn _ -> raises.() end)],
        do: assert({:raised, RuntimeError, "broken"} = Judge.encode([term]))
  end

  test "the path of an error is text, whatever the keys are" do
    assert {:error, %EncodeError{path: "/\uFFFDa", reason: :invalid_utf8}} = Judge.encode(%{<<255, ?a>> => 1})

    assert {:error, %EncodeError{path: path}} =
             Judge.encode([Fragment.new(~s({"\xFF":)), %Gives{value: [:x]}])

    assert String.valid?(path)
  end

  test "with pretty, fragments and texts of encoders obey max_depth" do
    deep = String.duplicate("[", 200) <> String.duplicate("]", 200)

    for part <- [Fragment.new(deep), Fragment.new(fn _ -> deep end), %Gives{value: deep}] do
      assert Judge.encode(part) == {:ok, deep}
      assert {:error, %EncodeError{reason: :max_depth} = error} = Judge.encode([%{"a" => part}], pretty: true)
      assert error.message == "nesting deeper than 128"
      assert String.starts_with?(error.path, "/0/a/0")
      assert {:ok, _} = Judge.encode([%{"a" => part}], pretty: true, max_depth: 202)
    end
  end

  test "with pretty, a fragment that is no JSON gives what it gives" do
    for {text, pretty} <- [{"{", "{"}, {"[1", "[\n  1"}, {"1]", "1\n]"}, {"", ""}, {"\"a", "\"a"}] do
      assert Judge.encode(Fragment.new(text)) == {:ok, text}
      assert Judge.encode(Fragment.new(text), pretty: true) == {:ok, pretty}
    end
  end
end
