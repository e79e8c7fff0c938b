defmodule RustyJson.MigrateTest do
  @moduledoc "The move of an application from Jason: what the task replaces, what it lists, and whether the application then works."
  use ExUnit.Case, async: false

  @moduletag :once

  import ExUnit.CaptureIO

  alias Mix.Tasks.Rustyjson.Migrate, as: Task
  alias RustyJson.Migrate

  @app Path.expand("../fixtures/move_app", __DIR__)
  @modules ~w(person money pair page cache ordered defaults filter errors doc)

  setup do
    dir = Path.join(System.tmp_dir!(), "rustyjson-move-#{System.unique_integer([:positive])}")
    File.cp_r!(@app, dir)
    on_exit(fn -> File.rm_rf!(dir) end)
    %{dir: dir}
  end

  defp migrate(dir, argv \\ []), do: File.cd!(dir, fn -> capture_io(fn -> Task.run(argv) end) end)
  defp read(dir, file), do: dir |> Path.join(file) |> File.read!()

  @tag timeout: 120_000
  test "ten modules: what does not work afterwards is in the list", %{dir: dir} do
    output = migrate(dir)
    assert {ran, _status} = run(dir)
    failed = for [_, name] <- Regex.scan(~r/\d+\) test (.+) \(MoveTest\)/, ran), do: name
    assert ran =~ ~r/13 tests, 5 failures|8\/13 passed/

    assert Enum.sort(failed) == [
             "by hand: a fragment's function",
             "by hand: existing atoms",
             "by hand: position and token",
             "by hand: the message",
             "by hand: tuples"
           ]

    for {file, text, note} <- [
          {"lib/cache.ex", "%RustyJson.Fragment{encode: encode}", "field `encode`"},
          {"lib/filter.ex", "ArgumentError ->", ":unknown_atom"},
          {"lib/errors.ex", "%DecodeError{position: position}", "`position`"},
          {"lib/errors.ex", "%RustyJson.DecodeError{token: token", "`token`, `data`"},
          {"test/move.exs", "assert_raise RustyJson.DecodeError, \"", "messages"},
          {"lib/pair.ex", "for: Tuple", "encodes Tuple itself"},
          {"lib/doc.ex", "iex> Jason", "doctest"},
          {"config/config.exs", "config :jason", "config :rustyjson, decode:"},
          {"mix.exs", "{:jason,", "{:rustyjson, ...}"}
        ] do
      assert output =~ ~r/#{file}:#{line(dir, file, text)}: .*#{Regex.escape(note)}/,
             "#{file}: #{note}\n#{output}"
    end
  end

  defp line(dir, file, text),
    do: (dir |> read(file) |> String.split("\n") |> Enum.find_index(&(&1 =~ text))) + 1

  defp run(dir) do
    files = for(name <- @modules, do: "lib/#{name}.ex") ++ ~w(test/test_helper.exs test/move.exs)

    paths =
      for ebin <- Path.wildcard(Path.join(Mix.Project.build_path(), "lib/*/ebin")),
          part <- ["-pa", ebin],
          do: part

    required = Enum.flat_map(files, &["-r", &1])
    System.cmd("elixir", paths ++ required, cd: dir, stderr_to_stdout: true)
  end

  test "scripts in priv, such as priv/repo/seeds.exs", %{dir: dir} do
    for root <- [dir, Path.join(dir, "apps/shop")] do
      File.mkdir_p!(Path.join(root, "priv/repo"))
      File.write!(Path.join(root, "priv/repo/seeds.exs"), "Jason.decode!(text)\n")
    end

    migrate(dir)
    assert read(dir, "priv/repo/seeds.exs") == "RustyJson.decode!(text)\n"
    assert read(dir, "apps/shop/priv/repo/seeds.exs") == "RustyJson.decode!(text)\n"
  end

  test "strings, comments and atoms stay", %{dir: dir} do
    migrate(dir)
    person = read(dir, "lib/person.ex")
    assert person =~ "@derive {RustyJson.Encoder, only:" and person =~ "not about Jason Bourne" == false
    assert person =~ "Not about Jason Bourne" and person =~ ~S("Jason.encode!")
    assert read(dir, "lib/money.ex") =~ "# Jason calls this."
    doc = read(dir, "lib/doc.ex")
    assert doc =~ "[RustyJson, Elixir.RustyJson.Encoder, __MODULE__]"
    assert doc =~ ~S(text == "Jason" or text == 'Jason' or text == :Jason)
    assert doc =~ ~S|def é(é), do: {é, RustyJson.decode!("2"), "#{RustyJson.encode!(é)}"}|

    assert read(dir, "lib/ordered.ex") =~
             "alias RustyJson, as: J\n  alias RustyJson.{OrderedObject, Formatter}"

    assert read(dir, "config/config.exs") =~ "json_library, RustyJson\nconfig :jason,"
    assert migrate(dir) =~ "Nothing to replace."
  end

  test "--dry-run and --check change nothing", %{dir: dir} do
    before = for file <- Path.wildcard(Path.join(dir, "**/*.ex*")), do: {file, File.read!(file)}
    output = migrate(dir, ["--dry-run"])
    assert output =~ "lib/person.ex:4: @derive {RustyJson.Encoder, only: [:name, :born]}"
    assert output =~ "lines would change in 12 files."
    assert {:shutdown, 1} = catch_exit(migrate(dir, ["--check"]))
    assert for({file, _text} <- before, do: {file, File.read!(file)}) == before
    migrate(dir)
    assert migrate(dir, ["--check"]) =~ "Nothing to replace."
    assert_raise Mix.Error, ~r/no-such-folder does not exist/, fn -> migrate(dir, ["no-such-folder"]) end

    assert_raise Mix.Error, ~r{unknown option --dryrun, did you mean --dry-run\?}, fn ->
      migrate(dir, ["--dryrun"])
    end
  end

  test "a file with another Jason, a broken file and templates stay, and are listed" do
    for source <- [
          "alias MyApp.Jason\nJason.run()",
          "alias MyApp.{Other, Jason}\nJason.run()",
          "alias MyApp.Json, as: Jason\nJason.run()",
          "defmodule Jason do\nend",
          "defmodule Broken do Jason.encode!("
        ] do
      assert {^source, [], [{_line, "" <> _note}]} = Migrate.migrated(source, ".ex")
    end

    for {source, line} <- [
          {"defmodule A do\n  require Logger\n  alias MyApp.Jason\n  Jason.run()\nend", 3},
          {"defmodule A do\n\n  alias MyApp.{Other,\n    Jason}\nend", 3},
          {"defmodule A do\n  def f do\n    alias MyApp.Json, as: Jason\n    Jason.run()\n  end\nend", 3},
          {"# A\ndefmodule Jason do\nend", 2},
          {"defmodule A do\n  defprotocol Jason do\n  end\nend", 2},
          {"defmodule A do\n  alias __MODULE__.{Jason, Other}\n  Jason.run()\nend", 2},
          {"alias unquote(base).{Other, Jason}", 1},
          {"alias __MODULE__, as: Jason\nJason.run()", 1},
          {"alias :json_of_mine, as: Jason\nJason.run()", 1},
          {"require MyApp.Json, as: Jason\nJason.run()", 1},
          {"defmodule A do\n  defmodule Jason.Extra do\n  end\n\n  Jason.Extra.run()\nend", 2},
          {"defimpl P, for: A do\n  def f, do: 1\n  defprotocol Jason.Extra do\n  end\nend", 3}
        ] do
      assert {^source, [], [{^line, note}]} = Migrate.migrated(source, ".ex")
      assert note =~ "another module"
    end

    assert {_same, [], [{2, note}]} = Migrate.migrated("<p>Jason</p>\n<%= Jason.encode!(@a) %>", ".heex")
    assert note =~ "Jason.encode!(@a)"
    source = "def render(assigns) do\n  ~H\"\"\"\n  <%= Jason.encode!(@a) %>\n  \"\"\"\nend"
    assert {_same, [], [{3, _note}]} = Migrate.migrated(source, ".ex")
  end

  test "lines that do not make Jason another module" do
    for source <- [
          "alias Elixir.Jason\nJason.run()",
          "alias Jason, as: Jason\nJason.run()",
          "alias Jason.{Encoder, Fragment}",
          "alias MyApp.Jason, as: Other\nJason.run()",
          "defmodule Jason.Extra do\n  Jason.run()\nend",
          "defmodule A do\n  defmodule Elixir.Jason.Extra do\n    Jason.run()\n  end\nend",
          "defmodule A do\n  defimpl Jason.Encoder, for: B do\n    Jason.run()\n  end\nend"
        ] do
      assert {text, [_ | _], []} = Migrate.migrated(source, ".ex")
      refute String.replace(text, "MyApp.Jason", "") =~ ~r/\bJason/
    end

    for directive <- ~w(require import use) do
      source = "#{directive} MyApp.{Other, Jason}\nMyApp.Jason.run(Jason.run())"
      new = String.replace(source, "(Jason", "(RustyJson")
      assert {^new, [{2, _}], []} = Migrate.migrated(source, ".ex")
    end
  end

  test "fields of a decode error in a variable" do
    for source <- [
          "try do\n  f()\nrescue\n  e in [KeyError, Jason.DecodeError] -> e.position\nend",
          "alias Jason.DecodeError\ndef f({:error, %DecodeError{} = e}),\n  do:\n  e.token",
          "case f() do\n  {:error, e = %Jason.DecodeError{}} ->\n    IO.puts(\"\")\n    e.data\nend"
        ] do
      assert {_text, _changes, [{4, note}]} = Migrate.migrated(source, ".ex")
      assert note =~ "of RustyJson.DecodeError can differ"
    end

    source =
      "try do\n  Jason.decode!(x)\nrescue\n  e in Jason.DecodeError -> {e.message, event.position}\nend"

    assert {_text, _changes, []} = Migrate.migrated(source, ".ex")
  end

  test "mix.exs: what is still to add" do
    project = &"defmodule A do\n  use Mix.Project\n  defp deps, do: [#{&1}{:jason, \"~> 1.4\"}]\nend"

    assert {_, _, [{3, "add {:rustyjson, ...}; keep :jason only" <> _}]} =
             Migrate.migrated(project.(""), ".exs")

    assert {_, _, [{3, "keep :jason only" <> _}]} =
             Migrate.migrated(project.("{:rustyjson, path: \"..\"}, "), ".exs")
  end

  test "doctests are listed with their lines" do
    source = ~S|
