defmodule RustyJson.ConfigTest do
  @moduledoc "The settings of the application, and which one chooses the engine."

  use ExUnit.Case, async: false

  alias RustyJson.{Config, Fragment, OrderedObject}
  alias RustyJson.Encoder.Also
  alias RustyJson.Test.{Judge, OtherVM}

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:a]
  end

  setup do
    kept = Application.get_all_env(:rustyjson)
    engine = System.get_env("RUSTYJSON_ENGINE")

    on_exit(fn ->
      for {name, _} <- Application.get_all_env(:rustyjson), do: Application.delete_env(:rustyjson, name)
      Application.put_all_env(rustyjson: kept)
      if engine, do: System.put_env("RUSTYJSON_ENGINE", engine), else: System.delete_env("RUSTYJSON_ENGINE")
      Config.reload()
    end)
  end

  defp configure(settings) do
    Application.put_all_env(rustyjson: settings)
    Config.reload()
  end

  test "calls without options follow the configuration that was read last, for each engine" do
    # On a machine with much other work, a call into the sandbox may take seconds.
    configure(wasm: [timeout: 60_000])

    for {engine, {:ok, _}} <- RustyJson.Engine.statuses(), threshold <- [0, 8, 131_072] do
      configure(engine: engine, decode: [dirty_threshold: threshold], encode: [escape: :html_safe])
      assert RustyJson.decode(~s([1,{"a":2}])) == {:ok, [1, %{"a" => 2}]}
      assert RustyJson.decode!(~s([1,{"a":2}])) == [1, %{"a" => 2}]
      assert {:error, %{reason: :leading_zero, position: 10}} = RustyJson.decode(~s(["abcdef",01]))
      assert RustyJson.encode(%{a: "<"}) == {:ok, ~S({"a":"\u003C"})}
      # The first call with a struct learns its plan.
      for _ <- 1..2, do: assert(RustyJson.encode!(%Derived{a: "<"}) == ~S({"a":"\u003C"}))

      configure(decode: [keys: :atoms], encode: [escape: :json])
      assert RustyJson.decode!(~s([1,{"a":2}])) == [1, %{a: 2}]
      assert RustyJson.encode!(%{a: "<"}) == ~S({"a":"<"})
      for _ <- 1..2, do: assert(RustyJson.encode(%Derived{a: "<"}) == {:ok, ~S({"a":"<"})})
      Application.delete_env(:rustyjson, :decode)
    end
  end

  # Calls whose options were known had those of the former one, and all others those of the refused one.
  test "a configuration that is refused leaves the former one in force, for all calls" do
    configure(decode: [keys: :atoms])
    known = fn -> {RustyJson.decode!(~s({"a":1})), RustyJson.decode!(~s({"a":1}), max_depth: 9)} end
    former = {known.(), Config.number()}

    for wrong <- [[log_formatter: [redct: []]], [log_formatter: :none], [unknown_options: 1], [policies: 1]] do
      assert_raise ArgumentError, fn -> configure([decode: [keys: :strings]] ++ wrong) end
      assert {known.(), Config.number()} == former
      assert RustyJson.decode!(~s({"a":1}), max_depth: 10) == %{a: 1}
      for {name, _} <- wrong, do: Application.delete_env(:rustyjson, name)
    end
  end

  test "defaults of options, which a call overrides" do
    configure(decode: [keys: :atoms, max_bytes: 10], encode: [escape: :html_safe, pretty: 1])
    assert RustyJson.decode!(~s({"a":1})) == %{a: 1}
    assert RustyJson.decode!(~s({"a":1}), keys: :strings) == %{"a" => 1}
    assert {:error, %{reason: :max_bytes}} = RustyJson.decode("[1,2,3,4,5,6]")
    assert {:ok, _} = RustyJson.decode("[1,2,3,4,5,6]", max_bytes: 0)
    assert RustyJson.encode!(["<"]) == ~S([) <> "\n " <> ~S("\u003C") <> "\n]"
    assert RustyJson.encode!(["<"], pretty: false, escape: :json) == ~S(["<"])
  end

  defmodule Named do
    @derive {RustyJson.Encoder, key_case: [pass: "other"]}
    defstruct [:pass]
  end

  test "an encoder hides what the configuration redacts, and compresses nothing" do
    term = [%{password: "x", user_password: "y", b: 1}, %Named{pass: "z"}]
    encode = &RustyJson.encode!(&1, fn value, encoder -> RustyJson.protocol_encode(value, encoder) end)

    for engine <- [:native, :wasm] do
      configure(engine: engine, encode: [redact: [:password, {:contains, "user"}, :pass], redacted: "-"])
      assert encode.(term) == ~s([{"b":1,"password":"-","user_password":"-"},{"other":"-"}])
      assert RustyJson.decode!(encode.(term)) == term |> RustyJson.encode!() |> RustyJson.decode!()

      configure(engine: engine, encode: [redact: ["/0/password"]])
      assert_raise ArgumentError, ~r/configured :redact has JSON Pointers/, fn -> encode.(term) end

      configure(engine: engine, encode: [redact: [], compress: :gzip])
      assert encode.([1, "a", 1..2]) == ~s([1,"a",{"first":1,"last":2}])
    end
  end

  test "an encoder writes the configured null, and what is configured for unsupported terms" do
    encode = &RustyJson.encode!(&1, fn value, encoder -> RustyJson.protocol_encode(value, encoder) end)

    for engine <- [:native, :wasm] do
      configure(engine: engine, encode: [null: :null])

      for term <- [:null, nil, [:null, nil, :x], %{a: :null}, %{null: nil}, {:null}],
          do: assert_same(term, encode)

      configure(engine: engine, encode: [unsupported: :inspect])
      for list <- [[1 | 2], %{a: [1, 2 | 3]}, [[%{} | 1], 2]], do: assert_same(list, encode)
      for keys <- [%{{1} => [2]}, %{self() => 1}, %{a: %{%{} => 1}}], do: assert_same(keys, encode)

      for values <- [[{:a, 1} | 2], [{:a, 1}, :b], [{{1}, 2}]],
          do: assert_same(%OrderedObject{values: values}, encode)

      assert_same([Map.put(MapSet.new(), :map, 1), Map.put(1..2, :first, self())], encode)
      assert encode.([[1 | 2], 3]) == ~s(["[1 | 2]",3])
    end
  end

  test "an encoder gets integers that are keys in digits, however they are written as values" do
    encode = &RustyJson.encode!(&1, fn value, encoder -> RustyJson.protocol_encode(value, encoder) end)

    for engine <- [:native, :wasm], key <- [2 ** 60, -(2 ** 60), 2 ** 200, 1] do
      configure(engine: engine, encode: [integers: :js_safe])
      assert_same(%{key => key}, encode)

      configure(engine: engine, encode: [integers: :js_safe, redact: [Integer.to_string(key)]])
      assert encode.(%{key => "secret"}) == ~s({"#{key}":"[REDACTED]"})
    end
  end

  test "an encoder gets the fields of structs where the configuration says so" do
    encode = &RustyJson.encode!(&1, fn value, encoder -> RustyJson.protocol_encode(value, encoder) end)

    structs = [
      %Derived{a: 1},
      %Named{pass: "z"},
      %URI.Error{},
      MapSet.new([1]),
      ~D[2024-02-29],
      Fragment.new("1")
    ]

    for engine <- [:native, :wasm],
        options <- [[protocol: false], [protocol: false, lean: true], [protocol: false, redact: [:pass]]] do
      configure(engine: engine, encode: options)
      for term <- [OrderedObject.new(a: 1..2) | structs], do: assert_same([term], encode)
    end

    configure(encode: [protocol: false, lean: true])

    assert RustyJson.encode!(%Derived{a: {1}}, fn
             1, _encoder -> "one"
             other, encoder -> RustyJson.protocol_encode(other, encoder)
           end) == ~s({"a":[one]})
  end

  defp assert_same(term, encode),
    do: assert({term, encode.(term)} == {term, RustyJson.encode!(term)})

  test "Elixir's JSON gets no compressed text of a fragment" do
    for engine <- [:native, :wasm], text <- ["[1]", ["[", "1]"], &RustyJson.Encode.list([1], &1)] do
      configure(engine: engine, encode: [compress: :gzip])
      assert text |> Fragment.new() |> Also.builtin(nil) |> IO.iodata_to_binary() == "[1]"
    end
  end

  test "decode/3 takes the first of repeated keys, whatever the configuration says" do
    for engine <- [:native, :wasm] do
      configure(engine: engine, decode: [duplicate_keys: :error])

      for decoders <- [[], [integer: &String.to_integer/1], [float: & &1], [string: & &1]],
          do: assert(RustyJson.decode(~s({"a":1,"a":2}), :acc, decoders) == {%{"a" => 1}, :acc, ""})
    end
  end

  test "decode/3 returns whole values, whatever type or places the configuration has" do
    for engine <- [:native, :wasm],
        setting <- [raw: ["/d"], as: {:map, :date}],
        decoders <- [[], [null: 0], [integer: &String.to_integer/1], [float: & &1], [string: & &1]] do
      configure(engine: engine, decode: [setting])
      expected = {%{"d" => "2024-02-29"}, :acc, ""}
      text = ~s({"d":"2024-02-29"})
      assert RustyJson.decode(text, :acc, decoders) == expected
      assert :rustyjson.decode(text, :acc, Map.new(decoders)) == expected
      assert {:continue, state} = :rustyjson.decode_start(~s({"d":"20), :acc, Map.new(decoders))
      assert :rustyjson.decode_continue(~s(24-02-29"}), state) == expected
      assert RustyJson.decode("[1, 1.5]", :acc, decoders) |> elem(0) |> hd() == 1

      assert :rustyjson.decode(text) == {:ok, %{"d" => "2024-02-29"}}
      assert :rustyjson.decode(text, keys: :atoms!) |> elem(1) |> Map.values() == ["2024-02-29"]
      assert :rustyjson.find(text, "/d") == {:ok, "2024-02-29"}
    end
  end

  test "Erlang's null goes with a configuration or policy that omits nil, and nothing is left out" do
    for {_name, engine} <- Judge.engines() do
      term = %{a: :null, b: nil, c: :undefined}
      text = ~s({"a":null,"b":"nil","c":"undefined"})
      sorted = [sort_keys: true] ++ engine

      configure(encode: [omit: [nil]], policies: [all: [max_depth: 9]])
      assert :rustyjson.encode([:null]) == {:ok, "[null]"}
      assert :rustyjson.encode(term, sorted) == {:ok, text}
      assert :rustyjson.encode(term, Map.new([policy: :all] ++ sorted)) == {:ok, text}
      Application.delete_env(:rustyjson, :encode)
      configure(policies: [short: [omit: [nil, Date]]])
      assert :rustyjson.encode(term, [policy: :short] ++ sorted) == {:ok, text}
      # The rest of the option stays.
      assert :rustyjson.encode(%{a: ~D[2024-02-29], b: 1}, [policy: :short] ++ sorted) == {:ok, ~s({"b":1})}
      # Only where the caller chooses nil as null it can be left out.
      assert_raise ArgumentError, fn -> :rustyjson.encode(term, [omit: [nil]] ++ sorted) end
      assert_raise ArgumentError, fn -> :rustyjson.encode(term, [policy: :short, null: :null] ++ sorted) end

      assert :rustyjson.encode(term, [policy: :short, null: nil] ++ sorted) ==
               {:ok, ~s({"a":"null","c":"undefined"})}
    end
  end

  test "a configuration that contradicts itself is refused" do
    for {settings, message} <- [
          {[decode: [as: [:integer], raw: ["/0"]]],
           "config :rustyjson, decode: options :as and :raw contradict each other"},
          {[encode: [omit: [nil], null: :undefined]],
           "config :rustyjson, encode: options omit: [nil] and null: :undefined contradict each other"},
          {[encode: [canonical: true, sort_keys: true]],
           "config :rustyjson, encode: option :sort_keys contradicts canonical: true"},
          {[encode: %{canonical: true, escape: :html_safe}],
           "config :rustyjson, encode: option :escape contradicts canonical: true"}
        ] do
      error = assert_raise ArgumentError, fn -> configure(settings) end
      assert String.starts_with?(error.message, message), error.message
      for {key, _} <- settings, do: Application.delete_env(:rustyjson, key)
    end

    # A call may say what is redacted.
    configure(encode: [redacted: "-"])
    assert RustyJson.encode!(%{a: 1}, redact: [:a]) == ~s({"a":"-"})
  end

  test "what canonical form has no choice in comes back in a call without it" do
    for {_name, engine} <- Judge.engines() do
      term = %{"a" => 1, a: 2}
      configure(encode: [canonical: true, maps: :strict], policies: [own: [max_depth: 9]])

      for given <- [[], [policy: :own]] do
        assert RustyJson.encode(%{"b" => 1.0, "a" => 2}, given ++ engine) == {:ok, ~s({"a":2,"b":1})}

        assert {:error, %{reason: :duplicate_key}} =
                 RustyJson.encode(term, [canonical: false] ++ given ++ engine)
      end

      assert RustyJson.Encode.string("é", RustyJson.Encode.opts()) |> IO.iodata_to_binary() == ~s("é")
      safe = RustyJson.Encode.opts(:unicode_safe)
      assert RustyJson.Encode.string("é", safe) |> IO.iodata_to_binary() == ~S("\u00E9")
      assert_raise ArgumentError, ~r/:escape/, fn -> RustyJson.Encode.opts(:none) end
    end
  end

  test "what the library reads for itself is whole, whatever type or places the configuration has" do
    inner = RustyJson.Fragment.new(&RustyJson.Encode.map(%{"secret" => 1, "public" => 2}, &1))

    for engine <- [:native, :wasm],
        decode <- [[as: {:map, :date}], [raw: [""]], [null: :null], [validate_strings: false]] do
      configure(engine: engine, decode: decode, encode: [compress: :gzip])
      assert RustyJson.Fragment.new!("[1]") == RustyJson.Fragment.new("[1]")

      for bad <- ["[1", <<?", 255, ?">>],
          do: assert_raise(RustyJson.DecodeError, fn -> RustyJson.Fragment.new!(bad) end)

      for key <- ["a\n", "other\n"] do
        text = RustyJson.encode!(%{key => inner}, redact: ["/a\n/secret"], sort_keys: true, compress: :none)
        hidden = if key == "a\n", do: ~s("[REDACTED]"), else: "1"

        assert {engine, decode, text} ==
                 {engine, decode, ~s({"#{String.trim(key)}\\n":{"public":2,"secret":#{hidden}}})}
      end
    end
  end

  test "the digit limit may stand where RustyJson 0.3 had it" do
    configure(decoding_integer_digit_limit: 3)
    assert {:error, %{reason: :integer_digits}} = RustyJson.decode("1234")
    configure(decode: [decoding_integer_digit_limit: 4])
    assert RustyJson.decode("1234") == {:ok, 1234}
  end

  test "a function for keys, and how to do without it" do
    configure(decode: [keys: &String.upcase/1])
    assert RustyJson.decode!(~s({"a":[{"b":1.5}]})) == %{"A" => [%{"B" => 1.5}]}
    assert RustyJson.decode!(~s({"a":1}), keys: :strings) == %{"a" => 1}
    assert RustyJson.decode!(~s({"a":1}), keys: :atoms) == %{a: 1}
  end

  test "the engine: the call's, the configuration's, the environment's" do
    for {name, options} <- Judge.engines(), name in [:native, :built_in] do
      System.put_env("RUSTYJSON_ENGINE", Atom.to_string(options[:engine]))
      configure(wasm: [host: :auto])
      assert RustyJson.engine() == options[:engine]
      assert %{asked: _, by: :environment} = RustyJson.engine_info()

      System.put_env("RUSTYJSON_ENGINE", "auto")
      configure(engine: options[:engine])
      assert RustyJson.engine() == options[:engine]
      assert %{by: :config} = RustyJson.engine_info()
      Application.delete_env(:rustyjson, :engine)
    end
  end

  # The first one to read could be the last to put what it read, or to restore what it found.
  test "processes that read the configuration at once leave what was configured last" do
    for {i, first} <- for(i <- 1..40, first <- [[], [log_formatter: [redct: []]]], do: {i, first}) do
      Application.put_all_env(rustyjson: [decode: [max_bytes: i]] ++ first)
      {pid, monitor} = spawn_monitor(fn -> refused(&Config.reload/0) end)
      wait(:rand.uniform(500))
      reader = reader(pid)
      suspended? = suspend(reader)
      Application.delete_env(:rustyjson, :log_formatter)
      other = Task.async(fn -> configure(decode: [max_bytes: 100 + i]) end)
      # The VM changes one persistent term at a time: the other process may wait for this one.
      ended? = Task.yield(other, 200)
      if suspended?, do: :erlang.resume_process(reader)
      if ended? == nil, do: Task.await(other)
      assert_receive {:DOWN, ^monitor, _, _, _}, 5_000
      assert Config.decode().max_bytes == 100 + i
      assert {:error, %{reason: :max_bytes}} = RustyJson.decode(String.duplicate(" ", 101 + i))
    end
  end

  test "a process that is killed while it reads the configuration leaves no half of it" do
    # The formatter is looked at between the configuration and what calls look up of it.
    configure(log_formatter: [redact: for(i <- 1..500, do: "key#{i}")])
    {time, :ok} = :timer.tc(&Config.reload/0)

    for i <- 1..60 do
      Application.put_env(:rustyjson, :decode, max_bytes: i)
      {pid, monitor} = spawn_monitor(&Config.reload/0)
      wait(:rand.uniform(time))
      suspend(pid)
      # It must not read what the next test configures.
      reads = pid |> reader() |> Process.monitor()
      Process.exit(pid, :kill)
      for ended <- [monitor, reads], do: assert_receive({:DOWN, ^ended, _, _, _}, 5_000)
      assert one_configuration?()
    end
  end

  # Calls without options know them without a look at the configuration.
  defp one_configuration? do
    %{max_bytes: most} = Config.decode()
    fits? = fn bytes -> match?({:ok, 1}, RustyJson.decode(String.pad_leading("1", bytes))) end
    most == 0 or (fits?.(most) and not fits?.(most + 1))
  end

  defp wait(microseconds) do
    stop = System.monotonic_time(:microsecond) + microseconds
    fn -> System.monotonic_time(:microsecond) end |> Stream.repeatedly() |> Enum.find(&(&1 >= stop))
  end

  # The process that reads for this one.
  defp reader(pid) do
    case Process.info(pid, :monitors) do
      {:monitors, [process: reader]} -> reader
      _none -> pid
    end
  end

  # Whether it has not ended.
  defp suspend(pid) do
    :erlang.suspend_process(pid)
  rescue
    _ in [ArgumentError, ErlangError] -> false
  end

  defp refused(fun) do
    fun.()
  rescue
    error in ArgumentError -> error
  end

  test "engine_info says what selected the engine that is in use, until the configuration is read again" do
    System.delete_env("RUSTYJSON_ENGINE")

    for {name, options} <- Judge.engines(), name in [:native, :built_in], engine = options[:engine] do
      configure(engine: engine)
      System.put_env("RUSTYJSON_ENGINE", "auto")
      Application.delete_env(:rustyjson, :engine)
      assert %{engine: ^engine, asked: ^engine, by: :config} = RustyJson.engine_info()
      Config.reload()
      assert %{asked: :auto, by: :environment} = RustyJson.engine_info()
    end
  end

  test "a wrong setting is named" do
    for {settings, name} <- [
          {[decode: [no_such: 1]], "config :rustyjson, decode: unknown option :no_such: decode takes "},
          {[decode: 1], "config :rustyjson, decode: options of decode are a keyword list or a map, got: 1"},
          {[encode: [max_bytes: -1]], "config :rustyjson, encode: option :max_bytes takes "},
          {[decoding_integer_digit_limit: -1],
           "config :rustyjson: option :decoding_integer_digit_limit takes "},
          {[no_such: 1], "unknown setting :no_such of :rustyjson: it takes :engine, "},
          {[enigne: :wasm],
           "unknown setting :enigne of :rustyjson, did you mean :engine? it takes :engine, "},
          {[max_memory: 1],
           "unknown setting :max_memory of :rustyjson, did you mean config :rustyjson, wasm: [max_memory: ...]? it "},
          {[max_nodes: 1],
           "unknown setting :max_nodes of :rustyjson, did you mean config :rustyjson, decode: [max_nodes: ...]? it "},
          {[escape: :json],
           "unknown setting :escape of :rustyjson, did you mean config :rustyjson, encode: [escape: ...]? it "},
          {[wasm: [no_such: 1]], "unknown setting :no_such of :rustyjson, :wasm: it takes :host, "},
          {[wasm: %{tiemout: 1}],
           "unknown setting :tiemout of :rustyjson, :wasm, did you mean :timeout? it takes "},
          {[log_formatter: [redct: [:password]]],
           "config :rustyjson, log_formatter: unknown option :redct, did you mean :redact? the formatter takes "},
          {[log_formatter: :none],
           "config :rustyjson, log_formatter: options of the formatter are a keyword list or a map, got: :none"},
          {[wasm: :built_in], "config :rustyjson, wasm: takes a keyword list or a map, got: :built_in"},
          {[wasm: [timeout: 0]], "config :rustyjson, wasm: option :timeout takes "},
          {[engine: :wasmm],
           "config :rustyjson: option :engine takes :auto, :native or :wasm, got: :wasmm, did you mean :wasm?"}
        ] do
      error = assert_raise ArgumentError, fn -> configure(settings) end
      assert String.starts_with?(error.message, name), error.message
      for {key, _} <- settings, do: Application.delete_env(:rustyjson, key)
    end

    System.put_env("RUSTYJSON_ENGINE", "java")
    assert_raise ArgumentError, ~r/RUSTYJSON_ENGINE takes auto, native or wasm/, fn -> Config.reload() end
  end

  test "an application with a wrong setting does not start, and says only which one it is" do
    code = """
    case Application.ensure_all_started(:rustyjson) do
      {:ok, _} -> IO.puts("it started")
      {:error, {:rustyjson, reason}} -> IO.puts(Application.format_error(reason))
    end
    """

    for {switches, env, sentence} <- [
          {["--erl", "-rustyjson engine wsm"], [],
           "config :rustyjson: option :engine takes :auto, :native or :wasm"},
          {[], [{"RUSTYJSON_IN_PLACE", "no"}], "RUSTYJSON_IN_PLACE takes true or false, got: "}
        ] do
      {output, 0} = OtherVM.run(code, switches, env)
      assert output =~ "returned an error: an exception was raised:\n    ** (ArgumentError) " <> sentence
      refute output =~ "config.ex"
    end

    assert {"it started\n", 0} = OtherVM.run(code, [], [{"RUSTYJSON_IN_PLACE", "true"}])
  end

  @tag skip: Code.ensure_loaded?(Wasmex) and "the package wasmex is there"
  test "a supervisor says which engine does not start, as text" do
    assert {:error, reason} = RustyJson.start_link(engine: :wasm, host: :wasmex)
    assert Exception.format_exit(reason) =~ ~r/\*\* \(RustyJson.SandboxError\) .*the Hex package wasmex/
  end

  test "an engine that cannot be loaded is an error that names reasons" do
    statuses = [native: {:error, "no file"}, wasm: {:error, "no host"}]
    message = Exception.message(RustyJson.EngineError.exception(statuses: statuses))
    assert message == "no engine of RustyJson could be loaded:\n  * native: no file\n  * wasm: no host"

    statuses = [native: {:error, "no file"}, wasm: {:ok, %{host: :built_in}}]
    message = Exception.message(RustyJson.EngineError.exception(statuses: statuses))

    assert message =~
             "the native engine of RustyJson was requested but could not be loaded; engine: :wasm works"

    assert message =~ ":\n  * native: no file"
    refute message =~ "no engine"

    assert_raise RustyJson.EngineError, fn -> RustyJson.Engine.Missing.decode("1", nil) end
    assert_raise RustyJson.EngineError, fn -> RustyJson.Engine.Missing.encode(1, nil) end
  end
end
