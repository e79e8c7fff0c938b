defmodule RustyJson.Sandbox.FeedLiesTest do
  @moduledoc "A guest that returns false results for a piece of a stream: the host rejects results that no honest guest returns."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Feed, Partial, SandboxError}
  alias RustyJson.Decode.Atoms
  alias RustyJson.Test.{Guest, WasmHosts}
  alias RustyJson.Wasm.Fed

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * 1_048_576]
  # The input: eight bytes of elements.
  @piece "[1,2,3,4"
  @empty <<131, 106>>
  @one <<131, 108, 1::32, 97, 1, 106>>
  @two <<131, 108, 2::32, 97, 1, 97, 1, 106>>

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host}, do: {:ok, options: [host: host] ++ @options}

      test "an honest answer is taken", %{host: host, options: options} do
        with_guest(host, Guest.wasm(data: record(@one, answer(8, "", <<0>>))), fn ->
          assert {:ok, [1], _feed} = Feed.push(Feed.new([format: :array] ++ options), @piece)
        end)
      end

      test "lies", %{host: host, options: options} do
        for {lie, record} <- lies() do
          with_guest(host, Guest.wasm(data: record), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}, [], _feed} =
                     Feed.push(Feed.new([format: :array] ++ options), @piece),
                   lie
          end)
        end
      end

      # It would come back to the library with the next piece. In wasmex only the guest reads it.
      if host == :built_in do
        test "a state that is none", %{host: host, options: options} do
          with_guest(host, Guest.wasm(data: record(@one, answer(8, "state", <<0>>))), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}, [], feed} =
                     Feed.push(Feed.new([format: :array] ++ options), @piece)

            assert {:error, %SandboxError{reason: :invalid_result}, [], _feed} = Feed.push(feed, @piece)
          end)
        end
      end

      test "pointers that are missing", %{host: host, options: options} do
        for list <- [@one, <<131, 108, 2::32, 97, 1, 97, 2, 106>>] do
          with_guest(host, Guest.wasm(data: record(list, answer(8, "", <<0>>))), fn ->
            feed = Feed.new([at: "/*", with_pointer: true] ++ options)
            assert {:error, %SandboxError{reason: :invalid_result}, [], _feed} = Feed.push(feed, @piece)
          end)
        end
      end

      # Eight bytes have four lines and one key at most. Before a row exists, its cells are counted.
      test "more rows or keys than the piece can have", %{host: host, options: options} do
        long = List.duplicate("/a", 4_104)
        object = Map.new(1..2, &{"#{&1}", &1})

        for {values, select, taken} <- [
              {List.duplicate([], 4), ["/a"], true},
              {List.duplicate([], 5), ["/a"], false},
              {List.duplicate([], 2), long, true},
              {List.duplicate([], 3), long, false},
              {[[0, Map.delete(object, "2")]], ["/a"], true},
              {[[0, object]], ["/a"], false},
              {List.duplicate(1_000, 4), nil, true},
              {List.duplicate(1_000, 5), nil, false},
              {[object], nil, false}
            ] do
          list = :erlang.term_to_binary(values)

          with_guest(host, Guest.wasm(data: record(list, answer(8, "", <<0>>)), always: true), fn ->
            select = if select, do: [select: select], else: []
            answer = Feed.push(Feed.new([format: :lines] ++ select ++ options), "1\n2\n3\n4\n")

            if taken do
              assert {:ok, items, _feed} = answer
              assert length(items) == length(values)
            else
              assert {:error, %SandboxError{reason: :invalid_result}, [], _feed} = answer
            end
          end)
        end
      end

      # The bytes that an answer leaves come again, and are answered again.
      test "events of bytes that are kept", %{host: host, options: options} do
        for {events, kept, taken} <- [
              {[9, 1_200], 0, true},
              {[0 | List.flatten(List.duplicate([5, 1_000], 50))], 0, false},
              {[7, String.duplicate("x", 2_000)], 0, false},
              {[0 | List.flatten(List.duplicate([5, 1_000], 50))], 100, true}
            ] do
          guest = Guest.wasm(data: record(:erlang.term_to_binary(events), answer(kept, "", <<0>>)))

          with_guest(host, guest, fn ->
            answer = Partial.push(Partial.new(options), String.duplicate("1", 400))

            if taken,
              do: assert({:ok, _partial} = answer),
              else: assert({:error, %SandboxError{reason: :invalid_result}} = answer)
          end)
        end
      end

      test "places of values that are none", %{host: host, options: options} do
        # The other lies about places are below: a guest takes its time to compile.
        for answer <- [[1], [[0, 9, ""]]] do
          list = :erlang.term_to_binary(answer)

          with_guest(host, Guest.wasm(data: record(list, answer(8, "", <<0>>)), always: true), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}, [], _feed} =
                     Feed.push(Feed.new([format: :array, as: :integer] ++ options), @piece),
                   inspect(answer)
          end)
        end
      end

      test "a state without a line does not stop a limit", %{host: host, options: options} do
        with_guest(host, Guest.wasm(data: record(@one, answer(8, "", <<0>>))), fn ->
          feed = Feed.new([format: :array, max_total_bytes: 8] ++ options)
          assert {:error, %{reason: :max_total_bytes, line: 1}, [1], _feed} = Feed.push(feed, @piece <> ",")
        end)
      end

      test "a trap in the middle: what was there stays good, and nothing is held", %{
        host: host,
        options: options
      } do
        {:ok, [1], feed} = Feed.push(Feed.new([format: :array] ++ options), "[1,[2")
        {:ok, partial} = Partial.push(Partial.new(options), ~s({"a":[1,"x))
        lines = Feed.new([format: :lines, on_error: :tag] ++ options)
        {:ok, [{:ok, 1}], lines} = Feed.push(lines, "1\n[2,")

        with_guest(host, Guest.wasm(fault: Guest.fault(:trap)), fn ->
          assert {:error, %SandboxError{reason: :trap} = error, [], ended} = Feed.push(feed, ",3],4]")
          assert Feed.push(ended, ",") == {:error, error, [], ended}
          assert {:error, %SandboxError{reason: :trap}} = Partial.push(partial, "y")
          assert {:error, %SandboxError{reason: :trap}} = Partial.finish(partial)
          assert {:error, %SandboxError{reason: :trap}} = Partial.push_changes(partial, "y")

          stream = Stream.map(["1\n", "2\n"], & &1) |> RustyJson.decode_stream([format: :lines] ++ options)
          assert_raise SandboxError, fn -> Enum.to_list(stream) end
          # Of lines only the guilty one is given up.
          assert {:ok, [{:error, %SandboxError{}}], lines} = Feed.push(lines, "3]\n")
          send(self(), {:lines, lines})
        end)

        assert_received {:lines, lines}
        assert Feed.push(lines, "4\n") |> elem(1) == [{:ok, 4}]
        assert {:ok, [[2, 3], 4], feed} = Feed.push(feed, ",3],4]")
        assert Feed.finish(feed) == {:ok, []}
        assert {:ok, partial} = Partial.push(partial, ~s(y"]}))
        assert Partial.finish(partial) == {:ok, %{"a" => [1, "xy"]}}
        assert RustyJson.stats()[host].running == 0
      end

      test "a piece without end is over at its deadline, and lines go on", %{host: host, options: options} do
        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          options = Keyword.put(options, :timeout, 50)
          # A short timeout can expire before a scheduler is free.
          late = [:timeout, :busy]
          assert {:error, %SandboxError{reason: pushed}, [], feed} = Feed.push(Feed.new(options), "1 2")
          assert {:error, %SandboxError{reason: finished}, []} = Feed.finish(feed)
          assert pushed in late and finished in late

          lines = Feed.new([format: :lines, on_error: :tag] ++ options)
          assert {:ok, [{:error, _}, {:error, _}], feed} = Feed.push(lines, "1\n2\n")
          assert {:ok, [], _feed} = Feed.push(feed, "")
        end)
      end
    end
  end

  # No host needed: whatever says where the values are.
  test "places that nobody asked for are never decoded" do
    feed = Feed.new(format: :array, as: :integer, engine: :native)

    for lie <- [
          1,
          nil,
          [1, 1],
          [1, 1, 1],
          ["1", 1, ""],
          [0, 9, ""],
          [1, 0, ""],
          [-1, 1, ""],
          [1, -1, ""],
          [8, 1, ""]
        ] do
      assert {%Feed{ended: %SandboxError{reason: :invalid_result}}, [7]} =
               Feed.Typed.items([[1, 1, ""], lie], "[7,2,3,4", feed, {1, 1}),
             inspect(lie)
    end

    # Places ascend.
    assert {%Feed{ended: %SandboxError{}}, [3]} =
             Feed.Typed.items([[5, 1, ""], [3, 1, ""]], "[1,2,3,4", feed, {1, 1})

    assert {%Feed{ended: %{path: "", line: 1}}, []} = Feed.Typed.items([[0, 1, <<255>>]], "[", feed, {1, 1})
  end

  # The same in wasmex, which reads answers in Elixir.
  test "what is read in Elixir is held to the bytes that do not come again" do
    read = fn opts, count, kept, rest ->
      feed = Feed.new(opts)
      question = Fed.question({0, 0, false, Atoms.unasked(), feed.plan.packed, ""})
      list = if count == 0, do: @empty, else: <<131, 108, count::32>>
      <<1, body::binary>> = record(list, answer(kept, "", rest))
      answer = Fed.open(body, question, byte_size(@piece), 128)
      if answer == :broken, do: :broken, else: Fed.policy(question, byte_size(@piece), answer, feed.options)
    end

    for {opts, count, kept, taken} <- [
          {[format: :array], 4, 8, true},
          {[format: :array], 5, 8, false},
          {[format: :array], 1, 0, false},
          {[format: :array], 1, 2, true},
          {[format: :array], 2, 2, false},
          {[at: "/*", with_pointer: true], 2, 2, true},
          {[at: "/*", with_pointer: true], 3, 2, false},
          {[format: :values], 6, 8, true},
          {[format: :values], 7, 8, false}
        ] do
      assert {opts, count, kept, read.(opts, count, kept, <<0>>) != :broken} == {opts, count, kept, taken}
    end

    assert {%{values: %{max_keys: 0}}, 20} = read.([format: :array], 1, 2, <<0>>)
    assert {%{values: %{max_keys: 1}}, 32} = read.([format: :array], 1, 8, <<0>>)
    # The stream ends, so all of the piece may be in values.
    assert {%{values: %{max_keys: 1}}, 32} = read.([format: :array], 4, 0, wrong(2, 0, 1, 1, 0, 8, ""))
    assert read.([format: :lines], 1, 0, wrong(2, 0, 1, 1, 0, 8, "")) == :broken
    assert read.([format: :lines], 0, 1, wrong(2, 0, 1, 1, 0, 8, String.duplicate("/", 20))) != :broken
    assert read.([format: :lines], 0, 1, wrong(2, 0, 1, 1, 0, 8, String.duplicate("/", 21))) == :broken
    assert read.([format: :array], 0, 0, wrong(2, 4, 1, 1, 0, 4, "")) != :broken
    assert read.([format: :array], 0, 0, wrong(2, 5, 1, 1, 0, 4, "")) == :broken
  end

  defp lies do
    wrong = &wrong/7

    [
      {"no answer", <<1>>},
      {"no list", <<1, "abc", 0::32>>},
      {"a list longer than the record", <<1, @empty::binary, 0xFFFF::32-little>>},
      {"kept beyond the piece", record(@empty, answer(9, "", <<0>>))},
      {"a state longer than any", record(@empty, answer(8, String.duplicate("s", 5_000), <<0>>))},
      {"a state longer than the record", record(@empty, <<8::32-little, 0xFFFF::32-little, "x">>)},
      {"an unknown end", record(@empty, answer(8, "", <<9>>))},
      {"again without progress", record(@empty, answer(0, "", <<1>>))},
      {"join of nothing", record(@empty, answer(0, "", <<2>>))},
      {"bytes behind the answer", record(@empty, answer(8, "", <<0, 0>>))},
      {"a scalar for a list", record(<<131, 97, 1>>, answer(8, "", <<0>>))},
      {"a pid", record(:erlang.term_to_binary([self()]), answer(8, "", <<0>>))},
      {"a value of bytes that come again", record(@one, answer(0, "", <<0>>))},
      {"more values than the bytes that do not", record(@two, answer(2, "", <<0>>))},
      {"a value longer than the bytes that do not",
       record(<<131, 108, 1::32, 109, 100::32, 0::800, 106>>, answer(1, "", <<0>>))},
      {"again without a reason", record(@one, answer(2, "", <<1>>))},
      {"again behind a mark that is none", record(@empty, answer(3, "", <<1>>))},
      {"an error behind its value", record(@empty, answer(0, "", wrong.(2, 8, 1, 1, 0, 4, "")))},
      {"more values than bytes",
       record(<<131, 108, 400::32, String.duplicate(<<97, 1>>, 400)::binary, 106>>, answer(8, "", <<0>>))},
      {"an unknown error", record(@empty, answer(0, "", wrong.(200, 0, 1, 1, 0, 0, "")))},
      {"an error beyond the piece", record(@empty, answer(0, "", wrong.(2, 9, 1, 1, 0, 0, "")))},
      {"an error before the stream", record(@empty, answer(0, "", wrong.(2, -1, 1, 1, 0, 0, "")))},
      {"line 0", record(@empty, answer(0, "", wrong.(2, 0, 0, 1, 0, 0, "")))},
      {"column 1,000", record(@empty, answer(0, "", wrong.(2, 0, 1, 1_000, 0, 0, "")))},
      {"a value beyond the piece", record(@empty, answer(0, "", wrong.(2, 0, 1, 1, 0, 9, "")))},
      {"a value that ends before it starts", record(@empty, answer(0, "", wrong.(2, 5, 1, 1, 5, 4, "")))},
      {"a path that is no text", record(@empty, answer(0, "", wrong.(2, 0, 1, 1, 0, 0, <<255>>)))},
      {"a path longer than any",
       record(@empty, answer(0, "", wrong.(2, 0, 1, 1, 0, 0, String.duplicate("/", 20_000))))}
    ]
  end

  defp wrong(code, offset, line, column, start, stop, path) do
    <<3, code, offset::64-little-signed, line::64-little, column::64-little, start::32-little,
      stop::32-little, byte_size(path)::32-little, path::binary>>
  end

  defp answer(kept, state, rest),
    do: <<kept::32-little, byte_size(state)::32-little, state::binary, rest::binary>>

  defp record(list, answer), do: <<1, list::binary, answer::binary, byte_size(list)::32-little>>
end
