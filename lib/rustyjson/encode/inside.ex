defmodule RustyJson.Encode.Inside do
  @moduledoc false
  # Takes off what stands around a text that an engine wrote: brackets and quotes. In the wasm engine the module may be under attack, so
  # what the text or the path of an error has to have can be missing. Then the call ends with a `RustyJson.SandboxError`.

  alias RustyJson.Engine.Wasm
  alias RustyJson.{Engine, Options}

  @doc "The text between an opening and a closing."
  @spec between!(binary(), binary(), binary(), Options.t()) :: binary()
  def between!(text, opening, closing, options) do
    length = byte_size(text) - byte_size(opening) - byte_size(closing)

    if length >= 0 and String.starts_with?(text, opening) and String.ends_with?(text, closing),
      do: binary_part(text, byte_size(opening), length),
      else: raise(Wasm.broken_text(options))
  end

  @doc "Holes that lie between these offsets of the text."
  @spec holes!([Engine.hole()], non_neg_integer(), non_neg_integer(), Options.t()) :: [Engine.hole()]
  def holes!(holes, from, to, options) do
    if Enum.all?(holes, &(elem(&1, 0) in from..to//1)), do: holes, else: raise(Wasm.broken_text(options))
  end

  @doc "The number of the element at the start of a path in a list, and the path in this element."
  @spec element!(String.t(), Options.t()) :: {non_neg_integer(), String.t()}
  def element!("/" <> path, options) do
    case Integer.parse(path) do
      {number, path} when number >= 0 and (path == "" or binary_part(path, 0, 1) == "/") -> {number, path}
      _ -> raise Wasm.broken_text(options)
    end
  end
end
