defmodule RustyJson.Feed.State do
  @moduledoc false
  # What Elixir knows of the state of a stream: line and column, which come first, and the open brackets, which come last.
  #
  # The state has a bit for each of them, and the engine copies it with each piece. Where depth has no limit, that would be
  # quadratic in the number of brackets. So the bits of outer brackets wait here, and the engine sees those alone that a piece can close:
  # one for each byte of it, and one more, so that the value never ends above the others.

  # Bytes of bits that stay in the state.
  @stay 256
  # What the packed options say of a depth without a limit. With another limit, the engine has to count all brackets.
  @endless 0xFFFF_FFFF
  # Places where nothing is open, and flags (core/src/scan/state.rs): nothing was read yet, or no byte order mark may stand here; between two
  # records, or in one whose rest is left out.
  @outside %{begun: {0, 1}, unmarked: {0, 0}, between: {7, 0}, skipping: {7, 4}}
  # The largest line and column.
  @u62 0x3FFF_FFFF_FFFF_FFFF

  @typedoc "Bits of brackets, the innermost first."
  @type below :: [binary()]

  @doc "A state in which nothing is open."
  @spec outside(pos_integer(), pos_integer(), :begun | :unmarked | :between | :skipping) :: binary()
  def outside(line, column, where) do
    {place, flags} = Map.fetch!(@outside, where)
    <<counted(line)::64-little, counted(column)::64-little, place, flags, 0::16-little, 0::32-little>>
  end

  # A stream is never that long. Only a module that was taken over says so.
  defp counted(number), do: if(number < div(@u62, 2), do: number, else: 1)

  @doc "Line and column of the first byte that is not processed. A module that was taken over can return any state."
  @spec position(binary()) :: {pos_integer(), pos_integer()}
  def position(<<line::64-little, column::64-little, _::binary>>)
      when line in 1..@u62//1 and column in 1..@u62//1,
      do: {line, column}

  def position(_state), do: {1, 1}

  @doc "The state with the brackets that a piece of this many bytes can close, and the brackets that still wait."
  @spec raise(binary(), below(), non_neg_integer()) :: {binary(), below()}
  def raise(state, [], _bytes), do: {state, []}

  def raise(state, below, bytes) do
    case parts(state) do
      {before, bits, depth} when depth > 0 ->
        {taken, below} = take(below, div(bytes, 8) + 2 - byte_size(bits), [])
        {joined(before, [taken, bits], depth + 8 * IO.iodata_length(taken)), below}

      # Outside of a value nothing is open.
      _other ->
        {state, []}
    end
  end

  defp take([bits | below], need, taken) when need >= byte_size(bits),
    do: take(below, need - byte_size(bits), [bits | taken])

  defp take([bits | below], need, taken) when need > 0 do
    {outer, inner} = :erlang.split_binary(bits, max(byte_size(bits) - need - @stay, 0))
    {[inner | taken], if(outer == "", do: below, else: [outer | below])}
  end

  defp take(below, _need, taken), do: {taken, below}

  @doc "The state after a piece, without the brackets that lie far out."
  @spec lower(binary(), below(), non_neg_integer()) :: {binary(), below()}
  def lower(state, below, @endless) when byte_size(state) > 2 * @stay do
    case parts(state) do
      {before, bits, depth} when byte_size(bits) > 2 * @stay ->
        {outer, inner} = :erlang.split_binary(bits, byte_size(bits) - @stay)
        {joined(before, inner, depth - 8 * byte_size(outer)), [outer | below]}

      _few ->
        {state, below}
    end
  end

  def lower(state, below, _max_depth), do: {state, below}

  defp joined(before, bits, depth), do: IO.iodata_to_binary([before, bits, <<depth::32-little>>])

  # A state ends with a bit for each open bracket, the outermost first, and their number (core/src/scan/wire.rs). A module that was taken
  # over can return any state.
  defp parts(state) when byte_size(state) >= 4 do
    {front, <<depth::32-little>>} = :erlang.split_binary(state, byte_size(state) - 4)

    case byte_size(front) - div(depth + 7, 8) do
      at when at >= 0 ->
        {before, bits} = :erlang.split_binary(front, at)
        {before, bits, depth}

      _negative ->
        nil
    end
  end

  defp parts(_state), do: nil
end
