defmodule RustyJson.Pointer do
  @moduledoc false
  # JSON Pointers (RFC 6901).

  alias RustyJson.Encode.Excerpt

  # Applications pass on pointers that users wrote. The state of a stream has two bytes for the number of a token.
  @most_tokens 65_535

  @doc "The largest number of tokens in a pointer."
  @spec most_tokens() :: pos_integer()
  def most_tokens, do: @most_tokens

  @doc "The reference tokens of a pointer. `what` names the option or argument in errors."
  @spec tokens!(term(), String.t()) :: [String.t()]
  def tokens!("", _what), do: []

  def tokens!("/" <> rest = pointer, what) do
    # Before they are made: a token takes many times the memory of its text.
    if slashes(rest, 0) >= @most_tokens, do: too_long!(what)
    rest |> :binary.split("/", [:global]) |> Enum.map(&token(&1, pointer, what))
  end

  def tokens!(pointer, what), do: malformed!(pointer, what)

  @doc "The same for a pointer in which the token `*` stands for any element or member. One in a key has no other way to be written."
  @spec tokens_or_any!(term(), String.t()) :: [:any | String.t()]
  def tokens_or_any!(pointer, what),
    do: pointer |> tokens!(what) |> Enum.map(&if(&1 == "*", do: :any, else: &1))

  defp slashes(<<?/, rest::binary>>, count), do: slashes(rest, count + 1)
  defp slashes(<<_, rest::binary>>, count), do: slashes(rest, count)
  defp slashes(<<>>, count), do: count

  defp token(token, pointer, what) do
    cond do
      not String.valid?(token) -> malformed!(pointer, what)
      :binary.match(token, "~") == :nomatch -> token
      token =~ ~r/~(?![01])/ -> malformed!(pointer, what)
      true -> key(token)
    end
  end

  # `String.replace/3` lists the places that it replaces, which takes a hundred bytes for each.

  @doc """
  A key as a reference token.

      iex> RustyJson.Pointer.token("a/~b")
      "a~1~0b"
  """
  @spec token(String.t()) :: String.t()
  # To look takes a tenth of the time of replacing.
  def token(key), do: if(plain?(key), do: key, else: for(<<byte <- key>>, into: "", do: escaped(byte)))

  defp plain?(<<byte, rest::binary>>) when byte not in ~c"~/", do: plain?(rest)
  defp plain?(rest), do: rest == ""

  defp escaped(?~), do: "~0"
  defp escaped(?/), do: "~1"
  defp escaped(byte), do: <<byte>>

  @doc """
  The key of a reference token.

      iex> RustyJson.Pointer.key("a~1~01")
      "a/~1"
  """
  @spec key(String.t()) :: String.t()
  def key(token), do: key(token, "")

  defp key(<<"~0", rest::binary>>, done), do: key(rest, <<done::binary, ?~>>)
  defp key(<<"~1", rest::binary>>, done), do: key(rest, <<done::binary, ?/>>)
  defp key(<<byte, rest::binary>>, done), do: key(rest, <<done::binary, byte>>)
  defp key(<<>>, done), do: done

  # The largest index that fits into a plan.
  @most 0xFFFF_FFFF_FFFF_FFFE

  @doc "The array index that a token spells, or nil."
  @spec index(String.t()) :: nil | non_neg_integer()
  def index("0"), do: 0

  def index(<<first, _::binary>> = token) when first in ?1..?9 and byte_size(token) <= 20 do
    case Integer.parse(token) do
      {index, ""} when index <= @most -> index
      _ -> nil
    end
  end

  def index(_token), do: nil

  @spec too_long!(String.t()) :: no_return()
  defp too_long!(what),
    do:
      raise(ArgumentError, "#{what} takes a JSON Pointer of at most #{@most_tokens} tokens, got a longer one")

  @spec malformed!(term(), String.t()) :: no_return()
  defp malformed!(pointer, what),
    do: Excerpt.refuse!("#{what} takes a JSON Pointer, such as \"/a/0\"", pointer)
end
