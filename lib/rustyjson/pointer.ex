defmodule RustyJson.Pointer do
  @moduledoc false
  # JSON Pointers (RFC 6901).

  @doc "The reference tokens of a pointer. `what` names the option or argument in errors."
  @spec tokens!(term(), String.t()) :: [String.t()]
  def tokens!("", _what), do: []

  def tokens!("/" <> rest = pointer, what),
    do: rest |> :binary.split("/", [:global]) |> Enum.map(&token(&1, pointer, what))

  def tokens!(pointer, what), do: malformed!(pointer, what)

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

  @spec malformed!(term(), String.t()) :: no_return()
  defp malformed!(pointer, what) do
    shown = inspect(pointer, limit: 5, printable_limit: 64)
    raise ArgumentError, "#{what} takes a JSON Pointer, such as \"/a/0\", got: #{shown}"
  end
end
