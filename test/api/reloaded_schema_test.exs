defmodule RustyJson.ReloadedSchemaTest do
  @moduledoc "Schemas whose modules are loaded again, with other fields, while a document is decoded."

  # An option of the compiler is set for all processes.
  use ExUnit.Case, async: false

  alias RustyJson.Schema.Assemble
  alias RustyJson.Test.Judge

  @compile {:no_warn_undefined, __MODULE__.Turned}

  defp compile(fields) do
    Code.eval_quoted(
      quote do
        defmodule RustyJson.ReloadedSchemaTest.Turned do
          use RustyJson.Schema

          schema do
            for {name, type} <- unquote(fields), do: field(name, type, default: nil)
          end
        end
      end
    )
  end

  test "Elixir assembles the structs of a call by the schema that the call started with" do
    Code.put_compiler_option(:ignore_module_conflict, true)
    on_exit(fn -> Code.put_compiler_option(:ignore_module_conflict, false) end)

    for {_name, engine} <- Judge.engines(),
        {json, given} <- [
          {~S({"a":"1","b":"2","any":{"x":1}}), %{a: "1", b: "2", any: %{"x" => 1}}},
          {~S({"any":{"x":1},"b":"2"}), %{a: nil, b: "2", any: %{"x" => 1}}}
        ],
        other <- [
          [b: :string, a: :string, any: :any],
          [a: :string, any: :any],
          [any: :any, a: :integer, b: :integer],
          [a: :string, b: :string, any: :any, more: :any]
        ] do
      compile(a: :string, b: :string, any: :any)

      reload = fn key ->
        compile(other)
        key
      end

      assert {:ok, struct} = RustyJson.decode(json, [as: __MODULE__.Turned, keys: reload] ++ engine)
      assert struct == Map.put(given, :__struct__, __MODULE__.Turned)
      assert {:ok, %{any: 1}} = RustyJson.decode(~S({"any":1}), [as: __MODULE__.Turned, keys: & &1] ++ engine)
    end
  end

  # Its schema turns into another one after some reads of it, as if it was loaded again then.
  defmodule Turning do
    @moduledoc false
    defstruct [:a, :b]

    def __rustyjson_version__, do: turn(:before, :after)

    def __rustyjson_schema__ do
      fields =
        for name <- turn([:a, :b], [:b, :a]),
            do: %{name: name, key: Atom.to_string(name), type: :integer, required: false, default: nil}

      %{fields: fields, strict: false, encoder: false}
    end

    def __rustyjson_build__(pairs, {_version, struct, types}, context),
      do: Assemble.fields(pairs, struct, types, context)

    defp turn(first, second) do
      left = Process.get(__MODULE__, 0)
      Process.put(__MODULE__, left - 1)
      if left > 0, do: first, else: second
    end
  end

  test "what is known of a type is of one version of its schema" do
    for {_name, engine} <- Judge.engines(), keys <- [[], [keys: & &1]], reads <- 0..40 do
      # The next call has another version in mind than it finds, and so reads the schema.
      Process.put(Turning, 0)
      decode = fn -> RustyJson.decode(~S({"a":1,"b":2}), [as: Turning] ++ keys ++ engine) end
      assert decode.() == {:ok, %Turning{a: 1, b: 2}}
      Process.put(Turning, reads)
      assert {reads, decode.()} == {reads, {:ok, %Turning{a: 1, b: 2}}}
      assert {reads, decode.()} == {reads, {:ok, %Turning{a: 1, b: 2}}}
    end
  end
end
