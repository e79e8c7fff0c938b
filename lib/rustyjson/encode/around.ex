defmodule RustyJson.Encode.Around do
  @moduledoc false
  # What stands around the elements of a stream: brackets and commas, which the text of a batch has as that of a list, and the path in front
  # of that of an error.
  #
  # A 0 leads elements behind others, and leaves them its comma when it is taken off with the bracket: so no text is copied. It is
  # no element that a pointer could redact.

  alias RustyJson.Encode.{Inside, Path}
  alias RustyJson.Options

  @typedoc "Where in the stream the next element stands: its `number`, and the `path` of the array."
  @type state :: %{
          :format => :array | atom(),
          :number => non_neg_integer(),
          :options => Options.t(),
          :path => (() -> String.t()),
          optional(atom()) => term()
        }

  ## Brackets and commas

  @doc "What is encoded for these elements."
  @spec led([term()], state()) :: [term()]
  def led(elements, state), do: if(led?(state), do: [0 | elements], else: elements)

  @doc "Whether a 0 leads them."
  @spec led?(state()) :: boolean()
  def led?(%{format: :array, number: number, options: options}),
    do: number > 0 and Options.pointers(options) == []

  def led?(_records), do: false

  @doc "The text of what was led, as it stands in the stream."
  @spec unled(iodata(), state()) :: iodata()
  def unled(text, %{format: format}) when format != :array, do: text
  def unled(text, %{number: 0, options: options}), do: open(text, options)

  def unled(text, %{options: options} = state) do
    if led?(state),
      do: Inside.between!(text, lead(options), tail(options), options),
      else: alone(text, state)
  end

  @doc "The text of a list that nothing leads, as it stands in the stream."
  @spec alone(iodata(), state()) :: iodata()
  def alone(text, %{format: :array, options: options} = state),
    do: [opening(state), Inside.between!(text, "[", tail(options), options)]

  def alone(text, _records), do: text

  @doc "What stands in front of the next element."
  @spec opening(state()) :: binary()
  def opening(%{number: 0}), do: "["
  def opening(_state), do: ","

  @doc "The text of a list without what closes it."
  @spec open(iodata(), Options.t()) :: iodata()
  def open(text, options), do: Inside.between!(text, "", tail(options), options)

  @doc "What closes the array."
  @spec tail(Options.t()) :: binary()
  def tail(options), do: line(options, Options.depth(options)) <> "]"

  @doc "Bytes that the text of what is led has more than the stream."
  @spec extra(state()) :: non_neg_integer()
  def extra(%{options: options}), do: byte_size(lead(options)) + byte_size(tail(options))

  @doc "What leads it."
  @spec lead(Options.t()) :: binary()
  def lead(options), do: "[" <> line(options, Options.depth(options) + 1) <> "0"

  defp line(%{values: %{line_separator: separator, indent: indent}}, depth),
    do: separator <> String.duplicate(indent, depth)

  ## Paths

  @doc "The path in an element, of one in a list with it alone."
  @spec drop_first(String.t() | nil) :: String.t()
  def drop_first("/0" <> path), do: path
  def drop_first(path), do: path || ""

  @doc "The path of a place in the next element."
  @spec whole_path(String.t(), state()) :: String.t()
  def whole_path(path, %{path: prefix, number: number}),
    do: Path.join(prefix.(), "/" <> Integer.to_string(number) <> path)

  @doc "Text that starts with the next element or with the comma in front of it, with the path of a place in it."
  @spec from_here(iodata(), state()) :: {iodata(), (non_neg_integer() -> String.t())}
  def from_here(text, %{format: format, number: number, options: options, path: prefix}) do
    # An element before that comma gives the next one its number.
    {lead, skipped} = if format == :array and number > 0, do: {"[0", number - 1}, else: {"", number}

    path = fn length ->
      text = text |> IO.iodata_to_binary() |> reaching(length)
      Path.join(prefix.(), (lead <> text) |> Path.reached(options) |> Path.later(skipped))
    end

    {text, path}
  end

  # The core writes a key with its colon, so a key that has room without it is reached.
  defp reaching(text, length) do
    case :erlang.split_binary(text, length) do
      {start, ":" <> _rest} -> start <> ":"
      {start, _rest} -> start
    end
  end
end
