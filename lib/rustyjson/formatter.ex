defmodule RustyJson.Formatter do
  @moduledoc """
  Lays out JSON text anew, without decoding it.

  The input is JSON: one text or several, one after the other. Tokens are copied as they are, so what is not JSON gives
  what it gives. Texts nested deeper than 1024 levels are not indented: that raises `RustyJson.DecodeError`.
  """

  alias RustyJson.{Config, EncodeError, Options, SandboxError}

  # Indented text grows with the square of its depth.
  @deepest_indented 1024
  @no_limit 0xFFFF_FFFF
  # What fails of a decoder's (max_depth, out_of_memory), by an encoder's codes.
  @failures %{22 => 3, 29 => 8}
  @places %{indent: 0, line_separator: 1, record_separator: 2, after_colon: 3}

  @type opts :: [
          indent: iodata(),
          line_separator: iodata(),
          record_separator: iodata(),
          after_colon: iodata()
        ]

  @doc """
  Lays out JSON for people: an element a line.

    * `:indent` - for nested values (default two spaces), or a number of spaces
    * `:line_separator` - between lines (default `"\\n"`)
    * `:record_separator` - between several texts (default the line separator)
    * `:after_colon` - after a colon (default one space)

      iex> RustyJson.Formatter.pretty_print(~s({"a":[1,2]})) |> String.split("\\n")
      ["{", ~s(  "a": [), "    1,", "    2", "  ]", "}"]
  """
  @spec pretty_print(iodata(), opts()) :: binary()
  def pretty_print(input, opts \\ []) do
    {indent, line, record, colon} = options(opts, {"  ", "\n", nil, " "})
    format(input, {indent, line, record || line, colon}, {0, @deepest_indented})
  end

  @doc """
  The same as `pretty_print/2`; one binary is iodata.

      iex> RustyJson.Formatter.pretty_print_to_iodata("[]")
      "[]"
  """
  @spec pretty_print_to_iodata(iodata(), opts()) :: iodata()
  def pretty_print_to_iodata(input, opts \\ []), do: pretty_print(input, opts)

  @doc """
  Takes out all white space that means nothing. Several texts come one a line (`:record_separator`).

      iex> RustyJson.Formatter.minimize(~s({ "a" : [ 1, 2 ] }))
      ~s({"a":[1,2]})
  """
  @spec minimize(iodata(), opts()) :: binary()
  def minimize(input, opts \\ []) do
    {_, _, record, _} = options(opts, {"", "", "\n", ""})
    format(input, {"", "", record, ""}, {0, @no_limit})
  end

  @doc """
  The same as `minimize/2`.

      iex> RustyJson.Formatter.minify("[ 1 ]")
      "[1]"
  """
  @spec minify(iodata(), opts()) :: binary()
  def minify(input, opts \\ []), do: minimize(input, opts)

  @doc """
  The same as `minimize/2`; one binary is iodata.

      iex> RustyJson.Formatter.minimize_to_iodata("[ 1 ]", [])
      "[1]"
  """
  @spec minimize_to_iodata(iodata(), opts()) :: iodata()
  def minimize_to_iodata(input, opts \\ []), do: minimize(input, opts)

  # A part of a document as the document's call wants it: by its engine too.
  @doc false
  @spec lay_out(binary(), Options.t()) :: {:ok, binary()} | {:error, Exception.t()}
  def lay_out(json, %{packed: packed} = options) do
    {indent, line, colon} = Options.pretty(options)
    depths = {Options.depth(options), elem(packed, 1)}

    case options.engine.format(json, {indent, line, line, colon}, depths, options) do
      {:ok, _text} = done ->
        done

      {:error, %SandboxError{}} = failed ->
        failed

      {:error, {code, _, _, _, path}} ->
        {:error, EncodeError.from_engine({@failures[code], path, nil}, options)}
    end
  end

  defp format(input, layout, depths) do
    options = Config.encode()
    text = IO.iodata_to_binary(input)

    case options.engine.format(text, layout, depths, options) do
      {:ok, text} -> text
      {:error, failure} -> raise error(failure, text, options, depths)
    end
  end

  # A text that is too deep is no JSON for the formatter.
  defp error(failure, text, options, {_, deepest}),
    do: RustyJson.Decode.Input.error(failure, text, %{options | packed: {0, deepest}})

  defp options([], layout), do: layout

  defp options([{:indent, width} | rest], layout) when is_integer(width) and width >= 0,
    do: put(rest, layout, 0, String.duplicate(" ", width))

  defp options([{name, text} | rest], layout) when is_map_key(@places, name),
    do: put(rest, layout, @places[name], text)

  defp options([other | _rest], _layout) do
    raise ArgumentError,
          "the formatter takes :indent, :line_separator, :record_separator and :after_colon, got: #{inspect(other)}"
  end

  defp put(rest, layout, index, text), do: options(rest, put_elem(layout, index, IO.iodata_to_binary(text)))
end
