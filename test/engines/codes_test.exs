defmodule RustyJson.Engine.CodesTest do
  @moduledoc "Rust and Elixir use the same numbers for the same names."

  use ExUnit.Case, async: true

  @moduletag :once

  require RustyJson.Parts.Kind

  alias RustyJson.Engine.Codes
  alias RustyJson.Parts.Kind
  alias RustyJson.Test.Judge
  alias RustyJson.Wasm.Abi

  defp source(path), do: File.read!(Path.join([__DIR__, "../../core/src", path]))

  # The names and numbers of a list of variants, in the order of the text.
  defp variants(text) do
    for [_, name, code] <- Regex.scan(~r/^\s+([A-Z]\w+) = (\d+),$/m, text),
        do: {name |> Macro.underscore() |> String.to_atom(), String.to_integer(code)}
  end

  test "errors have the numbers that other versions gave them, and each has a message" do
    for {name, code} <- [unexpected_end: 1, invalid_utf8: 13, max_nodes: 23, enum: 48, max_items: 62],
        do: assert(Codes.decode_reason(code) == name)

    for {name, code} <- [invalid_utf8: 1, unsupported: 7, out_of_memory: 8],
        do: assert(Codes.encode_reason(code) == name)

    assert Codes.all(:encode) |> length() == 8

    for name <- Codes.all(:decode) do
      text = RustyJson.DecodeError.Message.text(name, ~s("a"), RustyJson.Config.decode())
      assert is_binary(text) or is_tuple(text), "#{name} has no message"
    end
  end

  test "statuses and the version of the guest" do
    text = source("abi.rs")
    assert variants(text) == Abi.statuses()

    # The library computes it itself.
    if Judge.available?(:native),
      do: assert(RustyJson.Engine.Native.Nif.abi_version() == Abi.version())
  end

  test "kinds of plans of parts" do
    for {file, name, kind} <- [
          {"plan", "SELECT", Kind.select()},
          {"shape", "SHAPE", Kind.typed()},
          {"raw", "RAW", Kind.raw()},
          {"check", "CHECK", Kind.check()}
        ] do
      assert source("parts/#{file}.rs") =~ "\nconst #{name}: u8 = #{kind};\n"
    end
  end

  # RustyJson.Wasm.Batch bounds what the guest answers for a host without a library of its own, as these files do.
  test "bounds of an answer about many documents" do
    policy = source("etf/policy.rs")
    batch = source("abi/batch.rs")
    elixir = File.read!(Path.join(__DIR__, "../../lib/rustyjson/wasm/batch.ex"))
    assert [_, times] = Regex.run(~r/true => json_len\.saturating_mul\((\d+)\)/, policy)
    assert elixir =~ "length <= #{times} * byte_size(body)"

    assert [_, times, more] =
             Regex.run(~r/longest = json_len\.saturating_mul\((\d+)\)\.saturating_add\((\d+)\)/, batch)

    assert elixir =~ "byte_size(path) <= #{times} * length + #{more}"
    # A failure is a code and three numbers, and the longest path.
    assert [_, path] = Regex.run(~r/pub const MAX_PATH: usize = (\d+);/, source("locate.rs"))
    assert [_, longest] = Regex.run(~r/@longest_failure ([0-9_]+)/, elixir)
    assert longest |> String.replace("_", "") |> String.to_integer() >= String.to_integer(path) + 25
  end
end
