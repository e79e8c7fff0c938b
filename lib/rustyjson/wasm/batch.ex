defmodule RustyJson.Wasm.Batch do
  @moduledoc false
  # Sends many documents into the sandbox in few guest calls. core/src/abi/batch.rs defines the layout of the input and of the answer.
  # This module writes the input, and reads the answer for a host without a library of its own.
  #
  # A guest call takes at most one slice of documents, so that it holds a scheduler for a fraction of a millisecond only. A guest call
  # that fails is halved until the document responsible is found.
  #
  # One deadline covers the whole list. A document that runs without end would use up the time of the others, so each guest call gets a
  # share of the remaining time. A document that exceeds its share is tried again after all others, with the rest of the time.

  alias RustyJson.Decode.Many
  alias RustyJson.Options
  alias RustyJson.Wasm.Abi

  # The size of a slice in bytes, and what each document adds to its own size.
  @slice 65_536
  @per_document 8
  # The longest share of a guest call in milliseconds. A single document gets one more millisecond per @bytes_per_ms bytes, which is a
  # hundred times what it needs.
  @share 50
  @bytes_per_ms 20_000
  # The largest size of a failure, which replaces a document's term.
  @longest_failure 8_192

  # Faults that end the whole list.
  @final [:busy, :unavailable]

  @type result :: {:ok, term()} | {:error, term()}

  @typedoc """
  Functions that decode documents together, or one alone, and that make the result of a failed document. That of `given_up` is a timeout
  without a crossing.
  """
  @type guest :: %{
          together:
            (body :: binary(), timeout :: pos_integer(), patience :: pos_integer() ->
               {:many, [term()], [{non_neg_integer(), tuple()}]} | :refused | {:fault, atom(), String.t()}),
          alone:
            (binary(), timeout :: pos_integer(), patience :: pos_integer(), again? :: boolean() ->
               result() | {:fault, atom(), String.t()}),
          failed: (atom(), String.t() -> {:error, term()}),
          given_up: (() -> {:error, term()})
        }

  @doc "Decodes the documents. With `alone?` each crosses by itself."
  @spec decode([binary()], boolean(), integer(), guest()) :: [result()]
  def decode(documents, alone?, deadline, guest) do
    call = %{guest: guest, deadline: deadline, alone?: alone?, late: []}
    {answers, call} = run([{0, documents, length(documents)}], [], call)

    case call.late do
      [] -> joined(answers)
      late -> again(Enum.reverse(late), answers, call) |> Enum.sort_by(&elem(&1, 0), :desc) |> joined()
    end
  end

  defp joined([{_at, results}]), do: results
  defp joined(answers), do: answers |> Enum.map(&elem(&1, 1)) |> Many.joined()

  # Jobs are documents, their number, and the place of the first one. Answers are results, and the place of the first one.
  defp run([], answers, call), do: {answers, call}
  defp run([{_at, _documents, 0} | jobs], answers, call), do: run(jobs, answers, call)

  defp run([{at, documents, count} | jobs], answers, %{guest: guest} = call) do
    left = left(call)
    {taken, parts, rest} = if call.alone?, do: one(documents), else: pack(documents, count)
    jobs = if taken < count, do: [{at + taken, rest, count - taken} | jobs], else: jobs

    cond do
      left <= 0 -> failed(guest.given_up.(), [{at, documents, taken} | jobs], answers, call)
      taken == 1 -> single(at, hd(documents), left, jobs, answers, call)
      true -> several(at, documents, taken, body(taken, parts), left, jobs, answers, call)
    end
  end

  defp several(at, documents, taken, body, left, jobs, answers, %{guest: guest} = call) do
    case guest.together.(body, share(taken, 0, left), left) do
      {:many, terms, failures} ->
        run(jobs, [{at, results(terms, failures, 0)} | answers], call)

      {:fault, reason, detail} when reason in @final ->
        failed(guest.failed.(reason, detail), [{at, documents, taken} | jobs], answers, call)

      # Halving ends at a single document, whose guest call gives the exact error.
      _fault_or_refused ->
        half = div(taken, 2)
        second = {at + half, Enum.drop(documents, half), taken - half}
        run([{at, documents, half}, second | jobs], answers, call)
    end
  end

  defp single(at, document, left, jobs, answers, %{guest: guest} = call) do
    share = if jobs == [] and call.late == [], do: left, else: share(1, byte_size(document), left)

    case guest.alone.(document, share, left, share < left) do
      {:fault, :timeout, _detail} when share < left ->
        run(jobs, answers, %{call | late: [{at, document, share} | call.late]})

      {:fault, reason, detail} when reason in @final ->
        failed(guest.failed.(reason, detail), [{at, [document], 1} | jobs], answers, call)

      {:fault, reason, detail} ->
        run(jobs, [{at, [guest.failed.(reason, detail)]} | answers], call)

      result ->
        run(jobs, [{at, [result]} | answers], call)
    end
  end

  # With these shares, finding one bad document among `count` takes at most half of the remaining time.
  defp share(count, bytes, left) do
    halvings = length(Integer.digits(count, 2))
    left |> div(2 * halvings) |> min(@share + div(bytes, @bytes_per_ms)) |> max(1)
  end

  # Documents that took longer than their share divide the time that is left.
  defp again([], answers, _call), do: answers

  defp again([{at, document, tried} | late], answers, %{guest: guest} = call) do
    left = left(call)
    share = div(left, length(late) + 1)
    # Trying again makes sense only with more time than before.
    result = if share > tried, do: last(document, share, left, guest), else: guest.given_up.()
    again(late, [{at, [result]} | answers], call)
  end

  defp last(document, share, left, guest) do
    with {:fault, reason, detail} <- guest.alone.(document, share, left, false),
         do: guest.failed.(reason, detail)
  end

  # Ends the whole list: the remaining documents fail. One error for all of them: to make as many takes longer than the deadline allows.
  defp failed(failure, jobs, answers, %{guest: guest, late: late} = call) do
    late = for {at, _document, _share} <- late, do: {at, [guest.given_up.()]}
    rest = for {at, _documents, count} <- jobs, count > 0, do: {at, List.duplicate(failure, count)}
    {Enum.sort_by(late ++ rest ++ answers, &elem(&1, 0), :desc), %{call | late: []}}
  end

  defp left(%{deadline: deadline}), do: deadline - System.monotonic_time(:millisecond)

  defp results([], [], _at), do: []

  defp results(terms, [{at, failure} | failures], at),
    do: [{:error, failure} | results(terms, failures, at + 1)]

  defp results([term | terms], failures, at), do: [{:ok, term} | results(terms, failures, at + 1)]

  ## The input

  defp one([_document | rest]), do: {1, nil, rest}

  # Takes the documents that fit into a slice, at least one.
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

  ## The answer, for a host without a library of its own

  @doc "Whether an honest answer to this input can have this length."
  @spec record?(pos_integer(), binary()) :: boolean()
  def record?(length, <<count::32-little, _::binary>> = body),
    do: length <= 24 * byte_size(body) + (@longest_failure + 8) * count

  @doc "Splits an answer into the list of terms, the lengths of their documents, and the failures. A dishonest one is `:broken`."
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

  @doc """
  The options for a guest call, with the given run time and the given time to wait for an instance. `retried` are the faults after which
  its documents are tried again.
  """
  @spec within(Options.t(), pos_integer(), pos_integer(), [atom()]) :: Options.t()
  def within(%{sandbox: sandbox} = options, timeout, patience, retried),
    do: %{options | sandbox: Map.merge(sandbox, %{timeout: timeout, patience: patience, retried: retried})}
end
