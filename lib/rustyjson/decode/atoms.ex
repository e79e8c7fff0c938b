defmodule RustyJson.Decode.Atoms do
  @moduledoc false
  # `keys: :atoms` near the end of the VM's table of atoms. One atom too many ends the VM (Erlang's efficiency guide,
  # "System Limits"). So a document that may by its length have more new keys than there is room for is decoded with
  # existing atoms first; where those do not do, with strings, and its keys are counted.

  import Bitwise

  alias RustyJson.{Engine, Options}
  alias RustyJson.Options.Schema

  # Left for whoever else makes atoms meanwhile.
  @reserve 2_048
  # A member takes at least `"":0,`.
  @shortest 5

  @keys Map.update!(Schema.entries(:decode)[:keys], :bits, &Map.new/1)
  # Keys as strings, floats as floats, objects as maps: what is counted is the same.
  @simple Enum.reduce([:keys, :floats, :objects], 0, &(Schema.entries(:decode)[&1].mask ||| &2))
  # What the core calls an unknown atom.
  @unknown 26

  @key __MODULE__

  @doc "Decodes with keys as atoms, if the table has room for them."
  @spec decode(binary(), Options.t()) ::
          {:ok, term()} | {:error, :atom_limit | Engine.decode_failure() | Exception.t()}
  def decode(json, %{engine: engine} = options) do
    most = div(byte_size(json), @shortest) + 1
    # To ask the VM takes 0.3 µs, as long as a small document: what it said is good for as many keys.
    if :atomics.sub_get(left(), 1, most) >= 0,
      do: engine.decode(json, options),
      else: asked(json, most, options)
  end

  defp asked(json, most, options) do
    room = :erlang.system_info(:atom_limit) - :erlang.system_info(:atom_count) - @reserve
    :atomics.put(left(), 1, room - most)
    if most < room, do: options.engine.decode(json, options), else: existing(json, options, room)
  end

  # Keys that may come before the VM is asked again.
  defp left do
    with nil <- :persistent_term.get(@key, nil) do
      :persistent_term.put(@key, :atomics.new(1, signed: true))
      :persistent_term.get(@key)
    end
  end

  defp existing(json, options, room) do
    with {:error, {@unknown, _, _, _, _}} <- decode(json, options, @keys.mask, @keys.bits.atoms!),
         do: counted(json, options, room)
  end

  defp counted(json, options, room) do
    with {:ok, term} <- decode(json, options, @simple, 0) do
      new = for {key, []} <- keys(term, %{}), not atom?(key), do: key
      if length(new) < room, do: options.engine.decode(json, options), else: {:error, :atom_limit}
    end
  end

  # With other flags than the call's.
  defp decode(json, %{packed: packed} = options, mask, bits) do
    flags = (elem(packed, 0) &&& bnot(mask)) ||| bits
    options.engine.decode(json, %{options | packed: put_elem(packed, 0, flags)})
  end

  defp keys(map, found) when is_map(map),
    do: Enum.reduce(map, found, fn {key, value}, found -> keys(value, Map.put(found, key, [])) end)

  defp keys(list, found) when is_list(list), do: Enum.reduce(list, found, &keys/2)
  defp keys(_scalar, found), do: found

  defp atom?(key) do
    is_atom(String.to_existing_atom(key))
  rescue
    _ in [ArgumentError, SystemLimitError] -> false
  end
end
