defmodule RustyJson.Options.Shape do
  @moduledoc false
  # The options that decide which members an object gets and under which names, as core/src/options/shape.rs reads them.

  alias RustyJson.Encode.Excerpt
  alias RustyJson.Encoder.Names
  alias RustyJson.Pointer

  @camel 1
  @omit_nil 2
  # The core keeps one bit for each.
  @most_pointers 64
  # Each is looked for in every key.
  @most_words 64
  @what "option :redact"

  @typedoc "An entry of `:redact`: a key, a JSON Pointer, or words that keys contain."
  @type entry :: atom() | String.t() | {:contains, atom() | String.t() | [atom() | String.t()]}

  @doc "The value of one of these options as it is kept, or `:error`."
  @spec cast(atom(), term()) :: {:ok, term()} | :error
  # A list that ends in something else has no length.
  def cast(:redact, entries) when length(entries) >= 0 do
    Enum.each(entries, &check_entry!/1)
    at_most!(entries |> pointers() |> length(), @most_pointers, "JSON Pointers")
    at_most!(entries |> words() |> length(), @most_words, "words that a key can contain")
    {:ok, entries}
  end

  def cast(:text, text) when is_binary(text), do: if(String.valid?(text), do: {:ok, text}, else: :error)
  def cast(:key_case, names) when is_map(names), do: if(Names.table?(names), do: {:ok, names}, else: :error)

  def cast(:omit, modules) when length(modules) >= 0,
    do: if(Names.omit?(modules), do: {:ok, modules}, else: :error)

  def cast(_type, _value), do: :error

  defp at_most!(count, most, _what) when count <= most, do: :ok

  defp at_most!(count, most, what),
    do: raise(ArgumentError, "#{@what} takes at most #{most} #{what}, got: #{count}")

  # A wrong entry would leave visible what it was to hide.
  defp check_entry!("/" <> _ = pointer) do
    cond do
      not String.valid?(pointer) -> wrong_entry(pointer, "which is not UTF-8")
      pointer =~ ~r/~(?![01])/ -> wrong_entry(pointer, "which is not a JSON Pointer: 0 or 1 must follow ~")
      true -> Pointer.tokens!(pointer, @what)
    end
  end

  defp check_entry!({:contains, words} = entry) when is_list(words) do
    if List.improper?(words) or words == [], do: wrong_entry(entry, "whose value is no list of words")
    Enum.each(words, &check_word!(&1, entry))
  end

  defp check_entry!({:contains, word} = entry), do: check_word!(word, entry)

  defp check_entry!(other) do
    if not key?(other), do: wrong_entry(other, "which is neither a string nor an atom that is a key")
  end

  # Each key contains the empty one.
  defp check_word!(word, entry) do
    unless word != "" and word != :"" and key?(word) and String.valid?(to_string(word)),
      do: wrong_entry(entry, "in which a word is no text that a key can contain")
  end

  defp key?(key), do: is_binary(key) or (is_atom(key) and key != nil)

  @spec wrong_entry(term(), String.t()) :: no_return()
  defp wrong_entry(entry, why) do
    shown = Excerpt.brief(entry)
    raise ArgumentError, "option :redact takes keys and JSON Pointers, got the entry #{shown}, #{why}"
  end

  @doc "The shape of these values; empty where all members are written under their own names."
  @spec pack(map()) :: binary()
  def pack(%{redact: [], key_case: nil, omit: []}), do: ""

  def pack(%{redact: redact, redacted: redacted, key_case: key_case, omit: omit} = values) do
    names = if is_map(key_case), do: for({atom, name} <- key_case, do: {Atom.to_string(atom), name}), else: []
    modules = for module <- omit, module != nil, do: Atom.to_string(module)

    IO.iodata_to_binary([
      if(key_case == :camel, do: @camel, else: 0) + if(nil in omit, do: @omit_nil, else: 0),
      names |> Enum.sort() |> Enum.flat_map(&Tuple.to_list/1) |> texts(),
      modules |> Enum.sort() |> texts(),
      redact |> keys() |> texts(),
      redact |> words() |> texts(),
      list(Map.get(values, :pointers) || segments(redact), &texts/1),
      text(redacted)
    ])
  end

  @doc "The pointers among the entries of `:redact`, as lists of segments."
  @spec segments([entry()]) :: [[String.t()]]
  def segments(redact), do: for(pointer <- pointers(redact), do: Pointer.tokens!(pointer, @what))

  defp pointers(redact), do: Enum.uniq(for "/" <> _ = pointer <- redact, do: pointer)

  @doc "The most pointers that the core follows."
  @spec most_pointers() :: pos_integer()
  def most_pointers, do: @most_pointers

  @doc "The keys among the entries, as texts."
  @spec keys([entry()]) :: [String.t()]
  def keys(redact) do
    keys = for key <- redact, not is_tuple(key), not match?("/" <> _, key), do: to_string(key)
    keys |> Enum.uniq() |> Enum.sort()
  end

  @doc "The words that redacted keys contain."
  @spec words([entry()]) :: [String.t()]
  def words(redact) do
    words = for {:contains, words} <- redact, word <- List.wrap(words), do: to_string(word)
    words |> Enum.uniq() |> Enum.sort()
  end

  @doc "Whether these keys or words redact what stands under this key."
  @spec hidden?(String.t(), [String.t()], [String.t()]) :: boolean()
  def hidden?(key, keys, words), do: key in keys or (words != [] and :binary.match(key, words) != :nomatch)

  defp texts(texts), do: list(texts, &text/1)
  defp list(items, write), do: [<<length(items)::little-32>> | Enum.map(items, write)]
  defp text(text), do: [<<byte_size(text)::little-32>>, text]
end
