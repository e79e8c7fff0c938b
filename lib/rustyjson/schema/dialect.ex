defmodule RustyJson.Schema.Dialect do
  @moduledoc false
  # What those who read a JSON Schema understand of it. docs/structured-output.md has the same as a table.

  alias RustyJson.OrderedObject

  @enforce_keys [:name, :schema, :keywords, :formats]
  defstruct [
    :name,
    # The value of "$schema", or nil.
    :schema,
    # The constraints, and the formats of strings, that it knows. Others go into the description.
    :keywords,
    :formats,
    # Structs are definitions, or stand where they are used.
    refs: true,
    # Words may stand beside "$ref".
    beside_refs: true,
    # Words may stand beside "anyOf".
    beside_any_of: true,
    # "allOf" exists.
    all_of: true,
    # The whole has to be an object.
    object: false,
    # All members are required, and no others are allowed.
    closed: false,
    # Values of any type, and objects with any keys.
    open: true,
    # "const", "default" and "additionalProperties" exist.
    const: true,
    defaults: true,
    additional: true,
    # The form of OpenAPI: types in capitals, "nullable", and enums of strings alone.
    openapi: false,
    # The most members, values of enums, characters of names, and characters of a long enum.
    most: nil
  ]

  @type t :: %__MODULE__{}

  @lengths ~w(minLength maxLength)
  @items ~w(minItems maxItems)
  @numbers ~w(minimum maximum)
  @members ~w(minProperties maxProperties)
  @formats ~w(date date-time duration)

  @doc "The names."
  @spec names() :: [atom()]
  def names, do: [:json_schema, :openai, :anthropic, :gemini, :mcp]

  @doc "The dialect with this name."
  @spec get!(atom()) :: t()
  def get!(:json_schema) do
    %__MODULE__{
      name: :json_schema,
      schema: "https://json-schema.org/draft/2020-12/schema",
      keywords: ["pattern" | @lengths ++ @items ++ @numbers ++ @members],
      formats: @formats
    }
  end

  def get!(:mcp), do: %{get!(:json_schema) | name: :mcp, schema: nil, object: true}

  def get!(:openai) do
    %__MODULE__{
      name: :openai,
      schema: nil,
      keywords: ["pattern" | @items ++ @numbers],
      formats: @formats,
      beside_refs: false,
      all_of: false,
      object: true,
      closed: true,
      open: false,
      defaults: false,
      most: %{members: 5_000, values: 1_000, characters: 120_000, long_enum: 15_000}
    }
  end

  # References may not lead back to where they stand, so there are none.
  def get!(:anthropic) do
    %__MODULE__{
      name: :anthropic,
      schema: nil,
      keywords: ["pattern"],
      formats: @formats,
      refs: false,
      all_of: false,
      object: true,
      closed: true,
      open: false,
      defaults: false
    }
  end

  def get!(:gemini) do
    %__MODULE__{
      name: :gemini,
      schema: nil,
      keywords: ["pattern" | @lengths ++ @items ++ @numbers ++ @members],
      formats: ["date-time"],
      refs: false,
      beside_any_of: false,
      all_of: false,
      open: false,
      const: false,
      defaults: false,
      additional: false,
      openapi: true
    }
  end

  @counted %{
    members: "members",
    values: "values of enums",
    characters: "characters in names and values",
    long_enum: "characters in an enum of more than 250 values"
  }
  # An enum of more values is a long one.
  @short 250

  @doc "The schema. Raises an ArgumentError if it exceeds a limit of the dialect."
  @spec small_enough!(OrderedObject.t(), t()) :: OrderedObject.t()
  def small_enough!(schema, %{most: nil}), do: schema

  def small_enough!(schema, %{most: most, name: name}) do
    counts = counted(schema, Map.new(most, fn {what, _limit} -> {what, 0} end))

    for {what, limit} <- most, counts[what] > limit do
      raise ArgumentError,
            "dialect #{inspect(name)} allows #{limit} #{@counted[what]}, and the schema has #{counts[what]}"
    end

    schema
  end

  defp counted(%OrderedObject{values: pairs}, counts), do: Enum.reduce(pairs, counts, &pair/2)
  defp counted(list, counts) when is_list(list), do: Enum.reduce(list, counts, &counted/2)
  defp counted(_value, counts), do: counts

  # A field may have the name of a keyword.
  defp pair({word, %OrderedObject{values: named}}, counts) when word in ["properties", "$defs"] do
    {names, schemas} = Enum.unzip(named)
    counts = if word == "properties", do: add(counts, :members, length(named)), else: counts
    counted(schemas, characters(names, counts))
  end

  defp pair({"enum", names}, counts) do
    counts = if length(names) > @short, do: longest(counts, size(names)), else: counts
    characters(names, add(counts, :values, length(names)))
  end

  defp pair({"const", name}, counts), do: characters([name], counts)
  defp pair({_word, value}, counts), do: counted(value, counts)

  defp characters(names, counts), do: add(counts, :characters, size(names))
  defp size(names), do: for(name <- names, is_binary(name), reduce: 0, do: (sum -> sum + String.length(name)))
  defp longest(counts, size), do: Map.update!(counts, :long_enum, &max(&1, size))
  defp add(counts, what, more), do: Map.update!(counts, what, &(&1 + more))
end
