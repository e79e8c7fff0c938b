defmodule RustyJson.Test.Guest do
  @moduledoc """
  Makes guests that misbehave, as the real one would after a document took it over.

  Each has all the exports of the real guest. By default a document that starts with `!` triggers the fault; every other
  document decodes to nil and every other term encodes to `null`, so that a test can check that the next call works.
  `wasm-as` of binaryen assembles the modules.
  """

  # Addresses of the honest answers, the input and the false answer in memory.
  @honest 16
  @input 1024
  @lie 32_768
  # The dishonest record has a slot of fixed size in the module, which ends in its address and length and a mark. So guests
  # that differ in their records alone are compiled once (RustyJson.Test.Replaceable).
  @room 32_000
  @mark "the slot of lies"
  @slot @room + 8 + byte_size(@mark)
  @honest_many 65_536
  @page 65_536

  # Faults, as WebAssembly text that fits a function with any result.
  @faults %{
    trap: "(unreachable)",
    loop: "(loop $again (br $again)) (unreachable)",
    grow: "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)",
    recurse: "(call $recurse) (unreachable)",
    write_out_of_bounds: "(i32.store (i32.const -4) (i32.const 1)) (unreachable)"
  }

  @doc "The reason why no guest can be made on this machine, or nil."
  def missing, do: if(System.find_executable("wasm-as"), do: nil, else: "wasm-as (binaryen) is missing")

  @doc "The WebAssembly text of a fault: #{@faults |> Map.keys() |> Enum.map_join(", ", &inspect/1)}."
  def fault(name), do: Map.fetch!(@faults, name)

  @doc """
  A module. Options:

    * `:fault` - WebAssembly text that leaves an i64: what decode, encode, format and gzip do when triggered
    * `:data` - bytes of a dishonest record, which is the answer if there is no `:fault`
    * `:answer` - its address and length, `{address, length}`, by default those of `:data`; `answer/0` is the text that gives them
    * `:always` - true triggers the fault with every document
    * `:resolve` - text that leaves an i64: what resolve does, instead of the fault
    * `:keys` - text that leaves an i64: what keys does, instead of the fault; its last parameter is number 2
    * `:many` - text that leaves an i64: what many does, whatever the documents are
    * `:input` - text that leaves an i32: the address of the input buffer
    * `:room` - text that leaves an i64: the length of the input buffer of a tape
    * `:reset` - text: what reset does
    * `:abi_version` - the version of the exports that the module claims
    * `:memory` - the number of pages
    * `:extra` - more text for the module
  """
  def wasm(options) do
    {data, options} = Keyword.pop(options, :data, <<>>)
    {place, options} = Keyword.pop(options, :answer, {@lie, byte_size(data)})

    options
    |> Keyword.put_new(:fault, answer())
    |> Map.new()
    |> text()
    |> assembled()
    |> filled(slot(data, place))
  end

  @doc "WebAssembly text that gives the address and length of `:answer`."
  def answer, do: "(i64.load (i32.const #{@lie + @room}))"

  defp slot(data, {address, length}) when byte_size(data) <= @room do
    gap = (@room - byte_size(data)) * 8
    <<data::binary, 0::size(gap), length::32-little, address::32-little, @mark>>
  end

  @doc "Splits a module into the same one with an empty slot, and what is in the slot."
  def emptied(wasm) do
    at = slot_at(wasm)
    {filled(wasm, slot(<<>>, {0, 0})), binary_part(wasm, at, @slot)}
  end

  @doc "A module, or the library made of it, with this in its slot."
  def filled(bytes, slot) do
    at = slot_at(bytes)
    {before, <<_::binary-size(@slot), rest::binary>>} = :erlang.split_binary(bytes, at)
    <<before::binary, slot::binary, rest::binary>>
  end

  defp slot_at(bytes) do
    [{mark, length}] = :binary.matches(bytes, @mark)
    mark + length - @slot
  end

  @doc "Address and length as an export returns them."
  def record(address, length) do
    <<number::64-signed>> = <<address::32, length::32>>
    number
  end

  @doc "The address of the dishonest record."
  def lie, do: @lie

  @doc "The address of the input."
  def input, do: @input

  @doc "The address of a document to decode: options and a seed of 8 bytes precede it."
  def document, do: @input + byte_size(RustyJson.Options.decode([]).bytes) + 8

  @doc "The number of bytes of memory that a guest has by default."
  def memory, do: 2 * @page

  defp text(options) do
    """
    (module
      (memory (export "memory") #{options[:memory] || 2})
      (data (i32.const #{@honest}) "\\01\\83\\77\\03nil")
      (data (i32.const #{@honest + 16}) "\\01null")
      (data (i32.const #{@lie}) "#{escape(slot(<<>>, {0, 0}))}")
      #{options[:extra]}
      (func $recurse (call $recurse))
      (func $fault (result i64) #{options.fault})
      (func (export "abi_version") (result i32) (i32.const #{options[:abi_version] || RustyJson.Wasm.Abi.version()}))
      (func $input (param i32) (result i32) #{options[:input] || "(i32.const #{@input})"})
      (func $room (result i64) #{options[:room] || "(i64.const #{@lie - @input})"})
      (func (export "input") (param i32) (result i32) (call $input (local.get 0)))
      (func (export "decode") (param i32 i32) (result i64)
        (if (result i64) #{triggered(options, 0)} (then (call $fault)) (else (i64.const #{record(@honest, 7)}))))
      #{many(options)}
      (func (export "resolve") (param i32 i32) (result i64) #{options[:resolve] || "(call $fault)"})
      (func (export "feed") (param i32 i32) (result i64) (call $fault))
      (func (export "keys") (param i32 i32 i64) (result i64) #{options[:keys] || "(call $fault)"})
      (func (export "encode") (param i32 i32) (result i64)
        (if (result i64) #{triggered(options, 6)} (then (call $fault)) (else (i64.const #{record(@honest + 16, 5)}))))
      (func (export "extend") (param i32 i32) (result i64)
        (i64.or (i64.shl (i64.extend_i32_u (call $input (local.get 0))) (i64.const 32)) (call $room)))
      (func (export "play") (param i32 i32 i32) (result i64)
        (if (result i64) #{triggered(options, 4)} (then (call $fault)) (else (i64.const #{record(@honest + 16, 5)}))))
      (func (export "gzip") (param i32 i32) (result i64) (call $fault))
      (func (export "format") (param i32 i32) (result i64) (call $fault))
      (func (export "canonicalize") (param i32 i32) (result i64) (call $fault))
      (func (export "reset") #{options[:reset]}))
    """
  end

  defp many(%{many: text}), do: "(func (export \"many\") (param i32 i32) (result i64) #{text})"

  # The input is a count, lengths and texts. The answer is a list with one nil per document, and its length.
  defp many(options) do
    """
    (func (export "many") (param i32 i32) (result i64)
      (local $body i32) (local $count i32) (local $text i32) (local $at i32) (local $out i32)
      (local.set $body (i32.add (local.get 1) (i32.const #{@input})))
      (local.set $count (i32.load (local.get $body)))
      (local.set $text (i32.add (i32.add (local.get $body) (i32.const 4)) (i32.mul (local.get $count) (i32.const 4))))
      (local.set $out (i32.const #{@honest_many + 7}))
      (i32.store8 (i32.const #{@honest_many}) (i32.const 1))
      (i32.store8 (i32.const #{@honest_many + 1}) (i32.const 131))
      (i32.store8 (i32.const #{@honest_many + 2}) (i32.const 108))
      (i32.store8 (i32.const #{@honest_many + 5}) (i32.shr_u (local.get $count) (i32.const 8)))
      (i32.store8 (i32.const #{@honest_many + 6}) (local.get $count))
      (block $end (loop $next
        (br_if $end (i32.ge_u (local.get $at) (local.get $count)))
        (if #{if options[:always], do: "(i32.const 1)", else: "(i32.eq (i32.load8_u (local.get $text)) (i32.const 33))"}
          (then (return (call $fault))))
        (i64.store (local.get $out) (i64.const 0x6c696e0377))
        (local.set $out (i32.add (local.get $out) (i32.const 5)))
        (local.set $text (i32.add (local.get $text)
          (i32.load (i32.add (i32.add (local.get $body) (i32.const 4)) (i32.mul (local.get $at) (i32.const 4))))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
      (i32.store8 (local.get $out) (i32.const 106))
      (i32.store (i32.add (local.get $out) (i32.const 1)) (i32.sub (local.get $out) (i32.const #{@honest_many})))
      (i64.or (i64.const #{record(@honest_many, 0)})
        (i64.extend_i32_u (i32.sub (i32.add (local.get $out) (i32.const 5)) (i32.const #{@honest_many})))))
    """
  end

  # The second parameter is the number of bytes of options before the document. Encode finds the first byte of a string
  # after the head of its external format, play after its token.
  defp triggered(%{always: true}, _offset), do: "(i32.const 1)"

  defp triggered(_options, offset),
    do: "(i32.eq (i32.load8_u (i32.add (local.get 1) (i32.const #{@input + offset}))) (i32.const 33))"

  defp escape(data), do: for(<<byte <- data>>, into: "", do: "\\" <> Base.encode16(<<byte>>, case: :lower))

  defp assembled(text) do
    key = {__MODULE__, :erlang.md5(text)}

    with nil <- :persistent_term.get(key, nil) do
      wasm = assemble(text)
      :persistent_term.put(key, wasm)
      wasm
    end
  end

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
