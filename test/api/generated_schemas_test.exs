defmodule RustyJson.GeneratedSchemasTest do
  @moduledoc "Schemas made at random, with values made for them: what a schema encodes, it decodes. And hostile keys, which make no atoms."

  use ExUnit.Case, async: true

  alias RustyJson.Fragment
  alias RustyJson.Test.{Gen, Judge, OtherVM}

  @scalars [
    :string,
    :integer,
    :float,
    :number,
    :boolean,
    :any,
    :decimal,
    :date,
    :time,
    :naive_datetime,
    :utc_datetime,
    :raw
  ]

  ## Types

  defp type(modules, depth) do
    case Enum.random(1..if(depth > 0, do: 14, else: 6)) do
      n when n <= 5 -> Enum.random(@scalars)
      6 -> {:enum, Enum.take_random([:a, :b, :"c d", :é, :"q\"\\"], Enum.random(1..5))}
      n when n in 7..8 -> {:list, type(modules, depth - 1)}
      9 -> [type(modules, depth - 1)]
      n when n in 10..11 -> {:map, type(modules, depth - 1)}
      12 -> nullable(type(modules, depth - 1))
      _ -> if modules == [], do: Enum.random(@scalars), else: Enum.random(modules)
    end
  end

  # What `null` means in these types would be unclear.
  defp nullable(type) when type in [:any, :raw], do: type
  defp nullable({:nullable, _} = type), do: type
  defp nullable(type), do: {:nullable, type}

  defp define(number, modules) do
    name = Module.concat(__MODULE__, "S#{number}")
    count = Enum.random([0, 1, 2, 3, 5, 8, 13, 33, 40])
    names = for n <- 1..count//1, do: :"#{Enum.random(~w(field_ _private_ x été_ a_b_))}#{n}"

    fields =
      for field <- names do
        type = type(modules, 2)
        default = Enum.random([[], [], [default: nil]])

        key =
          Enum.random([
            [],
            [],
            [key: "#{Enum.random(["@", "a/b", "k\"\\", "日本", "\n", String.duplicate("long", 20)])}#{field}"]
          ])

        {field, type, default ++ key}
      end

    # A field of its own type, as in a tree.
    fields = fields ++ Enum.random([[], [{:itself, name, [default: nil]}]])
    options = [rename: Enum.random([nil, :camel]), unknown_keys: Enum.random([:ignore, :error])]

    body =
      quote do
        use RustyJson.Schema, unquote(options)

        schema do
          (unquote_splicing(
             for {field, type, more} <- fields,
                 do: quote(do: field(unquote(field), unquote(Macro.escape(type)), unquote(more)))
           ))
        end
      end

    Module.create(name, body, Macro.Env.location(__ENV__))
    name
  end

  ## Values

  defp value(type, depth \\ 4)
  defp value(:string, _), do: Gen.string()
  defp value(:integer, _), do: Gen.integer()
  defp value(:float, _), do: Gen.float()
  defp value(:number, _), do: Enum.random([Gen.integer(), Gen.float()])
  defp value(:boolean, _), do: Enum.random([true, false])
  defp value(:any, _), do: Gen.term(2)

  defp value(:decimal, _),
    do: decimal(Enum.random([1, -1]), rem(abs(Gen.integer()), Integer.pow(10, 34)), Enum.random(-40..0))

  defp value(:date, _), do: Date.add(~D[2024-01-01], Enum.random(-700_000..2_000_000))
  defp value(:time, _), do: Time.add(~T[00:00:00.000000], Enum.random(0..86_399_999_999), :microsecond)

  defp value(:naive_datetime, _),
    do: NaiveDateTime.add(~N[2024-01-01 00:00:00], Enum.random(-9_999_999_999..9_999_999_999))

  defp value(:utc_datetime, _),
    do: DateTime.add(~U[2024-01-01 00:00:00.000Z], Enum.random(-99_999_999..99_999_999), :millisecond)

  defp value(:raw, _), do: Gen.term(2) |> Gen.text() |> String.trim() |> Fragment.new()
  defp value({:enum, atoms}, _), do: Enum.random(atoms)
  defp value({:nullable, type}, depth), do: if(Enum.random(1..3) == 1, do: nil, else: value(type, depth))
  defp value({:list, type}, depth), do: for(_ <- 1..few(depth)//1, do: value(type, depth - 1))
  defp value([type], depth), do: value({:list, type}, depth)

  defp value({:map, type}, depth),
    do: for(_ <- 1..few(depth)//1, into: %{}, do: {Gen.string(), value(type, depth - 1)})

  defp value(module, depth) do
    values =
      for %{name: name, type: type, required: required} <- module.__rustyjson_schema__().fields do
        {name,
         if(not required and (depth <= 0 or (name == :itself and depth < 4)),
           do: nil,
           else: value(type, depth - 1)
         )}
      end

    struct!(module, values)
  end

  defp few(depth) when depth <= 0, do: 0
  defp few(_depth), do: Enum.random([0, 1, 1, 2, 3])

  defp decimal(sign, coefficient, exponent),
    do: %{__struct__: Decimal, sign: sign, coef: coefficient, exp: exponent}

  defp round_trip(type, value, more \\ []) do
    json = RustyJson.encode!(value)
    decoded = Judge.same(json, more, &RustyJson.decode(json, [as: type] ++ &1))
    assert decoded == {:ok, value}, "#{inspect(type)}: #{json}"
    json
  end

  test "decode(encode(s), as: S) == s" do
    Process.put(:schemas, 0)

    Gen.check(6, fn -> modules() end, fn modules ->
      for module <- modules, _ <- 1..6 do
        value = value(module)
        json = round_trip(module, value)
        round_trip([module], [value, value(module)])
        round_trip({:map, {:nullable, module}}, %{"x" => value, "y" => nil}, strings: :copy)

        part = RustyJson.encode!(%{"a/b" => [Fragment.new(json)]})
        assert RustyJson.fetch(part, "/a~1b/0", as: module) == {:ok, value}
      end

      for _ <- 1..20, type = type(modules, 3), do: round_trip(type, value(type))
    end)
  end

  # Each refers to those before it.
  defp modules do
    Enum.reduce(1..3, [], fn _, modules ->
      number = Process.get(:schemas) + 1
      Process.put(:schemas, number)
      [define(number, modules) | modules]
    end)
  end

  test "100,000 hostile keys make no atom", do: assert_no_atoms(100)

  @tag :heavy
  @tag timeout: :infinity
  test "a million hostile keys make no atom", do: assert_no_atoms(1_000)

  # In a VM of its own, because other tests make atoms. Whatever is loaded or made once, the first rounds have.
  defp assert_no_atoms(rounds) do
    code = """
    {:ok, _} = Application.ensure_all_started(:rustyjson)

    defmodule Known do
      use RustyJson.Schema
      schema do
        field :r, :integer
        field :inner, {:map, :any}, default: nil
        field :state, {:enum, [:open]}, default: :open
      end
    end

    defmodule Strict do
      use RustyJson.Schema, unknown_keys: :error
      schema do
        field :r, :integer
      end
    end

    defmodule Hostile do
      # A thousand keys that no other round has.
      def round(round, options) do
        json = ~s({"r":1,"inner":{\#{members(round, :a)}},\#{members(round, :b)}})
        name = "name_\#{round}"
        {:ok, %{r: 1}} = RustyJson.decode(json, [as: Known] ++ options)
        {:error, %{reason: :unknown_key}} = RustyJson.decode(json, [as: Strict] ++ options)
        {:error, %{reason: :missing}} = RustyJson.decode(json, [as: {:tagged, name, %{"x" => Known}}] ++ options)
        {:error, %{reason: :type}} = RustyJson.decode(json, [as: {:map, :integer}] ++ options)
        {:error, %{reason: :enum}} = RustyJson.decode(~s({"state":"\#{name}","r":1}), [as: Known] ++ options)
        {:error, %{reason: :enum}} = RustyJson.decode(~s({"t":"\#{name}"}), [as: {:tagged, "t", %{"x" => Known}}] ++ options)
        {:ok, [1, nil]} = RustyJson.select(json, ["/r", "/\#{name}/x"], options)
        {:ok, %{r: 1}} = RustyJson.fetch("[" <> json <> "]", "/0", [as: Known] ++ options)
        [%{r: 1}] = RustyJson.decode_stream(json, [as: Known, format: :lines] ++ options) |> Enum.to_list()
      end

      defp members(round, part) do
        Enum.map_join(1..250, ",", &~s("key_\#{round}_\#{part}_\#{&1}":{"in_\#{round}_\#{part}_\#{&1}":"text_\#{round}"}))
      end

      def rounds(range, engines) do
        for round <- range, {{_name, options}, number} <- Enum.with_index(engines) do
          options = if options[:engine] == :wasm, do: [timeout: 60_000] ++ options, else: options
          round("\#{round}_\#{number}", options)
        end
      end

      # The VM itself may make an atom meanwhile; keys would make some each time.
      def made(start, count, engines, tries) do
        before = :erlang.system_info(:atom_count)
        rounds(start..(start + count - 1), engines)
        made = :erlang.system_info(:atom_count) - before
        if made == 0 or tries == 1, do: made, else: made(start + count, count, engines, tries - 1)
      end
    end

    {:ok, modules} = :application.get_key(:rustyjson, :modules)
    Enum.each(modules, &Code.ensure_loaded/1)
    engines = #{inspect(Judge.engines())}
    Hostile.rounds(1..10, engines)
    IO.puts("atoms made: \#{Hostile.made(11, div(#{rounds}, length(engines)), engines, 3)}")
    """

    assert {output, 0} = OtherVM.run(code, [])
    assert output =~ "atoms made: 0", output
  end
end
