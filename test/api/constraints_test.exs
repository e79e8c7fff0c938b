defmodule RustyJson.ConstraintsTest do
  @moduledoc "Constraints of fields: what each refuses, where, and with which message, in every engine."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{DecodeError, Feed}
  alias RustyJson.Test.Judge
  alias RustyJson.Test.Schemas.{Checked, Exact, Inside}

  # A document of Checked with these members beside the required one.
  defp with_name(members), do: ~s({"name": "ab", #{members}})

  defp decode(json, as, options \\ []), do: Judge.same(json, [as: as] ++ options, &RustyJson.decode(json, &1))

  defp refused(json, as \\ Checked) do
    assert {:error, %DecodeError{} = error} = decode(json, as)
    assert {:error, %DecodeError{} = first} = decode(json, as, errors: :all)
    assert {first.reason, first.path, first.message} == {error.reason, error.path, error.message}

    {error.reason, error.path, error.position, error.message |> String.split(" at position") |> hd(),
     expected(error)}
  end

  defp expected(%{message: message}),
    do: with([_before, expected] <- String.split(message, ": Expected "), do: expected, else: (_ -> nil))

  describe "numbers" do
    test "are compared with the limits, which are allowed" do
      for {member, value} <- [{"age", 0}, {"age", 150}, {"weight", 0.5}, {"rate", 10}, {"rate", 10.0}] do
        assert {:ok, struct} = decode(with_name(~s("#{member}": #{value})), Checked)
        assert Map.fetch!(struct, String.to_atom(member)) === value
      end

      assert refused(with_name(~s("age": -1))) == {:min, "/age", 22, "Number below the minimum", "at least 0"}

      assert refused(with_name(~s("age": 151))) ==
               {:max, "/age", 22, "Number above the maximum", "at most 150"}

      assert {:min, "/weight", 25, _, "at least 0.5"} = refused(with_name(~s("weight": 0.49999)))
      assert {:min, "/weight", 25, _, _} = refused(with_name(~s("weight": 0)))
      assert {:max, "/rate", 23, _, "at most 10"} = refused(with_name(~s("rate": 10.000000000000002)))
      assert {:max, "/rate", _, _, _} = refused(with_name(~s("rate": 1#{String.duplicate("0", 60)})))
      assert {:max, "/rate", _, _, _} = refused(with_name(~s("rate": 1e300)))
      assert {:ok, %{rate: -1.0e300}} = decode(with_name(~s("rate": -1e300)), Checked)
      assert {:ok, %{rate: negative}} = decode(with_name(~s("rate": -1#{String.duplicate("0", 60)})), Checked)
      assert negative == -Integer.pow(10, 60)
    end

    test "that are not of the type have the error of the type" do
      assert {:type, "/age", 22, "Expected an integer", nil} = refused(with_name(~s("age": 1.0)))
      assert {:type, "/age", 22, "Expected an integer", nil} = refused(with_name(~s("age": "1")))
      assert {:type, "/weight", 25, "Expected a number", nil} = refused(with_name(~s("weight": [])))
    end

    test "are compared exactly" do
      # 2^53 + 1, which no float is.
      for {value, ok?} <- [
            {9_007_199_254_740_992, false},
            {9_007_199_254_740_993, true},
            {9_007_199_254_740_992.0, false}
          ] do
        assert match?({:ok, _}, decode(~s({"number": #{value}}), Exact)) == ok?, inspect(value)
      end

      assert match?({:ok, _}, decode(~s({"number": 9007199254740994.0}), Exact))
      assert {:min, "/float", _, _, _} = refused(~s({"float": 9007199254740993}), Exact)
      assert {:ok, %{float: 9_007_199_254_740_994.0}} = decode(~s({"float": 9007199254740994}), Exact)
      assert {:ok, %{whole: 18_446_744_073_709_551_615}} = decode(~s({"whole": 18446744073709551615}), Exact)
      assert {:max, "/whole", _, _, _} = refused(~s({"whole": 18446744073709551616}), Exact)
    end

    test "are compared exactly beyond the largest limit" do
      most = Integer.pow(2, 127) - 1
      module = define(:integer, min: -most, max: most)

      decode =
        &Judge.same(&1, [], fn engine -> RustyJson.decode(~s({"value": #{&1}}), [as: module] ++ engine) end)

      for value <- [most, -most], do: assert({:ok, %{value: ^value}} = decode.(value))

      for value <- [most + 1, most * 2 + 1, Integer.pow(10, 500)] do
        assert {:error, %{reason: :max}} = decode.(value)
        assert {:error, %{reason: :min}} = decode.(-value)
      end
    end

    test "of decimals are compared by their digits, in numbers and strings" do
      for {text, ok?} <- [
            {"0", true},
            {"-0", true},
            {"-0.0", true},
            {"100.00", true},
            {"1e2", true},
            {"100.000000000000000000000000001", false},
            {"-1e-6000", false},
            {"1e-6000", true},
            {"1e6000", false},
            {"0e6000", true},
            {"99.99", true}
          ],
          json <- [text, ~s("#{text}")] do
        assert match?({:ok, _}, decode(with_name(~s("price": #{json})), Checked)) == ok?, json
      end

      assert {:min, "/price", 24, _, "at least 0"} = refused(with_name(~s("price": "-0.01")))
      assert {:max, "/price", 24, _, "at most 100"} = refused(with_name(~s("price": 100.01)))
    end
  end

  describe "strings" do
    test "have lengths in code points" do
      assert {:ok, %{name: "éé"}} = decode(~s({"name": "éé"}), Checked)
      assert {:ok, %{name: "😀😀😀😀😀"}} = decode(~s({"name": "\\ud83d\\ude00😀😀😀😀"}), Checked)
      # Two code points, one character on the screen.
      assert {:ok, _} = decode(~s({"name": "e\u0301"}), Checked)

      assert refused(~s({"name": "é"})) ==
               {:min_length, "/name", 9, "String too short", "at least 2 characters"}

      assert refused(~s({"name": "😀😀😀😀😀😀"})) ==
               {:max_length, "/name", 9, "String too long", "at most 5 characters"}
    end

    test "match patterns" do
      assert {:ok, %{code: "A-12"}} = decode(with_name(~s("code": "A-12")), Checked)
      assert {:ok, %{code: "A-12"}} = decode(with_name(~s("code": "\\u0041-12")), Checked)

      assert {:pattern, "/code", 23, "String does not match the pattern", ~S(^[A-Z]-\d+$)} =
               refused(with_name(~s("code": "a-12")))

      assert {:pattern, "/code", 23, _, _} = refused(with_name(~s("code": "A-12\\n")))
    end

    test "have formats, which are those of types" do
      for {member, good, bad} <- [
            {"day", ~w(2024-02-29 +2024-02-29), ~w(2024-02-30 +2024-02-30 today)},
            {"at", ~w(2024-02-29T00:00:00Z 2024-02-29T00:00:00+02:00),
             ~w(2024-02-29T00:00:00 2024-02-30T00:00:00+02:00)},
            {"clock", ~w(23:59:59 23:59:59.123456789), ~w(24:00:01 23:59)}
          ] do
        for text <- good do
          assert {:ok, struct} = decode(with_name(~s("#{member}": "#{text}")), Checked)
          assert Map.fetch!(struct, String.to_atom(member)) == text
        end

        for text <- bad do
          path = "/" <> member

          assert {:format, ^path, _, "String in another format", expected} =
                   refused(with_name(~s("#{member}": "#{text}")))

          assert expected in ["date", "utc datetime", "time"]
        end
      end
    end

    test "of unusual formats are judged in their order, with all other errors" do
      json =
        ~s({"name": "a", "day": "+2024-02-30", "at": "+2024-02-29T00:00:00Z", "clock": "T25:00:00", "age": -1})

      assert {:error, %{errors: errors, error_count: 4}} = decode(json, Checked, errors: :all)

      assert Enum.map(errors, &{&1.reason, &1.path}) == [
               min_length: "/name",
               format: "/day",
               format: "/clock",
               min: "/age"
             ]
    end
  end

  describe "lists and maps" do
    test "have limited lengths, with the path of the container" do
      assert {:ok, %{tags: ["a", "b", "c"]}} = decode(with_name(~s("tags": ["a", "b", "c"])), Checked)

      assert refused(with_name(~s("tags": []))) ==
               {:min_length, "/tags", 24, "Too few elements or members", "at least 1 element"}

      assert refused(with_name(~s("tags": ["a", "b", "c", "d", "e"]))) ==
               {:max_length, "/tags", 39, "Too many elements or members", "at most 3 elements"}

      assert {:ok, %{counts: %{"a" => 1}}} = decode(with_name(~s("counts": {"a": 1})), Checked)
      assert {:min_length, "/counts", 26, _, "at least 1 member"} = refused(with_name(~s("counts": {})))

      assert {:max_length, "/counts", 42, _, "at most 2 members"} =
               refused(with_name(~s("counts": {"a": 1, "b": 2, "c": 3})))

      assert {:max_length, "/none", 24, _, "at most 0 elements"} = refused(with_name(~s("none": [1])))
      assert {:ok, %{none: []}} = decode(with_name(~s("none": [ ])), Checked)
    end

    test "inside others keep their own counts" do
      good = ~s({"rows": [{"cells": [1]}, {"cells": [1, 2]}, {"cells": [3]}]})
      assert {:ok, %{rows: [_, %{cells: [1, 2]}, _]}} = decode(good, Inside)
      bad = ~s({"rows": [{"cells": []}, {"cells": [1, 2, 3, "4"]}, {"cells": [-1]}, {"cells": [1]}]})
      assert {:error, %{errors: errors}} = decode(bad, Inside, errors: :all)

      assert Enum.map(errors, &{&1.reason, &1.path}) == [
               min_length: "/rows/0/cells",
               max_length: "/rows/1/cells",
               type: "/rows/1/cells/3",
               max_length: "/rows"
             ]
    end

    test "a list that is too long is not read to its end" do
      json = with_name(~s("tags": [#{Enum.map_join(1..100_000, ",", fn _ -> ~s("x") end)}, oops]))
      assert {:error, %{reason: :max_length}} = decode(json, Checked)

      assert {:error, %{errors: [%{reason: :max_length}, %{reason: :expected_value}]}} =
               decode(json, Checked, errors: :all)
    end

    test "repeated keys count each" do
      json = with_name(~s("counts": {"a": 1, "a": 2, "a": 3}))
      assert {:max_length, "/counts", _, _, _} = refused(json)
      assert {:ok, %{counts: %{"a" => 2}}} = decode(with_name(~s("counts": {"a": 1, "a": 2})), Checked)
    end
  end

  test "null is allowed where the type allows it, and a default is not checked" do
    assert {:ok, %{age: nil, tags: [], price: nil}} =
             decode(with_name(~s("age": null, "price": null)), Checked)

    assert {:type, "/tags", _, "Expected an array", nil} = refused(with_name(~s("tags": null)))
  end

  test "streams, feeds, fetch and select check them, at the position in the whole" do
    lines = ~s({"name": "ab"}\n{"name": "a"}\n{"name": "abc", "tags": []}\n)

    for {_name, chosen} <- Judge.engines() do
      options = [format: :lines, as: Checked, on_error: :tag] ++ chosen

      assert [{:ok, %{name: "ab"}}, {:error, short}, {:error, empty}] =
               lines |> RustyJson.decode_stream(options) |> Enum.to_list()

      assert {short.reason, short.position, short.line, short.path} == {:min_length, 24, 2, "/name"}
      assert {empty.reason, empty.line, empty.path} == {:min_length, 3, "/tags"}

      assert {:error, error, [%{name: "ab"}], _feed} =
               Feed.push(Feed.new([format: :lines, as: Checked] ++ chosen), lines)

      assert error.reason == :min_length

      document = ~s({"a": [#{with_name(~s("age": 200))}]})

      assert {:error, %{reason: :max, path: "/a/0/age", position: 29}} =
               RustyJson.fetch(document, "/a/0", [as: Checked] ++ chosen)

      assert {:error, %{reason: :max, path: "/a/0/age"}} =
               RustyJson.select(document, ["/a/0"], [as: Checked] ++ chosen)

      assert {:error, message} =
               RustyJson.decode(~s([{"name": "ab", "code": "x"}]), [as: [Checked]] ++ chosen)

      assert message.message =~ ~S(Expected ^[A-Z]-\d+$)
    end
  end

  test "all errors are found in one pass, up to their limit" do
    rows = Enum.map_join(1..300, ",", fn _ -> ~s({"name": "a", "age": 151, "code": "?"}) end)

    assert {:error, %{errors: errors, error_count: 900}} =
             decode("[#{rows}]", [Checked], errors: :all, max_errors: 7)

    assert Enum.map(errors, & &1.reason) == [
             :min_length,
             :max,
             :pattern,
             :min_length,
             :max,
             :pattern,
             :min_length
           ]
  end

  describe "definitions" do
    defp define(type, options) do
      # A module of each test case has its own name.
      name = Module.concat(__MODULE__, "Field#{System.unique_integer([:positive])}")

      code =
        quote do
          defmodule unquote(name) do
            use RustyJson.Schema
            schema(do: field(:value, unquote(Macro.escape(type)), unquote(Macro.escape(options))))
          end
        end

      Code.eval_quoted(code)
      name
    end

    test "with a fault name the field and the option" do
      for {type, options, message} <- [
            {:string, [min: 1],
             "option :min of the field :value does not fit the type :string: it is for numbers"},
            {:integer, [min: 1.5],
             "option :min of the field :value takes an integer of at most 127 bits, got: 1.5"},
            {:integer, [max: Integer.pow(2, 127)], "takes an integer of at most 127 bits"},
            {:float, [max: "1"], "option :max of the field :value takes a number"},
            {:number, [max: 1.0e300], "takes a number of at most 127 bits"},
            {:decimal, [min: :zero],
             "option :min of the field :value takes a number or a decimal, got: :zero"},
            {:integer, [min: 2, max: 1], "option :min of the field :value is greater than :max"},
            {:string, [min_length: 2, max_length: 1],
             "option :min_length of the field :value is greater than :max_length"},
            {:string, [min_length: -1], "option :min_length of the field :value takes an integer from 0 to"},
            {[:string], [max_length: 1.0], "option :max_length of the field :value takes an integer"},
            {:integer, [max_length: 1], "it is for strings, lists and maps"},
            {[:string], [pattern: "a"],
             "option :pattern of the field :value does not fit the type {:list, :string}: it is for strings"},
            {:string, [pattern: 1], "option :pattern of the field :value takes a string, got: 1"},
            {:string, [pattern: "("],
             "option :pattern of the field :value cannot be used: a group is not closed"},
            {:date, [format: :date], "option :format of the field :value does not fit the type :date"},
            {:string, [format: :email], "option :format of the field :value takes :date, :time"},
            {:string, [description: :text],
             "option :description of the field :value takes a string, got: :text"},
            {:string, [minimum: 1], "unknown option :minimum, did you mean :min? the field :value takes"},
            {:string, nil, "options of the field :value are a keyword list or a map, got: nil"},
            {:string, [:min], "options of the field :value are a keyword list or a map, got: [:min]"},
            {:string, {:min, 1}, "options of the field :value are a keyword list or a map, got: {:min, 1}"},
            {:string, %{"min" => 1}, "unknown option \"min\", did you mean :min? the field :value takes"},
            {:string, [required: false], "A field with a :default can be left out"}
          ] do
        error = assert_raise ArgumentError, fn -> define(type, options) end
        assert error.message =~ message
      end
    end

    test "can be a map, and the last one of a name counts" do
      for options <- [%{min: 3}, [min: 1, min: 3], [min: :x, key: "other", min: 3, key: "value"]] do
        name = define(:integer, options)
        assert {:ok, %{value: 3}} = decode(~s({"value": 3}), name)
        assert {:error, %{reason: :min}} = decode(~s({"value": 2}), name)
      end

      assert {:ok, %{value: 7}} = decode("{}", define(:integer, default: 5, default: 7))
    end

    test "that fit are kept" do
      assert {:ok, %{value: 3}} = decode(~s({"value": 3}), define({:nullable, :integer}, min: 3))
      assert {:ok, %{value: nil}} = decode(~s({"value": null}), define({:nullable, :integer}, min: 3))
      assert {:error, %{reason: :min}} = decode(~s({"value": 2}), define({:nullable, :integer}, min: 3))
      assert {:ok, %{value: ""}} = decode(~s({"value": ""}), define(:string, min_length: 0))

      limit = %{__struct__: Decimal, sign: -1, coef: 15, exp: -1}
      assert {:ok, _} = decode(~s({"value": -1.5}), define(:decimal, min: limit))
      assert {:error, %{reason: :min}} = decode(~s({"value": -1.51}), define(:decimal, min: limit))
    end
  end
end
