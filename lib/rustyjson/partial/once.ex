defmodule RustyJson.Partial.Once do
  @moduledoc false
  # `RustyJson.decode_partial/2`: a partial document whose text comes in one call.

  alias RustyJson.{DecodeError, Partial, SandboxError}
  alias RustyJson.Partial.{Errors, Lenient, Pieces, Typed}
  alias RustyJson.Partial.Lenient.Positions

  # With one of these behind it, a comma or a part of a fence is mended if it can be.
  @mending ["]", "}", "`"]

  @doc "What there is of the document, and whether it is complete."
  @spec decode(iodata(), [RustyJson.partial_option()] | map()) ::
          {:ok, term(), :complete | :partial} | {:error, DecodeError.t() | SandboxError.t()}
  def decode(input, opts) do
    with {:ok, partial} <- opts |> Partial.new() |> Pieces.due() |> Partial.push(input),
         {:ok, partial} <- rest(partial),
         do: ended(Partial.value(partial), Partial.finish(partial), partial)
  end

  # What the mends held back may be an error already. Where the document starts, only `finish/2` can tell.
  defp rest(%{lenient: lenient} = partial) do
    case if(Lenient.searching?(lenient), do: {:ok, partial, nil}, else: Pieces.rest(partial)) do
      {:ok, partial, nil} -> {:ok, partial}
      {:error, %DecodeError{}} = failed -> if mendable?(partial), do: {:ok, partial}, else: failed
      failed -> failed
    end
  end

  defp mendable?(partial), do: Enum.any?(@mending, &match?({:ok, _}, Partial.push(partial, &1)))

  defp ended({:ok, _shown}, {:ok, term}, _partial), do: {:ok, term, :complete}

  defp ended({:ok, shown}, {:error, %DecodeError{}} = failed, partial),
    do: if(over?(partial), do: failed, else: {:ok, shown, :partial})

  defp ended(_value, {:error, %SandboxError{}} = failed, _partial), do: failed

  defp ended(:none, {:error, %DecodeError{reason: reason}} = failed, _partial) when reason != :unexpected_end,
    do: failed

  # Whether a text that may be prose is the document is known only now.
  defp ended(:none, ended, %{lenient: lenient, text: text} = partial) do
    case {Lenient.searching?(lenient), ended} do
      {true, {:ok, value}} -> {:ok, value, :complete}
      {true, failed} -> failed
      {false, _ended} -> Positions.original({:error, Errors.unread(partial)}, lenient, text)
    end
  end

  defp over?(%{document: %Typed{} = document}), do: Typed.over?(document)
  defp over?(_partial), do: false
end
