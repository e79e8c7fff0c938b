defmodule RustyJson.Bench.Sections.Parts do
  @moduledoc """
  Parts of documents, types and canonical form, each beside what it is held to.

  `RustyJson.Bench.Pairs` says how they are measured.
  """

  alias RustyJson.Bench.{Documents, Pairs}

  alias __MODULE__.{Brief, Record, Row}

  @compile {:no_warn_undefined, Ecto}

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

  # Only where Ecto is among the packages.
  if Code.ensure_loaded?(Ecto.Schema) do
    defmodule Row do
      @moduledoc false
      use Ecto.Schema

      @primary_key false
      embedded_schema do
        field(:id, :integer)
        field(:name, :string)
        field(:email, :string)
        field(:score, :float)
        field(:active, :boolean)
        field(:city, :string)
        field(:visits, :integer)
        field(:note, :string)
      end
    end
  end

  @engines [{"native", [engine: :native]}, {"built_in", [engine: :wasm, host: :built_in]}]

  @spec run(map()) :: map()
  def run(context) do
    Pairs.run(rows(), "parts", "Parts of documents, types and canonical form", context)
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
        | ecto(records, engine, options)
      ]
    )
    |> Enum.concat()
    |> Kernel.++(jason(small, paths))
  end

  defp ecto(records, engine, options) do
    if Code.ensure_loaded?(Row) do
      [
        {"10,000 structs of an Ecto schema, #{engine}",
         fn -> RustyJson.decode!(records, [as: [Row]] ++ options) end, "decode/2 and Ecto.embedded_load",
         fn -> for map <- RustyJson.decode!(records, options), do: Ecto.embedded_load(Row, map, :json) end,
         0.25}
      ]
    else
      []
    end
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
end
