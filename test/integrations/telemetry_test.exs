defmodule RustyJson.TelemetryTest do
  @moduledoc "Events of the sandbox and of native calls, when the package telemetry is there, and the default logger."

  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias RustyJson.{Config, LogFormatter, Telemetry}
  alias RustyJson.Engine.Wasm
  alias RustyJson.Test.{Guest, Judge, WasmHosts}
  alias RustyJson.Wasm.{Batch, Events}

  @compile {:no_warn_undefined, :telemetry}
  @event [:rustyjson, :sandbox, :stop]

  defmodule Slow do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_slow, options) do
        Process.sleep(400)
        RustyJson.Encode.map(%{a: 1}, options)
      end
    end
  end

  describe "with the package" do
    unless Code.ensure_loaded?(:telemetry), do: @describetag(skip: "telemetry is not among the dependencies")

    setup do
      test = self()
      {:ok, _started} = Application.ensure_all_started(:telemetry)
      :ok = :telemetry.attach("rustyjson-test", @event, &__MODULE__.tell/4, test)

      on_exit(fn -> :telemetry.detach("rustyjson-test") end)
    end

    for {host, options} <- Judge.engines(), host != :native do
      test "#{host}: one event for each call into the sandbox" do
        options = unquote(options)
        assert {:ok, [1]} = RustyJson.decode("[1]", options)

        assert_received {%{bytes: 3, duration: duration},
                         %{host: unquote(host), operation: :decode, reason: nil}}

        assert is_integer(duration) and duration > 0

        # What is wrong with the document is not the sandbox's matter.
        assert {:error, %RustyJson.DecodeError{}} = RustyJson.decode("[1", options)
        assert_received {%{bytes: 2}, %{operation: :decode, reason: nil}}

        assert {:ok, "[1]"} = RustyJson.encode([1], options)
        assert_received {_, %{operation: :encode, reason: nil}}

        assert [{:ok, 1}, {:ok, 2}] = RustyJson.decode_many(["1", "2"], options)
        assert_received {_, %{operation: :many, reason: nil}}

        long = "[" <> String.duplicate("[],", 1_000_000) <> "1]"
        assert {:error, %{reason: :memory_limit}} = RustyJson.decode(long, [max_memory: 4_000_000] ++ options)
        assert_received {%{bytes: 3_000_003}, %{operation: :decode, reason: :memory_limit}}
        refute_received _
      end
    end

    for host <- [:built_in, :wasmex] do
      @tag host: host
      if reason = WasmHosts.no_other(host), do: @tag(skip: reason)

      test "#{host}: what decode_many tries again is told from what failed", %{host: host} do
        options = [engine: :wasm, host: host, timeout: 60_000]

        WasmHosts.with_guest(host, Guest.wasm(fault: Guest.fault(:trap)), fn ->
          results = RustyJson.decode_many(["1", "2", "!", "4"], options)
          assert Enum.count(results, &match?({:error, _}, &1)) == 1
          failures = for %{reason: reason} = about when reason != nil <- events(), do: about
          assert [%{reason: :trap, operation: :decode}] = Enum.reject(failures, & &1.retried)

          assert [_, _] =
                   for(%{retried: true, operation: :many, reason: :trap} = about <- failures, do: about)
        end)
      end
    end

    @tag host: :built_in
    if reason = WasmHosts.missing(:built_in), do: @tag(skip: reason)

    test "built_in: bytes of encode are those of the text" do
      assert {:ok, ~s("a\\n")} = RustyJson.encode("a\n", engine: :wasm, host: :built_in)
      assert_received {%{bytes: 5}, %{operation: :encode, reason: nil}}

      lost = {:planned, {:lost, {:ok, "{}"}, 7}, []}
      assert Events.measured({:encode, []}, nil, :built_in, fn -> lost end) == lost
      assert_received {%{bytes: 2}, %{operation: :encode, reason: nil}}
    end

    test "wasmex: a term whose time is over before it is looked at has no bytes" do
      for term <- [%{a: 1}, "text"] do
        assert {:error, %{reason: :timeout}} = Wasm.encode(term, expired(RustyJson.Options.encode(wasmex())))
        assert_received {%{bytes: 0}, %{host: :wasmex, operation: :encode, reason: :timeout}}
      end
    end

    test "wasmex: documents whose time is over before they cross have one event" do
      options = expired(RustyJson.Options.decode(wasmex()))
      assert [{:error, %{reason: :timeout}}, {:error, _}] = Wasm.decode_many(["1", "2"], options)
      assert_received {%{bytes: 0}, %{host: :wasmex, operation: :many, reason: :timeout, retried: false}}
      refute_received _
    end

    # None of this needs the package wasmex.
    defp wasmex, do: [engine: :wasm, host: :wasmex, timeout: 50]
    defp expired(options), do: put_in(options.sandbox[:deadline], System.monotonic_time(:millisecond) - 1)

    @tag host: :wasmex
    if reason = WasmHosts.missing(:wasmex), do: @tag(skip: reason)

    test "wasmex: an encoder that uses up the time" do
      options = [engine: :wasm, host: :wasmex, timeout: 300]
      assert {:error, %{reason: :timeout}} = RustyJson.encode(%Slow{}, options)
      assert_received {%{bytes: 0}, %{host: :wasmex, operation: :encode, reason: :timeout}}
    end

    @tag host: :wasmex
    if reason = WasmHosts.missing(:wasmex), do: @tag(skip: reason)

    test "wasmex: a term that is too large to be sent over" do
      shared = Enum.reduce(1..30, [], fn _, list -> [list, list] end)
      assert {:error, %{reason: :memory_limit}} = RustyJson.encode(shared, engine: :wasm, host: :wasmex)
      assert_received {%{bytes: 0}, %{host: :wasmex, operation: :encode, reason: :memory_limit}}
      refute_received _
    end

    defp events do
      receive do
        {_measurements, about} -> [about | events()]
      after
        0 -> []
      end
    end

    if Judge.available?(:native) do
      test "the native engine has none" do
        assert {:ok, [1]} = RustyJson.decode("[1]", engine: :native)
        refute_received _
      end
    end
  end

  describe "native calls" do
    unless Code.ensure_loaded?(:telemetry), do: @describetag(skip: "telemetry is not among the dependencies")
    unless Judge.available?(:native), do: @describetag(skip: "the native engine is not there")

    setup do
      test = self()
      {:ok, _started} = Application.ensure_all_started(:telemetry)
      :ok = :telemetry.attach("rustyjson-native", [:rustyjson, :native, :stop], &__MODULE__.tell/4, test)
      Application.put_env(:rustyjson, :native_events, true)
      Config.reload()

      on_exit(fn ->
        :telemetry.detach("rustyjson-native")
        Application.delete_env(:rustyjson, :native_events)
        Config.reload()
      end)
    end

    defmodule Derived do
      @derive RustyJson.Encoder
      defstruct [:a]
    end

    test "one event for each call, if the configuration asks for them" do
      native = [engine: :native]
      assert {:ok, [1]} = RustyJson.decode("[1]", native)
      assert_received {%{bytes: 3, duration: duration}, %{operation: :decode, reason: nil} = about}
      assert is_integer(duration) and duration > 0
      assert map_size(about) == 2

      for _ <- 1..2, do: assert(RustyJson.encode!(%Derived{a: "é"}, native) == ~s({"a":"é"}))
      assert_received {%{bytes: 10}, %{operation: :encode, reason: nil}}

      assert RustyJson.valid?("[1,2]", native)
      assert_received {%{bytes: 5}, %{operation: :decode, reason: nil}}

      assert [{:ok, 1}, {:error, _}] = RustyJson.decode_many(["1", "!"], native)
      assert_received {%{bytes: 2}, %{operation: :many, reason: nil}}

      assert Enum.to_list(RustyJson.decode_stream("1\n2", [format: :lines] ++ native)) == [1, 2]
      assert_received {%{bytes: 3}, %{operation: :feed, reason: nil}}

      assert {:ok, <<31, 139, _::binary>>} = RustyJson.encode([1], [compress: :gzip] ++ native)
      assert_received {_, %{operation: operation}} when operation in [:encode, :gzip]
    end

    test "an error has its reason" do
      assert {:error, %{reason: reason}} = RustyJson.decode("[1", engine: :native)
      assert_received {%{bytes: 2}, %{operation: :decode, reason: ^reason}}
      assert {:error, %{reason: :invalid_utf8}} = RustyJson.encode(<<255>>, engine: :native)
      assert_received {%{bytes: 0}, %{operation: :encode, reason: :invalid_utf8}}

      assert {:error, %{reason: :type}} = RustyJson.decode("[1]", engine: :native, as: [:string])
      assert_received {_, %{reason: :type}}

      assert_raise RustyJson.DecodeError, fn ->
        Enum.to_list(RustyJson.decode_stream("x", engine: :native))
      end

      assert_received {_, %{operation: :feed, reason: :expected_value}}
    end

    test "sandbox options still need the sandbox, and terms and texts are the same" do
      assert RustyJson.Engine.name(RustyJson.Options.decode(engine: :native).engine) == :native
      assert_raise ArgumentError, ~r/timeout/, fn -> RustyJson.decode("1", engine: :native, timeout: 5) end
      large = Map.new(1..100, &{"k#{&1}", &1})
      text = RustyJson.encode!(large, engine: :native)
      Application.put_env(:rustyjson, :native_events, false)
      Config.reload()
      assert RustyJson.encode!(large, engine: :native) == text
      flush()
      assert {:ok, [1]} = RustyJson.decode("[1]", engine: :native)
      refute_received _
    end

    test "log lines emit none, so that handlers can log" do
      event = %{level: :info, msg: {:report, %{a: 1}}, meta: %{time: 0}}
      assert {LogFormatter, config} = LogFormatter.new(engine: :native)
      assert event |> LogFormatter.format(config) |> IO.iodata_to_binary() =~ ~s("a":1)
      refute_received _
    end

    defp flush, do: receive(do: (_ -> flush()), after: (0 -> :ok))
  end

  describe "the default logger" do
    unless Code.ensure_loaded?(:telemetry), do: @describetag(skip: "telemetry is not among the dependencies")
    setup do: on_exit(fn -> Telemetry.detach_default_logger() end)

    for {host, options} <- Judge.engines(), host != :native do
      test "#{host}: logs what the sandbox ended, and what is slow" do
        assert :ok = Telemetry.attach_default_logger(slow: :infinity)
        assert {:error, :already_exists} = Telemetry.attach_default_logger()
        long = "[" <> String.duplicate("[],", 1_000_000) <> "1]"

        log =
          capture_log(fn ->
            assert {:ok, [1]} = RustyJson.decode("[1]", unquote(options))
            assert {:error, %RustyJson.DecodeError{}} = RustyJson.decode("[1", unquote(options))
            assert {:error, _} = RustyJson.decode(long, [max_memory: 4_000_000] ++ unquote(options))
          end)

        assert [_one] = Regex.scan(~r/RustyJson/, log)

        assert log =~
                 ~r/\[warning\] RustyJson decode of 3000003 bytes in the sandbox \(#{unquote(host)}\) ended after [\d.]+ ms: memory_limit/

        assert :ok = Telemetry.detach_default_logger()
        assert {:error, :not_found} = Telemetry.detach_default_logger()
        assert :ok = Telemetry.attach_default_logger(slow: 0, level: :info)
        log = capture_log(fn -> RustyJson.decode("[1]", unquote(options)) end)

        assert log =~
                 ~r/\[info\] RustyJson decode of 3 bytes in the sandbox \(#{unquote(host)}\) took [\d.]+ ms/
      end
    end
  end

  test "documents of decode_many that are given up untried are told of" do
    # Each uses up its share of the time, so that too little is left to try any of them again.
    slow = fn _document, share, _patience, _again? ->
      Process.sleep(share)
      {:fault, :timeout, ""}
    end

    test = self()
    given_up = fn -> {:error, send(test, :given_up)} end
    failed = fn reason, _detail -> {:error, reason} end
    guest = %{together: nil, alone: slow, failed: failed, given_up: given_up}
    deadline = System.monotonic_time(:millisecond) + 100
    results = Batch.decode(List.duplicate("1", 12), true, deadline, guest)
    assert {:error, :given_up} in results
    assert length(results) == 12
    assert_received :given_up
  end

  test "a configuration that cannot be met is an error" do
    on_exit(fn ->
      Application.delete_env(:rustyjson, :native_events)
      Config.reload()
    end)

    Application.put_env(:rustyjson, :native_events, :yes)
    assert_raise ArgumentError, ~r/native_events of :rustyjson takes a boolean, got: :yes/, &Config.reload/0

    unless Code.ensure_loaded?(:telemetry) do
      Application.put_env(:rustyjson, :native_events, true)
      assert_raise ArgumentError, ~r/needs the package telemetry: add/, &Config.reload/0
      assert_raise ArgumentError, ~r/needs the package telemetry: add/, &Telemetry.attach_default_logger/0
    end
  end

  test "wrong options of the default logger" do
    assert_raise ArgumentError, ~r/takes :emergency/, fn -> Telemetry.attach_default_logger(level: :loud) end

    assert_raise ArgumentError, ~r/takes an integer from 0 or :infinity/, fn ->
      Telemetry.attach_default_logger(slow: -1)
    end
  end

  describe "with the package, whose application does not run" do
    unless Code.ensure_loaded?(:telemetry), do: @describetag(skip: "telemetry is not among the dependencies")

    test "a call logs nothing" do
      {:ok, _started} = Application.ensure_all_started(:logger)
      Application.stop(:telemetry)
      on_exit(fn -> {:ok, _started} = Application.ensure_all_started(:telemetry) end)

      for {host, options} <- Judge.engines(), host != :native do
        assert capture_log(fn -> {:ok, [1]} = RustyJson.decode("[1]", options) end) == ""
      end
    end
  end

  def tell(_event, measurements, about, test), do: send(test, {measurements, about})

  test "calls are measured only where the package is there" do
    assert RustyJson.Options.decode(engine: :wasm).sandbox[:events] ==
             if(Code.ensure_loaded?(:telemetry), do: true)
  end
end
