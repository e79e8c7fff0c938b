defmodule RustyJson.Schema.Automaton do
  @moduledoc false
  # Makes deterministic automata of patterns, over the bytes of UTF-8. The core runs them in one pass over a string
  # (core/src/parts/pattern.rs), so a string takes the same time per byte whatever it and the pattern are. What an automaton costs is paid
  # when the schema is compiled, and limited there.

  alias RustyJson.Schema.Pattern

  # States of the automaton before it is made deterministic, bytes of the table, and steps to make it. The last one is about a second.
  @most_nodes 20_000
  @most_bytes 65_536
  @most_steps 10_000_000
  # Steps that a visit of a node takes.
  @visit 4

  @never 0
  @always 1

  @doc "The automaton of a pattern. Throws `{:pattern, reason}` if it is too large."
  @spec build(Pattern.t()) :: binary()
  def build(pattern) do
    made = %{nodes: %{}, count: 0, steps: 0, shared: %{}, sequences: %{}}
    {first, %{nodes: nodes, steps: steps}} = compile(pattern, :accept, made)
    {map, starts} = classes(nodes)
    build = %{nodes: nodes, again: [], starts: starts, numbers: %{}, count: 2, steps: steps, waiting: []}
    {start, build} = closure([first], build, true)
    # Only before the first character `^` holds at the end, too.
    {first_ends, build} = ends?([first], build, true)
    # A match may start at each character.
    {again, build} = closure([first], build, false)
    rows(start, first_ends, map, %{build | again: again})
  end

  @doc "Whether a string matches."
  @spec matches?(binary(), binary()) :: boolean()
  def matches?(<<classes::binary-size(256), count::16-little, first::16-little, rows::binary>>, text),
    do: run(text, first, classes, 1 + count, rows)

  defp run(_text, @never, _classes, _width, _rows), do: false
  defp run(_text, @always, _classes, _width, _rows), do: true
  defp run(<<>>, state, _classes, width, rows), do: entry(rows, state * width) != 0

  defp run(<<byte, rest::binary>>, state, classes, width, rows),
    do: run(rest, entry(rows, state * width + 1 + :binary.at(classes, byte)), classes, width, rows)

  defp entry(rows, at), do: :binary.decode_unsigned(binary_part(rows, 2 * at, 2), :little)

  ## A pattern as nodes: bytes and the node behind them, or nodes without a byte before them

  # Every pattern is a step: repetitions of what matches the empty string alone make no nodes.
  defp compile(pattern, next, made), do: nodes(pattern, next, worked(made, 1))

  defp nodes({:set, set}, next, made) do
    {sequences, made} = sequences(set, made)
    {entries, made} = Enum.map_reduce(sequences, made, &chain(&1, next, &2))
    split(entries, made)
  end

  defp nodes({:all, patterns}, next, made),
    do:
      patterns
      |> Enum.reverse()
      |> Enum.reduce({next, made}, fn pattern, {next, made} -> compile(pattern, next, made) end)

  defp nodes({:any, patterns}, next, made) do
    {entries, made} = Enum.map_reduce(patterns, made, &compile(&1, next, &2))
    split(entries, made)
  end

  defp nodes({:repeat, pattern, least, :infinity}, next, made) do
    {loop, made} = add(:later, made)
    {body, made} = compile(pattern, loop, made)
    made = %{made | nodes: %{made.nodes | loop => {:split, [body, next]}}}
    compile({:repeat, pattern, least, least}, loop, made)
  end

  defp nodes({:repeat, _pattern, 0, 0}, next, made), do: {next, made}

  defp nodes({:repeat, pattern, 0, most}, next, made) do
    # Each one stands in the one before it, and behind each the whole can end.
    Enum.reduce(1..most, {next, made}, fn _time, {entry, made} ->
      {body, made} = compile(pattern, entry, made)
      split([body, next], made)
    end)
  end

  defp nodes({:repeat, pattern, least, most}, next, made) do
    {optional, made} = compile({:repeat, pattern, 0, most - least}, next, made)
    Enum.reduce(1..least, {optional, made}, fn _time, {entry, made} -> compile(pattern, entry, made) end)
  end

  defp nodes(assertion, next, made) when assertion in [:start, :end], do: add({assertion, next}, made)

  defp split([entry], made), do: {entry, made}
  defp split(entries, made), do: add({:split, entries}, made)

  defp chain(ranges, next, made),
    do:
      ranges
      |> Enum.reverse()
      |> Enum.reduce({next, made}, fn range, {next, made} -> shared({:byte, range, next}, made) end)

  defp shared(node, %{shared: shared} = made) do
    case shared do
      %{^node => number} ->
        {number, made}

      _ ->
        {number, made} = add(node, made)
        {number, %{made | shared: Map.put(made.shared, node, number)}}
    end
  end

  defp add(_node, %{count: @most_nodes}), do: throw({:pattern, "it has too many states"})

  defp add(node, %{nodes: nodes, count: count} = made),
    do: {count, %{made | nodes: Map.put(nodes, count, node), count: count + 1}}

  ## Characters as sequences of ranges of bytes

  defp sequences(set, %{sequences: known} = made) do
    case known do
      %{^set => sequences} ->
        {sequences, made}

      _ ->
        sequences = Enum.flat_map(set, fn {first, last} -> utf8(first, last) end)
        {sequences, %{made | sequences: Map.put(known, set, sequences)}}
    end
  end

  # Characters of the same length, without the halves of surrogate pairs.
  @lengths [{0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}]

  defp utf8(first, last) do
    for {from, to} <- @lengths,
        first <= to and last >= from,
        sequence <- between(bytes(max(first, from)), bytes(min(last, to))),
        do: sequence
  end

  defp bytes(char), do: :binary.bin_to_list(<<char::utf8>>)

  # Where first bytes differ, the others are complete but at the ends.
  defp between([first], [last]), do: [[{first, last}]]

  defp between([byte | first], [byte | last]),
    do: for(rest <- between(first, last), do: [{byte, byte} | rest])

  defp between([low | first], [high | last]) do
    {lowest, highest} = {Enum.map(first, fn _ -> 0x80 end), Enum.map(first, fn _ -> 0xBF end)}
    {low, below} = if first == lowest, do: {low, []}, else: {low + 1, ends(low, first, highest)}
    {high, above} = if last == highest, do: {high, []}, else: {high - 1, ends(high, lowest, last)}
    whole = if low <= high, do: [[{low, high} | Enum.map(first, fn _ -> {0x80, 0xBF} end)]], else: []
    below ++ whole ++ above
  end

  defp ends(byte, first, last), do: for(rest <- between(first, last), do: [{byte, byte} | rest])

  ## Bytes that no node tells apart

  defp classes(nodes) do
    starts =
      for {_number, {:byte, {first, last}, _next}} <- nodes, edge <- [first, last + 1], edge < 256, do: edge

    starts = Enum.uniq([0 | starts]) |> Enum.sort()
    map = for byte <- 0..255, into: <<>>, do: <<Enum.count(starts, &(&1 <= byte)) - 1>>
    {map, starts}
  end

  ## Sets of nodes as states

  # The nodes that matter among all that are reached without a byte. `^` leads on at the start alone; a `$` stays, because it depends on
  # what follows.
  defp closure(numbers, build, start) do
    {seen, %{nodes: nodes} = build} = reached(numbers, build, start, false)
    {seen |> Map.keys() |> Enum.filter(&kept?(&1, nodes)) |> Enum.sort(), build}
  end

  # A node is visited as often as others lead to it, and each visit is work.
  defp reached(numbers, %{nodes: nodes} = build, start, ended) do
    {seen, visits} = reached(numbers, nodes, start, ended, %{}, 0)
    {seen, worked(build, @visit * visits)}
  end

  defp reached([], _nodes, _start, _ended, seen, visits), do: {seen, visits}

  defp reached([number | rest], nodes, start, ended, seen, visits) when is_map_key(seen, number),
    do: reached(rest, nodes, start, ended, seen, visits + 1)

  defp reached([number | rest], nodes, start, ended, seen, visits) do
    more =
      case nodes do
        %{^number => {:split, next}} -> next
        %{^number => {:start, next}} when start -> [next]
        %{^number => {:end, next}} when ended -> [next]
        _ -> []
      end

    reached(more ++ rest, nodes, start, ended, Map.put(seen, number, true), visits + 1)
  end

  # Whether a string that ends here matches: each `$` leads on.
  defp ends?(set, build, start) do
    {seen, build} = reached(set, build, start, true)
    {is_map_key(seen, :accept), build}
  end

  defp rows(start, first_ends, map, %{starts: starts} = build) do
    {first, build} = state(start, build)
    rows = all(build, [])
    width = 1 + length(starts)
    {never, always} = {List.duplicate(0, width), [1 | List.duplicate(0, width - 1)]}
    {first, rows} = apart(first, first_ends, rows)
    words = for row <- [never, always | rows], word <- row, into: <<>>, do: <<word::16-little>>
    <<map::binary, length(starts)::16-little, first::16-little, words::binary>>
  end

  # The first state is a row of its own, because what ends there may be the empty string.
  defp apart(first, _ends, rows) when first <= @always, do: {first, rows}

  defp apart(first, ends, rows) do
    [_ends | next] = Enum.at(rows, first - 2)
    {length(rows) + 2, rows ++ [[if(ends, do: 1, else: 0) | next]]}
  end

  defp all(%{waiting: []}, rows), do: Enum.reverse(rows)

  defp all(%{waiting: waiting} = build, rows) do
    Enum.reduce(Enum.reverse(waiting), {%{build | waiting: []}, rows}, fn set, {build, rows} ->
      {row, build} = row(set, build)
      {build, [row | rows]}
    end)
    |> then(fn {build, rows} -> all(build, rows) end)
  end

  defp row(set, %{nodes: nodes, again: again, starts: starts} = build) do
    bytes = for number <- set, {:byte, range, next} <- [nodes[number]], do: {range, next}
    build = worked(build, length(set) + length(starts) * (1 + length(bytes)))

    {next, build} =
      Enum.map_reduce(starts, build, fn byte, build ->
        targets = for {{first, last}, next} <- bytes, byte >= first and byte <= last, uniq: true, do: next
        {behind, build} = closure(targets, build, false)
        state(:ordsets.union(behind, again), worked(build, length(behind) + length(again)))
      end)

    {ends, build} = ends?(set, build, false)
    {[if(ends, do: 1, else: 0) | next], build}
  end

  defp worked(%{steps: steps}, _more) when steps > @most_steps,
    do: throw({:pattern, "it takes too long to prepare"})

  defp worked(%{steps: steps} = build, more), do: %{build | steps: steps + more}

  # Nodes that lead on without a byte have done so.
  defp kept?(:accept, _nodes), do: true
  defp kept?(number, nodes), do: elem(nodes[number], 0) in [:byte, :end]

  defp state(set, %{numbers: numbers} = build) do
    case numbers do
      _ when set == [] -> {@never, build}
      %{^set => number} -> {number, build}
      _ -> if :accept in set, do: {@always, build}, else: new(set, build)
    end
  end

  defp new(set, %{numbers: numbers, count: count, starts: starts, waiting: waiting} = build) do
    if 2 * (count + 2) * (1 + length(starts)) > @most_bytes,
      do: throw({:pattern, "its automaton is larger than #{@most_bytes} bytes"})

    {count, %{build | numbers: Map.put(numbers, set, count), count: count + 1, waiting: [set | waiting]}}
  end
end
