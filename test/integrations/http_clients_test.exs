defmodule RustyJson.Neighbours.HTTPClientsTest do
  @moduledoc """
  Tesla: `{Tesla.Middleware.JSON, engine: RustyJson, engine_opts: [...]}` calls `encode/2` and `decode/2` with the same
  options for both, and rescues `Protocol.UndefinedError` only (read from Tesla 1.21).

  Req: `decoders: [json: &RustyJson.decode/1]` (0.8) or `decode_body: false` and a step of one's own (0.5); its bodies can be
  made beforehand with `body: RustyJson.encode_to_iodata!(data)`.
  """
  use ExUnit.Case, async: true

  defmodule Secret do
    @moduledoc false
    defstruct [:token]
  end

  # Like Tesla.Middleware.JSON.
  defp tesla(operation, data, options) do
    case apply(options[:engine], operation, [data, Keyword.get(options, :engine_opts, [])]) do
      {:ok, data} -> {:ok, data}
      {:error, reason} -> {:error, {Tesla.Middleware.JSON, operation, reason}}
    end
  rescue
    error in Protocol.UndefinedError -> {:error, {Tesla.Middleware.JSON, operation, error}}
  end

  test "Tesla: a request and its answer" do
    options = [engine: RustyJson]
    assert tesla(:encode, %{q: "ü"}, options) == {:ok, ~s({"q":"ü"})}
    assert tesla(:decode, ~s({"a":[1]}), options) == {:ok, %{"a" => [1]}}
  end

  test "Tesla: what cannot be sent, and what is not JSON, is an error and no exception" do
    options = [engine: RustyJson]
    assert {:error, {_, :encode, %Protocol.UndefinedError{}}} = tesla(:encode, %Secret{token: "x"}, options)
    assert {:error, {_, :encode, %RustyJson.EncodeError{}}} = tesla(:encode, <<255>>, options)

    assert {:error, {_, :decode, %RustyJson.DecodeError{line: 1, column: 1}}} =
             tesla(:decode, "<html>", options)
  end

  test "Tesla: decode: and encode: take functions, and each its own options" do
    decode = &RustyJson.decode(&1, keys: :atoms!)
    assert {:ok, %{ok: true}} = decode.(~s({"ok":true}))
    assert {:error, %RustyJson.DecodeError{reason: :unknown_atom}} = decode.(~s({"there is no such atom":1}))
  end

  # Req's decoders return {:ok, term} or {:error, exception}. Req returns the exception to its caller.
  test "Req: a decoder" do
    decoder = &RustyJson.decode/1
    assert {:ok, %{"a" => 1}} = decoder.(~s({"a":1}))
    assert {:error, exception} = decoder.("{")
    assert is_exception(exception)
  end

  test "Req: a body" do
    assert %{a: 1} |> RustyJson.encode_to_iodata!() |> IO.iodata_to_binary() == ~s({"a":1})
  end
end
