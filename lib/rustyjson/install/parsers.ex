defmodule RustyJson.Install.Parsers do
  @moduledoc false
  # Calls of `plug Plug.Parsers` in source text, and the same calls with RustyJson as the decoder of JSON.

  @typedoc "A call: its line, its options in the syntax tree, and whether a comment stands in it."
  @type call :: %{line: pos_integer(), options: Macro.t(), comments?: boolean()}

  @typedoc "`:json` sets the decoder of `Plug.Parsers.JSON`, `:sandbox` puts `RustyJson.PlugParser` in its place."
  @type mode :: :json | :sandbox

  @doc "The calls in a source text; none if the text cannot be parsed."
  @spec calls(String.t()) :: [call()]
  def calls(text) do
    # Literals have lines only where they are wrapped, and are options only where they are not.
    wrapped = [literal_encoder: &{:ok, {:__block__, &2, [&1]}}, token_metadata: true, unescape: false]

    with true <- String.valid?(text),
         {:ok, tree} <- Code.string_to_quoted(text),
         {:ok, lines, comments} <- Code.string_to_quoted_with_comments(text, wrapped) do
      for {node, in_lines} <- Enum.zip(nodes(tree), nodes(lines)), do: call(node, in_lines, comments)
    else
      _no_source -> []
    end
  rescue
    # The tokenizer of older versions raises for some texts, such as x."⚠️".
    _no_source -> []
  end

  defp nodes(tree) do
    {_tree, found} =
      Macro.prewalk(tree, [], fn
        {:plug, _meta, [{:__aliases__, _, [:Plug, :Parsers]} | _]} = node, found -> {node, [node | found]}
        node, found -> {node, found}
      end)

    Enum.reverse(found)
  end

  defp call({:plug, meta, [_module | options]}, in_lines, comments) do
    lines = meta[:line]..last_line(in_lines)

    %{
      line: meta[:line],
      options: List.first(options) || [],
      comments?: Enum.any?(comments, &(&1.line in lines))
    }
  end

  defp last_line(node) do
    {_node, last} =
      Macro.prewalk(node, 0, fn
        {_, meta, _} = node, last -> {node, Enum.max([last | lines(meta)])}
        node, last -> {node, last}
      end)

    last
  end

  # Its own line, and that of its closing bracket.
  defp lines(meta), do: for(line <- [meta[:line], meta[:closing][:line]], line, do: line)

  @doc "The call with the decoder; `:same` if it has it or decodes no JSON, `:error` if its options are not written out as a list."
  @spec rewritten(call(), mode()) :: {:ok, String.t()} | :same | {:error, String.t()}
  def rewritten(%{options: options, comments?: comments?}, mode) do
    with true <- Keyword.keyword?(options),
         parsers when is_list(parsers) <- Keyword.get(options, :parsers),
         {:ok, new} <- changed(parsers, options, mode) do
      if comments?, do: {:error, "there are comments in the call"}, else: {:ok, text(new)}
    else
      :same -> :same
      _other -> {:error, "its options are not written out there"}
    end
  end

  defp changed(parsers, options, mode) do
    json = Enum.any?(parsers, &(name(&1) == :json))
    ours = Enum.any?(parsers, &(name(&1) == [:RustyJson, :PlugParser]))
    own = for {:json, own} <- parsers, do: own

    cond do
      ours or not json ->
        :same

      # `{:json, @options}`: they would be lost.
      not Enum.all?(own, &Keyword.keyword?/1) ->
        :unreadable

      mode == :sandbox ->
        {:ok, sandboxed(parsers, options)}

      Enum.all?([options | Enum.filter(own, & &1[:json_decoder])], &decoder(&1[:json_decoder])) ->
        :same

      true ->
        {:ok, decoded(parsers, options)}
    end
  end

  # A parser is an atom or a module, alone or with its options.
  defp name({parser, _options}), do: name(parser)
  defp name({:__aliases__, _, names}), do: names
  defp name(parser), do: parser

  # `Phoenix.json_library()` is what the step for Phoenix sets.
  defp decoder({:__aliases__, _, [:RustyJson]}), do: true
  defp decoder({{:__aliases__, _, [:RustyJson]}, _function, _arguments}), do: true
  defp decoder({:{}, _, [{:__aliases__, _, [:RustyJson]} | _]}), do: true
  defp decoder({{:., _, [{:__aliases__, _, [:Phoenix]}, :json_library]}, _, []}), do: true
  defp decoder(_other), do: false

  # The options of the parser itself override those of the call.
  defp decoded(parsers, options) do
    ours = [json_decoder: module([:RustyJson])]

    parsers =
      for parser <- parsers do
        with {:json, own} <- parser, true <- Keyword.has_key?(own, :json_decoder) do
          {:json, Keyword.delete(own, :json_decoder) ++ ours}
        else
          _no_decoder -> parser
        end
      end

    Keyword.replace!(Keyword.delete(options, :json_decoder), :parsers, parsers) ++ ours
  end

  defp sandboxed(parsers, options) do
    parsers = for parser <- parsers, do: if(name(parser) == :json, do: ours(parser), else: parser)

    Keyword.replace!(Keyword.delete(options, :json_decoder), :parsers, parsers) ++
      [rustyjson: [policy: :edge]]
  end

  defp ours({:json, options}) when is_list(options),
    do: {module([:RustyJson, :PlugParser]), Enum.reject(options, &match?({:json_decoder, _}, &1))}

  defp ours(_json), do: module([:RustyJson, :PlugParser])

  defp module(names), do: {:__aliases__, [], names}

  defp text(options) do
    {:plug, [], [module([:Plug, :Parsers]), options]}
    |> Code.quoted_to_algebra(locals_without_parens: [plug: :*])
    |> Inspect.Algebra.format(98)
    |> IO.iodata_to_binary()
  end

  @doc "The call of a new application."
  @spec example(mode()) :: String.t()
  def example(mode) do
    options = [parsers: [:urlencoded, :multipart, :json], pass: ["*/*"]]
    {:ok, text} = rewritten(%{line: 1, options: options, comments?: false}, mode)
    text
  end
end
