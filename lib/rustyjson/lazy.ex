defmodule RustyJson.Lazy do
  @moduledoc """
  An array that is made while it is written: see `RustyJson.lazy/1`.
  """

  @enforce_keys [:source]
  defstruct [:source]

  @type t :: %__MODULE__{source: Enumerable.t()}

  # `encode/2` has no use for pieces.
  defimpl RustyJson.Encoder do
    def encode(%{source: source}, opts), do: RustyJson.Encode.list(Enum.to_list(source), opts)
  end
end
