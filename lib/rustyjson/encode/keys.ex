defmodule RustyJson.Encode.Keys do
  @moduledoc false
  # Keys that the core does not write, and limits that are checked before members and digits are written. Functions raise
  # `RustyJson.EncodeError`.

  require RustyJson.Encode.Unsupported
  require RustyJson.Engine.Codes

  alias RustyJson.{EncodeError, Options, OrderedObject}
  alias RustyJson.Encode.{Excerpt, Known, Lost, Measure, Unsupported}
  alias RustyJson.Engine.Codes

  @texts Known.texts()
  # Parts that take about as long as the text of a key.
  @member 16

  @doc "Refuses a decimal that exceeds `max_bytes` before its digits are written, which takes quadratic time. The core leaves huge ones to Elixir."
  @spec check_digits!(term(), Options.t()) :: :ok
  def check_digits!(%{__struct__: Decimal, coef: coef}, %{values: %{max_bytes: most}} = options)
      when most > 0 and is_integer(coef) and coef > 0 do
    # An integer has at least 2.4 digits for each byte but the first.
    bytes = coef |> :binary.encode_unsigned() |> byte_size()

    if div((bytes - 1) * 12, 5) > most, do: too_long(options), else: :ok
  end

  def check_digits!(_term, _options), do: :ok

  @doc "Refuses an object of more members than `max_bytes` has room for: each takes at least five bytes, `\"\":0,`."
  @spec check_members!(non_neg_integer(), Options.t()) :: :ok
  def check_members!(count, %{values: %{max_bytes: most, omit: []}} = options)
      when most > 0 and 5 * count > most + 1,
      do: too_long(options)

  def check_members!(_count, _options), do: :ok

  @doc """
  The object of these members. The core writes keys that are strings, atoms and numbers, whose digits may be many. Others become strings
  through String.Chars; as soon as they exceed `max_bytes` together, no more of them is made.
  """
  @spec with_string_keys(term(), Options.t()) :: OrderedObject.t()
  def with_string_keys(values, %{values: %{max_bytes: most}} = options),
    do: OrderedObject.new(pairs(values, if(most > 0, do: most, else: :infinity), options))

  defp pairs([{key, value} | rest], left, options) do
    name = if is_number(key), do: key, else: string_key(key, options)
    [{name, value} | pairs(rest, left_after(left, name, value, options), options)]
  end

  defp pairs([], _left, _options), do: []
  defp pairs([_no_pair | _rest], _left, _options), do: invalid_key()
  defp pairs(_tail, _left, _options), do: improper_list()

  # `:omit` can leave out nil and structs.
  defp left_after(left, name, value, %{values: %{omit: omit}} = options)
       when is_integer(left) and is_binary(name) and (omit == [] or not (is_nil(value) or is_struct(value))),
       do: if(byte_size(name) <= left, do: left - byte_size(name), else: too_long(options))

  # The core counts it once more if it leaves it out.
  defp left_after(left, _name, _value, options) do
    Lost.spend!(@member, options)
    left
  end

  @doc "A key as a string, or as an atom: the core writes these as they are; `String.Chars` makes nothing of nil."
  @spec string_key(term(), Options.t()) :: String.t() | atom()
  def string_key(key, _options) when is_binary(key) or is_atom(key), do: key

  def string_key(key, options) when Unsupported.is_described(options) do
    chars(key, options)
  catch
    kind, reason ->
      if not Unsupported.concerns?(kind, reason, options), do: :erlang.raise(kind, reason, __STACKTRACE__)
      {instead, options} = Unsupported.instead(key, options)
      string_key(instead, options)
  end

  def string_key(key, options), do: chars(key, options)

  defp chars(key, options) when Unsupported.is_of_standin(options) and is_list(key) do
    Measure.bounded(key, options)

    cond do
      text = chardata(key) -> text
      # Raises, as Jason does.
      Measure.short?(key) -> String.Chars.to_string(key)
      true -> raise ArgumentError, "cannot convert the given list to a string: #{Excerpt.brief(key)}"
    end
  end

  defp chars(key, options) when Unsupported.is_of_standin(options), do: String.Chars.to_string(key)

  defp chars(key, options) do
    check_digits!(key, options)
    if is_list(key), do: Measure.bounded(key, options)

    case String.Chars.impl_for(key) && key_text(key) do
      text when is_binary(text) -> text
      _none -> invalid_key()
    end
  end

  # Exceptions of the application's implementations are not caught.
  defp key_text(%Version{} = key), do: if(Measure.short?(key), do: text_of(key))
  defp key_text(%module{} = key) when module in @texts, do: if(Known.scalars?(key), do: text_of(key))
  defp key_text(%_module{} = key), do: String.Chars.to_string(key)
  defp key_text(key) when is_list(key), do: chardata(key)
  defp key_text(key), do: text_of(key)

  # For a list that is no text, the error of `String.Chars` shows all of it. That has no end where a part stands in others many times.
  defp chardata(list) do
    with text when not is_binary(text) <- :unicode.characters_to_binary(list), do: nil
  rescue
    ArgumentError -> nil
  end

  defp text_of(key) do
    String.Chars.to_string(key)
  rescue
    _ -> nil
  end

  @spec too_long(Options.t()) :: no_return()
  defp too_long(options), do: raise(EncodeError.of_call({Codes.encode(:max_bytes), "", nil}, options))

  @doc "Raises the error of a list that does not end in `[]`."
  @spec improper_list() :: no_return()
  def improper_list, do: raise(EncodeError.of_call({Codes.encode(:improper_list), "", nil}, nil))

  @doc "Raises the error for a key without a text, and for an element that is not a pair."
  @spec invalid_key() :: no_return()
  def invalid_key, do: raise(EncodeError.of_call({Codes.encode(:invalid_key), "", nil}, nil))
end
