defmodule RustyJson.Decode.NewAtoms do
  @moduledoc false
  # Makes the atoms of `keys: :atoms`. One atom too many ends the VM (Erlang's efficiency guide, "System Limits"), so one process makes them
  # all, and asks the VM for its count as it goes. A caller asks for room for all of its names before one of them is made, and then sends
  # them a few at a time, so that callers take turns. What it was promised counts for the others until all is made, or the caller is gone.
  # Names that two callers share count twice meanwhile: near the limit one of them may be refused that would fit a moment later.

  use GenServer

  alias RustyJson.Decode.Atoms
  alias RustyJson.Engine.Wasm
  alias RustyJson.{Options, SandboxError}

  # Atoms left for other code.
  @reserve 2_048
  # Names of one turn, between two looks at the VM's count: about a third of a millisecond.
  @turn 256

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc """
  Makes atoms of these names, the keys of a map, as far as they are none yet; or fails where the table has no room, or the time of the call
  is over. Names that no atom can have are left out.
  """
  @spec make(%{binary() => term()}, Options.t()) :: :ok | {:error, :atom_limit | SandboxError.t()}
  def make(names, _options) when names == %{}, do: :ok

  def make(names, options) do
    # The application may not be started, as when the compiler meets a sigil.
    if Process.whereis(__MODULE__), do: by_process(names, options), else: by_caller(names, options)
  end

  defp by_process(names, options) do
    made(names, options, &GenServer.call(__MODULE__, &1, :infinity))
  catch
    # It has ended, because the application stops. The atoms that it made stay.
    :exit, {_reason, {GenServer, :call, _}} -> by_caller(names, options)
  end

  defp by_caller(names, options),
    do: :global.trans({__MODULE__, self()}, fn -> made(names, options, &alone/1) end, [node()])

  defp made(names, options, call) do
    with {:ok, names} <- promised(names, call) do
      result = names |> :maps.iterator() |> in_turns(options, call)
      call.(:done)
      result
    end
  end

  defp promised(names, call), do: with({:error, _} <- room(names, call), do: names |> new() |> room(call))

  defp room(names, call), do: with(:ok <- call.({:room, map_size(names)}), do: {:ok, names})

  # Names that already are atoms take no room; to find out which is only worth its time near the limit.
  defp new(names), do: for({name, _} <- names, not Atoms.atom?(name), into: %{}, do: {name, []})

  defp in_turns(names, options, call) do
    {some, rest} = some(names, @turn, [])

    cond do
      some == [] -> :ok
      Wasm.late?(options) -> {:error, Wasm.late(options)}
      true -> with :ok <- call.({:make, some}), do: in_turns(rest, options, call)
    end
  end

  defp some(names, left, some) do
    case if(left > 0, do: :maps.next(names), else: :none) do
      {name, _, names} -> some(names, left - 1, [name | some])
      :none -> {some, names}
    end
  end

  ## The process: what it has promised to whom

  @impl true
  def init(nil), do: {:ok, %{}}

  @impl true
  def handle_call({:room, count}, {caller, _}, promised) do
    taken = Enum.sum(for {_caller, {_monitor, left}} <- promised, do: left)

    case room_for(count + taken) do
      :ok -> {:reply, :ok, Map.put(promised, caller, {Process.monitor(caller), count})}
      full -> {:reply, full, promised}
    end
  end

  def handle_call({:make, names}, {caller, _}, promised) do
    answer = make_all(names)

    # The process may have been started anew meanwhile.
    promised =
      with %{^caller => {monitor, left}} <- promised,
           do: %{promised | caller => {monitor, left - length(names)}}

    {:reply, answer, promised}
  end

  def handle_call(:done, {caller, _}, promised) do
    with %{^caller => {monitor, _left}} <- promised, do: Process.demonitor(monitor, [:flush])
    {:reply, :ok, Map.delete(promised, caller), :hibernate}
  end

  @impl true
  def handle_info({:DOWN, _monitor, :process, caller, _reason}, promised),
    do: {:noreply, Map.delete(promised, caller), :hibernate}

  # The same for the one caller there is.
  defp alone({:room, count}), do: room_for(count)
  defp alone({:make, names}), do: make_all(names)
  defp alone(:done), do: :ok

  ## Atoms

  # Other code makes atoms, too.
  defp make_all(names), do: with(:ok <- room_for(length(names)), do: Enum.each(names, &atom/1))

  defp room_for(count) do
    room = :erlang.system_info(:atom_limit) - :erlang.system_info(:atom_count) - @reserve
    if count <= room, do: :ok, else: {:error, :atom_limit}
  end

  defp atom(name) do
    if Atoms.possible_name?(name), do: String.to_atom(name)
  end
end
