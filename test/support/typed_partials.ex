defmodule RustyJson.Test.TypedPartials do
  @moduledoc """
  Pushes a text in pieces into a typed partial document, in every engine that is there, and checks each step: what is shown only grows, the
  changes lead to it, the whole confirms it, and value and error are those of `decode(as:)`. Where `decode(as:)` checks the whole text before
  its types, an error of a type comes earlier here; it is then that of `decode(as:)` without this check, for the bytes so far.
  """

  import ExUnit.Assertions

  alias RustyJson.{DecodeError, Partial}
  alias RustyJson.Test.{Judge, Partials, Streams}

  @doc """
  Checks a text as a type, in these lists of pieces. With `repeats: true`, a repeated key replaces what was shown.
  """
  def check(text, type, options \\ [], lists \\ nil) do
    {repeats, options} = Keyword.pop(options, :repeats, false)
    lists = lists || [[text], Streams.bytes(text)]

    for {_name, engine} <- Judge.engines(), pieces <- lists do
      options = [as: type] ++ options ++ engine
      whole = RustyJson.decode(text, Keyword.delete(options, :trailing))
      {shown, result, so_far} = run(pieces, options)

      # Texts of failures are made only for failures: they would take most of the time.
      unless facts(result) == facts(whole) or
               (match?({:error, _}, whole) and facts(result) in earlier(so_far, pieces, options)),
             do: flunk("#{text} as #{inspect(type)}: #{inspect(result)}, not #{inspect(whole)}")

      with {:ok, value} <- whole, false <- repeats do
        for {:ok, part} <- shown,
            not confirms?(value, part),
            do: flunk("#{inspect(value)} does not confirm #{inspect(part)}")

        # A number ends with what follows it.
        if hd(shown) != {:ok, value},
          do: assert(is_number(value) or decimal?(value))
      end

      unless repeats, do: shown |> Enum.reverse() |> grows(text)
    end
  end

  # The errors that may come before that of the whole: of types, for the bytes so far, and of repeated keys, which an untyped document finds,
  # too, before their object ends.
  defp earlier(so_far, pieces, options) do
    plain = Keyword.drop(options, [:trailing, :max_nodes])
    first = Keyword.replace(plain, :duplicate_keys, :first)

    untyped =
      Enum.reduce_while(pieces, {:ok, Partial.new(Keyword.drop(options, [:as, :errors]))}, fn piece,
                                                                                              {:ok, partial} ->
        with {:error, error} <- Partial.push(partial, piece),
             do: {:halt, {:error, error}},
             else: (next -> {:cont, next})
      end)

    if options[:duplicate_keys] == :error or options[:max_nodes],
      do: [facts(RustyJson.decode(so_far, first)), facts(untyped)],
      else: []
  end

  defp decimal?(value), do: is_struct(value) and value.__struct__ == Decimal

  # What was shown after each piece, the last one first, what came of it, and the bytes that led there.
  defp run(pieces, options) do
    Enum.reduce_while(pieces, {Partial.new(options), [:none], ""}, fn piece,
                                                                      {partial, [before | _] = shown, so_far} ->
      so_far = so_far <> piece

      with {:ok, next} <- Partial.push(partial, piece),
           {:ok, changes, next} <- same!(Partial.push_changes(partial, piece), next) do
        now = Partial.value(next)

        if changes != [] or byte_size(piece) < 16_000,
          do: assert(Enum.reduce(changes, before, &apply_change/2) == now)

        {:cont, {next, [now | shown], so_far}}
      else
        {:error, error} -> {:halt, {shown, {:error, error}, so_far}}
      end
    end)
    |> case do
      {%Partial{} = partial, shown, so_far} -> {shown, Partial.finish(partial), so_far}
      failed -> failed
    end
  end

  defp same!({:ok, changes, again}, next) do
    assert Partial.value(again) == Partial.value(next)
    {:ok, changes, again}
  end

  defp grows([old, new | rest], text) do
    unless old == :none or (new != :none and confirms?(elem(new, 1), elem(old, 1))),
      do: flunk("#{text}: #{inspect(old)} became #{inspect(new)}")

    grows([new | rest], text)
  end

  defp grows(_last, _text), do: :ok

  @doc "Whether a value is the other one with more in it: fields that were not there, the rest of strings, lists and maps."
  def confirms?(value, value), do: true
  def confirms?(value, part) when is_binary(value) and is_binary(part), do: String.starts_with?(value, part)

  def confirms?(values, parts) when is_list(values) and is_list(parts) do
    {done, last} = Enum.split(parts, -1)
    {same, rest} = Enum.split(values, length(done))
    same === done and (last == [] or (rest != [] and confirms?(hd(rest), hd(last))))
  end

  def confirms?(%module{} = value, %module{} = part) do
    default = blank(module)

    Enum.all?(Map.keys(part), fn name ->
      [value, part, default] = for struct <- [value, part, default], do: Map.fetch!(struct, name)
      part === default or confirms?(value, part)
    end)
  end

  def confirms?(value, part)
      when is_map(value) and is_map(part) and not is_struct(value) and not is_struct(part),
      do: Enum.all?(part, fn {key, part} -> is_map_key(value, key) and confirms?(value[key], part) end)

  def confirms?(_value, _part), do: false

  defp blank(module),
    do:
      if(function_exported?(module, :__schema__, 1), do: module.__schema__(:loaded), else: module.__struct__())

  defp facts({:error, %DecodeError{} = error}), do: Partials.facts(error)
  defp facts(other), do: other

  ## Changes

  @doc "Applies a change, whose pointer has names of fields, to what there was."
  def apply_change({pointer, change}, was) do
    [_ | steps] = String.split(pointer, "/")
    steps = for step <- steps, do: step |> String.replace("~1", "/") |> String.replace("~0", "~")
    {:ok, put(with({:ok, value} <- was, do: value), steps, change)}
  end

  defp put(_old, [], {:set, value}), do: value
  defp put(old, [], {:append, text}) when is_binary(old), do: old <> text

  defp put(old, [step | steps], change) when is_list(old) do
    index = String.to_integer(step)
    assert index <= length(old)
    {front, back} = Enum.split(old, index)
    front ++ [put(List.first(back), steps, change) | Enum.drop(back, 1)]
  end

  defp put(%_{} = old, [step | steps], change) do
    name = String.to_existing_atom(step)
    %{old | name => put(Map.fetch!(old, name), steps, change)}
  end

  defp put(old, [step | steps], change) when is_map(old),
    do: Map.put(old, step, put(old[step], steps, change))
end
