defmodule RustyJson.Engine.Missing do
  @moduledoc false
  # Used if no engine could be loaded: every call raises the reason.

  @behaviour RustyJson.Engine

  for {name, arity} <- [decode: 2, decode_many: 2, feed: 3, encode: 2, gzip: 2, format: 2, canonicalize: 2] do
    @impl true
    def unquote(name)(unquote_splicing(List.duplicate({:_, [], nil}, arity))),
      do: raise(RustyJson.EngineError)
  end

  @impl true
  def status, do: {:error, "no engine could be loaded"}
end
