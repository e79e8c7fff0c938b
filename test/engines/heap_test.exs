defmodule RustyJson.HeapTest do
  @moduledoc "Room that is made on the caller's heap before a long text is decoded."

  # Other work on the machine changes where a call runs, and with it how often the VM collects.
  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Test.Judge

  # Long numbers, and one string, which needs hardly any room.
  @numbers "[" <> Enum.map_join(1..3_000, ",", &"#{&1 / 7}") <> "]"
  @text ~s("#{String.duplicate("a", 65_536)}")

  for {name, options} <- Judge.engines() do
    @tag options: options
    test "#{name}: terms stand on the heap, where nothing is left to copy", %{options: options} do
      assert RustyJson.decode!(@numbers, options) == RustyJson.decode!(@numbers, engine: :native)

      # On a busy machine a call of the sandbox moves to a dirty scheduler on the way, which collects once more. What keeps it busy may
      # be left over from the test before.
      {collections, copied} =
        Enum.reduce_while(1..200, nil, fn try, _ ->
          if try > 10, do: Process.sleep(20)

          counted =
            in_process([], fn ->
              list = RustyJson.decode!(@numbers, options)
              {_, info} = Process.info(self(), :garbage_collection_info)
              # What survived a collection: terms that the VM copied.
              {collected(), info[:recent_size] >= :erts_debug.flat_size(list)}
            end)

          if counted <= {2, false}, do: {:halt, counted}, else: {:cont, counted}
        end)

      assert collections <= 2
      refute copied
    end

    @tag options: options
    test "#{name}: the caller's flag is as it was, and its heap stays within bounds", %{options: options} do
      {flag, size} =
        in_process([min_heap_size: 987], fn ->
          for _ <- 1..40, do: RustyJson.decode!(@numbers, options)
          {_, settings} = Process.info(self(), :garbage_collection)
          {_, size} = Process.info(self(), :heap_size)
          {settings[:min_heap_size], size}
        end)

      assert flag == 987
      assert size < byte_size(@numbers)
    end

    @tag options: options
    test "#{name}: a process with a limit gets no larger heap than it needs", %{options: options} do
      # The first call loads modules, on the heap of whoever makes it.
      decoded = RustyJson.decode!(@text, options)
      limit = %{size: 8_000, kill: true, error_logger: false}

      assert in_process([max_heap_size: limit], fn -> RustyJson.decode!(@text, options) end) == decoded
    end
  end

  defp collected do
    {_, info} = Process.info(self(), :garbage_collection)
    info[:minor_gcs]
  end

  defp in_process(options, run) do
    {pid, reference} = :erlang.spawn_opt(fn -> exit({:done, run.()}) end, [:monitor | options])
    assert_receive {:DOWN, ^reference, :process, ^pid, {:done, result}}, 30_000
    result
  end
end
