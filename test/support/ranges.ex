defmodule RustyJson.Test.Ranges do
  @moduledoc "The work on one range of a file, and nodes that share the ranges. Other nodes run this code, so it is in a file."

  alias RustyJson.Lines

  @doc "The number of lines such as `[17]` in a range, and their sum."
  @spec sum(Lines.range(), Path.t(), [RustyJson.stream_option()]) :: {non_neg_integer(), integer()}
  def sum(range, path, opts \\ []) do
    path |> Lines.stream(range, opts) |> Enum.reduce({0, 0}, fn [n], {count, sum} -> {count + 1, sum + n} end)
  end

  @doc "The same, but the first node that is in the middle of the range with this offset ends."
  @spec sum_or_die(Lines.range(), Path.t(), non_neg_integer(), Path.t()) :: {non_neg_integer(), integer()}
  def sum_or_die({fatal, _length} = range, path, fatal, mark) do
    path |> Lines.stream(range) |> Enum.take(10)
    if File.rm(mark) == :ok, do: :erlang.halt(1, flush: false)
    sum(range, path)
  end

  def sum_or_die(range, path, _fatal, _mark), do: sum(range, path)

  @doc "Adds up the results of ranges."
  @spec total(Enumerable.t()) :: {non_neg_integer(), integer()}
  def total(results), do: Enum.reduce(results, {0, 0}, fn {a, b}, {c, d} -> {a + c, b + d} end)

  @doc """
  Calls a function with each range on one of the nodes, and returns the result of each range. A node takes the next range when it
  has finished one. The range of a node that died goes to another one.
  """
  @spec share([Lines.range()], [node(), ...], {module(), atom(), [term()]}) :: %{Lines.range() => term()}
  def share([], _nodes, _call), do: %{}

  def share(ranges, [_ | _] = nodes, call) do
    {:ok, queue} = Agent.start_link(fn -> ranges end)
    tasks = for node <- nodes, do: Task.async(fn -> drain(queue, node, call, %{}) end)
    answers = Task.await_many(tasks, :infinity)
    Agent.stop(queue)
    done = for {_state, results} <- answers, result <- results, into: %{}, do: result
    alive = for {node, {:alive, _results}} <- Enum.zip(nodes, answers), do: node
    Map.merge(done, share(ranges -- Map.keys(done), alive, call))
  end

  defp drain(queue, node, {module, function, arguments} = call, done) do
    case Agent.get_and_update(queue, &Enum.split(&1, 1)) do
      [] ->
        {:alive, done}

      [range] ->
        result = :erpc.call(node, module, function, [range | arguments], 60_000)
        drain(queue, node, call, Map.put(done, range, result))
    end
  catch
    :error, {:erpc, :noconnection} -> {:dead, done}
  end
end
