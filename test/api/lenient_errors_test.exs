defmodule RustyJson.LenientErrorsTest do
  @moduledoc "Mended text that is hostile: time, memory, and the positions of many errors."

  use ExUnit.Case, async: true

  alias RustyJson.Partial
  alias RustyJson.Partial.Lenient
  alias RustyJson.Test.{Clock, Heap, Judge, Streams}

  @mends [:code_fence, :prose, :trailing_commas, :raw_newlines, :python_literals]

  for {engine, chosen} <- Judge.engines() do
    describe "#{engine}:" do
      @describetag options: [lenient: @mends] ++ chosen

      test "errors behind line breaks in strings stand where they do in the original text", %{
        options: options
      } do
        for text <- [
              "[\"a\nb\", 1.5, \"c\r\n\", \"é\n\n\"]",
              "x\n```\n[1, \"\n\n\",\n\"é\", \"\n\", {}, 2.5]"
            ],
            pieces <- [[text], Streams.bytes(text)] do
          options = [as: [:integer], errors: :all] ++ options

          partial =
            Enum.reduce(pieces, Partial.new(options), fn piece, partial ->
              {:ok, partial} = Partial.push(partial, piece)
              partial
            end)

          assert {:error, error} = Partial.finish(partial)
          assert {error.position, error.line} == {hd(error.errors).position, hd(error.errors).line}

          # Strings are where quotes open, the other values where they start.
          expected = wrong(text, 0, 1, 1, nil, [])
          assert Enum.map(error.errors, &{&1.position, &1.line, &1.column}) == expected
          for error <- error.errors, do: assert(error.message =~ "position #{error.position}")
        end
      end

      # Each was kept in 5 words.
      test "many line breaks in a string take little memory, and errors behind them their places", %{
        options: options
      } do
        for cut <- [1, 63, 64, 8_191, 8_192], part = String.duplicate("a", cut - 1) <> "\r\n" do
          count = div(300_000, cut + 1)
          string = "\"" <> String.duplicate(part, count) <> "é\""
          text = "[" <> string <> ",  x"
          {:error, error} = Heap.within(150_000, fn -> options |> Partial.new() |> Partial.push(text) end)
          assert {error.position, error.line, error.column} == {byte_size(text) - 1, count + 1, 6}
        end
      end

      # The last one is the only one of strings.
      test "many errors behind many line breaks take no longer than one behind all", %{options: options} do
        text = "[" <> String.duplicate("\"" <> String.duplicate("\n", 300) <> "\",", 100) <> "1.5]"

        finish = fn type ->
          {:ok, partial} =
            Partial.push(Partial.new([as: [type], errors: :all, max_errors: 100] ++ options), text)

          fn -> partial |> Partial.finish() |> elem(1) |> Map.fetch!(:errors) |> length() end
        end

        {many, one} = {finish.(:integer), finish.(:string)}
        assert {many.(), one.()} == {100, 1}
        Clock.ratio(8, many, one)
      end
    end
  end

  # Positions, lines and columns of the values that are no integer, in a text without escapes.
  defp wrong(<<?", rest::binary>>, at, line, column, nil, found),
    do: wrong(rest, at + 1, line, column + 1, :text, [{at, line, column} | found])

  defp wrong(<<?", rest::binary>>, at, line, column, :text, found),
    do: wrong(rest, at + 1, line, column + 1, nil, found)

  defp wrong(<<value::binary-size(3), rest::binary>>, at, line, column, nil, found)
       when value in ["1.5", "2.5"],
       do: wrong(rest, at + 3, line, column + 3, nil, [{at, line, column} | found])

  defp wrong(<<"{}", rest::binary>>, at, line, column, nil, found),
    do: wrong(rest, at + 2, line, column + 2, nil, [{at, line, column} | found])

  defp wrong(<<?\n, rest::binary>>, at, line, _column, state, found),
    do: wrong(rest, at + 1, line + 1, 1, state, found)

  defp wrong(<<char::utf8, rest::binary>>, at, line, column, state, found),
    do: wrong(rest, at + byte_size(<<char::utf8>>), line, column + 1, state, found)

  defp wrong("", _at, _line, _column, nil, found), do: Enum.reverse(found)

  # The parts between them were a list.
  test "what is mended is gathered in little memory" do
    for part <- ["\n", "\",],[\"", "\",None,\""] do
      text = "[[\"" <> String.duplicate(part, div(900_000, byte_size(part)))
      mended = Heap.within(150_000, fn -> @mends |> Lenient.new!() |> Lenient.push(text) |> elem(0) end)
      assert byte_size(mended) >= byte_size(text)
    end
  end

  # The rest of the text was copied for each word.
  test "words of Python take the same work each, however many follow" do
    work = fn count ->
      text = "[" <> String.duplicate("None,True,", count) <> "1]"

      Task.async(fn ->
        {:reductions, before} = Process.info(self(), :reductions)
        assert {:ok, [nil, true | _], :complete} = RustyJson.decode_partial(text, lenient: [:python_literals])
        {:reductions, now} = Process.info(self(), :reductions)
        now - before
      end)
      |> Task.await(60_000)
    end

    assert work.(60_000) < 2 * 16 * work.(3_750)
  end
end
