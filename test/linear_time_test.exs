defmodule RustyJson.LinearTimeTest do
  @moduledoc """
  Time grows in proportion to size, for documents that are cheap to send and have been dear to read elsewhere.

  The exponent of a power law is fitted to the best of several runs at each size. Small sizes are left out, for a fixed cost
  makes them look better than they are. Where the system tells it (Linux), time is the processor's, for a clock also counts the
  work of others. On a busy machine the best comes late all the same: there are more tries, and each adds to what the ones
  before have found. A quadratic parser, at an exponent of 2, fails them all.
  """

  use ExUnit.Case, async: false

  alias RustyJson.Test.Judge

  @moduletag timeout: 300_000

  @sizes [200_000, 800_000, 3_200_000, 10_000_000]
  @runs 2
  @tries 8
  @exponent 1.3

  # Each gives a text of about `size` bytes; accepted or not does not matter.
  @families [
    {"numbers", :numbers, []},
    {"short strings", :strings, []},
    {"many escapes", :escapes, []},
    {"many \\u escapes", :unicode, []},
    {"text beyond ASCII", :utf8, []},
    {"one key again and again", :duplicates, []},
    {"one key again and again, an error", :duplicates, [duplicate_keys: :error]},
    {"many keys in one object", :wide, []},
    {"many keys, each twice, first", :twice, [duplicate_keys: :first]},
    {"keys that differ only in the middle", :middle, []},
    {"like records", :records, []},
    {"empty containers", :empties, []},
    {"white space", :spaces, []},
    {"only opening brackets", :brackets, []},
    {"only opening brackets, no limit of depth", :brackets, [max_depth: :infinity]},
    {"arrays in arrays", :deep, [max_depth: :infinity]},
    {"objects in objects", :deep_objects, [max_depth: :infinity]},
    {"an endless \\u", :cut_unicode, []},
    {"an endless number", :digits, []},
    {"an endless fraction", :fraction, []},
    {"an endless exponent", :exponent, []},
    {"an endless string", :cut_string, []},
    {"backslashes", :backslashes, []},
    {"an error at the end", :late_error, []},
    {"an error deep down", :deep_error, [max_depth: :infinity]}
  ]

  for {engine, chosen} <- Judge.engines(), {name, family, options} <- @families do
    @tag family: family, options: options ++ chosen
    test "#{engine}: #{name}", %{family: family, options: options} do
      texts = for size <- @sizes, do: text(family, size)

      assert_linear(fn ->
        for text <- texts, do: {byte_size(text), best(fn -> RustyJson.decode(text, options) end)}
      end)
    end
  end

  for {engine, chosen} <- Judge.engines() do
    @tag options: chosen
    test "#{engine}: D(n) for n to 60", %{options: options} do
      texts = for n <- 1..60, do: nest(n)
      for text <- texts, do: assert({:ok, _} = RustyJson.decode(text, options))

      assert_linear(fn ->
        for n <- [15, 25, 40, 60] do
          text = nest(n)
          {byte_size(text), best(fn -> for _ <- 1..200, do: RustyJson.decode(text, options) end)}
        end
      end)
    end

    @tag options: chosen
    test "#{engine}: encoding", %{options: options} do
      options =
        [max_depth: :infinity] ++
          if(options[:engine] == :wasm, do: [max_memory: 2_000_000_000], else: []) ++ options

      for family <- [:numbers, :strings, :escapes, :utf8, :wide, :records, :deep] do
        terms = for size <- sizes(family), do: {size, RustyJson.decode!(text(family, size), options)}

        assert_linear(fn ->
          for {size, term} <- terms, do: {size, best(fn -> RustyJson.encode(term, options) end)}
        end)
      end
    end

    @tag options: chosen
    test "#{engine}: big integers at the default limit", %{options: options} do
      number = String.duplicate("9", 1024)

      texts =
        for count <- [100, 400, 1600, 6400],
            do: "[" <> Enum.map_join(1..count, ",", fn _ -> number end) <> "]"

      assert_linear(fn ->
        for text <- texts, do: {byte_size(text), best(fn -> RustyJson.decode(text, options) end)}
      end)
    end
  end

  # Lists this deep are done within a slice of a scheduler. Deeper ones start over on another, where their stack is memory
  # that comes page by page: 732 µs at 100 KB, 1,480 at 200 KB, 7,616 at 400 KB (two cores under load). That is a step, and
  # a fit across it says nothing of the walk.
  defp sizes(:deep), do: [25_000, 50_000, 100_000]
  defp sizes(_family), do: @sizes

  # D(0) = 1, D(n) = [{"a":0,"b":1},{"a":D(n-1),"c":1}]: a parser that tries again on a miss doubles its work per level.
  defp nest(0), do: "1"
  defp nest(n), do: ~s([{"a":0,"b":1},{"a":) <> nest(n - 1) <> ~s(,"c":1}])

  defp assert_linear(measure, tries \\ @tries, before \\ nil) do
    points = better(measure.(), before)
    exponent = fit(points)

    cond do
      exponent <= @exponent -> :ok
      tries > 1 -> assert_linear(measure, tries - 1, points)
      true -> flunk("time grows as size^#{Float.round(exponent, 2)}: #{inspect(points)} (bytes, µs)")
    end
  end

  defp better(points, nil), do: points

  defp better(points, before),
    do: for({{size, a}, {size, b}} <- Enum.zip(points, before), do: {size, min(a, b)})

  # In a process of its own, so that no run pays for the garbage of another.
  defp best(fun) do
    Enum.min(for _ <- 1..@runs, do: Task.await(Task.async(fn -> time(fun) end), 120_000))
  end

  defp time(fun) do
    {before, clock} = {processor(), System.monotonic_time()}
    fun.()
    passed = System.convert_time_unit(System.monotonic_time() - clock, :native, :microsecond)
    if before, do: min(passed, div(processor() - before, 1000)), else: passed
  end

  # Nanoseconds that all threads of the VM have run.
  defp processor do
    case Path.wildcard("/proc/self/task/*/schedstat") do
      [] -> nil
      files -> files |> Enum.map(&thread/1) |> Enum.sum()
    end
  end

  # A thread may end in between.
  defp thread(file) do
    with {:ok, text} <- File.read(file),
         {nanoseconds, _} <- Integer.parse(text),
         do: nanoseconds,
         else: (_ -> 0)
  end

  # Least squares over the logarithms. Below 100 µs a clock says little: such points count as 100 µs.
  defp fit(points) do
    logs = for {size, time} <- points, do: {:math.log(size), :math.log(max(time, 100))}
    count = length(logs)
    mean_x = Enum.sum(Enum.map(logs, &elem(&1, 0))) / count
    mean_y = Enum.sum(Enum.map(logs, &elem(&1, 1))) / count

    Enum.sum(for {x, y} <- logs, do: (x - mean_x) * (y - mean_y)) /
      Enum.sum(for {x, _} <- logs, do: (x - mean_x) ** 2)
  end

  defp text(:numbers, size), do: list("-12.5e3", size)
  defp text(:strings, size), do: list(~S("a string"), size)
  defp text(:escapes, size), do: list(~S("a\n\"b\\"), size)
  defp text(:unicode, size), do: list(~S("\u00e9\uD83D\uDE00"), size)
  defp text(:utf8, size), do: list(~S("é漢😀"), size)
  defp text(:duplicates, size), do: object(size, 8, fn _ -> ~S("key":1) end)
  defp text(:wide, size), do: object(size, 16, &~s("key#{&1 + 1_000_000}":1))
  defp text(:twice, size), do: object(size, 16, &~s("key#{div(&1, 2) + 1_000_000}":1))
  defp text(:middle, size), do: object(size, 36, &~s("aaaaaaaaaaaa#{&1 + 1_000_000}bbbbbbbbbbb":1))
  defp text(:records, size), do: list(~S({"id":1,"name":"x","tags":[1,2],"ok":true}), size)
  defp text(:empties, size), do: list("[{},[]]", size)
  defp text(:spaces, size), do: String.duplicate(" \n\t\r", div(size, 4)) <> "1"
  defp text(:brackets, size), do: String.duplicate("[", size)
  defp text(:deep, size), do: String.duplicate("[", div(size, 2)) <> String.duplicate("]", div(size, 2))

  defp text(:deep_objects, size),
    do: String.duplicate(~S({"a":), div(size, 6)) <> "1" <> String.duplicate("}", div(size, 6))

  defp text(:cut_unicode, size), do: String.duplicate("\"\\u", div(size, 3))
  defp text(:digits, size), do: String.duplicate("1", size)
  defp text(:fraction, size), do: "0." <> String.duplicate("3", size)
  defp text(:exponent, size), do: "1e-" <> String.duplicate("9", size)
  defp text(:cut_string, size), do: "\"" <> String.duplicate("a", size)
  defp text(:backslashes, size), do: "\"" <> String.duplicate("\\\\", div(size, 2)) <> "\""
  defp text(:late_error, size), do: String.trim_trailing(list("1", size), "]") <> "}"
  defp text(:deep_error, size), do: String.duplicate(~S([{"a":), div(size, 7)) <> "x"

  defp list(element, size) do
    "[" <> String.duplicate(element <> ",", div(size, byte_size(element) + 1)) <> element <> "]"
  end

  defp object(size, member, fun) do
    "{" <> Enum.map_join(1..div(size, member), ",", fun) <> "}"
  end
end
