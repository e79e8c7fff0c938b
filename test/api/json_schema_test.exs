defmodule RustyJson.JsonSchemaTest do
  @moduledoc "The JSON Schema of types in each dialect. `test/integrations/json_schema_test.exs` holds it to a validator."

  use ExUnit.Case, async: true

  alias RustyJson.{OrderedObject, Schema}
  alias RustyJson.Test.{Judge, Schemas}

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

  # As the table in docs/structured-output.md says.
  test "times in unusual forms match no pattern, and Elixir takes them" do
    pattern = Regex.compile!(schema(:time)["pattern"])

    for {_name, engine} <- Judge.engines(),
        {text, time} <- [{"T23:59:59", ~T[23:59:59]}, {"23:59:59,5", ~T[23:59:59.5]}] do
      refute text =~ pattern
      assert RustyJson.decode(~s(["#{text}"]), [as: [:time]] ++ engine) == {:ok, [time]}
    end
  end

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

  test "the dialect of Anthropic has no references, and no words for limits" do
    thing = schema(Thing, dialect: :anthropic)
    assert thing["required"] == ~w(fullName main others color madeOn shape)
    assert thing["additionalProperties"] == false

    properties = thing["properties"]
    assert %{"type" => "object", "additionalProperties" => false} = properties["main"]
    assert %{"items" => %{"type" => "object"}, "description" => "At most 9 elements."} = properties["others"]
    assert properties["fullName"]["description"] == "What it is called. At most 20 characters."
    assert properties["madeOn"] == %{"type" => ["string", "null"], "format" => "date"}
    assert %{"anyOf" => [circle, _square, %{"type" => "null"}]} = properties["shape"]
    assert circle["properties"]["kind"] == %{"type" => "string", "const" => "circle"}

    text = Schema.json_schema(Thing, dialect: :anthropic) |> RustyJson.encode!()
    for word <- ~w($ref $defs $schema default maxLength maxItems), do: refute(text =~ ~s("#{word}"))
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

    assert %{"anyOf" => [circle, _square]} = properties["shape"]
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
          {Open, :anthropic, "dialect :anthropic has no schema for an object with any keys"},
          {Schemas.Node, :anthropic,
           "dialect :anthropic has no schema for a type that contains itself: RustyJson.Test.Schemas.Node (field :left of"},
          {[Thing], :anthropic, "dialect :anthropic needs a struct at the root"},
          {[Thing], :openai,
           "dialect :openai needs a struct at the root, got: {:list, RustyJson.JsonSchemaTest.Thing}"},
          {{:tagged, "kind", %{"circle" => Schemas.Circle}}, :mcp,
           "dialect :mcp needs a struct or a map at the root"},
          {Thing, :claude,
           "option :dialect takes :json_schema, :openai, :anthropic, :gemini or :mcp, got: :claude"},
          {Thing, "openai", "got: \"openai\", did you mean :openai?"},
          {:text, :openai, "unknown type :text"},
          {String, :openai, "unknown type String, did you mean :string?"},
          {Shop, :openai, "Shop has no schema"}
        ] do
      error = assert_raise ArgumentError, fn -> Schema.json_schema(type, dialect: dialect) end
      assert error.message =~ message
    end

    assert_raise ArgumentError, ~r/unknown option :strict/, fn ->
      Schema.json_schema(Thing, strict: true)
    end

    assert %{"type" => "object", "additionalProperties" => %{}} = schema({:map, :any}, dialect: :mcp)
  end

  test "times and dates without an offset have patterns, which decoding and encoding keep" do
    assert %{"items" => %{"type" => "string", "pattern" => pattern}} = schema([:time])
    assert "23:59:59.5" =~ Regex.compile!(pattern)
    refute "24:00:00" =~ Regex.compile!(pattern)
    assert %{"pattern" => pattern} = schema(:naive_datetime)
    assert NaiveDateTime.to_iso8601(~N[2024-02-29 23:59:59.123]) =~ Regex.compile!(pattern)
  end

  for {letter, name} <- [A: "Item", B: "Item", C: "Item_2", D: "Item"] do
    defmodule Module.concat([__MODULE__, letter, name]) do
      @moduledoc false
      use RustyJson.Schema
      @letter letter
      schema(do: field(@letter, :integer))
    end
  end

  defmodule Items do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:w, RustyJson.JsonSchemaTest.A.Item)
      field(:x, RustyJson.JsonSchemaTest.B.Item)
      field(:y, RustyJson.JsonSchemaTest.C.Item_2)
      field(:z, RustyJson.JsonSchemaTest.D.Item)
    end
  end

  test "each struct has a name of its own" do
    schema = Schema.json_schema(Items)
    names = keys(schema["$defs"])
    assert names == ["Item", "Item_2", "Item_2_2", "Item_3"]

    for {field, letter} <- [{"w", "A"}, {"x", "B"}, {"y", "C"}, {"z", "D"}] do
      "#/$defs/" <> name = schema["properties"][field]["$ref"]
      assert keys(schema["$defs"][name]["properties"]) == [letter]
    end
  end

  defmodule Both do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:time, :string, format: :time, pattern: "^[0-9]")
      field(:at, :string, format: :naive_datetime, pattern: "T", default: nil)
      field(:day, :string, format: :date, pattern: "^2")
    end
  end

  test "a format that is a pattern stands beside the pattern of the field" do
    for dialect <- [:json_schema, :mcp] do
      %{"time" => time, "at" => at, "day" => day} = schema(Both, dialect: dialect)["properties"]
      assert %{"pattern" => "^[0-9]", "allOf" => [%{"pattern" => "^([01][0-9]" <> _}]} = time
      assert %{"pattern" => "T", "allOf" => [%{"pattern" => "^[0-9]{4}-" <> _}]} = at
      assert day == %{"type" => "string", "format" => "date", "pattern" => "^2"}
    end

    for dialect <- [:openai, :gemini] do
      %{"time" => time} = schema(Both, dialect: dialect)["properties"]
      assert %{"pattern" => "^[0-9]", "description" => "A time, such as 23:59:59."} = time
      refute Map.has_key?(time, "allOf")
    end
  end

  defmodule Cat do
    @moduledoc false
    use RustyJson.Schema
    schema(do: field(:kind, {:enum, [:cat]}))
  end

  defmodule MaybeCat do
    @moduledoc false
    use RustyJson.Schema
    schema(do: field(:kind, {:enum, [:cat]}, default: nil))
  end

  test "a tag that the enum of its field does not have is refused" do
    for module <- [Cat, MaybeCat] do
      good = {:tagged, "kind", %{"cat" => module}}
      assert {:ok, %{kind: :cat}} = RustyJson.decode(~s({"kind":"cat"}), as: good)
      assert %{"$defs" => defs} = schema(good)
      assert [%{"properties" => %{"kind" => %{"const" => "cat"} = kind}}] = Map.values(defs)
      refute Map.has_key?(kind, "enum")

      for wrong <- [
            {:tagged, "kind", %{"dog" => module}},
            [{:tagged, "kind", %{"cat" => module, "dog" => module}}]
          ],
          call <- [&schema/1, &RustyJson.decode(~s({"kind":"dog"}), as: &1)] do
        error = assert_raise ArgumentError, fn -> call.(wrong) end
        assert error.message =~ ~s(the tag "dog" is not a value of the field :kind of #{inspect(module)})
      end
    end
  end

  # What Ecto makes of `field :kind, Ecto.Enum, values: [:cat]`.
  defmodule Ours do
    @moduledoc false
    defstruct [:kind]
    def __schema__(:load), do: [kind: {:parameterized, {Ecto.Enum, %{mappings: [cat: "cat"]}}}]
    def __schema__(:loaded), do: %__MODULE__{}
  end

  test "the same for an enum of Ecto" do
    assert %{"$defs" => %{"Ours" => _}} = schema({:tagged, "kind", %{"cat" => Ours}})

    assert_raise ArgumentError, ~r/no schema for the tag "dog" of .*Ours, whose field does not take it/, fn ->
      schema({:tagged, "kind", %{"dog" => Ours}})
    end
  end

  defmodule CatOrDog do
    @moduledoc false
    use RustyJson.Schema
    schema(do: field(:kind, {:enum, [:cat, :dog]}, default: :cat))
  end

  test "a tag has no default" do
    assert %{"CatOrDog" => %{"properties" => %{"kind" => kind}}} =
             schema({:tagged, "kind", %{"dog" => CatOrDog}})["$defs"]

    assert kind == %{"type" => "string", "const" => "dog"}
  end

  test "nothing stands twice in types and enums" do
    %{"text" => text, "enum" => enum, "size" => size} = schema(Schemas.Twice)["properties"]
    assert text == %{"type" => ["string", "null"]}
    assert enum == %{"type" => ["string", "null"], "enum" => ["a", "b", nil]}
    assert size == %{"type" => ["integer", "null"], "minimum" => 1}
    assert schema({:nullable, {:nullable, {:nullable, :date}}})["type"] == ["string", "null"]
    assert schema({:enum, [:a, :a]})["enum"] == ["a"]

    document = ~s({"text":null,"enum":"b","size":1})
    assert {:ok, %{text: nil, enum: :b, size: 1}} = RustyJson.decode(document, as: Schemas.Twice)
    assert RustyJson.decode("null", as: {:nullable, {:nullable, :integer}}) == {:ok, nil}
    assert RustyJson.decode(~s("a"), as: {:enum, [:a, :a]}) == {:ok, :a}
  end

  defmodule Defaults do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:enum, {:enum, [:a]}, default: :a)
      field(:other_enum, {:enum, [:a]}, default: :b)
      field(:integer, :integer, default: 1)
      field(:other_integer, :integer, default: "a")
      field(:float, {:nullable, :float}, default: 1, min: 0)
      field(:other_float, :float, default: true)
      field(:text, :string, default: "x")
      field(:other_text, :string, default: :unset)
      field(:list, [:integer], default: [])
      field(:other_list, [:integer], default: %{})
      field(:map, {:map, :any}, default: %{})
      field(:any, :any, default: :some)
      field(:flag, :boolean, default: false)
      field(:part, Part, default: %{})
      field(:day, :date, default: "today")
      field(:none, :integer, default: nil)
    end
  end

  test "a default is one of the type" do
    defaults = for {name, %{"default" => default}} <- schema(Defaults)["properties"], do: {name, default}

    assert Map.new(defaults) == %{
             "enum" => "a",
             "integer" => 1,
             "float" => 1,
             "text" => "x",
             "list" => [],
             "map" => %{},
             "any" => "some",
             "flag" => false
           }
  end

  defmodule Silent do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:text, :string, description: "", max_length: 3)
      field(:blank, :string, description: " ", max_length: 3)
    end
  end

  test "an empty description has no end" do
    for {_name, member} <- schema(Silent, dialect: :openai)["properties"],
        do: assert(member["description"] == "At most 3 characters.")
  end

  defmodule Words do
    use RustyJson.Schema

    schema do
      field(:enum, :string)
      field(:const, :integer)
      field(:properties, {:list, :string})
    end
  end

  test "fields with the names of keywords are no keywords" do
    for dialect <- [:json_schema, :openai, :anthropic, :gemini, :mcp] do
      shown = inspect(RustyJson.Schema.json_schema(Words, dialect: dialect), limit: :infinity)
      for name <- ["enum", "const", "properties"], do: assert(shown =~ name)
    end
  end
end
