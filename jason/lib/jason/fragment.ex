defmodule Jason.Fragment do
  @moduledoc """
  Existing JSON text as a part of a term.

      iex> Jason.encode!(%{user: Jason.Fragment.new(~s({"id":1}))})
      ~s({"user":{"id":1}})

  The text is not checked. The field `encode` is always a function.
  """

  @type t :: %__MODULE__{encode: (Jason.Encode.opts() -> iodata())}

  defstruct [:encode]

  @doc "Builds a fragment from iodata, or from a function that takes the options of the call and returns iodata."
  @spec new(iodata() | (Jason.Encode.opts() -> iodata())) :: t()
  def new(iodata) when is_list(iodata) or is_binary(iodata), do: %__MODULE__{encode: fn _opts -> iodata end}
  def new(encode) when is_function(encode, 1), do: %__MODULE__{encode: encode}
end
