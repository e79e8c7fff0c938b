defmodule RustyJson.Sandbox.EtfTest do
  @moduledoc """
  The judge in Elixir of what the module answers, for the host wasmex, decides like the one in Rust: `core/tests/judged.rs` reads the same
  files.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Options
  alias RustyJson.Wasm.{Etf, Holes, Judge}

  @vectors Path.join(__DIR__, "../vectors")

  defp rows(file) do
    for line <- @vectors |> Path.join(file) |> File.stream!(),
        not String.starts_with?(line, "#"),
        do: line |> String.trim() |> String.split(" ")
  end

  defp bytes("-"), do: ""
  defp bytes(hex), do: Base.decode16!(hex, case: :lower)
  defp words("-"), do: []
  defp words(text), do: String.split(text, "+")

  @decode %{
    "plain" => [],
    "atoms" => [keys: :atoms],
    "decimals" => [floats: :decimals],
    "null" => [null: :null],
    "undefined" => [null: :undefined],
    "ordered" => [objects: :ordered_objects],
    "nodes7" => [max_nodes: 7]
  }

  defp values(text) do
    more = Enum.flat_map(words(text), &Map.fetch!(@decode, &1))
    Options.decode(more ++ [max_depth: 4, decoding_integer_digit_limit: 20]).values
  end

  test "terms, and lists of terms" do
    for [kind, options, length, etf, verdict] = row <- rows("judged.txt") do
      elixir =
        case kind do
          "term" -> Etf.check(bytes(etf), values(options), String.to_integer(length))
          "list" -> Etf.check_list(bytes(etf), values(options), lengths(length))
        end

      # Each fault has a text.
      given =
        case elixir do
          :ok -> "ok"
          {:fault, :invalid_result, text} when is_binary(text) -> "no"
        end

      assert given == verdict, inspect(row)
    end
  end

  defp lengths("-"), do: <<>>

  defp lengths(text),
    do: for(n <- String.split(text, ","), into: <<>>, do: <<String.to_integer(n)::32-little>>)

  @encode %{
    "strict" => [maps: :strict],
    "sort" => [sort_keys: true],
    "plain_structs" => [protocol: false],
    "lean" => [lean: true],
    "pretty" => [pretty: true],
    "depth1" => []
  }

  @faults %{
    "its list of holes is broken" => "list",
    "a hole is not a term of the input" => "place",
    "a hole is a term that it can write" => "written"
  }

  test "holes" do
    {plans, rows} = Enum.split_with(rows("holes.txt"), &(hd(&1) == "plans"))

    plans =
      for ["plans", name, hex] <- plans, into: %{"-" => %{}}, do: {name, :erlang.binary_to_term(bytes(hex))}

    for [words, plan, etf, record | verdict] = row <- rows do
      options = Options.encode(Enum.flat_map(words(words), &Map.fetch!(@encode, &1)))
      options = if "depth1" in words(words), do: Options.at_depth(options, 1), else: options
      elixir = Holes.find(bytes(record), bytes(etf), Map.fetch!(plans, plan), options.values)

      given =
        case elixir do
          {:partial, "[]", found} -> ["ok", holes(found)]
          {:fault, :invalid_result, text} -> [@faults[text]]
        end

      assert given == verdict, inspect(row)
    end
  end

  defp holes(found), do: Enum.map_join(found, ",", fn hole -> hole |> Tuple.to_list() |> Enum.join(":") end)

  describe "the deadline" do
    setup do
      {:ok, options: Options.decode(max_nodes: 0), passed: System.monotonic_time(:millisecond) - 1}
    end

    test "ends the walk over many values, and never one over a few", %{options: options, passed: passed} do
      etf = :erlang.term_to_binary(List.duplicate(1, 100_000))
      assert {:fault, :timeout, ""} = Etf.check(etf, options.values, byte_size(etf), passed)
      assert :ok = Etf.check(etf, options.values, byte_size(etf), passed + 60_000)
      assert {:fault, :timeout, ""} = Judge.term(etf, options, byte_size(etf), passed)
      list = :erlang.term_to_binary([List.duplicate(1, 100_000)])
      assert {:fault, :timeout, ""} = Judge.list(list, options, <<byte_size(list)::32-little>>, passed)
    end

    # A million members take the VM longer than what is left, wherever the walk got to.
    test "holds also for what the VM would then need for a large map", %{options: options} do
      member = fn n -> <<109, 4::32, n::32, 97, 1>> end
      members = for n <- 1..200_000, into: <<>>, do: member.(n)
      etf = <<131, 116, 200_000::32, members::binary>>
      soon = System.monotonic_time(:millisecond) + 60
      assert {:fault, :timeout, ""} = Etf.check(etf, options.values, byte_size(etf), soon)
      assert :ok = Etf.check(etf, options.values, byte_size(etf), soon + 60_000)
    end
  end
end
