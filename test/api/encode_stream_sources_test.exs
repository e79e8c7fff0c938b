defmodule RustyJson.EncodeStreamSourcesTest do
  @moduledoc "The sources of streams of output: each is read once, as far as it is needed, and closed once."

  use ExUnit.Case, async: true

  alias RustyJson.EncodeError
  alias RustyJson.Test.Judge

  defmodule Throws do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts), do: throw(:encoder)
    end
  end

  test "halting closes the source" do
    me = self()
    source = Stream.resource(fn -> 1 end, &{[&1], &1 + 1}, fn _ -> send(me, :closed) end)
    assert source |> RustyJson.encode_stream(flush: 10) |> Enum.take(2) |> Enum.join() =~ "[1,2,3,4"
    assert_received :closed
    refute_received :closed

    assert %{a: RustyJson.lazy(source)} |> RustyJson.encode_stream(flush: 10, compress: :gzip) |> Enum.take(1) !=
             []

    assert_received :closed
    refute_received :closed
  end

  # Numbers, and behind the 40th what the name says. It is opened and closed by messages.
  defp source(last) do
    me = self()

    Stream.resource(
      fn -> opened(me) end,
      fn
        41 -> {last_of(last), 42}
        42 -> {:halt, 42}
        i -> {[i], i + 1}
      end,
      fn _ -> send(me, :closed) end
    )
  end

  defp opened(me) do
    send(me, :opened)
    1
  end

  defp last_of(:raise), do: raise("no row")
  defp last_of(:throw), do: throw(:no_row)
  defp last_of(rows), do: rows

  # Each of them ends in its own way, and none may leave the source open, or close it twice.
  defp consumers do
    stop = fn stop ->
      &Enum.reduce(&1, 0, fn _, n -> if n == 3, do: stop.(), else: n + 1 end)
    end

    [
      to_list: &Enum.to_list/1,
      take: &Enum.take(&1, 2),
      stream_take: &(&1 |> Stream.take(2) |> Enum.to_list()),
      take_none: &Enum.take(&1, 0),
      raise: stop.(fn -> raise "consumer" end),
      throw: stop.(fn -> throw(:consumer) end),
      exit: stop.(fn -> exit(:consumer) end),
      halt_at_the_end: &Enum.find(&1, fn piece -> String.ends_with?(piece, "]") end),
      concat: &(&1 |> Stream.concat(["more"]) |> Enum.to_list()),
      suspend: &suspended/1,
      suspend_and_halt: fn stream ->
        {:suspended, pieces, next} = Enumerable.reduce(stream, {:cont, []}, &{:suspend, [&1 | &2]})
        next.({:halt, pieces})
      end
    ]
  end

  defp suspended(stream) do
    stream
    |> Enumerable.reduce({:suspend, []}, &{:suspend, [&1 | &2]})
    |> Stream.iterate(fn {:suspended, pieces, next} -> next.({:cont, pieces}) end)
    |> Enum.find_value(&done/1)
  end

  defp done({:suspended, _pieces, _next}), do: nil
  defp done({_ended, pieces}), do: Enum.reverse(pieces)

  defp outcome(fun) do
    {:ok, fun.()}
  catch
    kind, reason -> {kind, reason}
  end

  defp opened_and_closed(counts \\ {0, 0}) do
    receive do
      :opened -> counts |> put_elem(0, elem(counts, 0) + 1) |> opened_and_closed()
      :closed -> counts |> put_elem(1, elem(counts, 1) + 1) |> opened_and_closed()
    after
      0 -> counts
    end
  end

  test "every consumer closes the source once, whatever the source and the encoder do" do
    for last <- [[], :raise, :throw, [<<255>>], [%Throws{}]],
        {name, consumer} <- consumers(),
        flush <- [1, 10, 65_536],
        compress <- [false, :gzip],
        wrap <- [& &1, &Stream.map(&1, fn row -> row end), &%{a: RustyJson.lazy(&1)}] do
      stream = last |> source() |> wrap.() |> RustyJson.encode_stream(flush: flush, compress: compress)
      result = outcome(fn -> consumer.(stream) end)
      {opened, closed} = opened_and_closed()

      if opened != closed or opened > 1,
        do: flunk(inspect({last, name, flush, compress, result, opened, closed}))
    end
  end

  test "a consumer that suspends gets the same pieces" do
    for flush <- [1, 10, 65_536], format <- [:array, :lines, :seq], count <- [0, 1, 40] do
      rows = Stream.map(1..40, &%{id: &1}) |> Stream.take(count)
      stream = RustyJson.encode_stream(rows, flush: flush, format: format)
      pieces = Enum.to_list(stream)
      assert suspended(stream) == pieces
      assert stream |> Stream.zip(Stream.cycle([0])) |> Enum.map(&elem(&1, 0)) == pieces
      assert Enum.zip([stream, stream]) == Enum.zip(pieces, pieces)
      assert Enum.concat(Enum.take(stream, 3), Enum.drop(stream, 3)) == pieces
    end
  end

  test "a source that gives each row once: what failed stays an error, although the rest can be encoded" do
    for {_engine, options} <- Judge.engines(), format <- [:array, :lines, :seq], before <- [0, 3] do
      {:ok, rows} = Agent.start_link(fn -> [1, <<255>>, 3] end)
      once = Stream.repeatedly(fn -> Agent.get_and_update(rows, &next_row/1) end) |> Stream.take_while(& &1)
      elements = List.duplicate(0, before) ++ [%{a: RustyJson.lazy(once)}]
      stream = RustyJson.encode_stream(Stream.map(elements, & &1), [format: format] ++ options)
      error = assert_raise EncodeError, fn -> Enum.to_list(stream) end
      assert error.reason == :invalid_utf8
      assert error.path == "/#{before}/a/1"
      Agent.stop(rows)
    end
  end

  test "a source that gives each row once is not read again when a later element fails" do
    for {_engine, options} <- Judge.engines() do
      {:ok, rows} = Agent.start_link(fn -> [1_000_000_000, 2_000_000_000] end)
      once = Stream.repeatedly(fn -> Agent.get_and_update(rows, &next_row/1) end) |> Stream.take_while(& &1)
      elements = Stream.map([%{}, %{rows: RustyJson.lazy(once)}, %{b: <<255>>}], & &1)
      stream = RustyJson.encode_stream(elements, [format: :lines, flush: 1] ++ options)
      error = assert_raise EncodeError, fn -> Enum.each(stream, &send(self(), {:piece, &1})) end
      assert error.path == "/2/b"
      assert pieces() == ~s({}\n{"rows":[1000000000,2000000000]}\n)
      Agent.stop(rows)
    end
  end

  test "a source that is slower than the sandbox allows loses no rows" do
    for {_engine, [engine: :wasm, host: _] = options} <- Judge.engines() do
      {:ok, rows} = Agent.start_link(fn -> [1, 2] end)

      once =
        Stream.repeatedly(fn ->
          Process.sleep(150)
          Agent.get_and_update(rows, &next_row/1)
        end)

      rows_of_two = [%{rows: once |> Stream.take_while(& &1) |> RustyJson.lazy()}]
      stream = RustyJson.encode_stream(Stream.map(rows_of_two, & &1), [timeout: 200] ++ options)
      assert Enum.join(stream) == ~s([{"rows":[1,2]}])
      Agent.stop(rows)
    end
  end

  defp pieces(texts \\ []) do
    receive do
      {:piece, text} -> pieces([texts | text])
    after
      0 -> IO.iodata_to_binary(texts)
    end
  end

  defp next_row([]), do: {nil, []}
  defp next_row([row | rows]), do: {row, rows}

  test "rows are made while they are written" do
    me = self()

    rows =
      Stream.map(1..100_000, fn i ->
        if rem(i, 10_000) == 0, do: send(me, i)
        i
      end)

    assert %{rows: RustyJson.lazy(rows)} |> RustyJson.encode_stream() |> Enum.take(1) != []
    assert_received 10_000
    refute_received 50_000
  end
end
