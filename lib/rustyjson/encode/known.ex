defmodule RustyJson.Encode.Known do
  @moduledoc false
  # Well-known structs of a form that the core leaves alone: another calendar, fields that are not what their module makes
  # of them, bounds beyond 64 bits. Their modules know.

  alias RustyJson.OrderedObject

  @compile {:no_warn_undefined, Decimal}
  @calendar [Date, Time, NaiveDateTime, DateTime]

  @doc "What to encode instead, or `:error` for any other struct."
  @spec plain(struct()) :: {:ok, term()} | :error
  def plain(%module{} = value) when module in @calendar, do: {:ok, module.to_iso8601(value)}
  def plain(%{__struct__: Decimal} = value), do: {:ok, Decimal.to_string(value, :scientific)}
  def plain(%URI{} = value), do: {:ok, URI.to_string(value)}
  def plain(%MapSet{} = value), do: {:ok, MapSet.to_list(value)}
  def plain(%Range{} = value), do: {:ok, OrderedObject.new(range(Map.from_struct(value)))}
  def plain(_struct), do: :error

  # Ranges from before Elixir 1.12 have no step.
  defp range(%{first: first, last: last, step: step}) when step != 1,
    do: [first: first, last: last, step: step]

  defp range(%{first: first, last: last}), do: [first: first, last: last]
end
