defmodule RustyJson.Encode.Callback do
  @moduledoc false
  # Encoding with a function for every value, as Elixir's `JSON.encode!/2` does it.

  require RustyJson.Encode.Unsupported

  alias RustyJson.{Config, EncodeError, Encoder, Fragment, Long, Options, OrderedObject}
  alias RustyJson.Encode.{Keys, Known, Part, Scope, Text, Unsupported}
  alias RustyJson.Encoder.{Interop, Plans}

  @known Known.modules()
  @built_in @known -- [Fragment, OrderedObject]
  @texts Known.texts()

  @type encoder :: (term(), encoder() -> iodata())

  @doc "The default: encodes a value, and what is in it with the function."
  @spec encode(term(), encoder()) :: iodata()
  def encode(value, _encoder) when value in [nil, true, false] or is_binary(value) or is_number(value),
    do: whole(value)

  def encode(atom, encoder) when is_atom(atom) do
    if atom == Config.encode().values.null,
      do: whole(atom),
      else: encoder.(Atom.to_string(atom), encoder)
  end

  def encode(list, encoder) when is_list(list) do
    if replaces?() and List.improper?(list), do: whole(list), else: array(list, encoder)
  end

  def encode(tuple, encoder) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> array(encoder)

  def encode(%OrderedObject{values: members} = object, encoder) when is_list(members) do
    if replaces?() and not pairs?(members), do: whole(object), else: object(members, encoder)
  end

  # An error.
  def encode(%OrderedObject{} = object, _encoder), do: whole(object)

  def encode(%module{} = struct, encoder) do
    if fields?(module, Config.encode().values),
      do: struct |> Map.from_struct() |> encode(encoder),
      else: by_module(struct, encoder)
  end

  def encode(map, encoder) when is_map(map), do: map |> Map.to_list() |> object(encoder)
  def encode(other, _encoder), do: whole(other)

  # A configured `:unsupported` replaces all of a term without a JSON form.
  defp replaces?, do: Unsupported.is_described(Config.encode())

  defp pairs?([{_key, _value} | rest]), do: pairs?(rest)
  defp pairs?(rest), do: rest == []

  defp plain(value) do
    Known.plain(value)
  rescue
    error in EncodeError -> error
  end

  # Whether the configuration has structs of this module written as maps.
  defp fields?(module, %{lean: lean}) when module in @built_in, do: lean
  defp fields?(module, %{protocol: protocol}), do: not protocol and module not in @known

  defp by_module(%module{} = value, encoder) when module in [MapSet, Range] do
    with nil <- own(module), {:ok, plain} <- plain(value) do
      encode(plain, encoder)
    else
      _own_or_invalid -> undivided(value, Config.encode())
    end
  end

  defp by_module(struct, encoder) do
    case Config.encode() do
      %{values: %{protocol: false}} = options -> undivided(struct, options)
      _options -> struct(struct, Encoder.impl_for(struct), encoder)
    end
  end

  defp own(module), do: if(Config.encode().values.protocol, do: Plans.own_implementation(module))

  # Only the protocol of Elixir passes the function on to the fields. It knows nothing of what is to be hidden.
  defp struct(struct, Encoder.Any, encoder) do
    case {Interop.found(struct), Config.encode()} do
      {{:json, implementation}, %{values: %{redact: []}}} -> implementation.encode(struct, encoder)
      {_found, options} -> undivided(struct, options)
    end
  end

  defp struct(struct, implementation, encoder) do
    case Plans.derived_members(implementation, struct) do
      nil -> undivided(struct, Config.encode())
      members -> members |> hidden(struct) |> object(encoder)
    end
  end

  defp undivided(%module{} = struct, options) do
    if module not in @texts or own(module) != nil, do: refuse_pointers!(options)
    whole(struct)
  end

  # A field is hidden under its own name, too, whether or not the plan of its struct has been learnt.
  defp hidden(members, %module{}) do
    case Config.encode() do
      %{values: %{redact: []}} ->
        members

      options ->
        names = for {field, names} <- Plans.other_names(module), hidden?(to_string(field), options), do: names
        names = Enum.concat(names)
        for {name, value} <- members, do: {name, if(name in names, do: options.values.redacted, else: value)}
    end
  end

  # A value by itself. Only the text of all of them can be compressed.
  defp whole(value) do
    case Config.encode() do
      %{compress: -1} -> RustyJson.encode!(value)
      options -> value |> Text.encode(Options.uncompressed(options)) |> text()
    end
  end

  defp text({:ok, text}), do: text
  defp text({:error, error}), do: raise(error)

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

  defp member({key, value}, encoder) do
    name = key(key)
    [encoder.(name, encoder), ?:, encoder.(shown(name, value), encoder)]
  end

  defp member(_no_pair, _encoder), do: Keys.invalid_key()

  defp shown(name, value) do
    case Config.encode() do
      %{values: %{redact: []}} -> value
      options -> if hidden?(name, options), do: options.values.redacted, else: value
    end
  end

  defp hidden?(name, options) do
    refuse_pointers!(options)
    Scope.hides?(name, options)
  end

  # A call for one member or struct knows nothing of those around it.
  defp refuse_pointers!(options) do
    if Options.pointers(options) != [],
      do:
        raise(
          ArgumentError,
          "the configured :redact has JSON Pointers, which an encoder cannot follow: it takes keys and contains: here"
        )
  end

  defp key(key) when is_binary(key), do: key

  # As a value, a long one can be a string: `integers: :js_safe`.
  defp key(key) when is_integer(key),
    do: key |> Part.encode!(Config.encode()) |> IO.iodata_to_binary() |> String.trim("\"")

  defp key(key) do
    with name when is_atom(name) <- Keys.string_key(key, Config.encode()), do: Atom.to_string(name)
  end
end
