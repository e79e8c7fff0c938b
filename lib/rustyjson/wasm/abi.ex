defmodule RustyJson.Wasm.Abi do
  @moduledoc false
  # Reads the records of the WebAssembly module in Elixir, for the host without its own library. core/src/abi.rs and its folder
  # describe them and do the same in Rust; a test compares the numbers.
  #
  # The module may be under attack: a record that an honest module cannot write is `:broken`.

  require RustyJson.Engine.Codes
  require RustyJson.Parts.Kind

  alias RustyJson.{Engine, Options}
  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Codes
  alias RustyJson.Parts.Kind

  # As `VERSION` in core/src/abi.rs: the number of the layout, and a hash (FNV-1a) of the tables of options.
  @layout_file Path.expand("../../../core/src/abi/layout.txt", __DIR__)
  @external_resource @layout_file
  @layout @layout_file |> File.read!() |> String.trim() |> String.to_integer()
  @tables for name <- ~w(decode encode),
              do: Path.expand("../../../core/src/options/#{name}.txt", __DIR__)
  for table <- @tables, do: @external_resource(table)

  @hash for <<byte <- Enum.map_join(@tables, &File.read!/1)>>,
          reduce: 0x811C_9DC5,
          do: (hash -> Bitwise.band(Bitwise.bxor(hash, byte) * 0x0100_0193, 0xFFFF_FFFF))
  @version @layout * 0x100_0000 + rem(@hash, 0x100_0000)
  @error 0
  @done 1
  @partial 2
  @errors 3
  @key_hole 0x8000_0000
  @claim 12

  # The longest path and payload of an error, and an error with what is around them.
  @longest_path 4_096
  @longest_payload 771
  @longest_failure 8_192
  # A text is at most @growth times as long as its term, without its line breaks and decimals.
  @growth 6
  @longest_decimal 6_400

  @typedoc "Offset in the text, offset of the term in the input, depth, and whether it is an object key."
  @type claim :: {non_neg_integer(), non_neg_integer(), non_neg_integer(), :key | :value}

  @doc "The version of the module's exports, and of what the native library takes."
  @spec version() :: pos_integer()
  def version, do: @version

  @doc "The statuses of records, by name."
  @spec statuses() :: keyword(byte())
  def statuses, do: [error: @error, done: @done, partial: @partial, errors: @errors]

  @doc "Takes a record apart into its status and its body."
  @spec open(binary()) :: {:done | :error | :errors | :partial, binary()} | :broken
  def open(<<@done, body::binary>>), do: {:done, body}
  def open(<<@error, body::binary>>), do: {:error, body}
  def open(<<@errors, body::binary>>), do: {:errors, body}
  def open(<<@partial, body::binary>>), do: {:partial, body}
  def open(_record), do: :broken

  @doc "Address and length of a record as an export returns them, or nil when memory ran out."
  @spec place(integer()) :: {non_neg_integer(), non_neg_integer()} | nil
  def place(0), do: nil
  def place(packed), do: with(<<address::32, length::32>> <- <<packed::64>>, do: {address, length})

  @doc "Why a text of this length was not decoded, from the body of a record."
  @spec decode_failure(binary(), non_neg_integer()) :: {:ok, Engine.decode_failure()} | :broken
  def decode_failure(
        <<code, offset::64-little, line::64-little, column::64-little, path::binary>>,
        length
      )
      when Codes.is_decode(code) and offset <= length and line in 1..(length + 1)//1 and
             column in 1..(length + 1)//1 and byte_size(path) <= @longest_path,
      do: if(String.valid?(path), do: {:ok, {code, offset, line, column, path}}, else: :broken)

  def decode_failure(_body, _length), do: :broken

  @doc "All that is wrong with a text of this length as the type of this plan, from the body of a record."
  @spec decode_failures(binary(), non_neg_integer(), binary()) :: {:ok, Engine.decode_failures()} | :broken
  def decode_failures(<<total::64-little, left, count::32-little, rest::binary>>, length, plan)
      when left in 0..1 do
    most = most_errors(plan)
    # The same bounds as in core/src/abi/undecoded.rs.
    counted? = if count < most, do: total == count, else: total in count..((length + 1) * byte_size(plan))//1

    with true <- count in 1..most//1 and counted?,
         list when is_list(list) <- failures(rest, count, length, 0) do
      {:ok, {total, left == 1, list}}
    else
      _ -> :broken
    end
  end

  def decode_failures(_body, _length, _plan), do: :broken

  defp failures(<<>>, 0, _length, _last), do: []

  defp failures(<<n::32-little, body::binary-size(n), rest::binary>>, count, length, last) when count > 0 do
    with {:ok, {_code, offset, _line, _column, _path} = failure} when offset >= last <-
           decode_failure(body, length),
         list when is_list(list) <- failures(rest, count - 1, length, offset),
         do: [failure | list],
         else: (_ -> :broken)
  end

  defp failures(_rest, _count, _length, _last), do: :broken

  # What a plan of a type asks for.
  defp most_errors(<<Kind.typed(), _, _, _, most::32-little, _::binary>>), do: most
  defp most_errors(_plan), do: 0

  @doc "Why a term was not encoded, from the body of a record."
  @spec encode_failure(binary()) :: {:ok, Engine.encode_failure()} | :broken
  def encode_failure(<<code, n::32-little, path::binary-size(n), payload::binary>>)
      when Codes.is_encode(code) and n <= @longest_path and byte_size(payload) <= @longest_payload,
      do: if(String.valid?(path), do: {:ok, {code, path, payload}}, else: :broken)

  def encode_failure(_body), do: :broken

  @doc "The holes and the text, from the body of a record."
  @spec partial(binary()) :: {:ok, [claim()], binary()} | :broken
  def partial(<<count::32-little, list::binary-size(count)-unit(96), text::binary>>),
    do:
      {:ok,
       for(<<offset::32-little, start::32-little, depth::32-little <- list>>, do: claim(offset, start, depth)),
       text}

  def partial(_body), do: :broken

  defp claim(offset, start, depth) when depth >= @key_hole, do: {offset, start, depth - @key_hole, :key}
  defp claim(offset, start, depth), do: {offset, start, depth, :value}

  @doc "Whether a record of this length may answer a document of that length: a term, the errors of a plan or the names of keys."
  @spec answer?(non_neg_integer(), non_neg_integer(), binary()) :: boolean()
  def answer?(length, json_length, plan),
    do: length <= 24 * json_length + (1 + most_errors(plan)) * @longest_failure

  @doc "Whether a record of this length may answer this term: a text, with holes or without, or an error."
  @spec record?(non_neg_integer(), binary(), Options.Values.t(), nil | map()) :: boolean()
  def record?(length, etf, values, plans),
    do: length <= @longest_failure or text?(length - 5 - @claim * byte_size(etf), etf, values, plans)

  @doc "Whether a text of this length may be made of this term. core/src/abi/bounds.rs says why, for tapes."
  @spec text?(integer(), binary(), Options.Values.t(), nil | map()) :: boolean()
  def text?(length, etf, _values, _plans) when length <= @growth * byte_size(etf) + 16, do: true

  def text?(length, etf, %{max_depth: max_depth, base_depth: base_depth} = values, plans) do
    plain = if values.compress < 0, do: length, else: length - div(length, 8) - 64
    size = byte_size(etf)
    lines = line(values, min(max_depth, base_depth + size)) * (size + 1)
    decimals = length(:binary.matches(etf, <<14, "Elixir.Decimal">>))

    names =
      for {_module, plan} <- plans || %{}, name <- Plans.names(plan), do: byte_size(Atom.to_string(name))

    shaped = @growth * size * (byte_size(values.shape) + Enum.max(names, fn -> 0 end))

    plain <= @growth * size + 16 + shaped + lines + @longest_decimal * decimals or
      Enum.any?(plans || %{}, &repeats?/1)
  end

  # Without a layout all of these are empty.
  defp line(%{indent: indent, line_separator: separator, after_colon: colon}, deepest),
    do: deepest * byte_size(indent) + byte_size(separator) + byte_size(colon)

  defp repeats?({_module, plan}) do
    fields = Plans.fields(plan)
    fields != Enum.uniq(fields)
  end

  @doc "Whether a record of this length may hold what a text of that length is compressed to."
  @spec compressed?(non_neg_integer(), non_neg_integer()) :: boolean()
  def compressed?(length, plain), do: length <= plain + div(plain, 8) + 65

  @doc "Whether a record of this length may hold the canonical form of a text of that length."
  @spec canonical?(non_neg_integer(), non_neg_integer()) :: boolean()
  def canonical?(length, plain), do: length <= max(6 * plain + 17, @longest_failure)

  @doc "Whether a record of this length may hold a text of at most that many bytes; 0 is no limit."
  @spec limited?(non_neg_integer(), non_neg_integer()) :: boolean()
  def limited?(_length, 0), do: true
  def limited?(length, most), do: length <= max(most + 1, @longest_failure)

  @doc "Whether a list of this length may be that of the keys of a document of that length. core/src/etf/policy.rs says why."
  @spec names?(non_neg_integer(), non_neg_integer()) :: boolean()
  def names?(length, json_length), do: length <= json_length + 1

  @doc "The first name in a list of them and the rest, nil at its end."
  @spec name(binary()) :: {binary(), binary()} | nil | :broken
  def name(<<n::32-little, name::binary-size(n), rest::binary>>), do: {name, rest}
  def name(<<>>), do: nil
  def name(_names), do: :broken
end
