defmodule RustyJson.Encode.Excerpt do
  @moduledoc false
  # The part of a term that `inspect/2` is to see. Its option `limit` counts in each list anew, also in a list that stands in others many
  # times, so that it alone bounds neither time nor text.

  import Kernel, except: [inspect: 1, inspect: 2]

  alias RustyJson.Encode.Measure

  # Parts of a term that is seen as it is, and bytes of its strings.
  @parts 512
  @bytes 16_384
  # Elements at each depth, one more than are shown, so that a cut is marked.
  @elements {17, 6, 3, 2}
  @text {1_025, 256, 64, 64}
  @shown [safe: false, limit: 16, printable_limit: 1024]
  @less [safe: false, limit: 5, printable_limit: 64]
  # Stands for what is deeper.
  @more :...
  # Bytes of a text. An implementation of Inspect can write any number.
  @longest 8_192

  @doc "What `inspect/2` returns for the term, shortened. Raises what an implementation of Inspect raises."
  @spec inspect(term(), keyword()) :: String.t()
  def inspect(term, options \\ []) do
    term |> seen(options) |> cut()
  end

  @doc """
  The fields of a struct that its own implementation of Inspect may not take. Of a struct in it that has one, no field is shown: some may
  be hidden there.

      iex> RustyJson.Encode.Excerpt.fields(%{~D[2024-02-29] | year: ~D[2025-01-01]}, [])
      "%{__struct__: Date, calendar: Calendar.ISO, day: 29, month: 2, year: Date}"
  """
  @spec fields(struct(), keyword()) :: String.t()
  def fields(%module{} = struct, options) do
    struct
    |> shown_fields(elem(@elements, 0), 1)
    |> Map.put(:__struct__, module)
    |> Kernel.inspect([structs: false] ++ Keyword.merge(@shown, options))
    |> cut()
  end

  @doc "What an error says of a term that was given: one short line, whatever the term is."
  @spec brief(term()) :: String.t()
  def brief(term), do: inspect(term, safe: true, limit: 5, printable_limit: 200, width: :infinity)

  @doc "Raises the error of a term that was given where the text says what is taken."
  @spec refuse!(String.t(), term()) :: no_return()
  def refuse!(text, given), do: raise(ArgumentError, "#{text}, got: #{brief(given)}")

  defp seen(term, options) do
    cond do
      Measure.fits?(term, @parts, @bytes) -> Kernel.inspect(term, Keyword.merge(@shown, options))
      own?(term) and not Measure.short?(term) -> Kernel.inspect(term.__struct__)
      own?(term) -> Kernel.inspect(term, Keyword.merge(@less, options))
      true -> Kernel.inspect(part(term, 0), Keyword.merge(@shown, options))
    end
  end

  defp cut(text) when byte_size(text) <= @longest, do: text
  defp cut(text), do: Measure.whole(binary_part(text, 0, @longest)) <> "…"

  defp part(text, depth) when is_binary(text) do
    most = elem(@text, min(depth, 3))
    if byte_size(text) <= most, do: text, else: Measure.whole(binary_part(text, 0, most)) <> "…"
  end

  defp part(integer, _depth) when is_integer(integer) and abs(integer) > 0x1_0000_0000_0000_0000_0000,
    do: if(:erlang.external_size(integer) > 64, do: @more, else: integer)

  defp part(term, depth)
       when depth == tuple_size(@elements) and (is_list(term) or is_tuple(term) or is_map(term)),
       do: if(term in [[], {}, %{}], do: term, else: @more)

  defp part(list, depth) when is_list(list), do: elements(list, elem(@elements, depth), depth + 1)

  defp part(tuple, depth) when is_tuple(tuple) do
    shown = min(tuple_size(tuple), elem(@elements, depth))
    List.to_tuple(for number <- 1..shown//1, do: part(:erlang.element(number, tuple), depth + 1))
  end

  defp part(map, depth) when is_map(map) do
    cond do
      own?(map) ->
        module(map)

      is_struct(map) ->
        map |> shown_fields(elem(@elements, depth), depth + 1) |> Map.put(:__struct__, module(map))

      true ->
        for {key, value} <- Measure.members(map, elem(@elements, depth)),
            into: %{},
            do: {part(key, depth + 1), part(value, depth + 1)}
    end
  end

  defp part(other, _depth), do: other

  defp elements([item | rest], left, depth) when left > 0,
    do: [part(item, depth) | elements(rest, left - 1, depth)]

  defp elements([_ | _], 0, _depth), do: []
  defp elements([], _left, _depth), do: []
  defp elements(tail, _left, depth), do: part(tail, depth)

  # All fields stay: the struct's module names them.
  defp shown_fields(struct, left, depth) do
    for {{name, value}, number} <- struct |> Map.from_struct() |> Enum.with_index(), into: %{} do
      {name, if(number < left, do: part(value, depth), else: @more)}
    end
  end

  # Whether an implementation of Inspect of its own sees the fields, which it may expect to be whole.
  defp own?(%_{} = struct), do: Inspect.impl_for(struct) != Inspect.Any
  defp own?(_term), do: false

  defp module(%module{}), do: module
end
