defmodule RustyJson.Encode.Pieces do
  @moduledoc false
  # The texts of a stream as its consumer gets them: within the limit, joined to pieces of a smallest size, and compressed.

  require RustyJson.Engine.Codes

  alias RustyJson.{EncodeError, Options}
  alias RustyJson.Engine.Codes

  @end_mark :"$end of the stream"
  @raised :"$raised in the stream"

  @typedoc "A text, and a function that takes an offset in it and gives the path of the value there."
  @type placed :: {iodata() | :too_long, (non_neg_integer() -> String.t())}

  @doc "In place of a text that is too long for the stream: the function gets the room that is left."
  @spec too_long((non_neg_integer() -> String.t())) :: placed()
  def too_long(path), do: {:too_long, path}

  @doc "Texts as pieces of at least `flush` bytes. What raises does so after the pieces before it."
  @spec stream(Enumerable.t(placed()), pos_integer(), Options.t()) :: Enumerable.t()
  def stream(texts, flush, options) do
    texts |> limited(options) |> caught() |> gathered(flush) |> compressed(options.compress) |> raising()
  end

  # The limit is that of the whole text, before it is compressed.
  defp limited(texts, options) do
    case options.values.max_bytes do
      0 -> Stream.map(texts, &elem(&1, 0))
      most -> Stream.transform(texts, most, &within(&1, &2, options))
    end
  end

  defp within({:too_long, path}, left, options), do: exceeded(path, left, options)

  defp within({text, path}, left, options) do
    length = IO.iodata_length(text)
    if length > left, do: exceeded(path, left, options), else: {[text], left - length}
  end

  @spec exceeded((non_neg_integer() -> String.t()), non_neg_integer(), Options.t()) :: no_return()
  defp exceeded(path, left, options),
    do: raise(EncodeError.from_engine({Codes.encode(:max_bytes), path.(left), nil}, options))

  # What raises becomes the last item, so that the texts before it are delivered first.
  defp caught(texts) do
    Stream.resource(
      fn -> &Enumerable.reduce(texts, &1, fn text, _acc -> {:suspend, text} end) end,
      &next/1,
      fn resume -> resume && resume.({:halt, nil}) end
    )
  end

  defp next(nil), do: {:halt, nil}

  defp next(resume) do
    case resume.({:cont, nil}) do
      {:suspended, text, resume} -> {[text], resume}
      {_ended, _acc} -> {:halt, nil}
    end
  catch
    kind, reason -> {[{@raised, kind, reason, __STACKTRACE__}], nil}
  end

  defp raising(pieces) do
    Stream.map(pieces, fn
      {@raised, kind, reason, stacktrace} -> :erlang.raise(kind, reason, stacktrace)
      piece -> piece
    end)
  end

  defp gathered(texts, flush) do
    texts
    |> Stream.concat([@end_mark])
    |> Stream.transform({[], 0}, fn
      @end_mark, {waiting, size} -> {left(waiting, size), {[], 0}}
      {@raised, _, _, _} = raised, {waiting, size} -> {left(waiting, size) ++ [raised], {[], 0}}
      text, {[], 0} when is_binary(text) and byte_size(text) >= flush -> {[text], {[], 0}}
      text, {waiting, size} -> gather([waiting | text], size + IO.iodata_length(text), flush)
    end)
  end

  defp left(_waiting, 0), do: []
  defp left(waiting, _size), do: [IO.iodata_to_binary(waiting)]

  defp gather(waiting, size, flush) when size >= flush, do: {[IO.iodata_to_binary(waiting)], {[], 0}}
  defp gather(waiting, size, _flush), do: {[], {waiting, size}}

  # 31 bits of window: gzip.
  @gzip 31

  defp compressed(pieces, -1), do: pieces

  defp compressed(pieces, level) do
    pieces
    |> Stream.concat([@end_mark])
    |> Stream.transform(fn -> deflater(level) end, &deflate/2, &:zlib.close/1)
  end

  defp deflater(level) do
    z = :zlib.open()
    :ok = :zlib.deflateInit(z, level, :deflated, @gzip, 8, :default)
    z
  end

  defp deflate(@end_mark, z), do: {packed(:zlib.deflate(z, "", :finish)), z}
  # All bytes so far, so that a reader gets the texts before what was raised.
  defp deflate({@raised, _, _, _} = raised, z), do: {packed(:zlib.deflate(z, "", :sync)) ++ [raised], z}
  defp deflate(piece, z), do: {packed(:zlib.deflate(z, piece)), z}

  defp packed(iodata) do
    case IO.iodata_to_binary(iodata) do
      "" -> []
      binary -> [binary]
    end
  end
end
