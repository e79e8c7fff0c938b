defmodule Jason.EncodeError do
  @moduledoc """
  A term has no JSON form, or its text exceeds a configured limit. The only field is `message`.
  """

  @type t :: %__MODULE__{message: String.t()}

  defexception [:message]

  # Undocumented in Jason too, but packages call it.
  @doc false
  @spec new({:duplicate_key, String.Chars.t()} | {:invalid_byte, byte(), binary()}) :: t()
  def new({:duplicate_key, key}), do: %__MODULE__{message: "duplicate key: #{key}"}

  def new({:invalid_byte, byte, original}),
    do: %__MODULE__{message: "invalid byte 0x#{Integer.to_string(byte, 16)} in #{inspect(original)}"}

  @doc false
  @spec from(Exception.t()) :: Exception.t()
  def from(%RustyJson.EncodeError{} = error), do: %__MODULE__{message: Exception.message(error)}
  def from(%RustyJson.SandboxError{} = error), do: %__MODULE__{message: Exception.message(error)}
  def from(error), do: error
end
