defmodule RustyJson.Options.Values do
  @moduledoc false
  # Options by name: what the schema says, overridden by the configuration, a policy and the options of a call. Each is checked when it is
  # entered, and has the form that the core takes.

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Engine
  alias RustyJson.Options.{Schema, Unknown, Words}
  alias RustyJson.Wasm.Events

  @typedoc "Values by name; those of the sandbox stand in a map of their own."
  @type t :: map()

  @unlimited 0xFFFF_FFFF
  @sandbox Schema.sandbox()
  # Fields of the core's options that no option of a caller is named after.
  @more %{
    decode: %{dirty: :allowed},
    encode: %{
      large_maps: :forwards,
      base_depth: 0,
      indent: "",
      line_separator: "",
      record_separator: "",
      after_colon: "",
      records: :none,
      # Types that Jason does not encode, for the stand-in.
      extras: :written,
      shape: "",
      pointers: nil,
      # How what an encoder or a fragment writes is checked, if it is: the options to decode it with. Nothing lazy is computed then.
      guard: nil
    }
  }

  @doc "The values of encode with which a term that was decoded from a text gets its members, numbers and nesting again."
  @spec as_written() :: t()
  def as_written do
    shape = %{redact: [], pointers: nil, key_case: nil, omit: [], shape: ""}
    Map.merge(shape, %{integers: :exact, maps: :naive, sort_keys: false, max_depth: @unlimited})
  end

  @doc "What the schema says when nobody says otherwise."
  @spec defaults(:decode | :encode) :: t()
  def defaults(direction) do
    given = for {name, entry} <- Schema.entries(direction), do: {name, entry.default}

    put_all(
      given,
      Map.merge(@more[direction], %{resolved: nil, sandbox: Events.sandbox(), sandboxed: nil}),
      direction
    )
  end

  @doc "Values with these options in place of what they had, for the engine that is then asked for."
  @spec override(keyword() | map(), t(), :decode | :encode) :: t()
  def override(given, values, direction),
    do: given |> put_all(values, direction) |> in_place(given) |> resolve() |> check_sandbox()

  # A type and places contradict each other, so the one that is given takes the place of the other one.
  defp in_place(%{as: as, raw: raw} = values, given) when as != nil and raw != [] do
    case {given?(given, :as), given?(given, :raw)} do
      {true, false} -> %{values | raw: []}
      {false, true} -> %{values | as: nil}
      _both -> values
    end
  end

  defp in_place(values, _given), do: values

  @doc "Enters options one by one."
  @spec put_all(keyword() | map(), t(), :decode | :encode) :: t()
  def put_all([option | rest], values, direction),
    do: put_all(rest, put(option, values, direction), direction)

  def put_all([], values, _direction), do: values
  def put_all(other, values, direction), do: other |> to_list(direction) |> put_all(values, direction)

  @doc "The options of a call as a list. `call` names the call in the error."
  @spec to_list(term(), atom() | String.t()) :: keyword()
  def to_list(given, _call) when is_map(given), do: Map.to_list(given)

  def to_list(given, call) do
    if Keyword.keyword?(given), do: given, else: raise(ArgumentError, no_options(given, call))
  end

  defp put({name, value}, values, direction) do
    entry = entry!(direction, name)
    enter(name, entry, cast!(name, entry, value), values)
  end

  defp put(other, _values, direction), do: raise(ArgumentError, no_options(other, direction))

  @doc "What the schema says about an option of a direction. Raises for one that it does not have."
  @spec entry!(:decode | :encode, term()) :: Schema.entry()
  for direction <- [:decode, :encode], {name, entry} <- Schema.entries(direction) do
    def entry!(unquote(direction), unquote(name)), do: unquote(Macro.escape(entry))
  end

  def entry!(direction, name),
    do: raise(ArgumentError, Unknown.text(name, Schema.names(direction), "#{direction} takes"))

  @doc "The value of an option, as the schema's type of it takes it. Raises for a value of another type."
  @spec cast!(atom(), Schema.entry(), term()) :: term()
  def cast!(name, entry, value) do
    with :error <- Schema.cast(entry.type, value),
         do: wrong_value!(name, entry.type, value),
         else: ({:ok, cast} -> cast)
  end

  @spec wrong_value!(atom(), Schema.type(), term()) :: no_return()
  defp wrong_value!(name, type, value) do
    got = "option #{inspect(name)} takes #{Words.describe(type)}, got: #{Excerpt.brief(value)}"
    meant = Unknown.near(value, Schema.atoms(type))
    raise ArgumentError, if(meant, do: "#{got}, did you mean #{inspect(meant)}?", else: got)
  end

  defp no_options(other, call),
    do: "options of #{call} are a keyword list or a map, got: #{Excerpt.brief(other)}"

  # Options of the sandbox go into a map of their own, all others under their names, in the form that the core takes.
  defp enter(:pool_size, entry, :schedulers, values),
    do: enter(:pool_size, entry, System.schedulers_online(), values)

  defp enter(name, entry, value, values) when name in @sandbox do
    value = entry |> Map.get(:aliases, %{}) |> Map.get(value, value)
    %{values | sandbox: Map.put(values.sandbox, name, value), sandboxed: name}
  end

  # The policy was entered first, so that the other options of the call override it.
  defp enter(:policy, _entry, _name, values), do: values
  defp enter(:engine, _entry, engine, values), do: Map.merge(values, %{engine: engine, resolved: nil})

  defp enter(name, _entry, :infinity, values)
       when name in [:max_depth, :max_decimal_digits, :max_decimal_exponent],
       do: Map.put(values, name, @unlimited)

  defp enter(:pretty, _entry, false, values),
    do: Map.merge(values, compact())

  defp enter(:pretty, entry, true, values), do: enter(:pretty, entry, {"  ", "\n", " "}, values)

  # Between several texts, of which a fragment may have some, a line ends too.
  defp enter(:pretty, _entry, {indent, line, colon}, values),
    do: Map.merge(values, pretty({indent, line, line, colon}))

  defp enter(:compress, _entry, none, values) when none in [:none, nil, false],
    do: Map.put(values, :compress, -1)

  defp enter(:compress, _entry, :gzip, values), do: Map.put(values, :compress, 6)
  defp enter(:compress, _entry, {:gzip, level}, values), do: Map.put(values, :compress, level)

  defp enter(:dirty_threshold, _entry, bytes, values),
    do: Map.merge(values, %{dirty_threshold: bytes, dirty: if(bytes == 0, do: :never, else: :allowed)})

  defp enter(:unsupported, _entry, :error, values),
    do: Map.merge(values, %{unsupported: :error, fallback: nil})

  defp enter(:unsupported, _entry, fallback, values),
    do: Map.merge(values, %{unsupported: :left, fallback: fallback})

  defp enter(name, %{aliases: aliases}, value, values) when is_map_key(aliases, value),
    do: Map.put(values, name, Map.fetch!(aliases, value))

  defp enter(name, _entry, value, values), do: Map.put(values, name, value)

  @typedoc "Indent, line separator, record separator, and what follows a colon."
  @type layout :: {binary(), binary(), binary(), binary()}

  @doc "The values of a layout."
  @spec pretty(layout()) :: t()
  def pretty({indent, line, record, colon}),
    do: %{pretty: true, indent: indent, line_separator: line, record_separator: record, after_colon: colon}

  @doc "The values of no layout."
  @spec compact() :: t()
  def compact, do: %{pretty({"", "", "", ""}) | pretty: false}

  # Finds the engine, as soon as it is known which one is asked for.
  defp resolve(%{resolved: nil, engine: asked} = values) do
    engine = Engine.resolve(asked)
    values = %{values | resolved: engine}
    # Only encode has maps to walk.
    if is_map_key(values, :large_maps), do: %{values | large_maps: Engine.large_maps(engine)}, else: values
  end

  defp resolve(values), do: values

  @doc "From here on, sandbox options are those of a call."
  @spec settled(t()) :: t()
  def settled(values), do: %{resolve(values) | sandboxed: nil}

  # Without this error the caller would rely on a sandbox that is not there.
  defp check_sandbox(%{sandboxed: nil} = values), do: values

  defp check_sandbox(%{sandboxed: sandboxed, resolved: engine} = values),
    do: if(Engine.native?(engine), do: no_sandbox!(sandboxed), else: values)

  @spec no_sandbox!({atom(), atom()} | atom()) :: no_return()
  defp no_sandbox!({policy, name}),
    do: raise(ArgumentError, "policy #{inspect(policy)}: #{no_sandbox(name)}")

  defp no_sandbox!(name), do: raise(ArgumentError, no_sandbox(name) <> "; add engine: :wasm")

  defp no_sandbox(name),
    do: "option #{inspect(name)} is one of the wasm engine, but the native one is selected"

  # Canonical form leaves no choice in these.
  @chosen [:pretty, :sort_keys, :escape]

  @doc """
  Raises for options that contradict each other. `given` are those of one call, one policy or the configuration.
  """
  @spec refuse_contradictions!(:decode | :encode, t(), keyword() | map()) :: :ok
  def refuse_contradictions!(:encode, values, given) do
    chosen = values.canonical and Enum.find(given, fn {name, _value} -> name in @chosen end)

    if chosen,
      do: refuse!("option #{inspect(elem(chosen, 0))} contradicts canonical: true", [:canonical], given)

    if values.redact == [] and given?(given, :redacted),
      do: raise(ArgumentError, "option :redacted needs :redact, which says what is redacted")

    if values.null != nil and nil in values.omit and (given?(given, :omit) or given?(given, :null)),
      do: refuse!(omitted_text(values.null), [:omit, :null], given)

    :ok
  end

  def refuse_contradictions!(:decode, values, given) do
    if values.raw != [] and values.as != nil and (given?(given, :raw) or given?(given, :as)),
      do: raise(ArgumentError, "options :as and :raw contradict each other")

    :ok
  end

  defp omitted_text(null),
    do: ~s(options omit: [nil] and null: #{inspect(null)} contradict each other: nil is then the string "nil")

  # Of these options, one that is not given comes from what the given ones override.
  @spec refuse!(String.t(), [atom()], keyword() | map()) :: no_return()
  defp refuse!(text, names, given) do
    case Enum.reject(names, &given?(given, &1)) do
      [] ->
        raise ArgumentError, text

      [name] ->
        raise ArgumentError, "#{text}; its policy or `config :rustyjson, encode:` sets #{inspect(name)}"
    end
  end

  defp given?(given, name), do: Enum.any?(given, fn {given, _value} -> given == name end)

  @doc "Values in which canonical form has its own layout, order and escapes, if it is asked for."
  @spec canonical(t()) :: t()
  def canonical(%{canonical: true} = values) do
    values |> Map.merge(compact()) |> Map.merge(%{sort_keys: false, escape: :json, maps: :naive})
  end

  def canonical(values), do: values
end
