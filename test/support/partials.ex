defmodule RustyJson.Test.Partials do
  @moduledoc """
  Pushes a text in pieces into a partial document, in every engine that is there, and checks each step: what there is only grows,
  the changes lead to it, and the end is that of `decode/2`. An error is that of `decode/2` for the whole text or for the bytes so far.
  """

  import ExUnit.Assertions

  alias RustyJson.{DecodeError, OrderedObject, Partial}
  alias RustyJson.Test.{Judge, Streams}

  # These messages quote the text at the place, which may not be there yet, or no more.
  @quoting [:invalid_escape, :invalid_unicode_escape, :duplicate_key]

  @doc "Checks a text in every engine, in these lists of pieces."
  def check(text, options \\ [], lists \\ nil) do
    lists = lists || [[text], Streams.bytes(text)]
    options = Enum.to_list(options)
    for {_name, engine} <- Judge.engines(), do: check_engine(text, options ++ engine, lists)
  end

  @doc "The same in one engine; of long documents without the changes."
  def check_engine(text, options, lists, apply \\ true) do
    decode = &(&1 |> RustyJson.decode(Keyword.delete(options, :trailing)) |> plain())
    expected = decode.(text)

    for pieces <- lists do
      {result, so_far} = run(pieces, options, apply)
      expected = if expected == result, do: expected, else: failed(expected, so_far, decode)
      assert {text, result} == {text, expected}
    end
  end

  # What is wrong for the whole text is wrong for its start.
  defp failed({:error, _wrong}, so_far, decode), do: so_far |> IO.iodata_to_binary() |> decode.()
  defp failed(expected, _so_far, _decode), do: expected

  defp run(pieces, options, apply) do
    apply = apply and not is_function(options[:keys])

    {result, so_far} =
      Enum.reduce_while(pieces, {{Partial.new(options), :none}, []}, fn piece, {at, so_far} ->
        {command, at} = step(piece, at, apply && options)
        {command, {at, [so_far | piece]}}
      end)

    {ended(result), so_far}
  end

  defp step(piece, {partial, before}, false) do
    case Partial.push(partial, piece) do
      {:ok, next} -> {:cont, {next, grown(before, Partial.value(next))}}
      {:error, error} -> {:halt, {:error, error}}
    end
  end

  defp step(piece, {partial, before}, options) do
    with {:ok, next} <- Partial.push(partial, piece),
         {:ok, changes, ^next} <- Partial.push_changes(partial, piece) do
      now = grown(before, Partial.value(next))
      assert Enum.reduce(changes, before, &apply_change(&1, &2, options)) == now
      {:cont, {next, now}}
    else
      {:error, error} -> {:halt, {:error, error}}
    end
  end

  defp grown(before, now) do
    unless grows?(before, now), do: flunk("#{inspect(before)} became #{inspect(now)}")
    now
  end

  defp ended({:error, error}), do: plain({:error, error})

  defp ended({partial, before}) do
    finished = Partial.finish(partial)
    # Of a long number only the first digits are shown until it ends.
    with {:ok, term} <- finished,
         {:ok, shown} when shown != term <- before,
         do: assert(scalar?(shown), inspect({shown, term}))

    plain(finished)
  end

  defp scalar?(shown), do: is_number(shown) or match?(%{__struct__: Decimal}, shown)

  defp plain({:error, %DecodeError{} = error}) do
    assert error.position >= error.offset
    {:error, facts(error)}
  end

  defp plain(other), do: other

  @doc "The fields of an error that do not depend on the cuts."
  def facts(%{message: message, reason: reason} = error) do
    message = if reason in @quoting, do: "", else: message
    {reason, error.position, error.line, error.column, error.path, message}
  end

  ## What grows

  defp grows?(:none, _now), do: true
  defp grows?({:ok, _}, :none), do: false
  defp grows?({:ok, old}, {:ok, new}), do: more?(old, new)

  defp more?(old, old), do: true
  defp more?(old, new) when is_binary(old) and is_binary(new), do: String.starts_with?(new, old)
  defp more?(old, new) when is_number(old) and is_number(new), do: true
  defp more?(%{__struct__: Decimal}, new), do: decimal?(new)
  defp more?(old, %{__struct__: Decimal}), do: is_integer(old)
  defp more?(%OrderedObject{values: old}, %OrderedObject{values: new}), do: more?(old, new)
  defp more?({key, old}, {key, new}), do: more?(old, new)
  # Only the last one changes.
  defp more?([old], [new | _]), do: more?(old, new)
  defp more?([same | old], [same | new]), do: more?(old, new)
  defp more?([], new), do: is_list(new)
  # A key may be repeated: what stays of the value before is for ordered objects to show.
  defp more?(old, new) when is_map(old) and is_map(new),
    do: old |> Map.keys() |> Enum.all?(&is_map_key(new, &1))

  defp more?(_old, _new), do: false

  defp decimal?(%{__struct__: name}), do: name == Decimal
  defp decimal?(_other), do: false

  ## Changes

  @doc "Applies a change to what there was."
  def apply_change({pointer, change}, was, options) do
    [_ | steps] = String.split(pointer, "/")
    was = with {:ok, value} <- was, do: value
    {:ok, put(was, Enum.map(steps, &unescape/1), change, options[:keys] in [:atoms, :atoms!])}
  end

  defp unescape(step), do: step |> String.replace("~1", "/") |> String.replace("~0", "~")

  defp put(_old, [], {:set, value}, _atoms), do: value
  defp put(old, [], {:append, text}, _atoms) when is_binary(old), do: old <> text

  defp put(old, [step | steps], change, atoms) when is_list(old) do
    index = String.to_integer(step)
    assert index <= length(old)
    {front, back} = Enum.split(old, index)
    front ++ [put(List.first(back), steps, change, atoms) | Enum.drop(back, 1)]
  end

  defp put(%OrderedObject{values: values} = object, [step | steps], change, atoms) do
    key = key(step, atoms)
    # The first member with this key: where there are more, the object is set.
    put = fn {key, old} -> {key, put(old, steps, change, atoms)} end

    case Enum.find_index(values, &match?({^key, _}, &1)) do
      nil -> %{object | values: values ++ [put.({key, nil})]}
      index -> %{object | values: List.update_at(values, index, put)}
    end
  end

  defp put(old, [step | steps], change, atoms) when is_map(old) do
    key = key(step, atoms)
    Map.put(old, key, put(old[key], steps, change, atoms))
  end

  defp key(step, true), do: String.to_existing_atom(step)
  defp key(step, false), do: step
end
