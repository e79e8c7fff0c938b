defmodule RustyJson.Bench.Sections.Streams do
  @moduledoc """
  Documents in pieces, each beside the call for the whole document. `RustyJson.Bench.Pairs` says how they are measured.
  """

  alias RustyJson.Bench.Pairs

  @compile {:no_warn_undefined, Jaxon.Stream}

  @engines [{"native", [engine: :native]}, {"built_in", [engine: :wasm, host: :built_in]}]
  @rows 20_000
  @chunk 65_536
  # How often the file that is shared among processes has all rows: 40 MB.
  @shared 10

  # RustyJson 0.3, which is compiled with this file too, has no schemas.
  if Code.ensure_loaded?(RustyJson.Schema) do
    defmodule Answer do
      @moduledoc false
      use RustyJson.Schema

      schema do
        field(:name, :string)
        field(:note, :string)
        field(:city, :string)
        field(:tags, [:string])
      end
    end
  end

  @spec run(map()) :: map()
  def run(context) do
    path = Path.join(System.tmp_dir!(), "rustyjson-bench-#{System.unique_integer([:positive])}.ndjson")
    rows = for i <- 1..if(context.test, do: 200, else: @rows), do: row(i)
    texts = Enum.map(rows, &RustyJson.encode!/1)
    lines = Enum.map(texts, &[&1, "\n"])
    File.write!(path, lines)
    large = path <> ".large"
    File.write!(large, List.duplicate(lines, if(context.test, do: 1, else: @shared)))

    try do
      for {engine, options} <- @engines,
          RustyJson.start_engine(Keyword.take(options, [:engine, :host])) == :ok,
          pair <-
            decoded(engine, options, path, texts) ++
              shared(engine, options, large) ++
              encoded(engine, options, rows) ++ others(engine, options, texts) do
        pair
      end
      |> Pairs.run("streams", "Documents in pieces", context)
    after
      Enum.each([path, large], &File.rm!/1)
    end
  end

  # About 200 bytes of JSON.
  defp row(i) do
    %{
      id: i,
      name: "name #{i}",
      email: "user#{i}@example.com",
      score: i / 7,
      active: rem(i, 2) == 0,
      city: "Paris",
      tags: ["a", "b"],
      note: String.duplicate("x", 60)
    }
  end

  # 85 % of the speed is 1.18 times the time.
  defp decoded(engine, options, path, texts) do
    array = "[" <> Enum.join(texts, ",") <> "]"
    whole = fn -> RustyJson.decode!(array, options) end
    goal = if engine == "native", do: 1.18
    chunks = for <<chunk::binary-size(@chunk) <- array>>, do: chunk
    rest = binary_part(array, length(chunks) * @chunk, byte_size(array) - length(chunks) * @chunk)
    chunks = chunks ++ [rest]

    each = fn line -> RustyJson.decode!(line, options) end

    [
      {"decode_stream of lines, #{engine}",
       fn -> path |> RustyJson.Lines.ranges(1) |> hd() |> lines(path, options) end, "decode/2 of an array",
       whole, goal},
      {"decode_stream of an array, #{engine}",
       fn ->
         chunks |> Stream.map(& &1) |> RustyJson.decode_stream([format: :array] ++ options) |> Stream.run()
       end, "decode/2", whole, goal},
      {"decode_stream of a place, #{engine}",
       fn -> chunks |> Stream.map(& &1) |> RustyJson.decode_stream([at: "/*"] ++ options) |> Stream.run() end,
       "decode/2", whole, goal},
      {"lines of 200 bytes, #{engine}",
       fn ->
         path
         |> pieces()
         |> RustyJson.decode_stream([format: :lines] ++ options)
         |> Stream.run()
       end, "File.stream! and decode!/2 of each",
       fn -> path |> File.stream!() |> Stream.map(each) |> Stream.run() end, if(engine == "native", do: 0.33)}
    ] ++ jaxon(chunks, engine, options)
  end

  # Another parser of streams, where it is among the packages.
  defp jaxon(chunks, engine, options) do
    if Code.ensure_loaded?(Jaxon.Stream) do
      [
        {"decode_stream of an array beside Jaxon, #{engine}",
         fn ->
           chunks |> Stream.map(& &1) |> RustyJson.decode_stream([format: :array] ++ options) |> Stream.run()
         end, "Jaxon.Stream",
         fn ->
           chunks
           |> Stream.map(& &1)
           |> Jaxon.Stream.from_enumerable()
           |> Jaxon.Stream.query([:root, :all])
           |> Stream.run()
         end, if(engine == "native", do: 0.2)}
      ]
    else
      []
    end
  end

  # The older form prints a warning at each call on Elixir 1.20.
  if Version.match?(System.version(), ">= 1.16.0"),
    do: defp(pieces(path), do: File.stream!(path, @chunk)),
    else: defp(pieces(path), do: File.stream!(path, [], @chunk))

  defp lines(range, path, options), do: path |> RustyJson.Lines.stream(range, options) |> Stream.run()

  defp cores, do: System.schedulers_online()

  # All ranges at once: see docs/streams.md.
  defp shared(engine, options, path) do
    [
      {"40 MB of lines on #{cores()} cores, #{engine}",
       fn -> path |> RustyJson.Lines.ranges(4 * cores()) |> at_once(path, options) end, "on one",
       fn -> path |> RustyJson.Lines.ranges(1) |> at_once(path, options) end,
       if(engine == "native" and cores() > 1, do: Float.round(1 / (0.8 * cores()), 2))}
    ]
  end

  defp at_once(ranges, path, options) do
    ranges
    |> Task.async_stream(&lines(&1, path, options), timeout: :infinity, max_concurrency: length(ranges))
    |> Stream.run()
  end

  # 90 % of the speed is 1.11 times the time.
  defp encoded(engine, options, rows) do
    whole = fn -> RustyJson.encode!(rows, options) end
    goal = if engine == "native", do: 1.11
    run = fn term, more -> fn -> term |> RustyJson.encode_stream(more ++ options) |> Stream.run() end end

    [
      {"encode_stream of a list, #{engine}", run.(rows, []), "encode/2", whole, goal},
      {"encode_stream of a stream, #{engine}", run.(Stream.map(rows, & &1), []), "encode/2", whole, goal},
      {"encode_stream of a lazy array, #{engine}", run.(%{rows: RustyJson.lazy(rows)}, []), "encode/2", whole,
       goal},
      {"encode_stream of lines, #{engine}", run.(rows, format: :lines), "encode/2 of an array", whole, goal}
    ]
  end

  defp others(engine, options, texts) do
    document = "[" <> Enum.join(Enum.take(texts, 5_000), ",") <> "]"
    pieces = for <<piece::binary-size(20) <- document>>, do: piece
    answer = answer()
    small = List.duplicate(~s({"id":12345,"name":"a","ok":true}), 300)

    [
      {"partial document in pieces of 20 bytes, value at every tenth, #{engine}",
       fn -> partial(pieces, options) end, "decode/2", fn -> RustyJson.decode!(document, options) end, nil},
      {"10 KB of a partial document of a type in pieces of 20 bytes, #{engine}",
       fn -> partial(answer, [as: [__MODULE__.Answer]] ++ options) end, "without a type",
       fn -> partial(answer, options) end, 1.25},
      {"decode_many of 300 documents of 33 bytes, #{engine}", fn -> RustyJson.decode_many(small, options) end,
       "decode/2 of each", fn -> Enum.map(small, &RustyJson.decode(&1, options)) end, nil}
    ]
  end

  # As a language model writes: more text than structure.
  defp answer do
    row = %{
      name: "A name of some words",
      note: String.duplicate("some words ", 18),
      city: "Paris",
      tags: ["a", "bc"]
    }

    text = RustyJson.encode!(List.duplicate(row, 35))
    for <<piece::binary-size(20) <- text>>, do: piece
  end

  defp partial(pieces, options) do
    Enum.reduce(pieces, {RustyJson.Partial.new(options), 1}, fn piece, {partial, number} ->
      {:ok, partial} = RustyJson.Partial.push(partial, piece)
      if rem(number, 10) == 0, do: RustyJson.Partial.value(partial)
      {partial, number + 1}
    end)
  end
end
