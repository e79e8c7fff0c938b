defmodule RustyJson.LogFormatter.Setup do
  @moduledoc false
  # The options of the formatter: checked, and prepared for its lines.

  alias RustyJson.Options
  alias RustyJson.Options.Shape

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

  @names %{time: "time", level: "level", message: "message", metadata: "metadata", error: "error"}
  @written_first ["time", "level"]

  @type t :: %{
          engine: module(),
          options: Options.t(),
          unlimited: Options.t(),
          longest: pos_integer() | :infinity,
          metadata: :all | [atom()],
          names: %{atom() => String.t()},
          redacts: boolean(),
          kept_keys: [String.t()],
          usual: boolean()
        }

  @doc "The options as a map. Raises ArgumentError for what is not one."
  @spec options(term()) :: map()
  def options(options) when is_map(options) and not is_struct(options), do: options

  def options(options) do
    if Keyword.keyword?(options),
      do: Map.new(options),
      else:
        raise(
          ArgumentError,
          "the formatter takes a keyword list or a map of options, not #{inspect(options)}"
        )
  end

  @doc "What lines are made with. Raises ArgumentError for an option that is unknown or wrong."
  @spec new(map()) :: t()
  def new(config) do
    Enum.each(config, &check!/1)
    max_bytes = Map.get(config, :max_bytes, @max_bytes)
    options = line_options(config, max_bytes)
    names = Map.merge(@names, Map.new(Map.get(config, :names, [])))
    redact = options.values.redact
    keys = for key <- redact, do: to_string(key)

    %{
      engine: options.engine,
      options: options,
      unlimited: line_options(config, 0),
      longest: if(max_bytes == 0, do: :infinity, else: max_bytes + 1),
      metadata: Map.get(config, :metadata, :all),
      names: names,
      redacts: redact != [],
      # Also those of pointers.
      kept_keys: keys ++ List.flatten(Shape.segments(redact)),
      # The start of each line is known.
      usual:
        names == @names and not options.values.sort_keys and
          not Enum.any?(keys, &(&1 in @written_first or match?("/" <> _, &1)))
    }
  end

  defp check!({:metadata, :all}), do: :ok

  defp check!({:metadata, keys}) do
    unless proper?(keys) and Enum.all?(keys, &is_atom/1),
      do: raise(ArgumentError, "option :metadata takes :all or a list of atoms, not #{inspect(keys)}")
  end

  defp check!({:names, names}) do
    given = if is_map(names), do: Map.to_list(names), else: names

    unless proper?(given) and Enum.all?(given, &name?/1) and distinct?(given) do
      raise ArgumentError,
            "option :names takes other names of #{list(Map.keys(@names))}, as valid UTF-8 and each only once, not #{inspect(names)}"
    end
  end

  defp check!({name, _value}) when name in @options, do: :ok

  defp check!({name, _value}),
    do: raise(ArgumentError, "unknown option #{inspect(name)}: the formatter takes #{list(@options)}")

  defp proper?(list), do: is_list(list) and not List.improper?(list)

  defp name?({member, name}), do: is_map_key(@names, member) and is_binary(name) and String.valid?(name)
  defp name?(_other), do: false

  defp distinct?(given) do
    names = @names |> Map.merge(Map.new(given)) |> Map.values()
    Enum.uniq(names) == names
  end

  defp list(names), do: Enum.map_join(names, ", ", &inspect/1)

  defp line_options(config, max_bytes),
    do: config |> encode_options(max_bytes) |> Options.encode() |> Options.records(:lines)

  defp encode_options(config, max_bytes) do
    given = for name <- @encode, is_map_key(config, name), do: {name, Map.fetch!(config, name)}
    given ++ [max_bytes: max_bytes, max_depth: Map.get(config, :max_depth, @max_depth)] ++ @always
  end
end
