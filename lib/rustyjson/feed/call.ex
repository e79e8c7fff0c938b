defmodule RustyJson.Feed.Call do
  @moduledoc false
  # A call of the engine for a piece of a stream. What the sandbox leaves of a piece, and why, is held to what an honest one leaves.

  alias RustyJson.Decode.Atoms
  alias RustyJson.Engine.Wasm
  alias RustyJson.Feed.Items

  # Bytes of pointers or rows behind which the engine leaves the rest of a piece for another call, beyond as many as the piece has.
  @full 65_536
  @mark "\uFEFF"

  @doc "What the engine finds in these bytes. So many of the feed's bytes that are pending stand before them."
  @spec engine(binary(), non_neg_integer(), boolean(), RustyJson.Feed.t()) ::
          RustyJson.Engine.fed() | {:error, :atom_limit | RustyJson.SandboxError.t()}
  def engine(bytes, held, last, %{options: %{engine: engine} = options} = feed) do
    %{plan: %{packed: plan}, state: state, base: base} = feed
    run = fn options, stop -> engine.feed({base + held, held, last, stop, plan, state}, bytes, options) end
    run |> Atoms.feed(options) |> honest(bytes, held, feed)
  end

  # The rest of a piece is left behind a byte order mark or many pointers, or as much as a value may have that waits for more.
  defp honest({values, kept, _state, :again} = fed, bytes, held, %{options: options} = feed) do
    marked = values == [] and feed.base + held == 0 and binary_part(bytes, 0, kept) == @mark

    if marked or full(values, feed) >= byte_size(bytes) + @full,
      do: fed,
      else: Wasm.refused(:invalid_result, "it leaves a piece without a reason", options)
  end

  defp honest({_values, kept, _state, :more} = fed, bytes, held, %{options: options} = feed) do
    waits = if kept == 0, do: held + byte_size(bytes), else: byte_size(bytes) - kept

    cond do
      beyond?(waits, feed.plan) ->
        Wasm.refused(:invalid_result, "it takes no error for more than max_bytes", options)

      # Nothing so long ever gets into the sandbox again.
      waits > Wasm.max_memory(options) ->
        Wasm.refused(:memory_limit, "", options)

      true ->
        fed
    end
  end

  defp honest(answer, _bytes, _held, _feed), do: answer

  # A part of a byte order mark waits under any limit.
  defp beyond?(waits, %{max_bytes: most}), do: most > 0 and waits >= byte_size(@mark) and waits > most

  # Bytes of pointers and rows.
  defp full(values, %{options: %{as: as}, plan: plan}) when as != nil do
    paths = for [_start, _length, path] when is_binary(path) <- values, do: path
    Items.bytes(values, plan) + IO.iodata_length(paths)
  end

  defp full(values, %{plan: plan}), do: Items.bytes(values, plan)
end
