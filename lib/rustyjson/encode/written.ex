defmodule RustyJson.Encode.Written do
  @moduledoc false
  # Text that an encoder or a fragment of the application wrote: whether it is iodata, and its layout in the text of the call.
  # Functions raise `RustyJson.EncodeError`.

  alias RustyJson.{EncodeError, Formatter, Options}
  alias RustyJson.Decode.Input
  alias RustyJson.Encode.{Excerpt, Path}

  @doc "Whether this is iodata."
  @spec iodata?(term()) :: boolean()
  def iodata?(piece) do
    is_integer(IO.iodata_length([piece]))
  rescue
    ArgumentError -> false
  end

  @doc "The error of a text that is not iodata."
  @spec no_iodata() :: Exception.t()
  def no_iodata,
    do: EncodeError.new({:invalid_iodata, "an encoder or a fragment did not return iodata"})

  @doc "The text of these pieces. The error of one that is not iodata has its path."
  @spec joined([iodata()], Options.t()) :: binary()
  # Checking each piece would take longer than writing it, so only after a failure is the first bad piece located.
  def joined(pieces, options) do
    IO.iodata_to_binary(pieces)
  rescue
    ArgumentError ->
      before = pieces |> Enum.take_while(&iodata?/1) |> IO.iodata_to_binary()
      reraise %{no_iodata() | path: Path.reached(before, options)}, __STACKTRACE__
  end

  @doc "Raises the error of an encoder or a fragment that returned something else."
  @spec no_text(term(), module() | String.t()) :: no_return()
  # An integer is iodata only inside a list, as a byte.
  def no_text(other, by) do
    by = if is_atom(by), do: inspect(by), else: by
    raise EncodeError.new({:invalid_iodata, "#{by} returned #{Excerpt.brief(other)}, expected iodata"})
  end

  @doc "Text in the layout of the call."
  @spec lay_out(iodata(), Options.t()) :: iodata()
  def lay_out(iodata, %{values: %{pretty: false}}), do: iodata

  def lay_out(iodata, options), do: iodata |> flat() |> laid_out(options)

  @doc "Text that has to be JSON by the rules of the call."
  @spec guarded(binary(), Options.t()) :: binary()
  def guarded(text, %{values: %{guard: nil}}), do: text

  def guarded(text, %{values: %{guard: guard}}) do
    case Input.given(text, guard) do
      {:ok, _value} ->
        text

      {:error, _error} ->
        raise EncodeError.new({:invalid_iodata, "a fragment or an encoder gave invalid JSON"})
    end
  end

  # What would end a record is whitespace, or no JSON.
  @ends_of_records ["\n", "\r", <<0x1E>>]

  @doc "Whether a reader of lines or of a sequence may end a record in this text."
  @spec ends_record?(binary()) :: boolean()
  def ends_record?(text), do: :binary.match(text, @ends_of_records) != :nomatch

  @doc "Text of a record, if the call writes records. The core leaves fragments here if they would end it."
  @spec in_record(iodata(), Options.t()) :: iodata()
  def in_record(text, %{origin: nil}), do: text
  def in_record(text, options), do: record(text, options)

  @doc "Text without what would end a record. Raises."
  @spec record(iodata(), Options.t()) :: binary()
  def record(text, options) do
    text = flat(text)

    if ends_record?(text), do: text |> minified(options) |> in_one(), else: text
  end

  # A line break between several texts stays.
  defp minified(text, %{values: %{max_depth: deepest, max_bytes: most}} = options),
    do: laid_out(text, Options.laid_out(options, {"", "", "\n", ""}, {Options.depth(options), deepest, most}))

  defp in_one(text) do
    if ends_record?(text),
      do:
        raise(EncodeError.new({:invalid_iodata, "a fragment or an encoder gave text that is not one record"})),
      else: text
  end

  defp laid_out(text, options) do
    case Formatter.lay_out(text, options) do
      {:ok, text} -> text
      {:error, error} -> raise EncodeError.marked(error, options)
    end
  end

  @doc "The bytes of text of which only its encoder or fragment knows whether it is iodata."
  @spec flat(iodata()) :: binary()
  def flat(iodata) do
    IO.iodata_to_binary(iodata)
  rescue
    ArgumentError -> reraise no_iodata(), __STACKTRACE__
  end
end
