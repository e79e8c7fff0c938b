defmodule RustyJson.Engine.Wasm do
  @moduledoc """
  The core as a WebAssembly module, run by a `RustyJson.Wasm.Host`, for input that is not trusted.

  A document may at worst get an error back: each call has a memory cap and a deadline, and what the module returns is
  checked to be a JSON-shaped term. A caller never gets a part of a result that fails the check.
  """

  @behaviour RustyJson.Engine

  require RustyJson.Engine.Codes
  require RustyJson.Parts.Kind

  alias RustyJson.Encode.Lost
  alias RustyJson.Encoder.Plans
  alias RustyJson.Engine.{Codes, Heap}
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Parts, as: Selected
  alias RustyJson.Parts.Kind
  alias RustyJson.{EncodeError, Options, SandboxError}
  alias RustyJson.Wasm.{Batch, Events, Fed, Host, Parts, Stats}

  @broken_parts "its answer about parts of the document is broken"

  @impl true
  def decode(json, options) do
    Heap.reserve(json, options.parts)
    run(:decode, json, options.bytes, options, &judged(&1, json, options))
  end

  @doc false
  # Decodes with options that have `straight:` limits. Where the built-in host is not the one, or has not started, as `decode/2` does.
  @spec straight(binary(), Options.t()) ::
          {:ok, term()} | {:error, RustyJson.Engine.decode_failure() | SandboxError.t()}
  def straight(json, %{sandbox: %{host: host} = sandbox} = options) do
    case Host.get(host) == Host.BuiltIn && decode_straight(json, options) do
      {:ok, _term} = done -> done
      {:fault, reason, detail} -> fault(reason, detail, sandbox)
      {:error, _failure} = failed -> failed
      _elsewhere -> decode(json, options)
    end
  end

  @doc false
  # The same for a call that the built-in host answered on the caller's scheduler.
  @spec ended(Nif.ran() | :later, binary(), Options.t()) ::
          {:ok, term()} | {:error, RustyJson.Engine.decode_failure() | SandboxError.t()}
  def ended(answer, json, %{straight: limits, bytes: bytes, sandbox: sandbox}) do
    with {:fault, reason, detail} <- Host.BuiltIn.ended(answer, json, bytes, limits),
         do: fault(reason, detail, sandbox)
  end

  defp decode_straight(json, %{straight: limits, bytes: bytes, sandbox: %{events: true, host: host}}),
    do: Events.measured({:decode, []}, json, host, fn -> Host.BuiltIn.straight(json, bytes, limits) end)

  defp decode_straight(json, %{straight: limits, bytes: bytes}),
    do: Host.BuiltIn.straight(json, bytes, limits)

  # Parts that stay text come as their places.
  defp judged({:ok, term}, json, %{parts: <<Kind.raw(), _::binary>>} = options) do
    {:ok, Selected.Raw.fragments(term, Selected.Raw.text(json, options.values.strings == :copy))}
  catch
    {:rustyjson, :broken} -> {:fault, :invalid_result, @broken_parts}
  end

  # Of parts of a document, the host judges only the values.
  defp judged({:ok, term} = answer, json, %{parts: parts} = options) when parts != "" do
    if Selected.answer?(term, options, byte_size(json)),
      do: answer,
      else: {:fault, :invalid_result, @broken_parts}
  end

  defp judged(answer, _json, _options), do: answer

  @doc false
  # The answer to a question about parts of a document is not what was asked for.
  @spec broken_parts(Options.t()) :: SandboxError.t()
  def broken_parts(options) do
    {:error, error} = refused(:invalid_result, @broken_parts, options)
    error
  end

  @doc false
  # What the module answers, and the engine does not take.
  @spec refused(:invalid_result | :memory_limit, String.t(), Options.t()) :: {:error, SandboxError.t()}
  def refused(reason, detail, %{sandbox: sandbox}), do: fault(reason, detail, sandbox)

  @impl true
  def decode_many(documents, %{sandbox: sandbox, values: %{keys: keys}} = options) do
    # A guest that fell to one document can change what others of the same guest call become. With `keys: :atoms!`, an unknown name may
    # stand before another error or in a value that a repeated key replaces: only a document that crosses by itself shows it.
    alone? = sandbox.isolation == :fresh or keys == :atoms!
    deadline = sandbox[:deadline] || System.monotonic_time(:millisecond) + sandbox.timeout

    Batch.decode(documents, alone?, deadline, %{
      together: fn body, timeout, patience ->
        retried = [:timeout, :memory_limit, :trap, :invalid_result]
        cross(:many, body, options.bytes, Batch.within(options, timeout, patience, retried))
      end,
      alone: fn json, timeout, patience, again? ->
        retried = if again?, do: [:timeout], else: []
        cross(:decode, json, options.bytes, Batch.within(options, timeout, patience, retried))
      end,
      failed: fn reason, detail -> fault(reason, detail, sandbox) end,
      given_up: fn -> given_up(options) end
    })
  end

  # Documents whose time is over emit an event as well, because those of their crossings say that they are tried again.
  defp given_up(%{sandbox: sandbox} = options) do
    {:fault, reason, detail} =
      crossed(:many, <<>>, options, fn _host, _body, _options -> {:fault, :timeout, ""} end)

    fault(reason, detail, sandbox)
  end

  @impl true
  def feed(question, piece, options) do
    question = Fed.question(question)
    run(:feed, piece, IO.iodata_to_binary([question | options.bytes]), options, &in_pairs(&1, question))
  end

  defp in_pairs({values, _, _, _} = fed, question) do
    if Fed.values?(values, question), do: fed, else: {:fault, :invalid_result, "pointers are missing"}
  end

  defp in_pairs(other, _question), do: other

  # Atoms that results may contain. Naming them here creates them, because `:safe` refuses atoms that do not exist yet in a VM
  # that loads modules on demand.
  @doc false
  @spec atoms() :: [atom()]
  def atoms, do: [:__struct__, RustyJson.OrderedObject, :values, Decimal, :sign, :coef, :exp]

  @impl true
  def encode(term, options) do
    started = System.monotonic_time(:millisecond)
    term |> limited_text(options) |> written(term, options, started)
  end

  @doc false
  # Encodes in the same way. If not all is done, also says when the call started, in milliseconds: a look at the clock takes as long as a
  # third of the rest, so it is left for later, as long as at most a millisecond has passed.
  @spec straight_text(term(), Options.t()) :: {:ok, binary()} | {answer, started :: integer()}
        when answer:
               {:ok, binary()}
               | {:partial, binary(), [RustyJson.Engine.hole()]}
               | {:error, RustyJson.Engine.encode_failure() | SandboxError.t()}
  def straight_text(term, %{sandbox: %{host: host}} = options) do
    case Host.get(host) == Host.BuiltIn && encode_straight(term, options) do
      {:ok, _text} = done -> done
      {:since, started, answer} -> since(answer, started, term, options)
      answer -> since(answer, Options.started(options), term, options)
    end
  end

  @doc false
  # The same for a call that the built-in host answered on the caller's scheduler.
  @spec ended_text(Nif.wrote() | :later, term(), Options.t()) :: {answer, started :: integer()}
        when answer:
               {:ok, binary()}
               | {:partial, binary(), [RustyJson.Engine.hole()]}
               | {:error, RustyJson.Engine.encode_failure() | SandboxError.t()}
  def ended_text(answer, term, %{straight: limits, bytes: bytes, plans: plans} = options) do
    case Host.BuiltIn.ended(answer, term, plans, bytes, limits) do
      {:since, started, answer} -> since(answer, started, term, options)
      answer -> since(answer, Options.started(options), term, options)
    end
  end

  defp since(answer, started, term, options), do: {finished(answer, term, options, started), started}

  defp finished({:fault, reason, detail}, _term, %{sandbox: sandbox}, _started),
    do: fault(reason, detail, sandbox)

  defp finished(elsewhere, term, options, _started) when elsewhere in [nil, false], do: encode(term, options)
  defp finished(answer, term, options, started), do: written(answer, term, options, started)

  defp encode_straight(term, %{sandbox: %{events: true, host: host}} = options),
    do: Events.measured({:encode, []}, nil, host, fn -> write_straight(term, options) end)

  defp encode_straight(term, options), do: write_straight(term, options)

  defp write_straight(term, %{straight: limits, bytes: bytes, plans: plans}),
    do: Host.BuiltIn.straight(term, plans, bytes, limits)

  # What left no text counts for all parts of a call together.
  defp written({:lost, answer, parts}, term, options, started) do
    written = written(answer, term, options, started)
    if Lost.too_many?(parts, options), do: Lost.failure(written), else: written
  end

  # With an outdated plan the text is made again.
  defp written({:planned, answer, modules}, term, %{plans: plans} = options, started) do
    if Plans.current?(modules, plans),
      do: written(answer, term, options, started),
      else: again(term, options, started)
  end

  # The host has no way to read terms: this is wasmex.
  defp written(:external, term, options, started), do: encode_external(term, Options.due(options, started))
  defp written(answer, _term, _options, _started), do: answer

  defp again(term, options, started) do
    Plans.forget()
    options = Options.due(%{options | plans: Plans.own()}, started)
    term |> limited_text(options) |> written(term, options, started)
  end

  defp limited_text(term, options),
    do: limited(:encode, nil, options, fn host, nil, options -> write(host, term, options) end)

  defp write(host, term, %{bytes: bytes} = options),
    do: term |> host.write(bytes, options) |> held_to(options.values)

  # A term that is not sent over emits an event as well.
  defp encode_external(term, %{sandbox: sandbox} = options) do
    case crossed(:encode, <<>>, options, fn _host, _body, _options -> unfit(term, options) end) do
      nil -> send_over(term, options)
      {:fault, reason, detail} -> fault(reason, detail, sandbox)
      {:error, _failure} = failed -> failed
    end
  end

  # The external format repeats shared subterms, which can exceed any memory.
  defp unfit(term, %{values: %{max_bytes: max_bytes}, sandbox: sandbox}) do
    limits = %{max_bytes: max_bytes, max_memory: sandbox.max_memory, deadline: sandbox.deadline}

    case Parts.fit(term, limits) do
      :ok -> nil
      :late -> {:fault, :timeout, ""}
      :too_large when max_bytes == 0 -> {:fault, :memory_limit, ""}
      _too_many_or_large -> {:error, {Codes.encode(:max_bytes), "", nil}}
    end
  end

  defp send_over(term, %{bytes: bytes, plans: plans} = options) do
    # Without minor_version OTP 25 writes atoms in Latin-1.
    etf = :erlang.term_to_binary(term, minor_version: 2)

    run(:encode, etf, bytes <> plans(Plans.needed(plans, etf)), options, &held_to(&1, options.values))
  end

  # The guest is not trusted to report used plans, so it gets only current ones.
  defp plans(nil), do: <<>>
  defp plans(plans), do: :erlang.term_to_binary(plans, minor_version: 2)

  # A call that crosses several times has one deadline: each guest call gets the time that is left.
  defp in_time(%{deadline: deadline} = sandbox) do
    left = deadline - System.monotonic_time(:millisecond)
    if left > 0, do: {:ok, %{sandbox | timeout: left}}, else: {:fault, :timeout, ""}
  end

  defp in_time(sandbox), do: {:ok, sandbox}

  # A guest under attack can exceed its limit. The limit applies to the text before compression.
  defp held_to(answer, %{max_bytes: most, compress: compress}) do
    if most > 0 and text_size(answer, compress) > most,
      do: {:fault, :invalid_result, "its text is longer than max_bytes"},
      else: answer
  end

  defp text_size({:ok, text}, -1), do: byte_size(text)
  defp text_size({:partial, text, _holes}, _compress), do: byte_size(text)
  defp text_size({:planned, answer, _modules}, compress), do: text_size(answer, compress)
  defp text_size({:lost, answer, _parts}, compress), do: text_size(answer, compress)
  defp text_size(_compressed_or_none, _compress), do: 0

  @impl true
  def gzip(text, options), do: run(:gzip, text, options.bytes, options)

  @impl true
  def format(text, options) do
    values = %{options.values | compress: -1}
    run(:format, text, options.bytes, options, &held_to(&1, values))
  end

  @impl true
  def canonicalize(text, %{bytes: bytes} = options) do
    # Behind the options of decoding, of which one with this name limits the input.
    <<most::64-little>> = binary_part(bytes, byte_size(bytes), -8)
    run(:canonicalize, text, bytes, options, &held_to(&1, %{max_bytes: most, compress: -1}))
  end

  # `judge` takes the answer, or makes a fault of it, which is then in the event of the call.
  defp run(operation, body, bytes, options, judge \\ & &1) do
    bring = bring(operation, bytes)
    limited(operation, body, options, &judge.(bring.(&1, &2, &3)))
  end

  defp limited(operation, input, %{sandbox: sandbox} = options, call) do
    result =
      crossed(operation, input, options, fn host, input, options ->
        with {:ok, limited} <- in_time(sandbox), do: call.(host, input, %{options | sandbox: limited})
      end)

    with {:fault, reason, detail} <- result, do: fault(reason, detail, sandbox)
  end

  defp cross(operation, body, bytes, options),
    do: crossed(operation, body, options, bring(operation, bytes))

  # A text, or a term in its external format, with these options.
  defp bring(operation, bytes), do: fn host, body, options -> host.run(operation, body, bytes, options) end

  # A call can take less than a microsecond, so it is measured only where somebody can listen.
  defp crossed(operation, input, %{sandbox: %{events: true, host: host} = sandbox} = options, call) do
    retried = Map.get(sandbox, :retried, [])
    Events.measured({operation, retried}, input, host, fn -> call.(Host.get(host), input, options) end)
  end

  defp crossed(_operation, input, %{sandbox: %{host: host}} = options, call),
    do: call.(Host.get(host), input, options)

  @doc false
  # What Elixir does for a call that has a deadline: raises the call's error once it has passed.
  @spec check_time!(Options.t()) :: :ok
  def check_time!(options), do: if(late?(options), do: raise(late(options)), else: :ok)

  @doc false
  @spec late?(Options.t()) :: boolean()
  def late?(%{sandbox: %{deadline: deadline}}), do: System.monotonic_time(:millisecond) > deadline
  def late?(_options), do: false

  @doc false
  @spec late(Options.t()) :: SandboxError.t()
  def late(options), do: failure(:timeout, "", options)

  @doc false
  # The most that Elixir may gather for a call; only the sandbox has a limit.
  @spec max_memory(Options.t()) :: pos_integer() | :infinity
  def max_memory(%{engine: engine, sandbox: %{max_memory: most}}),
    do: if(RustyJson.Engine.native?(engine), do: :infinity, else: most)

  @doc false
  @spec too_large(Options.t()) :: SandboxError.t()
  def too_large(options), do: failure(:memory_limit, "", options)

  @doc false
  # What an engine wrote is not what was asked for. The native engine never does this.
  @spec broken_text(Options.t()) :: SandboxError.t()
  def broken_text(options),
    do: failure(:invalid_result, "its text or its error is not that of the call", options)

  defp failure(reason, detail, %{sandbox: sandbox} = options) do
    {:error, error} = fault(reason, detail, sandbox)
    EncodeError.marked(error, options)
  end

  @impl true
  def status, do: Host.status(:auto)

  defp fault(reason, detail, sandbox) do
    Stats.failed(Host.get(sandbox.host), reason)
    {:error, SandboxError.new(reason, detail(reason, detail, sandbox))}
  end

  # A host that starts has no instances yet.
  defp detail(:busy, :starting, sandbox), do: "the host was still starting after #{sandbox.timeout} ms"
  defp detail(reason, _detail, sandbox) when reason in [:timeout, :busy], do: "#{sandbox.timeout} ms"
  defp detail(:memory_limit, _detail, sandbox), do: "#{sandbox.max_memory} bytes"
  defp detail(_reason, detail, _sandbox), do: detail
end
