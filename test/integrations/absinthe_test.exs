defmodule RustyJson.Neighbours.AbsintheTest do
  @moduledoc """
  `plug Absinthe.Plug, schema: ..., json_codec: RustyJson` (or `{RustyJson, pretty: true}`).

  Read from absinthe_plug 1.5: answers go through `encode!/2` with the codec's options, the `variables` of a GET or a form
  through `decode/1`, whose error becomes an input error.
  """
  use ExUnit.Case, async: true

  # In the form that Absinthe.Plug normalises it to.
  defp codec({module, options}), do: %{module: module, opts: options}
  defp codec(module), do: %{module: module, opts: []}

  defp variables(text, codec) do
    case codec.module.decode(text) do
      {:ok, results} -> {:ok, results}
      _ -> {:input_error, "The variable values could not be decoded"}
    end
  end

  defp answer(result, codec), do: codec.module.encode!(result, codec.opts)

  test "variables" do
    assert variables(~s({"id":"1","first":10}), codec(RustyJson)) == {:ok, %{"id" => "1", "first" => 10}}
    assert {:input_error, _} = variables(~s({"id":), codec(RustyJson))
  end

  test "answers, errors with their places among them" do
    result = %{
      data: %{"user" => nil},
      errors: [%{message: "not found", path: ["user"], locations: [%{line: 1}]}]
    }

    text = answer(result, codec(RustyJson))
    assert RustyJson.decode!(text) == RustyJson.decode!(answer(result, codec({RustyJson, pretty: true})))
    assert answer(%{data: %{}}, codec({RustyJson, pretty: true})) == "{\n  \"data\": {}\n}"
  end
end
