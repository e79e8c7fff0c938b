defmodule RustyJson.Partial.Lenient do
  @moduledoc false
  # The option `lenient:` of a partial document: a filter in front of the core that mends what language models do to JSON. It looks at
  # each byte once, and holds back at most a comma with the white space behind it, or the beginning of a word or a fence.
  #
  # What it changes keeps its length, so that positions stay those of the original text. Two things do not: what stands in front of the
  # document is left out, and the document starts at that position; and a line break in a string becomes an escape of two bytes, which
  # `original/3` takes back out of positions.

  alias RustyJson.DecodeError
  alias RustyJson.DecodeError.Message
  alias RustyJson.Partial.{Scalar, Text}
  alias RustyJson.Schema.{Place, Shape, Type}

  @mends [:code_fence, :prose, :trailing_commas, :raw_newlines, :python_literals]
  @literals [{"None", "null"}, {"True", "true"}, {"False", "false"}]
  @fence "```"
  # White space that is looked behind. What stands behind more is not mended.
  @most_space 1024
  # Mends that are listed.
  @most_listed 100

  # The phase is :before or :info in front of the document, :scalar in a value that is the document if nothing follows it, :document, or
  # :after it; then all is passed on (:ended) or left out (:dropped). `scalar` has the bytes of such a value
  # (RustyJson.Partial.Scalar), and `tried` says that it was none. `objects`: the document is an object. `found`: there is one.
  # `breaks` are the line breaks that became escapes, the last one first: the position of the backslash in the mended text, and the byte.
  defstruct mends: [],
            phase: :before,
            at: {0, 1, 1},
            start: nil,
            held: "",
            fenced: false,
            prose: false,
            objects: false,
            found: true,
            tried: false,
            scalar: nil,
            mode: :outside,
            depth: 0,
            mended: [],
            listed: 0,
            breaks: [],
            broken: 0

  @type t :: %__MODULE__{}

  @doc "The filter for these mends, or nil without any. Raises for what is none."
  @spec new!(term()) :: nil | t()
  def new!([]), do: nil

  def new!(mends) do
    if is_list(mends) and not List.improper?(mends) and Enum.all?(mends, &(&1 in @mends)),
      do: filter(mends),
      else: wrong!(mends)
  end

  defp wrong!(mends) do
    known = Enum.map_join(@mends, ", ", &inspect/1)
    raise ArgumentError, "option :lenient takes a list of #{known}, got: #{inspect(mends, limit: 5)}"
  end

  defp filter(mends) do
    if :code_fence in mends or :prose in mends,
      do: %__MODULE__{mends: mends},
      else: %__MODULE__{mends: mends, phase: :document, start: {0, 1, 1}}
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
    if whole, do: bytes |> begin(lenient) |> all(), else: without_scalar(bytes, lenient)
  end

  # Behind a bracket, the text is cut; a cut fence is none.
  def rest(%{phase: :before, held: <<bracket, _::binary>> = held} = lenient) when bracket in ~c"{[",
    do: held |> begin(%{lenient | held: ""}) |> all()

  def rest(%{phase: phase, at: at} = lenient) when phase in [:before, :info],
    do: {"", %{lenient | held: "", start: at, found: false}}

  def rest(%{held: held} = lenient), do: {cut(held, lenient), %{lenient | held: ""}}

  defp all({out, lenient}) do
    {held, lenient} = rest(lenient)
    {IO.iodata_to_binary([out | held]), lenient}
  end

  # Text that starts like a value is searched as other text is. If that finds nothing, a string that does not end is the document.
  defp without_scalar(bytes, lenient) do
    case bytes |> before(%{lenient | tried: true}) |> all() do
      {"", %{found: false}} when binary_part(bytes, 0, 1) == "\"" -> bytes |> begin(lenient) |> all()
      found -> found
    end
  end

  # A word that was cut is the start of that word in JSON, which has as many letters.
  defp cut(held, lenient) do
    literal =
      mends?(lenient, :python_literals) &&
        Enum.find(@literals, fn {word, _json} -> String.starts_with?(word, held) end)

    with {_word, json} when held != "" <- literal,
         do: binary_part(json, 0, byte_size(held)),
         else: (_none -> held)
  end

  @doc "The error of a text in which no document was found says so."
  @spec explained(result, nil | t()) :: result when result: term()
  def explained(
        {:error, %DecodeError{reason: :unexpected_end, message: message} = error},
        %{found: false} = lenient
      ) do
    if mends?(lenient, :prose),
      do: {:error, %{error | message: message <> ": No array or object was found"}},
      else: {:error, error}
  end

  def explained(result, _lenient), do: result

  defp phase("", lenient), do: {[], lenient}
  defp phase(bytes, %{phase: :before} = lenient), do: before(bytes, lenient)
  defp phase(bytes, %{phase: :info} = lenient), do: info(bytes, lenient)
  defp phase(bytes, %{phase: :scalar} = lenient), do: bytes |> Scalar.push(lenient) |> scalar()
  defp phase(bytes, %{phase: :document} = lenient), do: document(bytes, lenient)
  defp phase(bytes, %{phase: :after} = lenient), do: behind(bytes, lenient)
  defp phase(bytes, %{phase: :ended} = lenient), do: {bytes, lenient}
  defp phase(_bytes, %{phase: :dropped} = lenient), do: {[], lenient}

  defp mends?(%{mends: mends}, mend), do: mend in mends

  defp noted(%{listed: @most_listed} = lenient, _mend, _position), do: lenient

  defp noted(%{mended: mended, listed: listed} = lenient, mend, position),
    do: %{lenient | mended: [{mend, position} | mended], listed: listed + 1}

  ## In front of the document

  # A run of bytes that start nothing is passed over at once. In white space everything else may start something; in other text only a
  # bracket and a fence.
  defp before(bytes, %{at: {position, line, column}, prose: prose} = lenient) do
    {rest, at} = if prose, do: text(bytes, position, line, column), else: space(bytes, position, line, column)

    opening(rest, %{lenient | at: at})
  end

  defp space(<<?\n, rest::binary>>, position, line, _column), do: space(rest, position + 1, line + 1, 1)

  defp space(<<byte, rest::binary>>, position, line, column) when byte in ~c" \t\r",
    do: space(rest, position + 1, line, column + 1)

  defp space(rest, position, line, column), do: {rest, {position, line, column}}

  defp text(<<?\n, rest::binary>>, position, line, _column), do: text(rest, position + 1, line + 1, 1)

  defp text(<<byte, rest::binary>>, position, line, column) when byte in 0x80..0xBF,
    do: text(rest, position + 1, line, column)

  defp text(<<byte, rest::binary>>, position, line, column) when byte not in ~c"{[`",
    do: text(rest, position + 1, line, column + 1)

  defp text(rest, position, line, column), do: {rest, {position, line, column}}

  defp opening("", lenient), do: {[], lenient}

  defp opening(bytes, lenient) do
    fence = mends?(lenient, :code_fence) and not lenient.fenced
    prose = mends?(lenient, :prose)

    cond do
      fence and String.starts_with?(bytes, @fence) ->
        fence(bytes, lenient)

      fence and String.starts_with?(@fence, bytes) ->
        {[], %{lenient | held: bytes}}

      not prose ->
        begin(bytes, lenient)

      not lenient.prose and not lenient.tried and Scalar.starts?(bytes) ->
        bytes |> Scalar.new(lenient) |> scalar()

      true ->
        maybe(begins?(bytes, lenient), bytes, lenient)
    end
  end

  defp fence(<<@fence, rest::binary>>, %{at: {position, line, column}} = lenient) do
    lenient = noted(lenient, :code_fence, position)

    info(rest, %{
      lenient
      | at: {position + 3, line, column + 3},
        phase: :info,
        fenced: true,
        prose: false,
        tried: false
    })
  end

  defp scalar({:more, lenient}), do: {[], lenient}
  defp scalar({:document, bytes, lenient}), do: begin(bytes, lenient)
  defp scalar({:text, bytes, lenient}), do: before(bytes, %{lenient | phase: :before, tried: true})

  # The rest of the line, unless the document starts in it.
  defp info(bytes, %{at: {position, line, column}} = lenient) do
    case info(bytes, position, column) do
      {<<?\n, rest::binary>>, {position, _column}} ->
        before(rest, %{lenient | at: {position + 1, line + 1, 1}, phase: :before})

      {"", {position, column}} ->
        {[], %{lenient | at: {position, line, column}}}

      {rest, {position, column}} ->
        before(rest, %{lenient | at: {position, line, column}, phase: :before})
    end
  end

  defp info(<<byte, _::binary>> = rest, position, column) when byte in ~c"\n{[\"",
    do: {rest, {position, column}}

  defp info(<<byte, rest::binary>>, position, column) when byte in 0x80..0xBF,
    do: info(rest, position + 1, column)

  defp info(<<_byte, rest::binary>>, position, column), do: info(rest, position + 1, column + 1)
  defp info("", position, column), do: {"", {position, column}}

  defp maybe(true, bytes, lenient), do: begin(bytes, lenient)
  defp maybe(:more, bytes, lenient), do: {[], %{lenient | held: bytes}}

  defp maybe(false, <<byte, rest::binary>>, lenient), do: before(rest, lenient |> prose() |> moved(byte))

  # One entry for all that stands there.
  defp prose(%{prose: true} = lenient), do: lenient
  defp prose(%{at: {position, _, _}} = lenient), do: %{noted(lenient, :prose, position) | prose: true}

  # Whether an array or object starts here: a bracket, and behind it what may stand there. A list can start with a word, but so can text
  # in brackets, so the whole word counts.
  defp begins?(<<bracket, rest::binary>>, lenient) when bracket in ~c"{[" do
    case {behind_space(rest), bracket} do
      {"", _} ->
        :more

      # A reference such as [1] in the text, where an object is asked for.
      {behind, ?[} when lenient.objects and lenient.prose ->
        is_binary(behind) and binary_part(behind, 0, 1) == "{"

      {:far, _} ->
        true

      {<<byte, _::binary>>, ?{} ->
        byte in ~c"\"}"

      {<<byte, _::binary>>, ?[} when byte in ~c"\"{[]-0123456789" ->
        true

      {word, ?[} ->
        lenient |> words() |> Enum.find_value(false, &word?(word, &1))
    end
  end

  defp begins?(_bytes, _lenient), do: false

  defp words(lenient) do
    for {python, json} <- @literals,
        word <- if(mends?(lenient, :python_literals), do: [json, python], else: [json]),
        do: word
  end

  defp word?(bytes, word) do
    if String.starts_with?(bytes, word) and byte_size(bytes) > byte_size(word),
      do: :binary.at(bytes, byte_size(word)) in ~c" \t\r\n,]",
      else: if(String.starts_with?(word, bytes), do: :more)
  end

  # What stands behind white space; `:far` if there is much of that.
  defp behind_space(bytes) do
    case spaces(bytes, 0) do
      @most_space -> :far
      count -> part(bytes, count, byte_size(bytes))
    end
  end

  # A function that returned what it has not matched would make a binary of it for each byte.
  defp spaces(<<space, rest::binary>>, count) when space in ~c" \t\r\n" and count < @most_space,
    do: spaces(rest, count + 1)

  defp spaces(_rest, count), do: count

  defp moved(%{at: {position, line, column}} = lenient, byte) when byte in 0x80..0xBF,
    do: %{lenient | at: {position + 1, line, column}}

  defp moved(%{at: {position, line, column}} = lenient, _byte),
    do: %{lenient | at: {position + 1, line, column + 1}}

  defp begin(bytes, %{at: at} = lenient),
    do: document(bytes, %{lenient | phase: :document, start: at, prose: false})

  ## The document

  # Positions count from the first byte here, which stands at `at`.
  defp document(bytes, %{mode: mode, depth: depth} = lenient),
    do: scan(bytes, mode, {bytes, 0, 0}, depth, [], lenient)

  # `{bytes, from, at}`: what stands before `from` is in `out`, and the rest starts at `at`. A run of bytes that stay as they are is passed
  # over at once, without garbage for each byte.
  defp scan(rest, mode, {bytes, from, at}, depth, out, lenient) when mode != :escape do
    at = if mode == :outside, do: outside(rest, at), else: string(rest, at)
    rest = part(bytes, at, byte_size(bytes))
    special(rest, mode, {bytes, from, at}, depth, out, lenient)
  end

  defp scan(rest, mode, place, depth, out, lenient), do: special(rest, mode, place, depth, out, lenient)

  defp outside(<<byte, rest::binary>>, at) when byte not in ~c"\"[{]},NTF`", do: outside(rest, at + 1)
  defp outside(_rest, at), do: at

  defp string(<<byte, rest::binary>>, at) when byte not in ~c"\"\\\n\r", do: string(rest, at + 1)
  defp string(_rest, at), do: at

  defp special(<<byte, rest::binary>>, :outside, {bytes, from, at}, depth, out, lenient) do
    case byte do
      ?" ->
        scan(rest, :string, {bytes, from, at + 1}, depth, out, lenient)

      open when open in ~c"[{" ->
        scan(rest, :outside, {bytes, from, at + 1}, depth + 1, out, lenient)

      close when close in ~c"]}" and depth <= 1 ->
        ended(rest, {bytes, from, at + 1}, out, lenient)

      close when close in ~c"]}" ->
        scan(rest, :outside, {bytes, from, at + 1}, depth - 1, out, lenient)

      ?, ->
        comma(rest, {bytes, from, at}, depth, out, lenient)

      letter when letter in ~c"NTF" ->
        bytes |> part(at, byte_size(bytes)) |> literal({bytes, from, at}, depth, out, lenient)

      ?` when depth == 0 and lenient.fenced ->
        bytes |> part(at, byte_size(bytes)) |> ended({bytes, from, at}, out, lenient)

      _other ->
        scan(rest, :outside, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  defp special(<<byte, rest::binary>>, :string, {bytes, from, at} = place, depth, out, lenient) do
    case byte do
      ?" -> scan(rest, :outside, {bytes, from, at + 1}, depth, out, lenient)
      ?\\ -> scan(rest, :escape, {bytes, from, at + 1}, depth, out, lenient)
      line_break -> line_break(line_break, rest, place, depth, out, lenient)
    end
  end

  defp special(<<_byte, rest::binary>>, :escape, {bytes, from, at}, depth, out, lenient),
    do: scan(rest, :string, {bytes, from, at + 1}, depth, out, lenient)

  defp special("", mode, {bytes, from, at}, depth, out, lenient),
    do: {[Enum.reverse(out), part(bytes, from, at)], %{passed(lenient, at) | mode: mode, depth: depth}}

  defp part(bytes, from, at), do: binary_part(bytes, from, at - from)

  defp passed(%{at: {position, line, column}} = lenient, count),
    do: %{lenient | at: {position + count, line, column}}

  defp position(%{at: {position, _, _}}, at), do: position + at

  # This stands there in place of the next bytes.
  defp instead(text, length, mend, {bytes, from, at}, out, lenient),
    do:
      {{bytes, at + length, at + length}, [text, part(bytes, from, at) | out],
       noted(lenient, mend, position(lenient, at))}

  # The rest waits for more.
  defp hold({bytes, from, at}, depth, out, lenient) do
    held = part(bytes, at, byte_size(bytes))
    lenient = %{passed(lenient, at) | mode: :outside, depth: depth, held: :binary.copy(held)}
    {[Enum.reverse(out), part(bytes, from, at)], lenient}
  end

  defp comma(rest, {bytes, from, at} = place, depth, out, lenient) do
    behind = if mends?(lenient, :trailing_commas), do: behind_space(rest), else: :far

    case behind do
      "" ->
        hold(place, depth, out, lenient)

      <<close, _::binary>> when close in ~c"]}" ->
        {place, out, lenient} = instead(" ", 1, :trailing_commas, place, out, lenient)
        scan(rest, :outside, place, depth, out, lenient)

      _other ->
        scan(rest, :outside, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  defp literal(<<_, behind::binary>> = rest, {bytes, from, at} = place, depth, out, lenient) do
    found =
      mends?(lenient, :python_literals) && Enum.find(@literals, fn {word, _json} -> same?(rest, word) end)

    case found do
      {word, json} when byte_size(rest) >= byte_size(word) ->
        {place, out, lenient} = instead(json, byte_size(word), :python_literals, place, out, lenient)
        scan(part(rest, byte_size(word), byte_size(rest)), :outside, place, depth, out, lenient)

      {_word, _json} ->
        hold(place, depth, out, lenient)

      _none ->
        scan(behind, :outside, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  # One starts with the other.
  defp same?(rest, word), do: String.starts_with?(rest, word) or String.starts_with?(word, rest)

  defp line_break(byte, rest, {bytes, from, at} = place, depth, out, lenient) do
    if mends?(lenient, :raw_newlines) do
      escape = if byte == ?\n, do: "\\n", else: "\\r"
      {place, out, lenient} = instead(escape, 1, :raw_newlines, place, out, lenient)
      %{breaks: breaks, broken: broken} = lenient
      breaks = [{position(lenient, at) + broken, byte} | breaks]
      scan(rest, :string, place, depth, out, %{lenient | breaks: breaks, broken: broken + 1})
    else
      scan(rest, :string, {bytes, from, at + 1}, depth, out, lenient)
    end
  end

  ## Behind the document

  defp ended(rest, {bytes, from, at}, out, lenient) do
    {more, lenient} = behind(rest, %{passed(lenient, at) | phase: :after, depth: 0, mode: :outside})
    {[Enum.reverse(out), part(bytes, from, at) | more], lenient}
  end

  defp behind(bytes, lenient) do
    {rest, {spaces, _, _}} = space(bytes, 0, 1, 1)
    {out, lenient} = follows(rest, passed(lenient, spaces))
    {[part(bytes, 0, spaces) | out], lenient}
  end

  defp follows("", lenient), do: {[], lenient}

  defp follows(bytes, %{fenced: fenced} = lenient) do
    prose = mends?(lenient, :prose)

    cond do
      fenced and String.starts_with?(bytes, @fence) -> fence_ended(bytes, lenient)
      fenced and String.starts_with?(@fence, bytes) -> {[], %{lenient | held: bytes}}
      prose -> {[], %{prose(lenient) | phase: :dropped}}
      true -> {bytes, %{lenient | phase: :ended}}
    end
  end

  defp fence_ended(<<@fence, rest::binary>>, lenient) do
    lenient = noted(lenient, :code_fence, position(lenient, 0))
    {out, lenient} = behind(rest, %{passed(lenient, 3) | fenced: false})
    {["   " | out], lenient}
  end

  ## Positions

  @doc "A result of the mended text, with the positions of the original one."
  @spec original(result, nil | t(), nil | Text.t()) :: result when result: term()
  def original({:error, %DecodeError{errors: errors} = error}, %{breaks: [_ | _] = breaks}, text) do
    positions = for %{position: position} <- [error | errors || []], is_integer(position), do: position
    {from, line, column} = text.start
    places = positions |> Enum.sort() |> places(Enum.reverse(breaks), {from, line, column, 0}, text, %{})
    {:error, %{moved_error(error, places) | errors: errors && Enum.map(errors, &moved_error(&1, places))}}
  end

  def original(result, _lenient, _text), do: result

  # The line and column of each position in the original text, with the number of breaks before it; none without a break there. All
  # positions are found in one walk, so an error costs no more in a long list than by itself. `reached` are the same of the last place.
  defp places([position | _] = positions, [{at, byte} | breaks], {from, line, column, count}, text, found)
       when at < position do
    # Each break was one character, and a line feed ended its line.
    {line, column} = text |> Text.slice(from, at) |> Place.behind({line, column})
    {line, column} = if byte == ?\n, do: {line + 1, 1}, else: {line, column + 1}
    places(positions, breaks, {at + 2, line, column, count + 1}, text, found)
  end

  defp places([_position | positions], breaks, {_, _, _, 0} = start, text, found),
    do: places(positions, breaks, start, text, found)

  defp places([position | positions], breaks, {from, line, column, count}, text, found) do
    {line, column} = text |> Text.slice(from, max(position, from)) |> Place.behind({line, column})
    found = Map.put(found, position, {count, line, column})
    places(positions, breaks, {max(position, from), line, column, count}, text, found)
  end

  defp places([], _breaks, _reached, _text, found), do: found

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
