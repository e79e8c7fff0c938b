defmodule RustyJson.Sandbox.TapeTermsTest do
  @moduledoc "Terms that the built-in host writes into the memory of the module itself: the text is that of the native engine, with every option."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Fragment, OrderedObject}
  alias RustyJson.Test.WasmHosts

  defmodule Row do
    @derive RustyJson.Encoder
    defstruct [:id, :name, :at, :rest]
  end

  defmodule Own do
    defstruct [:id]
    defimpl(RustyJson.Encoder, do: def(encode(%{id: id}, opts), do: RustyJson.Encode.value([id], opts)))
  end

  @moduletag host: :built_in
  @options [engine: :wasm, host: :built_in, timeout: 10_000, max_memory: 64 * 1_048_576]

  if reason = WasmHosts.missing(:built_in), do: @moduletag(skip: reason)

  test "the same text as in the native engine, however long the term is and wherever its tape is cut" do
    for count <- [0, 1, 100, 2_000, 50_000], length <- [0, 15, 16, 17, 76, 77, 5_000] do
      count = if length > 100, do: div(count, 100), else: count

      item = %{
        "name" => String.duplicate("é", div(length, 2)),
        "n" => count,
        "f" => 0.1,
        "l" => [nil, true, :atom]
      }

      term = List.duplicate(item, count) ++ [Map.new(1..40, &{"k#{&1}", -&1}), %{item | "n" => 2 ** 62}]
      assert RustyJson.encode(term, @options) == RustyJson.encode(term, engine: :native)
    end
  end

  # Out of the external format, each map has a tuple of keys of its own, and keys of its own.
  test "maps with the same keys, and with almost the same" do
    long = String.duplicate("k", 80)

    keys = [
      ["a", "b", "c"],
      ["a", "b", "d"],
      ["a", "x", "c"],
      ["a", "b", :c],
      [:a, :b, :c],
      [:a, :b],
      ["a", "b"],
      ["", "b"],
      ["é", "b"],
      [long, long <> "a"],
      [long, long <> "b"],
      [1, 2],
      [1, 2.0],
      [2 ** 70, "b"],
      Enum.map(1..32, &"k#{&1}"),
      Enum.map(2..33, &"k#{&1}")
    ]

    for number <- 1..200 do
      picked =
        for place <- 0..30, do: Enum.at(keys, rem(:erlang.phash2({number, div(place, 3)}), length(keys)))

      maps = for {keys, value} <- Enum.with_index(picked), do: Map.new(keys, &{&1, [value, %{"b" => nil}]})
      rows = for value <- 1..3, do: %Row{id: value, name: "a", at: ~D[2026-01-02], rest: Enum.at(maps, value)}
      own = for term <- maps ++ rows, do: term |> :erlang.term_to_binary() |> :erlang.binary_to_term()

      for options <- [[], [sort_keys: true], [omit: [nil]], [key_case: :camel]] do
        [_, native] = for _ <- 1..2, do: RustyJson.encode(own, [engine: :native] ++ options)
        assert {:ok, _text} = native
        assert RustyJson.encode(own, options ++ @options) == native
      end
    end
  end

  test "options about how values are written, and records" do
    row = %{
      "id" => 2 ** 60,
      "t" => "a</b> é \u2028",
      "l" => [nil, :null, true, 1.5, []],
      "m" => %{a: nil, b: %{}}
    }

    rows = [row, %{row | "id" => 1}, %{row | "l" => [%{}]}, Map.new(1..40, &{"k#{&1}", [&1]})]

    for options <- [
          [pretty: true],
          [pretty: [indent: "\t", line_separator: "\r\n", after_colon: ""]],
          [escape: :html_safe],
          [escape: :javascript_safe, pretty: true],
          [escape: :unicode_safe],
          [integers: :js_safe],
          [null: :null],
          [null: :undefined],
          [maps: :strict],
          [unsupported: :inspect],
          [escape: :html_safe, max_bytes: 100],
          [pretty: true, max_depth: 2]
        ] do
      assert RustyJson.encode(rows, options ++ @options) ==
               RustyJson.encode(rows, options ++ [engine: :native])
    end

    for format <- [:lines, :seq],
        options <- [[], [escape: :html_safe], [max_bytes: 100]],
        engine <- [:native, :wasm] do
      stream = RustyJson.encode_stream(rows, [format: format, engine: engine] ++ options)
      {options, try(do: Enum.join(stream), rescue: (error -> error))}
    end
    |> Enum.chunk_every(2)
    |> Enum.each(fn [native, wasm] -> assert native == wasm end)
  end

  test "keys that become the same text are found where strings and atoms are keys of one map" do
    large = Map.new(1..40, &{"k#{&1}", &1})

    for term <- [
          %{:a => 1, "a" => 2},
          %{:a => 1, "b" => 2},
          Map.put(large, :k1, 0),
          Map.put(large, :other, 0),
          large
        ] do
      options = [maps: :strict]

      assert RustyJson.encode(term, options ++ @options) ==
               RustyJson.encode(term, options ++ [engine: :native])
    end
  end

  # The package need not be there.
  defp decimal(sign, coef, exp), do: %{__struct__: Decimal, sign: sign, coef: coef, exp: exp}

  # One of each kind of term.
  defp kinds do
    large = Map.new(1..40, &{"k#{&1}", rem(&1, 3)})

    [
      {1, {}, {"a", [nil]}},
      %{1 => 2, 2.5 => %{-1 => 1}, (2 ** 70) => 1, nil => 2, ~D[2026-01-02] => 3},
      [2 ** 70, -(2 ** 4000), 2 ** 63, -(2 ** 63)],
      [1..2, 5..1//-2, MapSet.new([1, "a", {2}]), URI.parse("http://a/b?c#d")],
      [1 | 2],
      [[[1], [2 | 3]]],
      [self(), %{"a" => &is_atom/1}, <<1::3>>],
      %{~c"key" => 1, "b" => %{{1} => 2}},
      [<<255>>, %{"a" => "é" <> <<0xE2, 0x82>>}, %{<<254>> => 1, <<253>> => 2}],
      %{:a => 1, "a" => 2},
      [large, Map.put(large, :first_name, nil), Map.put(large, 17, ~D[2026-01-02])],
      [%Own{id: [1, %Own{id: nil}]}, %Row{id: %Own{id: 1}, name: Fragment.new(~s({"a": 1}))}],
      [
        Fragment.new(["[", ?1, [",", [], "2"] | "]"]),
        Fragment.new(&RustyJson.Encode.value(%{a: 1}, &1)),
        Fragment.new("")
      ],
      [OrderedObject.new([{"b", 1}, {:a, 2}, {3, [OrderedObject.new([])]}]), OrderedObject.new([1 | 2])],
      [decimal(1, 10 ** 60, -3), decimal(-1, 1, 10 ** 30), ~D[2026-01-02], ~U[2026-01-02 03:04:05Z]],
      List.duplicate(%{id: 1, nested: %{first_name: "x", list: []}}, 3),
      "a\u2028</script>\"\n" <> String.duplicate("é", 20_000),
      %{String.duplicate("k", 20_000) => %{String.duplicate("l", 20_000) => 1}},
      String.duplicate("a", 17_000_000)
    ]
  end

  # One option of each, and some that meet.
  defp choices do
    [
      [],
      [escape: :html_safe],
      [escape: :javascript_safe, pretty: true],
      [escape: :unicode_safe, invalid_utf8: :replace],
      [maps: :strict],
      [maps: :strict, invalid_utf8: :replace, sort_keys: true],
      [sort_keys: true],
      [protocol: false],
      [lean: true],
      [null: :null],
      [compress: :gzip],
      [pretty: true],
      [invalid_utf8: :replace],
      [integers: :js_safe],
      [unsupported: :inspect, invalid_utf8: :replace],
      [unsupported: :inspect, sort_keys: true],
      [canonical: true],
      [max_depth: 1],
      [max_depth: 2, pretty: true],
      [max_bytes: 1],
      [max_bytes: 60],
      [max_bytes: 15_000],
      [key_case: :camel],
      [omit: [nil, Date]],
      [redact: ["a", :id, "nested"], redacted: "*"],
      [redact: ["/0/first_name", "/*/nested/list", "/a", "/1/2"]]
    ]
  end

  test "every kind of term, with each option" do
    options = Keyword.put(@options, :max_memory, 268_435_456)

    for term <- kinds(), choice <- choices() do
      native = outcome(term, [engine: :native] ++ choice)

      assert outcome(term, options ++ choice) == native,
             inspect({choice, term}, limit: 20, printable_limit: 200)
    end

    for {format, choice} <- [
          lines: [],
          seq: [max_bytes: 2_000],
          lines: [sort_keys: true, unsupported: :inspect]
        ] do
      [native, wasm] =
        for engine <- [:native, :wasm] do
          stream =
            kinds() |> Stream.drop(-1) |> RustyJson.encode_stream([engine: engine, format: format] ++ choice)

          try(do: Enum.join(stream), rescue: (error -> error))
        end

      assert wasm == native, inspect({format, choice})
    end
  end

  # The fields of dates are not those of other terms in messages of encoders.
  defp outcome(term, options) do
    RustyJson.encode(term, options)
  rescue
    error in [KeyError, Protocol.UndefinedError] -> error.__struct__
  end
end
