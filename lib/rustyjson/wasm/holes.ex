defmodule RustyJson.Wasm.Holes do
  @moduledoc false
  # Checks the holes that an untrusted module reports, for the host that has no native code of ours.
  #
  # The module reports the positions of the terms that it does not write. Bytes in the middle of a binary could read as a function, so one
  # walk over the caller's own copy of the input looks up each position: a term must start there, outside every other hole.
  #
  # The term must also be one that the core leaves to Elixir: otherwise a module could report the same term forever. Elixir turns such a
  # term into one that the core can write, except for smaller parts: a struct through its own encoder, a built-in struct with invalid
  # fields into text, a map with unusual keys into an object with string keys. None of the results is accepted here again, so a call ends
  # however often a lying module asks for help. Where the core checks more details, such as the fields of a date, this accepts every term
  # that Elixir turns into text or into smaller parts.

  alias RustyJson.{Fragment, OrderedObject}
  alias RustyJson.Encode.{Known, Written}
  alias RustyJson.Encoder.Plans
  alias RustyJson.Wasm.{Abi, Host}

  @list "its list of holes is broken"
  @place "a hole is not a term of the input"
  @written "a hole is a term that it can write"

  @modules Known.modules() -- [Fragment, OrderedObject]
  @overridable Known.overridable()
  # Other names that the core knows.
  @names [Calendar.ISO | Known.modules()]

  # Terms between two looks at the clock.
  @stretch 4_096

  @tuple 104
  @map 116

  @doc """
  The text and the holes, in its order, in the body of a partial record that answers a term under these plans and options. The deadline
  is in milliseconds of monotonic time.
  """
  @spec find(binary(), binary(), map(), RustyJson.Options.Values.t(), integer()) ::
          {:partial, binary(), [RustyJson.Engine.hole()]} | Host.fault()
  def find(body, <<131, term::binary>>, plans, values, deadline) do
    with {:ok, [_ | _] = claims, text} <- Abi.partial(body),
         # No two holes share a byte of the input.
         true <- length(claims) <= byte_size(term) + 1 and in_order?(claims, 0, byte_size(text)) do
      call = call(values, plans, deadline)

      by_start =
        for {{offset, start, depth, place}, number} <- Enum.with_index(claims),
            do: {start, number, offset, depth, place}

      holes = measure(:lists.sort(by_start), term, 1, [{nil, 1, 1, 0}], call, {[], @stretch})
      {:partial, text, for({_number, hole} <- :lists.keysort(1, holes), do: hole)}
    else
      _ -> refuse(@list)
    end
  catch
    {:refused, what} -> {:fault, :invalid_result, what}
    :late -> {:fault, :timeout, ""}
  end

  defp in_order?([{offset, _, _, _} | claims], before, length) when offset >= before,
    do: in_order?(claims, offset, length)

  defp in_order?(claims, before, length), do: claims == [] and before <= length

  defp call(values, plans, deadline) do
    %{
      deadline: deadline,
      base: values.base_depth,
      gathers: values.sort_keys or values.maps == :strict or values.shape != "",
      unsupported: values.unsupported != :error,
      plain_structs: not values.protocol,
      lean: values.lean,
      extras: values.extras == :left,
      pretty: values.pretty,
      redacts: values.redact != [],
      records: values.records != :none,
      plans: plans
    }
  end

  # One walk over our own bytes. Each container around the place has its tag, its parts, those still to come, and its level. With the holes found
  # comes how far the walk goes on until the next look at the clock.
  defp measure(claims, etf, at, open, call, {holes, left}) when left < 0 do
    in_time(call)
    measure(claims, etf, at, open, call, {holes, @stretch})
  end

  defp measure([], _etf, _at, _open, _call, {holes, _left}), do: holes

  defp measure(claims, etf, at, [{_, _, 0, _} | open], call, found),
    do: measure(claims, etf, at, open, call, found)

  defp measure(
         [{at, number, offset, depth, place} | claims],
         etf,
         at,
         [{tag, parts, left, level} | open],
         call,
         found
       ) do
    if depth > call.base + level, do: refuse(@place)
    length = skip(etf, 1, 0, @stretch, call)
    term = :erlang.binary_to_term(<<131, binary_part(etf, 0, length)::binary>>)
    unless left?(place, term, key?(tag, parts, left), call), do: refuse(@written)
    {holes, before_look} = found
    found = {[{number, {offset, depth, term, place}} | holes], before_look - 1 - div(length, 16)}
    measure(claims, drop(etf, length), at + length, [{tag, parts, left - 1, level} | open], call, found)
  end

  defp measure(
         [{start, _, _, _, _} | _] = claims,
         <<tag, _::binary>> = etf,
         at,
         [{t, p, left, level} | open],
         call,
         found
       )
       when at < start do
    {size, parts} = header(etf)
    {holes, before_look} = found
    found = {holes, before_look - 1}

    measure(
      claims,
      drop(etf, size),
      at + size,
      [{tag, parts, parts, level + 1}, {t, p, left - 1, level} | open],
      call,
      found
    )
  end

  defp measure(_claims, _etf, _at, _open, _call, _found), do: refuse(@place)

  defp in_time(%{deadline: deadline}),
    do: if(System.monotonic_time(:millisecond) > deadline, do: throw(:late))

  defp key?(@map, _parts, left), do: rem(left, 2) == 0
  defp key?(@tuple, 2, 2), do: true
  defp key?(_tag, _parts, _left), do: false

  ## Terms that the core leaves to Elixir

  defp left?(:key, term, at_key, call), do: at_key and odd_key?(term, call)
  defp left?(:value, term, _at_key, call), do: left?(term, call)

  defp left?(%Fragment{encode: encode}, call),
    do:
      call.pretty or call.redacts or not is_binary(encode) or (call.records and Written.ends_record?(encode))

  defp left?(%{__struct__: Fragment}, _call), do: true

  defp left?(%{__struct__: OrderedObject, values: [_ | _] = pairs}, call),
    do: if(call.unsupported, do: not pairs?(pairs, call), else: call.gathers and odd_pairs?(pairs, call))

  defp left?(%{__struct__: OrderedObject, values: []}, _call), do: false
  defp left?(%{__struct__: OrderedObject}, _call), do: true

  # Of these modules, only those that the application encodes itself have a plan.
  defp left?(%{__struct__: module} = struct, %{lean: false} = call) when module in @modules,
    do: odd?(struct) or extra?(module, call) or (not call.plain_structs and is_map_key(call.plans, module))

  defp left?(%{__struct__: module} = struct, call) when is_atom(module) do
    if call.plain_structs or (call.lean and module in @names),
      do: gathered?(struct, call),
      else: planless?(struct, call.plans)
  end

  defp left?(map, call) when is_map(map), do: gathered?(map, call)
  defp left?(binary, _call) when is_binary(binary), do: false
  defp left?(list, call) when is_list(list), do: call.unsupported and List.improper?(list)

  # Any other term is opaque: a pid, a function, a bitstring, or a native record, which has no guard in this Elixir.
  defp left?(term, call),
    do: not (is_number(term) or is_atom(term) or (is_tuple(term) and not call.extras))

  defp extra?(module, %{extras: extras}), do: extras and module in @overridable

  defp planless?(%{__struct__: module} = struct, plans) do
    case plans do
      %{^module => plan} -> not Enum.all?(Plans.fields(plan), &is_map_key(struct, &1))
      _ -> true
    end
  end

  # A well-known struct whose fields may be invalid.
  defp odd?(%{__struct__: MapSet, map: map}) when is_map(map), do: false
  defp odd?(%{__struct__: Range} = range), do: not Enum.all?(small_fields(range))
  defp odd?(_struct), do: true

  defp small_fields(range) do
    for field <- [:first, :last, :step],
        field != :step or is_map_key(range, :step),
        do: small?(Map.get(range, field))
  end

  defp small?(value), do: is_integer(value) and value in -0xFF_FFFF_FFFF_FFFF..0xFF_FFFF_FFFF_FFFF

  defp gathered?(map, call), do: call.gathers and Enum.any?(Map.keys(map), &odd_key?(&1, call))

  defp odd_pairs?([{key, _value} | rest], call), do: odd_key?(key, call) or odd_pairs?(rest, call)
  defp odd_pairs?([_other | rest], call), do: odd_pairs?(rest, call)
  defp odd_pairs?(_tail, _call), do: false

  # Where odd terms are left to Elixir, an object without any.
  defp pairs?([{key, _value} | rest], call), do: not odd_key?(key, call) and pairs?(rest, call)
  defp pairs?(tail, _call), do: tail == []

  defp odd_key?(key, %{unsupported: true}), do: not (is_binary(key) or is_atom(key) or is_number(key))
  defp odd_key?(key, _call), do: is_list(key) or is_struct(key)

  ## External Term Format

  defp skip(_etf, 0, size, _before_look, _call), do: size

  defp skip(etf, left, size, 0, call) do
    in_time(call)
    skip(etf, left, size, @stretch, call)
  end

  defp skip(etf, left, size, before_look, call) do
    {bytes, parts} = header(etf)
    skip(drop(etf, bytes), left - 1 + parts, size + bytes, before_look - 1, call)
  end

  defp drop(etf, size), do: binary_part(etf, size, byte_size(etf) - size)

  # Bytes up to a term's first part, and the number of its parts.
  defp header(<<97, _::binary>>), do: {2, 0}
  defp header(<<98, _::binary>>), do: {5, 0}
  defp header(<<70, _::binary>>), do: {9, 0}
  defp header(<<99, _::binary>>), do: {32, 0}
  defp header(<<106, _::binary>>), do: {1, 0}
  defp header(<<tag, n, _::binary>>) when tag in [115, 119], do: {2 + n, 0}
  defp header(<<tag, n::16, _::binary>>) when tag in [100, 118, 107], do: {3 + n, 0}
  defp header(<<109, n::32, _::binary>>), do: {5 + n, 0}
  defp header(<<77, n::32, _::binary>>), do: {6 + n, 0}
  defp header(<<110, n, _::binary>>), do: {3 + n, 0}
  defp header(<<111, n::32, _::binary>>), do: {6 + n, 0}
  defp header(<<104, n, _::binary>>), do: {2, n}
  defp header(<<105, n::32, _::binary>>), do: {5, n}
  defp header(<<108, n::32, _::binary>>), do: {5, n + 1}
  defp header(<<116, n::32, _::binary>>), do: {5, 2 * n}
  defp header(<<113, _::binary>>), do: {1, 3}
  # A native record of OTP 29: fields and flags; then module, name, the fields' names and their values.
  defp header(<<67, n::32, _flags, _::binary>>), do: {6, 2 + 2 * n}
  defp header(<<112, n::32, _::binary>>), do: {1 + n, 0}
  defp header(<<88, node::binary>>), do: node(node, 1 + 12)
  defp header(<<103, node::binary>>), do: node(node, 1 + 9)
  defp header(<<89, node::binary>>), do: node(node, 1 + 8)
  defp header(<<102, node::binary>>), do: node(node, 1 + 5)
  defp header(<<120, node::binary>>), do: node(node, 1 + 12)
  defp header(<<90, n::16, node::binary>>), do: node(node, 3 + 4 + 4 * n)
  defp header(<<114, n::16, node::binary>>), do: node(node, 3 + 1 + 4 * n)
  defp header(_etf), do: refuse(@place)

  defp node(<<tag, n, _::binary>>, size) when tag in [115, 119], do: {size + 2 + n, 0}
  defp node(<<tag, n::16, _::binary>>, size) when tag in [100, 118], do: {size + 3 + n, 0}

  @spec refuse(String.t()) :: no_return()
  defp refuse(what), do: throw({:refused, what})
end
