defmodule RustyJson.RedactCallTest do
  @moduledoc "`redact:` and `redacted:`: keys, pointers and words, on the call."
  use ExUnit.Case, async: true

  alias RustyJson.{Encode, Fragment, OrderedObject}
  alias RustyJson.Test.Judge
  alias RustyJson.Test.Shaped.{NoEncoder, Own, Plain, Sparse}

  import RustyJson.Test.Shaped, only: [decoded: 2, json: 2, modes: 0]

  @modes modes()

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
end
