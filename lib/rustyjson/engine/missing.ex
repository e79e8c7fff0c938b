defmodule RustyJson.Engine.Missing do
  @moduledoc false
  # Used if no engine could be loaded: every call raises the reason.

  @behaviour RustyJson.Engine

  @impl true
  def decode(_json, _options), do: raise(RustyJson.EngineError)

  @impl true
  def decode_many(_documents, _options), do: raise(RustyJson.EngineError)

  @impl true
  def feed(_question, _piece, _options), do: raise(RustyJson.EngineError)

  @impl true
  def encode(_term, _options), do: raise(RustyJson.EngineError)

  @impl true
  def gzip(_text, _options), do: raise(RustyJson.EngineError)

  @impl true
  def format(_text, _options), do: raise(RustyJson.EngineError)

  @impl true
  def canonicalize(_text, _options), do: raise(RustyJson.EngineError)

  @impl true
  def status, do: {:error, "no engine could be loaded"}
end
