defmodule RustyJson.Engine.Native do
  @moduledoc """
  The core as a native library: terms are built and walked on the process heap.
  """

  @behaviour RustyJson.Engine

  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Native.Nif

  # Text of this length is read in well under a millisecond. The NIF limits what it writes with a budget.
  @dirty_from 131_072

  @impl true
  def decode(json, %{packed: packed}) do
    dirty_from = elem(packed, 4)

    if dirty_from == 0 or byte_size(json) < dirty_from,
      do: Nif.decode(json, packed) |> decoded(json, packed),
      else: Nif.decode_dirty(json, packed)
  end

  # The text was more work than its length suggested.
  defp decoded(:dirty, json, packed), do: Nif.decode_dirty(json, packed)
  defp decoded(result, _json, _packed), do: result

  @impl true
  def encode(term, %{packed: packed}) do
    case Nif.encode(term, packed) do
      # The common case.
      json when is_binary(json) and elem(packed, 3) == -1 -> {:ok, json}
      begun -> begun |> ended(term, packed) |> checked(term, packed) |> finish(packed)
    end
  end

  # The size of a term is unknown, so the NIF starts, and stops if it takes too long for a normal scheduler.
  defp ended({:suspended, _, _, _, _} = suspended, _term, packed), do: Nif.resume_dirty(suspended, packed)
  defp ended(:dirty, term, packed), do: Nif.encode_dirty(term, packed)
  defp ended(done, _term, _packed), do: done

  # The core reports the plans it used. If one is outdated, it is dropped and the text is made again.
  defp checked({:planned, result, modules}, term, packed) do
    if Plans.hold?(modules, elem(packed, 6)), do: result, else: again(term, put_elem(packed, 6, Plans.own()))
  end

  defp checked(result, _term, _packed), do: result

  defp again(term, packed), do: Nif.encode(term, packed) |> ended(term, packed)

  defp finish(json, {_, _, _, -1, _, _, _}) when is_binary(json), do: {:ok, json}
  defp finish(json, packed) when is_binary(json), do: compressed(json, elem(packed, 3))
  defp finish(other, _packed), do: other

  @impl true
  def gzip(text, level, _options), do: compressed(text, level)

  defp compressed(text, level) do
    case Nif.gzip(text, level) do
      json when is_binary(json) -> {:ok, json}
      failed -> failed
    end
  end

  @impl true
  def format(text, layout, limits, _options) do
    case laid_out(text, layout, limits) do
      text when is_binary(text) -> {:ok, text}
      failed -> failed
    end
  end

  defp laid_out(text, layout, limits) when byte_size(text) < @dirty_from do
    with {:suspended, _, _} = suspended <- Nif.format(text, layout, limits),
         do: Nif.format_dirty(text, layout, limits, suspended)
  end

  defp laid_out(text, layout, limits), do: Nif.format_dirty(text, layout, limits, nil)

  @impl true
  def status do
    case Nif.failure() do
      nil -> {:ok, Nif.info()}
      failure -> {:error, explain(failure)}
    end
  end

  @doc false
  @spec loaded?() :: boolean()
  def loaded?, do: Code.ensure_loaded?(Nif) and Nif.failure() == nil

  defp explain(failure) do
    file = Nif.path() <> ".so"

    if File.regular?(file) do
      "the native library does not load: #{failure}. FORCE_RUSTYJSON_BUILD=true mix deps.compile rustyjson builds " <>
        "it for this machine"
    else
      "there is no native library (#{Path.relative_to_cwd(file)}). Install Rust from https://rustup.rs and a C " <>
        "compiler, or take what was built elsewhere by mix rustyjson.install; then run mix deps.compile rustyjson --force"
    end
  end
end
