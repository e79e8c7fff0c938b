defmodule RustyJson.ShapeTest do
  @moduledoc "`key_case:`, `omit:` and `redact:`, on the call and in `@derive`."
  use ExUnit.Case, async: true

  alias RustyJson.{Encode, Fragment, OrderedObject}
  alias RustyJson.Test.Judge

  defmodule Plain do
    @derive RustyJson.Encoder
    defstruct [:first_name, :last_name]
  end

  defmodule Twin do
    @derive {RustyJson.Encoder, only: [:last_name]}
    defstruct [:first_name, :last_name]
  end

  defmodule Camel do
    @derive {RustyJson.Encoder, only: [:_private, :a__b, :first_name], key_case: :camel}
    defstruct [:first_name, :last_name, :_private, :a__b]
  end

  defmodule Named do
    @derive {RustyJson.Encoder, only: [:first_name, :age], key_case: [first_name: "given/\"name"]}
    defstruct [:first_name, :last_name, :age]
  end

  defmodule Sparse do
    @derive {RustyJson.Encoder,
             only: [:first_name, :born_on, :pass_word], omit: [nil, Date], key_case: :camel}
    defstruct [:first_name, :born_on, :pass_word]
  end

  defmodule Full do
    @derive {RustyJson.Encoder, omit: []}
    defstruct [:first_name]
  end

  defmodule Same do
    @derive {RustyJson.Encoder, only: [:a, :b], key_case: [a: "x", b: "x"]}
    defstruct a: 1, b: 2
  end

  defmodule Own do
    defstruct [:pass_word]

    defimpl RustyJson.Encoder do
      def encode(%{pass_word: value}, opts),
        do: Encode.map(%{pass_word: value, at: %{pass_word: value}}, opts)
    end
  end

  defmodule NoEncoder do
    defstruct [:pass_word]
  end

  # The text in every engine, twice: the first time a struct's plan is not known yet.
  defp json(term, options) do
    texts = for {_, engine} <- Judge.engines(), _ <- 1..2, do: RustyJson.encode!(term, options ++ engine)

    assert [text] = Enum.uniq(texts)
    text
  end

  defp decoded(term, options), do: term |> json(options) |> RustyJson.decode!()

  defp errors(term, options) do
    for {_, engine} <- Judge.engines() do
      {:error, error} = RustyJson.encode(term, options ++ engine)
      error
    end
  end

  @modes [[], [sort_keys: true], [pretty: true], [maps: :strict], [escape: :html_safe]]

  describe "key_case" do
    test "atom keys become camel case, strings are data" do
      for {atom, name} <- [
            first_name: "firstName",
            _private_key: "_privateKey",
            __a: "__a",
            a__b: "aB",
            line_2_b: "line2B",
            HTTP_status: "HTTPStatus",
            ok?: "ok?",
            größe_äb: "größeäb"
          ] do
        assert json(%{atom => 1}, key_case: :camel) == RustyJson.encode!(%{name => 1})
        assert RustyJson.Encoder.Names.name(atom, :camel) == name
      end

      assert json(%{"first_name" => :first_name}, key_case: :camel) == ~s({"first_name":"first_name"})
    end

    test "in every kind of object" do
      term = [
        %{first_name: %{last_name: 1}},
        %Plain{first_name: 1, last_name: nil},
        OrderedObject.new(last_name: 1, first_name: 2),
        Fragment.new(&Encode.map(%{first_name: 1}, &1)),
        Fragment.new(&[?{, ?", Encode.key(:first_name, &1), ?", ":1}"]),
        %Own{pass_word: 1},
        %{~D[2024-02-29] => 1, first_name: 2}
      ]

      expected = [
        %{"firstName" => %{"lastName" => 1}},
        %{"firstName" => 1, "lastName" => nil},
        %{"firstName" => 2, "lastName" => 1},
        %{"firstName" => 1},
        %{"firstName" => 1},
        %{"passWord" => 1, "at" => %{"passWord" => 1}},
        %{"2024-02-29" => 1, "firstName" => 2}
      ]

      for mode <- @modes, do: assert(decoded(term, [key_case: :camel] ++ mode) == expected)
      assert decoded(Map.from_struct(%NoEncoder{}), key_case: :camel, protocol: false) == %{"passWord" => nil}
    end

    test "a map of names" do
      names = %{first_name: "given \"name\"", unused: "x"}
      assert json(%{first_name: 1}, key_case: names) == ~S({"given \"name\"":1})
      assert decoded(%Plain{first_name: 1}, key_case: names) == %{"given \"name\"" => 1, "last_name" => nil}
    end

    test "maps: :strict sees keys that become the same" do
      for error <- errors(%{first_name: 1, firstName: 2}, key_case: :camel, maps: :strict),
          do: assert(error.message == "duplicate key: firstName")

      for error <- errors(%{:first_name => 1, "firstName" => 2}, key_case: :camel, maps: :strict),
          do: assert(error.reason == :duplicate_key)

      for error <- errors(%Same{}, maps: :strict), do: assert(error.reason == :duplicate_key)
      assert json(%Same{}, []) == ~s({"x":1,"x":2})
    end

    test "a range is ordered and compared by its new names" do
      for range <- [1..9, 1..(2 ** 65)], last = range.last do
        assert json(range, sort_keys: true, key_case: %{first: "z"}) == ~s({"last":#{last},"z":1})
        assert json(range, key_case: %{first: "z"}) == ~s({"z":1,"last":#{last}})

        for error <- errors(range, maps: :strict, key_case: %{first: "last"}),
            do: assert(error.message == "duplicate key: last")
      end

      assert json(1..9//2, sort_keys: true, key_case: %{step: "a", first: "z"}, redact: ["z"]) ==
               ~s({"a":2,"last":9,"z":"[REDACTED]"})
    end

    test "large maps, sorted and not" do
      map = Map.new(1..3000, &{:"key_number_#{&1}", &1})
      expected = Map.new(map, fn {_, n} -> {"keyNumber#{n}", n} end)
      for mode <- @modes, do: assert(decoded(map, [key_case: :camel] ++ mode) == expected)
    end
  end

  describe "omit" do
    test "members, never elements" do
      term = %{
        a: nil,
        b: [nil, {nil}],
        c: %{d: nil},
        e: ~D[2024-02-29],
        f: %Plain{first_name: nil, last_name: 1}
      }

      expected = %{"b" => [nil, [nil]], "c" => %{}, "f" => %{"last_name" => 1}}

      for mode <- @modes do
        assert decoded(term, [omit: [nil, Date]] ++ mode) == expected
        assert decoded(%{"a" => nil}, [omit: [nil]] ++ mode) == %{}
        assert decoded(OrderedObject.new(a: nil, b: 1), [omit: [nil]] ++ mode) == %{"b" => 1}
        assert decoded(%Plain{}, [omit: [Plain]] ++ mode) == %{"first_name" => nil, "last_name" => nil}
        assert decoded(%{a: %Plain{}, b: %Own{}}, [omit: [Plain, Own]] ++ mode) == %{}
      end

      assert json([%{a: nil}, 1], omit: [nil], pretty: 0) == "[\n{},\n1\n]"
    end
  end

  describe "derive" do
    test "names and what is left out" do
      assert json(%Camel{first_name: 1}, []) == ~s({"_private":null,"aB":null,"firstName":1})
      assert json([%Named{first_name: 1, age: 2}], []) == ~S([{"given/\"name":1,"age":2}])
      assert json(%Sparse{}, []) == "{}"
      assert json([%Sparse{}, %Sparse{pass_word: 1}], []) == ~s([{},{"passWord":1}])
      assert json(%Sparse{first_name: 1, born_on: ~D[2024-02-29]}, []) == ~s({"firstName":1})

      # Sorted or compared, they were written all the same.
      for mode <- @modes,
          do: assert(decoded([%Sparse{first_name: 1}, %Sparse{}], mode) == [%{"firstName" => 1}, %{}])

      assert json(%Sparse{first_name: 1, pass_word: []}, pretty: true) |> RustyJson.decode!() ==
               %{"firstName" => 1, "passWord" => []}
    end

    test "beats the call" do
      for mode <- @modes do
        assert decoded(%Named{first_name: 1}, [key_case: :camel] ++ mode) == %{
                 "given/\"name" => 1,
                 "age" => nil
               }

        assert decoded(%Full{}, [omit: [nil], key_case: :camel] ++ mode) == %{"firstName" => nil}
        assert decoded(%Sparse{born_on: ~D[2024-02-29]}, [omit: [Plain]] ++ mode) == %{}
        assert decoded(%Sparse{first_name: %Plain{}}, [omit: [Plain]] ++ mode) |> map_size() == 1
      end
    end

    test "a struct that lost a field" do
      for {_, engine} <- Judge.engines(), struct <- [%Sparse{first_name: 1}, %Named{}, %Camel{}] do
        assert_raise KeyError, fn -> RustyJson.encode!([Map.delete(struct, :first_name)], engine) end
      end
    end

    test "bad options are compile errors" do
      for {options, message} <- [
            {[key_case: :snake], "`:key_case` takes"},
            {[key_case: [b: "x"]], "that are not defined in defstruct"},
            {[key_case: [a: :x]], "`:key_case` takes"},
            {[omit: nil, key_case: [a: String.duplicate("x", 256)]], "255 characters"},
            {[omit: [true]], "`:omit` takes"}
          ] do
        assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, fn ->
          defmodule Bad do
            @derive {RustyJson.Encoder, options}
            defstruct [:a]
          end
        end
      end
    end
  end

  describe "redact" do
    test "of a struct that lacks a field, the error is the same in both engines" do
      lacking = Map.delete(%Plain{first_name: <<255>>, last_name: 1}, :last_name)

      for {_, engine} <- Judge.engines() do
        # The first struct of a module is left to Elixir.
        assert RustyJson.encode!(%Plain{first_name: 1, last_name: 2}, engine) =~ "1"

        # As without options, the first fault counts.
        assert {:error, %{reason: :invalid_utf8}} = RustyJson.encode(lacking, [redact: [:zzz]] ++ engine)

        for term <- [lacking, %{lacking | first_name: 1}], options <- [[key_case: :camel], []] do
          options = [redact: [:first_name]] ++ options ++ engine
          assert_raise KeyError, fn -> RustyJson.encode([term], options) end
        end
      end
    end

    @secret "s3cr3t"

    test "keys at any depth, atoms and strings, escaped and nested" do
      term = %{
        "pass_word" => @secret,
        :a => [%{pass_word: @secret}, %{"pass_word" => %{deep: @secret}}],
        :plain => %Plain{first_name: @secret, last_name: %{"key\"\\\n" => @secret}},
        :own => %Own{pass_word: @secret},
        :ordered => OrderedObject.new([{"pass_word", @secret}, {:pass_word, [@secret]}]),
        :sparse => %Sparse{pass_word: @secret},
        :odd => %{~D[2024-02-29] => 1, pass_word: @secret},
        :function => Fragment.new(&Encode.map(%{pass_word: @secret}, &1)),
        :without => %NoEncoder{pass_word: @secret},
        1 => @secret
      }

      options = [redact: [:pass_word, "first_name", "key\"\\\n", "1"], unsupported: :inspect]

      for mode <-
            (@modes -- [[maps: :strict]]) ++
              [[key_case: :camel], [key_case: %{pass_word: "x"}], [omit: [nil]], [integers: :js_safe]] do
        text = json(term, options ++ mode)
        refute text =~ @secret
        assert text =~ "[REDACTED]"
        assert RustyJson.decode!(text)["without"] == inspect(NoEncoder)
      end

      assert json(%{pass_word: nil}, redact: ["pass_word"], omit: [nil]) == ~s({"pass_word":"[REDACTED]"})
      assert json(%{pass_word: nil}, redact: ["pass_word"], redacted: "*\"*") == ~S({"pass_word":"*\"*"})
    end

    test "a value is not looked at" do
      for bad <- [<<255>>, [1 | 2], self(), %NoEncoder{}, Enum.reduce(1..200, [], fn _, t -> [t] end)],
          do: assert(json(%{pass_word: bad}, redact: [:pass_word]) == ~s({"pass_word":"[REDACTED]"}))
    end

    test "pointers" do
      term = %{
        "users" => [%{card: 1, name: 2, more: %{card: 3}}, %Plain{first_name: 4, last_name: 5}, {6, 7}],
        "card" => 8,
        "a/b" => %{"~" => 9},
        "own" => %Own{pass_word: 10},
        "set" => MapSet.new([11])
      }

      redact = [
        "/users/*/card",
        "/users/1/last_name",
        "/users/2/1",
        "/a~1b/~0",
        "/own/at/pass_word",
        "/set/0",
        "/no/where"
      ]

      r = "[REDACTED]"

      expected = %{
        "users" => [
          %{"card" => r, "name" => 2, "more" => %{"card" => 3}},
          %{"first_name" => 4, "last_name" => r},
          [6, r]
        ],
        "card" => 8,
        "a/b" => %{"~" => r},
        "own" => %{"pass_word" => 10, "at" => %{"pass_word" => r}},
        "set" => [r]
      }

      for mode <- @modes, do: assert(decoded(term, [redact: redact] ++ mode) == expected)

      assert decoded(%{first_name: %{last_name: 1}}, redact: ["/first_name/last_name"], key_case: :camel) ==
               %{"firstName" => %{"lastName" => r}}

      own = %{my_own: [%Own{pass_word: 1}]}

      assert decoded(own, redact: ["/my_own/0/at/pass_word"], key_case: :camel) ==
               %{"myOwn" => [%{"passWord" => 1, "at" => %{"passWord" => r}}]}

      assert decoded([1, [2, 3], []], redact: ["/0", "/1/1"]) == [r, [2, r], []]
      assert decoded([[[1, 2]], [[3, 4]]], redact: ["/*/0/1"]) == [[[1, r]], [[3, r]]]
    end

    test "pointers beside lists that are improper and keys that are no text" do
      term = [[1, [2 | 3], 4], %{{1} => 11, :a => [[[5], 6 | 7], 8], :b => [9, [10]]}, {[12 | 13], [14], 15}]

      options = [
        redact: ["/0/2", "/1/a/1", "/1/b/*", "/2/2", "/1/x"],
        unsupported: fn _ -> "?" end,
        redacted: "r"
      ]

      sorted = ~s([[1,"?","r"],{"?":11,"a":["?","r"],"b":["r","r"]},["?",[14],"r"]])
      assert json(term, [sort_keys: true] ++ options) == sorted
      assert decoded(term, options) == RustyJson.decode!(sorted)

      lists = [[[1, 2]], [[3 | 4]], {[5, 6]}]
      options = [redact: ["/0/0/0", "/2/0/1"], unsupported: fn _ -> 0 end, redacted: "r"]
      assert json(lists, options) == ~s([[["r",2]],[0],[[5,"r"]]])
    end

    test "streams count elements as the whole array does" do
      rows = for n <- 0..3000, do: %{n: n, own: %Own{pass_word: n}}
      options = [redact: ["/2500/n", "/*/own/at", "/7/own/pass_word"]]
      expected = RustyJson.encode!(rows, options)

      for {_, engine} <- Judge.engines() do
        assert rows |> RustyJson.encode_stream(options ++ engine) |> Enum.join() == expected

        assert rows |> Stream.map(& &1) |> RustyJson.encode_stream(options ++ engine) |> Enum.join() ==
                 expected
      end

      lazy = %{rows: RustyJson.lazy(rows)}
      inside = [redact: for("/" <> pointer <- options[:redact], do: "/rows/" <> pointer)]
      assert lazy |> RustyJson.encode_stream(inside) |> Enum.join() == ~s({"rows":#{expected}})
    end
  end

  # Maps that are sorted are gathered first, others are written member by member, or as they are.
  test "lean: true writes the fields of built-in structs with a key that only Elixir writes, too" do
    key = ~c"k"
    plain = fn struct -> struct |> Map.from_struct() |> Map.delete(:__struct__) end

    for struct <- [
          ~D[2024-02-29],
          ~U[2024-02-29 12:00:00Z],
          URI.parse("http://x"),
          1..2,
          MapSet.new([1]),
          1..(2 ** 70)
        ],
        struct = Map.put(struct, key, nil),
        wrap <- [& &1, &%{a: [&1]}],
        more <- [[], [sort_keys: true], [omit: [nil]], [redact: ["x"]], [key_case: :camel], [maps: :strict]] do
      assert json(wrap.(struct), [lean: true] ++ more) == json(wrap.(plain.(struct)), more)
    end
  end

  test "the same members, whether or not they are sorted" do
    :rand.seed(:exsss, 17)
    terms = for _ <- 1..150, do: random(3)
    alike = for n <- 1..40, do: %{first_name: n, last_name: if(rem(n, 3) == 0, do: nil, else: [n])}

    # They share their keys, and not their plans.
    swapped = for m <- [Twin, Plain, Twin], do: %{%Plain{first_name: 1} | __struct__: m}

    for term <- [alike, [swapped, alike, swapped], List.duplicate(alike, 300) | terms],
        options <- [
          [redact: ["password", "token", "1", :first_name]],
          [key_case: :camel],
          [key_case: %{first_name: "given", secret: "s\"x"}],
          [omit: [nil]],
          [omit: [nil, Plain, Date]],
          [redact: [:secret], key_case: :camel, omit: [nil, Plain]],
          [redact: ["/*/first_name", "/0/last_name/*", "/*/*/secret", "/1", "/nil/*/*", "/first_name/2.5"]],
          [redact: ["/*/*/*", "/true", :secret], key_case: :camel, omit: [nil], unsupported: :inspect]
        ] do
      sorted = decoded(term, [sort_keys: true] ++ options)
      for mode <- [[], [pretty: true]], do: assert(decoded(term, options ++ mode) == sorted)
    end
  end

  @keys ["password", :password, "first_name", :first_name, :last_name, 1, 2.5, ~c"token", :secret, nil, true] ++
          [~D[2024-02-29], "", :"", 1_000_000_000_000_000_000_000]

  defp random(0), do: Enum.random([nil, 1, "x", %{}, [], %Plain{first_name: 1}, ~D[2024-02-29], %Sparse{}])
  defp random(depth), do: Enum.random([&random_map/1, &random_list/1, &random/1]).(depth - 1)

  defp random_list(depth) do
    list = for _ <- 1..Enum.random(1..3), do: random(depth)
    Enum.random([list, list, List.to_tuple(list), MapSet.new(list)])
  end

  defp random_map(depth) do
    more = if Enum.random(1..8) == 1, do: Map.new(1..40, &{"key#{&1}", nil}), else: %{}
    Enum.reduce(0..Enum.random(0..6), more, fn _, map -> Map.put(map, Enum.random(@keys), random(depth)) end)
  end

  test "redacted: without redact: would leave a caller in the belief that something is hidden" do
    message = "option :redacted needs :redact, which says what is redacted"

    for options <- [[redacted: "x"], %{redacted: "x"}, [redact: [], redacted: "x"]],
        call <- [&RustyJson.encode/2, &RustyJson.encode_stream/2] do
      assert_raise ArgumentError, message, fn -> call.([], options) end
    end

    assert json(%{a: 1}, redacted: "x", redact: ["a"]) == ~s({"a":"x"})
  end

  test "keys that contain a word" do
    term = %{
      "user_password" => 1,
      "password" => 2,
      "passwort" => 3,
      "PASSWORD" => 4,
      password_confirmation: 5,
      card: [%{api_token: 6, token: %{a: 7}}, %{{:no, :key} => 1} |> Map.delete({:no, :key})],
      clés: 8
    }

    redacted = fn options -> term |> json(options) |> RustyJson.decode!() end
    hidden = "[REDACTED]"

    for redact <- [
          [contains: ["password", :token]],
          [contains: "password", contains: :token],
          ["passwort" | [contains: ["token", "password"]]] -- ["passwort"]
        ] do
      assert %{
               "user_password" => ^hidden,
               "password" => ^hidden,
               "passwort" => 3,
               "PASSWORD" => 4,
               "password_confirmation" => ^hidden,
               "card" => [%{"api_token" => ^hidden, "token" => ^hidden}, %{}]
             } = redacted.(redact: redact)
    end

    assert %{"card" => ^hidden, "passwort" => ^hidden, "password" => 2, "user_password" => 1} =
             redacted.(redact: [:card, {:contains, "sswort"}])

    assert %{"card" => [%{"api_token" => ^hidden, "token" => %{"a" => 7}}, _]} =
             redacted.(redact: ["/card/*/api_token", contains: ["nowhere"]])

    assert %{"clés" => ^hidden} = redacted.(redact: [contains: "és"])

    assert %{"userPassword" => ^hidden} =
             RustyJson.decode!(json(%{user_password: 1}, redact: [contains: "r_p"], key_case: :camel))
  end

  test "bad values are refused" do
    for {option, message} <- [
          {[redact: [contains: ""]], "in which a word is no text that a key can contain"},
          {[redact: [contains: []]], "whose value is no list of words"},
          {[redact: [contains: ["a" | "b"]]], "whose value is no list of words"},
          {[redact: [contains: [nil]]], "in which a word"},
          {[redact: [contains: <<255>>]], "in which a word"},
          {[redact: [contain: "a"]], "which is neither a string nor an atom"},
          {[redact: [contains: for(n <- 1..65, do: "w#{n}")]], ":redact takes at most 64 words"},
          {[key_case: :snake], ":key_case takes nil, :camel or a map from atoms to strings"},
          {[key_case: %{"a" => "b"}], ":key_case"},
          {[omit: nil], ":omit takes a list of nil and modules"},
          {[redact: ["a", "/a~2"]],
           ":redact takes keys and JSON Pointers, got the entry \"/a~2\", which is not a JSON Pointer"},
          {[redact: [nil]], "got the entry nil, which is neither a string nor an atom that is a key"},
          {[redact: [:a, 1]], "got the entry 1, which is neither a string nor an atom that is a key"},
          {[redact: ["/" <> <<255>>]], "which is not UTF-8"},
          {[redact: for(i <- 1..65, do: "/#{i}")], ":redact takes at most 64 JSON Pointers, got: 65"},
          {[omit: [:null]], ":omit takes a list of nil and modules, got: [:null]"},
          {[omit: [nil, :undefined]], ":omit takes a list of nil and modules, got: [nil, :undefined]"},
          {[omit: [nil], null: :null], "omit: [nil] and null: :null contradict each other"},
          {[null: :undefined, omit: [Date, nil]], "omit: [nil] and null: :undefined contradict each other"},
          {[redact: for(n <- 1..65, do: "/#{n}")], ":redact"},
          {[redacted: <<255>>], ":redacted takes a string"}
        ] do
      assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, fn -> RustyJson.encode([], option) end
    end
  end
end
