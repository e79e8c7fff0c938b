defmodule RustyJson.Schema.Place do
  @moduledoc false
  # Where a part of a larger text stands that is decoded by itself. Errors in the part name positions of the whole.

  alias RustyJson.Encode.Path
  alias RustyJson.Engine

  @enforce_keys [:position, :line, :column, :path, :data, :offset]
  defstruct [:position, :line, :column, :path, :data, :offset]

  @type t :: %__MODULE__{
          # Of the part's first byte, in the whole. A file that is read from the middle has no lines.
          position: non_neg_integer(),
          line: nil | pos_integer(),
          column: pos_integer(),
          path: String.t(),
          # What an error shows as its data, and the position of the first byte of that.
          data: binary(),
          offset: non_neg_integer()
        }

  @typedoc "A byte of a text, with its line and column."
  @type reached :: {non_neg_integer(), pos_integer(), pos_integer()}

  @doc "The start of a text."
  @spec start() :: reached()
  def start, do: {0, 1, 1}

  @doc "The place of this byte, from that of one before it."
  @spec reached(binary(), non_neg_integer(), reached()) :: reached()
  def reached(text, at, {from, line, column}) do
    {line, column} = behind(binary_part(text, from, at - from), {line, column})
    {at, line, column}
  end

  @doc "The place of the part from byte `start` of a document on, at this pointer. `before` is the place of a byte before it."
  @spec in_document(binary(), non_neg_integer(), String.t(), reached()) :: t()
  def in_document(json, start, pointer, before) do
    {_start, line, column} = reached(json, start, before)
    %__MODULE__{position: start, line: line, column: column, path: pointer, data: json, offset: 0}
  end

  @doc "The line and column behind this text, which starts at the given ones."
  @spec behind(binary(), {pos_integer(), pos_integer()}) :: {pos_integer(), pos_integer()}
  def behind(text, {line, column}), do: behind(text, line, column)

  # A list of all line breaks would take many times the memory of the text. Bytes that continue a character do not count, as in the
  # core. The text can be invalid UTF-8.
  defp behind(<<?\n, rest::binary>>, line, _column), do: behind(rest, line + 1, 1)

  defp behind(<<byte, rest::binary>>, line, column) when byte in 0x80..0xBF,
    do: behind(rest, line, column)

  defp behind(<<_, rest::binary>>, line, column), do: behind(rest, line, column + 1)
  defp behind(<<>>, line, column), do: {line, column}

  @doc "A failure in the part as one in the whole, with the data that it shows."
  @spec moved(Engine.decode_failure(), t()) :: {Engine.decode_failure(), binary(), non_neg_integer()}
  def moved({code, position, line, column, path}, place) do
    {line, column} = moved_to(line, column, place)
    {{code, place.position + position, line, column, Path.join(place.path, path)}, place.data, place.offset}
  end

  defp moved_to(1, column, place), do: {place.line, place.column + column - 1}
  defp moved_to(_line, column, %{line: nil}), do: {nil, column}
  defp moved_to(line, column, place), do: {place.line + line - 1, column}
end
