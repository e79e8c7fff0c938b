defmodule RustyJson.Wasm.Fed do
  @moduledoc false
  # What the WebAssembly module answers about a piece of a stream, read in Elixir for the host that has no library of its own.
  # core/src/scan/call.rs describes it, judges it the same way, and has the reasons.

  require RustyJson.Engine.Codes

  alias RustyJson.Decode.Atoms
  alias RustyJson.{Engine, Options, Parts}
  alias RustyJson.Engine.Codes

  @empty <<131, 106>>
  @pointer_key 1024
  @level 2 * @pointer_key + 32
  @state 128
  @longest_path 4096
  @most_pointers 65_536
  @most_cells 4_096
  @longest_number 1024

  @doc "A question as the WebAssembly module reads it."
  @spec question(Engine.question()) :: binary()
  def question({before, held, last, stop, plan, state}) do
    last = if last, do: 1, else: 0

    head = <<before::64-little, held::64-little, last, stop::64-little, byte_size(plan)::32-little>>
    IO.iodata_to_binary([head, plan, <<byte_size(state)::32-little>> | state])
  end

  @doc "Whether it is not known yet which keys are atoms."
  @spec unasked?(binary()) :: boolean()
  def unasked?(<<_before::64, _held::64, _last, stop::64-little, _rest::binary>>), do: stop == Atoms.unasked()

  @doc "What the judge of terms has to be told: options for the list, and the length of a document that can have it."
  @spec policy(binary(), non_neg_integer(), {binary(), non_neg_integer(), binary(), term()}, Options.t()) ::
          {Options.t(), non_neg_integer()}
  def policy(question, piece, {_list, kept, _state, reason}, %{values: %{max_depth: max_depth}} = options) do
    facts = facts(question)
    lists = if facts.parts == 0, do: 1, else: 2
    most = most(piece, done(reason, kept, piece, facts), facts)
    list = %{max_depth: min(max_depth + lists, 0xFFFF_FFFF), max_nodes: most.nodes}
    changed = Options.change(options, :decode, list)
    {%{changed | values: Map.put(changed.values, :max_keys, most.keys)}, most.document}
  end

  # How much of a piece an answer is about: bytes that are kept come again, unless the stream ends.
  defp done(reason, _kept, piece, %{records: false}) when is_tuple(reason), do: piece
  defp done(_reason, kept, _piece, _facts), do: kept

  # The most that an answer about this many bytes of a piece can have.
  defp most(piece, done, %{events: true}) do
    events = 8 * done + 80
    number = min(piece - done, @longest_number)
    %{document: events + number, nodes: events, keys: div(events, 5), items: 0xFFFF_FFFF}
  end

  defp most(piece, done, %{overlap: overlap, parts: parts} = facts) do
    values = most_values(piece, done, facts)
    places = if facts.places, do: 2 * done, else: 0

    %{
      document: 2 * done + 16 + most_pointers(piece, values, facts) + places + parts * done,
      nodes: 0,
      keys: div(done, 5) * max(overlap, 1),
      items: values * if(facts.pointers, do: 2, else: 1)
    }
  end

  defp most_values(piece, done, %{cells: cells} = facts) do
    values = if facts.separated, do: div(done + 1, 2), else: done - div(done, 3)
    if cells == nil, do: values, else: min(values, div(piece + @most_cells, max(cells, 1)) + 1)
  end

  defp most_pointers(_piece, _values, %{pointers: false, places: false}), do: 0

  defp most_pointers(piece, values, %{segments: segments}) do
    longest = 2 * segments * @level
    min(values * longest, piece + @most_pointers + longest)
  end

  @doc "Whether a record may be this long: a list of the largest terms, a state, and an error with its path."
  @spec record?(pos_integer(), binary(), non_neg_integer(), Options.Values.t()) :: boolean()
  def record?(length, question, piece, %{max_depth: max_depth}) do
    facts = facts(question)

    length <=
      24 * most(piece, piece, facts).document + longest_state(facts, piece, max_depth) + longest_path(facts) +
        @state
  end

  @doc "The list in External Term Format and the rest, from the body of a record; what no honest module writes is `:broken`."
  @spec open(binary(), binary(), non_neg_integer(), pos_integer()) ::
          {binary(), non_neg_integer(), binary(), term()} | :broken
  def open(body, question, piece, max_depth) do
    # Elixir from 1.20 on wants sizes from outside a pattern pinned, which 1.14 does not know.
    with {record, <<length::32-little>>} <- split(body, byte_size(body) - 4),
         {list, answer} <- split(record, length),
         <<kept::32-little, n::32-little, state::binary-size(n), rest::binary>> <- answer,
         facts = facts(question),
         true <- kept <= piece and n <= longest_state(facts, piece, max_depth),
         {:ok, reason} <- reason(rest, kept, piece, list, facts),
         true <- count(list) <= most(piece, done(reason, kept, piece, facts), facts).items do
      {list, kept, state, reason}
    else
      _ -> :broken
    end
  end

  defp count(<<131, 108, count::32, _::binary>>), do: count
  defp count(_list), do: 0

  defp split(bytes, at) when at in 0..byte_size(bytes)//1, do: :erlang.split_binary(bytes, at)
  defp split(_bytes, _at), do: :broken

  @doc "Whether these can be the values: behind their pointers, if those are asked for, and answers to the plan of parts."
  @spec values?([term()], binary()) :: boolean()
  def values?(values, question), do: all?(values, facts(question))

  defp all?(_values, %{pointers: false, answers: nil}), do: true

  defp all?([pointer, value | rest], %{pointers: true} = facts) when is_binary(pointer),
    do: value?(value, facts) and all?(rest, facts)

  defp all?([value | rest], %{pointers: false} = facts), do: value?(value, facts) and all?(rest, facts)
  defp all?(rest, _facts), do: rest == []

  defp value?(_value, %{answers: nil}), do: true
  defp value?(value, %{answers: count}), do: Parts.answers?(value, count)

  # Numbers of the question that the answer is held to.
  defp facts(
         <<before::64-little, held::64-little, _last, _stop::64, _length::32, format, flags, _most::64,
           segments::16-little, rest::binary>>
       ),
       do:
         %{
           before: before,
           held: held,
           records: format in [1, 2],
           separated: format != 0,
           events: format == 4,
           pointers: Bitwise.band(flags, 2) != 0,
           places: format < 4 and Bitwise.band(flags, 4) != 0,
           segments: segments,
           parts: 0,
           overlap: 0,
           answers: nil,
           cells: nil
         }
         |> Map.merge(if Bitwise.band(flags, 8) == 0, do: %{}, else: parts(rest, segments))

  # How many times a byte of the piece can be in answers, each behind its number; how many answers a value has, and how many cells its
  # row has.
  defp parts(
         <<cells::32-little, _length::32, _kind, _flags, overlap::16-little, answers::32-little, _::binary>>,
         0
       ),
       do: %{parts: 17 * overlap + 16, overlap: overlap, answers: answers, cells: cells}

  defp parts(<<0, rest::binary>>, segments), do: parts(rest, segments - 1)

  defp parts(<<1, length::32-little, rest::binary>>, segments) do
    {_name, rest} = :erlang.split_binary(rest, length)
    parts(rest, segments - 1)
  end

  defp longest_state(%{before: before, segments: segments}, piece, max_depth),
    do: @state + segments * @level + div(min(max_depth, before + piece), 8)

  defp longest_path(%{segments: segments}), do: 2 * @longest_path + segments * @level

  # Each of many bad records has a path, which is one of its bytes.
  defp longest_path(kept, %{records: true} = facts), do: min(longest_path(facts), 4 * kept + 16)
  defp longest_path(_kept, facts), do: longest_path(facts)

  defp reason(<<2>>, 0, _piece, @empty, %{held: held}) when held > 0, do: {:ok, :join}
  defp reason(<<1>>, kept, _piece, _list, _facts) when kept > 0, do: {:ok, :again}
  defp reason(<<0>>, _kept, _piece, _list, _facts), do: {:ok, :more}

  defp reason(<<3, trouble::binary>>, kept, piece, _list, %{records: records} = facts)
       when kept > 0 or piece == 0 or not records,
       do: trouble(trouble, kept, piece, facts)

  defp reason(_reason, _kept, _piece, _list, _facts), do: :broken

  defp trouble(
         <<code, offset::64-little-signed, line::64-little, column::64-little, start::32-little,
           stop::32-little, n::32-little, path::binary-size(n)>>,
         kept,
         piece,
         %{before: before} = facts
       )
       when Codes.is_decode(code) and offset <= stop and -offset <= before and
              line in 1..(before + piece + 1)//1 and
              column in 1..(before + piece + 1)//1 and start <= stop and stop <= piece do
    if String.valid?(path) and n <= longest_path(kept, facts),
      do: {:ok, {code, offset, line, column, path, start, stop}},
      else: :broken
  end

  defp trouble(_trouble, _kept, _piece, _facts), do: :broken
end
