defmodule RustyJson.CLI.Documents do
  @moduledoc false
  # The work of the command line: decodes every document, which checks it, and formats its text.

  alias RustyJson.{DecodeError, EngineError, Feed, Formatter, Fragment, Options, Paths, SandboxError}
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
    configure(arguments.options)
    :io.setopts(:standard_io, encoding: :latin1, binary: true)

    Output.with_writer(fn ->
      arguments = Arguments.prepared(arguments)
      arguments.files |> Enum.map(&file(&1, arguments)) |> Enum.max()
    end)
  rescue
    error in EngineError -> failed(@no_engine, Exception.message(error))
  catch
    # A reader such as `head` that exits early is not an error.
    {:output, reason} when reason in [:terminated, :epipe] -> @ok
    {:output, reason} -> failed(@unreadable, "standard output: #{:file.format_error(reason)}")
  end

  # The formatter takes no such options, so the command line's become the configuration of this run. It takes those of encoding.
  defp configure(options) do
    add_env(:wasm, Keyword.take(options, [:host, :timeout, :max_memory]))
    add_env(:encode, options)
    if engine = options[:engine], do: Application.put_env(:rustyjson, :engine, engine)
    RustyJson.Config.reload()
  end

  defp add_env(key, more) do
    configured = Application.get_env(:rustyjson, key, [])
    Application.put_env(:rustyjson, key, configured |> Enum.to_list() |> Keyword.merge(more))
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
    if native?() and unlimited?(arguments), do: in_pieces(file, arguments), else: whole(file, arguments)
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
  defp native?, do: RustyJson.engine() == :native

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
  defp whole_lines?(%{fetch: nil, at: nil, sort: false, stats: false, layout: layout}),
    do: layout in [:pretty, :minify, :validate] and native?()

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

  defp printed(items, file, %{layout: layout} = arguments) do
    unless layout == :validate,
      do: for({:ok, value} <- items, do: value) |> printable(arguments) |> Output.write()

    for({:error, error} <- items, do: rejected(error, {file, 0})) |> Enum.max(fn -> @ok end)
  end

  defp printable([], _arguments), do: []
  defp printable(values, arguments), do: [lines(values, arguments), ?\n]

  defp each_line(file, arguments) do
    Input.each_line(file, arguments.quiet, {@ok, Stats.new()}, fn text, number, {code, stats} ->
      {one, stats} = document(text, {file, number - 1}, arguments, stats)
      {max(code, one), stats}
    end)
  end

  # What goes on with the next piece, or stops with an exit code.
  defp values({:ok, values, nil}, file, arguments), do: print(values, {:halt, @ok}, file, arguments)
  defp values({:ok, values, feed}, file, arguments), do: print(values, {:cont, feed}, file, arguments)

  defp values({:error, error, values}, file, arguments) do
    with {:cont, nil} <- print(values, {:cont, nil}, file, arguments),
         do: {:halt, rejected(error, {file, nil})}
  end

  defp print(values, next, _file, %{layout: layout}) when values == [] or layout == :validate, do: next

  defp print(values, next, file, arguments) do
    values |> printable(arguments) |> Output.write()
    next
  rescue
    error in SandboxError -> {:halt, rejected(error, {file, nil})}
  end

  defp lines([%Fragment{} | _] = values, %{raw: true} = arguments),
    do: values |> Enum.map(&raw(&1.encode, arguments)) |> Enum.intersperse(?\n)

  # All values of a piece in one call. Numbers, strings and names have nothing to remove.
  defp lines([%Fragment{} | _] = values, _arguments) do
    if Enum.any?(values, &bracket?(&1.encode)),
      do: values |> Enum.map(&[&1.encode, ?\n]) |> Formatter.minimize(),
      else: values |> Enum.map(& &1.encode) |> Enum.intersperse(?\n)
  end

  defp lines(values, %{encode: encode}),
    do: Enum.map_join(values, "\n", &RustyJson.encode!(&1, encode ++ [sort_keys: true]))

  defp bracket?(<<first, _::binary>>), do: first in ~c"[{"

  defp finish(code, file, stats, %{stats: wanted}) do
    if wanted, do: IO.puts(:stderr, "#{Input.name(file)}: " <> Stats.line(stats))
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
    with {:ok, %{value: %{encode: part}}} <-
           RustyJson.select(text, paths, Keyword.put(arguments.decode, :as, :raw)),
         {:ok, output} <- shown(part, arguments) do
      if output, do: Output.write([output, ?\n])
      @ok
    else
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
        all(values, place, %{arguments | fetch: nil}) |> max(rejected(error, place))
    end
  end

  defp all([], place, %{fetch: pointer}) when pointer != nil, do: failed(@not_json, absent(place, pointer))

  defp all(values, place, %{at: nil} = arguments) do
    values |> Enum.map(&one_of_all(&1, place, arguments)) |> Enum.max(fn -> @ok end)
  end

  defp all(values, place, arguments) do
    unless arguments.layout == :validate, do: values |> printable(arguments) |> Output.write()
    @ok
  rescue
    error in SandboxError -> rejected(error, place)
  end

  defp one_of_all(%{encode: part}, place, arguments) do
    case shown(part, arguments) do
      {:ok, output} ->
        if output, do: Output.write([output, ?\n])
        @ok

      {:error, error} ->
        rejected(error, place)
    end
  end

  defp shown(part, %{raw: true} = arguments), do: unquoted(part, arguments)
  defp shown(part, arguments), do: lay_out(part, nil, arguments)

  defp unquoted(part, arguments) do
    {:ok, raw(part, arguments)}
  rescue
    error in SandboxError -> {:error, error}
  end

  # A string without quotes and escapes; anything else as it was written.
  defp raw(<<?", _::binary>> = part, %{decode: decode}), do: RustyJson.decode!(part, decode)
  defp raw(part, _arguments), do: part

  defp lay_out(_text, _term, %{layout: :validate}), do: {:ok, nil}
  # A line, without what stands around its value.
  defp lay_out(text, _term, %{raw: true, fetch: nil} = arguments),
    do: text |> String.trim() |> unquoted(arguments)

  defp lay_out(text, _term, %{layout: :canonical, options: options}),
    do: RustyJson.canonicalize(text, options)

  defp lay_out(_text, term, %{sort: true} = arguments),
    do: RustyJson.encode(term, arguments.encode ++ [sort_keys: true, pretty: pretty(arguments)])

  defp lay_out(text, _term, arguments) do
    {:ok,
     if(pretty?(arguments),
       do: Formatter.pretty_print(text, if(arguments.indent, do: [indent: arguments.indent], else: [])),
       else: Formatter.minimize(text)
     )}
  rescue
    error in [SandboxError, DecodeError] -> {:error, error}
  end

  defp pretty(%{indent: nil} = arguments), do: pretty?(arguments)
  defp pretty(%{indent: indent} = arguments), do: if(pretty?(arguments), do: indent, else: false)

  # With --lines, line breaks inside a document would look like its end.
  defp pretty?(%{layout: layout, lines: lines}), do: layout == :pretty and not lines

  defp absent({file, nil}, pointer), do: "#{Input.name(file)}: nothing at #{Snippet.visible(pointer)}"

  defp absent({file, lines_before}, pointer),
    do: "#{Input.name(file)}:#{lines_before + 1}: nothing at #{Snippet.visible(pointer)}"

  ## What went wrong

  defp rejected(%DecodeError{} = error, {file, lines_before}) do
    line = error.line + (lines_before || 0)
    shown = DecodeError.explain(%{error | line: line, message: what(error)})
    failed(@not_json, "#{Input.name(file)}:#{line}:#{error.column}: #{shown}#{hint(error, lines_before)}")
  end

  defp rejected(error, {file, nil}), do: failed(code(error), "#{Input.name(file)}: #{message(error)}")

  defp rejected(error, {file, lines_before}),
    do: failed(code(error), "#{Input.name(file)}:#{lines_before + 1}: #{message(error)}")

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

  # Of a document that is not one of many lines.
  defp hint(%{reason: :trailing_data, line: line}, nil) when line > 1,
    do: "\nIf every line is a document, add --lines."

  defp hint(%{reason: :max_depth}, _lines_before), do: "\n--max-depth N raises the limit."
  defp hint(_error, _lines_before), do: ""

  defp failed(code, text) do
    IO.puts(:stderr, text)
    code
  end
end
