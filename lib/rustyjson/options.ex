defmodule RustyJson.Options do
  @moduledoc false
  # Options of one call, checked and packed as the engines take them. What they are is in RustyJson.Options.Schema.

  import Bitwise

  alias RustyJson.{Config, Engine}
  alias RustyJson.Options.{Schema, Words}

  @enforce_keys [:engine, :packed]
  defstruct [:engine, :packed, :sandbox, keys: nil, max_bytes: 0]

  @type t :: %__MODULE__{
          engine: module(),
          packed: tuple(),
          keys: nil | (String.t() -> term()),
          max_bytes: non_neg_integer(),
          sandbox: map()
        }

  # Values by name, the flags among them, before they are packed.
  @type values :: map()

  @no_depth 0xFFFF_FFFF
  @sandbox Schema.sandbox()
  @entries %{decode: Map.new(Schema.entries(:decode)), encode: Map.new(Schema.entries(:encode))}

  @doc "The options of a decode call."
  @spec decode(keyword() | map()) :: t()
  def decode([]), do: Config.decode()
  def decode(given), do: call(:decode, given)

  @doc "The options of an encode call."
  @spec encode(keyword() | map()) :: t()
  def encode([]), do: Config.encode()
  def encode(given), do: call(:encode, given)

  defp call(direction, given) do
    values = given |> Enum.reduce(Config.values(direction), &put(&1, &2, direction))
    check_sandbox(values, given)
    pack(direction, values)
  end

  @doc "What the schema says when nobody says otherwise."
  @spec defaults(:decode | :encode) :: values()
  def defaults(direction) do
    Enum.reduce(Schema.entries(direction), %{flags: 0, keys: nil}, fn {name, entry}, values ->
      put({name, entry.default}, values, direction)
    end)
  end

  @doc "Checks one option and enters it."
  @spec put({term(), term()}, values(), :decode | :encode) :: values()
  def put({name, value}, values, direction) do
    case @entries[direction] do
      %{^name => entry} -> enter(name, entry, cast!(name, entry, value), values)
      entries -> raise ArgumentError, unknown(name, direction, entries)
    end
  end

  def put(other, _values, direction) do
    raise ArgumentError, "options of #{direction} are a keyword list or a map, got: #{inspect(other)}"
  end

  defp cast!(name, entry, value) do
    case Schema.cast(entry.type, value) do
      {:ok, cast} ->
        cast

      :error ->
        raise ArgumentError,
              "option #{inspect(name)} takes #{Words.describe(entry.type)}, got: #{inspect(value)}"
    end
  end

  defp unknown(name, direction, _entries) do
    names = Keyword.keys(Schema.entries(direction))
    "unknown option #{inspect(name)}: #{direction} takes #{Words.describe({:in, names})}"
  end

  defp enter(:keys, entry, fun, values) when is_function(fun),
    do: %{values | keys: fun, flags: values.flags &&& bnot(entry.mask)}

  defp enter(name, %{bits: bits, mask: mask}, value, values) do
    values = if name == :keys, do: %{values | keys: nil}, else: values
    %{values | flags: (values.flags &&& bnot(mask)) ||| Keyword.fetch!(bits, value)}
  end

  defp enter(:max_depth, _entry, :infinity, values), do: Map.put(values, :max_depth, @no_depth)
  defp enter(:pretty, _entry, false, values), do: Map.put(values, :pretty, nil)
  defp enter(:pretty, _entry, true, values), do: Map.put(values, :pretty, {"  ", "\n", " "})
  defp enter(:compress, _entry, :none, values), do: Map.put(values, :gzip, -1)
  defp enter(:compress, _entry, :gzip, values), do: Map.put(values, :gzip, 6)
  defp enter(:compress, _entry, {:gzip, level}, values), do: Map.put(values, :gzip, level)

  defp enter(:pool_size, _entry, :schedulers, values),
    do: Map.put(values, :pool_size, System.schedulers_online())

  defp enter(name, _entry, value, values), do: Map.put(values, name, value)

  @doc "The packed form, and the engine that takes it."
  @spec pack(:decode | :encode, values()) :: t()
  def pack(direction, values) do
    engine = Engine.resolve(values.engine)

    %__MODULE__{
      engine: engine,
      packed: packed(direction, values, engine),
      keys: values.keys,
      max_bytes: values.max_bytes,
      sandbox: Map.take(values, @sandbox)
    }
  end

  defp packed(:decode, v, _engine),
    do: {v.flags, v.max_depth, v.decoding_integer_digit_limit, v.max_nodes, v.dirty_threshold}

  defp packed(:encode, v, engine),
    do: {v.flags ||| Engine.encode_flags(engine), v.max_depth, v.max_bytes, v.gzip, v.pretty, 0, nil}

  # Silence would let someone believe in a wall that is not there.
  defp check_sandbox(values, given) do
    with name when name != nil <- Enum.find_value(given, fn {name, _} -> name in @sandbox && name end),
         Engine.Native <- Engine.resolve(values.engine) do
      raise ArgumentError,
            "option #{inspect(name)} is one of the wasm engine, but this call runs on the native one; " <>
              "add engine: :wasm"
    end
  end

  ## Reading what was packed

  @doc "Encode options for a value that stands this deep."
  @spec at_depth(t(), non_neg_integer()) :: t()
  def at_depth(%{packed: packed} = options, depth), do: %{options | packed: put_elem(packed, 5, depth)}

  @doc "The same, and the text stays uncompressed."
  @spec uncompressed(t()) :: t()
  def uncompressed(%{packed: packed} = options), do: %{options | packed: put_elem(packed, 3, -1)}

  @spec depth(t()) :: non_neg_integer()
  def depth(%{packed: packed}), do: elem(packed, 5)

  @spec gzip(t()) :: -1..9
  def gzip(%{packed: packed}), do: elem(packed, 3)

  @spec pretty(t()) :: nil | {binary(), binary(), binary()}
  def pretty(%{packed: packed}), do: elem(packed, 4)

  @doc "The escape mode, by its name."
  @spec escape(t()) :: :json | :html_safe | :javascript_safe | :unicode_safe
  def escape(options), do: named(options, :escape)

  @doc "What is done about keys that become the same string."
  @spec maps(t()) :: :naive | :strict
  def maps(options), do: named(options, :maps)

  defp named(%{packed: packed}, name) do
    %{bits: bits, mask: mask} = @entries.encode[name]
    Enum.find_value(bits, fn {value, bits} -> bits == (elem(packed, 0) &&& mask) && value end)
  end
end
