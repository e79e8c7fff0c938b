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
      true -> token |> String.replace("~1", "/") |> String.replace("~0", "~")
    end
  end

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
  defp malformed!(pointer, what) do
    raise ArgumentError, "#{what} takes a JSON Pointer, such as \"/a/0\", got: #{Excerpt.brief(pointer)}"
  end
end
