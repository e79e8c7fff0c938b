defmodule RustyJson.SandboxTest do
  @moduledoc "The wall around the wasm engine: limits, faults, and a guest that lies. In every host that is there."

  use ExUnit.Case, async: false

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Judge, WasmModule}

  @moduletag timeout: 300_000

  @hosts [wasmtime: RustyJson.Wasm.Host.Wasmtime, wasmex: RustyJson.Wasm.Host.Wasmex]

  # Machines that run tests are slow at times.
  @slack 1_500

  if Keyword.take(Judge.engines(), [:wasmtime, :wasmex]) == [] do
    @tag skip: "no host runs WebAssembly here: #{inspect(Judge.missing())}"
    test "the sandbox", do: :ok
  end

  for {name, options} <- Judge.engines(), name != :native do
    describe "#{name}, the real guest" do
      @describetag options: options

      test "a deadline that is too short is a SandboxError, in time, and the next call works", %{
        options: options
      } do
        text = "[" <> String.duplicate("1.25e3,", 3_000_000) <> "1]"
        {micros, outcome} = :timer.tc(fn -> RustyJson.decode(text, [timeout: 1] ++ options) end)
        assert {:error, %SandboxError{reason: reason} = error} = outcome
        assert reason in [:timeout, :busy]
        assert Exception.message(error) =~ "1 ms"
        assert micros < 2_000 + @slack * 1000
        works(options)
      end

      test "a document that needs more memory than the cap is a SandboxError", %{options: options} do
        text = "\"" <> String.duplicate("a", 4_000_000) <> "\""

        assert {:error, %SandboxError{reason: :memory_limit}} =
                 RustyJson.decode(text, [max_memory: 3_000_000] ++ options)

        assert {:ok, _} = RustyJson.decode(text, [max_memory: 100_000_000] ++ options)
        works(options)
      end

      test "a document that makes the guest grow beyond the cap is a SandboxError", %{options: options} do
        text = "[" <> String.duplicate("{\"a\":[", 100_000)
        options = [max_memory: 2_000_000, max_depth: :infinity] ++ options
        assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.decode(text, options)
        works(options)
      end

      test "encode has the same limits", %{options: options} do
        term = List.duplicate(1.5, 2_000_000)
        assert {:error, %SandboxError{reason: reason}} = RustyJson.encode(term, [timeout: 1] ++ options)
        assert reason in [:timeout, :busy]

        assert {:error, %SandboxError{reason: :memory_limit}} =
                 RustyJson.encode(term, [max_memory: 2_000_000] ++ options)

        works(options)
      end

      test "the bang functions raise them", %{options: options} do
        options = [max_memory: 1_200_000] ++ options

        assert_raise SandboxError, fn ->
          RustyJson.decode!(String.duplicate(" ", 5_000_000) <> "1", options)
        end

        assert_raise SandboxError, fn -> RustyJson.encode!(String.duplicate("a", 5_000_000), options) end
      end

      test "isolation: :fresh answers the same", %{options: options} do
        for text <- ["[1]", "[1,", "\"\xFF\"", "{\"a\":1,\"a\":2}"] do
          assert RustyJson.decode(text, [isolation: :fresh] ++ options) == RustyJson.decode(text, options)
        end
      end

      test "more callers than instances are served in turn", %{options: options} do
        options = [pool_size: 2] ++ options
        text = "[" <> String.duplicate("1,", 20_000) <> "1]"
        tasks = for _ <- 1..50, do: Task.async(fn -> RustyJson.decode(text, options) end)
        for task <- tasks, do: assert({:ok, [_ | _]} = Task.await(task, 60_000))
      end

      test "a caller that is killed leaks no instance", %{options: options} do
        text = "[" <> String.duplicate("1.5,", 500_000) <> "1]"

        for _ <- 1..20 do
          {pid, reference} = spawn_monitor(fn -> RustyJson.decode(text, [pool_size: 1] ++ options) end)
          Process.sleep(Enum.random(0..5))
          Process.exit(pid, :kill)
          assert_receive {:DOWN, ^reference, _, _, _}, 10_000
        end

        assert {:ok, _} = RustyJson.decode("[1]", [pool_size: 1] ++ options)
      end
    end

    describe "#{name}, a guest that has fallen" do
      @describetag options: options, host: Keyword.fetch!(@hosts, name)

      setup %{host: host} do
        on_exit(fn -> host.replace(nil) end)
        :ok
      end

      # What decode must not believe. The document is "[1,2]" unless said otherwise.
      for {lie, record} <- [
            {"an empty record", <<>>},
            {"an unknown status", <<7, 131, 97, 1>>},
            {"a partial result for decode", <<2, 0::32>>},
            {"no version byte", <<1, 97, 1>>},
            {"nothing behind the version", <<1, 131>>},
            {"bytes behind the term", <<1, 131, 97, 1, 0>>},
            {"a compressed term",
             <<1, 131, 80, 100::32, :zlib.compress(:binary.copy(<<106>>, 100))::binary>>},
            {"a compressed term that would be enormous",
             <<1, 131, 80, 0x7FFFFFFF::32, :zlib.compress(:binary.copy(<<0>>, 10_000))::binary>>},
            {"an atom", <<1>> <> :erlang.term_to_binary(:ok, minor_version: 2)},
            {"a new atom", <<1, 131, 119, 22, "an atom nobody ever saw">>},
            {"an old atom tag", <<1, 131, 100, 4::16, "true">>},
            {"a pid", <<1>> <> :erlang.term_to_binary(self())},
            {"a reference", <<1>> <> :erlang.term_to_binary(make_ref())},
            {"a function", <<1>> <> :erlang.term_to_binary(&:os.cmd/1)},
            {"a closure", <<1>> <> :erlang.term_to_binary(fn -> :ok end)},
            {"a tuple", <<1>> <> :erlang.term_to_binary({1, 2})},
            {"a bitstring", <<1>> <> :erlang.term_to_binary(<<1::3>>)},
            {"a charlist", <<1>> <> :erlang.term_to_binary(~c"ab")},
            {"an improper list", <<1>> <> :erlang.term_to_binary([1 | 2])},
            {"a list that ends in a list", <<1, 131, 108, 1::32, 97, 1, 108, 1::32, 97, 1, 106>>},
            {"a list longer than the record", <<1, 131, 108, 0xFFFFFFFF::32, 97, 1, 106>>},
            {"a map larger than the record", <<1, 131, 116, 0xFFFFFFFF::32>>},
            {"a binary longer than the record", <<1, 131, 109, 0xFFFFFFFF::32, "a">>},
            {"a map with an integer key", <<1>> <> :erlang.term_to_binary(%{1 => 2})},
            {"a map with an atom key", <<1>> <> :erlang.term_to_binary(%{ok: 2}, minor_version: 2)},
            {"a map with a key twice",
             <<1, 131, 116, 2::32, 109, 1::32, "a", 97, 1, 109, 1::32, "a", 97, 2>>},
            {"a struct", <<1>> <> :erlang.term_to_binary(%{__struct__: Date, year: 1}, minor_version: 2)},
            {"a Decimal nobody asked for",
             <<1>> <>
               :erlang.term_to_binary(%{__struct__: Decimal, sign: 1, coef: 1, exp: 1}, minor_version: 2)},
            {"NaN", <<1, 131, 70, 0x7FF8000000000000::64>>},
            {"infinity", <<1, 131, 70, 0x7FF0000000000000::64>>},
            {"a float as text", <<1, 131, 99, "1.50000000000000000000e+00", 0, 0, 0, 0, 0>>},
            {"an integer with a bad sign", <<1, 131, 110, 1, 2, 5>>},
            {"an integer of a megabyte", <<1, 131, 111, 30_000::32, 0, 1::240_000>>},
            {"nesting of a thousand",
             <<1, 131>> <>
               String.duplicate(<<108, 1::32>>, 1000) <> <<97, 1>> <> String.duplicate(<<106>>, 1000)},
            {"more values than the document has",
             <<1, 131, 108, 100::32>> <> String.duplicate(<<97, 1>>, 100) <> <<106>>},
            {"an unknown error code", <<0, 99, 0::64, 1::64-little, 1::64-little>>},
            {"error code zero", <<0, 0, 0::64, 1::64-little, 1::64-little>>},
            {"an error beyond the document", <<0, 1, 6::64-little, 1::64-little, 1::64-little>>},
            {"an error far beyond the document",
             <<0, 1, 0xFFFFFFFFFFFFFFFF::64, 1::64-little, 1::64-little>>},
            {"a line beyond the document", <<0, 1, 0::64, 1000::64-little, 1::64-little>>},
            {"a column beyond the document", <<0, 1, 0::64, 1::64-little, 1000::64-little>>},
            {"an error cut short", <<0, 1, 0, 0>>},
            {"an error without a code", <<0>>},
            {"a path that is no text", <<0, 1, 0::64, 1::64-little, 1::64-little, 0xFF, 0xFE>>}
          ] do
        @tag record: record
        test "lies: #{lie}", %{options: options, host: host, record: record} do
          :ok = host.replace(WasmModule.new(record))
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode("[1,2]", options)
        end
      end

      for {lie, address, length} <- [
            {"an address beyond the memory", 0x7FFFFFFF, 10},
            {"an address at the end of the address space", 0xFFFFFFFF, 10},
            {"a length beyond the memory", 1024, 0x7FFFFFFF},
            {"a length that wraps around", 1024, 0xFFFFFFFF},
            {"an end one byte behind the memory", 65_535, 2},
            {"a length of nothing", 1024, 0}
          ] do
        @tag packed: {address, length}
        test "lies: #{lie}", %{options: options, host: host, packed: {address, length}} do
          found = WasmModule.packed(address, length)
          :ok = host.replace(WasmModule.new("", decode: found, encode: found, gzip: found, format: found))
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode("[1,2]", options)
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([1, 2], options)
        end
      end

      for {lie, input} <- [
            {"beyond the memory", 0x7FFFFFF0},
            {"at the last byte", 65_535},
            {"at a negative address", -1}
          ] do
        @tag input: input
        test "lies: an input buffer #{lie}", %{options: options, host: host, input: input} do
          :ok = host.replace(WasmModule.new(<<1, 131, 97, 1>>, input: {:return, input}))
          assert {:error, %SandboxError{reason: reason}} = RustyJson.decode("[1,2]", options)
          assert reason in [:invalid_result, :memory_limit]
        end
      end

      # Offset in the text, offset in the term's bytes, depth. The term is [self()].
      for {lie, record} <- [
            {"a hole behind the text", <<2, 1::32-little, 99::32-little, 6::32-little, 1::32-little, "[]">>},
            {"a hole outside the term",
             <<2, 1::32-little, 1::32-little, 0xFFFF::32-little, 1::32-little, "[]">>},
            {"a hole in the middle of a term",
             <<2, 1::32-little, 1::32-little, 8::32-little, 1::32-little, "[]">>},
            {"a hole in the version byte", <<2, 1::32-little, 1::32-little, 0::32, 1::32-little, "[]">>},
            {"more holes than the record has",
             <<2, 0xFFFFFFFF::32, 1::32-little, 6::32-little, 1::32-little, "[]">>},
            {"an error of encode without its parts", <<0, 1>>},
            {"a path longer than the record", <<0, 1, 0xFFFFFFFF::32, "x">>},
            {"an unknown error of encode", <<0, 77, 0::32>>}
          ] do
        @tag record: record
        test "lies: #{lie}", %{options: options, host: host, record: record} do
          :ok = host.replace(WasmModule.new(record))
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([self()], options)
        end
      end

      for {fault, reasons} <- [
            trap: [:trap],
            loop: [:timeout],
            grow: [:memory_limit, :trap],
            recurse: [:trap],
            write_out_of_bounds: [:trap]
          ],
          export <- [:input, :decode, :encode] do
        @tag fault: fault, reasons: reasons, export: export
        test "faults: #{fault} in #{export}", %{options: options, host: host} = context do
          :ok = host.replace(WasmModule.new(<<1, 131, 97, 1>>, [{context.export, context.fault}]))

          call =
            if context.export == :encode, do: &RustyJson.encode([1], &1), else: &RustyJson.decode("[1]", &1)

          {micros, outcome} = :timer.tc(fn -> call.([timeout: 100, max_memory: 10_000_000] ++ options) end)
          assert {:error, %SandboxError{reason: reason}} = outcome
          assert reason in context.reasons
          assert micros < 200_000 + @slack * 1000
        end
      end

      test "a reset that traps or loops does not disturb the answer or the next call", %{
        options: options,
        host: host
      } do
        for fault <- [:trap, :loop] do
          :ok = host.replace(WasmModule.new(<<1, 131, 97, 1>>, reset: fault))
          for _ <- 1..3, do: assert({:ok, 1} = RustyJson.decode("1", [timeout: 500] ++ options))
        end
      end

      test "another version of the exports is refused", %{options: options, host: host} do
        module = WasmModule.new(<<1, 131, 97, 1>>, abi_version: {:return, 2})

        case host.replace(module) do
          :ok -> assert {:error, %SandboxError{reason: :unavailable}} = RustyJson.decode("1", options)
          {:error, _reason} -> :ok
        end
      end

      test "the VM and the next call are untouched after a thousand faults", %{options: options, host: host} do
        for fault <- [:trap, :recurse, :write_out_of_bounds] do
          :ok = host.replace(WasmModule.new(<<1, 131, 97, 1>>, decode: fault))
          for _ <- 1..300, do: assert({:error, %SandboxError{reason: :trap}} = RustyJson.decode("1", options))
        end

        host.replace(nil)
        works(options)
      end

      test "calls beside a faulty one are not disturbed", %{options: options} do
        # The real guest, with documents that end in each way at once.
        tasks =
          for i <- 1..200 do
            Task.async(fn ->
              case rem(i, 4) do
                0 ->
                  {:ok, [1, 2]} = RustyJson.decode("[1,2]", options)

                1 ->
                  {:error, %RustyJson.DecodeError{}} = RustyJson.decode("[1,", options)

                2 ->
                  {:error, %SandboxError{}} =
                    RustyJson.decode(String.duplicate(" ", 2_000_000), [max_memory: 1_500_000] ++ options)

                3 ->
                  {:ok, "[1,2]"} = RustyJson.encode([1, 2], options)
              end
            end)
          end

        for task <- tasks, do: Task.await(task, 60_000)
      end
    end
  end

  test "the guest has no imports" do
    case RustyJson.Wasm.Host.guest() do
      {:ok, <<0, "asm", 1::32-little, sections::binary>>} -> refute 2 in section_ids(sections)
      {:error, reason} -> IO.puts("skipped: the guest's imports: #{reason}")
    end
  end

  test "the guest is less than 150,000 bytes" do
    case RustyJson.Wasm.Host.guest() do
      {:ok, wasm} -> assert byte_size(wasm) < 150_000
      {:error, reason} -> IO.puts("skipped: the guest's size: #{reason}")
    end
  end

  defp section_ids(<<>>), do: []

  defp section_ids(<<id, rest::binary>>) do
    {size, rest} = leb128(rest, 0, 0)
    [id | section_ids(binary_part(rest, size, byte_size(rest) - size))]
  end

  defp leb128(<<1::1, bits::7, rest::binary>>, shift, sum),
    do: leb128(rest, shift + 7, sum + Bitwise.bsl(bits, shift))

  defp leb128(<<0::1, bits::7, rest::binary>>, shift, sum), do: {sum + Bitwise.bsl(bits, shift), rest}

  defp works(options) do
    options = Keyword.drop(options, [:timeout, :max_memory, :max_depth])
    assert {:ok, %{"a" => [1, 2.5, nil]}} = RustyJson.decode(~s({"a":[1,2.5,null]}), options)
    assert {:ok, "[1,2]"} = RustyJson.encode([1, 2], options)
  end
end
