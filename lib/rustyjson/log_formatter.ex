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
  `:redact`, its text if it has a `report_cb` of its own. Text is not redacted: messages, and those of exceptions.

  A line is never lost, and formatting never raises: a term without a JSON form is written as `inspect/2` shows it, invalid UTF-8
  as U+FFFD. Of an event that exceeds a limit, long strings, long lists and deep terms are shortened, and what is left out is
  described.

  ## Options

    * `:metadata` - `:all` (default), or a list of keys
    * `:names` - other names for the members, such as `[level: "severity", time: "@timestamp"]`
    * `:redact`, `:redacted`, `:key_case`, `:escape`, `:engine` - those of `RustyJson.encode/2`. A pointer starts at the line:
      `"/metadata/user/email"`
    * `:max_bytes` - of a line (default `65_536`)
    * `:max_depth` - of a line (default `16`)
  """

  alias RustyJson.Encode.Text
  alias RustyJson.LogFormatter.{Event, Short}
  alias RustyJson.Options
  alias RustyJson.Options.Known

  @options [:metadata, :names, :redact, :redacted, :key_case, :escape, :engine, :max_bytes, :max_depth]
  @encode [:redact, :redacted, :key_case, :escape, :engine]
  @max_bytes 65_536
  @max_depth 16

  # Whatever the application's configuration says: one line, and no failure that can be avoided.
  @always [
    unsupported: :inspect,
    invalid_utf8: :replace,
    pretty: false,
    compress: :none,
    maps: :naive,
    canonical: false
  ]

  @doc """
  The formatter for a handler's configuration, with checked options.

      iex> {RustyJson.LogFormatter, config} = RustyJson.LogFormatter.new(redact: [:password])
      iex> event = %{level: :info, msg: {:string, "in"}, meta: %{time: 0, password: "x"}}
      iex> event |> RustyJson.LogFormatter.format(config) |> IO.iodata_to_binary()
      ~s({"time":"1970-01-01T00:00:00.000000Z","level":"info","message":"in","metadata":{"password":"[REDACTED]"}}\\n)
  """
  @spec new(keyword() | map()) :: {module(), map()}
  def new(options \\ []) do
    options = Map.new(options)

    for {name, _} <- options, name not in @options do
      raise ArgumentError,
            "unknown option #{inspect(name)}: the formatter takes #{Enum.map_join(@options, ", ", &inspect/1)}"
    end

    Options.encode(encode_options(options))
    {__MODULE__, options}
  end

  @doc """
  The line of an event of `:logger`.

      iex> event = %{level: :info, msg: {:report, %{in: "Malmö"}}, meta: %{time: 0}}
      iex> event |> RustyJson.LogFormatter.format(names: [level: "severity"]) |> IO.iodata_to_binary()
      ~s({"time":"1970-01-01T00:00:00.000000Z","severity":"info","message":{"in":"Malmö"},"metadata":{}}\\n)
  """
  @spec format(:logger.log_event(), map() | keyword()) :: iodata()
  def format(event, config) do
    config = if is_map(config), do: config, else: Map.new(config)
    known = Known.find(:log, config, fn -> known(config) end)
    usual(event, config, known) || line(Event.members(event, config), config, known.options)
  catch
    kind, reason -> last_resort(event, kind, reason)
  end

  @doc """
  The line of a message of Elixir 1.14's console backend.

      iex> line = RustyJson.LogFormatter.format(:info, "in", {{2024, 2, 29}, {12, 0, 0, 0}}, user: 7)
      iex> line |> IO.iodata_to_binary() |> RustyJson.decode!() |> Map.take(["message", "metadata"])
      %{"message" => "in", "metadata" => %{"user" => 7}}
  """
  @spec format(atom(), term(), term(), keyword()) :: iodata()
  def format(level, message, timestamp, metadata) do
    meta = metadata |> Map.new() |> Map.put_new_lazy(:time, fn -> Event.microseconds(timestamp) end)
    format(%{level: level, msg: {:string, message}, meta: meta}, configured())
  catch
    kind, reason -> last_resort(%{level: level}, kind, reason)
  end

  defp configured, do: :rustyjson |> Application.get_env(:log_formatter, []) |> Map.new()

  # The options as they are encoded with, and whether the start of a line is the same whatever they say.
  defp known(config) do
    options = config |> encode_options() |> Options.encode()
    max_bytes = Map.get(config, :max_bytes, @max_bytes)

    %{
      engine: options.engine,
      options: options,
      longest: if(max_bytes == 0, do: :infinity, else: max_bytes),
      usual: Map.get(config, :names, []) == [] and not options.values.sort_keys and not redacts?(config)
    }
  end

  @start ["time", "level"]

  defp redacts?(%{redact: keys}) when is_list(keys),
    do: Enum.any?(keys, fn key -> to_string(key) in @start or match?("/" <> _, key) end)

  defp redacts?(_config), do: false

  # The time and the level are written here, which takes half of the time that the core needs to write members in an order.
  defp usual(event, config, %{usual: true, options: options, longest: longest}) do
    with {start, members} <- Event.usual(event, config),
         {:ok, <<?{, rest::binary>>} <- Text.encode(members, options),
         true <- IO.iodata_length(start) + byte_size(rest) <= longest do
      [start, rest, ?\n]
    else
      _unusual -> nil
    end
  end

  defp usual(_event, _config, _known), do: nil

  # Most events keep the limits, and are encoded as they are.
  defp line(members, config, options) do
    with {:error, _limit} <- encode(members, options),
         {:error, _limit} <- members |> Short.members(1) |> encode(options),
         {:error, _limit} <- members |> Short.members(2) |> encode(options),
         unlimited = config |> Map.put(:max_bytes, 0) |> encode_options() |> Options.encode(),
         {:error, error} <- members |> Short.members(3) |> encode(unlimited) do
      raise error
    else
      {:ok, json} -> [json, ?\n]
    end
  end

  defp encode(members, options), do: members |> RustyJson.OrderedObject.new() |> Text.encode(options)

  defp encode_options(config) do
    given = for name <- @encode, is_map_key(config, name), do: {name, Map.fetch!(config, name)}

    limits = [
      max_bytes: Map.get(config, :max_bytes, @max_bytes),
      max_depth: Map.get(config, :max_depth, @max_depth)
    ]

    given ++ limits ++ @always
  end

  # Without any engine, and without a look at the event, which may be what failed.
  defp last_resort(event, kind, reason) do
    level = with %{level: level} when is_atom(level) <- event, do: level, else: (_ -> :error)
    what = if is_exception(reason), do: inspect(reason.__struct__), else: "#{kind}"
    ~s({"level":"#{plain(level)}","message":"a log event that could not be formatted: #{plain(what)}"}\n)
  end

  defp plain(text),
    do: for(<<byte <- to_string(text)>>, byte in 0x20..0x7E and byte not in ~c"\"\\", into: "", do: <<byte>>)
end
