defmodule RustyJson.Schema.Words do
  @moduledoc false
  # The words of JSON Schema for dates and constraints. What a dialect has no word for becomes `{:note, text}`, for the description.

  alias RustyJson.OrderedObject
  alias RustyJson.Schema.{Constraints, Dialect, Limit, Type}

  @type pairs :: [{String.t(), term()} | {:note, String.t()}]

  @formats %{date: "date", utc_datetime: "date-time", duration: "duration"}
  # JSON Schema has no names for these: its times have an offset.
  @time "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?$"
  @patterns %{
    time: "^" <> @time,
    naive_datetime: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]" <> @time
  }
  @examples %{
    date: "A date, such as 2024-02-29",
    time: "A time, such as 23:59:59",
    naive_datetime: "A date and time without an offset, such as 2024-02-29T23:59:59",
    utc_datetime: "A date and time with an offset, such as 2024-02-29T23:59:59Z",
    duration: "A duration, such as PT1H30M"
  }

  @doc "Whether a type is a string in a format."
  defguard is_format(type) when is_map_key(@examples, type)

  @doc "The words for a string that is one of these."
  @spec format(atom(), Dialect.t()) :: pairs()
  def format(type, %{formats: formats}) when is_map_key(@formats, type) do
    name = @formats[type]
    if name in formats, do: [{"format", name}], else: [{:note, @examples[type]}]
  end

  def format(type, dialect), do: known("pattern", @patterns[type], @examples[type], dialect)

  @doc "The words for these constraints of a type."
  @spec of(Constraints.t(), Type.t(), Dialect.t()) :: pairs()
  def of(constraints, type, dialect) do
    constraints |> Map.keys() |> Enum.sort() |> Enum.flat_map(&word(&1, constraints, type, dialect))
  end

  # A schema has one pattern, and that of the field is it.
  defp word(:format, %{format: type, pattern: _}, _type, dialect) when is_map_key(@patterns, type) do
    if dialect.all_of and "pattern" in dialect.keywords,
      do: [{"allOf", [OrderedObject.new([{"pattern", @patterns[type]}])]}],
      else: [{:note, @examples[type]}]
  end

  defp word(:format, %{format: type}, _type, dialect), do: format(type, dialect)

  defp word(:pattern, %{pattern: {source, _automaton}}, _type, dialect),
    do: known("pattern", source, "Matches the pattern #{source}", dialect)

  defp word(name, constraints, type, dialect) do
    note = constraints |> Constraints.expected(name, type) |> String.capitalize()
    known(name(name, type), Limit.number(constraints[name]), note, dialect)
  end

  defp known(word, value, note, %{keywords: keywords}),
    do: if(word in keywords, do: [{word, value}], else: [{:note, note}])

  defp name(:min, _type), do: "minimum"
  defp name(:max, _type), do: "maximum"
  defp name(:min_length, :string), do: "minLength"
  defp name(:max_length, :string), do: "maxLength"
  defp name(:min_length, {:list, _}), do: "minItems"
  defp name(:max_length, {:list, _}), do: "maxItems"
  defp name(:min_length, {:map, _}), do: "minProperties"
  defp name(:max_length, {:map, _}), do: "maxProperties"
end
