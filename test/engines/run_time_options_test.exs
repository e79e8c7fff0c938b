defmodule RustyJson.RunTimeOptionsTest do
  @moduledoc """
  Paths, types, options and log settings that a program makes at run time: what is kept of them has a limit. Once it is reached, a call
  writes no persistent term, because each write makes the VM look through all processes.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Config, LogFormatter, Paths}
  alias RustyJson.Schema.Shape
  alias RustyJson.Test.Judge

  # Fills the caches: 16 lists of options in each direction and for logs, and 512 types.
  @full 600

  setup do
    on_exit(&Config.reload/0)
    Config.reload()
  end

  # Everything that a program can make anew for each call. No two numbers give the same.
  defp call(n, engine) do
    key = "k#{n}"
    json = ~s({"#{key}":[1.5],"b":"v"})
    {:ok, [[1.5]]} = RustyJson.select(json, Paths.new!(["/#{key}"]), engine)
    {:ok, %{^n => 1.5}} = RustyJson.select(json, Paths.new!(%{n => "/#{key}/0"}), engine)
    {:ok, "v"} = RustyJson.fetch(json, "/b", [max_nodes: 100 + n] ++ engine)
    {:ok, _} = RustyJson.decode(json, [raw: ["/#{key}"]] ++ engine)
    {:ok, _} = RustyJson.decode(json, [max_bytes: 1_000 + n] ++ engine)
    {:ok, _} = RustyJson.encode(%{key => 1}, [redact: [key, "/x/#{n}"]] ++ engine)
    {:ok, _} = RustyJson.encode(%{a: nil}, [key_case: %{a: key}] ++ engine)

    {:ok, _} =
      RustyJson.encode([1], [max_bytes: 1_000 + n, pretty: String.duplicate(" ", rem(n, 60))] ++ engine)

    {:ok, _} = RustyJson.decode(~s({"t":"#{key}"}), [as: {:map, :any}, max_depth: 5 + n] ++ engine)

    type =
      Enum.reduce(Integer.digits(n, 2), :any, fn bit, type ->
        if bit == 0, do: [type], else: {:nullable, {:map, type}}
      end)

    _either = RustyJson.decode("{}", [as: type] ++ engine)
    event = %{level: :info, msg: {:string, "x"}, meta: %{time: 0}}
    _line = LogFormatter.format(event, redact: [key], engine: engine[:engine])
    :ok
  end

  defp calls(numbers), do: for(n <- numbers, {_, engine} <- Judge.engines(), do: call(n, engine))

  # How often the function writes persistent terms.
  defp writes(fun) do
    tracer = spawn(fn -> count(0) end)
    :erlang.trace(self(), true, [:call, {:tracer, tracer}])

    for name <- [:put, :erase],
        arity <- [1, 2],
        do: :erlang.trace_pattern({:persistent_term, name, arity}, true, [])

    try do
      fun.()
    after
      :erlang.trace(self(), false, [:call])

      for name <- [:put, :erase],
          arity <- [1, 2],
          do: :erlang.trace_pattern({:persistent_term, name, arity}, false, [])
    end

    delivered = :erlang.trace_delivered(self())
    receive(do: ({:trace_delivered, _, ^delivered} -> :ok))
    send(tracer, {:count, self()})
    receive(do: ({:writes, count} -> count))
  end

  defp count(number) do
    receive do
      {:trace, _pid, :call, _} -> count(number + 1)
      {:count, pid} -> send(pid, {:writes, number})
    end
  end

  defp sizes do
    :erlang.garbage_collect()
    %{memory: terms, count: count} = :persistent_term.info()
    {_, own} = Process.info(self(), :memory)
    %{terms: terms, count: count, ets: :erlang.memory(:ets), own: own, dictionary: length(Process.get_keys())}
  end

  defp flat(from, to) do
    before = sizes()
    assert writes(fn -> calls(from..to) end) == 0
    behind = sizes()
    assert {behind.count, behind.terms, behind.dictionary} == {before.count, before.terms, before.dictionary}
    # Other processes of the VM have tables, too.
    assert behind.ets - before.ets < 1_000_000
    assert behind.own - before.own < 1_000_000
  end

  test "calls that are all different leave nothing behind" do
    before = sizes()
    assert writes(fn -> calls(1..@full) end) > 16
    assert sizes().terms - before.terms < 4_000_000
    flat(@full + 1, @full + 300)
  end

  # All types were one term, which was copied for each new one: 200 of these took 35 s, and held a scheduler for up to 200 ms.
  test "large types stay up to a limit, each by itself" do
    erase_types()
    on_exit(&erase_types/0)
    names = for n <- 1..9_000, do: :"large_type_#{n}"
    before = sizes().terms

    for n <- 1..64,
        do:
          {:ok, :large_type_7} =
            RustyJson.decode(~s("#{Enum.at(names, 6)}"), as: {:enum, [:"own_#{n}" | names]})

    assert sizes().terms - before < 24_000_000
    sizes = for {key, term} <- types(), do: {key, 8 * :erts_debug.flat_size(term)}
    assert length(sizes) > 10
    assert Enum.filter(sizes, fn {_key, size} -> size > 1_000_000 end) == []
  end

  defp types do
    for {key, _term} = kept <- :persistent_term.get(), key == Shape or match?({Shape, _}, key), do: kept
  end

  defp erase_types, do: for({key, _term} <- types(), do: :persistent_term.erase(key))

  @tag :heavy
  test "100,000 of them" do
    calls(1..@full)
    flat(@full + 1, 100_000)
  end
end
