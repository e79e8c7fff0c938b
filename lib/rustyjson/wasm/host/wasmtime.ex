defmodule RustyJson.Wasm.Host.Wasmtime do
  @moduledoc """
  The built-in host: a library around the wasmtime crate, in `wasm/host`.

  A small document is one call on the caller's scheduler. After about a millisecond it is interrupted and repeated on a dirty
  scheduler, under the call's own deadline. A large document starts there. Nothing waits inside the library: a call that finds all
  instances taken returns and asks again a moment later, and the call that has waited longest gets a reserved place. A call that
  waited too long for a dirty scheduler does not start.
  """

  @behaviour RustyJson.Wasm.Host

  alias RustyJson.Wasm.Host
  alias RustyJson.Wasm.Host.Wasmtime.Nif

  # Bytes that take clearly less than a millisecond, terms included.
  @small 65_536
  # Delay before a call that found no instance asks again.
  @pause 1

  @impl true
  def decode(json, packed, sandbox) do
    with_host(sandbox, fn host, limits, ticket ->
      decode(host, json, packed, limits, ticket)
    end)
  end

  defp decode(host, json, packed, limits, ticket) when byte_size(json) <= @small do
    with :later <- Nif.decode(host, json, packed, limits, ticket),
         do: Nif.decode_dirty(host, json, packed, patient(limits), 0)
  end

  defp decode(host, json, packed, limits, ticket),
    do: Nif.decode_dirty(host, json, packed, patient(limits), ticket)

  @impl true
  def encode(etf, extra, packed, sandbox) do
    with_host(sandbox, fn host, limits, ticket ->
      encode(host, etf, extra, packed, limits, ticket)
    end)
  end

  defp encode(host, etf, extra, packed, limits, ticket) when byte_size(etf) <= @small do
    with :later <- Nif.encode(host, etf, extra, packed, limits, ticket),
         do: Nif.encode_dirty(host, etf, extra, packed, patient(limits), 0)
  end

  defp encode(host, etf, extra, packed, limits, ticket),
    do: Nif.encode_dirty(host, etf, extra, packed, patient(limits), ticket)

  @impl true
  def transform(text, extra, operation, sandbox) do
    with_host(sandbox, fn host, limits, ticket ->
      transform(host, text, extra, operation, limits, ticket)
    end)
  end

  defp transform(host, text, extra, operation, limits, ticket) when byte_size(text) <= @small do
    with :later <- Nif.transform(host, text, extra, operation, limits, ticket),
         do: Nif.transform_dirty(host, text, extra, operation, patient(limits), 0)
  end

  defp transform(host, text, extra, operation, limits, ticket),
    do: Nif.transform_dirty(host, text, extra, operation, patient(limits), ticket)

  ## Instances

  defp with_host(sandbox, call) do
    case host() do
      {:ok, host} -> run(host, limits(sandbox), sandbox.timeout, call)
      {:error, reason} -> {:fault, :unavailable, reason}
    end
  end

  # The last element is the time that the call may wait to start.
  defp limits(%{pool_size: size, max_memory: memory, timeout: timeout, isolation: isolation}),
    do: {size, memory, timeout, isolation == :fresh, timeout}

  # Dirty schedulers have a queue: behind slow calls, the next one waits in it and cannot give up. So each call says by when it
  # must start.
  defp patient(limits), do: put_elem(limits, 4, Nif.now() + elem(limits, 4))

  defp run(host, limits, timeout, call) do
    case call.(host, limits, 0) do
      {:busy, ticket} -> wait(host, limits, deadline(timeout), ticket, call)
      answer -> answer
    end
  end

  defp deadline(timeout), do: System.monotonic_time(:millisecond) + timeout

  defp wait(host, limits, deadline, ticket, call) do
    left = deadline - System.monotonic_time(:millisecond)

    if left <= 0 do
      Nif.leave(host, ticket)
      {:fault, :busy, ""}
    else
      Process.sleep(@pause)

      case call.(host, put_elem(limits, 4, left), ticket) do
        {:busy, ticket} -> wait(host, limits, deadline, ticket, call)
        answer -> answer
      end
    end
  end

  ## Start

  defp host do
    case :persistent_term.get(__MODULE__, nil) do
      nil -> start()
      host -> {:ok, host}
    end
  end

  # Compiling the module takes a while, so only one process does it. Failures are not cached, because a missing part may be added.
  defp start do
    :global.trans({__MODULE__, self()}, fn -> started() || load() end, [node()])
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
    with failure when failure != nil <- Code.ensure_loaded?(Nif) && Nif.failure() do
      file = Nif.path() <> ".so"

      if File.regular?(file),
        do: {:error, "the built-in host does not load: #{failure}"},
        else: {:error, "the built-in host is not built (#{Path.relative_to_cwd(file)}): " <> hint()}
    end
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
