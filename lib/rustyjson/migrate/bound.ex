defmodule RustyJson.Migrate.Bound do
  @moduledoc false
  # Names that mean another module in a file than elsewhere: by an alias, or because the module is defined there.

  @definitions [:defmodule, :defprotocol, :defimpl]

  @doc "The first segments of these names, each with the first line that makes it so. Where in the file a name counts is not looked at."
  @spec names(Macro.t()) :: %{atom() => pos_integer()}
  def names(tree) do
    {_tree, found} = Macro.prewalk(tree, [], fn node, found -> {node, bound(node) ++ found} end)
    found |> Enum.sort(:desc) |> Map.new()
  end

  defp bound({:alias, meta, [{{:., _, [_base, :{}]}, _, names} | _]}),
    do: for({:__aliases__, _, segments} <- names, do: {List.last(segments), meta[:line]})

  defp bound({directive, meta, [name | options]}) when directive in [:alias, :require] do
    case options do
      [[{_, _} | _] = options] -> directive(directive, segments(name), options[:as], meta[:line])
      _none -> directive(directive, segments(name), nil, meta[:line])
    end
  end

  defp bound({kind, meta, [_name | rest]} = node) when kind in @definitions,
    do: defined(node, meta) ++ inner(rest)

  defp bound(_node), do: []

  defp directive(:require, _segments, nil, _line), do: []
  defp directive(:alias, segments, nil, line), do: unless_itself(List.last(segments), segments, line)
  defp directive(_directive, segments, as, line), do: unless_itself(List.last(segments(as)), segments, line)

  defp unless_itself(name, segments, line), do: if(segments == [name], do: [], else: [{name, line}])

  defp defined({kind, _, [{:__aliases__, _, [name]} | _]}, meta) when kind != :defimpl,
    do: [{name, meta[:line]}]

  defp defined(_node, _meta), do: []

  # In another module, `defmodule Jason.Extra` is Outer.Jason.Extra, and `Jason` is Outer.Jason from there on.
  defp inner(body) do
    {_body, found} = Macro.prewalk(body, [], fn node, found -> {node, longer(node) ++ found} end)
    found
  end

  defp longer({kind, meta, [{:__aliases__, _, [first, _ | _]} | _]})
       when kind in [:defmodule, :defprotocol] and is_atom(first) and first != :"Elixir",
       do: [{first, meta[:line]}]

  defp longer(_node), do: []

  defp segments({:__aliases__, _, [:"Elixir" | segments]}), do: segments
  defp segments({:__aliases__, _, segments}), do: segments

  defp segments(atom) when is_atom(atom) do
    case Atom.to_string(atom) do
      "Elixir." <> name -> name |> String.split(".") |> Enum.map(&String.to_atom/1)
      _other -> []
    end
  end

  defp segments(_expression), do: []
end
