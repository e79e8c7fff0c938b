defmodule RustyJson.LogFormatter do
  @moduledoc """
  Writes log events as JSON, one object on each line, for `:logger`.

      # config/config.exs
      config :logger, :default_handler,
        formatter: {RustyJson.LogFormatter, metadata: :all, redact: [:password, "authorization"]}

  On Elixir 1.14, where `Logger` has its console backend:

      config :logger, :console, format: {RustyJson.LogFormatter, :format}, metadata: :all
      config :rustyjson, :log_formatter, redact: [:password, "authorization"]

  An event becomes:

      {"time":"2024-02-29T12:00:00.000000Z","level":"error","message":"no stock","metadata":{"user":7,"pid":"#PID<0.1.0>"}}

  A crash adds a member `error` with `kind`, `message` and `stacktrace`. A report is an object under `message`, or, without
  `:redact`, its text if it has a `report_cb` of its own. With `:redact`, keyword lists are objects, and the arguments of a format and
  the fields of an exception are redacted before they become text. Text itself is not redacted. A list with a repeated key is a list of
  pairs.

  A line is never lost, and formatting never raises: a term without a JSON form is written as `inspect/2` shows it, invalid UTF-8
  as U+FFFD. Of an event that exceeds a limit, the longest strings and lists and the deepest terms are shortened first, and what is
  left out is described. Each line is one JSON object within its limit, in bounded time, whatever the event holds; lazy arrays
  (`RustyJson.lazy/1`) are not computed.

  ## Options

    * `:preset` - the lines that a log collector expects: `:google_cloud`, `:datadog` or `:elastic` ([logs](logging.md#collectors)).
      The options below override it
    * `:metadata` - `:all` (default), `{:all_except, keys}`, or a list of keys, of which `:module` and `:function` come from `mfa`
    * `:flat` - `true` writes metadata as members of the line. Keys that are not atoms, and names that another member has, also after
      `:key_case`, stay in `metadata` (default `false`)
    * `:names` - other names for the members, such as `[level: "severity", time: "@timestamp"]`
    * `:levels` - other names for the levels, texts or integers, such as `[warning: "WARN", error: 50]`
    * `:redact`, `:redacted`, `:key_case`, `:escape`, `:engine` - those of `RustyJson.encode/2`. A pointer starts at the line:
      `"/metadata/user/email"`, which counts in every layout, also with `:flat`, `:names` and a preset. A key in `:redact` is the whole key: `contains: ["password"]` also redacts `password_confirmation`
    * `:max_bytes` - of a line, up to 16_777_216, which 0 stands for (default `65_536`). A limit below 1_024 counts as 1_024
    * `:max_depth` - of a line (default `16`)
  """

  alias RustyJson.Encode.Text
  alias RustyJson.LogFormatter.{Event, Setup, Short}
  alias RustyJson.Options.Cache
  alias RustyJson.{OrderedObject, SandboxError}

  @steps Short.steps()

  @doc """
  The formatter for a handler's configuration, with checked options.

      iex> {RustyJson.LogFormatter, config} = RustyJson.LogFormatter.new(redact: [:password])
      iex> event = %{level: :info, msg: {:string, "in"}, meta: %{time: 0, password: "x"}}
      iex> event |> RustyJson.LogFormatter.format(config) |> IO.iodata_to_binary()
      ~s({"time":"1970-01-01T00:00:00.000000Z","level":"info","message":"in","metadata":{"password":"[REDACTED]"}}\\n)
  """
  @spec new(keyword() | map()) :: {module(), map()}
  def new(options \\ []) do
    options = Setup.options(options)
    _checked = Setup.new(options)
    {__MODULE__, options}
  end

  @doc """
  Checks the options of a handler. `:logger` asks for this when a handler is added or changed, and refuses one with a misspelt option.

      iex> {:error, {:invalid_formatter_config, RustyJson.LogFormatter, message}} =
      ...>   RustyJson.LogFormatter.check_config(redct: [:password])
      iex> message =~ "unknown option :redct"
      true
  """
  @spec check_config(term()) :: :ok | {:error, term()}
  def check_config(options) do
    new(options)
    :ok
  rescue
    error in ArgumentError -> {:error, {:invalid_formatter_config, __MODULE__, Exception.message(error)}}
  end

  @doc """
  The line of an event of `:logger`.

      iex> event = %{level: :info, msg: {:report, %{in: "Malmö"}}, meta: %{time: 0}}
      iex> event |> RustyJson.LogFormatter.format(names: [level: "severity"]) |> IO.iodata_to_binary()
      ~s({"time":"1970-01-01T00:00:00.000000Z","severity":"info","message":{"in":"Malmö"},"metadata":{}}\\n)
  """
  @spec format(:logger.log_event(), map() | keyword()) :: iodata()
  def format(event, config) do
    setup = setup(config)
    usual(event, setup)
  catch
    kind, reason -> last_resort(event, kind, reason, limit(config))
  end

  defp limit(%{max_bytes: bytes}), do: Setup.longest(bytes)

  defp limit(config),
    do: Setup.longest(if(Keyword.keyword?(config), do: config[:max_bytes]))

  @doc """
  The line of a message of Elixir 1.14's console backend.

      iex> line = RustyJson.LogFormatter.format(:info, "in", {{2024, 2, 29}, {12, 0, 0, 0}}, user: 7)
      iex> line |> IO.iodata_to_binary() |> RustyJson.decode!() |> Map.take(["message", "metadata"])
      %{"message" => "in", "metadata" => %{"user" => 7}}
  """
  @spec format(atom(), term(), term(), keyword()) :: iodata()
  def format(level, message, timestamp, metadata) do
    meta = metadata |> Map.new() |> Map.put_new_lazy(:time, fn -> Event.microseconds(timestamp) end)

    format(
      %{level: level, msg: {:string, message}, meta: meta},
      Application.get_env(:rustyjson, :log_formatter, [])
    )
  catch
    kind, reason ->
      config = Application.get_env(:rustyjson, :log_formatter, [])
      last_resort(%{level: level, msg: {:string, message}}, kind, reason, limit(config))
  end

  defp setup(config) do
    config = Setup.options(config)
    Cache.find(:log, config, fn -> Setup.new(config) end)
  rescue
    # Nothing else of the event is shown: it is not known what is to be redacted.
    error in ArgumentError -> throw({:options, Exception.message(error)})
  end

  # The time and the level are written here, which takes half of the time that the core needs to write members in an order.
  defp usual(event, %{usual: true} = setup) do
    case Event.usual(event, setup) do
      {start, members} -> usual(start, members, event, setup)
      nil -> line(event, setup)
    end
  end

  defp usual(event, setup), do: line(event, setup)

  defp usual(start, members, event, setup) do
    with true <- Short.plain?(members, setup.redacts),
         {:ok, <<?{, rest::binary>>} <- Text.encode([members], setup.options),
         true <- IO.iodata_length(start) + byte_size(rest) <= setup.longest do
      [start | rest]
    else
      {:error, %SandboxError{} = error} -> event |> Event.whole(members, setup) |> after_fault(error, setup)
      false -> event |> Event.whole(members, setup) |> shortened(0, setup)
      {:error, _limit} -> event |> Event.whole(members, setup) |> shortened(1, setup)
    end
  end

  defp line(event, setup), do: event |> Event.members(setup) |> shortened(0, setup)

  # The first step leaves all as it is.
  defp shortened(members, step, setup) do
    with {:ok, short} <- Short.members(members, step, setup), {:ok, line} <- encode(short, setup) do
      line
    else
      {:error, %SandboxError{} = error} -> after_fault(members, error, setup)
      _limit when step < @steps -> shortened(members, step + 1, setup)
      _limit -> least(members, setup)
    end
  end

  # Each further attempt could take as long again.
  defp after_fault(members, error, setup) do
    with {:ok, short} <- Short.members(members, Short.steps(), setup),
         {:ok, line} <- encode(short, setup) do
      line
    else
      :too_many -> least(members, setup)
      {:error, %SandboxError{}} -> raise error
      {:error, _limit} -> least(members, setup)
    end
  end

  defp least(members, setup) do
    case members |> Short.least(setup) |> encode(setup) do
      {:ok, line} -> line
      {:error, error} -> raise error
    end
  end

  # The line is the only record of a list: in a record, a fragment's line breaks are removed.
  defp encode(members, %{options: options} = setup),
    do: Text.encode([members |> Event.flat(setup) |> OrderedObject.new()], options)

  # Without any engine. Text is not redacted, so that of a message can stand here.
  defp last_resort(event, kind, reason, limit) do
    {time, text} = Event.rest(event)
    level = with %{level: level} when is_atom(level) <- event, do: level, else: (_ -> :error)
    why = "a log event that could not be formatted: #{why(kind, reason)}"
    # Of the text and of the reason, each.
    most = div(limit, 4)
    message = if text, do: [{"message", text}, {"error", why}], else: [{"message", why}]
    time = if time, do: [{"time", time}], else: []
    members = time ++ [{"level", to_string(level)} | message]

    [
      ?{,
      Enum.map_intersperse(members, ?,, fn {name, text} -> [?", name, "\":\"", plain(text, most), ?"] end),
      "}\n"
    ]
  end

  defp why(:throw, {:options, message}), do: message
  defp why(_kind, reason) when is_exception(reason), do: inspect(reason.__struct__)
  defp why(kind, _reason), do: "#{kind}"

  # Leaves out characters that JSON escapes, and everything but ASCII.
  defp plain(text, most) do
    text = binary_part(text, 0, min(byte_size(text), most))
    for <<byte <- text>>, byte in 0x20..0x7E and byte not in ~c"\"\\", into: "", do: <<byte>>
  end
end
