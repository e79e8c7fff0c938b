defmodule RustyJson.Test.WasmModule do
  @moduledoc """
  WebAssembly modules with the exports of the guest that answer as they please: what the guest would be after it had fallen
  to a document. Assembled here byte by byte, so that no tool is needed.
  """

  @i32 0x7F
  @i64 0x7E
  @page 65_536

  # Name, parameters and results of every export.
  @exports [
    {:abi_version, [], [@i32]},
    {:input, [@i32], [@i32]},
    {:decode, [@i32, @i32, @i32, @i32, @i64, @i64], [@i64]},
    {:keys, [@i32, @i32, @i32, @i32, @i64, @i64], [@i64]},
    {:encode, [@i32, @i32, @i32, @i32, @i32, @i32, @i64], [@i64]},
    {:gzip, [@i32, @i32], [@i64]},
    {:format, [@i32, @i32, @i32, @i32], [@i64]},
    {:reset, [], []}
  ]

  # Where records lie, and where the input goes.
  @record 1024
  @input 32_768

  @doc """
  A module whose `decode`, `encode` and the rest return this record. Options replace the behaviour of an export by one of
  `:trap`, `:loop`, `:grow`, `:recurse`, `:write_out_of_bounds`, `{:return, number}`.
  """
  def new(record, behaviours \\ []) do
    pages = div(@record + byte_size(record), @page) + 1
    found = packed(@record, byte_size(record))
    input = if byte_size(record) > @input - @record, do: pages * @page - 4096, else: @input

    honest = [
      abi_version: {:return, 1},
      input: {:return, input},
      decode: found,
      keys: found,
      encode: found,
      gzip: found,
      format: found,
      reset: :nothing
    ]

    assemble(Keyword.merge(honest, behaviours), pages, record)
  end

  @doc "The behaviour of returning this address and length."
  def packed(address, length) do
    <<number::64-signed>> = <<address::32, length::32>>
    {:return, number}
  end

  defp assemble(behaviours, pages, record) do
    IO.iodata_to_binary([
      <<0, "asm", 1::32-little>>,
      section(
        1,
        vector(
          for {_, params, results} <- @exports, do: [0x60, vector(bytes(params)), vector(bytes(results))]
        )
      ),
      section(3, vector(for {_, index} <- Enum.with_index(@exports), do: unsigned(index))),
      section(5, vector([[0, unsigned(pages)]])),
      section(7, vector([[name("memory"), 2, 0] | exports()])),
      section(
        10,
        vector(for {export, index} <- Enum.with_index(@exports), do: code(export, index, behaviours))
      ),
      section(11, vector([[0, 0x41, signed(@record), 0x0B, unsigned(byte_size(record)), record]]))
    ])
  end

  defp exports do
    for {{name, _, _}, index} <- Enum.with_index(@exports),
        do: [name(Atom.to_string(name)), 0, unsigned(index)]
  end

  defp code({name, params, results}, index, behaviours) do
    body = IO.iodata_to_binary([0, body(behaviours[name], params, results, index), 0x0B])
    [unsigned(byte_size(body)), body]
  end

  defp body(:nothing, _params, [], _index), do: []
  defp body({:return, number}, _params, [@i32], _index), do: [0x41, signed(number)]
  defp body({:return, number}, _params, [@i64], _index), do: [0x42, signed(number)]
  defp body(:trap, _params, _results, _index), do: [0x00]
  # loop: br to its start
  defp body(:loop, _params, _results, _index), do: [0x03, 0x40, 0x0C, 0, 0x0B, 0x00]
  # loop: memory.grow by 16 pages, again and again; trap when it is denied
  defp body(:grow, _params, _results, _index),
    do: [0x03, 0x40, 0x41, 16, 0x40, 0, 0x41, 0x7F, 0x47, 0x0D, 0, 0x0B, 0x00]

  # call itself with its own parameters
  defp body(:recurse, params, _results, index),
    do: [for({_, i} <- Enum.with_index(params), do: [0x20, unsigned(i)]), 0x10, unsigned(index), 0x00]

  # i32.store at the very end of the address space
  defp body(:write_out_of_bounds, _params, _results, _index),
    do: [0x41, signed(-4), 0x41, 1, 0x36, 2, 0, 0x00]

  defp bytes(list), do: Enum.map(list, &<<&1>>)
  defp section(id, content), do: [id, unsigned(IO.iodata_length(content)), content]
  defp vector(items), do: [unsigned(length(items)) | items]
  defp name(text), do: [unsigned(byte_size(text)), text]

  # LEB128
  defp unsigned(number) when number < 0x80, do: <<number>>
  defp unsigned(number), do: <<1::1, number::7, unsigned(Bitwise.bsr(number, 7))::binary>>

  defp signed(number) when number in -64..63, do: <<0::1, number::7>>
  defp signed(number), do: <<1::1, number::7, signed(Bitwise.bsr(number, 7))::binary>>
end
