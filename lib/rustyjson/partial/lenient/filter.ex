defmodule RustyJson.Partial.Lenient.Filter do
  @moduledoc false
  # The state of RustyJson.Partial.Lenient, and what its phases share.

  alias RustyJson.Partial.Lenient.Breaks
  alias RustyJson.Schema.Place

  @literals [{"None", "null"}, {"True", "true"}, {"False", "false"}]
  # White space that is looked behind. What stands behind more is not mended.
  @most_space 1024
  # Mends that are listed.
  @most_listed 100

  # The phase is :before or :info in front of the document, :scalar in a value that is the document if nothing follows it, :document, or
  # :after it; then all is passed on (:ended) or left out (:dropped). `scalar` has the bytes of such a value
  # (RustyJson.Partial.Lenient.Scalar), and `tried` says that it was none. `objects`: the document is an object. `found`: there is one.
  # `refused` is the first brace that starts no object, in the fence if there is one: why, and where. `breaks` are the line breaks that
  # became escapes.
  defstruct mends: [],
            phase: :before,
            at: {0, 1, 1},
            start: nil,
            held: "",
            fenced: false,
            prose: false,
            objects: false,
            found: true,
            refused: nil,
            tried: false,
            scalar: nil,
            mode: :outside,
            depth: 0,
            mended: [],
            listed: 0,
            breaks: Breaks.none()

  @type t :: %__MODULE__{}

  @typedoc "Bytes that are passed on now, and the state behind them."
  @type passed :: {iodata(), t()}

  @doc "Whether this is to be mended."
  @spec mends?(t(), atom()) :: boolean()
  def mends?(%{mends: mends}, mend), do: mend in mends

  @doc "A mend was made at this position."
  @spec noted(t(), atom(), non_neg_integer()) :: t()
  def noted(%{listed: @most_listed} = lenient, _mend, _position), do: lenient

  def noted(%{mended: mended, listed: listed} = lenient, mend, position),
    do: %{lenient | mended: [{mend, position} | mended], listed: listed + 1}

  @doc "Other text stands here: one entry for all of it."
  @spec prose(t()) :: t()
  def prose(%{prose: true} = lenient), do: lenient
  def prose(%{at: {position, _, _}} = lenient), do: %{noted(lenient, :prose, position) | prose: true}

  @doc "The words of Python that are mended, each with that of JSON, which has as many letters."
  @spec literals(t()) :: [{String.t(), String.t()}]
  def literals(filter), do: if(mends?(filter, :python_literals), do: @literals, else: [])

  @doc "The words that are values: those of JSON, and those of Python where these are mended."
  @spec words(t()) :: [String.t()]
  def words(filter),
    do: for({_python, json} <- @literals, do: json) ++ for({python, _json} <- literals(filter), do: python)

  @doc "Moves the start of the rest by a number of bytes that are in the same line."
  @spec passed(t(), non_neg_integer()) :: t()
  def passed(%{at: {position, line, column}} = filter, count),
    do: %{filter | at: {position + count, line, column}}

  @doc "What stands behind white space, and its position, line and column, from those of the bytes."
  @spec space(binary(), non_neg_integer(), pos_integer(), pos_integer()) :: {binary(), Place.reached()}
  def space(<<?\n, rest::binary>>, position, line, _column), do: space(rest, position + 1, line + 1, 1)

  def space(<<byte, rest::binary>>, position, line, column) when byte in ~c" \t\r",
    do: space(rest, position + 1, line, column + 1)

  def space(rest, position, line, column), do: {rest, {position, line, column}}

  @doc "What stands behind white space; `:far` if there is much of that."
  @spec behind_space(binary()) :: binary() | :far
  def behind_space(bytes) do
    case spaces(bytes, 0) do
      @most_space -> :far
      count -> binary_part(bytes, count, byte_size(bytes) - count)
    end
  end

  # A function that returned what it has not matched would make a binary of it for each byte.
  defp spaces(<<space, rest::binary>>, count) when space in ~c" \t\r\n" and count < @most_space,
    do: spaces(rest, count + 1)

  defp spaces(_rest, count), do: count
end
