defmodule RustyJson.LogFormatter.Layout do
  @moduledoc false
  # What `redact:` says of the members of a plain line (message, metadata, error and so on), in the words of a line that has other ones: by
  # names, by a preset, or because metadata is flat. So a layout hides no less than the plain one.

  alias RustyJson.LogFormatter.Presets
  alias RustyJson.Options.Shape
  alias RustyJson.Pointer

  # What a place in the source takes out of metadata, and the names that it has there.
  @places [mfa: ~w(mfa module function), file: ~w(file), line: ~w(line)]

  # The members of an error, to which presets give other names or which they write as one text.
  @of_crash ~w(kind message stacktrace)

  @type t :: %{
          names: %{atom() => String.t()},
          preset: Presets.name(),
          text: boolean(),
          flat: nil | [String.t()]
        }

  @doc "These entries of `redact:`, with pointers to where this layout has what they name."
  @spec redact([Shape.entry()], t()) :: [Shape.entry()]
  def redact(entries, layout) do
    {keys, words, pointers} = {Shape.keys(entries), Shape.words(entries), Shape.segments(entries)}

    named =
      for {member, _} <- layout.names,
          name = Atom.to_string(member),
          Shape.hidden?(name, keys, words),
          do: [name]

    crash = for name <- @of_crash, Shape.hidden?(name, keys, words), do: ["error", name]

    more =
      for [first | rest] = path <- named ++ crash ++ pointers,
          member <- members(first, layout),
          moved <- moved(member, rest, layout),
          not covers?(path, moved),
          do: pointer(moved)

    Enum.uniq(entries ++ more)
  end

  defp covers?([first | rest], [name | rest]), do: first in [name, "*"]
  defp covers?(_path, _moved), do: false

  defp members("*", %{names: names}), do: Map.keys(names)

  defp members(first, %{names: names}),
    do: for({member, _name} <- names, Atom.to_string(member) == first, do: member)

  # A report stands beside its message. If it is not an object, it is a member of one.
  defp moved(:message, [], %{text: true, names: names}), do: [[names.message], ["report"]]
  defp moved(:message, rest, %{text: true}), do: [["report" | rest], ["report", "term" | rest]]

  # Keys that other members have stay in metadata.
  defp moved(:metadata, [key | _] = rest, %{flat: [_ | _] = taken, names: names}),
    do: if(key in taken, do: [[names.metadata | rest]], else: [[names.metadata | rest], rest])

  defp moved(:error, rest, %{preset: preset, names: names}),
    do: for(path <- Presets.error(preset, rest), do: [names.error | path])

  defp moved(member, rest, %{names: names}), do: [[Map.fetch!(names, member) | rest]]

  defp pointer(segments), do: Enum.map_join(segments, &["/", Pointer.token(&1)])

  @doc "Whether all metadata is redacted, or the members are that hold it, so that it must not rise into the line."
  @spec whole?([Shape.entry()]) :: boolean()
  def whole?(entries) do
    Shape.hidden?("metadata", Shape.keys(entries), Shape.words(entries)) or
      Enum.any?(
        Shape.segments(entries),
        &match?([first | rest] when first in ["metadata", "*"] and (rest == [] or hd(rest) == "*"), &1)
      )
  end

  @doc "The metadata that a place in the source must not show."
  @spec hidden_places([Shape.entry()]) :: [atom()]
  def hidden_places(entries) do
    {keys, words, pointers} = {Shape.keys(entries), Shape.words(entries), Shape.segments(entries)}

    for {key, names} <- @places,
        whole?(entries) or Enum.any?(names, &(Shape.hidden?(&1, keys, words) or pointed?(pointers, &1))),
        do: key
  end

  defp pointed?(pointers, name),
    do: Enum.any?(pointers, &match?([first, ^name | _] when first in ["metadata", "*"], &1))
end
