defmodule RustyJson.Decode.Many do
  @moduledoc false
  # The part of `RustyJson.decode_many/2` that is the same for every engine: iodata, lengths, key functions, and errors.

  require RustyJson.Engine.Codes

  alias RustyJson.Decode.Input
  alias RustyJson.Encode.Excerpt
  alias RustyJson.Engine.Codes
  alias RustyJson.Engine.Wasm
  alias RustyJson.{Long, Options, SandboxError}
  alias RustyJson.Schema.Decode

  @unknown_atom Codes.decode(:unknown_atom)

  @type result :: {:ok, term()} | {:error, Exception.t()}

  @spec decode([iodata()], Options.t()) :: [result()]
  # With `as:` and `raw:`, documents are decoded one after the other. They share one deadline.
  def decode(inputs, %{as: as, parts: parts} = options) when as != nil or parts != "" do
    options = Options.due(options)
    documents = documents(inputs, 0, options, [])
    # What all documents share can take longer than a document.
    one_by_one(documents, options, if(as, do: Decode.prepare(options)), [])
  end

  def decode(inputs, options) do
    binaries? = options.max_bytes == 0 and binaries?(inputs)
    # Elixir has a part in these keys, and in what becomes a binary.
    options = if binaries? and options.keys == nil, do: options, else: Options.due(options)

    if binaries?,
      do: inputs |> options.engine.decode_many(options) |> finished(inputs, options),
      else: within_limit(inputs, options)
  end

  # A document that exceeds `max_bytes` never reaches the engine, and is not flattened.
  defp within_limit(inputs, options) do
    documents = documents(inputs, 0, options, [])
    short = short(documents, [])
    merged(documents, short |> options.engine.decode_many(options) |> finished(short, options), [])
  end

  # Here and below, a recursion that returns would have a frame for each document, and every collection looks through all of them: with a
  # million documents, each held the scheduler for 9 to 16 ms.
  defp short([{:error, _error} | documents], done), do: short(documents, done)
  defp short([document | documents], done), do: short(documents, [document | done])
  defp short([], done), do: Long.in_order(done, [])

  defp merged([{:error, _error} = failed | documents], results, done),
    do: merged(documents, results, [failed | done])

  defp merged([_document | documents], [result | results], done),
    do: merged(documents, results, [result | done])

  defp merged([], [], done), do: Long.in_order(done, [])

  # Once the deadline has passed, the others have the same error, which takes no time.
  defp one_by_one([document | documents], options, prepared, results) do
    case alone(document, options, prepared) do
      {:error, %SandboxError{reason: :timeout}} = late ->
        if Wasm.late?(options),
          do: Long.in_order(results, List.duplicate(late, length(documents) + 1)),
          else: one_by_one(documents, options, prepared, [late | results])

      result ->
        one_by_one(documents, options, prepared, [result | results])
    end
  end

  defp one_by_one([], _options, _prepared, results), do: Long.in_order(results, [])

  defp alone({:error, _error} = failed, _options, _prepared), do: failed
  defp alone(json, options, nil), do: Input.decode(json, options)
  defp alone(json, options, prepared), do: Decode.decode(json, options, prepared, nil)

  # The documents as binaries, and the errors of those that are too long. Anything else is found before one of them is decoded.
  defp documents([input | inputs], number, options, done),
    do: documents(inputs, number + 1, options, [document(input, number, options) | done])

  defp documents([], _number, _options, done), do: Long.in_order(done, [])

  defp documents(tail, 0, _options, _done), do: Excerpt.refuse!("decode_many takes a list of iodata", tail)

  defp documents(_tail, _number, _options, _done),
    do: raise(ArgumentError, "decode_many takes a list of iodata, got an improper list")

  defp document(input, number, options) do
    with {:ok, json} <- Input.flatten(input, options), do: json
  rescue
    ArgumentError ->
      reraise ArgumentError,
              [
                message:
                  "decode_many takes a list of iodata, but its element at index #{number} is #{Excerpt.brief(input)}"
              ],
              __STACKTRACE__
  end

  defp binaries?([input | inputs]) when is_binary(input), do: binaries?(inputs)
  defp binaries?(inputs), do: inputs == []

  @doc """
  Lists as one; the last one comes first.

      iex> RustyJson.Decode.Many.joined([[3], [], [1, 2]])
      [1, 2, 3]
  """
  # With `++` on the way back out of a recursion, 300,000 results held the scheduler for 30 ms: neither a return nor a short `++` counts as
  # work.
  @spec joined([[item]]) :: [item] when item: term()
  def joined(lists), do: joined(lists, [])

  defp joined([], all), do: all
  defp joined([list | before], all), do: joined(before, list |> Enum.reverse() |> in_front(all))

  defp in_front([item | list], all), do: in_front(list, [item | all])
  defp in_front([], all), do: all

  # The common case: nothing is left to do.
  defp finished(results, documents, %{keys: keys} = options) do
    if keys in [nil, :atoms] and good?(results), do: results, else: each(results, documents, options, [])
  end

  defp good?([{:ok, _term} | results]), do: good?(results)
  defp good?(results), do: results == []

  defp each([result | results], [document | documents], options, done),
    do: each(results, documents, options, [one(result, document, options) | done])

  defp each([], [], _options, done), do: Long.in_order(done, [])

  defp one({:ok, term}, _document, %{keys: {_fun, _kind}} = options), do: Input.named(term, options)
  defp one({:ok, _term} = result, _document, _options), do: result

  # A key has no atom yet. `decode/2` creates it, so this document is decoded by itself.
  defp one({:error, {@unknown_atom, _, _, _, _}}, document, %{keys: :atoms} = options),
    do: Input.decode(document, options)

  defp one({:error, failure}, document, options), do: {:error, Input.error(failure, document, options)}
end
