defmodule RustyJson.Feed do
  @moduledoc """
  Decodes JSON that arrives in pieces: from a socket, an HTTP client, messages to a process.

      iex> feed = RustyJson.Feed.new(format: :lines)
      iex> {:ok, [], feed} = RustyJson.Feed.push(feed, ~s({"a": ))
      iex> {:ok, items, feed} = RustyJson.Feed.push(feed, ~s(1}\\n[2]\\n3))
      iex> items
      [%{"a" => 1}, [2]]
      iex> RustyJson.Feed.finish(feed)
      {:ok, [3]}

  A piece can end anywhere, even inside a number or a character. A feed is a plain term: it holds no instance of the sandbox and
  nothing outside the process. You can drop it at any time, and after an error you can continue from the feed before it.

  See `RustyJson.decode_stream/2` for the options.
  """

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, Options, SandboxError}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Measure
  alias RustyJson.Engine.{Codes, Wasm}
  alias RustyJson.Feed.{Call, Columns, Items, Plan, State, Typed}
  alias RustyJson.Schema.Place

  @enforce_keys [:plan, :options]
  defstruct [
    :plan,
    :options,
    state: nil,
    # Brackets that the state leaves out.
    below: [],
    pending: "",
    base: 0,
    total: 0,
    count_lines: true,
    ended: nil,
    # Bytes of pointers and rows that this push may still return.
    room: 0,
    # Rows that wait to become columns.
    rows: {0, []},
    # In a step: the number of its bytes, and of those that it leaves.
    step: nil,
    left: 0
  ]

  @opaque t :: %__MODULE__{
            plan: Plan.t(),
            options: Options.t(),
            state: nil | binary(),
            below: State.below(),
            pending: binary(),
            base: non_neg_integer(),
            total: non_neg_integer(),
            count_lines: boolean(),
            ended: nil | :tagged | Exception.t(),
            room: integer(),
            rows: Columns.rows(),
            step: nil | non_neg_integer(),
            left: non_neg_integer()
          }

  # Bytes of one call: a normal scheduler has them done in a fraction of a millisecond. With twice as many the heap of a process that reads
  # records grows beyond 512 KB, which the VM maps anew in each collection: a quarter of the time of a stream went into page faults.
  @slice 32_768
  # A few bytes can be many values with long pointers, or long rows. Those of one push may have this many bytes, and this many times its own.
  @free 16_777_216
  @times 64
  # The start of a byte order mark.
  @cut_marks [<<0xEF>>, <<0xEF, 0xBB>>]

  @doc """
  Returns a new feed. Takes the options of `RustyJson.decode_stream/2`.

      iex> RustyJson.Feed.new(format: :array, at: "/a")
      ** (ArgumentError) a stream takes :format or :at, not both
  """
  @spec new([RustyJson.stream_option()] | map()) :: t()
  def new(opts \\ []) do
    {plan, options} = Plan.new(opts)
    %__MODULE__{plan: plan, options: options, state: State.outside(1, 1, :begun)}
  end

  @doc false
  # Positions count from this byte, which does not stand in line 1.
  @spec from(t(), non_neg_integer()) :: t()
  def from(feed, 0), do: %{feed | count_lines: false}

  def from(feed, offset),
    do: %{feed | base: offset, count_lines: false, state: State.outside(1, 1, :unmarked)}

  @doc false
  # A feed that takes a byte order mark for an error.
  @spec unmarked(t()) :: t()
  def unmarked(feed), do: %{feed | state: State.outside(1, 1, :unmarked)}

  @doc """
  Takes the next piece; gives the values that it completes.

      iex> feed = RustyJson.Feed.new()
      iex> {:error, error, items, _feed} = RustyJson.Feed.push(feed, "[1] [2] x")
      iex> {items, error.position}
      {[[1], [2]], 8}

  After an error, `push/2` and `finish/1` repeat it. With `on_error: :tag` the error is the last item instead.

  With `with_pointer: true` or `select:`, the pointers and rows that one push returns may have 64 times the bytes of the piece and 16 MB
  more. A row has 16 bytes for each pointer of `select:`, also where the value does not exist. Otherwise the error is `:pointers_too_long`
  or `:rows_too_long`; shorter pieces avoid it. `RustyJson.decode_stream/2` returns such values a few at a time.
  """
  @spec push(t(), iodata()) :: {:ok, [term()], t()} | {:error, Exception.t(), [term()], t()}
  def push(%{ended: nil} = feed, input) do
    {bytes, excess} = within_total(input, feed)
    size = byte_size(bytes)
    feed = roomy(%{feed | total: feed.total + size}, size)
    {feed, items} = bytes |> slices() |> Enum.reduce({feed, []}, &sliced/2)

    {feed, items} =
      if excess != nil and feed.ended == nil, do: exceeded(excess, feed, items), else: {feed, items}

    answer(feed, items)
  end

  def push(%{ended: :tagged} = feed, _input), do: {:ok, [], feed}
  def push(%{ended: error} = feed, _input), do: {:error, error, [], feed}

  defp answer(feed, items) do
    {items, feed} = items |> flat() |> Columns.gather(false, feed)

    case feed do
      %{ended: %{__exception__: true} = error} -> {:error, error, items, feed}
      feed -> {:ok, items, feed}
    end
  end

  # Nothing follows.
  defp last({feed, items}) do
    {items, feed} = items |> flat() |> Columns.gather(true, feed)

    case feed do
      %{ended: %{__exception__: true} = error} -> {:error, error, items}
      _feed -> {:ok, items}
    end
  end

  @doc false
  # The same for the first bytes of a slice, as many as one call of the engine takes; and their number.
  @spec step(t(), binary()) ::
          {{:ok, [term()], t()} | {:error, Exception.t(), [term()], t()}, non_neg_integer()}
  def step(%{ended: nil} = feed, slice) do
    {bytes, excess} = within_total(slice, feed)
    size = byte_size(bytes)

    {%{left: left} = feed, items} =
      %{feed | step: size} |> roomy(size) |> in_time(&piece(bytes, false, &1, []))

    done = size - left
    feed = %{feed | total: feed.total + done, step: nil, left: 0}
    ended = excess != nil and done == size and feed.ended == nil
    {feed, items} = if ended, do: exceeded(excess, feed, items), else: {feed, items}
    {answer(feed, items), done}
  end

  def step(feed, slice), do: {push(feed, slice), byte_size(slice)}

  @typedoc false
  @type excess :: nil | :max_total_bytes | SandboxError.t()

  @doc false
  # The bytes of a source, and, if there are more than may come, why.
  @spec whole(t(), iodata()) :: {binary(), excess()}
  def whole(feed, input), do: within_total(input, feed)

  @doc false
  # More bytes came than may.
  @spec exceed(t(), excess()) :: {:ok, [term()]} | {:error, Exception.t(), [term()]}
  def exceed(feed, excess), do: excess |> exceeded(feed, []) |> last()

  @doc """
  Says that nothing follows; gives the values that were waiting for that.

      iex> {:ok, [], feed} = RustyJson.Feed.push(RustyJson.Feed.new(), "12")
      iex> RustyJson.Feed.finish(feed)
      {:ok, [12]}
  """
  @spec finish(t()) :: {:ok, [term()]} | {:error, Exception.t(), [term()]}
  def finish(%{ended: nil} = feed), do: feed |> roomy(0) |> in_time(&piece("", true, &1, [])) |> last()

  def finish(%{ended: :tagged}), do: {:ok, []}
  def finish(%{ended: error}), do: {:error, error, []}

  @doc false
  # What is long is dealt with in slices, each a call of its own.
  @spec slices(binary(), pos_integer()) :: Enumerable.t()
  def slices(bytes, size \\ @slice)
  def slices(bytes, size) when byte_size(bytes) <= size, do: [bytes]
  def slices(bytes, size), do: Stream.unfold(bytes, &if(&1 != "", do: slice(&1, size)))

  @doc false
  # The first slice, and the rest.
  @spec slice(binary(), pos_integer()) :: {binary(), binary()}
  def slice(bytes, size \\ @slice)
  def slice(bytes, size) when byte_size(bytes) <= size, do: {bytes, ""}

  def slice(bytes, size),
    do: {binary_part(bytes, 0, size), binary_part(bytes, size, byte_size(bytes) - size)}

  defp sliced(bytes, {%{ended: nil} = feed, items}), do: in_time(feed, &piece(bytes, false, &1, items))
  defp sliced(_bytes, ended), do: ended

  defp flat([items]), do: items
  defp flat(items), do: items |> Enum.reverse() |> Enum.concat()

  ## Limits

  defp roomy(feed, size), do: %{feed | room: @free + @times * size}

  # Iodata can hold the same part many times, so no more of it is made than may come. In the sandbox it ends with memory and time.
  defp within_total(input, %{plan: %{max_total_bytes: 0}, options: options}) do
    case Measure.excess(input, 0, options) do
      nil -> {Input.piece!(input), nil}
      error -> {"", error}
    end
  end

  defp within_total(input, %{plan: %{max_total_bytes: most}, total: total}) do
    {bytes, more} = Input.piece!(input, &Measure.bytes(&1, most - total))
    {bytes, if(more, do: :max_total_bytes)}
  end

  defp exceeded(:max_total_bytes, feed, items) do
    {line, column} = place(feed)
    failed({Codes.decode(:max_total_bytes), 0, line, column, "", 0, 0}, "", feed, items)
  end

  defp exceeded(error, feed, items), do: ended(error, feed, items)

  defp ended(error, %{plan: %{tag: true}} = feed, items),
    do: {%{feed | ended: :tagged}, [[{:error, error}] | items]}

  defp ended(error, feed, items), do: {%{feed | ended: error}, items}

  # Line and column behind what is pending.
  defp place(%{pending: pending} = feed), do: Place.behind(pending, State.position(feed.state))

  # All calls of the engine for a slice share one deadline, which the next slice does not have.
  defp in_time(%{options: options} = feed, run) do
    {feed, items} = run.(%{feed | options: Options.due(options)})
    {%{feed | options: Options.undue(feed.options)}, items}
  end

  defp renewed(%{options: options} = feed), do: %{feed | options: options |> Options.undue() |> Options.due()}

  ## A piece

  # Nothing came, and nothing waits.
  defp piece("", _last, %{plan: %{records: separator}, pending: ""} = feed, items) when separator != nil,
    do: {feed, items}

  defp piece("", false, feed, items), do: {feed, items}

  # Only the core knows a byte order mark, of which the first bytes wait.
  defp piece(bytes, last, %{plan: %{records: separator}, base: 0, pending: pending} = feed, items)
       when separator != nil and pending in @cut_marks,
       do: ask(join(pending, bytes), 0, last, %{feed | pending: ""}, items)

  # A record waits for the byte that ends it; it is looked for here, and only then the core is asked. The rest of the piece is not
  # copied behind it.
  defp piece(bytes, last, %{plan: %{records: separator}, pending: pending} = feed, items)
       when separator != nil and pending != "" do
    case :binary.match(bytes, separator) do
      {at, 1} ->
        {head, rest} = :erlang.split_binary(bytes, at + 1)
        called = ask(join(pending, head), 0, false, %{feed | pending: ""}, items)
        behind(rest, called, &piece(rest, last, &1, &2))

      :nomatch ->
        if last or too_long?(byte_size(pending) + byte_size(bytes), feed),
          do: ask(join(pending, bytes), 0, last, %{feed | pending: ""}, items),
          else: {%{feed | pending: pending <> bytes}, items}
    end
  end

  defp piece(bytes, last, feed, items), do: ask(bytes, byte_size(feed.pending), last, feed, items)

  # Nor are bytes kept that exceed the memory of the sandbox.
  defp too_long?(size, %{plan: %{max_bytes: most}, options: options}),
    do: (most > 0 and size > most) or size > Wasm.max_memory(options)

  # `<>` leaves room for more, which the pieces of a long value need and the last one does not.
  defp join(pending, bytes), do: IO.iodata_to_binary([pending | bytes])

  # `held` bytes of a value are pending, and the core has only to find its end.
  defp ask(bytes, held, last, feed, items) do
    {state, below} = State.raise(feed.state, feed.below, byte_size(bytes))
    feed = %{feed | state: state, below: below}

    case Call.engine(bytes, held, last, feed) do
      {values, kept, state, reason} ->
        {feed, items} = add(values, bytes, spend(values, feed), items)
        {state, below} = State.lower(state, below, feed.options.values.max_depth)
        answered(reason, bytes, {kept, held, last}, %{feed | state: state, below: below}, items)

      {:error, :atom_limit} ->
        {line, column} = place(feed)
        failed({Codes.decode(:atom_limit), 0, line, column, "", 0, 0}, "", feed, items)

      {:error, %SandboxError{} = error} ->
        fallen(error, bytes, last, feed, items)
    end
  end

  # A value that is not of the type has ended the stream.
  defp answered(_reason, _bytes, _call, %{ended: ended} = feed, items) when ended != nil, do: {feed, items}

  defp answered(_reason, _bytes, {kept, _held, _last}, %{room: room, step: nil} = feed, items)
       when room < 0,
       do: too_long(%{feed | base: feed.base + kept, pending: ""}, items)

  defp answered(:more, bytes, {kept, held, _last}, feed, items), do: {waiting(bytes, kept, held, feed), items}

  defp answered(:again, bytes, {kept, _held, last}, feed, items),
    do: again(rest(bytes, kept), last, %{feed | base: feed.base + kept}, items)

  defp answered(:join, bytes, {0, _held, last}, %{pending: pending} = feed, items),
    do: ask(join(pending, bytes), 0, last, %{feed | pending: ""}, items)

  defp answered(trouble, bytes, {kept, _held, last}, feed, items) when is_tuple(trouble),
    do: wrong(trouble, bytes, kept, last, feed, items)

  defp again(rest, _last, %{step: size} = feed, items) when size != nil and byte_size(rest) < size,
    do: {%{feed | left: byte_size(rest)}, items}

  defp again(rest, last, feed, items), do: ask(rest, 0, last, feed, items)

  defp too_long(%{plan: %{select: select}} = feed, items) do
    {line, column} = place(feed)
    code = if select, do: Codes.decode(:rows_too_long), else: Codes.decode(:pointers_too_long)
    failed({code, 0, line, column, "", 0, 0}, "", feed, items)
  end

  # What follows a call, unless the stream or its step ends there. A step leaves these bytes behind those that it left before.
  defp behind(_rest, {%{ended: ended} = feed, items}, _go) when ended != nil, do: {feed, items}

  defp behind(rest, {%{step: size, left: left, room: room} = feed, items}, _go)
       when size != nil and (left > 0 or room < 0),
       do: {%{feed | left: left + byte_size(rest)}, items}

  defp behind(_rest, {feed, items}, go), do: go.(feed, items)

  # The whole piece is inside a wanted value, so it joins the pending bytes.
  defp waiting(bytes, 0, held, feed) when held > 0, do: %{feed | pending: feed.pending <> bytes}

  # Copied, because a sub-binary would keep the whole piece in memory.
  defp waiting(bytes, kept, _held, feed),
    do: %{feed | base: feed.base + kept, pending: :binary.copy(rest(bytes, kept))}

  defp rest(bytes, kept), do: binary_part(bytes, kept, byte_size(bytes) - kept)

  defp wrong(trouble, bytes, kept, last, feed, items) do
    {feed, items} = failed(trouble, bytes, feed, items)

    if feed.plan.tag and feed.plan.records != nil do
      rest = rest(bytes, kept)
      feed = %{feed | ended: nil, base: feed.base + kept}
      behind(rest, {feed, items}, &go_on(rest, last, &1, &2))
    else
      {feed, items}
    end
  end

  # Behind a bad record come others. The pieces get short first: many that are bad must not have the rest copied each time.
  defp go_on("", false, feed, items), do: {feed, items}
  defp go_on(bytes, last, feed, items), do: go_on(bytes, last, feed, items, 512)

  defp go_on(bytes, last, feed, items, size) when byte_size(bytes) > size do
    {slice, rest} = :erlang.split_binary(bytes, size)
    behind(rest, piece(slice, false, feed, items), &go_on(rest, last, &1, &2, 2 * size))
  end

  defp go_on(bytes, last, feed, items, _size), do: piece(bytes, last, feed, items)

  # The sandbox ended the call. Of records only the guilty one is given up: each of the piece gets a call, and a timeout, of its own.
  defp fallen(error, bytes, last, %{plan: %{tag: true, records: separator}} = feed, items)
       when separator != nil do
    case :binary.split(bytes, separator) do
      [_record, rest] when rest != "" or last ->
        bytes
        |> records(separator)
        |> Enum.reduce({feed, items}, fn record, called ->
          behind(record, called, &record(record, last, renewed(&1), &2))
        end)

      [record | _] ->
        {skipped(record != bytes, bytes, feed), [[{:error, error}] | items]}
    end
  end

  defp fallen(error, _bytes, _last, feed, items), do: ended(error, feed, items)

  defp record(bytes, last, %{plan: %{records: separator}} = feed, items) do
    whole = :binary.last(bytes) == :binary.first(separator)

    case Call.engine(bytes, 0, last or whole, feed) do
      {:error, %SandboxError{} = error} -> {skipped(whole, bytes, feed), [[{:error, error}] | items]}
      _answer -> ask(bytes, 0, last, renewed(feed), items)
    end
  end

  # With their separators.
  defp records("", _separator), do: []

  defp records(bytes, separator) do
    case :binary.match(bytes, separator) do
      {at, 1} ->
        {record, rest} = :erlang.split_binary(bytes, at + 1)
        [record | records(rest, separator)]

      :nomatch ->
        [bytes]
    end
  end

  # The stream goes on behind the record, or leaves out the rest of it. The state is made anew: that of a module that was taken over can
  # be anything.
  defp skipped(whole, bytes, feed) do
    {line, column} = Place.behind(bytes, State.position(feed.state))
    state = State.outside(line, column, if(whole, do: :between, else: :skipping))
    %{renewed(feed) | state: state, below: [], base: feed.base + byte_size(bytes), pending: ""}
  end

  ## Items

  defp spend(values, %{room: room, plan: plan} = feed), do: %{feed | room: room - Items.bytes(values, plan)}

  defp add([], _bytes, feed, items), do: {feed, items}

  defp add(places, bytes, %{options: %{as: as}} = feed, items) when as != nil do
    {feed, typed} = Typed.items(places, bytes, feed, State.position(feed.state))
    {feed, [typed | items]}
  end

  defp add(values, _bytes, %{plan: plan, options: options} = feed, items) do
    # The function is outside the time of the piece.
    {values, feed} =
      if options.keys in [nil, :atoms],
        do: {values, feed},
        else: {Input.keys(values, options.keys), renewed(feed)}

    {feed, [Items.of(values, plan) | items]}
  end

  # An error counts from the piece, which starts behind what is pending.
  defp failed({code, offset, line, column, path, start, stop}, bytes, feed, items) do
    piece = feed.base + byte_size(feed.pending)
    {data, at} = quoted(bytes, piece, offset, {start, stop})
    line = if feed.count_lines, do: line

    {code, piece + offset, line, column, path}
    |> DecodeError.new(data, feed.options, at)
    |> ended(feed, items)
  end

  @doc false
  # What an error in these bytes, which start at a position, quotes of them, and its position. An error can lie before the value that it is
  # about, and before the bytes.
  @spec quoted(binary(), non_neg_integer(), integer(), {non_neg_integer(), non_neg_integer()}) ::
          {binary(), integer()}
  def quoted(_bytes, base, offset, {start, _stop}) when offset < start, do: {"", base + offset}
  def quoted(bytes, base, _offset, {start, stop}), do: {binary_part(bytes, start, stop - start), base + start}

  defimpl Inspect do
    # What arrived is not shown: it may be long, or secret.
    def inspect(feed, _opts) do
      state = if feed.ended, do: "ended", else: "#{byte_size(feed.pending)} waiting"
      "#RustyJson.Feed<#{RustyJson.Feed.Plan.described(feed.plan)}, #{feed.total} bytes, #{state}>"
    end
  end
end
