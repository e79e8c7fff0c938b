defmodule RustyJson.Install.Decoder do
  @moduledoc false
  # What stands in the place of a `json_decoder:` of `Plug.Parsers`: a module, or `{module, function, arguments}`. Decoders are nodes of the
  # syntax tree. A module that is not among those below can do more than decode, and an expression can be anything.

  # Their `decode!/1` returns the same terms; the options are another matter.
  @alike [:Poison, :JSON]

  @doc "The decoder with RustyJson as its module, which keeps the arguments, or `:unknown`."
  @spec replaced(Macro.t()) :: Macro.t() | :unknown
  def replaced(decoder) do
    case {ours?(decoder), arguments(decoder)} do
      {true, _arguments} -> decoder
      {false, []} -> rustyjson()
      {false, :unknown} -> :unknown
      {false, arguments} -> {:{}, [], [rustyjson(), :decode!, arguments]}
    end
  end

  @doc "The options of the decoder for `RustyJson.PlugParser` beside a policy, which they must not take back, or `:unknown`."
  @spec options(Macro.t()) :: keyword(Macro.t()) | :unknown
  def options(decoder) do
    case arguments(decoder) do
      [] -> []
      [options] -> if beside_policy?(options), do: options, else: :unknown
      _other -> :unknown
    end
  end

  @doc "The first segment of the module's name, if one is written out."
  @spec first(Macro.t()) :: atom() | Macro.t()
  def first({:{}, _, [module | _]}), do: first(module)
  def first({:__aliases__, _, [first | _]}), do: first
  def first(_other), do: nil

  defp beside_policy?(options),
    do: Keyword.keyword?(options) and not Enum.any?([:policy, :engine], &Keyword.has_key?(options, &1))

  defp rustyjson, do: {:__aliases__, [], [:RustyJson]}

  defp ours?({:{}, _, [module | _]}), do: ours?(module)
  defp ours?({:__aliases__, _, names}), do: names == [:RustyJson]
  # What the step for Phoenix sets.
  defp ours?({{:., _, [{:__aliases__, _, [:Phoenix]}, :json_library]}, _, []}), do: true
  defp ours?(_other), do: false

  # The arguments behind the body.
  defp arguments({:{}, _, [module, :decode!, arguments]}) when is_list(arguments) do
    cond do
      ours?(module) or jason?(module) -> arguments
      alike?(module) and arguments == [] -> []
      true -> :unknown
    end
  end

  defp arguments({:{}, _, _other}), do: :unknown
  defp arguments(module), do: if(ours?(module) or jason?(module) or alike?(module), do: [], else: :unknown)

  defp jason?(node), do: match?({:__aliases__, _, [:Jason]}, node)
  defp alike?(node), do: match?({:__aliases__, _, [name]} when name in @alike, node)
end
