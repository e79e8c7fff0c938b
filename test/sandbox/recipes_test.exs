defmodule RustyJson.SandboxRecipesTest do
  @moduledoc "Runs the code in docs/sandbox.md unchanged."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Test.Judge

  @blocks "../../docs/sandbox.md"
          |> Path.expand(__DIR__)
          |> File.read!()
          |> then(&Regex.scan(~r/```elixir\n(.*?)```/s, &1, capture: :all_but_first))
          |> List.flatten()

  if Keyword.take(Judge.engines(), [:built_in, :wasmex]) == [],
    do: @moduletag(skip: "no host runs WebAssembly here: #{inspect(Judge.missing())}")

  defp block(part), do: Enum.find(@blocks, &(&1 =~ part)) || flunk("docs/sandbox.md has no code with #{part}")

  test "the options for untrusted input: what is good passes, what is not is an error with its reason" do
    [_, list] = Regex.run(~r/@untrusted (\[.*?\n\])/s, block("@untrusted"))
    {untrusted, _} = Code.eval_string(list)

    assert RustyJson.decode(~s({"a":[1,2.5,"é"]}), untrusted) == {:ok, %{"a" => [1, 2.5, "é"]}}

    for {text, reason, value} <- [
          {String.duplicate("[", 65), :max_depth, "64"},
          {"[" <> String.duplicate("1,", 500_000) <> "1]", :max_nodes, "500000"},
          {String.duplicate(" ", 8_000_001), :max_bytes, "8000000"},
          {~s({"a":1,"\\u0061":2}), :duplicate_key, ~S("\u0061")},
          {String.duplicate("9", 1_025), :integer_digits, "1024"}
        ] do
      assert {:error, %{reason: ^reason} = error} = RustyJson.decode(text, untrusted)
      assert Exception.message(error) =~ value
    end
  end

  @tag :tmp_dir
  test "a stream of lines", %{tmp_dir: dir} do
    File.write!(Path.join(dir, "events.ndjson"), ~s({"id":1}\n[1,\n{"id":2}\n"\xFF"\n))

    code =
      String.replace(block("File.stream!"), "\"events.ndjson\"", inspect(Path.join(dir, "events.ndjson")))

    assert {%{good: 2, bad: %{unexpected_end: 1, invalid_utf8: 1}}, _} = Code.eval_string(code)
  end

  test "deciding by error" do
    decide = fn body, options ->
      block("case RustyJson.decode") |> Code.eval_string(body: body, options: options) |> elem(0)
    end

    options = [engine: :wasm, max_memory: 2_000_000]
    assert decide.("[1]", options) == {:ok, [1]}

    assert decide.("[1", options) ==
             {:bad_request, "Unexpected end of input at position 2 (line 1, column 3): [ is not closed"}

    assert decide.(String.duplicate(" ", 3_000_000), options) == {:too_large, :memory_limit}
  end
end
