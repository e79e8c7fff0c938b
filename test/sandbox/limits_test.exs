defmodule RustyJson.Sandbox.LimitsTest do
  @moduledoc "The limits of the wasm engine, with the real guest, in every available host."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Clock, Judge}

  @moduletag timeout: 3_600_000

  # Milliseconds, with room for a busy machine.
  @slack 1_500

  if Keyword.take(Judge.engines(), [:built_in, :wasmex]) == [] do
    @tag skip: "no host runs WebAssembly here: #{inspect(Judge.missing())}"
    test "the sandbox", do: :ok
  end

  for {name, options} <- Judge.engines(), name != :native do
    describe "#{name}" do
      @describetag options: options

      test "a deadline that is too short is a SandboxError, in time, and the next call works", %{
        options: options
      } do
        text = "[" <> String.duplicate("1.25e3,", 3_000_000) <> "1]"

        Clock.within(@slack, fn ->
          assert {:error, %SandboxError{reason: reason} = error} =
                   RustyJson.decode(text, [timeout: 1] ++ options)

          assert reason in [:timeout, :busy]
          assert Exception.message(error) =~ "1 ms"
        end)

        works(options)
      end

      test "a document that needs more memory than the cap is a SandboxError", %{options: options} do
        text = "\"" <> String.duplicate("a", 4_000_000) <> "\""

        assert {:error, %SandboxError{reason: :memory_limit}} =
                 RustyJson.decode(text, [max_memory: 3_000_000] ++ options)

        assert {:ok, _} = RustyJson.decode(text, [max_memory: 100_000_000] ++ options)
        works(options)
      end

      test "a document that makes the guest grow beyond the cap is a SandboxError", %{options: options} do
        text = "[" <> String.duplicate("{\"a\":[", 100_000)
        options = [max_memory: 2_000_000, max_depth: :infinity] ++ options
        assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.decode(text, options)
        works(options)
      end

      test "encode has the same limits", %{options: options} do
        term = List.duplicate(1.5, 2_000_000)
        assert {:error, %SandboxError{reason: reason}} = RustyJson.encode(term, [timeout: 1] ++ options)
        assert reason in [:timeout, :busy]

        assert {:error, %SandboxError{reason: :memory_limit}} =
                 RustyJson.encode(term, [max_memory: 2_000_000] ++ options)

        works(options)
      end

      test "the bang functions raise them", %{options: options} do
        options = [max_memory: 1_200_000] ++ options

        assert_raise SandboxError, fn ->
          RustyJson.decode!(String.duplicate(" ", 5_000_000) <> "1", options)
        end

        assert_raise SandboxError, fn -> RustyJson.encode!(String.duplicate("a", 5_000_000), options) end
      end

      test "isolation: :fresh answers the same", %{options: options} do
        for text <- ["[1]", "[1,", "\"\xFF\"", "{\"a\":1,\"a\":2}"] do
          assert RustyJson.decode(text, [isolation: :fresh] ++ options) == RustyJson.decode(text, options)
        end
      end

      test "more callers than instances are served in turn", %{options: options} do
        options = [pool_size: 2] ++ options
        text = "[" <> String.duplicate("1,", 20_000) <> "1]"
        tasks = for _ <- 1..50, do: Task.async(fn -> RustyJson.decode(text, options) end)
        for task <- tasks, do: assert({:ok, [_ | _]} = Task.await(task, 60_000))
      end

      test "a caller that is killed leaks no instance", %{options: options} do
        text = "[" <> String.duplicate("1.5,", 500_000) <> "1]"

        for _ <- 1..20 do
          {pid, reference} = spawn_monitor(fn -> RustyJson.decode(text, [pool_size: 1] ++ options) end)
          Process.sleep(Enum.random(0..5))
          Process.exit(pid, :kill)
          assert_receive {:DOWN, ^reference, _, _, _}, 10_000
        end

        assert {:ok, _} = RustyJson.decode("[1]", [pool_size: 1] ++ options)
      end

      test "calls that fail do not disturb the calls beside them", %{options: options} do
        tasks =
          for i <- 1..200 do
            Task.async(fn ->
              case rem(i, 4) do
                0 ->
                  {:ok, [1, 2]} = RustyJson.decode("[1,2]", options)

                1 ->
                  {:error, %RustyJson.DecodeError{}} = RustyJson.decode("[1,", options)

                2 ->
                  {:error, %SandboxError{}} =
                    RustyJson.decode(String.duplicate(" ", 2_000_000), [max_memory: 1_500_000] ++ options)

                3 ->
                  {:ok, "[1,2]"} = RustyJson.encode([1, 2], options)
              end
            end)
          end

        for task <- tasks, do: Task.await(task, 60_000)
      end
    end
  end

  test "the guest has no imports" do
    case RustyJson.Wasm.Host.guest() do
      {:ok, <<0, "asm", 1::32-little, sections::binary>>} -> refute 2 in section_ids(sections)
      {:error, reason} -> IO.puts("skipped: the guest's imports: #{reason}")
    end
  end

  test "the guest is less than 530,000 bytes" do
    case {RustyJson.Wasm.Host.guest(), System.get_env("RUSTYJSON_PROFILE")} do
      {_guest, "quick"} -> IO.puts("skipped: the guest's size: RUSTYJSON_PROFILE=quick makes a larger one")
      {{:ok, wasm}, _release} -> assert byte_size(wasm) < 530_000
      {{:error, reason}, _} -> IO.puts("skipped: the guest's size: #{reason}")
    end
  end

  defp section_ids(<<>>), do: []

  defp section_ids(<<id, rest::binary>>) do
    {size, rest} = leb128(rest, 0, 0)
    [id | section_ids(binary_part(rest, size, byte_size(rest) - size))]
  end

  defp leb128(<<1::1, bits::7, rest::binary>>, shift, sum),
    do: leb128(rest, shift + 7, sum + Bitwise.bsl(bits, shift))

  defp leb128(<<0::1, bits::7, rest::binary>>, shift, sum), do: {sum + Bitwise.bsl(bits, shift), rest}

  defp works(options) do
    options = Keyword.drop(options, [:timeout, :max_memory, :max_depth])
    assert {:ok, %{"a" => [1, 2.5, nil]}} = RustyJson.decode(~s({"a":[1,2.5,null]}), options)
    assert {:ok, "[1,2]"} = RustyJson.encode([1, 2], options)
  end
end
