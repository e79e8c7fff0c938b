defmodule RustyJson.Test.Sweep.Yardstick do
  @moduledoc """
  What the VM itself needs for an input of the sweep, at two sizes.

  Time per byte grows with the size of a term even where the work does not: the VM copies the live heap of a process at each collection,
  gets new memory for it page by page, and a term of some megabytes leaves the caches of the processor. So a case is compared with the
  same input in the hands of the VM: `:erlang.binary_to_term/1` of the decoded term, or `:erlang.term_to_binary/1` of the term; and a
  reader or writer in plain Elixir, that makes the same term in pieces, or its text.
  """

  alias RustyJson.Test.Sweep.Measure

  @type builder :: (() -> term())

  # A longer number stays text: to convert it takes more than linear time.
  @digits 1_000
  @tries 3

  @doc "How many times more time per byte the larger input takes, at least 1.0, by the yardstick that grows most."
  @spec growth(:text | :term, [{pos_integer(), builder()}], keyword()) :: float()
  def growth(input, sizes, options) do
    for yardstick <- yardsticks(input, options), reduce: 1.0 do
      most -> max(most, Measure.growth(for {size, build} <- sizes, do: {size, best(build, yardstick)}))
    end
  end

  defp yardsticks(:text, options),
    do: [{& &1, &read/1}, {&external(&1, options), &:erlang.binary_to_term/1}]

  defp yardsticks(:term, _options),
    do: [{& &1, &:erlang.term_to_binary/1}, {& &1, &IO.iodata_to_binary(write(&1))}]

  # A term is made in the process that runs it, as those of the cases are; a binary is shared.
  defp best(build, {prepare, run}) do
    build = with(text when is_binary(text) <- prepare.(build.()), do: fn -> text end, else: (_ -> build))

    for _ <- 1..@tries, reduce: nil do
      before -> build |> Measure.run(run, 0, 100_000_000_000, 60_000) |> Measure.better(before)
    end
  end

  # A text that is not a document stands for what a partial document shows of it.
  defp external(text, options) do
    case RustyJson.decode_partial(text, [engine: :native] ++ options) do
      {:ok, term, _state} -> :erlang.term_to_binary(term)
      {:error, _error} -> :erlang.term_to_binary([])
    end
  end

  @doc "The values of a text, with an explicit stack, as far as they can be read."
  @spec read(binary()) :: term()
  def read(text), do: read(text, [[]])

  defp read(<<byte, rest::binary>>, stack) when byte in ~c" \n\t\r,:", do: read(rest, stack)
  defp read("[" <> rest, stack), do: read(rest, [[] | stack])
  defp read("{" <> rest, stack), do: read(rest, [%{} | stack])
  defp read("]" <> rest, [items | stack]) when is_list(items), do: put(:lists.reverse(items), rest, stack)
  defp read("}" <> rest, [map | stack]) when is_map(map), do: put(map, rest, stack)
  defp read("\"" <> rest, stack), do: string(rest, rest, 0, stack)
  defp read(<<byte, _::binary>> = text, stack) when byte not in ~c"]}", do: word(text, text, 0, stack)
  defp read(_text, stack), do: stack

  defp string(<<?\\, _, rest::binary>>, from, length, stack), do: string(rest, from, length + 2, stack)
  defp string("\"" <> rest, from, length, stack), do: put(part(from, length), rest, stack)
  defp string(<<_, rest::binary>>, from, length, stack), do: string(rest, from, length + 1, stack)
  defp string("", _from, _length, stack), do: stack

  defp word(<<byte, rest::binary>>, from, length, stack) when byte not in ~c" \n\t\r,:[]{}\"",
    do: word(rest, from, length + 1, stack)

  defp word(rest, from, length, stack), do: put(from |> part(length) |> number(), rest, stack)

  defp part(from, length), do: from |> binary_part(0, length) |> :binary.copy()

  defp number(text) when byte_size(text) <= @digits do
    case Integer.parse(text) do
      {integer, ""} -> integer
      _other -> with {float, ""} <- Float.parse(text), do: float, else: (_ -> text)
    end
  end

  defp number(text), do: text

  # A member is put into its map when it comes, as a partial document has to.
  defp put(key, rest, [map | stack]) when is_map(map), do: read(rest, [{map, key} | stack])
  defp put(value, rest, [{map, key} | stack]), do: read(rest, [Map.put(map, key, value) | stack])
  defp put(value, rest, [items | stack]), do: read(rest, [[value | items] | stack])
  defp put(value, _rest, []), do: value

  @doc "About the text of a term."
  @spec write(term()) :: iodata()
  def write([]), do: "[]"
  def write(list) when is_list(list), do: [?[ | items(list)]
  def write(%module{} = struct) when is_atom(module), do: struct |> Map.from_struct() |> write()

  def write(map) when is_map(map),
    do: [?{, for({key, value} <- map, do: [write(key), ?:, write(value), ?,]), ?}]

  def write(text) when is_binary(text), do: [?", escaped(text, text, 0), ?"]
  def write(integer) when is_integer(integer), do: Integer.to_string(integer)
  def write(float) when is_float(float), do: Float.to_string(float)
  def write(atom) when is_atom(atom), do: Atom.to_string(atom)
  def write(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> write()
  def write(_other), do: "?"

  defp items([item | rest]) when is_list(rest) and rest != [], do: [write(item), ?, | items(rest)]
  defp items([item | _rest]), do: [write(item), ?]]

  defp escaped(<<byte, rest::binary>>, text, length) when byte >= 32 and byte not in ~c"\"\\",
    do: escaped(rest, text, length + 1)

  defp escaped(<<byte, rest::binary>>, text, length),
    do: [binary_part(text, 0, length), ?\\, byte | escaped(rest, rest, 0)]

  defp escaped("", text, _length), do: text
end
