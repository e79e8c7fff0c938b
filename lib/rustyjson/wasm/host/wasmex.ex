defmodule RustyJson.Wasm.Host.Wasmex do
  @moduledoc """
  The host that runs the module through the Hex package `wasmex`, with no native code of ours: the module writes terms in External Term
  Format, Elixir judges them, and the VM builds them.

  A call is a few operations on an instance's store, which works them off in order. They are sent in one go, and only the last answer is
  waited for. Short calls of several processes are sent one behind the other to the same instance; a long call has an instance of its
  own. An instance that trapped, ran out of time or grew is not used again.

  wasmex runs modules on as many threads as there are processors, and the clock that stops a module runs on one of them. With
  a module without end on each, none would ever be stopped. So one thread is always left free: at most as many instances run at
  once as there are processors, less one, whatever `:pool_size` says; one that ran out of time counts until it has stopped;
  and where there is one processor only, this host refuses to run.
  """

  @behaviour RustyJson.Wasm.Host

  require RustyJson.Engine.Codes

  alias RustyJson.Engine.Codes
  alias RustyJson.Parts
  alias RustyJson.Wasm.{Abi, Batch, Fed, Host, Judge}
  alias RustyJson.Wasm.Host.Wasmex.{Instance, Lane, Lanes, Loader}

  @lanes RustyJson.Wasm.Host.Wasmex.Lanes
  @all_keys 0xFFFF_FFFF_FFFF_FFFF
  # Inputs of more bytes are not sent together with others. One slice of many documents is not longer.
  @short 70_000

  @impl true
  def run(:decode, json, bytes, %{structs: structs} = options) when structs != nil do
    with {:ok, answer} <- run(:decode, json, bytes, %{options | structs: nil}), do: {:ok, {:plain, answer}}
  end

  def run(:decode, json, bytes, %{sandbox: sandbox} = options) do
    {_options, length} = policy = Parts.policy(options, byte_size(json))
    start = now()
    possible? = &Abi.answer?(&1, length, options.parts)

    decoded =
      call([bytes, :seed], json, "decode", sandbox, possible?, fn record, deadline, again ->
        decoded(Abi.open(record), json, options, policy, deadline, again)
      end)

    with {:refused, left} <- decoded,
         {:ok, sandbox} <- rest(sandbox, start, left),
         do:
           call([bytes, :seed], json, "resolve", sandbox, possible?, fn record, deadline, _again ->
             resolved(Abi.open(record), policy, deadline)
           end)
  end

  def run(:feed, piece, bytes, options) do
    possible? = &Fed.record?(&1, bytes, byte_size(piece), options.values)

    call([bytes, :seed], piece, "feed", options.sandbox, possible?, fn record, deadline, _again ->
      fed(Abi.open(record), bytes, byte_size(piece), options, deadline)
    end)
  end

  def run(:many, body, bytes, options) do
    possible? = &Batch.record?(&1, body)

    call([bytes, :seed], body, "many", options.sandbox, possible?, fn record, deadline, _again ->
      decoded_many(Abi.open(record), body, options, deadline)
    end)
  end

  def run(:encode, etf, bytes, %{values: values, plans: plans} = options) do
    possible? = &Abi.record?(&1, etf, values, plans)

    call([bytes], etf, "encode", options.sandbox, possible?, fn record, deadline, _again ->
      encoded(Abi.open(record), etf, bytes, options, deadline)
    end)
  end

  def run(operation, text, bytes, options) do
    longest = longest(operation, options, text)

    bytes = if operation == :canonicalize, do: [bytes, :seed], else: [bytes]

    call(bytes, text, Atom.to_string(operation), options.sandbox, longest, fn record, _deadline, _again ->
      transformed(Abi.open(record), byte_size(text))
    end)
  end

  # Writes options and body, calls an export, and reads its record, if it may be that long. `read` judges the record until a deadline.
  # It can call another export on the same input, where `again` is a function; where that is nil, it answers `:alone` if it has to.
  defp call(options, body, name, sandbox, possible?, read) do
    patience = Host.patience(sandbox)
    deadline = now() + patience

    case Loader.ready(patience) do
      :ok ->
        # There is a seed once the package is known to work.
        options = Enum.map(options, &if(&1 == :seed, do: <<Loader.seed()::little-64>>, else: &1))
        length = IO.iodata_length(options)
        lengths = [{32, length + byte_size(body)}, {32, length}]
        sandbox = Map.put(sandbox, :patience, max(deadline - now(), 1))
        input = %{parts: options ++ [body], lengths: lengths, name: name, possible?: possible?, read: read}
        enter(input, length + byte_size(body), sandbox)

      {:error, reason} ->
        {:fault, :unavailable, reason}

      :busy ->
        {:fault, :busy, :starting}
    end
  end

  defp enter(input, length, %{isolation: isolation} = sandbox) do
    Lanes.ensure(@lanes, &Instance.await/1)
    sandbox = %{sandbox | pool_size: min(sandbox.pool_size, Loader.most())}

    if isolation == :reuse and length <= min(@short, sandbox.max_memory),
      do: together(input, length, sandbox),
      else: alone(input, sandbox)
  end

  ## Together with other calls

  defp together(%{possible?: possible?, read: read} = input, length, sandbox) do
    start = now()

    case Lanes.call(@lanes, asked(input, length, sandbox), sandbox.patience) do
      {:record, record, instance, deadline} ->
        judged =
          if possible?.(byte_size(record)),
            do: caught(fn -> read.(record, deadline, nil) end),
            else: invalid("its result is longer than any can be")

        if match?({:fault, _, _}, judged), do: Lanes.discard(@lanes, instance)
        if judged == :alone, do: alone_still(input, start, deadline - now(), sandbox), else: judged

      {:again, left} ->
        alone_still(input, start, left, sandbox)

      {:fault, _reason, _detail} = fault ->
        fault
    end
  end

  defp alone_still(input, start, left, sandbox),
    do: with({:ok, sandbox} <- rest(sandbox, start, left), do: alone(input, sandbox))

  # For another crossing of a call: `left` is what its run left of the timeout. All other time since the start it waited.
  defp rest(%{timeout: timeout} = sandbox, start, left) when left > 0 do
    waited = now() - start - (timeout - left)
    {:ok, Map.merge(sandbox, %{timeout: left, patience: max(Host.patience(sandbox) - waited, 1)})}
  end

  defp rest(_sandbox, _start, _left), do: {:fault, :timeout, ""}

  # What is expected of a record is most often more than enough. Without a limit, wasmex would take memory for one of any length.
  defp asked(%{parts: parts, name: name, lengths: lengths}, length, sandbox) do
    %Lane.Call{
      kind: sandbox.max_memory,
      size: sandbox.pool_size,
      timeout: sandbox.timeout,
      name: name,
      input: IO.iodata_to_binary(parts),
      lengths: lengths,
      expected: expected(name, length) + 128,
      most: 24 * length + 16_384
    }
  end

  defp expected(name, length) when name in ["encode", "gzip"], do: length
  defp expected(_name, length), do: length + div(length, 2)

  defp caught(fun) do
    fun.()
  catch
    {:fault, _reason, _detail} = fault -> fault
  end

  ## With an instance of its own

  defp alone(input, %{pool_size: size, max_memory: memory, isolation: isolation} = sandbox) do
    # No instance is of no kind.
    case Lanes.enter(@lanes, size, if(isolation == :reuse, do: memory), sandbox.patience) do
      {place, kept} -> lent(place, kept, sandbox, input)
      :busy -> {:fault, :busy, ""}
      {:fault, _reason, _detail} = fault -> fault
    end
  end

  # Only an instance that answered is reused. Operations report failure with `throw`.
  defp lent(place, kept, sandbox, input) do
    {answer, instance} = answer(place, kept, sandbox, input)
    Lanes.leave(@lanes, place, sandbox.max_memory, instance)
    answer
  catch
    kind, reason ->
      Lanes.leave(@lanes, place, sandbox.max_memory, :running)

      if kind == :throw and match?({:fault, _, _}, reason),
        do: reason,
        else: :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp answer(place, kept, %{isolation: isolation} = sandbox, %{parts: parts, lengths: lengths} = input) do
    call = %{deadline: now() + sandbox.timeout, max_memory: sandbox.max_memory}
    instance = kept || new(place, call, IO.iodata_length(parts))
    {record, instance} = Instance.call(instance, parts, input.name, lengths, call, input.possible?)

    again = fn name, number ->
      elem(Instance.call_again(instance, name, lengths ++ [{64, number}], call, input.possible?), 0)
    end

    answer = input.read.(record, call.deadline, again)
    keep? = isolation == :reuse and not match?({:fault, _, _}, answer)
    {answer, if(keep?, do: instance)}
  end

  defp new(place, call, length) do
    if length > call.max_memory, do: throw({:fault, :memory_limit, ""})
    instance = Instance.new(call, length)
    Lanes.hold(@lanes, place, instance)
    instance
  end

  ## Answers

  defp decoded_many({:done, record}, body, options, deadline) do
    with {list, lengths, failures} <- Batch.open(record, body),
         {:ok, terms} <- Judge.list(list, options, lengths, deadline) do
      {:many, terms, failures}
    else
      :broken -> invalid("its answer about many documents is broken")
      refused_or_fault -> refused_or_fault
    end
  end

  defp decoded_many(_other, _body, _options, _deadline), do: no_status()

  # Here, where a result that is false ends the instance. With `:refused` comes the time that is left.
  defp decoded({:done, etf}, json, options, {judged, length}, deadline, again) do
    with :refused <- Judge.term(etf, judged, length, deadline),
         do: unknown_atom(json, options, length, deadline, again) || {:refused, deadline - now()}
  end

  # An unknown atom may come before the error.
  defp decoded({status, body}, json, options, {_judged, length}, deadline, again)
       when status in [:error, :errors],
       do: unknown_atom(json, options, length, deadline, again) || undecoded(status, body, json, options)

  defp decoded(_other, _json, _options, _policy, _deadline, _again), do: no_status()

  # The same document with its repeated keys resolved.
  defp resolved({:done, etf}, {judged, length}, deadline) do
    with :refused <- Judge.term(etf, judged, length, deadline), do: invalid("the runtime makes no term of it")
  end

  defp resolved({status, _body}, _policy, _deadline) when status in [:error, :errors],
    do: invalid("it refuses a document that it has decoded")

  defp resolved(_other, _policy, _deadline), do: no_status()

  # The first key that is not an atom. Only the host can know it: it asks the guest for the keys, then for the position of this one.
  defp unknown_atom(_json, %{values: %{keys: :atoms!}}, _length, _deadline, nil), do: :alone

  defp unknown_atom(json, %{values: %{keys: :atoms!}} = options, length, deadline, again) do
    with number when is_integer(number) <-
           first_unknown(Abi.open(again.("keys", @all_keys)), length, deadline),
         do: unknown_atom_failure(Abi.open(again.("keys", number)), json, options)
  end

  defp unknown_atom(_json, _options, _length, _deadline, _again), do: nil

  defp unknown_atom_failure({status, body}, json, options) when status in [:error, :errors] do
    case undecoded(status, body, json, options) do
      {:error, {Codes.decode(:unknown_atom), _, _, _, _}} = failed -> failed
      {:error, {total, _left, list}} = failed -> if last?(list, total), do: failed, else: not_found()
      {:error, _failure} -> not_found()
      fault -> fault
    end
  end

  defp unknown_atom_failure(_other, _json, _options), do: not_found()

  defp not_found, do: invalid("it does not find a key that it listed")

  # Where not all errors are listed, the unknown atom need not be among them.
  defp last?(list, total),
    do: length(list) != total or elem(List.last(list), 0) == Codes.decode(:unknown_atom)

  defp first_unknown({:done, names}, length, deadline), do: Judge.first_unknown(names, length, deadline)
  defp first_unknown(_other, _length, _deadline), do: invalid("its list of keys is broken")

  defp undecoded(:error, body, json, _options), do: decode_failure(body, byte_size(json))

  defp undecoded(:errors, body, json, %{parts: parts}) do
    case Abi.decode_failures(body, byte_size(json), parts) do
      {:ok, failures} -> {:error, failures}
      :broken -> invalid("its error record is broken")
    end
  end

  defp decode_failure(body, length) do
    case Abi.decode_failure(body, length) do
      {:ok, failure} -> {:error, failure}
      :broken -> invalid("its error record is broken")
    end
  end

  defp fed({:done, body}, question, length, options, deadline) do
    with {list, kept, state, reason} = answer <- Fed.open(body, question, length, options.values.max_depth),
         {list_options, document_length} = Fed.policy(question, length, answer, options),
         {:ok, values} when is_list(values) <- Judge.term(list, list_options, document_length, deadline) do
      {values, kept, state, reason}
    else
      :broken ->
        invalid("its answer about a piece is broken")

      {:ok, _other} ->
        invalid("it gives no list")

      # The guest cannot know which atoms exist: the caller finds out which does not, and asks again.
      :refused ->
        if options.values.keys == :atoms! and Fed.unasked?(question),
          do: :unknown_atoms,
          else: invalid("the runtime makes no term of it")

      fault ->
        fault
    end
  end

  defp fed(_other, _question, _length, _options, _deadline), do: no_status()

  defp encoded({:done, json}, etf, _bytes, options, _deadline), do: of_length(json, etf, options, {:ok, json})

  defp encoded({:partial, body}, etf, bytes, options, deadline) do
    with {:partial, json, _holes} = partial <- Judge.holes(body, etf, bytes, options, deadline),
         do: of_length(json, etf, options, partial)
  end

  defp encoded({:error, body}, _etf, _bytes, _options, _deadline) do
    case Abi.encode_failure(body) do
      {:ok, failure} -> {:error, failure}
      :broken -> invalid("its error record is broken")
    end
  end

  defp encoded(:broken, _etf, _bytes, _options, _deadline), do: no_status()

  defp of_length(json, etf, %{values: values, plans: plans}, answer) do
    if Abi.text?(byte_size(json), etf, values, plans),
      do: answer,
      else: invalid("its text is longer than the term's can be")
  end

  # The longest record that an honest guest gives.
  defp longest(:gzip, _options, text), do: &Abi.compressed?(&1, byte_size(text))
  defp longest(:canonicalize, _options, text), do: &Abi.canonical?(&1, byte_size(text))
  defp longest(:format, options, _text), do: &Abi.limited?(&1, options.values.max_bytes)

  defp transformed({:done, text}, _length), do: {:ok, text}
  defp transformed({:error, body}, length), do: decode_failure(body, length)
  defp transformed(_other, _length), do: no_status()

  defp no_status, do: invalid("its result has no known status")
  defp invalid(what), do: {:fault, :invalid_result, what}
  defp now, do: System.monotonic_time(:millisecond)

  ## The host

  @doc false
  # How many instances may run at once on this machine, whatever `:pool_size` says.
  @spec most() :: non_neg_integer()
  def most, do: Loader.most()

  @doc false
  # Whether the host has been used.
  @spec started?() :: boolean()
  def started?, do: Process.whereis(@lanes) != nil

  @doc false
  # Instances running and kept, and callers waiting.
  @spec counts() :: keyword(non_neg_integer())
  def counts do
    Lanes.ensure(@lanes, &Instance.await/1)
    Lanes.counts(@lanes)
  end

  @doc false
  # Tests run modules that misbehave.
  @spec replace(binary() | nil) :: :ok | {:error, String.t()}
  def replace(wasm) do
    idle(500)
    Supervisor.terminate_child(RustyJson.Supervisor, @lanes)
    Supervisor.delete_child(RustyJson.Supervisor, @lanes)
    Loader.load(wasm)
  end

  # A new process would not know the calls that still run in the old one's instances.
  defp idle(tries) do
    if tries > 0 and counts()[:running] > 0 do
      Process.sleep(10)
      idle(tries - 1)
    end
  end

  # wasmex has no access to the VM's terms.
  @impl true
  def write(_term, _bytes, _options), do: :external

  @impl true
  def status do
    with :ok <- Loader.ready(), do: {:ok, %{host: :wasmex, version: Loader.version()}}
  end
end
