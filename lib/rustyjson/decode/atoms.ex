defmodule RustyJson.Decode.Atoms do
  @moduledoc false
  # `keys: :atoms`. The engines only know atoms that exist, so a document that has new ones is decoded in three steps: with
  # existing atoms, which fails; with strings, for the names; and again, after `RustyJson.Decode.NewAtoms` has made them.
  # An atom stays as long as the VM runs, so nearly all documents take the first step only, which counts nothing.

  require RustyJson.Engine.Codes

  alias RustyJson.Decode.NewAtoms
  alias RustyJson.Engine.Codes
  alias RustyJson.{Engine, Options, OrderedObject}

  # Keys as strings, floats as floats, and all members, including repeated ones.
  @names %{keys: :strings, floats: :native, objects: :ordered_objects}
  @unknown Codes.decode(:unknown_atom)

  @doc "Decodes with keys as atoms, if the table has room for them."
  @spec decode(binary(), Options.t()) ::
          {:ok, term()} | {:error, :atom_limit | Engine.decode_failure() | Exception.t()}
  def decode(json, %{engine: engine} = options) do
    with {:error, {@unknown, _, _, _, _}} <- engine.decode(json, options),
         {:ok, term} <- with_names(json, options),
         :ok <- term |> names(%{}) |> Map.keys() |> NewAtoms.make() do
      engine.decode(json, options)
    end
  end

  defp with_names(json, %{engine: engine} = options),
    do: engine.decode(json, Options.change(options, :decode, @names))

  defp names(%OrderedObject{values: values}, found),
    do: Enum.reduce(values, found, fn {key, value}, found -> names(value, Map.put(found, key, [])) end)

  defp names(list, found) when is_list(list), do: Enum.reduce(list, found, &names/2)
  defp names(_scalar, found), do: found
end
