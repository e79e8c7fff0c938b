# Runs the tests of Elixir's JSON and of OTP's json against RustyJson; script/json_tests says how. Prints a line for the record per suite.
defmodule JsonTests do
  @moduledoc false

  # What may differ, and no less: docs/migrating-from-json.md has the reasons.
  @elixir_differs [
    # One binary, which is iodata too.
    "test encode_to_iodata",
    "test deprecated",
    "test deriving with only",
    "test deriving with except"
  ]
  @otp_differs [
    # JSON has no leading zeros.
    ~S|rustyjson_json : decode ( << "01" >> )|,
    # The number as it is in the text.
    ~S|decode ( << "1e999" >> )|
  ]
  # They test functions for which RustyJson has options instead.
  @otp_left_out ~r/escape_all|encode_map|proplist|format|property|error_info/

  def main(folders) do
    # JSON and json have no limit.
    for part <- [:decode, :encode], do: Application.put_env(:rustyjson, part, max_depth: 1_000)
    RustyJson.Config.reload()

    for folder <- folders, {suite, file} <- suites(folder), File.regular?(file) do
      {passed, differs, left_out, unexpected} = if(suite == :elixir, do: elixir(file), else: otp(file))
      engine = RustyJson.engine()
      names = "#{if suite == :elixir, do: "Elixir's JSON", else: "OTP's json"}\t#{engine}"
      IO.puts("json_tests\t#{names}\t#{commit(folder)}\t#{passed}\t#{differs}\t#{left_out}")
      IO.puts("#{names}: #{passed} equal, #{differs} differ as documented, #{left_out} left out")
      for each <- unexpected, do: IO.puts("unexpected: #{each}")
      unexpected
    end
    |> Enum.concat()
    |> Enum.empty?() || System.halt(1)
  end

  defp suites(folder) do
    [
      elixir: Path.join(folder, "lib/elixir/test/elixir/json_test.exs"),
      otp: Path.join(folder, "lib/stdlib/test/json_SUITE.erl"),
      otp: Path.join(folder, "test/json_polyfill_SUITE.erl")
    ]
  end

  defp commit(folder) do
    case System.cmd("git", ["-C", folder, "log", "-1", "--format=%h"], stderr_to_stdout: true) do
      {commit, 0} -> String.trim(commit)
      _no_repository -> "no commit"
    end
  end

  ## Elixir's

  # decode/1 of the tests is decode/3, which has the errors of JSON.
  defmodule Names do
    defdelegate encode!(term), to: RustyJson
    defdelegate encode_to_iodata!(term), to: RustyJson
    defdelegate protocol_encode(term, encoder), to: RustyJson

    def decode(text) do
      case RustyJson.decode(text, [], []) do
        {value, [], ""} -> {:ok, value}
        {_value, [], rest} -> trailing(text, String.trim_leading(rest, " "))
        error -> error
      end
    end

    def decode!(text) do
      with {:ok, _} <- decode(text),
           do: RustyJson.decode!(text),
           else: (_ -> raise(JSON.DecodeError, message(text)))
    end

    defp trailing(text, <<byte, _::binary>> = rest),
      do: {:error, {:invalid_byte, byte_size(text) - byte_size(rest), byte}}

    # Elixir's words for an error of its own.
    defp message(text) do
      {:error, reason} = decode(text)

      words =
        case reason do
          {:unexpected_end, at} ->
            "unexpected end of JSON binary at position (byte offset) #{at}"

          {:invalid_byte, at, byte} ->
            "invalid byte #{byte} at position (byte offset) #{at}"

          {:unexpected_sequence, at, bytes} ->
            "unexpected sequence #{inspect(bytes)} at position (byte offset) #{at}"
        end

      [message: words]
    end
  end

  # The names of the tests that failed.
  defmodule Failures do
    use GenServer

    def init(_options), do: {:ok, []}

    def handle_cast({:test_finished, %{state: nil}}, names), do: {:noreply, names}
    def handle_cast({:test_finished, %{name: name}}, names), do: {:noreply, [Atom.to_string(name) | names]}

    def handle_cast({:suite_finished, _times}, names),
      do: {:noreply, tap(names, &:persistent_term.put(__MODULE__, &1))}

    def handle_cast(_other, names), do: {:noreply, names}
  end

  defp elixir(file) do
    ExUnit.start(autorun: false, formatters: [Failures], seed: 0)

    file
    |> File.read!()
    |> String.replace(~r/^Code.require_file.*$|^ *doctest JSON$/m, "")
    # RustyJson encodes structs that have only this protocol through it.
    |> String.replace(~r/\bJSON\.(?!DecodeError|Encoder)/, "JsonTests.Names.")
    |> Code.compile_string()

    %{total: total} = ExUnit.run()
    failed = Enum.sort(:persistent_term.get(Failures))
    unexpected = (failed -- @elixir_differs) ++ (@elixir_differs -- failed)
    {total - length(failed), length(failed), 0, unexpected}
  end

  ## OTP's

  # Each assertion of the suite counts. One that does not hold does not end its case.
  @macros ~S"""
  -define(assertEqual(E, X), 'Elixir.JsonTests':holds(??X, fun() -> (E) =:= (X) end)).
  -define(assertEqual(E, X, _Comment), ?assertEqual(E, X)).
  -define(assertError(P, X), 'Elixir.JsonTests':holds(??X, fun() -> try X of _ -> false catch error:P -> true; _:_ -> false end end)).
  -define(assertError(P, X, _Comment), ?assertError(P, X)).
  """

  @json ~S"""
  -module(rustyjson_json).
  -compile([export_all, nowarn_export_all]).
  encode(Term) ->
      case rustyjson:encode(Term) of
          {ok, Text} -> Text;
          {error, #{reason := unsupported}} -> error({unsupported_type, Term});
          {error, #{reason := invalid_utf8}} -> error({invalid_byte, some})
      end.
  format(Term) -> 'Elixir.RustyJson':'encode!'(Term, [{null, null}, {pretty, true}]).
  decode(Text) ->
      case decode(Text, ok, #{}) of
          {Value, ok, <<>>} -> Value;
          {_, ok, Rest} -> error({invalid_byte, hd(string:to_graphemes(string:trim(Rest, leading)))})
      end.
  decode(Text, Acc, Decoders) -> rustyjson:decode(Text, Acc, Decoders).
  decode_start(Text, Acc, Decoders) -> rustyjson:decode_start(Text, Acc, Decoders).
  decode_continue(Text, State) -> rustyjson:decode_continue(Text, State).
  """

  # An assertion inside another one raises, as the other may expect.
  def holds(text, fun) do
    case Process.put(:inside, true) do
      true ->
        fun.() || :erlang.error(:assertion)

      _outermost ->
        held = try(do: fun.(), catch: (_, _ -> false))
        Process.delete(:inside)
        Process.put(:counts, [{held, to_string(text)} | Process.get(:counts)])
    end
  end

  defp otp(file) do
    compile("rustyjson_json", @json)
    name = "rustyjson_" <> Path.basename(file, ".erl")

    source =
      file
      |> File.read!()
      |> String.replace(
        ~r/^-module\(.*$/m,
        "-module(#{name}).\n-compile([export_all, nowarn_export_all]).\n" <> @macros
      )
      |> String.replace(~r/^-include_lib.*$/m, "")
      |> String.replace(~r/\bjson:/, "rustyjson_json:")
      # RustyJson's error about a term with invalid UTF-8 has its path, and no byte.
      |> String.replace(~r/(?<=assertError\({invalid_byte, )[^}]*(?=}, encode\()/, "_")

    # The functions of OTP that are left out.
    suite = compile(name, source)

    cases =
      for {name, 1} <- suite.module_info(:exports),
          Atom.to_string(name) =~ ~r/^(test_(en|de)code|test_json|counter)/,
          do: name

    {left_out, cases} = Enum.split_with(cases, &(Atom.to_string(&1) =~ @otp_left_out))
    counts = Enum.flat_map(cases, &counted(suite, &1, Path.rootname(file) <> "_data"))
    {equal, others} = Enum.split_with(counts, &elem(&1, 0))
    others = Enum.map(others, &elem(&1, 1))
    unexpected = Enum.uniq(others) -- @otp_differs
    {length(equal), length(others), length(left_out), unexpected ++ (@otp_differs -- others)}
  end

  defp compile(name, source) do
    file = Path.join(Mix.Project.build_path(), name <> ".erl")
    File.write!(file, source)
    {:ok, module, binary} = file |> String.to_charlist() |> :compile.file([:binary, :nowarn_unused_function])
    {:module, _} = :code.load_binary(module, ~c"#{file}", binary)
    module
  end

  defp counted(suite, name, data) do
    Task.await(
      Task.async(fn ->
        Process.put(:counts, [])

        try do
          apply(suite, name, [[data_dir: String.to_charlist(data)]])
        catch
          _, reason -> Process.put(:counts, [{false, "#{name}: #{inspect(reason)}"} | Process.get(:counts)])
        end

        Process.get(:counts)
      end),
      :infinity
    )
  end
end

JsonTests.main(System.argv())
