defmodule RustyJson.Bench.Picture do
  @moduledoc "The picture in the README: a bar for each library, drawn from the table `means` of `RustyJson.Bench.Digest`."

  @width 820
  @label 270
  @bar 18
  @gap 6
  @head 62

  @doc "An SVG picture, readable on light and dark pages."
  @spec draw(map()) :: String.t()
  def draw(%{"picture" => picture}) do
    most = Enum.max(for {_, bars} <- picture["panels"], {_, speed, _} <- bars, do: speed)

    {panels, height} =
      Enum.map_reduce(picture["panels"], @head, fn {title, bars}, y ->
        {panel(title, bars, y, most), y + 30 + length(bars) * (@bar + @gap) + 14}
      end)

    IO.iodata_to_binary([
      ~s(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{@width} #{height + 8}" ),
      ~s(width="#{@width}" height="#{height + 8}" role="img">\n),
      style(),
      ~s(<title>#{picture["title"]}</title>\n),
      ~s(<text class="title" x="12" y="24">#{picture["title"]}</text>\n),
      ~s(<text class="small" x="12" y="44">#{picture["caption"]}</text>\n),
      panels,
      "</svg>\n"
    ])
  end

  defp style do
    """
    <style>
    text { font: 13px system-ui, sans-serif; fill: #495057 }
    .title { font-size: 16px; font-weight: 600; fill: #212529 }
    .panel { font-size: 14px; font-weight: 600; fill: #212529 }
    .small { font-size: 12px }
    .ours { font-weight: 600; fill: #212529 }
    .bar { fill: #adb5bd }
    .bar-ours { fill: #e8590c }
    @media (prefers-color-scheme: dark) {
      text { fill: #ced4da } .title, .panel, .ours { fill: #f1f3f5 } .bar { fill: #6c757d }
    }
    </style>
    """
  end

  defp panel(title, bars, y, most) do
    [
      ~s(<text class="panel" x="12" y="#{y + 18}">#{title}</text>\n),
      for {bar, index} <- Enum.with_index(bars) do
        bar(bar, y + 30 + index * (@bar + @gap), most)
      end
    ]
  end

  defp bar({name, speed, ours?}, y, most) do
    length = Float.round((@width - @label - 80) * speed / most, 1)
    middle = y + div(@bar, 2) + 5
    {text, bar} = if ours?, do: {"ours", "bar-ours"}, else: {"", "bar"}

    [
      ~s(<text class="#{text}" x="#{@label - 10}" y="#{middle}" text-anchor="end">#{name}</text>\n),
      ~s(<rect class="#{bar}" x="#{@label}" y="#{y}" width="#{length}" height="#{@bar}" rx="2"/>\n),
      ~s(<text class="#{text}" x="#{@label + length + 8}" y="#{middle}">#{number(speed)}×</text>\n)
    ]
  end

  defp number(speed), do: :erlang.float_to_binary(speed / 1, decimals: 2)
end
