defmodule RustyJson.Encode.Text do
  @moduledoc false
  # From a term to its text: the engine first, then what the engine left open.
  #
  # The core writes everything it knows and leaves a hole where it meets what only Elixir can encode: a struct with an
  # implementation of its own, a function fragment, an odd key. Each hole is a place in the text, a depth and the term.

  require RustyJson.Engine.Codes

  alias RustyJson.{EncodeError, Encoder, Engine, Formatter, Fragment, Options, OrderedObject, SandboxError}
  alias RustyJson.Encode.{Known, Path}
  alias RustyJson.Encoder.{Interop, Plans}
  alias RustyJson.Engine.Codes

  @compile {:inline, by: 3, by_engine: 2, left_after: 5, between: 4, planned?: 2, text: 3}

  @known Known.modules()

  @doc "The text, compressed if that is asked for."
  @spec encode(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def encode(term, options) do
    options = Plans.attach(options)
    started = started(options.engine)

    case by_engine(term, options) do
      {:ok, _text} = done -> done
      {:partial, json, holes} -> complete(json, holes, Options.due(options, started))
      {:error, failure} -> {:error, error(failure, options)}
    end
  end

  # The deadline of a call covers all its parts. The native engine has none.
  defp started(Engine.Native), do: nil
  defp started(_engine), do: System.monotonic_time(:millisecond)

  @doc "The text of a part, never compressed. Raises."
  @spec encode!(term(), Options.t()) :: iodata()
  def encode!(term, options), do: part(term, Options.uncompressed(options))

  # A struct with an implementation of its own is all hole: the engine need not be asked.
  defp by_engine(%module{} = struct, %{packed: packed} = options) when module not in @known do
    if planned?(module, elem(packed, 6)) or Options.plain_structs?(options),
      do: by(options.engine, struct, options),
      else: {:partial, "", [{0, Options.depth(options), struct, :value}]}
  end

  defp by_engine(term, options), do: by(options.engine, term, options)

  # To call a module that is known here takes 10 ns less than to look one up, of the 200 that 35 bytes take.
  defp by(Engine.Native, term, options), do: Engine.Native.encode(term, options)
  defp by(engine, term, options), do: engine.encode(term, options)

  defp planned?(module, plans), do: is_map(plans) and is_map_key(plans, module)

  # Errors of the parts travel as exceptions through the caller's own code.
  defp complete(json, holes, options) do
    json |> fill(holes, Options.uncompressed(options)) |> binary() |> compress(options)
  rescue
    error in [EncodeError, SandboxError] -> {:error, error}
    error in Protocol.UndefinedError -> undefined(error, __STACKTRACE__)
  end

  defp binary([text]) when is_binary(text), do: text

  # Looking into each piece when it comes would take longer than writing it; the first that fails tells its path.
  defp binary(pieces) do
    IO.iodata_to_binary(pieces)
  rescue
    ArgumentError ->
      before = pieces |> Enum.take_while(&iodata?/1) |> IO.iodata_to_binary()
      reraise %{no_iodata() | path: Path.locate(before)}, __STACKTRACE__
  end

  defp iodata?(piece) do
    is_integer(IO.iodata_length([piece]))
  rescue
    ArgumentError -> false
  end

  defp no_iodata,
    do: EncodeError.new({:invalid_iodata, "an encoder's or a fragment's text is no iodata"})

  @protocols [Encoder | Interop.protocols()]

  defp undefined(%{protocol: protocol} = error, _stacktrace) when protocol in @protocols, do: {:error, error}
  defp undefined(error, stacktrace), do: reraise(error, stacktrace)

  defp compress(json, %{packed: {_, _, _, -1, _, _, _}}), do: {:ok, json}
  defp compress(json, options), do: options.engine.gzip(json, Options.gzip(options), options)

  defp part(term, options) do
    case by_engine(term, options) do
      {:ok, json} -> json
      {:partial, json, holes} -> fill(json, holes, options)
      {:error, failure} -> raise error(failure, options)
    end
  end

  ## Holes

  # The pieces stay iodata up to the end, where they become one binary. Holes that follow each other mostly stand at one
  # depth, and share the options made for it.
  defp fill(json, holes, %{packed: packed} = options) do
    left = if elem(packed, 2) > 0, do: elem(packed, 2) - byte_size(json), else: :infinity
    splice(holes, json, 0, left, options, nil)
  end

  defp splice([{offset, depth, term, place} | holes], json, position, left, options, own) do
    options = Options.at_depth(options, depth)
    own = implementation(term, own)
    text = located(place, term, own, options, json, offset)
    left = left_after(left, text, options, json, offset)
    between(json, position, offset, [text | splice(holes, json, offset, left, options, own)])
  end

  defp splice([], json, position, _left, _options, _own),
    do: between(json, position, byte_size(json), [])

  # Who encodes a struct that the core does not know. Those of one module mostly follow each other.
  defp implementation(%module{}, {module, _implementation} = own), do: own

  defp implementation(%module{} = struct, _own) when module not in @known do
    implementation = Encoder.impl_for(struct)
    Plans.learn(module, implementation)
    {module, implementation}
  end

  defp implementation(_term, _own), do: nil

  # In a list of such structs it is a comma.
  defp between(_json, place, place, pieces), do: pieces
  defp between(json, from, to, pieces) when to == from + 1, do: [:binary.at(json, from) | pieces]
  defp between(json, from, to, pieces), do: [binary_part(json, from, to - from) | pieces]

  # A part reports the path from its own root.
  defp located(place, term, own, options, json, offset) do
    if place == :key, do: part(string_key(term), options), else: value(term, own, options)
  rescue
    error in EncodeError -> reraise behind(error, json, offset), __STACKTRACE__
  end

  defp behind(error, json, offset) do
    prefix = Path.locate(binary_part(json, 0, offset))
    %{error | path: Path.join(prefix, error.path || "")}
  end

  defp left_after(:infinity, _text, _options, _json, _offset), do: :infinity

  defp left_after(left, text, options, json, offset), do: spent(left, text, options, json, offset)

  defp spent(left, text, options, json, offset) do
    left = left - IO.iodata_length(text)

    if left < 0,
      do: raise(behind(error({Codes.encode(:max_bytes), "", nil}, options), json, offset)),
      else: left
  rescue
    ArgumentError -> reraise behind(no_iodata(), json, offset), __STACKTRACE__
  end

  defp value(struct, {_module, implementation}, options), do: by_protocol(struct, implementation, options)

  defp value(%Fragment{encode: encode}, nil, options) when is_function(encode, 1),
    do: encode.(options) |> text("a fragment's function", options)

  defp value(%Fragment{encode: text}, nil, options) when is_binary(text) or is_list(text),
    do: lay_out(text, options)

  defp value(%OrderedObject{values: values}, nil, options) when is_list(values),
    do: part(with_string_keys(values), options)

  # A map that the core knows the form of, but not all of its keys.
  defp value(map, nil, options) when is_map(map) and not is_struct(map),
    do: part(with_string_keys(Map.to_list(map)), options)

  defp value(%module{} = struct, nil, options) when module in [MapSet, Range, URI] do
    case Plans.own_implementation(module) do
      nil -> plain(struct, options)
      implementation -> by_protocol(struct, implementation, options)
    end
  end

  defp value(term, nil, options), do: plain(term, options)

  defp plain(term, options) do
    case Known.plain(term) do
      {:ok, plain} -> part(plain, options)
      :error -> by_protocol(term, Encoder.impl_for(term), options)
    end
  end

  defp by_protocol(term, implementation, options) do
    case implementation.encode(term, options) do
      ^term -> raise EncodeError.new({:invalid_iodata, "#{inspect(implementation)} returned its argument"})
      result when is_map(result) -> part(result, options)
      text -> text(text, implementation, options)
    end
  end

  # Integers are iodata inside of a list only; and then bytes, not numbers.
  defp text(text, _by, options) when is_binary(text) or is_list(text), do: lay_out(text, options)

  defp text(other, by, _options) do
    by = if is_atom(by), do: inspect(by), else: by
    shown = inspect(other, limit: 5, printable_limit: 64, width: :infinity)
    raise EncodeError.new({:invalid_iodata, "#{by} returned #{shown}, which is no iodata"})
  end

  # The core writes keys that are strings, atoms and integers; what String.Chars makes of others it gets as strings.
  defp with_string_keys(values), do: OrderedObject.new(pairs(values))

  defp pairs([{key, value} | rest]), do: [{string_key(key), value} | pairs(rest)]
  defp pairs([]), do: []
  defp pairs([_no_pair | _rest]), do: invalid_key()
  defp pairs(_tail), do: raise(error({Codes.encode(:improper_list), "", nil}, nil))

  defp string_key(key) when is_binary(key), do: key

  defp string_key(key) do
    case String.Chars.impl_for(key) && key_text(key) do
      text when is_binary(text) -> text
      _none -> invalid_key()
    end
  end

  # What an implementation of someone else's raises is theirs.
  defp key_text(%module{} = key) when module not in [Version | @known], do: String.Chars.to_string(key)

  defp key_text(key) do
    String.Chars.to_string(key)
  rescue
    _ -> nil
  end

  @spec invalid_key() :: no_return()
  defp invalid_key, do: raise(error({Codes.encode(:invalid_key), "", nil}, nil))

  defp lay_out(iodata, %{packed: packed}) when elem(packed, 4) == nil, do: iodata

  defp lay_out(iodata, options) do
    case iodata |> flat() |> Formatter.lay_out(options) do
      {:ok, text} -> text
      {:error, error} -> raise error
    end
  end

  defp flat(iodata) do
    IO.iodata_to_binary(iodata)
  rescue
    ArgumentError -> reraise no_iodata(), __STACKTRACE__
  end

  defp error(%SandboxError{} = error, _options), do: error
  defp error(failure, options), do: EncodeError.from_engine(failure, options)
end
