defmodule RustyJson.Decoder do
  @moduledoc """
  The decoder, under Jason's name.
  """

  @doc """
  The same as `RustyJson.decode/2`.

      iex> RustyJson.Decoder.parse("[1]", keys: :atoms)
      {:ok, [1]}
  """
  @spec parse(iodata(), [RustyJson.decode_option()] | map()) ::
          {:ok, term()} | {:error, RustyJson.DecodeError.t() | RustyJson.SandboxError.t()}
  def parse(data, opts \\ []), do: RustyJson.decode(data, opts)
end
