defmodule RustyJson.Decode.Valid do
  @moduledoc false
  # `RustyJson.valid?/2`: the engine reads the whole document and answers `true`. No term is made and no atom.

  require RustyJson.Parts.Kind

  alias RustyJson.{DecodeError, Options, SandboxError}
  alias RustyJson.Decode.{Atoms, Input}
  alias RustyJson.Parts.Kind

  @check <<Kind.check()>>
  # A call that never reached an instance says nothing about the document.
  @unanswered [:busy, :unavailable]

  @spec valid?(iodata(), Options.t()) :: boolean()
  # A type asks for its values.
  def valid?(input, %{as: as} = options) when as != nil, do: input |> Input.decode(options) |> answer()
  # The names are looked at, and no atom is made of them.
  def valid?(input, %{keys: :atoms} = options) do
    case Input.decode(input, Atoms.as_strings(%{options | keys: nil})) do
      {:ok, term} -> Atoms.possible_names?(term)
      failed -> answer(failed)
    end
  end

  # Only existing atoms: which these are is known to this VM alone.
  def valid?(input, %{values: %{keys: :atoms!}} = options), do: input |> Input.decode(options) |> answer()

  def valid?(input, %{max_bytes: 0} = options) when is_binary(input), do: check(input, options)

  def valid?(input, options) do
    case Input.flatten(input, options) do
      {:ok, json} -> check(json, options)
      failed -> answer(failed)
    end
  end

  # An error needs no message here.
  defp check(json, %{engine: engine} = options), do: json |> engine.decode(checking(options)) |> answer()

  defp checking(%{bytes: bytes, parts: ""} = options), do: %{options | bytes: bytes <> @check, parts: @check}

  defp checking(%{bytes: bytes, parts: parts} = options) do
    own = binary_part(bytes, 0, byte_size(bytes) - byte_size(parts))
    checking(%{options | bytes: own, parts: ""})
  end

  defp answer({:ok, _term}), do: true
  defp answer({:error, %SandboxError{reason: reason} = error}) when reason in @unanswered, do: raise(error)
  defp answer({:error, %SandboxError{}}), do: false
  defp answer({:error, %DecodeError{}}), do: false
  defp answer({:error, failure}) when is_tuple(failure), do: false
end
