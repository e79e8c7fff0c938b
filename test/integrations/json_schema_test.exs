defmodule RustyJson.JsonSchemaAgreementTest do
  @moduledoc """
  Python's jsonschema and `decode(as:)` judge the same documents: what one accepts by `json_schema/2`, the other accepts by the type.

  `RUSTYJSON_PYTHON` names a Python that has the package (`pip install 'jsonschema[format]'`); otherwise `python3` is asked. The heavy
  version makes 10,000 documents of each schema.
  """

  use ExUnit.Case, async: true

  alias RustyJson.OrderedObject
  alias RustyJson.Schema.Type
  alias RustyJson.Test.{Gen, Judge, Schemas}

  @script Path.expand("../support/json_schema.py", __DIR__)
  @python System.get_env("RUSTYJSON_PYTHON") || System.find_executable("python3") || "python3"
  @there System.find_executable(@python) != nil and
           match?(
             {_, 0},
             System.cmd(@python, ["-c", "import jsonschema, rfc3339_validator"], stderr_to_stdout: true)
           )

  unless @there,
    do: @moduletag(skip: "no Python with jsonschema[format] (RUSTYJSON_PYTHON)")

  @moduletag timeout: 1_200_000

  defmodule Both do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:time, :string, format: :time, pattern: "^[0-9]")
      field(:at, :string, format: :naive_datetime, pattern: "T", default: nil)
    end
  end

  @tagged {:tagged, "t", %{"leaf" => Schemas.Leaf, "twig" => Schemas.Twig}}
  @closed {:tagged, "a", %{"square" => Schemas.Square, "node" => Schemas.Node}}
  @types [
    Schemas.Checked,
    Schemas.Order,
    Schemas.Node,
    Schemas.Inside,
    Schemas.Seventy,
    Schemas.All,
    Schemas.Twice,
    Both,
    {:list, Schemas.Leaf},
    @tagged,
    @closed,
    {:map, {:nullable, {:list, {:enum, [:a, :b]}}}}
  ]

  ## Documents of a type, a few of them wrong

  defp document(type, depth \\ 6)

  # Of a type of Ecto, JSON Schema says less than the type: see the table in docs/structured-output.md.
  defp document({:loaded, _} = type, depth), do: right(type, depth)
  defp document(type, depth), do: if(one_in(25), do: whole(Gen.term(2)), else: right(type, depth))

  # Half of the documents have no fault, however large they are.
  defp one_in(count), do: not faultless?() and Enum.random(1..count) == 1
  defp one_of(good, bad), do: Enum.random(if one_in(4), do: bad, else: good)
  defp faultless?, do: Process.get(:faultless, false)
  # Whether documents have all members of their structs and mostly no others.
  defp closed?, do: Process.get(:closed, false)

  # The two read `1.0` in different ways as an integer, and JSON Schema has no limit of digits.
  defp whole(number) when is_integer(number) and abs(number) > 1.0e30, do: 7
  defp whole(float) when is_float(float), do: if(trunc(float) == float, do: 0.5, else: float)
  defp whole(list) when is_list(list), do: Enum.map(list, &whole/1)
  defp whole(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, whole(value)} end)
  defp whole(value), do: value

  defp right({:nullable, type}, depth),
    do: if(Enum.random(1..3) == 1 or depth <= 0, do: nil, else: document(type, depth))

  defp right({:list, _type}, depth) when depth <= 0, do: []
  defp right({:list, type}, depth), do: for(_ <- few(), do: document(type, depth - 1))
  defp right({:embeds_many, type}, depth), do: right({:nullable, {:list, type}}, depth)

  defp right({:map, type}, depth),
    do: for(_ <- few(), into: %{}, do: {Gen.string(), document(type, depth - 1)})

  defp right({:enum, names}, _depth), do: one_of(Enum.map(names, &to_string/1), ["other"])
  defp right({:checked, type, constraints}, depth), do: checked(type, constraints, depth)
  defp right({:loaded, type}, depth), do: if(Enum.random(1..4) == 1, do: nil, else: loaded(type, depth))

  defp right({:tagged, key, variants}, depth) do
    {tag, module} = Enum.random(Enum.to_list(variants))
    %OrderedObject{values: members} = object = right(module, depth)

    case {one_in(4), Enum.random(1..3)} do
      {true, 1} -> object
      {true, 2} -> %{object | values: [{key, "unknown"} | List.keydelete(members, key, 0)]}
      {true, 3} -> %{object | values: [{key, 7} | List.keydelete(members, key, 0)]}
      _ -> %{object | values: Enum.shuffle([{key, tag} | List.keydelete(members, key, 0)])}
    end
  end

  defp right(:string, _depth), do: Gen.string()
  defp right(:integer, _depth), do: Gen.integer()
  defp right(type, _depth) when type in [:float, :number], do: number()
  defp right(:boolean, _depth), do: Enum.random([true, false])
  defp right(type, _depth) when type in [:any, :raw], do: whole(Gen.term(2))

  defp right(:decimal, _depth),
    do: one_of([whole(number()), "12.50", "-0.001e+3"], ["01", "1.", "NaN", "", "1 "])

  defp right(:date, _depth), do: one_of(["2024-02-29", "1999-12-31"], ["2024-02-30", "today", ""])
  defp right(:time, _depth), do: one_of(["23:59:59", "00:00:00.125"], ["24:00:00", "noon", "1:00:00"])

  defp right(:naive_datetime, _depth),
    do: one_of(["2024-02-29T23:59:59", "2024-02-29 00:00:00.5"], ["2024-13-01T00:00:00", "now"])

  defp right(:utc_datetime, _depth),
    do: one_of(["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.5+02:00"], ["2024-02-29T23:59:59", "now"])

  defp right(module, depth) do
    %{fields: fields, strict: strict} = Type.schema!(module)

    members = for field <- fields, kept?(field, depth), do: {field.key, document(field.type, depth - 1)}

    another? = if strict or closed?(), do: one_in(20), else: Enum.random(1..3) == 1
    more = if another?, do: [{"no such field", whole(Gen.term(1))}], else: []

    OrderedObject.new(if(Enum.random(1..2) == 1, do: Enum.shuffle(members ++ more), else: members ++ more))
  end

  defp kept?(%{required: true}, _depth), do: not one_in(60)
  defp kept?(_field, depth), do: if(closed?(), do: not one_in(60), else: depth > 0 and Enum.random(1..3) == 1)

  defp few, do: 1..Enum.random([0, 1, 1, 2, 3, 4])//1

  defp number,
    do: Enum.random([0, 1, -1, 7, 10, 11, 100, 101, 0.5, -0.25, 0.1, 10.5, 1.0e-7, -1.5e20, Gen.integer()])

  # Values at the limits and beside them.
  defp checked(:string, %{pattern: _, format: format}, depth),
    do: one_of([right(format, depth)], ["9", "T", "1T"])

  defp checked(:string, %{pattern: _}, _depth),
    do: one_of(["A-1", "Z-123"], ["a-1", "A-", "A-1x", "", Gen.string()])

  defp checked(:string, %{format: format}, depth), do: right(format, depth)
  defp checked(:string, limits, _depth), do: String.duplicate(Enum.random(["a", "é", "😀"]), near(limits))
  defp checked({:list, type}, limits, depth), do: for(_ <- 1..near(limits)//1, do: document(type, depth - 1))

  defp checked({:map, type}, limits, depth),
    do: for(n <- 1..near(limits)//1, into: %{}, do: {"k#{n}", document(type, depth)})

  # JSON Schema does not compare numbers in strings.
  defp checked(type, limits, _depth) do
    limit = limits |> Map.values() |> Enum.random()
    beside = [limit + 1, limit - 1, limit + 0.25, limit - 0.25, 0.5, 3, Integer.pow(10, 30)]
    number = if faultless?(), do: limit, else: Enum.random([limit | beside])
    if type == :integer and is_float(number), do: whole(number), else: number
  end

  defp near(limits) do
    limit = limits |> Map.values() |> Enum.random()
    if faultless?(), do: limit, else: max(0, limit + Enum.random(-1..1))
  end

  # What Ecto casts from other terms is not asked for, such as a date-time without an offset.
  defp loaded(type, _depth) when type in [:utc_datetime, :utc_datetime_usec],
    do: one_of(["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.5+02:00"], ["now", ""])

  defp loaded(type, depth) when type in [:date, :time, :naive_datetime], do: right(type, depth)

  defp loaded(:map, _depth), do: one_of([%{}, %{"a" => 1}], [7, []])
  defp loaded({:array, type}, depth), do: for(_ <- few(), do: loaded(type, depth))
  defp loaded({:parameterized, _given}, _depth), do: one_of(["open", "closed", "a", "b"], ["none", 7])

  defp loaded({:parameterized, _module, _given}, _depth),
    do: one_of(["open", "closed", "a", "b"], ["none", 7])

  defp loaded(Ecto.UUID, _depth), do: one_of(["550e8400-e29b-41d4-a716-446655440000"], [7])
  defp loaded(_type, _depth), do: "text"

  ## Judgements

  defp documents(type, count) do
    first = String.to_integer(System.get_env("RUSTYJSON_SEED", "20240115"))

    for seed <- first..(first + count - 1) do
      :rand.seed(:exsss, {seed, 2, 2})
      Process.put(:faultless, rem(seed, 2) == 0)
      RustyJson.encode!(document(type))
    end
  end

  defp python(schema, documents) do
    path = Path.join(System.tmp_dir!(), "rustyjson_schema_#{System.unique_integer([:positive])}.jsonl")
    File.write!(path, Enum.map_intersperse([RustyJson.encode!(schema) | documents], "\n", & &1))
    {output, status} = System.cmd(@python, [@script, path], stderr_to_stdout: true)
    File.rm!(path)
    assert status == 0, output
    [version | judgements] = String.split(output, "\n", trim: true)
    {version, Enum.map(judgements, &(&1 == "1"))}
  end

  defp ours(json, type) do
    case Judge.same(json, [as: type, max_depth: 1_000], &RustyJson.decode(json, &1)) do
      {:ok, _value} -> true
      {:error, error} -> error
    end
  end

  defp judged(type, dialect, count) do
    Process.put(:closed, dialect in [:openai, :anthropic])
    documents = documents(type, count)
    {version, theirs} = type |> RustyJson.Schema.json_schema(dialect: dialect) |> python(documents)
    assert length(theirs) == count
    {version, Enum.zip_with(documents, theirs, fn json, theirs -> {json, theirs, ours(json, type)} end)}
  end

  defp agree(types, count) do
    for type <- types do
      {version, judgements} = judged(type, :json_schema, count)

      differ =
        for {json, theirs, ours} <- judgements, theirs != (ours == true), do: {json, theirs, shown(ours)}

      assert differ == [],
             "#{inspect(type)}: #{length(differ)} differ: #{inspect(Enum.take(differ, 5), pretty: true, printable_limit: 1_000)}"

      right = Enum.count(judgements, &elem(&1, 1))
      # A test of right documents alone, or wrong ones alone, would show little.
      assert right > div(count, 50) and count - right > div(count, 50),
             "#{inspect(type)}: #{right} of #{count} are right"

      {version, type, right, count}
    end
  end

  defp shown(true), do: true
  defp shown(error), do: {error.reason, error.path, Exception.message(error)}

  test "a few hundred documents of each schema" do
    agree(@types, 300)
  end

  @tag :heavy
  test "10,000 documents of each schema" do
    for {version, type, right, count} <- agree(@types, 10_000),
        do:
          IO.puts(
            "jsonschema #{version}: #{inspect(type)}: #{count} documents, #{right} right, all judged alike"
          )
  end

  if Code.ensure_loaded?(Ecto.Schema) do
    test "documents of an Ecto schema" do
      [{version, type, right, count}] =
        agree(
          [RustyJson.Test.EctoSchemas.Order],
          if(System.get_env("RUSTYJSON_HEAVY") == "1", do: 10_000, else: 300)
        )

      IO.puts("jsonschema #{version}: #{inspect(type)}: #{count} documents, #{right} right, all judged alike")
    end
  end

  test "what the dialect of OpenAI, Anthropic or MCP accepts, decoding accepts" do
    for {dialect, type} <- [
          mcp: Schemas.Order,
          mcp: Schemas.Node,
          mcp: Schemas.Checked,
          mcp: Both,
          openai: Schemas.Order,
          openai: Schemas.Node,
          openai: Schemas.Seventy,
          anthropic: Schemas.Order,
          anthropic: Schemas.Seventy
        ] do
      {_version, judgements} = judged(type, dialect, 300)
      wrong = for {json, true, error} <- judgements, error != true, do: {json, shown(error)}
      assert wrong == [], "#{dialect} #{inspect(type)}: #{inspect(Enum.take(wrong, 3))}"
      accepted = Enum.count(judgements, &elem(&1, 1))
      # Of fewer than a third the row would show little.
      assert accepted >= 100, "#{dialect} #{inspect(type)}: #{accepted} of 300 are accepted"
    end
  end

  test "what encoding writes of a decoded value is right by the schema" do
    for type <- [Schemas.Order, Schemas.Node] do
      documents =
        for json <- documents(type, 300),
            {:ok, value} <- [RustyJson.decode(json, as: type)],
            do: RustyJson.encode!(value)

      {_version, judgements} = type |> RustyJson.Schema.json_schema() |> python(documents)
      assert length(judgements) > 10 and Enum.all?(judgements)
    end
  end
end
