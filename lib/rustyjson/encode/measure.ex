defmodule RustyJson.Encode.Measure do
  @moduledoc false
  # The size of a term, looked at before anything is made of it. A list whose elements are each the next list twice has 2^n parts with n
  # cells, so parts are counted as a walk meets them, and the walk ends where there are too many.

  require RustyJson.Engine.Codes

  alias RustyJson.Encode.Lost
  alias RustyJson.{EncodeError, Options, SandboxError}
  alias RustyJson.Engine.{Codes, Wasm}

  @doc "Whether a term has at most this many parts, and its strings and integers at most this many bytes."
  @spec fits?(term(), non_neg_integer(), non_neg_integer()) :: boolean()
  def fits?(term, parts, bytes), do: match?({:ok, _parts, _bytes}, rest(term, parts, bytes))

  @doc """
  What a term leaves of this many parts, and of this many bytes for its strings and integers. If it has more of either, the parts that
  were not looked at.

      iex> RustyJson.Encode.Measure.rest(["ab", 1], 10, 10)
      {:ok, 7, 8}
      iex> RustyJson.Encode.Measure.rest(["ab", 1], 10, 1)
      {:too_many, 8}
  """
  @spec rest(term(), integer(), integer()) ::
          {:ok, non_neg_integer(), non_neg_integer()} | {:too_many, non_neg_integer()}
  def rest(term, parts, bytes), do: count([term], parts, bytes)

  # The remaining work is a list of lists, so that nothing is copied and nothing recurses.
  defp count(_work, parts, bytes) when parts < 0 or bytes < 0, do: {:too_many, max(parts, 0)}
  defp count([], parts, bytes), do: {:ok, parts, bytes}
  defp count([[] | work], parts, bytes), do: count(work, parts, bytes)

  defp count([[part | rest] | work], parts, bytes) when is_list(part),
    do: count([part, rest | work], parts - 1, bytes)

  defp count([[part | rest] | work], parts, bytes) when is_map(part) do
    if map_size(part) <= parts,
      do: count([:maps.keys(part), :maps.values(part), rest | work], parts - 1, bytes),
      else: {:too_many, parts}
  end

  defp count([[part | rest] | work], parts, bytes) when is_tuple(part) do
    if tuple_size(part) <= parts,
      do: count([Tuple.to_list(part), rest | work], parts - 1, bytes),
      else: {:too_many, parts}
  end

  defp count([[part | rest] | work], parts, bytes) when is_bitstring(part),
    do: count([rest | work], parts - 1, bytes - byte_size(part))

  defp count([[part | rest] | work], parts, bytes)
       when is_integer(part) and abs(part) > 0xFFFF_FFFF_FFFF_FFFF,
       do: count([rest | work], parts - 1, bytes - digits(:erlang.external_size(part)))

  defp count([[_scalar | rest] | work], parts, bytes), do: count([rest | work], parts - 1, bytes)
  # The one term, or the tail of an improper list.
  defp count([term | work], parts, bytes), do: count([[term] | work], parts, bytes)

  # What is counted is likely to become text by Elixir's functions, whose time grows with the square of an integer's bytes.
  defp digits(bytes), do: max(bytes, div(bytes * bytes, 64))

  # Elixir makes digits in quadratic time: of an integer of 4 KB (10,000 digits) in 3 ms, of one of 160 KB in 4 s.
  @digits 4_096
  # To see that many parts takes about as long as to make those digits.
  @parts 100_000
  @bytes div(@digits * @digits, 64)

  @doc "Whether a function of Elixir that makes a text of a term, whatever that is, has little to do."
  @spec short?(term()) :: boolean()
  def short?(term), do: fits?(term, @parts, @bytes)

  @doc "The same for an integer."
  @spec short_integer?(integer()) :: boolean()
  def short_integer?(integer), do: :erlang.external_size(integer) <= @digits

  @doc """
  Bytes that the text of a term has at least, or a number above `most` if they are more: those of its strings, and one for any other part.
  A struct can become anything, and a key another one, so they count as one.

      iex> RustyJson.Encode.Measure.least_text(["ab", %{"c" => 1}], 100)
      7
      iex> RustyJson.Encode.Measure.least_text(Enum.reduce(1..60, "x", fn _, a -> [a, a] end), 100) > 100
      true
  """
  @spec least_text(term(), integer()) :: non_neg_integer()
  def least_text(term, most), do: most - left([term], most)

  defp left(_work, left) when left < 0, do: left
  defp left([], left), do: left
  defp left([[] | work], left), do: left(work, left)
  defp left([[part | rest] | work], left) when is_list(part), do: left([part, rest | work], left - 1)

  defp left([[part | rest] | work], left) when is_map(part) and not is_struct(part),
    do: left([:maps.values(part), rest | work], left - 1 - map_size(part))

  defp left([[part | rest] | work], left) when is_binary(part),
    do: left([rest | work], left - byte_size(part) - 2)

  defp left([[_part | rest] | work], left), do: left([rest | work], left - 1)
  defp left([term | work], left), do: left([[term] | work], left)

  @doc "Whether iodata or chardata has at most this many bytes or characters, in about as many parts."
  @spec text?(iodata() | term(), non_neg_integer()) :: boolean()
  def text?(text, most) when is_binary(text), do: byte_size(text) <= most
  def text?(text, most), do: match?({:ended, _, _}, walked([text], most, 16 * most + 65_536))

  # What chardata leaves of this many bytes and parts. If there are more parts, these, and what is left of the bytes.
  defp walked(_work, bytes, _parts) when bytes < 0, do: :long
  defp walked([], bytes, parts), do: {:ended, bytes, parts}
  defp walked(work, bytes, 0), do: {work, bytes}
  defp walked([[] | work], bytes, parts), do: walked(work, bytes, parts - 1)
  defp walked([[part | rest] | work], bytes, parts), do: walked([part, rest | work], bytes, parts)

  defp walked([text | work], bytes, parts) when is_binary(text),
    do: walked(work, bytes - byte_size(text), parts - 1)

  defp walked([_byte | work], bytes, parts), do: walked(work, bytes - 1, parts - 1)

  # Parts between two looks at the clock.
  @stretch 65_536

  @doc """
  Why a call cannot take this text: it exceeds this limit, or the memory or the time of the sandbox. Nil if it can. A limit of 0 is none.

  Iodata can hold the same part many times, so that even its length takes for ever.
  """
  @spec excess(iodata(), non_neg_integer(), Options.t()) :: nil | :max_bytes | SandboxError.t()
  # It is there, and grows no more.
  def excess(text, most, _options) when is_binary(text) and (most == 0 or byte_size(text) <= most), do: nil
  def excess(text, most, _options) when is_binary(text) and most > 0, do: :max_bytes

  def excess(text, most, options) do
    with {:ok, _bytes, _parts} <- measured(text, most, options), do: nil
  end

  # Its bytes and parts, which are not counted where nothing limits them.
  defp measured(text, most, options) do
    case room(most, options) do
      :infinity -> {:ok, 0, 0}
      room -> measured([text], {room, room}, {0, div(16 * room, @stretch) + 16}, most, Options.due(options))
    end
  end

  @doc "The most bytes that Elixir may gather for a call with this limit."
  @spec room(non_neg_integer(), Options.t()) :: pos_integer() | :infinity
  def room(0, options), do: Wasm.max_memory(options)
  # Every number is smaller than an atom.
  def room(most, options), do: min(most, Wasm.max_memory(options))

  defp measured(_work, _bytes, {last, last}, most, options), do: too_long(most, options)

  defp measured(work, {left, room}, {stretch, last}, most, options) do
    case if(Wasm.late?(options), do: :late, else: walked(work, left, @stretch)) do
      {:ended, left, parts} -> {:ok, room - left, (stretch + 1) * @stretch - parts}
      :long -> too_long(most, options)
      :late -> Wasm.late(options)
      {work, left} -> measured(work, {left, room}, {stretch + 1, last}, most, options)
    end
  end

  defp too_long(most, options),
    do: if(room(most, options) == most, do: :max_bytes, else: Wasm.too_large(options))

  # Whoever a text is a part of looks at its parts again, so they are few. To make one binary of them would copy the text at each level of
  # encoders in each other, so long parts stay as they are.
  @few 128
  @long 32_768

  @doc "Text that is not longer than the call allows."
  @spec bounded(iodata(), Options.t()) :: iodata()
  def bounded(text, %{values: %{max_bytes: most}} = options) do
    case measured(text, most, options) do
      {:ok, bytes, parts} when parts <= @few + div(bytes, div(@long, 4)) ->
        text

      {:ok, bytes, parts} ->
        Lost.spend!(parts - bytes, options)
        joined(text)

      :max_bytes ->
        raise of_length(options)

      error ->
        raise error
    end
  end

  @doc "Raises the error of a text that is longer than the call allows."
  @spec check!(iodata(), Options.t()) :: :ok
  def check!(text, %{values: %{max_bytes: most}} = options) do
    case excess(text, most, options) do
      nil -> :ok
      :max_bytes -> raise of_length(options)
      error -> raise error
    end
  end

  @doc "The error of a text that is longer than the call allows."
  @spec of_length(Options.t()) :: EncodeError.t() | SandboxError.t()
  def of_length(%{values: %{max_bytes: most}} = options) do
    case too_long(most, options) do
      :max_bytes -> EncodeError.of_call({Codes.encode(:max_bytes), "", nil}, options)
      error -> error
    end
  end

  # Anything but iodata becomes an error later.
  defp joined(text) do
    join([text], [], [])
  rescue
    ArgumentError -> text
  end

  defp join([], short, done), do: Enum.reverse(done, [one(short)])
  defp join([[] | work], short, done), do: join(work, short, done)

  defp join([[part | rest] | work], short, done) when is_list(rest) or is_binary(rest),
    do: join([part, rest | work], short, done)

  defp join([long | work], short, done) when is_binary(long) and byte_size(long) >= @long,
    do: join(work, [], [long, one(short) | done])

  defp join([part | work], short, done), do: join(work, [part | short], done)

  defp one(short), do: short |> Enum.reverse() |> IO.iodata_to_binary()

  @doc """
  The bytes of iodata, and whether it has more of them, or very many parts.

      iex> RustyJson.Encode.Measure.bytes(["a", [?b | "cd"]], 4)
      {"abcd", false}
      iex> RustyJson.Encode.Measure.bytes(Enum.reduce(1..99, "ab", fn _, text -> [text, text] end), 5)
      {"ababa", true}
  """
  @spec bytes(iodata(), non_neg_integer()) :: {binary(), boolean()}
  def bytes(iodata, most) do
    if text?(iodata, most),
      do: {IO.iodata_to_binary(iodata), false},
      else: {[iodata] |> leading(most, 2 * most + 1_024, & &1, []) |> IO.iodata_to_binary(), true}
  end

  # `cut` gets the start of the text that is too long.
  defp leading(work, left, parts, _cut, found) when work == [] or left <= 0 or parts <= 0,
    do: Enum.reverse(found)

  defp leading([[] | work], left, parts, cut, found), do: leading(work, left, parts - 1, cut, found)

  defp leading([[part | rest] | work], left, parts, cut, found),
    do: leading([part, rest | work], left, parts, cut, found)

  defp leading([text | _work], left, _parts, cut, found) when is_binary(text) and byte_size(text) > left,
    do: Enum.reverse(found, [cut.(binary_part(text, 0, left))])

  defp leading([part | work], left, parts, cut, found) do
    size = if is_binary(part), do: byte_size(part), else: 1
    leading(work, left - size, parts - 1, cut, [part | found])
  end

  @doc """
  The text of chardata, or the start of a text that has more than this many bytes.

      iex> RustyJson.Encode.Measure.text(["a", [?b | "c"]], 9)
      {:ok, "abc"}
      iex> RustyJson.Encode.Measure.text(Enum.reduce(1..99, "x", fn _, text -> [text, text] end), 5)
      {:cut, "xxxxx"}
      iex> RustyJson.Encode.Measure.text([:a], 9)
      :error
  """
  @spec text(term(), non_neg_integer()) :: {:ok, binary()} | {:cut, binary()} | :error
  def text(text, most) when is_binary(text),
    do: if(byte_size(text) <= most, do: {:ok, text}, else: {:cut, whole(binary_part(text, 0, most))})

  def text(chardata, most) when is_list(chardata) do
    {cut, start} =
      if text?(chardata, most),
        do: {:ok, chardata},
        else: {:cut, leading([chardata], most, 2 * most, &whole/1, [])}

    case :unicode.characters_to_binary(start) do
      text when is_binary(text) -> {cut, text}
      _broken -> :error
    end
  rescue
    ArgumentError -> :error
  end

  def text(_other, _most), do: :error

  @doc """
  The first members of a map, without a list of all of them.

      iex> RustyJson.Encode.Measure.members(%{a: 1, b: 2}, 1)
      [a: 1]
  """
  @spec members(map(), non_neg_integer()) :: [{term(), term()}]
  def members(map, most), do: map |> :maps.iterator() |> :maps.next() |> taken(most)

  defp taken({key, value, rest}, most) when most > 0,
    do: [{key, value} | rest |> :maps.next() |> taken(most - 1)]

  defp taken(_end, _most), do: []

  @doc "The text without the bytes of a character that was cut at its end."
  @spec whole(binary()) :: binary()
  def whole(text), do: RustyJson.DecodeError.Snippet.whole_characters(text)
end
