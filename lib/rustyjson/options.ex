defmodule RustyJson.Options do
  @moduledoc false
  # The options of one call, checked and packed for the engines. RustyJson.Options.Schema defines them.

  import Bitwise

  alias RustyJson.{Config, Engine}
  alias RustyJson.Options.{Schema, Words}

  @enforce_keys [:engine, :packed]
  defstruct [:engine, :packed, :sandbox, keys: nil, max_bytes: 0]

  @type t :: %__MODULE__{
          engine: module(),
          packed: tuple(),
          keys: nil | :atoms | {(String.t() -> term()), :ordered | :last | :first},
          max_bytes: non_neg_integer(),
          sandbox: map()
        }

  # Values by name, the flags among them, before they are packed.
  @type values :: map()

  @no_depth 0xFFFF_FFFF
  @sandbox Schema.sandbox()
  @plain_structs Schema.entries(:encode)[:protocol].mask

  @doc "The options of a decode call."
  @spec decode(keyword() | map()) :: t()
  def decode([]), do: Config.decode()
  def decode(given), do: call(:decode, given)

  @doc "The options of an encode call."
  @spec encode(keyword() | map()) :: t()
  def encode([]), do: Config.encode()
  def encode(given), do: call(:encode, given)

  defp call(direction, given) do
    values = put_all(given, Config.values(direction), direction)
    pack(direction, check_sandbox(resolve(values)))
  end

  @doc "Enters options one by one."
  @spec put_all(keyword() | map(), values(), :decode | :encode) :: values()
  def put_all([option | rest], values, direction),
    do: put_all(rest, put(option, values, direction), direction)

  def put_all([], values, _direction), do: values
  def put_all(given, values, direction) when is_map(given), do: put_all(Map.to_list(given), values, direction)
  def put_all(other, _values, direction), do: raise(ArgumentError, no_options(other, direction))

  @doc "What the schema says when nobody says otherwise."
  @spec defaults(:decode | :encode) :: values()
  def defaults(direction) do
    given = for {name, entry} <- Schema.entries(direction), do: {name, entry.default}
    put_all(given, %{flags: 0, keys: nil, resolved: nil, sandbox: %{}, sandboxed: nil}, direction)
  end

  defp put({name, value}, values, direction) do
    case entry(direction, name) do
      nil -> raise ArgumentError, unknown(name, direction)
      entry -> enter(name, entry, cast!(name, entry, value), values)
    end
  end

  defp put(other, _values, direction), do: raise(ArgumentError, no_options(other, direction))

  for direction <- [:decode, :encode], {name, entry} <- Schema.entries(direction) do
    entry = if entry[:bits], do: %{entry | bits: Map.new(entry.bits)}, else: entry
    defp entry(unquote(direction), unquote(name)), do: unquote(Macro.escape(entry))
  end

  defp entry(_direction, _name), do: nil

  defp cast!(name, entry, value) do
    case Schema.cast(entry.type, value) do
      {:ok, cast} ->
        cast

      :error ->
        takes = Words.describe(entry.type)
        raise ArgumentError, "option #{inspect(name)} takes #{takes}, got: #{inspect(value, limit: 5)}"
    end
  end

  defp unknown(name, direction) do
    names = Keyword.keys(Schema.entries(direction))
    "unknown option #{inspect(name)}: #{direction} takes #{Words.describe({:in, names})}"
  end

  defp no_options(other, direction),
    do: "options of #{direction} are a keyword list or a map, got: #{inspect(other, limit: 5)}"

  # Where each option goes: into the flags, into the sandbox's own map, or under its name.
  defp enter(:keys, entry, fun, values) when is_function(fun),
    do: %{values | keys: fun, flags: values.flags &&& bnot(entry.mask)}

  defp enter(name, %{bits: bits, mask: mask}, value, values) do
    keys = if name == :keys, do: nil, else: values.keys
    %{values | keys: keys, flags: (values.flags &&& bnot(mask)) ||| Map.fetch!(bits, value)}
  end

  defp enter(:pool_size, entry, :schedulers, values),
    do: enter(:pool_size, entry, System.schedulers_online(), values)

  defp enter(name, _entry, value, values) when name in @sandbox,
    do: %{values | sandbox: Map.put(values.sandbox, name, value), sandboxed: name}

  defp enter(:engine, _entry, engine, values), do: Map.merge(values, %{engine: engine, resolved: nil})
  defp enter(:max_depth, _entry, :infinity, values), do: Map.put(values, :max_depth, @no_depth)
  defp enter(:pretty, _entry, false, values), do: Map.put(values, :pretty, nil)
  defp enter(:pretty, _entry, true, values), do: Map.put(values, :pretty, {"  ", "\n", " "})
  defp enter(:compress, _entry, :none, values), do: Map.put(values, :gzip, -1)
  defp enter(:compress, _entry, :gzip, values), do: Map.put(values, :gzip, 6)
  defp enter(:compress, _entry, {:gzip, level}, values), do: Map.put(values, :gzip, level)
  defp enter(name, _entry, value, values), do: Map.put(values, name, value)

  @doc "Finds the engine, as soon as it is known which one is asked for."
  @spec resolve(values()) :: values()
  def resolve(%{resolved: nil, engine: engine} = values), do: %{values | resolved: Engine.resolve(engine)}
  def resolve(values), do: values

  @doc "From here on, sandbox options are those of a call."
  @spec settled(values()) :: values()
  def settled(values), do: %{resolve(values) | sandboxed: nil}

  # Without this error the caller would rely on a sandbox that is not there.
  defp check_sandbox(%{sandboxed: name, resolved: Engine.Native}) when name != nil do
    raise ArgumentError,
          "option #{inspect(name)} is one of the wasm engine, but this call runs on the native one; add engine: :wasm"
  end

  defp check_sandbox(values), do: values

  @doc "The packed form, and the engine that takes it."
  @spec pack(:decode | :encode, values()) :: t()
  def pack(:decode, v) do
    {flags, keys} = key_function(v)
    packed = {flags, v.max_depth, v.decoding_integer_digit_limit, v.max_nodes, dirty_threshold(v)}
    %__MODULE__{engine: v.resolved, packed: packed, keys: keys, max_bytes: v.max_bytes, sandbox: v.sandbox}
  end

  def pack(:encode, v) do
    packed = {v.flags ||| Engine.encode_flags(v.resolved), v.max_depth, v.max_bytes, v.gzip, v.pretty, 0, nil}
    %__MODULE__{engine: v.resolved, packed: packed, sandbox: v.sandbox}
  end

  # The function gets the keys in the order of the text and can map two keys to one. So the core keeps the order, and repeated
  # keys are resolved afterwards.
  @ordered Schema.entries(:decode)[:objects].bits[:ordered_objects]
  @first Schema.entries(:decode)[:duplicate_keys].bits[:first]

  @key_bits Schema.entries(:decode)[:keys].mask
  @atoms Schema.entries(:decode)[:keys].bits[:atoms]
  @existing_atoms Schema.entries(:decode)[:keys].bits[:atoms!]

  # Engines make no atoms: see `RustyJson.Decode.Atoms`.
  defp key_function(%{keys: nil, flags: flags}) when (flags &&& @key_bits) == @atoms,
    do: {flags - @atoms + @existing_atoms, :atoms}

  defp key_function(%{keys: nil, flags: flags}), do: {flags, nil}
  defp key_function(%{keys: fun, flags: flags}) when (flags &&& @ordered) != 0, do: {flags, {fun, :ordered}}

  defp key_function(%{keys: fun, flags: flags}) when (flags &&& @first) != 0,
    do: {flags ||| @ordered, {fun, :first}}

  defp key_function(%{keys: fun, flags: flags}), do: {flags ||| @ordered, {fun, :last}}

  # Input sizes that can mean much work: an integer takes quadratic time, a decimal twenty times as long as a float.
  @costly_integers 4_096
  @costly_decimals 16_384
  @decimals Schema.entries(:decode)[:floats].bits[:decimals]

  defp dirty_threshold(%{dirty_threshold: 0}), do: 0

  defp dirty_threshold(%{decoding_integer_digit_limit: limit, dirty_threshold: threshold})
       when limit == 0 or limit > @costly_integers,
       do: min(threshold, @costly_integers)

  defp dirty_threshold(%{flags: flags, dirty_threshold: threshold}) do
    if (flags &&& @decimals) != 0, do: min(threshold, @costly_decimals), else: threshold
  end

  ## Reading packed options

  @doc "Encode options for a value that stands this deep."
  @spec at_depth(t(), non_neg_integer()) :: t()
  def at_depth(%{packed: packed} = options, depth) when elem(packed, 5) == depth, do: options
  def at_depth(%{packed: packed} = options, depth), do: %{options | packed: put_elem(packed, 5, depth)}

  @doc "The same, and the text stays uncompressed."
  @spec uncompressed(t()) :: t()
  def uncompressed(%{packed: packed} = options) when elem(packed, 3) == -1, do: options
  def uncompressed(%{packed: packed} = options), do: %{options | packed: put_elem(packed, 3, -1)}

  @doc "Encode options for the parts of a call that started at this time, in milliseconds; nil has no deadline."
  @spec due(t(), integer() | nil) :: t()
  def due(options, nil), do: options

  def due(%{sandbox: sandbox} = options, started),
    do: %{options | sandbox: Map.put(sandbox, :deadline, started + sandbox.timeout)}

  @spec depth(t()) :: non_neg_integer()
  def depth(%{packed: packed}), do: elem(packed, 5)

  @spec gzip(t()) :: -1..9
  def gzip(%{packed: packed}), do: elem(packed, 3)

  @spec pretty(t()) :: nil | {binary(), binary(), binary()}
  def pretty(%{packed: packed}), do: elem(packed, 4)

  @doc "Whether structs are objects like any map: `protocol: false`."
  @spec plain_structs?(t()) :: boolean()
  def plain_structs?(%{packed: packed}), do: (elem(packed, 0) &&& @plain_structs) != 0

  @doc "The escape mode, by its name."
  @spec escape(t()) :: :json | :html_safe | :javascript_safe | :unicode_safe
  def escape(options), do: named(options, :escape)

  @doc "What is done about keys that become the same string."
  @spec maps(t()) :: :naive | :strict
  def maps(options), do: named(options, :maps)

  defp named(%{packed: packed}, name) do
    %{bits: bits, mask: mask} = Schema.entries(:encode)[name]
    Enum.find_value(bits, fn {value, bits} -> bits == (elem(packed, 0) &&& mask) && value end)
  end
end
