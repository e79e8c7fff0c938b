defmodule RustyJson.PlugParserTest do
  @moduledoc "RustyJson.PlugParser in the real Plug.Parsers."

  use ExUnit.Case, async: false

  alias RustyJson.{Config, PlugParser, SandboxError}
  alias RustyJson.Test.Judge

  @compile {:no_warn_undefined, [Plug.Test, Plug.Conn, Plug.Parsers, Plug.Exception, PlugParser]}

  unless Code.ensure_loaded?(Plug.Parsers), do: @moduletag(skip: "Plug is not among the dependencies")

  @sandbox if Judge.available?(:built_in) or Judge.available?(:wasmex),
             do: nil,
             else: "there is no host for the wasm engine"

  setup do
    on_exit(fn ->
      Application.delete_env(:rustyjson, :policies)
      Config.reload()
    end)
  end

  defp post(body, type \\ "application/json", opts) do
    conn = Plug.Conn.put_req_header(Plug.Test.conn(:post, "/?query=1", body), "content-type", type)
    Plug.Parsers.call(conn, Plug.Parsers.init([parsers: [PlugParser], pass: ["text/*"]] ++ opts))
  end

  defp raised(body, opts) do
    post(body, opts)
    flunk("nothing was raised")
  rescue
    error in ExUnit.AssertionError -> reraise error, __STACKTRACE__
    error -> {error.__struct__, Plug.Exception.status(error), Exception.message(error)}
  end

  test "objects, other values, and nothing" do
    assert post(~s({"a":{"b":[1]}}), []).body_params == %{"a" => %{"b" => [1]}}
    assert post(~s({"a":1}), []).params == %{"a" => 1, "query" => "1"}
    assert post("[1]", []).body_params == %{"_json" => [1]}
    assert post("null", []).body_params == %{"_json" => nil}
    assert post("", []).body_params == %{}
    assert post(~s({"a":1}), nest_all_json: true).body_params == %{"_json" => %{"a" => 1}}
    ordered = post(~s({"a":1}), rustyjson: [objects: :ordered_objects]).body_params
    assert %{"_json" => %RustyJson.OrderedObject{}} = ordered
  end

  test "which content types" do
    assert post("[1]", "application/vnd.api+json; charset=utf-8", []).body_params == %{"_json" => [1]}
    assert %{__struct__: Plug.Conn.Unfetched} = post("[1]", "text/plain", []).body_params
    assert_raise Plug.Parsers.UnsupportedMediaTypeError, fn -> post("[1]", "application/xml", []) end
  end

  test "what is not JSON is a bad request with its place" do
    assert {Plug.Parsers.ParseError, 400, message} = raised(~s({"a":\n nul}), [])
    assert message =~ "RustyJson.DecodeError"
    assert message =~ "line 2, column 2"
    assert {Plug.Parsers.ParseError, 400, message} = raised("[[1]]", rustyjson: [max_depth: 1])
    assert message =~ "line 1, column 2"
    assert {Plug.Parsers.ParseError, 400, _} = raised(~s({"a":1,"a":2}), rustyjson: [duplicate_keys: :error])
    # Plug checks the encoding of strings itself, and does not trust this parser.
    assert {_error, 400, _} = raised(<<34, 255, 34>>, [])
  end

  test "what is too large" do
    assert {Plug.Parsers.RequestTooLargeError, 413, _} = raised("[1,2,3]", length: 5)
    assert {Plug.Parsers.RequestTooLargeError, 413, message} = raised("[1,2,3]", rustyjson: [max_bytes: 5])
    assert message =~ "the request is too large: "
    assert {Plug.Parsers.RequestTooLargeError, 413, message} = raised("[1,2,3]", rustyjson: [max_nodes: 2])
    assert message =~ "line 1, column 4"
  end

  test "the raw body" do
    body = ~s( {"a" : 1} )
    assert post(body, rustyjson: [raw_body: true]).assigns.raw_body == body
    assert post("", rustyjson: [raw_body: true]).assigns.raw_body == ""
    refute Map.has_key?(post(body, []).assigns, :raw_body)
    refute Map.has_key?(post(body, rustyjson: [raw_body: false]).assigns, :raw_body)
  end

  test "a body reader" do
    reader = {__MODULE__, :read, [:mine]}
    assert post("[1]", body_reader: reader, length: 9).body_params == %{"_json" => [9, "mine"]}
    assert {Plug.BadRequestError, 400, _} = raised("bad", body_reader: reader)
    assert {Plug.TimeoutError, 408, _} = raised("slow", body_reader: reader)
    assert {Plug.Parsers.RequestTooLargeError, 413, _} = raised("long", body_reader: reader)
  end

  def read(conn, opts, who) do
    case Plug.Conn.read_body(conn) do
      {:ok, "bad", _conn} -> {:error, :closed}
      {:ok, "slow", _conn} -> {:error, :timeout}
      {:ok, "long", conn} -> {:more, "lo", conn}
      {:ok, _body, conn} -> {:ok, ~s([#{opts[:length]},"#{who}"]), conn}
    end
  end

  test "the exception has the error of the decoder" do
    error = assert_raise Plug.Parsers.ParseError, fn -> post("[1", []) end
    assert %{exception: %RustyJson.DecodeError{reason: :unexpected_end, path: "/0"}} = error
  end

  test "options are checked" do
    for wrong <- [[rustyjson: :all], [rustyjson: [:a]], [rustyjson: [raw_body: 1]]] do
      assert_raise ArgumentError, fn -> PlugParser.init(wrong) end
    end

    message = ~r/^option :rustyjson of Plug.Parsers: unknown option :max_node, did you mean :max_nodes\?/
    assert_raise ArgumentError, message, fn -> PlugParser.init(rustyjson: [max_node: 5]) end

    # Found when the pipeline is built, and not by each request.
    for {wrong, message} <- [
          {[policy: :none], ~r/unknown policy :none/},
          {[max_nodes: -1], ~r/option :max_nodes takes/},
          {[keys: :atom], ~r/did you mean :atoms/},
          {[as: :strin], ~r/unknown type :strin/},
          {[engine: :native, timeout: 5], ~r/option :timeout is one of the wasm engine/},
          {[raw: ["a"]], ~r/JSON Pointer/}
        ] do
      assert_raise ArgumentError, message, fn -> PlugParser.init(rustyjson: wrong) end
    end
  end

  test "options in the wrong place, which Plug would ignore, are found" do
    for {wrong, message} <- [
          {[policy: :webhook], ~r/option :policy of Plug.Parsers: write rustyjson: \[policy: ...\]/},
          {[max_nodes: 5], ~r/write rustyjson: \[max_nodes: ...\]/},
          {[raw_body: true], ~r/write rustyjson: \[raw_body: ...\]/},
          {[rustyjson: [raw_body: true], policy: :webhook], ~r/write rustyjson: \[policy: ...\]/},
          {[timeout: 5], ~r/give an option of another parser to that parser: \{Parser, \[timeout: ...\]\}/},
          {[rustjson: [policy: :webhook]], ~r/did you mean rustyjson: \[...\]\?/}
        ] do
      assert_raise ArgumentError, message, fn -> PlugParser.init([length: 1] ++ wrong) end
    end

    parsers = [{:urlencoded, timeout: 5}, PlugParser]
    assert Plug.Parsers.init(parsers: parsers, rustyjson: [max_depth: 2])
    others = [length: 1, read_timeout: 5, json_decoder: RustyJson, validate_utf8: true, nest_all_json: true]
    assert PlugParser.init(others) |> elem(2) == others
  end

  test "a pipeline that is built when the application is compiled" do
    Application.put_env(:rustyjson, :policies, webhook: [max_depth: 2])
    Application.stop(:rustyjson)
    on_exit(fn -> {:ok, _} = Application.ensure_all_started(:rustyjson) end)
    assert {_, _, _} = PlugParser.init(rustyjson: [policy: :webhook, timeout: 5, as: [Not.Compiled]])

    assert_raise ArgumentError, ~r/did you mean :webhook/, fn ->
      PlugParser.init(rustyjson: [policy: :webhok])
    end

    # It can be in config/runtime.exs, which is read later.
    Application.delete_env(:rustyjson, :policies)

    assert_raise ArgumentError,
                 ~r/policies: has none\. config\/runtime\.exs is read when .* at run time/,
                 fn ->
                   PlugParser.init(rustyjson: [policy: :webhook])
                 end

    {:ok, _} = Application.ensure_all_started(:rustyjson)
  end

  test "a policy" do
    Application.put_env(:rustyjson, :policies, webhook: [keys: :atoms!, max_depth: 2])
    Config.reload()
    assert post(~s({"policy":1}), rustyjson: [policy: :webhook]).body_params == %{policy: 1}
    assert {Plug.Parsers.ParseError, 400, _} = raised("[[[1]]]", rustyjson: [policy: :webhook])
  end

  if @sandbox, do: @tag(skip: @sandbox)

  test "the sandbox: out of time or memory is too large" do
    long = "[" <> String.duplicate("[],", 4_000_000) <> "1]"
    opts = fn options -> [length: 99_000_000, rustyjson: [engine: :wasm] ++ options] end
    assert post("[1]", opts.([])).body_params == %{"_json" => [1]}
    assert {Plug.Parsers.ParseError, 400, _} = raised("[1", opts.([]))

    # The call above took an instance of wasmex; 10 ms are enough for the next one.
    assert {SandboxError, 413, "the call took longer than its timeout: 10 ms"} =
             raised(long, opts.(timeout: 10))

    assert {SandboxError, 413, "the call needs more memory" <> _} = raised(long, opts.(max_memory: 8_000_000))
  end

  test "the status of each reason" do
    for {reason, status} <- [
          timeout: 413,
          memory_limit: 413,
          busy: 503,
          unavailable: 503,
          trap: 500,
          invalid_result: 500
        ] do
      assert Plug.Exception.status(SandboxError.new(reason)) == status
      assert Plug.Exception.actions(SandboxError.new(reason)) == []
    end
  end
end
