defmodule RustyJson.Bench.Digest do
  @moduledoc "Small tables for pages, made from the tables of one result file: nothing is measured or typed for them."

  alias RustyJson.Bench.Table

  @shells ["native", "wasmtime", "wasmex"]
  @others [
    {"Jason", "jason"},
    {"JSON", "elixir"},
    {"OTP", "otp"},
    {"0.3.10", "old"},
    {"jiffy", "jiffy"},
    {"torque", "torque"}
  ]

  @doc "The table of this name, or nil where the result file does not have what it is made of."
  @spec table(String.t(), map()) :: map() | nil
  def table("means", result) do
    rows =
      for direction <- ["decode", "encode"], shell <- @shells, row = mean(result, direction, shell), do: row

    others = for {name, _id} <- @others, do: name

    title = "Their time in ours, geometric mean of #{documents(result)} documents"
    note = "#{versions(result)}. Above 1, RustyJson is faster. #{machine(result)}"
    rows != [] && digest("means", title, ["" | others], rows, [note])
  end

  def table("beside-the-beam", result) do
    rows =
      for direction <- ["decode", "encode"], shell <- @shells, row = beam(result, direction, shell), do: row

    title = "Time beside the BEAM's own format: binary_to_term for decode, term_to_binary for encode"

    rows != [] &&
      digest("beside-the-beam", title, ["", "mean", "mean ≥ 64 KB", "worst"], rows, [machine(result)])
  end

  def table("sandbox-cost", result) do
    head = ["document", "size", "decode, native", "wasmtime", "×", "wasmex ×"]
    head = head ++ ["encode, native", "wasmtime", "×", "wasmex ×"]

    with %{"rows" => rows} <- find(result, "decode-native"),
         rows = for([name, size | _] when size != "" <- rows, do: [name, size | costs(result, name)]),
         true <- rows != [] do
      digest("sandbox-cost", "What the wall costs: one call, and its time in native's", head, rows, [
        "× by the ratios to the BEAM's own format, because each engine ran in a VM of its own. #{machine(result)}"
      ])
    else
      _ -> nil
    end
  end

  def table(_id, _result), do: nil

  defp digest(id, title, head, rows, notes),
    do: %{"id" => id, "title" => title, "head" => head, "rows" => rows, "notes" => notes}

  defp mean(result, direction, shell) do
    with %{} = table <- find(result, "#{direction}-#{shell}"),
         cells = for({name, _id} <- @others, do: cell(table, "mean", name) || "–"),
         true <- Enum.any?(cells, &(&1 != "–")) do
      ["#{direction}, #{engine(shell)}" | cells]
    else
      _ -> nil
    end
  end

  defp beam(result, direction, shell) do
    table = find(result, "#{direction}-#{shell}")
    column = %{"decode" => "/b2t", "encode" => "/t2b"}[direction]
    cells = for row <- ["mean", "mean ≥ 64 KB", "worst"], do: cell(table, row, column) || "–"
    if table, do: ["#{direction}, #{engine(shell)}" | cells]
  end

  defp engine("native"), do: "native"
  defp engine(host), do: "sandboxed (#{host})"

  defp costs(result, document) do
    Enum.flat_map(["decode", "encode"], fn direction ->
      native = find(result, "#{direction}-native")
      wasmtime = find(result, "#{direction}-wasmtime")
      wasmex = find(result, "#{direction}-wasmex")

      [time(native, document), time(wasmtime, document)] ++
        for(host <- [wasmtime, wasmex], do: times(host, native, document))
    end)
  end

  defp time(table, document), do: cell(table, document, "time") || "–"

  # Each is a ratio to what the BEAM needs for the same value.
  defp times(table, native, document) do
    with {ours, _} <- yardstick(table, document), {base, _} <- yardstick(native, document) do
      Table.ratio(ours / base)
    else
      _ -> "–"
    end
  end

  defp yardstick(table, document),
    do: Float.parse(cell(table, document, "/b2t") || cell(table, document, "/t2b") || "")

  defp find(result, id), do: Enum.find(result["tables"], &(&1["id"] == id))

  defp cell(nil, _row, _column), do: nil

  defp cell(%{"head" => head, "rows" => rows}, row, column) do
    with [_ | _] = cells <- Enum.find(rows, &(hd(&1) == row)),
         index when index != nil <- Enum.find_index(head, &(&1 == column)),
         text when text != "" <- Enum.at(cells, index) do
      text
    else
      _ -> nil
    end
  end

  defp documents(result) do
    %{"rows" => rows} = find(result, "decode-native") || find(result, "encode-native") || %{"rows" => []}
    Enum.count(rows, &(Enum.at(&1, 1) != ""))
  end

  defp versions(result) do
    names = %{"elixir" => "Elixir", "otp" => "OTP", "old" => "RustyJson", "jason" => "Jason"}
    there = for {_, id} <- @others, version = result["contenders"][id], do: "#{names[id] || id} #{version}"
    Enum.join(there, ", ")
  end

  defp machine(%{"machine" => machine} = result) do
    hurry = if result["flags"]["quick"], do: " A quick run, with few rounds.", else: ""

    "#{machine["cpu"]}, #{machine["cores"]} cores, Elixir #{machine["elixir"]}, OTP #{machine["otp"]}.#{hurry}"
  end
end
