defmodule RustyJson.Test.Sweep.Runs do
  @moduledoc "Runs of calls that take more than one call of a function: in pieces, from files, as requests."

  alias RustyJson.{Feed, LogFormatter, Options, Partial, ServerSentEvents}

  @piece 1_000

  # Numbers have their text, and everything else passes through a function.
  def decoders do
    [float: & &1, integer: & &1, string: & &1, array_push: &[&1 | &2], object_push: &[{&1, &2} | &3]]
  end

  def request(text, options) do
    reader = {__MODULE__, :body, [text]}
    options = apply(RustyJson.PlugParser, :init, [[rustyjson: options, body_reader: reader]])

    {:ok, params, _conn} =
      apply(RustyJson.PlugParser, :parse, [struct(Plug.Conn), "application", "json", %{}, options])

    params
  end

  # Reads the body of `request/2`.
  def body(conn, _options, text), do: {:ok, text, conn}

  def pointer(text), do: "/" <> (text |> String.replace("~", "~0") |> String.replace("/", "~1"))

  def fed(text, options) do
    text
    |> pieces()
    |> Enum.reduce_while({Feed.new(options), []}, fn piece, {feed, done} ->
      case Feed.push(feed, piece) do
        {:ok, items, feed} -> {:cont, {feed, [items | done]}}
        {:error, error, items, _feed} -> {:halt, {:error, error, [items | done]}}
      end
    end)
    |> case do
      {feed, done} -> {done, Feed.finish(feed)}
      failed -> failed
    end
  end

  def lines(text, options) do
    path = Path.join(System.tmp_dir!(), "rustyjson_sweep_#{System.unique_integer([:positive])}.ndjson")
    File.write!(path, text)

    try do
      for range <- RustyJson.Lines.ranges(path, 3),
          do: Enum.to_list(RustyJson.Lines.stream(path, range, options))
    after
      File.rm!(path)
    end
  end

  # Each line of the text is a line of data, and the text is one event.
  def events(text, []) do
    chunks = pieces(<<replaced(text, ?\n, "\ndata:", "data:")::binary, "\n\n">>)

    Enum.reduce_while(chunks, {ServerSentEvents.new(max_bytes: 0), []}, fn chunk, {stream, done} ->
      case ServerSentEvents.push(stream, chunk) do
        {:ok, events, stream} -> {:cont, {stream, [events | done]}}
        failed -> {:halt, failed}
      end
    end)
  end

  # The text as it is: lines without an end, or many without a field; and each of them as an event.
  def lines_of_events(text, []) do
    events = text |> replaced(?\n, "\n\ndata:", "") |> replaced(?,, ",\r\rdata:", "")

    for text <- [text, events],
        do: text |> pieces() |> ServerSentEvents.stream(max_bytes: 0) |> passed_on(text)
  end

  # Without a list of all places, which `String.replace/3` makes: its collections would be measured.
  defp replaced(<<byte, rest::binary>>, byte, text, done),
    do: replaced(rest, byte, text, <<done::binary, text::binary>>)

  defp replaced(<<other, rest::binary>>, byte, text, done),
    do: replaced(rest, byte, text, <<done::binary, other>>)

  defp replaced("", _byte, _text, done), do: done

  # The value is asked for now and then, because it takes time for all children of what is open.
  def grown(text, options) do
    text
    |> pieces()
    |> Enum.reduce_while(Partial.new(options), &pushed(Partial.push(&2, &1)))
    |> case do
      %Partial{} = partial -> {Partial.value(partial), Partial.finish(partial)}
      failed -> failed
    end
  end

  defp pushed({:ok, partial}), do: {:cont, partial}
  defp pushed(failed), do: {:halt, failed}

  def changes(text, options) do
    text
    |> pieces()
    |> Enum.reduce_while({Partial.new(options), []}, fn piece, {partial, done} ->
      case Partial.push_changes(partial, piece) do
        {:ok, changes, partial} -> {:cont, {partial, kept(changes, done, text)}}
        {:error, error} -> {:halt, {:error, error, done}}
      end
    end)
    |> then(fn
      {%Partial{}, done} -> done
      failed -> failed
    end)
  end

  defp passed_on(items, text) when byte_size(text) <= 30 * @piece, do: Enum.to_list(items)
  defp passed_on(items, _text), do: Enum.count(items)

  # Of a long document only their number: a caller passes them on, and to keep all of them would be its memory.
  defp kept(changes, done, text) when byte_size(text) <= 30 * @piece, do: [changes | done]
  defp kept(changes, _done, _text), do: length(changes)

  def pieces(text) when byte_size(text) <= @piece, do: [text]

  def pieces(text) do
    Stream.unfold(text, fn
      "" -> nil
      <<piece::binary-size(@piece), rest::binary>> -> {piece, rest}
      rest -> {rest, ""}
    end)
  end

  def packed(options), do: Options.encode(options)

  def line(report, meta, options) do
    event = %{level: :info, msg: {:report, report}, meta: Map.merge(%{time: 0, report: report}, meta)}
    {LogFormatter, config} = LogFormatter.new(options)
    event |> LogFormatter.format(config) |> IO.iodata_to_binary()
  end
end
