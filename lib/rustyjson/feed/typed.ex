defmodule RustyJson.Feed.Typed do
  @moduledoc false
  # The items of a stream with `as:`. The core validates values and says where they are: the offset in the piece, the length, and the
  # path that errors show. Each is then decoded into the type.

  alias RustyJson.{Engine, Feed, Fragment, Options, SandboxError}
  alias RustyJson.Schema.{Decode, Place}
  alias RustyJson.Wasm.Host

  # Each value is a call of the module. In wasmex it takes a tenth of a millisecond, and 32 KB can be 16,384 values: an honest module would
  # not decode them within the deadline of a piece. So as many as this have a deadline of their own there.
  @share 512

  @doc "The items at these places of a piece, which starts at this line and column; and the feed, which an error can end."
  @spec items([term()], binary(), Feed.t(), {pos_integer(), pos_integer()}) :: {Feed.t(), [term()]}
  def items(places, bytes, %{options: options} = feed, begin) do
    # The core has applied the limit.
    {line, column} = begin
    options = %{options | max_bytes: 0}
    left = if slow?(options), do: @share, else: :infinity
    each(places, 0, {bytes, {0, line, column}, {options, Decode.prepare(options), left}}, feed, [])
  end

  defp slow?(%{sandbox: %{deadline: _, host: host}}), do: Host.get(host) == Host.Wasmex
  defp slow?(_options), do: false

  defp each([], _from, {_bytes, _before, {%{sandbox: sandbox}, _prepared, _left}}, feed, items),
    do: {%{feed | options: %{feed.options | sandbox: sandbox}}, Enum.reverse(items)}

  defp each(places, from, {bytes, before, {options, _prepared, 0}}, feed, items) do
    options = options |> Options.undue() |> Options.due()
    each(places, from, {bytes, before, {options, Decode.prepare(options), @share}}, feed, items)
  end

  defp each([pointer, place | places], from, piece, %{plan: %{pointers: true}} = feed, items),
    do: one(place, pointer, places, from, piece, feed, items)

  defp each([place | places], from, piece, feed, items), do: one(place, nil, places, from, piece, feed, items)

  defp one(place, pointer, places, from, piece, feed, items) do
    case decode(place, from, piece, feed) do
      {{:ok, value}, from} ->
        each(places, from, counted(piece), feed, [item(value, pointer, feed.plan) | items])

      {{:error, error}, from} ->
        {feed, items} = failed(error, feed, items)

        if feed.ended == nil,
          do: each(places, from, piece |> further(from) |> counted(), feed, items),
          else: each([], from, piece, feed, items)
    end
  end

  defp item(value, pointer, %{tag: tag, pointers: pointers}) do
    value = if pointers, do: {pointer, value}, else: value
    if tag, do: {:ok, value}, else: value
  end

  # Lines and records continue behind a wrong one.
  defp failed(error, %{plan: %{tag: true, records: nil}} = feed, items),
    do: {%{feed | ended: :tagged}, [{:error, error} | items]}

  defp failed(error, %{plan: %{tag: true}} = feed, items), do: {feed, [{:error, error} | items]}
  defp failed(error, feed, items), do: {%{feed | ended: error}, items}

  defp counted({_bytes, _before, {_options, _prepared, :infinity}} = piece), do: piece

  defp counted({bytes, before, {options, prepared, left}}),
    do: {bytes, before, {options, prepared, left - 1}}

  # Lines and columns of the next error are counted from here.
  defp further({bytes, before, options}, at), do: {bytes, Place.reached(bytes, at, before), options}

  # Places ascend and lie in the piece.
  defp decode([start, length, path], from, {bytes, before, options}, feed)
       when is_integer(start) and start >= from and is_integer(length) and length > 0 and
              start + length <= byte_size(bytes) and is_binary(path) do
    text = binary_part(bytes, start, length)
    {value(text, options, feed, fn -> place(start, path, text, bytes, before, feed) end), start + length}
  end

  defp decode(_other, from, {_bytes, _before, {options, _prepared, _left}}, _feed),
    do: {{:error, Engine.Wasm.broken_parts(options)}, from}

  defp value(text, {options, prepared, _left}, feed, place) do
    if judged?(options),
      do: text |> Decode.decode(options, prepared, place) |> again(text, options, feed, place),
      else: {:ok, %Fragment{encode: :binary.copy(text)}}
  end

  # Where a record that exceeds a limit is an item, the time of the others must not be over for it.
  defp again(
         {:error, %SandboxError{reason: :timeout}},
         text,
         options,
         %{plan: %{tag: true, records: records}},
         place
       )
       when records != nil do
    options = options |> Options.undue() |> Options.due()
    Decode.decode(text, options, Decode.prepare(options), place)
  end

  defp again(result, _text, _options, _feed, _place), do: result

  @doc "Whether values are decoded here, which applies the limits of their numbers. Otherwise the core has validated their text."
  @spec judged?(Options.t()) :: boolean()
  def judged?(%{as: as, values: %{strings: strings}}), do: as != nil and (as != :raw or strings != :copy)

  defp place(start, path, text, bytes, before, feed) do
    {_start, line, column} = Place.reached(bytes, start, before)
    position = feed.base + start

    %Place{
      position: position,
      line: if(feed.count_lines, do: line),
      column: column,
      path: if(String.valid?(path), do: path, else: ""),
      data: text,
      offset: position
    }
  end
end
