defmodule RustyJson.Migrate.Notes do
  @moduledoc false
  # Lines that compile after the word is replaced, and then do something else; and lines that the task does not replace.

  @built_in ~w(Tuple List Map Atom Integer Float BitString Date Time NaiveDateTime DateTime Decimal)a
  @private ~w(Codegen Decoder)a
  @error_fields ~w(position token data)a
  @messages "RustyJson.DecodeError has different messages"

  @doc "The notes of a file, with their lines."
  @spec all(Macro.t()) :: [{pos_integer(), String.t()}]
  def all(tree) do
    aliases = aliases(tree)
    {_tree, notes} = Macro.prewalk(tree, [], fn node, notes -> {node, note(node, aliases) ++ notes} end)
    notes ++ atoms(tree) ++ read_fields(tree, aliases)
  end

  # Short names of Jason's modules: `alias Jason.DecodeError` makes DecodeError one.
  defp aliases(tree) do
    {_tree, found} = Macro.prewalk(tree, %{}, fn node, found -> {node, Map.merge(found, short(node))} end)
    found
  end

  defp short({:alias, _, [{:__aliases__, _, [:Jason | rest]} | options]}) do
    case options do
      [[{_, _} | _] = options] -> as(options[:as], [:Jason | rest])
      _none -> if rest == [], do: %{}, else: %{List.last(rest) => [:Jason | rest]}
    end
  end

  defp short({:alias, _, [{{:., _, [{:__aliases__, _, [:Jason | outer]}, :{}]}, _, names}]}) do
    for {:__aliases__, _, inner} <- names, into: %{}, do: {List.last(inner), [:Jason | outer] ++ inner}
  end

  defp short(_node), do: %{}

  defp as({:__aliases__, _, [name]}, full), do: %{name => full}
  defp as(_other, _full), do: %{}

  defp full([first | rest], aliases), do: Map.get(aliases, first, [first]) ++ rest
  defp full(other, _aliases), do: other

  defp jason?({:__aliases__, _, names}, last, aliases), do: full(names, aliases) == [:Jason, last]
  defp jason?(_other, _last, _aliases), do: false

  ## Single nodes

  defp note({:%, meta, [name, {:%{}, _, fields}]}, aliases) when is_list(fields) do
    cond do
      jason?(name, :DecodeError, aliases) -> error_fields(meta, named(fields))
      jason?(name, :Fragment, aliases) and :encode in named(fields) -> [fragment(meta)]
      true -> []
    end
  end

  defp note({:assert_raise, meta, [name, text | _]}, aliases) do
    if (is_binary(text) or match?({sigil, _, _} when sigil in [:sigil_r, :<<>>, :sigil_s, :sigil_S], text)) and
         jason?(name, :DecodeError, aliases),
       do: [{meta[:line], @messages}],
       else: []
  end

  # fragment.encode.(opts)
  defp note({{:., meta, [{{:., _, [_fragment, :encode]}, _, []}]}, _, _arguments}, _aliases),
    do: [fragment(meta)]

  defp note({:defimpl, meta, [name | options]}, aliases) do
    types =
      for [{_, _} | _] = options <- options, {:for, types} <- options, type <- List.wrap(types), do: type

    for {:__aliases__, _, [type]} <- types, type in @built_in, jason?(name, :Encoder, aliases) do
      {meta[:line],
       "RustyJson encodes #{type} itself and never calls this implementation; convert these values first"}
    end
  end

  defp note({:config, meta, [:jason | _]}, _aliases) do
    [
      {meta[:line],
       "RustyJson does not read `config :jason`; decoding_integer_digit_limit goes to `config :rustyjson, decode: [...]`"}
    ]
  end

  defp note({{:., meta, [{:__aliases__, _, names}, name]}, _, arguments}, aliases) when is_list(arguments) do
    case full(names, aliases) do
      [:Jason, private] when private in @private -> [private(meta, private)]
      [:Jason, :Encode] when name == :value and length(arguments) == 3 -> [value(meta)]
      _other -> []
    end
  end

  defp note({:@, meta, [{kind, _, [text]}]}, _aliases) when kind in [:moduledoc, :doc, :typedoc],
    do: doctests(text, meta[:line])

  defp note({sigil, meta, [{:<<>>, _, parts}, _]}, _aliases) when sigil in [:sigil_H, :sigil_L, :sigil_E] do
    for text when is_binary(text) <- parts,
        note <- template(text, meta[:line] + 1, "this template"),
        do: note
  end

  defp note(_node, _aliases), do: []

  # A text that ends with a line feed is a heredoc, which begins on the line below the attribute.
  defp doctests(text, line) when is_binary(text) do
    first = if String.ends_with?(text, "\n"), do: line + 1, else: line

    for {text, line} <- text |> String.split("\n") |> Enum.with_index(first),
        text =~ ~r/^\s*(iex|\.\.\.)(\(\d+\))?>.*\bJason\b/ do
      {line, "this doctest names Jason; replace it by hand: #{String.trim(text)}"}
    end
  end

  defp doctests({sigil, _, [{:<<>>, _, [text]}, _]}, line) when sigil in [:sigil_S, :sigil_s],
    do: doctests(text, line)

  defp doctests(_other, _line), do: []

  defp named(fields), do: for({field, _value} <- fields, is_atom(field), do: field)

  defp error_fields(meta, fields) do
    case for(field <- fields, field in @error_fields, do: field) do
      [] ->
        []

      fields ->
        [
          {meta[:line],
           "#{listed(fields)} of RustyJson.DecodeError can differ from Jason's; `reason` says what is wrong"}
        ]
    end
  end

  defp listed(fields), do: Enum.map_join(fields, ", ", &"`#{&1}`")

  defp fragment(meta),
    do: {meta[:line], "the field `encode` of a fragment can be iodata instead of a function"}

  defp private(meta, name),
    do: {meta[:line], "Jason.#{name} is a private module of Jason; RustyJson has none of this name"}

  defp value(meta), do: {meta[:line], "RustyJson.Encode.value/3 does not exist; use value/2"}

  ## Fields of a DecodeError in a variable: `e in Jason.DecodeError -> e.position`

  defp read_fields(tree, aliases) do
    variables = collected(tree, &decode_error_variable(&1, aliases))

    collected(tree, fn
      {{:., meta, [{name, _, context}, field]}, _, []} when is_atom(name) and is_atom(context) ->
        if name in variables and field in @error_fields, do: error_fields(meta, [field]), else: []

      _node ->
        []
    end)
  end

  defp decode_error_variable({:in, _, [variable, names]}, aliases),
    do: if(mentions?(names, &jason?(&1, :DecodeError, aliases)), do: variable(variable), else: [])

  defp decode_error_variable({:=, _, [one, other]}, aliases) do
    error? = &match?({:%, _, [_, _]}, &1)

    cond do
      error?.(one) and jason?(elem(one, 2) |> hd(), :DecodeError, aliases) -> variable(other)
      error?.(other) and jason?(elem(other, 2) |> hd(), :DecodeError, aliases) -> variable(one)
      true -> []
    end
  end

  defp decode_error_variable(_node, _aliases), do: []

  defp variable({name, _, context}) when is_atom(name) and is_atom(context), do: [name]
  defp variable(_other), do: []

  defp collected(tree, each) do
    {_tree, found} = Macro.prewalk(tree, [], fn node, found -> {node, each.(node) ++ found} end)
    found
  end

  ## ArgumentError around keys: :atoms!

  defp atoms(tree) do
    {_tree, found} =
      Macro.prewalk(tree, [], fn
        {kind, _, [_head, [{_do, body} | _] = blocks]} = node, found when kind in [:def, :defp] ->
          {node, rescued(body, blocks) ++ found}

        {:try, _, [[{_do, body} | _] = blocks]} = node, found ->
          {node, rescued(body, blocks) ++ found}

        node, found ->
          {node, found}
      end)

    found
  end

  defp rescued(body, blocks) do
    with true <- mentions?(body, &(&1 == :atoms!)), clauses when is_list(clauses) <- blocks[:rescue] do
      for {:->, meta, [patterns, _]} <- clauses,
          mentions?(patterns, &match?({:__aliases__, _, [:ArgumentError]}, &1)) do
        {meta[:line],
         "with keys: :atoms! an unknown atom is a RustyJson.DecodeError with the reason :unknown_atom, not an ArgumentError"}
      end
    else
      _ -> []
    end
  end

  defp mentions?(tree, test) do
    {_tree, found} = Macro.prewalk(tree, false, fn node, found -> {node, found or test.(node)} end)
    found
  end

  @doc "A note for each line with a message of Jason's DecodeError, such as a test that compares a response."
  @spec messages(String.t()) :: [{pos_integer(), String.t()}]
  def messages(text) do
    for {line, number} <- text |> String.split("\n") |> Enum.with_index(1),
        line =~ ~r/unexpected (byte|end of input|sequence) at position/,
        do: {number, @messages}
  end

  @doc """
  A note for each line that calls a function of Jason, in text in which code stands: templates, and doctests in documentation. Its code
  is not parsed. `first` is the number of the first line.
  """
  @spec template(String.t(), pos_integer(), String.t()) :: [{pos_integer(), String.t()}]
  def template(text, first, where) do
    for {line, number} <- text |> String.split("\n") |> Enum.with_index(first), line =~ ~r/\bJason\.[\w{]/ do
      {number, "#{where} names Jason; replace it by hand: #{String.trim(line)}"}
    end
  end
end
