defmodule RustyJson.JsonPatchTest do
  @moduledoc """
  The `test` operations of JSON Patch (RFC 6902, section 4.6): whether the value at a pointer equals another.

  `RUSTYJSON_JSON_PATCH` names a clone of the public suite `json-patch/json-patch-tests`; nothing of it is kept here.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  @suite System.get_env("RUSTYJSON_JSON_PATCH")

  # Document, pointer, value, and whether they are equal.
  @cases [
    {~s({"baz": "qux", "foo": ["a", 2, "c"]}), "/baz", "qux", true},
    {~s({"baz": "qux", "foo": ["a", 2, "c"]}), "/foo/1", 2, true},
    {~s({"baz": "qux"}), "/baz", "bar", false},
    {~s({"/": 9, "~1": 10}), "/~01", 10, true},
    {~s({"/": 9, "~1": 10}), "/~01", "10", false},
    {~s({"1e0": "foo"}), "/1e0", "foo", true},
    {~s(["foo", "bar"]), "/1e0", "bar", false},
    {~s(["foo", "bar"]), "/00", "foo", false},
    {~s(["foo", "bar"]), "/01", "bar", false},
    {~s(["foo", "bar"]), "/-", "bar", false},
    {~s({"foo": null}), "/foo", nil, true},
    {~s({"foo": null}), "/bar", nil, false},
    {~s({"foo": {"a": 1, "b": [2, {"c": 3}]}}), "/foo", %{"b" => [2, %{"c" => 3}], "a" => 1}, true},
    {~s({"foo": {"bar": [1, 2, 5, 4]}}), "/foo", [1, 2], false},
    {~s({"foo": 1}), "", %{"foo" => 1}, true},
    {~s({"": 1}), "/", 1, true},
    {~s({"": {"": 1}}), "/", 1, false}
  ]

  defp equal?(json, pointer, value) do
    Judge.same(json, [], &RustyJson.fetch(json, pointer, &1)) == {:ok, value}
  end

  test "cases of the standard" do
    for {json, pointer, value, expected} <- @cases,
        do: assert(equal?(json, pointer, value) == expected, "#{pointer} in #{json}")
  end

  if @suite do
    for name <- ["tests.json", "spec_tests.json"] do
      test "the published operations in #{name}" do
        records = @suite |> Path.join(unquote(name)) |> File.read!() |> RustyJson.decode!()

        operations =
          for %{"doc" => document, "patch" => [_ | _] = patch} = record <- records,
              Enum.all?(patch, &match?(%{"op" => "test", "path" => _, "value" => _}, &1)) do
            equal = Enum.all?(patch, &equal?(RustyJson.encode!(document), &1["path"], &1["value"]))
            assert equal == not is_map_key(record, "error"), inspect(record)
          end

        assert operations != []
        IO.puts("#{length(operations)} records of #{unquote(name)}")
      end
    end
  end
end
