defmodule Jason.Derive do
  @moduledoc false
  # The implementation that `@derive Jason.Encoder` generates.

  alias RustyJson.Standin

  @spec implementation(module(), map(), list() | term()) :: Macro.t()
  def implementation(module, struct, options) when is_list(options) do
    # As in Jason, elements of other kinds say nothing.
    options =
      for {name, fields} <- options, name in [:only, :except], fields not in [nil, false], do: {name, fields}

    fields = fields(struct, options)
    Enum.each(fields, &Jason.Keys.check!/1)

    if Enum.any?(fields, &Jason.Keys.unescaped?/1),
      do: member_by_member(module, fields),
      else: Standin.derive(Jason.Encoder, module, struct, options)
  end

  # Without this error all fields would be encoded.
  def implementation(_module, _struct, options),
    do: raise(ArgumentError, "`@derive Jason.Encoder` takes a list of options, got: #{inspect(options)}")

  defp member_by_member(module, fields) do
    quote do
      defimpl Jason.Encoder, for: unquote(module) do
        def encode(struct, opts),
          do: Jason.Keys.object(Map.take(struct, unquote(fields)), unquote(fields), opts)
      end
    end
  end

  # Fields that the struct lacks are an error there.
  defp fields(struct, options) do
    fields = Map.keys(struct) -- [:__struct__]
    options[:only] || fields -- (options[:except] || [])
  end

  @doc "What to do about a value without an implementation, as Jason says it."
  @spec advice(term()) :: String.t()
  def advice(value), do: value |> Standin.advice() |> String.replace("RustyJson.Encoder", "Jason.Encoder")
end
