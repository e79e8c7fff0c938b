defmodule RustyJson.Sandbox.PartialLimitsTest do
  @moduledoc "Events of a partial document from a module that was taken over: the limits hold whatever it tells."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{OrderedObject, Partial}
  alias RustyJson.Partial.{Document, Text, Typed}

  use RustyJson.Partial.Events, ~w(array object close key value member text end_of_text number)a

  # Events that come one after the other, each list with a piece, and whether that is a possible story.
  defp told(pieces, opts) do
    document = Partial.new([engine: :wasm] ++ opts).document

    Enum.reduce(pieces, document, fn events, document ->
      document |> Document.apply_events(events, 0, nil) |> elem(0)
    end)

    :ok
  catch
    :malformed -> :malformed
  end

  test "max_depth" do
    for {pieces, taken} <- [
          {[[@array, @array, @array]], :ok},
          {[[@array, @array], [@array, @array]], :malformed},
          {[[@array, @array, @array, @close, @array]], :ok},
          {[[@array, @array, @array, @close, @array, @object]], :malformed},
          {[[@array, @array, @value, [1]]], :ok},
          {[[@array, @array, @value, [[1]]]], :malformed},
          {[[@object, @member, %{"a" => [%{}]}]], :ok},
          {[[@object, @member, %{"a" => [%{"b" => []}]}]], :malformed},
          {[[@object, @member, %OrderedObject{values: [{"a", %OrderedObject{values: [{"b", [[]]}]}}]}]],
           :malformed}
        ] do
      assert {pieces, told(pieces, max_depth: 3)} == {pieces, taken}
    end
  end

  test "max_depth of a typed document" do
    typed = fn events ->
      document = Partial.new(engine: :wasm, as: :any, max_depth: 2).document
      text = Text.read(Text.append(Text.new(), "[[[[[["), nil)
      Typed.apply_events(document, events, text, {"[[[[[[", 0}, nil)
    end

    assert {%Typed{}, nil} = typed.([@array, 0, @array, 1])
    assert catch_throw(typed.([@array, 0, @array, 1, @array, 2])) == :malformed
  end

  test "max_nodes" do
    for {pieces, taken} <- [
          {[[@array, @value, 1, @value, 2, @value, 3]], :ok},
          {[[@array, @value, 1, @value, 2], [@value, 3, @value, 4]], :malformed},
          {[[@array, @value, [1, 2]]], :ok},
          {[[@array, @value, [1, 2, 3]]], :malformed},
          {[[@object, @member, %{"a" => [1]}]], :ok},
          {[[@object, @member, %{"a" => [1, 2]}]], :malformed},
          {[[@object, @key, %{"a" => nil}, @array, @number, 1], [@number, 11], [@value, 112]], :ok},
          {[[@object, @key, %{"a" => nil}, @array, @number, 1], [@value, 1, @value, 1]], :malformed},
          {[[@array, @text, "a"], [@text, "b"], [@end_of_text, "c", @value, 1, @value, 1]], :ok},
          {[[@array, @value, 1, @value, 1, @value, 1, @text, "a"], [@end_of_text, "c"]], :malformed}
        ] do
      assert {pieces, told(pieces, max_nodes: 4)} == {pieces, taken}
      assert told(pieces, []) == :ok
    end
  end
end
