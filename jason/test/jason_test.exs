defmodule JasonTest do
  use ExUnit.Case, async: true

  require Jason.Helpers

  for module <- [Jason, Jason.Fragment, Jason.Helpers, Jason.Sigil, Jason.OrderedObject, Jason.Formatter] do
    doctest module
  end

  doctest Jason.Place
  doctest Jason.Decimals

  # Text, message.
  @messages [
    {"", "unexpected end of input at position 0"},
    {"  ", "unexpected end of input at position 2"},
    {"nul", ~S|unexpected byte at position 0: 0x6E ("n")|},
    {"[tru]", ~S|unexpected byte at position 1: 0x74 ("t")|},
    {"-", "unexpected end of input at position 1"},
    {"-x", ~S|unexpected byte at position 1: 0x78 ("x")|},
    {"-Infinity", ~S|unexpected byte at position 1: 0x49 ("I")|},
    {"01", ~S|unexpected byte at position 1: 0x31 ("1")|},
    {"-012", ~S|unexpected byte at position 2: 0x31 ("1")|},
    {"1.", "unexpected end of input at position 2"},
    {"1.e1", ~S|unexpected byte at position 2: 0x65 ("e")|},
    {"1e", "unexpected end of input at position 2"},
    {"1e+", "unexpected end of input at position 3"},
    {"1.5e-]", ~S|unexpected byte at position 5: 0x5D ("]")|},
    {"[1e999]", ~S|unexpected sequence at position 1: "1e999"|},
    {"-1.5e999", ~S|unexpected sequence at position 0: "-1.5e999"|},
    {"[1,]", ~S|unexpected byte at position 3: 0x5D ("]")|},
    {"[1 2]", ~S|unexpected byte at position 3: 0x32 ("2")|},
    {"[[1],[]", "unexpected end of input at position 7"},
    {"]", ~S|unexpected byte at position 0: 0x5D ("]")|},
    {"[1}", ~S|unexpected byte at position 2: 0x7D ("}")|},
    {"{,", ~S|unexpected byte at position 1: 0x2C (",")|},
    {~S({"a"}), ~S|unexpected byte at position 4: 0x7D ("}")|},
    {~S({"a":1,}), ~S|unexpected byte at position 7: 0x7D ("}")|},
    {~S({"a":]), ~S|unexpected byte at position 5: 0x5D ("]")|},
    {~S({"a":1]), ~S|unexpected byte at position 6: 0x5D ("]")|},
    {"1 2", ~S|unexpected byte at position 2: 0x32 ("2")|},
    {"{} x", ~S|unexpected byte at position 3: 0x78 ("x")|},
    {~S("a), "unexpected end of input at position 2"},
    {~s("a\n"), ~S|unexpected byte at position 2: 0xA ("\n")|},
    {~s("a\0"), "unexpected byte at position 2: 0x0"},
    {<<?", "é", 0xC3, ?">>, "unexpected byte at position 3: 0xC3"},
    {~S("\k"), ~S|unexpected byte at position 2: 0x6B ("k")|},
    {~S("\x"), ~S|unexpected byte at position 1: 0x5C ("\\")|},
    {~S("\ ), ~S|unexpected byte at position 2: 0x20 (" ")|},
    {<<?", ?\\>>, ~S|unexpected byte at position 1: 0x5C ("\\")|},
    {~S("\u12), ~S|unexpected byte at position 1: 0x5C ("\\")|},
    {~S("\u12x4"), ~S|unexpected sequence at position 1: "\\u12x4"|},
    {~S("\uDC00"), ~S|unexpected sequence at position 1: "\\uDC00"|},
    {~S("\uD800"), ~S|unexpected byte at position 7: 0x22 ("\"")|},
    {~S("\uD800\n"), ~S|unexpected byte at position 7: 0x5C ("\\")|},
    {~S("\uD800\uDCxx"), ~S|unexpected sequence at position 7: "\\uDCxx"|},
    {~S("\uD800\uxx00"), ~S|unexpected sequence at position 1: "\\uD800\\uxx00"|},
    {~S("\uD800\uD800"), ~S|unexpected sequence at position 1: "\\uD800\\uD800"|}
  ]

  for {text, message} <- @messages do
    test "the error of #{inspect(text)}" do
      assert {:error, %Jason.DecodeError{data: unquote(text)} = error} = Jason.decode(unquote(text))
      assert Exception.message(error) == unquote(message)
      assert_raise Jason.DecodeError, unquote(message), fn -> Jason.decode!(unquote(text)) end
    end
  end

  test "an error has Jason's fields, and looks like Jason's" do
    assert Jason.decode("invalid") == {:error, %Jason.DecodeError{data: "invalid", position: 0, token: nil}}
    {:error, error} = Jason.decode("invalid")
    assert inspect(error) == ~S(%Jason.DecodeError{position: 0, token: nil, data: "invalid"})
    digits = String.duplicate("1", 2_000)
    assert {:error, %{token: ^digits, position: 1}} = Jason.decode("[#{digits}]")
  end

  test "decoding" do
    assert Jason.decode!(~S({"a":1,"a":2})) == %{"a" => 1}
    assert Jason.decode!(["[", ~c"1", "]"]) == [1]
    assert Jason.decode!(~S({"a":{"b":1}}), keys: :atoms) == %{a: %{b: 1}}
    assert Jason.decode!(~S({"a":1}), keys: &{&1}) == %{{"a"} => 1}
    assert Jason.decode!(~S({"a":1}), %{keys: :atoms, unknown: 1}) == %{a: 1}
    assert Jason.decode!("[1]", base: "x", bogus: true) == [1]
    assert_raise ArgumentError, fn -> Jason.decode(~S({"standin-no-such-atom":1}), keys: :atoms!) end
    deep = String.duplicate("[", 5_000) <> String.duplicate("]", 5_000)
    assert {:ok, [[_]]} = Jason.decode(deep)
    assert Jason.decode!(deep) |> Jason.encode!() == deep
  end

  test "ordered objects" do
    text = ~S({"b":{"d":1,"c":[{}]},"a":2})
    object = Jason.decode!(text, objects: :ordered_objects)
    assert %Jason.OrderedObject{values: [{"b", %Jason.OrderedObject{}}, {"a", 2}]} = object
    assert Jason.encode!(object) == text
    assert object["b"]["c"] == [%Jason.OrderedObject{values: []}]
    assert put_in(object["b"]["d"], 5)["b"]["d"] == 5
    assert {2, %Jason.OrderedObject{values: [{"b", _}]}} = Access.pop(object, "a")
    assert Enum.member?(object, {"a", 2}) and Enum.count(object) == 2
    # Keys are compared as in maps, except where a value is looked up.
    numbers = Jason.OrderedObject.new([{1, :a}])
    assert {nil, %{values: [{1.0, :b}, {1, :a}]}} = Access.get_and_update(numbers, 1.0, &{&1, :b})
    assert {:a, ^numbers} = Access.pop(numbers, 1.0)
  end

  defmodule Derived do
    @derive {Jason.Encoder, only: [:b, :a]}
    defstruct [:a, :b, :c]
  end

  defmodule Plain do
    defstruct [:a]
  end

  defmodule OnlyOurs do
    @derive RustyJson.Encoder
    defstruct [:a]
  end

  defmodule Both do
    @derive [{RustyJson.Encoder, only: [:a, :b]}, {Jason.Encoder, only: [:a, :b]}]
    defstruct [:a, :b]
  end

  defmodule Differs do
    @derive {RustyJson.Encoder, key_case: [a: "x"], omit: [nil]}
    @derive {Jason.Encoder, only: [:a]}
    defstruct [:a, :b]
  end

  defmodule Also do
    @derive {RustyJson.Encoder, only: [:first_name], key_case: :camel, also: [Jason.Encoder, JSON.Encoder]}
    defstruct [:first_name, :secret]
  end

  defmodule Angle do
    @derive Jason.Encoder
    defstruct [:"a<b"]
  end

  defmodule Own do
    defstruct [:value, :text]

    defimpl Jason.Encoder do
      def encode(%{text: text}, _opts) when text != nil, do: text
      def encode(%{value: value}, opts), do: Jason.Encode.list([value, value], opts)
    end
  end

  defimpl Jason.Encoder, for: Range do
    def encode(first..last//_, opts), do: Jason.Encode.string("#{first}-#{last}", opts)
  end

  defimpl Jason.Encoder, for: Tuple do
    def encode(tuple, opts), do: Jason.Encode.map(%{tuple: Tuple.to_list(tuple)}, opts)
  end

  test "structs" do
    for _again <- 1..3, {struct, text} <- structs() do
      assert Jason.encode!(struct) == text
      assert Jason.encode!([%{"x" => struct}, struct]) == ~s([{"x":#{text}},#{text}])
      assert struct |> Jason.encode!(pretty: true) |> Jason.Formatter.minimize() == text
    end

    assert Jason.encode!(%Angle{"a<b": "<"}, escape: :html_safe) == ~S({"a<b":"\u003C"})
    assert Jason.encode!(Jason.Helpers.json_map(nil: 1, <: 2)) == ~S({"nil":1,"<":2})
  end

  defp structs do
    [
      {%Derived{a: 1, b: [nil], c: self()}, ~S({"b":[null],"a":1})},
      {%OnlyOurs{a: %Derived{a: 1}}, ~S({"a":{"b":null,"a":1}})},
      {%Both{a: %Own{value: "x"}, b: 1..2}, ~S({"a":["x","x"],"b":"1-2"})},
      {%Differs{a: 1, b: 2}, ~S({"a":1})},
      {%Also{first_name: "A"}, ~S({"firstName":"A"})},
      {%Own{value: {1, {2}}}, ~S([{"tuple":[1,{"tuple":[2]}]},{"tuple":[1,{"tuple":[2]}]}])},
      {Jason.Fragment.new([?[, "1]"]), "[1]"},
      {RustyJson.Fragment.new("[1]"), "[1]"},
      {~D[2024-02-29], ~S("2024-02-29")}
    ]
  end

  test "RustyJson encodes the same structs by its own rules" do
    for _again <- 1..3 do
      assert RustyJson.encode!(%Derived{a: 1, b: 2}) == ~S({"b":2,"a":1})
      assert RustyJson.encode!([%Differs{a: 1}]) == ~S([{"x":1}])
      assert RustyJson.encode!(%Differs{a: nil, b: 2}) == ~S({"b":2})

      assert RustyJson.encode!({%Own{value: 1..2}, %Also{first_name: "A"}}) ==
               ~S([[{"first":1,"last":2},{"first":1,"last":2}],{"firstName":"A"}])

      assert RustyJson.encode!(Jason.Fragment.new("1")) == "1"
      assert RustyJson.encode!(Jason.OrderedObject.new(b: 1, a: {2})) == ~S({"b":1,"a":[2]})
      assert Jason.encode!(%Differs{a: 1}) == ~S({"a":1})
    end
  end

  test "what redact: names is hidden in a struct whose implementations differ" do
    Jason.encode!(1)
    shown = ~S({"x":{"secret":1},"b":"2"})
    value = %Differs{a: %{secret: 1}, b: "2"}

    for {redact, text} <- [
          {["c"], shown},
          {[:a], ~S({"x":"[REDACTED]","b":"2"})},
          {[contains: ["a"]], ~S({"x":"[REDACTED]","b":"2"})},
          {["/*/a"], ~S({"x":"[REDACTED]","b":"2"})},
          {["/0/*"], ~S({"x":"[REDACTED]","b":"[REDACTED]"})},
          {["/0/a/secret", "/0/b/secret"], ~S({"x":{"secret":"[REDACTED]"},"b":"2"})},
          {[:secret, :b], ~S({"x":{"secret":"[REDACTED]"},"b":"[REDACTED]"})}
        ],
        options <- [[], [key_case: :camel], [unsupported: :inspect]] do
      assert RustyJson.encode!([value], [redact: redact] ++ options) == "[#{text}]"
      assert RustyJson.encode!([%{value | a: Jason.Fragment.new(~S({"secret":1}))}], options) == "[#{shown}]"
    end

    # A hidden field does not tell that it is nil.
    assert RustyJson.encode!(%Differs{b: 1}, redact: [:a]) == ~S({"x":"[REDACTED]","b":1})
    assert RustyJson.encode!(%Differs{b: 1}) == ~S({"b":1})
  end

  test "a derived struct has a plan, and one that derives both has one" do
    for struct <- [%Derived{}, %Both{}, %OnlyOurs{}], do: Jason.encode!(struct)
    plans = RustyJson.Encoder.Plans.known(RustyJson.Options.encode([]))
    assert %{Derived => {:b, :a}, Both => {:a, :b}, OnlyOurs => {:a}} = plans
    refute is_map_key(plans, Differs)
  end

  test "what Jason does not encode" do
    for term <- [
          self(),
          make_ref(),
          fn -> 1 end,
          <<0::1>>,
          MapSet.new([1]),
          URI.parse("x"),
          %Plain{},
          [%Plain{}]
        ] do
      assert {:error, %Protocol.UndefinedError{protocol: Jason.Encoder} = error} = Jason.encode(term)
      assert_raise Protocol.UndefinedError, Exception.message(error), fn -> Jason.encode!(term) end
    end

    {:error, error} = Jason.encode(%Plain{})
    assert Exception.message(error) =~ "@derive {Jason.Encoder, only: [....]}"

    assert {:error, %Jason.EncodeError{message: "duplicate key: a"}} =
             Jason.encode(%{:a => 1, "a" => 1}, maps: :strict)

    assert {:error, %Jason.EncodeError{}} = Jason.encode(%{{} => 1})
  end

  # Elixir 1.20 shows more than the versions before.
  test "an error about invalid bytes shows as much of them as Elixir" do
    for text <- [<<255>>, String.duplicate("a", 60) <> <<255>>, String.duplicate("a", 200) <> <<255>>],
        do:
          assert(
            Jason.encode([text]) ==
              {:error, %Jason.EncodeError{message: "invalid byte 0xFF in #{inspect(text)}"}}
          )
  end

  test "calls of the protocol without options of a call" do
    assert IO.iodata_to_binary(Jason.Encoder.encode(~D[2024-02-29], [])) == ~S("2024-02-29")
    assert IO.iodata_to_binary(Jason.Encoder.encode(%Derived{a: 1}, %{})) == ~S({"b":null,"a":1})
    assert_raise Protocol.UndefinedError, fn -> Jason.Encoder.encode(%Plain{}, []) end
  end

  test "decimals are those of Jason" do
    if Code.ensure_loaded?(Decimal) do
      text = ~S({"1E2 x":[1E2,-10e-3,1.5e2,0e1],"e":"\"2E2"})
      assert %{"1E2 x" => [a, b, c, d], "e" => ~S("2E2)} = Jason.decode!(text, floats: :decimals)
      assert {a.coef, a.exp, b.coef, b.exp, c.coef, c.exp, d.coef} == {10, 1, 100, -4, 15, 1, 0}
      assert {:error, %{position: 5}} = Jason.decode("[1E2,", floats: :decimals)
      # The protocol writes them as `Decimal.to_string/1` does, and everything else without an exponent.
      decimal = Decimal.new("1E+3")
      assert {Jason.encode!(decimal), Jason.Encode.value(decimal, [])} == {~s("1000"), ~s("1000")}
      assert IO.iodata_to_binary(Jason.Encoder.encode(decimal, [])) == ~s("1E+3")
    else
      assert_raise ArgumentError, ~r/decimal library/, fn -> Jason.decode("1.5", floats: :decimals) end
    end
  end

  # The module of the sandbox may be under attack.
  test "an error about a number where there is none" do
    for at <- 0..1, reason <- [:integer_digits, :number_out_of_range] do
      error = Jason.Place.error(%RustyJson.DecodeError{reason: reason, position: at}, "x", %{})
      assert %Jason.DecodeError{position: ^at, token: nil} = error
      assert Exception.message(error) =~ "unexpected"
    end
  end

  test "fractions are added to numbers, and to nothing else" do
    # What stays, and what is changed.
    pieces =
      for(
        text <- [~S("1e1"), ~S("\\"), ~S("\"2E2"), ~S("é"), "10", "1.5e2", "-0.0E-1", "[]", "true"],
        do: {text, text}
      ) ++
        [{"0e1", "0.0e1"}, {"-12E+3", "-12.0E+3"}, {"1e-1", "1.0e-1"}]

    for _ <- 1..500 do
      {given, expected} = 1..Enum.random(1..8) |> Enum.map(fn _ -> Enum.random(pieces) end) |> Enum.unzip()
      [given, expected] = for texts <- [given, expected], do: Enum.join(texts, ",")
      assert Jason.Decimals.with_fractions(given) == if(given != expected, do: expected)
    end

    # Whatever the bytes are, it ends.
    for text <- ["", ~S("), <<?", ?\\>>, "1e", ".1e", <<0xFF, ?1, ?E>>],
        do: Jason.Decimals.with_fractions(text)
  end

  # A list of all strings took a hundred times the memory of the text.
  test "the memory for fractions is that of the text" do
    text = "[" <> String.duplicate(~S("a",1e1,), 100_000) <> "1]"
    limit = %{size: 100_000, kill: true, error_logger: false}

    {pid, monitor} =
      :erlang.spawn_opt(fn -> exit(Jason.Decimals.with_fractions(text)) end, [:monitor, max_heap_size: limit])

    assert_receive {:DOWN, ^monitor, :process, ^pid, changed}, 60_000
    assert changed == String.replace(text, "1e1", "1.0e1")
  end

  test "unknown modifiers and keys" do
    for {code, error} <- [
          {~S|import Jason.Sigil; ~j"1"x|, ArgumentError},
          {~S|import Jason.Helpers; json_map("a/b": 1)|, Jason.EncodeError},
          {~S|defmodule JasonTest.BadField do @derive Jason.Encoder; defstruct [:"a/b"] end|,
           Jason.EncodeError},
          {~S|Jason.Codegen.jump_table([], 1)|, ArgumentError}
        ],
        do: assert_raise(error, fn -> Code.eval_string(code) end)
  end

  # The message would show all of the list, which has no end where a part stands in others many times.
  test "a key that is a list of something else" do
    shared = fn -> Enum.reduce(1..60, "x", fn _, term -> %{a: term, b: term} end) end

    for {part, text} <- [
          {shared, "cannot convert the given list to a string: ["},
          {fn -> {} end, "\n\nTo be"}
        ] do
      task = Task.async(fn -> assert_raise(ArgumentError, fn -> Jason.encode(%{[part.()] => 1}) end) end)
      assert Task.await(task, 10_000).message =~ text
    end

    assert Jason.encode(%{["a" | "b"] => 1}) == {:ok, ~s({"ab":1})}
  end

  # Texts that Jason 1.4.5 gives.
  test "layouts of encoded terms" do
    several = Jason.Fragment.new(~S([1] [2]{"a":1}))

    for {term, pretty, text} <- [
          {%{a: [1, []]}, [], ~s({\n  "a": [\n    1,\n    []\n  ]\n})},
          {[%{a: 1}], [indent: [?>, ">"], line_separator: "|", after_colon: "="], ~s([|>>{|>>>>"a":=1|>>}|])},
          {[1], [indent: "x", indent: "y"], "[\ny1\n]"},
          {several, [indent: "\t"], ~s([\n\t1\n]\n[\n\t2\n]\n{\n\t"a": 1\n})},
          {several, [line_separator: "", indent: ""], ~s([1][2]{"a": 1})},
          {several, [line_separator: "|", record_separator: ";"], ~s([|  1|];[|  2|];{|  "a": 1|})},
          {[several], [indent: "\t", record_separator: ";"],
           ~s([\n\t[\n\t\t1\n\t][\n\t\t2\n\t]{\n\t\t"a": 1\n\t}\n])}
        ] do
      assert Jason.encode(term, pretty: pretty) == {:ok, text}
      assert Jason.encode!(term, %{pretty: pretty}) == text
    end
  end

  test "a layout has as many levels as the term" do
    levels = 1_100
    lines = for n <- 0..(levels - 1), do: String.duplicate("\t", n)
    expected = Enum.map_join(lines, &(&1 <> "[\n")) <> String.duplicate("\t", levels) <> "1"
    expected = expected <> Enum.map_join(Enum.reverse(lines), &("\n" <> &1 <> "]"))
    deep = Enum.reduce(1..levels, 1, fn _, inner -> [inner] end)

    for term <- [deep, Jason.Fragment.new(Jason.encode!(deep))],
        do: assert(Jason.encode(term, pretty: [indent: "\t"]) == {:ok, expected})
  end

  # What Jason 1.4.5 gives.
  test "a text that has nothing where an element stands is laid out as one text" do
    nothing = Jason.Fragment.new("")
    silent = %Own{value: nil, text: ""}

    for nothing <- [nothing, silent, Jason.Fragment.new([" ", []])],
        {term, text} <- [
          {nothing, ""},
          {[nothing], "[]"},
          {[[nothing], 1], "[\n  [],\n  1\n]"},
          {[nothing, nothing], "[,\n  \n]"},
          {%{a: nothing}, ~s({\n  "a": \n})},
          {[Jason.Fragment.new("1,2"), %{}], "[\n  1,\n  2,\n  {}\n]"}
        ],
        pretty <- [true, []] do
      assert Jason.encode(term, pretty: pretty) == {:ok, text}
    end
  end

  test "an error of the term comes before one of the layout" do
    for {term, error} <- [{<<255>>, Jason.EncodeError}, {self(), Protocol.UndefinedError}],
        layout <- [[indent: 4], nil, 4, [:x]] do
      assert {:error, %{__struct__: ^error}} = Jason.encode(term, pretty: layout)
      assert {:error, %{__struct__: ^error}} = Jason.encode_to_iodata(term, pretty: layout)
      assert_raise error, fn -> Jason.encode!(term, pretty: layout) end
      assert_raise ArgumentError, fn -> Jason.encode(term, escape: :unknown, pretty: layout) end
    end

    assert_raise ArgumentError, fn -> Jason.encode([1], pretty: [indent: 4]) end
  end

  test "options of a derivation" do
    derived = fn name, options ->
      module = Module.concat(__MODULE__, name)

      Code.eval_string("""
      defmodule #{inspect(module)} do
        @derive {Jason.Encoder, #{options}}
        defstruct [:a, :b]
      end
      """)

      Jason.encode!(struct(module))
    end

    # Jason looks at :only and :except alone, whatever else stands there.
    both = ~S({"a":null,"b":null})
    assert derived.("Listed", "[:a]") == both
    assert derived.("Unknown", "foo: 1, except: nil") == both
    assert derived.("First", "only: [:b], only: [:a]") == ~S({"b":null})
    assert derived.("OnlyWins", "only: [:a], except: [:a]") == ~S({"a":null})
    assert derived.("Nothing", "only: []") == "{}"
    assert derived.("False", "only: false, except: [:__struct__, :a]") == ~S({"b":null})
    # All fields would be encoded.
    for {name, options} <- [{"Atom", ":a"}, {"Map", "%{only: [:a]}"}, {"None", "nil"}],
        do: assert_raise(ArgumentError, ~r/takes a list/, fn -> derived.(name, options) end)
  end

  test "minimize looks at :record_separator alone" do
    assert Jason.Formatter.minimize("[ 1 ] [ 2 ]", indent: nil, record_separator: "|") == "[1]|[2]"
  end

  describe "code that was compiled with Jason" do
    # What Jason 1.4 generates: it takes the private options, and calls a private function.
    @stale """
    defmodule Stale do
      defstruct [:id]
      def part(id), do: %Jason.Fragment{encode: fn {escape, map} -> Jason.Encode.value(id, escape, map) end}

      defimpl Jason.Encoder do
        def encode(%{id: id}, {escape, map}), do: Jason.Encode.value(id, escape, map)
      end
    end
    """

    setup do
      dir = Path.join(System.tmp_dir!(), "rustyjson-stale-#{System.unique_integer([:positive])}")
      File.mkdir_p!(dir)
      Code.prepend_path(dir)

      ExUnit.CaptureIO.capture_io(:stderr, fn ->
        for {module, beam} <- Code.compile_string(@stale),
            do: File.write!(Path.join(dir, "#{module}.beam"), beam)
      end)

      on_exit(fn ->
        Code.delete_path(dir)
        File.rm_rf!(dir)
      end)
    end

    test "is named, with what to do" do
      stale = struct(Stale, id: 1)
      fragment = apply(Stale, :part, [1])

      for {name, encode} <- [
            {"Jason.Encoder.Stale", fn -> Jason.encode!(stale) end},
            {"Jason.Encoder.Stale", fn -> Jason.encode([%{a: stale}]) end},
            {"Jason.Encoder.Stale", fn -> RustyJson.encode!(stale) end},
            {"Jason.Encoder.Stale", fn -> RustyJson.encode!([%{a: stale}]) end},
            {"Stale", fn -> Jason.encode!([fragment]) end}
          ] do
        error = assert_raise ArgumentError, encode
        assert error.message =~ "#{name} was compiled with another :jason. Run `mix deps.compile --force`"
      end
    end

    test "is told from an encoder that does not take a value" do
      defmodule Narrow do
        defstruct [:id]

        defimpl Jason.Encoder do
          def encode(%{id: id}, _opts) when is_integer(id), do: Integer.to_string(id)
        end
      end

      assert_raise FunctionClauseError, fn -> Jason.encode(struct(Narrow, id: "1")) end
    end
  end
end
