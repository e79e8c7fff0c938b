defmodule RustyJson.Schema.Shape do
  @moduledoc false
  # A type in the form that the core reads (core/src/parts/shape.rs), and the data that turns the core's answers into structs: for the
  # libraries the structs with their defaults, for Elixir the types of their fields.
  #
  # All of it is cached per type, until the schema of a module in it changes.

  require RustyJson.Parts.Kind

  alias RustyJson.Parts.Kind
  alias RustyJson.Schema.{Assemble, Constraints, Type}

  @enforce_keys [
    :nodes,
    :tags,
    :plan,
    :type,
    :numbered,
    :structs,
    :templates,
    :modules,
    :dates,
    :loaded,
    :loads
  ]
  defstruct [:nodes, :tags, :plan, :type, :numbered, :structs, :templates, :modules, :dates, :loaded, :loads]

  @type t :: %__MODULE__{
          # The types, and behind them the keys of tagged structs.
          nodes: binary(),
          # The place of these keys, or 0 if there are no tagged structs.
          tags: non_neg_integer(),
          # The plan of a call that ends at the first error.
          plan: binary(),
          type: Type.t(),
          # The type, for RustyJson.Schema.Assemble, and of each struct the version of its schema (or `:into`), the struct with its
          # defaults, and the types of its fields by number.
          numbered: Assemble.t(),
          structs: %{module() => tuple()},
          # For each struct itself and the names of its fields, and for each enum its names; those that every type can need come first.
          templates: tuple(),
          modules: [{module(), term()}],
          # Whether there are values that Elixir has to look at, which are dates and those of the types in `loaded`.
          dates: boolean(),
          loaded: [term()],
          # The fields of each struct that such values may be in.
          loads: %{module() => [{atom(), Type.t()}]}
        }

  @header 16
  @kinds %{
    any: 0,
    string: 1,
    integer: 2,
    float: 3,
    number: 4,
    boolean: 5,
    decimal: 6,
    date: 7,
    time: 8,
    naive_datetime: 9,
    utc_datetime: 10,
    raw: 11,
    duration: 20
  }
  @dates [:date, :time, :naive_datetime, :utc_datetime, :duration]
  # The kind of the first of `loaded`, above those of dates.
  @first_loaded 32
  # The types that stay, each a persistent term of its own: a term with all of them would be copied for each new one. Programs have few
  # types, because types are written in code. One made at run time can have any number of bytes.
  @most 512
  @largest 262_144
  @most_bytes 8_388_608

  defimpl Inspect do
    def inspect(%{type: type}, _options),
      do: "#RustyJson.Schema.Shape<#{Kernel.inspect(type, limit: 5, width: :infinity)}>"
  end

  @doc "The shape of a type."
  @spec of(term()) :: t()
  def of(given) do
    case :persistent_term.get({__MODULE__, given}, nil) do
      nil -> learn(given, &(unknown?(given) and room?(&1)))
      shape -> if current?(shape), do: shape, else: learn(given, &(&1 <= @largest))
    end
  end

  @doc "Whether the shape of this type is known, so that it need not be checked again: that of thousands of names takes a millisecond."
  @spec known?(term()) :: boolean()
  def known?(given) do
    case :persistent_term.get({__MODULE__, given}, nil) do
      nil -> false
      shape -> current?(shape)
    end
  end

  @doc "Whether the schemas in it are still these: a module that was compiled again can have another one."
  @spec current?(t()) :: boolean()
  def current?(%{modules: modules}), do: versions?(modules)

  defp versions?([{module, version} | modules]),
    do: Type.version(module) == version and versions?(modules)

  defp versions?([]), do: true

  defp learn(given, keep?) do
    shape = given |> Type.of_field!() |> build()

    # A module may have been loaded again while its schema was read.
    if current?(shape) do
      if keep?.(byte_size(shape.nodes)), do: :persistent_term.put({__MODULE__, given}, shape)
      shape
    else
      learn(given, keep?)
    end
  end

  # Many processes can prepare a large new type at once. A process that finds it kept already does not count it again; those that look
  # while it is being kept still do.
  defp unknown?(given), do: :persistent_term.get({__MODULE__, given}, nil) == nil

  # Whether another type of this length can stay, which then counts.
  defp room?(size) when size > @largest, do: false

  defp room?(size) do
    kept = kept()
    :counters.add(kept, 1, 1)
    :counters.add(kept, 2, size)
    room? = :counters.get(kept, 1) <= @most and :counters.get(kept, 2) <= @most_bytes

    if not room? do
      :counters.sub(kept, 1, 1)
      :counters.sub(kept, 2, size)
    end

    room?
  end

  # The number of types that stay, and of their bytes. Two processes that are the first may each count a type of theirs.
  defp kept do
    with nil <- :persistent_term.get(__MODULE__, nil) do
      kept = :counters.new(2, [])
      :persistent_term.put(__MODULE__, kept)
      kept
    end
  end

  # The versions are read before the schemas, so `current?/1` notices a module that is loaded again in between.
  defp build(type), do: build(type, Map.new(modules(collect(type)), &{&1, Type.version(&1)}))

  defp build(type, versions) do
    types = collect(type)
    {places, behind} = Enum.map_reduce(types, @header, fn type, at -> {{type, at}, at + size(type)} end)
    keys = for({:tagged, key, _variants} <- types, uniq: true, do: key) |> Enum.sort()
    tags = if keys == [], do: 0, else: behind
    templates = for type <- types, template = template(type), do: {type, template}

    places =
      places
      |> Map.new()
      |> Map.merge(loaded(types))
      |> Map.merge(numbers(templates))
      |> Map.merge(for {key, number} <- Enum.with_index(keys), into: %{}, do: {{:tag, key}, number})

    modules = modules(types)
    nodes = IO.iodata_to_binary([Enum.map(types, &node(&1, places)) | tags(keys, behind)])

    %__MODULE__{
      nodes: nodes,
      tags: tags,
      plan: packed(nodes, tags, 0, []),
      type: type,
      numbered: Assemble.numbered(type),
      structs: Map.new(modules, &{&1, field_types(&1, versions[&1])}),
      templates: List.to_tuple(built_in() ++ Enum.map(templates, &elem(&1, 1))),
      modules: for(module <- modules, do: {module, versions[module]}),
      loaded: for({:loaded, type} <- types, do: type),
      dates: Enum.any?(types, &left?/1),
      loads: Map.new(modules, &{&1, loads(&1)})
    }
  end

  defp modules(types), do: for(type <- types, module = module(type), uniq: true, do: module)

  defp module({:variant, module, _key}), do: module
  defp module(type), do: if(Type.struct?(type), do: type)

  # An Ecto schema has no function that builds its struct: its fields are put into it.
  defp field_types(module, version) do
    schema = Type.schema!(module)
    types = schema.fields |> Enum.map(&{&1.name, Assemble.numbered(&1.type), &1.required}) |> List.to_tuple()
    if schema[:base], do: {:into, schema.base, types}, else: {version, module.__struct__(), types}
  end

  # In the order of terms/src/builder/structs.rs. (This library does not depend on Decimal.)
  defp built_in do
    date = [:year, :month, :day]
    time = [:hour, :minute, :second, :microsecond]

    for {struct, fields} <- [
          {~D[2000-01-01], date},
          {~T[00:00:00], time},
          {~N[2000-01-01 00:00:00], date ++ time},
          {~U[2000-01-01 00:00:00Z], date ++ time},
          {%{__struct__: Decimal, sign: 1, coef: 0, exp: 0}, [:sign, :coef, :exp]},
          {%RustyJson.Fragment{encode: ""}, [:encode]}
        ],
        do: {struct, List.to_tuple(fields)}
  end

  defp template({:enum, names}), do: List.to_tuple(names)

  defp template(type) do
    if module = module(type) do
      schema = Type.schema!(module)
      {schema[:base] || module.__struct__(), schema.fields |> Enum.map(& &1.name) |> List.to_tuple()}
    end
  end

  defp numbers(templates) do
    for {{type, _template}, number} <- Enum.with_index(templates, length(built_in())),
        into: %{},
        do: {{:template, type}, number}
  end

  defp left?(type),
    do: type in @dates or match?({:loaded, _}, type) or match?({:checked, _, %{format: _}}, type)

  defp loads(module) do
    for %{name: name, type: type} <- Type.schema!(module).fields,
        Enum.any?(collect(type), &left?/1),
        do: {name, type}
  end

  # All types inside a type, without repetitions, the type itself first.
  defp collect(type), do: collect([type], [], MapSet.new())

  defp collect([], found, _known), do: Enum.reverse(found)

  defp collect([type | rest], found, known) do
    if type in known,
      do: collect(rest, found, known),
      else: collect(Type.inner(type) ++ rest, [type | found], MapSet.put(known, type))
  end

  defp size(type), do: type |> node(%{}) |> IO.iodata_length()

  # Values that Elixir loads are of a kind for each type.
  defp loaded(types) do
    types = for {:loaded, _} = type <- types, do: type
    for {type, number} <- Enum.with_index(types), into: %{}, do: {{:kind, type}, @first_loaded + number}
  end

  # The core finds them by their bytes.
  defp tags([], _start), do: []

  defp tags(keys, start) do
    texts = Enum.map(keys, &text/1)
    [<<length(keys)::32-little>>, offsets(texts, start + 4 + 4 * length(keys)) | texts]
  end

  # `size/1` needs no places: the length of a node does not depend on them.
  defp place(type, places), do: Map.get(places, type, 0)
  defp template(type, places), do: Map.get(places, {:template, type}, 0)

  defp node(type, _places) when is_map_key(@kinds, type), do: <<@kinds[type]>>
  defp node({:list, type}, places), do: <<12, place(type, places)::32-little>>
  defp node({:map, type}, places), do: <<13, place(type, places)::32-little>>
  defp node({:nullable, type}, places), do: <<14, place(type, places)::32-little>>

  defp node({:embeds_many, module}, places), do: <<19, place(module, places)::32-little>>
  defp node({:loaded, _} = type, places), do: <<18, place({:kind, type}, places)::32-little>>

  defp node({:checked, type, constraints}, places) do
    rules = Constraints.packed(type, constraints, @kinds)
    [<<21, place(type, places)::32-little, IO.iodata_length(rules)::32-little>> | rules]
  end

  defp node({:enum, names} = type, places) do
    start = place(type, places) + 5
    [<<15, template(type, places)::32-little>> | names |> Enum.map(&Atom.to_string/1) |> names(start, [])]
  end

  defp node({:tagged, key, variants} = type, places) do
    variants = Enum.to_list(variants)
    number = Map.get(places, {:tag, key}, 0)
    start = place(type, places) + 1 + 4 + 4 + byte_size(key)
    nodes = for {_tag, module} <- variants, do: <<place({:variant, module, key}, places)::32-little>>
    nodes = [<<length(variants)::32-little>> | nodes]
    tags = for {tag, _module} <- variants, do: tag
    [<<17, number::32-little>>, text(key) | names(tags, start, nodes)]
  end

  defp node({:variant, module, key} = type, places) do
    %{fields: fields} = schema = Type.schema!(module)
    ignored = if Enum.any?(fields, &(&1.key == key)), do: [], else: [{2, 0, key}]
    record(type, schema, ignored, places)
  end

  defp node(module, places), do: record(module, Type.schema!(module), [], places)

  @entry 32

  defp record(type, %{fields: fields, strict: strict}, more, places) do
    own = for f <- fields, do: {if(f.required, do: 1, else: 0), place(f.type, places), f.key}
    all = own ++ more
    keys = for {_, _, key} <- all, do: key
    mask = for {_, _, key} <- all, reduce: 0, do: (mask -> Bitwise.bor(mask, Bitwise.bsl(1, bit(key))))
    count = length(all)
    start = place(type, places) + 1 + 1 + 4 + 4 + 8 + 4 + @entry * count + 4 + 4 * count

    {entries, _end} =
      Enum.map_reduce(all, start, fn {_, _, key} = field, at ->
        {entry(field, at), at + byte_size(key) + 3}
      end)

    [
      <<16, if(strict, do: 1, else: 0), Enum.count(fields, & &1.required)::32-little>>,
      <<template(type, places)::32-little, mask::64-little, count::32-little>>,
      [entries, sorted(keys)]
      | for(key <- keys, do: quoted(key))
    ]
  end

  defp entry({flags, node, key}, at) do
    quoted = quoted(key)
    size = byte_size(quoted)
    head = if size < 8, do: quoted <> <<0::size(8 - size)-unit(8)>>, else: binary_part(quoted, 0, 8)
    tail = if size < 8, do: <<0::64>>, else: binary_part(quoted, size, -8)
    flags = flags + if plain?(key), do: 4, else: 0

    <<flags::32-little, node::32-little, at::32-little, byte_size(key)::32-little, head::binary,
      tail::binary>>
  end

  defp quoted(key), do: <<?", key::binary, ?", ?:>>

  # The core knows such a key by its bytes.
  defp plain?(key), do: String.valid?(key) and not (key =~ ~r/[\x00-\x1f"\\]/)

  # Few keys share one, so that most keys that no field has are known at once.
  defp bit(""), do: 0
  defp bit(key), do: rem(byte_size(key) + 5 * :binary.first(key) + 11 * :binary.last(key), 64)

  # Names that the core finds by their texts, with what stands between their places and the texts.
  defp names(names, start, between) do
    texts = Enum.map(names, &text/1)
    count = length(names)
    start = start + 8 + 8 * count + IO.iodata_length(between)
    [<<count::32-little>>, offsets(texts, start), sorted(names), between | texts]
  end

  # The numbers of texts in the order of these.
  defp sorted(texts) do
    numbers = for {_text, number} <- texts |> Enum.with_index() |> Enum.sort(), do: <<number::32-little>>
    [<<length(texts)::32-little>> | numbers]
  end

  defp text(text), do: [<<byte_size(text)::32-little>>, text]

  defp offsets(texts, start) do
    {offsets, _end} = Enum.map_reduce(texts, start, &{<<&2::32-little>>, &2 + IO.iodata_length(&1)})
    offsets
  end

  @doc "The type of the values that Elixir looks at with this number, or nil."
  @spec kind(t(), term()) :: nil | Type.t()
  def kind(%{loaded: loaded}, number) when is_integer(number) and number >= @first_loaded do
    with {:ok, type} <- Enum.fetch(loaded, number - @first_loaded), do: {:loaded, type}, else: (:error -> nil)
  end

  def kind(_shape, number), do: Enum.find(@dates, &(@kinds[&1] == number))

  @doc """
  The plan for the core: it lists up to `most` errors, or 0 for the first one alone. `left` are the numbers of the values that Elixir
  refused, in their order, or `:list` to get all values that Elixir has to judge.
  """
  @spec plan(t(), non_neg_integer(), [non_neg_integer()] | :list) :: binary()
  def plan(%{plan: plan}, 0, []), do: plan
  def plan(%{nodes: nodes, tags: tags}, most, left), do: packed(nodes, tags, most, left)

  defp packed(nodes, tags, most, left) do
    tagged = if tags == 0, do: 0, else: 1
    list = if left == :list, do: 1, else: 0
    {refused, numbers} = refused(left, @header + byte_size(nodes))

    <<Kind.typed(), tagged, list, 0, most::32-little, refused::32-little, tags::32-little, nodes::binary,
      numbers::binary>>
  end

  defp refused([_ | _] = numbers, at),
    do: {at, for(number <- numbers, into: <<length(numbers)::32-little>>, do: <<number::32-little>>)}

  defp refused(_none, _at), do: {0, ""}
end
