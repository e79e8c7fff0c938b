defmodule RustyJson.Config do
  @moduledoc """
  The application's configuration: defaults of the options, and policies.

      config :rustyjson,
        engine: :wasm,
        decode: [max_bytes: 10_000_000],
        encode: [escape: :html_safe]

      config :rustyjson, :wasm, host: :auto, timeout: 1_000, max_memory: 64 * 1024 * 1024

  ## Policies

  A policy is a named set of options:

      config :rustyjson,
        policies: [
          webhook: [engine: :wasm, timeout: 250, max_memory: 64 * 1024 * 1024, max_bytes: 1_000_000],
          partner: [max_nodes: 100_000, duplicate_keys: :error]
        ]

      RustyJson.decode(body, policy: :webhook)

  Options of the call override the policy, and the policy overrides the configuration. Each option applies to the calls that accept it:
  `duplicate_keys` only to decoding, `max_bytes` to the input of decoding and to the output of encoding. `as` and `raw` exclude each
  other, so each of them overrides both.

  RustyJson checks policies when it reads the configuration. An unknown option, a bad value, or a sandbox option together with the
  native engine raises `ArgumentError`, and the application does not start. `mix rustyjson.doctor` lists the policies.

  ## Unknown options

  A call with an option that the function does not have raises `ArgumentError`, which says what was probably meant. Jason ignores such
  options, and some libraries pass on all of their own. For those, ignore them:

      config :rustyjson, unknown_options: :ignore

  A misspelt limit then has no effect. The configuration itself, policies, `RustyJson.LogFormatter` and `RustyJson.PlugParser` always
  raise.

  ## When it is read

  RustyJson reads the configuration when the application starts, or on first use. If you change it at run time, call `reload/0`.
  The `:engine` of a call overrides the configuration, which overrides the environment variable `RUSTYJSON_ENGINE`. Without any of
  them, the engine is `:auto`.
  """

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Options
  alias RustyJson.Options.{Cache, Pack, Policies, Schema, Unknown, Values}

  @compile {:inline, get: 0}
  @key __MODULE__
  @build_settings [:build, :allocator, :precompiled]
  # RustyJson 0.3 and Jason read this setting at the top level.
  @of_decode [:decoding_integer_digit_limit]

  @doc """
  Reads the configuration again.

      iex> RustyJson.Config.reload()
      :ok
  """
  @spec reload() :: :ok
  def reload do
    # In a process of its own, so that it ends where the caller is killed: half of it would leave calls with the options of both.
    {_pid, monitor} = spawn_monitor(fn -> exit({:shutdown, outcome(settings())}) end)

    receive do
      {:DOWN, ^monitor, _, _, {:shutdown, :ok}} -> :ok
      {:DOWN, ^monitor, _, _, {:shutdown, {kind, reason, stack}}} -> :erlang.raise(kind, reason, stack)
      {:DOWN, ^monitor, _, _, reason} -> exit(reason)
    end
  end

  # Two processes can change the settings and read them at once. The one that read first may be the last to put what it read, or to restore
  # what was there: it notices that the settings are others by now.
  defp outcome(settings) do
    outcome = read_or_error()
    if settings() == settings, do: outcome, else: outcome(settings())
  end

  defp settings, do: {Application.get_all_env(:rustyjson), System.get_env("RUSTYJSON_ENGINE")}

  defp read_or_error do
    read()
  catch
    kind, reason -> {kind, reason, __STACKTRACE__}
  end

  defp read do
    check_events()
    check_in_place(System.get_env("RUSTYJSON_IN_PLACE"))
    asked = asked_engine()
    values = Map.new([:decode, :encode], &{&1, read(&1, asked)})
    policies = Policies.read(Application.get_env(:rustyjson, :policies, []), values)
    check_stand_in(Application.get_env(:jason, :policy), policies)

    before = :persistent_term.get(@key, nil)

    :persistent_term.put(@key, %{
      decode: Pack.pack(:decode, values.decode),
      encode: Pack.pack(:encode, Values.canonical(values.encode)),
      values: values,
      asked_engine: asked,
      number: System.unique_integer(),
      policies: policies,
      unknown_options: Unknown.setting!(Application.get_env(:rustyjson, :unknown_options, :raise))
    })

    # The formatter reads the options above.
    check_log_formatter(Application.get_env(:rustyjson, :log_formatter), before)
    RustyJson.Encoder.Plans.find_own()
  end

  # The stand-in for Jason has no process that could. Otherwise each call of a package would say so.
  defp check_stand_in(nil, _policies), do: :ok

  defp check_stand_in(name, policies) do
    Policies.fetch!(policies, name)
  rescue
    error in ArgumentError ->
      reraise ArgumentError, [message: "config :jason, policy: #{error.message}"], __STACKTRACE__
  end

  # Otherwise each line would say so, with what was to be redacted.
  defp check_log_formatter(nil, _before), do: :ok

  defp check_log_formatter(options, before) do
    RustyJson.LogFormatter.new(options)
  rescue
    error in ArgumentError ->
      restore(before)
      reraise ArgumentError, [message: "config :rustyjson, log_formatter: #{error.message}"], __STACKTRACE__
  end

  defp restore(nil), do: :persistent_term.erase(@key)

  # Calls in between may have left what they looked up under the other configuration.
  defp restore(before) do
    :persistent_term.put(@key, before)
    Cache.reset()
  end

  @doc false
  @spec decode() :: Options.t()
  def decode, do: get().decode

  @doc false
  @spec encode() :: Options.t()
  def encode, do: get().encode

  @doc false
  # A new number each time the configuration is read.
  @spec number() :: integer()
  def number, do: get().number

  @doc false
  @spec values(:decode | :encode) :: Values.t()
  def values(direction), do: Map.fetch!(get().values, direction)

  @doc false
  # The engine that was asked for when the configuration was read, and by what.
  @spec asked() :: {atom(), :config | :environment | :default}
  def asked, do: get().asked_engine

  @doc false
  @spec policies() :: Policies.t()
  def policies, do: get().policies

  @doc false
  @spec unknown_options() :: Unknown.mode()
  def unknown_options, do: get().unknown_options

  @doc false
  @spec policy(term()) :: %{given: keyword(), decode: Values.t(), encode: Values.t()}
  def policy(name), do: Policies.fetch!(policies(), name)

  defp get do
    case :persistent_term.get(@key, nil) do
      nil ->
        reload()
        :persistent_term.get(@key)

      config ->
        config
    end
  end

  defp read(direction, {engine, _by}) do
    config = Application.get_all_env(:rustyjson)
    check_names(config)
    wasm = Keyword.get(config, :wasm, [])
    before = if direction == :decode, do: Keyword.take(config, @of_decode), else: []

    Values.defaults(direction)
    |> enter("", [engine: engine], direction)
    |> enter(", wasm", sandbox!(wasm), direction)
    |> enter("", before, direction)
    |> enter(", #{direction}", own(Keyword.get(config, direction, [])), direction)
    |> Values.settled()
  end

  # Names the setting in the error about an option.
  defp enter(values, setting, given, direction) do
    values = Values.put_all(given, values, direction)
    # `redacted:` may stand alone here, because a call may have `redact:`.
    Values.refuse_contradictions!(direction, values, Enum.reject(given, &match?({:redacted, _}, &1)))
    values
  rescue
    error in ArgumentError ->
      reraise ArgumentError, [message: "config :rustyjson#{setting}: #{error.message}"], __STACKTRACE__
  end

  defp own(given) do
    if Policies.name(given),
      do: raise(ArgumentError, "option :policy belongs to a call, not to the configuration"),
      else: given
  end

  defp asked_engine do
    case {Application.get_env(:rustyjson, :engine), System.get_env("RUSTYJSON_ENGINE")} do
      {nil, text} when text in [nil, ""] -> {:auto, :default}
      {nil, text} -> {from_environment(text), :environment}
      {engine, _} -> {engine, :config}
    end
  end

  defp from_environment(text) do
    Enum.find([:auto, :native, :wasm], &(Atom.to_string(&1) == text)) ||
      raise ArgumentError, "RUSTYJSON_ENGINE takes auto, native or wasm, got: #{inspect(text)}"
  end

  @doc false
  # Whether calls of the native engine emit events.
  @spec native_events?() :: boolean()
  def native_events?, do: Application.get_env(:rustyjson, :native_events, false) == true

  # The native library reads it, and takes anything but "false" as true.
  defp check_in_place(text) when text in [nil, "", "true", "false"], do: :ok

  defp check_in_place(text),
    do: raise(ArgumentError, "RUSTYJSON_IN_PLACE takes true or false, got: #{inspect(text)}")

  defp check_events do
    case Application.get_env(:rustyjson, :native_events, false) do
      false ->
        :ok

      true ->
        RustyJson.Telemetry.package!("config :rustyjson, native_events: true")

      other ->
        raise ArgumentError, "setting :native_events of :rustyjson takes a boolean, got: #{inspect(other)}"
    end
  end

  @names [:engine, :decode, :encode, :wasm, :policies, :log_formatter, :unknown_options, :native_events]

  defp check_names(config) do
    names = @names ++ @build_settings

    for {name, _} <- config, name not in names and name not in @of_decode and application?(name) do
      raise ArgumentError,
            "unknown setting #{inspect(name)} of :rustyjson#{place(name, names)} it takes #{list(names)}"
    end
  end

  # Where a name belongs that is an option, or what was probably meant.
  defp place(name, names) do
    cond do
      name in Schema.sandbox() -> inside(:wasm, name)
      name in Schema.names(:decode) -> inside(:decode, name)
      name in Schema.names(:encode) -> inside(:encode, name)
      true -> Unknown.meant(name, names)
    end
  end

  defp inside(setting, name), do: ", did you mean config :rustyjson, #{setting}: [#{name}: ...]?"

  # Mix and releases add entries of their own.
  defp application?(name), do: name != :included_applications

  defp sandbox!(given) do
    names = Schema.sandbox()
    given = if is_map(given), do: Map.to_list(given), else: given

    unless Keyword.keyword?(given),
      do: Excerpt.refuse!("config :rustyjson, wasm: takes a keyword list or a map", given)

    for {name, _} <- given, name not in names do
      raise ArgumentError,
            "unknown setting #{inspect(name)} of :rustyjson, :wasm#{Unknown.meant(name, names)} it takes #{list(names)}"
    end

    given
  end

  defp list(names), do: Enum.map_join(names, ", ", &inspect/1)
end
