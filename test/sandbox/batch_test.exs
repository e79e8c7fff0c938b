defmodule RustyJson.Sandbox.BatchTest do
  @moduledoc """
  Many documents in one crossing, some of them hostile: only the hostile ones fail, at any position and in any number. The host
  rejects false results for a batch.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Options, SandboxError}
  alias RustyJson.Test.{Guest, WasmHosts}
  alias RustyJson.Wasm.Host

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @moduletag timeout: 600_000
  @options [engine: :wasm, timeout: 60_000, max_memory: 4 * 1_048_576]
  # Microseconds, with room for a busy machine.
  @slack 1_500_000
  @modules [built_in: Host.BuiltIn, wasmex: Host.Wasmex]

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host}, do: {:ok, options: [host: host] ++ @options}

      test "a hostile document at each place, and at several", %{host: host, options: options} do
        for {fault, reason} <- [
              {Guest.fault(:trap), :trap},
              {Guest.fault(:grow), :memory_limit},
              {"(i64.const 0)", :memory_limit},
              {"(i64.const #{Guest.record(5, 0)})", :invalid_result},
              {"(i64.const #{Guest.record(0x7FFF_FFFF, 9)})", :invalid_result}
            ] do
          with_guest(host, Guest.wasm(fault: fault), fn ->
            for guilty <- Enum.map(0..9, &[&1]) ++ [[0, 9], [4, 5], [1, 3, 8], Enum.to_list(0..9)] do
              assert_only(guilty, 10, reason, options)
            end
          end)
        end
      end

      test "a document without end is found, and the others are done in time", %{host: host, options: options} do
        with_guest(host, Guest.wasm(fault: Guest.fault(:loop)), fn ->
          # wasmex can be a second late to stop a module.
          timeout = if host == :wasmex, do: 2_000, else: 600
          options = Keyword.put(options, :timeout, timeout)

          for guilty <- [[0], [37], [12, 99]] do
            {micros, _} = :timer.tc(fn -> assert_only(guilty, 100, :timeout, options) end)
            assert micros < 2_000 * timeout + @slack
          end
        end)
      end

      test "documents without end alone use up the time, not more", %{host: host, options: options} do
        with_guest(host, Guest.wasm(fault: Guest.fault(:loop), always: true), fn ->
          options = Keyword.put(options, :timeout, 300)
          documents = for _ <- 1..50, do: "1"
          {micros, results} = :timer.tc(fn -> RustyJson.decode_many(documents, options) end)
          assert length(results) == 50

          reasons = for {:error, %SandboxError{reason: reason}} <- results, do: reason
          assert length(reasons) == 50
          assert Enum.uniq(reasons) -- [:timeout, :busy] == []

          assert micros < 600_000 + @slack
        end)
      end

      test "with isolation: :fresh each document crosses alone", %{host: host, options: options} do
        with_guest(host, Guest.wasm(many: "(unreachable)", fault: Guest.fault(:trap)), fn ->
          assert_only([2], 5, :trap, [isolation: :fresh] ++ options)
        end)
      end

      test "lies about a batch are refused", %{host: host, options: options} do
        packed = Options.decode(options)
        # "1", "22" and "333".
        body = <<3::32-little, 1::32-little, 2::32-little, 3::32-little, "122333">>

        for {lie, record} <- lies() do
          with_guest(
            host,
            Guest.wasm(data: record, many: Guest.answer()),
            fn ->
              answer = @modules[host].run(:many, body, packed.bytes, packed)
              assert match?({:fault, :invalid_result, _}, answer), "#{lie}: #{inspect(answer)}"

              # Now the first document crosses alone. An answer that is false for three documents can be valid for two.
              assert [{:ok, nil}, {:ok, _}, {:ok, _}] = RustyJson.decode_many(["1", "22", "333"], options)
            end
          )
        end
      end

      test "an honest answer about a batch is taken, with its failures", %{host: host, options: options} do
        record = record(list([<<97, 7>>, <<97, 9>>]), [failure(1, 2, 0, 1, 1, "/a")])

        with_guest(
          host,
          Guest.wasm(data: record, many: Guest.answer()),
          fn ->
            assert [{:ok, 7}, {:error, error}, {:ok, 9}] = RustyJson.decode_many(["1", "22", "333"], options)
            assert {error.position, error.path, error.data} == {0, "/a", "22"}
          end
        )
      end

      test "a key twice in a map fails for its document only", %{host: host, options: options} do
        twice = <<116, 2::32, 109, 1::32, "a", 97, 1, 109, 1::32, "a", 97, 2>>
        record = record(list([twice, <<97, 9>>]), [])
        long = String.duplicate("1", 40)

        with_guest(
          host,
          Guest.wasm(
            data: <<1, 131, twice::binary>>,
            extra: data(record),
            many: "(i64.const #{Guest.record(50_000, byte_size(record))})"
          ),
          fn ->
            assert [{:error, %SandboxError{reason: :invalid_result}}, {:ok, nil}] =
                     RustyJson.decode_many(["!" <> long, long], options)
          end
        )
      end

      test "no instance becomes free: all documents say so", %{host: host, options: options} do
        # In the built-in host only long documents wait.
        documents =
          if host == :built_in, do: List.duplicate(String.duplicate(" ", 70_000) <> "1", 2), else: ["1", "2"]

        with_guest(host, Guest.wasm(fault: Guest.fault(:loop), memory: 4), fn ->
          options = Keyword.put(options, :pool_size, 1)
          held = Task.async(fn -> RustyJson.decode("!", Keyword.put(options, :timeout, 2_000)) end)
          wait_until(fn -> WasmHosts.counts(host)[:running] == 1 end)

          assert [{:error, %SandboxError{reason: :busy}}, {:error, %SandboxError{reason: :busy}}] =
                   RustyJson.decode_many(documents, Keyword.put(options, :timeout, 50))

          assert {:error, %SandboxError{reason: :timeout}} = Task.await(held, 60_000)
        end)
      end
    end
  end

  defp wait_until(fun) do
    unless fun.() do
      Process.sleep(5)
      wait_until(fun)
    end
  end

  defp assert_only(guilty, count, reason, options) do
    documents = for i <- 0..(count - 1), do: if(i in guilty, do: "!", else: "#{i}")
    results = RustyJson.decode_many(documents, options)
    assert length(results) == count

    for {result, i} <- Enum.with_index(results) do
      if i in guilty,
        do: assert({:error, %SandboxError{reason: ^reason}} = result),
        else: assert(result == {:ok, nil}, "document #{i} with #{inspect(guilty)}: #{inspect(result)}")
    end
  end

  defp list([]), do: <<131, 106>>
  defp list(terms), do: <<131, 108, length(terms)::32, IO.iodata_to_binary(terms)::binary, 106>>

  defp failure(number, code, offset, line, column, path) do
    body = <<code, offset::64-little, line::64-little, column::64-little, path::binary>>
    <<number::32-little, byte_size(body)::32-little, body::binary>>
  end

  defp record(list, failures),
    do: <<1, list::binary, IO.iodata_to_binary(failures)::binary, byte_size(list)::32-little>>

  defp data(bytes) do
    escaped = for <<byte <- bytes>>, into: "", do: "\\" <> Base.encode16(<<byte>>, case: :lower)
    ~s[(data (i32.const 50000) "#{escaped}")]
  end

  # If the host believed any of these, the result would be 42.
  defp lies do
    lie = <<97, 42>>
    three = list([lie, lie, lie])
    two = list([lie, lie])

    [
      {"an unknown status", <<7, three::binary, byte_size(three)::32-little>>},
      {"a failed call", <<0, three::binary, byte_size(three)::32-little>>},
      {"no list", <<1>>},
      {"a list longer than the record", <<1, three::binary, 0xFFFF::32-little>>},
      {"a length beyond all", <<1, three::binary, 0xFFFF_FFFF::32-little>>},
      {"bytes behind the list", record(<<three::binary, 0>>, [])},
      {"fewer terms than documents", record(two, [])},
      {"no terms", record(list([]), [])},
      {"more terms than documents", record(list([lie, lie, lie, lie]), [])},
      {"a count beyond the list",
       record(<<131, 108, 0xFFFF_FFFF::32, lie::binary, lie::binary, lie::binary, 106>>, [])},
      {"a scalar for a list", record(<<131, 97, 42>>, [])},
      {"an improper list", record(<<131, 108, 3::32, lie::binary, lie::binary, lie::binary, 97, 1>>, [])},
      {"no version byte", record(binary_part(three, 1, byte_size(three) - 1), [])},
      {"a pid", record(list([lie, lie, binary_part(:erlang.term_to_binary(self()), 1, 8)]), [])},
      {"an atom", record(list([lie, lie, <<119, 2, "ok">>]), [])},
      {"more values than the document has bytes, though not than all of them",
       record(list([<<108, 2::32, lie::binary, lie::binary, 106>>, lie, lie]), [])},
      {"more bytes than the document can have", record(list([<<109, 100::32, 0::800>>, lie, lie]), [])},
      {"a failure of a document that is not there", record(two, [failure(3, 2, 0, 1, 1, "")])},
      {"a failure of a document far away", record(two, [failure(0xFFFF_FFFF, 2, 0, 1, 1, "")])},
      {"two failures of a document",
       record(list([lie]), [failure(1, 2, 0, 1, 1, ""), failure(1, 2, 0, 1, 1, "")])},
      {"failures that do not ascend",
       record(list([lie]), [failure(2, 2, 0, 1, 1, ""), failure(1, 2, 0, 1, 1, "")])},
      {"a failure beside a term for the same document", record(three, [failure(1, 2, 0, 1, 1, "")])},
      {"an unknown error", record(two, [failure(1, 200, 0, 1, 1, "")])},
      {"an error beyond its document, though not beyond all", record(two, [failure(1, 2, 3, 1, 1, "")])},
      {"a line beyond its document", record(two, [failure(1, 2, 0, 4, 1, "")])},
      {"a path longer than any of its document",
       record(two, [failure(1, 2, 0, 1, 1, String.duplicate("/", 25))])},
      {"a path that is no text", record(two, [failure(1, 2, 0, 1, 1, <<255>>)])},
      {"a failure cut short", record(two, [<<1::32-little, 100::32-little, 2>>])},
      {"a failure without a length", record(two, [<<1::32-little>>])}
    ]
  end
end
