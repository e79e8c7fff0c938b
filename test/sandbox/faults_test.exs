defmodule RustyJson.Wasm.FaultsTest do
  @moduledoc "A guest that fell is contained: the call ends in its error, the next one works, nothing is left behind."

  use ExUnit.Case, async: false

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  # How often each fault is set off. RUSTYJSON_FAULTS=10000 is the long run: it prints how long that took and the memory
  # before and after, which must be the same but for what allocators keep.
  @times String.to_integer(System.get_env("RUSTYJSON_FAULTS", "50"))
  @long @times >= 1_000
  @moduletag timeout: 3_600_000
  @megabyte 1_048_576

  # Faults as WebAssembly text, with the reasons that they may end in.
  @faults [
    trap: {"(unreachable)", [:trap]},
    divide: {"(i64.div_s (i64.const 1) (i64.const 0))", [:trap]},
    out_of_bounds_read: {"(i64.load (i32.const -8))", [:trap]},
    out_of_bounds_write: {"(i64.store (i32.const 0x7fffffff) (i64.const 1)) (i64.const 0)", [:trap]},
    out_of_bounds_fill: {"(memory.fill (i32.const 0) (i32.const 1) (i32.const -1)) (i64.const 0)", [:trap]},
    recursion: {"(call $fault)", [:trap]},
    # With no time at all it may be over before a scheduler is free.
    loop: {"(loop $again (br $again)) (unreachable)", [:timeout, :busy]},
    allocation:
      {"(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)",
       [:memory_limit]},
    no_memory: {"(i64.const 0)", [:memory_limit]}
  ]

  # Time is only short where it is what runs out: a busy machine takes its own.
  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * @megabyte]
  @short if @long, do: 2, else: 20

  for host <- [:wasmtime, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      # A host that is not there is a skip with its reason.
      if reason = WasmHosts.missing(host) || Guest.missing(), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [host: host] ++ @options}
      end

      for {name, {fault, reasons}} <- @faults do
        test "#{name}", %{host: host, options: options} do
          with_guest(host, Guest.wasm(fault: unquote(fault)), fn ->
            contained(unquote(name), limits(unquote(name), options), unquote(reasons))
          end)
        end
      end

      test "a lie about where the input goes", %{host: host, options: options} do
        for address <- [0x7FFF_FFFF, 0xFFFF_FFFF, 131_072, 131_071] do
          address = if address > 0x7FFF_FFFF, do: address - 0x1_0000_0000, else: address

          input =
            "(if (result i32) (i32.eq (local.get 0) (i32.const 4)) (then (i32.const #{address})) (else (i32.const 1024)))"

          with_guest(host, Guest.wasm(input: input, fault: "(unreachable)"), fn ->
            contained("input at #{address}", options, [:invalid_result], "!!!!")
          end)
        end
      end

      test "lies about where the result is", %{host: host, options: options} do
        lies = [
          {0, 1},
          {131_072, 1},
          {131_071, 2},
          {0xFFFF_FFFF, 1},
          {1, 0xFFFF_FFFF},
          {0xFFFF_FFFF, 0xFFFF_FFFF},
          {5, 0}
        ]

        for {address, length} <- lies do
          with_guest(host, Guest.wasm(fault: "(i64.const #{Guest.record(address, length)})"), fn ->
            contained("result at #{address}, #{length} bytes", options, [:invalid_result])
          end)
        end
      end

      test "results that no honest guest gives", %{host: host, options: options} do
        for {name, record} <- records() do
          with_guest(host, Guest.wasm(data: record), fn ->
            contained(name, options, [:invalid_result], "!!!!!!!!")
          end)
        end
      end

      test "atoms are not minted", %{host: host, options: options} do
        name = "rustyjson_minted_#{System.unique_integer([:positive])}"
        etf = <<131, 116, 1::32, 119, byte_size(name), name::binary, 97, 1>>

        with_guest(host, Guest.wasm(data: <<1, etf::binary>>), fn ->
          for keys <- [:strings, :copy, :intern, :atoms!],
              do: contained("minted, #{keys}", [keys: keys] ++ options, [:invalid_result], "!!!!!!!!")

          assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
        end)
      end

      test "encode: holes that are no terms", %{host: host, options: options} do
        # What the runtime writes for the term below: a binary that holds what reads as an external function.
        for start <- [0, 2, 3, 6, 7, 100, 0xFFFF_FFFF] do
          record = <<2, 1::32-little, 0::32-little, start::32-little, 0::32-little, "null">>

          with_guest(host, Guest.wasm(data: record), fn ->
            term = "!" <> <<113, 119, 2, "os", 119, 3, "cmd", 97, 1>>
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode(term, options)
            assert RustyJson.encode("x", Keyword.put(options, :timeout, 10_000)) == {:ok, "null"}
          end)
        end
      end

      test "encode and the formatter: faults", %{host: host, options: options} do
        for {fault, reasons} <- [
              {"(unreachable)", [:trap]},
              {"(loop $a (br $a)) (unreachable)", [:timeout, :busy]}
            ] do
          with_guest(host, Guest.wasm(fault: fault), fn ->
            short = if :timeout in reasons, do: Keyword.put(options, :timeout, @short), else: options

            flat("encode, #{hd(reasons)}", options[:host], fn ->
              assert {:error, %SandboxError{reason: reason}} = RustyJson.encode("!", short)
              assert reason in reasons
              assert RustyJson.encode("x", options) == {:ok, "null"}
            end)
          end)
        end
      end
    end
  end

  defp limits(:loop, options), do: Keyword.put(options, :timeout, @short)
  defp limits(_name, options), do: options

  # Set off again and again, with a good call after each, which wants an instance anew.
  defp contained(name, options, reasons, document \\ "!") do
    flat(name, options[:host], fn ->
      assert {:error, %SandboxError{reason: reason}} = RustyJson.decode(document, options)
      assert reason in reasons, "#{name}"
      assert RustyJson.decode("[]", Keyword.put(options, :timeout, 10_000)) == {:ok, nil}
    end)
  end

  defp flat(name, host, fun) do
    # What the first ones set up stays.
    for _ <- 1..div(@times, 10), do: fun.()
    {before, atoms} = {resident(), :erlang.system_info(:atom_count)}
    {micros, _} = :timer.tc(fn -> for _ <- 1..@times, do: fun.() end)
    later = resident()
    if @long, do: IO.puts("#{host}, #{name}: #{@times} in #{div(micros, 1000)} ms, #{before} to #{later} KB")
    assert later - before < 32_000, "#{host}, #{name}: from #{before} to #{later} KB"
    assert :erlang.system_info(:atom_count) - atoms < 100
  end

  # Kilobytes; 0 where the system does not tell.
  defp resident do
    case File.read("/proc/self/status") do
      {:ok, text} -> ~r/VmRSS:\s+(\d+)/ |> Regex.run(text) |> List.last() |> String.to_integer()
      {:error, _} -> 0
    end
  end

  # Records with a status that is none, errors beyond the input, and broken terms.
  defp records do
    list = fn parts -> <<131, 108, length(parts)::32, IO.iodata_to_binary(parts)::binary, 106>> end
    pid = :erlang.term_to_binary(self())

    error = fn code, offset, path ->
      <<0, code, offset::64-little, 1::64-little, 1::64-little, path::binary>>
    end

    terms = [
      empty: <<>>,
      no_version: <<97, 1>>,
      trailing: <<131, 97, 1, 0>>,
      truncated: <<131, 109, 5::32, "abc">>,
      compressed: :erlang.term_to_binary(String.duplicate("a", 1000), compressed: 9),
      pid: pid,
      reference: :erlang.term_to_binary(make_ref()),
      function: :erlang.term_to_binary(fn -> :ok end),
      external_function: :erlang.term_to_binary(&:os.cmd/1),
      port: :erlang.term_to_binary(hd(Port.list())),
      bit_string: :erlang.term_to_binary(<<1::3>>),
      tuple: :erlang.term_to_binary({1, 2}),
      byte_list: :erlang.term_to_binary([1, 2, 3]),
      atom: :erlang.term_to_binary(:ok),
      old_atom: <<131, 100, 2::16, "ok">>,
      float_text: <<131, 99, "1.50000000000000000000e+00", 0, 0, 0, 0, 0>>,
      nan: <<131, 70, 0x7FF8_0000_0000_0000::64>>,
      infinity: <<131, 70, 0xFFF0_0000_0000_0000::64>>,
      improper: <<131, 108, 1::32, 97, 1, 97, 2>>,
      empty_list_with_count: <<131, 108, 0::32, 106>>,
      struct: :erlang.term_to_binary(URI.parse("x")),
      integer_key: <<131, 116, 1::32, 97, 1, 97, 1>>,
      twice_a_key: <<131, 116, 2::32, 109, 1::32, "a", 97, 1, 109, 1::32, "a", 97, 2>>,
      huge_count: <<131, 108, 0xFFFF_FFFF::32, 97, 1, 106>>,
      huge_map: <<131, 116, 0xFFFF_FFFF::32, 97, 1>>,
      huge_binary: <<131, 109, 0xFFFF_FFFF::32, 97, 1>>,
      huge_integer: <<131, 111, 0xFFFF_FFFF::32, 0, 1>>,
      long_integer: <<131, 111, 5_000::32, 0, String.duplicate(<<1>>, 5_000)::binary>>,
      zero_integer: <<131, 110, 0, 0>>,
      more_values_than_input: list.(List.duplicate(<<97, 1>>, 9)),
      deep:
        <<131, String.duplicate(<<108, 1::32>>, 200)::binary, 106, String.duplicate(<<106>>, 200)::binary>>
    ]

    records = [
      status: <<7, 131, 97, 1>>,
      partial: <<2, 0::32, "null">>,
      code: error.(0, 0, ""),
      unknown_code: error.(77, 0, ""),
      offset: error.(2, 9, ""),
      path: error.(2, 0, <<255>>),
      short_error: <<0, 2, 0>>
    ]

    for({name, etf} <- terms, do: {name, <<1, etf::binary>>}) ++ records
  end
end
