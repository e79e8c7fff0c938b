defmodule RustyJson.Wasm.Judge do
  @moduledoc false
  # Checks results of the WebAssembly module for a host without its own library, and builds terms from them: in the native library
  # if it is loaded, otherwise in Elixir by the same rules.

  alias RustyJson.Engine.Native
  alias RustyJson.Options
  alias RustyJson.Wasm.{Etf, Holes, Host}

  # Most bytes that are checked on the caller's scheduler, and that become terms there: as many as `decode/2` takes there by default.
  @small 262_144
  @small_term 131_072

  @doc """
  The term that answers a document of this length. `:refused`: the VM makes no term of it, because a map has a key twice or an
  atom does not exist.
  """
  @spec term(binary(), Options.t(), non_neg_integer()) :: Native.Nif.built()
  def term(etf, options, json_length) do
    cond do
      not Native.loaded?() -> etf |> Etf.check(options.values, json_length) |> build(etf)
      byte_size(etf) <= @small_term -> Native.Nif.build_etf(etf, options.bytes, json_length)
      true -> Native.Nif.build_etf_dirty(etf, options.bytes, json_length)
    end
  end

  @doc "The list of terms that answer documents of these lengths (32 bits each, little endian)."
  @spec list(binary(), Options.t(), binary()) :: Native.Nif.built()
  def list(etf, options, lengths) do
    cond do
      not Native.loaded?() -> etf |> Etf.check_list(options.values, lengths) |> build(etf)
      byte_size(etf) <= @small_term -> Native.Nif.build_list(etf, options.bytes, lengths)
      true -> Native.Nif.build_list_dirty(etf, options.bytes, lengths)
    end
  end

  defp build(:ok, etf) do
    {:ok, :erlang.binary_to_term(etf, [:safe])}
  rescue
    ArgumentError -> :refused
  end

  defp build(fault, _etf), do: fault

  @doc "The text and the holes of a partial record's body that answers a term. `bytes` are the call's options and plans."
  @spec holes(binary(), binary(), binary(), Options.t()) ::
          {:partial, binary(), [Host.hole()]} | Host.fault()
  def holes(body, etf, bytes, options) do
    cond do
      not Native.loaded?() -> Holes.find(body, etf, plans(bytes, options), options.values)
      byte_size(body) + byte_size(etf) <= @small -> Native.Nif.check_holes(body, etf, bytes)
      true -> Native.Nif.check_holes_dirty(body, etf, bytes)
    end
  end

  defp plans(bytes, %{bytes: options}) do
    case binary_part(bytes, byte_size(options), byte_size(bytes) - byte_size(options)) do
      <<>> -> %{}
      plans -> :erlang.binary_to_term(plans)
    end
  end
end
