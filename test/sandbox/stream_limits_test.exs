defmodule RustyJson.Sandbox.StreamLimitsTest do
  @moduledoc """
  A stream whose n-th piece the sandbox cannot take: what came before is there, one `RustyJson.SandboxError` follows, the source is
  closed, and the next call works.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Feed, Partial, SandboxError}
  alias RustyJson.Test.{Clock, Guest, WasmHosts}

  import RustyJson.Test.Streams, only: [pieces: 2, until_fault: 1]

  @limits [engine: :wasm, max_memory: 3 * 1_048_576, timeout: 60_000]
  # Terms that take more than that, of a text that does not.
  @long "[" <> String.duplicate("1,", 700_000) <> "1]"

  # Pieces of a stream in every form, with a value behind the long one; and whether the stream goes on there.
  @forms [
    {[format: :values], ["1 2 ", :long, " 3 4"], false},
    {[format: :lines], ["1\n2\n", :long, "\n3\n4\n"], true},
    {[format: :seq], ["\x1E1\n\x1E2\n\x1E", :long, "\n\x1E3\n\x1E4\n"], true},
    {[format: :array], ["[1,2,", :long, ",3,4]"], false},
    {[at: "/a/*"], [~s({"a":[1,2,), :long, ",3,4]}"], false},
    {[format: :array, as: :any], ["[1,2,", :long, ",3,4]"], false},
    {[format: :lines, as: :any], ["1\n2\n", :long, "\n3\n4\n"], true}
  ]

  # The pieces, and then more without an end, unless the stream goes on behind a fault. Says that it was closed. `:break` runs the function
  # first.
  defp source(pieces, on, break \\ nil) do
    parent = self()

    next = fn
      {[], number} -> if on, do: {:halt, {[], number}}, else: {[" "], {[], number + 1}}
      {[piece | rest], number} -> {[made(piece, break)], {rest, number + 1}}
    end

    Stream.resource(fn -> {pieces, 0} end, next, fn {_rest, number} -> send(parent, {:closed, number}) end)
  end

  defp made(:long, _break), do: @long
  defp made({:break, piece}, break), do: if(break.() == :ok, do: piece)
  defp made(piece, _break), do: piece

  defp short({:error, %SandboxError{reason: reason}}), do: reason
  defp short(item), do: item

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.missing(host), do: @describetag(skip: reason)
      setup %{host: host}, do: {:ok, options: [host: host] ++ @limits}

      # A module that was taken over can say that the stream stands there.
      test "behind the last line that is counted, the stream goes on", %{options: options} do
        feed = Feed.new([format: :lines, on_error: :tag] ++ options)
        last = <<0x3FFF_FFFF_FFFF_FFFE::64-little>>
        feed = %{feed | state: last <> last <> <<7, 0, 0::16, 0::32>>}

        assert {:ok, [{:error, %SandboxError{}}], feed} = Feed.push(feed, @long <> "\n")
        assert {:ok, [{:ok, 3}], _feed} = Feed.push(feed, "3\n")
      end

      test "decode_stream raises behind the values before it", %{options: options} do
        for {form, pieces, on} <- @forms do
          {items, error} = pieces |> source(on) |> RustyJson.decode_stream(form ++ options) |> until_fault()
          assert {form, items, error.__struct__, error.reason} == {form, [1, 2], SandboxError, :memory_limit}
          # Records are known to be whole when the next piece is there.
          assert_received {:closed, taken} when taken in 2..3
          assert RustyJson.decode("[1]", options) == {:ok, [1]}
        end
      end

      test "decode_stream with :tag: an item, and then the end, or the next record", %{options: options} do
        for {form, pieces, on} <- @forms do
          stream = pieces |> source(on) |> RustyJson.decode_stream([on_error: :tag] ++ form ++ options)
          items = Enum.map(stream, &short/1)
          behind = if on, do: [{:ok, 3}, {:ok, 4}], else: []
          assert {form, items} == {form, [{:ok, 1}, {:ok, 2}, :memory_limit] ++ behind}
          assert_received {:closed, _taken}
          assert RustyJson.decode("[1]", options) == {:ok, [1]}
        end
      end

      test "a piece of many values of a type", %{options: options} do
        # Each is a call of the module, and with wasmex all of them take seconds. A quarter of the time of all is more than ten times that of
        # the 512 values that have the timeout.
        text = String.duplicate("1\n", 30_000)
        feed = Feed.new([as: :integer, format: :lines] ++ options)
        {took, {:ok, _items, _feed}} = Clock.time(fn -> Feed.push(feed, text) end)
        timeout = max(div(took, 4), 200)

        for form <- [[format: :lines], [format: :values], [format: :lines, on_error: :tag]] do
          feed = Feed.new([as: :integer] ++ form ++ Keyword.put(options, :timeout, timeout))
          assert {:ok, items, _feed} = Feed.push(feed, text)
          assert length(items) == 30_000
          refute Enum.any?(items, &match?({:error, _}, &1))
        end
      end

      test "positions behind a record that was given up", %{options: options} do
        options = [on_error: :tag] ++ options

        for {format, text} <- [lines: "1\n#{@long}\n\n[x]\n", seq: "\x1E1\n\x1E#{@long}\n\n\x1E[x]\n"],
            size <- [1_000_000, byte_size(@long) + 5] do
          stream = text |> pieces(size) |> RustyJson.decode_stream([format: format] ++ options)
          assert [{:ok, 1}, {:error, %SandboxError{}}, {:error, error}] = Enum.to_list(stream)
          {at, 1} = :binary.match(text, "x")
          column = if format == :lines, do: 2, else: 3
          assert {error.position, error.line, error.column} == {at, 4, column}
        end
      end

      test "a feed and a partial document from before it go on", %{options: options} do
        {:ok, [1], feed} = Feed.push(Feed.new([format: :array] ++ options), "[1,[2")

        assert {:error, %SandboxError{reason: :memory_limit} = error, [], ended} =
                 Feed.push(feed, "," <> @long <> "],")

        assert Feed.push(ended, "]") == {:error, error, [], ended}
        assert Feed.finish(ended) == {:error, error, []}
        assert {:ok, [[2, 3]], _feed} = Feed.push(feed, ",3]]")

        {:ok, partial} = Partial.push(Partial.new(options), "[1,[2")
        assert {:ok, partial} = Partial.push(partial, ",3]]")
        assert Partial.finish(partial) == {:ok, [1, [2, 3]]}
      end

      test "encode_stream: the elements before it, the error, and the source is closed", %{options: options} do
        # Its text takes more memory than there is.
        long = List.duplicate(String.duplicate("x", 100_000), 40)

        for {format, before} <- [array: "[1,2", lines: "1\n2\n", seq: "\x1E1\n\x1E2\n"],
            flush <- [1],
            kind <- [:list, :stream] do
          elements = [1, 2, long, 3]
          given = if kind == :list, do: elements, else: counted(elements)
          stream = RustyJson.encode_stream(given, [format: format, flush: flush] ++ options)
          {texts, error} = until_fault(stream)

          assert {format, flush, kind, error.__struct__, error.reason} ==
                   {format, flush, kind, SandboxError, :memory_limit}

          assert before == IO.iodata_to_binary(texts)
          if kind == :stream, do: assert_received(:closed)
          assert RustyJson.encode([1], options) == {:ok, "[1]"}
        end

        lazy = %{rows: RustyJson.lazy(counted([1, 2, long, 3]))}
        {texts, error} = lazy |> RustyJson.encode_stream([flush: 1] ++ options) |> until_fault()
        assert {IO.iodata_to_binary(texts), error.reason} == {~s({"rows":[1,2), :memory_limit}
        assert_received :closed
      end
    end
  end

  defp counted(elements) do
    parent = self()

    Stream.resource(
      fn -> elements end,
      fn
        [] -> {:halt, []}
        [element | rest] -> {[element], rest}
      end,
      fn _rest -> send(parent, :closed) end
    )
  end

  for host <- [:built_in, :wasmex] do
    describe "#{host} with a module that misbehaves" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      @tag :heavy
      test "a trap or an endless loop at the third piece", %{host: host} do
        for {fault, reasons} <- [trap: [:trap], loop: [:timeout, :busy]],
            {form, pieces, on} <- @forms,
            tag <- [:raise, :tag] do
          guest = Guest.wasm(fault: Guest.fault(fault))
          [first, :long, last] = pieces

          options = [
            host: host,
            engine: :wasm,
            timeout: if(fault == :loop, do: 200, else: 10_000),
            on_error: tag
          ]

          broken = fn -> WasmHosts.replace(host, guest) end

          {items, error} =
            WasmHosts.with_guest(host, guest, fn ->
              :ok = WasmHosts.replace(host, nil)

              [first, "[5]", {:break, last}]
              |> source(on, broken)
              |> RustyJson.decode_stream(form ++ options)
              |> until_fault()
            end)

          values = if(tag == :tag, do: [{:ok, 1}, {:ok, 2}], else: [1, 2])
          assert List.starts_with?(items, values), inspect({fault, form, tag, items})
          faults = if tag == :tag, do: for({:error, error} <- items, do: error), else: [error]
          assert [_ | _] = faults
          for error <- faults, do: assert(is_struct(error, SandboxError) and error.reason in reasons)
          if not on, do: assert(length(faults) == 1)
          assert_received {:closed, _taken}
          assert RustyJson.decode("[1]", host: host, engine: :wasm) == {:ok, [1]}
        end
      end
    end
  end

  for {host, reason} <- [{:built_in, WasmHosts.missing(:built_in)}] do
    @tag skip: reason
    test "#{host}: a slow function for keys does not use up the time of a piece" do
      slow = fn key ->
        Process.sleep(120)
        key
      end

      feed = Feed.new(engine: :wasm, host: unquote(host), format: :lines, timeout: 100, keys: slow)
      {:ok, [], feed} = Feed.push(feed, ~s({"a":1}))
      assert {:ok, [%{"a" => 1}, %{"b" => 2}], _feed} = Feed.push(feed, ~s(\n{"b":2}\n))
    end
  end
end
