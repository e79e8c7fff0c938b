defmodule RustyJson.Wasm.Parts do
  @moduledoc false
  # Looks at what a term costs in External Term Format before the VM writes it, which nothing can stop: a list whose elements are each the
  # next list twice has 2^n parts with n cells, and a long text that a thousand maps share is written a thousand times.
  #
  # (`:erlang.external_size/1` looks at each part too, however many there are; so it can be asked only once their number is known.)

  # A part is at least a byte of JSON, except fields that a struct's own encoder leaves out.
  @margin 16
  @always 1_000_000
  # Parts between two looks at the clock and the sum of bytes, which take 40 µs.
  @stretch 4_096
  # The longest atom, and what an atom has at least; its length is not looked at.
  @longest_atom 1_023
  @shortest_atom 2

  @typedoc "How many parts and bytes, and until when (in milliseconds of monotonic time)."
  @type limits :: %{
          max_bytes: non_neg_integer(),
          max_memory: pos_integer(),
          deadline: integer() | :infinity
        }

  @doc """
  Whether the term is worth writing out, for a text of at most `max_bytes` (0 means any): `:too_many` parts for such a text, `:too_large`
  for the memory, or `:late`.
  """
  @spec fit(term(), limits()) :: :ok | :too_many | :too_large | :late
  def fit(term, %{max_bytes: max_bytes, max_memory: max_memory, deadline: deadline}) do
    most = if max_bytes == 0, do: :infinity, else: max(@always, @margin * max_bytes)
    {left, atoms} = count([term], [], @stretch, max_memory, 0, {most, deadline})

    cond do
      left < 0 -> :too_large
      # Atoms can be longer than they were counted.
      left >= atoms * (@longest_atom - @shortest_atom) -> :ok
      :erlang.external_size(term) <= max_memory -> :ok
      true -> :too_large
    end
  catch
    {:rustyjson, why} -> why
  end

  # `work` are lists of parts that are still to come, so that nothing recurses. `parts` are those of this stretch.
  defp count(list, work, 0, bytes, atoms, limits),
    do: count(list, work, @stretch, bytes, atoms, go_on(limits, bytes))

  defp count([part | list], work, parts, bytes, atoms, limits) when is_binary(part),
    do: count(list, work, parts - 1, bytes - byte_size(part) - 5, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits)
       when is_integer(part) and part < 256 and part >= 0,
       do: count(list, work, parts - 1, bytes - 2, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits)
       when is_integer(part) and part < 0x8000_0000 and part >= -0x8000_0000,
       do: count(list, work, parts - 1, bytes - 5, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits) when is_atom(part),
    do: count(list, work, parts - 1, bytes - @shortest_atom, atoms + 1, limits)

  defp count([part | list], work, parts, bytes, atoms, limits) when is_map(part),
    do: count(:maps.values(part), [:maps.keys(part), list | work], parts - 1, bytes - 5, atoms, limits)

  defp count([part | []], work, parts, bytes, atoms, limits) when is_list(part),
    do: count(part, work, parts - 1, bytes - 6, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits) when is_list(part),
    do: count(part, [list | work], parts - 1, bytes - 6, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits) when is_float(part),
    do: count(list, work, parts - 1, bytes - 9, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits) when is_tuple(part),
    do: count(Tuple.to_list(part), [list | work], parts - 1, bytes - 2, atoms, limits)

  # With a function comes what it holds.
  defp count([part | list], work, parts, bytes, atoms, limits) when is_function(part) do
    {:env, held} = :erlang.fun_info(part, :env)
    count(held, [list | work], parts - 1, bytes - 64, atoms + 2, limits)
  end

  defp count([part | list], work, parts, bytes, atoms, limits) when is_bitstring(part),
    do: count(list, work, parts - 1, bytes - byte_size(part) - 6, atoms, limits)

  defp count([part | list], work, parts, bytes, atoms, limits)
       when is_integer(part) or is_pid(part) or is_port(part) or is_reference(part),
       do: count(list, work, parts - 1, bytes + 1 - :erlang.external_size(part), atoms, limits)

  # A native record of OTP 29, for which this Elixir has no guard.
  defp count([part | list], work, parts, bytes, atoms, limits) do
    names = apply(:records, :get_field_names, [part])
    held = for name <- names, do: apply(:records, :get, [name, part])
    count(held, [names, list | work], parts - 1, bytes - 6, atoms + 2, limits)
  end

  defp count([], [list | work], parts, bytes, atoms, limits),
    do: count(list, work, parts, bytes, atoms, limits)

  defp count([], [], _parts, bytes, atoms, _limits), do: {bytes, atoms}
  # The tail of an improper list.
  defp count(tail, work, parts, bytes, atoms, limits), do: count([tail], work, parts, bytes, atoms, limits)

  # After each stretch.
  defp go_on(_limits, bytes) when bytes < 0, do: throw({:rustyjson, :too_large})

  defp go_on({most, deadline}, _bytes) do
    if most <= @stretch, do: throw({:rustyjson, :too_many})
    if now() > deadline, do: throw({:rustyjson, :late})
    {if(most == :infinity, do: most, else: most - @stretch), deadline}
  end

  defp now, do: System.monotonic_time(:millisecond)
end
