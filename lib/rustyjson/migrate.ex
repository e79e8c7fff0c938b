defmodule RustyJson.Migrate do
  @moduledoc false
  # What `mix rustyjson.migrate` does with one file: Jason's alias nodes get the other name, and what a compiler does not see is listed.

  alias RustyJson.Migrate.{Bound, Notes}

  @folders ~w(lib test config priv)
  @sources ~w(.ex .exs)
  @templates ~w(.eex .heex .leex)
  @parsing [columns: true, token_metadata: true, emit_warnings: false]

  @typedoc "A line that needs a hand: path, line and what to know."
  @type note :: {Path.t(), pos_integer(), String.t()}

  @typedoc "The new text, the lines that changed in it, and the notes."
  @type result :: %{path: Path.t(), text: String.t(), changes: [{pos_integer(), String.t()}], notes: [note()]}

  @doc "The files of a project, or those of these folders and files."
  @spec files([Path.t()]) :: [Path.t()]
  def files([]) do
    folders = for folder <- @folders, root <- ["." | Path.wildcard("apps/*")], do: Path.join(root, folder)
    projects = ["mix.exs" | Path.wildcard("apps/*/mix.exs")]

    Enum.map(
      Enum.filter(projects, &File.regular?/1) ++ Enum.flat_map(folders, &below/1),
      &Path.relative_to(&1, ".")
    )
  end

  def files(paths) do
    for path <- paths,
        file <- if(File.dir?(path), do: below(path), else: [path]),
        do: if(File.regular?(file), do: file, else: raise(Mix.Error, message: "#{file} does not exist"))
  end

  defp below(folder), do: Path.wildcard(Path.join(folder, "**/*{.ex,.exs,.eex,.heex,.leex}"))

  @doc "The file with the other name, and what to know about it."
  @spec file(Path.t()) :: result()
  def file(path) do
    text = File.read!(path)
    {text, changes, notes} = migrated(text, Path.extname(path))
    %{path: path, text: text, changes: changes, notes: for({line, note} <- notes, do: {path, line, note})}
  end

  @doc "The new text, the lines that changed, and notes with their lines."
  @spec migrated(String.t(), String.t()) ::
          {String.t(), [{pos_integer(), String.t()}], [{pos_integer(), String.t()}]}
  def migrated(text, extension) when extension in @sources or extension in @templates do
    # Elixir's parser raises for text in another encoding, such as Latin-1.
    if String.valid?(text), do: by_kind(text, extension), else: unparsed(text, nil)
  end

  def migrated(text, extension) do
    kinds = Enum.join(@sources ++ @templates, ", ")
    note = "files of the kind #{inspect(extension)} are not read: only #{kinds}"
    {text, [], if(named?(text), do: [{1, note}], else: [])}
  end

  defp by_kind(text, extension) when extension in @templates,
    do: {text, [], Notes.template(text, 1, "this template")}

  defp by_kind(text, _source) do
    case tree(text) do
      {:ok, tree} -> parsed(text, tree)
      {:error, {where, _message, _token}} -> unparsed(text, where[:line])
    end
  end

  # The tokenizer of older versions raises for some texts, such as x."⚠️".
  defp tree(text, options \\ []) do
    Code.string_to_quoted(text, options ++ @parsing)
  rescue
    _error -> {:error, {[], "", ""}}
  end

  defp parsed(text, tree) do
    if line = Bound.names(tree)[:Jason] do
      note = {line, "this line makes `Jason` another module in this file, so nothing was replaced"}
      {text, [], [note]}
    else
      {text, changes, left} = replaced(text, merge(places(tree), quoted_atoms(text)))
      notes = Notes.all(tree) ++ Notes.messages(text) ++ dependencies(text) ++ left
      {text, changes, Enum.sort(Enum.uniq(notes))}
    end
  end

  # In the syntax tree a pair has no line.
  defp dependencies(text) do
    for true <- [text =~ "use Mix.Project"],
        {line, number} <- text |> String.split("\n") |> Enum.with_index(1),
        line =~ ~r/^[^#]*\{\s*:jason\s*,/ do
      add = if text =~ ~r/^[^#]*\{\s*:rustyjson\s*,/m, do: "", else: "add {:rustyjson, ...}; "

      {number,
       "#{add}keep :jason only if another package needs it, or put the stand-in for Jason in its place"}
    end
  end

  defp unparsed(text, line),
    do:
      {text, [],
       if(named?(text), do: [{line || 1, "the file cannot be parsed, so nothing was replaced"}], else: [])}

  defp named?(text), do: text =~ ~r/\bJason\b/

  # Where an alias begins with the word: line and column.
  defp places(tree) do
    {_tree, places} =
      Macro.prewalk(tree, [], fn
        {:__aliases__, meta, [:Jason | _rest]} = node, places ->
          {node, [{meta[:line], meta[:column]} | places]}

        {:__aliases__, meta, [:"Elixir", :Jason | _rest]} = node, places ->
          {node, [{meta[:line], meta[:column] + String.length("Elixir.")} | places]}

        # Names in braces are parts of longer names. In a list, the base is visited too.
        {{:., _, [base, :{}]}, _, _names}, places ->
          {[base], places}

        node, places ->
          {node, places}
      end)

    by_line(places)
  end

  @quoted "Elixir.Jason"

  # Modules that are written as atoms: :"Elixir.Jason".decode!(json). Only a tree with encoded literals says where an atom stands; as the
  # notes are not for that shape of tree, the text is parsed again. "Elixir.Jason": 1 is a key, and stays.
  defp quoted_atoms(text) do
    with true <- text =~ @quoted,
         {:ok, tree} <- tree(text, literal_encoder: &{:ok, {:__block__, &2, [&1]}}) do
      {_tree, places} = Macro.prewalk(tree, [], &{&1, quoted_atom(&1) ++ &2})
      by_line(places)
    else
      _none -> %{}
    end
  end

  defp quoted_atom({:__block__, meta, [atom]}) when is_atom(atom) do
    name = Atom.to_string(atom)
    jason? = name == @quoted or String.starts_with?(name, @quoted <> ".")

    if jason? and meta[:format] != :keyword,
      do: [{meta[:line], meta[:column] + String.length(~s(:"Elixir.))}],
      else: []
  end

  defp quoted_atom(_node), do: []

  defp by_line(places), do: places |> Enum.uniq() |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
  defp merge(places, others), do: Map.merge(places, others, fn _line, some, more -> some ++ more end)

  # The new text, the lines that changed in it, and notes for places that were not found.
  defp replaced(text, places) do
    lines =
      for {line, number} <- text |> String.split("\n") |> Enum.with_index(1) do
        found = Enum.map(places[number] || [], &found(line, &1))
        {number, line, found |> Enum.filter(& &1) |> in_line(line), nil in found}
      end

    {Enum.map_join(lines, "\n", &elem(&1, 2)),
     for({number, old, new, _left?} <- lines, old != new, do: {number, new}),
     for({number, _old, new, true} <- lines, do: {number, by_hand(new)})}
  end

  defp by_hand(line), do: "this line names Jason; replace it by hand: #{String.trim(line)}"

  # The byte at which the word of this column begins, or `nil`. The tokenizer counts graphemes in strings, and code points elsewhere, so
  # the column of a word lies between both counts. Two words between them cannot be told apart.
  defp found(line, column) do
    fitting =
      for [{at, _length}] <- Regex.scan(~r/\bJason\b/, line, return: :index),
          before = binary_part(line, 0, at),
          column in (String.length(before) + 1)..(length(String.to_charlist(before)) + 1),
          do: at

    case fitting do
      [at] -> at
      _none_or_several -> nil
    end
  end

  # From the right, so that the other places stay.
  defp in_line(places, line), do: places |> Enum.sort(:desc) |> Enum.reduce(line, &at/2)

  defp at(place, line) do
    {before, "Jason" <> rest} =
      {binary_part(line, 0, place), binary_part(line, place, byte_size(line) - place)}

    before <> "RustyJson" <> rest
  end
end
