defmodule RustyJson.Options do
  @moduledoc false
  # The options of one call, checked, and as the core takes them; and those of the parts of a call. RustyJson.Options.Schema defines
  # options, RustyJson.Options.Values checks them, RustyJson.Options.Pack writes them as the core takes them.

  alias RustyJson.{Config, Engine}
  alias RustyJson.Options.{Cache, Functions, Layout, Pack, Policies, Schema, Shape, Unknown, Values}
  alias RustyJson.Schema.Type

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
    # Counts what the parts of this call looked at and left no text of, see RustyJson.Encode.Lost.
    lost: nil,
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
    # How structs get their text that only another library knows, see RustyJson.Options.Pack.
    foreign: :planned,
    # Whether the core writes structs of other libraries as these do by default, and nothing more is asked about parts.
    usual: true
  ]

  @type t :: %__MODULE__{
          engine: module(),
          bytes: binary(),
          values: Values.t(),
          sandbox: map(),
          keys: nil | :atoms | {(String.t() -> term()), :ordered | :last | :first},
          plans: nil | map(),
          parts: binary(),
          as: nil | RustyJson.Schema.Type.t(),
          structs: nil | tuple(),
          origin: nil | :records | RustyJson.Schema.Place.t(),
          call: nil | reference(),
          lost: nil | :counters.counters_ref(),
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
      |> Values.to_list(call)
      |> Unknown.refuse!(Functions.names(function), call, Map.has_key?(about, :strict))
      |> Keyword.split(Keyword.keys(own))

    # Where the function chooses the default, it is nil.
    defaults = for {name, e} <- own, into: %{}, do: {name, e.default && Values.cast!(name, e, e.default)}
    {for({name, value} <- mine, into: defaults, do: {name, Values.cast!(name, own[name], value)}), others}
  end

  defp call(direction, given) do
    given = given |> Values.to_list(direction) |> Unknown.refuse!(Schema.names(direction), "#{direction}")
    values = Values.override(given, base(Policies.name(given), direction), direction)
    Values.refuse_contradictions!(direction, values, given)
    Pack.pack(direction, Values.canonical(values))
  end

  defp base(nil, direction), do: Config.values(direction)

  defp base(policy, direction) do
    case Map.fetch!(Config.policy(policy), direction) do
      %{sandboxed: nil} = values -> values
      %{sandboxed: name} = values -> %{values | sandboxed: {policy, name}}
    end
  end

  @doc "Encode options of a call whose null is the atom `:null`: nil is a string, so the configuration or the policy leaves out no nil."
  @spec with_null(keyword()) :: keyword()
  def with_null(given) do
    omit = base(Policies.name(given), :encode).omit
    omit = if nil in omit, do: [omit: Enum.reject(omit, &is_nil/1)], else: []
    [null: :null] ++ omit ++ given
  end

  @doc """
  Raises for an option that no call takes, a value of another type, and a policy that the application's environment does not have. Unlike
  a call it reads no more of the configuration, which may not be complete when an application is compiled.
  """
  @spec check!(:decode | :encode, keyword()) :: :ok
  def check!(direction, given) do
    for {name, value} <- given do
      entry = Values.entry!(direction, name)
      # A module of the application may be compiled later.
      if entry.type == :type, do: value && Type.check!(value), else: Values.cast!(name, entry, value)
      if entry.type == :policy, do: Policies.known!(value)
    end

    :ok
  end

  @doc "The same options with other values."
  @spec change(t(), :decode | :encode, Values.t()) :: t()
  def change(%{values: values, parts: parts} = options, :decode, changes) do
    values = Map.merge(values, changes)
    %{options | values: values, bytes: joined(Layout.decode(values), parts)}
  end

  def change(%{values: values} = options, :encode, changes) do
    values = Map.merge(values, changes)

    %{
      options
      | values: values,
        bytes: Layout.encode(values),
        depth: values.base_depth,
        plain_parts: Pack.plain_parts?(values),
        foreign: Pack.foreign(values),
        usual: Pack.usual?(values)
    }
  end

  @doc "The same options, for parts of a document."
  @spec with_parts(t(), binary()) :: t()
  def with_parts(%{bytes: bytes} = options, parts),
    do: %{options | parts: parts, bytes: joined(bytes, parts)}

  # A long plan would be copied in one go by `<>`.
  defp joined(bytes, parts), do: IO.iodata_to_binary([bytes | parts])

  @doc "The same options, for an engine that is to build the structs of this shape."
  @spec into_structs(t(), RustyJson.Schema.Shape.t()) :: t()
  # A function for keys has to see all of them, also inside structs.
  def into_structs(%{keys: keys} = options, shape) when not is_tuple(keys),
    do: %{options | structs: shape.templates}

  def into_structs(options, _shape), do: options

  @typedoc "The depth to start from, the deepest nesting, and the most bytes to write (0 is no limit)."
  @type layout_limits :: {non_neg_integer(), pos_integer(), non_neg_integer()}

  @doc "Encode options that lay out text like this."
  @spec laid_out(t(), Values.layout(), layout_limits()) :: t()
  def laid_out(options, layout, {depth, deepest, max_bytes}) do
    limits = %{base_depth: depth, max_depth: deepest, max_bytes: max_bytes}
    change(options, :encode, Map.merge(Values.pretty(layout), limits))
  end

  @doc "Encode options without a layout, for text that gets one with the text around it."
  @spec compact(t()) :: t()
  def compact(%{values: %{pretty: false}} = options), do: options
  def compact(options), do: change(options, :encode, Values.compact())

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

  @doc "Encode options that write a term as it stood in the text from which it was decoded."
  @spec as_written(t()) :: t()
  def as_written(options), do: change(options, :encode, Values.as_written())

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
  def started(%{engine: engine}),
    do: if(Engine.native?(engine), do: nil, else: System.monotonic_time(:millisecond))

  @doc "Options for the parts of a call that starts now: one deadline covers all of them. A part of another call keeps that one's."
  @spec due(t()) :: t()
  def due(%{sandbox: %{deadline: _}} = options), do: options
  def due(options), do: due(options, started(options))

  @doc "The same for a call that started at this time."
  @spec due(t(), integer() | nil) :: t()
  def due(options, nil), do: options

  def due(%{sandbox: sandbox} = options, started),
    do: %{options | sandbox: Map.put_new(sandbox, :deadline, started + sandbox.timeout)}

  @doc "The same options without a deadline."
  @spec undue(t()) :: t()
  def undue(%{sandbox: sandbox} = options), do: %{options | sandbox: Map.delete(sandbox, :deadline)}

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
