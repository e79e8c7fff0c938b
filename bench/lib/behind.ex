defmodule RustyJson.Bench.Behind do
  @moduledoc "Where another library is faster than the native engine, from the newest tables."

  alias RustyJson.Bench.Table

  @libraries ["Jason", "JSON", "OTP", "jiffy", "torque", "glazer", "0.3.10"]
  @titles %{"JSON" => "Elixir JSON", "OTP" => "OTP json", "0.3.10" => "RustyJson 0.3.10"}

  @doc "A row for each case in which another library is faster. `lookup` finds a table by its name."
  @spec table((String.t() -> map() | nil)) :: map()
  def table(lookup) do
    rows = documents(lookup) ++ structs(lookup.("structs"))

    %{
      "id" => "behind",
      "title" => "Where another library is faster than the native engine",
      "head" => ["what", "faster library", "RustyJson's speed relative to it"],
      "rows" => if(rows == [], do: [["nothing that was measured", "", ""]], else: rows),
      "notes" => []
    }
  end

  defp documents(lookup) do
    for {id, words} <- [
          {"-native", ""},
          {"-copied", ", `strings: :copy`"},
          {"-seed", ", another seed"},
          {"-long-lived-native", ", long-lived process"}
        ],
        op <- ["decode", "encode"],
        %{"head" => head, "rows" => rows} <- [lookup.(op <> id)],
        [document, size | _] = row when size != "" <- rows,
        {name, cell} <- Enum.zip(head, row),
        name in @libraries,
        {speed, _} <- [Float.parse(cell)],
        speed < 1,
        do: ["#{op} #{document} (#{size})#{words}", @titles[name] || name, Table.ratio(speed)]
  end

  defp structs(nil), do: []

  defp structs(%{"head" => head, "rows" => rows}) do
    for [label | _] = row <- rows,
        cells = Map.new(Enum.zip(head, row)),
        name <- @libraries,
        ours = nanoseconds(cells["native"]),
        theirs = nanoseconds(cells[name]),
        theirs < ours,
        do: ["encode structs: #{label}", @titles[name] || name, Table.ratio(theirs / ours)]
  end

  @doc "A time as `RustyJson.Bench.Table.time/1` writes it, or nil."
  @spec nanoseconds(nil | String.t()) :: nil | float()
  def nanoseconds(nil), do: nil

  def nanoseconds(text) do
    units = %{"ns" => 1, "µs" => 1_000, "ms" => 1_000_000, "s" => 1_000_000_000}

    with {number, " " <> unit} <- Float.parse(text), scale when scale != nil <- units[unit] do
      number * scale
    else
      _ -> nil
    end
  end
end
