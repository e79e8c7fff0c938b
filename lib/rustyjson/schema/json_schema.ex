defmodule RustyJson.Schema.JsonSchema do
  @moduledoc false
  # Types as JSON Schema. A schema is a list of pairs until it is complete: members of the object in their order, and `{:note, text}` for
  # what the dialect has no word for, which ends in the description.

  import RustyJson.Schema.Words, only: [is_format: 1]

  alias RustyJson.Encode.Excerpt
  alias RustyJson.OrderedObject
  alias RustyJson.Schema.{AnyOf, Default, Dialect, Type, Words}

  # Numbers as the core takes them from strings.
  @decimal "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$"
  # Types of Ecto that it loads from text.
  @loaded %{
    date: :date,
    time: :time,
    time_usec: :time,
    naive_datetime: :naive_datetime,
    naive_datetime_usec: :naive_datetime,
    utc_datetime: :utc_datetime,
    utc_datetime_usec: :utc_datetime
  }

  @doc "The JSON Schema of a type in this dialect. Raises an ArgumentError for what the dialect cannot say."
  @spec build(Type.t(), Dialect.t()) :: OrderedObject.t()
  def build(type, dialect) do
    type = Type.check!(Type.given!(type))
    objects = objects([type], [])
    context = %{dialect: dialect, root: type, names: names(objects -- [type]), place: [], within: []}
    root_fits!(type, dialect)
    unless dialect.refs, do: _ = written!(type, [], %{}, context)

    definitions =
      if dialect.refs,
        do:
          for(
            object <- objects,
            object != type,
            do: {context.names[object], done(object(object, context), context)}
          ),
        else: []

    head = if dialect.schema, do: [{"$schema", dialect.schema}], else: []
    tail = if definitions == [], do: [], else: [{"$defs", OrderedObject.new(definitions)}]
    root = if Type.struct?(type), do: object(type, context), else: schema(type, context)
    OrderedObject.new(head ++ complete(root) ++ tail) |> Dialect.small_enough!(dialect)
  end

  defp root_fits!(type, %{object: true, name: name}) do
    unless Type.struct?(type) or (name == :mcp and match?({:map, _}, type)) do
      raise ArgumentError,
            "dialect #{inspect(name)} needs a struct#{if name == :mcp, do: " or a map"} at the root, got: #{Excerpt.brief(type)}. Make it the type of a field"
    end
  end

  defp root_fits!(_type, _dialect), do: :ok

  ## Structs, and structs with a tag

  defp objects([], found), do: Enum.reverse(found)

  defp objects([type | rest], found) do
    cond do
      match?({:tagged, _, _}, type) -> objects(variants(type) ++ rest, found)
      type in found -> objects(rest, found)
      object?(type) -> objects(Enum.map(fields(type), & &1.type) ++ rest, [type | found])
      true -> objects(Type.inner(type) ++ rest, found)
    end
  end

  defp object?({:variant, _module, _key, _tag}), do: true
  defp object?(type), do: Type.struct?(type)

  defp variants({:tagged, key, variants}),
    do: for({tag, module} <- Enum.sort(variants), do: {:variant, module, key, tag})

  defp fields({:variant, module, _key, _tag}), do: fields(module)
  defp fields(module), do: Type.schema!(module).fields

  defp names(objects) do
    {names, _taken} =
      Enum.map_reduce(objects, %{}, fn object, taken ->
        name = object |> module() |> Module.split() |> List.last()
        {free, number} = free(name, Map.get(taken, name, 0) + 1, taken)
        {{object, free}, taken |> Map.put_new(free, 1) |> Map.put(name, number)}
      end)

    Map.new(names)
  end

  # The next name with a number that no other object has.
  defp free(name, 1, _taken), do: {name, 1}

  defp free(name, number, taken) do
    numbered = "#{name}_#{number}"
    if is_map_key(taken, numbered), do: free(name, number + 1, taken), else: {numbered, number}
  end

  defp module({:variant, module, _key, _tag}), do: module
  defp module(module), do: module

  defp reference(object, %{dialect: %{refs: true}, root: object}), do: [{"$ref", "#"}]
  defp reference(object, %{dialect: %{refs: true}, names: names}), do: [{"$ref", "#/$defs/" <> names[object]}]

  defp reference(object, %{within: within} = context) do
    if object in within, do: wrong!("a type that contains itself: #{inspect(module(object))}", context)
    object(object, context)
  end

  # Objects that stand where they are used. A struct with two fields of a struct with two fields, and so on, has 2^n of them with n structs,
  # so they are counted before they are written. What is counted already is known.
  @most 10_000

  defp written!(type, within, known, context) do
    cond do
      type in within ->
        wrong!("a type that contains itself: #{inspect(module(type))}", context)

      is_map_key(known, type) ->
        {known[type], known}

      true ->
        {inner, within} = if object?(type), do: {fields(type), [type | within]}, else: {[], within}
        start = if object?(type), do: 1, else: 0

        {count, known} =
          Enum.reduce(inner, {start, known}, fn field, {count, known} ->
            place = [{module(type), field.name} | context.place]
            {more, known} = written!(field.type, within, known, %{context | place: place})
            {count + more, known}
          end)

        {count, known} =
          Enum.reduce(below(type), {count, known}, fn type, {count, known} ->
            {more, known} = written!(type, within, known, context)
            {count + more, known}
          end)

        if count > @most do
          raise ArgumentError,
                "dialect #{inspect(context.dialect.name)} has no references, and with each object where it is used the schema has more than #{@most}"
        end

        {count, Map.put(known, type, count)}
    end
  end

  defp below({:tagged, _key, _variants} = type), do: variants(type)
  defp below(type), do: if(object?(type), do: [], else: Type.inner(type))

  defp object(object, %{dialect: dialect} = context) do
    %{strict: strict} = schema = object |> module() |> Type.schema!()
    context = %{context | within: [object | context.within]}
    fields = fields(object)

    properties =
      tagged(for(field <- fields, do: {field.key, property(field, object, context)}), object, context)

    required = for field <- fields, field.required or dialect.closed, do: field.key
    required = Enum.uniq(tag(object) ++ required)
    closed = dialect.additional and (strict or dialect.closed)

    [
      {"type", type("object", dialect)},
      {"description", schema[:description]},
      {"properties", OrderedObject.new(properties)},
      {"required", if(required != [], do: required)},
      {"propertyOrdering", if(dialect.openapi, do: Enum.map(properties, &elem(&1, 0)))},
      {"additionalProperties", if(closed, do: false)}
    ]
    |> Enum.reject(fn {_word, value} -> value == nil end)
  end

  defp tag({:variant, _module, key, _tag}), do: [key]
  defp tag(_module), do: []

  # The tag comes first, so that a model chooses it before it writes the rest.
  defp tagged(properties, {:variant, module, key, tag}, %{dialect: dialect} = context) do
    constant = if dialect.const, do: [{"const", tag}], else: [{"enum", [tag]}]

    case List.keytake(properties, key, 0) do
      {{^key, %{values: values}}, others} ->
        with {_enum, names} <- List.keyfind(values, "enum", 0), false <- tag in names do
          wrong!("the tag #{inspect(tag)} of #{inspect(module)}, whose field does not take it", context)
        end

        # The tag is required, and one value alone.
        values = for {word, _value} = pair <- values, word not in ["enum", "default"], do: pair
        [{key, OrderedObject.new(values ++ constant)} | others]

      nil ->
        [{key, OrderedObject.new([{"type", type("string", dialect)} | constant])} | properties]
    end
  end

  defp tagged(properties, _module, _context), do: properties

  defp property(field, object, context) do
    context = %{context | place: [{module(object), field.name} | context.place]}

    field.type
    |> schema(context)
    |> described(field[:description], context)
    |> with_default(field, context)
    |> complete()
    |> OrderedObject.new()
  end

  defp described(pairs, nil, _context), do: pairs

  defp described([{"anyOf", options}], text, %{dialect: %{beside_any_of: false}}),
    do: AnyOf.described(options, text)

  defp described(pairs, text, %{dialect: dialect}) do
    pairs =
      if List.keymember?(pairs, "$ref", 0) and not dialect.beside_refs,
        do: [{"anyOf", [OrderedObject.new(pairs)]}],
        else: pairs

    List.keystore(pairs, "description", 0, {"description", text})
  end

  defp with_default(pairs, %{required: false, default: default} = field, %{dialect: %{defaults: true}})
       when default != nil do
    case Default.json(default, field.type) do
      {:ok, value} -> pairs ++ [{"default", value}]
      :error -> pairs
    end
  end

  defp with_default(pairs, _field, _context), do: pairs

  ## Types

  defp schema(type, context) when type in [:any, :raw] do
    open!("a value of any type", context)
    []
  end

  defp schema(:string, context), do: [{"type", type("string", context.dialect)}]
  defp schema(:boolean, context), do: [{"type", type("boolean", context.dialect)}]
  defp schema(:integer, context), do: [{"type", type("integer", context.dialect)}]
  defp schema(type, context) when type in [:float, :number], do: [{"type", type("number", context.dialect)}]
  defp schema(:decimal, context), do: decimal([], context)

  defp schema(type, %{dialect: dialect}) when is_format(type),
    do: [{"type", type("string", dialect)} | Words.format(type, dialect)]

  defp schema({:nullable, type}, context), do: type |> schema(context) |> nullable(context)

  defp schema({:list, type}, context),
    do: [{"type", type("array", context.dialect)}, {"items", done(schema(type, context), context)}]

  defp schema({:map, type}, context) do
    open!("an object with any keys", context)
    [{"type", "object"}, {"additionalProperties", done(schema(type, context), context)}]
  end

  defp schema({:enum, names}, context), do: enum(Enum.map(names, &Atom.to_string/1), context)

  defp schema({:tagged, _key, _variants} = tagged, context),
    do: [{"anyOf", for(variant <- variants(tagged), do: done(reference(variant, context), context))}]

  defp schema({:checked, :decimal, constraints}, context),
    do: decimal(Words.of(constraints, :decimal, context.dialect), context)

  defp schema({:checked, type, constraints}, context),
    do: schema(type, context) ++ Words.of(constraints, type, context.dialect)

  defp schema({:embeds_many, module}, context), do: schema({:nullable, {:list, module}}, context)
  defp schema({:loaded, type}, context), do: type |> loaded(context) |> nullable(context)
  defp schema(module, context), do: reference(module, context)

  defp enum(names, context), do: [{"type", type("string", context.dialect)}, {"enum", names}]

  # A number, or a string with one.
  defp decimal(words, %{dialect: %{openapi: true}}) do
    number = OrderedObject.new([{"type", "NUMBER"} | complete(words)])
    [{"anyOf", [number, OrderedObject.new([{"type", "STRING"}, {"pattern", @decimal}])]}]
  end

  defp decimal(words, _context), do: [{"type", ["number", "string"]}, {"pattern", @decimal} | words]

  defp loaded(type, context) when is_map_key(@loaded, type), do: schema(@loaded[type], context)
  defp loaded({:parameterized, {Ecto.Enum, given}}, context), do: mapped(given, context)
  defp loaded({:parameterized, Ecto.Enum, given}, context), do: mapped(given, context)

  defp loaded({:array, type}, context),
    do: [
      {"type", type("array", context.dialect)},
      {"items", done(nullable(loaded(type, context), context), context)}
    ]

  defp loaded(Ecto.UUID, context), do: [{"type", type("string", context.dialect)}, {:note, "A UUID"}]
  defp loaded(:map, %{dialect: %{open: true}}), do: [{"type", "object"}]

  defp loaded(_type, context) do
    open!("a type of Ecto that only Ecto knows", context)
    []
  end

  # Ecto loads the names, or with `embed_as: :dumped` what stands for them in a database.
  defp mapped(%{mappings: mappings} = given, context) do
    values =
      for {name, value} <- mappings, do: if(given[:embed_as] == :dump, do: value, else: Atom.to_string(name))

    cond do
      Enum.all?(values, &is_binary/1) -> enum(values, context)
      context.dialect.openapi -> [{"type", "INTEGER"}, {:note, "One of #{Enum.join(values, ", ")}"}]
      true -> [{"type", "integer"}, {"enum", values}]
    end
  end

  defp open!(what, %{dialect: %{open: false}} = context), do: wrong!(what, context)
  defp open!(_what, _context), do: :ok

  @spec wrong!(String.t(), map()) :: no_return()
  defp wrong!(what, %{dialect: %{name: name}, place: place}) do
    where =
      with [{module, field} | _] <- place,
           do: " (field #{inspect(field)} of #{inspect(module)})",
           else: (_ -> "")

    raise ArgumentError, "dialect #{inspect(name)} has no schema for #{what}#{where}"
  end

  ## Words

  defp type(name, %{openapi: true}), do: String.upcase(name)
  defp type(name, _dialect), do: name

  defp nullable([], _context), do: []
  defp nullable([{"anyOf", options}], %{dialect: %{beside_any_of: false}}), do: AnyOf.nullable(options)
  defp nullable(pairs, %{dialect: %{openapi: true}}), do: pairs ++ [{"nullable", true}]

  defp nullable(pairs, context) do
    case Map.new(pairs) do
      %{"anyOf" => options} ->
        List.keyreplace(pairs, "anyOf", 0, {"anyOf", options ++ [null()]})

      %{"type" => type} ->
        pairs = List.keyreplace(pairs, "type", 0, {"type", List.wrap(type) ++ ["null"]})

        with %{"enum" => names} <- Map.new(pairs),
             do: List.keyreplace(pairs, "enum", 0, {"enum", names ++ [nil]}),
             else: (_ -> pairs)

      _reference ->
        [{"anyOf", [done(pairs, context), null()]}]
    end
  end

  defp null, do: OrderedObject.new([{"type", "null"}])

  defp done(pairs, _context), do: pairs |> complete() |> OrderedObject.new()

  # Notes go behind the description.
  defp complete(pairs) do
    notes = for {:note, text} <- pairs, do: text <> "."
    pairs = for {word, _value} = pair <- pairs, word != :note, do: pair

    case notes do
      [] ->
        pairs

      notes ->
        text = Enum.join(sentence(List.keyfind(pairs, "description", 0)) ++ notes, " ")
        List.keystore(pairs, "description", 0, {"description", text})
    end
  end

  defp sentence(nil), do: []

  defp sentence({_word, text}) do
    cond do
      String.trim(text) == "" -> []
      String.ends_with?(text, [".", "!", "?"]) -> [text]
      true -> [text <> "."]
    end
  end
end
