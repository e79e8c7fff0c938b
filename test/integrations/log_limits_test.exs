defmodule RustyJson.LogLimitsTest do
  @moduledoc """
  `RustyJson.LogFormatter`: whatever an event holds, its line is valid JSON, one line, within its limit, and there in a bounded time.
  """
  # Not beside tests that look for implementations of protocols: the VM does that for one caller at a time.
  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Fragment, LogFormatter}
  alias RustyJson.Test.{Clock, Judge}

  @time 1_709_208_000_000_000
  @most 65_536
  # A line takes milliseconds; each of these took seconds or more, or had no end.
  @longest_ms 2_000
  @words 20_000_000

  defmodule Long do
    defstruct []
    defimpl(Inspect, do: def(inspect(_, _), do: String.duplicate("x", 1_000_000)))
  end

  defmodule LongJson do
    defstruct []
    defimpl(RustyJson.Encoder, do: def(encode(_, _), do: [?", String.duplicate("x", 1_000_000), ?"]))
  end

  defmodule SharedJson do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_, _), do: [?", Enum.reduce(1..60, "", fn _, text -> [text, text] end), ?"]
    end
  end

  defmodule Garbage do
    defstruct [:text]
    defimpl(RustyJson.Encoder, do: def(encode(%{text: text}, _), do: text))
  end

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:field]
  end

  defmodule Telling do
    defexception [:term]
    def message(%{term: term}), do: inspect(term, limit: :infinity)
  end

  # In a process with a limit on its memory, which dies of a term without end. The event is made there: a message to another process has a
  # copy of each part.
  defp bounded(event, config) do
    {pid, monitor} =
      spawn_monitor(fn ->
        Process.flag(:max_heap_size, %{size: @words, kill: true, error_logger: false})
        {message, meta} = event.()
        event = %{level: :error, msg: message, meta: Map.put_new(meta, :time, @time)}
        exit({:done, :timer.tc(fn -> event |> LogFormatter.format(config) |> IO.iodata_to_binary() end)})
      end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, {:done, result}} -> result
      {:DOWN, ^monitor, :process, ^pid, reason} -> flunk("ended by #{inspect(reason, limit: 5)}")
    after
      10_000 ->
        Process.exit(pid, :kill)
        flunk("no line after 10 s")
    end
  end

  # On a machine with much other work, one run tells little.
  defp quickest(event, config, runs) do
    {time, line} = bounded(event, config)

    if time < 1_000 * @longest_ms or runs == 1,
      do: {time, line},
      else: quickest(event, config, runs - 1)
  end

  defp line(message, meta, options \\ []), do: line_of(fn -> {message, meta} end, options)

  defp line_of(event, options) do
    most = with 0 <- Keyword.get(options, :max_bytes, @most), do: 16_777_216

    for {name, engine} <- Judge.engines() do
      {LogFormatter, config} = LogFormatter.new([engine: engine[:engine]] ++ options)
      {time, line} = quickest(event, config, 3)
      if time >= 1_000 * @longest_ms, do: Clock.flunk_unless_busy("#{name}: #{div(time, 1000)} ms")
      assert byte_size(line) <= most + 1, "#{name}: #{byte_size(line)} bytes"
      assert [json, ""] = String.split(line, "\n")
      assert {:ok, %{"level" => "error", "time" => _, "message" => _} = decoded} = RustyJson.decode(json)
      assert Map.keys(decoded) -- ~w(time level message metadata error) == []
      decoded
    end
    |> hd()
  end

  # 2^n or 12^n parts in a few words.
  defp shared(:maps),
    do: Enum.reduce(1..6, String.duplicate("x", 200), fn _, t -> Map.new(1..12, &{&1, t}) end)

  defp shared(:atoms),
    do: Enum.reduce(1..9, "x", fn _, t -> Map.new([:a, :b, :c, :d, :e, :f, :g], &{&1, t}) end)

  defp shared(:lists), do: Enum.reduce(1..60, "x", fn _, t -> [t, t] end)
  defp shared(:tuples), do: Enum.reduce(1..60, "x", fn _, t -> {t, t} end)
  defp shared(:keywords), do: Enum.reduce(1..60, "x", fn _, t -> [a: t, b: t] end)
  defp shared(:improper), do: Enum.reduce(1..60, "x", fn _, t -> [t | t] end)
  defp shared(:improper_pairs), do: Enum.reduce(1..60, "x", fn _, t -> [t, t | 1] end)
  defp shared(:keys), do: Enum.reduce(1..60, "x", fn _, t -> %{t => t} end)
  defp shared(:wide), do: Enum.reduce(1..4, 1, fn _, t -> List.duplicate(t, 2_000) end)
  defp shared(:pids), do: Enum.reduce(1..8, self(), fn _, t -> Map.new(1..12, &{&1, t}) end)
  defp shared(:bytes), do: List.duplicate(String.duplicate("x", 1_000_000), 3_000)
  defp shared(:derived), do: Enum.reduce(1..60, "x", fn _, t -> %Derived{field: [t, t]} end)

  @shapes ~w(maps atoms lists tuples keywords improper improper_pairs keys wide pids bytes derived)a
  @options [[], [redact: ["/metadata/x", :password], max_bytes: 2_000]]

  # Where such a term can stand in an event.
  defp events(shape) do
    [
      fn t -> {{:string, "kept"}, %{term: t}} end,
      fn t -> {{:report, %{term: t, other: [t]}}, %{}} end,
      fn t -> {{:report, [term: t]}, %{}} end,
      fn t -> {{:report, %{t => 1, String.duplicate("k", 1_000_000) => t}}, %{}} end,
      fn t -> {{~c"~p ~ts", [t, t]}, %{}} end,
      fn t -> {{:report, %{a: t}}, %{report_cb: fn %{a: a} -> {~c"~p", [a]} end}} end,
      fn t -> {{:report, %{struct: %Telling{term: t}, date: %{~D[2024-02-29] | day: t}}}, %{}} end,
      fn t -> {{:report, %{set: MapSet.new([t]), uri: %URI{path: t}, lazy: RustyJson.lazy([t])}}, %{}} end,
      fn t -> {{:string, "x"}, %{crash_reason: {%Telling{term: t}, []}, mfa: {:a, :b, t}}} end,
      fn t ->
        trace = [{:a, :b, [t], [file: t]}, {t, [1], []}]
        {{:string, "x"}, %{crash_reason: {{:bad, t}, trace}}}
      end
    ]
    |> Enum.map(fn event -> fn -> event.(shared(shape)) end end)
  end

  for shape <- @shapes do
    test "a term that shares its parts: #{shape}" do
      for options <- @options, {event, number} <- Enum.with_index(events(unquote(shape))) do
        decoded = line_of(event, options)
        if number == 0, do: assert(decoded["message"] == "kept")
      end
    end
  end

  test "chardata without end" do
    x = fn -> Enum.reduce(1..40, "x", fn _, text -> [text, text] end) end
    empty = fn -> Enum.reduce(1..60, "", fn _, text -> [text, text] end) end

    cut = line_of(fn -> {{:string, x.()}, %{file: x.()}} end, [])
    assert cut["message"] =~ ~r/^x{8192}… \(more than 65537 bytes\)$/
    assert line_of(fn -> {{:string, empty.()}, %{}} end, [])["message"] =~ "more than"

    for event <- [
          fn -> {{x.(), [x.()]}, %{}} end,
          fn -> {{:report, %{x.() => 1}}, %{x: %Fragment{encode: x.()}, y: %Fragment{encode: empty.()}}} end,
          fn -> {{:report, %{a: 1}}, %{report_cb: fn _ -> {:string, x.()} end}} end,
          fn -> {{:report, %{a: 1}}, %{report_cb: fn _, _ -> x.() end}} end,
          fn -> {{:string, [x.() | :broken]}, %{}} end,
          fn -> {{:string, List.duplicate(?x, 1_000_000)}, %{}} end
        ],
        do: line_of(event, [])
  end

  # The limit on characters of `:io_lib` bounds neither of these: it reads the whole format, and pads first.
  test "formats without end, and wide ones" do
    for event <- [
          fn -> {Enum.reduce(1..60, "x", fn _, t -> [t, t] end), []} end,
          fn -> {~c"~*c", [1_000_000_000, ?x]} end,
          fn -> {~c"~*w", [1_000_000_000_000, 1]} end,
          fn -> {~c"~.*f", [1_000_000_000, 1.0]} end,
          fn -> {"~1000000000n", []} end,
          fn -> {String.duplicate("~65536n", 9_000), []} end,
          fn -> {"~" <> String.duplicate("9", 1_000_000) <> "n", []} end
        ] do
      assert [_format, _arguments] = line_of(fn -> {event.(), %{}} end, [])["message"]
      line_of(fn -> {{:report, %{a: 1}}, %{report_cb: fn _ -> event.() end}} end, [])
    end

    assert line({~c"~5.1f|~-6w|~*c", [1.25, :a, 3, ?x]}, %{})["message"] == "  1.3|a     |xxx"
  end

  defmodule Quiet do
    defstruct [:rows]
    defimpl(RustyJson.Encoder, do: def(encode(_, _), do: "1"))
  end

  # Each of these is looked at as a whole, and an event may have it many times.
  test "each look at a part of an event is paid for" do
    parts = [
      fn -> %Quiet{rows: Enum.to_list(1..60_000)} end,
      fn -> %Fragment{encode: "[" <> String.duplicate("1,", 30_000)} end,
      fn -> %Fragment{encode: List.duplicate([[]], 60_000)} end,
      fn -> MapSet.new(1..30_000) end,
      fn -> %RustyJson.OrderedObject{values: List.duplicate({"a", 1}, 300_000) ++ [:x]} end,
      fn -> %{List.duplicate(?a, 60_000) => 1} end,
      fn -> {List.duplicate(?a, 60_000), 1} end,
      fn -> %{String.duplicate("k", 60_000) => 1} end,
      fn -> %{%{~D[2024-02-29] | year: Integer.pow(10, 200_000)} => 1} end
    ]

    # Without redaction, a broken fragment is described by `inspect/2`, which is slow where protocols are not consolidated.
    for part <- parts,
        options <- [[], [redact: [{:contains, ["secret"]}]]],
        options != [] or not is_struct(part.(), Fragment) do
      line_of(fn -> {{:report, %{all: List.duplicate(part.(), 5_000)}}, %{}} end, options)
    end
  end

  test "long keys stay where there are few" do
    key = String.duplicate("k", 10_000)
    assert %{"message" => %{^key => "hidden"}} = line({:report, %{key => "hidden"}}, %{})
    assert %{"message" => %{^key => 1}} = line({:report, %{String.to_charlist(key) => 1}}, %{}, redact: ["x"])
  end

  test "nothing lazy is computed" do
    test = self()
    endless = Stream.repeatedly(fn -> send(test, :computed) end)

    for options <- [[], [redact: [:password]]], big <- ["", String.duplicate("x", 100_000)] do
      report = %{
        rows: RustyJson.lazy(endless),
        list: RustyJson.lazy([1, 2]),
        in: %Derived{field: RustyJson.lazy(endless)}
      }

      line = line({:report, report}, %{rows: RustyJson.lazy(endless), big: big}, options)
      assert line["metadata"]["rows"] == "a lazy array"

      if big == "",
        do:
          assert(
            %{"rows" => "a lazy array", "list" => [1, 2], "in" => %{"field" => "a lazy array"}} =
              line["message"]
          )
    end

    refute_received :computed
  end

  test "structs whose texts are long" do
    for struct <- [%Long{}, %LongJson{}, %SharedJson{}, {:a, %Long{}}, %{%Long{} => 1}, [1 | %Long{}]],
        options <- [[], [redact: [:password], max_bytes: 2_000]] do
      assert line({:string, "kept"}, %{struct: struct}, options)["message"] == "kept"
      line({:report, %{all: List.duplicate(struct, 3)}}, %{}, options)
      line({:string, "x"}, %{crash_reason: {struct, []}}, options)
    end
  end

  @broken [
    ~s(1,"level":"forged"),
    ~s(1},"message":"forged"),
    ~s("a" "b"),
    ~s({"a":),
    <<34, 255, 34>>,
    "",
    "nul",
    "1]",
    ~s("\n"),
    "{\n",
    String.duplicate("[", 1_000)
  ]

  test "fragments and encoders that give anything but one JSON value" do
    for text <- @broken,
        part <- [
          %Fragment{encode: text},
          %Fragment{encode: [text]},
          %Fragment{encode: fn _ -> text end},
          %Garbage{text: text}
        ],
        options <- [[], [redact: [:password]]],
        big <- ["", String.duplicate("x", 100_000)] do
      for holder <- [part, [part], %Derived{field: part}, {part}, MapSet.new([part]), [a: part]] do
        line = line({:report, %{part: holder}}, %{part: holder, big: big, last: 1}, options)
        assert %{"part" => _, "last" => 1} = line["metadata"]
        refute line["level"] == "forged" or line["message"] == "forged"
      end
    end
  end

  test "valid fragments stay" do
    for part <- [%Fragment{encode: ~s({"a": 1})}, %Fragment{encode: fn _ -> ["{\"a\":", "1}"] end}],
        holder <- [part, %Derived{field: part}] do
      assert %{"message" => %{"part" => shown}} = line({:report, %{part: holder}}, %{})
      assert shown in [%{"a" => 1}, %{"field" => %{"a" => 1}}]
    end
  end

  test "huge integers, levels and names" do
    huge = Integer.pow(7, 300_000)

    line({:report, %{huge => 1, a: huge, list: [huge, -huge]}}, %{time: huge, mfa: {:a, :b, huge}})
    line({:string, "x"}, %{time: -huge, line: huge})
    line({:string, "x"}, %{}, max_bytes: 1_024)
    names = Map.new(1..2_000, &{:"key_of_metadata_#{&1}", String.duplicate("v", 100)})

    line({:string, String.duplicate("\u{1F600}", 9_000)}, names,
      metadata: Map.keys(names),
      escape: :unicode_safe
    )
  end

  test "limits of the limit" do
    assert {:error, _} = LogFormatter.check_config(max_bytes: 16_777_217)
    assert LogFormatter.check_config(max_bytes: 0) == :ok
    long = String.duplicate("x", 10_000_000)
    assert byte_size(line({:string, long}, %{}, max_bytes: 0)["message"]) == 10_000_000
  end
end
