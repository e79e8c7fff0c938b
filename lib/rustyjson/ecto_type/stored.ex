defmodule RustyJson.EctoType.Stored do
  @moduledoc false
  # The text of a term for a column. The configuration of the application is for texts that it sends: they may leave out, rename or replace
  # what is to be stored. Limits, the layout and the engine stay as they are configured.

  alias RustyJson.{Config, OrderedObject}
  alias RustyJson.Encode.Measure

  @options [
    canonical: false,
    compress: :none,
    integers: :exact,
    invalid_utf8: :error,
    key_case: nil,
    lean: false,
    null: nil,
    omit: [],
    protocol: true,
    redact: [],
    unsupported: :error
  ]

  @spec encode(term()) :: {:ok, String.t()} | {:error, Exception.t()}
  def encode(term), do: term |> with_nil() |> RustyJson.encode(@options)

  @spec encode!(term()) :: String.t()
  def encode!(term), do: term |> with_nil() |> RustyJson.encode!(@options)

  # A driver that decodes with RustyJson makes the configured atom of null, and the term is written again. What exceeds a limit is not
  # copied: it can have its parts many times over.
  defp with_nil(term) do
    case Enum.uniq([Config.decode().values.null, Config.encode().values.null]) do
      [nil] -> term
      nulls -> if fits?(term, Config.encode()), do: with_nil(term, nulls), else: term
    end
  end

  defp fits?(term, %{values: %{max_bytes: most}} = options) do
    case Measure.room(most, options) do
      :infinity -> true
      room -> Measure.least_text(term, room) <= room
    end
  end

  defp with_nil(atom, nulls) when is_atom(atom), do: if(atom in nulls, do: nil, else: atom)
  defp with_nil([item | rest], nulls), do: [with_nil(item, nulls) | with_nil(rest, nulls)]

  defp with_nil(%OrderedObject{values: members} = object, nulls),
    do: %{object | values: members(members, nulls)}

  defp with_nil(map, nulls) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {key, with_nil(value, nulls)} end)

  defp with_nil(other, _nulls), do: other

  defp members([{key, value} | rest], nulls), do: [{key, with_nil(value, nulls)} | members(rest, nulls)]
  # The end, or what is no list of pairs, which is an error when it is encoded.
  defp members(other, _nulls), do: other
end
