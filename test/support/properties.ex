defmodule RustyJson.Test.Properties do
  @moduledoc "Properties of every term or text. The judge runs each in every engine."

  import ExUnit.Assertions

  alias RustyJson.Test.Judge

  @escapes [:json, :html_safe, :javascript_safe, :unicode_safe]

  @doc "Encoding and decoding returns the term itself."
  def survives(term) do
    assert {:ok, json} = Judge.encode(term)
    Judge.assert_decodes(json, term)
  end

  @doc "Encoding a decoded term and decoding it again changes nothing."
  def fixpoint(text) do
    with {:ok, term} <- Judge.decode(text) do
      assert {:ok, json} = Judge.encode(term)
      Judge.assert_decodes(json, term)
      Judge.assert_encodes(term, json)
    end
  end

  @doc "Every escape mode decodes to the same term."
  def escapes(term) do
    for escape <- @escapes do
      assert {:ok, json} = Judge.encode(term, escape: escape)
      Judge.assert_decodes(json, term)
      if escape == :unicode_safe, do: assert(json == for(<<c <- json>>, c < 0x80, into: "", do: <<c>>))
    end
  end

  @doc "Minifying the pretty form gives the plain form."
  def pretty(term) do
    assert {:ok, plain} = Judge.encode(term)
    assert {:ok, pretty} = Judge.encode(term, pretty: true)
    assert RustyJson.Formatter.minify(pretty) == plain
    assert RustyJson.Formatter.pretty_print(plain) == pretty
    Judge.assert_decodes(pretty, term)
  end

  @doc "Members are sorted by the bytes of their keys."
  def sorted(term) do
    assert {:ok, json} = Judge.encode(term, sort_keys: true)
    assert {:ok, ordered} = Judge.decode(json, objects: :ordered_objects)
    assert_sorted(ordered)
  end

  defp assert_sorted(%{values: values}) do
    keys = Enum.map(values, &elem(&1, 0))
    assert keys == Enum.sort(keys)
    Enum.each(values, &assert_sorted(elem(&1, 1)))
  end

  defp assert_sorted(list) when is_list(list), do: Enum.each(list, &assert_sorted/1)
  defp assert_sorted(_scalar), do: :ok

  @doc "Members are in the order of `Map.to_list/1`."
  def map_order(map) do
    assert {:ok, json} = Judge.encode(map)
    assert {:ok, %{values: values}} = Judge.decode(json, objects: :ordered_objects)
    assert Enum.map(values, &elem(&1, 0)) == Enum.map(Map.to_list(map), &to_string(elem(&1, 0)))
  end

  @doc "Every engine returns the same result. The judge checks the position of errors."
  def agrees(text, options \\ []), do: Judge.decode(text, options)
end
