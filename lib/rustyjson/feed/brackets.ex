defmodule RustyJson.Feed.Brackets do
  @moduledoc false
  # The state of a stream has a bit for each open bracket, and the engine copies it with each piece. Where depth has no limit, that would be
  # quadratic in the number of brackets. So the bits of outer brackets wait here, and the engine sees those alone that a piece can close:
  # one for each byte of it, and one more, so that the value never ends above the others.

  # Bytes of bits that stay in the state.
  @stay 256
  # What the packed options say of a depth without a limit. With another limit, the engine has to count all brackets.
  @endless 0xFFFF_FFFF
  # Flags of a state (core/src/scan/state.rs): inside of a value, values were counted.
  @inside 16
  @counted 32
  # Bytes of a scanner before its depth (core/src/scan/wire.rs).
  @scanner 10

  @typedoc "Bits of brackets, the innermost first."
  @type below :: [binary()]

  @doc "The state with the brackets that a piece of this many bytes can close, and the brackets that still wait."
  @spec raise(binary(), below(), non_neg_integer()) :: {binary(), below()}
  def raise(state, [], _bytes), do: {state, []}

  def raise(state, below, bytes) do
    case parts(state) do
      {head, depth, bits, token} ->
        {taken, below} = take(below, div(bytes, 8) + 2 - byte_size(bits), [])
        {joined(head, depth + 8 * IO.iodata_length(taken), [taken, bits], token), below}

      # Outside of a value nothing is open.
      nil ->
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
      {head, depth, bits, token} when byte_size(bits) > 2 * @stay ->
        {outer, inner} = :erlang.split_binary(bits, byte_size(bits) - @stay)
        {joined(head, depth - 8 * byte_size(outer), inner, token), [outer | below]}

      _few ->
        {state, below}
    end
  end

  def lower(state, below, _max_depth), do: {state, below}

  defp joined(head, depth, bits, token),
    do: IO.iodata_to_binary([head, <<depth::32-little>>, bits, token])

  # What comes before the depth, the bits, and what follows. A module that was taken over can return any state.
  defp parts(<<_line::64, _column::64, _place, flags, levels::16-little, rest::binary>> = state) do
    counted = if Bitwise.band(flags, @counted) == 0, do: 0, else: 8

    with true <- Bitwise.band(flags, @inside) != 0,
         {_levels, rest} <- levels(rest, levels),
         {_scanner, <<depth::32-little, rest::binary>>} <- split(rest, counted + @scanner),
         {bits, token} <- split(rest, div(depth + 7, 8)) do
      {binary_part(state, 0, byte_size(state) - byte_size(rest) - 4), depth, bits, token}
    else
      _other -> nil
    end
  end

  defp parts(_state), do: nil

  # Behind the open containers on the path.
  defp levels(rest, 0), do: {"", rest}

  defp levels(<<_flags, _index::64, length::32-little, rest::binary>>, count) do
    with {_key, rest} <- split(rest, length), do: levels(rest, count - 1)
  end

  defp levels(_rest, _count), do: nil

  defp split(bytes, at) when at <= byte_size(bytes), do: :erlang.split_binary(bytes, at)
  defp split(_bytes, _at), do: nil
end
