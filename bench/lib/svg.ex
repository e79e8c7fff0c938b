defmodule RustyJson.Bench.Svg do
  @moduledoc """
  A picture of a table: a row for each document, a mark for each contender, on a logarithmic scale. Readable on light and
  dark pages; shapes differ as colours do.
  """

  @width 820
  # Left end of the scale, unless a label needs more space.
  @left 150
  @letter 6.8
  @right 24
  @top 78
  @row 26

  @colours ~w(#e8590c #1c7ed6 #ae3ec9 #2f9e44 #868e96 #0c8599 #e03131 #f08c00 #74b816 #9775fa)
  @shapes [:circle, :diamond, :square, :triangle, :cross]

  # These contenders have the same mark in every picture.
  @marks %{
    "RustyJson native" => 0,
    "native" => 0,
    "core" => 0,
    "default" => 0,
    "RustyJson wasm, built-in host" => 1,
    "wasm" => 1,
    "built-in" => 1,
    "guest in wasmtime" => 1,
    "RustyJson wasm, wasmex" => 2,
    "wasmex" => 2,
    "OTP json" => 3,
    "Elixir JSON" => 4,
    "JSON" => 4,
    "jiffy" => 5,
    "Jason" => 6,
    "torque" => 7,
    "glazer" => 8,
    "RustyJson 0.3.10" => 9,
    "0.3.10" => 9
  }

  @doc """
  `chart` has `unit`, `rows` as `{label, %{series => number}}`, `series` in the order of the legend, and maybe `line`, a
  value that is marked.
  """
  @spec draw(String.t(), map()) :: String.t()
  def draw(title, chart) do
    values = for {_, points} <- chart.rows, {_, value} <- points, is_number(value) and value > 0, do: value
    {low, high} = scale(values ++ List.wrap(chart[:line]))
    scale = {low, high, left(chart.rows)}
    height = @top + @row * length(chart.rows) + 34

    IO.iodata_to_binary([
      ~s(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{@width} #{height}" width="#{@width}" height="#{height}" role="img">\n),
      style(),
      ~s(<title>#{escape(title)}</title>\n),
      ~s(<text class="title" x="12" y="22">#{escape(title)}</text>\n),
      legend(chart.series),
      grid(scale, chart, height),
      chart.rows |> Enum.with_index() |> Enum.map(&row(&1, chart.series, scale)),
      "</svg>\n"
    ])
  end

  defp style do
    """
    <style>
    text { font: 12px system-ui, sans-serif; fill: #495057 }
    .title { font-size: 15px; font-weight: 600; fill: #212529 }
    .grid { stroke: #adb5bd; stroke-width: 1; opacity: .45 }
    .line { stroke: #495057; stroke-width: 1.5; stroke-dasharray: 4 3 }
    .mark { stroke-width: 1 }
    @media (prefers-color-scheme: dark) {
      text { fill: #ced4da } .title { fill: #f1f3f5 }
      .grid { stroke: #868e96 } .line { stroke: #dee2e6 }
    }
    </style>
    """
  end

  ## Scale

  defp left(rows) do
    longest = Enum.max([0 | for({label, _} <- rows, do: String.length(label))])
    max(@left, round(20 + longest * @letter))
  end

  defp scale([]), do: {0.0, 1.0}

  defp scale(values) do
    {low, high} = {:math.log10(Enum.min(values)), :math.log10(Enum.max(values))}
    margin = max((high - low) * 0.04, 0.02)
    {low - margin, high + margin}
  end

  defp x(value, {low, high, left}) do
    share = (:math.log10(value) - low) / (high - low)
    Float.round(left + share * (@width - left - @right), 1)
  end

  # As many steps per power of ten as fit without overlapping.
  defp steps(range) when range < 0.7, do: [1, 1.2, 1.5, 2, 3, 4, 5, 7]
  defp steps(range) when range < 3, do: [1, 2, 5]
  defp steps(range) when range < 4, do: [1, 3]
  defp steps(_range), do: [1]

  defp ticks({low, high, _left}) do
    steps = steps(high - low)

    for power <- floor(low)..ceil(high),
        step <- steps,
        value = step * :math.pow(10, power),
        log = :math.log10(value),
        log >= low and log <= high,
        do: value
  end

  ## Parts

  defp grid(scale, chart, height) do
    bottom = height - 30

    lines =
      for value <- ticks(scale) do
        x = x(value, scale)

        [
          ~s(<line class="grid" x1="#{x}" y1="#{@top - 10}" x2="#{x}" y2="#{bottom}"/>\n),
          ~s(<text x="#{x}" y="#{bottom + 15}" text-anchor="middle">#{number(value)}</text>\n)
        ]
      end

    mark =
      if line = chart[:line] do
        x = x(line, scale)
        ~s(<line class="line" x1="#{x}" y1="#{@top - 10}" x2="#{x}" y2="#{bottom}"/>\n)
      end

    unit = ~s(<text x="12" y="#{bottom + 15}">#{escape(chart.unit)}</text>\n)
    [lines, mark || "", unit]
  end

  defp number(value) when value >= 10, do: Integer.to_string(round(value))

  defp number(value),
    do: :erlang.float_to_binary(value / 1, [:compact, decimals: 4]) |> String.replace(~r/\.0$/, "")

  defp legend(series) do
    {parts, _} =
      Enum.map_reduce(numbered(series), {12, 44}, fn {name, index}, {x, y} ->
        width = 30 + round(String.length(name) * @letter)
        {x, y} = if x + width > @width, do: {12, y + 18}, else: {x, y}
        part = [mark(index, x + 6, y - 4), ~s(<text x="#{x + 16}" y="#{y}">#{escape(name)}</text>\n)]
        {part, {x + width, y}}
      end)

    parts
  end

  defp row({{label, points}, index}, series, {_, _, left} = scale) do
    y = @top + index * @row + div(@row, 2)

    # Draws the first entry of the legend last, on top.
    marks =
      for {name, number} <- Enum.reverse(numbered(series)),
          value = points[name],
          is_number(value) and value > 0,
          do: mark(number, x(value, scale), y)

    [
      ~s(<line class="grid" x1="#{left}" y1="#{y}" x2="#{@width - @right}" y2="#{y}"/>\n),
      ~s(<text x="#{left - 10}" y="#{y + 4}" text-anchor="end">#{escape(label)}</text>\n),
      marks
    ]
  end

  # Other contenders use the remaining marks.
  defp numbered(series) do
    free = Enum.to_list(0..(length(@colours) - 1)) -- for(name <- series, do: @marks[name])

    {numbered, _} =
      Enum.map_reduce(series, free, fn name, free ->
        case {@marks[name], free} do
          {nil, [number | free]} -> {{name, number}, free}
          {nil, []} -> {{name, 0}, []}
          {number, free} -> {{name, number}, free}
        end
      end)

    numbered
  end

  defp mark(index, x, y) do
    colour = Enum.at(@colours, rem(index, length(@colours)))
    shape(Enum.at(@shapes, rem(index, length(@shapes))), x, y, colour, if(index < 2, do: 6, else: 4.5))
  end

  defp shape(:circle, x, y, colour, r),
    do: ~s(<circle class="mark" cx="#{x}" cy="#{y}" r="#{r}" fill="#{colour}"/>\n)

  defp shape(:square, x, y, colour, r),
    do:
      ~s(<rect class="mark" x="#{x - r}" y="#{y - r}" width="#{2 * r}" height="#{2 * r}" fill="#{colour}"/>\n)

  defp shape(:diamond, x, y, colour, r),
    do: polygon([{x, y - r - 1}, {x + r + 1, y}, {x, y + r + 1}, {x - r - 1, y}], colour)

  defp shape(:triangle, x, y, colour, r),
    do: polygon([{x, y - r - 1}, {x + r, y + r}, {x - r, y + r}], colour)

  defp shape(:cross, x, y, colour, r) do
    path = "M#{x - r} #{y - r}L#{x + r} #{y + r}M#{x - r} #{y + r}L#{x + r} #{y - r}"
    ~s(<path d="#{path}" stroke="#{colour}" stroke-width="2.5" fill="none"/>\n)
  end

  defp polygon(points, colour) do
    list = Enum.map_join(points, " ", fn {x, y} -> "#{x},#{y}" end)
    ~s(<polygon class="mark" points="#{list}" fill="#{colour}"/>\n)
  end

  defp escape(text), do: text |> String.replace("&", "&amp;") |> String.replace("<", "&lt;")
end
