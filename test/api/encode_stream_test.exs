defmodule RustyJson.EncodeStreamTest do
  @moduledoc "The joined pieces equal the output of `encode!/2`, for every option and size of pieces."

  use ExUnit.Case, async: true

  import RustyJson.Test.Streams, only: [joined: 2]

  alias RustyJson.OrderedObject
  alias RustyJson.Test.Judge

  defmodule Own do
    defstruct [:id]

    defimpl RustyJson.Encoder do
      def encode(%{id: id}, opts), do: RustyJson.Encode.map(%{own: id}, opts)
    end
  end

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:rows, :n]
  end

  @options [
    [],
    [pretty: true],
    [pretty: 4],
    [pretty: "\t"],
    [pretty: [indent: " ", line_separator: "\r\n", after_colon: "  "]],
    [sort_keys: true],
    [escape: :unicode_safe],
    [maps: :strict],
    [pretty: true, sort_keys: true, escape: :html_safe],
    [escape: :javascript_safe, integers: :js_safe, invalid_utf8: :replace, unsupported: :inspect],
    [redact: ["x", :own], redacted: "-"],
    [redact: ["/0", "/2/b", "/*/x"], pretty: 1],
    [redact: ["/*"]],
    [key_case: :camel, omit: [nil]]
  ]

  defp elements do
    [
      1,
      "é/\u2028",
      %{b: [1.5, nil], a: %{"x" => {1, 2}}},
      [],
      %{},
      %Own{id: 7},
      ~D[2024-02-29],
      [[%Own{id: [%Own{id: 1}]}]],
      %Derived{rows: [1], n: 2}
    ]
  end

  for {name, engine} <- Judge.engines() do
    describe "#{name}" do
      @describetag engine: engine
      @describetag :once

      test "joined pieces are the bytes of encode!/2", %{engine: engine} do
        for options <- @options, flush <- [1, 7, 100, 65_536], count <- [0, 1, 2, 9] do
          elements = Enum.take(elements(), count)
          options = options ++ engine
          text = RustyJson.encode!(elements, options)
          assert joined(Stream.map(elements, & &1), [flush: flush] ++ options) == text
          assert joined(elements, [flush: flush] ++ options) == text

          for wrap <- [&%{z: 1, rows: &1, a: [2]}, &[x: [%{y: &1}]], &%Derived{rows: &1, n: %Own{id: 3}}] do
            wrap = fn rows -> OrderedObject.new(doc: wrap.(rows)) end
            lazy = wrap.(RustyJson.lazy(Stream.map(elements, & &1)))
            assert joined(lazy, [flush: flush] ++ options) == RustyJson.encode!(wrap.(elements), options)
            assert RustyJson.encode!(lazy, options) == RustyJson.encode!(wrap.(elements), options)
          end
        end
      end

      test "lines and sequences", %{engine: engine} do
        lines = Enum.map_join(elements(), &(RustyJson.encode!(&1, engine) <> "\n"))
        assert joined(elements(), [format: :lines] ++ engine) == lines
        sequence = Enum.map_join(elements(), &("\x1E" <> RustyJson.encode!(&1, engine) <> "\n"))
        assert joined(elements(), [format: :seq] ++ engine) == sequence
        assert joined([], [format: :lines] ++ engine) == ""
        text = joined(elements(), [format: :seq] ++ engine)
        assert text |> RustyJson.decode_stream([format: :seq] ++ engine) |> Enum.count() == length(elements())
      end

      test "each line is the text of its element, for every option and size of pieces", %{engine: engine} do
        for options <- @options, !options[:pretty], {format, mark} <- [lines: "", seq: "\x1E"] do
          options = options ++ engine
          text = Enum.map_join(elements(), &(mark <> RustyJson.encode!(&1, options) <> "\n"))

          for flush <- [1, 7, 100, 65_536], source <- [elements(), Stream.map(elements(), & &1)] do
            assert joined(source, [format: format, flush: flush] ++ options) == text
          end
        end
      end

      test "lines that take longer than a time slice", %{engine: engine} do
        rows =
          for i <- 1..1_000, do: [%{i: i, text: String.duplicate("é\"", 600)}, List.duplicate(%{i: 1.5}, i)]

        lines = Enum.map_join(rows, &(RustyJson.encode!(&1, engine) <> "\n"))
        assert joined(rows, [format: :lines, flush: 100_000_000] ++ engine) == lines
        assert joined(rows, [format: :seq] ++ engine) |> String.replace("\x1E", "") == lines
      end

      test "gzip is one member", %{engine: engine} do
        for level <- [:gzip, {:gzip, 0}, {:gzip, 9}] do
          packed = joined(1..20_000, [compress: level, flush: 1_000] ++ engine)
          assert :zlib.gunzip(packed) == RustyJson.encode!(Enum.to_list(1..20_000), engine)
        end
      end
    end
  end

  test "what is a sequence, and what is a document" do
    assert joined(1..3, []) == "[1,2,3]"
    assert joined(MapSet.new([1]), []) == "[1]"
    assert joined(%{a: 1}, []) == ~s({"a":1})
    assert joined(OrderedObject.new(b: 1, a: 2), []) == ~s({"b":1,"a":2})
    assert joined(%Own{id: 1}, []) == ~s({"own":1})
    assert joined("x", []) == ~s("x")
    assert joined(Stream.cycle([1]) |> Stream.take(2), []) == "[1,1]"
  end

  test "pieces end between elements and have at least the bytes of flush" do
    pieces = 1..1_000 |> RustyJson.encode_stream(flush: 100) |> Enum.to_list()
    assert Enum.join(pieces) == RustyJson.encode!(Enum.to_list(1..1_000))
    assert pieces |> Enum.drop(-1) |> Enum.all?(&(byte_size(&1) >= 100))
    refute Enum.any?(tl(pieces), &(&1 =~ ~r/^\d/))
  end

  test "a file's lines as elements" do
    path = Path.join(System.tmp_dir!(), "rustyjson-#{System.unique_integer([:positive])}.txt")
    lines = for i <- 1..500, do: "line #{i}\n"
    File.write!(path, lines)

    for {_engine, options} <- Judge.engines(), flush <- [1, 1_000, 65_536] do
      assert joined(File.stream!(path), [flush: flush] ++ options) == RustyJson.encode!(lines, options)
    end

    File.rm!(path)
  end

  test "options that are wrong are an ArgumentError at the call" do
    for {term, options} <- [
          {[1], [format: :csv]},
          {[1], [flush: 0]},
          {[1], [format: :lines, pretty: true]},
          {[1], [format: :seq, pretty: 2]},
          {%{a: 1}, [format: :array]},
          {[1], [bogus: 1]},
          {[1], [1]},
          {[1], [{"flush", 1}]},
          {[1], :lines}
        ] do
      assert_raise ArgumentError, fn -> RustyJson.encode_stream(term, options) end
    end
  end

  test "the limit on the bytes is exceeded at the same place as in encode/2" do
    terms = [
      Enum.to_list(1..30),
      [[1, 2, 3], [4, 5, [6, 7, %{"a" => "bcd", "k" => [1, 2]}]], "end"],
      [["é\n", %{"é" => "\u2028"}], %{a: %{b: 1, c: "1:\":"}}],
      for(i <- 1..3, do: %Derived{rows: [i], n: ":"}),
      %{"a" => [1, 2, 3], "b" => %{"c" => "long", "d" => 1}}
    ]

    for {_name, engine} <- Judge.engines(),
        term <- terms,
        # Learns the plan of the struct.
        options <- [[], [pretty: true], [escape: :unicode_safe], [redact: ["/1"]]],
        options = options ++ engine,
        most <- 1..(byte_size(RustyJson.encode!(term, options)) - 1) do
      options = [max_bytes: most] ++ options
      {:error, error} = RustyJson.encode(term, options)
      assert catch_error(joined(term, options)) == error
    end
  end
end