defmodule A do
  @doc "iex> Jason.encode!(1)"
  def a, do: 1

  @doc ~S"""
  Jason is not run here.

      iex(1)> a = 1
      ...(1)> Jason.encode!(a)
  """
  def b, do: 1
end
|
    assert {_text, [], [{3, _}, {10, note}]} = Migrate.migrated(source, ".ex")
    assert note == "this doctest names Jason; replace it by hand: ...(1)> Jason.encode!(a)"
  end

  test "modules that are written as atoms" do
    for {source, text} <- [
          {~S|:"Elixir.Jason".encode!(1)|, ~S|:"Elixir.RustyJson".encode!(1)|},
          {~S|é = "é"; apply(:"Elixir.Jason.Helpers", :f, [Jason, :'Elixir.Jason'])|,
           ~S|é = "é"; apply(:"Elixir.RustyJson.Helpers", :f, [RustyJson, :'Elixir.RustyJson'])|}
        ] do
      assert {^text, [{1, ^text}], []} = Migrate.migrated(source, ".ex")
    end

    for source <- [
          ~S|%{"Elixir.Jason": 1}|,
          ~S|:"Elixir.JasonX".f()|,
          ~S|"Elixir.Jason"|,
          ~S|:"Elixir.My.Jason"|,
          ~S|# :"Elixir.Jason"|
        ] do
      assert {^source, [], []} = Migrate.migrated(source, ".ex")
    end
  end

  # The tokenizer counts each of these as one column in strings and quoted atoms: an emoji, a hand with a skin tone, a letter with an accent.
  test "Jason behind characters of several code points" do
    for mark <- ["⚠️", "👍🏽", "e\u0301"],
        line <- [
          ~S|Logger.warning("@ bad: #{Jason.encode!(x)}")|,
          ~S|{"@", :"@", '@', ~s(@), ~r/@/, ["@": Jason.decode!("@")], Jason}|,
          ~S|f("@ #{Jason.encode!(x)} @ #{[Jason, "@"]}", :"Elixir.Jason.Helpers")|,
          ~S|कि = "@"; Jason.encode!(कि)|,
          "\"@\#{1}\u200D\"; Jason.run()",
          ~s|x = f("""\n  @ \#{Jason.encode!(x)}\n  """)|,
          ~s|x = "\n  @ \#{Jason.encode!(x)}"|
        ] do
      source = String.replace(line, "@", mark)
      new = String.replace(source, "Jason", "RustyJson")
      assert {^new, [_changed], []} = Migrate.migrated(source, ".ex")
    end

    source = ~S|"👨‍👩‍👧‍👦 " <> Jason.encode!("Jason")|
    new = ~S|"👨‍👩‍👧‍👦 " <> RustyJson.encode!("Jason")|
    assert {^new, [{1, ^new}], []} = Migrate.migrated(source, ".ex")
  end

  test "a Jason whose place is not certain is listed" do
    for source <- [
          ~S|x = "👨‍👩‍👧‍👦👨‍👩‍👧‍👦 Jason #{Jason.encode!(x)}"|,
          "Elixir . Jason.run()"
        ] do
      assert {^source, [], [{1, note}]} = Migrate.migrated(source, ".ex")
      assert note == "this line names Jason; replace it by hand: #{source}"
    end

    source = ~s|%{"e\u0301": 1, "Elixir.Jason": 2}|
    assert {^source, [], []} = Migrate.migrated(source, ".ex")
  end

  test "other lines that need a hand" do
    for {source, note} <- [
          {"Jason.Codegen.jump_table([], 1)", "private module"},
          {"alias Jason.Encode\nEncode.value(1, a, b)", "value/3"},
          {"fragment.encode.(opts)", "field `encode`"},
          {"alias Jason.Encoder, as: E\ndefimpl E, for: [Foo, Date] do\nend", "encodes Date itself"},
          {"try do\n  Jason.decode(x, keys: :atoms!)\nrescue\n  e in [ArgumentError] -> e\nend",
           ":unknown_atom"},
          {"assert body == \"unexpected byte at position 3: 0x5D\"", "different messages"}
        ] do
      assert {_text, _changes, notes} = Migrate.migrated(source, ".ex")
      assert Enum.any?(notes, fn {_line, text} -> text =~ note end), source
    end

    assert {_text, [_], []} = Migrate.migrated("%Jason.DecodeError{}", ".ex")
  end
end
