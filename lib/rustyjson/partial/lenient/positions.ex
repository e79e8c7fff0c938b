defmodule RustyJson.Partial.Lenient.Positions do
  @moduledoc false
  # Takes the line breaks that RustyJson.Partial.Lenient wrote as escapes, of two bytes each, back out of the positions of errors.

  alias RustyJson.DecodeError
  alias RustyJson.DecodeError.Message
  alias RustyJson.Partial.{Lenient, Text}
  alias RustyJson.Partial.Lenient.Breaks
  alias RustyJson.Schema.Place

  @doc "A result of the mended text, with the positions of the original one."
  @spec original(result, nil | Lenient.t(), nil | Text.t()) :: result when result: term()
  def original({:error, %DecodeError{errors: errors} = error}, %{breaks: breaks}, text) do
    positions = for %{position: position} <- [error | errors || []], is_integer(position), do: position
    {from, line, column} = text.start
    places = positions |> Enum.sort() |> places(Breaks.first(breaks), {from, line, column, 0}, text, %{})
    {:error, %{moved_error(error, places) | errors: errors && Enum.map(errors, &moved_error(&1, places))}}
  end

  def original(result, _lenient, _text), do: result

  # The line and column of each position in the original text, with the number of breaks before it; none without a break there. All
  # positions are found in one walk, so an error costs no more in a long list than by itself. `reached` are the same of the last place.
  defp places([position | _] = positions, {at, byte, breaks}, {from, line, column, count}, text, found)
       when at < position do
    # Each break was one character, and a line feed ended its line.
    {line, column} = text |> Text.slice(from, at) |> Place.behind({line, column})
    {line, column} = if byte == ?\n, do: {line + 1, 1}, else: {line, column + 1}
    places(positions, Breaks.next(breaks), {at + 2, line, column, count + 1}, text, found)
  end

  defp places([_position | positions], next, {_, _, _, 0} = start, text, found),
    do: places(positions, next, start, text, found)

  defp places([position | positions], next, {from, line, column, count}, text, found) do
    {line, column} = text |> Text.slice(from, max(position, from)) |> Place.behind({line, column})
    found = Map.put(found, position, {count, line, column})
    places(positions, next, {max(position, from), line, column, count}, text, found)
  end

  defp places([], _next, _reached, _text, found), do: found

  defp moved_error(%{position: position} = error, places) when is_map_key(places, position) do
    {count, line, column} = Map.fetch!(places, position)
    old = Message.at("", position, error.line, error.column)
    new = Message.at("", position - count, line, column)
    message = error.message && String.replace(error.message, old, new, global: false)
    place = %{position: position - count, offset: error.offset - count, line: line, column: column}
    error |> Map.merge(place) |> Map.put(:message, message)
  end

  defp moved_error(error, _places), do: error
end
