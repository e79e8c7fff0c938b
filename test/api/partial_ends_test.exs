defmodule RustyJson.PartialEndsTest do
  @moduledoc "What `finish/2` and `decode_partial/2` say where the text ends: the places of errors, and whether more can still help."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Partial}
  alias RustyJson.Test.Judge

  @fence "```"

  defp place({:error, %DecodeError{} = error}), do: {error.reason, error.position, error.line, error.column}

  for {engine, chosen} <- Judge.engines() do
    describe "#{engine}:" do
      @describetag options: chosen

      test "errors of what was held back have the positions of the original text", %{options: options} do
        for {text, mends} <- [
              {"{\"a\nb\",", [:raw_newlines, :trailing_commas]},
              {"[\"\r\n\" N", [:raw_newlines, :python_literals]},
              {"x {\"a\nb\",", [:raw_newlines, :trailing_commas, :prose]}
            ],
            types <- [[], [as: :any]] do
          options = [lenient: mends] ++ types ++ options
          {:ok, partial} = Partial.push(Partial.new(options), text)
          expected = place(Partial.push(partial, "x"))
          assert elem(expected, 2) == 2
          assert place(Partial.finish(partial)) == expected
          assert place(RustyJson.decode_partial(text, options)) == expected
        end
      end

      test "a document of which nothing is shown ends in the original text", %{options: options} do
        for text <- ["\"a\nb", "\n\"a\n\nb", "#{@fence}\n\"\r\n"] do
          options = [lenient: [:raw_newlines, :code_fence], trailing: :drop] ++ options
          {:ok, partial} = Partial.push(Partial.new(options), text)
          assert {:unexpected_end, position, _, _} = expected = place(Partial.finish(partial))
          assert position == byte_size(text)
          assert place(RustyJson.decode_partial(text, options)) == expected
        end
      end

      test "text that no mend can make valid is an error", %{options: options} do
        for {text, mends, reason} <- [
              {~S({"a",), [:trailing_commas], :expected_colon},
              {~S({"a":1,,), [:trailing_commas], :expected_key},
              {~S(["a" N), [:python_literals], :expected_comma_or_array_end},
              {~S(["a" N), [:trailing_commas, :python_literals], :expected_comma_or_array_end},
              {~S({"a":[,), [:raw_newlines], :expected_value}
            ] do
          options = [lenient: mends] ++ options
          assert {^reason, _, _, _} = expected = place(RustyJson.decode_partial(text, options))
          assert place(RustyJson.decode_partial(text, Keyword.delete(options, :lenient))) == expected
        end
      end

      test "text that may still be mended is partial", %{options: options} do
        for {text, shown, rest} <- [
              {"{,", %{}, "}"},
              {"[ , ", [], "]"},
              {~S({"a":1,), %{"a" => 1}, "}"},
              {"[1,", [1], "]"},
              {"[N", [], "one]"},
              {"#{@fence}\n[1]`", [1], "``"},
              {"#{@fence}\n[1]``", [1], "`"}
            ] do
          options = [lenient: [:code_fence, :trailing_commas, :python_literals], trailing: :drop] ++ options
          assert RustyJson.decode_partial(text, options) == {:ok, shown, :partial}
          assert {:ok, _value, :complete} = RustyJson.decode_partial(text <> rest, options)
        end
      end

      test "with errors: :all, a whole document with a wrong value is an error, whatever its length", %{
        options: options
      } do
        # More than one call of the engine takes.
        long = String.duplicate("a", 17_000_000)
        options = [as: {:list, :string}, errors: :all] ++ options

        # (A failure would show all of the text.)
        told = fn end_of_text ->
          case RustyJson.decode_partial(["[\"", long, "\", 1", end_of_text], options) do
            {:ok, shown, state} -> {state, shown == [long]}
            {:error, error} -> {error.reason, error.path, length(error.errors)}
          end
        end

        assert told.("") == {:partial, true}
        assert told.("]") == {:type, "/1", 1}
      end
    end
  end
end
