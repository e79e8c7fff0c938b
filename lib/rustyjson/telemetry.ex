defmodule RustyJson.Telemetry do
  @moduledoc """
  Events for the package `telemetry`, and a logger for them.

  If the application telemetry runs, each call into the sandbox emits `[:rustyjson, :sandbox, :stop]`:

  | | key | value |
  |---|---|---|
  | measurement | `duration` | the time in native units, including the wait for an instance |
  | measurement | `bytes` | the size of the document; of encode, the size of the text in the built-in host, or of the term in External Term Format |
  | metadata | `host` | `:built_in` or `:wasmex`; `:auto` if no host could be started |
  | metadata | `operation` | `:decode`, `:many`, `:feed`, `:encode`, `:gzip`, `:format` or `:canonicalize` |
  | metadata | `reason` | the reason of the `RustyJson.SandboxError`, or nil |
  | metadata | `retried` | true if RustyJson tries the documents of this crossing again, one by one or with more time |

  An invalid document is not an error of the sandbox: its `reason` is nil. A call of `RustyJson.decode_many/2`, a stream, or an encode call
  with your own encoders crosses into the sandbox several times and emits an event each time. If a batch of `decode_many/2` fails,
  RustyJson halves it and tries again: such failures have `retried: true`, because the documents may still be decoded. If the time of
  documents is over before it tries them again, an event with `bytes: 0` and the reason `:timeout` follows: one for each document that took
  too long, and one for all that were not tried.

  A few errors are found in Elixir between calls or after them: in a piece of a stream, in a value of a schema, or when your own
  functions use up the timeout. They are in no event, but `RustyJson.stats/0` counts them.

  ## Native calls

  Calls of the native engine emit no events by default, because a small one takes less time than its event. To measure them, for
  a while or in a service with large documents:

      config :rustyjson, native_events: true

  Each call into the native library then emits `[:rustyjson, :native, :stop]`:

  | | key | value |
  |---|---|---|
  | measurement | `duration` | the time in native units |
  | measurement | `bytes` | the size of the document or of the text; of `:many`, of all documents |
  | metadata | `operation` | as above |
  | metadata | `reason` | the reason of the `RustyJson.DecodeError` or `RustyJson.EncodeError`, or nil |

  Events name no values and no keys. A handler runs in the process that called RustyJson. `RustyJson.LogFormatter` emits no events, so a
  handler can log.
  """

  @compile {:no_warn_undefined, :telemetry}
  @sandbox [:rustyjson, :sandbox, :stop]
  @native [:rustyjson, :native, :stop]
  @logger "rustyjson-default-logger"
  # The process that telemetry has while it runs.
  @handlers :telemetry_handler_table

  @doc """
  The names of the events.

      iex> RustyJson.Telemetry.events()
      [[:rustyjson, :sandbox, :stop], [:rustyjson, :native, :stop]]
  """
  @spec events() :: [[atom(), ...], ...]
  def events, do: [@sandbox, @native]

  @doc """
  Logs calls that the sandbox ended, and slow ones. Call it once, for example in the `start/2` of your application.

      :ok = RustyJson.Telemetry.attach_default_logger(slow: 50)

  A line looks like this, with the same facts in the metadata `rustyjson`:

      RustyJson decode of 81920 bytes in the sandbox (built_in) ended after 5003.1 ms: timeout
      RustyJson encode of 4194304 bytes in the native engine took 61.7 ms

  Failures with `retried: true` are not logged, and neither are invalid documents, which senders could send in any number.

  ## Options

  #{RustyJson.Options.Words.doc(:default_logger)}

  Returns `{:error, :already_exists}` if it is attached already. Raises `ArgumentError` for other options, and if the package telemetry
  is missing.

      iex> RustyJson.Telemetry.attach_default_logger(slo: 50)
      ** (ArgumentError) unknown option :slo, did you mean :slow? attach_default_logger takes :level or :slow
  """
  @spec attach_default_logger(level: :logger.level(), slow: non_neg_integer() | :infinity) ::
          :ok | {:error, :already_exists}
  def attach_default_logger(options \\ []) do
    {%{level: level, slow: slow}, []} = RustyJson.Options.split!(:default_logger, options)
    package!("attach_default_logger/1")

    config = %{
      level: level,
      slow: if(slow != :infinity, do: System.convert_time_unit(slow, :millisecond, :native))
    }

    {:ok, _started} = Application.ensure_all_started(:telemetry)
    :telemetry.attach_many(@logger, events(), &__MODULE__.log/4, config)
  end

  @doc """
  Detaches the logger. Returns `{:error, :not_found}` if it is not attached.
  """
  @spec detach_default_logger() :: :ok | {:error, :not_found}
  def detach_default_logger do
    package!("detach_default_logger/0")
    if running?(), do: :telemetry.detach(@logger), else: {:error, :not_found}
  end

  @doc false
  def log(_event, %{duration: duration} = measured, %{reason: reason} = about, config) do
    cond do
      ended?(about) -> line(config.level, measured, about, "ended after", ": #{reason}")
      config.slow != nil and duration >= config.slow -> line(config.level, measured, about, "took", "")
      true -> :ok
    end
  end

  # What the sandbox says of a call, not of a document.
  defp ended?(%{host: _, reason: reason, retried: retried}), do: reason != nil and not retried
  defp ended?(_native), do: false

  defp line(level, %{bytes: bytes, duration: duration}, about, verb, reason) do
    micros = System.convert_time_unit(duration, :native, :microsecond)
    where = if host = about[:host], do: "the sandbox (#{host})", else: "the native engine"
    facts = Map.merge(about, %{bytes: bytes, microseconds: micros})

    text =
      "RustyJson #{about.operation} of #{bytes} bytes in #{where} #{verb} #{milliseconds(micros)} ms#{reason}"

    :logger.log(level, text, %{rustyjson: facts})
  end

  defp milliseconds(micros), do: :erlang.float_to_binary(micros / 1_000, decimals: 1)

  @doc false
  # Whether the package is loaded.
  @spec package?() :: boolean()
  def package?, do: Code.ensure_loaded?(:telemetry)

  @doc false
  @spec package!(String.t()) :: :ok
  def package!(what) do
    if package?(),
      do: :ok,
      else:
        raise(
          ArgumentError,
          "#{what} needs the package telemetry: add {:telemetry, \"~> 1.0\"} to the dependencies"
        )
  end

  @doc false
  # The application telemetry may not run, in a release that only loads it, or in a task of Mix. Then it would log a warning for each
  # event.
  @spec emit(:sandbox | :native, map(), map()) :: :ok
  def emit(kind, measurements, about) do
    if running?(), do: :telemetry.execute(event(kind), measurements, about), else: :ok
  end

  defp event(:sandbox), do: @sandbox
  defp event(:native), do: @native

  defp running?, do: Process.whereis(@handlers) != nil
end
