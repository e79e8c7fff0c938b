defmodule RustyJson.LogFormatter.Event do
  @moduledoc false
  # The members of a line.

  alias RustyJson.Encode.{Measure, Unsupported}
  alias RustyJson.Encoder.Names
  alias RustyJson.LogFormatter.{Hidden, Presets, Setup, Short}

  require Setup

  # Metadata that has a member of its own, or means nothing outside the VM.
  # Every event has the first two.
  @rarely [:report_cb, :crash_reason, :erl_level, :error_logger, :logger_formatter]
  @internal [:time, :gl | @rarely]

  # To look for a key takes less time than to remove one that is not there.
  defguardp has_internal(meta)
            when is_map_key(meta, :report_cb) or is_map_key(meta, :crash_reason) or
                   is_map_key(meta, :erl_level) or is_map_key(meta, :error_logger) or
                   is_map_key(meta, :logger_formatter)

  # Keys of a report in its message.
  @summary 8

  # Bytes of a text that takes no look at its size, and of one that was cut.
  @short_text 65_536
  @cut_text 8_192
  @longest_text 65_536

  @doc "The members in their order, under their names."
  @spec members(map(), Setup.t()) :: [{String.t(), term()}]
  def members(%{level: level, msg: message, meta: meta}, %{names: names} = setup) when is_map(meta) do
    more = [{names.metadata, metadata(meta, setup.metadata)} | crash(meta, setup)]
    told = message(message, meta, setup)
    message = if setup.text, do: as_text(told, setup), else: [{names.message, told}]
    start = [{names.time, time(meta)}, {names.level, Map.get(setup.levels, level, level)}]
    start ++ message ++ setup.always ++ place(meta, setup) ++ more
  end

  # No event of `:logger` is like that.
  def members(%{level: _, msg: _} = event, setup), do: event |> Map.put(:meta, %{}) |> members(setup)

  # Metadata has been shortened as one member, so that its limits are the same.
  @doc "The members, with flat metadata beside them if `flat:` is set. Metadata stays nested where its key is not an atom or names another member."
  @spec flat([{String.t(), term()}], Setup.t()) :: [{String.t(), term()}]
  def flat(members, %{flat: nil}), do: members

  def flat(members, %{names: %{metadata: name}} = setup) do
    Enum.flat_map(members, fn
      {^name, metadata} -> flat(name, metadata, setup)
      member -> [member]
    end)
  end

  defp flat(name, %RustyJson.OrderedObject{values: pairs}, setup), do: risen(name, pairs, setup)

  defp flat(name, metadata, setup) when is_map(metadata) and not is_struct(metadata),
    do: risen(name, Map.to_list(metadata), setup)

  defp flat(name, other, _setup), do: [{name, other}]

  # The keys stay atoms, which `:key_case` renames as those of nested metadata.
  defp risen(name, pairs, setup) do
    {risen, left, _names} = Enum.reduce(pairs, {[], [], %{}}, &rise(&1, &2, setup))
    left = if left == [], do: [], else: [{name, RustyJson.OrderedObject.new(Enum.reverse(left))}]
    Enum.reverse(risen, left)
  end

  # Two keys can have one new name.
  defp rise({key, _value} = pair, {risen, left, names}, %{flat: taken, options: options}) when is_atom(key) do
    name = Names.name(key, options.values.key_case)

    if Atom.to_string(key) in taken or name in taken or is_map_key(names, name),
      do: {risen, [pair | left], names},
      else: {[pair | risen], left, Map.put(names, name, [])}
  end

  defp rise(pair, {risen, left, names}, _setup), do: {risen, [pair | left], names}

  # A collector that knows the message as text refuses a line with another one.
  defp as_text(told, %{names: names}) when is_binary(told), do: [{names.message, told}]

  defp as_text(%RustyJson.OrderedObject{values: pairs} = report, %{names: names}),
    do: [{names.message, summary(pairs)}, {"report", report}]

  defp as_text(report, %{names: names}) when is_map(report) and not is_struct(report),
    do: [{names.message, report |> Measure.members(@summary) |> summary()}, {"report", report}]

  defp as_text(told, %{names: names}), do: [{names.message, "a report"}, {"report", %{term: told}}]

  # The keys only: values may be redacted, or long.
  defp summary(pairs) do
    keys = for {key, _value} <- Enum.take(pairs, @summary), is_atom(key) or is_binary(key), do: key
    "report: " <> Enum.map_join(keys, ", ", &key(&1))
  end

  defp key(key) when is_atom(key), do: Atom.to_string(key)
  defp key(key), do: key |> binary_part(0, min(byte_size(key), 64)) |> Measure.whole()

  defp place(_meta, %{preset: nil}), do: []

  defp place(meta, %{preset: preset, longest: longest, hidden_places: hidden}) do
    meta = if hidden == [], do: meta, else: Map.drop(meta, hidden)

    place =
      for {key, value} <- [file: file(meta, longest), line: meta[:line]],
          is_binary(value) or (is_integer(value) and not Setup.is_long(value)),
          into: function(meta),
          do: {key, value}

    Presets.place(preset, place)
  end

  defp function(%{mfa: {module, function, arity}})
       when is_atom(module) and is_atom(function) and arity in 0..255,
       do: %{module: inspect(module), function: name({function, arity})}

  defp function(_meta), do: %{}

  defp file(%{file: file}, longest) when is_list(file) or is_binary(file), do: text(file, longest)
  defp file(_meta, _longest), do: nil

  # Later years have five digits.
  @seconds_of_9999 253_402_300_799

  defguardp is_usual(time) when is_integer(time) and time >= 0 and time <= @seconds_of_9999 * 1_000_000

  defp time(%{time: time}) when is_usual(time) do
    {seconds, micro} = {div(time, 1_000_000), rem(time, 1_000_000)}
    days = div(seconds, 86_400)
    second = seconds - days * 86_400
    date_and_time(days, second, micro)
  end

  # To make a date of a huge integer takes quadratic time.
  defp time(meta) do
    with %{time: time} when is_integer(time) and abs(time) < 0x7FFF_FFFF_FFFF_FFFF <- meta,
         {:ok, time} <- DateTime.from_unix(time, :microsecond) do
      time
    else
      _no_time -> DateTime.utc_now()
    end
  end

  # 100 ns; a `DateTime` takes 830.
  defp date_and_time(days, second, micro) do
    {year, month, day} = date(days)

    <<digits(div(year, 100))::16, digits(rem(year, 100))::16, ?-, digits(month)::16, ?-, digits(day)::16, ?T,
      digits(div(second, 3600))::16, ?:, digits(rem(div(second, 60), 60))::16, ?:,
      digits(rem(second, 60))::16, ?., digits(div(micro, 10_000))::16, digits(rem(div(micro, 100), 100))::16,
      digits(rem(micro, 100))::16, ?Z>>
  end

  @days_of_400_years 146_097

  # The date of a day, which is a number of days since 1970-01-01. Years are counted from March, so that the day of a leap year is the last one.
  # `:calendar` takes 50 ns more.
  @compile {:inline, date: 1}
  defp date(days) do
    days = days + 719_468
    cycle = div(days, @days_of_400_years)
    day = days - cycle * @days_of_400_years

    year = div(day - div(day, 1_460) + div(day, 36_524) - div(day, @days_of_400_years - 1), 365)

    day_of_year = day - (365 * year + div(year, 4) - div(year, 100))
    month = div(5 * day_of_year + 2, 153)
    year = year + 400 * cycle
    day = day_of_year - div(153 * month + 2, 5) + 1
    if month < 10, do: {year, month + 3, day}, else: {year + 1, month - 9, day}
  end

  # Two digits as they are written.
  @compile {:inline, digits: 1}
  defp digits(number), do: div(number, 10) * 256 + rem(number, 10) + ?0 * 257

  @doc """
  The start of the line of a usual event, and the rest of its members, whose keys a map has in their order. nil: the event is not a
  usual one.
  """
  @spec usual(map(), Setup.t()) :: {iolist(), map()} | nil
  def usual(%{level: level, msg: message, meta: %{time: time} = meta}, setup)
      when is_usual(time) and not is_map_key(meta, :crash_reason) do
    with name when name != nil <- level(level) do
      rest = %{
        "message" => message(message, meta, setup),
        "metadata" => metadata(meta, setup.metadata)
      }

      {["{\"time\":\"", time(meta), "\",\"level\":\"", name, "\","], rest}
    end
  end

  def usual(_event, _setup), do: nil

  @doc "All members of a usual event of which these are known."
  @spec whole(map(), map(), Setup.t()) :: [{String.t(), term()}]
  def whole(%{level: level, meta: meta}, rest, %{names: names}),
    do: [{names.time, time(meta)}, {names.level, level} | :lists.sort(Map.to_list(rest))]

  for level <- [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug],
      do: defp(level(unquote(level)), do: unquote(Atom.to_string(level)))

  defp level(_level), do: nil

  @doc "The time and the text of an event of which nothing else could be told."
  @spec rest(term()) :: {String.t() | nil, String.t() | nil}
  def rest(event) do
    time = with %{meta: %{time: time} = meta} when is_usual(time) <- event, do: time(meta), else: (_ -> nil)

    text =
      with %{msg: {:string, text}} <- event,
           text when is_binary(text) <- text(text, @longest_text),
           do: text,
           else: (_ -> nil)

    {time, text}
  catch
    _kind, _reason -> {nil, nil}
  end

  @doc "The time of the console backend, which is local time or UTC as `Logger` is configured."
  @spec microseconds(term()) :: integer()
  def microseconds({date, {hour, minute, second, millisecond}}) do
    seconds = :calendar.datetime_to_gregorian_seconds({date, {hour, minute, second}})
    local = (seconds - 62_167_219_200) * 1_000_000 + millisecond * 1_000
    if Application.get_env(:logger, :utc_log, false), do: local, else: local - offset()
  end

  def microseconds(_other), do: System.os_time(:microsecond)

  # Close enough: a clock that is being set back has no better answer.
  defp offset do
    now = :calendar.universal_time()
    local = :calendar.universal_time_to_local_time(now)

    (:calendar.datetime_to_gregorian_seconds(local) - :calendar.datetime_to_gregorian_seconds(now)) *
      1_000_000
  end

  # Text hides nothing. Erlang adds these two to every report, which says as much by itself.
  @generic [&:logger.format_report/1, &:logger.format_otp_report/1]

  defp callback(_meta, %{redacts: true}), do: nil
  defp callback(meta, _setup), do: if(meta[:report_cb] not in @generic, do: meta[:report_cb])

  defp message({:string, text}, _meta, setup), do: text(text, setup.longest)
  defp message(message, meta, setup), do: shown(message, callback(meta, setup), setup)

  # A callback that fails costs the text, and not the line.
  defp shown({:report, report}, callback, setup) when is_function(callback) do
    if printable?(report), do: by_callback(report, callback, setup), else: object(report)
  catch
    _kind, _reason -> object(report)
  end

  defp shown({:report, report}, _callback, _setup), do: object(report)

  defp shown({format, arguments}, _callback, setup) when is_list(arguments),
    do: formatted(format, arguments, setup)

  defp shown(other, _callback, _setup), do: other

  defp by_callback(report, callback, %{longest: longest}) when is_function(callback, 2),
    do: text(callback.(report, %{depth: 16, chars_limit: 8_192, single_line: true}), longest)

  defp by_callback(report, callback, %{longest: longest} = setup) do
    case callback.(report) do
      {:string, text} -> text(text, longest)
      {format, arguments} -> formatted(format, arguments, setup)
      other -> text(other, longest)
    end
  end

  # The limits of `:io_lib` bound the text that it returns, and not the time that it takes: a term with shared parts has no end.
  @printable_parts 20_000
  @printable_bytes 1_048_576
  # Of a format, whose widths are read in quadratic time; and the sum of its widths.
  @format_bytes 65_536
  @widths 65_536

  # What is redacted leaves the terms before they become text.
  defp formatted(format, arguments, %{longest: longest} = setup) do
    with true <- Measure.fits?(format, @printable_parts, @format_bytes) and printable?(arguments),
         parts = :io_lib.scan_format(format, Hidden.term(arguments, setup)),
         true <- widths(parts) <= @widths do
      parts |> :io_lib.build_text(chars_limit: 65_536) |> text(longest)
    else
      false -> [text(format, longest), arguments]
    end
  rescue
    _ -> [text(format, longest), arguments]
  end

  # `:io_lib` pads before it looks at its limit.
  defp widths(parts) do
    for %{width: width, precision: precision} <- parts,
        reduce: 0,
        do: (sum -> sum + size(width) + size(precision))
  end

  defp size(:none), do: 0
  defp size(width), do: abs(width)

  defp printable?(term), do: Measure.fits?(term, @printable_parts, @printable_bytes)

  # Chardata that is broken is data.
  defp text(text, _longest) when is_binary(text), do: text

  # For the name of a file this takes half the time.
  defp text(chardata, longest) do
    if ascii?(chardata, @short_text), do: :erlang.list_to_binary(chardata), else: unicode(chardata, longest)
  end

  defp ascii?([char | rest], left) when char in 0..127 and left > 0, do: ascii?(rest, left - 1)
  defp ascii?(rest, _left), do: rest == []

  defp unicode(chardata, longest) do
    case Measure.text(chardata, longest) do
      {:ok, text} ->
        text

      {:cut, text} ->
        Measure.whole(binary_part(text, 0, min(byte_size(text), @cut_text))) <>
          "… (more than #{longest} bytes)"

      :error ->
        chardata
    end
  end

  # From Elixir 1.19 on, Logger adds the text that it has made of a crash. It holds the terms of the report, and nothing is redacted in it.
  defp object([{:elixir_translation, _text} | report]), do: object(report)
  defp object(%{elixir_translation: _text} = report), do: Map.delete(report, :elixir_translation)

  # A report is a map or a list of pairs. A longer list is shortened in any case. Collectors refuse an object with a key twice.
  defp object(report) when is_list(report) do
    if pairs?(report, @short_text) and Short.distinct?(report),
      do: RustyJson.OrderedObject.new(report),
      else: report
  end

  defp object(report), do: report

  defp pairs?([{key, _value} | rest], left) when (is_atom(key) or is_binary(key)) and left > 0,
    do: pairs?(rest, left - 1)

  defp pairs?([_ | _], left), do: left == 0
  defp pairs?(rest, _left), do: rest == []

  # `Logger` gives these two names to what `:logger` has in one.
  defp metadata(%{mfa: {module, function, arity}} = meta, keys) when is_list(keys) do
    derived =
      for {key, value} <- [module: module, function: {function, arity}],
          key in keys and not is_map_key(meta, key),
          into: %{},
          do: {key, name(value)}

    meta |> Map.take(keys) |> known() |> Map.merge(derived)
  end

  defp metadata(meta, {:all_except, keys}), do: meta |> Map.drop(keys) |> metadata(:all)
  defp metadata(meta, :all) when has_internal(meta), do: meta |> Map.drop(@internal) |> known()
  defp metadata(meta, :all), do: meta |> Map.delete(:time) |> Map.delete(:gl) |> known()
  defp metadata(meta, keys) when is_list(keys), do: meta |> Map.take(keys) |> known()

  # An event of Logger has all three. To replace each by itself copies the map three times.
  defp known(%{mfa: {module, function, arity}, pid: pid, file: [_ | _] = file} = meta)
       when is_atom(module) and is_atom(function) and arity in 0..255 and is_pid(pid),
       do: %{meta | mfa: mfa(module, function, arity), pid: pid(pid), file: text(file, @longest_text)}

  defp known(%{mfa: {module, function, arity}} = meta)
       when is_atom(module) and is_atom(function) and arity in 0..255,
       do: known(%{meta | mfa: mfa(module, function, arity)})

  defp known(%{pid: pid} = meta) when is_pid(pid), do: known(%{meta | pid: pid(pid)})

  # Last, because broken chardata stays a list.
  defp known(%{file: [_ | _] = file} = meta), do: %{meta | file: text(file, @longest_text)}
  defp known(meta), do: meta

  defp name({function, arity}) when is_atom(function) and arity in 0..255,
    do: Atom.to_string(function) <> "/" <> Integer.to_string(arity)

  defp name(module) when is_atom(module), do: inspect(module)
  defp name(other), do: other

  # Without `inspect/2`, which the core would have to ask for: every event of Logger has a pid. `:erlang.pid_to_list/1` takes twice as
  # long as the external format, so it is asked only about processes of other nodes.
  defp pid(pid) when node(pid) == node() do
    case :erlang.term_to_binary(pid) do
      <<131, 88, 119, length, _node::binary-size(length), id::32, serial::32, _creation::32>> ->
        IO.iodata_to_binary(["#PID<0.", Integer.to_string(id), ?., Integer.to_string(serial), ?>])

      _other ->
        listed(pid)
    end
  end

  defp pid(pid), do: listed(pid)

  defp listed(pid), do: IO.iodata_to_binary(["#PID" | :erlang.pid_to_list(pid)])

  # `Exception.format_mfa/3` takes three times as long, so it is asked only where it might write something else.
  defp mfa(module, function, arity) do
    with "Elixir." <> name <- Atom.to_string(module),
         text = Atom.to_string(function),
         true <- alias?(name) and function?(text) do
      # With `<<>>` it takes 50 ns more.
      IO.iodata_to_binary([name, ?., text, ?/, Integer.to_string(arity)])
    else
      _other -> Exception.format_mfa(module, function, arity)
    end
  end

  defguardp in_name(char) when char in ?a..?z or char in ?0..?9 or char in ?A..?Z or char == ?_

  # `inspect/1` writes this one whole.
  defp alias?("Elixir." <> _), do: false
  defp alias?("Elixir"), do: false
  defp alias?(<<char, rest::binary>>) when char in ?A..?Z, do: after_dot?(rest)
  defp alias?(_other), do: false
  defp after_dot?(<<?., rest::binary>>), do: alias?(rest)
  defp after_dot?(<<char, rest::binary>>) when in_name(char), do: after_dot?(rest)
  defp after_dot?(rest), do: rest == ""

  defp function?(<<char, rest::binary>>) when char in ?a..?z, do: in_name?(rest)
  defp function?(_other), do: false
  defp in_name?(<<char, rest::binary>>) when in_name(char), do: in_name?(rest)
  defp in_name?(rest), do: rest == ""

  ## Crashes

  # Parts of an entry of a stack trace, with its place.
  @entry_parts 2_048

  defp crash(%{crash_reason: {reason, stacktrace}}, setup) when is_list(stacktrace),
    do: crash(reason, entries(stacktrace, 32), setup)

  defp crash(%{crash_reason: reason}, setup), do: crash(reason, nil, setup)
  defp crash(_meta, _setup), do: []

  defp crash(reason, entries, %{preset: nil, names: names} = setup) do
    error = %{kind: kind(reason), message: reason(reason, setup)}
    [{names.error, if(entries, do: Map.put(error, :stacktrace, entries), else: error)}]
  end

  defp crash(reason, entries, %{preset: preset, names: names} = setup),
    do: Presets.crash(preset, names.error, {kind(reason), reason_text(reason, setup), entries || []})

  defp reason_text(reason, setup) do
    case reason(reason, setup) do
      text when is_binary(text) -> text
      term -> if printable?(term), do: term |> Hidden.term(setup) |> Unsupported.describe(), else: "a term"
    end
  end

  defp kind(%module{__exception__: true}), do: inspect(module)
  defp kind({:nocatch, _value}), do: "throw"
  defp kind(_reason), do: "exit"

  # Messages show the terms of an exception.
  defp reason(%module{__exception__: true} = exception, setup) do
    case {printable?(exception), exception} do
      {true, _} -> exception |> Hidden.term(setup) |> Exception.message()
      {false, %{message: message}} when is_binary(message) -> message
      _large -> inspect(module)
    end
  end

  defp reason({:nocatch, value}, _setup), do: value
  defp reason(reason, _setup), do: reason

  defp entries([entry | rest], left) when left > 0, do: [readable(entry) | entries(rest, left - 1)]
  defp entries(_end, _left), do: []

  defp readable(entry) do
    entry(entry)
  rescue
    _malformed -> "an entry that cannot be read"
  catch
    :large -> "an entry that is too large"
  end

  # With the arity in place of the arguments, which can hold anything.
  defp entry({module, function, arguments, place}) when is_list(arguments),
    do: entry({module, function, length(arguments), place})

  defp entry({function, arguments, place}) when is_list(arguments),
    do: entry({function, length(arguments), place})

  defp entry(entry) do
    if not Measure.fits?(entry, @entry_parts, @cut_text), do: throw(:large)
    Exception.format_stacktrace_entry(entry)
  end
end
