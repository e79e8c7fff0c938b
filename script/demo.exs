# The program behind script/demo.
#
# It runs every document in every available engine and host, and in the other JSON libraries. The engines must agree; then
# each is timed relative to the VM's own external term format.

Code.require_file("../bench/support/documents.ex", __DIR__)

defmodule Demo.Codecs do
  @moduledoc "The codecs as `{name, decode, encode}`, and why others are missing."

  @compile {:no_warn_undefined, [Jason, :json, :jiffy]}

  @hosts [built_in: "wasm (built-in)", wasmex: "wasm (wasmex)"]

  # The files are the user's own, so large ones must not exceed the limits for untrusted input.
  @wide [timeout: 600_000, max_memory: 2_147_418_112]

  def ours do
    engines = [
      {"native", [engine: :native]}
      | for({host, name} <- @hosts, do: {name, [engine: :wasm, host: host] ++ @wide})
    ]

    {there, missing} =
      engines
      |> Enum.map(fn {name, opts} -> {name, opts, failure(opts)} end)
      |> Enum.split_with(&match?({_, _, nil}, &1))

    {for({name, opts, nil} <- there, do: {name, &RustyJson.decode!(&1, opts), &RustyJson.encode!(&1, opts)}),
     for({name, _, reason} <- missing, do: {name, reason})}
  end

  defp failure(opts) do
    [] = RustyJson.decode!("[]", opts)
    nil
  rescue
    error in [RustyJson.EngineError, RustyJson.SandboxError] -> Exception.message(error)
  end

  def others do
    for {name, module, decode, encode} <- [
          {"Jason", Jason, &Jason.decode!/1, &Jason.encode!/1},
          {"OTP json", :json, &:json.decode/1, &otp_encode/1},
          {"jiffy", :jiffy, &:jiffy.decode(&1, [:return_maps, :use_nil]), &:jiffy.encode(&1, [:use_nil])}
        ],
        Code.ensure_loaded?(module),
        do: {name, decode, encode}
  end

  # In Elixir null is nil, but the module knows only the atom null.
  defp otp_encode(term) do
    encoder = fn
      nil, _ -> "null"
      value, encoder -> :json.encode_value(value, encoder)
    end

    IO.iodata_to_binary(:json.encode(term, encoder))
  end
end

defmodule Demo.Clock do
  @moduledoc "Best time of many runs, in a new process without garbage of others."

  @budget_ms 250

  def best(fun) do
    stop = System.monotonic_time(:millisecond) + @budget_ms
    parent = self()

    {pid, ref} =
      :erlang.spawn_opt(fn -> send(parent, {self(), loop(fun, stop, :infinity, 0)}) end, [
        :monitor,
        min_heap_size: 500_000
      ])

    receive do
      {^pid, best} ->
        Process.demonitor(ref, [:flush])
        best

      {:DOWN, ^ref, _, _, reason} ->
        raise "a timed run died: #{inspect(reason)}"
    end
  end

  defp loop(fun, stop, best, runs) do
    calls = if is_integer(best) and best < 100_000, do: max(div(200_000, max(best, 100)), 1), else: 1
    start = System.monotonic_time(:nanosecond)
    repeat(fun, calls)
    time = div(System.monotonic_time(:nanosecond) - start, calls)
    best = min(best, time)
    more? = runs < 3 or System.monotonic_time(:millisecond) < stop
    if more?, do: loop(fun, stop, best, runs + 1), else: best
  end

  defp repeat(_fun, 0), do: :ok

  defp repeat(fun, n) do
    fun.()
    repeat(fun, n - 1)
  end
end

defmodule Demo.Table do
  @moduledoc "The figures, in 98 columns."

  def head do
    line = "  codec            decode   MB/s  ×b2t  vs native    encode   MB/s  ×t2b  vs native"
    IO.puts("\n" <> line <> "\n  " <> String.duplicate("─", 82))
  end

  def document(name, bytes, b2t, t2b) do
    IO.puts("#{name}, #{size(bytes)}   (binary_to_term #{time(b2t)}, term_to_binary #{time(t2b)})")
  end

  def row(name, bytes, {decode, encode}, {b2t, t2b}, {decode0, encode0}) do
    cells = side(bytes, decode, b2t, decode0) <> "  " <> side(bytes, encode, t2b, encode0)
    IO.puts("  " <> String.pad_trailing(name, 16) <> cells)
  end

  defp side(bytes, time, yardstick, first) do
    String.pad_leading(time(time), 8) <>
      String.pad_leading(Integer.to_string(round(bytes * 1000 / time)), 6) <>
      String.pad_leading(ratio(time / yardstick), 7) <>
      String.pad_leading(if(time == first, do: "–", else: ratio(time / first) <> "×"), 9)
  end

  def time(ns) when ns < 10_000, do: "#{round2(ns / 1000)} µs"
  def time(ns) when ns < 1_000_000, do: "#{round(ns / 1000)} µs"
  def time(ns), do: "#{round2(ns / 1_000_000)} ms"

  def size(bytes) when bytes < 1_000, do: "#{bytes} B"
  def size(bytes) when bytes < 1_000_000, do: "#{round(bytes / 1000)} KB"
  def size(bytes), do: "#{round2(bytes / 1_000_000)} MB"

  defp ratio(x), do: :erlang.float_to_binary(x, decimals: if(x < 10, do: 2, else: 1))
  defp round2(x), do: :erlang.float_to_binary(x * 1.0, decimals: if(x < 10, do: 2, else: 1))
