defmodule RustyJson.Encode.Stream do
  @moduledoc false
  # Text in pieces: sequences of elements, and documents with lazy arrays in them.
  #
  # Elements are encoded many at a time: as a list whose brackets are taken off, or as a list of records. When that fails they are
  # encoded one by one, so that those before the faulty one are there, and the error gets its number.
  #
  # Each text comes with a function for the path of a place in it, which only the error of a text that is too long asks for.

  require RustyJson.Encode.Unsupported
  require RustyJson.Engine.Codes

  alias RustyJson.{EncodeError, Encoder, Lazy, Options, OrderedObject, SandboxError}

  alias RustyJson.Encode.{
    Around,
    Batches,
    Inside,
    Lost,
    Part,
    Path,
    Pieces,
    Scope,
    Sources,
    Text,
    Unsupported,
    Written
  }

  alias RustyJson.Encoder.Interop
  alias RustyJson.Engine.Codes
  alias RustyJson.Options.Cache

  @end_mark :"$end of the stream"
  # Elements of one call at most.
  @most 1_024

  @doc "The stream of texts."
  @spec encode(term(), keyword() | map()) :: Enumerable.t()
  def encode(term, given) do
    {%{format: format, flush: flush}, options} = Cache.find(:encode_stream, given, fn -> options(given) end)
    sequence? = sequence?(term) and (format != nil or not described?(term, options))
    refuse!(format, sequence?, options)
    plain = Options.uncompressed(options)

    source =
      if sequence?,
        do: sequence(term, format || :array, flush, plain),
        else: document(term, flush, plain)

    Pieces.stream(source, flush, options)
  end

  defp options(given) do
    {own, rest} = Options.split!(:encode_stream, given)
    options = Options.encode(rest)
    if options.canonical, do: raise(ArgumentError, "encode_stream does not take canonical: true")
    {own, options}
  end

  defp refuse!(nil, _sequence?, _options), do: :ok

  defp refuse!(_format, false, _options),
    do: raise(ArgumentError, "option :format is for a sequence of elements, and this term is one document")

  defp refuse!(format, true, options) do
    if format != :array and options.values.pretty,
      do: raise(ArgumentError, "option :pretty does not go with format: #{inspect(format)}")
  end

  # What is enumerable is a sequence, unless it is an object, or its module says how it is encoded.
  defp sequence?(list) when is_list(list), do: true
  defp sequence?(function) when is_function(function, 2), do: true
  defp sequence?(%module{}) when module in [Range, MapSet], do: true
  defp sequence?(%OrderedObject{}), do: false

  defp sequence?(%_module{} = struct),
    do:
      Enumerable.impl_for(struct) != nil and Encoder.impl_for(struct) in [nil, Encoder.Any] and
        Interop.found(struct) == nil

  defp sequence?(_term), do: false

  # `:unsupported` describes an improper list as a whole, so nothing of it is an element.
  defp described?([_ | _] = list, options) when Unsupported.is_described(options), do: List.improper?(list)
  defp described?(_term, _options), do: false

  ## A document

  defp document(term, flush, options) do
    {term, sources} = Sources.out(term, options)

    Stream.flat_map([term], fn term ->
      options = Lost.count(options)

      case Text.begin(term, options) do
        {:ok, text} ->
          [{text, fn _length -> "" end}]

        {:partial, json, holes} ->
          parts = %{json: json, sources: sources, flush: flush, options: options, path: & &1, line: false}
          filled(holes, 0, parts)

        {:error, error} ->
          raise error
      end
    end)
  end

  # What the engine wrote, from a position on, and what belongs into its holes. `path` makes the path of an error in the whole text of
  # one in this; in a `line`, nothing may end it.
  defp filled(holes, position, %{json: json, sources: sources, options: options} = parts) do
    holes
    |> Enum.map(&own(&1, sources))
    |> Scope.around(json, options)
    |> Stream.concat([@end_mark])
    |> Stream.transform(position, fn
      @end_mark, position ->
        {[between(position, byte_size(json), parts)], position}

      hole, position ->
        {offset, options} = placed(hole, options)
        before = between(position, offset, parts)
        {Stream.concat([before], hole(elem(hole, 2), elem(hole, 3), offset, options, parts)), offset}
    end)
  end

  defp own({offset, depth, %Lazy{} = lazy, place}, sources),
    do: {offset, depth, Sources.back(lazy, sources), place}

  defp own(hole, _sources), do: hole

  defp placed({offset, depth, _term, _place}, options), do: {offset, Options.at_depth(options, depth)}

  defp placed({offset, depth, _term, _place, pointers}, options),
    do: {offset, options |> Options.at_depth(depth) |> Options.with_pointers(pointers)}

  defp between(from, to, %{json: json} = parts),
    do: {binary_part(json, from, to - from), &path(from + &1, parts)}

  # Only an error asks for it: to find it takes time for all that stands before the place.
  defp path(offset, %{json: json, path: path}), do: json |> binary_part(0, offset) |> Path.locate() |> path.()

  defp hole(%Lazy{source: source} = lazy, :value, offset, options, parts) do
    if described?(source, options) do
      Stream.map([lazy], &left(&1, :value, offset, options, parts))
    else
      path = fn -> path(offset, parts) end
      elements(source, %{new(:array, parts.flush, options) | path: path, line: parts.line})
    end
  end

  defp hole(term, place, offset, options, parts),
    do: Stream.map([term], &left(&1, place, offset, options, parts))

  defp left(term, place, offset, options, parts) do
    text = Part.hole(term, place, parts.json, offset, options)
    text = if parts.line, do: Written.record(text, options), else: text
    {text, fn _length -> path(offset, parts) end}
  rescue
    error in EncodeError -> reraise %{error | path: parts.path.(error.path || "")}, __STACKTRACE__
  end

  ## Elements

  # What leaves no text counts for each run of the stream.
  defp sequence(source, format, flush, options),
    do: &Enumerable.reduce(elements(source, new(format, flush, Lost.count(options))), &1, &2)

  defp new(format, flush, options) do
    options = Options.records(options, format)
    %{format: format, options: options, path: fn -> "" end, flush: flush, size: 1, number: 0, line: false}
  end

  defp elements(source, start), do: Batches.texts(source, start, {&flush/3, &closing/1, &improper/1})

  defp improper(state), do: failed!(Codes.encode(:improper_list), state)

  defp failed!(code, %{options: options, path: path}),
    do: raise(EncodeError.from_engine({code, path.(), nil}, options))

  defp closing(%{format: :array, number: 0, options: %{values: %{max_depth: deepest}} = options} = state) do
    # No engine writes it, which would check this.
    if Options.depth(options) >= deepest, do: failed!(Codes.encode(:max_depth), state)
    [Around.from_here("[]", state)]
  end

  defp closing(%{format: :array, options: options} = state),
    do: [Around.from_here(Around.tail(options), state)]

  defp closing(_state), do: []

  defp flush([], _count, state), do: {[], state}

  defp flush(elements, count, state) do
    next = %{state | number: state.number + count}

    case texts(elements, state) do
      {:ok, text} ->
        {[Around.from_here(text, state)], %{next | size: size(IO.iodata_length(text), count, state)}}

      # It was looked at by itself already, and so are those behind it.
      :lazy when count == 1 ->
        {Stream.flat_map(elements, &lazily(&1, state)), %{next | size: 1}}

      :lazy ->
        {one_by_one(elements, state), %{next | size: 1}}

      {:failed, _kind, error, _stacktrace} = failed when count == 1 ->
        [element] = elements
        {if(too_long?(error, state), do: [too_long(element, state)], else: failing(failed, state)), next}

      {:failed, _kind, _reason, _stacktrace} = failed ->
        {Stream.concat(one_by_one(elements, state), failed |> of_stream(state) |> again(state)), next}
    end
  end

  # The elements failed together, so one of them failed. One that raises only sometimes may succeed when it is encoded again. The
  # sandbox gives each element the time and memory that all of them had.
  defp again({:failed, :error, %SandboxError{}, _stacktrace}, _state), do: []
  defp again(failed, state), do: failing(failed, state)

  defp failing(failed, state) do
    Stream.map([failed], fn {:failed, kind, reason, stacktrace} ->
      :erlang.raise(kind, numbered(reason, state), stacktrace)
    end)
  end

  defp numbered(%EncodeError{path: "/" <> _ = path} = error, %{number: number, options: options} = state) do
    {index, path} = Inside.element!(path, options)
    index = if Around.led?(state), do: index - 1, else: index
    at(error, path, %{state | number: number + index})
  end

  # The array itself is nested too deeply.
  defp numbered(%EncodeError{reason: :max_depth} = error, %{path: path}), do: %{error | path: path.()}
  defp numbered(error, _state), do: error

  # As many as fill a piece, and an eighth more: a piece of one text is not copied.
  defp size(bytes, count, %{flush: flush}),
    do: ((flush + div(flush, 8)) * count) |> div(max(bytes, 1)) |> max(1) |> min(@most)

  defp texts(elements, %{options: options} = state),
    do: Lost.attempt(options, fn -> text(elements, state) end)

  defp text(elements, state) do
    case elements |> Around.led(state) |> encoded(state) do
      {:ok, text} -> {:ok, text |> in_line(state) |> Around.unled(state)}
      {:error, error} -> {:failed, :error, error, []}
      :lazy -> :lazy
    end
  catch
    # An encoder may raise, throw or exit.
    kind, reason -> {:failed, kind, reason, __STACKTRACE__}
  end

  # A lazy array may have no end, and may be read once, so nothing of it is read here.
  defp encoded(elements, state),
    do: Lazy.unless_lazy(fn -> Text.encode(elements, with_room(state)) end)

  defp in_line(text, %{line: true, options: options}), do: Written.record(text, options)
  defp in_line(text, _state), do: text

  # The pointers that redact start at the array, or at each record.
  defp of_batch(%{format: :array, options: options, number: number}), do: Scope.elements(options, number)
  defp of_batch(%{options: options}), do: options

  # Brackets, and what leads the elements of a batch, do not belong to the stream, so they do not count. Elements that fail then are too long
  # for the stream, whatever is in front of them.
  defp with_room(%{options: options} = state) do
    if options.values.max_bytes == 0,
      do: of_batch(state),
      else: limited(of_batch(state), options.values.max_bytes + Around.extra(state))
  end

  defp limited(options, most), do: Options.change(options, :encode, %{max_bytes: most})

  # An encoder may also have met a limit of a call of its own.
  defp too_long?(%EncodeError{reason: :max_bytes, message: message}, state),
    do: message == limit_error(with_room(state)).message

  defp too_long?(_error, _state), do: false

  # The limit in its message is that of the stream.
  defp of_stream({:failed, kind, error, stacktrace} = failed, %{options: options} = state) do
    if too_long?(error, state),
      do: {:failed, kind, %{error | message: limit_error(options).message}, stacktrace},
      else: failed
  end

  defp limit_error(options), do: EncodeError.from_engine({Codes.encode(:max_bytes), "", nil}, options)

  # How much the stream has room for is known where the texts before it were counted.
  defp too_long(element, state), do: Pieces.too_long(&end_of_room(element, &1, state))

  # Not even the comma behind the element before it.
  defp end_of_room(_element, 0, %{format: :array, number: number} = state) when number > 0,
    do: Around.whole_path("", %{state | number: number - 1})

  defp end_of_room(_element, 0, state), do: Around.whole_path("", state)

  defp end_of_room(element, left, %{options: options} = state) do
    most = if Around.led?(state), do: left + byte_size(Around.lead(options)), else: left

    case [element] |> Around.led(state) |> Text.encode(limited(of_batch(state), most)) do
      # What leaves no text may be too much with that of the elements before it, which has no path.
      {:error, %EncodeError{reason: :max_bytes, path: "/" <> _} = error} -> numbered(error, state).path
      _other -> Around.whole_path("", state)
    end
  end

  defp one_by_one(elements, %{number: number} = state) do
    elements
    |> Stream.with_index(number)
    |> Stream.flat_map(fn {element, number} -> single(element, %{state | number: number}) end)
  end

  defp single(element, %{options: options} = state) do
    case Lost.attempt(options, fn -> encoded([element], state) end) do
      {:ok, text} ->
        [text |> in_line(state) |> Around.alone(state) |> Around.from_here(state)]

      {:error, error} ->
        if too_long?(error, state), do: [too_long(element, state)], else: raise(error)

      :lazy ->
        streamed(element, state)
    end
  rescue
    error in EncodeError -> reraise alone(error, state), __STACKTRACE__
  end

  defp lazily(element, state) do
    streamed(element, state)
  rescue
    error in EncodeError -> reraise alone(error, state), __STACKTRACE__
  end

  # The error of a list with one element: of the list, which is the array, or of the element.
  defp alone(%{reason: :max_depth, path: ""} = error, %{format: :array} = state), do: numbered(error, state)
  defp alone(error, state), do: at(error, Around.drop_first(error.path), state)

  defp at(error, path, state), do: %{error | path: Around.whole_path(path, state)}

  # An element with lazy arrays, in pieces.
  defp streamed(element, state) do
    options = of_batch(state)
    {element, sources} = Sources.out(element, options)

    case Text.begin([element], options) do
      {:ok, text} -> [text |> in_line(state) |> Around.alone(state) |> Around.from_here(state)]
      {:partial, json, holes} -> in_pieces(holes, json, sources, %{state | options: options})
      {:error, error} -> raise error
    end
  end

  defp in_pieces(holes, json, sources, %{format: :array, options: options} = state) do
    json = Around.open(json, options)
    holes = Inside.holes!(holes, 1, byte_size(json), options)
    path = &Around.whole_path(Around.drop_first(&1), state)

    parts = %{
      json: json,
      sources: sources,
      flush: state.flush,
      options: options,
      path: path,
      line: state.line
    }

    Stream.concat([Around.from_here(Around.opening(state), state)], filled(holes, 1, parts))
  end

  # A record has no brackets around it.
  defp in_pieces(holes, json, sources, %{options: options} = state) do
    options = options |> Options.inner() |> Options.alone()
    path = &Around.whole_path(&1, state)

    filled(holes, 0, %{
      json: json,
      sources: sources,
      flush: state.flush,
      options: options,
      path: path,
      line: true
    })
  end
end
