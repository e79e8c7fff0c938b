defmodule RustyJson.LogFormatterTest do
  @moduledoc "`RustyJson.LogFormatter`: the shapes of events of `:logger` and `Logger`, limits, redaction, and that nothing is lost."
  use ExUnit.Case, async: true

  alias RustyJson.LogFormatter
  alias RustyJson.Test.Judge

  @time 1_709_208_000_000_000

  defmodule Raising do
    defstruct [:a]
    defimpl(RustyJson.Encoder, do: def(encode(_, _), do: raise("no")))
  end

  # The decoded line in every engine, which is the same.
  defp line(message, meta, options \\ []) do
    event = %{level: :error, msg: message, meta: Map.put_new(meta, :time, @time)}

    lines =
      for {_, engine} <- Judge.engines() do
        {LogFormatter, config} = LogFormatter.new([engine: engine[:engine]] ++ options)
        IO.iodata_to_binary(LogFormatter.format(event, config))
      end

    assert [line] = Enum.uniq(lines)
    assert [json, ""] = String.split(line, "\n")
    RustyJson.decode!(json)
  end

  defp message(message, meta \\ %{}), do: line(message, meta)["message"]

  test "the members of a line, in their order" do
    event = %{level: :info, msg: {:string, ["a\n", ?b]}, meta: %{time: @time, user: 7, gl: self()}}

    assert event |> LogFormatter.format(%{}) |> IO.iodata_to_binary() ==
             ~s({"time":"2024-02-29T12:00:00.000000Z","level":"info","message":"a\\nb","metadata":{"user":7}}\n)

    names = [time: "@timestamp", level: "severity", message: "msg", metadata: "meta"]

    assert %{"@timestamp" => _, "severity" => "error", "msg" => "x", "meta" => %{}} =
             line({:string, "x"}, %{}, names: names)
  end

  test "the time of every day" do
    days = Enum.concat([0..1_500, 10_900..11_100, 46_000..48_000, 2_932_800..2_932_896])

    for day <- days, time <- [day * 86_400_000_000, day * 86_400_000_000 + 86_399_999_999] do
      event = %{level: :info, msg: {:string, ""}, meta: %{time: time}}
      line = event |> LogFormatter.format(%{}) |> IO.iodata_to_binary()
      expected = time |> DateTime.from_unix!(:microsecond) |> DateTime.to_iso8601()
      assert String.starts_with?(line, ~s({"time":"#{expected}",))
    end
  end

  test "pids of this node and of others" do
    remote = :erlang.binary_to_term(<<131, 88, 119, 3, "a@b", 300::32, 2::32, 1::32>>)
    late = :erlang.list_to_pid(~c"<0.32000.7>")

    for pid <- [remote, late | Process.list()] do
      line = LogFormatter.format(%{level: :info, msg: {:string, ""}, meta: %{time: @time, pid: pid}}, %{})
      assert RustyJson.decode!(IO.iodata_to_binary(line))["metadata"]["pid"] == inspect(pid)
    end
  end

  test "options that concern the first members of a line" do
    for redact <- ["level", :level, "/level"] do
      assert %{"level" => "[REDACTED]", "message" => "x"} = line({:string, "x"}, %{}, redact: [redact])
    end

    assert %{"time" => "*", "level" => "error"} = line({:string, "x"}, %{}, redact: [:time], redacted: "*")

    assert %{"metadata" => %{"password" => "*"}} =
             line({:string, "x"}, %{password: 1}, redact: ["/metadata/password"], redacted: "*")

    assert %{"level" => "odd"} = odd = decoded(%{level: :odd, msg: {:string, "x"}, meta: %{time: @time}})
    assert Map.keys(odd) == ["level", "message", "metadata", "time"]
    assert %{"level" => "info", "time" => _} = decoded(%{level: :info, msg: {:string, "x"}, meta: %{}})
  end

  defp decoded(event), do: event |> LogFormatter.format(%{}) |> IO.iodata_to_binary() |> RustyJson.decode!()

  test "max_bytes counts all of a line but its end" do
    text = String.duplicate("x", 2_000)
    event = %{level: :warning, msg: {:string, text}, meta: %{time: @time, a: 1}}
    whole = event |> LogFormatter.format(%{}) |> IO.iodata_to_binary()

    for {most, shown} <- [{byte_size(whole) - 1, true}, {byte_size(whole) - 2, false}, {0, true}],
        {_, engine} <- Judge.engines() do
      {LogFormatter, config} = LogFormatter.new(max_bytes: most, engine: engine[:engine])
      line = event |> LogFormatter.format(config) |> IO.iodata_to_binary()
      assert {most, line == whole} == {most, shown}
      assert String.ends_with?(line, "\n")
    end
  end

  test "the shapes of messages" do
    assert message({:string, "é"}) == "é"
    assert message({:string, ["a", [?b | "c"], 233]}) == "abcé"
    assert message({:string, <<"a", 255>>}) == "a\uFFFD"
    assert message({:string, ["a", 255 | :x]}) =~ "a"
    assert message({~c"~p and ~ts", [%{a: 1}, "é"]}) =~ "and é"
    assert message({~c"~p ~p", [:too_few]}) == [~c"~p ~p" |> List.to_string(), ["too_few"]]
    assert message({:report, %{a: {1, self()}}}) == %{"a" => [1, inspect(self())]}
    assert message({:report, a: 1, b: [c: 2]}) == %{"a" => 1, "b" => [["c", 2]]}
    assert message({:report, [1 | 2]}) == "[1 | 2]"
    assert message({:report, %{a: 1}}, %{report_cb: fn %{a: a} -> {~c"a is ~p", [a]} end}) == "a is 1"
    assert message({:report, %{a: 1}}, %{report_cb: fn %{a: a}, _ -> "a is #{a}" end}) == "a is 1"
    assert message(:strange) == "strange"
  end

  test "metadata of every kind" do
    ref = make_ref()

    meta = %{
      pid: self(),
      mfa: {Some.Module, :fun, 1},
      file: ~c"lib/a.ex",
      line: 3,
      ref: ref,
      bytes: <<255>>,
      raising: %Raising{},
      plain: %URI.Error{},
      date: ~D[2024-02-29],
      odd: %{{1} => [1 | 2]},
      domain: [:elixir]
    }

    assert line({:string, "x"}, meta)["metadata"] == %{
             "pid" => inspect(self()),
             "mfa" => "Some.Module.fun/1",
             "file" => "lib/a.ex",
             "line" => 3,
             "ref" => inspect(ref),
             "bytes" => "\uFFFD",
             "raising" => inspect(%Raising{}),
             "plain" => inspect(%URI.Error{}),
             "date" => "2024-02-29",
             "odd" => %{"{1}" => "[1 | 2]"},
             "domain" => ["elixir"]
           }

    assert line({:string, "x"}, meta, metadata: [:line, :none])["metadata"] == %{"line" => 3}
  end

  test "the names that Logger gives to parts of mfa" do
    meta = %{mfa: {Some.Module, :fun, 1}, line: 3}
    metadata = fn meta, keys -> line({:string, "x"}, meta, metadata: keys)["metadata"] end
    assert metadata.(meta, [:module, :function]) == %{"module" => "Some.Module", "function" => "fun/1"}
    assert metadata.(meta, [:function, :line]) == %{"function" => "fun/1", "line" => 3}
    assert metadata.(Map.put(meta, :module, "own"), [:module]) == %{"module" => "own"}
    assert metadata.(meta, [:line]) == %{"line" => 3}
    assert metadata.(%{line: 3}, [:module, :function]) == %{}
    assert Map.keys(line({:string, "x"}, meta)["metadata"]) == ["line", "mfa"]
  end

  test "crashes" do
    stacktrace = [{Some.Module, :fun, [:secret], [file: ~c"lib/a.ex", line: 3]}]
    error = fn reason -> line({:string, "x"}, %{crash_reason: reason})["error"] end

    assert %{"kind" => "RuntimeError", "message" => "boom", "stacktrace" => [entry]} =
             error.({%RuntimeError{message: "boom"}, stacktrace})

    assert entry =~ "lib/a.ex:3: Some.Module.fun/1"
    assert %{"kind" => "throw", "message" => "ball"} = error.({{:nocatch, :ball}, stacktrace})
    assert %{"kind" => "exit", "message" => ["shutdown", 1]} = error.({{:shutdown, 1}, []})
    assert %{"kind" => "exit", "message" => "killed"} = error.(:killed)
  end

  test "redaction, also in a report, an unsupported struct and a shortened line" do
    secret = "s3cr3t"
    long = String.duplicate("x", 100_000)

    for extra <- [%{}, %{long: long}, %{long: List.duplicate(long, 1000)}] do
      meta =
        Map.merge(extra, %{
          password: secret,
          user: %{"password" => secret, card: secret},
          struct: %Raising{a: secret}
        })

      line =
        line({:report, %{password: secret}}, meta, redact: [:password, "/metadata/user/card"], redacted: "***")

      refute inspect(line, printable_limit: :infinity, limit: :infinity) =~ secret
      assert line["message"]["password"] == "***"
    end
  end

  test "limits are described" do
    long = String.duplicate("é", 100_000)
    line = line({:string, long}, %{list: Enum.to_list(1..100_000), map: Map.new(1..5000, &{&1, &1})})
    assert line["message"] =~ "… (200000 bytes)"
    assert List.last(line["metadata"]["list"]) == "… more elements"
    assert line["metadata"]["map"]["…"] =~ "more members"

    deep = Enum.reduce(1..10_000, :end, fn _, term -> [term] end)
    assert inspect(line({:string, "x"}, %{deep: deep})["metadata"], limit: :infinity) =~ "a list"

    wide = Enum.reduce(1..6, long, fn _, term -> Map.new(1..12, &{&1, term}) end)
    line = line({:string, "kept"}, %{wide: wide}, max_bytes: 2_000)
    assert line["message"] == "kept"
    assert byte_size(RustyJson.encode!(line)) < 2_000

    assert line({:string, "kept"}, %{a: 1}, max_bytes: 1)["message"] == "kept"
    assert byte_size(RustyJson.encode!(line({:string, "x"}, %{n: Integer.pow(7, 100_000)}))) < 66_000
  end

  test "it never raises" do
    for event <- [
          %{},
          nil,
          %{level: :info, msg: {:string, "x"}, meta: nil},
          %{level: "x\"", msg: 1, meta: %{time: :x}}
        ] do
      json = event |> LogFormatter.format([]) |> IO.iodata_to_binary()
      assert %{"message" => _} = RustyJson.decode!(json)
    end

    json = nil |> LogFormatter.format(%{}) |> IO.iodata_to_binary()
    assert %{"message" => "a log event that could not be formatted: " <> _} = RustyJson.decode!(json)
  end

  # Structs without an implementation make the VM look for one, in every folder of the code path before OTP 26.
  @events if System.otp_release() >= "26", do: 500, else: 20

  test "random events never fail" do
    :rand.seed(:exsss, {1, 7, 5})

    for _ <- 1..@events do
      meta = for n <- 1..5, into: %{time: @time}, do: {:"k#{n}", random(4)}

      assert %{"message" => _, "metadata" => %{}} =
               line({:report, %{a: random(3)}}, meta, max_bytes: Enum.random([200, 2_000, 65_536]))
    end
  end

  defp random(0),
    do: Enum.random([self(), <<255, 1>>, <<1::3>>, %Raising{}, 1.5, nil, String.duplicate("é\xFF", 500)])

  defp random(depth) do
    case :rand.uniform(5) do
      1 -> [random(depth - 1) | random(0)]
      2 -> %{random(0) => random(depth - 1), random(depth - 1) => 1}
      3 -> {random(depth - 1), random(0)}
      4 -> %{~D[2024-02-29] | day: random(0)}
      5 -> random(0)
    end
  end

  test "Elixir 1.14's console backend" do
    time = {{2024, 2, 29}, {12, 0, 0, 5}}
    json = LogFormatter.format(:warn, ["a", ?b], time, pid: self(), line: 1) |> IO.iodata_to_binary()
    assert %{"level" => "warn", "message" => "ab", "metadata" => %{"line" => 1}} = RustyJson.decode!(json)

    assert %{"message" => _} =
             LogFormatter.format(:info, "x", :no_time, [:odd]) |> IO.iodata_to_binary() |> RustyJson.decode!()
  end

  test "as the formatter of a handler, for Logger and for Erlang" do
    {formatter, config} = LogFormatter.new(metadata: [:user], redact: [:token])
    handler = :"log_formatter_#{System.unique_integer([:positive])}"
    file = Path.join(System.tmp_dir!(), "#{handler}.log")
    settings = %{config: %{file: String.to_charlist(file)}, formatter: {formatter, config}, level: :all}
    :ok = :logger.add_handler(handler, :logger_std_h, settings)

    on_exit(fn ->
      :logger.remove_handler(handler)
      File.rm(file)
    end)

    mark = "mark #{System.unique_integer()}"
    :logger.error(%{text: mark, token: "s3cr3t"}, %{user: 7})
    :logger.error(~c"~ts", [mark])
    :ok = :logger_std_h.filesync(handler)
    lines = for line <- file |> File.read!() |> String.split("\n", trim: true), do: RustyJson.decode!(line)

    assert Enum.any?(
             lines,
             &match?(
               %{"message" => %{"text" => ^mark, "token" => "[REDACTED]"}, "metadata" => %{"user" => 7}},
               &1
             )
           )

    assert Enum.any?(lines, &match?(%{"message" => ^mark}, &1))
  end

  test "unknown options are refused" do
    assert_raise ArgumentError, ~r/unknown option :colour/, fn -> LogFormatter.new(colour: true) end
    assert_raise ArgumentError, ~r/:redact takes/, fn -> LogFormatter.new(redact: :password) end
  end
end
