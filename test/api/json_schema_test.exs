defmodule RustyJson.JsonSchemaTest do
  @moduledoc "The JSON Schema of types in each dialect. `test/integrations/json_schema_test.exs` holds it to a validator."

  use ExUnit.Case, async: true

  alias RustyJson.{OrderedObject, Schema}
  alias RustyJson.Test.Schemas

  defmodule Part do
    @moduledoc false
    use RustyJson.Schema, description: "A part", unknown_keys: :error
    schema(do: field(:size, :integer, description: "In millimetres", min: 1))
  end

  defmodule Thing do
    @moduledoc false
    use RustyJson.Schema, rename: :camel

    schema do
      field(:full_name, :string, max_length: 20, description: "What it is called")
      field(:main, Part, description: "The largest part")
      field(:others, [Part], default: [], max_length: 9)
      field(:color, {:enum, [:red, :green]}, default: :red)
      field(:made_on, :date, default: nil)

      field(:shape, {:tagged, "kind", %{"circle" => Schemas.Circle, "square" => Schemas.Square}}, default: nil)
    end
  end

  defmodule Open do
    @moduledoc false
    use RustyJson.Schema
    schema(do: field(:extra, {:map, :any}, default: %{}))
  end

  defp schema(type, options \\ []),
    do: type |> Schema.json_schema(options) |> RustyJson.encode!() |> RustyJson.decode!()

  # Members in their order.
  defp keys(%OrderedObject{values: values}), do: Enum.map(values, &elem(&1, 0))

  test "the default is draft 2020-12" do
    assert schema(Thing) == %{
             "$schema" => "https://json-schema.org/draft/2020-12/schema",
             "type" => "object",
             "properties" => %{
               "fullName" => %{"type" => "string", "maxLength" => 20, "description" => "What it is called"},
               "main" => %{"$ref" => "#/$defs/Part", "description" => "The largest part"},
               "others" => %{
                 "type" => "array",
                 "items" => %{"$ref" => "#/$defs/Part"},
                 "maxItems" => 9,
                 "default" => []
               },
               "color" => %{"type" => "string", "enum" => ["red", "green"], "default" => "red"},
               "madeOn" => %{"type" => ["string", "null"], "format" => "date"},
               "shape" => %{
                 "anyOf" => [
                   %{"$ref" => "#/$defs/Circle"},
                   %{"$ref" => "#/$defs/Square"},
                   %{"type" => "null"}
                 ]
               }
             },
             "required" => ["fullName", "main"],
             "$defs" => %{
               "Part" => %{
                 "type" => "object",
                 "description" => "A part",
                 "properties" => %{
                   "size" => %{"type" => "integer", "minimum" => 1, "description" => "In millimetres"}
                 },
                 "required" => ["size"],
                 "additionalProperties" => false
               },
               "Circle" => %{
                 "type" => "object",
                 "properties" => %{
                   "kind" => %{"type" => "string", "const" => "circle"},
                   "r" => %{"type" => "number"}
                 },
                 "required" => ["kind", "r"]
               },
               "Square" => %{
                 "type" => "object",
                 "properties" => %{
                   "kind" => %{"type" => "string", "const" => "square"},
                   "a" => %{"type" => "number"}
                 },
                 "required" => ["kind", "a"],
                 "additionalProperties" => false
               }
             }
           }
  end

  test "members are in the order of the fields, and a tag is the first" do
    thing = Schema.json_schema(Thing)
    assert keys(thing["properties"]) == ~w(fullName main others color madeOn shape)
    assert keys(thing["$defs"]["Circle"]["properties"]) == ["kind", "r"]
  end

  test "types that contain themselves" do
    assert %{"properties" => %{"left" => %{"anyOf" => [%{"$ref" => "#"}, %{"type" => "null"}]}}} =
             schema(Schemas.Node)

    assert %{
             "type" => "array",
             "items" => %{"$ref" => "#/$defs/Node"},
             "$defs" => %{"Node" => %{"properties" => node}}
           } = schema([Schemas.Node])

    assert %{"anyOf" => [%{"$ref" => "#/$defs/Node"}, _null]} = node["right"]

    # A module with several tags has a definition for each.
    defs = schema([{:tagged, "t", %{"leaf" => Schemas.Leaf, "twig" => Schemas.Twig}}])["$defs"]
    assert Map.keys(defs) == ["Leaf", "Twig", "Twig_2"]
    assert defs["Twig_2"]["properties"]["kind"] == %{"type" => "string", "const" => "twig"}
  end

  test "the dialect of OpenAI requires and closes all" do
    thing = schema(Thing, dialect: :openai)
    assert thing["required"] == ~w(fullName main others color madeOn shape)
    assert thing["additionalProperties"] == false
    assert thing["$defs"]["Circle"]["additionalProperties"] == false
    refute Map.has_key?(thing, "$schema")

    properties = thing["properties"]
    # No word may stand beside a reference.
    assert properties["main"] == %{
             "anyOf" => [%{"$ref" => "#/$defs/Part"}],
             "description" => "The largest part"
           }

    # It has no words for lengths of strings, and no defaults.
    assert properties["fullName"] == %{
             "type" => "string",
             "description" => "What it is called. At most 20 characters."
           }

    assert properties["color"] == %{"type" => "string", "enum" => ["red", "green"]}
    assert properties["madeOn"] == %{"type" => ["string", "null"], "format" => "date"}
  end

  test "the dialect of Gemini is that of OpenAPI, without references" do
    thing = schema(Thing, dialect: :gemini)
    assert thing["type"] == "OBJECT"
    assert thing["propertyOrdering"] == ~w(fullName main others color madeOn shape)
    assert thing["required"] == ["fullName", "main"]
    properties = thing["properties"]

    assert %{"type" => "OBJECT", "description" => "The largest part", "required" => ["size"]} =
             properties["main"]

    assert properties["madeOn"] == %{
             "type" => "STRING",
             "nullable" => true,
             "description" => "A date, such as 2024-02-29."
           }

    assert %{"nullable" => true, "anyOf" => [circle, _square]} = properties["shape"]
    assert circle["properties"]["kind"] == %{"type" => "STRING", "enum" => ["circle"]}

    # None of the words that it refuses.
    text = Schema.json_schema(Schemas.Order, dialect: :gemini) |> RustyJson.encode!()
    for word <- ~w($ref $defs $schema additionalProperties const default), do: refute(text =~ ~s("#{word}"))
  end

  test "what a dialect cannot say is an error that names the field" do
    for {type, dialect, message} <- [
          {Open, :openai,
           "dialect :openai has no schema for an object with any keys (field :extra of RustyJson.JsonSchemaTest.Open)"},
          {Schemas.All, :openai, "dialect :openai has no schema for a value of any type (field :any of"},
          {Open, :gemini, "dialect :gemini has no schema for an object with any keys"},
          {Schemas.Node, :gemini,
           "dialect :gemini has no schema for a type that contains itself: RustyJson.Test.Schemas.Node (field :left of"},
          {[Thing], :openai,
           "dialect :openai needs a struct at the root, got: {:list, RustyJson.JsonSchemaTest.Thing}"},
          {{:tagged, "kind", %{"circle" => Schemas.Circle}}, :mcp, "dialect :mcp needs a struct at the root"},
          {Thing, :claude, "option :dialect takes :json_schema, :openai, :gemini or :mcp, got: :claude"},
          {:text, :openai, "unknown type :text"},
          {String, :openai, "String has no schema"}
        ] do
      error = assert_raise ArgumentError, fn -> Schema.json_schema(type, dialect: dialect) end
      assert error.message =~ message
    end

    assert_raise ArgumentError, ~r/unknown option :strict/, fn ->
      Schema.json_schema(Thing, strict: true)
    end

    assert %{"type" => "object", "additionalProperties" => %{}} = schema({:map, :any}, dialect: :mcp)
  end

  test "the limits of OpenAI are counted" do
    names = for n <- 1..1_001, do: :"value_#{n}"

    Code.eval_quoted(
      quote do
        defmodule unquote(Module.concat(__MODULE__, Many)) do
          use RustyJson.Schema
          schema(do: field(:value, {:enum, unquote(names)}))
        end
      end
    )

    many = Module.concat(__MODULE__, Many)
    error = assert_raise ArgumentError, fn -> Schema.json_schema(many, dialect: :openai) end
    assert error.message =~ "dialect :openai allows 1000 values of enums"
    assert %{"properties" => _} = schema(many)
  end

  test "times and dates without an offset have patterns, which decoding and encoding keep" do
    assert %{"items" => %{"type" => "string", "pattern" => pattern}} = schema([:time])
    assert "23:59:59.5" =~ Regex.compile!(pattern)
    refute "24:00:00" =~ Regex.compile!(pattern)
    assert %{"pattern" => pattern} = schema(:naive_datetime)
    assert NaiveDateTime.to_iso8601(~N[2024-02-29 23:59:59.123]) =~ Regex.compile!(pattern)
  end
end
