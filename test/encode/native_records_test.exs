defmodule RustyJson.NativeRecordsTest do
  @moduledoc "The native records of OTP 29 have no JSON form, as pids have none."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  if String.to_integer(System.otp_release()) < 29, do: @moduletag(skip: "this VM has no native records")

  @source ~S"""
  -module(rustyjson_native_records).
  -export([point/1, empty/0]).
  -record #point{x = 1, y = 2}.
  -record #empty{}.
  point(Y) -> #point{y = Y}.
  empty() -> #empty{}.
  """

  setup_all do
    path = Path.join(System.tmp_dir!(), "rustyjson_native_records.erl")
    File.write!(path, @source)
    {:ok, module, code} = :compile.file(String.to_charlist(path), [:binary])
    File.rm!(path)
    {:module, ^module} = :code.load_binary(module, ~c"native_records", code)
    {:ok, records: [module.point([self(), %{k: {1, 2}}]), module.empty()]}
  end

  test "as values", %{records: records} do
    for record <- records,
        term <- [record, [1, record, 2], %{"a" => %{b: record, c: 1}}],
        {engine, options} <- Judge.engines(),
        more <- [[], [pretty: true], [sort_keys: true], [maps: :strict], [protocol: false], [lean: true]] do
      assert {:error, %Protocol.UndefinedError{protocol: RustyJson.Encoder, value: ^record}} =
               RustyJson.encode(term, more ++ options),
             "#{engine} #{inspect(more)}"
    end
  end

  test "as keys", %{records: records} do
    for record <- records, {_engine, options} <- Judge.engines(), more <- [[], [sort_keys: true]] do
      assert {:error, %{reason: :invalid_key}} = RustyJson.encode(%{record => 1}, more ++ options)
      assert {:error, %{reason: :invalid_key}} = RustyJson.encode([%{"a" => 1, record => 1}], more ++ options)
    end
  end

  test "beside other terms that Elixir encodes", %{records: [record | _]} do
    for {_engine, options} <- Judge.engines() do
      term = fn record ->
        [%{~c"k" => ~D[2024-02-29]}, RustyJson.Fragment.new(fn _ -> "1" end), record, MapSet.new([2])]
      end

      assert RustyJson.encode(term.(0), options) == {:ok, ~s([{"k":"2024-02-29"},1,0,[2]])}
      assert {:error, %Protocol.UndefinedError{value: ^record}} = RustyJson.encode(term.(record), options)
    end
  end

  describe "in random terms, as what the option puts in their place" do
    # A term with records at random places. The oracle is the term with the strings there.
    defp random(0, records), do: leaf(records)

    defp random(depth, records) do
      case :rand.uniform(6) do
        1 -> for(_ <- 1..:rand.uniform(4), do: random(depth - 1, records))
        2 -> Map.new(1..:rand.uniform(4), &{"k#{&1}", random(depth - 1, records)})
        3 -> Map.new([:a, :b, 1], &{&1, random(depth - 1, records)})
        4 -> %{RustyJson.OrderedObject.new([]) | values: [{"o", random(depth - 1, records)}]}
        5 -> [RustyJson.Fragment.new("1"), ~D[2024-02-29], random(depth - 1, records)]
        6 -> leaf(records)
      end
    end

    defp leaf(records), do: Enum.random([1, 2.5, "é", nil, :atom, 2 ** 70 | records])

    defp swapped(%RustyJson.OrderedObject{values: values} = object, fun),
      do: %{object | values: for({key, value} <- values, do: {key, swapped(value, fun)})}

    defp swapped(%_{} = struct, _fun), do: struct
    defp swapped(list, fun) when is_list(list), do: Enum.map(list, &swapped(&1, fun))

    defp swapped(map, fun) when is_map(map),
      do: Map.new(map, fn {key, value} -> {key, swapped(value, fun)} end)

    defp swapped(term, _fun) when is_number(term) or is_binary(term) or is_atom(term), do: term
    defp swapped(record, fun), do: fun.(record)

    test "with every option", %{records: records} do
      for _ <- 1..1_000 do
        term = random(4, records)
        {:ok, plain} = term |> swapped(fn _ -> "R" end) |> RustyJson.encode(engine: :native)
        there? = plain =~ "\"R\""
        described = swapped(term, &inspect/1)

        for {engine, options} <- Judge.engines() do
          encode = &RustyJson.encode(&1, &2 ++ options)
          assert {engine, encode.(term, unsupported: fn _ -> "R" end)} == {engine, {:ok, plain}}

          for more <- [
                [unsupported: :inspect],
                [unsupported: :inspect, sort_keys: true, escape: :unicode_safe]
              ],
              do: assert({term, encode.(term, more)} == {term, encode.(described, more)})

          case encode.(term, []) do
            {:ok, text} -> assert not there? and text == plain
            {:error, %Protocol.UndefinedError{value: value}} -> assert there? and value in records
          end
        end
      end
    end
  end
end
