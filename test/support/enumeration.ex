defmodule RustyJson.Test.Enumeration do
  @moduledoc """
  Every document of a few tokens, and what one engine says of it. `core/tests/all/enumeration.rs` has the same from the naive reader, in
  the same words, and writes its digests to `test/vectors/enumerated.txt`.
  """

  alias RustyJson.{Feed, Partial}

  @folder Path.expand("../vectors", __DIR__)
  @tokens @folder
          |> Path.join("tokens.txt")
          |> File.stream!()
          |> Enum.map(&Base.decode16!(String.trim(&1), case: :lower))

  @doc "The alphabet."
  def tokens, do: @tokens

  @doc "The committed digests, as `{length, first token, digest}`."
  def digests do
    [_empty | lines] =
      @folder |> Path.join("enumerated.txt") |> File.read!() |> String.split("\n", trim: true)

    for {line, at} <- Enum.with_index(lines) do
      [digest, length] = String.split(line, " ")
      {String.to_integer(length), Enum.at(@tokens, rem(at, length(@tokens))), String.to_integer(digest, 16)}
    end
  end

  @doc "Reduces all documents that start with this text and have this many more tokens, in the order of the tokens."
  def reduce(text, 0, acc, fun), do: fun.(text, acc)
  def reduce(text, more, acc, fun), do: Enum.reduce(@tokens, acc, &reduce(text <> &1, more - 1, &2, fun))

  @doc "A line about the document: its term, or its error. `valid?/2` has to agree."
  def verdict(text, options) do
    decoded = RustyJson.decode(text, options)
    line = line(decoded)

    if RustyJson.valid?(text, options) == match?({:ok, _}, decoded),
      do: line,
      else: ["valid? differs on ", inspect(text)]
  end

  defp line({:ok, term}), do: [render(term), ?\n]
  defp line({:error, error}), do: [Atom.to_string(error.reason), ?\s, Integer.to_string(error.position), ?\n]

  defp render(nil), do: ?n
  defp render(true), do: ?t
  defp render(false), do: ?f
  defp render(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp render(float) when is_float(float), do: [?d, hex(<<float::float-64>>)]
  defp render(text) when is_binary(text), do: [?", hex(text)]
  defp render(list) when is_list(list), do: [?[, Enum.map(list, &[render(&1), ?,]), ?]]

  defp render(map),
    do: [?{, for({key, value} <- Enum.sort(map), do: [?", hex(key), ?:, render(value), ?,]), ?}]

  defp hex(bytes), do: Base.encode16(bytes, case: :lower)

  @doc """
  Holds `RustyJson.Feed` and `RustyJson.Partial` to the answer of `decode/2`, with the document cut at each place and into single bytes.
  Adds the number of comparisons to `count`.
  """
  def cut(text, options, count) do
    expected = answer(RustyJson.decode(text, options))
    bytes = for <<byte <- text>>, do: <<byte>>
    ways = [bytes | for(at <- 1..(byte_size(text) - 1)//1, do: halves(text, at))]

    for {name, read} <- [feed: &feed/2, partial: &partial/2], pieces <- ways, reduce: count do
      count ->
        found = answer(read.(pieces, options))

        if found != expected,
          do: raise("#{name} of #{inspect(pieces)}: #{inspect(found)}, expected #{inspect(expected)}")

        count + 1
    end
  end

  defp halves(text, at), do: [binary_part(text, 0, at), binary_part(text, at, byte_size(text) - at)]

  defp answer({:ok, term}), do: {:ok, term}
  defp answer({:error, error}), do: {error.reason, error.position, error.line, error.column, error.path}

  # A document alone: what stands before an error was returned already.
  defp feed(pieces, options) do
    {items, ended} = Enum.reduce(pieces, {[], Feed.new([at: ""] ++ options)}, &push_feed/2)

    case ended do
      %Feed{} -> ended |> Feed.finish() |> finished(items)
      error -> {:error, error}
    end
  end

  defp push_feed(piece, {items, %Feed{} = feed}) do
    case Feed.push(feed, piece) do
      {:ok, more, feed} -> {items ++ more, feed}
      {:error, error, _more, _feed} -> {items, error}
    end
  end

  defp push_feed(_piece, ended), do: ended

  defp finished({:ok, more}, items) do
    [term] = items ++ more
    {:ok, term}
  end

  defp finished({:error, error, _more}, _items), do: {:error, error}

  defp partial(pieces, options) do
    Enum.reduce_while(pieces, {:ok, Partial.new(options)}, fn piece, {:ok, partial} ->
      case Partial.push(partial, piece) do
        {:ok, partial} -> {:cont, {:ok, partial}}
        failed -> {:halt, failed}
      end
    end)
    |> then(fn pushed -> with {:ok, partial} <- pushed, do: Partial.finish(partial) end)
  end
end
