defmodule RustyJson.Test.Guest do
  @moduledoc """
  Modules that misbehave on purpose, as a guest would that has fallen to its input.

  Each has all the exports of the real one. A document that starts with `!` sets the fault off; every other decodes to nil
  and every term encodes to `null`, so that a test can see whether the next call works. `wasm-as` of binaryen assembles them.
  """

  # Where the honest answer, the input and the lie stand in memory.
  @honest 16
  @input 1024
  @lie 32_768

  @doc "Whether they can be made here; the reason if not."
  def missing, do: if(System.find_executable("wasm-as"), do: nil, else: "wasm-as (binaryen) is missing")

  @doc """
  A module. `:fault` is what decode, encode and transform do when asked to misbehave, as WebAssembly text that leaves an
  i64; `:data` are bytes for the lie, whose record is then the answer if no `:fault` is given; `:memory` is the number of pages.
  """
  def wasm(options) do
    data = options[:data] || <<>>
    fault = options[:fault] || "(i64.const #{record(@lie, byte_size(data))})"

    text =
      text(
        fault,
        data,
        options[:input] || "(i32.const #{@input})",
        options[:memory] || 2,
        options[:extra] || ""
      )

    assemble(text)
  end

  @doc "Address and length as an export returns them."
  def record(address, length), do: :binary.decode_unsigned(<<address::32, length::32>>) |> signed()

  @doc "The place of the lie."
  def lie, do: @lie

  @doc "The place of the input."
  def input, do: @input

  defp signed(number) when number >= 0x8000_0000_0000_0000, do: number - 0x1_0000_0000_0000_0000
  defp signed(number), do: number

  defp text(fault, data, input, memory, extra) do
    """
    (module
      (memory (export "memory") #{memory})
      (data (i32.const #{@honest}) "\\01\\83\\77\\03nil")
      (data (i32.const #{@honest + 16}) "\\01null")
      (data (i32.const #{@lie}) "#{escape(data)}")
      #{extra}
      (func $asked (result i32) (i32.eq (i32.load8_u (i32.const #{@input})) (i32.const 33)))
      (func $fault (result i64) #{fault})
      (func (export "abi_version") (result i32) (i32.const 1))
      (func (export "input") (param i32) (result i32) #{input})
      (func (export "decode") (param i32 i32 i32 i32 i64 i64) (result i64)
        (if (result i64) (call $asked) (then (call $fault)) (else (i64.const #{record(@honest, 7)}))))
      (func (export "keys") (param i32 i32 i32 i32 i64 i64) (result i64) (call $fault))
      (func (export "encode") (param i32 i32 i32 i32 i32 i32 i64) (result i64)
        (if (result i64) (i32.eq (i32.load8_u (i32.const #{@input + 6})) (i32.const 33))
          (then (call $fault)) (else (i64.const #{record(@honest + 16, 5)}))))
      (func (export "gzip") (param i32 i32) (result i64) (call $fault))
      (func (export "format") (param i32 i32 i32 i32) (result i64) (call $fault))
      (func (export "reset")))
    """
  end

  defp escape(data), do: for(<<byte <- data>>, into: "", do: "\\" <> Base.encode16(<<byte>>, case: :lower))

  defp assemble(text) do
    base = Path.join(System.tmp_dir!(), "rustyjson_guest_#{System.unique_integer([:positive])}")
    File.write!(base <> ".wat", text)

    try do
      {_, 0} =
        System.cmd("wasm-as", ["--enable-bulk-memory", base <> ".wat", "-o", base <> ".wasm"],
          stderr_to_stdout: true
        )

      File.read!(base <> ".wasm")
    after
      File.rm(base <> ".wat")
      File.rm(base <> ".wasm")
    end
  end
end
