defmodule RustyJson.Feed.Source do
  @moduledoc false
  # A feed under a stream.

  alias RustyJson.Feed

  @end_mark :"$end of the stream"

  @doc "The items of a source."
  @spec decode(Enumerable.t(), Feed.t()) :: Enumerable.t()
  def decode(source, feed) do
    # With a function for the last item Elixir 1.14 closes the source twice when the consumer halts late.
    source
    |> pieces()
    |> Stream.concat([@end_mark])
    |> Stream.transform(fn -> feed end, &step/2, fn _feed -> :ok end)
  end

  defp pieces(source) when is_binary(source) or is_list(source),
    do: source |> IO.iodata_to_binary() |> Feed.slices()

  defp pieces(source), do: Stream.flat_map(source, &(&1 |> IO.iodata_to_binary() |> Feed.slices()))

  defp step(@end_mark, feed) do
    case Feed.finish(feed) do
      {:ok, items} -> {items, feed}
      {:error, error, items} -> {then_raise(items, error), feed}
    end
  end

  defp step(piece, feed) do
    case Feed.push(feed, piece) do
      {:ok, items, feed} -> {items, feed}
      {:error, error, items, feed} -> {then_raise(items, error), feed}
    end
  end

  # What stands before a fault is delivered before it.
  defp then_raise(items, error), do: Stream.concat(items, Stream.map([error], &raise/1))
end
