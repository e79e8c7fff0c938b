# Modules that a document took over, and the processes that call them; see script/soak.

defmodule Soak.Guests do
  @moduledoc "Modules that misbehave, each in a built-in host of its own beside the real one."

  alias RustyJson.{Encode, Fragment, Options}
  alias RustyJson.Engine.Codes
  alias RustyJson.Test.{Guest, Lies}
  alias RustyJson.Wasm.Host.Wasmtime.Nif

  require Codes

  @instances 2
  @options [
    engine: :wasm,
    host: :wasmtime,
    timeout: 500,
    max_memory: 8 * 1024 * 1024,
    pool_size: @instances,
    isolation: :reuse
  ]
  @faults [:trap, :loop, :grow, :recurse, :write_out_of_bounds]
  # The whole term is one hole, at depth 0.
  @root <<2, 1::32-little, 0::32-little, 1::32-little, 0::32-little>>
  @page 65_536
  @long 7_000_000

  def timeout, do: @options[:timeout]

  @doc "Each attack: its name, its host, and a function that makes the call."
  def all, do: faults() ++ lies() ++ records() ++ holes() ++ long() ++ [formatter()]

  defp faults do
    for fault <- @faults, text = Guest.fault(fault), attack <- fault(fault, text), do: attack
  end

  defp fault(name, text) do
    {anywhere, input} = {host(fault: text, always: true), host(input: text)}

    [
      {"#{name}: in decode", anywhere, decoding(anywhere, "[1]")},
      {"#{name}: in encode", anywhere, encoding(anywhere, [1])},
      {"#{name}: in input", input, decoding(input, "[1]")}
    ]
  end

  # The document contains the address and the length that the module returns. All false results are in its memory.
  defp lies do
    {names, records} = Enum.unzip(Lies.records())
    ends = Enum.scan(records, 0, &(byte_size(&1) + &2))

    places =
      for {record, last} <- Enum.zip(records, ends),
          do: {Guest.lie() + last - byte_size(record), byte_size(record)}

    host = host(fault: "(i64.load (i32.const #{Guest.document()}))", always: true, data: Enum.join(records))

    outside = for place <- Lies.places(), do: {inspect(place), place}

    for {name, {address, length}} <- Enum.zip(names, places) ++ outside do
      {"lie: #{name}", host, decoding(host, <<Guest.record(address, length)::64-little>>)}
    end
  end

  defp records do
    for {name, record} <- Lies.encode_records(),
        host = host(always: true, data: record),
        do: {"lie: #{name}", host, encoding(host, [self()])}
  end

  # The module returns the same hole for each part.
  defp holes do
    host = host(always: true, data: @root)
    fragment = Fragment.new(&Encode.value([1], &1))

    for term <- [[1], %{"a" => [1]}, {1}, ~D[2024-02-29], MapSet.new([1]), fragment],
        do: {"the same hole", host, encoding(host, term)}
  end

  defp long do
    path = long(<<0, 2, 0::64-little, 1::64-little, 1::64-little>>)

    encoded = [
      text: <<1>>,
      text_with_hole: <<2, 1::32-little, 0::32-little, 6::32-little, 1::32-little>>,
      holes: <<2, 500_000::32-little>>,
      path: <<0, Codes.encode(:max_depth), @long::32-little>>,
      payload: <<0, Codes.encode(:invalid_utf8), 0::32-little>>
    ]

    longer =
      for {name, start} <- encoded,
          host = long(start),
          do: {"a long answer: #{name}", host, encoding(host, [self()])}

    [{"a long answer: path of decode", path, decoding(path, "!!")} | longer]
  end

  defp long(start) do
    fault = "(i64.const #{Guest.record(Guest.lie(), @long)})"
    host(always: true, data: start, fault: fault, memory: div(@long + @page, @page) + 1)
  end

  defp formatter do
    host = host(data: <<1, "12345678901">>, always: true)
    options = Options.laid_out(options(:encode, host), {"", "", "", ""}, {0, 1024, 10})
    {"a text longer than max_bytes", host, fn -> options.engine.format("[1]", options) end}
  end

  defp decoding(host, json) do
    options = options(:decode, host)
    fn -> options.engine.decode(json, options) end
  end

  defp encoding(host, term) do
    options = options(:encode, host)
    fn -> Encode.Text.encode(term, options) end
  end

  defp options(direction, host) do
    options = apply(Options, direction, [@options])
    %{options | sandbox: Map.put(options.sandbox, :other, host)}
  end

  defp host(options) do
    {:ok, host} = Nif.load(Guest.wasm(options), @instances)
    host
  end
end

defmodule Soak.Attacker do
  @moduledoc "Calls the modules that misbehave. Each call must end in a SandboxError within twice its timeout."

  alias RustyJson.SandboxError
  alias Soak.{Guests, Histogram}

  @reasons [:trap, :timeout, :memory_limit, :invalid_result, :busy]
  # The longest pause between two calls in milliseconds, and the pause as a multiple of the last call. A loop takes a scheduler for its
  # whole timeout, and good documents need schedulers too.
  @pause 20
  @times 10

  def start(attacks, state), do: spawn_link(fn -> loop(0, attacks, state) end)

  defp loop(milliseconds, attacks, state) do
    receive do
      {:stop, from} -> send(from, {:stopped, self()})
    after
      @times * milliseconds + :rand.uniform(@pause) ->
        # Each kind is as likely as any other; there are many lies.
        {_kind, attacks_of} = Enum.random(attacks)
        attacks_of |> Enum.random() |> call(state) |> loop(attacks, state)
    end
  end

  @doc "The attacks by kind."
  def kinds(attacks), do: Enum.group_by(attacks, fn {name, _, _} -> hd(String.split(name, ":")) end)

  defp call({name, _host, attack}, state) do
    {time, outcome} = :timer.tc(attack)
    Histogram.add(state.times[{:guest, :fallen}], time)
    label = label(outcome)
    :ets.update_counter(state.table, {:guest, label}, 1, {{:guest, label}, 0})
    unless label in @reasons, do: wrong(state, "#{name}: #{inspect(outcome, limit: 5, printable_limit: 100)}")
    if time > 2_000 * Guests.timeout(), do: late(state, name, div(time, 1000))
    div(time, 1000)
  end

  defp label({:error, %SandboxError{reason: reason}}), do: reason
  defp label(_other), do: :wrong

  defp wrong(state, text), do: :ets.insert(state.table, {{:wrong, System.unique_integer()}, "guest, #{text}"})
  defp late(state, name, ms), do: :ets.insert(state.table, {{:late, System.unique_integer()}, {ms, name}})
end
