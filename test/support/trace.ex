defmodule RustyJson.Test.Trace do
  @moduledoc "Records the calls of functions. It traces from a separate process, because a process cannot trace itself."

  @doc "The calls of these functions, any arity given, while the function runs."
  @spec calls([mfa()], (... -> term())) :: [mfa()]
  def calls(functions, run) do
    for {module, name, arguments} <- traced(functions, run), do: {module, name, length(arguments)}
  end

  @doc "The arguments of each call of this function."
  @spec arguments(mfa(), (... -> term())) :: [[term()]]
  def arguments(function, run), do: for({_, _, arguments} <- traced([function], run), do: arguments)

  defp traced(functions, run) do
    task = Task.async(fn -> receive(do: (:go -> run.())) end)
    :erlang.trace(task.pid, true, [:call])
    for mfa <- functions, do: :erlang.trace_pattern(mfa, true, [:local])
    send(task.pid, :go)
    Task.await(task, :infinity)
    delivered = :erlang.trace_delivered(task.pid)
    receive do: ({:trace_delivered, _, ^delivered} -> :ok)
    for mfa <- functions, do: :erlang.trace_pattern(mfa, false, [:local])
    received(task.pid)
  end

  defp received(pid) do
    receive do
      {:trace, ^pid, :call, call} -> [call | received(pid)]
    after
      0 -> []
    end
  end
end
