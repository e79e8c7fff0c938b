defmodule RustyJson.Bench.Sharing do
  @moduledoc "How much of a decoded term is shared."

  alias RustyJson.Bench.Contender

  @doc "Words on the heap. Shared words count once."
  @spec words(Path.t(), Contender.id(), keyword()) :: non_neg_integer()
  def words(file, id, opts) do
    json = File.read!(file)
    :erts_debug.size(Contender.get(id, opts).decode.(json))
  end
end
