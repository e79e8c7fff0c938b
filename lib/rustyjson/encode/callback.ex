defmodule RustyJson.Encode.Callback do
  @moduledoc false
  # Encoding with a function for every value, as Elixir's `JSON.encode!/2` does it.

  alias RustyJson.{Config, Encoder, Long, OrderedObject}
  alias RustyJson.Encode.{Keys, Known}
  alias RustyJson.Encoder.Plans

  @compile {:no_warn_undefined, JSON.Encoder}

  @type encoder :: (term(), encoder() -> iodata())

  @doc "The default: encodes a value, and what is in it with the function."
  @spec encode(term(), encoder()) :: iodata()
  def encode(value, _encoder) when value in [nil, true, false] or is_binary(value) or is_number(value),
    do: RustyJson.encode!(value)

  def encode(atom, encoder) when is_atom(atom), do: encoder.(Atom.to_string(atom), encoder)
  def encode(list, encoder) when is_list(list), do: array(list, encoder)
  def encode(tuple, encoder) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> array(encoder)

  def encode(%OrderedObject{values: members}, encoder) when is_list(members),
    do: object(members, encoder)

  # An error.
  def encode(%OrderedObject{} = object, _encoder), do: RustyJson.encode!(object)

  def encode(%module{} = value, encoder) when module in [MapSet, Range] do
    with nil <- Plans.own_implementation(module), {:ok, plain} <- Known.plain(value) do
      encode(plain, encoder)
    else
      _own -> RustyJson.encode!(value)
    end
  end

  def encode(%_{} = struct, encoder), do: struct(struct, Encoder.impl_for(struct), encoder)
  def encode(map, encoder) when is_map(map), do: map |> Map.to_list() |> object(encoder)
  def encode(other, _encoder), do: RustyJson.encode!(other)

  # Only the protocol of Elixir passes the function on to the fields.
  defp struct(struct, Encoder.Any, encoder) do
    if Code.ensure_loaded?(JSON.Encoder) and JSON.Encoder.impl_for(struct) not in [nil, JSON.Encoder.Any],
      do: JSON.Encoder.encode(struct, encoder),
      else: RustyJson.encode!(struct)
  end

  defp struct(struct, implementation, encoder) do
    case Plans.derived_members(implementation, struct) do
      nil -> RustyJson.encode!(struct)
      members -> object(members, encoder)
    end
  end

  # What is written is gathered in reverse: a stack with a frame for each element is looked through at each collection.
  defp array([], _encoder), do: "[]"
  defp array([first | rest], encoder), do: elements(rest, [encoder.(first, encoder), ?[], encoder)

  defp elements([next | rest], done, encoder),
    do: elements(rest, [encoder.(next, encoder), ?, | done], encoder)

  defp elements([], done, _encoder), do: Long.in_order(done, ~c"]")

  defp elements(_tail, _done, _encoder), do: Keys.improper_list()

  defp object([], _encoder), do: "{}"
  defp object([first | rest], encoder), do: members(rest, [member(first, encoder), ?{], encoder)

  defp members([next | rest], done, encoder), do: members(rest, [member(next, encoder), ?, | done], encoder)
  defp members([], done, _encoder), do: Long.in_order(done, ~c"}")
  defp members(_tail, _done, _encoder), do: Keys.improper_list()

  defp member({key, value}, encoder), do: [encoder.(key(key), encoder), ?:, encoder.(value, encoder)]
  defp member(_no_pair, _encoder), do: Keys.invalid_key()

  defp key(key) when is_binary(key), do: key

  defp key(key) do
    with name when is_atom(name) <- Keys.string_key(key, Config.encode()), do: Atom.to_string(name)
  end
end
