defmodule RustyJson.Partial.Lenient.Breaks do
  @moduledoc false
  # The line breaks of strings that became escapes of two bytes. A document can consist of little else, so few bytes are kept of each: its
  # kind and its distance from the one before, in one byte if that is less than 64.

  import Bitwise

  @typedoc "The breaks, and the position behind the last one in the original text."
  @type t :: {binary(), non_neg_integer()}

  @typedoc "Where the escape of a break starts in the mended text, the byte that it stands for, and what `next/1` takes; nil if there is none."
  @type found :: nil | {non_neg_integer(), ?\n | ?\r, rest()}
  @type rest :: {binary(), non_neg_integer()}

  @doc "No breaks."
  @spec none() :: t()
  def none, do: {"", 0}

  @doc "With one more break, which is this byte at this position of the original text."
  @spec add(t(), non_neg_integer(), ?\n | ?\r) :: t()
  def add({packed, behind}, position, byte) do
    kind = if byte == ?\n, do: 0, else: 1
    {<<packed::binary, number(2 * (position - behind) + kind)::binary>>, position + 1}
  end

  @doc "The first break."
  @spec first(t()) :: found()
  def first({packed, _behind}), do: next({packed, 0})

  @doc "The next one."
  @spec next(rest()) :: found()
  def next({"", _behind}), do: nil

  def next({packed, behind}) do
    {number, rest} = number(packed, 0, 0)
    position = behind + div(number, 2)
    {position, if(rem(number, 2) == 0, do: ?\n, else: ?\r), {rest, position + 2}}
  end

  # Seven bits in each byte, the lowest ones first. The other bit says whether more follow.
  defp number(number) when number < 128, do: <<number>>
  defp number(number), do: <<1::1, number::7, number(number >>> 7)::binary>>

  defp number(<<more::1, bits::7, rest::binary>>, low, shift) do
    number = low + (bits <<< shift)
    if more == 1, do: number(rest, number, shift + 7), else: {number, rest}
  end
end
