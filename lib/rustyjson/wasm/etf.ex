defmodule RustyJson.Wasm.Etf do
  @moduledoc false
  # Checks External Term Format from an untrusted module, if no native library is loaded, by the rules of core/src/etf/judge.rs and
  # policy.rs, which explain them.
  #
  # A result is one JSON-shaped term, at most as deep and with at most as many values as an honest result for the same input.

  @ordered_object <<116, 2::32, 119, 10, "__struct__", 119, 30, "Elixir.RustyJson.OrderedObject", 119, 6,
                    "values">>
  @decimal <<116, 4::32, 119, 10, "__struct__", 119, 14, "Elixir.Decimal", 119, 4, "sign">>

  # The limit of decimals that is none.
  @unlimited 0xFFFF_FFFF

  @doc "`:ok` for an answer that a document of this length can have."
  @spec check(binary(), RustyJson.Options.values(), non_neg_integer()) ::
          :ok | {:fault, :invalid_result, String.t()}
  def check(etf, values, json_length) do
    policy = policy(values, json_length)
    if byte_size(etf) > longest(policy, json_length), do: throw({:refused, "too many bytes"})

    case etf do
      <<131, rest::binary>> -> value(rest, [], 0, 0, policy)
      _ -> throw({:refused, "version"})
    end

    :ok
  catch
    {:refused, what} -> {:fault, :invalid_result, "#{what} in the term"}
  end

  @doc "`:ok` for a list of answers to documents of these lengths, each within its own limits."
  @spec check_list(binary(), RustyJson.Options.values(), binary()) ::
          :ok | {:fault, :invalid_result, String.t()}
  def check_list(etf, values, lengths) do
    count = div(byte_size(lengths), 4)

    case etf do
      <<131, 108, ^count::32, rest::binary>> when count > 0 -> next(rest, lengths, values)
      <<131, 106>> when count == 0 -> :ok
      _ -> throw({:refused, "a list of another length"})
    end
  catch
    {:refused, what} -> {:fault, :invalid_result, "#{what} in the list"}
  end

  # The frame around a document is a map: where it starts, how long it may be, and the others.
  defp next(rest, <<length::32-little, lengths::binary>>, values) do
    policy = policy(values, length)
    frame = %{start: byte_size(rest), longest: longest(policy, length), lengths: lengths, values: values}
    value(rest, [frame], 0, 0, policy)
  end

  defp next(<<106>>, <<>>, _values), do: :ok
  defp next(_rest, <<>>, _values), do: refuse("an improper list")

  defp longest(%{decimals: decimals, ordered: ordered, raw: raw}, json_length)
       when decimals or ordered or raw,
       do: 24 * json_length + 64

  defp longest(_policy, json_length), do: 4 * json_length + 16

  defp policy(%{decoding_integer_digit_limit: digits, max_nodes: max_nodes} = values, json_length) do
    integer = if(digits == 0, do: max(json_length, 8), else: bytes(digits))

    %{
      atom_keys: values.keys in [:atoms, :atoms!],
      ordered: values.objects == :ordered_objects,
      decimals: values.floats == :decimals,
      floats: values.floats != :decimals or is_map_key(values, :typed),
      null: values.null,
      raw: Map.get(values, :raw, []) != [],
      depth: values.max_depth,
      integer: integer,
      coefficient: min(bytes(values.max_decimal_digits), integer),
      exponent: values.max_decimal_exponent,
      terms: if(max_nodes == 0, do: json_length, else: min(max_nodes, json_length)),
      # A member takes five bytes.
      keys: div(json_length, 5)
    }
  end

  defp bytes(digits), do: max(div(digits * 333, 800) + 1, 8)

  # The containers around a value are a list: elements left, by kind.
  defp value(_rest, _open, _depth, terms, %{terms: terms}), do: refuse("too many values")

  defp value(<<97, _, rest::binary>>, open, depth, terms, p), do: ended(rest, open, depth, terms + 1, p)

  defp value(<<109, n::32, _::binary-size(n), rest::binary>>, open, depth, terms, p),
    do: ended(rest, open, depth, terms + 1, p)

  defp value(<<98, _::32, rest::binary>>, open, depth, terms, p), do: ended(rest, open, depth, terms + 1, p)

  defp value(<<119, 3, "nil", rest::binary>>, open, depth, terms, %{null: nil} = p),
    do: ended(rest, open, depth, terms + 1, p)

  defp value(<<119, 4, "null", rest::binary>>, open, depth, terms, %{null: :null} = p),
    do: ended(rest, open, depth, terms + 1, p)

  defp value(<<119, 9, "undefined", rest::binary>>, open, depth, terms, %{null: :undefined} = p),
    do: ended(rest, open, depth, terms + 1, p)

  # A part of the text, by its place.
  defp value(<<104, 2, rest::binary>>, open, depth, terms, %{raw: true} = p),
    do: rest |> number() |> number() |> ended(open, depth, terms + 1, p)

  defp value(<<119, 4, "true", rest::binary>>, open, depth, terms, p),
    do: ended(rest, open, depth, terms + 1, p)

  defp value(<<119, 5, "false", rest::binary>>, open, depth, terms, p),
    do: ended(rest, open, depth, terms + 1, p)

  # An exponent with all bits set is NaN or infinity.
  defp value(<<70, _::1, exponent::11, _::52, rest::binary>>, open, depth, terms, %{floats: true} = p)
       when exponent != 0x7FF,
       do: ended(rest, open, depth, terms + 1, p)

  defp value(<<tag, _::binary>> = etf, open, depth, terms, p) when tag in [110, 111],
    do: etf |> integer(p.integer) |> ended(open, depth, terms + 1, p)

  defp value(<<106, rest::binary>>, open, depth, terms, p) do
    deeper(depth, p)
    ended(rest, open, depth, terms + 1, p)
  end

  defp value(<<108, n::32, rest::binary>>, open, depth, terms, p) when n > 0 do
    deeper(depth, p)
    value(rest, [{:list, n} | open], depth + 1, terms + 1, p)
  end

  defp value(<<@decimal, rest::binary>>, open, depth, terms, %{decimals: true} = p) do
    with <<119, 4, "coef", rest::binary>> <- sign(rest),
         <<119, 3, "exp", rest::binary>> <- coefficient(rest, p.coefficient) do
      rest |> exponent(p.exponent) |> ended(open, depth, terms + 1, p)
    else
      _ -> refuse("a broken decimal")
    end
  end

  defp value(<<@ordered_object, rest::binary>>, open, depth, terms, %{ordered: true} = p) do
    deeper(depth, p)

    case rest do
      <<106, rest::binary>> ->
        ended(rest, open, depth, terms + 1, p)

      <<108, n::32, rest::binary>> when n > 0 ->
        key(rest, [{:ordered, n} | open], depth + 1, terms + 1, members(n, p))

      _ ->
        refuse("a broken struct")
    end
  end

  defp value(<<116, 0::32, rest::binary>>, open, depth, terms, %{ordered: false} = p) do
    deeper(depth, p)
    ended(rest, open, depth, terms + 1, p)
  end

  defp value(<<116, n::32, rest::binary>>, open, depth, terms, %{ordered: false} = p) do
    deeper(depth, p)
    key(rest, [{:map, n} | open], depth + 1, terms + 1, members(n, p))
  end

  defp value(<<tag, _::binary>>, _open, _depth, _terms, _p), do: refuse("tag #{tag}")
  defp value(<<>>, _open, _depth, _terms, _p), do: refuse("an end")

  defp key(_rest, _open, _depth, terms, %{terms: terms}), do: refuse("too many values")

  defp key(<<104, 2, rest::binary>>, [{:ordered, _} | _] = open, depth, terms, p),
    do: name(rest, open, depth, terms, p)

  defp key(rest, [{:map, _} | _] = open, depth, terms, p), do: name(rest, open, depth, terms, p)
  defp key(_rest, _open, _depth, _terms, _p), do: refuse("a broken pair")

  defp name(<<109, n::32, _::binary-size(n), rest::binary>>, open, depth, terms, %{atom_keys: false} = p),
    do: value(rest, open, depth, terms + 1, p)

  defp name(<<119, n, name::binary-size(n), rest::binary>>, open, depth, terms, %{atom_keys: true} = p) do
    atom(name)
    value(rest, open, depth, terms + 1, p)
  end

  defp name(<<118, n::16, name::binary-size(n), rest::binary>>, open, depth, terms, %{atom_keys: true} = p) do
    atom(name)
    value(rest, open, depth, terms + 1, p)
  end

  defp name(_rest, _open, _depth, _terms, _p), do: refuse("a broken key")

  defp members(n, %{keys: keys}) when n > keys, do: refuse("too many keys")
  defp members(n, %{keys: keys} = p), do: %{p | keys: keys - n}

  defp atom(name),
    do: (String.valid?(name) and length(String.to_charlist(name)) <= 255) || refuse("a broken atom")

  # A value has ended.
  defp ended(<<>>, [], _depth, _terms, _p), do: :ok
  defp ended(_rest, [], _depth, _terms, _p), do: refuse("bytes behind the end")

  defp ended(rest, [%{start: start} = frame], _depth, _terms, _p) do
    if start - byte_size(rest) > frame.longest, do: refuse("too many bytes")
    next(rest, frame.lengths, frame.values)
  end

  defp ended(rest, [{:list, n} | open], depth, terms, p) when n > 1,
    do: value(rest, [{:list, n - 1} | open], depth, terms, p)

  defp ended(rest, [{kind, n} | open], depth, terms, p) when n > 1,
    do: key(rest, [{kind, n - 1} | open], depth, terms, p)

  defp ended(rest, [{:map, 1} | open], depth, terms, p), do: ended(rest, open, depth - 1, terms, p)
  defp ended(<<106, rest::binary>>, [_ | open], depth, terms, p), do: ended(rest, open, depth - 1, terms, p)
  defp ended(_rest, _open, _depth, _terms, _p), do: refuse("an improper list")

  defp deeper(depth, %{depth: most}), do: depth < most || refuse("nesting")

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
