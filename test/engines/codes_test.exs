defmodule RustyJson.Engine.CodesTest do
  @moduledoc "Rust and Elixir use the same numbers for the same names."

  use ExUnit.Case, async: true

  alias RustyJson.Engine.Codes
  alias RustyJson.Wasm.Abi

  defp source(path), do: File.read!(Path.join([__DIR__, "../../core/src", path]))

  # The names and numbers of a list of variants, in the order of the text.
  defp variants(text) do
    for [_, name, code] <- Regex.scan(~r/^\s+([A-Z]\w+) = (\d+),$/m, text),
        do: {name |> Macro.underscore() |> String.to_atom(), String.to_integer(code)}
  end

  test "errors" do
    assert variants(source("error.rs")) == Enum.with_index(Codes.all(:decode), 1)
    # The last one never leaves Rust.
    assert variants(source("encode/error.rs")) == Enum.with_index(Codes.all(:encode) ++ [:budget], 1)
  end

  test "statuses and the version of the guest" do
    text = source("abi.rs")
    assert variants(text) == Abi.statuses()
    assert [_, version] = Regex.run(~r/pub const VERSION: u32 = (\d+);/, text)
    assert String.to_integer(version) == Abi.version()
  end
end
