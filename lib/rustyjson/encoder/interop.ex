defmodule RustyJson.Encoder.Interop do
  @moduledoc false
  # Structs that know another library's protocol only.

  alias RustyJson.{Encode, Options}

  @compile {:no_warn_undefined, [Jason, Jason.Encoder, JSON, JSON.Encoder]}

  @doc "The struct's text by Jason's or Elixir's own protocol."
  @spec encode(term(), Options.t()) :: {:ok, iodata()} | :error
  def encode(%_{} = struct, options) do
    cond do
      implemented?(Jason.Encoder, struct) -> {:ok, by_jason(struct, options)}
      implemented?(JSON.Encoder, struct) -> {:ok, JSON.Encoder.encode(struct, &by_json(&1, &2, options))}
      true -> :error
    end
  end

  def encode(_value, _options), do: :error

  defp implemented?(protocol, struct) do
    Code.ensure_loaded?(protocol) and protocol.impl_for(struct) not in [nil, Module.concat(protocol, Any)]
  end

  # Jason's options are made of functions; Jason itself makes them.
  defp by_jason(struct, options) do
    Jason.encode!(struct, escape: Options.escape(options), maps: Options.maps(options))
  end

  # Elixir's protocol hands every nested value back to the caller.
  defp by_json(value, _encoder, options), do: Encode.value(value, options)
end
