defmodule RustyJson.CLIProgramsTest do
  @moduledoc "The command line as a program of its own: its input, its output, and a reader that ends before it."

  use ExUnit.Case, async: true

  alias RustyJson.Test.Commands

  # The engine makes no difference to what surrounds a call.
  @moduletag :once

  @good ~s({"b":[1,2.50,"é"],\n "a":{"x":1e2,"x":null}})

  setup do
    {dir, file} = Commands.folder("cli")
    {:ok, write: file, dir: dir}
  end

  test "the script takes a file from anywhere", %{write: file, dir: dir} do
    path = file.("doc.json", ~s({"b": 1, "a": "x"}))
    script = Path.expand("script/rustyjson")
    link = Path.join(dir, "rj")
    File.ln_s!(script, link)
    options = [cd: dir, env: [{"MIX_ENV", "test"}], stderr_to_stdout: true]
    assert {"x\n", 0} = System.cmd(script, ["--fetch", "/a", "-r", path], options)
    assert {~s({"a":"x","b":1}\n), 0} = System.cmd(link, ["--compact", "--sort", path], options)
    assert {text, 2} = System.cmd(script, ["--bogus", path], options)
    assert text =~ "unknown option --bogus"
    assert text =~ "rustyjson --help lists the options"
    assert {help, 0} = System.cmd(script, ["--help"], options)
    assert help =~ "\n    rustyjson --lines --validate"
    assert help =~ "\n    `--indent N|tab`\n        the same, indented"
    assert help =~ "`mix rustyjson.doctor`"
    refute help =~ "| "
    assert {_, 0} = System.cmd("sh", ["-c", "#{script} #{path} | head -1"], options)
  end

  test "the encoding of standard input and output is the same after a run", %{write: file} do
    path = file.("doc.json", ~s(["é"]))
    ebin = Application.app_dir(:rustyjson, "ebin")
    before = "before = :io.getopts(:standard_io)"
    same = "if :io.getopts(:standard_io) == before, do: IO.puts(\"€\")"

    for call <- [
          ~s|RustyJson.CLI.run(["--minify", "#{path}"], "", fn -> :ok end)|,
          ~s|RustyJson.CLI.run(["--minify", "-"], "", fn -> :ok end)|,
          ~s|{:ok, text} = RustyJson.CLI.Input.read("-", true); IO.puts(text)|
        ] do
      command = ~s(elixir -pa "#{ebin}" -e '#{before}; #{call}; #{same}' <"#{path}")
      assert {~s(["é"]\n€\n), 0} = System.cmd("sh", ["-c", command], env: [{"LC_ALL", "C.UTF-8"}])
    end
  end

  # Runs in a separate process: bytes pass through pipes unchanged, and standard output contains only JSON.
  test "reads standard input" do
    assert {~s({"b":[1,2.50,"é"],"a":{"x":1e2,"x":null}}\n), 0} = piped(@good, "--minify -")
    assert {text, 1} = piped("[1", "--validate - 2>&1")
    assert "standard input:1:3: Unexpected end of input" <> _ = without_warnings(text)
  end

  # Before the task runs, Mix writes the names of packages in folders, and warns about old settings in their mix.exs and about their
  # code, in lines that are indented or empty. Since Elixir 1.18 it says when it waits for another Mix.
  @mix "==> "
  @other ~r/^(#{@mix}|warning: |\e\[0mWaiting for lock|\s|$)/
  defp without_warnings(text),
    do: text |> String.split("\n") |> Enum.reject(&(&1 =~ @other)) |> Enum.join("\n")

  defp piped(input, arguments) do
    env = [{"JSON", input}, {"MIX_ENV", "test"}, {"RUSTYJSON_BUILD", "none"}]
    command = ~s(printf '%s' "$JSON" | mix rustyjson #{arguments})
    {text, code} = System.cmd("sh", ["-c", command], env: env)
    {String.replace(text, ~r/^#{@mix}.*\n/m, ""), code}
  end

  test "a reader that exits early is not an error", %{write: file} do
    large = file.("large.json", "[" <> String.duplicate("1,", 2_000_000) <> "1]")

    for {arguments, lines} <- [{"", "[\n  1,\n"}, {"--array", "1\n1\n"}, {"--at '/*' --sort", "1\n1\n"}] do
      errors = large <> "#{arguments |> String.length()}.errors"
      command = ~s({ mix rustyjson #{arguments} "#{large}"; echo "exit $?" >&2; } 2>&1 >&3 | cat >"#{errors}")
      env = [{"MIX_ENV", "test"}, {"RUSTYJSON_BUILD", "none"}]

      assert {^lines, 0} =
               System.cmd("sh", ["-c", "{ #{command}; } 3>&1 | grep --line-buffered -v '^#{@mix}' | head -2"],
                 env: env
               )

      assert errors |> exit_line(100) |> without_warnings() == "exit 0"
    end
  end

  # From OTP 26 on, standard output is no port.
  unless File.exists?("/dev/full") and
           :user |> Process.whereis() |> Process.info(:links) |> inspect() =~ "#Port",
         do: @tag(skip: "there is no /dev/full, or standard output is no port")

  test "output that a full disk does not take is an error", %{write: file, dir: dir} do
    small = file.("small.json", "[1]")
    large = file.("large.json", ["[1", List.duplicate(",1", 3_000_000), "]"])
    errors = Path.join(dir, "full.errors")
    ebin = Application.app_dir(:rustyjson, "ebin")
    command = ~s{elixir -pa "#{ebin}" -e "RustyJson.CLI.main(System.argv())" --}

    for arguments <- [small, large, "--array #{large}"] do
      {"", code} = System.cmd("sh", ["-c", "#{command} #{arguments} >/dev/full 2>#{errors}"])
      assert {code, File.read!(errors) =~ "standard output: no space left on device"} == {3, true}
    end
  end

  test "a reader that exits early ends the doctor and the help quietly", %{dir: dir} do
    # Mix itself says what it compiles, and where it cannot.
    run = "mix run --no-compile --no-deps-check --no-start -e"

    for task <- [~s{"rustyjson.doctor"}, ~s{"rustyjson", ["--help"]}] do
      errors = Path.join(dir, "doctor.errors")
      command = ~s({ #{run} 'Mix.Task.run(#{task}\)'; echo "exit $?" >&2; } 2>"#{errors}" | head -1)
      System.cmd("sh", ["-c", command], env: [{"MIX_ENV", "test"}, {"RUSTYJSON_BUILD", "none"}])
      assert errors |> exit_line(100) |> without_warnings() == "exit 0"
      File.rm!(errors)
    end
  end

  # Written after `head` has ended.
  defp exit_line(file, times) do
    text = File.read!(file)
    if times == 0 or text =~ "exit", do: text, else: Process.sleep(100) && exit_line(file, times - 1)
  end
end
