defmodule RustyJson.Engine.Heap do
  @moduledoc false
  # Room on the caller's heap for the terms of a long text.
  #
  # A NIF cannot let the heap grow: terms that do not fit go to fragments beside it, and the VM copies all of them when the NIF returns.
  # So the heap grows before the call, by a collection that then need not happen afterwards. Decoding takes a tenth to a half less time.

  require RustyJson.Parts.Kind

  alias RustyJson.Parts.Kind

  # Below, the collection costs more than it saves. Beyond, a text of few terms would reserve too much for nothing.
  @from 16_384
  @most 16_777_216

  # Coordinates take a word for four bytes of text, most other documents less. A list of small integers takes four times as much: what
  # does not fit goes to fragments.
  @bytes_per_word 4

  # If the heap is this many times larger than the terms, it probably has room, and a collection would gain nothing.
  @ample 8

  # If more than 1/@gathered of the room survived the last collection, the process is gathering terms. Then the VM chooses better times
  # to collect.
  @gathered 4

  @doc "The length of the longest text that needs no room."
  @spec longest_without() :: non_neg_integer()
  def longest_without, do: @from - 1

  @doc "Makes room for the terms of a text, or of those parts of it that the plan says."
  @spec reserve(binary(), binary()) :: :ok
  def reserve(json, _parts) when byte_size(json) < @from or byte_size(json) > @most, do: :ok
  def reserve(_json, <<Kind.select(), _::binary>>), do: :ok
  def reserve(_json, <<Kind.check()>>), do: :ok
  def reserve(json, _parts), do: json |> byte_size() |> div(@bytes_per_word) |> room()

  # A process that ends when its heap is too large gets no larger one than it needs.
  defp room(words) do
    [garbage_collection: settings, garbage_collection_info: info] =
      :erlang.process_info(self(), [:garbage_collection, :garbage_collection_info])

    case {settings[:max_heap_size], Map.new(info)} do
      {%{size: 0}, %{heap_block_size: size, recent_size: survived}}
      when size < @ample * words and survived * @gathered < words ->
        # What was made since then may be alive, such as the term of the call before.
        grow(words + min(size, words))

      # What the VM tells about its heaps is not promised.
      _ ->
        :ok
    end
  end

  # A collection makes the heap at least as large as this flag says. The caller finds the flag as it was.
  defp grow(words) do
    before = :erlang.process_flag(:min_heap_size, words)
    :erlang.garbage_collect(self(), type: :minor)
    :erlang.process_flag(:min_heap_size, before)
    :ok
  end
end
