defmodule RustyJson.HolesTest do
  @moduledoc "Where Elixir's texts meet the core's: places, options, and the short ways past the engine."

  # Trace patterns are of the whole VM.
  use ExUnit.Case, async: false

  alias RustyJson.{Encode, EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.{Judge, Structs, Trace}

  @modes [:json, :html_safe, :javascript_safe, :unicode_safe]

  defmodule Pieces do
    @moduledoc "Puts its text together from what the functions of `RustyJson.Encode` give."
    defstruct [:name, :items]

    defimpl RustyJson.Encoder do
      alias RustyJson.Encode

      def encode(%{name: name, items: items}, opts) do
        items = items |> Enum.map(&Encode.value(&1, opts)) |> Enum.intersperse(",")
        [~s({"), Encode.key("name", opts), ~s(":), Encode.string(name, opts), ~s(,"items":[), items, "]}"]
      end
    end
  end

  @odd_names Enum.map(["a\"b", "</é😀", String.duplicate("long", 20)], &String.to_atom/1)

  defmodule Odd do
    @moduledoc "Names of fields that are not plain."
    @derive RustyJson.Encoder
    defstruct Enum.map(["a\"b", "</é😀", String.duplicate("long", 20)], &String.to_atom/1) ++ [:ok]
  end

  defmodule None do
    @moduledoc false
    @derive {RustyJson.Encoder, only: []}
    defstruct [:a]
  end

  defp money(amount), do: %Structs.Money{amount: amount, currency: "€"}

  describe "places" do
    test "holes at the start, at the end, side by side and far from each other" do
      text = %Structs.AsText{text: "x"}

      for before <- [[], [1], ["a long text"]],
          between <- [[], [2], [%{"k" => 3}]],
          behind <- [[], [4], [[], 5]] do
        term = before ++ [text] ++ between ++ [text, money(1), text] ++ behind
        plain = before ++ ["x"] ++ between ++ ["x", %{"amount" => 1, "currency" => "€"}, "x"] ++ behind
        assert Judge.encode(term) == RustyJson.encode(plain)
        assert Judge.encode(term, pretty: true) == RustyJson.encode(plain, pretty: true)
      end
    end

    test "structs of several modules in turn, and keys among them" do
      custom = [%Structs.AsText{text: "t"}, %Structs.AsMap{value: 1}, money(2), %Structs.AsText{text: "é"}]
      object = OrderedObject.new([{~c"k", hd(custom)}, {%Version{major: 1, minor: 2, patch: 3}, money(3)}])
      one = ~s("t",{"value":1},{"amount":2,"currency":"€"},"é")

      assert Judge.encode(custom ++ custom ++ [object]) ==
               {:ok, ~s([#{one},#{one},{"k":"t","1.2.3":{"amount":3,"currency":"€"}}])}
    end

    test "depths in turn" do
      term = [money(1), [money([2]), [money(3)]], %{"a" => money(%{"b" => money(4)})}]
      plain = fn amount -> OrderedObject.new([{"amount", amount}, {"currency", "€"}]) end
      same = [plain.(1), [plain.([2]), [plain.(3)]], %{"a" => plain.(%{"b" => plain.(4)})}]

      for options <- [
            [],
            [pretty: true],
            [pretty: 4, sort_keys: true],
            [pretty: [indent: "\t", after_colon: ""]]
          ],
          do: assert(Judge.encode(term, options) == RustyJson.encode(same, options))
    end
  end

  describe "a struct at the root" do
    test "obeys every option" do
      term = %Structs.Money{amount: %{"b" => "</é", "a" => money(1)}, currency: "x"}
      inner = OrderedObject.new([{"amount", 1}, {"currency", "€"}])
      plain = OrderedObject.new([{"amount", %{"b" => "</é", "a" => inner}}, {"currency", "x"}])

      for options <- [
            [],
            [pretty: true],
            [sort_keys: true],
            [maps: :strict],
            [compress: :gzip],
            [max_depth: 3]
          ],
          mode <- @modes do
        options = [escape: mode] ++ options
        assert Judge.encode(term, options) == RustyJson.encode(plain, options)
      end
    end

    test "keeps to the limits, and tells where it failed" do
      assert {:error, %EncodeError{reason: :max_depth}} = Judge.encode(money(money(1)), max_depth: 1)
      assert {:ok, _} = Judge.encode(money(money(1)), max_depth: 2)

      assert {:error, %EncodeError{reason: :max_bytes}} =
               Judge.encode(%Structs.AsText{text: "abc"}, max_bytes: 4)

      assert Judge.encode(%Structs.AsText{text: "abc"}, max_bytes: 5) == {:ok, ~s("abc")}
      assert {:error, %EncodeError{path: "/amount/1/amount"}} = Judge.encode(money([0, money(<<255>>)]))
      assert {:error, %Protocol.UndefinedError{}} = RustyJson.encode(%Structs.Bare{})
    end

    test "is an object like any map without the protocol" do
      assert Judge.encode(%Structs.AsText{text: "a"}, protocol: false) == {:ok, ~s({"text":"a"})}
      assert Judge.encode(%Structs.AsText{text: "a"}, lean: true) == {:ok, ~s("a")}
    end
  end

  describe "strings that pass the engine" do
    test "are as it writes them, in every escape mode" do
      long = String.duplicate("x", 65)
      edges = ["", "a", "é", "\u2028", "😀", "nil", long, long <> "<", String.duplicate("y", 64)]
      strings = edges ++ for(byte <- 0..127, around <- ["", "ab"], do: around <> <<byte>> <> around)

      for mode <- @modes do
        by_function =
          Fragment.new(fn opts -> [?[, Enum.map_intersperse(strings, ?,, &Encode.string(&1, opts)), ?]] end)

        assert Judge.encode(by_function, escape: mode) == RustyJson.encode(strings, escape: mode)

        keys =
          Fragment.new(fn opts ->
            [?{, Enum.map_intersperse(strings, ?,, &[?", Encode.key(&1, opts), ~s(":0)]), ?}]
          end)

        assert Judge.encode(keys, escape: mode) ==
                 RustyJson.encode(OrderedObject.new(for s <- strings, do: {s, 0}), escape: mode)
      end
    end

    test "and atoms" do
      atoms = [nil, true, false, :null, :ok, :"</\"é", :"", RustyJson]

      by_function =
        Fragment.new(fn opts -> [?[, Enum.map_intersperse(atoms, ?,, &Encode.atom(&1, opts)), ?]] end)

      for mode <- @modes,
          do: assert(Judge.encode(by_function, escape: mode) == RustyJson.encode(atoms, escape: mode))
    end

    test "are refused when they are no UTF-8" do
      assert {:error, %EncodeError{message: "invalid byte 0xFF in <<255>>", path: "/1"}} =
               Judge.encode([0, %Structs.AsText{text: <<255>>}])
    end
  end

  test "what the functions give is iodata, to be measured, cut and put together" do
    check = fn opts ->
      for part <- [
            Encode.value([money(1), 2], opts),
            Encode.map(%{a: money(1)}, opts),
            Encode.keyword([a: %Structs.AsMap{value: 1}], opts),
            Encode.list([%Structs.AsText{text: "t"}], opts),
            Encode.struct(money(1), opts),
            Encode.string("plain", opts),
            Encode.atom(:a, opts)
          ] do
        text = IO.iodata_to_binary(part)
        assert IO.iodata_length(part) == byte_size(text)
        assert {:ok, _} = RustyJson.decode(text)
      end

      "0"
    end

    assert Judge.encode(Fragment.new(check)) == {:ok, "0"}
  end

  test "texts put together from parts" do
    term = %Pieces{name: "a\"b", items: [1, money(2), %Pieces{name: "c", items: [%Structs.Only{name: 1}]}]}
    inner = ~s({"name":"c","items":[{"name":1,"email":null}]})

    assert Judge.encode([term]) ==
             {:ok, ~s([{"name":"a\\"b","items":[1,{"amount":2,"currency":"€"},#{inner}]}])}
  end

  test "derived structs with odd names, long ones and none, before and after their plans are known" do
    odd = struct!(Odd, Enum.zip(@odd_names, [1, [2], nil]) ++ [ok: %None{}])
    fields = Map.keys(odd) -- [:__struct__]
    plain = OrderedObject.new(for field <- fields, do: {field, with(%None{} <- Map.get(odd, field), do: %{})})

    for mode <- @modes, options <- [[], [pretty: true], [sort_keys: true], [maps: :strict]], _ <- 1..2 do
      options = [escape: mode] ++ options
      assert Judge.encode([odd, odd, %None{}], options) == RustyJson.encode([plain, plain, %{}], options)
    end
  end

  test "a derived struct that lost a field fails as its implementation does, also in the middle" do
    lost = Map.delete(%Structs.All{a: 1}, :b)
    RustyJson.encode!(%Structs.All{})
    assert_raise KeyError, fn -> RustyJson.encode([%Structs.All{}, lost]) end
  end

  test "texts of fragments are laid out by the engine that the call names" do
    if Judge.available?(:built_in) and Judge.available?(:native) do
      alias RustyJson.Engine.Native.Nif
      term = [Fragment.new(~s([{"a":1}])), Fragment.new(fn _ -> ["[1", ",2]"] end)]
      text = RustyJson.encode!([[%{"a" => 1}], [1, 2]], pretty: true)

      formatted? = fn options ->
        Trace.calls([{Nif, :format, 2}, {Nif, :format_dirty, 3}], fn ->
          assert RustyJson.encode!(term, [pretty: true] ++ options) == text
        end) != []
      end

      refute formatted?.(engine: :wasm, host: :built_in)
      assert formatted?.(engine: :native)
    end
  end

  defmodule Named do
    @moduledoc false
    defstruct [:name]

    defimpl String.Chars do
      def to_string(%{name: name}), do: name
    end
  end

  test "beside keys that only Elixir writes, an error has the same path in every engine" do
    wrong = [
      [1 | 2],
      "\xFF",
      %Pieces{name: "a", items: [[1 | 2]]},
      [[[[[[1]]]]]],
      %{{1} => 1},
      %Fragment{encode: :no},
      %{~D[2020-01-01] | year: "x"}
    ]

    keys = [~c"k", ~c"é", %Named{name: "q\"/~"}, %Named{name: "\xFF"}, ~D[2020-01-01], 1, 1.5]

    shapes = [
      &%{&1 => &2},
      &[0, %{&1 => 1, "x" => &2}],
      &%OrderedObject{values: [{"x", 1}, {&1, 2}, {"b", &2}]},
      &%{&1 => %{~c"in" => [&2]}},
      &[%{&1 => %Pieces{name: "a", items: [%{&1 => [&2]}]}}]
    ]

    options = [[], [sort_keys: true], [maps: :strict], [redact: ["/a/b"]], [pretty: true]]

    for wrong <- wrong,
        key <- keys,
        shape <- shapes,
        options <- options ++ [[max_depth: 3], [max_bytes: 30]] do
      assert {:error, %EncodeError{}} = Judge.encode(shape.(key, wrong), [max_depth: 6] ++ options)
    end

    for {term, path, whole} <- [
          {%{~c"k" => [1 | 2]}, "", "/k"},
          {[%{%Named{name: "n"} => %{"c" => [0, [1 | 2]]}}], "/0/c/1", "/0/n/c/1"},
          {%{~c"k" => %Pieces{name: "a", items: [[1 | 2]]}}, "", "/k"},
          {%{1 => [1 | 2]}, "/1", "/1"}
        ] do
      assert {:error, %{path: ^path}} = Judge.encode(term)

      for more <- [sort_keys: true, maps: :strict, redact: ["secret"], key_case: :camel],
          do: assert({:error, %{path: ^whole}} = Judge.encode(term, [more]))
    end
  end

  test "under redact:, the text of a fragment that is not JSON stands as it is, and does not move what is behind it" do
    for {_name, options} <- Judge.engines(), text <- [~S({"\x":[), ~S({"\uD800":{"b":), ~s({"\\n\xFF":{)] do
      term = %{"k" => [%Fragment{encode: text}, money(1), %{"b" => money(2)}]}
      plain = RustyJson.encode!(term, options)
      assert {:ok, ^plain} = RustyJson.encode(term, [redact: ["/other/key"]] ++ options)
      assert {:ok, redacted} = RustyJson.encode(term, [redact: ["/k/1/amount"]] ++ options)
      assert redacted == String.replace(plain, ~s("amount":1), ~s("amount":"[REDACTED]"))
    end
  end

  test "under redact:, a long key with escapes is read once for all that stands in it" do
    for {_name, options} <- Judge.engines() do
      term = %{
        "long\\key" => List.duplicate(%Pieces{name: "a", items: [%{name: 1}]}, 100),
        "b\"" => [money(1)]
      }

      run = fn -> RustyJson.encode!(term, [redact: ["/long\\key/7/name"]] ++ options) end
      assert length(Trace.calls([{RustyJson, :decode, 2}], run)) == 2
      assert run.() =~ "REDACTED"
    end
  end
end
