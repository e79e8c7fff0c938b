defmodule RustyJson.Bench.Sections.Parts do
  @moduledoc """
  Parts of documents, types and canonical form, each beside what it is held to.

  A round runs both once, each in a new process; the ratio is the median over rounds. Contenders that answer are compared first.
  """

  alias RustyJson.Bench.{Bar, Documents, Table}

  alias __MODULE__.{Brief, Record}

  # RustyJson 0.3, which is compiled with this file too, has no schemas.
  if Code.ensure_loaded?(RustyJson.Schema) do
    defmodule Record do
      @moduledoc false
      use RustyJson.Schema

      schema do
        field(:id, :integer)
        field(:name, :string)
        field(:email, :string)
        field(:score, :float)
        field(:active, :boolean)
        field(:city, :string)
        field(:visits, :integer)
        field(:note, :string, default: nil)
      end
    end

    defmodule Brief do
      @moduledoc false
      use RustyJson.Schema

      schema do
        field(:id, :integer)
        field(:score, :float)
        field(:city, :string)
      end
    end
  end

  @engines [{"native", [engine: :native]}, {"wasmtime", [engine: :wasm, host: :wasmtime]}]

  @spec run(map()) :: map()
  def run(context) do
    rows = for row <- rows(), do: measured(row, context)

    %{
      cases: [],
      checked: length(rows),
      tables: if(context.test, do: [], else: [table(rows)]),
      goals:
        if(context.test,
          do: [],
          else:
            for(
              %{goal: goal} = row when goal != nil <- rows,
              do: Bar.row(row.label, "≤ #{goal}", Table.ratio(row.ratio), row.ratio <= goal)
            )
        )
    }
  end

  defp table(rows) do
    %{
      id: "parts",
      title: "Parts of documents, types and canonical form",
      head: ["", "time", "beside", "its time", "ratio", "goal"],
      rows:
        for(
          row <- rows,
          do: [
            row.label,
            Table.time(row.time),
            row.beside,
            Table.time(row.other),
            Table.ratio(row.ratio),
            if(row.goal, do: "≤ #{row.goal}", else: "–")
          ]
        )
    }
  end

  # Label, what is measured, the name of what it stands beside, that, the goal of the ratio.
  defp rows do
    large = Documents.settlement(15_000)
    etf = large |> RustyJson.decode!() |> :erlang.term_to_binary()
    last = "/orders/14999/orderId"
    small = Documents.settlement(1)

    paths =
      RustyJson.Paths.new!(~w(/settlementId /currency /orders/0/orderId /orders/0/postedAt /orders/0/total))

    medium = Documents.settlement(9)
    early = RustyJson.Paths.new!(~w(/currency /orders/0/orderId /orders/1/number))
    records = Documents.records(10_000)
    term = RustyJson.decode!(records)

    for(
      {engine, options} <- @engines,
      RustyJson.start_engine(Keyword.take(options, [:engine, :host])) == :ok,
      do: [
        {"one field at the end of 10 MB, #{engine}", fn -> RustyJson.fetch!(large, last, options) end,
         "binary_to_term of the whole", fn -> :erlang.binary_to_term(etf) end,
         if(engine == "native", do: 0.2, else: 0.5)},
        {"five fields of 1.2 KB, #{engine}", fn -> RustyJson.select(small, paths, options) end, "decode/2",
         fn -> RustyJson.decode!(small, options) end, nil},
        {"three fields at the start of 10 KB, validate: false, #{engine}",
         fn -> RustyJson.select(medium, early, [validate: false] ++ options) end, "validated",
         fn -> RustyJson.select(medium, early, [validate: true] ++ options) end, 0.4},
        {"10,000 structs of 8 fields, #{engine}",
         fn -> RustyJson.decode!(records, [as: [Record]] ++ options) end, "decode/2",
         fn -> RustyJson.decode!(records, options) end, 0.9},
        {"10,000 structs of 3 of 8 fields, #{engine}",
         fn -> RustyJson.decode!(records, [as: [Brief]] ++ options) end, "decode/2",
         fn -> RustyJson.decode!(records, options) end, 0.6},
        {"canonical JSON of 10,000 records, #{engine}",
         fn -> RustyJson.encode!(term, [canonical: true] ++ options) end, "sort_keys: true",
         fn -> RustyJson.encode!(term, [sort_keys: true] ++ options) end, 1.5}
      ]
    )
    |> Enum.concat()
    |> Kernel.++(jason(small, paths))
  end

  # The way without parts.
  defp jason(json, paths) do
    if Code.ensure_loaded?(Jason) do
      [
        {"five fields of 1.2 KB, Jason and get_in", fn -> get_in_all(apply(Jason, :decode!, [json])) end,
         "select/3, native", fn -> RustyJson.select(json, paths, engine: :native) end, nil}
      ]
    else
      []
    end
  end

  defp get_in_all(%{"orders" => [order | _]} = map),
    do: [map["settlementId"], map["currency"], order["orderId"], order["postedAt"], order["total"]]

  defp measured({label, fun, beside, other, goal}, %{test: true}) do
    {_, _} = {fun.(), other.()}
    %{label: label, beside: beside, goal: goal}
  end

  defp measured({label, fun, beside, other, goal}, context) do
    context.say.("parts: #{label}")
    _ = {time(fun), time(other)}
    until = System.monotonic_time(:millisecond) + div(context.budget, 2)
    times = rounds(fun, other, until, [])

    %{
      label: label,
      beside: beside,
      goal: goal,
      time: times |> Enum.map(&elem(&1, 0)) |> median(),
      other: times |> Enum.map(&elem(&1, 1)) |> median(),
      ratio: times |> Enum.map(fn {a, b} -> a / b end) |> median()
    }
  end

  defp rounds(fun, other, until, times) do
    pair =
      if rem(length(times), 2) == 0,
        do: {time(fun), time(other)},
        else: {time(other), time(fun)} |> then(fn {b, a} -> {a, b} end)

    times = [pair | times]

    if length(times) >= 5 and System.monotonic_time(:millisecond) > until,
      do: times,
      else: rounds(fun, other, until, times)
  end

  # Nanoseconds of one call. Short ones are made several times.
  defp time(fun) do
    Task.async(fn ->
      once = timed(fun, 1)
      calls = if once < 50_000, do: div(100_000, max(once, 100)) + 1, else: 1
      if calls == 1, do: once, else: div(timed(fun, calls), calls)
    end)
    |> Task.await(:infinity)
  end

  defp timed(fun, calls) do
    start = System.monotonic_time(:nanosecond)
    for _ <- 1..calls, do: fun.()
    System.monotonic_time(:nanosecond) - start
  end

  defp median(list), do: list |> Enum.sort() |> Enum.at(div(length(list), 2))
end
