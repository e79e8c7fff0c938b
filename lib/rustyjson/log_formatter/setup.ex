defmodule RustyJson.LogFormatter.Setup do
  @moduledoc false
  # The options of the formatter: checked, and prepared for its lines.

  alias RustyJson.Decode.Input
  alias RustyJson.Encode.{Excerpt, Measure, Unsupported}
  alias RustyJson.Encoder.Names
  alias RustyJson.LogFormatter.{Layout, Presets}
  alias RustyJson.Options
  alias RustyJson.Options.{Shape, Unknown, Values, Words}

  @options ~w(preset metadata flat names levels redact redacted key_case escape engine max_bytes max_depth)a
  @encode [:redact, :redacted, :key_case, :escape, :engine]
  @max_bytes 65_536
  # A line needs room for its time, its level and the start of its message. The longest one stands in for no limit.
  @least 1_024
  @most 16_777_216
  @max_depth 16
  # The shortest line has metadata in it.
  @least_depth 2

  # Whatever the application's configuration says: one line, and no failure that can be avoided.
  @always [
    unsupported: :inspect,
    invalid_utf8: :replace,
    pretty: false,
    compress: :none,
    maps: :naive,
    canonical: false
  ]

  # How the texts of fragments and encoders are read, to know that they are one JSON value each. To make an integer of many digits takes
  # more than linear time.
  @guard [
    keys: :strings,
    objects: :maps,
    floats: :native,
    strings: :reference,
    duplicate_keys: :last,
    validate_strings: true,
    decoding_integer_digit_limit: 4_096,
    max_depth: 128,
    max_nodes: 0,
    max_bytes: 0,
    raw: [],
    as: nil
  ]

  @names %{time: "time", level: "level", message: "message", metadata: "metadata", error: "error"}
  @members @names |> Map.keys() |> Enum.sort()
  @written_first ["time", "level"]
  @levels [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug]

  @type t :: %{
          engine: module(),
          options: Options.t(),
          guard: Options.t(),
          longest: pos_integer(),
          metadata: :all | {:all_except, [atom()]} | [atom()],
          names: %{atom() => String.t()},
          preset: Presets.name(),
          levels: %{atom() => String.t() | integer()},
          always: [{String.t(), String.t()}],
          text: boolean(),
          # The names of members that flat metadata does not take, or nil.
          flat: nil | [String.t()],
          # Metadata that the place in the source does not show, because it is redacted.
          hidden_places: [atom()],
          redacts: boolean(),
          points: boolean(),
          redacted: String.t(),
          redact_keys: [String.t()],
          redact_words: [String.t()],
          kept_keys: [String.t()],
          usual: boolean()
        }

  @doc "The names of the options."
  @spec names() :: [atom()]
  def names, do: @options

  @doc "The options as a map. Raises ArgumentError for what is not one."
  @spec options(term()) :: map()
  def options(options) when is_map(options) and not is_struct(options), do: options

  def options(options) do
    if Keyword.keyword?(options),
      do: Map.new(options),
      else: Excerpt.refuse!("options of the formatter are a keyword list or a map", options)
  end

  @doc "What lines are made with. Raises ArgumentError for an option that is unknown or wrong."
  @spec new(map()) :: t()
  def new(config) do
    Enum.each(config, &check!/1)
    longest = longest(Map.get(config, :max_bytes, @max_bytes))
    # A handler of events may log, and would otherwise be called again for its own line.
    guard =
      config
      |> Map.take([:engine])
      |> Map.to_list()
      |> Kernel.++(@guard)
      |> Options.decode()
      |> Options.silent()

    options = line_options(config, longest, guard)
    preset = Presets.get(config[:preset])
    names = names!(config, preset)
    levels = Map.merge(preset.levels, Map.new(Map.get(config, :levels, [])))
    given = options.values.redact
    flat = if config[:flat] && not Layout.whole?(given), do: Map.values(names) ++ preset.own
    layout = %{names: names, preset: config[:preset], text: preset.text, flat: flat}
    redact = Layout.redact(given, layout)

    options =
      if redact == given,
        do: options,
        else: config |> Map.put(:redact, redact) |> line_options(longest, guard)

    {keys, words} = {Shape.keys(redact), Shape.words(redact)}

    %{
      engine: options.engine,
      options: options,
      guard: guard,
      # With its end.
      longest: longest + 1,
      metadata: metadata(Map.get(config, :metadata, :all), Presets.placed(config[:preset])),
      names: names,
      preset: config[:preset],
      levels: levels,
      always: preset.always,
      text: preset.text,
      flat: flat,
      hidden_places: Layout.hidden_places(given),
      redacts: redact != [],
      points: Shape.segments(redact) != [],
      redacted: options.values.redacted,
      redact_keys: keys,
      redact_words: words,
      # Also those of pointers.
      kept_keys: keys ++ List.flatten(Shape.segments(redact)),
      # The start of each line is known.
      usual:
        names == @names and levels == %{} and not Map.get(config, :flat, false) and
          not options.values.sort_keys and
          not Enum.any?(@written_first, &Shape.hidden?(&1, keys, words)) and Shape.segments(redact) == []
    }
  end

  defp check!({:metadata, :all}), do: :ok

  defp check!({:metadata, metadata}) do
    keys = with {:all_except, keys} <- metadata, do: keys

    unless proper?(keys) and Enum.all?(keys, &is_atom/1) do
      wrong!("option :metadata takes :all, a list of atoms or {:all_except, a list of atoms}", metadata, [])
    end
  end

  # Together with the preset: `names!/2`.
  defp check!({:names, _names}), do: :ok

  defp check!({:levels, levels}) do
    unless Enum.all?(pairs(levels), &level?/1),
      do: wrong!("option :levels takes strings or integers for #{list(@levels, "and")}", levels, @levels)
  end

  defp check!({:preset, preset}) do
    names = Presets.names()

    unless preset == nil or preset in names,
      do: wrong!("option :preset takes #{list(names, "or")}", preset, names)
  end

  defp check!({:flat, flat}) when not is_boolean(flat), do: wrong!("option :flat takes a boolean", flat, [])

  defp check!({:max_bytes, bytes}), do: Values.cast!(:max_bytes, %{type: {:integer, 0, @most}}, bytes)

  defp check!({name, _value}) when name in @options, do: :ok
  defp check!({name, _value}), do: raise(ArgumentError, Unknown.text(name, @options, "the formatter takes"))

  @doc "Whether the digits of an integer are many: to make them takes quadratic time."
  defguard is_long(term)
           when is_integer(term) and
                  (term >= 0x1_0000_0000_0000_0000_0000_0000_0000_0000 or
                     term <= -0x1_0000_0000_0000_0000_0000_0000_0000_0000)

  @doc "Whether the value under this key is redacted, wherever it stands."
  @spec redacted?(term(), t()) :: boolean()
  def redacted?(key, _setup) when is_long(key), do: false

  def redacted?(key, %{redact_keys: keys, redact_words: words} = setup)
      when is_binary(key) or is_atom(key) or is_list(key) or is_number(key) or is_struct(key),
      do: Shape.hidden?(key_text(key, setup), keys, words) or renamed?(key, setup)

  def redacted?(_key, _setup), do: false

  # The new name of an atom counts, too.
  defp renamed?(_key, %{options: %{values: %{key_case: nil}}}), do: false

  defp renamed?(key, %{options: %{values: %{key_case: key_case}}, redact_keys: keys, redact_words: words}),
    do: is_atom(key) and key |> Names.name(key_case) |> Shape.hidden?(keys, words)

  @doc "Whether a key is one that decides what is redacted."
  @spec kept?(String.t(), t()) :: boolean()
  def kept?(text, %{kept_keys: kept, redact_words: words}), do: Shape.hidden?(text, kept, words)

  @doc "The text of a key, as the encoder writes it; a key without a text form is described."
  @spec key_text(term(), t()) :: String.t()
  def key_text(key, _setup) when is_binary(key), do: key
  def key_text(key, _setup) when is_atom(key), do: Atom.to_string(key)

  def key_text(key, %{options: options}) when is_list(key) do
    with {kept, text} when kept in [:ok, :cut] <- Measure.text(key, @max_bytes),
         do: text,
         else: (:error -> Unsupported.describe(key, options))
  end

  def key_text(key, %{options: options}) do
    if is_struct(key) and not Measure.short?(key),
      do: Unsupported.describe(key, options),
      else: to_string(key)
  rescue
    _no_text -> Unsupported.describe(key, options)
  end

  @doc "Whether a text is one JSON value."
  @spec json?(binary(), t()) :: boolean()
  def json?(text, %{guard: guard}), do: match?({:ok, _value}, Input.given(text, guard))

  defp proper?(list), do: is_list(list) and not List.improper?(list)

  defp level?({level, name}) when level in @levels,
    do: (is_binary(name) and String.valid?(name)) or (is_integer(name) and not is_long(name))

  defp level?(_other), do: false

  # A place has these in other words.
  defp metadata(:all, []), do: :all
  defp metadata(:all, placed), do: {:all_except, placed}
  defp metadata({:all_except, keys}, placed), do: {:all_except, keys ++ placed}
  defp metadata(keys, _placed), do: keys

  defp names!(config, preset) do
    names = Map.get(config, :names, [])

    unless Enum.all?(pairs(names), &name?/1),
      do: wrong!("option :names takes strings for #{list(@members, "and")}", names, @members)

    merged = @names |> Map.merge(preset.names) |> Map.merge(Map.new(names))
    all = Map.values(merged) ++ preset.own

    case all -- Enum.uniq(all) do
      [] -> merged
      [twice | _] -> wrong!("option :names gives two members the name #{Excerpt.brief(twice)}", names, [])
    end
  end

  defp name?({member, name}), do: is_map_key(@names, member) and is_binary(name) and String.valid?(name)
  defp name?(_other), do: false

  # What is neither a map nor a list is an element that is wrong.
  defp pairs(given) when is_map(given) and not is_struct(given), do: Map.to_list(given)
  defp pairs(given), do: if(proper?(given), do: given, else: [given])

  # A name that is misspelt, alone or in pairs, is in the message.
  @spec wrong!(String.t(), term(), [atom()]) :: no_return()
  defp wrong!(text, given, known) do
    names =
      for given <- pairs(given), name = with({name, _value} <- given, do: name), name not in known, do: name

    meant =
      Enum.find_value(
        names,
        "",
        &with(name when name != nil <- Unknown.near(&1, known), do: ", did you mean #{inspect(name)}?")
      )

    raise ArgumentError, "#{text}, got: #{Excerpt.brief(given)}#{meant}"
  end

  defp list(names, word), do: names |> Enum.map(&inspect/1) |> Words.list(word)

  @doc "The longest line of a handler with this limit."
  @spec longest(term()) :: pos_integer()
  def longest(0), do: @most
  def longest(bytes) when bytes in 1..@most, do: max(bytes, @least)
  def longest(_other), do: @max_bytes

  defp line_options(config, max_bytes, guard) do
    config
    |> encode_options(max_bytes)
    |> Options.encode()
    |> Options.silent()
    |> Options.change(:encode, %{guard: guard})
    |> Options.records(:lines)
  end

  defp depth(most) when is_integer(most) and most > 0, do: max(most, @least_depth)
  defp depth(other), do: other

  defp encode_options(config, max_bytes) do
    given = for name <- @encode, is_map_key(config, name), do: {name, Map.fetch!(config, name)}
    given ++ [max_bytes: max_bytes, max_depth: depth(Map.get(config, :max_depth, @max_depth))] ++ @always
  end
end
