defmodule RustyJson.Feed.Items do
  @moduledoc false
  # What a feed returns for the values that the engine found in a piece, and how many bytes that takes beyond the values.

  alias RustyJson.Feed.Plan
  alias RustyJson.Parts

  # Bytes of a list cell.
  @cell 16

  @doc "The items for these values: with their pointers, as rows, or tagged, as the plan says."
  @spec of([term()], Plan.t()) :: [term()]
  def of(values, %{pointers: pointers, tag: tag} = plan) do
    values = if pointers, do: pairs(values), else: values
    values = rows(values, plan)
    if tag, do: Enum.map(values, &{:ok, &1}), else: values
  end

  defp rows(values, %{select: nil}), do: values

  defp rows(values, %{select: %{paths: paths, columns: nil}, pointers: true}),
    do: for({pointer, answers} <- values, do: {pointer, Parts.of_item(answers, paths)})

  defp rows(values, %{select: %{paths: paths, columns: nil}}),
    do: for(answers <- values, do: Parts.of_item(answers, paths))

  defp rows(values, %{select: %{paths: paths}}), do: for(answers <- values, do: Parts.of_row(answers, paths))

  defp pairs([pointer, value | rest]), do: [{pointer, value} | pairs(rest)]
  defp pairs([]), do: []

  @doc "Bytes of their pointers, and of the cells of their rows."
  @spec bytes([term()], Plan.t()) :: non_neg_integer()
  def bytes(_values, %{pointers: false, select: nil}), do: 0

  def bytes(values, %{pointers: pointers, select: select}) do
    {bytes, items} = if pointers, do: pointers(values, 0, 0), else: {0, length(values)}
    if select, do: bytes + @cell * select.cells * items, else: bytes
  end

  defp pointers([pointer, _value | rest], bytes, items),
    do: pointers(rest, bytes + byte_size(pointer), items + 1)

  defp pointers([], bytes, items), do: {bytes, items}
end
