defmodule RustyJson.Decode.Valid do
  @moduledoc false
  # `RustyJson.valid?/2`: the engine reads the whole document and answers `true`. No term is made and no atom.

  require RustyJson.Parts.Kind

  alias RustyJson.{DecodeError, Engine, Options, SandboxError, Schema}
  alias RustyJson.Decode.{Atoms, Input}
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Parts.Kind

  @check <<Kind.check()>>
  # A call that never reached an instance says nothing about the document.
  @unanswered [:busy, :unavailable]

  @spec valid?(iodata(), Options.t()) :: boolean()
  # In a document of a few bytes the work of Elixir counts.
  def valid?(input, %{engine: Engine.Native, check: check, max_bytes: 0, dirty_threshold: threshold})
      when is_binary(check) and is_binary(input) and byte_size(input) < threshold do
    match?({:ok, _true}, Nif.decode(input, check))
  end

  def valid?(input, %{check: check, max_bytes: 0, straight: limits} = options)
      when is_binary(check) and is_binary(input) and limits != nil,
      do: input |> Engine.Wasm.straight(checking(options)) |> answer()

  # The type is checked with keys as strings. The engine's answer, with all members, has the keys that become atoms.
  def valid?(input, %{as: as, keys: :atoms} = options) when as != nil do
    options = Options.due(options)

    with {:ok, json} <- Input.flatten(input, options),
         {:ok, _value} <- Input.decode(json, strings(options)),
         {_shape, _plain, typed} = Schema.Decode.prepare(strings(options)),
         {:ok, answer} <- Input.term(json, Atoms.as_strings(typed)) do
      Atoms.possible_names?(answer)
    else
      failed -> answer(failed)
    end
  end

  # A type asks for its values.
  def valid?(input, %{as: as} = options) when as != nil, do: input |> Input.decode(options) |> answered()

  # The names are looked at, and no atom is made of them.
  def valid?(input, %{keys: :atoms} = options) do
    case Input.decode(input, Atoms.as_strings(%{options | keys: nil})) do
      {:ok, term} -> Atoms.possible_names?(term)
      failed -> answer(failed)
    end
  end

  # Only existing atoms: which these are is known to this VM alone.
  def valid?(input, %{values: %{keys: :atoms!}} = options), do: input |> Input.decode(options) |> answered()

  # An error needs no message here.
  def valid?(input, %{engine: engine} = options) do
    case Input.flatten(input, options) do
      {:ok, json} -> json |> engine.decode(checking(options)) |> answer()
      failed -> answer(failed)
    end
  end

  @doc "What the built-in host answered at once says about a document."
  @spec sandboxed(Nif.ran() | :later, binary(), Options.t()) :: boolean()
  def sandboxed(answer, input, options), do: answer |> Engine.Wasm.ended(input, checking(options)) |> answer()

  defp strings(options), do: Options.change(%{options | keys: nil}, :decode, %{keys: :strings})

  defp checking(%{check: check} = options), do: %{options | bytes: check, parts: @check}

  defp answered({:ok, _term}), do: true
  defp answered(failed), do: answer(failed)

  # A module that was taken over can answer anything.
  defp answer({:ok, term}), do: term == true
  defp answer({:error, %SandboxError{reason: reason} = error}) when reason in @unanswered, do: raise(error)
  defp answer({:error, %SandboxError{}}), do: false
  defp answer({:error, %DecodeError{}}), do: false
  defp answer({:error, failure}) when is_tuple(failure), do: false
end
