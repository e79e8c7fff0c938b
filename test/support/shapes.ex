defmodule RustyJson.Test.Shapes do
  @moduledoc "Terms and documents of every shape that the native engine reads and writes directly in memory."

  @long String.duplicate("abcdefghij", 30)

  @doc "Terms to encode, including some without a JSON form."
  @spec terms() :: [term()]
  def terms do
    scalars = atoms() ++ numbers() ++ binaries()

    scalars ++
      Enum.map(scalars, &[&1, {&1}, %{"a" => &1, :b => [&1]}]) ++ containers(scalars) ++ moved(scalars)
  end

  defp atoms, do: [nil, true, false, :ok, :ä, :"", :日本, String.to_atom(String.duplicate("a", 200))]

  defp numbers do
    edges =
      for shift <- [7, 8, 27, 28, 31, 32, 58, 59, 60, 62, 63, 64, 65, 127, 200], do: Integer.pow(2, shift)

    integers = for edge <- edges, delta <- -1..1, sign <- [1, -1], do: sign * (edge + delta)
    [0, 1, -1, 0.0, -0.0, 1.5, 1.0e-300, 1.7976931348623157e308, 5.0e-324, 123_456.789 | integers]
  end

  # Binaries on the heap, off the heap, parts of both, and parts that start within a byte.
  defp binaries do
    own =
      for length <- 0..70, do: String.duplicate("é", div(length, 2)) <> String.duplicate("x", rem(length, 2))

    parts =
      for from <- [0, 1, 7, 8], length <- [0, 1, 7, 8, 63, 64, 65, 200], do: binary_part(@long, from, length)

    short = for length <- 0..12, do: binary_part("abcdefghijkl", 12 - length, length)

    shifted =
      for length <- [0, 1, 7, 8, 9, 63, 64, 65, 200] do
        <<_::3, rest::binary>> = <<5::3, binary_part(@long, 0, length)::binary>>
        rest
      end

    own ++ parts ++ short ++ shifted ++ [<<1::3>>, <<0::size(513)>>, <<"abc", 1::1>>, <<255>>, "a" <> <<195>>]
  end

  defp containers(scalars) do
    maps =
      for size <- [0, 1, 2, 7, 8, 31, 32, 33, 34, 100],
          do: Map.new(List.duplicate(0, size) |> Enum.with_index(), &key/1)

    mixed = Map.new(Enum.filter(scalars, &(is_binary(&1) or is_atom(&1))) |> Enum.take(20), &{&1, &1})
    tuples = for size <- [0, 1, 2, 300], do: List.to_tuple(List.duplicate(1, size))
    deep = Enum.reduce(1..100, 1, fn i, inner -> if rem(i, 2) == 0, do: [inner], else: %{i => inner} end)

    maps ++
      tuples ++
      [
        mixed,
        deep,
        [],
        [[]],
        [1 | 2],
        [%{} | "a"],
        Enum.to_list(1..300),
        [{1, {2, {}}}],
        self(),
        make_ref(),
        &is_atom/1
      ] ++
      [
        ~D[2024-02-29],
        MapSet.new([1, 2]),
        1..9,
        %{"a" => [1 | 2]},
        %{{1} => 2},
        %{1 => 2, 1.5 => 3, "k" => 4, k: 5}
      ]
  end

  defp key({_, 0}), do: {"", 0}
  defp key({_, number}) when rem(number, 3) == 0, do: {"key#{number}", %{number => number}}
  defp key({_, number}) when rem(number, 3) == 1, do: {number, [number, 1.5]}
  defp key({_, number}), do: {:"k#{number}", "v#{number}"}

  # Terms from a garbage-collected heap, a message, a table and constants.
  defp moved(scalars) do
    table = :ets.new(:shapes, [])
    term = [scalars, %{"a" => scalars}]
    :ets.insert(table, {1, term})
    [{1, stored}] = :ets.take(table, 1)
    :ets.delete(table)
    parent = self()
    child = spawn(fn -> send(parent, {self(), receive(do: (message -> message))}) end)
    send(child, term)
    returned = receive(do: ({^child, message} -> message))
    :erlang.garbage_collect()
    Enum.map([stored, returned, %{constant: [1.5, "constant", %{"a" => {1, 2}}]}], &strip/1)
  end

  # Leaves out the term without a JSON form, of which each has one.
  defp strip([scalars, %{} = map]),
    do: [Enum.filter(scalars, &json?/1), Map.new(map, fn {k, v} -> {k, Enum.filter(v, &json?/1)} end)]

  defp strip(term), do: term

  defp json?(term) when is_binary(term), do: String.valid?(term)
  defp json?(term), do: not is_bitstring(term)

  @doc "Documents to decode, including invalid ones."
  @spec documents() :: [binary()]
  def documents do
    Enum.flat_map([1, 2, 3, 40], &objects/1) ++
      starts() ++
      lists() ++ strings() ++ [repeated(), alike(), long_keys(), escaped_keys(), nested(), broken(), wide()]
  end

  # Objects with one shape, with two shapes in turn, and with their members in another order.
  defp objects(count) do
    for size <- [0, 1, 2, 3, 8, 31, 32, 33], order <- [:same, :turned, :both] do
      items = for number <- 1..count, do: object(size, number, order)
      "[" <> Enum.join(items, ",") <> "," <> String.duplicate(" ", 100) <> "1.25]"
    end
  end

  defp object(size, number, order) do
    members =
      for i <- Enum.take(1..33, size), do: ~s("k#{i}":[#{number},"#{String.duplicate("v", i)}",#{i}.5])

    turn? = order == :turned or (order == :both and rem(number, 2) == 0)
    "{" <> Enum.join(if(turn?, do: Enum.reverse(members), else: members), ",") <> "}"
  end

  defp lists do
    for length <- [0, 1, 2, 127, 128, 129, 300, 5000],
        item <- ["1", "1.5", ~s("abc"), "[]", "{}", ~s({"a":null})] do
      "[" <> Enum.map_join(1..length//1, ",", fn _ -> item end) <> "]" <> String.duplicate(" ", 100)
    end
  end

  defp strings do
    for step <- [1, 3] do
      texts =
        for length <- 0..80//step, text <- ["a", "é", "\\n"], do: ~s("#{String.duplicate(text, length)}")

      "[" <> Enum.join(texts, ",") <> "]"
    end
  end

  # Keys whose first bytes are nearly or quite the same, in several orders.
  defp starts do
    keys =
      ["z", "abcdefghi", "", "é", "a", "\\u0000", "日本", "abcdefgh", "A", "a\\u0000", "🚀", "ab", "ÿ"] ++
        ["abcdefgh\\u0000", "\\u007f", "b", @long]

    for count <- 2..length(keys), from <- [0, 3, 8], turn? <- [false, true] do
      chosen = Enum.take(Enum.drop(keys, from) ++ Enum.take(keys, from), count)
      chosen = if turn?, do: Enum.reverse(chosen), else: chosen
      "{" <> (chosen |> Enum.with_index() |> Enum.map_join(",", fn {key, i} -> ~s("#{key}":#{i}) end)) <> "}"
    end
  end

  # A known shape, and then the same key twice.
  defp repeated do
    for(key <- ["b", "a", "\\u0061"], do: ~s([{"a":1,"b":2},{"a":1,"b":2},{"a":3,"#{key}":4},{"b":1,"a":2}]))
    |> Enum.join(",")
    |> then(&"[#{&1},#{String.duplicate(" ", 100)}0]")
  end

  # The same number of keys, with the same first and last key.
  defp alike do
    items = for i <- 1..200, do: ~s({"first":1,"k#{rem(i, 7)}":#{i},"k#{rem(i, 3) + 7}":"x","last":2.5})
    "[" <> Enum.join(items, ",") <> "]"
  end

  defp long_keys do
    keys =
      for i <- [3, 1, 2],
          prefix <- ["profile_", "a_key_of_more_than_sixteen_bytes", @long],
          do: "#{prefix}#{i}"

    object = "{" <> Enum.map_join(keys, ",", &~s("#{&1}":{"#{&1}":1})) <> "}"
    "[#{object},#{object},#{object}]"
  end

  defp escaped_keys do
    object = ~S({"a":1,"\u0062":2,"c\n":3,"":4,"é":5})
    "[" <> Enum.map_join(1..30, ",", fn _ -> object end) <> "]"
  end

  defp nested do
    inner = Enum.reduce(1..60, "1", fn i, inner -> ~s({"a":#{inner},"b":[#{i}.25,"#{i}"]}) end)
    "[#{inner},#{inner}]"
  end

  defp broken, do: "[" <> String.duplicate(~s({"a":"text","b":1.5},), 50) <> ~s({"a":"text","b":1.5]})
  defp wide, do: "{" <> Enum.map_join(1..500, ",", &~s("k#{&1}":{"k#{&1}":[#{&1}]})) <> "}"

  @doc "The results of the native engine for all of them, as text to compare with another VM."
  @spec digest() :: String.t()
  def digest do
    encoded = for term <- terms(), more <- [[], [pretty: true], [sort_keys: true]], do: encode(term, more)
    ways = [[], [keys: :atoms], [duplicate_keys: :first], [objects: :ordered_objects]]
    decoded = for json <- documents(), more <- ways, do: RustyJson.decode(json, [engine: :native] ++ more)
    {encoded, decoded} |> :erlang.term_to_binary([:deterministic]) |> :erlang.md5() |> Base.encode16()
  end

  # The order of atoms in maps differs between VMs, and so do the names of processes in messages.
  defp encode(term, more) do
    case RustyJson.encode(term, [engine: :native] ++ more) do
      {:ok, json} -> {if(more == [sort_keys: true], do: json, else: RustyJson.decode!(json)), byte_size(json)}
      {:error, error} -> {error.__struct__, Map.get(error, :path)}
    end
  end
end
