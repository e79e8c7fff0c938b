defmodule RustyJson.Engine.Native do
  @moduledoc """
  The core as a native library: terms are built and walked on the process heap.
  """

  @behaviour RustyJson.Engine

  alias RustyJson.Engine.Native.Nif

  @impl true
  def decode(json, %{packed: packed}) do
    dirty_from = elem(packed, 4)

    if dirty_from == 0 or byte_size(json) < dirty_from,
      do: Nif.decode(json, packed),
      else: Nif.decode_dirty(json, packed)
  end

  @impl true
  def encode(term, %{packed: packed}) do
    case Nif.encode(term, packed) do
      json when is_binary(json) -> {:ok, json}
      other -> other
    end
  end

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
        "compiler, then run mix deps.compile rustyjson --force"
    end
  end
end
