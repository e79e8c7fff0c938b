defmodule RustyJson.AtomTableTest do
  @moduledoc "`keys: :atoms` near the end of the VM's table of atoms, in VMs whose table is small: one atom too many ends a VM."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Judge, OtherVM}

  @moduletag timeout: 300_000

  @prelude """
  {:ok, _} = Application.ensure_all_started(:rustyjson)
  engines = #{inspect(Judge.engines())}
  # On a busy machine, a host takes longer to start than a call waits.
  for {_name, options} <- engines, do: :ok = RustyJson.start_engine(options)
  import RustyJson.Test.OtherVM
  """

  test "keys that would fill the table are refused" do
    assert_passes(80_000, """
    for {{name, options}, number} <- Enum.with_index(engines) do
      options = [keys: :atoms] ++ options
      {:ok, %{ok: 1}} = RustyJson.decode(~s({"ok":1}), options)
      known = List.duplicate(~s({"ok":1}), left())
      {:ok, [%{ok: 1} | _]} = RustyJson.decode("[" <> Enum.join(known, ",") <> "]", options)

      before = left()
      {:error, %{reason: :atom_limit, position: 0} = error} = RustyJson.decode(object("x", before), options)
      "More new keys than the VM's table of atoms has room for" <> _ = error.message
      {:error, %{reason: :atom_limit}} = RustyJson.decode([object("y", before)], options)
      {:error, %{reason: :unexpected_end}} = RustyJson.decode("[" <> object("z", before), options)
      true = before - left() < 500

      some = div(left(), 4)
      {:ok, made} = RustyJson.decode(object("\#{name}\#{number}", some), options)
      ^some = map_size(made)
    end
    """)
  end

  # Eight processes fill the table too.
  for {count, tags} <- [{8, []}, {64, [heavy: true]}] do
    @tag tags
    @tag documents: count
    test "#{count} documents at once", %{documents: count} do
      assert_passes(if(count == 8, do: 105_000, else: 200_000), at_once(count))
    end
  end

  test "other code that makes atoms before and meanwhile" do
    assert_passes(150_000, """
    [{first, options} | _] = engines
    {:ok, _} = RustyJson.decode(object("\#{first}_", 1_000), [keys: :atoms] ++ options)
    fill("other", 20_000)
    spawn(fn -> fill("more", 3_000) end)

    for {name, options} <- engines, i <- 1..40 do
      case RustyJson.decode(object("\#{name}_\#{i}_", 1_000), [keys: :atoms] ++ options) do
        {:ok, map} -> 1_000 = map_size(map)
        {:error, error} -> :atom_limit = error.reason
      end
    end
    """)
  end

  test "callers that are killed leave nothing behind" do
    assert_passes(150_000, """
    for {name, options} <- engines do
      for i <- 1..40, left() > 60_000 do
        text = object("\#{name}\#{i}_", 3_000)
        pid = spawn(fn -> RustyJson.decode(text, [keys: :atoms] ++ options) end)
        Process.sleep(rem(i, 5))
        Process.exit(pid, :kill)
      end

      some = div(left() - 3_000, 2)
      {:ok, made} = RustyJson.decode(object("\#{name}_last", some), [keys: :atoms] ++ options)
      ^some = map_size(made)
    end
    """)
  end

  # One list after the other was made, and nobody looked at the clock meanwhile.
  test "callers take turns" do
    assert_passes(700_000, """
    long = for i <- 1..400_000, into: %{}, do: {"long\#{i}", 1}
    parent = self()
    decode = fn text, options -> RustyJson.decode(text, [keys: :atoms] ++ options) end
    text = RustyJson.encode!(long)
    # A host that is still starting would take longer than the long list.
    engines =
      for {name, options} <- engines do
        options = if options[:engine] == :wasm, do: [timeout: 30_000] ++ options, else: options
        {:ok, 1} = RustyJson.decode("1", options)
        {name, options}
      end

    {_, native} = hd(engines)
    before = left()
    long = spawn_link(fn -> send(parent, {:long, decode.(text, native)}) end)
    wait = fn wait -> if before - left() < 2_000, do: wait.(wait) end
    wait.(wait)

    for {name, options} <- engines do
      {:ok, %{}} = decode.(~s({"\#{name}_short":1}), options)
    end

    true = before - left() < 390_000
    # What the long list was promised is not there for others.
    {:error, %{reason: :atom_limit}} = decode.(object("other", left() - 50_000), native)
    receive do: ({:long, {:ok, made}} -> 400_000 = map_size(made))

    # Whose time is over, and who is gone, takes no more room.
    alias RustyJson.{Decode.NewAtoms, Options}
    late = [engine: :wasm] |> Options.decode() |> Options.due(System.monotonic_time(:millisecond) - 60_000)
    names = for i <- 1..150_000, into: %{}, do: {"late\#{i}", 1}
    {:error, %{reason: :timeout}} = NewAtoms.make(names, late)
    {gone, monitor} = spawn_monitor(fn -> GenServer.call(NewAtoms, {:room, 150_000}) end)
    receive do: ({:DOWN, ^monitor, :process, ^gone, :normal} -> :ok)
    {:ok, _} = decode.(object("last", left() - 5_000), native)
    """)
  end

  test "a call that waits while the process that makes atoms ends makes them itself" do
    code = """
    ending = fn ->
      receive do: ({_, from, {:room, 1}} -> GenServer.reply(from, :ok))
      receive do: (_message -> exit(:shutdown))
    end

    Process.register(spawn(ending), RustyJson.Decode.NewAtoms)
    IO.inspect(RustyJson.decode(~s({"made_meanwhile":1}), keys: :atoms))
    """

    assert OtherVM.run(code, []) == {"{:ok, %{made_meanwhile: 1}}\n", 0}
  end

  test "all members count, and names that no atom can have" do
    for {name, options} <- Judge.engines() do
      new = "#{name}_new_#{System.unique_integer([:positive])}"
      options = [keys: :atoms] ++ options
      text = ~s({"#{new}a":{"#{new}b":1.5},"#{new}a":[{"#{new}c":{"#{new}d":1}}]})
      assert {:ok, map} = RustyJson.decode(text, options)
      assert [{a, [inner]}] = Map.to_list(map)
      assert {Atom.to_string(a), map_size(inner)} == {new <> "a", 1}

      long = String.duplicate("k", 256)
      assert {:error, error} = RustyJson.decode(~s({"#{new}e":1,"#{long}":2}), options)
      assert {error.reason, error.position} == {:atom_too_long, byte_size(new) + 7}

      assert {:error, %{reason: :duplicate_key}} =
               RustyJson.decode(~s({"#{new}f":1,"#{new}f":2}), [duplicate_keys: :error] ++ options)
    end
  end

  defp at_once(count) do
    """
    known = object("known", 1_000)
    for {_name, options} <- engines, do: {:ok, _} = RustyJson.decode(known, [keys: :atoms] ++ options)

    for {name, options} <- engines do
      options = if options[:engine] == :wasm, do: [timeout: 60_000] ++ options, else: options
      # Of about 249 KB each.
      texts = for i <- 1..#{count}, do: object("\#{name}\#{i}_", 14_000)

      outcomes =
        texts
        |> Task.async_stream(&RustyJson.decode(&1, [keys: :atoms] ++ options), max_concurrency: #{count}, timeout: :infinity)
        |> Enum.map(fn {:ok, outcome} -> outcome end)

      for {:error, error} <- outcomes, do: :atom_limit = error.reason
      true = Enum.any?(outcomes, &match?({:error, _}, &1))
      for {:ok, map} <- outcomes, do: 14_000 = map_size(map)
      true = left() > 500
      {:ok, _} = RustyJson.decode(known, [keys: :atoms] ++ options)
    end
    """
  end

  defp assert_passes(table, code) do
    assert {output, 0} =
             OtherVM.run(@prelude <> code <> ~s|\nIO.puts("as it should be")|, ["--erl", "+t #{table}"])

    assert output =~ "as it should be"
  end
end
