defmodule RustyJson.Options.Shape do
  @moduledoc false
  # The options that decide which members an object gets and under which names, as core/src/options/shape.rs reads them.

  alias RustyJson.Encoder.Names

  @camel 1
  @omit_nil 2
  # The core keeps one bit for each.
  @most_pointers 64

  @doc "The value of one of these options as it is kept, or `:error`."
  @spec cast(atom(), term()) :: {:ok, term()} | :error
  # A list that ends in something else has no length.
  def cast(:redact, entries) when length(entries) >= 0 do
    Enum.each(entries, &check_entry!/1)
    count = length(pointers(entries))

    if count > @most_pointers,
      do: raise(ArgumentError, "option :redact takes at most #{@most_pointers} JSON Pointers, got: #{count}")

    {:ok, entries}
  end

  def cast(:text, text) when is_binary(text), do: if(String.valid?(text), do: {:ok, text}, else: :error)
  def cast(:key_case, names) when is_map(names), do: if(Names.table?(names), do: {:ok, names}, else: :error)

  def cast(:omit, modules) when length(modules) >= 0,
    do: if(Names.omit?(modules), do: {:ok, modules}, else: :error)

  def cast(_type, _value), do: :error

  # An entry that cannot be meant would leave what it was to hide.
  defp check_entry!("/" <> _ = pointer) do
    cond do
      not String.valid?(pointer) -> wrong_entry(pointer, "which is not UTF-8")
      pointer =~ ~r/~(?![01])/ -> wrong_entry(pointer, "which is no JSON Pointer: after ~ comes 0 or 1")
      true -> :ok
    end
  end

  defp check_entry!(key) when is_binary(key) or (is_atom(key) and key != nil), do: :ok
  defp check_entry!(other), do: wrong_entry(other, "which is neither a string nor an atom that is a key")

  @spec wrong_entry(term(), String.t()) :: no_return()
  defp wrong_entry(entry, why) do
    shown = inspect(entry, limit: 5, printable_limit: 64)
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
      texts(modules),
      redact |> keys() |> Enum.uniq() |> Enum.sort() |> texts(),
      list(Map.get(values, :pointers) || segments(redact), &texts/1),
      text(redacted)
    ])
  end

  @doc "The pointers among the entries of `:redact`, as lists of segments."
  @spec segments([String.t() | atom()]) :: [[String.t()]]
  def segments(redact),
    do: for("/" <> pointer <- pointers(redact), do: pointer |> String.split("/") |> Enum.map(&unescaped/1))

  defp pointers(redact), do: Enum.uniq(for "/" <> _ = pointer <- redact, do: pointer)

  defp keys(redact), do: for(key <- redact, not match?("/" <> _, key), do: to_string(key))

  defp unescaped(segment), do: segment |> String.replace("~1", "/") |> String.replace("~0", "~")

  defp texts(texts), do: list(texts, &text/1)
  defp list(items, write), do: [<<length(items)::little-32>> | Enum.map(items, write)]
  defp text(text), do: [<<byte_size(text)::little-32>>, text]
end
