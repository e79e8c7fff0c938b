defmodule RustyJson.Partial.Lenient do
  @moduledoc false
  # The option `lenient:` of a partial document: a filter in front of the core that mends what language models do to JSON. It looks at
  # each byte once, and holds back at most a comma with the white space behind it, or the beginning of a word or a fence.
  #
  # What it changes keeps its length, so that positions stay those of the original text. Two things do not: what stands in front of the
  # document is left out, and the document starts at that position; and a line break in a string becomes an escape of two bytes, which
  # `RustyJson.Partial.Lenient.Positions` takes back out of positions.

  alias RustyJson.DecodeError
  alias RustyJson.DecodeError.Message
  alias RustyJson.Encode.Excerpt
  alias RustyJson.Options.Unknown
  alias RustyJson.Partial.Lenient.{Content, Filter, Front, Scalar}
  alias RustyJson.Schema.{Place, Shape, Type}

  @mends [:code_fence, :prose, :trailing_commas, :raw_newlines, :python_literals]

  @type t :: Filter.t()

  @doc "The filter for these mends, or nil without any. Raises for what is none."
  @spec new!(term()) :: nil | t()
  def new!([]), do: nil

  def new!(mends) do
    if is_list(mends) and not List.improper?(mends) and Enum.all?(mends, &(&1 in @mends)),
      do: filter(mends),
      else: wrong!(mends)
  end

  defp wrong!(mends) do
    wrong =
      if is_list(mends) and not List.improper?(mends), do: Enum.find(mends, &(&1 not in @mends)), else: mends

    known = Enum.map_join(@mends, ", ", &inspect/1)
    meant = with name when name != nil <- Unknown.near(wrong, @mends), do: ", did you mean #{inspect(name)}?"
    raise ArgumentError, "option :lenient takes a list of #{known}, got: #{Excerpt.brief(wrong)}#{meant}"
  end

  defp filter(mends) do
    if :code_fence in mends or :prose in mends,
      do: %Filter{mends: mends},
      else: %Filter{mends: mends, phase: :document, start: {0, 1, 1}}
  end

  @doc "The filter for a document of this type."
  @spec of_type(nil | t(), nil | Type.t()) :: nil | t()
  def of_type(%{} = lenient, type) when type != nil, do: %{lenient | objects: object?(Shape.of(type).type)}
  def of_type(lenient, _any), do: lenient

  defp object?({:nullable, type}), do: object?(type)
  defp object?({:checked, type, _constraints}), do: object?(type)
  defp object?({kind, _type}), do: kind == :map
  defp object?({:tagged, _key, _variants}), do: true
  defp object?(type), do: Type.struct?(type)

  @doc "Where the document starts, if that is known: its position, line and column."
  @spec start(nil | t()) :: nil | Place.reached()
  def start(nil), do: nil
  def start(%{start: start}), do: start

  @doc "Whether it is not known yet where the document starts."
  @spec searching?(nil | t()) :: boolean()
  def searching?(nil), do: false
  def searching?(%{phase: phase}), do: phase in [:before, :info, :scalar]

  @doc "The mends so far."
  @spec mended(nil | t()) :: [{atom(), non_neg_integer()}]
  def mended(nil), do: []
  # As `rest/1` will decide if nothing follows.
  def mended(%{phase: :scalar} = lenient), do: lenient |> rest() |> elem(1) |> mended()

  def mended(%{phase: :after, held: held} = lenient) when held != "",
    do: lenient |> rest() |> elem(1) |> mended()

  def mended(%{mended: mended}), do: Enum.reverse(mended)

  @doc "The next bytes, mended as far as that can be told."
  @spec push(t(), binary()) :: {binary(), t()}
  def push(%{held: held} = lenient, bytes) do
    bytes = if held == "", do: bytes, else: held <> bytes
    {out, lenient} = phase(bytes, %{lenient | held: ""})
    {IO.iodata_to_binary(out), lenient}
  end

  @doc "What was held back, when nothing follows."
  @spec rest(nil | t()) :: {binary(), nil | t()}
  def rest(nil), do: {"", nil}

  def rest(%{phase: :scalar} = lenient) do
    {bytes, lenient, whole} = Scalar.rest(lenient)
    if whole, do: bytes |> Front.begin(lenient) |> all(), else: without_scalar(bytes, lenient)
  end

  # Behind a bracket, the text is cut; a cut fence is none.
  def rest(%{phase: :before, held: <<bracket, _::binary>> = held} = lenient) when bracket in ~c"{[",
    do: held |> Front.begin(%{lenient | held: ""}) |> all()

  def rest(%{phase: phase, at: at} = lenient) when phase in [:before, :info],
    do: {"", %{lenient | held: "", start: at, found: false}}

  # Behind the document a cut fence is other text.
  def rest(%{phase: :after, held: held} = lenient) when held != "" do
    lenient = %{lenient | held: ""}
    if Filter.mends?(lenient, :prose), do: {"", Filter.prose(lenient)}, else: {held, lenient}
  end

  def rest(%{held: held} = lenient), do: {cut(held, lenient), %{lenient | held: ""}}

  defp all({out, lenient}) do
    {held, lenient} = rest(lenient)
    {IO.iodata_to_binary([out | held]), lenient}
  end

  # Text that starts like a value is searched as other text is. If that finds nothing, a string that does not end is the document.
  defp without_scalar(bytes, lenient) do
    case bytes |> Front.before(%{lenient | tried: true}) |> all() do
      {"", %{found: false}} when binary_part(bytes, 0, 1) == "\"" -> bytes |> Front.begin(lenient) |> all()
      found -> found
    end
  end

  # A word that was cut is the start of that word in JSON, which has as many letters.
  defp cut(held, lenient) do
    literal = Enum.find(Filter.literals(lenient), fn {word, _json} -> String.starts_with?(word, held) end)

    with {_word, json} when held != "" <- literal,
         do: binary_part(json, 0, byte_size(held)),
         else: (_none -> held)
  end

  @doc "The error of a text in which no document was found says so, at the first brace that might have started one."
  @spec explained(result, nil | t()) :: result when result: term()
  def explained({:error, %DecodeError{reason: :unexpected_end} = error}, %{found: false} = lenient),
    do: {:error, if(Filter.mends?(lenient, :prose), do: undocumented(error, lenient), else: error)}

  def explained(result, _lenient), do: result

  @nothing "No array or object was found"

  defp undocumented(error, %{refused: nil}), do: %{error | message: error.message <> ": " <> @nothing}

  defp undocumented(error, %{refused: {reason, {position, line, column}}}) do
    message = Message.at({Message.text(reason, "", nil), @nothing}, position, line, column)
    place = %{position: position, line: line, column: column, offset: position}
    error |> struct!(place) |> struct!(reason: reason, message: message)
  end

  defp phase("", lenient), do: {[], lenient}
  defp phase(bytes, %{phase: :before} = lenient), do: Front.before(bytes, lenient)
  defp phase(bytes, %{phase: :info} = lenient), do: Front.info(bytes, lenient)
  defp phase(bytes, %{phase: :scalar} = lenient), do: bytes |> Scalar.push(lenient) |> Front.scalar()
  defp phase(bytes, %{phase: :document} = lenient), do: Content.scan(bytes, lenient)
  defp phase(bytes, %{phase: :after} = lenient), do: Content.behind(bytes, lenient)
  defp phase(bytes, %{phase: :ended} = lenient), do: {bytes, lenient}
  defp phase(_bytes, %{phase: :dropped} = lenient), do: {[], lenient}
end
