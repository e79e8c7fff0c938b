defmodule Jason.Keys do
  @moduledoc false
  # Keys that are known when the application is compiled: fields of derived structs and those of `Jason.Helpers`. Jason takes only
  # characters that no escape mode changes, except for `<`, which it then writes as it is in every mode.

  alias Jason.{Encode, EncodeError}

  @spec check!(String.Chars.t()) :: :ok
  def check!(key) do
    text = text(key)

    for <<byte <- text>>, byte > 0x7F or byte < 0x1F or byte in ~c(\\"/) do
      raise EncodeError,
        message: "invalid byte 0x#{Integer.to_string(byte, 16)} in literal key: #{inspect(text)}"
    end

    :ok
  end

  @doc "Whether this key is one that the engine would escape."
  @spec unescaped?(String.Chars.t()) :: boolean()
  def unescaped?(key), do: key |> text() |> String.contains?(["<", <<0x1F>>])

  # `String.Chars` makes nothing of nil.
  defp text(key) when is_atom(key), do: Atom.to_string(key)
  defp text(key), do: to_string(key)

  @doc "An object with these members, whose keys are not escaped."
  @spec object(map(), [term()], Encode.opts()) :: iodata()
  def object(members, keys, opts) do
    texts = for key <- keys, do: [?", text(key), ~s(":), Encode.value(Map.fetch!(members, key), opts)]
    [?{, Enum.intersperse(texts, ?,), ?}]
  end
end
