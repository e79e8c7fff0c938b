defmodule RustyJson.Bench.Digest do
  @moduledoc "Small tables for pages, made only from the tables of result files."

  alias RustyJson.Bench.{Behind, Contender, Stats, Table}

  @shells ["native", "built_in", "wasmex"]
  @directions ["decode", "encode"]
  @ledger "settlement"

  # Column in the tables of a result file, contender, heading.
  @others [
    {"Jason", "jason", "Jason"},
    {"JSON", "elixir", "Elixir JSON"},
    {"OTP", "otp", "OTP json"},
    {"jiffy", "jiffy", "jiffy"},
    {"torque", "torque", "torque"},
    {"glazer", "glazer", "glazer"},
    {"0.3.10", "old", "RustyJson 0.3"}
  ]

  @doc """
  The table of this name, or nil where the result file lacks what it is made of. `lookup` gives the newest table of
  another name from the same kind of machine.
  """
  @spec table(String.t(), map(), (String.t() -> map() | nil)) :: map() | nil
  def table("means", result, _lookup) do
    means = for op <- @directions, shell <- @shells, row = mean(result, op, shell), do: {op, shell, row}

    if means != [] do
      rows = for {op, shell, row} <- means, line <- lines(result, op, shell, row), do: line

      note =
        "Geometric mean of #{documents(result)} documents. `#{@ledger}` has the shape of our own ledgers. " <>
          "#{versions(result)}. #{machine(result)}"

      "means"
      |> digest("Speed relative to other libraries (2.0 = twice as fast)", ["" | titles()], rows, [note])
      |> Map.put("picture", picture(result, means))
    end
  end

  def table("speed-" <> op, result, _lookup) when op in @directions do
    with %{"rows" => rows, "head" => head} = table <- find(result, op <> "-native"),
         true <- Enum.any?(@others, fn {name, _, _} -> name in head end) do
      rows =
        for [document, size | _] when size != "" <- rows do
          [document, size, cell(table, document, "time"), cell(table, document, "MB/s")] ++
            for({name, _, _} <- @others, do: cell(table, document, name) || "–")
        end

      title = "#{String.capitalize(op)}, native engine: speed relative to each library (2.0 = twice as fast)"
      digest("speed-" <> op, title, ["document", "size", "time", "MB/s"] ++ titles(), rows, [])
    else
      _ -> nil
    end
  end

  def table("memory-summary", result, _lookup) do
    with %{"rows" => rows} = table <- find(result, "memory") do
      labels = for ["encode settlement, " <> id | _] <- rows, do: id
      columns = [{"decode", "peak RSS"}, {"encode", "peak RSS"}]

      rows =
        for id <- labels do
          [
            Contender.title(id)
            | for({op, column} <- columns, do: cell(table, "#{op} settlement, #{id}", column) || "–")
          ]
        end

      digest(
        "memory-summary",
        "Memory one call adds at its peak, 10 MB document",
        ["", "decode", "encode"],
        rows,
        [
          "Growth of the VM's resident memory during one call in a new VM, including the result."
        ]
      )
    end
  end

  def table("behind", result, lookup), do: find(result, "decode-native") && Behind.table(lookup)

  def table("beside-the-beam", result, _lookup) do
    rows =
      for direction <- ["decode", "encode"], shell <- @shells, row = beam(result, direction, shell), do: row

    title = "Time relative to the BEAM's own format: binary_to_term for decode, term_to_binary for encode"

    rows != [] &&
      digest("beside-the-beam", title, ["", "mean", "mean ≥ 64 KB", "worst"], rows, [machine(result)])
  end

  def table("sandbox-cost", result, _lookup) do
    head = ["document", "size", "decode, native", "built-in", "×", "wasmex ×"]
    head = head ++ ["encode, native", "built-in", "×", "wasmex ×"]

    with %{"rows" => rows} <- find(result, "decode-native"),
         rows = for([name, size | _] when size != "" <- rows, do: [name, size | costs(result, name)]),
         true <- rows != [] do
      digest("sandbox-cost", "What the sandbox costs: time of one call, and × the native time", head, rows, [
        "Each engine ran in its own VM, so × compares the ratios to the BEAM's own format. #{machine(result)}"
      ])
    else
      _ -> nil
    end
  end

  # The time of the native call, and of a kept instance, is in `sandbox-cost`, from a longer run.
  def table("call-costs", result, _lookup) do
    with %{"rows" => rows, "head" => ["", "native" | hosts]} <- find(result, "calls") do
      rows =
        for [op, native | times] <- rows,
            do: [
              op | for(time <- times, do: Table.ratio(Behind.nanoseconds(time) / Behind.nanoseconds(native)))
            ]

      digest(
        "call-costs",
        "Time of one call on a 35-byte document (native engine = 1)",
        ["" | hosts],
        rows,
        []
      )
    end
  end

  def table(_id, _result, _lookup), do: nil

  defp digest(id, title, head, rows, notes) do
    [head | rows] = without_empty_columns([head | rows])
    %{"id" => id, "title" => title, "head" => head, "rows" => rows, "notes" => notes}
  end

  # The columns of libraries that were not measured.
  defp without_empty_columns([_head | rows] = lines) do
    filled = for column <- Enum.zip(rows), do: Enum.any?(Tuple.to_list(column), &(&1 != "–"))
    for line <- lines, do: for({cell, true} <- Enum.zip(line, filled), do: cell)
  end

  defp titles, do: for({_, _, title} <- @others, do: title)

  # Cells by the order of @others, nil for a library that was not measured.
  defp mean(result, direction, shell) do
    with %{} = table <- find(result, "#{direction}-#{shell}"),
         cells = for({name, _, _} <- @others, do: cell(table, "mean", name)),
         true <- Enum.any?(cells) do
      cells
    else
      _ -> nil
    end
  end

  defp lines(result, op, shell, row) do
    more =
      if shell == "native", do: [{", without `#{@ledger}`", without(result, op, shell, @ledger)}], else: []

    for {words, cells} <- [{"", row} | more],
        do: ["#{op}, #{engine(shell)}#{words}" | Enum.map(cells, &(&1 || "–"))]
  end

  # The same means without one document, from the ratios to the BEAM's own format.
  defp without(result, op, shell, document) do
    cases = for %{"table" => ^op} = one <- result["cases"], one["document"] != document, do: one
    own = for %{"contender" => ^shell} = one <- cases, into: %{}, do: {one["document"], one["ratio"]}

    for {_, id, _} <- @others do
      speeds = for %{"contender" => ^id} = one <- cases, ours = own[one["document"]], do: one["ratio"] / ours
      if speeds != [], do: Table.ratio(Stats.mean(speeds))
    end
  end

  # Speeds relative to Jason, from the means: Jason's time divided by the other's, both relative to RustyJson's.
  defp picture(result, means) do
    panels =
      for op <- @directions, {^op, "native", row} <- means, jason = number(hd(row)) do
        theirs =
          for {{_, id, title}, cell} <- Enum.zip(@others, row),
              n = number(cell),
              do: {named(result, id, title), jason / n, false}

        ours =
          for {^op, shell, row} <- means, n = number(hd(row)), do: {"RustyJson, " <> engine(shell), n, true}

        {String.capitalize(op), Enum.sort_by(ours ++ theirs, &elem(&1, 1), :desc)}
      end

    %{
      "title" => "Speed relative to Jason (longer is faster)",
      "caption" =>
        "Geometric mean of #{documents(result)} documents from 35 bytes to 10 MB. #{machine(result)}",
      "panels" => panels
    }
  end

  defp named(result, id, title) when id in ["jason", "jiffy", "torque", "glazer"],
    do: "#{title} #{result["contenders"][id]}"

  defp named(_result, _id, title), do: title

  defp number(nil), do: nil
  defp number(text), do: text |> Float.parse() |> elem(0)

  defp beam(result, direction, shell) do
    table = find(result, "#{direction}-#{shell}")
    column = %{"decode" => "/b2t", "encode" => "/t2b"}[direction]
    cells = for row <- ["mean", "mean ≥ 64 KB", "worst"], do: cell(table, row, column) || "–"
    if table, do: ["#{direction}, #{engine(shell)}" | cells]
  end

  defp engine("native"), do: "native"
  defp engine("built_in"), do: "sandboxed (built-in host)"
  defp engine(host), do: "sandboxed (#{host})"

  defp costs(result, document) do
    Enum.flat_map(["decode", "encode"], fn direction ->
      native = find(result, "#{direction}-native")
      built_in = find(result, "#{direction}-built_in")
      wasmex = find(result, "#{direction}-wasmex")

      [time(native, document), time(built_in, document)] ++
        for(host <- [built_in, wasmex], do: times(host, native, document))
    end)
  end

  defp time(table, document), do: cell(table, document, "time") || "–"

  # Each is a ratio to the BEAM's time for the same value.
  defp times(table, native, document) do
    with {ours, _} <- yardstick(table, document), {base, _} <- yardstick(native, document) do
      Table.ratio(ours / base)
    else
      _ -> "–"
    end
  end

  defp yardstick(table, document),
    do:
      Float.parse(
        String.replace(cell(table, document, "/b2t") || cell(table, document, "/t2b") || "", ",", "")
      )

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

    there =
      for {_, id, _} <- @others,
          version = result["contenders"][id],
          do: "#{names[id] || id} #{version}#{source(result, id)}"

    Enum.join(there, ", ")
  end

  # A commit, or words.
  defp source(result, id) do
    case result["sources"][id] do
      nil -> ""
      text -> " (#{if text =~ ~r/^[0-9a-f]{40}$/, do: String.slice(text, 0, 7), else: text})"
    end
  end

  defp machine(%{"machine" => machine} = result) do
    hurry = if result["flags"]["quick"], do: " A quick run, with few rounds.", else: ""

    load = if machine["load"], do: " Load average at the end: #{machine["load"]}.", else: ""

    "#{machine["cpu"]}, #{machine["cores"]} cores, Elixir #{machine["elixir"]}, OTP #{machine["otp"]}.#{load}#{hurry}"
  end
end
