defmodule RustyJson.Formatter do
  @moduledoc """
  Formats JSON text without decoding it.

  The input is one JSON text, or several in a row. Tokens are copied unchanged. Input is not validated; the result for invalid
  JSON is unspecified.

  ## Limits

  Indentation multiplies the size: a text of 130 KB with 1,000 levels of nesting becomes 133 MB. Two limits prevent that, and both
  raise `RustyJson.DecodeError`:

    * Text nested deeper than 1,024 levels is not indented (`reason: :max_depth`).
    * The output is at most `:max_bytes` long (`reason: :max_bytes`; `position` is the token that no longer fits). All
      functions take this option. The default is 64 times the input plus 1 MiB, which text of up to 60 levels never
      reaches with the default layout. 0 removes the limit. Iodata of more than 64 times `:max_bytes` plus 1 MiB is refused, too,
      before it becomes a binary.

  The formatter uses the configured engine. `policy: name` uses the engine and the sandbox options of that policy
  (`RustyJson.Config`) instead.
  """

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, EncodeError, Options, SandboxError}
  alias RustyJson.DecodeError.Message
  alias RustyJson.Encode.Measure
  alias RustyJson.Engine.{Codes, Wasm}
  alias RustyJson.Options.{Cache, Words}

  # Indented text grows with the square of its depth.
  @deepest_indented 1024
  @no_limit 0xFFFF_FFFF
  # The longest output when the call sets no limit: a multiple of the input, plus a constant.
  @most_times 64
  @most_more 1_048_576
  # The decoder's codes of failures, as the encoder's codes.
  @failures %{
    Codes.decode(:max_depth) => Codes.encode(:max_depth),
    Codes.decode(:max_bytes) => Codes.encode(:max_bytes),
    Codes.decode(:out_of_memory) => Codes.encode(:out_of_memory)
  }
  @max_bytes Codes.decode(:max_bytes)

  @type opts :: [unquote(Words.type(:formatter)) | {:policy, atom()}]

  @doc """
  Formats JSON for people: one element per line.

  #{Words.doc(:formatter)}

      iex> RustyJson.Formatter.pretty_print(~s({"a":[1,2]})) |> String.split("\\n")
      ["{", ~s(  "a": [), "    1,", "    2", "  ]", "}"]

      iex> try do
      ...>   RustyJson.Formatter.pretty_print("[1, 2]", max_bytes: 8)
      ...> rescue
      ...>   error in RustyJson.DecodeError -> {error.reason, error.position}
      ...> end
      {:max_bytes, 2}
  """
  @spec pretty_print(iodata(), opts()) :: binary()
  def pretty_print(input, opts \\ []) do
    {own, options} = options(opts)
    record = own.record_separator || own.line_separator
    indent = if is_integer(own.indent), do: String.duplicate(" ", own.indent), else: own.indent
    format(input, {indent, own.line_separator, record, own.after_colon}, @deepest_indented, own, options)
  end

  @doc """
  The same as `pretty_print/2`. Returns one binary, which is iodata too.

      iex> RustyJson.Formatter.pretty_print_to_iodata("[]")
      "[]"
  """
  @spec pretty_print_to_iodata(iodata(), opts()) :: iodata()
  def pretty_print_to_iodata(input, opts \\ []), do: pretty_print(input, opts)

  @doc """
  Removes insignificant whitespace. Writes one text per line. Takes the options of `pretty_print/2`, of which `:record_separator` and
  `:max_bytes` apply.

      iex> RustyJson.Formatter.minimize(~s({ "a" : [ 1, 2 ] }))
      ~s({"a":[1,2]})
  """
  @spec minimize(iodata(), opts()) :: binary()
  def minimize(input, opts \\ []) do
    {own, options} = options(opts)
    format(input, {"", "", own.record_separator || "\n", ""}, @no_limit, own, options)
  end

  @doc """
  The same as `minimize/2`.

      iex> RustyJson.Formatter.minify("[ 1 ]")
      "[1]"
  """
  @spec minify(iodata(), opts()) :: binary()
  def minify(input, opts \\ []), do: minimize(input, opts)

  @doc """
  The same as `minimize/2`. Returns one binary, which is iodata too.

      iex> RustyJson.Formatter.minimize_to_iodata("[ 1 ]", [])
      "[1]"
  """
  @spec minimize_to_iodata(iodata(), opts()) :: iodata()
  def minimize_to_iodata(input, opts \\ []), do: minimize(input, opts)

  # Formats a text for a command, with this indent or, without one, as minimize/2 does. Its options are those of an encode call; the output
  # may be as long as it gets, because who reads it has asked for the layout.
  @doc false
  @spec for_command(binary(), nil | binary(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def for_command(json, indent, options) do
    {layout, deepest} =
      if indent, do: {{indent, "\n", "\n", " "}, @deepest_indented}, else: {{"", "", "\n", ""}, @no_limit}

    lay_out(json, options |> Options.due() |> Options.laid_out(layout, {0, deepest, 0}))
  end

  @doc false
  @spec deepest_indented() :: pos_integer()
  def deepest_indented, do: @deepest_indented

  # Formats a part of a document with the options and the engine of the call.
  @doc false
  @spec lay_out(binary(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def lay_out(json, options) do
    case options.engine.format(json, options) do
      {:ok, _text} = done ->
        done

      {:error, %SandboxError{}} = failed ->
        failed

      {:error, {code, _, _, _, path}} when is_map_key(@failures, code) ->
        {:error, EncodeError.from_engine({@failures[code], path, nil}, options)}

      {:error, _failure} ->
        {:error, Wasm.broken_text(options)}
    end
  end

  defp format(input, layout, deepest, %{max_bytes: most}, options) do
    options = Options.due(options)
    text = joined(input, most, options)
    max_bytes = most || @most_times * byte_size(text) + @most_more
    options = Options.laid_out(options, layout, {0, deepest, max_bytes})

    case options.engine.format(text, options) do
      {:ok, text} -> text
      {:error, failure} -> raise error(failure, text, options)
    end
  end

  defp joined(input, _most, _options) when is_binary(input), do: input

  # Iodata can hold the same part many times. The output has all of it but its whitespace.
  defp joined(input, most, options) do
    longest = if most in [nil, 0], do: 0, else: @most_times * most + @most_more

    case Measure.excess(input, longest, options) do
      nil ->
        IO.iodata_to_binary(input)

      :max_bytes ->
        raise error({@max_bytes, 0, 1, 1, ""}, "", %{options | values: %{options.values | max_bytes: most}})

      error ->
        raise error
    end
  end

  defp options(given) do
    Cache.find(:formatter, given, fn ->
      {own, rest} = Options.split!(:formatter, given)
      {own, Options.encode(rest)}
    end)
  end

  # The formatter reports text that is too deep as a decode error.
  defp error({@max_bytes, position, line, column, _path} = failure, text, options) do
    message = Message.at("Output longer than #{options.values.max_bytes} bytes", position, line, column)
    %{DecodeError.new(failure, text, options) | message: message}
  end

  defp error(failure, text, options), do: RustyJson.Decode.Input.error(failure, text, options)
end
