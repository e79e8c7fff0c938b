defmodule RustyJson.Partial.Text do
  @moduledoc false
  # The text of a document so far, for those that are decoded into a type when they are complete. It is the text as it was mended
  # (RustyJson.Partial.Lenient), which may start behind other text.

  alias RustyJson.Encode.Path
  alias RustyJson.Options
  alias RustyJson.Decode.Input
  alias RustyJson.Schema.Place

  @enforce_keys [:bytes]
  defstruct [:bytes, :read, start: {0, 1, 1}]

  # `read` is the position up to which the core has read: behind it, more bytes may change what a number, an escape or a character is.
  @type t :: %__MODULE__{bytes: binary(), read: nil | non_neg_integer(), start: Place.reached()}

  @typedoc "Some bytes, and the position of the first one."
  @type piece :: {binary(), non_neg_integer()}

  @spec new() :: t()
  def new, do: %__MODULE__{bytes: ""}

  @doc "The text begins at this position, line and column."
  @spec starts(t(), Place.reached()) :: t()
  def starts(text, start), do: %{text | start: start}

  # Each piece is appended where there is room for it, as long as nothing outside of Elixir looks at the bytes: an engine gets a copy.
  @spec append(nil | t(), binary()) :: nil | t()
  def append(nil, _more), do: nil
  def append(%{bytes: bytes} = text, more), do: %{text | bytes: bytes <> more}

  @doc "The text of which the core has read this much, whatever stands behind it."
  @spec read(nil | t(), nil | non_neg_integer()) :: nil | t()
  def read(nil, _position), do: nil
  def read(text, position), do: %{text | read: position}

  @doc "The text without what the core has not read."
  @spec certain(t()) :: t()
  def certain(%{read: position, bytes: bytes, start: {first, _, _}} = text)
      when is_integer(position) and position >= first and position - first <= byte_size(bytes),
      do: %{text | bytes: binary_part(bytes, 0, position - first)}

  def certain(text), do: text

  @doc "The bytes between two positions, or nil if they are not there."
  @spec slice(t(), integer(), integer()) :: nil | binary()
  def slice(%{bytes: bytes, start: {first, _, _}}, start, stop)
      when start >= first and stop >= start and stop - first <= byte_size(bytes),
      do: bytes |> binary_part(start - first, stop - start) |> :binary.copy()

  def slice(_text, _start, _stop), do: nil

  @doc "The path of the object in which a key stands at this position."
  @spec path(t(), integer()) :: String.t()
  def path(%{start: {first, _, _}} = text, position), do: Path.locate(slice(text, first, position) || "")

  @doc "What `RustyJson.decode/2` gives for all of it."
  @spec decode(t(), Options.t()) :: {:ok, term()} | {:error, Exception.t()}
  def decode(%{bytes: bytes, start: {0, 1, 1}}, options), do: bytes |> :binary.copy() |> Input.decode(options)

  def decode(%{bytes: bytes, start: {position, line, column}}, options) do
    bytes = :binary.copy(bytes)

    place = %Place{position: position, line: line, column: column, path: "", data: bytes, offset: position}
    Input.decode(bytes, %{options | origin: place})
  end
end
