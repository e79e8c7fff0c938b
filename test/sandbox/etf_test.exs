defmodule RustyJson.Sandbox.EtfTest do
  @moduledoc "The judge in Elixir, which serves where no native library is there, decides as the one in Rust."

  use ExUnit.Case, async: true

  alias RustyJson.Wasm.Etf
  alias RustyJson.Wasm.Host.Wasmtime.Nif

  if reason = RustyJson.Test.WasmHosts.missing(:wasmtime), do: @moduletag(skip: reason)

  @packed %{
    plain: {0, 4, 20, 0, 0},
    atoms: {1, 4, 20, 0, 0},
    decimals: {16, 4, 20, 0, 0},
    ordered: {32, 4, 20, 0, 0},
    both: {48, 4, 20, 7, 0}
  }

  # What the writer emits under each of them, and some that it does not.
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

  # In the writer's order of keys, which is not the runtime's.
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
  defp verdict({:fault, :invalid_result, text}) when is_binary(text), do: :refused

  defp same(etf, name, packed, length) do
    elixir = verdict(Etf.check(etf, packed, length))

    assert elixir == verdict(Nif.check_etf(etf, packed, length)),
           "#{name}, #{length}: #{inspect(etf, limit: :infinity)}"

    elixir
  end

  test "terms, whole" do
    verdicts =
      for seed <- seeds(),
          {name, packed} <- @packed,
          length <- [1, 3, 100],
          do: same(<<131, seed::binary>>, name, packed, length)

    assert :ok in verdicts and :refused in verdicts
  end

  test "terms cut, lengthened and damaged" do
    :rand.seed(:exsss, {1, 2, 3})

    for seed <- seeds(), {name, packed} <- @packed do
      etf = <<131, seed::binary>>
      for n <- 0..(min(byte_size(etf), 60) - 1), do: same(binary_part(etf, 0, n), name, packed, 100)
      same(etf <> <<0>>, name, packed, 100)

      for _ <- 1..60 do
        at = :rand.uniform(byte_size(etf)) - 1
        {before, rest} = {binary_part(etf, 0, at), binary_part(etf, at + 1, byte_size(etf) - at - 1)}

        byte =
          Enum.random([0, 1, 97, 98, 104, 106, 108, 109, 110, 116, 118, 119, 255, :rand.uniform(256) - 1])

        same(<<before::binary, byte, rest::binary>>, name, packed, 100)
      end
    end
  end

  test "holes" do
    term = [self(), %{"k" => make_ref()}, {:a, &:os.cmd/1}, "b" <> <<106, 106>>, fn -> self() end]
    etf = :erlang.term_to_binary(term, minor_version: 2)

    for start <- 0..(byte_size(etf) + 2), depth <- [0, 1, 2, 3, 0x8000_0001] do
      body = <<1::32-little, 0::32-little, start::32-little, depth::32-little, "[]">>
      elixir = Etf.holes(body, etf, 0)
      rust = Nif.check_holes(body, etf, 0)

      case rust do
        {:partial, _, _} -> assert elixir == rust
        {:fault, reason, _} -> assert {:fault, ^reason, _} = elixir
      end
    end
  end
end
