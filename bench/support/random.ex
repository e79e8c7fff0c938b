defmodule RustyJson.Bench.Random do
  @moduledoc "Random numbers that are the same on every OTP (splitmix64)."

  import Bitwise

  @mask 0xFFFFFFFFFFFFFFFF

  @doc "This many numbers of 31 bits, and the next seed."
  @spec take(pos_integer(), integer()) :: {[non_neg_integer()], integer()}
  def take(count, seed), do: Enum.map_reduce(1..count, seed, fn _, seed -> next(seed) end)

  defp next(seed) do
    seed = seed + 0x9E3779B97F4A7C15 &&& @mask
    z = bxor(seed, seed >>> 30) * 0xBF58476D1CE4E5B9 &&& @mask
    z = bxor(z, z >>> 27) * 0x94D049BB133111EB &&& @mask
    {bxor(z, z >>> 31) >>> 33, seed}
  end
end
