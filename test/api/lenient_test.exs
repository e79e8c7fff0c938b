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
    {[:trailing_commas], "[1,2,]", [1, 2], [trailing_commas: 4]},
    {[:trailing_commas], "{\"a\":[\",]\",\n ],}", %{"a" => [",]"]},
     [trailing_commas: 10, trailing_commas: 14]},
    {[:raw_newlines], "[\"a\nb\r\nc\\\n\"]" |> String.replace("\\\n", "\\n"), ["a\nb\r\nc\n"],
     [raw_newlines: 3, raw_newlines: 5, raw_newlines: 6]},
    {[:raw_newlines], "{\"a\n\": \"\\\"\n\"}", %{"a\n" => "\"\n"}, [raw_newlines: 3, raw_newlines: 10]},
    {[:python_literals], "[None, True,False , \"None\"]", [nil, true, false, "None"],
     [python_literals: 1, python_literals: 7, python_literals: 12]},
    {[:python_literals], "{\"a\":None}", %{"a" => nil}, [python_literals: 5]},
    {[:python_literals], "True", true, [python_literals: 0]}
  ]

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

      for {_name, engine} <- Judge.engines(), pieces <- cuts(text), lenient <- wider(mends, value) do
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

  # The mends alone, and with all others. Behind prose, only an array or an object is found.
  defp wider(mends, value) when is_list(value) or is_map(value), do: [mends, @all]
  defp wider(mends, _scalar), do: [mends, @all -- [:prose]]

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
    for wrong <- [[:trailing_comma], true, :prose, [nil], "prose"] do
      assert_raise ArgumentError, ~r/option :lenient takes a list of :code_fence, :prose/, fn ->
        Partial.new(lenient: wrong)
      end
    end
  end

  test "long texts take time in proportion to their length" do
    for {_name, engine} <- Judge.engines(),
        part <- ["[ ", "{ x", "a\n", "`", "\", ", " \n", "[1,\n", "None,", "\"\n\","] do
      for cut <- [&[&1], &Streams.bytes/1] do
        [short, long] = for count <- [100, 800], do: cut.(String.duplicate(part, count))
        read = fn pieces -> fn -> read(pieces, [lenient: @all] ++ engine) end end
        Clock.ratio(24, read.(long), read.(short), 20)
      end
    end
  end
end
