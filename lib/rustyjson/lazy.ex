defmodule RustyJson.Lazy do
  @moduledoc """
  An array that is made while it is written: see `RustyJson.lazy/1`.
  """

  @enforce_keys [:source]
  defstruct [:source]

  @type t :: %__MODULE__{source: Enumerable.t()}

  # `encode/2` has no use for pieces. A source may have no end: of more elements than the text may have bytes, no more are
  # taken than exceed that limit.
  defimpl RustyJson.Encoder do
    def encode(%{source: source}, %{values: %{max_bytes: 0}} = opts),
      do: RustyJson.Encode.list(Enum.to_list(source), opts)

    def encode(%{source: source}, %{values: %{max_bytes: most}} = opts),
      do: RustyJson.Encode.list(Enum.take(source, most), opts)
  end
end
