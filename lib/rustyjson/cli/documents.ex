defmodule RustyJson.CLI.Documents do
  @moduledoc false
  # The work of the command line: decodes every document, which checks it, and formats its text.

  alias RustyJson.{
    DecodeError,
    EncodeError,
    EngineError,
    Feed,
    Formatter,
    Fragment,
    Options,
    Paths,
    SandboxError
  }

  alias RustyJson.CLI.{Arguments, Input, Output, Progress, Stats}
  alias RustyJson.DecodeError.Snippet

  @ok 0
  @not_json 1
  @unreadable 3
  @stopped 4
  @no_engine 5

  # A document of at least this many bytes is validated in pieces, which need no more memory than one of them.
  @in_pieces 16_000_000
  # No document has this key.
  @nowhere "/rustyjson#{:erlang.phash2(__MODULE__)}nowhere"

  @doc "Processes the files and returns the exit code."
  @spec run(Arguments.t()) :: 0..5
  def run(%Arguments{} = arguments) do
    {:ok, _} = Application.ensure_all_started(:rustyjson)

    Output.in_bytes(fn ->
      Output.with_writer(fn ->
        arguments = Arguments.prepared(arguments)
        arguments.files |> Enum.map(&file(&1, arguments)) |> Enum.max()
      end)
    end)
  rescue
    error in EngineError -> failed(@no_engine, Exception.message(error))
  catch
    # A reader such as `head` that exits early is not an error.
    {:output, reason} when reason in [:terminated, :epipe] -> @ok
    {:output, reason} -> failed(@unreadable, "standard output: #{:file.format_error(reason)}")
  end

  defp file(file, %{array: array, at: at, lines: false} = arguments) when array or at != nil do
    work = fn piece, feed -> piece |> fed(feed) |> values(file, arguments) end

    case Input.each_piece(file, arguments.quiet, arguments.reader, work) do
      {:ok, code} when is_integer(code) -> code
      {:ok, _feed} -> @ok
      {:error, text} -> failed(@unreadable, text)
    end
  end

  defp file(file, %{lines: true} = arguments) do
    case if(whole_lines?(arguments), do: whole_lines(file, arguments), else: each_line(file, arguments)) do
      {:ok, {code, stats}} -> finish(code, file, stats, arguments)
      {:error, text} -> failed(@unreadable, text)
    end
  end

  defp file(file, %{layout: :validate, sort: false, fetch: nil, stats: false} = arguments) do
    if native?(arguments) and unlimited?(arguments),
      do: in_pieces(file, arguments),
      else: whole(file, arguments)
  end

  defp file(file, arguments), do: whole(file, arguments)

  defp whole(file, arguments) do
    case Input.read(file, arguments.quiet) do
      {:ok, text} -> one(text, file, arguments)
      {:error, text} -> failed(@unreadable, text)
    end
  end

  defp one(text, file, arguments) do
    large = Progress.shown?(arguments.quiet) and byte_size(text) >= Progress.from()
    doing = "#{Input.name(file)}: working on #{Progress.size(byte_size(text))}"

    {code, stats} =
      Progress.during(large, doing, fn -> document(text, {file, nil}, arguments, Stats.new()) end)

    finish(code, file, stats, arguments)
  end

  # The limits of the sandbox are those of a whole document.
  defp native?(arguments), do: engine(arguments) == :native

  defp engine(%{decode: decode}), do: RustyJson.Engine.name(Options.decode(decode).engine)

  # So are these, of which pieces do not know.
  defp unlimited?(%{decode: decode}),
    do: match?(%{values: %{max_bytes: 0, max_nodes: 0}}, Options.decode(decode))

  ## A large document

  defp in_pieces(file, arguments) do
    case Input.each_piece(file, arguments.quiet, {[], 0}, &checked(&1, &2, arguments)) do
      {:ok, {:error, error}} -> rejected(error, {file, nil})
      {:ok, {parts, _size}} -> parts |> IO.iodata_to_binary() |> one(file, arguments)
      {:ok, _feed} -> @ok
      {:error, text} -> failed(@unreadable, text)
    end
  end

  defp checked(:end, {parts, size}, _arguments), do: {:cont, {parts, size}}

  defp checked(piece, {parts, size}, arguments) do
    if size + byte_size(piece) < @in_pieces,
      do: {:cont, {[parts | piece], size + byte_size(piece)}},
      else: [parts | piece] |> IO.iodata_to_binary() |> large(arguments)
  end

  defp checked(piece, feed, _arguments) do
    case fed(piece, feed) do
      {:ok, [], feed} -> {:cont, feed}
      {:error, error, []} -> {:halt, {:error, error}}
    end
  end

  # A stream can start with a byte order mark, a document cannot.
  defp large("\uFEFF" <> _ = text, %{decode: decode}), do: {:halt, RustyJson.decode(text, decode)}

  defp large(text, %{decode: decode} = arguments),
    do: checked(text, Feed.new([at: @nowhere] ++ decode), arguments)

  ## Lines

  # Nothing is asked about single lines but whether they are right, so that the engine takes many of them at once.
  defp whole_lines?(%{fetch: nil, at: nil, sort: false, stats: false, layout: layout} = arguments),
    do: layout in [:pretty, :minify, :validate] and native?(arguments)

  defp whole_lines?(_arguments), do: false

  defp whole_lines(file, arguments) do
    options = [format: :lines, as: :raw, strings: :reference, on_error: :tag]
    feed = Feed.new(Keyword.merge(arguments.decode, options))

    result =
      Input.each_piece(file, arguments.quiet, {feed, @ok}, fn piece, {feed, code} ->
        {:ok, items, feed} = fed(piece, feed)
        {:cont, {feed, max(code, printed(items, file, arguments))}}
      end)

    with {:ok, {_feed, code}} <- result, do: {:ok, {code, Stats.new()}}
  end

  # What a piece of the stream, or its end, completes. After the end, nil stands in place of the feed.
  defp fed(:end, feed), do: with({:ok, values} <- Feed.finish(feed), do: {:ok, values, nil})

  defp fed(piece, feed),
    do: with({:error, error, values, _feed} <- Feed.push(feed, piece), do: {:error, error, values})

  defp printed(items, file, arguments) do
    code = for({:ok, value} <- items, do: value) |> print({file, 0}, arguments)
    for({:error, error} <- items, do: rejected(error, {file, 0})) |> Enum.max(fn -> @ok end) |> max(code)
  end

  defp each_line(file, arguments) do
    Input.each_line(file, arguments.quiet, {@ok, Stats.new()}, fn text, number, {code, stats} ->
      {one, stats} = document(text, {file, number - 1}, arguments, stats)
      {max(code, one), stats}
    end)
  end

  # What goes on with the next piece, or stops with an exit code.
  defp values({:error, error, values}, file, arguments) do
    code = print(values, {file, nil}, arguments)
    {:halt, if(code == @ok, do: rejected(error, {file, nil}), else: code)}
  end

  defp values({:ok, values, feed}, file, arguments) do
    case print(values, {file, nil}, arguments) do
      @ok when feed != nil -> {:cont, feed}
      code -> {:halt, code}
    end
  end

  # Prints values, a line each, up to the first that cannot be printed. Gives the exit code.
  defp print(values, _place, %{layout: layout}) when values == [] or layout == :validate, do: @ok

  defp print(values, place, arguments) do
    {lines, result} = lines(values, arguments)
    Output.write(lines)
    with {:error, error} <- result, do: rejected(error, place), else: (:ok -> @ok)
  end

  # All values of a piece in one call. Numbers, strings and names have nothing to remove.
  defp lines([%Fragment{} | _] = values, %{raw: false} = arguments) do
    lines = for value <- values, do: [value.encode | "\n"]

    if Enum.any?(values, &bracket?(&1.encode)),
      do: lines |> IO.iodata_to_binary() |> laid_out(nil, arguments) |> line([]),
      else: {lines, :ok}
  end

  defp lines(values, arguments) do
    Enum.reduce_while(values, {[], :ok}, fn value, {lines, :ok} ->
      case value |> one_line(arguments) |> line(lines) do
        {_lines, :ok} = done -> {:cont, done}
        failed -> {:halt, failed}
      end
    end)
  end

  defp bracket?(<<first, _::binary>>), do: first in ~c"[{"

  defp one_line(%Fragment{encode: part}, arguments), do: unquoted(part, arguments)
  defp one_line(value, %{encode: encode}), do: RustyJson.encode(value, encode ++ [sort_keys: true])

  defp line({:ok, text}, lines), do: {[lines, text | "\n"], :ok}
  defp line({:error, _error} = failed, lines), do: {lines, failed}

  defp finish(code, file, stats, arguments) do
    if arguments.stats,
      do: IO.puts(:stderr, "#{Input.name(file)}: " <> Stats.line(stats, engine(arguments)))

    code
  end

  ## One document

  defp document(text, place, %{reader: %Feed{} = feed} = arguments, stats),
    do: {places(text, place, feed, arguments), stats}

  defp document(text, place, %{reader: %Paths{} = paths} = arguments, stats),
    do: {fetched(text, place, paths, arguments), stats}

  defp document(text, place, arguments, stats) do
    {decoded, stats} = Stats.time(stats, :decode, fn -> RustyJson.decode(text, arguments.decode) end)

    with {:ok, term} <- decoded,
         {{:ok, output}, stats} <- Stats.time(stats, :lay_out, fn -> lay_out(text, term, arguments) end) do
      if output, do: Output.write([output, ?\n])
      {@ok, if(arguments.stats, do: Stats.count(stats, text, output, term), else: stats)}
    else
      {:error, error} -> {rejected(error, place), Stats.refuse(stats, text)}
      {{:error, error}, stats} -> {rejected(error, place), Stats.refuse(stats, text)}
    end
  end

  defp fetched(text, place, paths, arguments) do
    case RustyJson.select(text, paths, Keyword.put(arguments.decode, :as, :raw)) do
      {:ok, %{value: value}} -> part(value, place, arguments)
      {:ok, none} when none == %{} -> failed(@not_json, absent(place, arguments.fetch))
      {:error, error} -> rejected(error, place)
    end
  end

  # All values that a pointer with `*` leads to. With --at there may be none.
  defp places("\uFEFF" <> _ = text, place, _feed, %{decode: decode}) do
    {:error, error} = RustyJson.decode(text, decode)
    rejected(error, place)
  end

  defp places(text, place, feed, arguments) do
    with {:ok, values, feed} <- fed(text, feed), {:ok, more, nil} <- fed(:end, feed) do
      all(values ++ more, place, arguments)
    else
      {:error, error, values} ->
        parts(values, place, arguments) |> max(rejected(error, place))
    end
  end

  defp all([], place, %{fetch: pointer}) when pointer != nil, do: failed(@not_json, absent(place, pointer))
  defp all(values, place, arguments), do: parts(values, place, arguments)

  defp parts(values, place, %{at: nil} = arguments),
    do: values |> Enum.map(&part(&1, place, arguments)) |> Enum.max(fn -> @ok end)

  defp parts(values, place, arguments), do: print(values, place, arguments)

  defp part(%{encode: part}, place, arguments) do
    case shown(part, arguments) do
      {:ok, output} ->
        if output, do: Output.write([output, ?\n])
        @ok

      {:error, error} ->
        rejected_part(error, place, arguments.fetch)
    end
  end

  defp shown(part, %{raw: true} = arguments), do: unquoted(part, arguments)
  defp shown(part, arguments), do: lay_out(part, nil, arguments)

  # A string without quotes and escapes; anything else as it was written, unless it is to be made short.
  defp unquoted(<<?", _::binary>> = part, %{decode: decode}) do
    {:ok, RustyJson.decode!(part, decode)}
  rescue
    error in SandboxError -> {:error, error}
  end

  defp unquoted(part, %{layout: :minify} = arguments), do: laid_out(part, nil, arguments)
  defp unquoted(part, _arguments), do: {:ok, part}

  defp lay_out(_text, _term, %{layout: :validate}), do: {:ok, nil}
  # A line, without what stands around its value.
  defp lay_out(text, _term, %{raw: true, fetch: nil} = arguments),
    do: text |> String.trim() |> unquoted(arguments)

  defp lay_out(text, _term, %{layout: :canonical, options: options}),
    do: RustyJson.canonicalize(text, options)

  defp lay_out(_text, term, %{sort: true} = arguments),
    do: RustyJson.encode(term, arguments.encode ++ [sort_keys: true, pretty: pretty(arguments)])

  defp lay_out(text, _term, arguments),
    do: laid_out(text, if(pretty?(arguments), do: indent(arguments.indent)), arguments)

  defp laid_out(text, indent, %{encode: encode}) do
    with {:error, %EncodeError{reason: :max_depth}} <-
           Formatter.for_command(text, indent, Options.encode(encode)),
         do: {:error, :not_indented}
  end

  defp indent(nil), do: "  "
  defp indent(spaces) when is_integer(spaces), do: String.duplicate(" ", spaces)
  defp indent(text), do: text

  defp pretty(%{indent: nil} = arguments), do: pretty?(arguments)
  defp pretty(%{indent: indent} = arguments), do: if(pretty?(arguments), do: indent, else: false)

  # With --lines, line breaks inside a document would look like its end.
  defp pretty?(%{layout: layout, lines: lines}), do: layout == :pretty and not lines

  defp absent(place, pointer), do: "#{at(place)}: nothing at #{Snippet.visible(pointer)}"

  ## What went wrong

  defp rejected(%DecodeError{} = error, {file, lines_before}) do
    line = error.line + (lines_before || 0)
    shown = DecodeError.explain(%{error | line: line, message: what(error)})
    failed(@not_json, "#{Input.name(file)}:#{line}:#{error.column}: #{shown}#{hint(error, lines_before)}")
  end

  defp rejected(error, {_file, lines_before} = place),
    do: failed(code(error), "#{at(place)}: #{message(error)}#{hint(error, lines_before)}")

  # Its line and column are those of the part, which does not know where it stands.
  defp rejected_part(%DecodeError{} = error, place, pointer) do
    shown = DecodeError.explain(%{error | message: what(error), path: pointer <> (error.path || "")})
    value = "#{if Arguments.wildcard?(pointer), do: "a", else: "the"} value at #{Snippet.visible(pointer)}"
    failed(@not_json, "#{at(place)}: line #{error.line}, column #{error.column} of #{value}: #{shown}")
  end

  defp rejected_part(error, place, _pointer), do: rejected(error, place)

  defp at({file, nil}), do: Input.name(file)
  defp at({file, lines_before}), do: "#{Input.name(file)}:#{lines_before + 1}"

  defp message(:not_indented) do
    "more than #{Formatter.deepest_indented()} levels of nesting, which are not indented; --minify prints them"
  end

  # That of an EncodeError has a key as it is.
  defp message(error), do: error |> Exception.message() |> Snippet.visible()

  # Where it is stands before the message, and counts the lines of the whole input.
  defp what(error),
    do:
      String.replace(
        error.message,
        " at position #{error.position} (line #{error.line}, column #{error.column})",
        ""
      )

  defp code(%SandboxError{reason: :unavailable}), do: @no_engine
  defp code(%SandboxError{}), do: @stopped
  defp code(_error), do: @not_json

  # The first line of a document that has several.
  defp hint(%{reason: :unexpected_end, line: 1}, 0), do: "\nIf the whole is one document, leave out --lines."

  # Of a document that is not one of many lines. The first one has ended before this line.
  defp hint(%{reason: :trailing_data, line: 2, column: 1}, nil),
    do: "\nIf every line is a document, add --lines."

  defp hint(%{reason: :trailing_data, token: <<bracket, _::binary>>}, nil) when bracket in ~c"{[",
    do: "\nRustyJson.decode_stream/2 reads several documents that are not one per line."

  defp hint(%{reason: :byte_order_mark, position: 0, token: "\uFEFF" <> _}, nil),
    do: "\n`tail -c +4 FILE` prints the file without it."

  defp hint(%{reason: :max_depth}, _lines_before), do: "\n--max-depth N raises the limit."
  defp hint(_error, _lines_before), do: ""

  defp failed(code, text) do
    IO.puts(:stderr, text)
    code
  end
end
