defmodule RustyJson.Partial.Values do
  @moduledoc false
  # Values of a typed document that are whole: where they stand, and what they are as their type. One that its type does not take as it
  # is, is decoded from its text, by the code of `decode(as:)`. The places come from the core, and the sandbox is not trusted with them.

  alias RustyJson.Decode.Input
  alias RustyJson.DecodeError
  alias RustyJson.Partial.{Fields, Text}
  alias RustyJson.Schema.{Decode, Reflected}

  use RustyJson.Partial.Events, ~w(value part beyond)a

  @doc "Where a value of this piece stands in all bytes."
  @spec place(term(), term(), map()) :: {non_neg_integer(), non_neg_integer()}
  def place(start, length, %{piece: {bytes, base}})
      when is_integer(start) and start >= 0 and is_integer(length) and length > 0 and
             start + length <= byte_size(bytes),
      do: {base + start, base + start + length}

  def place(_start, _length, _rules), do: throw(:malformed)

  @doc "An offset in the piece as a position."
  @spec from(integer(), map()) :: integer()
  def from(offset, %{piece: {_bytes, base}}), do: base + offset

  @doc "A value as its type: `given` is what the core says of it, or :decode."
  @spec typed({:ok, term()} | :decode, {non_neg_integer(), non_neg_integer()}, term(), map()) ::
          {:ok, term()} | :wrong
  def typed({:ok, value}, {start, stop}, type, rules),
    do: Fields.direct(type, value, rules.null) || decode(start, stop, type, rules)

  def typed(:decode, {start, stop}, type, rules), do: decode(start, stop, type, rules)

  @doc "The text between two positions as a value of the type."
  @spec decode(integer(), integer(), term(), map()) :: {:ok, term()} | :wrong
  def decode(start, stop, type, rules), do: start |> slice(stop, rules) |> decode(type, rules)

  @doc """
  The elements of a list that come one after the other, which are decoded at once, and the events behind them; if one is wrong, those
  before it.
  """
  @spec several([term()], term(), map()) :: {{:ok | :wrong, [term()]}, [term()]}
  def several(events, type, rules) do
    {start, stop, rest} = next_place(events, rules)

    {stop, count, rest} = if Fields.listed?(type), do: run_of(rest, stop, 1, rules), else: {stop, 1, rest}

    case start |> slice(stop, rules) |> decode_many(count, type, rules) do
      {:ok, values} -> {{:ok, values}, rest}
      :wrong -> {{:wrong, before_wrong(events, count, type, rules, [])}, rest}
    end
  end

  # One by one. It is the last one, or one before it.
  defp before_wrong(events, left, type, rules, values) when left > 1 do
    {start, stop, rest} = next_place(events, rules)

    case decode(start, stop, type, rules) do
      {:ok, value} -> before_wrong(rest, left - 1, type, rules, [value | values])
      :wrong -> Enum.reverse(values)
    end
  end

  defp before_wrong(_events, 1, _type, _rules, values), do: Enum.reverse(values)

  defp run_of([event | _] = events, stop, count, rules) when event in [@value, @part, @beyond] do
    {from, to, rest} = next_place(events, rules)
    if from > stop, do: run_of(rest, to, count + 1, rules), else: throw(:malformed)
  end

  defp run_of(rest, stop, count, _rules), do: {stop, count, rest}

  defp next_place([@value, _value, start, length | rest], rules),
    do: placed(place(start, length, rules), rest)

  defp next_place([event, start, length | rest], rules) when event in [@part, @beyond],
    do: placed(place(start, length, rules), rest)

  defp next_place(_events, _rules), do: throw(:malformed)
  defp placed({start, stop}, rest), do: {start, stop, rest}

  defp decode_many(text, 1, type, rules),
    do: with({:ok, value} <- decode(text, type, rules), do: {:ok, [value]})

  defp decode_many(text, count, type, rules) do
    with {:ok, values} when length(values) != count <- decode("[" <> text <> "]", {:list, type}, rules),
         do: throw(:malformed)
  end

  defp slice(start, stop, %{piece: {bytes, base}})
       when start >= base and start <= stop and stop - base <= byte_size(bytes),
       do: binary_part(bytes, start - base, stop - start)

  defp slice(start, stop, %{text: text}), do: Text.slice(text, start, stop) || throw(:malformed)

  defp decode("null", {:embeds_many, _module}, _rules), do: {:ok, []}
  defp decode(text, {:embeds_many, module}, rules), do: decode(text, {:list, module}, rules)

  defp decode(text, {:loaded, type}, %{parts: parts, null: null}) do
    case Input.decode(text, %{parts | as: nil}) do
      {:ok, value} -> {:ok, Reflected.load(type, if(value === null, do: nil, else: value))}
      {:error, %DecodeError{}} -> :wrong
      {:error, error} -> throw({:failed, error})
    end
  catch
    {:rustyjson, :date} -> :wrong
  end

  defp decode(text, type, %{parts: parts}) do
    case Decode.decode(text, %{parts | as: type}) do
      {:ok, value} -> {:ok, value}
      {:error, %DecodeError{}} -> :wrong
      {:error, error} -> throw({:failed, error})
    end
  end
end
