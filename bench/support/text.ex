defmodule RustyJson.Bench.Text do
  @moduledoc """
  JSON text of the made documents, written here and not by a library under test. An object is a tuple of its members, so
  that their order is fixed.
  """

  @letters ~c"ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
  @escapes %{"\\" => "\\\\", "\"" => "\\\"", "\n" => "\\n", "\t" => "\\t"}

  @type value ::
          {keyword() | [{String.t(), value()}]}
          | {:raw, String.t()}
          | [value()]
          | String.t()
          | integer()
          | nil

  @spec json(value() | boolean()) :: String.t()
  def json(value), do: value |> write() |> IO.iodata_to_binary()

  defp write({:raw, text}), do: text

  defp write({members}),
    do: [?{, Enum.map_intersperse(members, ?,, fn {key, value} -> [string(key), ?:, write(value)] end), ?}]

  defp write(list) when is_list(list), do: [?[, Enum.map_intersperse(list, ?,, &write/1), ?]]
  defp write(text) when is_binary(text), do: string(text)
  defp write(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp write(nil), do: "null"
  defp write(boolean) when is_boolean(boolean), do: Atom.to_string(boolean)

  defp string(text), do: [?", String.replace(to_string(text), Map.keys(@escapes), &@escapes[&1]), ?"]

  @doc "The last digits of a number, with leading zeros."
  @spec pad(integer(), pos_integer()) :: String.t()
  def pad(number, digits) do
    number |> abs() |> rem(Integer.pow(10, digits)) |> Integer.to_string() |> String.pad_leading(digits, "0")
  end

  @doc "Cents as a decimal number."
  @spec money(integer()) :: String.t()
  def money(cents), do: "#{if cents < 0, do: "-"}#{div(abs(cents), 100)}.#{pad(abs(cents), 2)}"

  @doc "This many letters and digits, made from a number."
  @spec letters(non_neg_integer(), pos_integer()) :: String.t()
  def letters(number, count) do
    for n <- 1..count, into: "", do: <<Enum.at(@letters, rem(div(number, n * n * 31) + n * number, 32))>>
  end

  @doc "A point in time as ISO 8601."
  @spec time(integer()) :: String.t()
  def time(unix), do: unix |> DateTime.from_unix!() |> DateTime.to_iso8601()
end
