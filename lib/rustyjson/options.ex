defmodule RustyJson.Options do
  @moduledoc false
  # The options of one call, checked, and as the core takes them. RustyJson.Options.Schema defines them.

  require RustyJson.Parts.Kind

  alias RustyJson.{Config, Engine}
  alias RustyJson.Options.{Functions, Cache, Layout, Policies, Schema, Shape, Unknown, Words}
  alias RustyJson.Parts.Kind
  alias RustyJson.Schema.Type
  alias RustyJson.Wasm.{Events, Host}

  @enforce_keys [:engine, :bytes, :values, :sandbox]
  defstruct [
    # The module that takes the call.
    :engine,
    # All options as the core reads them.
    :bytes,
    # All options by name, as they went into `bytes`.
    :values,
    :sandbox,
    # What is left to do about keys once the core is done.
    :keys,
    # Plans of derived structs, see RustyJson.Encoder.Plans.
    :plans,
    # What is wanted of a document, if it is not the whole. It stands behind the `bytes`, too.
    parts: "",
    # The type that it is decoded into.
    as: nil,
    # What the libraries build structs of, see RustyJson.Schema.Shape.
    structs: nil,
    # Where the text stands in a larger one, for errors; `:records` where the elements of a list are texts of their own.
    origin: nil,
    # Tells the errors of this call from others, see RustyJson.Encode.Unsupported.
    call: nil,
    # The limits of a call, as RustyJson.Wasm.Host.BuiltIn takes them, if the built-in host alone can answer it; otherwise nil. They are
    # right only for options as the caller or the configuration gave them: a part of a call has less time.
    straight: nil,
    # The options with the plan of `RustyJson.valid?/2`, if no value has to be built for its answer.
    check: nil,
    # These are values too. They stand here for calls that are over in less than a microsecond.
    max_bytes: 0,
    dirty_threshold: 0,
    compress: -1,
    canonical: false,
    depth: 0,
    # Nothing more is asked about parts: no layout, no limit on bytes, no pointers, no other way to write structs or what is unsupported.
    plain_parts: true,
    # How structs get their text that only another library knows, see `foreign/1`.
    foreign: :planned,
    # Whether the core writes structs of other libraries as these do by default, and nothing more is asked about parts.
    usual: true
  ]

  @type t :: %__MODULE__{
          engine: module(),
          bytes: binary(),
          values: values(),
          sandbox: map(),
          keys: nil | :atoms | {(String.t() -> term()), :ordered | :last | :first},
          plans: nil | map(),
          parts: binary(),
          as: nil | RustyJson.Schema.Type.t(),
          structs: nil | tuple(),
          origin: nil | :records | RustyJson.Schema.Place.t(),
          call: nil | reference(),
          straight: nil | RustyJson.Wasm.Host.limits(),
          check: nil | binary(),
          max_bytes: non_neg_integer(),
          dirty_threshold: non_neg_integer(),
          compress: -1..9,
          canonical: boolean(),
          depth: non_neg_integer(),
          plain_parts: boolean(),
          foreign: :planned | :called | :shaped,
          usual: boolean()
        }

  # Values by name.
  @type values :: map()

  @unlimited 0xFFFF_FFFF
  @check <<Kind.check()>>
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

  defimpl Inspect do
    def inspect(%{engine: engine}, _options),
      do: "#RustyJson.Options<#{RustyJson.Engine.name(engine)} engine>"
  end

  @doc "The options of a decode call."
  @spec decode(keyword() | map()) :: t()
  def decode([]), do: Config.decode()
  def decode(given), do: Cache.find(:decode, given, fn -> call(:decode, given) end)

  @doc "The options of an encode call."
  @spec encode(keyword() | map()) :: t()
  def encode([]), do: Config.encode()
  def encode(given), do: Cache.find(:encode, given, fn -> call(:encode, given) end)

  @doc """
  What a function of `RustyJson.Options.Functions` is given: its own options with their values, and the others, of decode or encode.
  """
  @spec split!(Functions.function_name(), keyword() | map()) :: {map(), keyword()}
  def split!(function, given) do
    %{call: call, own: own} = about = Functions.get(function)

    {mine, others} =
      given
      |> to_list(call)
      |> Unknown.refuse!(Functions.names(function), call, Map.has_key?(about, :strict))
      |> Keyword.split(Keyword.keys(own))

    # Where the function chooses the default, it is nil.
    defaults = for {name, e} <- own, into: %{}, do: {name, e.default && cast!(name, e, e.default)}
    {for({name, value} <- mine, into: defaults, do: {name, cast!(name, own[name], value)}), others}
  end

  defp call(direction, given) do
    given = given |> to_list(direction) |> Unknown.refuse!(Schema.names(direction), "#{direction}")
    values = override(given, base(Policies.name(given), direction), direction)
    refuse_contradictions!(direction, values, given)
    pack(direction, chosen(values))
  end

  defp base(nil, direction), do: Config.values(direction)

  defp base(policy, direction) do
    case Map.fetch!(Config.policy(policy), direction) do
      %{sandboxed: nil} = values -> values
      %{sandboxed: name} = values -> %{values | sandboxed: {policy, name}}
    end
  end

  @doc "Values with these options in place of what they had, for the engine that is then asked for."
  @spec override(keyword() | map(), values(), :decode | :encode) :: values()
  def override(given, values, direction),
    do: given |> put_all(values, direction) |> resolve() |> check_sandbox()

  @doc """
  Raises for an option that no call takes, a value of another type, and a policy that the application's environment does not have. Unlike
  a call it reads no more of the configuration, which may not be complete when an application is compiled.
  """
  @spec check!(:decode | :encode, keyword()) :: :ok
  def check!(direction, given) do
    for {name, value} <- given do
      entry =
        entry(direction, name) ||
          raise(ArgumentError, Unknown.text(name, Schema.names(direction), "#{direction} takes"))

      # A module of the application may be compiled later.
      if entry.type == :type, do: value && Type.check!(value), else: cast!(name, entry, value)
      if entry.type == :policy, do: Policies.known!(value)
    end

    :ok
  end

  @doc "Enters options one by one."
  @spec put_all(keyword() | map(), values(), :decode | :encode) :: values()
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

  @doc "What the schema says when nobody says otherwise."
  @spec defaults(:decode | :encode) :: values()
  def defaults(direction) do
    given = for {name, entry} <- Schema.entries(direction), do: {name, entry.default}

    put_all(
      given,
      Map.merge(@more[direction], %{resolved: nil, sandbox: Events.sandbox(), sandboxed: nil}),
      direction
    )
  end

  defp put({name, value}, values, direction) do
    case entry(direction, name) do
      nil -> raise ArgumentError, Unknown.text(name, Schema.names(direction), "#{direction} takes")
      entry -> enter(name, entry, cast!(name, entry, value), values)
    end
  end

  defp put(other, _values, direction), do: raise(ArgumentError, no_options(other, direction))

  for direction <- [:decode, :encode], {name, entry} <- Schema.entries(direction) do
    defp entry(unquote(direction), unquote(name)), do: unquote(Macro.escape(entry))
  end

  defp entry(_direction, _name), do: nil

  defp cast!(name, entry, value) do
    with :error <- Schema.cast(entry.type, value),
         do: wrong_value!(name, entry.type, value),
         else: ({:ok, cast} -> cast)
  end

  @spec wrong_value!(atom(), Schema.type(), term()) :: no_return()
  defp wrong_value!(name, type, value) do
    got = "option #{inspect(name)} takes #{Words.describe(type)}, got: #{inspect(value, limit: 5)}"
    meant = Unknown.near(value, Schema.atoms(type))
    raise ArgumentError, if(meant, do: "#{got}, did you mean #{inspect(meant)}?", else: got)
  end

  defp no_options(other, call),
    do: "options of #{call} are a keyword list or a map, got: #{inspect(other, limit: 5)}"

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
    do: Map.merge(values, %{pretty({"", "", "", ""}) | pretty: false})

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

  defp pretty({indent, line, record, colon}),
    do: %{pretty: true, indent: indent, line_separator: line, record_separator: record, after_colon: colon}

  @doc "Finds the engine, as soon as it is known which one is asked for."
  @spec resolve(values()) :: values()
  def resolve(%{resolved: nil, engine: asked} = values) do
    engine = Engine.resolve(asked)
    values = %{values | resolved: engine}
    # Only encode has maps to walk.
    if is_map_key(values, :large_maps), do: %{values | large_maps: Engine.large_maps(engine)}, else: values
  end

  def resolve(values), do: values

  @doc "From here on, sandbox options are those of a call."
  @spec settled(values()) :: values()
  def settled(values), do: %{resolve(values) | sandboxed: nil} |> chosen()

  defguardp is_native(engine) when engine in [Engine.Native, Engine.Native.Watched]

  # Without this error the caller would rely on a sandbox that is not there.
  defp check_sandbox(%{sandboxed: {policy, name}, resolved: engine}) when is_native(engine),
    do: raise(ArgumentError, "policy #{inspect(policy)}: #{no_sandbox(name)}")

  defp check_sandbox(%{sandboxed: name, resolved: engine}) when name != nil and is_native(engine),
    do: raise(ArgumentError, no_sandbox(name) <> "; add engine: :wasm")

  defp check_sandbox(values), do: values

  defp no_sandbox(name),
    do: "option #{inspect(name)} is one of the wasm engine, but the native one is selected"

  # Canonical form leaves no choice in these.
  @chosen [:pretty, :sort_keys, :escape]

  @doc """
  Raises for options that contradict each other. `given` are those of one call or one policy; what they override never contradicts
  them.
  """
  @spec refuse_contradictions!(:decode | :encode, values(), keyword() | map()) :: :ok
  def refuse_contradictions!(:encode, values, given) do
    chosen = values.canonical and Enum.find(given, fn {name, _value} -> name in @chosen end)
    if chosen, do: raise(ArgumentError, "option #{inspect(elem(chosen, 0))} contradicts canonical: true")

    if values.redact == [] and given?(given, :redacted),
      do: raise(ArgumentError, "option :redacted needs :redact, which says what is redacted")

    if values.null != nil and nil in values.omit and (given?(given, :omit) or given?(given, :null)),
      do: raise(ArgumentError, omitted_text(values.null))

    :ok
  end

  def refuse_contradictions!(:decode, values, given) do
    if values.raw != [] and values.as != nil and (given?(given, :raw) or given?(given, :as)),
      do: raise(ArgumentError, "options :as and :raw contradict each other")

    :ok
  end

  defp omitted_text(null),
    do: ~s(options omit: [nil] and null: #{inspect(null)} contradict each other: nil is then the string "nil")

  defp given?(given, name), do: Enum.any?(given, fn {given, _value} -> given == name end)

  defp chosen(%{canonical: true} = values), do: canonical(values)
  defp chosen(values), do: values

  defp canonical(values) do
    plain = %{pretty({"", "", "", ""}) | pretty: false}
    values |> Map.merge(plain) |> Map.merge(%{sort_keys: false, escape: :json, maps: :naive})
  end

  @doc "The options of a call, for the engine that takes it."
  @spec pack(:decode | :encode, values()) :: t()
  def pack(:decode, %{keys: given, raw: raw} = v) do
    v = core_keys(v)
    parts = if raw == [], do: "", else: RustyJson.Parts.Raw.plan(raw)
    keys = left_to_do(given, v)
    bytes = Layout.decode(v)

    %__MODULE__{
      engine: v.resolved,
      bytes: bytes <> parts,
      check: if(v.as == nil and v.keys != :atoms!, do: bytes <> @check),
      parts: parts,
      values: v,
      sandbox: v.sandbox,
      keys: keys,
      as: v.as,
      straight: if(parts == "" and keys == nil and v.as == nil, do: straight(v)),
      max_bytes: v.max_bytes,
      dirty_threshold: dirty_threshold(v)
    }
  end

  def pack(:encode, v) do
    v = %{v | shape: Shape.pack(v)}

    %__MODULE__{
      engine: v.resolved,
      bytes: Layout.encode(v),
      values: v,
      sandbox: v.sandbox,
      straight: if(v.compress == -1 and not v.canonical, do: straight(v)),
      compress: v.compress,
      canonical: v.canonical,
      depth: v.base_depth,
      plain_parts: plain_parts?(v),
      foreign: foreign(v),
      usual: usual?(v)
    }
  end

  defp straight(%{resolved: Engine.Wasm, max_bytes: 0, sandbox: sandbox}), do: Host.limits(sandbox)

  defp straight(_values), do: nil

  defp plain_parts?(%{pretty: false, max_bytes: 0, redact: [], unsupported: :error, protocol: true}), do: true
  defp plain_parts?(_values), do: false

  # What is to be hidden is taken out of another library's text afterwards. Its members are neither sorted nor renamed, and in a call of
  # the stand-in for Jason only Jason's protocol counts: then the library is called. Otherwise the core writes what it would.
  defp foreign(%{omit: [], redact: [], integers: :exact, sort_keys: false, key_case: nil, extras: extras})
       when extras != :left,
       do: :planned

  defp foreign(%{omit: [], redact: [], integers: :exact}), do: :called
  defp foreign(_values), do: :shaped

  defp usual?(%{escape: :json, maps: :naive, null: nil} = values),
    do: plain_parts?(values) and foreign(values) == :planned

  defp usual?(_values), do: false

  @doc "The same options with other values."
  @spec change(t(), :decode | :encode, values()) :: t()
  def change(%{values: values, parts: parts} = options, :decode, changes) do
    values = Map.merge(values, changes)
    %{options | values: values, bytes: Layout.decode(values) <> parts}
  end

  def change(%{values: values} = options, :encode, changes) do
    values = Map.merge(values, changes)

    %{
      options
      | values: values,
        bytes: Layout.encode(values),
        depth: values.base_depth,
        plain_parts: plain_parts?(values),
        foreign: foreign(values),
        usual: usual?(values)
    }
  end

  @doc "The same options, for parts of a document."
  @spec with_parts(t(), binary()) :: t()
  def with_parts(%{bytes: bytes} = options, parts), do: %{options | parts: parts, bytes: bytes <> parts}

  @doc "The same options, for an engine that is to build the structs of this shape."
  @spec into_structs(t(), RustyJson.Schema.Shape.t()) :: t()
  # A function for keys has to see all of them, also inside structs.
  def into_structs(%{keys: keys} = options, shape) when not is_tuple(keys),
    do: %{options | structs: shape.templates}

  def into_structs(options, _shape), do: options

  # The function gets the keys in the order of the text and can map two keys to one. So the core keeps the order, and repeated
  # keys are resolved afterwards.
  defp core_keys(%{keys: fun} = v) when is_function(fun),
    do: Map.merge(v, %{keys: :strings, objects: :ordered_objects, given_objects: v.objects})

  # Engines make no atoms: see `RustyJson.Decode.Atoms`.
  defp core_keys(%{keys: :atoms} = v), do: %{v | keys: :atoms!}
  defp core_keys(v), do: v

  defp left_to_do(:atoms, _v), do: :atoms
  defp left_to_do(fun, %{given_objects: :ordered_objects}) when is_function(fun), do: {fun, :ordered}
  defp left_to_do(fun, %{duplicate_keys: :first}) when is_function(fun), do: {fun, :first}
  defp left_to_do(fun, _v) when is_function(fun), do: {fun, :last}
  defp left_to_do(_keys, _v), do: nil

  # Input sizes that can mean much work: an integer takes more than linear time, a decimal twenty times as long as a float.
  @costly_integers 4_096
  @costly_decimals 16_384

  # More bytes than a document can have.
  @never 0xFFFF_FFFF_FFFF

  defp dirty_threshold(%{dirty_threshold: 0}), do: @never

  defp dirty_threshold(%{decoding_integer_digit_limit: limit, dirty_threshold: threshold})
       when limit == 0 or limit > @costly_integers,
       do: min(threshold, @costly_integers)

  defp dirty_threshold(%{floats: :decimals, dirty_threshold: threshold}), do: min(threshold, @costly_decimals)
  defp dirty_threshold(%{dirty_threshold: threshold}), do: threshold

  @typedoc "Indent, line separator, record separator, and what follows a colon."
  @type layout :: {binary(), binary(), binary(), binary()}

  @typedoc "The depth to start from, the deepest nesting, and the most bytes to write (0 is no limit)."
  @type layout_limits :: {non_neg_integer(), pos_integer(), non_neg_integer()}

  @doc "Encode options that lay out text like this."
  @spec laid_out(t(), layout(), layout_limits()) :: t()
  def laid_out(options, layout, {depth, deepest, max_bytes}) do
    limits = %{base_depth: depth, max_depth: deepest, max_bytes: max_bytes}
    change(options, :encode, Map.merge(pretty(layout), limits))
  end

  @doc "Encode options for a value that stands this deep."
  @spec at_depth(t(), non_neg_integer()) :: t()
  def at_depth(%{depth: depth} = options, depth), do: options

  # To write all options again takes three times as long.
  def at_depth(%{values: values, bytes: bytes} = options, depth),
    do: %{options | values: %{values | base_depth: depth}, bytes: Layout.at_depth(bytes, depth), depth: depth}

  @doc "Encode options for a value from which these pointers go on, of those that redact."
  @spec with_pointers(t(), [[String.t()]]) :: t()
  def with_pointers(%{values: %{pointers: pointers}} = options, pointers), do: options

  def with_pointers(%{values: values} = options, pointers) do
    shape = Shape.pack(%{values | pointers: pointers})
    change(options, :encode, %{pointers: pointers, shape: shape})
  end

  @doc "The pointers that redact, as lists of segments."
  @spec pointers(t()) :: [[String.t()]]
  def pointers(%{values: %{redact: []}}), do: []
  def pointers(%{values: %{pointers: nil, redact: redact}}), do: Shape.segments(redact)
  def pointers(%{values: %{pointers: pointers}}), do: pointers

  @doc "The same, and the text stays uncompressed."
  @spec uncompressed(t()) :: t()
  def uncompressed(%{compress: -1} = options), do: options
  def uncompressed(options), do: change(%{options | compress: -1}, :encode, %{compress: -1})

  @doc "Options for a list whose elements are lines, or a sequence of RFC 7464. They are for the engine alone, until `inner/1`."
  @spec records(t(), :array | :lines | :seq) :: t()
  def records(options, :array), do: options

  def records(options, format), do: %{change(options, :encode, %{records: format}) | origin: :records}

  @doc "Options for what the core leaves to Elixir, whose text stands in another one."
  @spec inner(t()) :: t()
  def inner(%{origin: :records} = options),
    do: options |> change(:encode, %{records: :none}) |> uncompressed()

  def inner(options), do: uncompressed(options)

  @doc "The same for a text that is not part of a list of records."
  @spec alone(t()) :: t()
  def alone(%{origin: nil} = options), do: options
  def alone(options), do: %{options | origin: nil}

  @doc "The time when a call starts, in milliseconds; nil in the native engine, whose calls have no deadline."
  @spec started(t()) :: integer() | nil
  def started(%{engine: engine}) when is_native(engine), do: nil
  def started(_options), do: System.monotonic_time(:millisecond)

  @doc "Options for the parts of a call that starts now: one deadline covers all of them. A part of another call keeps that one's."
  @spec due(t()) :: t()
  def due(%{sandbox: %{deadline: _}} = options), do: options
  def due(options), do: due(options, started(options))

  @doc "The same for a call that started at this time."
  @spec due(t(), integer() | nil) :: t()
  def due(options, nil), do: options

  def due(%{sandbox: sandbox} = options, started),
    do: %{options | sandbox: Map.put_new(sandbox, :deadline, started + sandbox.timeout)}

  @doc "The same options, for calls that emit no events."
  @spec silent(t()) :: t()
  def silent(%{engine: engine, sandbox: sandbox} = options),
    do: %{options | engine: Engine.silent(engine), sandbox: Map.delete(sandbox, :events)}

  @spec depth(t()) :: non_neg_integer()
  def depth(%{depth: depth}), do: depth

  @doc "The escape mode, by its name."
  @spec escape(t()) :: RustyJson.escape()
  def escape(%{values: values}), do: values.escape

  @doc "What is done about keys that become the same string."
  @spec maps(t()) :: :naive | :strict
  def maps(%{values: values}), do: values.maps
end
