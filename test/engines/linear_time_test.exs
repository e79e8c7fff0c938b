defmodule RustyJson.LinearTimeTest do
  @moduledoc """
  Time grows in proportion to size, for documents that are cheap to send and that other parsers were slow to read.

  The test compares the shortest time of several runs at each size, taken in turn: other work on the machine only makes runs longer. It
  calls with small sizes as often as makes the same number of bytes, so that both times are long enough to measure and fixed costs
  count little. On Linux it measures processor time, because a clock also counts the work of other programs. If the exponent between the
  sizes is too large, more runs follow, which can only make both times more exact. Quadratic time has an exponent of 2, and the
  bound is at 1.4, for caches, and at 1.6 where the system has to give memory for each call.

  `RUSTYJSON_HEAVY=1` goes up to 10 MB. `RUSTYJSON_SCALING=1` is for an idle machine. It measures from 1 KB to 10 MB, allows an
  exponent of 1.1 at most (1.2 for one large object), and prints a table of the results.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Feed, Partial}
  alias RustyJson.Test.{Clock, Judge}
  alias RustyJson.Test.Schemas.{Item, Leaf, Line, Nest, Text, Twig}

  @long System.get_env("RUSTYJSON_SCALING") == "1"
  @moduletag timeout: if(@long, do: 1_800_000, else: 300_000)

  @heavy System.get_env("RUSTYJSON_HEAVY") == "1"
  @sizes (cond do
            @long -> [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
            @heavy -> [200_000, 1_400_000, 10_000_000]
            true -> [32_000, 512_000]
          end)
  @rounds 2
  @most_rounds 10
  @exponent if @long, do: 1.1, else: 1.4
  # One object of 600,000 keys leaves the processor's caches, in the VM's own `:maps.from_list/1` too; sorting is n log n.
  @one_object if @long, do: 1.2, else: 1.4
  @fresh if @long, do: 1.2, else: 1.6

  defmodule Many do
    use RustyJson.Schema
    schema(do: for(number <- 1..2_000, do: field(:"f#{number}", :any)))
  end

  @tagged {:tagged, "t", %{"leaf" => Leaf, "twig" => Twig}}

  # Each makes a text of about `size` bytes, valid or not.
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
    {"objects of one member", :small_objects, []},
    {"long keys", :long_keys, []},
    {"keys as atoms that exist", :records, [keys: :atoms!]},
    {"keys as atoms", :records, [keys: :atoms]},
    {"keys shared", :wide, [keys: :intern]},
    {"decimals", :numbers, [floats: :decimals]},
    {"ordered objects", :wide, [objects: :ordered_objects]},
    {"integers of 1,000 digits", :long_integers, []},
    {"floats of 700 digits", :long_floats, []},
    {"strings without validation", :utf8, [validate_strings: false]},
    {"an error at the end", :late_error, []},
    {"an error deep down", :deep_error, [max_depth: :infinity]},
    {"tagged structs in tagged structs, the tag last", :tags_last, [as: @tagged, max_depth: :infinity]},
    {"the same, the first of repeated keys counts", :tags_last,
     [as: @tagged, max_depth: :infinity, duplicate_keys: :first]},
    {"tagged structs in tagged structs, the tag first", :tags_first, [as: @tagged, max_depth: :infinity]},
    {"tagged structs of two kinds in each other", :tags_mixed, [as: @tagged, max_depth: :infinity]},
    {"a tagged struct with repeated tags", :tags_repeated, [as: @tagged]},
    {"tagged structs without a tag in each other", :tags_missing, [as: @tagged, max_depth: :infinity]},
    {"many tagged structs", :tags_wide, [as: [@tagged]]},
    {"all errors, in every element", :short_numbers, [as: [:string], errors: :all]},
    {"all errors, as many as can be listed", :short_numbers,
     [as: [:string], errors: :all, max_errors: 10_000]},
    {"all errors, in records", :records, [as: [Leaf], errors: :all]},
    {"all errors, missing members", :empty_objects, [as: [Line], errors: :all]},
    {"all errors, wrong dates", :wrong_dates, [as: [:date], errors: :all]},
    {"all errors, dates that Elixir refuses", :unusual_dates, [as: [:date], errors: :all]},
    {"all errors, deep down", :deep_error, [as: [:integer], errors: :all, max_depth: :infinity]},
    {"exact numbers", :numbers, [as: [:decimal]]},
    {"a long string and a pattern", :pattern, [as: Text]},
    {"many strings and a pattern", :patterns, [as: [Text], errors: :all]},
    {"records with limits", :records, [as: [Item], errors: :all]},
    {"lists of limited length in each other", :nested_limits, [as: Nest, max_depth: :infinity]},
    {"a list that is too long", :too_long, [as: Nest, errors: :all]},
    {"a map that is too large, by one key", :too_large, [as: Nest, errors: :all]}
  ]

  @encoded [
    {"numbers", :numbers, []},
    {"short strings", :strings, []},
    {"escapes", :escapes, []},
    {"text beyond ASCII", :utf8, []},
    {"text beyond ASCII, as escapes", :utf8, [escape: :unicode_safe]},
    {"many keys", :wide, []},
    {"many keys, strictly", :wide, [maps: :strict]},
    {"many keys, sorted", :wide, [sort_keys: true]},
    {"records", :records, []},
    {"records, pretty", :records, [pretty: true]},
    {"records, compressed", :records, [compress: :gzip]},
    {"arrays in arrays", :deep, []}
  ]

  for {engine, chosen} <- Judge.engines(), {name, family, options} <- @families do
    @tag family: family, options: options ++ chosen
    test "#{engine}: #{name}", %{family: family, options: options, test: test} do
      texts = for size <- @sizes, do: text(family, size)

      assert_linear(test, texts, &RustyJson.decode(&1, options), most(family))
    end
  end

  for {engine, chosen} <- Judge.engines() do
    @tag options: chosen
    test "#{engine}: D(n) for n to 60", %{options: options, test: test} do
      for n <- 1..60, do: assert({:ok, _} = RustyJson.decode(nest(n), options))

      # Many times, to be long enough to measure.
      assert_linear(test, [nest(15), nest(60)], fn text ->
        for _ <- 1..200, do: RustyJson.decode(text, options)
      end)
    end

    # The pieces are cut off as they are needed: a list of them would cost the collector more than the calls.
    for {name, what, family, more} <- [
          {"a string, to a feed", :feed, :cut_string, []},
          {"numbers, to a feed", :feed, :numbers, [format: :array]},
          {"records, to a feed of lines", :feed, :lines, [format: :lines]},
          {"an endless fraction, to a feed", :feed, :fraction, []},
          {"a string, to a partial document", :partial, :cut_string, []},
          {"records, to a partial document", :partial, :records, []},
          {"records, to a partial document, with changes", :changes, :records, []},
          {"one key, to a partial document", :partial, :one_key, []},
          {"records, to a typed document", :partial, :records, [as: [Item]]},
          {"a string, to a typed document", :partial, :cut_string, [as: :string]},
          {"keys of a map, each twice, to a typed document", :partial, :twice, [as: {:map, :any}]},
          {"tagged structs, to a typed document", :partial, :tags_wide, [as: [@tagged]]},
          {"tagged structs in each other, the tag last, to a typed document", :partial, :tags_last,
           [as: @tagged, max_depth: :infinity]},
          {"tagged structs in each other, the tag first, to a typed document", :partial, :tags_first,
           [as: @tagged, max_depth: :infinity]},
          {"tagged structs of two kinds in each other, to a typed document", :partial, :tags_mixed,
           [as: @tagged, max_depth: :infinity]},
          {"repeated tags, to a typed document", :partial, :tags_repeated, [as: @tagged]},
          {"lists of limited length in each other, to a typed document", :partial, :nested_limits,
           [as: Nest, max_depth: :infinity]},
          {"errors everywhere, to a typed document", :partial, :short_numbers, [as: [:string], errors: :all]},
          {"records, from a stream", :stream, :lines, [format: :lines]}
        ] do
      @tag options: more ++ chosen, family: family, what: what
      test "#{engine}: one byte at a time, #{name}", %{
        options: options,
        family: family,
        what: what,
        test: test
      } do
        sizes = if options[:engine] == :wasm, do: [5_000, 40_000], else: [10_000, 80_000]
        assert_linear(test, for(size <- sizes, do: text(family, size)), &by_bytes(what, &1, options))
      end
    end

    for {name, family, more} <- @encoded do
      @tag options: more ++ chosen, family: family
      test "#{engine}: encoding #{name}", %{options: options, family: family, test: test} do
        options =
          [max_depth: :infinity] ++
            if(options[:engine] == :wasm, do: [max_memory: 2_000_000_000], else: []) ++ options

        decoding = Keyword.take(options, [:engine, :host, :max_memory, :max_depth])
        terms = for size <- sizes(family), do: {size, RustyJson.decode!(text(family, size), decoding)}

        # The VM maps memory anew for a text of more than 512 KB: 80 KB of strings take 59 µs, 1 MB 2,212.
        assert_linear(test, terms, &RustyJson.encode(&1, options), max(most(family), @fresh))
      end
    end

    for {name, family} <- [
          {"members that change places in each other", :unsorted},
          {"records", :records},
          {"empty containers", :empties}
        ] do
      @tag options: chosen, family: family
      test "#{engine}: canonical form of #{name}", %{options: options, family: family, test: test} do
        options = [max_depth: :infinity] ++ options
        texts = for size <- sizes(family), do: text(family, size)
        assert_linear(test, texts, &RustyJson.canonicalize(&1, options), max(most(family), @fresh))
      end
    end

    @tag options: chosen
    test "#{engine}: many members are missing, behind white space", %{options: options, test: test} do
      options = [as: Many, errors: :all, max_errors: 2_000] ++ options
      texts = for size <- @sizes, do: "{" <> String.duplicate(" ", size) <> "}"
      assert_linear(test, texts, fn text -> {:error, _} = RustyJson.decode(text, options) end, @fresh)
    end

    @tag options: chosen
    test "#{engine}: the last of many names", %{options: options} do
      types = for count <- [100, 5_000], do: {:enum, for(number <- 1..count, do: :"name_#{number}")}

      [few, many] =
        for {:enum, names} = type <- types,
            do: {list(inspect("#{List.last(names)}"), 1_000_000), [as: [type]] ++ options}

      # With a function for keys, Elixir makes the values.
      for more <- [[], [keys: & &1]] do
        assert {:ok, _} = RustyJson.decode(elem(many, 0), more ++ elem(many, 1))
        call = fn {text, options} -> fn -> RustyJson.decode(text, more ++ options) end end
        Clock.ratio(4, call.(many), call.(few))
      end
    end

    @tag options: chosen
    test "#{engine}: big integers at the default limit", %{options: options, test: test} do
      number = String.duplicate("9", 1024)

      texts =
        for count <- [100, 1600],
            do: "[" <> Enum.map_join(1..count, ",", fn _ -> number end) <> "]"

      assert_linear(test, texts, &RustyJson.decode(&1, options))
    end
  end

  defp by_bytes(:feed, text, options), do: each_byte(text, Feed.new(options), &Feed.push/2)

  defp by_bytes(:partial, text, options), do: each_byte(text, Partial.new(options), &Partial.push/2)
  defp by_bytes(:changes, text, options), do: each_byte(text, Partial.new(options), &Partial.push_changes/2)

  defp by_bytes(:stream, text, options) do
    bytes = Stream.unfold(text, &with(<<byte, rest::binary>> <- &1, do: {<<byte>>, rest}, else: (_ -> nil)))
    bytes |> RustyJson.decode_stream(options) |> Stream.run()
  end

  defp each_byte(<<byte, rest::binary>>, at, push) do
    answer = push.(at, <<byte>>)
    :ok = elem(answer, 0)
    each_byte(rest, elem(answer, tuple_size(answer) - 1), push)
  end

  defp each_byte("", at, _push), do: at

  # Lists of this depth finish within a scheduler's turn. Deeper ones start again on a dirty scheduler, where the memory of their
  # stack is new: 732 µs at 100 KB, 1,480 at 200 KB, 7,616 at 400 KB (two cores under load). A fit across this step would say
  # nothing about the encoder.
  defp sizes(family) when family in [:deep, :unsorted], do: [10_000, 100_000]
  defp sizes(_family), do: @sizes

  # D(0) = 1, D(n) = [{"a":0,"b":1},{"a":D(n-1),"c":1}]: a parser that backtracks doubles its work per level.
  defp nest(0), do: "1"
  defp nest(n), do: ~s([{"a":0,"b":1},{"a":) <> nest(n - 1) <> ~s(,"c":1}])

  defp most(family) when family in [:wide, :twice, :middle, :deep], do: @one_object

  # 1.6 MB of open brackets took 70 MB of the module's memory, which the system gives page by page in each call: 44 of 50 ms. What the
  # shorter text needs stays. A square would have 2.
  defp most(:brackets), do: @fresh
  # 31 KB of them take 6 µs here; 509 KB, of which 500 binaries are made, move to a dirty scheduler for 320.
  defp most(:long_keys), do: @fresh
  defp most(_family), do: @exponent

  # Inputs are texts, or terms with the sizes of their texts.
  defp assert_linear(test, inputs, call, most \\ @exponent) do
    inputs = for input <- inputs, do: if(is_binary(input), do: {byte_size(input), input}, else: input)
    points = for _ <- 1..@rounds, reduce: nil, do: (before -> round(inputs, call, before))
    points = more(inputs, call, points, most, @most_rounds - @rounds)
    exponent = fit(points)

    if exponent > most,
      do:
        Clock.flunk_unless_busy(
          "time grows as size^#{Float.round(exponent, 2)}: #{inspect(points)} (bytes, µs)"
        ),
      else: tell(test, points, exponent)
  end

  defp more(inputs, call, points, most, rounds) do
    if rounds == 0 or fit(points) <= most,
      do: points,
      else: more(inputs, call, round(inputs, call, points), most, rounds - 1)
  end

  # The time of each size once, or the shorter one of before.
  defp round(inputs, call, before) do
    {largest, _input} = List.last(inputs)

    for {{size, input}, index} <- Enum.with_index(inputs) do
      time = time(call, input, max(div(largest, size), 1))
      {size, if(before, do: min(time, before |> Enum.at(index) |> elem(1)), else: time)}
    end
  end

  if @long do
    defp tell("test " <> name, points, exponent) do
      times =
        Enum.map_join(points, " | ", fn {_size, time} -> :erlang.float_to_binary(time / 1, decimals: 1) end)

      IO.puts("| #{name} | #{times} | #{:erlang.float_to_binary(exponent, decimals: 2)} |")
    end

    defp tell(test, points, exponent), do: tell(Atom.to_string(test), points, exponent)
  else
    defp tell(_test, _points, _exponent), do: :ok
  end

  # Clocks are imprecise for shorter times, which count as this.
  @least 100

  # Microseconds of one of these calls, in a process of its own, so that none pays for the garbage of another.
  defp time(call, input, calls) do
    run = fn -> for _ <- 1..calls, do: call.(input) end
    {micros, _clock, _results} = Task.await(Task.async(fn -> Clock.work(run) end), 120_000)
    max(micros, @least) / calls
  end

  # Least squares on the logarithms.
  defp fit(points) do
    logs = for {size, time} <- points, do: {:math.log(size), :math.log(time)}
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

  defp text(:unsorted, size), do: nested(~S({"b":), "1", ~S(,"a":1}), size)
  defp text(:cut_unicode, size), do: String.duplicate("\"\\u", div(size, 3))
  defp text(:digits, size), do: String.duplicate("1", size)
  defp text(:fraction, size), do: "0." <> String.duplicate("3", size)
  defp text(:exponent, size), do: "1e-" <> String.duplicate("9", size)
  defp text(:cut_string, size), do: "\"" <> String.duplicate("a", size)
  defp text(:one_key, size), do: "{\"" <> String.duplicate("k", size)

  defp text(:lines, size),
    do: String.duplicate(~S({"id":1,"name":"x","tags":[1,2],"ok":true}) <> "\n", div(size, 43))

  defp text(:backslashes, size), do: "\"" <> String.duplicate("\\\\", div(size, 2)) <> "\""
  defp text(:small_objects, size), do: list(~S({"a":1}), size)

  defp text(:short_numbers, size), do: list("1", size)
  defp text(:empty_objects, size), do: list("{}", size)
  defp text(:wrong_dates, size), do: list(~S("2024-13-01"), size)
  defp text(:unusual_dates, size), do: list(~S("2024-1-01"), size)
  defp text(:tags_last, size), do: nested(~S({"next":), ~S(null), ~S(,"t":"leaf"}), size)
  defp text(:tags_first, size), do: nested(~S({"t":"leaf","next":), ~S(null), "}", size)
  defp text(:tags_missing, size), do: nested(~S({"next":), ~S(null), "}", size)

  defp text(:tags_mixed, size),
    do: nested(~S({"others":[{"next":), ~S({"t":"twig"}), ~S(,"kind":"twig"}],"t":"twig"}), size)

  defp text(:tags_repeated, size), do: object(size, 12, fn _ -> ~S("t":"twig") end)
  defp text(:tags_wide, size), do: list(~S({"state":"green","t":"leaf"}), size)

  defp text(:long_keys, size),
    do: object(size, 1_010, &~s("#{String.duplicate("k", 996)}#{&1 + 100_000}":1))

  defp text(:pattern, size), do: ~s({"text":"#{String.duplicate("ab", div(size, 2))}!"})
  defp text(:patterns, size), do: list(~s({"text":"#{String.duplicate("ab", 50)}"}), size)
  defp text(:nested_limits, size), do: nested(~S({"next":[), "{}", "]}", size)
  defp text(:too_long, size), do: ~s({"next":#{list("{}", size)}})
  defp text(:too_large, size), do: ~s({"counts":#{object(size, 8, fn _ -> ~S("key":1) end)}})
  defp text(:long_integers, size), do: list(String.duplicate("7", 1_000), size)
  defp text(:long_floats, size), do: list("0." <> String.duplicate("37", 350), size)
  defp text(:late_error, size), do: String.trim_trailing(list("1", size), "]") <> "}"
  defp text(:deep_error, size), do: String.duplicate(~S([{"a":), div(size, 7)) <> "x"

  defp list(element, size) do
    "[" <> String.duplicate(element <> ",", div(size, byte_size(element) + 1)) <> element <> "]"
  end

  defp nested(before, inside, behind, size) do
    levels = div(size, byte_size(before) + byte_size(behind))
    String.duplicate(before, levels) <> inside <> String.duplicate(behind, levels)
  end

  defp object(size, member, fun) do
    "{" <> Enum.map_join(1..max(div(size, member), 1), ",", fun) <> "}"
  end
end
