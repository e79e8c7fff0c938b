defmodule VegaLite do
  @moduledoc "Stand-in for charts: fails on a chart that could not be drawn."

  defstruct [:mark, opts: [], data: [], fields: []]

  @marks [:bar, :line, :point, :area, :rect, :rule]
  @channels [:x, :y, :color, :column, :row, :tooltip]
  @types [:quantitative, :nominal, :ordinal, :temporal]

  def new(opts) do
    [] = Keyword.keys(opts) -- [:title, :width, :height]
    %__MODULE__{opts: opts}
  end

  def data_from_values(chart, [_ | _] = rows), do: %{chart | data: rows}
  def mark(chart, mark, _opts \\ []) when mark in @marks, do: %{chart | mark: mark}

  def encode_field(chart, channel, field, opts) when channel in @channels and is_binary(field) do
    true = opts[:type] in @types
    %{chart | fields: [{field, opts} | chart.fields]}
  end

  @doc "Raises unless it has a mark, data, and in every row a value of the right kind for every field."
  def check!(%__MODULE__{mark: mark, data: [_ | _] = rows, fields: [_ | _] = fields} = chart)
      when mark != nil do
    for row <- rows,
        {field, opts} <- fields,
        do: check_value!(Map.fetch!(row, String.to_existing_atom(field)), opts)

    chart
  end

  defp check_value!(value, opts) do
    if opts[:type] == :quantitative,
      do: true = is_number(value),
      else: true = is_binary(value) or is_atom(value)

    if get_in(opts, [:scale, :type]) == :log, do: true = value > 0
  end
end
