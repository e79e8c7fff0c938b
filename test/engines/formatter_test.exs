defmodule RustyJson.FormatterTest do
  @moduledoc "The formatter: the same bytes and errors in every engine, and limits on its output."

  use ExUnit.Case, async: true

  alias RustyJson.{DecodeError, EncodeError, Formatter, Fragment, Options}
  alias RustyJson.Engine.Native.Nif
  alias RustyJson.Test.Judge

  @pretty {"  ", "\n", "\n", " "}
  @minimal {"", "", "\n", ""}
  @max_bytes 24

  # The result, which must be the same in every engine.
  defp format(text, layout, limits) do
    answers =
      for {_name, chosen} <- Judge.engines() do
        options = chosen |> Options.encode() |> Options.laid_out(layout, limits)
        options.engine.format(text, options)
      end

    assert [answer] = Enum.uniq(answers)
    answer
  end

  defp nested(depth, bytes),
    do:
      [nest("[", depth), String.duplicate("1,", div(bytes, 2)), "1", nest("]", depth)]
      |> IO.iodata_to_binary()

  defp nest(bracket, depth), do: String.duplicate(bracket, depth)

  describe "every engine" do
    test "writes the same, also where the native one changes schedulers" do
      records = Enum.map_join(1..4_000, ",", &~s({"id": #{&1}, "tags":["a", {"b" :null}]}))

      for text <- [nested(1, 300_000), nested(200, 20_000), nested(128, 2), "[#{records}]", "1 2 [3] {}"],
          layout <- [@pretty, @minimal, {"\t\t\t", "\r\n", "\n\n", "  "}] do
        assert {:ok, written} = format(text, layout, {0, 1024, 0})
        assert {:ok, minimal} = format(text, @minimal, {0, 1024, 0})
        assert format(written, @minimal, {0, 1024, 0}) == {:ok, minimal}
      end
    end

    test "stops at the same token when the output is limited" do
      text = ~s({"a": [1, {"b": "cd"}], "e": [], "f": {"g": null}} [2])
      {:ok, whole} = format(text, @pretty, {0, 1024, 0})

      places =
        for most <- 1..(byte_size(whole) - 1) do
          assert {:error, {@max_bytes, offset, 1, column, path}} = format(text, @pretty, {0, 1024, most})
          assert column == offset + 1
          {offset, path}
        end

      assert {7, "/a/0"} in places
      offsets = Enum.map(places, &elem(&1, 0))
      assert offsets == Enum.sort(offsets)
      assert format(text, @pretty, {0, 1024, byte_size(whole)}) == {:ok, whole}
    end

    test "limits what a native call goes on with on a dirty scheduler" do
      text = nested(100, 40_000)
      {:ok, whole} = format(text, @pretty, {0, 1024, 0})
      most = byte_size(whole)
      assert most > 4_000_000

      assert {:error, {@max_bytes, offset, _, _, _}} = format(text, @pretty, {0, 1024, most - 1})
      assert offset == byte_size(text) - 1
      assert {:error, {@max_bytes, offset, _, _, _}} = format(text, @pretty, {0, 1024, 2_000_000})
      assert offset in 15_000..25_000
      assert format(text, @pretty, {0, 1024, most}) == {:ok, whole}
    end
  end

  describe "RustyJson.Formatter" do
    test "has a default limit: 64 times the input and 1 MiB" do
      # The whole output, 30 MB, fits easily into a sandbox of the default size.
      text = nested(500, 60_000)

      error = assert_raise DecodeError, fn -> Formatter.pretty_print(text) end
      most = 64 * byte_size(text) + 1_048_576
      assert error.reason == :max_bytes

      assert error.message ==
               "Output longer than #{most} bytes at position #{error.position} (line 1, column #{error.column})"

      assert error.position in 1..byte_size(text)
      assert error.data == text
      assert error.token == binary_part(text, error.position, 32)

      whole = Formatter.pretty_print(text, max_bytes: 0)
      assert byte_size(whole) > 6 * most
      assert Formatter.minimize(whole) == text

      # Small texts of any depth that may be indented, and dense texts of 60 levels.
      assert is_binary(Formatter.pretty_print(nested(700, 2)))
      assert is_binary(Formatter.pretty_print(nested(60, 400_000)))
    end

    test "takes max_bytes in all functions" do
      for fun <- [:pretty_print, :pretty_print_to_iodata, :minimize, :minify, :minimize_to_iodata] do
        call = fn most -> apply(Formatter, fun, ["[1,2]", [max_bytes: most]]) end
        error = assert_raise DecodeError, fn -> call.(2) end
        assert {error.reason, error.path} in [{:max_bytes, "/0"}, {:max_bytes, ""}]
        whole = apply(Formatter, fun, ["[1,2]", []])
        assert call.(byte_size(whole)) == whole
        assert call.(0) == whole
        assert_raise DecodeError, fn -> call.(byte_size(whole) - 1) end
      end
    end

    test "says what options it takes" do
      assert_raise ArgumentError, ~r/option :max_bytes takes an integer from 0, got: -1/, fn ->
        Formatter.pretty_print("1", max_bytes: -1)
      end

      assert_raise ArgumentError, ~r/option :max_bytes/, fn -> Formatter.minify("1", max_bytes: :infinity) end

      assert_raise ArgumentError, ~r/indent takes iodata or an integer from 0 to 1000/, fn ->
        Formatter.pretty_print("1", indent: 1_000_000_000)
      end

      for name <- [:indent, :line_separator, :record_separator, :after_colon],
          text <- [[:x], [1 | 2], [256]] do
        assert_raise ArgumentError, ~r/^option :#{name} takes iodata/, fn ->
          Formatter.pretty_print("[]", [{name, text}])
        end
      end

      for name <- [:indent, :line_separator, :after_colon] do
        assert_raise ArgumentError, ~r/^option :pretty takes /, fn ->
          RustyJson.encode(1, pretty: [{name, [:x]}])
        end
      end

      assert_raise ArgumentError, ~r/^unknown option :indentation, did you mean :indent\?/, fn ->
        Formatter.minify("1", indentation: 2)
      end
    end
  end

  describe "a sandbox without room for twice the output" do
    for {name, chosen} <- Judge.engines(), chosen[:engine] == :wasm do
      test "#{name}: holds an output that fits" do
        # 16 MiB of it are written when the buffer has to grow, in 56 MB that also hold the buffer until then.
        text = nested(500, 34_000)
        fresh = [max_memory: 56_000_000, isolation: :fresh] ++ unquote(chosen)
        options = Options.laid_out(Options.encode(fresh), @pretty, {0, 1024, 0})

        assert {:ok, whole} = options.engine.format(text, options)
        assert byte_size(whole) in 16_800_000..18_000_000
        assert Formatter.minimize(whole) == text
      end
    end
  end

  describe "a pretty fragment in encode" do
    test "keeps to the call's max_bytes" do
      fragment = Fragment.new(nested(100, 20_000))
      {:ok, whole} = Judge.encode([fragment], pretty: true)
      assert byte_size(whole) > 2_000_000

      assert Judge.encode([fragment], pretty: true, max_bytes: byte_size(whole)) == {:ok, whole}

      for most <- [10, 100_000, byte_size(whole) - 1] do
        assert {:error, %EncodeError{reason: :max_bytes, path: "/0" <> _}} =
                 Judge.encode([fragment], pretty: true, max_bytes: most)
      end
    end
  end

  if :native in Keyword.keys(Judge.engines()) do
    describe "native" do
      test "a normal scheduler writes no more than its budget" do
        limits = {0, 1024, 3_000_000}

        for text <- [nested(1_000, 120_000), nested(3, 120_000), nested(1023, 2)],
            indent <- ["  ", nest(" ", 100_000)] do
          layout = put_elem(@pretty, 0, indent)
          %{bytes: bytes} = Options.laid_out(Options.encode([]), layout, limits)
          suspended = Nif.format(text, bytes)
          assert is_tuple(suspended)
          assert {:suspended, written, {_offset, _depth, _last}} = suspended
          assert byte_size(written) <= 327_680

          # Continuing from the saved place and starting again give the same text or error.
          assert Nif.format_dirty(text, bytes, suspended) ==
                   Nif.format_dirty(text, bytes, nil)
        end
      end

      test "the time is taken from the turn, also that of a short text that gets long" do
        text = nested(100, 3_200)
        %{bytes: bytes} = Options.laid_out(Options.encode([]), @pretty, {0, 1024, 0})

        # A turn is 4,000 reductions or about a millisecond. The clock here counts more than that of the call, much more where other programs
        # have the processor.
        assert Enum.any?(1..10, fn _ ->
                 # A call is charged at most what is left of the turn.
                 :erlang.yield()
                 {:reductions, before} = Process.info(self(), :reductions)
                 {micros, {:suspended, written, _}} = :timer.tc(fn -> Nif.format(text, bytes) end)
                 assert byte_size(written) > 300_000
                 {:reductions, later} = Process.info(self(), :reductions)
                 later - before > min(2 * micros, 3_000)
               end)
      end
    end
  end
end
