defmodule RustyJson.Wasm.Batch do
  @moduledoc false
  # Many documents in few crossings. core/src/abi/batch.rs says how they stand in the input, and what the answer looks like;
  # here it is written and read in Elixir, the latter for the host that has no library of its own.
  #
  # A crossing takes at most a slice of documents, so that a scheduler has it done in a fraction of a millisecond. One that fails
  # is halved, until the document is found that it failed for.
  #
  # One deadline covers all of it. A document without end would use it up for the others too, so each crossing gets a share of
  # the time that is left; a document that exceeds its share is tried again when all others are done, with the rest of the time.

  alias RustyJson.Options
  alias RustyJson.Wasm.Abi

  # Bytes of a crossing; each document counts for a few more than it has.
  @slice 65_536
  @per_document 8
  # The share of a crossing is at most this long, in milliseconds, and a millisecond more for so many bytes of a single document:
  # a hundred times what they need.
  @share 50
  @bytes_per_ms 20_000
  # What one document can say in place of a term is at most this long.
  @longest_failure 8_192

  @type result :: {:ok, term()} | {:error, term()}

  @typedoc "How documents cross: together, or one alone; and the answer for those that don't cross any more."
  @type crossing :: %{
          together:
            (body :: binary(), timeout :: pos_integer(), patience :: pos_integer() ->
               {:many, [term()], [{non_neg_integer(), tuple()}]} | :refused | {:fault, atom(), String.t()}),
          alone:
            (binary(), timeout :: pos_integer(), patience :: pos_integer() ->
               result() | {:fault, atom(), String.t()}),
          failed: (atom(), String.t() -> {:error, term()})
        }

  @doc "Decodes the documents. With `alone?` each crosses by itself."
  @spec decode([binary()], boolean(), integer(), crossing()) :: [result()]
  def decode(documents, alone?, deadline, crossing) do
    call = %{crossing: crossing, deadline: deadline, alone?: alone?, late: []}
    {answers, call} = run([{0, documents, length(documents)}], [], call)

    case call.late do
      [] -> answers |> Enum.reverse() |> joined()
      late -> again(Enum.reverse(late), answers, call) |> Enum.sort_by(&elem(&1, 0)) |> joined()
    end
  end

  defp joined([{_at, results}]), do: results
  defp joined(answers), do: Enum.flat_map(answers, fn {_at, results} -> results end)

  # Jobs are documents, their number, and the place of the first one. Answers are results, and the place of the first one.
  defp run([], answers, call), do: {answers, call}
  defp run([{_at, _documents, 0} | jobs], answers, call), do: run(jobs, answers, call)

  defp run([{at, documents, count} | jobs], answers, call) do
    left = left(call)
    {taken, parts, rest} = if call.alone?, do: one(documents), else: pack(documents, count)
    jobs = if taken < count, do: [{at + taken, rest, count - taken} | jobs], else: jobs

    cond do
      left <= 0 -> failed(:timeout, "", [{at, documents, taken} | jobs], answers, call)
      taken == 1 -> single(at, hd(documents), left, jobs, answers, call)
      true -> several(at, documents, taken, body(taken, parts), left, jobs, answers, call)
    end
  end

  defp several(at, documents, taken, body, left, jobs, answers, %{crossing: crossing} = call) do
    case crossing.together.(body, share(taken, 0, left), left) do
      {:many, terms, failures} ->
        run(jobs, [{at, results(terms, failures, 0)} | answers], call)

      {:fault, reason, detail} when reason in [:busy, :unavailable] ->
        failed(reason, detail, [{at, documents, taken} | jobs], answers, call)

      # What exactly is wrong shows in the crossing of one document.
      _fault_or_refused ->
        half = div(taken, 2)
        second = {at + half, Enum.drop(documents, half), taken - half}
        run([{at, documents, half}, second | jobs], answers, call)
    end
  end

  defp single(at, document, left, jobs, answers, %{crossing: crossing} = call) do
    share = if jobs == [] and call.late == [], do: left, else: share(1, byte_size(document), left)

    case crossing.alone.(document, share, left) do
      {:fault, :timeout, _detail} when share < left ->
        run(jobs, answers, %{call | late: [{at, document, share} | call.late]})

      {:fault, reason, detail} when reason in [:busy, :unavailable] ->
        failed(reason, detail, [{at, [document], 1} | jobs], answers, call)

      {:fault, reason, detail} ->
        run(jobs, [{at, [crossing.failed.(reason, detail)]} | answers], call)

      result ->
        run(jobs, [{at, [result]} | answers], call)
    end
  end

  # Half of the time would do for one document to be found among so many.
  defp share(count, bytes, left) do
    halvings = length(Integer.digits(count, 2))
    left |> div(2 * halvings) |> min(@share + div(bytes, @bytes_per_ms)) |> max(1)
  end

  # Documents that took longer than their share divide the time that is left.
  defp again([], answers, _call), do: answers

  defp again([{at, document, tried} | late], answers, %{crossing: crossing} = call) do
    left = left(call)
    share = div(left, length(late) + 1)
    # A shorter time than before is not worth a try.
    answer = if share > tried, do: crossing.alone.(document, share, left), else: {:fault, :timeout, ""}

    result =
      case answer do
        {:fault, reason, detail} -> crossing.failed.(reason, detail)
        result -> result
      end

    again(late, [{at, [result]} | answers], call)
  end

  # Nothing crosses any more.
  defp failed(reason, detail, jobs, answers, %{crossing: crossing, late: late} = call) do
    late = for {at, _document, _share} <- late, do: {at, crossing.failed.(:timeout, "")}

    rest =
      for {at, _documents, count} <- jobs,
          count > 0,
          do: {at, for(_ <- 1..count, do: crossing.failed.(reason, detail))}

    late = for {at, result} <- late, do: {at, [result]}
    {Enum.sort_by(late ++ rest ++ answers, &elem(&1, 0), :desc), %{call | late: []}}
  end

  defp left(%{deadline: deadline}), do: deadline - System.monotonic_time(:millisecond)

  defp results([], [], _at), do: []

  defp results(terms, [{at, failure} | failures], at),
    do: [{:error, failure} | results(terms, failures, at + 1)]

  defp results([term | terms], failures, at), do: [{:ok, term} | results(terms, failures, at + 1)]

  ## What crosses

  defp one([_document | rest]), do: {1, nil, rest}

  # The documents that fit into a slice, one at least.
  defp pack(documents, 1), do: one(documents)
  defp pack(documents, count), do: pack(documents, count, @slice, 0, <<>>, [])

  defp pack([document | rest], left, room, taken, lengths, texts)
       when left > 0 and (taken == 0 or byte_size(document) + @per_document <= room) do
    size = byte_size(document)
    lengths = <<lengths::binary, size::32-little>>
    pack(rest, left - 1, room - size - @per_document, taken + 1, lengths, [document | texts])
  end

  defp pack(rest, _left, _room, taken, lengths, texts), do: {taken, {lengths, texts}, rest}

  defp body(taken, {lengths, texts}),
    do: IO.iodata_to_binary([<<taken::32-little>>, lengths | :lists.reverse(texts)])

  ## What comes back, for a host without a library of its own

  @doc "Whether a record may be this long: terms, and a failure for each document."
  @spec record?(pos_integer(), binary()) :: boolean()
  def record?(length, <<count::32-little, _::binary>> = body),
    do: length <= 24 * byte_size(body) + (@longest_failure + 8) * count

  @doc "The list, the lengths of the documents whose terms it has, and the failures; what no honest module writes is `:broken`."
  @spec open(binary(), binary()) :: {binary(), binary(), [{non_neg_integer(), tuple()}]} | :broken
  def open(record, <<count::32-little, rest::binary>>) do
    lengths = binary_part(rest, 0, 4 * count)

    with {answer, <<length::32-little>>} <- split(record, byte_size(record) - 4),
         {list, failures} <- split(answer, length),
         {:ok, failures, decoded} <- failures(failures, lengths, 0, [], []) do
      {list, decoded |> Enum.reverse() |> IO.iodata_to_binary(), failures}
    else
      _ -> :broken
    end
  end

  defp split(bytes, at) when at in 0..byte_size(bytes)//1, do: :erlang.split_binary(bytes, at)
  defp split(_bytes, _at), do: :broken

  defp failures(<<>>, lengths, _at, failures, decoded), do: {:ok, Enum.reverse(failures), [lengths | decoded]}

  defp failures(<<number::32-little, size::32-little, rest::binary>>, lengths, at, failures, decoded) do
    with {before, <<length::32-little, lengths::binary>>} <- split(lengths, 4 * (number - at)),
         {failure, rest} <- split(rest, size),
         {:ok, {_, _, _, _, path} = failure} when byte_size(path) <= 4 * length + 16 <-
           Abi.decode_failure(failure, length) do
      failures(rest, lengths, number + 1, [{number, failure} | failures], [before | decoded])
    else
      _ -> :broken
    end
  end

  defp failures(_failures, _lengths, _at, _found, _decoded), do: :broken

  @doc "The options of a call whose crossings may each take this long, and wait that long for an instance."
  @spec within(Options.t(), pos_integer(), pos_integer()) :: Options.t()
  def within(%{sandbox: sandbox} = options, timeout, patience),
    do: %{options | sandbox: sandbox |> Map.put(:timeout, timeout) |> Map.put(:patience, patience)}
end
