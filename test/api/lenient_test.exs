defmodule RustyJson.LenientTest do
  @moduledoc "The mends of `lenient:`, each by itself, in every engine, with the text cut at every byte."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Partial}
  alias RustyJson.Test.{Clock, Judge, Streams}
  alias RustyJson.Test.Schemas.{Checked, Line}

  @moduletag timeout: 300_000
  @all [:code_fence, :prose, :trailing_commas, :raw_newlines, :python_literals]
  @fence "```"

  # The mends that are needed, the text, what it means, and what is mended where.
  @cases [
    {[:code_fence], "#{@fence}json\n[1]\n#{@fence}\n", [1], [code_fence: 0, code_fence: 12]},
    {[:code_fence], "\n #{@fence}\n{\"a\":\"#{@fence}\"}#{@fence}", %{"a" => @fence},
     [code_fence: 2, code_fence: 17]},
    {[:code_fence], "#{@fence}JSON5 {\"a\":1}\n#{@fence}", %{"a" => 1}, [code_fence: 0, code_fence: 17]},
    {[:code_fence], "#{@fence}\n12\n#{@fence}", 12, [code_fence: 0, code_fence: 7]},
    {[:code_fence], "#{@fence}\n\"x\"#{@fence}", "x", [code_fence: 0, code_fence: 7]},
    {[:code_fence], "#{@fence}\n[1]", [1], [code_fence: 0]},
    {[:prose], "Sure! Here it is: {\"a\": [1]} Enjoy.", %{"a" => [1]}, [prose: 0, prose: 29]},
    {[:prose], "a [b] {c} {\"d\": 1}", %{"d" => 1}, [prose: 0]},
    {[:prose], "é\n\n[ ]", [], [prose: 0]},
    {[:prose], "[1] [2", [1], [prose: 4]},
    {[:code_fence, :prose], "So:\n#{@fence}json\n[1]\n#{@fence}\nThat is all.", [1],
     [prose: 0, code_fence: 4, code_fence: 16, prose: 20]},
    {[:code_fence, :prose], "#{@fence}json\n[1]\n``", [1], [code_fence: 0, prose: 12]},
    {[:trailing_commas], "[1,2,]", [1, 2], [trailing_commas: 4]},
    {[:trailing_commas], "{\"a\":[\",]\",\n ],}", %{"a" => [",]"]},
     [trailing_commas: 10, trailing_commas: 14]},
    {[:raw_newlines], "[\"a\nb\r\nc\\\n\"]" |> String.replace("\\\n", "\\n"), ["a\nb\r\nc\n"],
     [raw_newlines: 3, raw_newlines: 5, raw_newlines: 6]},
    {[:raw_newlines], "{\"a\n\": \"\\\"\n\"}", %{"a\n" => "\"\n"}, [raw_newlines: 3, raw_newlines: 10]},
    {[:python_literals], "[None, True,False , \"None\"]", [nil, true, false, "None"],
     [python_literals: 1, python_literals: 7, python_literals: 12]},
    {[:python_literals], "{\"a\":None}", %{"a" => nil}, [python_literals: 5]},
    {[:python_literals], "True", true, [python_literals: 0]},
    {[:python_literals], "False \n", false, [python_literals: 0]},
    {[:code_fence], "#{@fence}\ntrue\n#{@fence}", true, [code_fence: 0, code_fence: 9]},
    {[:code_fence], "#{@fence}\n\"see [1] here\" \n#{@fence}", "see [1] here",
     [code_fence: 0, code_fence: 20]},
    {[:raw_newlines], "\"see\n[1]\"", "see\n[1]", [raw_newlines: 4]},
    {[:prose], "\"It\" is {\"a\": 1}", %{"a" => 1}, [prose: 0]},
    {[:prose], "\"It is {\"a\": 1}", %{"a" => 1}, [prose: 0]},
    {[:prose], "12 of [1, 2], 3", [1, 2], [prose: 0, prose: 12]},
    {[:prose], "true: [null]", [nil], [prose: 0]},
    {[:prose], "\"C:\\Users [1]\" ", [1], [prose: 0, prose: 13]},
    {[:prose, :code_fence], "1. As said:\n#{@fence}\n2\n#{@fence} x", 2,
     [prose: 0, code_fence: 12, code_fence: 18, prose: 22]},
    {[:prose, :code_fence], "#{@fence}\n\"a\" is [1]#{@fence}", [1],
     [code_fence: 0, prose: 4, code_fence: 14]}
  ]

  # Keys in single quotes are Python, not text in front of the brackets inside.
  @single_quotes [
    {"{'a': [1, 2]}", 1},
    {"Here: { 'a' : {\"b\": 1}} ", 8},
    {"x {'a", 3},
    {"[{'a': [1]}]", 2}
  ]

  test "single quotes are an error where they stand" do
    for {_name, engine} <- Judge.engines(), {text, position} <- @single_quotes, pieces <- cuts(text) do
      for mends <- [[:prose], @all], options = [lenient: mends] ++ engine do
        assert {:error, %DecodeError{reason: :single_quotes, position: ^position}} = read(pieces, options)
        assert {:error, %DecodeError{reason: :single_quotes}} = RustyJson.decode_partial(text, options)
      end
    end

    long = String.duplicate("a", 200)

    for {_name, engine} <- Judge.engines(),
        text <- [
          "{'a', 'b'} is {'tis ['c'] {'#{long}': [\"#{long}\"]",
          "{' [\"#{long}\"]",
          "{\"'\": 1}",
          "['a', 'b']: {\"a\": 1}"
        ],
        pieces <- cuts(text) do
      assert {:ok, _value, _mended} = read(pieces, [lenient: [:prose]] ++ engine)
    end
  end

  defp push(pieces, options) do
    Enum.reduce_while(pieces, {:ok, Partial.new(options)}, fn piece, {:ok, partial} ->
      case Partial.push(partial, piece) do
        {:ok, partial} -> {:cont, {:ok, partial}}
        failed -> {:halt, failed}
      end
    end)
  end

  # The result, and what was mended.
  defp read(pieces, options) do
    with {:ok, partial} <- push(pieces, options),
         {:ok, value} <- Partial.finish(partial),
         do: {:ok, value, Partial.mended(partial)}
  end

  defp facts({:error, %DecodeError{} = error}),
    do: {error.reason, error.position, error.line, error.column, error.path, error.message}

  defp facts(other), do: other

  # All at once, byte by byte, and in two pieces.
  defp cuts(text) do
    halves =
      for at <- 1..(byte_size(text) - 1)//1,
          do: [binary_part(text, 0, at), binary_part(text, at, byte_size(text) - at)]

    [[text], Streams.bytes(text) | halves]
  end

  for {{mends, text, value, mended}, number} <- Enum.with_index(@cases) do
    test "#{inspect(mends)} (#{number}): #{inspect(text)}" do
      {mends, text, value, mended} =
        {unquote(mends), unquote(text), unquote(Macro.escape(value)), unquote(mended)}

      for {_name, engine} <- Judge.engines(), pieces <- cuts(text), lenient <- [mends, @all] do
        assert read(pieces, [lenient: lenient] ++ engine) == {:ok, value, mended},
               inspect({pieces, lenient})
      end

      # Without a mend it is an error. (To prose, a fence is text like other text.)
      for {_name, engine} <- Judge.engines() do
        for mend <- mends,
            do:
              assert(
                {:error, %DecodeError{}} = read([text], [lenient: (@all -- [mend]) -- [:prose]] ++ engine)
              )

        assert facts(read([text], engine)) == facts(RustyJson.decode(text, engine))
      end
    end
  end

  test "a text that is valid JSON keeps its meaning" do
    texts =
      for text <-
            [
              ~S("see [1] here"),
              ~S("a\"[1]\\"),
              ~S("\u005b1]{"),
              "\"hello\"",
              "\"\"",
              "42",
              "-1.5e3",
              "0",
              "true",
              "false"
            ] ++
              ["null", "[1]", "{}", ~S(["[2]"]), "[]"],
          {before, behind} <- [{"", ""}, {" \n", " \n"}],
          do: before <> text <> behind

    for {_name, engine} <- Judge.engines(),
        text <- texts,
        pieces <- cuts(text),
        lenient <- [[:prose], @all] do
      options = [lenient: lenient] ++ engine
      {:ok, value} = RustyJson.decode(text, engine)
      assert {read(pieces, options), pieces} == {{:ok, value, []}, pieces}
      assert RustyJson.decode_partial(text, options) == {:ok, value, :complete}
    end

    for {_name, engine} <- Judge.engines(),
        {text, type} <- [{~S("see [1]"), :string}, {"42", :integer}, {"null", :any}] do
      options = [as: type, lenient: @all] ++ engine

      assert {:ok, RustyJson.decode!(text)} ==
               with({:ok, value, []} <- read([text], options), do: {:ok, value})
    end
  end

  test "a string that starts the text is shown when the text has ended" do
    {:ok, partial} = Partial.push(Partial.new(lenient: [:prose]), ~S("see [1]"))
    assert Partial.value(partial) == :none
    assert Partial.finish(partial) == {:ok, "see [1]"}
    {:ok, partial} = Partial.push(partial, " says [2]")
    assert Partial.value(partial) == {:ok, [1]}
  end

  test "behind text, an array is not the document if an object is asked for" do
    text = ~S(As [1] and [2, 3] say: {"sku": "x", "quantity": 1})

    for {_name, engine} <- Judge.engines(),
        type <- [Line, {:nullable, Line}, {:map, :any}, {:tagged, "sku", %{"x" => Line}}],
        pieces <- cuts(text) do
      assert {:ok, value, [prose: 0]} = read(pieces, [as: type, lenient: [:prose]] ++ engine)
      assert value != nil
    end

    # A wrong answer is none that is to be skipped.
    for {_name, engine} <- Judge.engines(),
        text <- [~S(So: [{"sku": "x", "quantity": 1}]), "[1]", "[1] {}"],
        pieces <- cuts(text),
        do:
          assert(
            {:error, %DecodeError{reason: :type}} = read(pieces, [as: Line, lenient: [:prose]] ++ engine)
          )

    assert {:ok, [1], _} = read(["As [1] says"], as: [:integer], lenient: [:prose])
  end

  test "a text without a document" do
    for {_name, engine} <- Judge.engines(),
        text <- ["I cannot.", "``", "true story", "```json", "", "1 2"],
        pieces <- cuts(text) do
      options = [lenient: @all] ++ engine
      assert {:error, %DecodeError{reason: :unexpected_end} = error} = read(pieces, options)
      assert error.message =~ ": No array or object was found"
      assert {:error, same} = RustyJson.decode_partial(text, options)
      assert same.message == error.message
    end
  end

  test "a text whose only object has keys that are not JSON: the error is at the first of them" do
    for {_name, engine} <- Judge.engines(),
        {text, reason, place} <- [
          {"{'a', 'b'}", :single_quotes, {1, 1, 2}},
          {"{\n  a: 1\n}", :unquoted_key, {4, 2, 3}},
          {"{“a”: 1}", :expected_key, {1, 1, 2}},
          {"é: {_a: {b: 1}}", :unquoted_key, {5, 1, 5}},
          {"{a}\n```json\n{ 'a', 1}\n```", :single_quotes, {14, 3, 3}},
          {"{a: 1}\n```\n", :unexpected_end, {11, 3, 1}}
        ],
        pieces <- cuts(text),
        types <- [[], [as: Line], [as: Line, errors: :all]] do
      options = [lenient: @all] ++ types ++ engine
      assert {:error, error} = read(pieces, options)
      assert {error.reason, {error.position, error.line, error.column}} == {reason, place}
      assert error.message =~ ": No array or object was found"
      # The text is not kept, so no line of it can be shown.
      assert DecodeError.explain(error) == error.message
      assert {:error, %{message: message}} = RustyJson.decode_partial(text, options)
      assert message == error.message
    end
  end

  test "a word that is cut is an end that comes too early" do
    for {_name, engine} <- Judge.engines(),
        {text, json} <- [
          {~S({"a": Non), ~S({"a": nul)},
          {~S({"a": N), ~S({"a": n)},
          {"[None", "[null"},
          {"[No", "[nu"},
          {"[ Tru", "[ tru"},
          {"[1, Fals", "[1, fals"},
          {~S("hel), ~S("hel)}
        ],
        pieces <- cuts(text),
        lenient <- [@all, @all -- [:prose]] do
      {:error, expected} = RustyJson.decode(json, engine)
      assert expected.reason == :unexpected_end
      assert facts(read(pieces, [lenient: lenient] ++ engine)) == facts({:error, expected})
    end
  end

  test "what may stand in front of an array or object" do
    for {_name, engine} <- Judge.engines(),
        {text, value} <- [
          {"a [note] [null]", [nil]},
          {"[true, [nullable] false]", :error},
          {"[nullable] {no} { } x", %{}},
          {"I mean [None,1]", [nil, 1]},
          {"[Nonesense] [ \n false ]", [false]},
          {"[-] {\"a\":1}", :error},
          {"no document", :error}
        ],
        pieces <- cuts(text) do
      case read(pieces, [lenient: @all] ++ engine) do
        {:ok, read, _mended} -> assert read == value, inspect(pieces)
        {:error, %DecodeError{}} -> assert value == :error, inspect(pieces)
      end
    end
  end

  test "text that needs no mend is read as without them" do
    for {_name, engine} <- Judge.engines(),
        text <- [
          ~S({"a":[1,"None ``` ,]",true],"b":{}} ),
          ~S(["é\n\\", -1.5e3]),
          "12",
          ~S("a"),
          "",
          "[1",
          "[1 2]",
          "[N]",
          "[tru"
        ],
        pieces <- cuts(text) do
      mends = @all -- [:prose]

      assert facts(read(pieces, [lenient: mends] ++ engine)) == facts(with_no_mends(text, engine)),
             inspect(pieces)
    end
  end

  defp with_no_mends(text, engine),
    do: with({:ok, value} <- RustyJson.decode(text, engine), do: {:ok, value, []})

  test "errors have the positions of the original text, wherever it is cut" do
    for {_name, engine} <- Judge.engines(),
        {text, place} <- [
          {"Well:\n{\"sku\": \"a\nb\", \"quantity\": \"x\"}", {:type, 33, 3, 17, "/quantity"}},
          {"#{@fence}json\n{\"sku\": \"é\r\nb\",\n \"quantity\": 1.5}\n#{@fence}",
           {:type, 38, 4, 14, "/quantity"}},
          {"Oh {\"sku\": None, \"quantity\": 1,}", {:type, 11, 1, 12, "/sku"}},
          {"{\"sku\": \"\n\n\", \"quantity\": 1 2}", {:expected_comma_or_object_end, 28, 3, 18, "/quantity"}}
        ],
        pieces <- cuts(text) do
      assert {:error, error} = read(pieces, [as: Line, lenient: @all] ++ engine)
      assert {place, pieces} == {{error.reason, error.position, error.line, error.column, error.path}, pieces}
      assert error.message =~ "at position #{error.position} (line #{error.line}, column #{error.column})"
    end
  end

  test "all errors of a mended text have its positions" do
    text = "So:\n{\"name\": \"a\nbcdef\", \"age\": -1,\n\"tags\": [],}"

    for {_name, engine} <- Judge.engines(), pieces <- [[text], Streams.bytes(text)] do
      assert {:error, %{errors: errors}} = read(pieces, [as: Checked, errors: :all, lenient: @all] ++ engine)

      assert for(error <- errors, do: {error.reason, error.path, error.position, error.line}) == [
               {:max_length, "/name", 13, 2},
               {:min, "/age", 31, 3},
               {:min_length, "/tags", 44, 4}
             ]
    end
  end

  test "a list of mends has its end" do
    text = "[" <> String.duplicate("None,", 1_000) <> "]"
    {:ok, values, mended} = read([text], lenient: @all)
    assert length(values) == 1_000
    assert length(mended) == 100
  end

  test "nothing is mended by default, and decode/2 says where the option belongs" do
    assert {:error, %DecodeError{}} = RustyJson.decode("[1,]")
    assert {:error, %DecodeError{}} = RustyJson.decode_partial("[1,]")

    for fun <- [&RustyJson.decode/2, &RustyJson.decode!/2] do
      assert_raise ArgumentError,
                   ~r/:lenient, which is for RustyJson.decode_partial\/2 and RustyJson.Partial/,
                   fn ->
                     fun.("[1,]", lenient: [:trailing_commas])
                   end
    end

    assert RustyJson.decode_partial("[1,]", lenient: [:trailing_commas]) == {:ok, [1], :complete}
  end

  test "mends that are none" do
    for wrong <- [[:trailing_comma], true, :prose, [nil], "prose", [:prose | :code_fence]] do
      assert_raise ArgumentError, ~r/option :lenient takes a list of :code_fence, :prose/, fn ->
        Partial.new(lenient: wrong)
      end
    end

    assert_raise ArgumentError, ~r/got: :trailing_comma, did you mean :trailing_commas\?$/, fn ->
      Partial.new(lenient: [:prose, :trailing_comma])
    end
  end

  @tag :time
  @tag :once
  test "long texts take time in proportion to their length" do
    for {_name, engine} <- Judge.engines(),
        part <- [
          "\"a",
          "\\",
          "1",
          "true ",
          "\"a\" ",
          "[ ",
          "{ x",
          "a\n",
          "`",
          "\", ",
          " \n",
          "[1,\n",
          "None,",
          "\"\n\","
        ] do
      for cut <- [&[&1], &Streams.bytes/1] do
        [short, long] = for count <- [100, 800], do: cut.(String.duplicate(part, count))
        read = fn pieces -> fn -> read(pieces, [lenient: @all] ++ engine) end end
        Clock.ratio(24, read.(long), read.(short), 20)
      end
    end
  end

  test "bytes that stay as they are make no garbage" do
    for part <- [" \n", "x ", "é", "```", "\"#{String.duplicate("a", 500)}\","],
        do: assert(collections(String.duplicate(part, div(1_000_000, byte_size(part)))) < 3, inspect(part))

    assert collections("[1" <> String.duplicate("," <> String.duplicate(" ", 1000) <> "1", 1000)) < 10
  end

  # Of a process that has room for 160 KB, while it mends 1 MB.
  defp collections(text) do
    filter = RustyJson.Partial.Lenient.new!(@all)
    parent = self()

    :erlang.spawn_opt(
      fn ->
        RustyJson.Partial.Lenient.push(filter, text)
        {:garbage_collection, info} = Process.info(self(), :garbage_collection)
        send(parent, {:collections, info[:minor_gcs]})
      end,
      min_heap_size: 20_000,
      fullsweep_after: 65_535
    )

    receive do
      {:collections, count} -> count
    after
      10_000 -> flunk("the filter did not end")
    end
  end
end
