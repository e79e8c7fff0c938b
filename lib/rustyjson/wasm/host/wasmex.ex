defmodule RustyJson.Wasm.Host.Wasmex do
  @moduledoc """
  The host that runs the module through the Hex package `wasmex`.

  A call is a few operations on an instance's store, each answered by a message. Instances are lent by a pool; one that
  trapped, ran out of time or grew is not used again.

  wasmex runs modules on as many threads as there are processors, and the clock that stops a module runs on one of them. With
  a module without end on each, none would ever be stopped. So one thread is always left free: at most as many calls run at
  once as there are processors, less one, whatever `:pool_size` says; one that ran out of time counts until it has stopped;
  and where there is one processor only, this host refuses to run.
  """

  @behaviour RustyJson.Wasm.Host

  require RustyJson.Engine.Codes

  alias RustyJson.Engine.Codes
  alias RustyJson.Parts
  alias RustyJson.Wasm.{Abi, Batch, Fed, Host, Judge, Pool}
  alias RustyJson.Wasm.Host.Wasmex.Instance

  @pool RustyJson.Wasm.Host.Wasmex.Pool
  @all_keys 0xFFFF_FFFF_FFFF_FFFF
  # Instances with more linear memory are not kept.
  @keep_memory 33_554_432

  @impl true
  def run(:decode, json, bytes, %{structs: structs} = options) when structs != nil do
    with {:ok, answer} <- run(:decode, json, bytes, %{options | structs: nil}), do: {:ok, {:plain, answer}}
  end

  def run(:decode, json, bytes, %{sandbox: sandbox} = options) do
    {_options, length} = policy = Parts.policy(options, byte_size(json))
    start = System.monotonic_time(:millisecond)
    possible? = &Abi.answer?(&1, length, options.parts)

    decoded =
      call([bytes, :seed], json, "decode", sandbox, possible?, fn record, again ->
        decoded(Abi.open(record), json, options, policy, again)
      end)

    with :refused <- decoded,
         {:ok, sandbox} <- rest(sandbox, System.monotonic_time(:millisecond) - start),
         do:
           call([bytes, :seed], json, "resolve", sandbox, possible?, fn record, _again ->
             resolved(Abi.open(record), policy)
           end)
  end

  def run(:feed, piece, bytes, options) do
    possible? = &Fed.record?(&1, bytes, byte_size(piece), options.values)

    call([bytes, :seed], piece, "feed", options.sandbox, possible?, fn record, _again ->
      fed(Abi.open(record), bytes, byte_size(piece), options)
    end)
  end

  def run(:many, body, bytes, options) do
    call([bytes, :seed], body, "many", options.sandbox, &Batch.record?(&1, body), fn record, _again ->
      decoded_many(Abi.open(record), body, options)
    end)
  end

  def run(:encode, etf, bytes, %{values: values, plans: plans} = options) do
    call([bytes], etf, "encode", options.sandbox, &Abi.record?(&1, etf, values, plans), fn record, _again ->
      encoded(Abi.open(record), etf, bytes, options)
    end)
  end

  def run(operation, text, bytes, options) do
    longest = longest(operation, options, text)

    bytes = if operation == :canonicalize, do: [bytes, :seed], else: [bytes]

    call(bytes, text, Atom.to_string(operation), options.sandbox, longest, fn record, _again ->
      transformed(Abi.open(record), byte_size(text))
    end)
  end

  # Writes options and body, calls an export, and reads its record, if it may be that long. `read` can call another export on
  # the same input.
  defp call(options, body, name, sandbox, may_be?, read) do
    run(sandbox, fn instance, call ->
      # There is a seed once the package is known to work.
      options = Enum.map(options, &if(&1 == :seed, do: <<Instance.seed()::little-64>>, else: &1))
      instance = Instance.write(instance, options ++ [body], call)
      options = IO.iodata_length(options)
      lengths = [{32, options + byte_size(body)}, {32, options}]
      {record, instance} = Instance.call(instance, name, lengths, call, may_be?)

      again = fn name, number ->
        elem(Instance.call(instance, name, lengths ++ [{64, number}], call, may_be?), 0)
      end

      {read.(record, again), instance}
    end)
  end

  defp decoded_many({:done, record}, body, options) do
    with {list, lengths, failures} <- Batch.open(record, body),
         {:ok, terms} <- Judge.list(list, options, lengths) do
      {:many, terms, failures}
    else
      :broken -> invalid("its answer about many documents is broken")
      refused_or_fault -> refused_or_fault
    end
  end

  defp decoded_many(_other, _body, _options), do: no_status()

  # Here, where a result that is false ends the instance.
  defp decoded({:done, etf}, json, options, {judged, length}, again) do
    with :refused <- Judge.term(etf, judged, length), do: unknown_atom(json, options, again) || :refused
  end

  # An unknown atom may come before the error.
  defp decoded({status, body}, json, options, _policy, again) when status in [:error, :errors],
    do: unknown_atom(json, options, again) || undecoded(status, body, json, options)

  defp decoded(_other, _json, _options, _policy, _again), do: no_status()

  # The second crossing gets the time that the first one left.
  defp rest(%{timeout: timeout} = sandbox, spent) when spent < timeout,
    do: {:ok, Map.merge(sandbox, %{timeout: timeout - spent, patience: timeout - spent})}

  defp rest(_sandbox, _spent), do: {:fault, :timeout, ""}

  # The same document with its repeated keys resolved.
  defp resolved({:done, etf}, {judged, length}) do
    with :refused <- Judge.term(etf, judged, length), do: invalid("the runtime makes no term of it")
  end

  defp resolved({status, _body}, _policy) when status in [:error, :errors],
    do: invalid("it refuses a document that it has decoded")

  defp resolved(_other, _policy), do: no_status()

  # The first key that is not an atom. Only the host can know it: it asks the guest for the keys, then for the position of this one.
  defp unknown_atom(json, %{values: %{keys: :atoms!}} = options, again) do
    with number when number != nil <- first_unknown(Abi.open(again.("keys", @all_keys))),
         do: unknown_atom_failure(Abi.open(again.("keys", number)), json, options)
  end

  defp unknown_atom(_json, _options, _again), do: nil

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

  defp first_unknown({:done, names}), do: first_unknown(names, 0)
  defp first_unknown(_other), do: throw(invalid("its list of keys is broken"))

  defp first_unknown(names, number) do
    case Abi.name(names) do
      {name, rest} -> if atom?(name), do: first_unknown(rest, number + 1), else: number
      nil -> nil
      :broken -> throw(invalid("its list of keys is broken"))
    end
  end

  defp atom?(name) do
    _ = :erlang.binary_to_existing_atom(name, :utf8)
    true
  rescue
    _ in [ArgumentError, SystemLimitError] -> false
  end

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

  defp fed({:done, body}, question, length, options) do
    {list_options, document_length} = Fed.policy(question, length, options)

    with {list, kept, state, reason} <- Fed.open(body, question, length, options.values.max_depth),
         {:ok, values} when is_list(values) <- Judge.term(list, list_options, document_length) do
      {values, kept, state, reason}
    else
      :broken -> invalid("its answer about a piece is broken")
      {:ok, _other} -> invalid("it gives no list")
      # The guest cannot know which atoms exist: the caller finds out which does not.
      :refused when options.values.keys == :atoms! -> :unknown_atoms
      :refused -> invalid("the runtime makes no term of it")
      fault -> fault
    end
  end

  defp fed(_other, _question, _length, _options), do: no_status()

  defp encoded({:done, json}, etf, _bytes, options), do: of_length(json, etf, options, {:ok, json})

  defp encoded({:partial, body}, etf, bytes, options) do
    with {:partial, json, _holes} = partial <- Judge.holes(body, etf, bytes, options),
         do: of_length(json, etf, options, partial)
  end

  defp encoded({:error, body}, _etf, _bytes, _options) do
    case Abi.encode_failure(body) do
      {:ok, failure} -> {:error, failure}
      :broken -> invalid("its error record is broken")
    end
  end

  defp encoded(:broken, _etf, _bytes, _options), do: no_status()

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

  ## Instances

  defp run(sandbox, fun) do
    patience = Host.patience(sandbox)
    deadline = System.monotonic_time(:millisecond) + patience

    case Instance.ready(patience) do
      :ok -> enter(sandbox, max(deadline - System.monotonic_time(:millisecond), 1), fun)
      {:error, reason} -> {:fault, :unavailable, reason}
      :busy -> {:fault, :busy, :starting}
    end
  end

  defp enter(%{max_memory: memory} = sandbox, timeout, fun) do
    Pool.ensure(@pool, &Instance.await/1)

    case Pool.enter(@pool, min(sandbox.pool_size, Instance.most()), memory, timeout) do
      {place, kept} -> lent(place, kept, sandbox, fun)
      :busy -> {:fault, :busy, ""}
    end
  end

  # Only an instance that answered is reused. Operations report failure with `throw`.
  defp lent(place, kept, sandbox, fun) do
    {answer, instance} = answer(place, kept, sandbox, fun)
    Pool.leave(@pool, place, sandbox.max_memory, instance)
    answer
  catch
    kind, reason ->
      Pool.leave(@pool, place, sandbox.max_memory, :running)

      if kind == :throw and match?({:fault, _, _}, reason),
        do: reason,
        else: :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp answer(place, kept, %{isolation: isolation} = sandbox, fun) do
    call = %{deadline: System.monotonic_time(:millisecond) + sandbox.timeout, max_memory: sandbox.max_memory}
    instance = if kept && isolation == :reuse, do: kept, else: new(place, call)
    {answer, instance} = fun.(instance, call)

    keep? =
      isolation == :reuse and not match?({:fault, _, _}, answer) and instance.memory_size <= @keep_memory

    {answer, if(keep?, do: instance)}
  end

  defp new(place, call) do
    instance = Instance.new(call)
    Pool.hold(@pool, place, instance)
    instance
  end

  @doc false
  # Whether the host has been used.
  @spec started?() :: boolean()
  def started?, do: Process.whereis(@pool) != nil

  @doc false
  # Instances running and kept, and callers waiting.
  @spec counts() :: keyword(non_neg_integer())
  def counts do
    Pool.ensure(@pool, &Instance.await/1)
    Pool.counts(@pool)
  end

  @doc false
  # Tests run modules that misbehave.
  @spec replace(binary() | nil) :: :ok | {:error, String.t()}
  def replace(wasm) do
    idle(500)
    Supervisor.terminate_child(RustyJson.Supervisor, @pool)
    Supervisor.delete_child(RustyJson.Supervisor, @pool)
    Instance.load(wasm)
  end

  # A new pool would not know the calls that still run in the old one.
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
    with :ok <- Instance.ready(), do: {:ok, %{host: :wasmex, version: Instance.version()}}
  end
end
