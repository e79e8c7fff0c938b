defmodule RustyJson.Bench.Jobs do
  @moduledoc "Sends measurements to the VMs of the sides, and combines their answers."

  alias RustyJson.Bench.{Contender, Measure, Peer}

  @doc """
  Measures `runs`, each `{label, contender, options}`. Every side has its own yardstick, so that ratios can be compared
  across VMs; the times kept for `yardstick` are those of the first side.
  """
  @spec run(map(), map()) :: %{results: map(), notes: [String.t()], bytes: non_neg_integer()}
  def run(context, job) do
    runs = for {label, id, opts} <- job.runs, context.present[id], do: {label, id, opts}
    settings = %{budget: context.budget, rounds: context.rounds, test: context.test, mode: :fresh}
    job = Map.merge(settings, job)

    runs
    |> Enum.group_by(fn {_, id, _} -> Contender.side(id) end)
    |> Enum.sort_by(fn {side, _} -> Enum.find_index(Contender.sides(), &(&1 == side)) end)
    |> Enum.map(fn {side, runs} -> on_side(side, %{job | runs: runs}) end)
    |> Enum.reduce(%{results: %{}, notes: [], bytes: 0, sha256: nil, checked: 0}, &merge/2)
  end

  defp on_side(side, job) do
    case in_vm(side, Measure, :run, [job]) do
      {:ok, answer} ->
        answer

      {:error, why} ->
        %{results: %{}, notes: ["#{side} is left out: #{why}"], bytes: 0, sha256: nil, checked: 0}
    end
  end

  defp merge(new, merged) do
    %{
      results: Map.merge(new.results, merged.results),
      notes: merged.notes ++ new.notes,
      bytes: max(merged.bytes, new.bytes),
      sha256: merged.sha256 || new.sha256,
      checked: merged.checked + new.checked
    }
  end

  @doc "Calls a function in the VM of a side. The VM stays for the next call."
  @spec in_vm(atom(), module(), atom(), list()) :: {:ok, term()} | {:error, String.t()}
  def in_vm(side, module, function, arguments) do
    with {:ok, peer} <- peer(side),
         {:error, _} = error <- Peer.call_in(peer, module, function, arguments) do
      # The VM may be dead, or in a state that would affect the next job.
      stop(side)
      error
    end
  end

  defp peer(side) do
    case Process.get({__MODULE__, side}) do
      nil ->
        with {:ok, peer} <- Peer.start(side) do
          Process.put({__MODULE__, side}, peer)
          {:ok, peer}
        end

      peer ->
        {:ok, peer}
    end
  end

  defp stop(side) do
    peer = Process.delete({__MODULE__, side})
    if peer && Process.alive?(peer), do: Peer.stop(peer)
    :ok
  end

  @doc "Ends the VMs, so that the next job starts new ones."
  @spec renew() :: :ok
  def renew, do: Enum.each(Contender.sides(), &stop/1)
end
