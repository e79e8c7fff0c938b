defmodule RustyJson.PoliciesTest do
  @moduledoc "Named sets of options: checked when the configuration is read, overridden by the call, overriding the configuration."

  use ExUnit.Case, async: false

  alias RustyJson.{Config, Feed, Formatter, Options}
  alias RustyJson.Test.Judge

  import ExUnit.CaptureIO

  setup do
    kept = Application.get_all_env(:rustyjson)

    on_exit(fn ->
      for {name, _} <- Application.get_all_env(:rustyjson), do: Application.delete_env(:rustyjson, name)
      Application.put_all_env(rustyjson: kept)
      Config.reload()
    end)
  end

  defp configure(settings) do
    Application.put_all_env(rustyjson: settings)
    Config.reload()
  end

  test "a partial document names the policy or configuration that has :raw" do
    configure(policies: [parts: [raw: ["/a"]], whole: [raw: []]])

    message =
      ~r/^a partial document does not take :raw, which its policy or `config :rustyjson, decode:` sets/

    assert_raise ArgumentError, message, fn -> RustyJson.Partial.new(policy: :parts) end

    configure(decode: [raw: ["/a"]], policies: [whole: [raw: []]])
    assert_raise ArgumentError, message, fn -> RustyJson.decode_partial("{}") end
    assert RustyJson.decode_partial("{}", policy: :whole) == {:ok, %{}, :complete}
  end

  test "fetch and select return what their own as: says, whatever a policy or the configuration sets" do
    json = ~s({"a": 1})
    text = RustyJson.Fragment.new("1")

    check = fn options ->
      assert RustyJson.fetch(json, "/a", options) == {:ok, 1}
      assert RustyJson.fetch(json, "/a", [as: :raw] ++ options) == {:ok, text}
      assert RustyJson.fetch(json, "/a", [as: :integer] ++ options) == {:ok, 1}
      assert RustyJson.select(json, ["/a"], options) == {:ok, [1]}
      assert RustyJson.select(json, ["/a"], [as: :raw] ++ options) == {:ok, [text]}
      assert RustyJson.select(json, ["/a"], [as: :integer] ++ options) == {:ok, [1]}
    end

    for setting <- [as: {:map, :string}, raw: ["/a"]] do
      configure(policies: [orders: [setting]])
      for {_name, engine} <- Judge.engines(), do: check.([policy: :orders] ++ engine)
      configure(policies: [], decode: [setting])
      for {_name, engine} <- Judge.engines(), do: check.(engine)
      Application.delete_env(:rustyjson, :decode)
    end

    configure([])

    for {_name, engine} <- Judge.engines() do
      assert_raise ArgumentError, ~r/no option :raw/, fn ->
        RustyJson.fetch(json, "/a", [raw: ["/a"]] ++ engine)
      end
    end
  end

  test "of :as and :raw, the one that a call gives takes the place of the other one of its policy or the configuration" do
    json = ~s({"a": 1})
    [part, whole] = [%{"a" => RustyJson.Fragment.new("1")}, %{"a" => 1}]

    for setting <- [as: {:map, :string}, raw: ["/a"]],
        settings <- [
          [policies: [own: [setting]]],
          [decode: [setting], policies: [own: []]],
          # The policy has the other one, or the same.
          [decode: [raw: [""]], policies: [own: [setting]]],
          [decode: [as: :string], policies: [own: [setting]]]
        ],
        {_name, engine} <- Judge.engines() do
      configure(settings)
      given = [policy: :own] ++ engine

      for options <- [[as: {:map, :integer}] ++ given, Map.new([as: {:map, :integer}] ++ given)] do
        assert RustyJson.decode(json, options) == {:ok, whole}
        assert RustyJson.valid?(json, options)
        assert RustyJson.decode_many([json], options) == [{:ok, whole}]
        assert RustyJson.decode_partial(json, options) == {:ok, whole, :complete}
        assert [json] |> RustyJson.decode_stream(options) |> Enum.to_list() == [whole]
        assert :rustyjson.decode(json, options) == {:ok, whole}
      end

      assert RustyJson.decode(json, [raw: ["/a"]] ++ given) == {:ok, part}
      # What takes nothing from the text takes no place.
      if {:raw, ["/a"]} == setting, do: assert(RustyJson.decode(json, [as: nil] ++ given) == {:ok, part})
      if {:as, {:map, :string}} == setting, do: refute(RustyJson.valid?(json, [raw: []] ++ given))

      assert_raise ArgumentError, ~r/^options :as and :raw contradict each other$/, fn ->
        RustyJson.decode(json, [as: :any, raw: ["/a"]] ++ given)
      end

      for {name, _value} <- settings, do: Application.delete_env(:rustyjson, name)
    end
  end

  test "an option that contradicts one of a policy or the configuration names it" do
    for {setting, given, message} <- [
          {[canonical: true], [pretty: true], "option :pretty contradicts canonical: true"},
          {[null: :null], [omit: [nil]],
           "options omit: [nil] and null: :null contradict each other: nil is then"},
          {[omit: [nil]], [null: :null],
           "options omit: [nil] and null: :null contradict each other: nil is then"}
        ] do
      [{name, _value}] = setting
      ending = "; its policy or `config :rustyjson, encode:` sets #{inspect(name)}"
      configure(policies: [own: setting])

      for call <- [
            fn -> RustyJson.encode(1, [policy: :own] ++ given) end,
            fn -> RustyJson.encode(1, given) end
          ] do
        error = assert_raise ArgumentError, call
        assert String.starts_with?(error.message, message)
        assert String.ends_with?(error.message, ending)
        configure(policies: [], encode: setting)
      end

      Application.delete_env(:rustyjson, :encode)
      configure([])
      error = assert_raise ArgumentError, fn -> RustyJson.encode(1, setting ++ given) end
      refute error.message =~ "policy"
    end

    assert_raise ArgumentError,
                 ~r/^policy :own of :rustyjson: option :pretty contradicts canonical: true; .* sets :canonical$/,
                 fn -> configure(encode: [canonical: true], policies: [own: [pretty: true]]) end
  end

  test "a stream names the policy or configuration that has :raw or :as" do
    for setting <- [raw: ["/a"], as: {:map, :integer}] do
      {name, _value} = setting
      given = if name == :as, do: [select: ["/a"]], else: []
      message = ~r/^a stream .*; its policy or `config :rustyjson, decode:` sets :#{name}$/

      configure(policies: [parts: [setting], whole: [{name, if(name == :raw, do: [], else: nil)}]])
      assert_raise ArgumentError, message, fn -> Feed.new([policy: :parts] ++ given) end
      configure(decode: [setting])
      assert_raise ArgumentError, message, fn -> Feed.new(given) end
      assert %Feed{} = Feed.new([policy: :whole] ++ given)
      own = assert_raise ArgumentError, fn -> Feed.new([setting] ++ given) end
      refute own.message =~ "policy"
      Application.delete_env(:rustyjson, :decode)
    end
  end

  test "a policy or a configuration that refuses repeated keys goes with no validate: false" do
    configure(policies: [strict: [duplicate_keys: :error]])
    fetched = &RustyJson.fetch(~s({"a": 1, "a": 2}), "/a", [validate: false] ++ &1)
    assert fetched.([]) == {:ok, 1}
    assert fetched.(policy: :strict, duplicate_keys: :first) == {:ok, 1}
    assert_raise ArgumentError, ~r/validate: false takes the first/, fn -> fetched.(policy: :strict) end

    configure(decode: [duplicate_keys: :error])
    assert_raise ArgumentError, ~r/validate: false takes the first/, fn -> fetched.([]) end
    assert fetched.(duplicate_keys: :first) == {:ok, 1}

    configure(decode: [duplicate_keys: :first])
    assert fetched.([]) == {:ok, 1}
  end

  test "the call overrides the policy, which overrides the configuration" do
    configure(decode: [max_depth: 3, max_nodes: 4], policies: [deep: [max_depth: 5], deeper: [max_depth: 9]])
    text = fn depth -> String.duplicate("[", depth) <> String.duplicate("]", depth) end

    reason = fn depth, options ->
      with({:error, error} <- RustyJson.decode(text.(depth), options), do: error.reason)
    end

    assert reason.(4, []) == :max_depth
    assert {:ok, _} = RustyJson.decode(text.(4), policy: :deep)
    # Options that the policy does not set keep their configured values.
    assert reason.(5, policy: :deep) == :max_nodes
    assert reason.(6, policy: :deep, max_nodes: 0) == :max_depth
    assert reason.(3, policy: :deep, max_depth: 2) == :max_depth
    # At any position in the list.
    assert reason.(3, max_depth: 2, policy: :deep) == :max_depth
    assert reason.(3, %{max_depth: 2, policy: :deep}) == :max_depth
    assert {:ok, _} = RustyJson.decode(text.(6), max_nodes: 0, policy: :deep, policy: :deeper)
    assert reason.(4, policy: nil) == :max_depth
  end

  test "decode_many, streams, feeds, encode and the formatter" do
    configure(
      policies: %{
        small: [max_bytes: 8, keys: :atoms!, pretty: 1],
        shared: [strings: :reference]
      }
    )

    assert [{:ok, %{a: 1}}, {:error, %{reason: :max_bytes}}] =
             RustyJson.decode_many([~s({"a":1}), "[1,2,3,4,5]"], policy: :small)

    assert [%{a: 1}] = ["{\"a\":1}"] |> RustyJson.decode_stream(policy: :small) |> Enum.to_list()
    assert {:ok, [%{a: 1}], _} = Feed.push(Feed.new(policy: :small), ~s({"a":1}))
    assert RustyJson.encode!([1], policy: :small) == "[\n 1\n]"
    assert {:error, %{reason: :max_bytes}} = RustyJson.encode([1, 2, 3], policy: :small)
    assert [1] |> RustyJson.encode_stream(policy: :small) |> Enum.join() == "[\n 1\n]"
    assert {:error, %{reason: :max_bytes}} = RustyJson.canonicalize("[1,2,3,4,5]", policy: :small)
    assert {:ok, "[1]"} = RustyJson.canonicalize("[ 1 ]", policy: :small)
    assert Formatter.minimize("[ 1 ]", policy: :small) == "[1]"
    assert Formatter.pretty_print("[1]", policy: :small) == "[\n  1\n]"

    assert Feed.new(policy: :shared).options.values.strings == :reference
    assert Feed.new(policy: :small).options.values.strings == :copy
    assert Feed.new(policy: :shared, strings: :copy).options.values.strings == :copy

    strings = &RustyJson.Partial.new(&1).options.values.strings
    assert strings.(policy: :shared) == :reference
    assert strings.(policy: :small) == :copy
    assert strings.(policy: :shared, strings: :copy) == :copy

    assert_raise ArgumentError, ~r/unknown policy "small"/, fn ->
      Formatter.minimize("[]", policy: "small")
    end

    assert_raise ArgumentError, ~r/unknown policy :none/, fn -> Formatter.minimize("[]", policy: :none) end
  end

  test "what a policy asks of decode does not change canonical text" do
    configure(policies: [parts: [raw: ["/a"], keys: :atoms!, floats: :decimals, objects: :ordered_objects]])

    for {_, engine} <- Judge.engines() do
      assert {:ok, ~s({"a":[1],"zzz":2.5})} =
               RustyJson.canonicalize(~s({"zzz": 2.50, "a": [1.0]}), [policy: :parts] ++ engine)
    end
  end

  test "the policy of the stand-in for Jason is checked when the configuration is read" do
    configure(policies: [packages: []])
    on_exit(fn -> Application.delete_env(:jason, :policy) end)
    Application.put_env(:jason, :policy, :packages)
    RustyJson.Config.reload()
    Application.put_env(:jason, :policy, :package)

    message =
      "config :jason, policy: unknown policy :package, did you mean :packages? config :rustyjson, policies: has :packages"

    assert_raise ArgumentError, message, &RustyJson.Config.reload/0
    # The configuration before it remains.
    assert RustyJson.decode!("1", policy: :packages) == 1
  end

  test "a policy that is not there is named, with those that are" do
    message = fn -> assert_raise(ArgumentError, fn -> RustyJson.decode("1", policy: :none) end).message end
    assert message.() == "unknown policy :none: config :rustyjson, policies: has none"
    configure(policies: [b: [], a: []])
    assert message.() == "unknown policy :none: config :rustyjson, policies: has :a, :b"

    assert_raise ArgumentError, ~r/unknown policy :none/, fn ->
      RustyJson.decode_stream("1", policy: :none)
    end

    assert_raise ArgumentError, ~r/unknown policy :none/, fn -> RustyJson.encode(1, policy: :none) end
    assert_raise ArgumentError, ~r/unknown policy "a"/, fn -> RustyJson.decode("1", policy: "a") end
  end

  test "what is wrong with a policy is found when the configuration is read" do
    for {policies, message} <- [
          {[a: [no_such: 1]], ~r/^policy :a of :rustyjson: unknown option :no_such: it takes :keys, /},
          {[a: [max_depth: -1]], ~r/^policy :a of :rustyjson: option :max_depth takes/},
          {[a: [escape: :none]], ~r/^policy :a of :rustyjson: option :escape takes/},
          {[a: [policy: :b]], ~r/^policy :a of :rustyjson: unknown option :policy/},
          {[a: :none], ~r/^policy :a of :rustyjson: it takes a keyword list of options, got: :none/},
          {[:a], ~r/^setting :policies of :rustyjson takes a keyword list or a map/},
          {:none, ~r/^setting :policies of :rustyjson takes a keyword list or a map/}
        ] do
      assert_raise ArgumentError, message, fn -> configure(policies: policies) end
    end

    Application.delete_env(:rustyjson, :policies)
    assert_raise ArgumentError, ~r/:policy belongs to a call/, fn -> configure(decode: [policy: :a]) end
  end

  if Judge.available?(:native) do
    test "sandbox options with the native engine" do
      message =
        ~r/^policy :a of :rustyjson: option :timeout is one of the wasm engine, but the native one is selected/

      for settings <- [
            [engine: :native, policies: [a: [timeout: 5]]],
            [policies: [a: [engine: :native, timeout: 5]]]
          ] do
        assert_raise ArgumentError, message, fn -> configure(settings) end
      end

      # The configured sandbox options apply only to calls that use the sandbox.
      configure(
        engine: :native,
        wasm: [timeout: 5],
        policies: [a: [max_nodes: 5], b: [engine: :wasm, timeout: 7]]
      )

      assert {:ok, 1} = RustyJson.decode("1", policy: :a)
      assert %{engine: RustyJson.Engine.Wasm, sandbox: %{timeout: 7}} = Options.decode(policy: :b)
      assert %{engine: RustyJson.Engine.Wasm, sandbox: %{timeout: 9}} = Options.decode(policy: :b, timeout: 9)

      # The caller never gave this option, so the message says who did.
      assert_raise ArgumentError, ~r/^policy :b: option :timeout is one of the wasm engine/, fn ->
        RustyJson.decode("1", policy: :b, engine: :native)
      end

      assert_raise ArgumentError, ~r/^option :max_memory is one of the wasm engine/, fn ->
        RustyJson.decode("1", policy: :b, engine: :native, max_memory: 5_000_000)
      end

      assert_raise ArgumentError, ~r/:timeout is one of the wasm engine/, fn ->
        RustyJson.decode("1", policy: :a, timeout: 9)
      end
    end
  end

  test "a policy with options of both directions" do
    configure(policies: [both: [keys: :atoms!, sort_keys: true, max_depth: 2]])
    assert {:ok, %{a: 1}} = RustyJson.decode(~s({"a":1}), policy: :both)
    assert {:ok, ~s({"a":1,"b":2})} = RustyJson.encode(%{b: 2, a: 1}, policy: :both)
    assert {:error, %{reason: :max_depth}} = RustyJson.encode([[[1]]], policy: :both)
  end

  test "reading the configuration again changes what a policy means" do
    configure(policies: [a: [max_depth: 1]])
    assert {:error, %{reason: :max_depth}} = RustyJson.decode("[[]]", policy: :a)
    configure(policies: [a: [max_depth: 2]])
    assert {:ok, [[]]} = RustyJson.decode("[[]]", policy: :a)
  end

  test "the doctor lists them" do
    configure(policies: [webhook: [max_nodes: 5, duplicate_keys: :error], none: []])
    report = capture_io(fn -> RustyJson.CLI.Doctor.run() end)
    engine = RustyJson.engine()
    assert report =~ ~r/^Policies$/m
    assert report =~ ~r/^  :none +#{engine} engine: no options$/m
    assert report =~ ~r/^  :webhook +#{engine} engine: max_nodes: 5, duplicate_keys: :error$/m
  end
end
