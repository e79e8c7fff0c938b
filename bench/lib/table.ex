defmodule RustyJson.Bench.Table do
  @moduledoc "Tables as text, at most 100 columns wide, and the format of their numbers."

  @type t :: %{
          :id => String.t(),
          :title => String.t(),
          :head => [String.t()],
          :rows => [[String.t()]],
          optional(:notes) => [String.t()]
        }

  @doc "The table as lines; the first column is flush left, the others right."
  @spec text(t()) :: String.t()
  def text(table) do
    rows = [table.head | table.rows]

    widths =
      rows
      |> Enum.zip_with(& &1)
      |> Enum.map(&(Enum.map(&1, fn cell -> String.length(cell) end) |> Enum.max()))

    gap = if Enum.sum(widths) + 2 * (length(widths) - 1) <= 100, do: "  ", else: " "
    [head | body] = for row <- rows, do: line(row, widths, gap)
    rule = String.duplicate("─", String.length(head))
    notes = for note <- table[:notes] || [], do: wrap(note, 98)
    Enum.join([table.title, head, rule] ++ body ++ notes, "\n") <> "\n"
  end

  defp line([first | rest], [width | widths], gap) do
    cells = for {cell, width} <- Enum.zip(rest, widths), do: String.pad_leading(cell, width)
    Enum.join([String.pad_trailing(first, width) | cells], gap)
  end

  defp wrap(text, width) do
    text
    |> String.split(" ")
    |> Enum.reduce([""], fn word, [line | done] ->
      if String.length(line) + String.length(word) < width,
        do: [line <> if(line == "", do: "", else: " ") <> word | done],
        else: [word, line | done]
    end)
    |> Enum.reverse()
    |> Enum.map_join("\n", &("  " <> &1))
  end

  @doc "Nanoseconds, in the unit that fits."
  @spec time(number() | nil) :: String.t()
  def time(nil), do: "–"
  def time(ns) when ns < 1_000, do: "#{digits(ns)} ns"
  def time(ns) when ns < 1_000_000, do: "#{digits(ns / 1_000)} µs"
  def time(ns) when ns < 1_000_000_000, do: "#{digits(ns / 1_000_000)} ms"
  def time(ns), do: "#{digits(ns / 1_000_000_000)} s"

  @doc "Bytes, in the unit that fits."
  @spec bytes(number() | nil) :: String.t()
  def bytes(nil), do: "–"
  def bytes(n) when n < 0, do: "-" <> bytes(-n)
  def bytes(n) when n < 10_000, do: "#{round(n)} B"
  def bytes(n) when n < 1_000_000, do: "#{digits(n / 1_000)} KB"
  def bytes(n), do: "#{digits(n / 1_000_000)} MB"

  @doc "A ratio. Below 10, it has two decimal places."
  @spec ratio(number() | nil) :: String.t()
  def ratio(nil), do: "–"
  def ratio(x) when x < 9.995, do: :erlang.float_to_binary(x / 1, decimals: 2)
  def ratio(x) when x < 99.95, do: :erlang.float_to_binary(x / 1, decimals: 1)
  def ratio(x), do: count(x)

  @doc "The spread of the middle half of the runs around the median, in per cent."
  @spec spread(map() | nil) :: String.t()
  def spread(nil), do: "–"
  def spread(%{median: median, q1: q1, q3: q3}), do: "±#{round((q3 - q1) / 2 / median * 100)}%"

  @doc "A whole number, with its digits in groups of three."
  @spec count(number() | nil) :: String.t()
  def count(nil), do: "–"

  def count(n) do
    n |> round() |> Integer.to_string() |> String.replace(~r/(?<=\d)(?=(\d{3})+$)/, ",")
  end

  @doc "Three significant digits."
  @spec digits(number()) :: String.t()
  def digits(n) when n >= 99.95, do: Integer.to_string(round(n))
  def digits(n) when n >= 9.995, do: :erlang.float_to_binary(n / 1, decimals: 1)
  def digits(n), do: :erlang.float_to_binary(n / 1, decimals: 2)
end
