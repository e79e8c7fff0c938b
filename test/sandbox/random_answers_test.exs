defmodule RustyJson.Sandbox.RandomAnswersTest do
  @moduledoc """
  A guest whose answers are random terms, half of them damaged: what the built-in host builds of one that passes is what the VM reads in it.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{DecodeError, SandboxError}
  alias RustyJson.Test.{Contained, Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @moduletag timeout: 3_600_000
  if reason = WasmHosts.no_other(:built_in), do: @moduletag(skip: reason)

  @options [engine: :wasm, host: :built_in, timeout: 10_000]

  # The document is the length of a record and the record, which the guest gives back.
  setup_all do
    place = Guest.record(Guest.document() + 4, 0)
    length = "(i64.load32_u (i32.const #{Guest.document()}))"
    {:ok, guest: Guest.wasm(always: true, memory: 64, fault: "(i64.or (i64.const #{place}) #{length})")}
  end

  test "terms of each kind and size", %{guest: guest} do
    seeded()

    passed =
      with_guest(:built_in, guest, fn ->
        for _ <- 1..(60 * Contained.times()), keys = Enum.random([:strings, :copy, :atoms!]), reduce: 0 do
          passed -> passed + answer(keys, encoded(value(2, keys == :atoms!)))
        end
      end)

    # Whatever chance brings, about half of them are not damaged.
    assert passed > 15 * Contained.times()
  end

  test "large documents, which fill several blocks of memory", %{guest: guest} do
    seeded()

    with_guest(:built_in, guest, fn ->
      for _ <- 1..div(Contained.times(), 10) do
        rows = for _ <- 1..3_000, do: value(1, false)
        answer(:strings, encoded(rows))
      end
    end)
  end

  # The seed is that of the run, so that a failure can be repeated.
  defp seeded, do: :rand.seed(:exsss, ExUnit.configuration()[:seed])

  # 1 if it passed.
  defp answer(keys, etf) do
    record = <<1, 131, Enum.random([etf, damaged(etf)])::binary>>
    document = <<byte_size(record)::32-little, record::binary>>

    case RustyJson.decode(document, [keys: keys] ++ @options) do
      {:ok, term} ->
        <<1, etf::binary>> = record
        :erlang.garbage_collect()
        same? = :erlang.term_to_binary(term) == :erlang.term_to_binary(:erlang.binary_to_term(etf))
        if same?, do: 1, else: flunk(inspect(record, limit: :infinity))

      {:error, %module{}} when module in [SandboxError, DecodeError] ->
        0
    end
  end

  ## Terms

  @names ~w(a b id ok nil true name value error reason message __struct__)

  defp value(depth, atoms?) do
    case :rand.uniform(if(depth > 0, do: 12, else: 8)) do
      1 ->
        Enum.random([nil, true, false])

      2 ->
        :rand.uniform(256) - 1

      3 ->
        :rand.uniform(0xFFFF_FFFF) - 0x8000_0000

      4 ->
        Enum.random([1, -1]) * Enum.random([0x800_0000_0000_0000, 0x8000_0000_0000_0000, Integer.pow(3, 500)])

      5 ->
        Enum.random([0.0, -0.0, 1.5, -1.0e300, 5.0e-324])

      n when n < 9 ->
        :rand.bytes(:rand.uniform(90) - 1)

      n when n < 11 ->
        for _ <- 1..size()//1, do: value(depth - 1, atoms?)

      _ ->
        members = for _ <- 1..size()//1, do: {key(atoms?), value(depth - 1, atoms?)}
        {:map, if(:rand.uniform(10) == 1, do: members, else: Enum.uniq_by(members, &elem(&1, 0)))}
    end
  end

  defp size, do: Enum.random([0, 1, 2, 3, 8, 32, 33, 40])

  defp key(true), do: {:atom, Enum.random(@names)}

  defp key(false),
    do: if(:rand.uniform(8) == 1, do: Enum.random(@names), else: :rand.bytes(:rand.uniform(20)))

  ## External Term Format, as the guest writes it

  defp encoded(value) when is_boolean(value) or value == nil, do: encoded({:atom, Atom.to_string(value)})
  defp encoded({:atom, name}), do: <<119, byte_size(name), name::binary>>
  defp encoded(value) when value in 0..255, do: <<97, value>>
  defp encoded(value) when value in -0x8000_0000..0x7FFF_FFFF, do: <<98, value::32-signed>>

  defp encoded(value) when is_integer(value) do
    digits = value |> abs() |> :binary.encode_unsigned(:little)
    <<110, byte_size(digits), if(value < 0, do: 1, else: 0), digits::binary>>
  end

  defp encoded(value) when is_float(value), do: <<70, value::float>>
  defp encoded(value) when is_binary(value), do: <<109, byte_size(value)::32, value::binary>>
  defp encoded([]), do: <<106>>
  defp encoded(list) when is_list(list), do: <<108, length(list)::32, joined(list)::binary, 106>>

  defp encoded({:map, members}),
    do:
      <<116, length(members)::32,
        joined(for({key, value} <- members, do: [key, value]) |> Enum.concat())::binary>>

  defp joined(terms), do: for(term <- terms, into: <<>>, do: encoded(term))

  ## Damage

  defp damaged(bytes), do: Enum.reduce(1..:rand.uniform(3), bytes, fn _, bytes -> damaged_once(bytes) end)

  defp damaged_once(<<>>), do: <<106>>

  defp damaged_once(bytes) do
    {before, <<byte, rest::binary>>} = :erlang.split_binary(bytes, :rand.uniform(byte_size(bytes)) - 1)

    case :rand.uniform(5) do
      1 -> <<before::binary, :rand.uniform(256) - 1, rest::binary>>
      2 -> <<before::binary, byte + Enum.random([-1, 1]), rest::binary>>
      3 -> <<before::binary, rest::binary>>
      4 -> <<before::binary, byte, byte, rest::binary>>
      5 -> before
    end
  end
end