end

defmodule Demo.Documents do
  @moduledoc "The documents: the given files, or the samples, generated documents and the public ones."

  @standard ~w(canada.json citm_catalog.json twitter.json github_events.json)

  def list([]), do: samples() ++ generated() ++ corpus()
  def list(files), do: for(file <- files, do: {Path.basename(file), File.read!(file)})

  defp samples do
    for file <- Path.wildcard(Path.join(__DIR__, "samples/*.json")),
        do: {Path.basename(file), File.read!(file)}
  end

  defp generated do
    for {name, make} <- RustyJson.Bench.Documents.all(), name in ~w(records_10k object_35b) do
      {name <> " (generated)", make.()}
    end
  end

  defp corpus do
    case System.get_env("RUSTYJSON_CORPUS") do
      dir when dir in [nil, ""] ->
        []

      dir ->
        for file <- Path.wildcard(Path.join(dir, "**/*.json")), Path.basename(file) in @standard do
          {Path.basename(file), File.read!(file)}
        end
    end
  end
end

defmodule Demo.Hostile do
  @moduledoc "One document that exceeds the limits."

  def run(host) do
    document = "[" <> String.duplicate(~s({"a":[[],{}]},), 2_000_000) <> "0]"
    IO.puts("\nA hostile document: #{Demo.Table.size(byte_size(document))} of small containers")

    show("timeout: 50 ms", document, timeout: 50, host: host)
    show("max_memory: 64 MB", document, max_memory: 64 * 1024 * 1024, host: host)

    {:ok, [1, 2]} = RustyJson.decode("[1,2]", engine: :wasm, host: host)
    IO.puts("  afterwards: the VM still runs (up #{uptime()} s), and the next document decodes")
  end

  defp show(limit, document, opts) do
    start = System.monotonic_time(:millisecond)

    text =
      case RustyJson.decode(document, [engine: :wasm] ++ opts) do
        {:error, %RustyJson.SandboxError{} = error} ->
          "stopped, #{inspect(error.reason)}: #{Exception.message(error)}"

        other ->
          raise "the sandbox did not stop it: #{inspect(other, limit: 5, printable_limit: 50)}"
      end

    took = System.monotonic_time(:millisecond) - start
    IO.puts("  #{String.pad_trailing(limit <> ":", 19)} after #{took} ms #{text}")
  end

  defp uptime, do: div(elem(:erlang.statistics(:wall_clock), 0), 1000)
end

defmodule Demo do
  @moduledoc false

  def main(files) do
    check_files(files)
    {ours, missing} = Demo.Codecs.ours()
    if ours == [], do: raise(RustyJson.EngineError)
    others = Demo.Codecs.others()

    IO.puts(
      "RustyJson on Elixir #{System.version()}, OTP #{System.otp_release()}; engine: #{RustyJson.engine()}"
    )

    IO.puts("Other libraries: #{if others == [], do: "none installed", else: names(others)}")
    for {name, reason} <- missing, do: IO.puts("Not available: #{name}: #{reason}")

    Demo.Table.head()
    Enum.each(Demo.Documents.list(files), &document(&1, ours, others))
    IO.puts("\nFor each document, #{names(ours)} gave the same term and the same bytes.")
    sandbox(ours)
  end

  defp names(codecs), do: Enum.map_join(codecs, ", ", &elem(&1, 0))

  # Report an invalid file before measuring anything. One that exceeds the limits of the sandbox may be shown all the same.
  defp check_files(files) do
    for file <- files, {:error, %RustyJson.DecodeError{} = error} <- [RustyJson.decode(File.read!(file))] do
      IO.puts(:stderr, "#{file}:#{error.line}:#{error.column}: #{Exception.message(error)}")
      System.halt(1)
    end
  end

  defp document({name, json}, ours, others) do
    term = agreed(name, json, ours)
    binary = :erlang.term_to_binary(term)
    b2t = Demo.Clock.best(fn -> :erlang.binary_to_term(binary) end)
    t2b = Demo.Clock.best(fn -> :erlang.term_to_binary(term) end)
    Demo.Table.document(name, byte_size(json), b2t, t2b)

    for {name, decode, encode} <- ours ++ others, reduce: nil do
      first ->
        times = {Demo.Clock.best(fn -> decode.(json) end), Demo.Clock.best(fn -> encode.(term) end)}
        Demo.Table.row(name, byte_size(json), times, {b2t, t2b}, first || times)
        first || times
    end
  rescue
    error in RustyJson.SandboxError -> IO.puts("#{name}: not shown, #{Exception.message(error)}")
  end

  defp agreed(name, json, [{_, decode, encode} | rest]) do
    term = decode.(json)
    text = encode.(term)

    for {other, decode, encode} <- rest do
      decode.(json) === term || raise "#{name}: #{other} decodes a different term"
      encode.(term) === text || raise "#{name}: #{other} encodes different bytes"
    end

    term
  end

  defp sandbox(ours) do
    case List.keyfind(ours, "wasm (built-in)", 0) || List.keyfind(ours, "wasm (wasmex)", 0) do
      nil -> IO.puts("\nNo host for the wasm engine is available, so the sandbox is not shown.")
      {"wasm (built-in)", _, _} -> Demo.Hostile.run(:built_in)
      {"wasm (wasmex)", _, _} -> Demo.Hostile.run(:wasmex)
    end
  end
end

Demo.main(System.argv())
