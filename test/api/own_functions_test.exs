defmodule RustyJson.OwnFunctionsTest do
  @moduledoc "The limits of a call hold for what the application gives it: functions, sources of lazy arrays, and structs with huge integers."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Measure
  alias RustyJson.{Lazy, OrderedObject, SandboxError}
  alias RustyJson.Test.{Clock, Judge}

  defmodule Catches do
    defstruct [:parent]

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts) do
        RustyJson.encode!(%{x: RustyJson.lazy(1..2)})
      catch
        _kind, _reason -> ~s("fallback")
      end
    end
  end

  defmodule Streams do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts), do: Enum.join(RustyJson.encode_stream([2]))
    end
  end

  defmodule Limits do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, _opts), do: RustyJson.encode!(value, max_bytes: 7)
    end
  end

  defmodule Shown do
    defstruct [:value]

    defimpl Inspect do
      def inspect(%{value: %{in: [{_key, value}]}}, _opts), do: Integer.to_string(value)
      def inspect(%{value: value}, _opts), do: Integer.to_string(value)
    end
  end

  defmodule Boxed do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, opts), do: RustyJson.Encode.map(%{"empty" => %{}, "value" => value}, opts)
    end
  end

  defmodule Mapped do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, _opts), do: %{"value" => value, "list" => []}
    end
  end

  # The same term without encoders and functions.
  defp plain(%Boxed{value: value}), do: %{"empty" => %{}, "value" => plain(value)}
  defp plain(%Mapped{value: value}), do: %{"value" => plain(value), "list" => []}
  defp plain({:written, value}), do: plain(value)
  defp plain(list) when is_list(list), do: Enum.map(list, &plain/1)
  defp plain(%{} = map), do: Map.new(map, fn {key, value} -> {key, plain(value)} end)
  defp plain(other), do: other

  defp own(%module{value: value}), do: struct(module, value: own(value))
  defp own({:written, value}), do: RustyJson.Fragment.new(&RustyJson.Encode.value(own(value), &1))
  defp own(list) when is_list(list), do: Enum.map(list, &own/1)
  defp own(%{} = map), do: Map.new(map, fn {key, value} -> {key, own(value)} end)
  defp own(other), do: other

  # A call may also wait in vain for an instance.
  @late [:timeout, :busy]

  # Elixir makes its digits in 4 seconds.
  @huge Integer.pow(10, 400_000)

  defp sandbox(options \\ []) do
    for {_engine, [{:engine, :wasm} | _] = engine} <- Judge.engines(), do: options ++ engine
  end

  # The shortest of a few calls, if the first was long: other tests run beside these.
  defp milliseconds(run, tries \\ 5) do
    {micros, result} = :timer.tc(run)
    took = div(micros, 1000)

    if took < 500 or tries == 1 do
      {took, result}
    else
      {again, result} = milliseconds(run, tries - 1)
      {min(took, again), result}
    end
  end

  describe "an integer that is too long for the digits of a struct" do
    structs = [
      date: quote(do: %{~D[2024-02-29] | year: @huge}),
      microsecond: quote(do: %{~T[10:00:00.123] | microsecond: {@huge, 6}}),
      zone: quote(do: %{~U[2024-02-29 10:00:00Z] | utc_offset: @huge}),
      uri: quote(do: %URI{scheme: "https", host: "a", port: @huge}),
      exponent: quote(do: %{__struct__: Decimal, sign: 1, coef: 1, exp: @huge})
    ]

    for {name, struct} <- structs do
      test "#{name}: is an error at once, as a value, a key, and described" do
        struct = unquote(struct)

        for {engine, options} <- Judge.engines(),
            {term, more, reasons} <- [
              {struct, [], [:invalid_struct]},
              {[%{"a" => struct}], [max_bytes: 100], [:invalid_struct, :max_bytes]},
              {%{struct => 1}, [], [:invalid_key]}
            ] do
          {took, result} = milliseconds(fn -> RustyJson.encode(term, more ++ options) end)
          assert {:error, %{reason: reason}} = result
          assert reason in reasons
          assert took < 1_000, "#{engine}: #{took} ms"

          {took, {:ok, text}} =
            milliseconds(fn -> RustyJson.encode(struct, [unsupported: :inspect] ++ options) end)

          assert took < 1_000 and byte_size(text) < 10_000, "#{engine}: #{took} ms"
        end
      end
    end

    # Two lists with the same string 900 times became 900 MB before any limit was looked at.
    test "a list in a field that takes a string, and in a version" do
      list = List.duplicate(String.duplicate("a", 1_000_000), 900)
      version = %{Version.parse!("1.2.3") | pre: list}

      for {engine, options} <- Judge.engines(), options = [max_bytes: 1_000] ++ options do
        # Before anything is encoded, wasmex looks at how large the term is, which hides other errors.
        hidden = fn reason -> if engine == :wasmex, do: :max_bytes, else: reason end

        for {term, reason} <- [
              {%URI{path: list}, hidden.(:invalid_struct)},
              {%URI{host: "a", port: %URI{path: list}}, hidden.(:invalid_struct)},
              {%URI{path: ["/a"]}, :invalid_struct},
              {%{%URI{path: list} => 1}, hidden.(:invalid_key)},
              {%{%URI{path: ["/a"]} => 1}, :invalid_key},
              {%{version => 1}, hidden.(:invalid_key)}
            ] do
          {took, result} = milliseconds(fn -> RustyJson.encode(term, options) end)
          assert {:error, %{reason: ^reason}} = result
          assert took < 500
        end

        case RustyJson.encode(version, [unsupported: :inspect] ++ options) do
          {:ok, text} -> assert byte_size(text) < 1_000
          {:error, %{reason: :max_bytes}} -> assert engine == :wasmex
        end
      end
    end

    test "a version as a key, and a struct that shows itself" do
      version = %{Version.parse!("1.2.3") | major: @huge}
      pre = %{Version.parse!("1.2.3") | pre: ["rc", @huge]}

      for {_engine, options} <- Judge.engines() do
        for key <- [version, pre] do
          {took, result} = milliseconds(fn -> RustyJson.encode(%{key => 1}, options) end)
          assert {:error, %{reason: :invalid_key}} = result
          assert took < 1_000
        end

        for value <- [@huge, %{in: [{:n, @huge}]}] do
          shown = %Shown{value: value}
          {took, result} = milliseconds(fn -> RustyJson.encode(shown, [unsupported: :inspect] ++ options) end)
          assert result == {:ok, inspect(inspect(Shown))}
          assert took < 1_000
        end
      end
    end

    test "one that is long but does no harm is written" do
      year = Integer.pow(10, 5_000)

      for {_engine, options} <- Judge.engines() do
        assert {:ok, text} = RustyJson.encode(%{~D[2024-02-29] | year: year}, options)
        assert text == ~s("#{year}-02-29")
      end
    end

    test "in a line of a log" do
      for {message, meta} <- [
            {{~c"~p", [@huge]}, %{}},
            {{~c"~p", [[a: @huge]]}, %{}},
            {{:report, %{k: @huge}}, %{report_cb: fn report -> {"~p", [report.k]} end}},
            {{:string, "x"}, %{crash_reason: {%MatchError{term: @huge}, []}}},
            {{:string, "x"}, %{crash_reason: {%KeyError{key: :a, term: %{b: @huge}}, []}}},
            {{:string, "x"}, %{k: %{%{~D[2024-02-29] | year: @huge} => 1}}}
          ] do
        event = %{level: :error, msg: message, meta: Map.put(meta, :time, 0)}
        {took, line} = milliseconds(fn -> IO.iodata_to_binary(RustyJson.LogFormatter.format(event, %{})) end)
        assert {:ok, _} = RustyJson.decode(line)
        # To show the message would take seconds itself.
        assert took < 1_000
      end
    end
  end

  describe "a lazy array in encode/2" do
    test "takes no more from its source than exceeds max_bytes" do
      for {engine, options} <- Judge.engines(),
          element <- [
            String.duplicate("x", 1_000),
            [String.duplicate("x", 1_000)],
            %{a: [String.duplicate("x", 1_000)]}
          ] do
        counter = :counters.new(1, [])
        source = Stream.repeatedly(fn -> :counters.add(counter, 1, 1) && element end)

        assert {:error, %{reason: :max_bytes}} =
                 RustyJson.encode([RustyJson.lazy(source)], [max_bytes: 20_000] ++ options)

        assert :counters.get(counter, 1) <= 21, "#{engine}"
      end
    end

    test "has all its elements when the text is shorter than they look" do
      long = String.duplicate("x", 1_000)
      source = fn element -> RustyJson.lazy(Stream.map(1..5, fn _ -> element end)) end

      for {_engine, options} <- Judge.engines() do
        assert {:ok, text} = RustyJson.encode(source.(%{a: long}), [max_bytes: 100, redact: [:a]] ++ options)
        assert text == "[" <> Enum.map_join(1..5, ",", fn _ -> ~s({"a":"[REDACTED]"}) end) <> "]"

        assert {:ok, text} =
                 RustyJson.encode(source.(%{a: nil, b: 1}), [max_bytes: 41, omit: [nil]] ++ options)

        assert text == ~s([{"b":1},{"b":1},{"b":1},{"b":1},{"b":1}])

        # Written in place of a term that is longer.
        replaced = [unsupported: fn _ -> nil end, max_bytes: 3_000] ++ options
        assert {:ok, "[null,null,null,null,null]"} = RustyJson.encode(source.([long | 1]), replaced)

        assert {:ok, "[12,12,12,12,12]"} = RustyJson.encode(source.(12), [max_bytes: 16] ++ options)
        assert {:error, %{reason: :max_bytes}} = RustyJson.encode(source.(12), [max_bytes: 15] ++ options)
      end
    end

    test "ends with the deadline and the memory of the sandbox" do
      for options <- sandbox() do
        {took, result} =
          milliseconds(fn -> RustyJson.encode(RustyJson.lazy(Stream.cycle([1])), [timeout: 50] ++ options) end)

        assert {:error, %SandboxError{reason: reason}} = result
        assert reason in [:memory_limit | @late]
        assert took < 2_000

        taken = :counters.new(1, [])
        slow = Stream.map(1..30, fn i -> :counters.add(taken, 1, 1) && Process.sleep(20) && i end)

        assert {:error, %SandboxError{reason: reason}} =
                 RustyJson.encode([RustyJson.lazy(slow)], [timeout: 50] ++ options)

        assert reason in @late
        assert :counters.get(taken, 1) <= 4

        large = Stream.cycle([String.duplicate("x", 100_000)])

        assert {:error, %SandboxError{reason: :memory_limit}} =
                 RustyJson.encode(RustyJson.lazy(large), [max_memory: 10_000_000] ++ options)
      end
    end
  end

  describe "lazy arrays of a stream" do
    test "an encoder that catches everything writes what it writes in encode!/2" do
      for {_engine, options} <- Judge.engines() do
        plain = RustyJson.encode!([%Catches{}], options)
        assert plain == ~s([{"x":[1,2]}])
        assert [%Catches{}] |> RustyJson.encode_stream(options) |> Enum.join() == plain
        mixed = [%{"a" => %Catches{}, "b" => RustyJson.lazy(1..2)}]
        assert mixed |> RustyJson.encode_stream(options) |> Enum.join() == ~s([{"a":{"x":[1,2]},"b":[1,2]}])
      end
    end

    test "another stream inside an encoder changes nothing" do
      for {_engine, options} <- Judge.engines() do
        endless = [%{"a" => %Streams{}, "b" => RustyJson.lazy(Stream.cycle([1]))}]
        pieces = endless |> RustyJson.encode_stream(options) |> Enum.take(3)
        assert IO.iodata_to_binary(pieces) =~ ~s({"a":[2],"b":[1,1)
        assert Process.get(Lazy) == nil
      end
    end
  end

  describe "the deadline of the sandbox" do
    test "covers a function for keys" do
      json = ~s({"a": 1, "b": {"c": 2}, "d": 3})
      calls = :counters.new(1, [])
      slow = fn key -> :counters.add(calls, 1, 1) && Process.sleep(40) && key end

      for options <- sandbox(keys: slow, timeout: 20) do
        for run <- [
              fn -> RustyJson.decode(json, options) end,
              fn -> RustyJson.decode(json, [objects: :ordered_objects] ++ options) end,
              fn -> RustyJson.fetch(json, "/b", options) end,
              fn -> RustyJson.decode(json, [as: {:map, :any}] ++ options) end,
              fn -> [json, json, json] |> RustyJson.decode_many(options) |> List.last() end
            ] do
          before = :counters.get(calls, 1)
          assert {:error, %SandboxError{reason: reason}} = run.()
          assert reason in @late
          assert :counters.get(calls, 1) - before <= 1
        end
      end
    end

    test "what such a function raises or throws is the caller's" do
      for {_engine, options} <- Judge.engines() do
        assert catch_throw(RustyJson.decode(~s({"a":1}), [keys: fn _ -> throw(:mine) end] ++ options)) ==
                 :mine
      end
    end

    test "covers a long list of documents" do
      documents = List.duplicate("[1]", 200_000)

      for options <- sandbox(timeout: 10),
          more <- [[], [as: [:integer]], [raw: ["/0"]], [keys: &String.upcase/1], [keys: :atoms]] do
        {took, results} = milliseconds(fn -> RustyJson.decode_many(documents, more ++ options) end)
        assert length(results) == 200_000
        assert {:error, %SandboxError{reason: reason}} = List.last(results)
        assert reason in @late
        assert took < 1_000, "#{inspect(more)}: #{took} ms"
      end
    end
  end

  describe "the deadline of the sandbox, where each document has a new atom" do
    test "covers the whole list" do
      documents = for i <- 1..20_000, do: ~s({"rustyjson_own_functions_#{i}": 1})

      for options <- sandbox(timeout: 10, keys: :atoms) do
        results = RustyJson.decode_many(documents, options)
        assert length(results) == 20_000
        assert {:error, %SandboxError{reason: reason}} = List.last(results)
        assert reason in @late
      end
    end
  end

  # Each struct had its text laid out again, with those of all others inside it. (wasmex gets the term of each with all that is inside.)
  test "the layout of structs in each other takes as long as that of their text" do
    nested = fn depth ->
      Enum.reduce(1..depth, Enum.to_list(1..20_000), fn _, value -> %Boxed{value: value} end)
    end

    for {name, engine} <- Judge.engines(), name != :wasmex do
      [flat, deep] =
        for depth <- [2, 60], do: fn -> RustyJson.encode!(nested.(depth), [pretty: true] ++ engine) end

      Clock.ratio(6, deep, flat)

      plain = Enum.reduce(1..60, [1, 2.5, ""], fn _, value -> %{"empty" => %{}, "value" => value} end)
      structs = Enum.reduce(1..60, [1, 2.5, ""], fn _, value -> %Boxed{value: value} end)

      for pretty <- [true, [indent: 4], [indent: 1, line_separator: "\r\n", after_colon: ""]] do
        options = [pretty: pretty, sort_keys: true] ++ engine
        assert RustyJson.encode(structs, options) == RustyJson.encode(plain, options)
      end
    end
  end

  test "a layout of encoders and functions in each other is that of the plain term" do
    secret = %{"password" => "x", "open" => [1, %{"password" => nil}]}

    term = [
      %Boxed{value: secret},
      %Mapped{value: [secret, %Boxed{value: {:written, secret}}]},
      %Boxed{value: %Mapped{value: %Boxed{value: [%Mapped{value: "</script>é"}, 1.5, []]}}},
      {:written, [%Mapped{value: secret}, {:written, %Boxed{value: 1}}]},
      %{"a" => %Boxed{value: %{"b" => %Mapped{value: secret}}}}
    ]

    for {_name, engine} <- Judge.engines(),
        pretty <- [true, [indent: 1, after_colon: ""]],
        more <- [
          [],
          [redact: ["password"]],
          [redact: ["/0/value/open", "/2/value", "/4/a/value/b/value/password"]],
          [escape: :html_safe],
          [escape: :unicode_safe, redact: ["open"]],
          [max_bytes: 100],
          [max_bytes: 900],
          [max_bytes: 100_000],
          [max_depth: 4],
          [max_depth: 5, max_bytes: 3_000],
          [unsupported: :inspect, maps: :strict]
        ] do
      options = [pretty: pretty, sort_keys: true] ++ more ++ engine

      case {RustyJson.encode(own(term), options), RustyJson.encode(plain(term), options)} do
        {{:ok, text}, {:ok, text}} ->
          :ok

        {{:error, %{reason: reason}}, {:error, %{reason: reason}}} ->
          assert reason in [:max_bytes, :max_depth]

        {own, plain} ->
          flunk("#{inspect(more)}: #{inspect(own)} and #{inspect(plain)}")
      end
    end
  end

  # Each level looked at all parts of the text inside it, and then copied this text.
  test "encoders in each other under max_bytes take time in proportion to their text" do
    nested = fn depth -> Enum.reduce(1..depth, 1, fn _, value -> %Boxed{value: value} end) end

    for {name, engine} <- Judge.engines(), name != :wasmex do
      options = [max_bytes: 10_000_000, max_depth: :infinity] ++ engine

      calls = fn depth, times ->
        fn -> for(_ <- 1..times, do: RustyJson.encode!(nested.(depth), options)) end
      end

      Clock.ratio(6, calls.(20_000, 1), calls.(1_000, 20))
    end
  end

  # Such a list, or map, is written before it is known that Elixir has to write it, and then taken back.
  test "terms that share parts which are left to Elixir end at max_bytes" do
    twice = fn start, again -> Enum.reduce(1..60, start, fn _, part -> again.(part) end) end

    for {term, options} <- [
          {twice.([1 | :e], &[&1, &1 | :e]), [unsupported: :inspect, max_bytes: 10_000]},
          {twice.(%{1 => 1, ~c"k" => 0}, &%{1 => &1, 2 => &1, ~c"k" => 0}),
           [redact: ["none"], max_bytes: 1_000]}
        ],
        {name, engine} <- Judge.engines(),
        name != :wasmex do
      {took, answer} = milliseconds(fn -> RustyJson.encode(term, options ++ engine) end)
      assert {:error, %RustyJson.EncodeError{reason: :max_bytes}} = answer
      assert took < 1_000
    end

    # What is taken back within the limit is written by Elixir.
    for {_name, engine} <- Judge.engines() do
      assert RustyJson.encode([[1, [2 | 3]], [4 | 5]], [unsupported: :inspect, max_bytes: 100] ++ engine) ==
               {:ok, ~s([[1,"[2 | 3]"],"[4 | 5]"])}
    end
  end

  test "empty parts of iodata are no bytes" do
    parts = [List.duplicate("", 5_000), "1"]

    for {_name, engine} <- Judge.engines() do
      options = [max_bytes: 100] ++ engine
      assert RustyJson.encode(RustyJson.Fragment.new(fn _ -> parts end), options) == {:ok, "1"}
      assert RustyJson.encode(RustyJson.Fragment.new(parts), options) == {:ok, "1"}
      assert RustyJson.decode(parts, options) == {:ok, 1}
    end
  end

  test "many wrong parts of a document take time in proportion to their number" do
    count = 40_000
    json = "[" <> Enum.map_join(1..count, ",", fn _ -> ~s("x") end) <> "]"
    pointers = RustyJson.Paths.new!(for number <- 0..(count - 1), do: "/#{number}")

    for {name, engine} <- Judge.engines(), name != :wasmex do
      Clock.within(1_500, fn ->
        assert {:error, %{error_count: ^count}} =
                 RustyJson.select(json, pointers, [as: :integer, errors: :all] ++ engine)
      end)
    end
  end

  test "the pieces of a typed document have a deadline each" do
    text = "{" <> Enum.map_join(1..200_000, ",", &~s("k#{&1}":#{&1}.5))

    for options <- sandbox(timeout: 40) do
      partial = RustyJson.Partial.new([as: {:map, :decimal}] ++ options)

      Clock.within(400, fn ->
        assert {:error, %SandboxError{reason: reason}} = RustyJson.Partial.push(partial, text)
        assert reason in @late
      end)

      # The time of one piece is not that of the next.
      {:ok, partial} =
        RustyJson.Partial.push(RustyJson.Partial.new([as: {:map, :decimal}] ++ options), ~s({"a":1))

      Process.sleep(60)
      assert {:ok, partial} = RustyJson.Partial.push(partial, "}")
      assert {:ok, %{"a" => _}} = RustyJson.Partial.finish(partial)
    end
  end

  test "all parts of decode_partial/2 share its timeout" do
    slow = fn key -> Process.sleep(60) && key end
    {text, value} = {~s({"b":{"a":1}}), %{"b" => %{"a" => 1}}}

    for options <- sandbox(timeout: 100, keys: slow), more <- [[], [as: {:map, :any}], [lenient: [:prose]]] do
      assert {:error, %SandboxError{reason: reason}} = RustyJson.decode_partial(text, options ++ more)
      assert reason in @late
    end

    # Each call of its own has its own.
    for options <- sandbox(timeout: 100, keys: slow) do
      assert {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(options), text)
      assert {:ok, ^value} = RustyJson.Partial.finish(partial)
    end
  end

  test "canonical: true names the limit of the call" do
    for {_engine, options} <- Judge.engines() do
      assert {:error, %{reason: :max_bytes, message: "output larger than 10 bytes", path: ""}} =
               RustyJson.encode(
                 %{a: [String.duplicate("a", 1000)]},
                 [canonical: true, max_bytes: 10] ++ options
               )
    end
  end

  test "an encoder's own call names its own limit, also with canonical: true" do
    for {_engine, options} <- Judge.engines(), limits <- [[], [max_bytes: 100]] do
      assert {:error, %{reason: :max_bytes, message: "output larger than 7 bytes"}} =
               RustyJson.encode([%Limits{value: "12345678"}], [canonical: true] ++ limits ++ options)
    end
  end

  test "Access of an ordered object finds keys as List.keyfind/3 does, whatever it does with them" do
    object = OrderedObject.new([{1, :a}, {1.0, :b}, {2, :c}])
    assert object[1.0] == :a
    assert OrderedObject.pop(object, 1.0) == {:a, OrderedObject.new([{2, :c}])}
    assert OrderedObject.pop(object, 3) == {nil, object}

    assert OrderedObject.get_and_update(object, 1.0, &{&1, :new}) ==
             {:a, OrderedObject.new([{1.0, :new}, {1.0, :b}, {2, :c}])}
  end

  test "improper lists are named" do
    for {run, message} <- [
          {fn -> RustyJson.select("{}", ["/a" | "/b"]) end,
           "select takes a list or a map of JSON Pointers, got: "},
          {fn -> RustyJson.decode_stream([], select: ["/a" | "/b"]) end,
           "option :select takes a list or a map"},
          {fn -> RustyJson.decode("1", raw: ["/a" | "/b"]) end,
           "option :raw takes a list of JSON Pointers, got: "},
          {fn -> RustyJson.decode("1", as: {:enum, [:a | :b]}) end, "unknown type {:enum, [:a | :b]}"}
        ] do
      assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, run
    end
  end

  test "what is pushed and is not iodata is named" do
    for {_engine, options} <- Judge.engines(),
        input <- [nil, :text, ["[1", nil], ["[1" | :text], [256], <<1::3>>] do
      message = "a piece of text must be iodata, got: #{inspect(input)}"

      for run <- [
            fn -> options |> RustyJson.Partial.new() |> RustyJson.Partial.push(input) end,
            fn -> options |> RustyJson.Partial.new() |> RustyJson.Partial.push_changes(input) end,
            fn ->
              [max_bytes: 100]
              |> Keyword.merge(options)
              |> RustyJson.Partial.new()
              |> RustyJson.Partial.push(input)
            end,
            fn -> RustyJson.decode_partial(input, options) end,
            fn -> options |> RustyJson.Feed.new() |> RustyJson.Feed.push(input) end,
            fn ->
              [max_total_bytes: 100]
              |> Keyword.merge(options)
              |> RustyJson.Feed.new()
              |> RustyJson.Feed.push(input)
            end
          ] do
        assert_raise ArgumentError, message, run
      end
    end

    for input <- [nil, ["data: 1", nil]] do
      assert_raise ArgumentError, "a piece of text must be iodata, got: #{inspect(input)}", fn ->
        RustyJson.ServerSentEvents.push(RustyJson.ServerSentEvents.new(), input)
      end
    end
  end

  # The message alone would be there for a piece of any kind, and a function that reads nothing would raise for none.
  test "a piece that is iodata is read, all of it or as much as the function takes" do
    for input <- ["[1]", [?[, "1", [] | "]"], ["[", [[?1]], "]"]] do
      assert Input.piece!(input) == "[1]"
      assert Input.piece!(input, &Measure.bytes(&1, 2)) == {"[1", true}
      assert Input.piece!(input, &Measure.bytes(&1, 3)) == {"[1]", false}
    end

    # An error of the function that is no error of its argument stays what it is.
    assert_raise KeyError, fn -> Input.piece!("", fn _ -> raise KeyError, key: :a, term: %{} end) end
  end
end
