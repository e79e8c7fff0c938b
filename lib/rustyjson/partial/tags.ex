defmodule RustyJson.Partial.Tags do
  @moduledoc false
  # A tagged struct whose tag is known now: the members in front of the tag are decoded as the fields of its struct.

  alias RustyJson.Partial.{Frames, Values}

  import RustyJson.Partial.Frames, only: :macros

  @doc "The struct that this tag, whose value stands at this place, makes of the container."
  @spec decided(term(), {non_neg_integer(), non_neg_integer()}, Frames.t(), map()) ::
          {:ok, Frames.t()} | :wrong
  def decided(tag, {start, stop}, frame, rules) do
    in_tagged(type: {:tagged, key, variants}, length: length, members: members, names: names) = frame

    with %{^tag => module} <- variants,
         struct = Frames.struct_of(module, length, {key, tag}, rules),
         {:ok, struct} <- replayed(Enum.reverse([{key, start, stop} | members]), struct, rules) do
      {:ok, in_struct(struct, names: names)}
    else
      _wrong -> :wrong
    end
  end

  defp replayed([], struct, _rules), do: {:ok, struct}

  defp replayed([{name, start, stop} | members], struct, rules) do
    with in_struct() = struct <- key(struct, name, rules),
         {:ok, struct} <- value(struct, start, stop, rules),
         do: replayed(members, struct, rules)
  end

  # Here the tag is not repeated. It can be a field, too.
  defp key(in_struct(fields: %{by_key: by_key}, tag: {name, _}) = struct, name, _rules)
       when not is_map_key(by_key, name),
       do: in_struct(struct, field: :foreign)

  defp key(in_struct(tag: tag) = struct, name, rules) do
    with in_struct() = struct <- Frames.key(in_struct(struct, tag: nil, names: nil), name, nil, rules),
         do: in_struct(struct, tag: tag)
  end

  # Its numbers have limits, too.
  defp value(in_struct(field: :foreign) = struct, start, stop, rules) do
    with {:ok, _raw} <- Values.decode(start, stop, :raw, rules),
         do: {:ok, in_struct(struct, field: nil)}
  end

  defp value(in_struct(field: {_name, type}) = struct, start, stop, rules) do
    with {:ok, value} <- Values.decode(start, stop, type, rules) do
      {[struct], nil} = Frames.add([struct], value)
      {:ok, struct}
    end
  end
end
