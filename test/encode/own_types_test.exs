defmodule RustyJson.OwnTypesTest do
  @moduledoc """
  An application's implementation of the protocol for MapSet, Range or URI is used, as it is with Jason.

  Each test runs in a VM of its own, because an implementation applies to the whole VM.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  @moduletag timeout: 120_000

  @jasons """
  defimpl RustyJson.Encoder, for: [MapSet, Range, Stream] do
    def encode(struct, opts), do: RustyJson.Encode.list(Enum.to_list(struct), opts)
  end

  defimpl RustyJson.Encoder, for: URI do
    def encode(uri, _opts), do: %{host: uri.host}
  end
  """

  test "protocol_encode calls none where the configuration says protocol: false" do
    code = """
    require Protocol
    Application.put_env(:rustyjson, :encode, protocol: false)
    Protocol.derive(RustyJson.Encoder, URI, only: [:host])
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    for value <- [URI.parse("http://x/y"), 1..3],
        do: IO.puts(RustyJson.encode!(value, &RustyJson.protocol_encode/2))
    """

    assert run(code) == ~s("http://x/y"\n{"first":1,"last":3}\n)
  end

  # The first call of a VM waits until the host has compiled the module, which takes long in an emulator.
  for {name, options} <- Judge.engines(),
      options = if(options[:engine] == :wasm, do: [timeout: 60_000] ++ options, else: options) do
    test "#{name}: an implementation that is there when the application starts" do
      code = """
      #{@jasons}
      {:ok, _} = Application.ensure_all_started(:rustyjson)
      options = #{inspect(unquote(Macro.escape(options)))}
      defmodule Item, do: (@derive(RustyJson.Encoder); defstruct([:id, :range]))
      term = [1..3, %{a: MapSet.new([1])}, URI.parse("http://x/y"), 5..5, struct(Item, id: 1, range: 1..2)]
      # The second time, the plan of the derived struct is known.
      for _ <- 1..2, do: IO.puts(RustyJson.encode!(term, options))
      IO.puts(RustyJson.encode!(1..3, options))
      IO.puts(RustyJson.encode!([1..3], [pretty: true] ++ options))
      IO.puts(RustyJson.encode!([1..3], [protocol: false] ++ options))
      RustyJson.Encoder.Plans.forget()
      IO.puts(RustyJson.encode!([1..3], options))
      """

      json = ~s([[1,2,3],{"a":[1]},{"host":"x"},[5],{"id":1,"range":[1,2]}])
      pretty = "[\n  [\n    1,\n    2,\n    3\n  ]\n]"
      plain = ~s([{"first":1,"last":3}])
      assert run(code) == Enum.join([json, json, "[1,2,3]", pretty, plain, "[[1,2,3]]"], "\n") <> "\n"
    end

    # An implementation that left its struct to the core again would never end, so memory and time have limits.
    test "#{name}: a derived one that renames or leaves out fields" do
      code = """
      require Protocol

      for {module, given} <- [
            {URI, [only: [:host, :port, :path], key_case: [host: "h"]]},
            {Range, [only: [:first, :step], omit: [nil]]},
            {MapSet, [only: [:map], key_case: :camel]},
            {Duration, [only: [:hour, :second], key_case: [hour: "h"]]}
          ],
          Code.ensure_loaded?(module),
          do: Protocol.derive(RustyJson.Encoder, module, given)

      {:ok, _} = Application.ensure_all_started(:rustyjson)
      options = #{inspect(unquote(Macro.escape(options)))}
      uri = URI.parse("http://x/y")
      encode = &IO.puts(RustyJson.encode!(&1, &2 ++ options))
      :timer.apply_after(60_000, System, :halt, [1])

      RustyJson.Test.Heap.within(10_000_000, fn ->
        for term <- [uri, [uri], %{a: uri}, [1..2, MapSet.new([1])]], do: encode.(term, [])
        encode.(uri, redact: [:host], redacted: "-")
        encode.([uri], redact: ["/0/path"], redacted: "-")
        encode.([uri], pretty: 0)
        encode.([uri], protocol: false)
        if Code.ensure_loaded?(Duration), do: encode.(struct(Duration, hour: 1), [])
      end)
      """

      json = ~s({"h":"x","port":80,"path":"/y"})
      hours = if Code.ensure_loaded?(Duration), do: [~s({"h":1,"second":0})], else: []

      assert String.split(run(code), "\n", trim: true) ==
               [
                 json,
                 "[#{json}]",
                 ~s({"a":#{json}}),
                 ~s([{"first":1,"step":1},{"map":{"1":[]}}]),
                 ~s({"h":"-","port":80,"path":"/y"}),
                 ~s([{"h":"x","port":80,"path":"-"}]),
                 "[",
                 "{",
                 ~s("h": "x",),
                 ~s("port": 80,),
                 ~s("path": "/y"),
                 "}",
                 "]",
                 ~s(["http://x/y"])
               ] ++ hours
    end

    test "#{name}: a call without the protocol does not use one, for what the core leaves to Elixir either" do
      code = """
      defimpl RustyJson.Encoder, for: [URI, Range] do
        def encode(_struct, _opts), do: ~s("called")
      end

      {:ok, _} = Application.ensure_all_started(:rustyjson)
      options = [protocol: false] ++ #{inspect(unquote(Macro.escape(options)))}
      # Ports of schemes that the core does not know, and bounds beyond 64 bits.
      term = [URI.parse("redis://h:6379"), Range.new(1, 2 ** 70)]
      for more <- [[], [sort_keys: true], [pretty: true]],
          do: term |> RustyJson.encode!(options ++ more) |> RustyJson.decode!() |> IO.inspect()
      """

      line = ~s(["redis://h:6379", %{"first" => 1, "last" => #{2 ** 70}}]\n)
      assert run(code) == String.duplicate(line, 3)
    end

    test "#{name}: without one, the types have their usual form" do
      code = """
      {:ok, _} = Application.ensure_all_started(:rustyjson)
      options = #{inspect(unquote(Macro.escape(options)))}
      term = [1..3, MapSet.new([1]), URI.parse("http://x/y")]
      IO.puts(RustyJson.encode!(term, options))
      encode = &RustyJson.Encoder.encode/2
      IO.puts(RustyJson.encode!(Enum.map(term, fn t -> RustyJson.Fragment.new(&encode.(t, &1)) end), options))
      """

      json = ~s([{"first":1,"last":3},[1],"http://x/y"])
      assert run(code) == json <> "\n" <> json <> "\n"
    end
  end

  defp run(code) do
    paths = for ebin <- Path.wildcard(Path.join(Mix.Project.build_path(), "lib/*/ebin")), do: ["-pa", ebin]

    {output, status} =
      System.cmd("elixir", List.flatten(paths) ++ ["-e", code],
        env: [{"RUSTYJSON_ENGINE", nil}],
        stderr_to_stdout: true
      )

    assert status == 0, output
    output
  end
end
