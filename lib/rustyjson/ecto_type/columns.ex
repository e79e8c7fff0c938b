defmodule RustyJson.EctoType.Columns do
  @moduledoc """
  A JSON library for a database driver that leaves the text of JSON columns alone, for fields of `RustyJson.EctoType` with `column: :json`.

  In PostgreSQL, it goes into the types of the repository:

      Postgrex.Types.define(Shop.PostgresTypes, Ecto.Adapters.Postgres.extensions(), json: RustyJson.EctoType.Columns)

      config :shop, Shop.Repo, types: Shop.PostgresTypes

  Every `json` and `jsonb` column of the repository is then a `RustyJson.Fragment`, so every such field must have the type
  `RustyJson.EctoType`. Fields of type `:map` and embedded schemas would get the fragment too, which they do not understand.
  """

  alias RustyJson.{EctoType, Fragment}

  @doc """
  Wraps the text of a column, without decoding it. The text is copied, because a driver hands over a part of its buffer.

      iex> RustyJson.EctoType.Columns.decode!("[1]")
      %RustyJson.Fragment{encode: "[1]"}
  """
  @spec decode!(binary()) :: Fragment.t()
  def decode!(text) when is_binary(text), do: %Fragment{encode: :binary.copy(text)}

  @doc """
  As `RustyJson.encode_to_iodata!/1`, without the options of the configuration that change what a text says, such as `redact:` (see
  `RustyJson.EctoType`).

      iex> RustyJson.EctoType.Columns.encode_to_iodata!(RustyJson.Fragment.new("[1]"))
      "[1]"
  """
  @spec encode_to_iodata!(term()) :: iodata()
  def encode_to_iodata!(term), do: RustyJson.encode_to_iodata!(term, EctoType.stored())

  @doc """
  As `RustyJson.encode!/1`, without the options of the configuration that change what a text says, such as `redact:` (see
  `RustyJson.EctoType`).

      iex> RustyJson.EctoType.Columns.encode!(%{a: 1})
      ~s({"a":1})
  """
  @spec encode!(term()) :: binary()
  def encode!(term), do: RustyJson.encode!(term, EctoType.stored())
end
