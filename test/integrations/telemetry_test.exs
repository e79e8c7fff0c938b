defmodule RustyJson.TelemetryTest do
  @moduledoc "Events of the sandbox, when the package telemetry is there."

  use ExUnit.Case, async: false

  alias RustyJson.Test.{Guest, Judge, WasmHosts}

  @compile {:no_warn_undefined, :telemetry}
  @event [:rustyjson, :sandbox, :stop]

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

  describe "with the package, whose application does not run" do
    unless Code.ensure_loaded?(:telemetry), do: @describetag(skip: "telemetry is not among the dependencies")

    test "a call logs nothing" do
      {:ok, _started} = Application.ensure_all_started(:logger)
      Application.stop(:telemetry)
      on_exit(fn -> {:ok, _started} = Application.ensure_all_started(:telemetry) end)

      for {host, options} <- Judge.engines(), host != :native do
        assert ExUnit.CaptureLog.capture_log(fn -> {:ok, [1]} = RustyJson.decode("[1]", options) end) == ""
      end
    end
  end

  def tell(_event, measurements, about, test), do: send(test, {measurements, about})

  test "calls are measured only where the package is there" do
    assert RustyJson.Options.decode(engine: :wasm).sandbox[:events] ==
             if(Code.ensure_loaded?(:telemetry), do: true)
  end
end
