# Resident memory while a large stream passes through the VM:
#   mix run script/soak.d/streams.exs lines|array|rows [ENGINE] [MEGABYTES]
# `lines` and `array` decode a file of that size (default 1000), which is made in the folder of temporary files first; `rows` encodes
# 10,000,000 rows. Prints 20 samples; fails if resident memory grows by more than 32 MB after the first tenth.
# TMPDIR chooses the folder.

defmodule Soak.Streams do
  @moduledoc false

  @block 5_000
  @rows 10_000_000
  @growth_mb 32

  def main([what]), do: main([what, "native"])
  def main([what, engine]), do: main([what, engine, "1000"])

  def main([what, engine, megabytes]) do
    engine = [engine: String.to_existing_atom(engine)]
    {:ok, _} = RustyJson.decode("[1]", engine)
    {items, total} = source(what, engine, String.to_integer(megabytes) * 1_000_000)
    start = System.monotonic_time(:millisecond)
    IO.puts("#{what}, #{inspect(engine)}: RSS #{rss()} MB before")
    samples = sampled(items, total)
    seconds = (System.monotonic_time(:millisecond) - start) / 1000
    verdict(samples, seconds)
  end

  # Enumerables of numbers that add up to the total.
  defp source("rows", engine, _size) do
    rows = Stream.map(1..@rows, &row/1)
    pieces = RustyJson.encode_stream(rows, engine)
    {Stream.map(pieces, &rows/1), @rows}
  end

  defp source(what, engine, size) do
    {path, count} = make(what, size)
    format = if what == "lines", do: :lines, else: :array
    rows = path |> pieces() |> RustyJson.decode_stream([format: format] ++ engine)
    {Stream.map(rows, fn %{"id" => _} -> 1 end), count}
  end

  # The older form prints a warning on Elixir 1.20.
  if Version.match?(System.version(), ">= 1.16.0"),
    do: defp(pieces(path), do: File.stream!(path, 65_536)),
    else: defp(pieces(path), do: File.stream!(path, [], 65_536))

  # Rows of a piece. Pieces end between rows.
  defp rows(piece), do: length(:binary.matches(piece, ~s("id":)))

  defp row(i), do: %{id: i, name: "name #{i}", text: String.duplicate("x", 150)}

  defp make(what, size) do
    path = Path.join(System.tmp_dir!(), "rustyjson-soak-#{what}.json")
    block = for i <- 1..@block, do: RustyJson.encode!(row(i))
    between = if what == "lines", do: "\n", else: ","
    text = Enum.join(block, between)
    blocks = div(size, byte_size(text)) + 1

    File.open!(path, [:write, :raw], fn file ->
      if what == "array", do: IO.binwrite(file, "[")
      for n <- 1..blocks, do: IO.binwrite(file, [if(n > 1, do: between, else: ""), text])
      if what == "array", do: IO.binwrite(file, "]")
    end)

    IO.puts("#{path}: #{div(File.stat!(path).size, 1_000_000)} MB")
    {path, blocks * @block}
  end

  defp sampled(items, total) do
    step = div(total, 20)

    {done, _next, samples} =
      Enum.reduce(items, {0, step, []}, fn n, {done, next, samples} ->
        if done + n >= next,
          do: {done + n, next + step, [sample(done + n, total) | samples]},
          else: {done + n, next, samples}
      end)

    if done != total, do: raise("#{done} rows, expected #{total}")
    Enum.reverse(samples)
  end

  defp sample(done, total) do
    rss = rss()
    binaries = Float.round(:erlang.memory(:binary) / 1_048_576, 1)
    IO.puts("#{String.pad_leading("#{div(100 * done, total)}", 4)} %  RSS #{rss} MB, binaries #{binaries} MB")
    rss
  end

  defp rss do
    text = File.read!("/proc/self/status")
    ~r/VmRSS:\s+(\d+)/ |> Regex.run(text) |> Enum.at(1) |> String.to_integer() |> div(1024)
  end

  defp verdict(samples, seconds) do
    [_, second | _] = samples
    most = Enum.max(samples)
    IO.puts("#{Float.round(seconds, 1)} s; RSS #{Enum.min(samples)} to #{most} MB")
    if most > second + @growth_mb, do: raise("memory grew by #{most - second} MB after the first tenth")
    IO.puts("passed")
  end
end

Soak.Streams.main(System.argv())
