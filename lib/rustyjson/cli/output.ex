defmodule RustyJson.CLI.Output do
  @moduledoc false
  # Standard output: a process writes what has come while it wrote the part before, so that much output takes few writes, and a line
  # that comes alone is written at once. The reader may end early, such as `head`.

  # Bytes on their way to the writer, after which the caller waits; and of one write, after which a reader that ended is noticed.
  @most 4_194_304
  @piece 1_048_576

  @doc "What the function returns, or `:closed` if nobody reads its output any more."
  @spec unless_closed((() -> result)) :: result | :closed when result: term()
  def unless_closed(fun) do
    fun.()
  rescue
    # Erlang reports `:terminated`, or a bad argument where it has another reason.
    error in [ErlangError, ArgumentError] ->
      if closed?(), do: :closed, else: reraise(error, __STACKTRACE__)
  end

  defp closed?, do: :file.write(:standard_io, "\n") != :ok

  @doc """
  Runs the function without the log: when a reader such as `head` ends, OTP 28 and newer log a crash. The log is that of the whole VM, so
  only Mix tasks and the script call this.
  """
  @spec without_log((() -> result)) :: result when result: term()
  def without_log(fun) do
    %{level: level} = :logger.get_primary_config()
    :logger.set_primary_config(:level, :none)

    try do
      fun.()
    after
      :logger.set_primary_config(:level, level)
    end
  end

  @doc "`unless_closed/1` without the log, for a VM that runs nothing else."
  @spec of_task((() -> result)) :: result | :closed when result: term()
  def of_task(fun), do: without_log(fn -> unless_closed(fun) end)

  @doc """
  Runs a function that writes bytes to standard output, or reads them from standard input, whatever the terminal's encoding. What runs
  after it in the VM, such as the next task of `mix do`, finds the encoding as it was.
  """
  @spec in_bytes((() -> result)) :: result when result: term()
  def in_bytes(fun) do
    before = with {:error, _reason} <- :io.getopts(:standard_io), do: []
    :io.setopts(:standard_io, encoding: :latin1, binary: true)

    try do
      fun.()
    after
      :io.setopts(:standard_io, Keyword.take(before, [:encoding, :binary]))
    end
  end

  # Reasons why bytes are lost. A reader that ends early is none of them.
  @lost [:enospc, :edquot, :efbig, :eio]

  @doc "Runs a function that calls `write/1`. Throws `{:output, reason}` if the output cannot be written."
  @spec with_writer((() -> result)) :: result when result: term()
  def with_writer(fun) do
    parent = self()
    device = device()
    {writer, monitor} = spawn_monitor(fn -> listen(parent) end)
    Process.put(__MODULE__, {writer, monitor, 0})

    try do
      result = fun.()
      flush()
      lost!(device)
      result
    catch
      :throw, {:output, :terminated} ->
        lost!(device)
        throw({:output, :terminated})
    after
      for {_port, monitor} <- device, do: Port.demonitor(monitor, [:flush])
      Process.delete(__MODULE__)
      Process.demonitor(monitor, [:flush])
      Process.exit(writer, :kill)
    end
  end

  # A port takes bytes before it writes them, and says why it cannot only where it ends: the last bytes are lost without an error. From
  # OTP 26 on there is none.
  defp device do
    leader = Process.group_leader()
    links = if node(leader) == node(), do: Process.info(leader)[:links] || [], else: []
    for port <- links, is_port(port), do: {port, Port.monitor(port)}
  end

  # Once all is written. The end of the VM would wait for this too.
  defp ended?({port, _monitor} = device) do
    case Port.info(port, :queue_size) do
      nil -> true
      {:queue_size, 0} -> false
      _some -> Process.sleep(1) == :ok and ended?(device)
    end
  end

  defp lost!(device) do
    for {_port, monitor} = port <- device, ended?(port) do
      receive do
        {:DOWN, ^monitor, :port, _port, reason} when reason in @lost -> throw({:output, reason})
        {:DOWN, ^monitor, :port, _port, _reason} -> :ok
      end
    end
  end

  @doc "Writes bytes, some time soon."
  @spec write(iodata()) :: :ok
  def write(output) do
    {writer, monitor, sent} = Process.get(__MODULE__)
    size = IO.iodata_length(output)
    send(writer, {:write, output, size})

    receive do
      {:DOWN, ^monitor, :process, ^writer, reason} -> throw({:output, reason})
    after
      0 -> Process.put(__MODULE__, {writer, monitor, sent + size})
    end

    if sent + size > @most, do: flush()
    :ok
  end

  @doc "Waits until all is written."
  @spec flush() :: :ok
  def flush do
    {writer, monitor, _sent} = Process.get(__MODULE__)
    send(writer, {:flush, monitor})

    receive do
      {^monitor, :flushed} -> Process.put(__MODULE__, {writer, monitor, 0})
      {:DOWN, ^monitor, :process, ^writer, reason} -> throw({:output, reason})
    end

    :ok
  end

  ## The writer

  defp listen(parent) do
    receive do
      {:write, output, size} -> more([output], size, parent)
      {:flush, reference} -> send(parent, {reference, :flushed})
    end

    listen(parent)
  end

  # What waits is written together.
  defp more(parts, size, parent) when size < @piece do
    receive do
      {:write, output, more} -> more([parts | output], size + more, parent)
    after
      0 -> put(parts)
    end
  end

  defp more(parts, _size, _parent), do: parts |> IO.iodata_to_binary() |> put_pieces()

  defp put_pieces(<<piece::binary-size(@piece), rest::binary>>) do
    put(piece)
    put_pieces(rest)
  end

  defp put_pieces(rest), do: put(rest)

  defp put(output) do
    with {:error, reason} <- :file.write(:standard_io, output), do: exit(reason)
  end
end
