defmodule RustyJson.RedactTest do
  @moduledoc "`redact:` under keys of every kind, in terms that are nested at random; and the places where it cannot see."

  use ExUnit.Case, async: true

  alias RustyJson.{Encode, Fragment, OrderedObject}
  alias RustyJson.Test.{Clock, Gen, Judge}

  @secret "s3cr3t"
  # Keys that JSON writes with escapes, that look like pointers or wildcards, that are prefixes of each other, and longer than a vector.
  @keys [
          "pass",
          "pass_word",
          "passWord",
          "",
          "a\"b\\",
          "line\nbreak",
          "é€😀",
          "~1",
          "*",
          "0",
          "</script>",
          "\u2028",
          "k\0"
        ] ++
          [String.duplicate("long", 20), String.duplicate("long", 20) <> "er"]
  @atoms [:pass, :pass_word, :"é€😀", :"a\"b\\", :"line\nbreak"]

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:pass, :other]
  end

  defmodule Renamed do
    @derive {RustyJson.Encoder, key_case: [pass: "other", pass_word: "é"], omit: [nil]}
    defstruct [:pass, :pass_word]
  end

  defmodule Own do
    defstruct [:key, :value, :how]

    defimpl RustyJson.Encoder do
      def encode(%{how: :map} = own, opts), do: Encode.map(%{own.key => own.value}, opts)
      def encode(%{how: :keyword} = own, opts), do: Encode.keyword([{own.key, own.value}], opts)
      def encode(%{how: :value} = own, opts), do: Encode.value([%{own.key => {own.value}}], opts)
      def encode(%{how: :plain} = own, _opts), do: %{own.key => own.value}
    end
  end

  # A term in which the secret stands behind one of these keys only.
  defp hidden(_keys, 0), do: Enum.random([1, nil, "text", [], %{}, 1.5])

  defp hidden(keys, depth) do
    inner = fn -> hidden(keys, depth - 1) end
    key = Enum.random(keys)

    secret =
      Enum.random([@secret, [@secret], %{"a" => @secret}, {@secret}, %Own{key: 1, value: @secret, how: :map}])

    name = if is_atom(key), do: key, else: Enum.random(["other" | List.wrap(key)])

    case Enum.random(1..10) do
      1 -> [inner.(), inner.()]
      2 -> {inner.(), inner.()}
      3 -> %{key => secret, "x" => inner.()}
      4 -> Map.new(1..Enum.random(30..40), &{"k#{&1}", &1}) |> Map.merge(%{key => secret, "in" => inner.()})
      5 -> OrderedObject.new([{key, secret}, {"y", inner.()}, {key, secret}])
      6 -> %Own{key: key, value: secret, how: Enum.random([:map, :keyword, :value, :plain])}
      7 -> %Own{key: "z", value: inner.(), how: Enum.random([:map, :keyword, :value, :plain])}
      8 -> %{~D[2024-02-29] => inner.(), key => secret, 7 => inner.()}
      9 -> Fragment.new(&Encode.map(%{key => secret, name => secret, "v" => 1} |> Map.take([key, "v"]), &1))
      10 -> %{"w" => MapSet.new([inner.()])}
    end
  end

  test "a secret behind a hostile key never shows, whatever is around it" do
    for mode <- [
          [],
          [sort_keys: true],
          [pretty: true],
          [escape: :html_safe],
          [key_case: :camel],
          [omit: [nil]]
        ] do
      Gen.check(150, fn -> hidden(@keys ++ @atoms, 4) end, fn term ->
        options = [redact: @keys ++ @atoms] ++ mode
        assert {:ok, json} = Judge.encode(term, options)
        refute json =~ @secret
        {:ok, bare} = RustyJson.encode(term, mode)
        assert json =~ "[REDACTED]" == (bare =~ @secret)
      end)
    end
  end

  test "each key alone, given as an atom or as a string; others, which start or end alike, are written" do
    for key <- @keys ++ @atoms, given <- [to_string(key), String.to_atom(to_string(key))] do
      others = for other <- @keys, other != to_string(key), into: %{}, do: {other, "shown"}
      term = [%{key => @secret}, others]
      assert {:ok, json} = Judge.encode(term, redact: [given])
      expected = [%{to_string(key) => "[REDACTED]"}, others]
      # A key that starts with a slash would be a pointer.
      assert RustyJson.decode!(json) == expected, inspect({key, given})
    end
  end

  test "a key that is renamed counts under its own name and under the new one" do
    for mode <- [[], [sort_keys: true], [pretty: true]] do
      options = fn redact -> [redact: redact] ++ mode end

      decoded = fn term, redact ->
        {:ok, json} = Judge.encode(term, options.(redact))
        RustyJson.decode!(json)
      end

      hidden = "[REDACTED]"
      struct = %Renamed{pass: 1, pass_word: 2}
      assert decoded.([struct, struct], [:pass]) == List.duplicate(%{"other" => hidden, "é" => 2}, 2)
      assert decoded.([struct], ["other", "é"]) == [%{"other" => hidden, "é" => hidden}]

      assert decoded.([struct, [struct]], ["/*/other", "/1/0/é"]) == [
               %{"other" => hidden, "é" => 2},
               [%{"other" => 1, "é" => hidden}]
             ]

      assert decoded.(%Renamed{}, [:pass]) == %{"other" => hidden}

      assert decoded.([%Derived{pass: 1, other: %Derived{pass: 2}}], ["pass"]) ==
               [%{"pass" => hidden, "other" => %{"pass" => hidden, "other" => nil}}]
    end
  end

  test "a value that no longer is what it was: sets, ranges, decimals, dates and numbers behind a key" do
    for value <- [
          MapSet.new([@secret]),
          1..2,
          ~D[2024-02-29],
          2 ** 200,
          1.0e300,
          %Own{key: <<255>>, value: <<255>>, how: :map}
        ],
        do: assert(Judge.encode(%{pass: value}, redact: [:pass]) == {:ok, ~s({"pass":"[REDACTED]"})})
  end

  test "a key whose invalid bytes are replaced counts under both names" do
    key = <<"pass", 0xFF>>

    for term <- [%{key => @secret}, OrderedObject.new([{key, @secret}]), %{key => @secret, {1} => 1}],
        redact <- [key, "pass\uFFFD", "/0/pass\uFFFD", {:contains, "s\uFFFD"}],
        mode <- [[], [sort_keys: true], [maps: :strict], [pretty: true]] do
      options = [redact: [redact], invalid_utf8: :replace, unsupported: :inspect] ++ mode
      assert {:ok, json} = Judge.encode([term], options)
      refute json =~ @secret
      assert json =~ "[REDACTED]"
    end
  end

  defmodule Brackets do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, options), do: [~s({"inner":), Encode.value(value, options), ?}]
    end
  end

  test "pointers lead on in the text that an encoder or a function of a fragment makes" do
    value = %{"secret" => @secret, "inner" => %{"secret" => 1}, "x" => [1.50, 2 ** 70]}
    shown = ~s({"inner":{"secret":1},"secret":"[REDACTED]","x":[1.5,1180591620717411303424]})
    around = fn options -> [~s({"inner":), Encode.value(value, options), ?}] end

    for part <- [%Brackets{value: value}, Fragment.new(around)], mode <- [[], [sort_keys: true]] do
      options = [redact: ["/own/inner/secret"]] ++ mode
      assert Judge.encode(%{own: part}, options) == {:ok, ~s({"own":{"inner":#{shown}}})}
      assert Judge.encode(%{own: part}, [redact: ["/own/secret"]] ++ mode) == Judge.encode(%{own: part}, mode)
      assert {:ok, pretty} = Judge.encode(%{own: [part]}, redact: ["/own/0/inner/secret"], pretty: true)
      refute pretty =~ @secret
      assert RustyJson.Formatter.pretty_print(pretty) == pretty
    end
  end

  defmodule Money do
    defstruct [:text]

    defimpl RustyJson.Encoder do
      def encode(%{text: text}, _options), do: text
    end
  end

  test "the text of an encoder or a function is changed only where a pointer leads" do
    text = ~s({"z":null, "id":9007199254740993,"a":[[[1.50]]],"a_b":"\\u0041","z":null})
    deep = String.duplicate("[", 2000) <> String.duplicate("]", 2000)

    for options <- [
          [],
          [omit: [nil], integers: :js_safe],
          [sort_keys: true],
          [maps: :strict],
          [key_case: :camel],
          [max_depth: 2],
          [escape: :html_safe]
        ],
        wrap <- [& &1, &[&1]],
        part <- [%Money{text: wrap.(text)}, Fragment.new(fn _ -> wrap.(text) end)] do
      assert Judge.encode(%{m: part}, options) == {:ok, ~s({"m":#{text}})}

      for redact <- ["/m/none", "/m/a/1", "/m/*/none"],
          do: assert(Judge.encode(%{m: part}, [redact: [redact]] ++ options) == {:ok, ~s({"m":#{text}})})

      hidden = ~s({"z":null,"id":"[REDACTED]","a":[[[1.50]]],"a_b":"A","z":null})
      assert Judge.encode(%{m: part}, [redact: ["/m/id"]] ++ options) == {:ok, ~s({"m":#{hidden}})}

      hidden = ~s({"z":"[REDACTED]","id":9007199254740993,"a":[[[1.50]]],"a_b":"A","z":"[REDACTED]"})
      assert Judge.encode(%{m: part}, [redact: ["/m/z"]] ++ options) == {:ok, ~s({"m":#{hidden}})}

      nested = Fragment.new(fn _ -> ~s({"a":1,"b":#{deep}}) end)

      assert Judge.encode([nested], [redact: ["/0/a"]] ++ options) ==
               {:ok, ~s([{"a":"[REDACTED]","b":#{deep}}])}
    end
  end

  test "a segment with leading zeros is no index, in streams too" do
    for redact <- ["/01", "/+1", "/-0"] do
      options = [redact: [redact]]
      assert Judge.encode([1, 2, 3], options) == {:ok, "[1,2,3]"}

      for flush <- [1, 4_096],
          do:
            assert(
              [1, 2, 3] |> RustyJson.encode_stream(options ++ [flush: flush]) |> Enum.join() == "[1,2,3]"
            )
    end
  end

  test "it does not see into text, keyword lists, and keys" do
    for {term, json} <- [
          {Fragment.new(~s({"pass":1})), ~s({"pass":1})},
          {Fragment.new(fn _ -> ~s({"pass":1}) end), ~s({"pass":1})},
          {[pass: 1], ~s([["pass",1]])},
          {%{"pass: 1" => 2}, ~s({"pass: 1":2})},
          {~s({"pass":1}), ~S("{\"pass\":1}")}
        ],
        do: assert(Judge.encode([term], redact: [:pass]) == {:ok, "[#{json}]"})

    # The key itself is written; what is behind it in an outer object hides the text, too.
    assert Judge.encode(%{pass: Fragment.new(~s({"a":1}))}, redact: [:pass]) ==
             {:ok, ~s({"pass":"[REDACTED]"})}
  end

  test "a fragment that is no JSON does not lead pointers astray" do
    for text <- ["}", "]]", "{", "[1,2", "\"", ~s({"a":), ",", ":", "\\"],
        wrap <- [& &1, &[&1], &%{x: [&1, 1]}] do
      for fragment <- [Fragment.new(text), Fragment.new([text]), Fragment.new(fn _ -> text end)] do
        own = %Own{key: "s", value: @secret, how: :map}
        term = OrderedObject.new(f: wrap.(fragment), a: own, z: [1, [own]])
        {:ok, json} = Judge.encode(term, redact: ["/a/s", "/z/1/0/s"])
        refute json =~ @secret
        assert json =~ ~s("a":{"s":"[REDACTED]"},"z":[1,[{"s":"[REDACTED]"}]]})

        pieces = RustyJson.encode_stream(Map.new(term.values), redact: ["/a/s", "/z/1/0/s"])
        refute Enum.join(pieces) =~ @secret
      end
    end
  end

  # Each key was compared with one after the other.
  test "time hardly grows with the number of keys to redact and of structs to leave out" do
    rows = for number <- 1..10_000, do: %{"key_#{number}_in_use" => ~D[2024-02-29]}

    entries = %{
      redact: &"key_#{&1}_unknown",
      omit: &Module.concat(Unknown, "Module#{&1}")
    }

    for {_name, engine} <- Judge.engines(), {option, entry} <- entries do
      [few, many] =
        for count <- [300, 20_000] do
          options = RustyJson.Options.encode([{option, Enum.map(1..count, entry)} | engine])
          fn -> for _ <- 1..3, do: {:ok, _} = Encode.Text.encode(rows, options) end
        end

      Clock.ratio(6, many, few)
    end
  end
end
