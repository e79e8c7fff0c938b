defmodule RustyJson.EncodeStreamErrorsTest do
  @moduledoc "Errors of streams of output: what was written before a fault is there, and each error has its path."

  use ExUnit.Case, async: true

  import RustyJson.Test.Shared, only: [in_time: 3]
  import RustyJson.Test.Streams, only: [joined: 2, until_fault: 1]

  alias RustyJson.EncodeError
  alias RustyJson.Test.Judge

  defmodule Own do
    defstruct [:id]

    defimpl RustyJson.Encoder do
      def encode(%{id: id}, opts), do: RustyJson.Encode.map(%{own: id}, opts)
    end
  end

  defmodule Written do
    defstruct [:text]

    defimpl RustyJson.Encoder do
      def encode(%{text: text}, _opts), do: text
    end
  end

  defmodule Throws do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts), do: throw(:encoder)
    end
  end

  for {name, engine} <- Judge.engines() do
    describe "#{name}" do
      @describetag engine: engine
      @describetag :once

      test "a fragment never ends its record", %{engine: engine} do
        text = "{\n\r\n \"a\": [1,\n2],\t\"b\": \"\\n\"\n}\n"
        {:ok, raw} = RustyJson.decode(~s({"a":) <> text <> "}", [raw: ["/a"]] ++ engine)
        list = text |> String.codepoints() |> Enum.map(&[&1])

        for fragment <- [
              raw["a"],
              RustyJson.Fragment.new(text),
              RustyJson.Fragment.new(list),
              RustyJson.Fragment.new(fn _ -> list end),
              %Written{text: text}
            ],
            {element, expected} <- [
              {fragment, ~S({"a":[1,2],"b":"\n"})},
              {[1, %{k: fragment}], ~S([1,{"k":{"a":[1,2],"b":"\n"}}])}
            ],
            more <- [[], [max_bytes: 10_000], [unsupported: :inspect], [redact: ["/9"]]],
            {format, mark} <- [lines: "", seq: "\x1E"] do
          assert joined([0, element, 2], [format: format] ++ more ++ engine) ==
                   mark <> "0\n" <> mark <> expected <> "\n" <> mark <> "2\n"
        end

        for forged <- ["1\n2", "\"a\nb\"", "\"\x1E\"", "1\r2"], format <- [:lines, :seq] do
          error =
            assert_raise EncodeError, fn ->
              joined([0, [RustyJson.Fragment.new(forged)]], [format: format] ++ engine)
            end

          assert {error.reason, error.path} == {:invalid_iodata, "/1/0"}
        end

        # In an array, line breaks are whitespace.
        assert joined([RustyJson.Fragment.new("[\n]")], engine) == "[[\n]]"
      end

      test "elements before a faulty one come first, then the error with its path", %{engine: engine} do
        rows = Stream.map(1..50, &if(&1 == 43, do: %{x: <<255>>}, else: &1))

        for {term, options, path} <- [
              {rows, [], "/42/x"},
              {rows, [format: :lines], "/42/x"},
              {rows, [format: :seq, flush: 100], "/42/x"},
              {Stream.map(1..50, &if(&1 == 43, do: %Own{id: {<<255>>}}, else: &1)),
               [format: :lines, flush: 100], "/42/own/0"},
              {%{data: RustyJson.lazy(rows)}, [], "/data/42/x"},
              {Stream.map(1..50, &if(&1 == 43, do: [[1 | 2]], else: &1)), [], "/42/0"}
            ] do
          # Every element before the faulty one is there, also what is short of a piece, and what is compressed.
          for more <- [[], [flush: 1], [flush: 1_000], [compress: :gzip]] do
            stream = RustyJson.encode_stream(term, Keyword.merge(options, more) ++ engine)
            {pieces, error} = until_fault(stream)
            assert {error.__struct__, error.path} == {EncodeError, path}
            text = pieces |> IO.iodata_to_binary() |> unpacked(more)
            assert Regex.scan(~r/\d+/, text) == for(i <- 1..42, do: [to_string(i)])
          end
        end
      end

      test "the elements of an improper list come first, then the error of encode/2", %{engine: engine} do
        for list <- [[1, 2 | 3], Enum.reduce(1..5_000, 0, &[&1 | &2])], format <- [:array, :lines] do
          {:error, expected} = RustyJson.encode(list, engine)

          error =
            assert_raise EncodeError, fn ->
              list
              |> RustyJson.encode_stream([format: format, flush: 1] ++ engine)
              |> Enum.each(&send(self(), &1))
            end

          assert Map.take(error, [:reason, :path, :message]) == Map.take(expected, [:reason, :path, :message])
          assert_received text when is_binary(text)
        end
      end

      test "limits", %{engine: engine} do
        assert_raise EncodeError, ~r/deeper than 2/, fn -> joined([[[1]]], [max_depth: 2] ++ engine) end
        assert joined([[1]], [max_depth: 2] ++ engine) == "[[1]]"
        assert joined([[[1]]], [max_depth: 2, format: :lines] ++ engine) == "[[1]]\n"
        assert joined(1..3, [max_bytes: 7] ++ engine) == "[1,2,3]"

        assert_raise EncodeError, ~r/larger than 6/, fn ->
          joined(1..3, [max_bytes: 6, flush: 1] ++ engine)
        end
      end

      test "the error of a text that is too long has the path of the place", %{engine: engine} do
        rows = ["é", 1.5, [], nil, %{}, "a/b", 1, 2, 3, 4]

        too_long = fn term, options ->
          term |> RustyJson.encode_stream(options) |> Enum.to_list() |> catch_error()
        end

        for wrap <- [& &1, &%{rows: &1}, &[[1, %{x: &1}], 1]],
            source <- [rows, Stream.map(rows, & &1)],
            options <- [[], [pretty: true], [redact: ["/9"]]],
            options = options ++ engine,
            text = RustyJson.encode!(wrap.(rows), options),
            most <- (byte_size(text) - 30)..(byte_size(text) - 1)//3,
            flush <- [1, 65_536] do
          source = if wrap.(rows) == rows, do: source, else: wrap.(RustyJson.lazy(source))
          error = too_long.(source, [max_bytes: most, flush: flush] ++ options)
          path = text |> binary_part(0, most) |> RustyJson.Encode.Path.locate()
          assert {error.reason, error.path} == {:max_bytes, path}
        end

        for format <- [:lines, :seq] do
          error = too_long.([1, [2, %{a: "text"}], 3], [format: format, max_bytes: 14] ++ engine)
          assert {error.reason, error.path} == {:max_bytes, "/1/1/a"}
        end

        # The texts of three structs are too long together.
        term = %{"a" => List.duplicate(%Written{text: ~s("123456789")}, 3)}
        {:error, expected} = RustyJson.encode(term, [max_bytes: 25] ++ engine)
        assert {expected.reason, expected.path} == {:max_bytes, "/a/1"}
        assert too_long.(term, [max_bytes: 25] ++ engine).path == expected.path
      end

      # Each element was held to the limit by itself.
      @tag :time
      test "members that are left out count for the whole stream, and for each run of it", %{engine: engine} do
        # A message would have a copy of each.
        rows = fn -> List.duplicate(Map.new(1..100_000, &{&1, nil}), 300) end

        for source <- [& &1, &Enum.map(&1, fn id -> [%Own{id: id}] end)],
            wrap <- [& &1, &%{a: RustyJson.lazy(&1)}] do
          options = [omit: [nil], max_bytes: 10_000] ++ engine

          run = fn rows ->
            rows |> source.() |> wrap.() |> RustyJson.encode_stream(options) |> Enum.to_list()
          end

          assert %EncodeError{reason: :max_bytes} = in_time(2_000, rows, &catch_error(run.(&1)))
        end

        big = Map.new(1..100_000, &{&1, nil})
        huge = Map.new(1..1_100_000, &{&1, nil})

        for {element, path} <- [{huge, "/3"}, {List.duplicate(big, 12), "/3/10"}, {big, "/13"}] do
          options = [format: :lines, omit: [nil], max_bytes: 2_000] ++ engine
          stream = RustyJson.encode_stream([1, 2, 3] ++ List.duplicate(element, 12), options)
          assert %EncodeError{reason: :max_bytes, path: ^path} = catch_error(Stream.run(stream))
        end

        few = Map.new(1..10_000, &{&1, nil})
        # A batch that fails is encoded again, and counts once.
        stream =
          RustyJson.encode_stream(
            List.duplicate(few, 70) ++ [<<255>>],
            [omit: [nil], max_bytes: 1_000] ++ engine
          )

        for _run <- 1..2,
            do: assert(%EncodeError{reason: :invalid_utf8, path: "/70"} = catch_error(Enum.to_list(stream)))

        # So does an element with a lazy array, which stands in a batch.
        rows = for _row <- 1..60, do: Map.put(few, :l, RustyJson.lazy([1]))
        rows = List.duplicate(1, 90) ++ rows
        text = joined(rows, [omit: [nil], max_bytes: 1_000] ++ engine)
        assert text == RustyJson.encode!(rows, [omit: [nil]] ++ engine)
      end
    end
  end

  test "elements before one whose encoder throws" do
    for {_engine, options} <- Judge.engines() do
      stream = RustyJson.encode_stream([1, 2, %Throws{}, 3], options)
      assert catch_throw(Enum.each(stream, &send(self(), {:piece, &1}))) == :encoder
      assert_received {:piece, "[1,2"}
    end
  end

  # What was compressed up to a fault has no end.
  defp unpacked(text, compress: :gzip) do
    z = :zlib.open()
    :ok = :zlib.inflateInit(z, 31)
    text = z |> :zlib.inflate(text) |> IO.iodata_to_binary()
    :zlib.close(z)
    text
  end

  defp unpacked(text, _options), do: text
end
