defmodule RustyJson.EncodeError do
  @moduledoc """
  The term has no JSON form, or its text would leave a limit that was set.

  `message` says what is wrong, `path` is the JSON Pointer (RFC 6901) of the failing term.
  """

  @type t :: %__MODULE__{message: String.t(), path: nil | String.t(), reason: nil | atom()}

  defexception [:message, :path, :reason]

  @reasons {nil, :invalid_utf8, :duplicate_key, :max_depth, :max_bytes, :invalid_key, :improper_list,
            :unsupported, :out_of_memory}

  @impl true
  def exception(message) when is_binary(message), do: %__MODULE__{message: message}
  def exception(fields) when is_list(fields), do: struct!(__MODULE__, fields)

  @doc """
  The error for what is wrong with a term.

      iex> RustyJson.EncodeError.new({:duplicate_key, "a"}).message
      "duplicate key: a"

      iex> RustyJson.EncodeError.new({:invalid_byte, 0xFF, <<97, 0xFF>>}).message
      "invalid byte 0xFF in <<97, 255>>"
  """
  @spec new({:duplicate_key, String.Chars.t()} | {:invalid_byte, byte(), binary()}) :: t()
  def new({:duplicate_key, key}), do: %__MODULE__{message: "duplicate key: #{key}", reason: :duplicate_key}

  def new({:invalid_byte, byte, original}) do
    shown = inspect(original, binaries: :as_binaries)
    %__MODULE__{message: "invalid byte #{inspect(byte, base: :hex)} in #{shown}", reason: :invalid_utf8}
  end

  @doc false
  @spec from_engine(RustyJson.Engine.encode_failure(), RustyJson.Options.t()) :: t()
  def from_engine({code, path, payload}, options) do
    reason = elem(@reasons, code)
    %{of(reason, payload, options) | path: path, reason: reason}
  end

  defp of(:invalid_utf8, binary, _options), do: new({:invalid_byte, invalid_byte(binary), binary})
  defp of(:duplicate_key, key, _options), do: new({:duplicate_key, key})
  defp of(:max_depth, _, options), do: exception("nesting deeper than #{elem(options.packed, 1)}")
  defp of(:max_bytes, _, options), do: exception("output larger than #{elem(options.packed, 2)} bytes")
  defp of(:invalid_key, _, _options), do: exception("Map key must be atom, string, or integer")
  defp of(:improper_list, _, _options), do: exception("improper list")
  defp of(:unsupported, _, _options), do: exception("term without a JSON form")
  defp of(:out_of_memory, _, _options), do: exception("out of memory")

  # The first byte that is not part of a character.
  defp invalid_byte(<<_::utf8, rest::binary>>), do: invalid_byte(rest)
  defp invalid_byte(<<byte, _::binary>>), do: byte
  defp invalid_byte(<<>>), do: 0
end
