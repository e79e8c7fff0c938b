defmodule RustyJson.Decode.Atoms do
  @moduledoc false
  # `keys: :atoms` near the end of the VM's table of atoms. One atom too many ends the VM (Erlang's efficiency guide,
  # "System Limits"), so a document whose length says that it may have more new keys than there is room for is decoded
  # with strings first, and its keys are counted.

  import Bitwise

  alias RustyJson.{Engine, Options}
  alias RustyJson.Options.Schema

  # Left for whoever else makes atoms meanwhile.
  @reserve 2_048
  # A member takes at least `"":0,`.
  @shortest 5

  # Keys as strings, floats as floats, objects as maps: what is counted is the same.
  @simple Enum.reduce([:keys, :floats, :objects], 0, &(Schema.entries(:decode)[&1].mask ||| &2))

  @doc "Whether the document's keys may become atoms; or the failure that decoding it is."
  @spec room(binary(), Options.t()) :: :ok | {:error, :atom_limit | Engine.decode_failure() | Exception.t()}
  def room(json, options) do
    room = :erlang.system_info(:atom_limit) - :erlang.system_info(:atom_count) - @reserve
    if div(byte_size(json), @shortest) < room, do: :ok, else: counted(json, options, room)
  end

  defp counted(json, %{packed: packed, engine: engine} = options, room) do
    flags = elem(packed, 0) &&& bnot(@simple)

    with {:ok, term} <- engine.decode(json, %{options | packed: put_elem(packed, 0, flags)}) do
      if map_size(new_keys(term, %{})) < room, do: :ok, else: {:error, :atom_limit}
    end
  end

  defp new_keys(map, found) when is_map(map) do
    Enum.reduce(map, found, fn {key, value}, found ->
      found = if is_map_key(found, key) or atom?(key), do: found, else: Map.put(found, key, [])
      new_keys(value, found)
    end)
  end

  defp new_keys(list, found) when is_list(list), do: Enum.reduce(list, found, &new_keys/2)
  defp new_keys(_scalar, found), do: found

  defp atom?(key) do
    is_atom(String.to_existing_atom(key))
  rescue
    _ in [ArgumentError, SystemLimitError] -> false
  end
end
