defmodule RustyJson.Engine.Wasm do
  @moduledoc """
  The core as a WebAssembly module, run by a `RustyJson.Wasm.Host`, for input that is not trusted.

  A document may at worst get an error back: each call has a memory cap and a deadline, and what the module returns is
  checked to be a JSON-shaped term before any term is built from it.
  """

  @behaviour RustyJson.Engine

  require RustyJson.Engine.Codes

  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.Codes
  alias RustyJson.SandboxError
  alias RustyJson.Wasm.{Host, Parts, Stats}

  @impl true
  def decode(json, %{packed: packed, sandbox: sandbox}) do
    case Host.get(sandbox.host).decode(json, packed, sandbox) do
      {:ok, _term} = done -> done
      {:etf, etf} -> build(etf, sandbox)
      {:error, _failure} = failed -> failed
      {:fault, reason, detail} -> fault(reason, detail, sandbox)
    end
  end

  # For hosts that build no terms. The bytes have been checked; they can still contain a repeated key in a map, or an unknown atom.
  defp build(etf, sandbox) do
    {:ok, :erlang.binary_to_term(etf, [:safe])}
  rescue
    ArgumentError -> fault(:invalid_result, "the runtime makes no term of it", sandbox)
  end

  # Atoms that results may contain. Naming them here creates them, because `:safe` refuses atoms that do not exist yet in a VM
  # that loads modules on demand.
  @doc false
  @spec atoms() :: [atom()]
  def atoms, do: [:__struct__, RustyJson.OrderedObject, :values, Decimal, :sign, :coef, :exp]

  @impl true
  def encode(term, %{packed: packed, sandbox: sandbox}) do
    # The external format repeats shared subterms, which can exceed the memory.
    if Parts.fit?(term, elem(packed, 2)),
      do: send_over(term, packed, sandbox),
      else: {:error, {Codes.encode(:max_bytes), "", nil}}
  end

  defp send_over(term, packed, sandbox) do
    # Without minor_version OTP 25 writes atoms in Latin-1.
    etf = :erlang.term_to_binary(term, minor_version: 2)

    extra = extra(elem(packed, 4), Plans.needed(elem(packed, 6), etf))

    answer =
      with {:ok, limited} <- in_time(sandbox),
           do: Host.get(sandbox.host).encode(etf, extra, packed, limited)

    case answer do
      {:ok, text} -> held_to(elem(packed, 2), elem(packed, 3), text, sandbox)
      {:partial, json, holes} -> partial(json, holes, etf, packed, sandbox)
      {:error, _failure} = failed -> failed
      {:fault, reason, detail} -> fault(reason, detail, sandbox)
    end
  end

  defp partial(json, holes, etf, packed, sandbox) do
    with {:ok, json} <- held_to(elem(packed, 2), -1, json, sandbox),
         do: {:partial, json, Enum.map(holes, &hole(&1, etf))}
  end

  # The parts of a term that Elixir encodes have what is left of the call's time.
  defp in_time(%{deadline: deadline} = sandbox) do
    left = deadline - System.monotonic_time(:millisecond)
    if left > 0, do: {:ok, %{sandbox | timeout: left}}, else: {:fault, :timeout, ""}
  end

  defp in_time(sandbox), do: {:ok, sandbox}

  # A guest under attack can exceed its limit. The limit applies to the text before compression.
  defp held_to(max_bytes, -1, text, sandbox) when max_bytes > 0 and byte_size(text) > max_bytes,
    do: fault(:invalid_result, "its text is longer than max_bytes", sandbox)

  defp held_to(_max_bytes, _gzip, text, _sandbox), do: {:ok, text}

  # Options that are not numbers. The guest is not trusted to report used plans, so it gets only current ones.
  defp extra(nil, nil), do: <<>>
  defp extra(pretty, plans), do: :erlang.term_to_binary({pretty, plans}, minor_version: 2)

  # The host has checked that a term of ours starts and ends here.
  defp hole({offset, depth, place, start, length}, etf) do
    {offset, depth, :erlang.binary_to_term(<<131, binary_part(etf, start, length)::binary>>), place}
  end

  @impl true
  def gzip(text, level, options), do: transform(text, <<>>, {:gzip, level}, options)

  @impl true
  def format(text, layout, {depth, deepest, max_bytes}, options) do
    parts = for part <- Tuple.to_list(layout), into: <<>>, do: <<byte_size(part)::32-little, part::binary>>
    extra = <<max_bytes::64-little, parts::binary>>

    with {:ok, text} <- transform(text, extra, {:format, depth, deepest}, options),
         do: held_to(max_bytes, -1, text, options.sandbox)
  end

  defp transform(text, extra, operation, %{sandbox: sandbox}) do
    result =
      with {:ok, limited} <- in_time(sandbox),
           do: Host.get(sandbox.host).transform(text, extra, operation, limited)

    with {:fault, reason, detail} <- result, do: fault(reason, detail, sandbox)
  end

  @impl true
  def status, do: Host.status(:auto)

  defp fault(reason, detail, sandbox) do
    Stats.failed(Host.get(sandbox.host), reason)
    {:error, SandboxError.new(reason, detail(reason, detail, sandbox))}
  end

  defp detail(reason, _detail, sandbox) when reason in [:timeout, :busy], do: "#{sandbox.timeout} ms"
  defp detail(:memory_limit, _detail, sandbox), do: "#{sandbox.max_memory} bytes"
  defp detail(_reason, detail, _sandbox), do: detail
end
