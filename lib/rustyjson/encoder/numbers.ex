defmodule RustyJson.Encoder.Numbers do
  @moduledoc false
  # Numbers of a text that is decoded only to be written again: each with a fraction or an exponent keeps its digits. Integers do
  # anyway, and `integers: :js_safe` has to see them.

  alias RustyJson.{Fragment, OrderedObject}

  @doc "The texts of the numbers of a valid text that have a fraction or an exponent."
  @spec texts(binary()) :: [binary()]
  def texts(json), do: outside(json, [])

  defp outside(<<?", rest::binary>>, found), do: inside(rest, found)

  defp outside(<<byte, _rest::binary>> = text, found) when byte in ?0..?9 or byte == ?- do
    {length, whole?} = measure(text, 0, true)
    {number, rest} = :erlang.split_binary(text, length)
    outside(rest, if(whole?, do: found, else: [number | found]))
  end

  defp outside(<<_byte, rest::binary>>, found), do: outside(rest, found)
  defp outside("", found), do: Enum.reverse(found)

  defp inside(<<?\\, _escaped, rest::binary>>, found), do: inside(rest, found)
  defp inside(<<?", rest::binary>>, found), do: outside(rest, found)
  defp inside(<<_byte, rest::binary>>, found), do: inside(rest, found)

  defp measure(<<byte, rest::binary>>, length, whole?) when byte in ?0..?9 or byte in ~c"+-",
    do: measure(rest, length + 1, whole?)

  defp measure(<<byte, rest::binary>>, length, _whole?) when byte in ~c".eE",
    do: measure(rest, length + 1, false)

  defp measure(_rest, length, whole?), do: {length, whole?}

  @doc "The term that was decoded from the text, with ordered objects, and with these texts in place of its decimals."
  @spec kept(term(), [binary()]) :: term()
  def kept(term, []), do: term

  def kept(term, texts) do
    {term, []} = put(term, texts)
    term
  end

  defp put(%{__struct__: Decimal}, [text | texts]), do: {%Fragment{encode: text}, texts}
  defp put(list, texts) when is_list(list), do: Enum.map_reduce(list, texts, &put/2)

  defp put(%OrderedObject{values: members} = object, texts) do
    {members, texts} = Enum.map_reduce(members, texts, &member/2)
    {%{object | values: members}, texts}
  end

  defp put(value, texts), do: {value, texts}

  defp member({key, value}, texts) do
    {value, texts} = put(value, texts)
    {{key, value}, texts}
  end
end
