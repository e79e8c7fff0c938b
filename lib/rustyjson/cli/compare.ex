defmodule RustyJson.CLI.Compare do
  @moduledoc false
  # The work of `mix rustyjson.compare`.

  alias RustyJson.CLI.{Input, Progress, Settings}
  alias RustyJson.Encoder.Interop

  @compile {:no_warn_undefined, [Jason, JSON, :json]}

  # Shorter calls are measured several at a time, in nanoseconds.
  @shortest 1_000_000
  # The confidence of a range: 1.96 standard deviations of a rank.
  @deviations 1.96

  @typep contender :: %{name: String.t(), decode: (binary() -> term()), encode: (term() -> iodata())}
  @typep direction :: :decode | :encode

  @doc "Prints a table for each file; gives the exit code."
  @spec run([Path.t()], [direction()], pos_integer()) :: 0 | 1 | 3
  def run(files, directions, time) do
    {:ok, _} = Application.ensure_all_started(:rustyjson)
    contenders = contenders()
    IO.puts(about(contenders))
    files |> Enum.map(&file(&1, contenders, directions, time)) |> Enum.max()
  end

  ## Libraries

  @spec contenders() :: [contender(), ...]
  defp contenders, do: jason() ++ elixir() ++ otp() ++ engines()

  defp jason do
    if Code.ensure_loaded?(Jason),
      do: [
        %{
          name:
            String.trim("Jason #{version(:jason)}") <> if(Interop.standin?(), do: " (stand-in)", else: ""),
          decode: &Jason.decode!/1,
          encode: &Jason.encode_to_iodata!/1
        }
      ],
      else: []
  end

  defp elixir do
    if Code.ensure_loaded?(JSON),
      do: [
        %{
          name: "JSON (Elixir #{System.version()})",
          decode: &JSON.decode!/1,
          encode: &JSON.encode_to_iodata!/1
        }
      ],
      else: []
  end

  # Elixir's JSON is OTP's with another null.
  defp otp do
    if Code.ensure_loaded?(:json) and not Code.ensure_loaded?(JSON),
      do: [%{name: "json (OTP #{System.otp_release()})", decode: &:json.decode/1, encode: &:json.encode/1}],
      else: []
  end

  # Before terms are compared.
  defp with_nil(:null), do: nil
  defp with_nil(list) when is_list(list), do: Enum.map(list, &with_nil/1)
  defp with_nil(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, with_nil(value)} end)
  defp with_nil(value), do: value

  defp engines do
    for {engine, {:ok, _info}} <- RustyJson.Engine.statuses() do
      decode = Settings.limited(:decode) ++ [engine: engine]
      encode = Settings.limited(:encode) ++ [engine: engine]

      %{
        name: "RustyJson #{version(:rustyjson)}, #{engine}",
        decode: &RustyJson.decode!(&1, decode),
        encode: &RustyJson.encode_to_iodata!(&1, encode)
      }
    end
  end

  # The stand-in and the real package have the same application.
  defp version(app) do
    case Application.spec(app, :vsn) do
      nil -> ""
      version -> to_string(version)
    end
  end

  defp about(contenders) do
    missing =
      for {name, false} <- [{"Jason", Code.ensure_loaded?(Jason)}, {"JSON", Code.ensure_loaded?(JSON)}],
          do: name

    engines = for {engine, {:error, why}} <- RustyJson.Engine.statuses(), do: "RustyJson, #{engine}: #{why}"

    Enum.join(
      [
        "Elixir #{System.version()}, OTP #{System.otp_release()}, #{System.schedulers_online()} schedulers",
        "compared: " <> Enum.map_join(contenders, "; ", & &1.name)
      ] ++
        if(missing == [], do: [], else: ["not loaded: " <> Enum.join(missing, ", ")]) ++
        engines,
      "\n"
    )
  end

  ## One file

  defp file(file, contenders, directions, time) do
    with {:ok, text} <- Input.read(file, false), {:ok, documents} <- documents(file, text) do
      directions |> Enum.map(&table(&1, file, documents, contenders, time)) |> Enum.max()
    else
      {:error, text} ->
        IO.puts(:stderr, text)
        3
    end
  end

  defp documents(file, text) do
    name = String.replace_suffix(file, ".gz", "")

    documents =
      if Path.extname(name) in [".ndjson", ".jsonl"],
        do: for(line <- :binary.split(text, "\n", [:global]), String.trim(line) != "", do: line),
        else: [text]

    if documents == [], do: {:error, "#{file}: has no document"}, else: {:ok, documents}
  end

  defp table(direction, file, documents, contenders, time) do
    rows = for contender <- contenders, do: {contender.name, row(direction, documents, contender, time)}
    {_name, first} = List.first(rows)
    lines = for {name, row} <- rows, do: [name | cells(row, first, direction)]
    bytes = documents |> Enum.map(&byte_size/1) |> Enum.sum()
    count = if match?([_, _ | _], documents), do: ", #{length(documents)} documents", else: ""

    IO.puts("\n#{direction} #{file} (#{Progress.size(bytes)}#{count})")
    IO.puts(laid_out([["", "median", "95 % range", "speed", "memory", "result"] | lines]))

    if Enum.all?(rows, fn {_name, row} -> same(row, first, direction) in [:first, :equal, :order] end),
      do: 0,
      else: 1
  end

  # In a process of its own, which gets the documents as the request of a client would bring them.
  defp row(direction, documents, contender, time) do
    task = Task.async(fn -> measured(direction, documents, contender, time) end)
    Task.await(task, :infinity)
  end

  defp measured(:decode, documents, %{decode: decode}, time) do
    with {:ok, result} <- attempt(fn -> Enum.map(documents, decode) end),
         do: {:ok, with_nil(result), figures(documents, decode, time)}
  end

  defp measured(:encode, documents, %{decode: decode, encode: encode}, time) do
    with {:ok, terms} <- decoded(documents, decode),
         {:ok, result} <- attempt(fn -> Enum.map(terms, &IO.iodata_to_binary(encode.(&1))) end),
         do: {:ok, result, figures(terms, encode, time)}
  end

  # The table of decoding says why.
  defp decoded(documents, decode) do
    with {:error, _text} <- attempt(fn -> Enum.map(documents, decode) end), do: {:error, "not decoded"}
  end

  defp attempt(fun) do
    {:ok, fun.()}
  rescue
    error -> {:error, error |> Exception.message() |> String.split("\n") |> hd() |> String.slice(0, 100)}
  end

  ## Figures

  defp figures(inputs, fun, time) do
    call = fn -> Enum.each(inputs, fun) end
    many = many(call, 1)
    until = System.monotonic_time(:millisecond) + time
    call |> samples(many, until, []) |> Map.put(:memory, memory(inputs, fun))
  end

  # How often a call is repeated in one sample. This warms it up, too.
  defp many(call, count) do
    if timed(call, count) >= @shortest, do: count, else: many(call, 2 * count)
  end

  defp timed(call, count) do
    start = System.monotonic_time(:nanosecond)
    repeated(call, count)
    System.monotonic_time(:nanosecond) - start
  end

  # At least five, however long a call takes.
  defp samples(call, many, until, times) do
    times = [timed(call, many) / many / 1_000 | times]

    if length(times) >= 5 and System.monotonic_time(:millisecond) >= until,
      do: summary(Enum.sort(times)),
      else: samples(call, many, until, times)
  end

  defp repeated(_call, 0), do: :ok

  defp repeated(call, left) do
    call.()
    repeated(call, left - 1)
  end

  # The ranks between which the median of all possible calls lies.
  defp summary(times) do
    count = length(times)
    away = @deviations * :math.sqrt(count) / 2
    low = max(0, floor(count / 2 - away))
    high = min(count - 1, ceil(count / 2 + away))
    %{median: Enum.at(times, div(count, 2)), low: Enum.at(times, low), high: Enum.at(times, high)}
  end

  # The heap of a fresh process with all results, and binaries it refers to.
  defp memory(inputs, fun) do
    parent = self()

    {pid, monitor} =
      spawn_monitor(fn ->
        Process.flag(:min_heap_size, 233)
        # A collection would otherwise take them out of the sum.
        Process.put(:inputs, inputs)
        before = size()
        Process.put(:results, Enum.map(inputs, fun))
        send(parent, {:memory, self(), max(0, size() - before)})
      end)

    receive do
      {:memory, ^pid, bytes} ->
        Process.demonitor(monitor, [:flush])
        bytes

      {:DOWN, ^monitor, :process, ^pid, _reason} ->
        0
    end
  end

  defp size do
    [total_heap_size: words, binary: binaries] = Process.info(self(), [:total_heap_size, :binary])
    words * :erlang.system_info(:wordsize) + (for({_, bytes, _} <- binaries, do: bytes) |> Enum.sum())
  end

  ## The table

  defp cells({:error, text}, _first, _direction), do: ["-", "-", "-", "-", text]

  defp cells({:ok, _result, figures} = row, first, direction) do
    [
      duration(figures.median),
      "#{duration(figures.low)} – #{duration(figures.high)}",
      speed(figures, first),
      Progress.size(figures.memory),
      words(same(row, first, direction))
    ]
  end

  defp speed(figures, {:ok, _result, first}) do
    cond do
      figures == first ->
        "1.0x"

      figures.low > first.high or figures.high < first.low ->
        times(first.median / figures.median)

      true ->
        "~"
    end
  end

  defp speed(_figures, _failed), do: "-"

  defp times(factor), do: "#{Float.round(factor, if(factor < 1, do: 2, else: 1))}x"

  defp same(row, row, _direction), do: if(match?({:ok, _, _}, row), do: :first, else: :failed)
  defp same({:ok, result, _}, {:ok, result, _}, _direction), do: :equal

  defp same({:ok, texts, _}, {:ok, others, _}, :encode),
    do: if(terms(texts) == terms(others), do: :order, else: :other)

  defp same({:ok, _, _}, {:ok, _, _}, :decode), do: :other
  defp same(_row, _first, _direction), do: :failed

  defp terms(texts), do: Enum.map(texts, &RustyJson.decode!(&1, Settings.limited(:decode)))

  defp words(:first), do: ""
  defp words(:equal), do: "equal"
  defp words(:order), do: "equal but for the order of members"
  defp words(:other), do: "NOT EQUAL"
  defp words(:failed), do: "the first library failed"

  defp duration(us) when us < 1_000, do: "#{decimals(us)} µs"
  defp duration(us) when us < 1_000_000, do: "#{decimals(us / 1_000)} ms"
  defp duration(us), do: "#{decimals(us / 1_000_000)} s"

  # Three digits that count.
  defp decimals(number) when number >= 100, do: "#{round(number)}"
  defp decimals(number) when number >= 10, do: :erlang.float_to_binary(number * 1.0, decimals: 1)
  defp decimals(number), do: :erlang.float_to_binary(number * 1.0, decimals: 2)

  defp laid_out(rows) do
    widths =
      rows
      |> Enum.zip_with(& &1)
      |> Enum.map(fn cells -> cells |> Enum.map(&String.length/1) |> Enum.max() end)

    Enum.map_join(rows, "\n", fn [name | cells] ->
      [width | widths] = widths
      last = length(cells) - 1

      cells =
        for {{cell, width}, n} <- Enum.with_index(Enum.zip(cells, widths)),
            do: if(n == last, do: cell, else: String.pad_leading(cell, width))

      String.trim_trailing("  " <> String.pad_trailing(name, width) <> "  " <> Enum.join(cells, "  "))
    end)
  end
end
