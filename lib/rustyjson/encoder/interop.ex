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
    cond do
      implemented?(Jason.Encoder, struct) and standin?() ->
        implementation = Jason.Encoder.impl_for(struct)
        Plans.learn(struct.__struct__, implementation)
        {:ok, implementation.encode(struct, options)}

      implemented?(Jason.Encoder, struct) ->
        fits!(struct, options)
        {:ok, struct |> by_jason(options) |> shaped(options)}

      implemented?(JSON.Encoder, struct) ->
        {:ok, JSON.Encoder.encode(struct, &by_json(&1, &2, options)) |> shaped(options)}

      true ->
        :error
    end
  end

  def encode(_value, _options), do: :error

  @doc "Whether `Jason` is the stand-in, which runs on this library."
  @spec standin?() :: boolean()
  def standin? do
    cond do
      Plans.standin() != nil ->
        true

      Code.ensure_loaded?(Jason) and function_exported?(Jason, :__rustyjson__, 0) ->
        Plans.stand_in(Jason.Encoder) == :ok

      true ->
        false
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

  defp implemented?(protocol, value) do
    Code.ensure_loaded?(protocol) and protocol.impl_for(value) not in [nil, Module.concat(protocol, Any)]
  end

  # Elixir's protocol passes every nested value back to the caller.
  defp by_json(value, _encoder, options), do: Encode.value(value, options)

  # Jason encodes the content of the struct itself. A value that only RustyJson can encode, such as a struct of the application in
  # a struct of a package, is replaced by its text, but only after Jason failed, because an encoder may look at its fields.
  defp by_jason(struct, options) do
    case jason(struct, options) do
      {:error, %{protocol: Jason.Encoder} = error} -> by_jason_again(struct, error, options)
      {:error, %{reason: :invalid_utf8} = error} -> replaced(struct, error, options)
      {:error, error} -> raise error
      text -> text
    end
  end

  defp by_jason_again(struct, error, options) do
    case jason(for_jason(struct, options), options) do
      {:error, _again} -> raise error
      text -> text
    end
  end

  # Replaces every string with its encoded text, where invalid bytes are already replaced.
  defp replaced(struct, error, %{values: %{invalid_utf8: :replace}} = options),
    do: by_jason_again(struct, error, options)

  defp replaced(_struct, error, _options), do: raise(error)

  # Jason's options consist of functions that only Jason can make.
  defp jason(struct, options) do
    case Jason.encode(struct, escape: Options.escape(options), maps: Options.maps(options)) do
      {:ok, text} ->
        text

      {:error, %{__struct__: Jason.EncodeError, message: text}} ->
        {:error, invalid(text)}

      {:error, undefined} ->
        {:error, undefined}
    end
  end

  defp invalid("duplicate key" <> _ = text), do: %EncodeError{message: text, path: "", reason: :duplicate_key}
  defp invalid(text), do: %EncodeError{message: text, path: "", reason: :invalid_utf8}

  defp for_jason(%module{} = value, _options) when module in @of_jason, do: value

  defp for_jason(%module{} = struct, options) when module not in @known do
    if implemented?(Jason.Encoder, struct), do: inside(struct, options), else: text(struct, options)
  end

  defp for_jason(%_{} = known, options),
    do: if(implemented?(Jason.Encoder, known), do: known, else: text(known, options))

  defp for_jason(map, options) when is_map(map), do: inside(map, options)

  defp for_jason(list, options) when is_list(list) do
    if List.improper?(list), do: list, else: Enum.map(list, &for_jason(&1, options))
  end

  defp for_jason(string, %{values: %{invalid_utf8: :replace}} = options) when is_binary(string),
    do: text(string, options)

  defp for_jason(value, options),
    do: if(implemented?(Jason.Encoder, value), do: value, else: text(value, options))

  defp inside(map, options), do: :maps.map(fn _key, value -> for_jason(value, options) end, map)

  defp text(value, options), do: Jason.Fragment.new(fn _ -> Encode.value(value, options) end)
end
