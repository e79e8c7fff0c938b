defmodule RustyJson.NodesTest do
  @moduledoc "One file of lines shared by processes and by nodes: the results together are those of a single run."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Lines
  alias RustyJson.Test.{Judge, Ports, Ranges}

  @moduletag :tmp_dir

  @lines 5_000
  @total {@lines, div(@lines * (@lines + 1), 2)}

  setup %{tmp_dir: dir} do
    path = Path.join(dir, "numbers.ndjson")
    File.write!(path, Enum.map(1..@lines, &"[#{&1}]\n"))
    {:ok, path: path}
  end

  test "all cores", %{path: path} do
    for {_name, engine} <- Judge.engines() do
      total =
        path
        |> Lines.ranges(4 * System.schedulers_online())
        |> Task.async_stream(&Ranges.sum(&1, path, engine), ordered: false, timeout: :infinity)
        |> Enum.map(fn {:ok, result} -> result end)
        |> Ranges.total()

      assert total == @total
    end
  end

  test "nodes", %{path: path} do
    {first, nodes} = start_nodes(3)
    results = share(first, [Lines.ranges(path, 7), nodes, {Ranges, :sum, [path]}])
    assert map_size(results) == 7
    assert Ranges.total(Map.values(results)) == @total
  end

  test "a node that dies in the middle of a range loses nothing that is done", %{path: path, tmp_dir: dir} do
    {first, nodes} = start_nodes(3)
    mark = Path.join(dir, "alive")
    File.touch!(mark)
    ranges = Lines.ranges(path, 7)
    {fatal, _length} = Enum.at(ranges, 3)

    results = share(first, [ranges, nodes, {Ranges, :sum_or_die, [path, fatal, mark]}])

    refute File.exists?(mark)
    assert Enum.sort(Map.keys(results)) == ranges
    assert Ranges.total(Map.values(results)) == @total
    assert length(:peer.call(first, :erlang, :nodes, [])) == 1
  end

  # The first node gives out the ranges; this one stays out of the distribution, which would change it for all other tests.
  defp share(first, arguments), do: :peer.call(first, Ranges, :share, arguments, 120_000)

  defp start_nodes(count) do
    [{first, _} | others] = peers = for _ <- 1..count, do: start_node()

    for {peer, node} <- others do
      [name, _host] = node |> Atom.to_charlist() |> :string.split(~c"@")
      :ok = :peer.call(first, Ports, :learn, [name, :peer.call(peer, Ports, :port, [])])
    end

    {first, for({_peer, node} <- tl(peers), do: node)}
  end

  defp start_node do
    paths = Enum.flat_map(:code.get_path(), &[~c"-pa", &1])

    options = %{
      name: :peer.random_name(~c"rustyjson"),
      host: ~c"127.0.0.1",
      longnames: true,
      connection: :standard_io,
      args: Ports.switches() ++ paths,
      wait_boot: 60_000
    }

    {:ok, peer, node} = :peer.start_link(options)
    {:ok, _} = :peer.call(peer, :application, :ensure_all_started, [:rustyjson], 60_000)
    {peer, node}
  end
end
