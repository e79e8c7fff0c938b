defmodule RustyJson.AllErrorsTest do
  @moduledoc "`errors: :all`: all type errors of a document in one pass, listed up to `max_errors:` and counted."

  # It compares times.
  use ExUnit.Case, async: false

  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Test.{Clock, Judge}
  alias RustyJson.Test.Schemas.{Circle, Leaf, Line, Square, Twig}

  defmodule Event do
    @moduledoc false
    use RustyJson.Schema

    schema do
      field(:at, :date)
      field(:count, :integer)
    end
  end

  @tagged {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}

  defp all(json, type, more \\ []),
    do: Judge.same(json, more, &RustyJson.decode(json, [as: type, errors: :all] ++ &1))

  defp places({:error, %{errors: errors, error_count: count}}),
    do: {Enum.map(errors, &{&1.reason, &1.position, &1.path}), count}

  test "errors beyond max_errors are counted" do
    json = RustyJson.encode!(List.duplicate("x", 250))
    assert {:error, %{errors: errors, error_count: 250}} = all(json, [:integer])
    assert length(errors) == 100
    assert {:error, %{errors: [one], error_count: 250} = error} = all(json, [:integer], max_errors: 1)
    assert {one.message, one.errors} == {error.message, nil}
    assert {:error, %{errors: errors, error_count: 250}} = all(json, [:integer], max_errors: 10_000)
    assert Enum.map(errors, & &1.path) == Enum.map(0..249, &"/#{&1}")
    assert {:error, %{errors: nil, error_count: nil}} = RustyJson.decode(json, as: [:integer])

    assert_raise ArgumentError, ~r/option :max_errors takes an integer/, fn ->
      RustyJson.decode("1", as: :integer, max_errors: 0)
    end
  end

  test "many missing members of one object" do
    assert all(~s([{}, {"sku": "a"}, {"quantity": "1"}]), [Line]) |> places() ==
             {[
                {:missing, 2, "/0/sku"},
                {:missing, 2, "/0/quantity"},
                {:missing, 16, "/1/quantity"},
                {:type, 32, "/2/quantity"},
                {:missing, 35, "/2/sku"}
              ], 5}
  end

  test "lines, columns and paths are those of the first error alone" do
    rows = ["{\"é\": 1, \"a\":\n[{\"r\": \"ü\"},", "\n\n  {\"r\": 1},\t{\"r\":null}, {}", "]}"]
    json = IO.iodata_to_binary(rows)
    assert {:error, %{errors: errors}} = all(json, {:map, {:list, Circle}})

    for error <- errors do
      assert {error.line, error.column} == place(json, error.position)
      assert error.token == binary_part(json, error.position, min(32, byte_size(json) - error.position))
    end

    assert Enum.map(errors, & &1.path) == ["/é", "/a/0/r", "/a/2/r", "/a/3/r"]
  end

  defp place(json, position) do
    lines = json |> binary_part(0, position) |> String.split("\n")
    {length(lines), 1 + String.length(List.last(lines))}
  end

  test "invalid JSON ends the list, whatever comes before it" do
    for {json, reasons} <- [
          {~s(["x", "y", tru]), [:type, :type, :type, :expected_value]},
          {~s(["x"] x), [:type, :trailing_data]},
          {~s(["x", ["y"), [:type, :type, :unexpected_end]},
          {~s(), [:unexpected_end]}
        ] do
      assert {:error, error} = all(json, [:integer])
      assert Enum.map(error.errors, & &1.reason) == reasons, json
      assert error.error_count == length(reasons)
    end

    long = "[" <> String.duplicate("1,", 200) <> "x"
    assert {:error, %{errors: errors, error_count: 201}} = all(long, [:string])
    assert Enum.all?(errors, &(&1.reason == :type))
  end

  test "a number beyond a limit ends the list, before and behind a wrong tag" do
    type = {:tagged, "t", %{"leaf" => Leaf}}

    for number <- ["1e999", String.duplicate("9", 1_025)], tag <- [~s("none"), "5"] do
      assert {:error, %{errors: [only]} = error} = all(~s({"n":\n #{number}, "t": #{tag}}), type)
      assert {only.position, only.line, only.column, only.path} == {7, 2, 2, "/n"}
      assert {only.reason, error.error_count} in [{:number_out_of_range, 1}, {:integer_digits, 1}]

      assert {:error, %{errors: [first, last]}} = all(~s([{"t": #{tag},\n "n": #{number}}]), [type])
      assert {first.position, first.path} == {7, "/0/t"}
      assert {last.line, last.column, last.path} == {2, 7, "/0/n"}
    end
  end

  test "an unknown atom ends the list in every engine" do
    json = ~s([{"r": "1", "x": {"never_an_atom_of_all_errors": 1}}, {"r": "2"}])

    assert {[{:type, 7, "/0/r"}, {:type, _, "/1/r"}], 2} = all(json, [Circle], keys: :atoms!) |> places()

    type = {:map, {:list, :any}}
    json = ~s({"a": 1, "b": [{"never_an_atom_of_all_errors": 1}], "c": 2})

    assert {[{:type, 6, "/a"}, {:unknown_atom, 16, _}], 2} = all(json, type, keys: :atoms!) |> places()
    assert {[{:type, 6, "/a"}, {:type, _, "/c"}], 2} = all(json, type, keys: :atoms) |> places()

    many = "{" <> Enum.map_join(1..120, ",", &~s("#{&1}":1)) <> ~s(,"b":[{"never_an_atom_of_all_errors":1}]})
    assert {:error, %{errors: errors, error_count: 121}} = all(many, type, keys: :atoms!)
    assert length(errors) == 100
  end

  describe "dates" do
    # The core knows that the first is none; the others are left to Elixir.
    @wrong ["2024-13-01", "2024-1-01", "+2024-02-30", "20240101", "T", ""]

    test "that are wrong are in their places among other errors" do
      json = RustyJson.encode!(for(wrong <- @wrong, do: %{at: wrong, count: "x"}), sort_keys: true)
      assert {errors, 12} = all(json, [Event]) |> places()
      assert Enum.map(errors, &elem(&1, 2)) == for(n <- 0..5, field <- ~w(at count), do: "/#{n}/#{field}")
      assert {errors, 12} = all(json, [Event], max_errors: 3) |> places()
      assert Enum.map(errors, &elem(&1, 2)) == ["/0/at", "/0/count", "/1/at"]
    end

    test "that are right need no second pass, and a wrong one before another error is found" do
      for {json, position} <- [
            {~s({"at": "+2024-01-01", "count": "x"}), 31},
            {~s({"at": "+2024-01-32", "count": "x"}), 7},
            {~s({"at": "x", "count": "x"}), 7}
          ] do
        same = &RustyJson.decode(json, [as: Event] ++ &1)
        assert {:error, %{position: ^position}} = Judge.same(json, [], same)
      end
    end

    test "are judged as Elixir does" do
      parts = ~w(2024 0000 -0001 + - : 02 29 30 13 00 24 59 60 T t Z z . , 123 1234567 +01:00 x) ++ [" "]
      usual = ["2024-02-29", "2023-02-29", "2024-02-29T23:59:59Z", "23:59:60", "2024-02-29 24:00:00.5+00:00"]
      texts = for _ <- 1..3_000, do: Enum.map_join(1..Enum.random(1..9), fn _ -> Enum.random(parts) end)

      for text <- usual ++ texts do
        for {type, parse} <- [
              date: &Date.from_iso8601/1,
              time: &Time.from_iso8601/1,
              naive_datetime: &NaiveDateTime.from_iso8601/1,
              utc_datetime: &DateTime.from_iso8601/1
            ] do
          right? = match?({:error, _}, parse.(text)) == false
          json = ~s("#{text}")
          assert match?({:ok, _}, RustyJson.decode(json, as: type)) == right?, "#{text} as #{type}"
          assert match?({:ok, _}, RustyJson.decode(json, as: type, errors: :all)) == right?
        end
      end
    end
  end

  test "several parts of a document" do
    json = "[" <> Enum.map_join(1..300, ",", fn n -> ~s({"n":#{n},\n"r":"#{n}"}) end) <> "]"
    places = for n <- 0..299, do: "/#{n}"

    Judge.same(json, [], fn engine ->
      assert {:error, error} = RustyJson.select(json, places, [as: Circle, errors: :all] ++ engine)
      assert {length(error.errors), error.error_count} == {100, 300}
      assert List.last(error.errors).line == 101

      assert {:error, error} =
               RustyJson.select(json, ["/1", "/1/r", "/1/n"], [as: :string, errors: :all] ++ engine)

      assert {Enum.map(error.errors, & &1.path), error.error_count} == {["/1", "/1/n"], 2}
    end)
  end

  test "lines of a stream keep their places" do
    text = Enum.map_join(1..500, "\n", fn n -> if rem(n, 2) == 0, do: ~s({"a":"é"}), else: ~s({"a":1}) end)

    for {_name, engine} <- Judge.engines() do
      items =
        text
        |> RustyJson.decode_stream([format: :lines, as: Square, on_error: :tag] ++ engine)
        |> Enum.to_list()

      errors = for {:error, error} <- items, do: {error.line, error.column}
      assert errors == for(n <- 1..500, rem(n, 2) == 0, do: {n, 6})
    end
  end

  # A name in a type that contains itself once took twice as long with every level.
  test "the texts that an enum expects, deep in a type that contains itself" do
    deep =
      String.duplicate(~s({"t":"twig","next":), 60) <>
        ~s({"t":"leaf","state":"x"}) <> String.duplicate("}", 60)

    assert {:error, %{reason: :enum} = error} =
             Judge.same(deep, [], &RustyJson.decode(deep, [as: @tagged] ++ &1))

    assert error.message =~ ~s(Expected one of "green", "brown")
  end

  # The hundred exceptions take a millisecond, whatever the length of the document.
  test "a document that is wrong everywhere takes about as long as one that is right" do
    right = "[" <> String.duplicate(~s({"r":1.5,"x":"abc"},), 200_000) <> ~s({"r":1}])
    wrong = String.replace(right, "1.5", ~s("y"))

    for {_name, engine} <- Judge.engines() do
      patient = if engine[:engine] == :wasm, do: [timeout: 60_000], else: []
      options = [as: [Circle]] ++ patient ++ engine
      first = fn -> {:ok, _} = RustyJson.decode(right, options) end
      all = fn -> {:ok, _} = RustyJson.decode(right, [errors: :all] ++ options) end
      found = fn -> {:error, %{error_count: 200_000}} = RustyJson.decode(wrong, [errors: :all] ++ options) end
      Clock.ratio(1.4, all, first)
      Clock.ratio(1.4, found, first)
    end
  end

  if :native in Keyword.keys(Judge.engines()) do
    test "one call of the library gives all errors" do
      options = RustyJson.Options.decode(engine: :native)
      shape = RustyJson.Schema.Shape.of([:integer])
      plan = RustyJson.Schema.Shape.plan(shape, 3, [])
      bytes = RustyJson.Options.with_parts(options, plan).bytes
      assert {:error, {5, false, [_, _, _]}} = Nif.decode(~s(["a","b","c","d","e"]), bytes)
    end
  end
end
