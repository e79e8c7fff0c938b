defmodule RustyJson.Decode.NewAtoms do
  @moduledoc false
  # Makes the atoms of `keys: :atoms`. One atom too many ends the VM (Erlang's efficiency guide, "System Limits"), so one
  # process makes them all, one list after the other, and asks the VM for its count as it goes: no call reserves room that
  # another one fills, and a caller that is killed leaves nothing behind.

  use GenServer

  alias RustyJson.Decode.Atoms

  # Atoms left for other code.
  @reserve 2_048
  # Atoms between two looks at the VM's count.
  @step 256

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_argument), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @doc "Makes atoms of these names, as far as they are none yet; or fails where the table has no room. Names that no atom can have are left out."
  @spec make([binary()]) :: :ok | {:error, :atom_limit}
  def make([]), do: :ok

  def make(names) do
    if Process.whereis(__MODULE__),
      do: GenServer.call(__MODULE__, {:make, names}, :infinity),
      # The application may not be started, as when the compiler meets a sigil.
      else: :global.trans({__MODULE__, self()}, fn -> in_turn(names) end, [node()])
  end

  @impl true
  def init(nil), do: {:ok, nil}

  @impl true
  def handle_call({:make, names}, _from, state), do: {:reply, in_turn(names), state, :hibernate}

  # Names that are atoms already take no room; to find out which is only worth its time near the limit.
  defp in_turn(names) do
    names = if length(names) <= room(), do: names, else: Enum.reject(names, &atom?/1)
    if length(names) <= room(), do: in_steps(names), else: {:error, :atom_limit}
  end

  defp in_steps(names) do
    case Enum.split(names, @step) do
      {[], []} ->
        :ok

      {step, rest} ->
        if length(step) <= room() do
          Enum.each(step, &atom/1)
          in_steps(rest)
        else
          {:error, :atom_limit}
        end
    end
  end

  defp room, do: :erlang.system_info(:atom_limit) - :erlang.system_info(:atom_count) - @reserve

  defp atom(name) do
    if Atoms.possible_name?(name), do: String.to_atom(name)
  end

  # Rescuing an exception takes twice as long.
  defp atom?(name) do
    is_atom(:erlang.binary_to_existing_atom(name, :utf8))
  catch
    :error, _reason -> false
  end
end
