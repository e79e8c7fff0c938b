# Writes what `Jason` gives for texts and terms that a seed makes, one result per line; with a second file, compares the lines.
defmodule Compare do
  @pieces [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"b\"",
            "\"\\n\\u0041\"",
            "\"\\uD83D\\uDE00\"",
            "1",
            "-0.5e3",
            "0",
            "1E2",
            "true",
            "null"
          ] ++
            [
              " ",
              "\n",
              "\"",
              "\\",
              "\\u12",
              "\\uD800",
              "\xFF",
              "é",
              "-",
              "01",
              "1.",
              "e5",
              "tru",
              "/",
              "\"\\uD800\\u0041\"",
              "1e400"
            ]

  @decode [
    [],
    [keys: :atoms],
    [objects: :ordered_objects],
    [floats: :decimals],
    [strings: :copy],
    [keys: &__MODULE__.key/1]
  ]
  @encode for escape <- [:json, :html_safe, :javascript_safe, :unicode_safe],
              maps <- [:naive, :strict],
              pretty <- [false, true, [indent: "\t"]],
              do: [escape: escape, maps: maps, pretty: pretty]

  @bad ["a\xFFb", {1, 2}, 1..2, :pid, :set, :duplicate]

  def key(key), do: String.upcase(key)

  def results do
    :rand.seed(:exsss, {1, 2, 3})
    # `-0e1` is -0.0 here, and 0.0 in Jason.
    texts = for _ <- 1..20_000, text = text(), not (text =~ ~r/-0[eE]/), do: text
    terms = for _ <- 1..3_000, do: term(4, pick([nil, nil, nil | @bad]))

    decoded = for text <- texts ++ damaged(terms), do: line(fn -> Jason.decode(text, pick(@decode)) end)
    encoded = for term <- terms, do: line(fn -> Jason.encode(term, pick(@encode)) end)
    decoded ++ encoded
  end

  defp pick(list), do: Enum.at(list, :rand.uniform(length(list)) - 1)
  defp text, do: Enum.map_join(1..:rand.uniform(8), fn _ -> pick(@pieces) end)

  # Valid texts, some with a byte more or less.
  defp damaged(terms) do
    for term <- terms, {:ok, json} <- [Jason.encode(term)], cut <- [0, 1, 2] do
      at = :rand.uniform(byte_size(json)) - 1

      case cut do
        0 -> json
        1 -> binary_part(json, 0, at)
        2 -> binary_part(json, 0, at) <> pick(@pieces) <> binary_part(json, at, byte_size(json) - at)
      end
    end
  end

  # With at most one kind of error, because the libraries look at the values in another order.
  defp term(0, bad), do: scalar(bad)

  defp term(depth, bad) do
    case :rand.uniform(6) do
      1 -> for _ <- 1..:rand.uniform(4), do: term(depth - 1, bad)
      2 -> Map.new(1..:rand.uniform(4), fn _ -> {pick(keys(bad)), term(depth - 1, bad)} end)
      3 -> Map.new(1..:rand.uniform(60), &{"k#{&1}", term(0, bad)})
      4 -> Jason.OrderedObject.new([{"b", term(depth - 1, bad)}, {:a, term(depth - 1, bad)}])
      5 -> Jason.Fragment.new(~s({"f" : [1, {}]}))
      6 -> scalar(bad)
    end
  end

  defp keys(:duplicate), do: ["a", :a, 5]
  defp keys(_bad), do: [:a, "<é/", 5, ~c"x", 1.5]

  @good [
    nil,
    true,
    1,
    -7,
    1.5,
    0.1,
    "",
    "é😀\u2028</script>\0",
    :atom,
    ~D[2024-02-29],
    ~U[2024-02-29 01:02:03.5Z]
  ]

  defp scalar(bad) do
    good = @good ++ [Decimal.new("1E+3"), String.duplicate("x", 70)]
    if bad in [nil, :duplicate] or :rand.uniform(3) > 1, do: pick(good), else: bad(bad)
  end

  # Terms that every VM shows alike.
  defp bad(:pid), do: :erlang.list_to_pid(~c"<0.0.0>")
  defp bad(:set), do: MapSet.new([1])
  defp bad(other), do: other

  defp line(fun) do
    case fun.() do
      {:ok, result} ->
        inspect({:ok, result}, limit: :infinity, printable_limit: :infinity, custom_options: [sort_maps: true])

      {:error, error} ->
        inspect({:error, error.__struct__, Exception.message(error)})
    end
  rescue
    error -> inspect({:raised, error.__struct__})
  end
end

[file | expected] = System.argv()
results = Compare.results()
File.write!(file, :erlang.term_to_binary(results))

for expected <- expected do
  expected = expected |> File.read!() |> :erlang.binary_to_term()
  differ = for {got, wanted} <- Enum.zip(results, expected), got != wanted, do: {got, wanted}
  for {got, wanted} <- Enum.take(differ, 20), do: IO.puts("got      #{got}\nexpected #{wanted}\n")
  IO.puts("#{length(results)} results, #{length(differ)} differ")
  if differ != [] or length(results) != length(expected), do: exit({:shutdown, 1})
end
