defmodule RustyJson.Encode.Canonical do
  @moduledoc false
  # Canonical JSON (RFC 8785). The term is encoded as usual, and the text is then made canonical. This covers fragments and the
  # application's own encoders too.

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, EncodeError, Options, SandboxError}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Text
  alias RustyJson.Engine.Codes
  alias RustyJson.Options.Cache

  # How much longer than its canonical form a text may be. `\\u0041` becomes `A`, six times as short. The rest is for what is rare but
  # has no such bound: white space in fragments, and integers of up to 309 digits, which become `1e+308`.
  @shrinks 6
  @more 65_536
  # Digits of an integer that an error shows.
  @shown 40

  # How the plain text is read, without a limit on digits: a long integer is canonical if a float can represent it exactly.
  @decode %{Options.Values.defaults(:decode) | decoding_integer_digit_limit: 0}

  @doc "A term in canonical form."
  @spec encode(term(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def encode(term, %{values: %{max_bytes: most, max_depth: depth}} = options) do
    options = Options.due(options)
    plain = Options.change(%{options | canonical: false, compress: -1}, :encode, plain(most))

    with {:ok, json} <- Text.encode(term, plain),
         {:ok, text} <- canonical(json, most, %{max_depth: depth}, options) do
      compress(text, options)
    else
      {:error, {:engine, failure, json}} ->
        {:error, error(failure, json, options)}

      {:error, %EncodeError{reason: :max_bytes} = error} ->
        {:error, of_call(error, plain, options)}

      {:error, error} ->
        {:error, error}
    end
  end

  defp plain(0), do: %{compress: -1}
  defp plain(most), do: %{compress: -1, max_bytes: @shrinks * most + @more}

  # The limit of the plain text is not the one of the call. An encoder may also have met a limit of a call of its own.
  defp of_call(error, plain, options) do
    failure = {code(:max_bytes), "", nil}

    if error.message == EncodeError.from_engine(failure, plain).message,
      do: EncodeError.from_engine(failure, options),
      else: error
  end

  defp canonical(json, most, limits, %{engine: engine} = options) do
    values = Map.merge(@decode, limits)
    bytes = Options.Layout.decode(values) <> <<most::64-little>>

    with {:error, failure} <- engine.canonicalize(json, %{options | bytes: bytes}),
         do: {:error, {:engine, failure, json}}
  end

  defp compress(text, %{compress: -1}), do: {:ok, text}

  defp compress(text, options) do
    with {:error, failure} <- options.engine.gzip(text, options),
         do: {:error, if(is_tuple(failure), do: EncodeError.from_engine(failure, options), else: failure)}
  end

  defp error(%SandboxError{} = error, _json, _options), do: error

  defp error({code, position, _line, _column, path} = failure, json, options) do
    case Codes.decode_reason(code) do
      :duplicate_key ->
        located(EncodeError.new({:duplicate_key, key(json, position)}), path)

      :inexact_integer ->
        located(EncodeError.new({:inexact_integer, digits(json, position)}), path)

      reason when reason in [:max_depth, :max_bytes, :out_of_memory] ->
        EncodeError.from_engine({code(reason), if(reason == :max_depth, do: path, else: ""), nil}, options)

      _reason ->
        %{message: message} = DecodeError.new(failure, json, options)

        located(
          EncodeError.new({:invalid_iodata, "a fragment or an encoder gave invalid JSON: #{message}"}),
          path
        )
    end
  end

  defp code(:max_depth), do: Codes.encode(:max_depth)
  defp code(:max_bytes), do: Codes.encode(:max_bytes)
  defp code(:out_of_memory), do: Codes.encode(:out_of_memory)

  defp located(error, path), do: %{error | path: path}

  # The key as it is spelled in the text, without its quotes.
  defp key(json, position) do
    [_, key] = Regex.run(~r/\A"((?:[^"\\]|\\.)*)/s, rest(json, position, 256)) || ["", ""]
    DecodeError.Snippet.whole_characters(key)
  end

  defp digits(json, position) do
    [digits] = Regex.run(~r/\A-?[0-9]*/, rest(json, position, @shown + 1)) || [""]
    if byte_size(digits) > @shown, do: binary_part(digits, 0, @shown) <> "…", else: digits
  end

  defp rest(json, position, most) when position <= byte_size(json),
    do: binary_part(json, position, min(byte_size(json) - position, most))

  @doc "A text in canonical form."
  @spec canonicalize(iodata(), keyword() | map()) :: {:ok, binary()} | {:error, Exception.t()}
  def canonicalize(input, given) do
    {_own, options} = Cache.find(:canonicalize, given, fn -> options(given) end)

    with {:ok, json} <- Input.flatten(input, options),
         {:error, failure} <- options.engine.canonicalize(json, options),
         do: {:error, Input.error(failure, json, options)}
  end

  defp options(given) do
    {own, given} = Options.split!(:canonicalize, given)
    # A policy may ask for parts of a document, which stand behind the options, too.
    options = %{values: values} = Options.decode(given)
    {own, %{options | bytes: Options.Layout.decode(values) <> <<0::64-little>>}}
  end
end
