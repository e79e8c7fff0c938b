defmodule RustyJson.Schema.Expected do
  @moduledoc false
  # Adds to the message of an error what its type expects: the texts of an enum, a constraint, the name of a member, or a type of Ecto. The
  # type is found along the path of the error.

  alias RustyJson.DecodeError
  alias RustyJson.DecodeError.{Message, Snippet}
  alias RustyJson.Pointer
  alias RustyJson.Schema.{Constraints, Shape, Type}

  # The most bytes of all names in a message.
  @most 200

  # The reasons that name what was expected.
  @reasons [:enum, :missing, :type | Constraints.options()]

  @doc "The error, with what was expected."
  @spec add(DecodeError.t(), Shape.t(), RustyJson.Options.t()) :: DecodeError.t()
  def add(%{reason: reason, path: path, message: message} = error, %{type: type}, options)
      when reason in @reasons do
    outer = if options.origin, do: options.origin.path, else: ""

    with true <- String.starts_with?(path, outer),
         tokens = path |> binary_part(byte_size(outer), byte_size(path) - byte_size(outer)) |> tokens(),
         [expected] <- [type] |> along(tokens) |> wanted(reason, tokens),
         do: %{error | message: message <> ": Expected " <> expected},
         else: (_unclear -> error)
  end

  def add(error, _shape, _options), do: error

  # A member that the schema does not have is none that is missing: the path can be that of a compromised guest.
  defp wanted([_ | _], :missing, [_ | _] = tokens), do: [tokens |> List.last() |> quoted()]
  defp wanted(types, reason, _tokens), do: types |> Enum.flat_map(&expected(&1, reason)) |> Enum.uniq()

  defp tokens(path), do: path |> String.split("/") |> tl_or_empty()
  defp tl_or_empty([_before | tokens]), do: Enum.map(tokens, &Pointer.key/1)

  # The types at the end of a path; several below a tag, whose value the path does not tell. Types that contain themselves would double
  # with every level.
  defp along(types, []), do: types

  defp along(types, [token | tokens]),
    do: types |> Enum.flat_map(&step(&1, token)) |> Enum.uniq() |> along(tokens)

  defp step({:nullable, type}, token), do: step(type, token)
  defp step({:checked, type, _constraints}, token), do: step(type, token)
  defp step({:list, type}, _token), do: [type]
  defp step({:map, type}, _token), do: [type]
  defp step({:embeds_many, module}, _token), do: [module]
  defp step({:tagged, key, variants}, key), do: [{:enum, variants |> Map.keys() |> Enum.sort()}]

  defp step({:tagged, _key, variants}, token),
    do: for({_tag, module} <- variants, type <- step(module, token), do: type)

  defp step(module, token) when is_atom(module) do
    if Type.struct?(module),
      do: for(%{key: ^token, type: type} <- Type.schema!(module).fields, do: type),
      else: []
  end

  defp step(_type, _token), do: []

  defp expected({:nullable, type}, reason), do: expected(type, reason)
  # The core says what JSON it expected, but of Ecto's types it knows nothing.
  defp expected({:loaded, {:parameterized, {Ecto.Enum, given}}}, :type), do: [enum(given)]
  defp expected({:loaded, {:parameterized, Ecto.Enum, given}}, :type), do: [enum(given)]

  defp expected({:loaded, type}, :type) when is_atom(type),
    do: [type |> inspect() |> String.trim_leading(":")]

  defp expected(_type, :type), do: []

  defp expected({:enum, names}, :enum), do: [list(Enum.map(names, &to_string/1))]

  defp expected({:checked, type, constraints}, reason) do
    case Constraints.expected(constraints, reason, type) do
      nil ->
        []

      text ->
        [
          if(byte_size(text) > @most,
            do: Snippet.whole_characters(binary_part(text, 0, @most)) <> "…",
            else: text
          )
        ]
    end
  end

  defp expected(_type, _reason), do: []

  # Its names, or what stands for them in a database.
  defp enum(%{mappings: mappings} = given) do
    list(for {name, value} <- mappings, do: if(given[:embed_as] == :dump, do: "#{value}", else: "#{name}"))
  end

  defp list([name]), do: quoted(name)
  defp list(names), do: "one of " <> shown(names, @most, [])

  defp shown([name | names], room, shown) when byte_size(name) <= room or shown == [],
    do: shown(names, room - byte_size(name), [quoted(name) | shown])

  defp shown([], _room, shown), do: shown |> Enum.reverse() |> Enum.join(", ")
  defp shown(names, _room, shown), do: shown([], 0, ["… (#{length(names)} more)" | shown])

  defp quoted(name) do
    escaped = String.replace(name, ["\\", "\""], &("\\" <> &1))
    "\"" <> Message.printable(escaped) <> "\""
  end
end
