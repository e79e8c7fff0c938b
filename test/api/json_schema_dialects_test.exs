defmodule RustyJson.JsonSchemaDialectsTest do
  @moduledoc "What only some readers of a JSON Schema take: no word beside `anyOf`, enums of strings alone, no references, and limits of size."

  use ExUnit.Case, async: true

  alias RustyJson.Schema

  defmodule Part do
    @moduledoc false
    use RustyJson.Schema, description: "A part", unknown_keys: :error
    schema(do: field(:size, :integer, description: "In millimetres", min: 1))
  end

  defp schema(type, options \\ []),
    do: type |> Schema.json_schema(options) |> RustyJson.encode!() |> RustyJson.decode!()

  defmodule Choices do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:part, {:tagged, "kind", %{"part" => Part}}, default: nil, description: "What it is made of")
      field(:price, :decimal, min: 0, default: nil, description: "In euros")
      field(:prices, [{:nullable, :decimal}], description: "Older ones")
    end
  end

  test "nothing stands beside anyOf for Gemini" do
    %{"part" => part, "price" => price, "prices" => prices} = schema(Choices, dialect: :gemini)["properties"]

    assert %{"anyOf" => [%{"nullable" => true, "description" => "What it is made of\nA part"}]} = part
    assert Map.keys(part) == ["anyOf"]

    number = %{"type" => "NUMBER", "minimum" => 0, "nullable" => true, "description" => "In euros"}
    assert %{"anyOf" => [^number, %{"nullable" => true, "description" => "In euros"}]} = price
    assert Map.keys(price) == ["anyOf"]

    assert %{"description" => "Older ones", "items" => %{"anyOf" => [%{"nullable" => true}, _]} = items} =
             prices

    assert Map.keys(items) == ["anyOf"]

    # Others take words beside it.
    assert %{"anyOf" => [_part, _null], "description" => "What it is made of"} =
             schema(Choices)["properties"]["part"]
  end

  # What Ecto makes of `field :size, Ecto.Enum, values: [small: 1, large: 2], embed_as: :dumped`.
  defmodule Sized do
    @moduledoc false
    defstruct [:size]

    def __schema__(:load),
      do: [size: {:parameterized, {Ecto.Enum, %{mappings: [small: 1, large: 2], embed_as: :dump}}}]

    def __schema__(:loaded), do: %__MODULE__{}
  end

  test "an enum of integers, which Gemini does not have" do
    assert schema(Sized)["properties"]["size"] == %{"type" => ["integer", "null"], "enum" => [1, 2, nil]}

    assert schema(Sized, dialect: :gemini)["properties"]["size"] ==
             %{"type" => "INTEGER", "nullable" => true, "description" => "One of 1, 2."}
  end

  test "a dialect without references does not write structs out again and again without end" do
    names = for number <- 0..40, do: Module.concat(__MODULE__, "Doubled#{number}")
    fields = [quote(do: field(:x, :integer))]

    Enum.reduce(names, fields, fn name, fields ->
      Code.eval_quoted(
        quote do
          defmodule unquote(name) do
            use RustyJson.Schema
            schema(do: (unquote_splicing(fields)))
          end
        end
      )

      [quote(do: field(:a, unquote(name))), quote(do: field(:b, [unquote(name)]))]
    end)

    json = fn number, dialect ->
      names |> Enum.at(number) |> Schema.json_schema(dialect: dialect) |> RustyJson.encode!()
    end

    assert json.(3, :gemini) |> String.split(~s("x":)) |> length() == 9
    assert byte_size(json.(40, :openai)) < 10_000

    error = assert_raise ArgumentError, fn -> json.(40, :gemini) end

    assert error.message ==
             "dialect :gemini has no references, and with each object where it is used the schema has more than 10000"
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

  test "the characters of a long enum are counted for OpenAI" do
    for {name, count, letters} <- [{Long, 251, 60}, {Short, 250, 60}, {Brief, 251, 50}] do
      names = for n <- 1..count, do: :"#{String.pad_leading(to_string(n), letters, "x")}"
      module = Module.concat(__MODULE__, name)

      Code.eval_quoted(
        quote do
          defmodule unquote(module) do
            use RustyJson.Schema
            schema(do: field(:value, {:enum, unquote(names)}))
          end
        end
      )

      if name == Long do
        error = assert_raise ArgumentError, fn -> Schema.json_schema(module, dialect: :openai) end
        assert error.message =~ "dialect :openai allows 15000 characters in an enum of more than 250 values"
      else
        assert %{"properties" => _} = schema(module, dialect: :openai)
      end
    end
  end
end
