defmodule RustyJson.Encode.Path do
  @moduledoc false
  # The JSON Pointer of the place where a text of our own breaks off. Values may be missing (holes), so what counts are
  # brackets, commas and keys.

  @doc """
  The path at the end of the text.

      iex> RustyJson.Encode.Path.locate(~s({"a/b":[1,{"c":))
      "/a~1b/1/c"
  """
  @spec locate(binary()) :: String.t()
  def locate(json), do: json |> walk([], nil) |> Enum.reverse() |> Enum.map_join(&segment/1)

  # The stack holds an index for an array, a key for an object; `text` is the last string, which may be a key.
  defp walk(<<?[, rest::binary>>, stack, _text), do: walk(rest, [0 | stack], nil)
  defp walk(<<?{, rest::binary>>, stack, _text), do: walk(rest, [nil | stack], nil)
  defp walk(<<byte, rest::binary>>, [_ | stack], _text) when byte in ~c"]}", do: walk(rest, stack, nil)

  defp walk(<<?,, rest::binary>>, [index | stack], _text) when is_integer(index),
    do: walk(rest, [index + 1 | stack], nil)

  defp walk(<<?:, rest::binary>>, [_ | stack], text), do: walk(rest, [text | stack], nil)
  defp walk(<<?", rest::binary>>, stack, _text), do: string(rest, rest, 0, stack)
  defp walk(<<_, rest::binary>>, stack, text), do: walk(rest, stack, text)
  defp walk(<<>>, stack, _text), do: stack

  defp string(<<?\\, _, rest::binary>>, start, len, stack), do: string(rest, start, len + 2, stack)
  defp string(<<?", rest::binary>>, start, len, stack), do: walk(rest, stack, binary_part(start, 0, len))
  defp string(<<_, rest::binary>>, start, len, stack), do: string(rest, start, len + 1, stack)
  defp string(<<>>, _start, _len, stack), do: stack

  defp segment(nil), do: ""
  defp segment(index) when is_integer(index), do: "/#{index}"

  defp segment(key), do: "/" <> (key |> unescaped() |> String.replace("~", "~0") |> String.replace("/", "~1"))

  # Limits that are configured are those of documents; and a fragment may have put in what is no JSON.
  defp unescaped(key) do
    case RustyJson.decode(<<?", key::binary, ?">>, max_bytes: 0, max_nodes: 0, validate_strings: true) do
      {:ok, text} -> text
      {:error, _error} -> "\uFFFD"
    end
  end
end
