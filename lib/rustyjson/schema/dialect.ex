defmodule RustyJson.Schema.Dialect do
  @moduledoc false
  # What those who read a JSON Schema understand of it. docs/structured-output.md has the same as a table.

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
    # The form of OpenAPI: types in capitals, and "nullable".
    openapi: false,
    # The most members, values of enums and characters of names.
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
  def names, do: [:json_schema, :openai, :gemini, :mcp]

  @doc "The dialect with this name."
  @spec get!(term()) :: t()
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
      object: true,
      closed: true,
      open: false,
      defaults: false,
      most: %{members: 5_000, values: 1_000, characters: 120_000}
    }
  end

  def get!(:gemini) do
    %__MODULE__{
      name: :gemini,
      schema: nil,
      keywords: ["pattern" | @lengths ++ @items ++ @numbers ++ @members],
      formats: ["date-time"],
      refs: false,
      open: false,
      const: false,
      defaults: false,
      additional: false,
      openapi: true
    }
  end

  def get!(other) do
    names = Enum.map_join(names(), ", ", &inspect/1)
    raise ArgumentError, "option :dialect takes #{names}, got: #{inspect(other, limit: 5)}"
  end
end
