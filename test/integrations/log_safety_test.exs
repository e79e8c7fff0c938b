defmodule RustyJson.LogSafetyTest do
  @moduledoc "`RustyJson.LogFormatter`: wrong options, secrets in unusual places, and events that exceed a limit."
  use ExUnit.Case, async: true

  alias RustyJson.LogFormatter
  alias RustyJson.Test.Judge

  @time 1_709_208_000_000_000
  @big String.duplicate("x", 100_000)

  defp text(message, meta, options) do
    event = %{level: :error, msg: message, meta: Map.put_new(meta, :time, @time)}

    lines =
      for {_, engine} <- Judge.engines() do
        event |> LogFormatter.format([engine: engine[:engine]] ++ options) |> IO.iodata_to_binary()
      end

    assert [line] = Enum.uniq(lines)
    line
  end

  defp line(message, meta, options \\ []), do: message |> text(meta, options) |> RustyJson.decode!()

  @wrong [
    [redct: [:password]],
    [redact: :password],
    [metadata: "x"],
    [metadata: nil],
    [metadata: [:a | :b]],
    [names: :foo],
    [names: [levell: "x"]],
    [names: [level: 5]],
    [names: [level: "time"]],
    [names: [level: <<255>>]],
    [max_bytes: -1],
    [max_depth: :deep],
    :foo,
    [:redact]
  ]

  test "wrong options are refused, and so is a handler that has them" do
    for options <- @wrong do
      assert_raise ArgumentError, fn -> LogFormatter.new(options) end

      assert {:error, {:invalid_formatter_config, LogFormatter, message}} =
               :logger.add_handler(:wrong_log_formatter, :logger_std_h, %{formatter: {LogFormatter, options}})

      assert message =~ ~r/option|names/
    end

    assert LogFormatter.check_config(%{}) == :ok
    assert LogFormatter.check_config(metadata: [:user], names: %{level: "severity"}) == :ok
  end

  test "a line that is written with wrong options tells of them, and shows no metadata" do
    line = line({:string, "paid \"now\""}, %{password: "s3cr3t"}, redct: [:password])
    assert line["message"] == "paid now"
    assert line["error"] =~ "unknown option :redct"
    assert line["time"] == "2024-02-29T12:00:00.000000Z"
    refute inspect(line) =~ "s3cr3t"
  end

  test "keyword lists in reports, metadata and crashes are redacted" do
    arguments = %{args: [password: "s3cr3t", n: 1], state: {:state, [[password: "s3cr3t"] | :improper]}}
    options = [redact: [:password]]

    assert line({:report, arguments}, %{arguments: arguments}, options)["message"]["args"] ==
             %{"password" => "[REDACTED]", "n" => 1}

    crash = %{crash_reason: {{:bad, [password: "s3cr3t"]}, []}}

    for meta <- [%{a: arguments}, %{a: arguments, big: @big}, crash, Map.put(crash, :big, @big)] do
      refute text({:report, arguments}, meta, options) =~ "s3cr3t"
    end

    for report <- [
          [args: [password: "s3cr3t"]],
          %{a: [1 | %{b: [password: "s3cr3t"]}]},
          %{a: [[[[[[password: "s3cr3t"]]]]]]}
        ] do
      refute text({:report, report}, %{in: %{in: report}}, options) =~ "s3cr3t"
    end

    wide = List.duplicate([password: "s3cr3t"], 50_000)
    refute text({:report, %{wide: wide}}, %{}, options) =~ "s3cr3t"
    assert line({:report, %{args: [a: 1]}}, %{})["message"]["args"] == [["a", 1]]
  end

  test "no line has an object with a key twice" do
    for options <- [[], [redact: [:password]]],
        report <- [[a: 1, a: 2, password: "x"], [{"a", 1}, {:a, 2}, {"password", "x"}]] do
      line = text({:report, %{args: report}}, %{args: report}, options)
      assert {:ok, _} = RustyJson.decode(line, duplicate_keys: :error)
      line = text({:report, report}, %{}, options)

      assert {:ok, %{"message" => [["a", 1], ["a", 2], ["password", _]]}} =
               RustyJson.decode(line, duplicate_keys: :error)
    end

    refute text({:report, [a: 1, a: 2, password: "s3cr3t"]}, %{}, redact: [:password]) =~ "s3cr3t"
  end

  # What OTP and libraries give: lists of pairs under keys of every kind, among other terms, in tuples, with an improper end.
  @pairs [
    [:debug, {:password, "s3cr3t"}, {:size, 10}],
    [{"password", "s3cr3t"}, {"accept", "*/*"}],
    [{~c"password", ~c"s3cr3t"}],
    [{:"$initial_call", {:a, :b, 1}}, {:password, "s3cr3t"}, {"other", 1}],
    [{:password, "s3cr3t"} | :improper],
    [1 | {:password, "s3cr3t"}],
    {:state, [], {:password, "s3cr3t"}},
    {:password, "s3cr3t"},
    %{{:a, 1} => [{:password, "s3cr3t"}]},
    [[{:password, "s3cr3t"}, 1], [[{:password, "s3cr3t"}]]]
  ]

  test "proplists, pairs and crash reports are redacted" do
    report = fn pairs ->
      %{
        label: {:proc_lib, :crash},
        report: [
          [
            initial_call: {:gen_server, :init_it, [:Arguments]},
            error_info: {:error, {:bad, pairs}, [{:a, :b, [pairs], [file: ~c"a.erl", line: 1]}]},
            dictionary: [{:"$ancestors", [self()]}, {"password", "s3cr3t"}, pairs],
            messages: [{:"$gen_call", {self(), make_ref()}, pairs}]
          ],
          [{:neighbour, [dictionary: pairs]}]
        ]
      }
    end

    for pairs <- @pairs, extra <- [%{}, %{big: @big}], redact <- [["password"], [contains: ["assw"]]] do
      text = text({:report, report.(pairs)}, Map.put(extra, :state, pairs), redact: redact)
      refute text =~ "s3cr3t"
      # The characters of a charlist.
      refute text =~ "115,51,99"
      assert text =~ "[REDACTED]"

      crash = %{crash_reason: {{:bad, pairs}, [{:a, :b, [pairs], []}]}}
      refute text({:string, "x"}, Map.merge(extra, crash), redact: redact) =~ "s3cr3t"
    end

    assert line({:report, %{a: [1, 2 | 3]}}, %{}, redact: [:password])["message"] == %{"a" => [1, 2, "|", 3]}
    assert line({:report, %{a: {:password, 1}}}, %{})["message"] == %{"a" => ["password", 1]}
  end

  test "keys that contain a word, as Phoenix filters parameters" do
    meta = %{
      params: %{"user" => %{"password_confirmation" => "s3cr3t", "name" => "Ada"}},
      api_token: "s3cr3t"
    }

    whole = line({:string, "x"}, meta, redact: ["password", :token])["metadata"]
    assert whole["params"]["user"]["password_confirmation"] == "s3cr3t"

    for extra <- [%{}, %{big: @big}] do
      text = text({:string, "x"}, Map.merge(extra, meta), redact: [contains: ["password", :token]])
      refute text =~ "s3cr3t"
      assert text =~ "Ada"
    end
  end

  test "keys of a line that is shortened are redacted as others" do
    long = String.duplicate("k", 200)
    options = [redact: ["password", "2024-01-01", long, "/metadata/in/#{long}l"]]

    meta = %{
      ~c"password" => "s3cr3t",
      ~D[2024-01-01] => "s3cr3t",
      long => "s3cr3t",
      in: %{(long <> "l") => "s3cr3t", (long <> "m") => "kept"}
    }

    for meta <- [meta, Map.put(meta, :big, @big)] do
      line = text({:string, "x"}, %{all: meta, in: meta.in}, options)
      assert [_, _, _] = String.split(line, "kept")
      assert length(String.split(line, "s3cr3t")) == 2, line
    end
  end

  test "of an event that is too large, only what is large is shortened" do
    meta = %{
      request_id: "r1",
      uri: URI.parse("http://a/b"),
      set: MapSet.new([1]),
      small: Map.new(1..100, &{&1, &1})
    }

    message = String.duplicate("m", 8_000)
    line = line({:string, message}, Map.put(meta, :big, @big))
    assert line["message"] == message

    assert line["metadata"] ==
             line({:string, ""}, meta)["metadata"] |> Map.put("big", line["metadata"]["big"])

    assert line["metadata"]["big"] =~ "… (100000 bytes)"

    named = Map.new(1..100, &{:"key#{&1}", String.duplicate("v", 1_000)})
    line = line({:string, "x"}, named, metadata: Map.keys(named))
    assert map_size(line["metadata"]) == 100
  end

  defmodule Lines do
    defstruct []
    defimpl(RustyJson.Encoder, do: def(encode(_, _), do: "[1,\n2]"))
  end

  test "neither a fragment nor an encoder can end a line" do
    {:ok, %{"p" => part}} = RustyJson.decode(~s({"p": {"a":\n{"level":"forged"}\n}}), raw: ["/p"])
    broken = %RustyJson.Fragment{encode: "{\n"}

    for extra <- [%{}, %{big: @big}], options <- [[], [redact: ["/metadata/x"]], [names: [level: "l"]]] do
      assert [_json, ""] =
               {:string, "x"} |> text(Map.put(extra, :broken, broken), options) |> String.split("\n")

      line = text({:report, %{part: part}}, Map.merge(extra, %{part: part, lines: %Lines{}}), options)
      assert [json, ""] = String.split(line, "\n")
      assert %{"message" => %{"part" => %{"a" => %{"level" => "forged"}}}} = RustyJson.decode!(json)
    end
  end

  test "order and repeated keys stay when a line is shortened" do
    assert text({:report, [b: 1, a: @big]}, %{}, []) =~ ~r/"message":\{"b":1,"a":"x+… /
    assert text({:report, [b: 1, a: 2, b: @big]}, %{}, []) =~ ~r/"message":\[\["b",1\],\["a",2\],\["b","x+… /
  end

  test "events that no logger makes are described, and their text stays" do
    for object <- [%RustyJson.OrderedObject{values: [1]}, %RustyJson.OrderedObject{values: :oops}],
        extra <- [%{}, %{big: @big}] do
      assert %{"message" => "kept"} = line({:string, "kept"}, Map.put(extra, :object, object))
    end

    event = %{level: :info, msg: {:string, "kept"}}

    for event <- [event, Map.put(event, :meta, nil), Map.put(event, :meta, %{time: Integer.pow(10, 22)})] do
      json = event |> LogFormatter.format(%{}) |> IO.iodata_to_binary()
      assert %{"message" => "kept", "metadata" => %{}, "time" => "20" <> _} = RustyJson.decode!(json)
    end
  end
end

defmodule RustyJson.LogConfigTest do
  @moduledoc "`RustyJson.LogFormatter` with `redact:` in the application's configuration."
  use ExUnit.Case, async: false

  alias RustyJson.{Config, LogFormatter}

  test "what the configuration redacts is redacted in reports, too" do
    before = Application.fetch_env(:rustyjson, :encode)
    Application.put_env(:rustyjson, :encode, redact: [:password, "level"])
    Config.reload()

    on_exit(fn ->
      case before do
        {:ok, value} -> Application.put_env(:rustyjson, :encode, value)
        :error -> Application.delete_env(:rustyjson, :encode)
      end

      Config.reload()
    end)

    told = fn report -> {~c"~p", [report]} end
    event = %{level: :info, msg: {:report, %{password: "s3cr3t"}}, meta: %{report_cb: told}}

    assert %{"level" => "[REDACTED]", "message" => %{"password" => "[REDACTED]"}} =
             event |> LogFormatter.format([]) |> IO.iodata_to_binary() |> RustyJson.decode!()
  end
end
