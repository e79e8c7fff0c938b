defmodule RustyJson.Sandbox.FaultsTest do
  @moduledoc """
  A guest that traps, loops, grows or recurses: the call ends in an error in time, the next one works, and nothing leaks.
  `RUSTYJSON_FAULTS=10000` triggers each fault that often.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Clock, Contained, Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @moduletag timeout: 3_600_000
  @megabyte 1_048_576

  # Faults as WebAssembly text, with the reasons that each may return.
  @faults [
    trap: {Guest.fault(:trap), [:trap]},
    divide: {"(i64.div_s (i64.const 1) (i64.const 0))", [:trap]},
    out_of_bounds_read: {"(i64.load (i32.const -8))", [:trap]},
    out_of_bounds_write: {"(i64.store (i32.const 0x7fffffff) (i64.const 1)) (i64.const 0)", [:trap]},
    out_of_bounds_index: {"(i64.load8_u (i32.const #{Guest.memory()}))", [:trap]},
    out_of_bounds_offset: {"(i64.load offset=5000 (i32.const #{Guest.memory() - 1}))", [:trap]},
    out_of_bounds_fill: {"(memory.fill (i32.const 0) (i32.const 1) (i32.const -1)) (i64.const 0)", [:trap]},
    recursion: {"(call $fault)", [:trap]},
    # A short timeout can expire before a scheduler is free.
    loop: {Guest.fault(:loop), [:timeout, :busy]},
    allocation: {Guest.fault(:grow), [:memory_limit]},
    no_memory: {"(i64.const 0)", [:memory_limit]}
  ]

  # Only the loop has a short timeout, because a busy machine is slow.
  # Milliseconds, with room for a busy machine.
  @slack 1_500
  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * @megabyte]
  @short if Contained.long?(), do: 2, else: 20

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [host: host] ++ @options}
      end

      for {name, {fault, reasons}} <- @faults do
        test "#{name}", %{host: host, options: options} do
          with_guest(host, Guest.wasm(fault: unquote(fault)), fn ->
            Contained.decode("#{unquote(name)}", "!", limits(unquote(name), options), unquote(reasons))
          end)
        end
      end

      test "encode and the formatter: faults", %{host: host, options: options} do
        for {fault, reasons} <- [
              {Guest.fault(:trap), [:trap]},
              {Guest.fault(:loop), [:timeout, :busy]}
            ] do
          with_guest(host, Guest.wasm(fault: fault), fn ->
            short = if :timeout in reasons, do: Keyword.put(options, :timeout, @short), else: options

            Contained.flat("encode, #{hd(reasons)}", options[:host], fn ->
              assert {:error, %SandboxError{reason: reason}} = RustyJson.encode("!", short)
              assert reason in reasons
              assert RustyJson.encode("x", options) == {:ok, "null"}
            end)
          end)
        end
      end

      for {fault, reasons} <- [
            trap: [:trap],
            loop: [:timeout],
            grow: [:memory_limit, :trap],
            recurse: [:trap],
            write_out_of_bounds: [:trap]
          ],
          export <- [:input, :decode, :encode] ++ if(host == :built_in, do: [:extend], else: []) do
        @tag fault: fault, reasons: reasons, export: export
        test "#{fault} in #{export}, in time", %{host: host, options: options} = context do
          with_guest(host, Guest.wasm(at(context.export, Guest.fault(context.fault))), fn ->
            short = [timeout: 100, max_memory: 10_000_000] ++ Keyword.drop(options, [:timeout, :max_memory])

            Clock.within(2 * 100 + @slack, fn ->
              assert {:error, %SandboxError{reason: reason}} = call(context.export, short)
              assert reason in context.reasons
            end)
          end)
        end
      end

      test "a reset that traps or loops disturbs neither the answer nor the next call", %{
        host: host,
        options: options
      } do
        for fault <- [:trap, :loop] do
          with_guest(host, Guest.wasm(reset: Guest.fault(fault)), fn ->
            for _ <- 1..3, do: assert({:ok, nil} = RustyJson.decode("1", Keyword.put(options, :timeout, 500)))
          end)
        end
      end

      test "the VM and the next call are untouched after a thousand faults", %{host: host, options: options} do
        for fault <- [:trap, :recurse, :write_out_of_bounds] do
          with_guest(host, Guest.wasm(fault: Guest.fault(fault)), fn ->
            for _ <- 1..300,
                do: assert({:error, %SandboxError{reason: :trap}} = RustyJson.decode("!", options))
          end)
        end

        works(options)
      end
    end
  end

  # In C, a part of an access may lie in the border of the memory; what is left there does not become memory.
  if reason = WasmHosts.no_other(:built_in), do: @tag(skip: reason)

  test "memory that grows is zero, whatever was written behind its end" do
    behind = "offset=3000 (i32.const #{Guest.memory() - 1})"

    fault = """
    (i64.store #{behind} (i64.const -1))
    (if (i64.ne (i64.load #{behind}) (i64.const -1)) (then (unreachable)))
    (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
    (if (i64.ne (i64.load #{behind}) (i64.const 0)) (then (unreachable)))
    (i64.const 0)
    """

    with_guest(:built_in, Guest.wasm(fault: fault), fn ->
      assert {:error, %SandboxError{reason: :memory_limit}} =
               RustyJson.decode("!", [host: :built_in] ++ @options)
    end)
  end

  defp at(:input, fault), do: [input: fault]
  defp at(:extend, fault), do: [room: fault]
  defp at(_export, fault), do: [fault: fault, always: true]

  defp call(export, options) when export in [:encode, :extend], do: RustyJson.encode([1], options)
  defp call(_export, options), do: RustyJson.decode("[1]", options)

  defp limits(:loop, options), do: Keyword.put(options, :timeout, @short)
  defp limits(_name, options), do: options

  defp works(options) do
    options = Keyword.drop(options, [:timeout, :max_memory])
    assert {:ok, %{"a" => [1, 2.5, nil]}} = RustyJson.decode(~s({"a":[1,2.5,null]}), options)
    assert {:ok, "[1,2]"} = RustyJson.encode([1, 2], options)
  end
end
