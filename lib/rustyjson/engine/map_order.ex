defmodule RustyJson.Engine.MapOrder do
  @moduledoc false
  # Objects have the order of Map.to_list/1. For maps above 32 keys, a NIF and term_to_binary walk in opposite orders, and which
  # of them matches Map.to_list/1 depends on OTP. This finds out, once.

  alias RustyJson.Engine.{Native, Wasm}
  alias RustyJson.Options.{Layout, Values}

  @keys 33

  @doc "How the core has to walk such maps."
  @spec large_maps(module()) :: :forwards | :backwards
  def large_maps(engine) do
    map = Map.new(1..@keys, &{&1, 0})
    if order(engine, map) in [:any, Map.keys(map)], do: :forwards, else: :backwards
  end

  defp order(Native, map) do
    for [key] <- Regex.scan(~r/\d+(?=":)/, Native.Nif.encode(map, forwards(), nil)),
        do: String.to_integer(key)
  rescue
    ErlangError -> :any
  end

  defp order(Wasm, map) do
    <<131, 116, @keys::32, entries::binary>> = :erlang.term_to_binary(map, minor_version: 2)
    for <<97, key, 97, 0 <- entries>>, do: key
  end

  defp order(_engine, _map), do: :any

  defp forwards, do: Layout.encode(Values.defaults(:encode))
end
