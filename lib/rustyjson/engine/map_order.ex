defmodule RustyJson.Engine.MapOrder do
  @moduledoc false
  # Objects have the order of Map.to_list/1. For maps above 32 keys, a NIF and term_to_binary walk in opposite orders, and which
  # of them matches Map.to_list/1 depends on OTP. This finds out, once.

  alias RustyJson.Engine.{Native, Wasm}

  @keys 33
  @reverse 0b100_0000
  @probe {0, 128, 0, -1, nil, 0, nil}

  @doc "The bit that tells the core to walk such maps backwards, or 0."
  @spec flags(module()) :: 0 | 0b100_0000
  def flags(engine) do
    map = Map.new(1..@keys, &{&1, 0})
    if order(engine, map) in [:any, Map.keys(map)], do: 0, else: @reverse
  end

  defp order(Native, map) do
    for [key] <- Regex.scan(~r/\d+(?=":)/, Native.Nif.encode(map, @probe)), do: String.to_integer(key)
  rescue
    ErlangError -> :any
  end

  defp order(Wasm, map) do
    <<131, 116, @keys::32, entries::binary>> = :erlang.term_to_binary(map, minor_version: 2)
    for <<97, key, 97, 0 <- entries>>, do: key
  end

  defp order(_engine, _map), do: :any
end
