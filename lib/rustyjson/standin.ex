defmodule RustyJson.Standin do
  @moduledoc false
  # What the package `:jason` in the folder jason/ needs of this library: calls with Jason's options and Jason's results, under the
  # configured engine, limits and policy. Its other options do not apply there, because packages rely on Jason's output.

  alias RustyJson.{Config, Encoder, Formatter, Options, SandboxError}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.{Known, Part, Text}
  alias RustyJson.Encoder.{Derive, Plans}
  alias RustyJson.Options.{Cache, Pack, Values}
  alias RustyJson.Standin.Stale

  @unlimited 0xFFFF_FFFF
  # Of the configuration and of the policy, what says where a call runs and how much it may take.
  @taken %{
    decode:
      ~w(engine resolved sandbox max_bytes max_nodes decoding_integer_digit_limit max_decimal_digits max_decimal_exponent
         dirty dirty_threshold)a,
    encode: ~w(engine resolved sandbox max_bytes scheduler large_maps)a
  }

  @doc "Decodes as Jason does. The errors are those of this library."
  @spec decode(iodata(), %{keys: term(), strings: atom(), floats: atom(), objects: atom()}) ::
          {:ok, term()} | {:error, Exception.t()}
  def decode(input, given), do: Input.given(input, options(:decode, given))

  @doc """
  The same for a text that is changed before, unless the function gives nil. Within `max_bytes`, and in the time of one call. Errors are
  about the text as it is.
  """
  @spec decode_changed(binary(), %{atom() => term()}, (binary() -> binary() | nil)) ::
          {:ok, term()} | {:error, Exception.t()}
  def decode_changed(input, given, change) do
    # What is decoded straight has no deadline.
    options = %{Options.due(options(:decode, given)) | straight: nil}

    with {:ok, text} <- Input.flatten(input, options),
         text when is_binary(text) <- change.(text),
         {:ok, _term} = done <- Input.given(text, of_any_length(options)) do
      done
    else
      {:error, %SandboxError{}} = ended -> ended
      _none_or_error -> Input.given(input, options)
    end
  end

  # The changed text may be longer than the one that was checked.
  defp of_any_length(%{max_bytes: 0} = options), do: options

  defp of_any_length(options),
    do: %{Options.change(options, :decode, %{max_bytes: 0}) | max_bytes: 0}

  @typedoc "Indent, line separator, record separator, and what follows a colon."
  @type layout :: Values.layout()

  @doc """
  The text of a term, as Jason writes it. The errors are those of this library. `layout` makes a layout of what `pretty` is, unless that is
  `false`. The finished text is laid out, because that of a fragment need not be one value; and an error of the term comes before one of
  the layout.
  """
  @spec encode(term(), %{escape: atom(), maps: atom(), pretty: term()}, (term() -> layout())) ::
          {:ok, binary()} | {:error, Exception.t()}
  def encode(term, %{pretty: false} = given, _layout), do: written(term, encode_options(given))

  def encode(term, given, layout) do
    options = encode_options(%{given | pretty: false})
    %{sandbox: sandbox} = due = Options.due(options)

    with {:ok, text} <- written(term, due),
         do: Formatter.lay_out(text, %{laid_out(options, given, layout) | sandbox: sandbox})
  end

  # `pretty: true` is known after the first call.
  defp laid_out(options, given, layout) do
    %{max_depth: deepest, max_bytes: most} = options.values
    make = fn -> Options.laid_out(options, layout.(given.pretty), {0, deepest, most}) end
    Cache.find(:jason_layout, given, make)
  end

  defp written(term, options) do
    Text.encode(term, options)
  rescue
    error in FunctionClauseError -> reraise Stale.explained(error), __STACKTRACE__
  end

  @doc "The options that an implementation of the protocol gets."
  @spec encode_options(%{escape: atom(), maps: atom(), pretty: boolean()}) :: Options.t()
  def encode_options(given), do: options(:encode, given)

  @doc "The text of a part. Raises."
  @spec part(term(), Options.t()) :: iodata()
  def part(term, options), do: Part.encode!(term, options)

  @doc "The implementation that the derivation of the protocol generates."
  @spec derive(module(), module(), map(), keyword()) :: Macro.t()
  def derive(protocol, module, struct, options), do: Derive.implementation(protocol, module, struct, options)

  @doc "What to do about a value without an implementation."
  @spec advice(term()) :: String.t()
  defdelegate advice(value), to: Derive

  @doc "The implementation of `RustyJson.Encoder` for a struct, if the struct has one."
  @spec own_implementation(term()) :: module() | nil
  def own_implementation(%_{} = struct) do
    implementation = Known.implementation(Encoder, struct)
    if implementation != Encoder.Any, do: implementation
  end

  def own_implementation(_value), do: nil

  defp options(:decode, given), do: Cache.find(:jason_decode, given, fn -> make(:decode, given) end)
  defp options(:encode, given), do: Cache.find(:jason_encode, given, fn -> make(:encode, given) end)

  defp make(:decode, given), do: Pack.pack(:decode, Values.put_all(given, base(:decode), :decode))

  defp make(:encode, given) do
    Plans.stand_in(Jason.Encoder)
    Pack.pack(:encode, Values.put_all(given, base(:encode), :encode))
  end

  defp base(direction) do
    {values, given} = configured(Application.get_env(:jason, :policy), direction)

    direction
    |> Values.defaults()
    |> Map.merge(Map.take(values, Map.fetch!(@taken, direction)))
    |> Map.put(:max_depth, if(given[:max_depth], do: values.max_depth, else: @unlimited))
    |> as_jason(direction)
  end

  defp configured(nil, direction),
    do: {Config.values(direction), Map.new(Application.get_env(:rustyjson, direction, []))}

  defp configured(policy, direction) do
    {_values, given} = configured(nil, direction)
    policy = Config.policy(policy)
    {Map.fetch!(policy, direction), Map.merge(given, Map.new(policy.given))}
  end

  defp as_jason(values, :encode), do: %{values | extras: :left}

  defp as_jason(values, :decode),
    do: %{values | duplicate_keys: :first, decoding_integer_digit_limit: digits(values)}

  # Jason's own setting. Jason compares it with a number, and every atom is greater than that: so `:infinity` and `nil` are no limit.
  defp digits(values) do
    case Application.get_env(:jason, :decoding_integer_digit_limit, values.decoding_integer_digit_limit) do
      none when none in [nil, :infinity] ->
        0

      limit when is_integer(limit) and limit > 0xFFFF_FFFE ->
        0

      limit ->
        Values.put_all([decoding_integer_digit_limit: limit], values, :decode).decoding_integer_digit_limit
    end
  end
end
