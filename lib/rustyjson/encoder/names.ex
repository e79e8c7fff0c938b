defmodule RustyJson.Encoder.Names do
  @moduledoc false
  # Names of keys under `:key_case`, as core/src/options/shape.rs makes them, and what `:omit` takes.

  @doc """
  The name of an atom.

      iex> RustyJson.Encoder.Names.name(:first_name, :camel)
      "firstName"

      iex> RustyJson.Encoder.Names.name(:first_name, %{first_name: "given"})
      "given"
  """
  @spec name(atom(), nil | :camel | %{atom() => String.t()}) :: String.t()
  def name(atom, :camel), do: atom |> Atom.to_string() |> camel()
  def name(atom, names) when is_map_key(names, atom), do: Map.fetch!(names, atom)
  def name(atom, _names), do: Atom.to_string(atom)

  @doc "A name in camelCase."
  @spec camel(String.t()) :: String.t()
  def camel("_" <> rest), do: "_" <> camel(rest)

  def camel(name) do
    [first | words] = String.split(name, "_")
    Enum.join([first | Enum.map(words, &capital/1)])
  end

  defp capital(<<letter, rest::binary>>) when letter in ?a..?z, do: <<letter - 32, rest::binary>>
  defp capital(word), do: word

  @doc "Whether no escape mode changes anything in a string that contains only such bytes."
  defguard is_plain(byte) when byte in 0x20..0x7F and byte not in ~c"\"\\/<"

  @doc """
  Whether no escape mode changes anything in this string.

      iex> RustyJson.Encoder.Names.plain?("first name")
      true

      iex> RustyJson.Encoder.Names.plain?("a/b")
      false
  """
  @spec plain?(String.t()) :: boolean()
  def plain?(<<byte, rest::binary>>) when is_plain(byte), do: plain?(rest)
  def plain?(rest), do: rest == ""

  @doc "Whether this is a table of names."
  @spec table?(term()) :: boolean()
  def table?(names) when is_map(names),
    do: not is_struct(names) and Enum.all?(names, fn {atom, name} -> is_atom(atom) and name?(name) end)

  def table?(_other), do: false

  defp name?(name), do: is_binary(name) and String.valid?(name)

  @doc "Whether this is what `:omit` takes: nil and modules."
  @spec omit?(term()) :: boolean()
  # `length/1` fails for an improper list, which takes the next clause.
  def omit?(modules) when length(modules) >= 0, do: Enum.all?(modules, &module?/1)
  def omit?(_other), do: false

  defp module?(nil), do: true
  defp module?(module) when is_atom(module), do: module?(Atom.to_string(module), module)
  defp module?(_other), do: false

  # A module of Elixir may be compiled later. Another atom is mostly a value that somebody wants to leave out, such as `:null`.
  defp module?("Elixir." <> _, _module), do: true
  defp module?(_name, module), do: Code.ensure_loaded?(module) and function_exported?(module, :__struct__, 0)
end
