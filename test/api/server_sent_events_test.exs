defmodule RustyJson.ServerSentEventsTest do
  @moduledoc "Server-sent events: the examples of the WHATWG standard, every cut, limits."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [bytes: 1, until_fault: 1]

  alias RustyJson.{DecodeError, Partial, ServerSentEvents}

  # https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
  @standard [
    {"data: YHOO\ndata: +2\ndata: 10\n\n", [{"message", "YHOO\n+2\n10", ""}]},
    {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
     [{"message", "first event", "1"}, {"message", "second event", ""}, {"message", " third event", ""}]},
    {"data\n\ndata\ndata\n\ndata:", [{"message", "", ""}, {"message", "\n", ""}]},
    {"data:test\n\ndata: test\n\n", [{"message", "test", ""}, {"message", "test", ""}]},
    {"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
     [{"add", "73857293", ""}, {"remove", "2153", ""}]},
    {"\uFEFFdata: a\n\ndata: \uFEFF\n\n", [{"message", "a", ""}, {"message", "\uFEFF", ""}]},
    {"id: a\0b\nretry: 1x\nunknown: 1\nevent: x\n\ndata: c\n\n", [{"message", "c", ""}]}
  ]

  test "the events of the standard, for every line end and every cut" do
    for {text, expected} <- @standard, ending <- ["\n", "\r", "\r\n"] do
      text = String.replace(text, "\n", ending)
      expected = for {event, data, id} <- expected, do: {event, data, id}

      cuts =
        for at <- 0..byte_size(text),
            do: [binary_part(text, 0, at), binary_part(text, at, byte_size(text) - at)]

      for chunks <- [[text], bytes(text) | cuts] do
        found = for event <- ServerSentEvents.stream(chunks), do: {event.event, event.data, event.id}
        assert found == expected, inspect({chunks, found})
      end
    end
  end

  test "the time to wait belongs to its event" do
    assert [%{retry: 2_000}, %{retry: nil}] =
             Enum.to_list(ServerSentEvents.stream(["retry: 2000\ndata: 1\n\ndata: 2\n\n"]))
  end

  test "the last event ends the stream, and nothing is read behind it" do
    endless =
      Stream.concat(["data: 1\n\ndata: [DONE]\n\ndata: 2\n\n"], Stream.map([1], fn _ -> flunk("read on") end))

    assert [%{data: "1"}] = Enum.to_list(ServerSentEvents.stream(endless))
    assert [_, %{data: "[DONE]"}, _] = Enum.to_list(ServerSentEvents.stream(Enum.take(endless, 1), done: nil))
    {:ok, [_], stream} = ServerSentEvents.push(ServerSentEvents.new(), Enum.at(endless, 0))
    assert ServerSentEvents.done?(stream) and ServerSentEvents.finish(stream) == :ok
    assert {:ok, [], ^stream} = ServerSentEvents.push(stream, "data: 3\n\n")
  end

  test "an event that is too long is an error at its place, after those before it, however it is cut" do
    text = "data: 1\n\ndata: " <> String.duplicate("x", 20) <> "\n\n"

    for chunks <- [[text], bytes(text)] do
      {events, error} = chunks |> ServerSentEvents.stream(max_bytes: 20) |> until_fault()
      assert [%{data: "1"}] = events
      assert %DecodeError{reason: :max_bytes, position: 29, message: message} = error
      assert message == "Event larger than 20 bytes at position 29"
    end

    assert [_, _] = Enum.to_list(ServerSentEvents.stream([text], max_bytes: 28))
    # Comments count too, so a sender cannot fill the memory with one that never ends.
    {[], error} = Stream.cycle([":aaaaaaaa"]) |> ServerSentEvents.stream() |> until_fault()
    assert error.reason == :max_bytes
  end

  test "lines of which nothing is kept count until they end" do
    for line <- [": ping\n", ": ping\r\n", "other: x\n", "retry: x\r", "id: \0\n"],
        cut <- [&[&1], &bytes/1] do
      text = String.duplicate(line, 50)
      stream = ServerSentEvents.new(max_bytes: 20)
      assert {[], stream} = push_all(cut.(text), stream)
      assert {[%{data: "1"}], _stream} = push_all(cut.("data: 1\n" <> text <> "\n\n"), stream)
      # The event has 20 bytes for itself.
      chunks = cut.(text <> "data: 1\n" <> text <> "data: 12345678\n\n")
      assert {[], error} = chunks |> ServerSentEvents.stream(max_bytes: 20) |> until_fault()
      assert error.position == 2 * byte_size(text) + 20
    end
  end

  @tag :time
  test "iodata that shares its parts ends, also where it has no bytes, or nothing of it is kept" do
    for leaf <- [[], ":\n"] do
      endless = Enum.reduce(1..80, leaf, fn _, part -> [part, part] end)
      text = ["data: 1\n\n" | endless]
      assert {:error, error, [%{data: "1"}]} = ServerSentEvents.push(ServerSentEvents.new(), text)
      assert {error.reason, error.position} == {:max_bytes, error.offset}
      assert error.message =~ "Text in more than 16777216 parts at position "
    end
  end

  test "a list of bytes is not looked at byte by byte" do
    text = "data: " <> String.duplicate("abcdefghij", 200_000) <> "\n\n"
    bytes = :binary.bin_to_list(text)
    stream = ServerSentEvents.new(max_bytes: 0)
    {:ok, [event], _stream} = ServerSentEvents.push(stream, text)
    {:reductions, before} = Process.info(self(), :reductions)
    assert {:ok, [^event], _stream} = ServerSentEvents.push(stream, bytes)
    {:reductions, reductions} = Process.info(self(), :reductions)
    assert reductions - before < 20 * length(bytes)
  end

  defp push_all(chunks, stream) do
    Enum.reduce(chunks, {[], stream}, fn chunk, {events, stream} ->
      {:ok, more, stream} = ServerSentEvents.push(stream, chunk)
      {events ++ more, stream}
    end)
  end

  test "events go into a partial document" do
    json = ~s({"title": "Soup \u00e9", "steps": [1, 2]})
    chunks = for <<piece::binary-5 <- json>>, do: "data: #{piece}\n\n"
    rest = binary_part(json, 5 * length(chunks), rem(byte_size(json), 5))

    partial =
      (chunks ++ ["data: #{rest}\n\n", "data: [DONE]\n\n"])
      |> ServerSentEvents.stream()
      |> Enum.reduce(Partial.new(), fn event, partial ->
        {:ok, partial} = Partial.push(partial, event.data)
        partial
      end)

    assert Partial.finish(partial) == RustyJson.decode(json)
  end

  test "an event of more lines than are joined in one part is joined in order" do
    for lines <- [1, 2, 1_000, 9_000], ending <- ["\n", "\r\n"] do
      data = Enum.map(1..lines, &"line #{&1}")

      text =
        IO.iodata_to_binary([Enum.map(data, &["data: ", &1, ending]), ending, "data: next", ending, ending])

      expected = [Enum.join(data, "\n"), "next"]

      for chunks <- [[text], for(<<chunk::binary-size(7) <- text>>, do: chunk) ++ [tail(text, 7)]] do
        assert Enum.map(ServerSentEvents.stream(chunks), & &1.data) == expected
      end
    end
  end

  defp tail(text, size), do: binary_part(text, byte_size(text), -rem(byte_size(text), size))

  test "options that are wrong, and inspect" do
    for {options, message} <- [
          {[max_bytes: -1], "option :max_bytes takes an integer from 0, got: -1"},
          {[done: 1], "option :done takes a string or nil, got: 1"},
          {[max_byte: 1], ~r/unknown option :max_byte, did you mean :max_bytes\?/}
        ],
        do: assert_raise(ArgumentError, message, fn -> ServerSentEvents.stream([], options) end)

    {:ok, [], stream} = ServerSentEvents.push(ServerSentEvents.new(), "data: secret")
    assert inspect(stream) == "#RustyJson.ServerSentEvents<12 bytes>"
  end

  test "short lines and events cost no more than some steps each" do
    for line <- ["\n", "\r\n", ":\n", "data\n", "id:1\n", "data:1\n\n"] do
      text = String.duplicate(line, 20_000)
      {:reductions, before} = Process.info(self(), :reductions)
      assert {:ok, _events, _stream} = ServerSentEvents.push(ServerSentEvents.new(), text)
      {:reductions, later} = Process.info(self(), :reductions)
      # Those of collecting garbage are among them.
      assert later - before < 20_000 * 300, inspect({line, later - before})
    end
  end

  test "an event of many lines takes the memory of its bytes" do
    lines = String.duplicate("data:1\n", 20_000)
    {:ok, [], stream} = ServerSentEvents.push(ServerSentEvents.new(), lines)
    assert :erts_debug.flat_size(stream) < 100

    assert {:ok, [%{data: data}], _stream} = ServerSentEvents.push(stream, "\n")
    assert data == String.duplicate("1\n", 19_999) <> "1"
    assert :binary.referenced_byte_size(data) == byte_size(data)
  end

  test "an event does not keep its chunk in memory" do
    chunk = "id:7\nevent:a\ndata:1\n\n:" <> String.duplicate("x", 10_000) <> "\n"
    {:ok, [event], stream} = ServerSentEvents.push(ServerSentEvents.new(), chunk)

    for text <- [event.data, event.event, event.id, stream.id],
        # Up to 64 bytes stay in the heap, in whole words.
        do: assert(:binary.referenced_byte_size(text) <= 64)
  end
end
