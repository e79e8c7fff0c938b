defmodule RustyJson.Sandbox.FeedCallsTest do
  @moduledoc "What Elixir makes of the answers of a guest about a piece of a stream: all that an honest one may say, and when a call for the rest is made."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{DecodeError, Feed, Partial, SandboxError}
  alias RustyJson.Wasm.Fed

  # Answers as an honest module does, and reads that in Elixir as wasmex does.
  defmodule Honest do
    import ExUnit.Assertions

    alias RustyJson.Wasm.{Fed, Judge}

    def feed(question, piece, %{values: %{max_depth: max_depth}} = options) do
      {values, kept, state, reason} = answer = RustyJson.Engine.Native.feed(question, piece, options)
      question = Fed.question(question)
      body = body(values, kept, state, reason)
      assert {list, ^kept, ^state, ^reason} = fed = Fed.open(body, question, byte_size(piece), max_depth)
      {list_options, length} = Fed.policy(question, byte_size(piece), fed, options)
      assert Judge.term(list, list_options, length, :infinity) == {:ok, values}
      assert Fed.record?(byte_size(body) + 1, question, byte_size(piece), options.values)
      answer
    end

    defp body(values, kept, state, reason) do
      list = external(values)

      IO.iodata_to_binary([
        list,
        <<kept::32-little, byte_size(state)::32-little>>,
        state,
        reason(reason),
        <<byte_size(list)::32-little>>
      ])
    end

    # The VM has a shorter form of lists of small integers, which the module does not use. Since OTP 26 the fields of a struct have
    # the order of their names, as from the module, only where it is asked for.
    defp external([]), do: <<131, 106>>

    defp external(values) do
      elements =
        for value <- values,
            <<131, element::binary>> = :erlang.term_to_binary(value, [:deterministic, minor_version: 2]),
            do: element

      IO.iodata_to_binary([<<131, 108, length(values)::32>>, elements, 106])
    end

    defp reason(:more), do: <<0>>
    defp reason(:again), do: <<1>>
    defp reason(:join), do: <<2>>

    defp reason({code, offset, line, column, path, start, stop}),
      do:
        <<3, code, offset::64-little-signed, line::64-little, column::64-little, start::32-little,
          stop::32-little, byte_size(path)::32-little, path::binary>>
  end

  test "what is read in Elixir may be all that an honest module answers" do
    records = ~s(1\n{"a":{"b":null}}\n\n""\n[x]\n1e400\n"\u00e9"\n12)
    elements = ~s([1,"",{"":{}},1.5,"a\\nb",true,12345678901234567890,{"a":"y","b":"\u00e9"},-1]  )

    for {opts, text} <- [
          {[], ~s(1{}1{}""{"":1} 2 )},
          {[], "\uFEFF1 2"},
          {[format: :lines, on_error: :tag], records},
          {[format: :seq, on_error: :tag], "x\x1E" <> String.replace(records, "\n", "\n\x1E")},
          {[format: :array], elements},
          {[format: :array, as: :raw], elements},
          {[at: "/*", with_pointer: true], elements},
          {[at: "/*", select: ["/a", "/b"]], elements},
          {[format: :array], "[1,2,x]"},
          {[at: "/a/*"], ~s({"b":[{"a":1}],"a":["x",)}
        ],
        size <- [1, 2, 3, 7, 1_000] do
      %{options: options} = feed = Feed.new([engine: :wasm] ++ opts)
      given = pushed(%{feed | options: %{options | engine: Honest}}, text, size)
      assert given == pushed(feed, text, size)
    end

    for opts <- [[], [as: :any], [trailing: :drop], [duplicate_keys: :error], [objects: :ordered_objects]],
        text <- [
          elements,
          ~s({"a":{"b":"cd","c":12.5e3},"d":"\\u00e9"}),
          "[1,2,x]",
          String.duplicate("1", 600)
        ],
        size <- [1, 2, 3, 7, 1_000] do
      partial = Partial.new([engine: :wasm] ++ opts)
      partial = %{partial | uncounted: %{partial.uncounted | engine: Honest}}

      Enum.reduce_while(chunks(text, size), partial, fn piece, partial ->
        case Partial.push(partial, piece) do
          {:ok, partial} -> {:cont, partial}
          {:error, %DecodeError{}} -> {:halt, nil}
        end
      end)
    end
  end

  defp pushed(feed, text, size) do
    {items, feed} =
      Enum.flat_map_reduce(chunks(text, size), feed, fn piece, feed ->
        case Feed.push(feed, piece) do
          {:ok, items, feed} -> {items, feed}
          {:error, error, items, feed} -> {items ++ [error], feed}
        end
      end)

    {items, Feed.finish(feed)}
  end

  defp chunks("", _size), do: []
  defp chunks(text, size) when byte_size(text) <= size, do: [text]

  defp chunks(text, size) do
    {chunk, rest} = :erlang.split_binary(text, size)
    [chunk | chunks(rest, size)]
  end

  # Answers whatever the test says, as a module that was taken over.
  defmodule Fallen do
    def feed(question, piece, options) do
      send(self(), {:deadline, options.sandbox[:deadline]})
      Process.get(:answer).(question, piece)
    end
  end

  defp fallen(opts, answer) do
    Process.put(:answer, answer)
    %{options: options} = feed = Feed.new([engine: :wasm] ++ opts)
    %{feed | options: %{options | engine: Fallen}}
  end

  defp deadlines do
    receive do
      {:deadline, deadline} -> [deadline | deadlines()]
    after
      0 -> []
    end
  end

  test "all calls for a piece share a deadline" do
    state = Feed.State.outside(1, 1, :between)
    wrong = fn _question, _piece -> {[], 1, state, {2, 0, 1, 1, "", 0, 1}} end
    feed = fallen([format: :lines, on_error: :tag], wrong)
    assert {:ok, [_ | _], feed} = Feed.push(feed, "x\nx\nx\n")
    assert [deadline | others] = deadlines()
    assert length(others) == 5 and Enum.uniq([deadline | others]) == [deadline]
    Process.sleep(5)
    assert {:ok, _items, feed} = Feed.push(feed, "x\n")
    assert hd(deadlines()) > deadline
    refute is_map_key(feed.options.sandbox, :deadline)
  end

  test "a piece is left for another call only with a reason" do
    invalid = fn feed, piece ->
      assert {:error, %SandboxError{reason: :invalid_result}, [], _} = Feed.push(feed, piece)
    end

    invalid.(fallen([format: :array], fn _, _ -> {[1], 1, "", :again} end), "[1,2]")
    invalid.(fallen([], fn _, _ -> {[], 3, "", :again} end), "1 2 3")

    # Each value behind a pointer of this length, as if that were enough for a call.
    pointers = fn size ->
      fn
        _question, "3" -> {[String.duplicate("x", size), 3], 1, "", :more}
        _question, _piece -> {[String.duplicate("x", size), 1], 2, "", :again}
      end
    end

    invalid.(fallen([at: "/*", with_pointer: true], pointers.(65_538)), "1,2")

    assert {:ok, [{_, 1}, {_, 3}], _feed} =
             fallen([at: "/*", with_pointer: true], pointers.(65_539)) |> Feed.push("1,3")
  end

  test "an error of a partial document may lie before its value, and before the piece" do
    for offset <- [-2, -1, 0, 3, 4, 8], opts <- [[], [lenient: [:prose, :trailing_commas]], [as: :any]] do
      Process.put(:answer, fn _question, piece -> {[], byte_size(piece), "", :more} end)
      partial = Partial.new([engine: :wasm] ++ opts)
      partial = %{partial | uncounted: %{partial.uncounted | engine: Fallen}}
      assert {:ok, partial} = Partial.push(partial, "[1,")

      Process.put(:answer, fn _question, piece ->
        size = byte_size(piece)
        {[], 0, "", {2, min(offset, size), 1, 1, "", min(4, size), size}}
      end)

      assert {:error, %DecodeError{} = error} = Partial.push(partial, "12345678")
      assert error.position in 0..11
      assert is_binary(DecodeError.explain(error))
    end
  end

  test "no more waits than a value may have, or the sandbox can take" do
    more = fn _question, _piece -> {[], 0, "", :more} end

    for {opts, reason} <- [{[max_bytes: 8], :invalid_result}, {[max_memory: 131_072], :memory_limit}] do
      feed = fallen(opts, more)
      most = opts[:max_bytes] || opts[:max_memory]
      half = String.duplicate("1", div(most, 2))
      assert {:ok, [], feed} = Feed.push(feed, half)
      assert {:ok, [], feed} = Feed.push(feed, half)
      assert {:error, %SandboxError{reason: ^reason}, [], _feed} = Feed.push(feed, "1")
    end

    # Nobody asks the module before such a record ends.
    feed =
      fallen([format: :lines, max_memory: 131_072], fn _, _ ->
        {:error, SandboxError.new(:memory_limit, "")}
      end)

    feed = %{feed | pending: String.duplicate("1", 131_072)}
    assert {:error, %SandboxError{reason: :memory_limit}, [], _feed} = Feed.push(feed, "1")
  end
end
