defmodule RustyJson.Wasm.Host.Wasmtime do
  @moduledoc """
  The built-in host: a library around the wasmtime crate, in `wasm/host`.

  A small document is one call on the caller's scheduler. After about a millisecond it is interrupted and repeated on a dirty
  scheduler, under the call's own deadline. A large document starts there. Nothing waits inside the library: a caller that finds
  all instances taken enters a queue and sleeps, and a message wakes it when an instance becomes free. A call that waited too long
  for a dirty scheduler does not start.
  """

  @behaviour RustyJson.Wasm.Host

  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Heap
  alias RustyJson.Wasm.{Host, Starter}
  alias RustyJson.Wasm.Host.Wasmtime.Nif

  # Bytes that take clearly less than a millisecond, terms included.
  @small 65_536

  @impl true
  def run(operation, body, bytes, %{sandbox: sandbox, structs: structs}) do
    given = if structs, do: {bytes, structs}, else: bytes

    with_host(sandbox, byte_size(body), running(operation, given, body))
  end

  @impl true
  def write(term, bytes, %{sandbox: sandbox, plans: plans}),
    do: with_host(sandbox, 0, writing(term, plans, bytes))

  ## Small calls

  # The way through `run/4` and `write/3` takes 300 ns, about as long as a short document in the module.

  @doc false
  # Decodes a text that is likely to be decoded at once; nil if the host has not started or the text is long.
  @spec straight(binary(), binary(), Host.limits()) :: Host.decoded() | Host.fault() | nil
  def straight(json, bytes, limits) when byte_size(json) <= @small do
    case :persistent_term.get(__MODULE__, nil) do
      nil ->
        nil

      host ->
        Heap.reserve(json, "")

        case Nif.run(host, :decode, bytes, json, limits, 0) do
          {:ok, _term} = done -> done
          other -> go_on(other, host, limits, running(:decode, bytes, json))
        end
    end
  end

  def straight(_json, _bytes, _limits), do: nil

  @doc false
  # Writes a term in the same way.
  @spec straight(term(), Plans.t() | nil, binary(), Host.limits()) :: Host.written() | Host.fault() | nil
  def straight(term, plans, bytes, limits) do
    case :persistent_term.get(__MODULE__, nil) do
      nil ->
        nil

      host ->
        case Nif.write(host, term, plans, bytes, limits, 0) do
          {:ok, _text} = done -> done
          other -> go_on(other, host, limits, writing(term, plans, bytes))
        end
    end
  end

  defp go_on(:later, host, limits, call), do: enter(host, :dirty, limits, call)
  defp go_on(:busy, host, limits, call), do: queue(host, :here, limits, call)
  defp go_on(answer, _host, _limits, _call), do: answer

  defp running(operation, given, body) do
    fn
      host, :here, limits, number -> Nif.run(host, operation, given, body, limits, number)
      host, :dirty, limits, number -> Nif.run_dirty(host, operation, given, body, limits, number)
    end
  end

  defp writing(term, plans, bytes) do
    fn
      host, :here, limits, number -> Nif.write(host, term, plans, bytes, limits, number)
      host, :dirty, limits, number -> Nif.write_dirty(host, term, plans, bytes, limits, number)
    end
  end

  ## Instances

  # Another host than the real one: script/soak runs modules that misbehave beside it.
  defp with_host(%{other: host} = sandbox, size, call),
    do: enter(host, where(size), Host.limits(sandbox), call)

  defp with_host(sandbox, size, call) do
    where = where(size)

    case :persistent_term.get(__MODULE__, nil) do
      nil -> start(sandbox, where, call)
      host -> enter(host, where, Host.limits(sandbox), call)
    end
  end

  defp where(size), do: if(size <= @small, do: :here, else: :dirty)

  # The time until the host has started is time that the call waits.
  defp start(sandbox, where, call) do
    patience = Host.patience(sandbox)
    deadline = System.monotonic_time(:millisecond) + patience

    case host(patience) do
      {:ok, host} -> enter(host, where, put_elem(Host.limits(sandbox), 4, left(deadline)), call)
      {:error, reason} -> {:fault, :unavailable, reason}
      :busy -> {:fault, :busy, :starting}
    end
  end

  defp left(deadline), do: max(deadline - System.monotonic_time(:millisecond), 0)

  # Dirty schedulers have a queue: behind slow calls, the next one waits in it and cannot give up. So each call says by when it
  # must start.
  defp patient(limits), do: put_elem(limits, 4, Nif.now() + elem(limits, 4))

  defp enter(host, where, limits, call) do
    case attempt(host, where, limits, 0, call) do
      {:busy, where} -> queue(host, where, limits, call)
      answer -> answer
    end
  end

  defp attempt(host, :here, limits, number, call) do
    case call.(host, :here, limits, number) do
      :later -> attempt(host, :dirty, limits, 0, call)
      :busy -> {:busy, :here}
      answer -> answer
    end
  end

  defp attempt(host, :dirty, limits, number, call) do
    with :busy <- call.(host, :dirty, patient(limits), number), do: {:busy, :dirty}
  end

  # The ticket is given back whatever comes of it: a message that is on its way then is waited for, so that none comes later.
  defp queue(host, where, limits, call) do
    reference = make_ref()
    deadline = System.monotonic_time(:millisecond) + elem(limits, 4)
    {number, ticket} = Nif.queue(host, elem(limits, 0), reference)
    answer = wait({reference, number, ticket, deadline}, host, where, limits, call)
    if Nif.leave(ticket), do: receive(do: ({^reference, :free} -> :ok))
    answer
  end

  # Who is woken may find that somebody else was quicker; then it is first in the queue, and waits on.
  defp wait({reference, number, ticket, deadline} = place, host, where, limits, call) do
    look = Nif.look(ticket)
    left = left(deadline)

    receive do
      {^reference, :free} ->
        with {:busy, where} <- attempt(host, where, put_elem(limits, 4, left), number, call),
             do: wait(place, host, where, limits, call)
    after
      min(left, look) ->
        if left > look, do: wait(place, host, where, limits, call), else: {:fault, :busy, ""}
    end
  end

  ## Start

  defp host(timeout \\ :infinity) do
    case :persistent_term.get(__MODULE__, nil) do
      nil -> Starter.run(__MODULE__, timeout, fn -> started() || load() end)
      host -> {:ok, host}
    end
  end

  defp started do
    with host when host != nil <- :persistent_term.get(__MODULE__, nil), do: {:ok, host}
  end

  defp load do
    with nil <- library_failure(),
         {:ok, wasm} <- Host.guest(),
         {:ok, host} <- Nif.load(wasm, instances()) do
      :persistent_term.put(__MODULE__, host)
      {:ok, host}
    else
      {:fault, _reason, detail} -> {:error, detail}
      {:error, reason} -> {:error, reason}
    end
  end

  # Kept instances and those of calls with a larger pool than others.
  defp instances, do: max(64, 4 * System.schedulers_online())

  defp library_failure do
    if Code.ensure_loaded?(Nif) && Nif.failure() do
      file = Nif.path() <> ".so"

      if File.regular?(file),
        do: library_failure_again(),
        else: {:error, "the built-in host is not built (#{Path.relative_to_cwd(file)}): " <> hint()}
    end
  end

  # The library may be there only now. It is loaded with its module, so the module is loaded again; nothing runs in it.
  defp library_failure_again do
    :code.purge(Nif)
    :code.load_file(Nif)

    with failure when failure != nil <- Nif.failure(),
         do: {:error, "the built-in host does not load: #{failure}"}
  end

  defp hint do
    "set config :rustyjson, build: [:native, :guest, :host] or RUSTYJSON_BUILD=native,guest,host with Rust and a C compiler " <>
      "installed, then mix deps.compile rustyjson --force"
  end

  @doc false
  # Whether the module is compiled.
  @spec started?() :: boolean()
  def started?, do: :persistent_term.get(__MODULE__, nil) != nil

  @doc false
  # Instances running and kept, and callers waiting.
  @spec counts() :: keyword(non_neg_integer())
  def counts do
    {:ok, host} = host()
    Nif.counts(host)
  end

  @doc false
  # Tests run modules that misbehave; nil brings the real one back.
  @spec replace(binary() | nil) :: :ok | {:error, String.t()}
  def replace(nil) do
    case :persistent_term.get({__MODULE__, :set_aside}, nil) do
      nil -> with {:ok, _host} <- load(), do: :ok
      host -> :persistent_term.put(__MODULE__, host)
    end
  end

  def replace(wasm) do
    with {:ok, real} <- host(), {:ok, host} <- Nif.load(wasm, 8) do
      unless :persistent_term.get({__MODULE__, :set_aside}, nil),
        do: :persistent_term.put({__MODULE__, :set_aside}, real)

      :persistent_term.put(__MODULE__, host)
    else
      {:fault, _reason, detail} -> {:error, detail}
      {:error, reason} -> {:error, reason}
    end
  end

  @impl true
  def status do
    with {:ok, _host} <- host(), do: {:ok, %{host: :wasmtime}}
  end
end
