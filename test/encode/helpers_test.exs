defmodule RustyJson.HelpersTest do
  @moduledoc "Objects with keys that are known at compile time."

  use ExUnit.Case, async: true

  import RustyJson.Helpers

  alias RustyJson.EncodeError
  alias RustyJson.Test.Judge

  test "members keep their order, and options apply to keys too" do
    object = json_map([{:"b<", 1}, {:a, [nil]}])
    assert Judge.encode(object) == {:ok, ~s({"b<":1,"a":[null]})}
    assert Judge.encode(object, escape: :html_safe) == {:ok, ~S({"b\u003C":1,"a":[null]})}
    assert Judge.encode(json_map_take(%{a: 1, b: 2, c: 3}, [:c, :b])) == {:ok, ~s({"c":3,"b":2})}
  end

  test "a key that the map lacks" do
    assert_raise ArgumentError, ~r/expected a map with keys: \[:b\]/, fn -> json_map_take(%{a: 1}, [:b]) end
  end

  # Every byte: control characters, quotes, slashes and what is not ASCII are refused.
  test "a key must be printable ASCII without quotes and slashes" do
    for byte <- 0..255 do
      key = String.to_atom(<<byte::utf8>>)
      code = quote(do: RustyJson.Helpers.json_map([{unquote(key), 1}]))

      macro = fn ->
        Code.eval_quoted(
          quote(
            do:
              (
                require(RustyJson.Helpers)
                unquote(code)
              )
          )
        )
      end

      if byte in 0x20..0x7F and byte not in ~c'"\\/',
        do: assert({%RustyJson.Fragment{}, _} = macro.()),
        else: assert_raise(EncodeError, ~r/\Ainvalid byte 0x[0-9A-F]+ in literal key: /, macro)
    end
  end
end
