defmodule RustyJson.Options.Words do
  @moduledoc false
  # The schema as documentation, messages and types.

  alias RustyJson.Options.{Functions, Schema}
  alias RustyJson.Schema.Dialect

  @doc "Markdown for a `@doc`: the options of decode or encode, or a function's own."
  @spec doc(:decode | :encode | Functions.function_name()) :: String.t()
  def doc(direction) when direction in [:decode, :encode] do
    {sandbox, both} = Enum.split_with(Schema.entries(direction), fn {name, _} -> name in Schema.sandbox() end)

    """
    #{Enum.map_join(both, "\n", &line/1)}

    The options below are for the wasm engine; with the native engine they raise ArgumentError:

    #{Enum.map_join(sandbox, "\n", &line/1)}
    """
  end

  def doc(function), do: Enum.map_join(Functions.get(function).own, "\n", &own_line/1)

  defp line({name, entry}) do
    "  * `#{inspect(name)}` - #{describe(entry.type, "`")} (default `#{inspect(entry.default)}`). #{entry.doc}"
  end

  # Where the function chooses the default, the text says it.
  defp own_line({name, %{default: nil} = entry}),
    do: "  * `#{inspect(name)}` - #{describe(entry.type, "`")}. #{entry.doc}"

  defp own_line(option), do: line(option)

  @doc "What a type takes, in words."
  @spec describe(Schema.type(), String.t()) :: String.t()
  def describe(type, quote \\ "")
  def describe({:or, types}, quote), do: types |> Enum.flat_map(&parts(&1, quote)) |> list()
  def describe({:in, _} = type, quote), do: type |> parts(quote) |> list()
  def describe({:integer, low, high}, _quote) when high > 0xFFFF_FFFF, do: "an integer from #{low}"
  def describe({:integer, low, high}, _quote), do: "an integer from #{low} to #{high}"
  def describe(:boolean, quote), do: describe({:in, [true, false]}, quote)
  def describe(:infinity, quote), do: describe({:in, [:infinity]}, quote)
  def describe(fun, _quote) when fun in [:fun, :fallback], do: "a function of one argument"
  def describe(:places, _quote), do: "a list of JSON Pointers"
  def describe(:otherwise, quote), do: "#{quote}{:default, term}#{quote}"
  def describe(:mends, _quote), do: "a list of mends"
  def describe(:dialect, quote), do: describe({:in, Dialect.names()}, quote)
  def describe(:pointer, _quote), do: "a JSON Pointer"
  def describe(:paths, _quote), do: "JSON Pointers"
  def describe(:iodata, _quote), do: "iodata"
  def describe(:given_type, quote), do: describe(:type, quote)
  def describe(:type, _quote), do: "a type of `RustyJson.Schema`"
  def describe(:policy, _quote), do: "the name of a policy"
  def describe(:key_case, _quote), do: "a map from atoms to strings"
  def describe(:omit, _quote), do: "a list of nil and modules"
  def describe(:redact, _quote), do: "a list of keys, at most 64 JSON Pointers, and `contains:` with words"
  def describe(type, _quote) when type in [:text, :binary], do: "a string"
  def describe(:gzip_level, quote), do: "#{quote}{:gzip, 0..9}#{quote}"

  def describe(:indentation, quote) do
    "a width, an indent string or a keyword list of #{describe({:in, [:indent, :line_separator, :after_colon]}, quote)}"
  end

  defp parts({:in, values}, quote), do: Enum.map(values, &(quote <> inspect(&1) <> quote))
  defp parts(:boolean, quote), do: parts({:in, [true, false]}, quote)
  defp parts(type, quote), do: [describe(type, quote)]

  @doc """
  A list as a part of a sentence.

      iex> RustyJson.Options.Words.list(["a", "b", "c"])
      "a, b or c"
  """
  @spec list([String.t(), ...], String.t()) :: String.t()
  def list(texts, word \\ "or")
  def list([one], _word), do: one
  def list(many, word), do: "#{Enum.join(Enum.drop(many, -1), ", ")} #{word} #{List.last(many)}"

  @doc "The type of one option, as `@type` takes it: of decode or encode, or of a function's own."
  @spec type(:decode | :encode | :sandbox | Functions.function_name()) :: Macro.t()
  def type(of) do
    entries = if of in [:decode, :encode, :sandbox], do: Schema.entries(of), else: Functions.get(of).own
    entries |> Enum.map(fn {name, entry} -> {name, ast(entry.type)} end) |> union()
  end

  @doc "The type of one option's values."
  @spec type(:decode | :encode | :sandbox, atom()) :: Macro.t()
  def type(direction, name), do: ast(Schema.entries(direction)[name].type)

  defp ast({:or, types}), do: types |> Enum.map(&ast/1) |> union()
  defp ast({:in, values}), do: union(values)
  defp ast({:integer, 0, _}), do: quote(do: non_neg_integer())
  defp ast({:integer, _, _}), do: quote(do: pos_integer())
  defp ast(:boolean), do: quote(do: boolean())
  defp ast(:infinity), do: :infinity
  defp ast(:fallback), do: quote(do: (term() -> term()))
  defp ast(:places), do: quote(do: [String.t()])
  defp ast(:type), do: quote(do: nil | RustyJson.Schema.Type.t())
  defp ast(:policy), do: quote(do: atom())
  defp ast(:fun), do: quote(do: (String.t() -> term()))
  defp ast(:key_case), do: quote(do: %{atom() => String.t()})
  defp ast(:omit), do: quote(do: [nil | module()])

  defp ast(:redact),
    do: quote(do: [atom() | String.t() | {:contains, atom() | String.t() | [atom() | String.t()]}])

  defp ast(:otherwise), do: quote(do: {:default, term()})
  defp ast(:mends), do: quote(do: [RustyJson.mend()])
  defp ast(:dialect), do: union(Dialect.names())
  defp ast(:iodata), do: quote(do: iodata())
  defp ast(:given_type), do: quote(do: RustyJson.Schema.Type.t())
  defp ast(type) when type in [:text, :pointer], do: quote(do: String.t())
  defp ast(:paths), do: quote(do: RustyJson.Paths.t() | [String.t()] | %{optional(term()) => String.t()})
  defp ast(:binary), do: quote(do: binary())
  defp ast(:gzip_level), do: quote(do: {:gzip, 0..9})
  defp ast(:indentation), do: quote(do: non_neg_integer() | String.t() | keyword(iodata()))

  defp union(types),
    do: types |> Enum.reverse() |> Enum.reduce(fn type, rest -> quote(do: unquote(type) | unquote(rest)) end)
end
