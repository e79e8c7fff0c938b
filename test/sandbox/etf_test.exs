defmodule RustyJson.Sandbox.EtfTest do
  @moduledoc "The check of results in Elixir, used without a native library, decides like the check in Rust."

  use ExUnit.Case, async: true

  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Options
  alias RustyJson.Wasm.{Etf, Holes}

  unless RustyJson.Engine.Native.loaded?(), do: @moduletag(skip: "the native library is missing")

  @limits [max_depth: 4, decoding_integer_digit_limit: 20]
  @options %{
    plain: @limits,
    atoms: [keys: :atoms] ++ @limits,
    decimals: [floats: :decimals] ++ @limits,
    null: [null: :null] ++ @limits,
    undefined: [null: :undefined] ++ @limits,
    ordered: [objects: :ordered_objects] ++ @limits,
    both: [floats: :decimals, objects: :ordered_objects, max_nodes: 7] ++ @limits
  }

  # Terms that the writer emits under each of these options, and terms that it does not.
  @terms [
    1,
    -1,
    123_456_789_012,
    -12_345_678_901_234_567_890,
    1.5,
    "text",
    "",
    [],
    [1, 2],
    nil,
    true,
    :ok,
    :null,
    [:undefined],
    %{},
    %{"a" => 1},
    %{"a" => [1, %{"b" => nil}]},
    %{a: 1, b: [2]},
    [[[[]]]],
    [[[[[]]]]],
    {1, 2},
    [1 | 2],
    <<1::3>>,
    &:os.cmd/1,
    %{1 => 2},
    1.0e308
  ]

  defp decimal(sign, coef, exp), do: struct_bytes("Elixir.Decimal", sign: sign, coef: coef, exp: exp)
  defp ordered(values), do: struct_bytes("Elixir.RustyJson.OrderedObject", values: values)

  # The keys are in the order of the writer, which differs from the runtime's.
  defp struct_bytes(module, fields) do
    pairs = for {key, value} <- fields, do: [atom("#{key}"), value]

    IO.iodata_to_binary([
      <<116, length(fields) + 1::32>>,
      atom("__struct__"),
      atom(module),
      pairs
    ])
  end

  defp atom(name), do: <<119, byte_size(name), name::binary>>
  defp bytes(term), do: binary_part(:erlang.term_to_binary(term, minor_version: 2), 1, size(term) - 1)
  defp size(term), do: byte_size(:erlang.term_to_binary(term, minor_version: 2))

  defp seeds do
    pairs = <<108, 2::32, 104, 2, 109, 1::32, "a", 97, 1, 104, 2, 109, 1::32, "a", 97, 2, 106>>

    Enum.map(@terms, &bytes/1) ++
      [
        decimal(bytes(1), bytes(15), bytes(-1)),
        decimal(bytes(-1), bytes(123_456_789_012_345), bytes(3)),
        decimal(bytes(2), bytes(15), bytes(-1)),
        decimal(bytes(1), bytes(-15), bytes(1)),
        decimal(bytes(1), bytes(-0x1_0000_0000_0000), bytes(1)),
        decimal(bytes(1), bytes(1), bytes(0x7FFF_FFFF_FFFF_FFFF)),
        decimal(bytes(1), bytes(1), bytes(0x8000_0000_0000_0000)),
        decimal(bytes(1), bytes(1), bytes(-0x8000_0000_0000_0000)),
        decimal(bytes(1), bytes(1), bytes(-0x8000_0000_0000_0001)),
        ordered(<<106>>),
        ordered(pairs),
        ordered(<<108, 1::32, 104, 2, 109, 1::32, "a", ordered(pairs)::binary, 106>>),
        <<111, 300::32, 0, 1::2400>>,
        <<110, 2, 0, 1, 0>>,
        <<108, 0::32, 106>>,
        <<70, 0x7FF8_0000_0000_0000::64>>,
        <<116, 1::32, 118, 300::16, String.duplicate("é", 150)::binary, 97, 1>>
      ]
  end

  defp verdict(:ok), do: :ok
  # What passes the check can still be no term: a key twice, an atom that does not exist.
  defp verdict({:ok, _term}), do: :ok
  defp verdict(:refused), do: :ok
  defp verdict({:fault, :invalid_result, text}) when is_binary(text), do: :refused

  defp same(etf, name, options, length) do
    options = Options.decode(options)
    elixir = verdict(Etf.check(etf, options.values, length))

    assert elixir == verdict(Nif.build_etf(etf, options.bytes, length)),
           "#{name}, #{length}: #{inspect(etf, limit: :infinity)}"

    elixir
  end

  test "terms, whole" do
    verdicts =
      for seed <- seeds(),
          {name, options} <- @options,
          length <- [1, 3, 100],
          do: same(<<131, seed::binary>>, name, options, length)

    assert :ok in verdicts and :refused in verdicts
  end

  test "terms cut, lengthened and damaged" do
    :rand.seed(:exsss, {1, 2, 3})

    for seed <- seeds(), {name, options} <- @options do
      etf = <<131, seed::binary>>
      for n <- 0..(min(byte_size(etf), 60) - 1), do: same(binary_part(etf, 0, n), name, options, 100)
      same(etf <> <<0>>, name, options, 100)

      for _ <- 1..60 do
        at = :rand.uniform(byte_size(etf)) - 1
        {before, rest} = {binary_part(etf, 0, at), binary_part(etf, at + 1, byte_size(etf) - at - 1)}

        byte =
          Enum.random([0, 1, 97, 98, 104, 106, 108, 109, 110, 116, 118, 119, 255, :rand.uniform(256) - 1])

        same(<<before::binary, byte, rest::binary>>, name, options, 100)
      end
    end
  end

  describe "holes" do
    # Terms that the core leaves to Elixir under some options, and terms that it always writes.
    @values [
      1,
      1.5,
      "text",
      nil,
      :atom,
      [],
      ~c"abc",
      [1, [2]],
      {1, 2},
      %{},
      <<1::3>>,
      &:os.cmd/1,
      %{"k" => 1, 2 => ~c"x"},
      %{~c"k" => 1, "a" => 2},
      %{[] => 1},
      %{{1, 2} => 3},
      %{~D[2024-02-29] => 1},
      ~D[2024-02-29],
      %{__struct__: Date, year: 1},
      MapSet.new([1, 2]),
      %{__struct__: MapSet, map: 1},
      1..10,
      %{__struct__: Range, first: 1, last: 2},
      %{__struct__: Range, first: 1, last: 0x1_0000_0000_0000_0000, step: 1},
      %{__struct__: Range, first: 1, last: :a, step: 1},
      %{:__struct__ => Calendar.ISO, ~c"a" => 1},
      %{__struct__: "text"},
      %RustyJson.Fragment{encode: "[]"},
      %RustyJson.Fragment{encode: ["[", ?]]},
      %RustyJson.Fragment{encode: &Function.identity/1},
      %{__struct__: RustyJson.Fragment},
      %RustyJson.OrderedObject{values: [{"a", ~c"b"}]},
      %RustyJson.OrderedObject{values: [{"a", 1}, {~c"b", 2}]},
      %RustyJson.OrderedObject{values: [1, {~D[2024-02-29], 2}]},
      %RustyJson.OrderedObject{values: []},
      %RustyJson.OrderedObject{values: ~c"abc"},
      %RustyJson.OrderedObject{values: nil},
      %{__struct__: RustyJson.OrderedObject},
      %{__struct__: Nobody.Knows, a: 1},
      %{:__struct__ => Nobody.Knows, ~c"a" => 1},
      %{__struct__: Nobody.Plans, a: 1, b: 2},
      %{__struct__: Nobody.Plans, a: 1}
    ]

    # Options, and the plans sent with the term.
    @plans %{Nobody.Plans => {:a, :b}}
    # The application implements the protocol for these.
    @own %{MapSet => {}, Range => {}, URI => {}}
    @calls for options <- [
                 [],
                 [maps: :strict],
                 [sort_keys: true],
                 [protocol: false],
                 [lean: true],
                 [lean: true, sort_keys: true],
                 [lean: true, protocol: false, maps: :strict]
               ],
               {more, plans} <- [{[], nil}, {[], @plans}, {[], @own}, {[pretty: true], nil}],
               do: {options ++ more, plans}

    test "every place, by the terms there and the options" do
      for value <- [self(), make_ref(), fn -> :ok end | @values], {options, plans} <- @calls do
        etf = :erlang.term_to_binary([value, %{"k" => value}], minor_version: 2)
        options = Options.encode(options)

        for start <- 0..byte_size(etf), depth <- [0, 0x8000_0000] do
          record = <<1::32-little, 0::32-little, start::32-little, depth::32-little, "[]">>
          agree(record, etf, plans, options)
        end
      end
    end

    test "how deep, and in which order" do
      etf = :erlang.term_to_binary([self(), [make_ref()]], minor_version: 2)
      options = Options.at_depth(Options.encode([]), 1)
      # After the version and the head of a list, and then after the head of another list.
      pid = 6
      reference = pid + byte_size(:erlang.term_to_binary(self(), minor_version: 2)) - 1 + 5
      hole = fn offset, start, depth -> <<offset::32-little, start::32-little, depth::32-little>> end

      for depth <- 0..4,
          do: agree(<<1::32-little, hole.(0, reference, depth)::binary, "[]">>, etf, nil, options)

      for list <- [
            [{0, pid}, {0, reference}],
            [{2, reference}, {2, pid}],
            [{1, reference}, {0, pid}],
            [{0, pid}, {3, reference}],
            [{0, pid}, {0, pid}],
            []
          ] do
        holes = for {offset, start} <- list, into: <<length(list)::32-little>>, do: hole.(offset, start, 1)
        agree(holes <> "[]", etf, nil, options)
      end

      for broken <- ["", <<1, 0, 0>>, <<1::32-little>>, <<0xFFFF_FFFF::32>>],
          do: agree(broken, etf, nil, options)
    end

    defp agree(record, etf, plans, options) do
      elixir = Holes.find(record, etf, plans || %{}, options.values)
      given = if plans, do: :erlang.term_to_binary(plans, minor_version: 2), else: <<>>
      rust = Nif.check_holes(record, etf, options.bytes <> given)

      if elixir != rust,
        do: flunk(inspect({elixir, rust, etf, options.values, plans, record}, limit: :infinity))
    end
  end
end
