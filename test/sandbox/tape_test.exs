defmodule RustyJson.Sandbox.TapeTest do
  @moduledoc "Terms that the built-in host writes into the module's memory itself: a guest that lies about it, and limits."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{EncodeError, Fragment, OrderedObject, SandboxError}
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Test.{Clock, Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  defmodule Row do
    @derive RustyJson.Encoder
    defstruct [:id, :name, :at, :rest]
  end

  defmodule Twin do
    @derive {RustyJson.Encoder, only: [:name, :id]}
    defstruct [:id, :name, :at, :rest]
  end

  defmodule Named do
    @derive {RustyJson.Encoder, key_case: [id: "Id\""], omit: [nil, Date]}
    defstruct [:id, :name, :at]
  end

  defmodule Own do
    defstruct [:id]
    defimpl(RustyJson.Encoder, do: def(encode(%{id: id}, opts), do: RustyJson.Encode.value([id], opts)))
  end

  @moduletag host: :built_in
  @options [engine: :wasm, host: :built_in, timeout: 10_000, max_memory: 64 * 1_048_576]

  if reason = WasmHosts.missing(:built_in), do: @moduletag(skip: reason)

  describe "a guest that lies:" do
    if reason = Guest.missing(), do: @describetag(skip: reason)

    test "room outside its memory, or less than it was asked for" do
      for room <- [Guest.memory(), 0xFFFF_FFFF, 1, 40] do
        with_guest(:built_in, Guest.wasm(room: "(i64.const #{room})"), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1], @options)
        end)
      end

      with_guest(:built_in, Guest.wasm(input: "(i32.const 0)"), fn ->
        assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1], @options)
      end)
    end

    test "an answer that is no text, and a text longer than the term's can be" do
      long = String.duplicate("a", 10_000)

      for data <- [<<2, 0::32, "null">>, <<0, 9, 0::32>>, <<3>>, <<4>>, <<1, long::binary>>] do
        with_guest(:built_in, Guest.wasm(data: data, always: true), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1], @options)
        end)
      end

      with_guest(:built_in, Guest.wasm(data: <<1, long::binary>>, always: true), fn ->
        assert {:ok, ^long} = RustyJson.encode([long], @options)
      end)
    end

    test "holes where the host has put none, fewer or more, out of order, and behind the text" do
      hole = fn {offset, number} -> <<offset::32-little, number::32-little, 0::32>> end

      for {holes, term} <- [
            {[1], [1]},
            {[], [self()]},
            {[1, 1], [self()]},
            {[3], [self()]},
            {[1], [self(), self()]},
            {[2, 1], [self(), self()]}
          ],
          options <- [@options, [unsupported: :inspect] ++ @options] do
        data =
          <<2, length(holes)::32-little, holes |> Enum.with_index() |> Enum.map_join(hole)::binary, "[]">>

        with_guest(:built_in, Guest.wasm(data: data, always: true), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode(term, options)
        end)
      end

      with_guest(:built_in, Guest.wasm(data: <<1, "[]">>, always: true), fn ->
        assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([self()], @options)
      end)
    end
  end

  test "a term that shares its parts is stopped while it is written" do
    term = Enum.reduce(1..60, 1, fn _, part -> [part, part] end)
    assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(term, @options)

    assert {:error, %SandboxError{reason: :timeout}} =
             RustyJson.encode(term, Keyword.put(@options, :timeout, 1))

    assert {:error, %EncodeError{reason: :max_bytes}} = RustyJson.encode(term, [max_bytes: 1000] ++ @options)
    assert {:ok, "[1]"} = RustyJson.encode([1], @options)
  end

  test "a term that is small on a tape and whose text exceeds the memory limit" do
    map = %{String.duplicate("k", 100_000) => 1}
    term = Enum.reduce(1..12, map, fn _, part -> [part, part] end)
    options = Keyword.put(@options, :max_memory, 16 * 1_048_576)
    assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(term, options)
  end

  test "what an earlier call left in a kept instance takes no memory from the next one" do
    options = Keyword.merge(@options, max_memory: 32 * 1_048_576, pool_size: 1)
    strings = fn bytes -> List.duplicate(String.duplicate("x", 997), div(bytes, 1_000)) end

    for {first, second} <- [{3_000_000, 13_000_000}, {8_000_000, 9_000_000}, {8_000_000, 12_000_000}] do
      json = RustyJson.encode!(strings.(second), engine: :native)
      assert {:ok, term} = RustyJson.decode(json, Keyword.put(options, :isolation, :fresh))
      assert {:ok, _text} = RustyJson.encode(strings.(first), options)
      assert RustyJson.decode(json, options) == {:ok, term}
    end

    # An instance that failed is not kept: the next test starts with a small one.
    shared = Enum.reduce(1..60, 1, fn _, part -> [part, part] end)
    assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(shared, options)
  end

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

  defp rows do
    row = %Row{id: 1, name: "é", at: ~U[2026-01-02 03:04:05.678Z], rest: nil}

    [
      row,
      %Row{row | rest: %Row{row | rest: [%Row{}, %{a: row, b: %Twin{id: 2}}]}},
      %Twin{id: 1, name: row},
      # The same keys, of another module.
      %{row | __struct__: Twin},
      %Named{},
      %Named{id: 0},
      %Named{id: 1, name: %Named{}, at: ~D[2026-01-02]},
      %Named{id: row, at: ~T[01:02:03]},
      %Named{id: 1, name: "a", at: ~N[2026-01-02 03:04:05]},
      # No two structs share their keys.
      row |> List.duplicate(3) |> Enum.map(&(&1 |> :erlang.term_to_binary() |> :erlang.binary_to_term())),
      [~D[-0001-01-02], ~T[23:59:59.000100], ~N[2026-01-02 03:04:05.1], DateTime.from_unix!(1_700_000_000)],
      %DateTime{DateTime.from_unix!(0) | utc_offset: 3600, time_zone: "Europe/Berlin", zone_abbr: "CET"},
      [
        decimal(-1, 150, -2),
        decimal(1, 1, 9000),
        decimal(1, 12, 60),
        decimal(1, :NaN, 0),
        decimal(-1, :inf, 0)
      ]
    ]
  end

  # The package need not be there.
  defp decimal(sign, coef, exp), do: %{__struct__: Decimal, sign: sign, coef: coef, exp: exp}

  # Options about members.
  defp members do
    [
      [sort_keys: true],
      [key_case: :camel],
      [key_case: %{id: "name", name: "né\""}],
      [key_case: :camel, sort_keys: true],
      [omit: [nil]],
      [omit: [nil, Date, Row], sort_keys: true],
      [redact: [:name, "b"], redacted: "</>", omit: [nil]],
      [redact: ["id"], key_case: %{id: "key"}, sort_keys: true]
    ]
  end

  test "options about members of maps" do
    map = %{id: 1, first_name: nil, b: [%{"b" => 1, "id" => nil}], at: ~D[2026-01-02], none: %{}}
    large = Map.new(1..40, &{"k#{&1}", nil})

    terms = [
      [map, %{map | id: nil}, %{map | none: nil, b: nil}, %{none: nil}, %{}],
      [%{map | b: %Row{id: 1}}, %Named{id: nil, name: map}],
      [%{:b => 1, "a" => 2, :c => 3}, %{:a => 1, "a" => 2}, %{"a" => nil}],
      [map, large, Map.put(large, :id, 1)],
      [%{1 => 2, :a => 1}, map],
      [map, 2 ** 70],
      for(number <- 1..300, do: %{"a#{number}": number, b: nil}),
      for(number <- 1..300, do: %{"b" => nil, "a#{number}" => number})
    ]

    for term <- [terms | terms], members <- members(), more <- [[], [maps: :strict], [pretty: true]] do
      options = members ++ more
      assert result(term, options ++ @options) == result(term, options ++ [engine: :native])
    end

    for options <- [[redact: ["/0/id", "/*/b/*"]], [omit: [:"Elixir.Ö"]]] do
      assert result(hd(terms), options ++ @options) == result(hd(terms), options ++ [engine: :native])
    end
  end

  test "structs with plans, dates, times and decimals" do
    # Their plans are learnt.
    RustyJson.encode!([rows(), %Twin{}, %Named{}], engine: :native)

    plans = RustyJson.Encoder.Plans.known(RustyJson.Options.encode([]))
    limits = {8, 268_435_456, 5_000, false, 5_000}

    for options <- [
          [],
          [pretty: true],
          [escape: :unicode_safe],
          [null: :null],
          [max_depth: 3],
          [max_bytes: 90]
        ],
        members <- [[] | members()],
        # These two contradict each other.
        options[:null] == nil or nil not in Keyword.get(members, :omit, []),
        term <- [rows() | rows()] do
      options = options ++ members

      assert RustyJson.encode(term, options ++ @options) ==
               RustyJson.encode(term, options ++ [engine: :native])
    end

    assert {:planned, {:ok, _text}, [Row, Twin]} =
             Nif.sandbox_write(
               [%Row{}, %Twin{}, %Row{}],
               plans,
               RustyJson.Options.encode([]).bytes,
               limits,
               0
             )
  end

  test "structs that are not what their module makes, or that the options change" do
    row = %Row{id: 1, at: ~D[2026-01-02]}
    RustyJson.encode!([rows(), %Twin{}, %Named{}], engine: :native)

    terms = [
      [row, Map.delete(row, :name)],
      [row, Map.put(row, :more, 1), row],
      [%Own{id: 1}, row],
      [row, %{row | __struct__: 1}, %{row | __struct__: 1}, %{row | __struct__: 1}, row],
      [row, %{row | __struct__: :no_module}],
      [%{row | at: %{~D[2026-01-02] | calendar: Other}}],
      [%{~D[2026-01-02] | month: -1}, %{~T[01:02:03] | microsecond: {1, 7}}],
      [decimal(1, 10 ** 40, 0), decimal(2, 1, 0), decimal(1, -1, 0), decimal(1, :other, 0)],
      [row, %{row => 1}, 1..2, MapSet.new([1]), URI.parse("http://a/b")],
      Enum.map(1..300, &Map.put(row, :"more#{&1}", &1))
    ]

    for term <- [rows() | terms],
        options <- [[], [protocol: false], [lean: true], [maps: :strict], [sort_keys: true]] do
      assert result(term, options ++ @options) == result(term, options ++ [engine: :native])
    end
  end

  # A derived encoder raises where a field is missing.
  defp result(term, options) do
    RustyJson.encode(term, options)
  rescue
    error in KeyError -> error
  end

  test "a plan that is outdated is not used" do
    RustyJson.encode!([%Row{id: 1}], @options)
    options = RustyJson.Options.encode(@options)
    outdated = %{options | plans: %{RustyJson.Encoder.Plans.known(options) | Row => {:name}}}
    assert {:partial, "[]", [_hole]} = RustyJson.Engine.Wasm.encode([%Row{id: 1}], outdated)
  end

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

  # Each refers to its parts many times over, or is much work for a short text.
  defp shared do
    long = String.duplicate("x", 200_000)
    grown = fn start, levels, again -> Enum.reduce(1..levels, start, fn _, part -> again.(part) end) end

    [
      {"maps with integers as keys", grown.(long, 5, fn part -> Map.new(1..12, &{&1, part}) end)},
      {"maps with long keys", grown.(1, 40, &%{(long <> "a") => &1, (long <> "b") => &1})},
      {"maps with atoms as keys", grown.(1, 60, &%{a: &1, b: &1})},
      {"large maps", grown.("x", 20, fn part -> Map.new(1..40, &{"k#{&1}", part}) end)},
      {"lists", grown.(long, 60, &[&1, &1])},
      {"tuples", grown.(long, 60, &{&1, &1})},
      {"improper lists", grown.([1 | 2], 60, &[&1, &1])},
      {"keys that are lists", grown.(1, 60, &%{~c"ab" => &1, 1 => &1})},
      {"structs", grown.(1, 60, &%Row{id: &1, name: &1})},
      {"structs that leave out nothing", grown.(1, 60, &%Named{id: &1, name: &1, at: 1})},
      {"integers", grown.(2 ** 100_000, 30, &[&1, &1])},
      {"integers as keys", grown.(1, 30, &%{(2 ** 100_000) => &1, 1 => &1})},
      {"fragments", grown.(Fragment.new(long), 60, &[&1, &1])},
      {"fragments of lists", Fragment.new(grown.(long, 60, &[&1, &1]))},
      {"sets", grown.(1, 60, &MapSet.new([&1, [&1]]))},
      {"objects", grown.(1, 60, &OrderedObject.new([{"a", &1}, {"b", &1}]))},
      {"dates", grown.(~D[2026-01-02], 60, &[&1, &1])},
      {"holes", grown.(self(), 60, &[&1, &1])}
    ]
  end

  # AddressSanitizer takes its own time.
  @tag :memory
  test "terms that share their parts end at max_bytes as soon as natively" do
    for {name, term} <- shared(), options <- [[], [sort_keys: true], [redact: ["none"]], [pretty: true]] do
      options = [max_bytes: 2_000, max_depth: 200] ++ options
      # The first call may learn plans.
      [_, native] = for _ <- 1..2, do: RustyJson.encode(term, [engine: :native] ++ options)
      assert {:error, error} = native
      assert error.reason == :max_bytes or (name == "improper lists" and error.reason == :improper_list)
      assert RustyJson.encode(term, options ++ @options) == native, name

      for engine <- [[engine: :native], @options] do
        times = for _ <- 1..5, do: elem(:timer.tc(fn -> RustyJson.encode(term, engine ++ options) end), 0)
        assert Enum.min(times) < 10_000, "#{name} took #{Enum.min(times)} µs"
      end
    end
  end

  # The VM does not know its memory where malloc gives all of it, as under AddressSanitizer.
  @tag :memory
  test "terms that share their parts end at the memory limit or the deadline" do
    options = [max_depth: 200, timeout: 100] ++ Keyword.put(@options, :max_memory, 16 * 1_048_576)
    before = :erlang.memory(:total)

    # An improper list is found before the memory ends, and so is what has no text.
    for {name, term} <- shared(), name not in ["improper lists", "holes"] do
      Clock.within(1_000, fn ->
        assert {:error, %SandboxError{reason: reason}} = RustyJson.encode(term, options), name
        assert reason in [:memory_limit, :timeout]
      end)
    end

    assert :erlang.memory(:total) - before < 100_000_000
  end

  test "work that writes nothing ends with the deadline" do
    empty = Enum.reduce(1..60, [], fn _, part -> [part, part] end)

    for term <- [Fragment.new(empty), [Fragment.new([empty | "1"])]] do
      Clock.within(1_000, fn ->
        options = Keyword.put(@options, :timeout, 200)
        assert {:error, %SandboxError{reason: :timeout}} = RustyJson.encode(term, options)
      end)
    end
  end

  test "a call on the caller's scheduler ends early, and its instance stays" do
    RustyJson.encode!([1], @options)
    bytes = RustyJson.Options.encode([]).bytes
    limits = {8, 268_435_456, 5_000, false, 5_000}
    kept = Nif.sandbox_counts()[:kept]
    assert Nif.sandbox_write(Enum.to_list(1..1_000_000), nil, bytes, limits, 0) == :later
    assert Nif.sandbox_counts()[:kept] == kept
    assert {:ok, "[1,2]"} = Nif.sandbox_write([1, 2], nil, bytes, limits, 0)
    assert {:ok, "[1]"} = Nif.sandbox_write({1}, nil, bytes, limits, 0)
    assert {:partial, "[]", [{1, 1, pid, :value}]} = Nif.sandbox_write([self()], nil, bytes, limits, 0)
    assert pid == self()
  end
end
