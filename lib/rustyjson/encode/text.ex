defmodule RustyJson.Encode.Text do
  @moduledoc false
  # From a term to its text: the engine first, then what the engine left open.
  #
  # The core writes everything it knows and leaves a hole where it meets what only Elixir can encode: a struct with an
  # implementation of its own, a function fragment, an odd key. Each hole is a place in the text, a depth and the term.

  alias RustyJson.{EncodeError, Encoder, Fragment, Options, OrderedObject, SandboxError}
  alias RustyJson.Encode.{Known, Path}
  alias RustyJson.Encoder.Plans

  @doc "The text, compressed if that is asked for."
  @spec encode(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def encode(term, options) do
    options = Plans.attach(options)

    case options.engine.encode(term, options) do
      {:ok, _text} = done -> done
      {:partial, json, holes} -> complete(json, holes, options)
      {:error, failure} -> {:error, error(failure, options)}
    end
  end

  @doc "The text of a part, never compressed. Raises."
  @spec encode!(term(), Options.t()) :: binary()
  def encode!(term, options), do: part(term, Options.uncompressed(options))

  # Errors of the parts travel as exceptions through the caller's own code.
  defp complete(json, holes, options) do
    json |> fill(holes, Options.uncompressed(options)) |> compress(options)
  rescue
    error in [EncodeError, SandboxError] -> {:error, error}
    error in Protocol.UndefinedError -> undefined(error, __STACKTRACE__)
  end

  defp undefined(%{protocol: Encoder} = error, _stacktrace), do: {:error, error}
  defp undefined(error, stacktrace), do: reraise(error, stacktrace)

  defp compress(json, %{packed: {_, _, _, -1, _, _, _}}), do: {:ok, json}
  defp compress(json, options), do: options.engine.gzip(json, Options.gzip(options), options)

  defp part(term, %{engine: engine} = options) do
    case engine.encode(term, options) do
      {:ok, json} -> json
      {:partial, json, holes} -> fill(json, holes, options)
      {:error, failure} -> raise error(failure, options)
    end
  end

  ## Holes

  defp fill(json, holes, options) do
    {pieces, position, _size} = Enum.reduce(holes, {[], 0, byte_size(json)}, &splice(&1, &2, json, options))
    rest = binary_part(json, position, byte_size(json) - position)
    IO.iodata_to_binary(Enum.reverse(pieces, [rest]))
  end

  defp splice({offset, depth, term, place}, {pieces, position, size}, json, options) do
    text = at_path(json, offset, fn -> hole(place, term, Options.at_depth(options, depth)) end)
    size = check_size(size + byte_size(text), options)
    {[text, binary_part(json, position, offset - position) | pieces], offset, size}
  end

  # A part reports the path from its own root.
  defp at_path(json, offset, fun) do
    fun.()
  rescue
    error in EncodeError ->
      prefix = Path.locate(binary_part(json, 0, offset))
      reraise %{error | path: prefix <> (error.path || "")}, __STACKTRACE__
  end

  defp check_size(size, options) do
    limit = elem(options.packed, 2)
    if limit > 0 and size > limit, do: raise(error({4, "", nil}, options)), else: size
  end

  defp hole(:key, key, options), do: part(string_key(key), options)
  defp hole(:value, term, options), do: value(term, options)

  defp value(%Fragment{encode: encode}, options) when is_function(encode, 1),
    do: lay_out(encode.(options), options)

  defp value(%Fragment{encode: iodata}, options), do: lay_out(iodata, options)
  defp value(%OrderedObject{values: values}, options), do: part(with_string_keys(values), options)

  # A map that the core knows the form of, but not all of its keys.
  defp value(map, options) when is_map(map) and not is_struct(map),
    do: part(with_string_keys(Map.to_list(map)), options)

  defp value(term, options) do
    case Known.plain(term) do
      {:ok, plain} -> part(plain, options)
      :error -> by_protocol(term, options)
    end
  end

  defp by_protocol(term, options) do
    if is_struct(term), do: Plans.learn(term)

    case Encoder.encode(term, options) do
      ^term ->
        raise ArgumentError,
              "RustyJson.Encoder.encode/2 for #{inspect(term.__struct__)} returned its argument"

      result when is_map(result) ->
        part(result, options)

      iodata ->
        lay_out(iodata, options)
    end
  end

  # The core writes keys that are strings, atoms and integers; what String.Chars makes of others it gets as strings.
  defp with_string_keys(values),
    do: OrderedObject.new(for {key, value} <- values, do: {string_key(key), value})

  defp string_key(key) when is_binary(key), do: key

  defp string_key(key) do
    if String.Chars.impl_for(key), do: to_string(key), else: raise(error({5, "", nil}, nil))
  end

  defp lay_out(iodata, options) do
    text = IO.iodata_to_binary(iodata)

    case Options.pretty(options) do
      nil -> text
      pretty -> RustyJson.Formatter.lay_out(text, pretty, Options.depth(options), elem(options.packed, 1))
    end
  end

  defp error(%SandboxError{} = error, _options), do: error
  defp error(failure, options), do: EncodeError.from_engine(failure, options)
end
