defmodule RustyJson.CLI.Documents do
  @moduledoc false
  # The work of `mix rustyjson`: decodes every document, which checks it, and formats its text.

  alias RustyJson.{DecodeError, EngineError, Feed, Formatter, Fragment, SandboxError}
  alias RustyJson.CLI.{Arguments, Input, Progress, Stats}
  alias RustyJson.DecodeError.Snippet

  @ok 0
  @not_json 1
  @unreadable 3
  @stopped 4
  @no_engine 5

  @piece 1_048_576

  @doc "Processes the files and returns the exit code."
  @spec run(Arguments.t()) :: 0..5
  def run(%Arguments{} = arguments) do
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    configure(arguments.options)
    :io.setopts(:standard_io, encoding: :latin1, binary: true)

    arguments.files |> Enum.map(&file(&1, arguments)) |> Enum.max()
  rescue
    error in EngineError -> failed(@no_engine, Exception.message(error))
  catch
    # A reader such as `head` that exits early is not an error.
    {:output, reason} when reason in [:terminated, :epipe] -> @ok
    {:output, reason} -> failed(@unreadable, "standard output: #{:file.format_error(reason)}")
  end

  # The formatter takes no such options, so the command line's become the configuration of this run.
  defp configure(options) do
    add_env(:wasm, Keyword.take(options, [:host, :timeout, :max_memory]))
    add_env(:encode, Keyword.take(options, [:max_depth]))
    if engine = options[:engine], do: Application.put_env(:rustyjson, :engine, engine)
    RustyJson.Config.reload()
  end

  defp add_env(key, more) do
    Application.put_env(:rustyjson, key, Keyword.merge(Application.get_env(:rustyjson, key, []), more))
  end

  defp file(file, %{array: array, at: at} = arguments) when array or at != nil do
    feed = arguments |> Arguments.stream_options() |> Feed.new()

    work = fn piece, feed ->
      result = if piece == :end, do: Feed.finish(feed), else: Feed.push(feed, piece)
      values(result, file, arguments)
    end

    case Input.each_piece(file, arguments.quiet, feed, work) do
      {:ok, code} when is_integer(code) -> code
      {:ok, _feed} -> @ok
      {:error, text} -> failed(@unreadable, text)
    end
  end

  defp file(file, %{lines: true} = arguments) do
    work = fn text, number, {code, stats} ->
      {one, stats} = document(text, {file, number - 1}, arguments, stats)
      {max(code, one), stats}
    end

    case Input.each_line(file, arguments.quiet, {@ok, Stats.new()}, work) do
      {:ok, {code, stats}} -> finish(code, file, stats, arguments)
      {:error, text} -> failed(@unreadable, text)
    end
  end

  defp file(file, arguments) do
    case Input.read(file, arguments.quiet) do
      {:ok, text} ->
        large = not arguments.quiet and byte_size(text) >= Progress.from()
        doing = "#{Input.name(file)}: working on #{Progress.size(byte_size(text))}"

        {code, stats} =
          Progress.during(large, doing, fn -> document(text, {file, 0}, arguments, Stats.new()) end)

        finish(code, file, stats, arguments)

      {:error, text} ->
        failed(@unreadable, text)
    end
  end

  # What goes on with the next piece, or stops with an exit code.
  defp values({:ok, values, feed}, file, arguments), do: print(values, {:cont, feed}, file, arguments)
  defp values({:ok, values}, file, arguments), do: print(values, {:halt, @ok}, file, arguments)

  defp values({:error, error, values, _feed}, file, arguments),
    do: values({:error, error, values}, file, arguments)

  defp values({:error, error, values}, file, arguments) do
    with {:cont, nil} <- print(values, {:cont, nil}, file, arguments),
         do: {:halt, rejected(error, {file, 0})}
  end

  defp print(values, next, _file, %{layout: layout}) when values == [] or layout == :validate, do: next

  defp print(values, next, file, arguments) do
    values |> lines(arguments) |> write()
    next
  rescue
    error in SandboxError -> {:halt, rejected(error, {file, 0})}
  end

  # All values of a piece in one call.
  defp lines([%Fragment{} | _] = values, _arguments),
    do: values |> Enum.map(&[&1.encode, ?\n]) |> Formatter.minimize()

  defp lines(values, %{options: options}),
    do: Enum.map_join(values, "\n", &RustyJson.encode!(&1, [sort_keys: true] ++ options))

  defp finish(code, file, stats, %{stats: wanted}) do
    if wanted, do: IO.puts(:stderr, "#{Input.name(file)}: " <> Stats.line(stats))
    code
  end

  ## One document

  defp document(text, place, %{fetch: pointer} = arguments, stats) when pointer != nil do
    with {:ok, %{encode: part}} <- RustyJson.fetch(text, pointer, [as: :raw] ++ arguments.options),
         {:ok, output} <- if(arguments.raw, do: {:ok, part}, else: lay_out(part, nil, arguments)) do
      if output, do: write(output)
      {@ok, stats}
    else
      :error -> {failed(@not_json, absent(place, pointer)), stats}
      {:error, error} -> {rejected(error, place), stats}
    end
  end

  defp document(text, place, arguments, stats) do
    {decoded, stats} = Stats.time(stats, :decode, fn -> RustyJson.decode(text, arguments.options) end)

    with {:ok, term} <- decoded,
         {{:ok, output}, stats} <- Stats.time(stats, :lay_out, fn -> lay_out(text, term, arguments) end) do
      if output, do: write(output)
      {@ok, if(arguments.stats, do: Stats.count(stats, text, output, term), else: stats)}
    else
      {:error, error} -> {rejected(error, place), Stats.refuse(stats, text)}
      {{:error, error}, stats} -> {rejected(error, place), Stats.refuse(stats, text)}
    end
  end

  defp lay_out(_text, _term, %{layout: :validate}), do: {:ok, nil}

  defp lay_out(text, _term, %{layout: :canonical, options: options}),
    do: RustyJson.canonicalize(text, options)

  defp lay_out(_text, term, %{sort: true} = arguments),
    do: RustyJson.encode(term, [sort_keys: true, pretty: pretty?(arguments)] ++ arguments.options)

  defp lay_out(text, _term, arguments) do
    {:ok, if(pretty?(arguments), do: Formatter.pretty_print(text), else: Formatter.minimize(text))}
  rescue
    error in [SandboxError, DecodeError] -> {:error, error}
  end

  # With --lines, line breaks inside a document would look like its end.
  defp pretty?(%{layout: layout, lines: lines}), do: layout == :pretty and not lines

  defp absent({file, 0}, pointer), do: "#{Input.name(file)}: nothing at #{Snippet.visible(pointer)}"

  defp absent({file, lines_before}, pointer),
    do: "#{Input.name(file)}:#{lines_before + 1}: nothing at #{Snippet.visible(pointer)}"

  # Written in pieces, to notice a reader such as `head` that exits early.
  defp write(<<part::binary-size(@piece), rest::binary>>) do
    put(part)
    write(rest)
  end

  defp write(last), do: put([last, ?\n])

  defp put(output) do
    with {:error, reason} <- :file.write(:standard_io, output), do: throw({:output, reason})
  end

  ## What went wrong

  defp rejected(%DecodeError{} = error, {file, lines_before}) do
    line = error.line + lines_before
    shown = DecodeError.explain(%{error | line: line, message: what(error)})
    failed(@not_json, "#{Input.name(file)}:#{line}:#{error.column}: #{shown}#{hint(error)}")
  end

  defp rejected(error, {file, 0}), do: failed(code(error), "#{Input.name(file)}: #{message(error)}")

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

  defp hint(%{reason: :trailing_data, data: data, position: position, offset: 0}) do
    if position > 0 and position <= byte_size(data) and
         :binary.match(data, "\n", scope: {0, position}) != :nomatch,
       do: "\nIf every line is a document, add --lines.",
       else: ""
  end

  defp hint(%{reason: :max_depth}), do: "\n--max-depth N raises the limit."
  defp hint(_error), do: ""

  defp failed(code, text) do
    IO.puts(:stderr, text)
    code
  end
end
