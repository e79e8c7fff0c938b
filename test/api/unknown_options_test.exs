defmodule RustyJson.UnknownOptionsTest do
  @moduledoc "Options that a function does not have: an error that says what was meant, or ignored, by the setting `unknown_options`."
  use ExUnit.Case, async: false

  alias RustyJson.{Config, Feed, Formatter, LogFormatter, Options, Partial}
  alias RustyJson.Test.Judge

  setup do
    on_exit(fn ->
      Application.delete_env(:rustyjson, :unknown_options)
      Config.reload()
    end)
  end

  defp setting(value) do
    Application.put_env(:rustyjson, :unknown_options, value)
    Config.reload()
  end

  # Every public function that reads options, with options that libraries pass on.
  defp calls(more) do
    [
      decode: fn -> RustyJson.decode("[1]", more) end,
      decode!: fn -> RustyJson.decode!("[1]", more) end,
      decode_many: fn -> RustyJson.decode_many(["[1]"], more) end,
      decode_map: fn -> RustyJson.decode("[1]", Map.new(more)) end,
      fetch: fn -> RustyJson.fetch("[1]", "/0", more) end,
      fetch!: fn -> RustyJson.fetch!("[1]", "/0", more) end,
      select: fn -> RustyJson.select("[1]", ["/0"], more) end,
      decode_stream: fn -> "[1]" |> RustyJson.decode_stream(more) |> Enum.to_list() end,
      decode_partial: fn -> RustyJson.decode_partial("[1]", more) end,
      feed: fn -> inspect(Feed.new(more)) end,
      partial: fn -> inspect(Partial.new(more)) end,
      encode: fn -> RustyJson.encode([1], more) end,
      encode!: fn -> RustyJson.encode!([1], more) end,
      encode_to_iodata: fn -> RustyJson.encode_to_iodata([1], more) end,
      encode_to_iodata!: fn -> RustyJson.encode_to_iodata!([1], more) end,
      encode_stream: fn -> [1] |> RustyJson.encode_stream(more) |> Enum.join() end,
      canonicalize: fn -> RustyJson.canonicalize("[1]", more) end,
      pretty_print: fn -> Formatter.pretty_print("[1]", more) end,
      minify: fn -> Formatter.minify("[1]", more) end,
      start_engine: fn -> RustyJson.start_engine(more) end
    ]
  end

  @foreign [canonicalize: true, context: %{"@base" => "http://a"}, base: nil]

  test "ignored, every function gives what it gives without them" do
    setting(:ignore)
    plain = for {name, call} <- calls([]), do: {name, call.()}
    assert for({name, call} <- calls(@foreign), do: {name, call.()}) == plain
    assert for({name, call} <- calls(@foreign), do: {name, call.()}) == plain

    for {_, engine} <- Judge.engines() do
      assert RustyJson.encode(%{b: 1, a: 2}, [sort_keys: true, context: 1] ++ engine) ==
               {:ok, ~s({"a":2,"b":1})}

      assert {:error, %{reason: :max_depth}} = RustyJson.decode("[[1]]", [context: 1, max_depth: 1] ++ engine)
    end

    assert_raise ArgumentError, ~r/:max_depth takes/, fn ->
      RustyJson.decode("1", context: 1, max_depth: -1)
    end
  end

  test "by default each raises" do
    for {name, call} <- calls(@foreign) do
      error = assert_raise ArgumentError, call
      assert error.message =~ "unknown option :", "#{name}: #{error.message}"
    end

    setting(:raise)
    for {_name, call} <- calls(@foreign), do: assert_raise(ArgumentError, call)
  end

  test "one call can ignore them" do
    for {_name, call} <- calls([{:unknown_options, :ignore} | @foreign]), do: call.()
    setting(:ignore)
    for {_name, call} <- calls([{:unknown_options, :raise} | @foreign]), do: assert_raise(ArgumentError, call)

    assert_raise ArgumentError, ~r/takes :raise or :ignore/, fn ->
      RustyJson.decode("1", unknown_options: true)
    end
  end

  test "settings, policies, logs and parsers always raise" do
    setting(:ignore)
    assert_raise ArgumentError, ~r/unknown option :redct/, fn -> LogFormatter.new(redct: [:password]) end
    assert_raise ArgumentError, ~r/:raise or :ignore, got: :warn/, fn -> setting(:warn) end
    setting(:ignore)
    Application.put_env(:rustyjson, :decode, max_dept: 3)
    assert_raise ArgumentError, ~r/unknown option :max_dept, did you mean :max_depth\?/, &Config.reload/0
    Application.delete_env(:rustyjson, :decode)
    Application.put_env(:rustyjson, :policies, a: [max_dept: 3])
    assert_raise ArgumentError, ~r/policy :a .*did you mean :max_depth\?/, &Config.reload/0
    Application.delete_env(:rustyjson, :policies)
  end

  test "an error begins with what was probably meant" do
    for {call, start} <- [
          {fn -> RustyJson.decode("1", timout: 5) end, "unknown option :timout, did you mean :timeout?"},
          {fn -> RustyJson.encode(1, prety: true) end, "unknown option :prety, did you mean :pretty?"},
          {fn -> RustyJson.encode(1, redacted_keys: []) end,
           "unknown option :redacted_keys, did you mean :redacted?"},
          {fn -> RustyJson.decode("1", context: 1) end, "unknown option :context: decode takes :keys"},
          {fn -> Formatter.minify("1", indents: 1) end, "unknown option :indents, did you mean :indent?"},
          {fn -> RustyJson.canonicalize("1", max_byte: 1) end,
           "unknown option :max_byte, did you mean :max_bytes?"}
        ] do
      error = assert_raise ArgumentError, call
      assert String.starts_with?(error.message, start), error.message
    end

    assert_raise ArgumentError, ~r/got: :atom, did you mean :atoms\?$/, fn ->
      RustyJson.decode("1", keys: :atom)
    end
  end

  test "what a pipeline can check before the configuration is complete" do
    assert Options.check!(:decode, keys: :atoms, timeout: 5, as: [Not.Yet.Compiled]) == :ok
    assert_raise ArgumentError, ~r/did you mean :keys/, fn -> Options.check!(:decode, key: :atoms) end
    assert_raise ArgumentError, ~r/option :keys takes/, fn -> Options.check!(:decode, keys: 1) end
    assert_raise ArgumentError, ~r/unknown type/, fn -> Options.check!(:decode, as: :strin) end

    assert_raise ArgumentError, ~r/^unknown policy :webhok: .*has none$/, fn ->
      Options.check!(:decode, policy: :webhok)
    end

    Application.put_env(:rustyjson, :policies, webhook: [])
    on_exit(fn -> Application.delete_env(:rustyjson, :policies) end)
    assert Options.check!(:decode, policy: :webhook) == :ok

    assert_raise ArgumentError, ~r/unknown policy :webhok, did you mean :webhook\?/, fn ->
      Options.check!(:decode, policy: :webhok)
    end
  end
end
