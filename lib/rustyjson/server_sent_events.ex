defmodule RustyJson.ServerSentEvents do
  @moduledoc """
  Splits a stream of server-sent events (WHATWG HTML, "Server-sent events") into events, as the services of language models send them.

      iex> chunks = ["data: {\\"a\\"", ": 1}\\n\\nda", "ta: [DONE]\\n\\n"]
      iex> chunks |> RustyJson.ServerSentEvents.stream() |> Enum.map(& &1.data)
      [~s({"a": 1})]

  Lines end with LF, CR or CRLF, a chunk may end anywhere, and comments are left out. An event is a map:

    * `:data` - the `data:` lines, joined by line feeds. Bytes are passed on as they are: decoding checks whether they are UTF-8
    * `:event` - the name of the event, `"message"` if none was sent
    * `:id` - the last `id:` that was sent, `""` before the first
    * `:retry` - the time to wait before connecting again in milliseconds, if this event has one

  An event ends with an empty line. What follows the last one is incomplete, and is dropped.

  The tokens of an answer go from here into `RustyJson.Partial`:

      partial = RustyJson.Partial.new()

      response.body
      |> RustyJson.ServerSentEvents.stream()
      |> Enum.reduce(partial, fn event, partial ->
        # The event with the usage has no choices, and the first event has no text.
        text =
          case RustyJson.fetch(event.data, "/choices/0/delta/content") do
            {:ok, text} when is_binary(text) -> text
            none when none in [:error, {:ok, nil}] -> ""
          end

        {:ok, partial} = RustyJson.Partial.push(partial, text)
        partial
      end)
  """

  alias RustyJson.{DecodeError, Options}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Measure
  alias RustyJson.Options.Words

  # A line that has not ended, and the fields of the current event: `data` is nil before its first line, and `full` has what stands before
  # it, the last part first. `size` is the number of the event's bytes so far, `before` that without the line that has not ended, and `read`
  # that of all bytes.
  defstruct max_bytes: nil,
            done: nil,
            ended: false,
            line: "",
            after_return: false,
            first: true,
            size: 0,
            before: 0,
            read: 0,
            data: nil,
            full: [],
            event: "message",
            id: "",
            retry: nil

  @opaque t :: %__MODULE__{}

  # Bytes from which on lines are joined in a part of their own. The VM copies a binary that grows when it has no room left, and after
  # collections.
  @part 16_384

  # Bytes of iodata that becomes one binary.
  @whole 1_048_576
  # Parts of longer iodata that are looked at, if the limit on bytes does not allow more.
  @parts 16 * @whole

  @type event :: %{
          data: binary(),
          event: binary(),
          id: binary(),
          retry: nil | non_neg_integer()
        }

  @type option :: unquote(Words.type(:server_sent_events))

  @doc """
  A stream before its first byte.

  #{Words.doc(:server_sent_events)}

      iex> RustyJson.ServerSentEvents.new(max_bytes: -1)
      ** (ArgumentError) option :max_bytes takes an integer from 0, got: -1
  """
  @spec new([option()]) :: t()
  def new(opts \\ []) do
    {own, []} = Options.split!(:server_sent_events, opts)
    struct(__MODULE__, own)
  end

  @doc """
  Takes the next chunk, and gives the events that it completes.

      iex> stream = RustyJson.ServerSentEvents.new()
      iex> {:ok, [], stream} = RustyJson.ServerSentEvents.push(stream, ": hello\\nevent: delta\\ndata: 1")
      iex> {:ok, [event], _stream} = RustyJson.ServerSentEvents.push(stream, "2\\n\\n")
      iex> {event.event, event.data}
      {"delta", "12"}

  An event of more than `:max_bytes` is a `RustyJson.DecodeError` with the reason `:max_bytes`, whose position is that of the byte
  that exceeds the limit; with the events before it.
  """
  @spec push(t(), iodata()) :: {:ok, [event()], t()} | {:error, DecodeError.t(), [event()]}
  def push(stream, input) do
    if Measure.text?(input, @whole),
      do: input |> Input.piece!() |> bytes(stream, []),
      else: parts([input], most_parts(stream), stream, [])
  end

  defp most_parts(%{max_bytes: 0}), do: :infinity
  defp most_parts(%{max_bytes: most}), do: max(16 * most, @parts)

  # Iodata can hold the same part many times, so that it has no end but that of an event which is too long, and empty parts and comments
  # not even that.
  defp parts(work, _left, %{ended: ended} = stream, events) when ended or work == [],
    do: {:ok, Enum.reverse(events), stream}

  defp parts(_work, 0, stream, events),
    do: {:error, error("Text in more than #{most_parts(stream)} parts", stream.read), Enum.reverse(events)}

  defp parts(work, left, stream, events) do
    {short, work, left} = gathered(work, left, @part, [])

    case short |> Input.piece!() |> bytes(stream, []) do
      {:ok, more, stream} -> parts(work, left, stream, Enum.reverse(more, events))
      {:error, error, more} -> {:error, error, Enum.reverse(events, more)}
    end
  end

  # Iodata can be a list of single bytes. Pushing each on its own takes several times as long. An empty part counts as one byte, to limit the
  # list of parts.
  defp gathered(work, left, room, parts) when work == [] or left == 0 or room <= 0,
    do: {Enum.reverse(parts), work, left}

  defp gathered([[] | work], left, room, parts), do: gathered(work, less(left), room, parts)

  defp gathered([[part | rest] | work], left, room, parts),
    do: gathered([part, rest | work], left, room, parts)

  defp gathered([part | work], left, room, parts),
    do: gathered(work, less(left), room - max(size(part), 1), [part | parts])

  defp size(part) when is_binary(part), do: byte_size(part)
  defp size(_byte), do: 1

  defp less(:infinity), do: :infinity
  defp less(left), do: left - 1

  @doc """
  Says that nothing follows. An event without an empty line behind it is incomplete, and is dropped.

      iex> {:ok, [], stream} = RustyJson.ServerSentEvents.new() |> RustyJson.ServerSentEvents.push("data: 1\\n")
      iex> RustyJson.ServerSentEvents.finish(stream)
      :incomplete

      iex> {:ok, [_event], stream} = RustyJson.ServerSentEvents.new() |> RustyJson.ServerSentEvents.push("data: 1\\n\\n")
      iex> RustyJson.ServerSentEvents.finish(stream)
      :ok
  """
  @spec finish(t()) :: :ok | :incomplete
  def finish(%{ended: true}), do: :ok
  def finish(%{line: "", data: nil}), do: :ok
  def finish(_stream), do: :incomplete

  @doc """
  Whether the event came that ends the stream.

      iex> {:ok, [], stream} = RustyJson.ServerSentEvents.new() |> RustyJson.ServerSentEvents.push("data: [DONE]\\n\\n")
      iex> RustyJson.ServerSentEvents.done?(stream)
      true
  """
  @spec done?(t()) :: boolean()
  def done?(%{ended: ended}), do: ended

  @doc """
  The events of a stream of chunks, or of a whole text, as a stream. It takes the options of `new/1`, ends with the event that `:done`
  names, and raises for an event that is too long. A text without events, such as a page that says what was wrong with the request, gives
  none, so check the status of the response first.

      iex> RustyJson.ServerSentEvents.stream(["data: a\\n\\ndata: b", "\\r\\n\\r\\n"]) |> Enum.map(& &1.data)
      ["a", "b"]

      iex> RustyJson.ServerSentEvents.stream("data: a\\n\\n") |> Enum.map(& &1.data)
      ["a"]
  """
  @spec stream(Enumerable.t() | binary(), [option()]) :: Enumerable.t()
  def stream(chunks, opts \\ [])
  def stream(text, opts) when is_binary(text), do: stream([text], opts)

  def stream(chunks, opts) do
    first = new(opts)

    chunks
    |> Stream.transform(first, &items/2)
    |> Stream.take_while(&(&1 != :done))
    |> Stream.map(&item/1)
  end

  # The last event ends the stream at once: the next chunk may never come.
  defp items(chunk, stream) do
    case push(stream, chunk) do
      {:ok, events, %{ended: true} = stream} -> {events ++ [:done], stream}
      {:ok, events, stream} -> {events, stream}
      {:error, error, events} -> {events ++ [error], stream}
    end
  end

  defp item(%{__exception__: true} = error), do: raise(error)
  defp item(event), do: event

  ## Lines

  defp bytes(_bytes, %{ended: true} = stream, events), do: {:ok, Enum.reverse(events), stream}

  # The second byte of a line end that a chunk has cut.
  defp bytes(<<?\n, rest::binary>>, %{after_return: true} = stream, events),
    do: bytes(rest, %{stream | after_return: false, read: stream.read + 1}, events)

  defp bytes("", stream, events), do: {:ok, Enum.reverse(events), stream}

  defp bytes(bytes, stream, events) do
    case place(bytes, ?\r, ?\n, 0) do
      nil ->
        with %{} = stream <- counted(stream, byte_size(bytes), events),
             do: {:ok, Enum.reverse(events), %{stream | line: stream.line <> bytes, after_return: false}}

      at ->
        {line, <<ending, rest::binary>>} = :erlang.split_binary(bytes, at)

        with %{line: before} = stream <- counted(stream, at + 1, events) do
          {stream, events} =
            before |> joined(line) |> unmarked(stream) |> line(%{stream | line: "", first: false}, events)

          bytes(rest, %{stream | after_return: ending == ?\r, before: stream.size}, events)
        end
    end
  end

  # Where the first of two bytes stands. (`:binary.match/2` is faster in long texts, but on OTP 25 a call that finds nothing ends the
  # process's turn.)
  defp place(<<byte, _::binary>>, one, other, at) when byte == one or byte == other, do: at
  defp place(<<_byte, rest::binary>>, one, other, at), do: place(rest, one, other, at + 1)
  defp place(<<>>, _one, _other, _at), do: nil

  defp counted(%{size: size, max_bytes: most, read: read} = stream, count, events) do
    if most > 0 and size + count > most,
      do: {:error, error("Event larger than #{most} bytes", read + most - size), Enum.reverse(events)},
      else: %{stream | size: size + count, read: read + count}
  end

  defp error(what, position) do
    %DecodeError{
      message: "#{what} at position #{position}",
      reason: :max_bytes,
      position: position,
      data: "",
      offset: position,
      path: ""
    }
  end

  # `<>` takes memory of its own, at least 256 bytes, also behind an empty binary.
  defp joined("", line), do: line
  defp joined(before, line), do: before <> line

  # A byte order mark in front of the stream.
  defp unmarked(<<0xEF, 0xBB, 0xBF, line::binary>>, %{first: true}), do: line
  defp unmarked(line, _stream), do: line

  defp line("", %{data: nil} = stream, events), do: {next(stream), events}

  defp line("", %{data: data, full: full} = stream, events) do
    # A part of a chunk would keep all of it in memory, and what was joined has room for more.
    data =
      if full == [], do: :binary.copy(data), else: [data | full] |> Enum.reverse() |> IO.iodata_to_binary()

    event = %{data: data, event: stream.event, id: stream.id, retry: stream.retry}

    if data == stream.done,
      do: {%{next(stream) | ended: true}, events},
      else: {next(stream), [event | events]}
  end

  defp line(":" <> _comment, stream, events), do: {nothing(stream), events}

  defp line(line, stream, events) do
    case place(line, ?:, ?:, 0) do
      nil -> {field(line, "", stream), events}
      at -> {line |> :erlang.split_binary(at) |> field(stream), events}
    end
  end

  defp field({name, ": " <> value}, stream), do: field(name, value, stream)
  defp field({name, ":" <> value}, stream), do: field(name, value, stream)

  defp next(stream), do: %{stream | data: nil, full: [], event: "message", retry: nil, size: 0}

  # Lines are joined as they come: a list of many would be copied at each collection.
  defp field("data", value, %{data: nil} = stream), do: %{stream | data: value}

  defp field("data", value, %{data: data, full: full} = stream) when byte_size(data) >= @part,
    do: %{stream | data: <<?\n, value::binary>>, full: [data | full]}

  defp field("data", value, %{data: data} = stream),
    do: %{stream | data: <<data::binary, ?\n, value::binary>>}

  defp field("event", "", stream), do: %{stream | event: "message"}
  defp field("event", value, stream), do: %{stream | event: :binary.copy(value)}

  defp field("id", value, stream),
    do: if(place(value, 0, 0, 0) == nil, do: %{stream | id: :binary.copy(value)}, else: nothing(stream))

  defp field("retry", value, stream),
    do:
      if(value =~ ~r/\A[0-9]{1,15}\z/, do: %{stream | retry: String.to_integer(value)}, else: nothing(stream))

  defp field(_other, _value, stream), do: nothing(stream)

  # A line of which nothing is kept: a stream that is only kept open can send as many as it likes.
  defp nothing(%{before: before} = stream), do: %{stream | size: before}

  defimpl Inspect do
    # What arrived is not shown: it may be long, or secret.
    def inspect(%{read: read, ended: ended}, _opts),
      do: "#RustyJson.ServerSentEvents<#{read} bytes#{if ended, do: ", done"}>"
  end
end
