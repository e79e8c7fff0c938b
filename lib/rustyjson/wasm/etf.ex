defmodule RustyJson.Wasm.Etf do
  @moduledoc false
  # Checks External Term Format from an untrusted module before the VM builds anything of it, for the host that has no native code of
  # ours, by the rules of core/src/etf/judge.rs and policy.rs, which explain them.
  #
  # A result is one JSON-shaped term, at most as deep and with at most as many values as an honest result for the same input.
  #
  # The loop has plain arguments, because it runs once for each value: the bytes; `open`, the current container; `outer`, those around
  # it; how many values, keys and levels are left; the sum of the members of large maps; and what seldom matters. A container is an
  # integer, so that none is built on the heap: the number of elements left, times four, and its kind.

  import Bitwise

  @ordered_object <<116, 2::32, 119, 10, "__struct__", 119, 30, "Elixir.RustyJson.OrderedObject", 119, 6,
                    "values">>
  @decimal <<116, 4::32, 119, 10, "__struct__", 119, 14, "Elixir.Decimal", 119, 4, "sign">>

  # The limit of decimals that is none.
  @unlimited 0xFFFF_FFFF

  # The kinds of containers. A document is the only element of a list without an end.
  @list 0
  @map 1
  @atom_map 2
  @ordered 3

  # Values between two looks at the clock, which take a tenth of a millisecond.
  @stretch 4096
  # Larger maps are trees, which the VM builds by sorting the hashes of their keys.
  @flat_map 32
  # What the VM needs to build a term, as measured on a busy machine: nanoseconds for each byte, and for each member of a large map.
  @byte_ns 20
  @member_ns 800

  @type verdict :: :ok | {:fault, :invalid_result | :timeout, String.t()}

  @doc "`:ok` for an answer that a document of this length can have, if checking and building it ends by the deadline (milliseconds)."
  @spec check(binary(), RustyJson.Options.Values.t(), non_neg_integer(), integer() | :infinity) :: verdict()
  def check(etf, values, json_length, deadline \\ :infinity) do
    policy = policy(values, deadline)
    if byte_size(etf) > longest(policy, json_length), do: throw({:refused, "too many bytes"})

    case etf do
      <<131, rest::binary>> -> rest |> document(json_length, policy) |> whole(etf, deadline)
      _ -> throw({:refused, "version"})
    end
  catch
    {:refused, what} -> {:fault, :invalid_result, "#{what} in the term"}
    :late -> {:fault, :timeout, ""}
  end

  defp whole({<<>>, members}, etf, deadline), do: in_time(byte_size(etf), members, deadline)
  defp whole({_rest, _members}, _etf, _deadline), do: refuse("bytes behind the end")

  @doc "`:ok` for a list of answers to documents of these lengths, each within its own limits."
  @spec check_list(binary(), RustyJson.Options.Values.t(), binary(), integer() | :infinity) :: verdict()
  def check_list(etf, values, lengths, deadline \\ :infinity) do
    count = div(byte_size(lengths), 4)

    case etf do
      <<131, 108, ^count::32, rest::binary>> when count > 0 ->
        rest |> documents(lengths, policy(values, deadline), 0) |> in_time(byte_size(etf), deadline)

      <<131, 106>> when count == 0 ->
        :ok

      _ ->
        throw({:refused, "a list of another length"})
    end
  catch
    {:refused, what} -> {:fault, :invalid_result, "#{what} in the list"}
    :late -> {:fault, :timeout, ""}
  end

  defp documents(<<106>>, <<>>, _policy, members), do: members
  defp documents(_etf, <<>>, _policy, _members), do: refuse("an improper list")

  defp documents(etf, <<length::32-little, lengths::binary>>, policy, members) do
    {rest, more} = document(etf, length, policy)
    if byte_size(etf) - byte_size(rest) > longest(policy, length), do: refuse("too many bytes")
    documents(rest, lengths, policy, members + more)
  end

  # Nothing interrupts the VM while it builds a term.
  defp in_time(_bytes, _members, :infinity), do: :ok

  defp in_time(bytes, members, deadline) do
    needed = div(bytes * @byte_ns + members * @member_ns, 1_000_000)
    if System.monotonic_time(:millisecond) + needed <= deadline, do: :ok, else: throw(:late)
  end

  defp longest(%{long: true}, json_length), do: 24 * json_length + 64
  defp longest(_policy, json_length), do: 4 * json_length + 16

  defp policy(%{decoding_integer_digit_limit: digits, max_nodes: max_nodes} = values, deadline) do
    decimals = values.floats == :decimals
    ordered = values.objects == :ordered_objects
    places = is_map_key(values, :places)

    %{
      map: if(values.keys in [:atoms, :atoms!], do: @atom_map, else: @map),
      ordered: ordered,
      decimals: decimals,
      floats: not decimals or is_map_key(values, :typed),
      null: null(values.null),
      places: places,
      long: decimals or ordered or places,
      depth: values.max_depth,
      integer: if(digits != 0, do: bytes(digits)),
      coefficient: bytes(values.max_decimal_digits),
      exponent: values.max_decimal_exponent,
      max_nodes: max_nodes,
      # For a list of values that takes more room than the text they are in.
      max_keys: Map.get(values, :max_keys),
      deadline: deadline
    }
  end

  defp bytes(digits), do: max(div(digits * 333, 800) + 1, 8)

  defp null(nil), do: "nil"
  defp null(atom), do: Atom.to_string(atom)

  # The bytes behind one term that answers a document of this length, and the number of members in its large maps.
  defp document(etf, json_length, %{max_nodes: most} = policy) do
    nodes = if most == 0, do: json_length, else: min(most, json_length)
    now = min(nodes, @stretch)
    policy = %{policy | integer: policy.integer || max(json_length, 8)} |> Map.put(:later, nodes - now)
    # A member takes five bytes of the document.
    value(etf, 4, [], now, policy.max_keys || div(json_length, 5), policy.depth, 0, policy)
  end

  # All of these functions start by matching the bytes, without which the VM would make a binary of the rest for each value.

  # What comes behind a value.
  defp next(<<etf::binary>>, open, outer, nodes, keys, depth, large, p) when open >= 4 do
    case open &&& 3 do
      @list -> value(etf, open, outer, nodes, keys, depth, large, p)
      @map -> key(etf, open, outer, nodes, keys, depth, large, p)
      @atom_map -> atom_key(etf, open, outer, nodes, keys, depth, large, p)
      @ordered -> pair(etf, open, outer, nodes, keys, depth, large, p)
    end
  end

  defp next(<<etf::binary>>, open, [outer | others], nodes, keys, depth, large, p)
       when open in [@map, @atom_map],
       do: next(etf, outer, others, nodes, keys, depth + 1, large, p)

  defp next(<<etf::binary>>, _open, [], _nodes, _keys, _depth, large, _p), do: {etf, large}

  defp next(<<106, etf::binary>>, _open, [outer | others], nodes, keys, depth, large, p),
    do: next(etf, outer, others, nodes, keys, depth + 1, large, p)

  defp next(<<_etf::binary>>, _open, _outer, _nodes, _keys, _depth, _large, _p),
    do: refuse("an improper list")

  defp value(<<etf::binary>>, open, outer, 0, keys, depth, large, p) do
    {nodes, p} = go_on(p)
    value(etf, open, outer, nodes, keys, depth, large, p)
  end

  defp value(<<97, _, etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<109, n::32, _::binary-size(n), etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<98, _::32, etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  # An exponent with all bits set is NaN or infinity.
  defp value(
         <<70, _::1, exponent::11, _::52, etf::binary>>,
         open,
         outer,
         nodes,
         keys,
         depth,
         large,
         %{floats: true} = p
       )
       when exponent != 0x7FF,
       do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<119, 4, "true", etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<119, 5, "false", etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<119, 3, "nil", etf::binary>>, open, outer, nodes, keys, depth, large, %{null: "nil"} = p),
    do: next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<119, n, name::binary-size(n), etf::binary>>, open, outer, nodes, keys, depth, large, p) do
    if name != p.null, do: refuse("tag 119")
    next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)
  end

  defp value(<<116, n::32, etf::binary>>, open, outer, nodes, keys, depth, large, %{long: false} = p),
    do: map(etf, n, open - 4, outer, nodes - 1, keys - n, depth - 1, large, p)

  defp value(<<106, etf::binary>>, open, outer, nodes, keys, depth, large, p) do
    if depth == 0, do: refuse("nesting")
    next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)
  end

  defp value(<<108, n::32, etf::binary>>, open, outer, nodes, keys, depth, large, p) when n > 0 do
    if depth == 0, do: refuse("nesting")
    value(etf, n * 4, [open - 4 | outer], nodes - 1, keys, depth - 1, large, p)
  end

  defp value(<<tag, _::binary>> = etf, open, outer, nodes, keys, depth, large, p) when tag in [110, 111],
    do: etf |> integer(p.integer) |> next(open - 4, outer, nodes - 1, keys, depth, large, p)

  # A part of the text, by its place.
  defp value(<<104, 2, etf::binary>>, open, outer, nodes, keys, depth, large, %{places: true} = p),
    do: etf |> number() |> number() |> next(open - 4, outer, nodes - 1, keys, depth, large, p)

  defp value(<<@decimal, etf::binary>>, open, outer, nodes, keys, depth, large, %{decimals: true} = p) do
    with <<119, 4, "coef", etf::binary>> <- sign(etf),
         <<119, 3, "exp", etf::binary>> <- coefficient(etf, min(p.coefficient, p.integer)) do
      etf |> exponent(p.exponent) |> next(open - 4, outer, nodes - 1, keys, depth, large, p)
    else
      _ -> refuse("a broken decimal")
    end
  end

  defp value(<<@ordered_object, etf::binary>>, open, outer, nodes, keys, depth, large, %{ordered: true} = p) do
    if depth == 0, do: refuse("nesting")

    case etf do
      <<106, etf::binary>> ->
        next(etf, open - 4, outer, nodes - 1, keys, depth, large, p)

      <<108, n::32, etf::binary>> when n in 1..keys//1 ->
        pair(etf, n * 4 + @ordered, [open - 4 | outer], nodes - 1, keys - n, depth - 1, large, p)

      <<108, n::32, _::binary>> when n > 0 ->
        refuse("too many keys")

      _ ->
        refuse("a broken struct")
    end
  end

  defp value(<<116, n::32, etf::binary>>, open, outer, nodes, keys, depth, large, %{ordered: false} = p),
    do: map(etf, n, open - 4, outer, nodes - 1, keys - n, depth - 1, large, p)

  defp value(<<tag, _::binary>>, _open, _outer, _nodes, _keys, _depth, _large, _p), do: refuse("tag #{tag}")
  defp value(<<>>, _open, _outer, _nodes, _keys, _depth, _large, _p), do: refuse("an end")

  # `keys` and `depth` are those that are left inside.
  defp map(<<_etf::binary>>, _n, _outer, _others, _nodes, _keys, -1, _large, _p), do: refuse("nesting")

  defp map(<<_etf::binary>>, _n, _outer, _others, _nodes, keys, _depth, _large, _p) when keys < 0,
    do: refuse("too many keys")

  defp map(<<etf::binary>>, 0, outer, others, nodes, keys, depth, large, p),
    do: next(etf, outer, others, nodes, keys, depth + 1, large, p)

  defp map(<<etf::binary>>, n, outer, others, nodes, keys, depth, large, p) when n <= @flat_map,
    do: next(etf, n * 4 + p.map, [outer | others], nodes, keys, depth, large, p)

  defp map(<<etf::binary>>, n, outer, others, nodes, keys, depth, large, p),
    do: next(etf, n * 4 + p.map, [outer | others], nodes, keys, depth, large + n, p)

  defp key(<<etf::binary>>, open, outer, 0, keys, depth, large, p) do
    {nodes, p} = go_on(p)
    key(etf, open, outer, nodes, keys, depth, large, p)
  end

  defp key(<<109, n::32, _::binary-size(n), etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: value(etf, open, outer, nodes - 1, keys, depth, large, p)

  defp key(<<_etf::binary>>, _open, _outer, _nodes, _keys, _depth, _large, _p), do: refuse("a broken key")

  defp atom_key(<<etf::binary>>, open, outer, 0, keys, depth, large, p) do
    {nodes, p} = go_on(p)
    atom_key(etf, open, outer, nodes, keys, depth, large, p)
  end

  defp atom_key(<<119, n, name::binary-size(n), etf::binary>>, open, outer, nodes, keys, depth, large, p) do
    atom(name)
    value(etf, open, outer, nodes - 1, keys, depth, large, p)
  end

  defp atom_key(<<118, n::16, name::binary-size(n), etf::binary>>, open, outer, nodes, keys, depth, large, p) do
    atom(name)
    value(etf, open, outer, nodes - 1, keys, depth, large, p)
  end

  defp atom_key(<<_etf::binary>>, _open, _outer, _nodes, _keys, _depth, _large, _p),
    do: refuse("a broken key")

  defp pair(<<104, 2, etf::binary>>, open, outer, nodes, keys, depth, large, %{map: @map} = p),
    do: key(etf, open, outer, nodes, keys, depth, large, p)

  defp pair(<<104, 2, etf::binary>>, open, outer, nodes, keys, depth, large, p),
    do: atom_key(etf, open, outer, nodes, keys, depth, large, p)

  defp pair(<<_etf::binary>>, _open, _outer, _nodes, _keys, _depth, _large, _p), do: refuse("a broken pair")

  # After each stretch of values.
  defp go_on(%{later: 0}), do: refuse("too many values")

  defp go_on(%{later: later, deadline: deadline} = p) do
    if deadline != :infinity and System.monotonic_time(:millisecond) > deadline, do: throw(:late)
    now = min(later, @stretch)
    {now, %{p | later: later - now}}
  end

  defp atom(name),
    do: (String.valid?(name) and length(String.to_charlist(name)) <= 255) || refuse("a broken atom")

  defp sign(<<97, 1, rest::binary>>), do: rest
  defp sign(<<98, 0xFFFF_FFFF::32, rest::binary>>), do: rest
  defp sign(_rest), do: refuse("a broken decimal")

  defp coefficient(<<98, 1::1, _::bitstring>>, _most), do: refuse("a broken decimal")
  defp coefficient(<<110, _n, 1, _::binary>>, _most), do: refuse("a broken decimal")
  defp coefficient(<<111, _n::32, 1, _::binary>>, _most), do: refuse("a broken decimal")
  defp coefficient(rest, most), do: integer(rest, most)

  defp exponent(rest, most) do
    behind = number(rest)
    term = <<131, binary_part(rest, 0, byte_size(rest) - byte_size(behind))::binary>>

    if most == @unlimited or abs(:erlang.binary_to_term(term)) <= most,
      do: behind,
      else: refuse("a broken decimal")
  end

  # An integer of 64 bits.
  defp number(<<110, 8, sign, digits::64-little, _::binary>> = rest), do: signed(rest, sign, digits)
  defp number(<<111, 8::32, sign, digits::64-little, _::binary>> = rest), do: signed(rest, sign, digits)
  defp number(rest), do: integer(rest, 8)

  defp signed(rest, sign, digits) when digits <= 0x7FFF_FFFF_FFFF_FFFF + sign, do: integer(rest, 8)
  defp signed(_rest, _sign, _digits), do: refuse("a broken integer")

  defp integer(<<97, _, rest::binary>>, _most), do: rest
  defp integer(<<98, _::32, rest::binary>>, _most), do: rest

  defp integer(<<110, n, sign, digits::binary-size(n), rest::binary>>, most),
    do: big(digits, sign, most, rest)

  defp integer(<<111, n::32, sign, digits::binary-size(n), rest::binary>>, most),
    do: big(digits, sign, most, rest)

  defp integer(_rest, _most), do: refuse("a broken integer")

  defp big(digits, sign, most, rest) do
    n = byte_size(digits)
    if n in 1..most//1 and sign <= 1 and :binary.last(digits) != 0, do: rest, else: refuse("a broken integer")
  end

  @spec refuse(String.t()) :: no_return()
  defp refuse(what), do: throw({:refused, what})
end
