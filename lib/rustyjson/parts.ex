defmodule RustyJson.Parts do
  @moduledoc false
  # `RustyJson.fetch/3` and `RustyJson.select/3` ask the engine for the values at pointers and put the answers into the result. An
  # answer is a flat list with two entries for each place that exists, in the order of the plan: its number and its value. With
  # `as: :raw` there are three: its number, and the start and length of its text. With `as: type` the engine is asked for the texts
  # too, and then to decode each of them.

  require RustyJson.Parts.Kind

  alias RustyJson.{DecodeError, Fragment, Options, Paths}
  alias RustyJson.Decode.Input
  alias RustyJson.Options.Cache
  alias RustyJson.Parts.Kind
  alias RustyJson.Schema.{Decode, Place}

  # JSON never decodes to this atom.
  @absent :"$absent"
  # Parts up to this size are copied, so that they do not keep the whole text in memory.
  @copied 64

  @spec fetch(iodata(), String.t(), keyword() | map()) :: {:ok, term()} | :error | {:error, Exception.t()}
  def fetch(input, pointer, opts) do
    paths = Paths.of([pointer], "fetch")

    with {:ok, answers, missing} <- answers(input, paths, opts) do
      case {answers, missing} do
        {[_number, value], _missing} -> {:ok, value}
        {[], {:default, default}} -> {:ok, default}
        {[], nil} -> :error
      end
    end
  end

  @spec select(iodata(), Paths.t() | list() | map(), keyword() | map()) ::
          {:ok, list() | map()} | {:error, Exception.t()}
  def select(input, paths, opts) do
    paths = Paths.of(paths, "select")
    with {:ok, answers, missing} <- answers(input, paths, opts), do: {:ok, shape(paths, answers, missing)}
  end

  @doc "The plan for the values at these paths in each value of a stream."
  @spec of_items(Paths.t()) :: binary()
  def of_items(paths), do: Paths.plan(paths, false, false, "")

  @doc "The values at these paths, from an engine's answer about a value of a stream."
  @spec of_item([term()], Paths.t()) :: list() | map()
  def of_item(answers, paths), do: shape(paths, answers, nil)

  @doc "The same as a row for `columns/2`."
  @spec of_row([term()], Paths.t()) :: tuple()
  def of_row(answers, paths), do: values(paths, answers, nil)

  @doc "The columns of such rows, which come last one first."
  @spec columns([tuple()], Paths.t()) :: [[term()]]
  def columns(rows, %{places: places}), do: for(place <- places, do: column(rows, place, []))

  defp column([row | rows], place, values), do: column(rows, place, [elem(row, place) | values])
  defp column([], _place, values), do: values

  defp answers(input, paths, given) do
    {own, options} = Cache.find(:parts, given, fn -> options(given) end)

    with {:ok, answers} <- wanted(own, input, paths, not own.validate, options),
         do: {:ok, answers, own.missing}
  end

  defp options(given) do
    {own, rest} = Options.split!(:parts, given)
    # Instead of a type and places that are configured.
    type = if own.as in [:any, :raw], do: nil, else: own.as
    options = Options.decode([{:as, type}, {:raw, []} | rest])
    unless own.validate, do: refuse_other_keys!(options.values.duplicate_keys, rest)
    {Map.put(own, :places, places(options)), options}
  end

  # To find the texts for a type, which alone says which numbers it takes.
  defp places(options),
    do: Options.change(%{options | as: nil}, :decode, %{floats: :text, decoding_integer_digit_limit: 0})

  # The call, its policy or the configuration may have chosen these; `:last` is also the default, which nobody chose.
  defp refuse_other_keys!(:first, _given), do: :ok

  defp refuse_other_keys!(kept, given) do
    if kept == :error or Keyword.has_key?(given, :duplicate_keys),
      do:
        raise(
          ArgumentError,
          "validate: false takes the first of repeated keys, so it takes no other :duplicate_keys"
        )
  end

  defp wanted(%{as: :any}, input, paths, trusted, options), do: run(input, paths, false, trusted, options)

  defp wanted(%{as: :raw}, input, paths, trusted, options) do
    with {:ok, answers} <- run(input, paths, true, trusted, options),
         do: {:ok, fragments(answers, IO.iodata_to_binary(input), options.values.strings == :copy, [])}
  end

  defp wanted(%{places: places}, input, paths, trusted, typed) do
    # All calls of the engine share one deadline.
    typed = Options.due(typed)
    options = %{places | sandbox: typed.sandbox}

    with {:ok, json} <- Input.flatten(input, options),
         {:ok, answers} <- run(json, paths, true, trusted, options),
         do: answers |> texts() |> typed(json, paths, %{typed | max_bytes: 0})
  end

  defp run(_input, _paths, _raw, _trusted, %{parts: parts}) when parts != "",
    do: raise(ArgumentError, "fetch and select take as: :raw, and no option :raw")

  defp run(input, paths, raw, trusted, %{bytes: bytes} = options) do
    from = byte_size(bytes)
    bytes = Paths.plan(paths, raw, trusted, bytes)
    parts = binary_part(bytes, from, byte_size(bytes) - from)
    Input.decode(input, %{options | bytes: bytes, parts: parts})
  end

  defp fragments([number, start, length | rest], json, copy, done) do
    text = binary_part(json, start, length)
    text = if copy or length <= @copied, do: :binary.copy(text), else: text
    fragments(rest, json, copy, [%Fragment{encode: text}, number | done])
  end

  defp fragments([], _json, _copy, done), do: Enum.reverse(done)

  defp texts([number, start, length | rest]), do: [{number, start, length} | texts(rest)]
  defp texts([]), do: []

  # In the order of the text, so that the first error is the first one in it.
  defp typed(texts, json, paths, options) do
    texts
    |> Enum.sort_by(fn {_number, start, length} -> {start, -length} end)
    |> typed(json, paths, {options, Decode.prepare(options)}, [], {Place.start(), {[], 0}, 0})
  end

  defp typed(
         [{number, start, length} | rest],
         json,
         paths,
         {options, known} = call,
         values,
         {before, gathered, count}
       ) do
    place = fn -> Place.in_document(json, start, Paths.path(paths, number), before) end

    case Decode.decode(binary_part(json, start, length), options, known, place) do
      {:ok, value} ->
        typed(rest, json, paths, call, [{number, value} | values], {before, gathered, count})

      {:error, %DecodeError{errors: [_ | _] = more, error_count: found}} ->
        # Lines and columns of the next part are counted from here.
        before = Place.reached(json, start, before)
        {gathered, count} = gather(more, gathered, count + found, options)
        typed(rest, json, paths, call, values, {before, gathered, count})

      failed ->
        failed
    end
  end

  defp typed([], _json, _paths, _options, values, {_before, {[], 0}, 0}),
    do:
      {:ok, values |> Enum.sort_by(&elem(&1, 0)) |> Enum.flat_map(fn {number, value} -> [number, value] end)}

  defp typed([], _json, _paths, {options, _known}, _values, {_before, {lists, _held}, count}) do
    {errors, count} = merged(lists, count, options)
    {:error, Decode.listed(errors, count)}
  end

  # Merging takes as long as there are errors, so it waits until there are many.
  defp gather(more, {lists, held}, count, %{values: %{max_errors: most}} = options) do
    {lists, held} = {[more | lists], held + length(more)}

    if held > 2 * most do
      {errors, count} = merged(lists, count, options)
      {{[errors], length(errors)}, count}
    else
      {{lists, held}, count}
    end
  end

  # Parts that lie in each other have the same errors.
  defp merged(lists, count, %{values: %{max_errors: most}}) do
    all = lists |> Enum.reverse() |> Enum.concat()
    once = Enum.uniq_by(all, &{&1.position, &1.path})
    {once |> Enum.sort_by(& &1.position) |> Enum.take(most), count - (length(all) - length(once))}
  end

  defp shape(%{keys: nil, places: places} = paths, answers, missing) do
    values = values(paths, answers, default(missing, nil))
    for place <- places, do: elem(values, place)
  end

  defp shape(%{keys: keys, places: places} = paths, answers, missing) do
    values = values(paths, answers, default(missing, @absent))
    keys |> present(places, values) |> :maps.from_list()
  end

  defp present([key | keys], [place | places], values) do
    case elem(values, place) do
      @absent -> present(keys, places, values)
      value -> [{key, value} | present(keys, places, values)]
    end
  end

  defp present([], [], _values), do: []

  defp default({:default, default}, _absent), do: default
  defp default(nil, absent), do: absent

  defp values(%{answers: count}, answers, absent), do: :erlang.make_tuple(count, absent, pairs(answers))

  defp pairs([number, value | rest]), do: [{number + 1, value} | pairs(rest)]
  defp pairs([]), do: []

  ## Checks of the sandbox module's answers

  @doc "Options and document length for the check of terms, chosen so that it accepts every honest answer."
  @spec policy(Options.t(), non_neg_integer()) :: {Options.t(), non_neg_integer()}
  def policy(%{parts: ""} = options, length), do: {options, length}

  def policy(%{parts: <<Kind.check()>>} = options, length), do: {options, length}

  # Places stand for the parts that stay text, and take more room than short values: core/src/parts/raw.rs.
  def policy(%{parts: <<Kind.raw(), _::binary>>} = options, length) do
    changed = Options.change(options, :decode, %{max_nodes: 0})
    {%{changed | values: Map.put(changed.values, :places, true)}, length}
  end

  # Fields have numbers, tagged structs and decimals are lists, and types ask for floats: core/src/parts/shape.rs.
  def policy(%{parts: <<Kind.typed(), tagged, _::binary>>, values: %{max_depth: max_depth}} = options, length) do
    deepest = (1 + tagged) * max_depth + 2
    changed = Options.change(options, :decode, %{max_depth: min(deepest, 0xFFFF_FFFF), max_nodes: 0})
    {%{changed | values: Map.put(changed.values, :typed, true)}, 4 * length + 16}
  end

  def policy(%{parts: parts, values: %{max_depth: max_depth}} = options, length) do
    <<_kind, flags, overlap::16-little, answers::32-little, _::binary>> = parts
    values = if raw_flag?(flags), do: 0, else: length * overlap
    changed = Options.change(options, :decode, %{max_depth: min(max_depth + 1, 0xFFFF_FFFF), max_nodes: 0})
    {changed, values + 16 * answers + 16}
  end

  @doc "Whether an honest module can return this answer for a document of this length."
  @spec answer?(term(), Options.t(), non_neg_integer()) :: boolean()
  def answer?(_term, %{parts: ""}, _length), do: true
  def answer?(term, %{parts: <<Kind.check()>>}, _length), do: term == true
  # Looked at where fragments are made of it.
  def answer?(_term, %{parts: <<Kind.raw(), _::binary>>}, _length), do: true
  # Looked at where structs are made of it.
  def answer?(_term, %{parts: <<Kind.typed(), _::binary>>}, _length), do: true

  def answer?(term, %{parts: <<_kind, flags, overlap::16-little, answers::32-little, _::binary>>}, length)
      when is_list(term) do
    if raw_flag?(flags),
      do: places?(term, -1, answers, length, length * overlap),
      else: values?(term, -1, answers)
  end

  def answer?(_term, _options, _length), do: false

  @doc "Whether these can be answers to a plan with this many of them."
  @spec answers?(term(), non_neg_integer()) :: boolean()
  def answers?(answers, count), do: is_list(answers) and values?(answers, -1, count)

  defp raw_flag?(flags), do: Bitwise.band(flags, 1) == 1

  defp values?([], _last, _count), do: true

  defp values?([number, _value | rest], last, count)
       when is_integer(number) and number > last and number < count,
       do: values?(rest, number, count)

  defp values?(_other, _last, _count), do: false

  # Together they have at most `left` bytes.
  defp places?([], _last, _count, _length, _left), do: true

  defp places?([number, start, size | rest], last, count, length, left)
       when is_integer(number) and number > last and number < count and is_integer(start) and start >= 0 and
              is_integer(size) and size > 0 and start + size <= length and size <= left,
       do: places?(rest, number, count, length, left - size)

  defp places?(_other, _last, _count, _length, _left), do: false
end
