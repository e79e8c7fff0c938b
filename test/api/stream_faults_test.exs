defmodule RustyJson.StreamFaultsTest do
  @moduledoc "Sources and sinks that fail: a clear error, and what was delivered before it is right."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, Feed, Lines, Partial}
  alias RustyJson.Test.Judge

  import RustyJson.Test.Streams, only: [until_fault: 1]

  @moduletag :tmp_dir

  # Lines of 100 bytes, more than one piece of a file.
  @rows for i <- 1..6_000, do: %{"id" => i, "text" => String.duplicate("x", 82 - length(Integer.digits(i)))}

  setup %{tmp_dir: dir} do
    path = Path.join(dir, "rows.ndjson")
    File.write!(path, Enum.map(@rows, &[RustyJson.encode!(&1), "\n"]))
    %{path: path}
  end

  # The older form prints a warning on Elixir 1.20.
  if Version.match?(System.version(), ">= 1.16.0"),
    do: defp(pieces(path, bytes), do: File.stream!(path, bytes)),
    else: defp(pieces(path, bytes), do: File.stream!(path, [], bytes))

  test "a file that becomes shorter while it is read", %{path: path} do
    [range] = Lines.ranges(path, 1)

    for {_name, engine} <- Judge.engines() do
      text = File.read!(path)

      stream =
        path
        |> Lines.stream(range, engine)
        |> Stream.each(fn row -> if row["id"] == 1, do: cut(path, 450_050) end)

      {seen, error} = until_fault(stream)
      File.write!(path, text)
      assert %File.Error{action: "read"} = error
      assert seen == Enum.take(@rows, length(seen))
      # At least the piece that was there before.
      assert length(seen) in 2_621..4_500
    end
  end

  defp cut(path, size) do
    {:ok, file} = :file.open(path, [:read, :write, :raw])
    {:ok, ^size} = :file.position(file, size)
    :ok = :file.truncate(file)
    :ok = :file.close(file)
  end

  test "a file whose last line is cut", %{path: path} do
    cut(path, 450_050)

    for {_name, engine} <- Judge.engines() do
      {seen, error} =
        path
        |> pieces(65_536)
        |> RustyJson.decode_stream([format: :lines] ++ engine)
        |> until_fault()

      assert seen == Enum.take(@rows, 4_500)
      assert %DecodeError{reason: :unexpected_end, position: 450_050, line: 4_501} = error
    end
  end

  test "a file that grows while it is read: a range ends where it did", %{path: path} do
    ranges = Lines.ranges(path, 3)
    File.write!(path, "[\"more\"]\n", [:append])
    assert Enum.flat_map(ranges, &Enum.to_list(Lines.stream(path, &1))) == @rows
  end

  test "a source that raises", %{path: path} do
    source = Stream.concat(pieces(path, 1_000), Stream.map([1], fn _ -> raise "the line is dead" end))

    {seen, error} = source |> RustyJson.decode_stream(format: :lines) |> until_fault()
    assert {seen, error} == {@rows, %RuntimeError{message: "the line is dead"}}

    rows = Stream.map(1..3, &if(&1 == 3, do: raise("no row"), else: [&1]))
    {seen, error} = rows |> RustyJson.encode_stream(format: :lines, flush: 1) |> until_fault()
    assert {Enum.join(seen), error} == {"[1]\n[2]\n", %RuntimeError{message: "no row"}}
  end

  unless File.exists?("/dev/full"), do: @tag(skip: "there is no /dev/full")

  test "a disk that is full: the consumer halts, and the source is closed" do
    parent = self()
    rows = Stream.resource(fn -> 1 end, &{[[&1]], &1 + 1}, fn _ -> send(parent, :closed) end)

    # It takes no byte.
    {:ok, file} = :file.open("/dev/full", [:write, :raw, :binary])

    result =
      rows
      |> RustyJson.encode_stream(format: :lines)
      |> Enum.reduce_while(:ok, fn piece, :ok ->
        with {:error, _} = error <- :file.write(file, piece), do: {:halt, error}
      end)

    :file.close(file)
    assert result == {:error, :enospc}
    assert_received :closed
  end

  # A consumer that says where it is, and then waits.
  defp waiting(stream) do
    parent = self()

    {pid, monitor} =
      spawn_monitor(fn ->
        Enum.each(stream, fn _item ->
          send(parent, {:item, self()})
          receive(do: (:next -> :ok))
        end)
      end)

    assert_receive {:item, ^pid}, 30_000
    {pid, monitor}
  end

  defp streams(path, engine) do
    [
      path |> File.stream!() |> RustyJson.decode_stream([format: :lines] ++ engine),
      Lines.stream(path, {0, File.stat!(path).size}, engine),
      path |> File.stream!() |> RustyJson.encode_stream([flush: 1_000] ++ engine),
      RustyJson.encode_stream(%{rows: RustyJson.lazy(File.stream!(path))}, [flush: 1_000] ++ engine)
    ]
  end

  unless File.exists?("/proc/self/fd"), do: @tag(skip: "there is no /proc/self/fd")

  test "a consumer that is killed leaves no open file", %{path: path} do
    for {_name, engine} <- Judge.engines(), stream <- streams(path, engine) do
      {pid, monitor} = waiting(stream)
      assert opened?(path)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 30_000
      assert closed?(path, 3_000)
    end
  end

  defp opened?(path) do
    "/proc/self/fd"
    |> File.ls!()
    |> Enum.any?(&match?({:ok, ^path}, File.read_link(Path.join("/proc/self/fd", &1))))
  end

  # The VM closes it a moment later.
  defp closed?(path, tries) do
    cond do
      not opened?(path) -> true
      tries == 0 -> false
      true -> Process.sleep(10) == :ok and closed?(path, tries - 1)
    end
  end

  test "slow consumers hold no instance of the sandbox", %{path: path} do
    for {_name, engine} <- Judge.engines() do
      # More than there are instances. While all wait, another call is answered at once.
      consumers = for _ <- 1..20, stream <- Enum.take(streams(path, engine), 2), do: waiting(stream)

      call = Task.async(fn -> RustyJson.decode("[1]", engine) end)
      assert Task.await(call, 30_000) == {:ok, [1]}

      for {pid, _monitor} <- consumers, do: Process.exit(pid, :kill)
      for {pid, monitor} <- consumers, do: assert_receive({:DOWN, ^monitor, :process, ^pid, _}, 30_000)
    end
  end

  test "a feed and a partial document are as they were before a fault" do
    {:ok, [[1]], feed} = Feed.push(Feed.new(), "[1][2")
    assert {:error, _, [], _} = Feed.push(feed, "x")
    assert {:ok, [[2]], _} = Feed.push(feed, "]")

    {:ok, partial} = Partial.push(Partial.new(), "[1,[2")
    assert {:error, _} = Partial.push(partial, "x")
    assert Partial.value(partial) == {:ok, [1, [2]]}
  end
end
