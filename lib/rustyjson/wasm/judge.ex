defmodule RustyJson.Wasm.Judge do
  @moduledoc false
  # Checks results of the WebAssembly module for a host without its own library: in the native library if it is loaded, otherwise
  # in Elixir by the same rules.

  alias RustyJson.Engine.Native
  alias RustyJson.Wasm.{Etf, Holes, Host}

  # Most bytes that are checked on the caller's scheduler, in well under a millisecond.
  @small 262_144

  @doc "`:ok` for a term that answers a document of this length."
  @spec term(binary(), Host.packed(), non_neg_integer()) :: :ok | Host.fault()
  def term(etf, packed, json_length) do
    cond do
      not Native.loaded?() -> Etf.check(etf, packed, json_length)
      byte_size(etf) <= @small -> Native.Nif.check_etf(etf, packed, json_length)
      true -> Native.Nif.check_etf_dirty(etf, packed, json_length)
    end
  end

  @doc "The text and the holes of a partial record's body that answers these two terms."
  @spec holes(binary(), binary(), binary(), Host.packed()) ::
          {:partial, binary(), [Host.hole()]} | Host.fault()
  def holes(body, etf, extra, packed) do
    cond do
      not Native.loaded?() -> Holes.find(body, etf, extra, packed)
      byte_size(body) + byte_size(etf) <= @small -> Native.Nif.check_holes(body, etf, extra, packed)
      true -> Native.Nif.check_holes_dirty(body, etf, extra, packed)
    end
  end
end
