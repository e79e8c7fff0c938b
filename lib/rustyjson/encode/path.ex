defmodule RustyJson.Encode.Path do
  @moduledoc false
  # Makes JSON Pointers as `locate` of the core does, for texts that Elixir assembles. Values may be missing (holes), so only
  # brackets, commas and keys count. As there, keys, paths and memory are limited.

  alias RustyJson.Pointer
  alias RustyJson.Schema.Place

  @source Path.expand("../../../core/src/locate.rs", __DIR__)
  @external_resource @source
  constant = fn name ->
    [value] = Regex.run(~r/^pub const #{name}: usize = (\d+);/m, File.read!(@source), capture: :all_but_first)
    String.to_integer(value)
  end

  # Bytes of a key, and of a whole path.
  @max_key constant.("MAX_KEY")
  @max_path constant.("MAX_PATH")
  # Open containers that a path names.
  @max_frames constant.("MAX_FRAMES")
  # What was left out.
  @cut "…"
  # Stands for bytes that are no character: a fragment may have inserted invalid JSON.
  @replacement 0xFFFD

  @doc "Bytes of a key that a path shows."
  @spec max_key() :: pos_integer()
  def max_key, do: @max_key

  @doc "Bytes of a path."
  @spec max_path() :: pos_integer()
  def max_path, do: @max_path

  @doc """
  The path at the end of the text.

      iex> RustyJson.Encode.Path.locate(~s({"a/b":[1,{"c":))
      "/a~1b/1/c"
  """
  @spec locate(binary()) :: String.t()
  def locate(json) do
    half = div(@max_frames, 2)

    case open(json, 0) do
      {_, stack, 0} ->
        stack |> pointer() |> bounded()

      {_, stack, over} ->
        # Which containers are the innermost is known only now.
        {_, inner, 0} = open(json, @max_frames + over - half)
        joined(stack |> Enum.drop(@max_frames - half) |> pointer(), pointer(inner))
    end
  end

  @doc "The place at the end of a text. Of records, each line that ended is one."
  @spec reached(binary(), RustyJson.Options.t()) :: String.t()
  def reached(text, %{origin: :records}) do
    {line, _column} = Place.behind(text, {1, 1})
    join("/" <> Integer.to_string(line - 1), locate(text))
  end

  def reached(text, _options), do: locate(text)

  @doc """
  The path of these indexes and keys, bounded.

      iex> RustyJson.Encode.Path.steps(["a/b", 1])
      "/a~1b/1"
  """
  @spec steps([non_neg_integer() | String.t() | atom()]) :: String.t()
  def steps(steps) when length(steps) <= @max_frames, do: steps |> Enum.map_join(&step/1) |> bounded()

  def steps(steps) do
    half = div(@max_frames, 2)
    [outer, inner] = for count <- [half, -half], do: steps |> Enum.take(count) |> Enum.map_join(&step/1)
    joined(outer, inner)
  end

  @doc """
  A path behind another one, bounded.

      iex> RustyJson.Encode.Path.join("/a/1", "/b")
      "/a/1/b"
  """
  @spec join(String.t(), String.t()) :: String.t()
  def join(prefix, path), do: bounded(prefix <> path)

  @doc """
  The path of an element, as it is for as many more elements in front of it.

      iex> RustyJson.Encode.Path.later("/1/b", 3)
      "/4/b"
  """
  @spec later(String.t(), non_neg_integer()) :: String.t()
  def later("/" <> path, count) do
    case Integer.parse(path) do
      {index, rest} -> bounded("/#{index + count}#{rest}")
      :error -> "/" <> path
    end
  end

  def later(path, _count), do: path

  defp bounded(path) when byte_size(path) <= @max_path, do: path
  defp bounded(path), do: joined(path, path)

  # The beginning of the one path and the end of the other.
  defp joined(outer, inner) do
    half = div(@max_path, 2)
    head = outer |> segments() |> that_fit(half)
    head = Enum.join(head) <> "/" <> @cut
    tail = inner |> segments() |> Enum.reverse() |> that_fit(@max_path - byte_size(head))
    head <> (tail |> Enum.reverse() |> Enum.join())
  end

  defp segments(path), do: for(segment <- path |> String.split("/") |> Enum.drop(1), do: "/" <> segment)

  defp that_fit([segment | segments], room) when byte_size(segment) <= room,
    do: [segment | that_fit(segments, room - byte_size(segment))]

  defp that_fit(_segments, _room), do: []

  ## Open containers

  # Of those at the end of the text: how many are below the ones that are kept, those (innermost first), and how many are
  # above. An array is its index, an object its key.
  defp open(json, from), do: walk(json, {0, [], 0}, {from, 0}, nil)

  # `text` is the last string, which may be a key; the pair has the number from which on frames are kept, and how many are.
  defp walk(<<?[, rest::binary>>, open, kept, _text), do: enter(rest, 0, open, kept)
  defp walk(<<?{, rest::binary>>, open, kept, _text), do: enter(rest, nil, open, kept)
  defp walk(<<byte, rest::binary>>, open, kept, _text) when byte in ~c"]}", do: leave(rest, open, kept)

  defp walk(<<?,, rest::binary>>, {below, [index | stack], 0}, kept, _text) when is_integer(index),
    do: walk(rest, {below, [index + 1 | stack], 0}, kept, nil)

  defp walk(<<?,, rest::binary>>, {below, [_key | stack], 0}, kept, _text),
    do: walk(rest, {below, [nil | stack], 0}, kept, nil)

  defp walk(<<?:, rest::binary>>, {below, [_ | stack], 0}, kept, text),
    do: walk(rest, {below, [text | stack], 0}, kept, nil)

  defp walk(<<?", rest::binary>>, open, kept, _text), do: string(rest, rest, 0, open, kept)
  defp walk(<<_, rest::binary>>, open, kept, text), do: walk(rest, open, kept, text)
  defp walk(<<>>, open, _kept, _text), do: open

  defp enter(rest, frame, {below, stack, above}, {from, n} = kept) do
    cond do
      below < from -> walk(rest, {below + 1, stack, above}, kept, nil)
      n < @max_frames -> walk(rest, {below, [frame | stack], above}, {from, n + 1}, nil)
      true -> walk(rest, {below, stack, above + 1}, kept, nil)
    end
  end

  defp leave(rest, {below, stack, above}, kept) when above > 0,
    do: walk(rest, {below, stack, above - 1}, kept, nil)

  defp leave(rest, {below, [_ | stack], 0}, {from, n}), do: walk(rest, {below, stack, 0}, {from, n - 1}, nil)
  defp leave(rest, {below, [], 0}, kept), do: walk(rest, {max(below - 1, 0), [], 0}, kept, nil)

  defp string(<<?\\, _, rest::binary>>, start, len, open, kept), do: string(rest, start, len + 2, open, kept)

  defp string(<<?", rest::binary>>, start, len, open, kept),
    do: walk(rest, open, kept, binary_part(start, 0, len))

  defp string(<<_, rest::binary>>, start, len, open, kept), do: string(rest, start, len + 1, open, kept)
  defp string(<<>>, _start, _len, open, _kept), do: open

  ## Texts

  defp pointer(stack), do: stack |> Enum.reverse() |> Enum.map_join(&segment/1)

  defp segment(nil), do: ""
  defp segment(index) when is_integer(index), do: "/#{index}"
  defp segment(key), do: IO.iodata_to_binary(["/" | characters(key, @max_key, &character/1)])

  # `next` takes the first character off.
  defp characters(<<>>, _left, _next), do: []

  defp characters(key, left, next) do
    {char, rest} = next.(key)
    left = left - byte_size(<<char::utf8>>)
    if left < 0, do: [@cut], else: [escaped(char) | characters(rest, left, next)]
  end

  defp step(index) when is_integer(index), do: "/#{index}"
  defp step(key) when is_atom(key), do: key |> Atom.to_string() |> step()
  defp step(key), do: IO.iodata_to_binary(["/" | characters(key, @max_key, &plain/1)])

  defp escaped(char), do: Pointer.token(<<char::utf8>>)

  defp character(<<"\\u", high::binary-size(4), rest::binary>>) do
    case {hex(high), rest} do
      {:error, _} ->
        {@replacement, high <> rest}

      {unit, <<"\\u", low::binary-size(4), after_low::binary>>} when unit in 0xD800..0xDBFF ->
        pair(unit, hex(low), rest, after_low)

      {unit, _} when unit in 0xD800..0xDFFF ->
        {@replacement, rest}

      {unit, _} ->
        {unit, rest}
    end
  end

  for {letter, char} <- [
        {?b, ?\b},
        {?f, ?\f},
        {?n, ?\n},
        {?r, ?\r},
        {?t, ?\t},
        {?", ?"},
        {?\\, ?\\},
        {?/, ?/}
      ],
      do: defp(character(<<?\\, unquote(letter), rest::binary>>), do: {unquote(char), rest})

  defp character(<<?\\, _, rest::binary>>), do: {@replacement, rest}
  defp character(text), do: plain(text)

  defp plain(<<char::utf8, rest::binary>>), do: {char, rest}
  defp plain(<<_, rest::binary>>), do: {@replacement, rest}

  defp pair(high, low, _rest, after_low) when low in 0xDC00..0xDFFF,
    do: {0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00), after_low}

  defp pair(_high, _low, rest, _after_low), do: {@replacement, rest}

  defp hex(text) do
    case Base.decode16(text, case: :mixed) do
      {:ok, <<unit::16>>} -> unit
      :error -> :error
    end
  end
end
