defmodule RustyJson.Bench.Memory do
  @moduledoc """
  What a call costs in memory, in the VM it is called in: what the BEAM counts, and the greatest resident set size, which
  has what native code allocates too.
  """

  alias RustyJson.Bench.Contender

  @results 10

  @doc """
  `beam` is what `:erlang.memory(:total)` grows by for one of ten results that are kept; `peak` what the resident set
  grows by at most during one call; `kept` what it has grown by afterwards, with the result alive. Sizes of the term, its
  external format and the text beside it, in bytes. `term` names a file with the term in external format.
  """
  @spec measure(Contender.id(), :decode | :encode, Path.t(), Path.t()) :: map()
  def measure(id, op, file, term) do
    # Loads the libraries and makes their first buffers.
    Contender.get(id).encode.(Contender.get(id).decode.("[1]"))
    alone(fn -> :persistent_term.put(__MODULE__, input(op, file, term)) end)
    measured = alone(fn -> measured(Map.fetch!(Contender.get(id), op)) end)
    # Runs after the call, because the call could reuse its memory.
    Map.merge(measured, alone(fn -> sizes(File.read!(file)) end))
  end

  # No library makes the term here: the memory that an engine keeps after a call would count as there before the next one.
  defp input(:decode, file, _term), do: File.read!(file)
  defp input(:encode, _file, term), do: term |> File.read!() |> :erlang.binary_to_term()

  defp sizes(json) do
    term = RustyJson.decode!(json)
    %{json: byte_size(json), term: :erts_debug.flat_size(term) * 8, etf: :erlang.external_size(term)}
  end

  defp measured(run) do
    resident = alone(fn -> resident(run) end)
    # The ten results come later, because the single call could reuse their memory.
    Map.put(resident, :beam, alone(fn -> beam(run) end))
  end

  defp resident(run) do
    input = :persistent_term.get(__MODULE__)
    collect()
    File.write("/proc/self/clear_refs", "5")
    before = status("VmRSS")
    result = run.(input)
    {peak, after_call} = {status("VmHWM"), status("VmRSS")}
    result_bytes = if is_binary(result), do: byte_size(result)
    %{peak: minus(peak, before), kept: minus(after_call, before), result: result_bytes}
  end

  defp beam(run) do
    input = :persistent_term.get(__MODULE__)
    collect()
    before = :erlang.memory(:total)
    results = for _ <- 1..@results, do: run.(input)
    grown = :erlang.memory(:total) - before
    # Keeps the list alive until here.
    div(grown, length(results))
  end

  defp collect, do: for(pid <- Process.list(), do: :erlang.garbage_collect(pid))

  defp minus(a, b) when is_integer(a) and is_integer(b), do: a - b
  defp minus(_, _), do: nil

  # The kilobytes in the text, or nil without such a file.
  defp status(name) do
    with {:ok, text} <- File.read("/proc/self/status"),
         [_, kilobytes] <- Regex.run(~r/^#{name}:\s+(\d+) kB/m, text) do
      String.to_integer(kilobytes) * 1024
    else
      _ -> nil
    end
  end

  defp alone(fun) do
    {pid, monitor} = spawn_monitor(fn -> exit({:result, fun.()}) end)
    receive do: ({:DOWN, ^monitor, :process, ^pid, {:result, result}} -> result)
  end

  @doc """
  Bytes that one string of a document of `bytes` bytes keeps alive, for strings of these lengths: its own, or the whole
  document's.
  """
  @spec pinned(Contender.id(), keyword(), pos_integer(), [pos_integer()]) :: [non_neg_integer()]
  def pinned(id, opts, bytes, lengths) do
    for length <- lengths do
      text = String.duplicate("x", length)
      json = IO.iodata_to_binary([~s({"s":"), text, ~s(","pad":"), String.duplicate("y", bytes), ~s("})])
      %{"s" => string} = Contender.get(id, opts).decode.(json)
      :binary.referenced_byte_size(string)
    end
  end
end
