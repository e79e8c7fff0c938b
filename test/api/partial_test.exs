defmodule RustyJson.PartialTest do
  @moduledoc "Documents that are looked at before they are complete, in every engine, cut at every byte."

  use ExUnit.Case, async: true

  import RustyJson.Test.Partials, only: [check: 1, check: 2, check: 3]

  alias RustyJson.{DecodeError, OrderedObject, Partial}
  alias RustyJson.Test.{Judge, Partials, Streams, Vectors}

  # The prefix, what `:keep` shows, what `:strings` shows, and what `:drop` shows.
  @table [
    {~S({"a": "ba), %{"a" => "ba"}, %{"a" => "ba"}, %{}},
    {"{\"a\": \"x\\", %{"a" => "x"}, %{"a" => "x"}, %{}},
    {~S({"a": "x\u12), %{"a" => "x"}, %{"a" => "x"}, %{}},
    {~S({"a": "x\ud83d), %{"a" => "x"}, %{"a" => "x"}, %{}},
    {"{\"a\": \"x\\ud83d\\", %{"a" => "x"}, %{"a" => "x"}, %{}},
    {~S({"a": "x\ud83d\ude), %{"a" => "x"}, %{"a" => "x"}, %{}},
    {"{\"a\": \"x\xE2\x82", %{"a" => "x"}, %{"a" => "x"}, %{}},
    {~S([1, 2), [1, 2], [1], [1]},
    {~S({"a": 12.5, "b": [7, 8), %{"a" => 12.5, "b" => [7, 8]}, %{"a" => 12.5, "b" => [7]},
     %{"a" => 12.5, "b" => [7]}},
    {~S([{"a": "x", "n": 1), [%{"a" => "x", "n" => 1}], [%{"a" => "x"}], [%{"a" => "x"}]},
    {"[1.", [1], [], []},
    {"[1e", [1], [], []},
    {"[1.5e-", [1.5], [], []},
    {"[-", [], [], []},
    {"[-0", [0], [], []},
    {"[tru", [], [], []},
    {~S({"a), %{}, %{}, %{}},
    {~S({"a":), %{}, %{}, %{}},
    {~S({"a":1,), %{"a" => 1}, %{"a" => 1}, %{"a" => 1}},
    {~S({"a":[{), %{"a" => [%{}]}, %{"a" => [%{}]}, %{"a" => [%{}]}},
    {~S("ab), "ab", "ab", :none},
    {~S("), "", "", :none},
    {"12", 12, :none, :none},
    {"", :none, :none, :none},
    {" ", :none, :none, :none},
    {"tru", :none, :none, :none},
    {"12 ", 12, 12, 12}
  ]

  for {text, keep, strings, drop} <- @table,
      {trailing, shown} <- [keep: keep, strings: strings, drop: drop] do
    @tag text: text, shown: shown
    test "#{inspect(text)} with #{inspect(trailing)}", %{text: text, shown: shown} do
      for {_name, engine} <- Judge.engines(), pieces <- [[text], Streams.bytes(text)] do
        options = [trailing: unquote(trailing)] ++ engine
        partial = Enum.reduce(pieces, Partial.new(options), &elem(Partial.push(&2, &1), 1))
        assert Partial.value(partial) == if(shown == :none, do: :none, else: {:ok, shown})

        case RustyJson.decode_partial(text, options) do
          {:ok, term, :complete} ->
            assert RustyJson.decode(text, engine) == {:ok, term}

          {:ok, term, :partial} ->
            assert term == shown

          {:error, error} ->
            assert {shown, error.reason, error.position} == {:none, :unexpected_end, byte_size(text)}
        end
      end
    end
  end

  test "complete exactly when decode/2 succeeds" do
    for text <- ["12", "12 ", "true", ~s("a"), "[]", "{}", " [1] ", ~s({"a":[1]})] do
      assert {:ok, term, :complete} = RustyJson.decode_partial(text)
      assert RustyJson.decode!(text) == term
      if text != "12", do: assert({:ok, ^term, :complete} = RustyJson.decode_partial(text, trailing: :drop))
    end

    assert {:ok, [1], :partial} = RustyJson.decode_partial("[1")
  end

  test "invalid bytes are an error at once" do
    for {text, reason, position} <- [
          {"[\"a\xE2\x28", :invalid_utf8, 3},
          {"[\"a\xFF", :invalid_utf8, 3},
          {~S(["a\x), :invalid_escape, 3},
          {~S(["a\u1g), :invalid_unicode_escape, 3},
          {~S(["a\ud83dx), :lone_surrogate, 3},
          {~S(["a\udc00), :lone_surrogate, 3},
          {"[\"a\n", :control_character, 3},
          {"[01", :leading_zero, 1},
          {"[1 2", :expected_comma_or_array_end, 3},
          {"[Nan", :expected_value, 1},
          {"1 2", :trailing_data, 2},
          {"[1e999", :number_out_of_range, 1},
          {"-1e309", :number_out_of_range, 0},
          {"[1, N", :expected_value, 4},
          {"[Infinit", :expected_value, 1},
          {"[-Infinit", :invalid_number, 2},
          {"[NaN", :nan, 1},
          {"\xEF", :expected_value, 0},
          {"\xEF\xBB\xBF", :byte_order_mark, 0}
        ],
        trailing <- [:keep, :strings, :drop] do
      assert {:error, %DecodeError{reason: ^reason, position: ^position}} =
               RustyJson.decode_partial(text, trailing: trailing)

      check(text, trailing: trailing)
    end

    for {text, options, reason} <- [
          {"[12345", [floats: :decimals, decoding_integer_digit_limit: 4], :integer_digits},
          {"[123.45", [floats: :decimals, decoding_integer_digit_limit: 4], :integer_digits},
          {"[12345.", [floats: :decimals, decoding_integer_digit_limit: 4], :integer_digits},
          {~S({"a":1,"a"), [duplicate_keys: :error], :duplicate_key},
          {~S([{"a":1,"b":2,"\u0061":"x), [duplicate_keys: :error], :duplicate_key}
        ],
        {_name, engine} <- Judge.engines() do
      assert {:error, %DecodeError{reason: ^reason}} = RustyJson.decode_partial(text, options ++ engine)
      pieces = Streams.bytes(text)

      assert {:error, %DecodeError{reason: ^reason}} =
               Enum.reduce_while(pieces, {:ok, Partial.new(options ++ engine)}, fn piece, {:ok, partial} ->
                 case Partial.push(partial, piece) do
                   {:ok, _} = ok -> {:cont, ok}
                   error -> {:halt, error}
                 end
               end)
    end
  end

  test "what more bytes can make valid is no error" do
    for {text, more} <- [
          {"[1e308", "]"},
          {"[0e999", "9]"},
          {"[" <> String.duplicate("9", 400) <> ".5", "e-200]"},
          {"[" <> String.duplicate("9", 400) <> "e-1", "00]"},
          {"[" <> String.duplicate("9", 2_000), "e-1900]"}
        ],
        {_name, engine} <- Judge.engines(),
        pieces <- [[text], Streams.bytes(text)] do
      partial = Enum.reduce(pieces, Partial.new(engine), &elem(Partial.push(&2, &1), 1))
      assert {:ok, [_]} = Partial.value(partial)
      assert {:ok, partial} = Partial.push(partial, more)
      assert Partial.finish(partial) == RustyJson.decode(text <> more)
    end
  end

  describe "every step" do
    for text <- [
          ~S({"a":[1,2.5,{"b":"c\u00e9\ud83d\ude00\n"}],"d":{},"e":[],"f":null,"g":true,"h":-1.5e-3} ),
          ~S([[[[1],[2]],[[3]]],[],{"":{"":{"":[]}}}]),
          ~S("é😀\"\\"),
          "  [ 1 ,\n 2 ]\n",
          ~S({"a/b":{"m~n":[{"a":1}]}}),
          ~S([{"a":1},{"a":2},{"a":[3,"four"]}]),
          "123456789012345678901234567890",
          ~S({"a":1,"b":2,"a":3}),
          ~S({"a":"x","b":{"c":1,"c":[1,2]},"a":{"d":"e"}}),
          ~S([1,2,]),
          ~S({"a":1,}),
          ~S({"a" 1}),
          ~S({"a":1 "b"}),
          "{\"a\":\n[1,\n x]}",
          "\xEF\xBB\xBF[1]"
        ] do
      test "of #{inspect(text)}" do
        text = unquote(text)
        for trailing <- [:keep, :strings, :drop], do: check(text, [trailing: trailing], every(text))

        for more <- [[duplicate_keys: :first], [objects: :ordered_objects], [duplicate_keys: :error]],
            do: check(text, more)
      end
    end

    for table <- [:accept, :reject, :implementation_defined, :decode_options] do
      test "of the vectors of #{table}" do
        for {text, options} <- Vectors.texts(unquote(table)) |> Enum.uniq(),
            is_binary(text) and byte_size(text) < 2_000 and options[:max_bytes] == nil,
            do: check(text, options)
      end
    end

    test "of new atoms" do
      check(~S({"ok":[{"error":1,"value":"x"}],"new_in_partial_test":2}), keys: :atoms)
      check(~S({"ok":{"new_in_partial_test_and_unknown":1},"error":2}), keys: :atoms!)
    end

    test "of long keys and numbers" do
      key = String.duplicate("k", 3_000)
      digits = String.duplicate("9", 3_000)
      check(~s({"#{key}":{"#{key}é":1}}))
      check(~s({"#{key}))
      check(~s({"#{key}\n":1}))
      check("[#{digits}, 1]")
      check("[#{digits}.5e-2900, 1]")
      check("[0.#{digits}]")
      check("[#{digits}]", decoding_integer_digit_limit: 0)
      check("#{digits}", decoding_integer_digit_limit: 0)
      check("[#{digits}x", decoding_integer_digit_limit: 0)
      check("[1.5, 12.25e3, 100000000000000000000000.5]", floats: :decimals, decoding_integer_digit_limit: 20)
    end
  end

  defp every(text) do
    halves =
      for at <- 0..byte_size(text),
          do: [binary_part(text, 0, at), binary_part(text, at, byte_size(text) - at)]

    [[text], Streams.bytes(text) | halves]
  end

  describe "limits" do
    test "count all pieces" do
      text = ~S({"a":[1,2,{"b":3}],"c":"d"})
      for most <- 1..11, do: check(text, [max_nodes: most], every(text))
      for most <- 1..4, do: check("[[[1]]]", max_depth: most)
      assert RustyJson.decode_partial("[[1", max_depth: 1) |> elem(1) |> Map.get(:reason) == :max_depth

      assert {:ok, partial} = Partial.push(Partial.new(max_bytes: 3), "[1")
      assert {:error, %{reason: :max_bytes, position: 0}} = Partial.push(partial, "23")
      assert {:ok, _} = Partial.push(partial, "]")
    end
  end

  describe "values" do
    test "of objects with repeated keys follow duplicate_keys" do
      text = ~S({"a":1,"a":"two","b":3})
      shown = fn part, options -> part |> RustyJson.decode_partial(options) |> elem(1) end
      assert shown.(~S({"a":1,"a":"tw), []) == %{"a" => "tw"}
      assert shown.(~S({"a":1,"a":"tw), duplicate_keys: :first) == %{"a" => 1}
      assert shown.(text, duplicate_keys: :first) == %{"a" => 1, "b" => 3}

      assert shown.(~S({"a":1,"a":"tw), objects: :ordered_objects) ==
               OrderedObject.new([{"a", 1}, {"a", "tw"}])

      assert {:error, %{reason: :duplicate_key, position: 7, line: 1, column: 8} = error} =
               RustyJson.decode_partial(text, duplicate_keys: :error)

      assert {:error, whole} = RustyJson.decode(text, duplicate_keys: :error)
      assert {error.message, error.path} == {whole.message, whole.path}
    end

    test "with a function for keys" do
      for {_name, engine} <- Judge.engines() do
        options = [keys: &String.upcase/1] ++ engine
        assert {:ok, partial} = Partial.push(Partial.new(options), ~S({"a":{"b":[{"c":1},{"d))
        assert Partial.value(partial) == {:ok, %{"A" => %{"B" => [%{"C" => 1}, %{}]}}}
        assert {:ok, partial} = Partial.push(partial, ~S(":2}]}}))
        assert Partial.finish(partial) == {:ok, %{"A" => %{"B" => [%{"C" => 1}, %{"D" => 2}]}}}
      end
    end

    test "are there again after an error" do
      {:ok, good} = Partial.push(Partial.new(), "[1,")
      assert {:error, error} = Partial.push(good, "x")
      assert {error.position, error.path} == {3, "/1"}
      assert Partial.value(good) == {:ok, [1]}
      assert {:ok, again} = Partial.push(good, "2]")
      assert Partial.finish(again) == {:ok, [1, 2]}
    end

    test "of a long string are not copied with each piece" do
      piece = String.duplicate("x", 1_000)
      {:ok, partial} = Partial.push(Partial.new(), "[\"")
      partial = Enum.reduce(1..200, partial, fn _, partial -> elem(Partial.push(partial, piece), 1) end)
      assert {:ok, [text]} = Partial.value(partial)
      assert byte_size(text) == 200_000
      {:ok, partial} = Partial.push(partial, ~S("]))
      assert {:ok, [text]} = Partial.finish(partial)
      # What is complete has no room for more behind it.
      assert :binary.referenced_byte_size(text) == byte_size(text)
    end
  end

  # Slices of 64 KB made each element a step of its own: 40 times the time of decode/2.
  @tag :time
  test "a long text that ends is decoded at once" do
    text = "[" <> String.duplicate("1,", 500_000) <> "1]"

    for {_name, engine} <- Judge.engines() do
      {:reductions, before} = Process.info(self(), :reductions)
      assert {:ok, _list, :complete} = RustyJson.decode_partial(text, engine)
      {:reductions, later} = Process.info(self(), :reductions)
      # The judge of wasmex counts each value, and what keeps the limits of a sandbox does so again.
      assert later - before < 4 * byte_size(text)
    end
  end

  # Its events need more than the sandbox has, but not those of a slice.
  test "a piece for which the sandbox has no memory is divided" do
    text = "[" <> String.duplicate("{},", 500_000)
    options = [engine: :wasm, objects: :ordered_objects, max_memory: 16_000_000]
    assert {:error, %RustyJson.SandboxError{reason: :memory_limit}} = RustyJson.decode(text <> "1]", options)
    assert {:ok, list, :partial} = RustyJson.decode_partial(text, options)
    assert length(list) == 500_000
  end

  describe "changes" do
    test "hidden members make none" do
      partial = Partial.new(duplicate_keys: :first)
      assert {:ok, changes, _} = Partial.push_changes(partial, ~S({"a":1,"a":{"b":[2],"c":"d"},"e":3))
      assert changes == [{"", {:set, %{}}}, {"/a", {:set, 1}}, {"/e", {:set, 3}}]
    end

    test "of repeated keys in ordered objects set the object" do
      partial = Partial.new(objects: :ordered_objects)
      {:ok, _, partial} = Partial.push_changes(partial, ~S([{"a":1,"a":["x))
      {:ok, changes, _} = Partial.push_changes(partial, "y")
      assert changes == [{"/0", {:set, OrderedObject.new([{"a", 1}, {"a", ["xy"]}])}}]
    end

    test "escape keys" do
      assert {:ok, changes, _} = Partial.push_changes(Partial.new(), ~S({"a/b":{"m~n":1))
      assert List.last(changes) == {"/a~1b/m~0n", {:set, 1}}
    end

    # A change for each value took 2,600 bytes a byte of text at 20 KB, and 10,000 at 80 KB. One change takes 80 to 150, and the heap grows
    # in steps, so another order of collections can need half as much again.
    test "of many values with long pointers are one" do
      for n <- [20_000, 80_000, 400_000], {_name, engine} <- Judge.engines() do
        text = "{\"" <> String.duplicate("K", n) <> "\":[" <> String.duplicate("1,", div(n, 2))
        assert {[{"", {:set, set}}], partial} = few(text, engine, 400 * n)
        assert {:ok, set} == Partial.value(partial)

        # What comes later has its pointer again, if that is not too long. Otherwise it waits for the end, or an eighth more.
        {:ok, later, partial} = Partial.push_changes(partial, "7")
        assert later == [] or n == 20_000
        {:ok, later, partial} = Partial.push_changes(partial, "]")
        assert later == []
        {:ok, later, partial} = Partial.push_changes(partial, "}")
        assert later == [{"", {:set, Map.new(set, fn {key, list} -> {key, list ++ [7]} end)}}] or n == 20_000
        assert {:ok, _} = Partial.finish(partial)
      end
    end

    # Each piece set the whole document: 400 KB of brackets took 13 seconds.
    test "of many pieces deep down, or under a long key, are together a multiple of the text" do
      key = String.duplicate("k", 50_000)

      for {_name, engine} <- Judge.engines(),
          {open, item, close} <- [{"[", "", "]"}, {~S({"a":), "", "}"}, {~s({"#{key}":[), "1,", ""}] do
        levels = if item == "", do: div(200_000, byte_size(open)), else: 1
        start = String.duplicate(open, levels) <> String.duplicate(item, 100_000)
        text = start <> if item == "", do: "1" <> String.duplicate(close, levels), else: "1]}"
        partial = Partial.new([max_depth: :infinity] ++ engine)

        {partial, shown, words} = text |> slices(1_000) |> Enum.reduce({partial, :none, 0}, &add_changes/2)

        assert Partial.finish(partial) == shown
        assert shown == RustyJson.decode(text, [max_depth: :infinity] ++ engine)
        assert words < 40 * byte_size(text), inspect(words / byte_size(text))
      end
    end

    defp add_changes(piece, {partial, shown, words}) do
      {:ok, changes, partial} = Partial.push_changes(partial, piece)

      shown =
        case changes do
          [{"", {:set, value}} | rest] -> {:ok, value} |> applied(rest)
          rest -> applied(shown, rest)
        end

      if changes != [], do: assert(shown == Partial.value(partial))
      {partial, shown, words + :erts_debug.flat_size(changes)}
    end

    defp applied(shown, changes), do: Enum.reduce(changes, shown, &Partials.apply_change(&1, &2, []))

    test "of an ordered object with one key again and again are one" do
      for n <- [8_000, 64_000], {_name, engine} <- Judge.engines() do
        text = "{" <> String.duplicate(~S("a":1,), n)
        options = [objects: :ordered_objects] ++ engine
        assert {[{"", {:set, set}}], partial} = few(text, options, 3_000 * n)
        assert {:ok, set} == Partial.value(partial)
        assert length(set.values) == n
      end
    end

    test "of many pieces go on from the one that sets the document" do
      key = String.duplicate("k", 5_000)
      text = ~s({"#{key}":[1,2,3,4,5,6,7,8,9,{"#{key}":"x) <> "y\"}]}"
      for size <- [1, 7, 5_003, 20_000], do: check(text, [], [slices(text, size)])
    end

    test "of numbers come when they change" do
      {:ok, _, partial} = Partial.push_changes(Partial.new(), "[1")
      {:ok, [], partial} = Partial.push_changes(partial, ".")
      assert {:ok, [{"/0", {:set, 1.5}}], partial} = Partial.push_changes(partial, "5")
      assert {:ok, [], _} = Partial.push_changes(partial, "]")
    end
  end

  # The changes of a text in one piece, which take at most this much memory.
  defp few(text, options, most) do
    task =
      Task.async(fn ->
        Process.flag(:max_heap_size, %{size: div(most, 8), kill: true, error_logger: false})
        {:ok, changes, partial} = Partial.push_changes(Partial.new(options), text)
        {:binary, kept} = Process.info(self(), :binary)
        {kept |> Enum.uniq_by(&elem(&1, 0)) |> Enum.map(&elem(&1, 1)) |> Enum.sum(), changes, partial}
      end)

    {bytes, changes, partial} = Task.await(task, 60_000)
    assert bytes <= most
    {changes, partial}
  end

  defp slices(text, size) when byte_size(text) <= size, do: [text]

  defp slices(<<text::binary>>, size),
    do: [binary_part(text, 0, size) | slices(binary_part(text, size, byte_size(text) - size), size)]

  describe "options" do
    test "that are none" do
      assert_raise ArgumentError, ~r/:trailing takes :keep, :strings or :drop/, fn ->
        Partial.new(trailing: nil)
      end

      assert_raise ArgumentError, ~r/unknown option :format/, fn -> Partial.new(format: :lines) end
      assert_raise ArgumentError, ~r/a keyword list or a map/, fn -> Partial.new(1) end
      assert %Partial{} = Partial.new(%{keys: :atoms})
    end
  end

  test "inspect/1 is one short line, without the data" do
    {:ok, partial} = Partial.push(Partial.new(), ~s({"secret":["abc))
    assert inspect(partial) == "#RustyJson.Partial<15 bytes, 2 open>"
    {:ok, partial} = Partial.push(partial, ~s("]}))
    assert inspect(partial) == "#RustyJson.Partial<18 bytes, complete>"
    paths = RustyJson.Paths.new!(for i <- 1..100, do: "/#{i}")
    assert inspect(paths) == ~S(#RustyJson.Paths<["/1", "/10", "/100", ...]>)
    assert inspect(RustyJson.Paths.new!([String.duplicate("/secret", 1_000)])) |> byte_size() < 120

    for {options, name} <- [{[], ":values"}, {[format: :lines], ":lines"}, {[format: :seq], ":seq"}],
        do: assert(inspect(RustyJson.Feed.new(options)) == "#RustyJson.Feed<#{name}, 0 bytes, 0 waiting>")

    {:ok, [], feed} = RustyJson.Feed.push(RustyJson.Feed.new(format: :array), ~s(["abc))
    assert inspect(feed) == "#RustyJson.Feed<:array, 5 bytes, 4 waiting>"
    {:error, _, [], feed} = RustyJson.Feed.push(RustyJson.Feed.new(at: "/a", with_pointer: true), "x")
    assert inspect(feed) == "#RustyJson.Feed<:at, 1 bytes, ended>"
  end

  test "pieces are iodata" do
    assert {:ok, partial} = Partial.push(Partial.new(), [?[, "1", [",2" | "]"]])
    assert Partial.finish(partial) == {:ok, [1, 2]}
    assert {:ok, ^partial} = Partial.push(partial, [])
  end
end
