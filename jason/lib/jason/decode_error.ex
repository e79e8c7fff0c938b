defmodule Jason.DecodeError do
  @moduledoc """
  The input is invalid JSON, or exceeds a configured limit.

    * `position` - byte offset into the input
    * `token` - the part of the input that is wrong as a whole, such as a number that no float can hold; otherwise nil
    * `data` - the input
    * `message` - nil, except for a limit or an end of the sandbox, which Jason does not have
  """

  @type t :: %__MODULE__{
          position: non_neg_integer(),
          token: nil | String.t(),
          data: String.t(),
          message: nil | String.t()
        }

  # `inspect/2` shows the fields of Jason, unless there is a message.
  @derive {Inspect, optional: [:message]}
  defexception [:position, :token, :data, :message]

  @impl true
  def message(%{message: text}) when is_binary(text), do: text

  def message(%{position: position, token: token}) when is_binary(token),
    do: "unexpected sequence at position #{position}: #{inspect(token)}"

  def message(%{position: position, data: data}) when position == byte_size(data),
    do: "unexpected end of input at position #{position}"

  def message(%{position: position, data: data}),
    do: "unexpected byte at position #{position}: " <> shown(binary_part(data, position, 1))

  defp shown(<<byte>> = text) do
    hex = "0x" <> Integer.to_string(byte, 16)
    if String.printable?(text), do: "#{hex} (#{inspect(text)})", else: hex
  end
end
