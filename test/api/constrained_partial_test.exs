defmodule RustyJson.ConstrainedPartialTest do
  @moduledoc "Typed documents whose fields have constraints, looked at before they are complete, in every engine."

  use ExUnit.Case, async: true

  import RustyJson.Test.TypedPartials, only: [check: 2, check: 3]

  alias RustyJson.{DecodeError, Partial}
  alias RustyJson.Test.Judge
  alias RustyJson.Test.Schemas.Checked

  @moduletag timeout: 300_000

  @right ~S({"name":"ab\u00e9","code":"A-12","age":150,"weight":0.5,"rate":10,"price":99.5,"tags":["x","yz"],) <>
           ~S("counts":{"a":1,"b":2},"day":"2024-02-29","clock":"10:00:00","at":null})

  describe "every step" do
    test "of a right document" do
      check(@right, Checked)
      check(@right, Checked, duplicate_keys: :first)
      check(@right, Checked, trailing: :drop)
    end

    for text <- [
          ~S({"name":"a"}),
          ~S({"name":"abcdef","x":1}),
          ~S({"name":"ab","code":"a-1"}),
          ~S({"name":"ab","age":151}),
          ~S({"name":"ab","age":-1.5}),
          ~S({"name":"ab","weight":0.25}),
          ~S({"name":"ab","rate":11}),
          ~S({"name":"ab","price":"100.01"}),
          ~S({"name":"ab","tags":[]}),
          ~S({"name":"ab","tags":["a","b","c","d"]}),
          ~S({"name":"ab","none":[1]}),
          ~S({"name":"ab","counts":{}}),
          ~S({"name":"ab","counts":{"a":1,"b":2,"c":3}}),
          ~S({"name":"ab","day":"2024-02-30"}),
          ~S({"name":"ab","at":"now"}),
          ~S({"name":"ab","at":"9999-12-31T23:59:59-00:01"}),
          ~S({"name":"ab","at":"-9999-01-01T00:00:00+12:00"})
        ] do
      test "of #{text}, which is wrong" do
        check(unquote(text), Checked)
        check(unquote(text), Checked, errors: :all)
      end
    end

    test "of repeated keys, which count each" do
      for options <- [[], [duplicate_keys: :first], [duplicate_keys: :error]],
          do: check(~S({"name":"ab","counts":{"a":1,"a":2,"a":3}}), Checked, [repeats: true] ++ options)

      check(~S({"name":"ab","counts":{"a":1,"a":2}}), Checked, repeats: true)
    end
  end

  test "with errors: :all, decode_partial/2 shows what stood before the first error, and finish/2 has the list" do
    for {_name, engine} <- Judge.engines() do
      options = [as: Checked, errors: :all] ++ engine

      assert {:ok, %Checked{name: "ab", age: age}, :partial} =
               RustyJson.decode_partial(~S({"name":"ab","age":-1,), options)

      assert age == struct(Checked).age
      {:ok, partial} = Partial.push(Partial.new(options), ~S({"name":"ab","age":-1}))
      assert {:error, %DecodeError{reason: :min, errors: [_]}} = Partial.finish(partial)
    end
  end

  test "strings and lists with constraints grow" do
    for {_name, engine} <- Judge.engines(),
        {text, shown} <- [
          {~S({"name":"a), %{name: "a"}},
          {~S({"name":"abcdefgh), %{name: "abcdefgh"}},
          {~S({"name":"ab","day":"2024), %{name: "ab", day: "2024"}},
          {~S({"name":"ab","tags":["x","y), %{name: "ab", tags: ["x", "y"]}},
          {~S({"name":"ab","counts":{"a":1,), %{name: "ab", counts: %{"a" => 1}}},
          {~S({"name":"ab","age":15,), %{name: "ab", age: 15}}
        ] do
      {:ok, partial} = [as: Checked] |> Kernel.++(engine) |> Partial.new() |> Partial.push(text)
      assert Partial.value(partial) == {:ok, struct(Checked, shown)}
    end
  end

  test "an error comes with the bytes that make it certain" do
    for {_name, engine} <- Judge.engines(),
        {text, reason, path} <- [
          {~S({"name":"abcdef"), :max_length, "/name"},
          {~S({"name":"ab","age":151,), :max, "/age"},
          {~S({"name":"ab","tags":["a","b","c","), :max_length, "/tags"},
          {~S({"name":"ab","none":[[), :max_length, "/none"},
          {~S({"name":"ab","tags":[]), :min_length, "/tags"},
          {~S({"name":"ab","code":"B"), :pattern, "/code"},
          {~S({"name":"ab","day":"B"), :format, "/day"}
        ] do
      {before, last} = String.split_at(text, -1)
      {:ok, partial} = [as: Checked] |> Kernel.++(engine) |> Partial.new() |> Partial.push(before)
      assert {:error, %DecodeError{reason: ^reason, path: ^path}} = Partial.push(partial, last)
    end
  end
end
