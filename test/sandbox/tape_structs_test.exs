defmodule RustyJson.Sandbox.TapeStructsTest do
  @moduledoc "Structs, and options about members, in terms that the built-in host writes into the memory of the module itself."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Test.WasmHosts

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
end
