defmodule RustyJson.Sandbox.LiesTest do
  @moduledoc "A guest that returns false results: the host rejects results that no honest guest returns, and the next call works."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Contained, Guest, Lies, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @moduletag timeout: 3_600_000
  @megabyte 1_048_576
  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * @megabyte]

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [host: host] ++ @options}
      end

      test "the address of the input buffer", %{host: host, options: options} do
        for address <- [0x7FFF_FFFF, 0x7FFF_FFF0, -1, Guest.memory(), Guest.memory() - 1] do
          # A host may ask for more than a small document needs.
          input =
            "(if (result i32) (i32.gt_u (local.get 0) (i32.const 100000)) (then (i32.const #{address})) (else (i32.const #{Guest.input()})))"

          with_guest(host, Guest.wasm(input: input, fault: "(unreachable)"), fn ->
            document = String.pad_trailing("!!!!", 100_000)
            Contained.decode("input at #{address}", document, options, [:invalid_result])
          end)
        end
      end

      test "the address and length of the result", %{host: host, options: options} do
        for {address, length} <- Lies.places() do
          with_guest(host, Guest.wasm(answer: {address, length}), fn ->
            Contained.decode("result at #{address}, #{length} bytes", "!", options, [:invalid_result])
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode("!", options)
            assert RustyJson.encode("x", options) == {:ok, "null"}
          end)
        end
      end

      test "terms and errors", %{host: host, options: options} do
        for {name, record} <- Lies.records() do
          with_guest(host, Guest.wasm(data: record), fn ->
            Contained.decode(name, "!!!!!!!!", options, [:invalid_result])
          end)
        end
      end

      test "new atoms are not created", %{host: host, options: options} do
        name = "rustyjson_minted_#{System.unique_integer([:positive])}"
        etf = <<131, 116, 1::32, 119, byte_size(name), name::binary, 97, 1>>

        with_guest(host, Guest.wasm(data: <<1, etf::binary>>), fn ->
          for keys <- [:strings, :copy, :intern, :atoms!],
              do: Contained.decode("#{keys}", "!!!!!!!!", [keys: keys] ++ options, [:invalid_result])

          assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
        end)
      end

      test "encode: holes where no term starts", %{host: host, options: options} do
        # The external format of the term below: a binary with bytes that could be read as an external function.
        for start <- [0, 2, 3, 6, 7, 100, 0xFFFF_FFFF] do
          record = <<2, 1::32-little, 0::32-little, start::32-little, 0::32-little, "null">>

          with_guest(host, Guest.wasm(data: record), fn ->
            term = "!" <> <<113, 119, 2, "os", 119, 3, "cmd", 97, 1>>
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode(term, options)
            assert RustyJson.encode("x", options) == {:ok, "null"}
          end)
        end
      end

      for {lie, record} <- Lies.encode_records() do
        @tag record: record
        test "encode: #{lie}", %{host: host, options: options, record: record} do
          with_guest(host, Guest.wasm(always: true, data: record), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode([self()], options)
          end)
        end
      end

      test "the formatter: a text longer than max_bytes", %{host: host, options: options} do
        options = RustyJson.Options.encode(options)
        within = &RustyJson.Options.laid_out(options, {"", "", "", ""}, {0, 1024, &1})
        format = &options.engine.format("[1]", within.(&1))

        with_guest(host, Guest.wasm(data: <<1, "12345678901">>), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = format.(10)
          assert format.(11) == {:ok, "12345678901"}
          assert format.(0) == {:ok, "12345678901"}
        end)
      end

      test "canonical form: a text longer than max_bytes", %{host: host, options: options} do
        # The limit of the input is not one of the output.
        options = RustyJson.Options.decode([max_bytes: 3] ++ options)

        canonical =
          &options.engine.canonicalize("[1]", %{options | bytes: options.bytes <> <<&1::64-little>>})

        with_guest(host, Guest.wasm(always: true, data: <<1, "12345678901">>), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = canonical.(10)
          assert canonical.(11) == {:ok, "12345678901"}
          assert canonical.(0) == {:ok, "12345678901"}
        end)
      end

      test "another version of the exports", %{host: host, options: options} do
        case WasmHosts.replace(host, Guest.wasm(abi_version: RustyJson.Wasm.Abi.version() + 1)) do
          :ok -> assert {:error, %SandboxError{reason: :unavailable}} = RustyJson.decode("1", options)
          {:error, _reason} -> :ok
        end
      after
        WasmHosts.replace(host, nil)
      end
    end
  end
end
