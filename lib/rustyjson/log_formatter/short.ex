defmodule RustyJson.LogFormatter.Short do
  @moduledoc false
  # The terms of an event as a line can have them: keyword lists as objects where something is redacted, and no fragment that is not
  # one JSON value. From the first step on with less in them, the deeper, the fewer; what is left out is described. Keys under which
  # something is redacted are never shortened.
  #
  # A term can hold the same part many times. Each visit is paid for, before anything is made of it.

  alias RustyJson.{Encode, Encoder, Fragment, Lazy, OrderedObject}
  alias RustyJson.Encode.{Measure, Unsupported}
  alias RustyJson.Encoder.Plans
  alias RustyJson.LogFormatter.Setup

  require Setup

  # Bytes of a string, elements of a list or a map, levels. Step 0 leaves all as it is. The next one leaves an event of ordinary terms
  # as it is, but for the strings and lists that fill the line.
  @all 0xFFFF_FFFF_FFFF
  @sizes {{@all, @all, 64}, {8_192, 256, 12}, {1_024, 32, 6}, {256, 8, 4}, {64, 4, 1}}

  # Parts of a struct that is left whole, and bytes of its strings; the first for one that the core writes, of an event that is not
  # shortened.
  @known_parts 64
  @small_parts 32
  @small_bytes 256
  @calendar [Date, Time, NaiveDateTime, DateTime]
  @longest_key 128
  @long_key {"…", "a long key"}
  @few 200
  @depth 6
  # Bytes of a string in an event that is written without a look at its size.
  @usual_text 8_192
  # Bytes of the strings of an event of which a pointer may redact some.
  @redacted_bytes 1_048_576
  # Parts, for each byte of a line, of what is only looked at: structs that their encoders get whole, texts of fragments, long keys. So
  # many bytes of a string take as long as a part.
  @looks 4
  @bytes_per_look 16
  # From this step on, a struct that the core does not write is its name: its encoder has run twice.
  @no_structs 2
  # Bytes of what is left of a message in the last line of all.
  @least 64

  @doc "The last step. Each leaves out more."
  @spec steps() :: pos_integer()
  def steps, do: tuple_size(@sizes) - 1

  @doc """
  Whether a term has few parts, all of them plain: to see that takes a tenth of a copy, and most events are so. `redacts`: a list of pairs
  is none of them.
  """
  @spec plain?(term(), boolean()) :: boolean()
  def plain?(term, redacts), do: plain(term, @few, @depth, redacts) != :no

  defp plain(term, left, _depth, _redacts)
       when is_atom(term) or is_number(term) or is_pid(term) or
              (is_binary(term) and byte_size(term) <= @usual_text),
       do: left

  defp plain([_ | _] = list, left, depth, redacts) when depth > 0, do: all(list, left, depth - 1, redacts)
  defp plain([], left, _depth, _redacts), do: left
  defp plain(%module{}, left, _depth, _redacts) when module in @calendar, do: left

  defp plain(map, left, depth, redacts)
       when is_map(map) and not is_struct(map) and map_size(map) <= left and depth > 0,
       do: map |> :maps.values() |> all(left, depth - 1, redacts)

  defp plain(tuple, left, depth, false) when is_tuple(tuple) and tuple_size(tuple) <= left and depth > 0,
    do: tuple |> Tuple.to_list() |> all(left, depth - 1, false)

  defp plain(term, left, _depth, _redacts) when is_reference(term) or is_function(term) or is_port(term),
    do: left

  defp plain(_term, _left, _depth, _redacts), do: :no

  defp all(_items, left, _depth, _redacts) when left <= 0, do: :no
  defp all([], left, _depth, _redacts), do: left

  defp all([item | rest], left, depth, redacts)
       when is_atom(item) or is_number(item) or is_pid(item) or
              (is_binary(item) and byte_size(item) <= @usual_text),
       do: all(rest, left - 1, depth, redacts)

  defp all([item | rest], left, depth, redacts) do
    case plain(item, left - 1, depth, redacts) do
      :no -> :no
      left -> all(rest, left, depth, redacts)
    end
  end

  defp all(_tail, _left, _depth, _redacts), do: :no

  @doc "The members of a line; `:too_many` if they have more parts or bytes than a line, so that a further step has to shorten them."
  @spec members([{String.t(), term()}], non_neg_integer(), Setup.t()) ::
          {:ok, [{String.t(), term()}]} | :too_many
  def members(members, step, setup) do
    sizes = elem(@sizes, step)
    # Each part takes two bytes of a line, such as a digit and a comma.
    left = {div(setup.longest, 2), bytes(step, setup), @looks * setup.longest}

    {members, _left} =
      Enum.map_reduce(members, left, fn {name, value}, left ->
        {value, left} = member(name, value, sizes, left, %{setup: setup, step: step})
        {{name, value}, left}
      end)

    {:ok, members}
  catch
    :too_many -> :too_many
  end

  # What a pointer redacts takes no place in the line.
  defp bytes(0, %{points: true, longest: longest}), do: max(@redacted_bytes, longest)
  defp bytes(0, %{longest: longest}), do: longest
  defp bytes(_step, %{longest: longest}), do: 2 * longest

  # Metadata that was asked for by name stays, if shortened.
  defp member(
         name,
         meta,
         {bytes, most, levels},
         left,
         %{setup: %{names: %{metadata: name}, metadata: [_ | _]}} = call
       )
       when is_map(meta),
       do: short(meta, {bytes, max(most, map_size(meta)), levels}, left, call)

  defp member(_name, value, sizes, left, call), do: short(value, sizes, left, call)

  @doc "What is left of the members when nothing else fits: the time, the level and the start of the message."
  @spec least([{String.t(), term()}], Setup.t()) :: [{String.t(), term()}]
  def least(members, %{names: names, always: always}) do
    for {name, value} = member <- members,
        name in [names.time, names.level, names.message, names.metadata] or member in always do
      cond do
        name == names.metadata -> {name, %{"…" => "left out"}}
        name == names.message and is_binary(value) -> {name, cut(value, @least)}
        name == names.message -> {name, "left out"}
        true -> member
      end
    end
  end

  ## Terms

  defp short(text, {bytes, _, _}, left, _call) when is_binary(text) and byte_size(text) > bytes,
    do: {cut(text, bytes), spend(left, bytes)}

  defp short(text, _sizes, left, _call) when is_binary(text), do: {text, spend(left, byte_size(text))}
  defp short(term, _sizes, left, _call) when is_atom(term) or is_float(term), do: {term, spend(left, 0)}

  defp short(bits, _sizes, left, %{step: step}) when is_bitstring(bits) and step > 0,
    do: {"a bitstring", spend(left, 0)}

  defp short(integer, _sizes, left, %{step: step}) when Setup.is_long(integer) and step > 0,
    do: {"an integer", spend(left, 0)}

  defp short(%Fragment{encode: text} = fragment, sizes, left, %{setup: setup})
       when is_binary(text) or is_list(text),
       do: fragment(fragment, sizes, left, setup)

  defp short(%OrderedObject{values: values}, sizes, left, call) when is_list(values) do
    case pairs(values, elem(sizes, 1), left) do
      {true, left} -> object(values, sizes, left, call)
      {false, left} -> {inspect(OrderedObject), spend(left, 0)}
    end
  end

  defp short(%MapSet{map: map} = set, {_, most, _} = sizes, left, call) when is_map(map) do
    if Plans.own_implementation(MapSet) do
      struct(set, left, call)
    else
      check_size(map_size(map), most, left)
      # One more than are shown, if there are more.
      elements = for {element, _} <- Measure.members(map, most + 1), do: element
      short(elements, sizes, left, call)
    end
  end

  # Its encoder would write the elements without a look at pairs.
  defp short(%Lazy{source: [_ | _]}, {_, _, 0}, left, %{setup: %{redacts: true}} = call),
    do: deep("a list", left, call)

  defp short(%Lazy{source: [_ | _] = list}, {_, most, _} = sizes, left, %{setup: %{redacts: true}} = call),
    do: items(list, most, inner(sizes, call), spend(left, 0), call)

  defp short(%_module{} = struct, _sizes, left, call), do: struct(struct, left, call)

  defp short(map, {_, _, 0}, left, call) when is_map(map),
    do: deep("a map with #{map_size(map)} members", left, call)

  defp short([_ | _], {_, _, 0}, left, call), do: deep("a list", left, call)

  defp short(tuple, {_, _, 0}, left, call) when is_tuple(tuple),
    do: deep("a tuple with #{tuple_size(tuple)} elements", left, call)

  defp short(map, {_, most, _} = sizes, left, call) when is_map(map) do
    check_size(map_size(map), most, left)

    {shown, left} =
      map |> :maps.iterator() |> :maps.next() |> members_of(most, inner(sizes, call), spend(left, 0), call)

    if map_size(map) <= most,
      do: {whole(shown, call), left},
      else: {OrderedObject.new(shown ++ [{"…", "#{map_size(map) - most} more members"}]), left}
  end

  defp short({key, _value} = pair, sizes, left, %{setup: %{redacts: true} = setup} = call) do
    {seen, left} = look_at_key(key, left, call)

    cond do
      not seen -> {@long_key, spend(left, 0)}
      Setup.redacted?(key, setup) -> {{key(key, call), setup.redacted}, spend(left, 0)}
      true -> tuple(pair, sizes, left, call)
    end
  rescue
    # A key without a text.
    ArgumentError -> tuple(pair, sizes, left, call)
  end

  defp short(tuple, sizes, left, call) when is_tuple(tuple), do: tuple(tuple, sizes, left, call)

  defp short([_ | _] = list, {_, most, _} = sizes, left, %{setup: setup} = call) do
    cond do
      setup.redacts and keyword?(list, min(most, elem(left, 0))) -> object(list, sizes, left, call)
      call.step == 0 and not setup.redacts and improper?(list, elem(left, 0)) -> described(list, left)
      true -> items(list, most, inner(sizes, call), spend(left, 0), call)
    end
  end

  # Otherwise the core would leave each of them to Elixir.
  defp short(term, _sizes, left, _call)
       when is_pid(term) or is_reference(term) or is_port(term) or is_function(term),
       do: described(term, left)

  defp short(term, _sizes, left, _call), do: {term, spend(left, 0)}

  defp described(term, left) do
    text = Unsupported.describe(term)
    {text, spend(left, byte_size(text))}
  end

  defp spend({parts, bytes, looks}, size) when parts > 0 and bytes >= size,
    do: {parts - 1, bytes - size, looks}

  defp spend(_left, _size), do: throw(:too_many)

  # Whether the term has no more parts and bytes, and what is left behind the look at them.
  defp look(term, most, most_bytes, {parts, bytes, looks}) do
    most = min(most, looks)

    case Measure.rest(term, most, most_bytes) do
      {:too_many, rest} -> {false, {parts, bytes, looks - (most - rest)}}
      {:ok, rest, left} -> {true, {parts, bytes, looks - paid(most - rest, most_bytes - left)}}
    end
  end

  defp paid(parts, bytes), do: parts + div(bytes, @bytes_per_look)

  # Of what is shown whole, each element takes a part.
  defp check_size(size, most, {parts, _, _}), do: if(size > parts and most > size, do: throw(:too_many))

  defp cut(text, bytes),
    do: Measure.whole(binary_part(text, 0, min(bytes, byte_size(text)))) <> rest(text, bytes)

  defp rest(text, bytes), do: if(byte_size(text) > bytes, do: "… (#{byte_size(text)} bytes)", else: "")

  defp deep(_words, _left, %{step: 0}), do: throw(:too_many)
  defp deep(words, left, _call), do: {words, spend(left, 0)}

  defp inner({bytes, most, levels}, %{step: 0}), do: {bytes, most, levels - 1}
  defp inner({bytes, most, levels}, _call), do: {bytes, max(div(most, 2), 1), levels - 1}

  ## Lists, tuples and objects

  defp items([], _most, _sizes, left, _call), do: {[], left}
  defp items([_ | _], 0, _sizes, left, _call), do: {["… more elements"], left}

  defp items([item | rest], most, sizes, left, call) do
    {item, left} = short(item, sizes, left, call)
    {rest, left} = items(rest, most - 1, sizes, left, call)
    {[item | rest], left}
  end

  # Without redaction, `inspect/2` shows an improper list.
  defp items(_tail, _most, _sizes, left, %{setup: %{redacts: false}}), do: {["… an improper end"], left}

  defp items(tail, _most, sizes, left, call) do
    {tail, left} = short(tail, sizes, left, call)
    {["|", tail], left}
  end

  defp tuple(tuple, {_, most, _} = sizes, left, call) do
    check_size(tuple_size(tuple), most, left)
    shown = for number <- 1..min(tuple_size(tuple), most)//1, do: :erlang.element(number, tuple)
    {shown, left} = items(shown, most, inner(sizes, call), spend(left, 0), call)
    {if(tuple_size(tuple) > most, do: shown ++ ["… more elements"], else: shown), left}
  end

  defp object(_pairs, {_, _, 0}, left, call), do: deep("a map", left, call)

  defp object(pairs, {_, most, _} = sizes, left, call) do
    {shown, left} = pairs_of(pairs, most, inner(sizes, call), spend(left, 0), call)
    {OrderedObject.new(shown), left}
  end

  defp pairs_of([], _most, _sizes, left, _call), do: {[], left}
  # Of a keyword list only the shown part was looked at: it may have another end.
  defp pairs_of(_rest, 0, _sizes, left, _call), do: {[{"…", "more members"}], left}

  defp pairs_of([{key, value} | rest], most, sizes, left, call) do
    {member, left} = one(key, value, sizes, left, call)
    {rest, left} = pairs_of(rest, most - 1, sizes, left, call)
    {[member | rest], left}
  end

  defp members_of({key, value, iterator}, most, sizes, left, call) when most > 0 do
    {member, left} = one(key, value, sizes, left, call)
    {rest, left} = iterator |> :maps.next() |> members_of(most - 1, sizes, left, call)
    {[member | rest], left}
  end

  defp members_of(_end, _most, _sizes, left, _call), do: {[], left}

  # What the core redacts by its key need not be looked at.
  defp one(key, value, sizes, left, %{setup: setup} = call) do
    {seen, left} = look_at_key(key, left, call)

    cond do
      not seen ->
        {@long_key, spend(left, 0)}

      setup.redacts and Setup.redacted?(key, setup) ->
        {{key(key, call), setup.redacted}, spend(left, 0)}

      true ->
        {value, left} = short(value, sizes, left, call)
        {{key(key, call), value}, left}
    end
  end

  # A key becomes text before it is known whether its value is redacted.
  defp look_at_key(key, left, _call)
       when is_atom(key) or is_number(key) or (is_binary(key) and byte_size(key) <= @longest_key),
       do: {true, left}

  defp look_at_key(key, left, %{step: step, setup: %{longest: longest}}) do
    with {false, _left} when step == 0 <- look(key, longest, max(@redacted_bytes, longest), left),
         do: throw(:too_many)
  end

  defp whole(members, %{step: 0}), do: Map.new(members)
  defp whole(members, _call), do: OrderedObject.new(members)

  # Of a long list, what is shown.
  defp keyword?(list, most), do: atoms?(list, most) and list |> Enum.take(most) |> distinct?()

  defp atoms?([{key, _value} | rest], most) when is_atom(key) and most > 0,
    do: rest == [] or most == 1 or atoms?(rest, most - 1)

  defp atoms?(_other, _most), do: false

  @doc "Whether no two of the pairs, whose keys are atoms or strings, have the same name."
  @spec distinct?([{atom() | String.t(), term()}]) :: boolean()
  def distinct?(pairs), do: pairs |> MapSet.new(&name/1) |> MapSet.size() == length(pairs)

  defp name({key, _value}) when is_atom(key), do: Atom.to_string(key)
  defp name({key, _value}), do: key

  # Whether these are pairs, as far as they are shown. Each is a look; where they are more than the line may have, the line is too long.
  defp pairs([{_key, _value} | rest], most, {parts, bytes, looks}) when most > 0 and looks > 0,
    do: pairs(rest, most - 1, {parts, bytes, looks - 1})

  defp pairs([{_key, _value} | _], most, _left) when most > 0, do: throw(:too_many)
  defp pairs([_ | _], most, left), do: {most == 0, left}
  defp pairs(rest, _most, left), do: {rest == [], left}

  defp improper?([_ | rest], most) when most > 0, do: improper?(rest, most - 1)
  defp improper?(rest, _most), do: not is_list(rest)

  # The text that the encoder would write, so that it redacts the same values.
  defp key(key, %{step: 0}), do: key
  defp key(key, _call) when Setup.is_long(key), do: "an integer"
  defp key(key, _call) when is_atom(key) or is_number(key), do: key

  defp key(key, %{setup: setup}) do
    text = Setup.key_text(key, setup)

    if byte_size(text) > @longest_key and not Setup.kept?(text, setup),
      do: Measure.whole(binary_part(text, 0, @longest_key)) <> "…",
      else: text
  end

  ## Structs

  # The text of a fragment is copied by the core as it is.
  defp fragment(%{encode: given} = fragment, {bytes, _, _}, left, %{longest: longest} = setup) do
    {seen, left} = look(given, 2 * longest, longest, left)

    with true <- seen,
         {:ok, text} <- Measure.text(given, min(bytes, longest)),
         true <- Setup.json?(text, setup) do
      {%{fragment | encode: text}, spend(left, byte_size(text))}
    else
      _no_json when setup.redacts -> {inspect(Fragment), spend(left, 0)}
      _no_json -> described(fragment, left)
    end
  end

  defp struct(%module{} = struct, left, call) when module in @calendar,
    do: known(struct, left, if(small?(struct), do: struct, else: inspect(module)), call)

  defp struct(%module{} = struct, left, %{step: 0} = call) do
    cond do
      module in Encode.Known.modules() -> known(struct, left, fitting(struct, call), call)
      derived?(struct) -> fields(struct, left, call)
      true -> opaque(struct, left, call)
    end
  end

  defp struct(%module{} = struct, left, %{step: step} = call) do
    cond do
      step == steps() or not small?(struct) -> {inspect(module), spend(left, 0)}
      module in Encode.Known.modules() -> {struct, spend(left, 0)}
      derived?(struct) -> fields(struct, left, %{call | step: 0})
      step >= @no_structs -> {inspect(module), spend(left, 0)}
      true -> {struct, spend(left, 0)}
    end
  end

  defp known(_struct, left, shown, _call), do: {shown, spend(left, 0)}

  defp fitting(%module{} = struct, %{setup: setup}),
    do: if(Measure.fits?(struct, @known_parts, setup.longest), do: struct, else: inspect(module))

  # What its encoder writes of it is not known, and the sandbox gets all of it.
  defp opaque(%module{} = struct, left, %{setup: %{longest: longest}}) do
    {seen, left} = look(struct, longest, max(@redacted_bytes, longest), left)
    {if(seen, do: struct, else: inspect(module)), spend(left, 0)}
  end

  defp small?(struct), do: Measure.fits?(struct, @small_parts, @small_bytes)

  # Of these the core writes the fields itself, or another library does. What other encoders write is checked when it is there.
  defp derived?(%module{} = struct),
    do: function_exported?(Encoder.impl_for!(struct), :__plan__, 0) or Plans.foreign?(module)

  defp fields(%module{} = struct, left, call) do
    Enum.reduce(Map.from_struct(struct), {struct, spend(left, byte_size(Atom.to_string(module)))}, fn
      {name, value}, {struct, left} ->
        {short, left} = short(value, elem(@sizes, 0), left, call)
        {if(short === value, do: struct, else: %{struct | name => short}), left}
    end)
  end
end
