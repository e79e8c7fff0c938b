defmodule RustyJson.EctoType.Stored do
  @moduledoc false
  # The text of a term for a column. The configuration of the application is for texts that it sends: they may leave out, rename or replace
  # what is to be stored. Limits, the layout, the engine and the atom that is null stay as they are configured.

  @options [
    canonical: false,
    compress: :none,
    integers: :exact,
    invalid_utf8: :error,
    key_case: nil,
    lean: false,
    omit: [],
    protocol: true,
    redact: [],
    unsupported: :error
  ]

  @spec encode(term()) :: {:ok, String.t()} | {:error, Exception.t()}
  def encode(term), do: RustyJson.encode(term, @options)

  @spec encode!(term()) :: String.t()
  def encode!(term), do: RustyJson.encode!(term, @options)
end
