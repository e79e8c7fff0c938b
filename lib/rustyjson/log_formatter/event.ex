defmodule RustyJson.LogFormatter.Event do
  @moduledoc false
  # The members of a line.

  alias RustyJson.LogFormatter.Setup

  # Metadata that has a member of its own, or means nothing outside the VM.
  # Every event has the first two.
  @rarely [:report_cb, :crash_reason, :erl_level, :error_logger, :logger_formatter]
  @internal [:time, :gl | @rarely]

  # To look for a key takes less time than to remove one that is not there.
  defguardp has_internal(meta)
            when is_map_key(meta, :report_cb) or is_map_key(meta, :crash_reason) or
                   is_map_key(meta, :erl_level) or is_map_key(meta, :error_logger) or
                   is_map_key(meta, :logger_formatter)

  @doc "The members in their order, under their names."
  @spec members(map(), Setup.t()) :: [{String.t(), term()}]
  def members(%{level: level, msg: message, meta: meta}, %{names: names} = setup) when is_map(meta) do
    members = [
      {names.message, message(message, meta, setup)},
      {names.metadata, metadata(meta, setup.metadata)}
      | crash(meta, names)
    ]

    [{names.time, time(meta)}, {names.level, level} | members]
  end

  # No event of `:logger` is like that.
  def members(%{level: _, msg: _} = event, setup), do: event |> Map.put(:meta, %{}) |> members(setup)

  # Later years have five digits.
  @seconds_of_9999 253_402_300_799

  defguardp is_usual(time) when is_integer(time) and time >= 0 and time <= @seconds_of_9999 * 1_000_000

  defp time(%{time: time}) when is_usual(time) do
    {seconds, micro} = {div(time, 1_000_000), rem(time, 1_000_000)}
    days = div(seconds, 86_400)
    second = seconds - days * 86_400
    date_and_time(days, second, micro)
  end

  defp time(meta) do
    with %{time: time} when is_integer(time) <- meta,
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

  for level <- [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug],
      do: defp(level(unquote(level)), do: unquote(Atom.to_string(level)))

  defp level(_level), do: nil

  @doc "The time and the text of an event of which nothing else could be told."
  @spec rest(term()) :: {String.t() | nil, String.t() | nil}
  def rest(event) do
    time = with %{meta: %{time: time} = meta} when is_usual(time) <- event, do: time(meta), else: (_ -> nil)

    text =
      with %{msg: {:string, text}} <- event,
           text when is_binary(text) <- text(text),
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

  defp message({:string, text}, _meta, _setup), do: text(text)
  defp message(message, meta, setup), do: message(message, callback(meta, setup))

  # A callback that fails costs the text, and not the line.
  defp message({:report, report}, callback) when is_function(callback) do
    by_callback(report, callback)
  catch
    _kind, _reason -> object(report)
  end

  defp message({:report, report}, _callback), do: object(report)
  defp message({format, arguments}, _callback) when is_list(arguments), do: formatted(format, arguments)
  defp message(other, _callback), do: other

  defp by_callback(report, callback) when is_function(callback, 2),
    do: text(callback.(report, %{depth: 16, chars_limit: 8_192, single_line: true}))

  defp by_callback(report, callback) do
    case callback.(report) do
      {:string, text} -> text(text)
      {format, arguments} -> formatted(format, arguments)
      other -> text(other)
    end
  end

  defp formatted(format, arguments) do
    format |> :io_lib.format(arguments, chars_limit: 65_536) |> text()
  rescue
    _ -> [text(format), arguments]
  end

  # Chardata that is broken is data.
  defp text(text) when is_binary(text), do: text

  # For the name of a file this takes half the time.
  defp text(chardata) do
    if ascii?(chardata), do: :erlang.list_to_binary(chardata), else: unicode(chardata)
  end

  defp ascii?([char | rest]) when char in 0..127, do: ascii?(rest)
  defp ascii?(rest), do: rest == []

  defp unicode(chardata) do
    case :unicode.characters_to_binary(chardata) do
      text when is_binary(text) -> text
      _broken -> chardata
    end
  rescue
    ArgumentError -> chardata
  end

  # A report is a map or a list of pairs.
  defp object(report) when is_list(report) do
    if Enum.all?(report, &match?({key, _} when is_atom(key) or is_binary(key), &1)),
      do: RustyJson.OrderedObject.new(report),
      else: report
  rescue
    _improper -> report
  end

  defp object(report), do: report

  defp metadata(meta, :all) when has_internal(meta), do: meta |> Map.drop(@internal) |> known()
  defp metadata(meta, :all), do: meta |> Map.delete(:time) |> Map.delete(:gl) |> known()
  defp metadata(meta, keys) when is_list(keys), do: meta |> Map.take(keys) |> known()

  # An event of Logger has all three. To replace each by itself copies the map three times.
  defp known(%{mfa: {module, function, arity}, pid: pid, file: [_ | _] = file} = meta)
       when is_atom(module) and is_atom(function) and is_integer(arity) and is_pid(pid),
       do: %{meta | mfa: mfa(module, function, arity), pid: pid(pid), file: text(file)}

  defp known(%{mfa: {module, function, arity}} = meta)
       when is_atom(module) and is_atom(function) and is_integer(arity),
       do: known(%{meta | mfa: mfa(module, function, arity)})

  defp known(%{pid: pid} = meta) when is_pid(pid), do: known(%{meta | pid: pid(pid)})

  # Last, because broken chardata stays a list.
  defp known(%{file: [_ | _] = file} = meta), do: %{meta | file: text(file)}
  defp known(meta), do: meta

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

  defp crash(%{crash_reason: {reason, stacktrace}}, names) when is_list(stacktrace) do
    error = %{kind: kind(reason), message: reason(reason), stacktrace: entries(stacktrace, 32)}
    [{names.error, error}]
  end

  defp crash(%{crash_reason: reason}, names),
    do: [{names.error, %{kind: kind(reason), message: reason(reason)}}]

  defp crash(_meta, _names), do: []

  defp kind(%module{__exception__: true}), do: inspect(module)
  defp kind({:nocatch, _value}), do: "throw"
  defp kind(_reason), do: "exit"

  defp reason(%_{__exception__: true} = exception), do: Exception.message(exception)
  defp reason({:nocatch, value}), do: value
  defp reason(reason), do: reason

  defp entries([entry | rest], left) when left > 0, do: [readable(entry) | entries(rest, left - 1)]
  defp entries(_end, _left), do: []

  defp readable(entry) do
    entry(entry)
  rescue
    _malformed -> "an entry that cannot be read"
  end

  # With the arity in place of the arguments, which can hold anything.
  defp entry({module, function, arguments, place}) when is_list(arguments),
    do: Exception.format_stacktrace_entry({module, function, length(arguments), place})

  defp entry(entry), do: Exception.format_stacktrace_entry(entry)
end
