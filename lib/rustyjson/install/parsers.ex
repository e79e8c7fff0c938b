defmodule RustyJson.Install.Parsers do
  @moduledoc false
  # Calls of `plug Plug.Parsers` in source text, and the same calls with RustyJson as the decoder of JSON.

  alias RustyJson.Install.Decoder
  alias RustyJson.Migrate.Bound

  @typedoc """
  A call: its line, its options in the syntax tree, whether a comment stands in it, and the names that mean another module in its file, such as
  Jason after `alias MyApp.Json, as: Jason`.
  """
  @type call :: %{line: pos_integer(), options: Macro.t(), comments?: boolean(), bound: [atom()]}

  @typedoc "`:json` sets the decoder of `Plug.Parsers.JSON`, `:sandbox` puts `RustyJson.PlugParser` in its place."
  @type mode :: :json | :sandbox

  @doc "The calls in a source text; none if the text cannot be parsed. `file` is the file around it, for the names that it binds."
  @spec calls(String.t(), String.t()) :: [call()]
  def calls(text, file \\ "") do
    # Literals have lines only where they are wrapped, and are options only where they are not.
    wrapped = [literal_encoder: &{:ok, {:__block__, &2, [&1]}}, token_metadata: true, unescape: false]

    with true <- String.valid?(text),
         {:ok, tree} <- Code.string_to_quoted(text),
         {:ok, lines, comments} <- Code.string_to_quoted_with_comments(text, wrapped) do
      bound = Map.keys(Bound.names([tree | file_tree(file)]))
      for {node, in_lines} <- Enum.zip(nodes(tree), nodes(lines)), do: call(node, in_lines, comments, bound)
    else
      _no_source -> []
    end
  rescue
    # The tokenizer of older versions raises for some texts, such as x."⚠️".
    _no_source -> []
  end

  defp file_tree(file), do: for({:ok, tree} <- [Code.string_to_quoted(file)], do: tree)

  defp nodes(tree) do
    {_tree, found} =
      Macro.prewalk(tree, [], fn
        {:plug, _meta, [{:__aliases__, _, [:Plug, :Parsers]} | _]} = node, found -> {node, [node | found]}
        node, found -> {node, found}
      end)

    Enum.reverse(found)
  end

  defp call({:plug, meta, [_module | options]}, in_lines, comments, bound) do
    lines = meta[:line]..last_line(in_lines)

    %{
      line: meta[:line],
      options: List.first(options) || [],
      comments?: Enum.any?(comments, &(&1.line in lines)),
      bound: bound
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

  @doc """
  The call with the decoder; `:same` if it has it or decodes no JSON, `:error` if its options are not written out as a list, or if RustyJson
  may not do what its decoder does.
  """
  @spec rewritten(call(), mode()) :: {:ok, String.t()} | :same | {:error, String.t()}
  def rewritten(%{options: options, comments?: comments?, bound: bound}, mode) do
    with true <- Keyword.keyword?(options),
         parsers when is_list(parsers) <- Keyword.get(options, :parsers),
         {:ok, new} <- changed(parsers, options, bound, mode) do
      if comments?, do: {:error, "there are comments in the call"}, else: {:ok, text(new)}
    else
      :same -> :same
      {:error, reason} -> {:error, reason}
      _other -> {:error, "its options are not written out there"}
    end
  end

  defp changed(parsers, options, bound, mode) do
    ours = Enum.any?(parsers, &(name(&1) == [:RustyJson, :PlugParser]))
    own = for parser <- parsers, json?(parser), do: own(parser)

    cond do
      ours or own == [] -> :same
      # `{:json, @options}`: they would be lost.
      not Enum.all?(own, &Keyword.keyword?/1) -> :unreadable
      decoder = Enum.find(decoders([options | own]), &by_hand?(&1, mode)) -> by_hand(decoder)
      name = Enum.find(bound, &names?(decoders([options | own]), &1)) -> another(name)
      mode == :sandbox -> {:ok, sandboxed(parsers, options, hd(own))}
      true -> decoded(parsers, options, own)
    end
  end

  defp decoders(lists), do: for(options <- lists, {:json_decoder, decoder} <- options, do: decoder)
  defp by_hand?(decoder, :json), do: Decoder.replaced(decoder) == :unknown
  defp by_hand?(decoder, :sandbox), do: Decoder.options(decoder) == :unknown
  defp by_hand(decoder), do: {:error, "its decoder is #{Macro.to_string(decoder)}"}

  defp names?(decoders, name), do: Enum.any?(decoders, &(Decoder.first(&1) == name))
  defp another(name), do: {:error, "#{name} is another module in this file"}

  # A parser is an atom or a module, alone or with its options.
  defp name({parser, _options}), do: name(parser)
  defp name({:__aliases__, _, names}), do: names
  defp name(parser), do: parser

  defp json?(parser), do: name(parser) in [:json, [:Plug, :Parsers, :JSON]]

  defp own({_parser, options}), do: options
  defp own(_parser), do: []

  # The options of the parser itself override those of the call.
  defp decoded(parsers, options, own) do
    parsers =
      for parser <- parsers,
          do:
            if(json?(parser) and own(parser) != [],
              do: put_elem(parser, 1, replaced(own(parser))),
              else: parser
            )

    new = options |> replaced() |> Keyword.replace!(:parsers, parsers)
    set? = Enum.all?(own, &Keyword.has_key?(&1, :json_decoder)) or Keyword.has_key?(options, :json_decoder)
    new = if set?, do: new, else: new ++ [json_decoder: module([:RustyJson])]
    if new == options, do: :same, else: {:ok, new}
  end

  defp replaced(options) do
    for {key, value} <- options, do: {key, if(key == :json_decoder, do: Decoder.replaced(value), else: value)}
  end

  defp sandboxed(parsers, options, own) do
    parsers = for parser <- parsers, do: if(json?(parser), do: ours(parser), else: parser)
    decoder = own[:json_decoder] || options[:json_decoder] || module([:RustyJson])

    Keyword.replace!(Keyword.delete(options, :json_decoder), :parsers, parsers) ++
      [rustyjson: [policy: :edge] ++ Decoder.options(decoder)]
  end

  defp ours({_json, options}), do: {module([:RustyJson, :PlugParser]), Keyword.delete(options, :json_decoder)}
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
    {:ok, text} = rewritten(%{line: 1, options: options, comments?: false, bound: []}, mode)
    text
  end
end
