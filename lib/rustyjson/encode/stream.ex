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
  alias RustyJson.Encode.{Inside, Lost, Part, Path, Pieces, Scope, Sources, Text, Unsupported, Written}
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
    do: Enumerable.impl_for(struct) != nil and Encoder.impl_for(struct) in [nil, Encoder.Any]

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

  defp elements(source, start) when is_list(source), do: of_list(source, start)
  defp elements(source, start), do: one_after_another(source, start)

  # To take a batch off a list costs less than to be handed its elements one by one.
  defp of_list(list, start) do
    Stream.unfold({list, start}, fn
      nil ->
        nil

      {[], state} ->
        {closing(state), nil}

      {[_ | _] = list, %{size: size} = state} ->
        {batch, rest} = taken(list, size, [])
        {texts, state} = flush(batch, length(batch), state)
        {texts, {rest, state}}

      {_tail, %{options: options, path: path}} ->
        raise EncodeError.from_engine({Codes.encode(:improper_list), path.(), nil}, options)
    end)
    |> Stream.concat()
  end

  # `Enum.split/2` fails at the end of an improper list.
  defp taken([element | rest], count, taken) when count > 0, do: taken(rest, count - 1, [element | taken])
  defp taken(rest, _count, taken), do: {:lists.reverse(taken), rest}

  # The source is suspended after each batch. A callback for each element, as in `Stream.transform/3`, costs as much as encoding it.
  defp one_after_another(source, start) do
    resume = &Enumerable.reduce(source, &1, fn element, batch -> collect(element, batch) end)
    Stream.concat(fn command, fun -> batches(command, fun, resume, start) end)
  end

  defp collect(element, {batch, count, size}) when count + 1 < size,
    do: {:cont, {[element | batch], count + 1, size}}

  defp collect(element, {batch, count, size}), do: {:suspend, {[element | batch], count + 1, size}}

  # Gives the texts of each batch to the function, as the protocol Enumerable has it.
  defp batches({:halt, acc}, _fun, resume, _state) do
    close(resume)
    {:halted, acc}
  end

  defp batches({:suspend, acc}, fun, resume, state), do: {:suspended, acc, &batches(&1, fun, resume, state)}
  defp batches({:cont, acc}, _fun, nil, _state), do: {:done, acc}

  defp batches({:cont, acc}, fun, resume, state) do
    case resume.({:cont, {[], 0, state.size}}) do
      {:suspended, {batch, count, _size}, resume} ->
        {command, state} = deliver(batch, count, state, acc, fun, resume)
        batches(command, fun, resume, state)

      {_ended, {batch, count, _size}} ->
        {texts, state} = batch |> Enum.reverse() |> flush(count, state)
        texts |> Stream.concat(closing(state)) |> fun.(acc) |> batches(fun, nil, state)
    end
  end

  # Nothing else closes a source that is suspended.
  defp deliver(batch, count, state, acc, fun, resume) do
    {texts, state} = batch |> Enum.reverse() |> flush(count, state)
    {fun.(texts, acc), state}
  catch
    kind, reason ->
      close(resume)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp close(nil), do: :ok
  defp close(resume), do: resume.({:halt, {[], 0, 1}})

  defp closing(%{format: :array, options: options} = state) do
    text = if state.number == 0, do: "[]", else: tail(options)
    [from_here(text, state)]
  end

  defp closing(_state), do: []

  defp flush([], _count, state), do: {[], state}

  defp flush(elements, count, state) do
    next = %{state | number: state.number + count}

    case texts(elements, state) do
      {:ok, text} ->
        {[from_here(text, state)], %{next | size: size(IO.iodata_length(text), count, state)}}

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
    index = if led?(state), do: index - 1, else: index
    at(error, path, %{state | number: number + index})
  end

  defp numbered(error, _state), do: error

  # As many as fill a piece, and an eighth more: a piece of one text is not copied.
  defp size(bytes, count, %{flush: flush}),
    do: ((flush + div(flush, 8)) * count) |> div(max(bytes, 1)) |> max(1) |> min(@most)

  # What is encoded again one by one counts once.
  defp texts(elements, %{options: options} = state) do
    before = Lost.so_far(options)

    case text(elements, state) do
      {:ok, text} ->
        {:ok, text}

      again ->
        Lost.go_back(options, before)
        again
    end
  end

  # A lazy array may have no end, and may be read once, so nothing of it is read here.
  defp text(elements, state) do
    case Lazy.unless_lazy(fn -> Text.encode(led(elements, state), with_room(state)) end) do
      {:ok, text} -> {:ok, text |> in_line(state) |> unled(state)}
      {:error, error} -> {:failed, :error, error, []}
      :lazy -> :lazy
    end
  catch
    # An encoder may raise, throw or exit.
    kind, reason -> {:failed, kind, reason, __STACKTRACE__}
  end

  defp in_line(text, %{line: true, options: options}), do: Written.record(text, options)
  defp in_line(text, _state), do: text

  # The pointers that redact start at the array, or at each record.
  defp of_batch(%{format: :array, options: options, number: number}), do: Scope.elements(options, number)
  defp of_batch(%{options: options}), do: options

  # Brackets, and what leads the elements of a batch, do not belong to the stream, so they do not count. Elements that fail then are too long
  # for the stream, whatever is in front of them.
  defp with_room(%{options: options} = state) do
    room = byte_size(lead(options)) + byte_size(tail(options))

    if options.values.max_bytes == 0,
      do: of_batch(state),
      else: limited(of_batch(state), options.values.max_bytes + room)
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
    do: whole_path("", %{state | number: number - 1})

  defp end_of_room(_element, 0, state), do: whole_path("", state)

  defp end_of_room(element, left, %{options: options} = state) do
    most = if led?(state), do: left + byte_size(lead(options)), else: left

    case [element] |> led(state) |> Text.encode(limited(of_batch(state), most)) do
      # What leaves no text may be too much with that of the elements before it, which has no path.
      {:error, %EncodeError{reason: :max_bytes, path: "/" <> _} = error} -> numbered(error, state).path
      _other -> whole_path("", state)
    end
  end

  # A 0 leads elements behind others, and leaves them its comma when it is taken off with the bracket: so no text is copied. It is
  # no element that a pointer could redact.
  defp led(elements, state), do: if(led?(state), do: [0 | elements], else: elements)

  defp led?(%{format: :array, number: number, options: options}),
    do: number > 0 and Options.pointers(options) == []

  defp led?(_records), do: false

  defp unled(text, %{format: format}) when format != :array, do: text

  defp unled(text, %{number: 0, options: options}), do: open(text, options)

  defp unled(text, %{options: options} = state) do
    if led?(state),
      do: Inside.between!(text, lead(options), tail(options), options),
      else: alone(text, state)
  end

  defp one_by_one(elements, %{number: number} = state) do
    elements
    |> Stream.with_index(number)
    |> Stream.flat_map(fn {element, number} -> single(element, %{state | number: number}) end)
  end

  defp single(element, %{options: options} = state) do
    before = Lost.so_far(options)

    case Lazy.unless_lazy(fn -> Text.encode([element], with_room(state)) end) do
      {:ok, text} ->
        [text |> in_line(state) |> alone(state) |> from_here(state)]

      {:error, error} ->
        if too_long?(error, state), do: [too_long(element, state)], else: raise(error)

      :lazy ->
        Lost.go_back(options, before)
        streamed(element, state)
    end
  rescue
    error in EncodeError -> reraise at(error, drop_first(error.path), state), __STACKTRACE__
  end

  defp lazily(element, state) do
    streamed(element, state)
  rescue
    error in EncodeError -> reraise at(error, drop_first(error.path), state), __STACKTRACE__
  end

  # An element with lazy arrays, in pieces.
  defp streamed(element, state) do
    options = of_batch(state)
    {element, sources} = Sources.out(element, options)

    case Text.begin([element], options) do
      {:ok, text} -> [text |> in_line(state) |> alone(state) |> from_here(state)]
      {:partial, json, holes} -> in_pieces(holes, json, sources, %{state | options: options})
      {:error, error} -> raise error
    end
  end

  defp in_pieces(holes, json, sources, %{format: :array, options: options} = state) do
    json = open(json, options)
    holes = Inside.holes!(holes, 1, byte_size(json), options)
    path = &whole_path(drop_first(&1), state)

    parts = %{
      json: json,
      sources: sources,
      flush: state.flush,
      options: options,
      path: path,
      line: state.line
    }

    Stream.concat([from_here(opening(state), state)], filled(holes, 1, parts))
  end

  # A record has no brackets around it.
  defp in_pieces(holes, json, sources, %{options: options} = state) do
    options = options |> Options.inner() |> Options.alone()
    path = &whole_path(&1, state)

    filled(holes, 0, %{
      json: json,
      sources: sources,
      flush: state.flush,
      options: options,
      path: path,
      line: true
    })
  end

  defp alone(text, %{format: :array, options: options} = state), do: [opening(state), inside(text, options)]
  defp alone(text, _records), do: text

  # The path of an element starts with its number in a list of one.
  defp drop_first("/0" <> path), do: path
  defp drop_first(path), do: path || ""

  defp at(error, path, state), do: %{error | path: whole_path(path, state)}

  defp whole_path(path, %{path: prefix, number: number}),
    do: Path.join(prefix.(), "/" <> Integer.to_string(number) <> path)

  # Text that starts with the next element, or with the comma in front of it: then an element before that gives it its number.
  defp from_here(text, %{format: format, number: number, options: options, path: prefix}) do
    {lead, skipped} = if format == :array and number > 0, do: {"[0", number - 1}, else: {"", number}

    path = fn length ->
      text = text |> IO.iodata_to_binary() |> reaching(length)
      Path.join(prefix.(), (lead <> text) |> Path.reached(options) |> Path.later(skipped))
    end

    {text, path}
  end

  # The core writes a key with its colon, so a key that has room without it is reached.
  defp reaching(text, length) do
    case :erlang.split_binary(text, length) do
      {start, ":" <> _rest} -> start <> ":"
      {start, _rest} -> start
    end
  end

  defp opening(%{number: 0}), do: "["
  defp opening(_state), do: ","

  # A list's text without its brackets, and without the line of the last one.
  defp inside(text, options), do: Inside.between!(text, "[", tail(options), options)

  # The same with its first bracket.
  defp open(text, options), do: Inside.between!(text, "", tail(options), options)

  defp lead(options), do: "[" <> line(options, Options.depth(options) + 1) <> "0"
  defp tail(options), do: line(options, Options.depth(options)) <> "]"

  defp line(%{values: %{line_separator: separator, indent: indent}}, depth),
    do: separator <> String.duplicate(indent, depth)
end
