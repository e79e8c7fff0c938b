defmodule RustyJson.Schema.Pattern do
  @moduledoc false
  # Reads the patterns of strings: the regular expressions of ECMA-262 in Unicode mode, as far as an automaton can run them. That leaves
  # out backreferences, lookaround and word boundaries. `RustyJson.Schema.Automaton` makes the table that the core reads.

  alias RustyJson.Schema.Automaton

  @type set :: [{char(), char()}]
  @type t ::
          {:set, set()}
          | {:all | :any, [t()]}
          | {:repeat, t(), non_neg_integer(), non_neg_integer() | :infinity}
          | :start
          | :end

  # The longest pattern in bytes. The size of the automaton is limited, too.
  @longest 10_000
  @last 0x10FFFF
  @syntax ~c"^$\\.*+?()[]{}|/"
  @digits [{?0, ?9}]
  @word [{?0, ?9}, {?A, ?Z}, {?_, ?_}, {?a, ?z}]
  # WhiteSpace and LineTerminator of ECMA-262.
  @space [{0x09, 0x0D}, {0x20, 0x20}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A}] ++
           [{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}]
  @line_ends [{?\n, ?\n}, {?\r, ?\r}, {0x2028, 0x2029}]

  @doc "The automaton of a pattern, or why there is none."
  @spec compile(String.t()) :: {:ok, binary()} | {:error, String.t()}
  def compile(source) when byte_size(source) > @longest, do: {:error, "it is longer than #{@longest} bytes"}

  def compile(source) do
    case alternatives(String.to_charlist(source)) do
      {pattern, []} -> {:ok, Automaton.build(pattern)}
      {_pattern, [?) | _]} -> {:error, "a closing parenthesis has no opening one"}
    end
  catch
    {:pattern, reason} -> {:error, reason}
  end

  @spec wrong(String.t()) :: no_return()
  defp wrong(reason), do: throw({:pattern, reason})

  ## Structure

  defp alternatives(chars) do
    case sequence(chars, []) do
      {first, [?| | rest]} ->
        {others, rest} = alternatives(rest)
        {{:any, [first, others]}, rest}

      ended ->
        ended
    end
  end

  defp sequence([char | _] = chars, done) when char in ~c"|)", do: {{:all, Enum.reverse(done)}, chars}
  defp sequence([], done), do: {{:all, Enum.reverse(done)}, []}

  defp sequence(chars, done) do
    {term, rest} = term(chars)
    {term, rest} = repeated(term, rest)
    sequence(rest, [term | done])
  end

  defp term([?^ | rest]), do: {:start, rest}
  defp term([?$ | rest]), do: {:end, rest}
  defp term([?. | rest]), do: {{:set, complement(@line_ends)}, rest}
  defp term([?[, ?^ | rest]), do: class(rest, [], &complement/1)
  defp term([?[ | rest]), do: class(rest, [], & &1)
  defp term([?(, ??, ?: | rest]), do: group(rest)
  defp term([?(, ?? | _]), do: wrong("only groups (...) and (?:...) are supported")
  defp term([?( | rest]), do: group(rest)

  defp term([?\\ | rest]) do
    {set, rest} = escape(rest)
    {{:set, set}, rest}
  end

  defp term([char | _]) when char in ~c"*+?{", do: wrong("#{<<char>>} has nothing to repeat")
  defp term([char | _]) when char in ~c"]}", do: wrong("#{<<char>>} needs a backslash before it")
  defp term([char | rest]), do: {{:set, [{char, char}]}, rest}

  defp group(chars) do
    case alternatives(chars) do
      {pattern, [?) | rest]} -> {pattern, rest}
      _ended -> wrong("a group is not closed")
    end
  end

  ## Repetition

  defp repeated(term, [?* | rest]), do: repeat(term, 0, :infinity, rest)
  defp repeated(term, [?+ | rest]), do: repeat(term, 1, :infinity, rest)
  defp repeated(term, [?? | rest]), do: repeat(term, 0, 1, rest)

  defp repeated(term, [?{ | rest]) do
    case number(rest) do
      {least, [?} | rest]} ->
        repeat(term, least, least, rest)

      {least, [?,, ?} | rest]} ->
        repeat(term, least, :infinity, rest)

      {least, [?, | rest]} ->
        case number(rest) do
          {most, [?} | rest]} when most >= least -> repeat(term, least, most, rest)
          _wrong -> wrong("{ needs a backslash before it, or numbers in order behind it")
        end

      _wrong ->
        wrong("{ needs a backslash before it, or numbers in order behind it")
    end
  end

  defp repeated(term, rest), do: {term, rest}

  defp repeat(term, _least, _most, _rest) when term in [:start, :end], do: wrong("^ and $ cannot be repeated")

  defp repeat(term, least, most, rest) do
    # How much a repetition takes does not matter to whether a string matches.
    rest = if match?([?? | _], rest), do: tl(rest), else: rest
    if match?([char | _] when char in ~c"*+?{", rest), do: wrong("a repetition cannot be repeated")
    {{:repeat, term, least, most}, rest}
  end

  defp number(chars) do
    case Enum.split_while(chars, &(&1 in ?0..?9)) do
      {digits, rest} when length(digits) in 1..6 -> {List.to_integer(digits), rest}
      _none -> :error
    end
  end

  ## Characters

  defp class([?] | rest], sets, finish), do: {{:set, sets |> union() |> finish.()}, rest}
  defp class([], _sets, _finish), do: wrong("a class is not closed")

  defp class(chars, sets, finish) do
    case member(chars) do
      {first, [?-, next | _] = rest} when next != ?] ->
        {last, rest} = member(tl(rest))
        class(rest, [range(first, last) | sets], finish)

      {set, rest} ->
        class(rest, [set | sets], finish)
    end
  end

  defp member([?\\, ?- | rest]), do: {[{?-, ?-}], rest}
  # A backspace, and not a word boundary.
  defp member([?\\, ?b | rest]), do: {[{?\b, ?\b}], rest}
  defp member([?\\ | rest]), do: escape(rest)
  defp member([char | rest]), do: {[{char, char}], rest}

  defp range([{first, first}], [{last, last}]) when first <= last, do: [{first, last}]
  defp range([{first, first}], [{last, last}]), do: wrong("a range in a class is not in order")
  defp range(_first, _last), do: wrong("a - in a class stands between a set and another member")

  defp escape([?d | rest]), do: {@digits, rest}
  defp escape([?D | rest]), do: {complement(@digits), rest}
  defp escape([?w | rest]), do: {@word, rest}
  defp escape([?W | rest]), do: {complement(@word), rest}
  defp escape([?s | rest]), do: {@space, rest}
  defp escape([?S | rest]), do: {complement(@space), rest}
  defp escape([?t | rest]), do: {[{?\t, ?\t}], rest}
  defp escape([?n | rest]), do: {[{?\n, ?\n}], rest}
  defp escape([?r | rest]), do: {[{?\r, ?\r}], rest}
  defp escape([?f | rest]), do: {[{?\f, ?\f}], rest}
  defp escape([?v | rest]), do: {[{?\v, ?\v}], rest}
  defp escape([?x, a, b | rest]), do: code([a, b], rest)

  defp escape([?u, ?{ | rest]) do
    case Enum.split_while(rest, &(&1 != ?})) do
      {digits, [?} | rest]} when length(digits) in 1..6 -> code(digits, rest)
      _wrong -> wrong("\\u{ has no code point behind it")
    end
  end

  # Two halves of a surrogate pair are one character.
  defp escape([?u, d, a, b, c, ?\\, ?u, e, f, g, h | rest])
       when d in ~c"dD" and a in ~c"89abAB" and e in ~c"dD" and f in ~c"cdefCDEF" do
    {high, low} = {hexadecimal([d, a, b, c]), hexadecimal([e, f, g, h])}
    code = 0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00
    {[{code, code}], rest}
  end

  defp escape([?u, a, b, c, d | rest]), do: code([a, b, c, d], rest)
  defp escape([char | rest]) when char in @syntax, do: {[{char, char}], rest}
  defp escape([char | _]), do: wrong("\\#{<<char::utf8>>} is not supported")
  defp escape([]), do: wrong("a backslash has nothing behind it")

  defp code(digits, rest) do
    case hexadecimal(digits) do
      code when code in 0..0xD7FF or code in 0xE000..@last -> {[{code, code}], rest}
      _surrogate -> wrong("an escape names no character")
    end
  end

  defp hexadecimal(digits) do
    if Enum.all?(digits, &(&1 in ?0..?9 or &1 in ?a..?f or &1 in ?A..?F)),
      do: List.to_integer(digits, 16),
      else: wrong("an escape names no character")
  end

  defp union(sets), do: sets |> Enum.concat() |> Enum.sort() |> merged()

  defp merged([{a, b}, {c, d} | rest]) when c <= b + 1, do: merged([{a, max(b, d)} | rest])
  defp merged([range | rest]), do: [range | merged(rest)]
  defp merged([]), do: []

  defp complement(set), do: complement(set, 0)

  defp complement([{first, last} | rest], from) when first > from,
    do: [{from, first - 1} | complement(rest, last + 1)]

  defp complement([{_first, last} | rest], _from), do: complement(rest, last + 1)
  defp complement([], from) when from <= @last, do: [{from, @last}]
  defp complement([], _from), do: []
end
