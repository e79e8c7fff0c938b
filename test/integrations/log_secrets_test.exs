defmodule RustyJson.LogSecretsTest do
  @moduledoc "`RustyJson.LogFormatter` with `redact:`: no value of a redacted key is in the line, whatever holds it and wherever it stands."
  use ExUnit.Case, async: true

  alias RustyJson.{LogFormatter, OrderedObject}
  alias RustyJson.Test.Judge

  @secret "s3cr3t"
  @big String.duplicate("x", 20_000)

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:password, :x]
  end

  defmodule Renamed do
    @derive {RustyJson.Encoder, key_case: [api_key: "apiKey", note: "apiNote"]}
    defexception [:api_key, :note]
    def message(error), do: "bad key: #{inspect(Map.from_struct(error))}"
  end

  defmodule Plain do
    defstruct [:password, :x]
  end

  defmodule Own do
    defstruct [:password]

    defimpl(RustyJson.Encoder,
      do: def(encode(own, opts), do: RustyJson.Encode.value([%{password: own.password}], opts))
    )
  end

  defmodule Broken do
    defexception [:state]
    def message(%{state: state}), do: "bad state: #{inspect(state)}"
  end

  defmodule S3cr3t.Error do
    defexception message: "x"
  end

  defmodule Failing do
    defexception [:password]
    def message(%{password: _}), do: raise("no message")
  end

  # What keeps a secret under the key "password".
  defp holders do
    pairs = [password: @secret]

    [
      %{password: @secret},
      %{~c"password" => @secret},
      [{~c"password", ~c"s3cr3t"}],
      [:a, {:password, @secret}, "x"],
      [{"password", @secret}, {:a, 1, 2}],
      [{:a, 1}, {:password, @secret} | {:password, @secret}],
      [1 | {:password, @secret}],
      {:state, %{a: {:b, [1 | %{password: @secret}]}}},
      %Derived{password: @secret},
      %Derived{x: pairs},
      %Plain{password: @secret},
      %Plain{x: pairs},
      %Own{password: @secret},
      %Broken{state: pairs},
      %Failing{password: @secret},
      %MatchError{term: {:error, %{password: @secret}}},
      %KeyError{key: :a, term: %{password: @secret}},
      %ErlangError{original: {:badmatch, pairs}},
      %{__exception__: true, __struct__: None, password: @secret},
      %{~D[2024-01-01] | day: pairs},
      %{(1..2) | first: pairs},
      %{(1..2) | step: pairs},
      %{URI.parse("http://a") | host: pairs},
      MapSet.new([pairs, {:password, @secret}]),
      OrderedObject.new([{"password", @secret}, {:a, pairs}]),
      %OrderedObject{values: [{"a", 1}, pairs]},
      RustyJson.lazy([{:password, @secret}, pairs]),
      RustyJson.lazy(Stream.map(pairs, & &1)),
      {pairs, []},
      :array.from_list([pairs]),
      fn -> pairs end,
      Enum.reduce(1..70, pairs, fn _, term -> [term] end),
      [{:password, <<1::3>>}, {:password, %{@secret => @secret}}]
      | for(key <- [pairs, {:password, @secret}, %{password: @secret}, [1 | pairs]], do: %{key => 1}) ++
          for(
            key <- [%Plain{password: @secret}, %Derived{password: @secret}, [%{password: @secret}]],
            do: %{key => 1}
          ) ++ foreign(pairs)
    ]
  end

  # Only another library encodes it, by an implementation that it derives.
  defp foreign(pairs) do
    if Code.ensure_loaded?(RustyJson.Test.Structs.Foreign),
      do: [struct!(RustyJson.Test.Structs.Foreign, headers: pairs)],
      else: []
  end

  # Where a term can stand in an event of `:logger`.
  defp events(term) do
    trace = [{:gen_server, :call, [term], [file: ~c"a.erl", line: 1]}, {fn -> term end, [term], []}]

    crash = [
      [
        initial_call: {:a, :b, [term]},
        error_info: {:exit, term, trace},
        dictionary: [term, {:"$ancestors", [self()]}],
        messages: [{:"$gen_call", {self(), make_ref()}, term}]
      ],
      [{:neighbour, [dictionary: [term]]}]
    ]

    server = %{
      label: {:gen_server, :terminate},
      name: :shop,
      last_message: term,
      state: term,
      log: [term],
      reason: {term, trace}
    }

    task = %{label: {Task.Supervisor, :terminating}, report: %{args: [term], reason: {term, trace}}}

    child = [
      pid: self(),
      id: :shop,
      mfargs: {:shop, :start_link, [term]},
      restart_type: :permanent,
      shutdown: 5_000
    ]

    progress = %{label: {:supervisor, :progress}, report: [supervisor: {:local, :sup}, started: child]}

    failed = %{
      label: {:supervisor, :child_terminated},
      report: [supervisor: {:local, :sup}, errorContext: :x, reason: {term, trace}, offender: child]
    }

    sasl = %{domain: [:otp, :sasl], logger_formatter: %{title: ~c"CRASH REPORT"}}

    [
      {{:report, %{label: {:proc_lib, :crash}, report: crash}},
       Map.put(sasl, :report_cb, &:proc_lib.report_cb/2)},
      {{:report, server}, %{domain: [:otp], report_cb: &:gen_server.format_log/1}},
      {{:report, task}, %{report_cb: &inspect/1}},
      # Logger's own text of a crash, from Elixir 1.19 on.
      {{:report, Map.put(server, :elixir_translation, ["Last message: " | inspect(term)])},
       %{domain: [:otp]}},
      {{:report, [elixir_translation: inspect(term), v: term]}, %{}},
      {{:report, progress}, Map.put(sasl, :report_cb, &:logger.format_otp_report/1)},
      {{:report, failed}, Map.put(sasl, :report_cb, &:supervisor.format_log/1)},
      {{:report, [v: term]}, %{}},
      {{:report, term}, %{}},
      {{:string, "x"}, %{term: term, file: term, line: term, mfa: {term, term, term}, pid: term}},
      {{:string, "x"}, %{crash_reason: {term, trace}}},
      {{:string, "x"}, %{crash_reason: {%MatchError{term: term}, trace}}},
      {{:string, "x"}, %{crash_reason: {{%MatchError{term: term}, trace}, [term]}}},
      {{:string, "x"}, %{crash_reason: {{:nocatch, term}, []}}}
    ]
  end

  # Text is made of these terms.
  defp texts(term),
    do: [{{~c"~p and ~w in ~p", [term, term, [term]]}, %{}}, {{~c"~p", [term, :too_many]}, %{}}]

  defp line({message, meta}, options) do
    event = %{level: :error, msg: message, meta: Map.put(meta, :time, 0)}

    lines =
      for {_, engine} <- Judge.engines() do
        event |> LogFormatter.format([engine: engine[:engine]] ++ options) |> IO.iodata_to_binary()
      end

    assert [line] = Enum.uniq(lines)
    line
  end

  defp check(event, options) do
    line = line(event, options)
    shown = inspect({event, options}, limit: 20, printable_limit: 40)
    refute line =~ @secret, shown
    # A charlist as `io_lib` and as JSON writes it, and the codes of the bytes.
    for codes <- ["115,51,99", "115, 51, 99"], do: refute(line =~ codes, shown)
    assert [json, ""] = String.split(line, "\n"), shown
    assert byte_size(json) <= Keyword.get(options, :max_bytes, 65_536), shown
    assert {:ok, %{"level" => "error", "message" => _}} = RustyJson.decode(json), shown
    refute line =~ "could not be formatted", shown
  end

  # A holder in a place, in a line with room, with less, and with hardly any.
  defp sizes,
    do: [{%{}, []}, {%{zz: @big}, [max_bytes: 4_096]}, {%{zz: List.duplicate(@big, 50)}, [max_bytes: 1_024]}]

  defp redactions, do: [["password"], [contains: ["assw"]], ["/metadata/zz", :password]]

  defp cases do
    for term <- holders(),
        {message, meta} <- events(term) ++ texts(term),
        {more, options} <- sizes(),
        redact <- redactions(),
        do: {{message, Map.merge(meta, more)}, [redact: redact] ++ options}
  end

  # The number has no factor in common with those of places, sizes and redactions, so that each meets each of the others.
  test "holders of a secret in places of an event" do
    for {event, options} <- Enum.take_every(cases(), 61), do: check(event, options)
  end

  test "a field that has another name in JSON is redacted under both, where text is made of its struct" do
    renamed = %Renamed{api_key: @secret, note: "kept"}

    for redact <- [["apiKey"], ["api_key"], [contains: ["piK"]]],
        term <- [renamed, {:error, [renamed]}, %MatchError{term: renamed}, %{renamed | note: renamed}],
        event <- events(term) ++ texts(term) do
      check(event, redact: redact)
    end

    assert line({{~c"~p", [renamed]}, %{}}, redact: ["apiKey"]) =~ "kept"
  end

  # What a plain line hides under these names, every layout hides.
  test "redaction is the same in every layout" do
    stacktrace = [{__MODULE__, :fun, 1, [file: ~c"lib/s3cr3t.ex", line: 3]}]
    report = {:report, %{password: @secret}}

    places = [
      {["/message/password", "/message", :message, "message", "/*/password", [contains: ["essag"]]],
       {report, %{}}},
      {["/message/password", :message], {{:report, [password: @secret]}, %{}}},
      {["/message", :message, [contains: "message"]], {{:string, @secret}, %{}}},
      {[
         "/metadata/user/email",
         "/metadata/user",
         "/metadata",
         :metadata,
         :email,
         "/*/user",
         "/*",
         "/metadata/*"
       ] ++
         [[contains: ["metada"]], "/metadata/*/email"], {{:string, "x"}, %{user: %{email: @secret}}}},
      {["/metadata/level", "/metadata", :metadata], {{:string, "x"}, %{level: @secret}}},
      {["/metadata/file", :file, "/metadata", :metadata, [contains: ["fil"]]],
       {{:string, "x"}, %{file: ~c"lib/s3cr3t.ex", line: 1, mfa: {A, :b, 1}}}},
      {["/metadata/mfa", :mfa, :metadata], {{:string, "x"}, %{mfa: {A, :s3cr3t, 1}}}},
      {["/error/message", "/error", :error],
       {{:string, "x"}, %{crash_reason: {%RuntimeError{message: @secret}, []}}}},
      {["/error/stacktrace", "/error", [contains: ["erro"]]],
       {{:string, "x"}, %{crash_reason: {%RuntimeError{message: "x"}, stacktrace}}}}
    ]

    layouts =
      for preset <- [[], [preset: :datadog], [preset: :google_cloud], [preset: :elastic]],
          flat <- [[], [flat: true], [flat: true, key_case: %{user: "who", level: "how", message: "what"}]],
          names <- [[], [names: [message: "m/sg", metadata: "m~eta", level: "l", error: "err"]]],
          do: preset ++ flat ++ names

    for {entries, event} <- places, entry <- entries, layout <- layouts do
      redact = List.wrap(entry)
      line = line(event, [redact: redact] ++ layout)
      refute line =~ @secret, inspect({redact, layout, event})
      refute line =~ "could not be formatted"
      assert RustyJson.valid?(line)
    end

    # No more than that is hidden.
    for layout <- layouts do
      line =
        line(
          {report, %{user: %{email: @secret}, level: 1}},
          [redact: ["/message/password", "/metadata/level"]] ++ layout
        )

      assert [_, _] = String.split(line, @secret)
      line = line({{:string, "x"}, %{level: 1}}, [redact: ["/metadata/level"]] ++ layout)
      assert [_, _] = String.split(line, "[REDACTED]")
    end
  end

  test "pointers of a layout have the limit of all" do
    pointers = for n <- 1..33, do: "/metadata/#{n}"
    assert {:error, {_, _, message}} = LogFormatter.check_config(redact: pointers, flat: true)
    assert message =~ "at most 64 JSON Pointers"
    assert LogFormatter.check_config(redact: pointers) == :ok
    # A report stands in one of two places.
    pointers = for n <- 1..21, do: "/message/#{n}"
    options = [preset: :datadog, names: [message: "text"]]
    assert LogFormatter.check_config([redact: pointers] ++ options) == :ok
    assert {:error, _too_many} = LogFormatter.check_config([redact: ["/message/22" | pointers]] ++ options)
  end

  @tag :heavy
  test "every holder of a secret in every place, size and redaction" do
    for {event, options} <- cases(), do: check(event, options)
  end

  test "text that is made of terms shows all but what is redacted" do
    options = [redact: [:password]]
    state = %{password: @secret, user: "Ada", n: 1.5}
    message = &RustyJson.decode!(line(&1, options))["message"]
    assert message.({{~c"~p", [state]}, %{}}) =~ "Ada"

    assert message.({{~c"~ts ~.1f ~p", [["a", ?b], 1.5, {:password, 1}]}, %{}}) ==
             "ab 1.5 {password,<<\"[REDACTED]\">>}"

    error = &RustyJson.decode!(line({{:string, "x"}, %{crash_reason: {&1, []}}}, options))["error"]["message"]
    assert error.(%KeyError{key: :a, term: state}) =~ ~s(user: "Ada")
    assert error.(%KeyError{key: :a, term: state}) =~ ~s(password: "[REDACTED]")
    assert error.(%RuntimeError{message: "boom"}) == "boom"
    assert error.(%MatchError{term: [1, 2]}) == Exception.message(%MatchError{term: [1, 2]})
    assert error.(%Broken{state: MapSet.new([1])}) == "bad state: #{inspect(MapSet.new([1]))}"
  end

  test "a keyword list that ends elsewhere than it seems, of which a part is shown" do
    for list <- [[{:a, 1}, {:b, 2} | :end], [{:a, 1} | {:b, 2}], [{:a, 1}, {:b, 2}, :c | :end]],
        levels <- 1..30,
        do:
          check(
            {{:string, "x"}, %{a: List.duplicate(list, levels), zz: @big}},
            redact: [:password],
            max_bytes: 1_024
          )
  end

  test "a key that is renamed is hidden under both names, in text, too" do
    term = %{pass_word: @secret, list: [pass_word: @secret]}

    for redact <- ["passWord", :pass_word, [contains: ["ssWo", "ss_w"]]],
        preset <- [nil, :datadog],
        event <- [
          {{~c"~p", [term]}, %{}},
          {{:report, term}, %{user: term}},
          {{:string, "x"}, %{crash_reason: {term, []}}},
          {{:string, "x"}, %{crash_reason: {%KeyError{key: :x, term: term}, []}}}
        ] do
      options = [key_case: :camel, redact: List.wrap(redact)] ++ if(preset, do: [preset: preset], else: [])
      refute line(event, options) =~ @secret, inspect({redact, preset, event})
    end
  end

  test "flat metadata has no name twice" do
    line = line({{:string, "x"}, %{user_id: 1, userId: 2}}, flat: true, key_case: :camel)
    assert {:ok, %{"metadata" => %{"userId" => _}, "userId" => _}} = RustyJson.decode(line)
    assert length(String.split(line, ~s("userId"))) == 3
  end

  # A preset has other names, and writes a report that is no object below another member. Its error has texts where the plain one has terms.
  test "presets hide what the plain line hides" do
    crash = &{{:string, "x"}, %{crash_reason: &1}}
    exit = crash.({%{password: @secret}, []})
    nested = crash.({{:shutdown, [%{password: @secret}]}, []})
    listed = crash.({[@secret], []})
    named = crash.({%__MODULE__.S3cr3t.Error{}, []})
    placed = crash.({%RuntimeError{message: "x"}, [{__MODULE__, :f, 1, [file: ~c"lib/s3cr3t.ex", line: 3]}]})
    told = crash.({%MatchError{term: @secret}, []})

    for preset <- [nil, :google_cloud, :datadog, :elastic],
        {redactions, event} <- [
          {["/message/password", "/message/*"], {{:report, %Derived{password: @secret}}, %{}}},
          {["/message/0/1/password"], {{:report, [{:a, %{password: @secret}}, {:a, 1}]}, %{}}},
          {[:message, "/error/message", [contains: "message"]], told},
          {[:stacktrace, "/error/stacktrace/0", "/error/*/0", "/*/*/0", [contains: "stack"]], placed},
          {[:kind, "/error/kind", "/*/kind", [contains: "kin"]], named},
          {["/error/message/password", "/error/*/password", "/*/message/password", "/*/*/password"], exit},
          {["/error/message/1/0/password", "/error/*/1/*/password"], nested},
          {["/error/message/0", "/error/*/0", "/*/message/*"], listed}
        ],
        redact <- redactions do
      options = [redact: List.wrap(redact)] ++ if(preset, do: [preset: preset], else: [])
      line = line(event, options)
      assert {:ok, _} = RustyJson.decode(line)
      refute line =~ ~r/#{@secret}/i, "#{inspect(preset)} #{inspect(redact)}: #{line}"
    end
  end
end
