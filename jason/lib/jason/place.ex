defmodule Jason.Place do
  @moduledoc false
  # Where Jason reports an error. RustyJson names other places: the start of a number where Jason has the digit that is wrong. So a text
  # that failed is read once more, without making terms, to find the byte or the sequence that Jason stops at. The time is linear in
  # the length, and the memory in the depth. A byte is a reduction, so no scheduler is held. The core cannot name the
  # place: its error does not say whether a text that ends too early ends inside a string.

  alias Jason.DecodeError

  @digits ?0..?9
  @spaces ~c" \t\n\r"
  # Errors about the value of a number, whose start is the position.
  @numbers [:integer_digits, :decimal_digits, :decimal_exponent, :number_out_of_range]
  # Errors that Jason does not have.
  @limits [:max_bytes, :max_depth, :max_nodes, :out_of_memory]

  @doc "Jason's error for an error of RustyJson. Raises where Jason raises."
  @spec error(Exception.t(), binary(), %{keys: term(), floats: atom()}) :: DecodeError.t()
  def error(%RustyJson.DecodeError{reason: :unknown_atom}, _data, _given) do
    raise ArgumentError,
          "errors were found at the given arguments:\n\n  * 1st argument: not an already existing atom\n"
  end

  def error(%RustyJson.DecodeError{reason: reason}, _data, _given)
      when reason in [:atom_too_long, :atom_limit],
      do: :erlang.error(:system_limit)

  def error(%RustyJson.DecodeError{reason: reason} = error, data, _given) when reason in @limits,
    do: %DecodeError{position: error.position, data: data, message: Exception.message(error)}

  def error(%RustyJson.DecodeError{reason: reason, position: at}, data, _given) when reason in @numbers,
    do: %DecodeError{position: at, token: number_at(data, at), data: data}

  def error(%RustyJson.DecodeError{} = error, data, _given) do
    case find(data) do
      {token, at} -> %DecodeError{position: at, token: token, data: data}
      :valid -> %DecodeError{position: error.position, data: data, message: Exception.message(error)}
    end
  end

  # The sandbox ended the call.
  def error(error, data, _given), do: %DecodeError{position: 0, data: data, message: Exception.message(error)}

  # nil if the sandbox named a place without one, which it does only when a document took its module over.
  defp number_at(data, at) do
    rest = binary_part(data, at, byte_size(data) - at)
    with [number] <- Regex.run(~r/\A-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/, rest), do: number
  end

  @doc """
  The first error of a text as Jason sees it: a sequence, or nil, and its position.

      iex> Jason.Place.find("[1,]")
      {nil, 3}
      iex> Jason.Place.find(~S("\\uD800\\u0041"))
      {~S(\\uD800\\u0041), 1}
      iex> Jason.Place.find("[1]")
      :valid
  """
  @spec find(binary()) :: {nil | binary(), non_neg_integer()} | :valid
  def find(data) do
    value(data, 0, [], data)
  catch
    {:wrong, token, at} -> {token, at}
  end

  # The stack has the containers around the place. `:empty` is an array in which nothing stands yet.
  defp value(<<space, rest::binary>>, at, stack, data) when space in @spaces,
    do: value(rest, at + 1, stack, data)

  defp value(<<?", rest::binary>>, at, stack, data), do: string(rest, at + 1, [:value | stack], data)
  defp value(<<?[, rest::binary>>, at, stack, data), do: value(rest, at + 1, [:empty | stack], data)
  defp value(<<?{, rest::binary>>, at, stack, data), do: first_key(rest, at + 1, stack, data)
  defp value(<<?], rest::binary>>, at, [:empty | stack], data), do: ended(rest, at + 1, stack, data)
  defp value(<<"true", rest::binary>>, at, stack, data), do: ended(rest, at + 4, stack, data)
  defp value(<<"false", rest::binary>>, at, stack, data), do: ended(rest, at + 5, stack, data)
  defp value(<<"null", rest::binary>>, at, stack, data), do: ended(rest, at + 4, stack, data)

  defp value(<<?-, digit, rest::binary>>, at, stack, data) when digit in @digits,
    do: integer(digit, rest, at + 2, stack, data)

  defp value(<<?-, _rest::binary>>, at, _stack, _data), do: wrong(at + 1)

  defp value(<<digit, rest::binary>>, at, stack, data) when digit in @digits,
    do: integer(digit, rest, at + 1, stack, data)

  defp value(_other, at, _stack, _data), do: wrong(at)

  defp ended(<<space, rest::binary>>, at, stack, data) when space in @spaces,
    do: ended(rest, at + 1, stack, data)

  defp ended(<<?,, rest::binary>>, at, [:array | _] = stack, data), do: value(rest, at + 1, stack, data)
  defp ended(<<?,, rest::binary>>, at, [:object | stack], data), do: key(rest, at + 1, stack, data)
  defp ended(<<?], rest::binary>>, at, [:array | stack], data), do: ended(rest, at + 1, stack, data)
  defp ended(<<?}, rest::binary>>, at, [:object | stack], data), do: ended(rest, at + 1, stack, data)
  # The value that ended was the first one of this array.
  defp ended(rest, at, [:empty | stack], data), do: ended(rest, at, [:array | stack], data)
  defp ended(<<>>, _at, [], _data), do: :valid
  defp ended(_other, at, _stack, _data), do: wrong(at)

  defp first_key(<<space, rest::binary>>, at, stack, data) when space in @spaces,
    do: first_key(rest, at + 1, stack, data)

  defp first_key(<<?}, rest::binary>>, at, stack, data), do: ended(rest, at + 1, stack, data)
  defp first_key(rest, at, stack, data), do: key(rest, at, stack, data)

  defp key(<<space, rest::binary>>, at, stack, data) when space in @spaces, do: key(rest, at + 1, stack, data)
  defp key(<<?", rest::binary>>, at, stack, data), do: string(rest, at + 1, [:key | stack], data)
  defp key(_other, at, _stack, _data), do: wrong(at)

  defp colon(<<space, rest::binary>>, at, stack, data) when space in @spaces,
    do: colon(rest, at + 1, stack, data)

  defp colon(<<?:, rest::binary>>, at, stack, data), do: value(rest, at + 1, [:object | stack], data)
  defp colon(_other, at, _stack, _data), do: wrong(at)

  ## Numbers

  defp integer(?0, rest, at, stack, data), do: after_integer(rest, at, stack, data)

  defp integer(_digit, rest, at, stack, data) do
    {rest, at} = digits(rest, at)
    after_integer(rest, at, stack, data)
  end

  defp after_integer(<<?., digit, rest::binary>>, at, stack, data) when digit in @digits do
    {rest, at} = digits(rest, at + 2)
    exponent(rest, at, stack, data)
  end

  defp after_integer(<<?., _rest::binary>>, at, _stack, _data), do: wrong(at + 1)
  defp after_integer(rest, at, stack, data), do: exponent(rest, at, stack, data)

  defp exponent(<<e, sign, digit, rest::binary>>, at, stack, data)
       when e in ~c"eE" and sign in ~c"+-" and digit in @digits,
       do: number_end(rest, at + 3, stack, data)

  defp exponent(<<e, digit, rest::binary>>, at, stack, data) when e in ~c"eE" and digit in @digits,
    do: number_end(rest, at + 2, stack, data)

  defp exponent(<<e, sign, _rest::binary>>, at, _stack, _data) when e in ~c"eE" and sign in ~c"+-",
    do: wrong(at + 2)

  defp exponent(<<e, _rest::binary>>, at, _stack, _data) when e in ~c"eE", do: wrong(at + 1)
  defp exponent(rest, at, stack, data), do: ended(rest, at, stack, data)

  defp number_end(rest, at, stack, data) do
    {rest, at} = digits(rest, at)
    ended(rest, at, stack, data)
  end

  defp digits(<<digit, rest::binary>>, at) when digit in @digits, do: digits(rest, at + 1)
  defp digits(rest, at), do: {rest, at}

  ## Strings

  defp string(<<?", rest::binary>>, at, [:key | stack], data), do: colon(rest, at + 1, stack, data)
  defp string(<<?", rest::binary>>, at, [:value | stack], data), do: ended(rest, at + 1, stack, data)
  defp string(<<?\\, rest::binary>>, at, stack, data), do: escape(rest, at, stack, data)
  defp string(<<byte, _rest::binary>>, at, _stack, _data) when byte < 0x20, do: wrong(at)
  defp string(<<byte, rest::binary>>, at, stack, data) when byte < 0x80, do: string(rest, at + 1, stack, data)

  defp string(<<char::utf8, rest::binary>>, at, stack, data) do
    size = if char < 0x800, do: 2, else: if(char < 0x10000, do: 3, else: 4)
    string(rest, at + size, stack, data)
  end

  defp string(_end_or_invalid, at, _stack, _data), do: wrong(at)

  # `at` is the backslash.
  defp escape(<<byte, rest::binary>>, at, stack, data) when byte in ~c(bfnrt"\\/),
    do: string(rest, at + 2, stack, data)

  defp escape(<<?u, unit::binary-size(4), rest::binary>>, at, stack, data) do
    case code(unit) do
      high when high in 0xD800..0xDBFF -> low_half(rest, at, stack, data)
      unit when unit == nil or unit in 0xDC00..0xDFFF -> wrong(data, at, 6)
      _unit -> string(rest, at + 6, stack, data)
    end
  end

  # Jason stops at the byte up to `u`, and at the backslash before any other.
  defp escape(<<byte, _rest::binary>>, at, _stack, _data) when byte < ?u, do: wrong(at + 1)
  defp escape(_cut, at, _stack, _data), do: wrong(at)

  # The second half of a pair must be well formed in its last two digits before its first two count.
  defp low_half(<<?\\, ?u, first::binary-size(2), last::binary-size(2), rest::binary>>, at, stack, data) do
    cond do
      code("00" <> last) == nil -> wrong(data, at + 6, 6)
      code(first <> last) in 0xDC00..0xDFFF -> string(rest, at + 12, stack, data)
      true -> wrong(data, at, 12)
    end
  end

  defp low_half(_rest, at, _stack, _data), do: wrong(at + 6)

  defp code(unit) do
    case Base.decode16(unit, case: :mixed) do
      {:ok, <<code::16>>} -> code
      :error -> nil
    end
  end

  @spec wrong(non_neg_integer()) :: no_return()
  defp wrong(at), do: throw({:wrong, nil, at})

  @spec wrong(binary(), non_neg_integer(), pos_integer()) :: no_return()
  defp wrong(data, at, length), do: throw({:wrong, binary_part(data, at, length), at})
end
