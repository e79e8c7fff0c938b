defmodule RustyJson.Test.Heap do
  @moduledoc "Limits the memory of calls in tests."

  import ExUnit.Assertions

  @doc "The result of a function, whose process is killed where its heap would have more than this many words."
  @spec within(pos_integer(), (() -> result)) :: result when result: term()
  def within(words, fun) do
    limit = %{size: words, kill: true, error_logger: false}
    {pid, reference} = :erlang.spawn_opt(fn -> exit({:done, fun.()}) end, [:monitor, max_heap_size: limit])

    receive do
      {:DOWN, ^reference, :process, ^pid, ended} ->
        assert {:done, result} = ended
        result
    end
  end
end
