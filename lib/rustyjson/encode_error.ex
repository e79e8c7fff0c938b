defmodule RustyJson.EncodeError do
  @moduledoc """
  The term has no JSON form, or its text exceeds a configured limit.

    * `message` - one line: what is wrong
    * `path` - JSON Pointer (RFC 6901) of the failing term, bounded like that of `RustyJson.DecodeError`. A key whose text
      `String.Chars` makes, such as a charlist or a struct, is only in it with `sort_keys:`, `maps: :strict`, `key_case:` or `redact:`
    * `reason` - an atom:

  | `reason` | the term at fault |
  |---|---|
  | `:invalid_utf8` | a string or key that is not UTF-8 |
  | `:duplicate_key` | two keys of a map that are the same string, with `maps: :strict` or `canonical: true` |
  | `:invalid_key` | a key without `String.Chars`, or an element of a `RustyJson.OrderedObject` that is not a pair |
  | `:improper_list` | a list that does not end in `[]` |
  | `:invalid_struct` | a built-in struct such as `Date`, a `Decimal` or a `RustyJson.Fragment`, with invalid fields |
  | `:invalid_iodata` | a fragment or an encoder that does not return iodata; with `canonical: true` also one whose text is not JSON |
  | `:inexact_integer` | an integer that canonical JSON cannot represent exactly |
  | `:max_depth`, `:max_bytes` | the text exceeds the limit |
  | `:out_of_memory` | the text does not fit in memory |
  """

  alias RustyJson.DecodeError.{Message, Snippet}
  alias RustyJson.Encode.Excerpt

  @type reason ::
          :invalid_utf8
          | :duplicate_key
          | :max_depth
          | :max_bytes
          | :invalid_key
          | :improper_list
          | :unsupported
          | :out_of_memory
          | :invalid_struct
          | :invalid_iodata
          | :inexact_integer

  @type t :: %__MODULE__{message: String.t(), path: nil | String.t(), reason: nil | reason(), call: nil}

  # The call that the error is about, while encoders of the application may catch it.
  @derive {Inspect, optional: [:call]}
  defexception [:message, :path, :reason, :call]

  # How much of a struct a message shows: enough to identify it.
  @shown [limit: 12, printable_limit: 64, width: :infinity]

  # As many bytes of a binary as `inspect/2` shows by default before Elixir 1.20; of some more, so that it marks the cut.
  @invalid [binaries: :as_binaries, limit: 50]
  @bytes 128

  @impl true
  def exception(message) when is_binary(message), do: %__MODULE__{message: message}
  def exception(fields) when is_list(fields), do: struct!(__MODULE__, fields)

  @doc """
  Builds the error for a fault in a term.

      iex> RustyJson.EncodeError.new({:duplicate_key, "a"}).message
      "duplicate key: a"

      iex> RustyJson.EncodeError.new({:invalid_byte, 0xFF, <<97, 0xFF>>}).message
      "invalid byte 0xFF in <<97, 255>>"
  """
  @spec new(
          {:duplicate_key, String.Chars.t()}
          | {:invalid_byte, byte(), binary()}
          | {:invalid_struct, struct()}
          | {:invalid_iodata, String.t()}
          | {:inexact_integer, String.t()}
        ) :: t()
  def new({:duplicate_key, key}),
    do: %__MODULE__{message: "duplicate key: #{Message.printable("#{key}")}", reason: :duplicate_key}

  def new({:invalid_byte, byte, original}) do
    shown = original |> binary_part(0, min(byte_size(original), @bytes)) |> inspect(@invalid)
    %__MODULE__{message: invalid(byte, shown), reason: :invalid_utf8}
  end

  def new({:invalid_struct, struct}) do
    message = "invalid #{inspect(struct.__struct__)}: #{Excerpt.fields(struct, @shown)}"
    %__MODULE__{message: message, reason: :invalid_struct}
  end

  def new({:inexact_integer, digits}),
    do: %__MODULE__{
      message: "integer that canonical JSON cannot represent exactly: #{digits}",
      reason: :inexact_integer
    }

  def new({:invalid_iodata, message}), do: %__MODULE__{message: message, reason: :invalid_iodata}

  defp invalid(byte, shown), do: "invalid byte #{inspect(byte, base: :hex)} in #{shown}"

  @doc false
  @spec from_engine(RustyJson.Engine.encode_failure(), RustyJson.Options.t()) :: t()
  def from_engine({code, path, payload}, options) do
    reason = RustyJson.Engine.Codes.encode_reason(code)
    # The path can contain a key with invalid UTF-8.
    %{of(reason, payload, options) | path: Snippet.valid(path), reason: reason}
  end

  @doc false
  # The failure of a call with these options, which may have been an engine's fault.
  @spec of_call(RustyJson.Engine.encode_failure() | RustyJson.SandboxError.t(), RustyJson.Options.t() | nil) ::
          Exception.t()
  def of_call(%RustyJson.SandboxError{} = error, options), do: marked(error, options)
  def of_call(failure, options), do: failure |> from_engine(options) |> marked(options)

  @doc false
  # An encoder may also raise errors of calls of its own, which `:unsupported` replaces.
  @spec marked(Exception.t(), RustyJson.Options.t() | nil) :: Exception.t()
  def marked(error, %{call: call}), do: %{error | call: call}
  def marked(error, nil), do: error

  # The core gives the invalid byte and the start of the binary.
  # Jason's message has as much of it as this version of Elixir shows.
  defp of(:invalid_utf8, <<byte, start::binary>>, %{values: %{extras: :left}}),
    do: exception(message: invalid(byte, inspect(start, binaries: :as_binaries)))

  defp of(:invalid_utf8, <<byte, start::binary>>, _options), do: new({:invalid_byte, byte, start})
  defp of(:invalid_utf8, <<>>, _options), do: new({:invalid_byte, 0, <<>>})
  defp of(:duplicate_key, key, _options), do: new({:duplicate_key, key})
  defp of(:max_depth, _, options), do: exception("nesting deeper than #{options.values.max_depth}")
  defp of(:max_bytes, _, options), do: exception("output larger than #{options.values.max_bytes} bytes")
  defp of(:invalid_key, _, _options), do: exception("Map key must be atom, string, or integer")
  defp of(:improper_list, _, _options), do: exception("improper list")
  defp of(:unsupported, _, _options), do: exception("term without a JSON form")
  defp of(:out_of_memory, _, _options), do: exception("out of memory")
end
