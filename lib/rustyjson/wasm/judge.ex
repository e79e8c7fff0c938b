defmodule RustyJson.Wasm.Judge do
  @moduledoc false
  # Checks results of the WebAssembly module for the host that has no native code of ours, and lets the VM build terms of them. A deadline
  # is in milliseconds of monotonic time.

  alias RustyJson.Options
  alias RustyJson.Wasm.{Abi, Etf, Holes, Host}

  @type built :: {:ok, term()} | :refused | Host.fault()

  @doc """
  The term that answers a document of this length. `:refused`: the VM makes no term of it, because a map has a key twice or an
  atom does not exist.
  """
  @spec term(binary(), Options.t(), non_neg_integer(), integer()) :: built()
  def term(etf, options, json_length, deadline),
    do: etf |> Etf.check(options.values, json_length, deadline) |> build(etf)

  @doc "The list of terms that answer documents of these lengths (32 bits each, little endian)."
  @spec list(binary(), Options.t(), binary(), integer()) :: built()
  def list(etf, options, lengths, deadline),
    do: etf |> Etf.check_list(options.values, lengths, deadline) |> build(etf)

  defp build(:ok, etf) do
    {:ok, :erlang.binary_to_term(etf, [:safe])}
  rescue
    ArgumentError -> :refused
  end

  defp build(fault, _etf), do: fault

  @doc """
  The number of the first name that is not an existing atom, in the list of the keys of a document of this length; nil if all are.
  """
  @spec first_unknown(binary(), non_neg_integer(), integer()) :: non_neg_integer() | nil | Host.fault()
  def first_unknown(names, json_length, deadline) do
    if Abi.names?(byte_size(names), json_length),
      do: first_unknown(names, 0, System.monotonic_time(:millisecond), deadline),
      else: broken_names()
  end

  defp first_unknown(_names, _number, now, deadline) when now > deadline, do: {:fault, :timeout, ""}

  defp first_unknown(names, number, now, deadline) do
    case Abi.name(names) do
      {name, rest} ->
        if atom?(name), do: first_unknown(rest, number + 1, clock(number, now), deadline), else: number

      nil ->
        nil

      :broken ->
        broken_names()
    end
  end

  # Looking at the clock takes as long as looking for an atom.
  defp clock(number, _now) when rem(number, 256) == 255, do: System.monotonic_time(:millisecond)
  defp clock(_number, now), do: now

  defp atom?(name) do
    _ = :erlang.binary_to_existing_atom(name, :utf8)
    true
  rescue
    _ in [ArgumentError, SystemLimitError] -> false
  end

  defp broken_names, do: {:fault, :invalid_result, "its list of keys is broken"}

  @doc "The text and the holes of a partial record's body that answers a term. `bytes` are the call's options and plans."
  @spec holes(binary(), binary(), binary(), Options.t(), integer()) ::
          {:partial, binary(), [RustyJson.Engine.hole()]} | Host.fault()
  def holes(body, etf, bytes, options, deadline),
    do: Holes.find(body, etf, plans(bytes, options), options.values, deadline)

  defp plans(bytes, %{bytes: options}) do
    case binary_part(bytes, byte_size(options), byte_size(bytes) - byte_size(options)) do
      <<>> -> %{}
      plans -> :erlang.binary_to_term(plans)
    end
  end
end
