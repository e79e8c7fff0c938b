defmodule RustyJson.Neighbours.PlugTest do
  @moduledoc """
  `plug Plug.Parsers, parsers: [:json], json_decoder: RustyJson`: what `Plug.Parsers.JSON` of Plug 1.15 to 1.20 asks of it.

  It takes a module with `decode!/1`, or a tuple of module, function and further arguments, and turns whatever the decoder
  raises into `Plug.Parsers.ParseError` (status 400).
  """
  use ExUnit.Case, async: true

  alias RustyJson.Test.Judge

  defmodule ParseError do
    @moduledoc false
    defexception [:exception]

    @impl true
    def message(%{exception: exception}), do: "malformed request: #{Exception.message(exception)}"
  end

  # Like Plug.Parsers.JSON: checks the decoder when the pipeline is built, and puts bodies that are not objects under a key.
  defp init(decoder) do
    {module, function, arguments} = if is_tuple(decoder), do: decoder, else: {decoder, :decode!, []}
    {:module, ^module} = Code.ensure_compiled(module)
    true = function_exported?(module, function, length(arguments) + 1)
    {module, function, arguments}
  end

  defp parse("", _decoder), do: %{}

  defp parse(body, {module, function, arguments}) do
    case apply(module, function, [body | arguments]) do
      params when is_map(params) -> params
      other -> %{"_json" => other}
    end
  rescue
    exception -> reraise ParseError, [exception: exception], __STACKTRACE__
  end

  test "a module" do
    decoder = init(RustyJson)
    assert parse(~s({"a":{"b":[1]}}), decoder) == %{"a" => %{"b" => [1]}}
    assert parse("[1]", decoder) == %{"_json" => [1]}
    assert parse("", decoder) == %{}
  end

  test "a function with options" do
    decoder = init({RustyJson, :decode!, [[floats: :native, duplicate_keys: :error, max_nodes: 5]]})
    assert parse(~s({"a":1.5}), decoder) == %{"a" => 1.5}
    assert_raise ParseError, ~r/Duplicate key "a"/, fn -> parse(~s({"a":1,"a":2}), decoder) end
    assert_raise ParseError, ~r/More than 5 values and keys/, fn -> parse("[1,2,3,4,5]", decoder) end
  end

  test "what is not JSON is a bad request with a place" do
    decoder = init(RustyJson)
    error = assert_raise ParseError, fn -> parse(~s({"a":\n nul}), decoder) end
    assert Exception.message(error) =~ "line 2, column 2"
    assert %RustyJson.DecodeError{reason: :expected_value} = error.exception
  end

  if Judge.available?(:built_in) do
    test "a webhook's body is parsed in the sandbox" do
      options = [
        engine: :wasm,
        host: :built_in,
        timeout: 1_000,
        max_memory: 8 * 1024 * 1024,
        max_bytes: 8_000_000
      ]

      decoder = init({RustyJson, :decode!, [options]})
      assert parse(~s({"event":"push"}), decoder) == %{"event" => "push"}

      bomb = "[" <> String.duplicate("[],", 2_000_000) <> "0]"
      error = assert_raise ParseError, fn -> parse(bomb, decoder) end
      assert %RustyJson.SandboxError{reason: :memory_limit} = error.exception
    end
  end
end
