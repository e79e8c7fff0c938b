defmodule RustyJson.Test.Streams do
  @moduledoc """
  Feeds a text in pieces to every engine that is there, and compares: whole, cut at every byte and in pieces of one byte, the
  items and every field of an error are the same. `data` and `offset` may differ: a piece is all there is of skipped text.
  """

  import ExUnit.Assertions

  alias RustyJson.{DecodeError, Feed}
  alias RustyJson.Test.Judge

  @doc "The result of every engine for every cut: values, then possibly `{:error, error}`."
  def items(text, options \\ [], cuts \\ :every) do
    results =
      for {name, engine} <- Judge.engines(), do: {name, of_engine(engine ++ options, cuts(text, cuts))}

    [{_, first} | _] = results

    for {name, result} <- results,
        do: assert(result == first, "#{name} differs on #{inspect(text, limit: 200)}")

    first
  end

  defp of_engine(options, cuts) do
    [whole | others] = Enum.map(cuts, &{&1, fed(&1, options)})
    {_, result} = whole
    for {pieces, other} <- others, do: assert(other == result, "in pieces #{inspect(pieces, limit: 50)}")
    result
  end

  # Every engine gets the whole text, and single bytes.
  defp cuts(text, :few), do: [[text], bytes(text)]

  defp cuts(text, :every) do
    size = byte_size(text)

    [[text], bytes(text)] ++
      for(cut <- 0..size, do: [binary_part(text, 0, cut), binary_part(text, cut, size - cut)])
  end

  @doc "A text in pieces of one byte."
  def bytes(text), do: for(<<byte <- text>>, do: <<byte>>)

  @doc "A text in pieces of this size, and what is left."
  def pieces(text, size) when byte_size(text) <= size, do: [text]

  def pieces(text, size) do
    {piece, rest} = :erlang.split_binary(text, size)
    [piece | pieces(rest, size)]
  end

  @doc "The items of these pieces; an error is the last."
  def fed(pieces, options) do
    pieces |> Enum.reduce({[], Feed.new(options)}, &push/2) |> finish() |> Enum.map(&plain/1)
  end

  defp push(piece, {items, %Feed{} = feed}) do
    case Feed.push(feed, piece) do
      {:ok, more, feed} -> {items ++ more, feed}
      {:error, error, more, _feed} -> items ++ more ++ [{:error, error}]
    end
  end

  defp push(_piece, ended), do: ended

  defp finish({items, feed}) do
    case Feed.finish(feed) do
      {:ok, more} -> items ++ more
      {:error, error, more} -> items ++ more ++ [{:error, error}]
    end
  end

  defp finish(ended), do: ended

  defp plain({:error, %DecodeError{} = error}) do
    assert error.position >= error.offset
    {:error, facts(error)}
  end

  defp plain(item), do: item

  # These messages quote the text after the position, which may not have arrived yet.
  @quoting [:invalid_escape, :invalid_unicode_escape]

  @doc "The fields of an error that do not depend on the cuts."
  def facts(%{message: message, reason: reason} = error) do
    message = if reason in @quoting, do: "", else: message
    {reason, error.position, error.line, error.column, error.path, message}
  end

  @doc "Errors by reason, position and path."
  def short(items) do
    Enum.map(items, fn
      {:error, {reason, position, _line, _column, path, _message}} -> {reason, position, path}
      item -> item
    end)
  end

  @doc "The whole text that `RustyJson.encode_stream/2` writes in pieces."
  def joined(term, options), do: term |> RustyJson.encode_stream(options) |> Enum.join()

  @doc "What a stream delivered, and the error that it raised; `:ok` without one."
  @spec until_fault(Enumerable.t()) :: {list(), Exception.t() | :ok}
  def until_fault(stream) do
    {:ok, seen} = Agent.start_link(fn -> [] end)

    error =
      try do
        Enum.each(stream, &Agent.update(seen, fn items -> [&1 | items] end))
      rescue
        error -> error
      end

    {seen |> Agent.get(& &1) |> Enum.reverse(), error}
  end
end
