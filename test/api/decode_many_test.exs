defmodule RustyJson.DecodeManyTest do
  @moduledoc "Each document in a call gets the same result as in a call of its own, in every engine."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Judge, Trace}

  @documents [
    "1",
    "",
    " [1, 2.5] ",
    "[",
    ~s({"a": {"b": nul),
    "null",
    "}",
    "[1,]",
    "{\"a\":\n1,}",
    "1 2",
    "\uFEFF1",
    ~S("a\u00),
    ~s({"k":1,"k":2}),
    ~s({"new_key_of_decode_many":[{"k":[]}], "k": [x]}),
    <<34, 255, 34>>,
    String.duplicate("[", 200),
    String.duplicate("9", 2_000),
    "1.5e300",
    ["[", [?1, ?,], "2", "]"],
    "[1,",
    "]",
    "1,",
    " }",
    ~s("#{String.duplicate("long", 50)}")
  ]

  @options [
    [],
    [keys: :atoms],
    [keys: :atoms!],
    [keys: &String.upcase/1],
    [keys: :copy, strings: :copy],
    [objects: :ordered_objects],
    [floats: :decimals],
    [objects: :ordered_objects, floats: :decimals, keys: :atoms!],
    [duplicate_keys: :error],
    [duplicate_keys: :first],
    [max_bytes: 10],
    [max_nodes: 2],
    [max_depth: 1],
    [decoding_integer_digit_limit: 0],
    [validate_strings: false],
    [dirty_threshold: 0],
    [dirty_threshold: 4],
    [as: [:integer]]
  ]

  for {name, engine} <- Judge.engines() do
    @engine engine

    test "#{name}: as decode/2 of each, with every option" do
      for options <- @options do
        options = options ++ @engine

        assert RustyJson.decode_many(@documents, options) ==
                 Enum.map(@documents, &RustyJson.decode(&1, options))
      end
    end

    test "#{name}: none, one, and as a map of options" do
      assert RustyJson.decode_many([], @engine) == []
      assert RustyJson.decode_many(["[1]"], @engine) == [ok: [1]]
      assert RustyJson.decode_many([~c"[1]", "{}"], Map.new(@engine)) == [ok: [1], ok: %{}]
    end

    test "#{name}: more than one crossing takes, small and large" do
      documents =
        for i <- 1..3_000 do
          case rem(i, 500) do
            0 -> "[" <> String.duplicate("[],", 60_000) <> "#{i}]"
            1 -> "[#{i}"
            _ -> ~s({"id":#{i}})
          end
        end

      results = RustyJson.decode_many(documents, @engine)
      assert length(results) == 3_000
      assert results == Enum.map(documents, &RustyJson.decode(&1, @engine))
    end

    test "#{name}: new atoms are made" do
      documents = for i <- 1..40, do: ~s({"an atom of decode_many #{unquote(name)} #{i}":#{i}})

      assert [ok: %{} = first] =
               RustyJson.decode_many(Enum.take(documents, 1), [keys: :atoms!] ++ @engine) |> either()

      assert map_size(first) == 0
      results = RustyJson.decode_many(documents, [keys: :atoms] ++ @engine)
      assert for({:ok, term} <- results, do: Map.values(term)) == for(i <- 1..40, do: [i])
      assert RustyJson.decode_many(documents, [keys: :atoms!] ++ @engine) == results
    end

    test "#{name}: a name that is no atom, in a value that a repeated key replaces" do
      dropped = ~s({"ok":{"no atom of decode_many":1},"ok":2})
      options = [keys: :atoms!] ++ @engine
      assert {:error, %{reason: :unknown_atom}} = RustyJson.decode(dropped, options)

      assert [{:error, %{reason: :unknown_atom}}, {:ok, %{ok: 1}}] =
               RustyJson.decode_many([dropped, ~s({"ok":1})], options)
    end
  end

  # An unknown atom is an error.
  defp either([{:error, %{reason: :unknown_atom}}]), do: [ok: %{}]

  test "what is no list of iodata" do
    for {_, engine} <- RustyJson.Test.Judge.engines(), options <- [[], [max_bytes: 100], [raw: ["/a"]]] do
      options = options ++ engine
      list = "decode_many takes a list of iodata"

      for {inputs, message} <- [
            {[["[", :x], "1"], list <> ~s(, but its element at index 0 is ["[", :x])},
            {["1", "2", nil], list <> ", but its element at index 2 is nil"},
            {["1", <<1::3>>], list <> ", but its element at index 1 is <<1::size(3)>>"},
            {["1", [?1 | :a]], list <> ", but its element at index 1 is [49 | :a]"},
            {"1", list <> ~s(, got: "1")},
            {["1" | "2"], list <> ", got an improper list"},
            {%{}, list <> ", got: %{}"}
          ] do
        assert_raise ArgumentError, message, fn -> RustyJson.decode_many(inputs, options) end
      end
    end

    assert_raise ArgumentError, fn -> RustyJson.decode_many([nil]) end
    assert_raise ArgumentError, fn -> RustyJson.decode_many(["1"], no_such: 1) end
  end

  # For thousands of names that took longer than the document.
  test "the type of the documents is looked up once" do
    for {name, engine} <- Judge.engines() do
      prepares =
        Trace.calls([{RustyJson.Schema.Decode, :prepare, 1}], fn ->
          assert RustyJson.decode_many(["1", "x", "2", "[]"], [as: :integer] ++ engine)
                 |> Enum.map(&elem(&1, 0)) ==
                   [:ok, :error, :ok, :error]
        end)

      assert length(prepares) == 1, inspect(name)
    end
  end
end
