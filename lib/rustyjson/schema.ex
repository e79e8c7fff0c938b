defmodule RustyJson.Schema do
  @moduledoc """
  Defines structs with typed fields, and decodes JSON into them.

      defmodule Order do
        use RustyJson.Schema, rename: :camel

        schema do
          field :id, :integer
          field :kind, :string, key: "@type"
          field :total, :decimal
          field :state, {:enum, [:open, :paid]}
          field :shipped_at, :utc_datetime, default: nil
          field :lines, [Line]
        end
      end

      RustyJson.decode(json, as: Order)
      #=> {:ok, %Order{...}} or {:error, %RustyJson.DecodeError{}}

  Decoding checks the types and builds only the fields. It skips other members and creates no atoms from the input.

  ## Types

  | type | JSON | value |
  |---|---|---|
  | `:string`, `:boolean`, `:any` | a string, a boolean, anything | what `RustyJson.decode/2` returns |
  | `:integer` | an integer: `1`, but not `1.0` | an integer of any size |
  | `:float` | a number | a float: `1` becomes `1.0` |
  | `:number` | a number | an integer or a float |
  | `:decimal` | a number, or a string that contains one (`"NaN"` and `"Infinity"` do not) | a `Decimal`, exactly as written, within `:max_decimal_digits` and `:max_decimal_exponent` |
  | `:date`, `:time`, `:naive_datetime` | a string | the result of `from_iso8601/1` of `Date`, `Time` or `NaiveDateTime` |
  | `:utc_datetime` | a string with an offset | a `DateTime` in UTC |
  | `:duration` | a string (ISO 8601) | a `Duration` (Elixir 1.17 or newer) |
  | `:raw` | anything | a `RustyJson.Fragment` of the text |
  | `[type]`, `{:list, type}` | an array | a list |
  | `{:map, type}` | an object | a map with strings as keys |
  | `{:nullable, type}` | `null`, or JSON of the type | `nil`, or the value |
  | `{:enum, atoms}` | a string: the name of one of the atoms | that atom |
  | a module with a schema | an object | its struct |
  | `{:tagged, "type", %{"a" => A, "b" => B}}` | an object whose member `"type"`, at any position, is `"a"` or `"b"` | the struct of `A` or `B` |

  RustyJson prepares a type once and keeps the result, for at most 512 types of up to 256 KB each, and 8 MB together. It prepares any
  other type, such as an enum of more than 10,000 names, in each call, which takes milliseconds. `RustyJson.Partial` does so for each
  struct, and for each string that arrives in several pieces.

  ## Ecto schemas

  A module with an Ecto schema, such as an `embedded_schema`, is a type too. Its struct is what `Ecto.embedded_load/3` returns: all fields
  are optional, `null` is `nil`, and fields with a `:source` are read under that name. RustyJson checks integers, floats, booleans,
  strings, decimals, lists and maps of them, and embeds; `Ecto.Type.embedded_load/3` loads the other types. There are two differences.
  RustyJson does not turn text into numbers or booleans (`"12"`, `"true"`), and accepts only text with a JSON number for a decimal. A
  decimal keeps its digits (`1.50`), which a float in between would lose. Values of other types are errors with a position and a path;
  Ecto raises.

  ## Fields

  A field without `:default` is required. `default: nil` also allows `null`. `:key` sets the name in JSON, which is the name of the field
  by default. Options are a keyword list or a map; of repeated ones the last wins. These ask more of a value than its type, and each has
  its own error ([constraints](structured-output.html#constraints)):

    * `:min`, `:max` - the smallest and the largest number of an `:integer`, `:float`, `:number` or `:decimal`
    * `:min_length`, `:max_length` - code points of a `:string`, elements of a list, or members of a `{:map, type}`
    * `:pattern` - a regular expression that a part of a `:string` matches; it runs in linear time
      ([patterns](structured-output.html#patterns))
    * `:format` - `:date`, `:time`, `:naive_datetime`, `:utc_datetime` or `:duration`: a `:string` that this type would read

  `:description` says in the JSON Schema what the field is.

  ## Options of `use`

    * `:rename` - `:camel` uses `"shippedAt"` as the key of the field `shipped_at`, if the field has no `:key`
    * `:unknown_keys` - `:ignore` (default) skips members without a field; `:error` returns an error for them
    * `:encoder` - `true` (default) implements `RustyJson.Encoder` with the same names
    * `:description` - what the struct is, for `json_schema/2`

  ## Errors

  Decoding returns a `RustyJson.DecodeError`. In addition to the reasons of `RustyJson.decode/2`, its reason can be `:type`, `:missing`
  (`path` is the path of the missing member), `:unknown_key`, `:enum`, or the name of a constraint, such as `:min_length`. With `errors: :all`, its field `errors` lists the errors, up to
  `:max_errors`, and `error_count` is the number of all of them. [Parts and types](parts.html#errors-of-types) says which error comes
  first.
  """

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Encoder.Names
  alias RustyJson.Options
  alias RustyJson.Options.Words
  alias RustyJson.Schema.{Constraints, JsonSchema, Type}

  @doc false
  defmacro __using__(options) do
    quote do
      import RustyJson.Schema, only: [schema: 1]
      @rustyjson_options RustyJson.Schema.options!(unquote(options))
    end
  end

  @doc """
  Defines the struct of the module and the types of its fields.

      iex> defmodule Point do
      ...>   use RustyJson.Schema
      ...>   schema do
      ...>     field :x, :float
      ...>     field :y, :float
      ...>     field :label, :string, default: nil
      ...>   end
      ...> end
      iex> {:ok, point} = RustyJson.decode(~s({"x": 1, "y": 2.5, "z": [3]}), as: Point)
      iex> {point.x, point.y, point.label}
      {1.0, 2.5, nil}
      iex> {:error, error} = RustyJson.decode(~s({"x": "1", "y": 2.5}), as: Point)
      iex> {error.reason, error.path}
      {:type, "/x"}
  """
  defmacro schema(do: block) do
    quote do
      Module.register_attribute(__MODULE__, :rustyjson_fields, accumulate: true)

      # `try` limits the imports of the block to the block.
      try do
        import RustyJson.Schema, only: [field: 2, field: 3]
        unquote(block)
      after
        :ok
      end

      @rustyjson_schema RustyJson.Schema.schema!(Enum.reverse(@rustyjson_fields), @rustyjson_options)
      if derived = RustyJson.Schema.derived(@rustyjson_schema), do: @derive(derived)
      defstruct RustyJson.Schema.defaults(@rustyjson_schema)

      @doc false
      def __rustyjson_schema__, do: @rustyjson_schema

      @rustyjson_version :erlang.md5(:erlang.term_to_binary(@rustyjson_schema))
      @doc false
      def __rustyjson_version__, do: @rustyjson_version

      @before_compile RustyJson.Schema
    end
  end

  @doc false
  defmacro __before_compile__(env) do
    schema = Module.get_attribute(env.module, :rustyjson_schema)
    version = Module.get_attribute(env.module, :rustyjson_version)
    [build(schema, version), encoder(schema)]
  end

  @doc """
  Defines a field by its name, its type and its options (see [Fields](#module-fields)). Use it only inside `schema/1`.

      iex> defmodule Tag do
      ...>   use RustyJson.Schema
      ...>   schema do
      ...>     field :name, :string, key: "@name"
      ...>     field :count, :integer, default: 0
      ...>   end
      ...> end
      iex> RustyJson.decode!(~s({"@name": "x"}), as: Tag).count
      0
  """
  defmacro field(name, type, options \\ []) do
    quote do: @rustyjson_fields({unquote(name), unquote(type), unquote(options)})
  end

  @doc """
  Returns the JSON Schema of a type, for an API that asks for one.

  Option `:dialect`: `:json_schema` (default, draft 2020-12), `:openai` (structured outputs with `strict: true`),
  `:anthropic` (structured outputs, and tools with `strict: true`), `:gemini` (`responseSchema`) or `:mcp` (`inputSchema` and
  `outputSchema`). [Structured output](structured-output.html) says how they differ. What a dialect has no word for goes into a
  description. Types that it cannot express raise an `ArgumentError` that names the field.

  The result is a `RustyJson.OrderedObject`, because models write members in the order of the schema.

      iex> defmodule Review do
      ...>   use RustyJson.Schema
      ...>   schema do
      ...>     field :summary, :string, description: "One sentence", max_length: 200
      ...>     field :stars, :integer, min: 1, max: 5
      ...>   end
      ...> end
      iex> RustyJson.Schema.json_schema(Review, dialect: :mcp) |> RustyJson.encode!()
      ~s({"type":"object","properties":{"summary":{"type":"string","maxLength":200,"description":"One sentence"},) <>
        ~s("stars":{"type":"integer","maximum":5,"minimum":1}},"required":["summary","stars"]})
  """
  @spec json_schema(Type.t(), [unquote(Words.type(:json_schema))]) :: RustyJson.OrderedObject.t()
  def json_schema(type, options \\ []) do
    {%{dialect: dialect}, []} = Options.split!(:json_schema, options)
    JsonSchema.build(type, dialect)
  end

  ## What a module defines

  @doc false
  def options!(options) do
    {own, []} = Options.split!(:schema, options)
    own
  end

  @doc false
  def schema!(fields, options) do
    fields = Enum.map(fields, &field!(&1, options))
    for part <- [:name, :key], do: unique!(Enum.map(fields, &Map.fetch!(&1, part)), part)

    %{
      fields: fields,
      strict: options.unknown_keys == :error,
      encoder: options.encoder,
      description: options.description
    }
  end

  defp unique!(given, part) do
    case given -- Enum.uniq(given) do
      [] -> :ok
      [twice | _] -> raise ArgumentError, "two fields of a schema have the #{part} #{inspect(twice)}"
    end
  end

  # Otherwise the document would name the module of the struct.
  defp field!({:__struct__, _type, _options}, _schema),
    do: raise(ArgumentError, "a field cannot have the name :__struct__; option :key can have it")

  defp field!({name, type, options}, %{rename: rename}) when is_atom(name) do
    options = options!(name, options)
    key = Keyword.get(options, :key) || renamed(Atom.to_string(name), rename)

    unless is_binary(key) and String.valid?(key),
      do: Excerpt.refuse!("option :key of a field takes a string", key)

    type = type |> Type.of_schema!(name) |> Constraints.wrap!(options, name)
    required = not Keyword.has_key?(options, :default)
    default = options[:default]
    type = if not required and default == nil, do: nullable(type), else: type

    %{
      name: name,
      key: key,
      type: type,
      required: required,
      default: default,
      description: options[:description]
    }
  end

  defp field!({name, _type, _options}, _schema),
    do: Excerpt.refuse!("a field has an atom as its name", name)

  @field [:key, :default, :description | Constraints.options()]

  defp options!(name, options) do
    options = options |> Options.Values.to_list("the field #{inspect(name)}") |> last_ones()

    for {option, _value} <- options, option not in @field do
      text = Options.Unknown.text(option, @field, "the field #{inspect(name)} takes")
      raise ArgumentError, text <> default(option)
    end

    described!(options, "option :description of the field #{inspect(name)}")
  end

  # Options of other libraries.
  defp default(option) when option in [:required, :optional, :null],
    do: ". A field with a :default can be left out, and {:nullable, type} can be null"

  defp default(_option), do: ""

  # Of repeated options the last one counts.
  defp last_ones(options), do: options |> Enum.reverse() |> Enum.uniq_by(&elem(&1, 0)) |> Enum.reverse()

  defp described!(options, what) do
    text = options[:description]

    if text == nil or (is_binary(text) and String.valid?(text)),
      do: options,
      else: Excerpt.refuse!("#{what} takes a string", text)
  end

  defp nullable({:nullable, _} = type), do: type
  defp nullable(type) when type in [:any, :raw], do: type
  defp nullable(type), do: {:nullable, type}

  defp renamed(name, nil), do: name

  defp renamed(name, :camel), do: Names.camel(name)

  @doc false
  def defaults(%{fields: fields}), do: for(field <- fields, do: {field.name, field.default})

  @doc false
  # The core encodes such a struct without Elixir. No atom has a longer name.
  def derived(%{encoder: true, fields: fields}) do
    if Enum.all?(fields, &(String.length(&1.key) <= 255)) do
      other = for %{name: name, key: key} <- fields, key != Atom.to_string(name), do: {name, key}
      names = for %{name: name} <- fields, do: name
      {RustyJson.Encoder, [only: names] ++ if(other == [], do: [], else: [key_case: other])}
    end
  end

  def derived(_schema), do: nil

  defp encoder(%{encoder: true, fields: fields} = schema) do
    unless derived(schema) do
      names = for %{name: name, key: key} <- fields, do: {name, key}

      quote do
        defimpl RustyJson.Encoder do
          def encode(struct, opts), do: RustyJson.Encoder.Derive.by_names(struct, unquote(names), opts)
        end
      end
    end
  end

  defp encoder(_schema), do: nil

  # Most records have all fields in the order of the schema, with types that need no conversion. One pattern match then builds the
  # struct. Everything else, including false results of the sandbox's guest, takes the slow path. So does a call that started with another
  # version of the module, because its numbers are those of other fields.
  @most 32

  defp build(%{fields: fields}, version) when length(fields) in 1..@most do
    fields =
      for {field, number} <- Enum.with_index(fields),
          do: {field, number, Macro.var(:"v#{number}", __MODULE__)}

    pattern = Enum.flat_map(fields, fn {_field, number, value} -> [number, value] end)

    guards =
      for {%{type: type}, _number, value} <- fields, type != :any, guard = guard(type, value), do: guard

    guard = Enum.reduce(guards, true, fn guard, all -> quote(do: unquote(all) and unquote(guard)) end)

    members =
      for {%{name: name, type: type}, number, value} <- fields do
        {name, if(type == :any or guard(type, value), do: value, else: converted(number, value))}
      end

    quote do
      @doc false
      def __rustyjson_build__(unquote(pattern), {version, _struct, types}, context)
          when version == unquote(version) and unquote(guard) do
        _ = {types, context}
        %__MODULE__{unquote_splicing(members)}
      end

      unquote(slow())
    end
  end

  defp build(_schema, _version) do
    quote do
      @doc false
      unquote(slow())
    end
  end

  defp slow do
    quote do
      def __rustyjson_build__(pairs, {_version, struct, types}, context),
        do: RustyJson.Schema.Assemble.fields(pairs, struct, types, context)
    end
  end

  defp converted(number, value),
    do: quote(do: RustyJson.Schema.Assemble.field(unquote(number), unquote(value), types, context))

  defp guard(:string, value), do: quote(do: is_binary(unquote(value)))
  defp guard(:integer, value), do: quote(do: is_integer(unquote(value)))
  defp guard(:float, value), do: quote(do: is_float(unquote(value)))
  defp guard(:number, value), do: quote(do: is_number(unquote(value)))
  defp guard(:boolean, value), do: quote(do: is_boolean(unquote(value)))

  defp guard({:nullable, type}, value) do
    if guard = guard(type, value), do: quote(do: is_nil(unquote(value)) or unquote(guard))
  end

  defp guard(_type, _value), do: nil
end
