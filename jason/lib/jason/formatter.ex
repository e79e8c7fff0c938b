defmodule Jason.Formatter do
  @moduledoc """
  Formats JSON text without decoding it.

  The input is one JSON text, or several in a row. It is not validated; the result for invalid JSON is unspecified.

  Text that is nested deeper than 1,024 levels is not indented: that is a `Jason.DecodeError`.
  """

  alias Jason.DecodeError
  alias RustyJson.Standin

  @names [:indent, :line_separator, :record_separator, :after_colon]

  @type opts :: [
          indent: iodata(),
          line_separator: iodata(),
          record_separator: iodata(),
          after_colon: iodata()
        ]

  @doc """
  Formats JSON for people: one element per line.

    * `:indent` - for nested values (default two spaces)
    * `:line_separator` - between lines (default `"\\n"`)
    * `:record_separator` - between several texts (default the line separator)
    * `:after_colon` - after a colon (default one space)

      iex> Jason.Formatter.pretty_print(~s({"a":[1]})) |> String.split("\\n")
      ["{", ~s(  "a": [), "    1", "  ]", "}"]
  """
  @spec pretty_print(iodata(), opts()) :: binary()
  def pretty_print(input, opts \\ []), do: format(&RustyJson.Formatter.pretty_print/2, input, opts)

  @doc "The same as `pretty_print/2`. Returns one binary, which is iodata too."
  @spec pretty_print_to_iodata(iodata(), opts()) :: iodata()
  def pretty_print_to_iodata(input, opts \\ []), do: pretty_print(input, opts)

  @doc """
  Removes insignificant whitespace. Writes one text per line.

    * `:record_separator` - between several texts (default `"\\n"`)

      iex> Jason.Formatter.minimize(~s({ "a" : [ 1, 2 ] }))
      ~s({"a":[1,2]})
  """
  @spec minimize(iodata(), opts()) :: binary()
  def minimize(input, opts \\ []) do
    # The others are not looked at.
    own = for {:record_separator, _text} = option <- opts, do: option
    format(&RustyJson.Formatter.minimize/2, input, own)
  end

  @doc "The same as `minimize/2`. Returns one binary, which is iodata too."
  @spec minimize_to_iodata(iodata(), opts()) :: iodata()
  def minimize_to_iodata(input, opts), do: minimize(input, opts)

  defp format(format, input, opts) do
    format.(IO.iodata_to_binary(input), [max_bytes: 0] ++ policy() ++ texts(opts))
  rescue
    error in [RustyJson.DecodeError, RustyJson.SandboxError] ->
      reraise %DecodeError{
                position: Map.get(error, :position, 0),
                data: IO.iodata_to_binary(input),
                message: Exception.message(error)
              },
              __STACKTRACE__
  end

  defp policy, do: for(name when name != nil <- [Application.get_env(:jason, :policy)], do: {:policy, name})

  defp texts(opts), do: for({name, text} when name in @names <- opts, do: {name, IO.iodata_to_binary(text)})

  @doc false
  # The layout of an encoded term.
  @spec layout(true | opts()) :: Standin.layout()
  def layout(true), do: layout([])

  def layout(opts) do
    texts = Map.new(texts(opts))
    line = Map.get(texts, :line_separator, "\n")
    record = Map.get(texts, :record_separator, line)
    {Map.get(texts, :indent, "  "), line, record, Map.get(texts, :after_colon, " ")}
  end
end
