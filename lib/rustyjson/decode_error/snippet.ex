defmodule RustyJson.DecodeError.Snippet do
  @moduledoc false
  # Excerpts of the input around a position, of limited length.

  @token 32
  @left 60
  @right 30
  @path 80

  @doc "The input from the place, at most 32 bytes of it."
  @spec token(binary(), non_neg_integer()) :: binary()
  def token(data, position) do
    data
    |> binary_part(position, min(byte_size(data) - position, @token))
    |> :binary.copy()
    |> whole_characters()
  end

  @doc "Without a last character that was cut through."
  @spec whole_characters(binary()) :: binary()
  def whole_characters(text) do
    Enum.find(0..3, 0, &(&1 <= byte_size(text) and String.valid?(binary_part(text, 0, byte_size(text) - &1))))
    |> then(&binary_part(text, 0, byte_size(text) - &1))
  end

  @doc "The start of a path, for people; the error has all of it."
  @spec path(String.t()) :: String.t()
  def path(path) when byte_size(path) <= @path, do: visible(path)
  def path(path), do: (path |> binary_part(0, @path) |> whole_characters() |> visible()) <> "…"

  @doc """
  The text with characters that a terminal obeys replaced by others that it shows, each by one.

      iex> RustyJson.DecodeError.Snippet.visible("a\e[31m\n")
      "a␛[31m␊"
  """
  @spec visible(String.t()) :: String.t()
  def visible(text), do: for(<<char::utf8 <- text>>, into: "", do: <<shown(char)::utf8>>)

  # Unicode has pictures for the first 32 control characters and for DEL.
  defp shown(char) when char < 0x20, do: 0x2400 + char
  defp shown(0x7F), do: 0x2421
  # Other control characters, and characters that hide text or change its direction.
  defp shown(char) when char in 0x80..0x9F or char in 0x200B..0x200F or char in 0x2028..0x202E, do: 0xFFFD

  defp shown(char) when char in 0x2060..0x206F or char in [0x061C, 0xFEFF] or char in 0xE0000..0xE007F,
    do: 0xFFFD

  defp shown(char), do: char

  @doc """
  The line of the place, cut where it is long, and a caret under it. The data of a stream can start within a line: then the column says so.

      iex> RustyJson.DecodeError.Snippet.caret("}]", 0, 2, 17)
      "2 | …}]\n  |  ^"
  """
  @spec caret(binary(), non_neg_integer(), pos_integer(), pos_integer() | nil) :: String.t()
  def caret(data, position, line, column \\ nil) do
    left = data |> part(position - @left, position) |> String.split(["\n", "\r"]) |> List.last()
    right = data |> part(position, position + @right) |> String.split(["\n", "\r"]) |> hd()
    {head, tail} = ellipses(data, position, left, right)
    head = if is_integer(column) and column - 1 > String.length(left), do: "…", else: head

    number = "#{line} | "
    margin = String.duplicate(" ", String.length(number) - 2) <> "| "
    shown = head <> left
    "#{number}#{shown}#{right}#{tail}\n#{margin}#{String.duplicate(" ", String.length(shown))}^"
  end

  defp ellipses(data, position, left, right) do
    before = position - byte_size(left)
    rest = position + byte_size(right)
    head = if before > 0 and :binary.at(data, before - 1) not in ~c"\r\n", do: "…", else: ""
    tail = if rest < byte_size(data) and :binary.at(data, rest) not in ~c"\r\n", do: "…", else: ""
    {head, tail}
  end

  @doc """
  The text with U+FFFD in place of what is invalid UTF-8.

      iex> RustyJson.DecodeError.Snippet.valid("a" <> <<255>>)
      "a\\uFFFD"
  """
  @spec valid(binary()) :: String.t()
  def valid(text) do
    if String.valid?(text), do: text, else: text |> String.chunk(:valid) |> Enum.map_join(&valid_chunk/1)
  end

  defp valid_chunk(chunk), do: if(String.valid?(chunk), do: chunk, else: "\uFFFD")

  # A part of the input as text that a terminal can show, one column per character.
  defp part(data, from, to) do
    from = max(from, 0)
    window = binary_part(data, from, min(to, byte_size(data)) - from)
    window |> String.chunk(:valid) |> Enum.map_join(&show/1)
  end

  # Ends of lines are looked for later.
  defp line(text) when text in ["\n", "\r"], do: text
  defp line(text), do: visible(text)

  defp show(text) do
    if String.valid?(text),
      do:
        text
        |> String.replace("\t", " ")
        |> String.split(~r/[\r\n]/, include_captures: true)
        |> Enum.map_join(&line/1),
      else: String.duplicate("?", byte_size(text))
  end
end
