defmodule RustyJson.Wasm.Parts do
  @moduledoc false
  # Counts the parts of a term up to a limit: a list whose elements are each the next list twice has 2^n parts with n cells.

  # A part is at least a byte of JSON, except fields that a struct's own encoder leaves out.
  @margin 16
  @always 1_000_000

  @doc "Whether the term has few enough parts to be worth writing out, for a text of at most this many bytes (0 means any)."
  @spec fit?(term(), non_neg_integer()) :: boolean()
  def fit?(_term, 0), do: true

  def fit?(term, max_bytes) do
    count([term], max(@always, @margin * max_bytes))
    true
  catch
    :too_many -> false
  end

  # The remaining work is a list of lists, so that nothing is copied and nothing recurses.
  defp count(_work, left) when left < 0, do: throw(:too_many)
  defp count([], left), do: left
  defp count([[] | work], left), do: count(work, left)
  defp count([[part | rest] | work], left) when is_list(part), do: count([part, rest | work], left - 1)
  defp count([[part | rest] | work], left) when is_map(part), do: count([flat(part), rest | work], left - 1)

  defp count([[part | rest] | work], left) when is_tuple(part),
    do: count([Tuple.to_list(part), rest | work], left - 1)

  defp count([[_scalar | rest] | work], left), do: count([rest | work], left - 1)
  # The tail of an improper list.
  defp count([tail | work], left), do: count([[tail] | work], left)

  defp flat(map), do: :maps.fold(fn key, value, parts -> [key, value | parts] end, [], map)
end
