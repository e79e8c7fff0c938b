defmodule RustyJson.Encoder.Interop do
  @moduledoc false
  # Structs that implement only the protocol of another library.

  alias RustyJson.{Encode, Encoder, EncodeError, Options}
  alias RustyJson.Encode.{Known, Measure}
  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Codes

  require RustyJson.Engine.Codes

  @compile {:no_warn_undefined,
            [Jason, Jason.Encoder, Jason.Fragment, Jason.OrderedObject, JSON, JSON.Encoder]}

  @of_jason [Jason.Fragment, Jason.OrderedObject]
  @known Known.modules()

  @doc "The protocols of other libraries that RustyJson tries."
  @spec protocols() :: [module()]
  def protocols, do: [Jason.Encoder, JSON.Encoder]

  @doc "The struct's text by Jason's or Elixir's own protocol."
  @spec encode(term(), Options.t()) :: {:ok, iodata()} | :error
  def encode(%_{} = struct, options) do
    case implementation(Jason.Encoder, Jason.Encoder.Any, struct) do
      nil -> by_elixir(struct, options)
      implementation -> {:ok, of_jason(struct, implementation, options)}
    end
  end

  def encode(_value, _options), do: :error

  defp by_elixir(struct, options) do
    if implementation(JSON.Encoder, JSON.Encoder.Any, struct),
      do: {:ok, JSON.Encoder.encode(struct, &by_json(&1, &2, options)) |> shaped(options)},
      else: :error
  end

  defp of_jason(%module{} = struct, implementation, options) do
    if standin?() do
      Plans.learn(module, implementation)
      implementation.encode(struct, options)
    else
      fits!(struct, options)
      given = jason_options(Options.escape(options), Options.maps(options))
      struct |> by_jason(implementation, given, options) |> shaped(options)
    end
  end

  @doc "How structs of this module are encoded by Jason alone, if they are: for a list of them it is looked up once."
  @spec direct(struct(), Options.t()) :: {:jason, module(), term()} | nil
  def direct(struct, %{values: %{redact: [], omit: [], integers: :exact, max_bytes: 0}} = options) do
    implementation = implementation(Jason.Encoder, Jason.Encoder.Any, struct)

    if implementation != nil and not standin?(),
      do: {:jason, implementation, jason_options(Options.escape(options), Options.maps(options))}
  end

  def direct(_struct, _options), do: nil

  # Asked for each struct of a list, so it is known which Jason this is.
  @real {__MODULE__, :real}

  @doc "Whether `Jason` is the stand-in, which runs on this library."
  @spec standin?() :: boolean()
  def standin? do
    cond do
      Plans.standin() != nil -> true
      :persistent_term.get(@real, false) or not there?(Jason) -> false
      function_exported?(Jason, :__rustyjson__, 0) -> Plans.stand_in(Jason.Encoder) == :ok
      true -> :persistent_term.put(@real, true) != :ok
    end
  end

  @doc "The implementation for a term in a call of the stand-in: that of its protocol or, for a struct that has only ours, ours."
  @spec by_standin(term()) :: module()
  def by_standin(term) do
    case Jason.Encoder.impl_for(term) do
      Jason.Encoder.Any when is_struct(term) -> own(Encoder.impl_for(term))
      implementation -> implementation
    end
  end

  defp own(implementation), do: if(implementation == Encoder.Any, do: Jason.Encoder.Any, else: implementation)

  # Jason has no limit, and a term that shares its parts has a text that is larger than any memory.
  defp fits!(struct, %{values: %{max_bytes: most}} = options) do
    # A part is at least a byte of JSON, except fields that an encoder leaves out.
    if most > 0 and not Measure.fits?(struct, max(1_000_000, 16 * most), max(1_000_000, 16 * most)),
      do: raise(EncodeError.from_engine({Codes.encode(:max_bytes), "", nil}, options))
  end

  # What must not be seen is taken out of the other library's text, too.
  defp shaped(text, %{values: %{redact: [], omit: [], integers: :exact}}), do: text

  defp shaped(text, options) do
    decode =
      [objects: :ordered_objects, keys: :strings, floats: :native, max_depth: :infinity, max_bytes: 0] ++
        [max_nodes: 0, duplicate_keys: :last, decoding_integer_digit_limit: 0]

    text |> RustyJson.decode!(decode) |> Encode.value(options)
  end

  # The implementation of the protocol, unless it is the one for any value.
  defp implementation(protocol, any, value) do
    if there?(protocol) do
      implementation = protocol.impl_for(value)
      if implementation != any, do: implementation
    end
  end

  # The VM looks for a module that does not exist in every folder of the code path, which takes half a millisecond for each struct: it does
  # so once. A module that comes later counts as soon as it is loaded, as when a struct is compiled that implements the protocol.
  defp there?(module) do
    cond do
      :erlang.module_loaded(module) -> true
      :persistent_term.get({__MODULE__, :absent, module}, false) -> false
      Code.ensure_loaded?(module) -> true
      true -> :persistent_term.put({__MODULE__, :absent, module}, true) != :ok
    end
  end

  defp implemented?(value), do: implementation(Jason.Encoder, Jason.Encoder.Any, value) != nil

  # Elixir's protocol passes every nested value back to the caller. A call of the engine for each takes longer than to write a short one.
  defp by_json(text, _encoder, options) when is_binary(text), do: Encode.string(text, options)
  defp by_json(atom, _encoder, options) when is_atom(atom), do: Encode.atom(atom, options)

  defp by_json(integer, _encoder, %{values: %{integers: :exact}})
       when is_integer(integer) and integer in -0x7FFF_FFFF..0x7FFF_FFFF,
       do: Integer.to_string(integer)

  defp by_json(value, _encoder, options), do: Encode.value(value, options)

  # Jason encodes the content of the struct itself. A value that only RustyJson can encode, such as a struct of the application in
  # a struct of a package, is replaced by its text, but only after Jason failed, because an encoder may look at its fields.
  @doc "The text by Jason's protocol, with Jason's options."
  @spec by_jason(struct(), module(), term(), Options.t()) :: iodata()
  def by_jason(struct, implementation, given, options) do
    case jason(struct, implementation, given) do
      {:error, %{protocol: Jason.Encoder} = error} -> again(struct, implementation, given, error, options)
      {:error, %{reason: :invalid_utf8} = error} -> replaced(struct, implementation, given, error, options)
      {:error, error} -> raise error
      text -> text
    end
  end

  defp again(struct, implementation, given, error, options) do
    case struct |> for_jason(options) |> jason(implementation, given) do
      {:error, _again} -> raise error
      text -> text
    end
  end

  # Replaces every string with its encoded text, where invalid bytes are already replaced.
  defp replaced(struct, implementation, given, error, %{values: %{invalid_utf8: :replace}} = options),
    do: again(struct, implementation, given, error, options)

  defp replaced(_struct, _implementation, _given, error, _options), do: raise(error)

  # What `Jason.encode/2` does, without its options and the copy of the text: with both, a list of structs takes three times as long.
  defp jason(struct, implementation, given) do
    implementation.encode(struct, given)
  rescue
    error in Protocol.UndefinedError ->
      if error.protocol == Jason.Encoder, do: {:error, error}, else: reraise(error, __STACKTRACE__)
  catch
    :throw, %{__struct__: Jason.EncodeError, message: text} -> {:error, invalid(text)}
  end

  # Jason's options consist of functions that only Jason can make. It passes them to fragments.
  defp jason_options(escape, maps) do
    key = {__MODULE__, escape, maps}

    with nil <- :persistent_term.get(key, nil) do
      options = catch_options(escape: escape, maps: maps)
      :persistent_term.put(key, options)
      options
    end
  end

  defp catch_options(given) do
    Jason.encode(Jason.Fragment.new(&throw({__MODULE__, &1})), given)
  catch
    {__MODULE__, options} -> options
  end

  defp invalid("duplicate key" <> _ = text), do: %EncodeError{message: text, path: "", reason: :duplicate_key}
  defp invalid(text), do: %EncodeError{message: text, path: "", reason: :invalid_utf8}

  defp for_jason(%module{} = value, _options) when module in @of_jason, do: value

  defp for_jason(%module{} = struct, options) when module not in @known do
    if implemented?(struct), do: inside(struct, options), else: text(struct, options)
  end

  defp for_jason(%_{} = known, options),
    do: if(implemented?(known), do: known, else: text(known, options))

  defp for_jason(map, options) when is_map(map), do: inside(map, options)

  defp for_jason(list, options) when is_list(list) do
    if List.improper?(list), do: list, else: Enum.map(list, &for_jason(&1, options))
  end

  defp for_jason(string, %{values: %{invalid_utf8: :replace}} = options) when is_binary(string),
    do: text(string, options)

  defp for_jason(value, options),
    do: if(implemented?(value), do: value, else: text(value, options))

  defp inside(map, options), do: :maps.map(fn _key, value -> for_jason(value, options) end, map)

  defp text(value, options), do: Jason.Fragment.new(fn _ -> Encode.value(value, options) end)
end
