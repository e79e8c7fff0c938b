defmodule RustyJson.MalformedInputTest do
  @moduledoc "What is malformed is an error that names it, or is left alone: no clause is missing."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{EncodeError, LogFormatter, Migrate, OrderedObject}

  @tag :time
  test "many errors of many paths are put in order once" do
    count = 4_000
    json = "{" <> Enum.map_join(1..count, ",", &~s("k#{&1}":"x")) <> "}"
    paths = for number <- 1..count, do: "/k#{number}"
    options = [as: :integer, errors: :all, max_errors: 10_000]
    {time, {:error, error}} = :timer.tc(fn -> RustyJson.select(json, paths, options) end)
    assert error.error_count == count
    assert Enum.map(error.errors, & &1.path) == paths
    # It was 4.4 s, and is 50 ms.
    assert time < 1_500_000
  end

  test "an ordered object, and keys, for a function of the application" do
    for term <- [
          %OrderedObject{values: [1]},
          %OrderedObject{values: :x},
          %OrderedObject{values: [{"a", 1} | 2]},
          %{self() => 2},
          %{{1} => 2},
          %{[:a] => 2}
        ] do
      %{reason: reason} = assert_raise EncodeError, fn -> RustyJson.encode!(term) end

      assert %{reason: ^reason} =
               assert_raise(EncodeError, fn ->
                 RustyJson.encode!(term, &RustyJson.protocol_encode/2)
               end)
    end

    assert %{reason: :invalid_key} =
             assert_raise(EncodeError, fn -> RustyJson.Encode.key({1}, RustyJson.Encode.opts()) end)
  end

  describe "a log line" do
    test "of few levels has its message" do
      line =
        LogFormatter.format(%{level: :info, msg: {:string, "hello"}, meta: %{time: 0, user: 1}}, %{
          max_depth: 1
        })

      assert RustyJson.decode!(line)["message"] == "hello"
    end

    test "of settings that are a list, and wrong, keeps to their limit" do
      event = %{level: :info, msg: {:string, String.duplicate("x", 50_000)}, meta: %{time: 0}}
      line = LogFormatter.format(event, max_bytes: 1_024, preset: :none_such)
      assert IO.iodata_length(line) <= 1_024
      assert RustyJson.decode!(line)["error"] =~ "could not be formatted"
    end

    test "of a console backend has its message when the metadata is malformed" do
      line = LogFormatter.format(:info, "kept", {{2024, 99, 1}, {1, 1, 1, 1}}, user: 1)
      assert RustyJson.decode!(line)["message"] == "kept"
    end
  end

  describe "mix rustyjson.migrate:" do
    test "a file of another kind, and one in another encoding" do
      assert {"use Jason", [], [{1, note}]} = Migrate.migrated("use Jason", ".md")
      assert note =~ ~s(files of the kind ".md" are not read)
      assert {"none", [], []} = Migrate.migrated("none", ".md")

      latin = <<"# caf", 0xE9, "\nJason.encode(1)">>
      assert {^latin, [], [{1, "the file cannot be parsed" <> _}]} = Migrate.migrated(latin, ".ex")
      assert RustyJson.Install.Parsers.calls(latin) == []
    end

    # The parser of some versions of Elixir raises for a function with such a name.
    test "a file for which the parser raises" do
      source = ~S|Jason.encode(x."⚠️")|

      case Migrate.migrated(source, ".ex") do
        {^source, [], [{1, "the file cannot be parsed" <> _}]} -> :raised
        {~S|RustyJson.encode(x."⚠️")|, [_], []} -> :parsed
      end

      assert RustyJson.Install.Parsers.calls(source) == []
    end

    test "another Jason in braces" do
      source = "defmodule A do\n  alias MyApp.{Codec.Jason, B}\n  def f(x), do: Jason.encode(x)\nend\n"
      assert {^source, [], [{2, note}]} = Migrate.migrated(source, ".ex")
      assert note =~ "makes `Jason` another module"
    end
  end

  test "arguments of mix rustyjson.install that are no options" do
    assert_raise Mix.Error, ~r/takes options alone, got: nothing.at.all/, fn ->
      Mix.Tasks.Rustyjson.Install.run(["nothing.at.all"])
    end
  end

  @tag :tmp_dir
  test "more ranges than a file has bytes", %{tmp_dir: dir} do
    path = Path.join(dir, "short.ndjson")
    File.write!(path, "1\n2\n")
    assert RustyJson.Lines.ranges(path, 2_000_000_000) == [{0, 2}, {2, 2}]
    File.write!(path, "")
    assert RustyJson.Lines.ranges(path, 2_000_000_000) == []
  end
end
