defmodule RustyJson.Test.Trace do
  @moduledoc "Which of some functions are called. In a process of its own: one that traces itself is told nothing."

  @doc "The calls of these functions, any arity given, while the function runs."
  @spec calls([mfa()], (... -> term())) :: [mfa()]
  def calls(functions, run) do
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
      {:trace, ^pid, :call, {module, name, arguments}} -> [{module, name, length(arguments)} | received(pid)]
    after
      0 -> []
    end
  end
end
