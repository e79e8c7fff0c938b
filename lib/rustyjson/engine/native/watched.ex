defmodule RustyJson.Engine.Native.Watched do
  @moduledoc false
  # The native engine with an event for each call, in place of `RustyJson.Engine.Native` where the configuration asks for events. The short
  # ways of `decode/2` and `encode/2` are for that engine only, so they cost nothing for this one's sake.

  @behaviour RustyJson.Engine

  alias RustyJson.{DecodeError, Telemetry}
  alias RustyJson.Engine.{Codes, Native}

  @impl true
  def decode(json, options), do: watched(:decode, json, fn -> Native.decode(json, options) end)

  @impl true
  def decode_many(documents, options),
    do: watched(:many, documents, fn -> Native.decode_many(documents, options) end)

  @impl true
  def feed(question, piece, options),
    do: watched(:feed, piece, fn -> Native.feed(question, piece, options) end)

  @impl true
  def encode(term, options), do: watched(:encode, nil, fn -> Native.encode(term, options) end)

  @impl true
  def gzip(text, options), do: watched(:gzip, text, fn -> Native.gzip(text, options) end)

  @impl true
  def format(text, options), do: watched(:format, text, fn -> Native.format(text, options) end)

  @impl true
  def canonicalize(text, options),
    do: watched(:canonicalize, text, fn -> Native.canonicalize(text, options) end)

  @impl true
  def status, do: Native.status()

  defp watched(operation, input, run) do
    start = System.monotonic_time()
    answer = run.()
    duration = System.monotonic_time() - start
    about = %{operation: operation, reason: reason(operation, answer)}
    Telemetry.emit(:native, %{duration: duration, bytes: bytes(input, answer)}, about)
    answer
  end

  defp bytes(text, _answer) when is_binary(text), do: byte_size(text)
  defp bytes(documents, _answer) when is_list(documents), do: IO.iodata_length(documents)
  # A term has no size of its own.
  defp bytes(nil, {:ok, text}), do: byte_size(text)
  defp bytes(nil, {:partial, text, _holes}), do: byte_size(text)
  defp bytes(nil, _failed), do: 0

  defp reason(operation, {:error, failure}), do: named(operation, failure)
  defp reason(:feed, {_values, _kept, _state, trouble}) when is_tuple(trouble), do: named(:feed, trouble)
  defp reason(_operation, _answer), do: nil

  defp named(operation, {_total, _left, [failure | _]}), do: named(operation, failure)

  defp named(operation, failure) when operation in [:encode, :gzip],
    do: failure |> elem(0) |> Codes.encode_reason()

  defp named(_operation, failure), do: failure |> elem(0) |> DecodeError.reason_of()
end
