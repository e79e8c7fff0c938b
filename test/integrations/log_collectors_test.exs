defmodule RustyJson.LogCollectorsTest do
  @moduledoc "Lines of `RustyJson.LogFormatter` as log collectors expect them: presets, names of levels, flat metadata."
  use ExUnit.Case, async: true

  alias RustyJson.LogFormatter
  alias RustyJson.Test.Judge

  @time 1_709_208_000_000_000
  @place %{mfa: {Shop.Cart, :buy, 1}, file: ~c"lib/shop/cart.ex", line: 3}
  @stacktrace [{Shop.Cart, :buy, [1], [file: ~c"lib/shop/cart.ex", line: 3]}]
  @levels [:emergency, :alert, :critical, :error, :warning, :notice, :info, :debug]

  # The line in every engine, which is the same.
  defp text(message, meta, options, level \\ :error) do
    event = %{level: level, msg: message, meta: Map.put(meta, :time, @time)}

    lines =
      for {_, engine} <- Judge.engines() do
        {LogFormatter, config} = LogFormatter.new([engine: engine[:engine]] ++ options)
        IO.iodata_to_binary(LogFormatter.format(event, config))
      end

    assert [line] = Enum.uniq(lines)
    assert [json, ""] = String.split(line, "\n")
    json
  end

  defp line(message, meta, options, level \\ :error),
    do: message |> text(meta, options, level) |> RustyJson.decode!()

  defp names(json) do
    {:ok, %RustyJson.OrderedObject{values: values}} = RustyJson.decode(json, objects: :ordered_objects)
    Enum.map(values, &elem(&1, 0))
  end

  describe "preset: :google_cloud" do
    # https://cloud.google.com/logging/docs/structured-logging
    test "severity, time, message and the place in the source" do
      meta = Map.merge(@place, %{user: 7})

      assert line({:string, "paid"}, meta, [preset: :google_cloud], :warning) == %{
               "severity" => "WARNING",
               "time" => "2024-02-29T12:00:00.000000Z",
               "message" => "paid",
               "logging.googleapis.com/sourceLocation" => %{
                 "file" => "lib/shop/cart.ex",
                 "line" => "3",
                 "function" => "Shop.Cart.buy/1"
               },
               "metadata" => %{"user" => 7}
             }
    end

    test "each level is a severity of Google Cloud" do
      for level <- @levels do
        assert line({:string, ""}, %{}, [preset: :google_cloud], level)["severity"] ==
                 String.upcase(Atom.to_string(level))
      end
    end

    # https://cloud.google.com/error-reporting/docs/formatting-error-messages
    test "a crash reaches Error Reporting" do
      crash = %{crash_reason: {%RuntimeError{message: "boom"}, @stacktrace}}
      line = line({:string, "x"}, crash, preset: :google_cloud)

      assert line["@type"] ==
               "type.googleapis.com/google.devtools.clouderrorreporting.v1beta1.ReportedErrorEvent"

      assert ["** (RuntimeError) boom", entry] = String.split(line["stack_trace"], "\n")
      assert entry =~ "lib/shop/cart.ex:3: Shop.Cart.buy/1"
    end
  end

  describe "preset: :datadog" do
    # https://docs.datadoghq.com/standard-attributes
    test "status, timestamp, logger and error.stack" do
      meta = Map.merge(@place, %{:"dd.trace_id" => "12", user: 7})

      assert line({:string, "paid"}, meta, [preset: :datadog, flat: true], :info) == %{
               "status" => "info",
               "timestamp" => "2024-02-29T12:00:00.000000Z",
               "message" => "paid",
               "logger" => %{
                 "name" => "Shop.Cart",
                 "method_name" => "buy/1",
                 "file_name" => "lib/shop/cart.ex",
                 "line" => 3
               },
               "dd.trace_id" => "12",
               "user" => 7
             }

      crash = %{crash_reason: {%RuntimeError{message: "boom"}, @stacktrace ++ @stacktrace}}

      assert %{"kind" => "RuntimeError", "message" => "boom", "stack" => stack} =
               line({:string, "x"}, crash, preset: :datadog)["error"]

      assert [_, _] = String.split(stack, "\n")
    end
  end

  describe "preset: :elastic" do
    # https://www.elastic.co/docs/reference/ecs/logging/intro: these three are first.
    test "the fields of ECS, in the order that its loggers have" do
      json = text({:string, "paid"}, Map.merge(@place, %{user: 7}), preset: :elastic)
      assert names(json) == ~w(@timestamp log.level message ecs.version log.origin metadata)

      assert RustyJson.decode!(json) == %{
               "@timestamp" => "2024-02-29T12:00:00.000000Z",
               "log.level" => "error",
               "message" => "paid",
               "ecs.version" => "8.11.0",
               "log.origin" => %{
                 "file" => %{"name" => "lib/shop/cart.ex", "line" => 3},
                 "function" => "Shop.Cart.buy/1"
               },
               "metadata" => %{"user" => 7}
             }
    end

    test "error has only texts" do
      for {reason, type, message} <- [
            {{%RuntimeError{message: "boom"}, @stacktrace}, "RuntimeError", "boom"},
            {{{:nocatch, {:a, 1}}, []}, "throw", "{:a, 1}"},
            {{:shutdown, %{password: "s3cr3t"}}, "exit", ~s({:shutdown, %{password: "[REDACTED]"}})},
            {:killed, "exit", ":killed"}
          ] do
        error = line({:string, "x"}, %{crash_reason: reason}, preset: :elastic, redact: [:password])["error"]
        assert %{"type" => ^type, "message" => ^message, "stack_trace" => stack} = error
        assert is_binary(stack)
      end
    end
  end

  test "with a preset, the message is text, and a report has a member of its own" do
    for preset <- [:google_cloud, :datadog, :elastic] do
      message = fn message, options -> line(message, %{}, [preset: preset] ++ options) end
      report = %{event: :login, password: "s3cr3t"}

      # The order of atoms as keys depends on the release of OTP.
      assert %{"message" => "report: " <> keys, "report" => %{"password" => "[REDACTED]"}} =
               message.({:report, report}, redact: [:password])

      assert Enum.sort(String.split(keys, ", ")) == ["event", "password"]

      assert %{"message" => "report: a", "report" => %{"a" => 1}} = message.({:report, [a: 1]}, [])
      assert %{"message" => "a report", "report" => %{"term" => [1, 2]}} = message.({:report, [1, 2]}, [])
      assert %{"message" => "a report", "report" => _} = message.({~c"~p ~p", [1]}, [])

      wide = Map.new(1..100_000, &{:"key#{rem(&1, 50)}#{String.duplicate("x", rem(&1, 9))}", &1})
      line = message.({:report, wide}, [])
      assert "report: " <> keys = line["message"]
      assert length(String.split(keys, ", ")) == 8

      meta =
        Map.merge(@place, %{
          crash_reason: {%RuntimeError{message: String.duplicate("é", 50_000)}, @stacktrace}
        })

      least =
        text({:string, String.duplicate("é", 50_000)}, Map.put(meta, :a, wide), preset: preset, max_bytes: 1)

      assert byte_size(least) <= 1_024
      assert RustyJson.decode!(least)["message"] =~ "é"
    end
  end

  test "what a preset says can be said otherwise" do
    options = [preset: :elastic, names: [level: "severity"], levels: [error: 3], metadata: [:line]]
    line = line({:string, "x"}, @place, options)
    assert %{"severity" => 3, "@timestamp" => _, "metadata" => %{"line" => 3}} = line

    for names <- [[message: "log.origin"], [message: "ecs.version"], [message: "@timestamp"]] do
      assert_raise ArgumentError, ~r/option :names gives two members the name/, fn ->
        LogFormatter.new(preset: :elastic, names: names)
      end
    end
  end

  test "names of levels" do
    levels = [warning: "WARN", error: 50]
    assert line({:string, "x"}, %{}, [levels: levels], :warning)["level"] == "WARN"
    assert line({:string, "x"}, %{}, [levels: Map.new(levels)], :error)["level"] == 50
    assert line({:string, "x"}, %{}, [levels: levels], :info)["level"] == "info"
    assert line({:string, "x"}, %{}, [levels: levels, redact: [:level]], :error)["level"] == "[REDACTED]"
  end

  test "all metadata but some" do
    meta = Map.merge(@place, %{user: 7, pid: self()})
    metadata = fn keys -> line({:string, "x"}, meta, metadata: {:all_except, keys})["metadata"] end
    assert metadata.([:pid, :mfa, :file]) == %{"line" => 3, "user" => 7}
    assert Map.keys(metadata.([])) == ["file", "line", "mfa", "pid", "user"]
    assert metadata.(Map.keys(meta)) == %{}
  end

  describe "flat metadata" do
    test "keys are members of the line; nothing is lost or written twice" do
      meta = %{:user => 7, :level => 1, :message => 2, :error => 3, "text" => 4, {1} => 5}

      json = text({:string, "x"}, meta, flat: true)
      assert names(json) == ["time", "level", "message", "user", "metadata"]

      assert RustyJson.decode!(json)["metadata"] ==
               %{"level" => 1, "message" => 2, "error" => 3, "text" => 4, "{1}" => 5}

      assert {:string, "x"} |> text(%{}, flat: true) |> names() == ["time", "level", "message"]
    end

    test "key_case: renames them as nested ones, but never to the name of another member" do
      meta = %{user_id: 7, log_level: 1, error: 2, user: %{first_name: "Ada"}}
      names = [level: "logLevel"]

      assert %{"userId" => 7, "user" => %{"firstName" => "Ada"}, "metadata" => left} =
               line({:string, "x"}, meta, flat: true, names: names, key_case: :camel)

      assert left == %{"logLevel" => 1, "error" => 2}
      table = %{user_id: "time", error: "fault", user: "who"}

      assert %{"who" => %{"first_name" => "Ada"}, "log_level" => 1, "metadata" => left} =
               line({:string, "x"}, meta, flat: true, key_case: table)

      assert left == %{"time" => 7, "fault" => 2}
    end

    test "pointers start at the line" do
      meta = %{user: %{email: "s3cr3t", id: 1}, password: "s3cr3t"}

      assert %{"user" => %{"email" => "[REDACTED]", "id" => 1}, "password" => "[REDACTED]"} =
               line({:string, "x"}, meta, flat: true, redact: ["/user/email", "password"])
    end

    test "limits hold" do
      meta =
        for n <- 1..5_000, into: %{}, do: {:"flat_#{rem(n, 500)}_#{div(n, 500)}", String.duplicate("x", 100)}

      for most <- [1, 2_000, 65_536] do
        json = text({:string, "kept"}, meta, flat: true, max_bytes: most)
        assert byte_size(json) <= max(most, 1_024)
        assert %{"message" => "kept", "metadata" => %{"…" => _}} = RustyJson.decode!(json)
      end
    end
  end

  test "options that are wrong" do
    levels =
      "option :levels takes strings or integers for :emergency, :alert, :critical, :error, :warning, :notice, :info and :debug, got: "

    metadata = "option :metadata takes :all, a list of atoms or {:all_except, a list of atoms}, got: "

    for {options, message} <- [
          {[preset: :splunk], "option :preset takes :datadog, :elastic or :google_cloud, got: :splunk"},
          {[preset: :elastick],
           "option :preset takes :datadog, :elastic or :google_cloud, got: :elastick, did you mean :elastic?"},
          {[flat: 1], "option :flat takes a boolean, got: 1"},
          {[levels: [warn: "W"]], levels <> ~s([warn: "W"], did you mean :warning?)},
          {[levels: [error: nil]], levels <> "[error: nil]"},
          {[levels: [error: <<255>>]], levels <> "[error: <<255>>]"},
          {[levels: :none], levels <> ":none"},
          {[metadata: {:all_except, :pid}], metadata <> "{:all_except, :pid}"},
          {[metadata: {:except, [:pid]}], metadata <> "{:except, [:pid]}"},
          {[names: [levl: "l"]],
           "option :names takes strings for :error, :level, :message, :metadata and :time, " <>
             ~s(got: [levl: "l"], did you mean :level?)},
          {[names: [level: "time"]],
           ~s(option :names gives two members the name "time", got: [level: "time"])},
          {[names: [level: String.duplicate("é", 999), time: "a", error: "a"]], "two members the name \"a\""},
          {[:flat], "options of the formatter are a keyword list or a map, got: [:flat]"},
          {[flatt: true], "unknown option :flatt, did you mean :flat? the formatter takes"}
        ] do
      error = assert_raise ArgumentError, fn -> LogFormatter.new(options) end
      assert error.message =~ message and byte_size(error.message) < 600

      assert LogFormatter.check_config(options) ==
               {:error, {:invalid_formatter_config, LogFormatter, error.message}}
    end
  end
end
