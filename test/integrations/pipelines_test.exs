defmodule RustyJson.PipelinesTest do
  @moduledoc "Flow, Broadway and FLAME share the lines of one file; docs/streams.md has the same code."

  use ExUnit.Case, async: true

  alias RustyJson.Lines
  alias RustyJson.Test.{Judge, Ranges}

  @moduletag :tmp_dir
  @compile {:no_warn_undefined, [Broadway, FLAME, FLAME.Pool, Flow]}

  @lines 2_000

  setup %{tmp_dir: dir} do
    path = Path.join(dir, "numbers.ndjson")
    File.write!(path, Enum.map(1..@lines, &"[#{&1}]\n"))
    {:ok, path: path}
  end

  unless Code.ensure_loaded?(Flow), do: @tag(skip: "Flow is not among the dependencies")

  test "Flow: ranges on all cores, grouped by a part of each value", %{path: path} do
    for {_name, engine} <- Judge.engines() do
      groups =
        path
        |> Lines.ranges(4 * System.schedulers_online())
        |> Flow.from_enumerable(max_demand: 1)
        |> Flow.flat_map(&Lines.stream(path, &1, [select: ["/0"]] ++ engine))
        |> Flow.partition(key: fn [n] -> rem(n, 10) end)
        |> Flow.reduce(fn -> %{} end, fn [n], counts -> Map.update(counts, rem(n, 10), 1, &(&1 + 1)) end)
        |> Enum.into(%{})

      single = path |> File.stream!() |> RustyJson.decode_stream(format: :lines)
      assert groups == Enum.frequencies_by(single, fn [n] -> rem(n, 10) end)
    end
  end

  unless Code.ensure_loaded?(FLAME), do: @tag(skip: "FLAME is not among the dependencies")

  test "FLAME: a runner for each range", %{path: path} do
    start_supervised!({FLAME.Pool, name: __MODULE__.Pool, backend: FLAME.LocalBackend, min: 0, max: 2})

    total =
      path
      |> Lines.ranges(6)
      |> Task.async_stream(
        fn range -> FLAME.call(__MODULE__.Pool, fn -> Ranges.sum(range, path) end, timeout: 60_000) end,
        max_concurrency: 2,
        timeout: :infinity
      )
      |> Enum.map(fn {:ok, result} -> result end)
      |> Ranges.total()

    assert total == {@lines, div(@lines * (@lines + 1), 2)}
  end

  if Code.ensure_loaded?(Broadway) do
    defmodule Producer do
      @moduledoc false
      use GenStage

      @impl true
      def init(opts), do: {:producer, {opts[:lines], opts[:caller]}}

      @impl true
      def handle_demand(demand, {lines, caller}) do
        {now, later} = Enum.split(lines, demand)
        acknowledger = {Broadway.CallerAcknowledger, {caller, :lines}, :line}
        messages = for line <- now, do: %Broadway.Message{data: line, acknowledger: acknowledger}
        {:noreply, messages, {later, caller}}
      end
    end

    defmodule Import do
      @moduledoc false
      use Broadway

      alias Broadway.Message

      # One call of the sandbox for many messages.
      @impl true
      def prepare_messages(messages, %{options: options}) do
        results = messages |> Enum.map(& &1.data) |> RustyJson.decode_many(options)
        for {message, result} <- Enum.zip(messages, results), do: Message.put_data(message, result)
      end

      @impl true
      def handle_message(_processor, %{data: {:ok, term}} = message, _context),
        do: Message.put_data(message, term)

      def handle_message(_processor, %{data: {:error, error}} = message, _context),
        do: Message.failed(message, error)
    end
  end

  @broadway (cond do
               not Code.ensure_loaded?(Broadway) -> "Broadway is not among the dependencies"
               not Judge.available?(:built_in) -> "the built-in host is missing"
               true -> nil
             end)
  if @broadway, do: @tag(skip: @broadway)

  test "Broadway: untrusted lines pass through the sandbox" do
    lines = for n <- 1..300, do: line(n)

    sandbox = [
      engine: :wasm,
      host: :built_in,
      timeout: 30_000,
      max_memory: 8 * 1_048_576,
      max_bytes: 8_000_000
    ]

    options = [
      name: __MODULE__.Pipeline,
      context: %{options: sandbox},
      producer: [module: {__MODULE__.Producer, lines: lines, caller: self()}, concurrency: 1],
      processors: [default: [concurrency: 2, max_demand: 25]]
    ]

    start_supervised!(%{id: Broadway, start: {Broadway, :start_link, [__MODULE__.Import, options]}})

    {good, failed} = acknowledged(length(lines), [], [])
    assert Enum.sort(good) == for(n <- 1..300, rem(n, 100) != 0, do: [n])

    assert Enum.frequencies(Enum.map(failed, & &1.reason)) == %{trailing_comma: 2, memory_limit: 1}
  end

  defp line(200), do: "[" <> String.duplicate("[],", 2_000_000) <> "0]"
  defp line(n) when rem(n, 100) == 0, do: "[#{n},]"
  defp line(n), do: "[#{n}]"

  defp acknowledged(0, good, failed), do: {good, failed}

  defp acknowledged(left, good, failed) do
    assert_receive {:ack, :lines, successful, unsuccessful}, 60_000
    good = Enum.map(successful, & &1.data) ++ good
    failed = for(%{status: {:failed, error}} <- unsuccessful, do: error) ++ failed
    acknowledged(left - length(successful) - length(unsuccessful), good, failed)
  end
end
