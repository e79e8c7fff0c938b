defmodule RustyJson.BoundedTextsTest do
  @moduledoc "Terms and iodata that hold the same part many times: limits hold before anything is made of them, and texts about them are short."
  use ExUnit.Case, async: true

  alias RustyJson.{EncodeError, Feed, Fragment, OrderedObject, Paths, SandboxError}
  alias RustyJson.Encode.{Measure, Unsupported}
  alias RustyJson.Test.{Judge, OtherVM, Structs}

  defmodule Iodata do
    defstruct []

    defimpl(RustyJson.Encoder,
      do: def(encode(_, _), do: Enum.reduce(1..60, "", fn _, text -> [text, text] end))
    )
  end

  defmodule Key do
    defstruct [:number]

    defimpl String.Chars do
      def to_string(%{number: number}) do
        Process.put(Key, Process.get(Key, 0) + 1)
        String.duplicate("k", 100) <> "#{number}"
      end
    end
  end

  defmodule Long do
    defstruct []
    defimpl(Inspect, do: def(inspect(_, _), do: String.duplicate("é", 1_000_000)))
  end

  defmodule Sparse do
    @derive {RustyJson.Encoder, omit: [nil]}
    defstruct for(number <- 1..1_000, do: :"f#{number}")
  end

  defmodule Empty do
    @derive RustyJson.Encoder
    defstruct for(number <- 1..1_000, do: :"f#{number}")
  end

  defp endless(part), do: Enum.reduce(1..60, part, fn _, text -> [text, text] end)
  defp shared, do: Enum.reduce(1..60, "x", fn _, term -> [{term, %{term => term}}] end)

  defp within(most, fun), do: within(most, fn -> nil end, fn nil -> fun.() end)

  # The term is made in the process that takes the time: a message to another one has a copy of each part.
  defp within(most, term, fun) do
    task =
      Task.async(fn ->
        term = term.()
        :timer.tc(fn -> fun.(term) end)
      end)

    case Task.yield(task, 20_000) || Task.shutdown(task, :brutal_kill) do
      {:ok, {time, result}} ->
        assert div(time, 1000) < most
        result

      nil ->
        flunk("no end")
    end
  end

  test "iodata of an encoder, of a function fragment, and in a key" do
    for {_, engine} <- Judge.engines(),
        term <- [
          fn -> %Iodata{} end,
          fn -> [%Iodata{}] end,
          fn -> %Fragment{encode: fn _ -> endless("x") end} end,
          fn -> %{endless(?x) => 1} end
        ] do
      result = within(2_000, fn -> RustyJson.encode(term.(), [max_bytes: 1_000] ++ engine) end)
      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end
  end

  # In a VM of its own: Elixir before 1.18 has no such protocol, and other tests rely on that.
  @foreign ~S"""
  unless Code.ensure_loaded?(JSON.Encoder) do
    defprotocol JSON.Encoder do
      def encode(value, encoder)
    end
  end

  defmodule Shared do
    defstruct [:part, :levels]
  end

  defimpl JSON.Encoder, for: Shared do
    def encode(%{part: part, levels: levels}, _encoder),
      do: [?", Enum.reduce(1..levels, part, fn _, text -> [text, text] end), ?"]
  end

  {:ok, _} = Application.ensure_all_started(:rustyjson)

  for engine <- ENGINES,
      options <- [[redact: [:a]], [redact: ["/a/b"]], [omit: [nil]], [key_case: :camel], [integers: :js_safe]],
      options = [max_bytes: 1_000] ++ options ++ engine do
    {:ok, ~S(["xxxx"])} = RustyJson.encode([struct(Shared, part: "x", levels: 2)], options)

    for part <- ["x", ""] do
      {time, result} =
        :timer.tc(fn -> RustyJson.encode([struct(Shared, part: part, levels: 60)], options) end)

      {:error, %RustyJson.EncodeError{reason: :max_bytes}} = result
      true = time < 2_000_000
    end
  end

  IO.puts("all of them")
  """

  test "iodata of another library's encoder, of which something is hidden or left out" do
    engines = inspect(for {_name, options} <- Judge.engines(), do: options)
    task = Task.async(fn -> @foreign |> String.replace("ENGINES", engines) |> OtherVM.run([]) end)

    case Task.yield(task, 50_000) || Task.shutdown(task, :brutal_kill) do
      {:ok, {output, status}} -> assert {status, output =~ "all of them"} == {0, true}, output
      nil -> flunk("no end")
    end
  end

  # `String.Chars` inspects a list that is no text.
  test "a key that is a list of something else" do
    for {_, engine} <- Judge.engines(),
        term <- [
          fn -> %{[shared()] => 1} end,
          fn -> [%OrderedObject{values: [{[?a | shared()], 1}]}] end,
          fn -> %{[Integer.pow(2, 4_000_000)] => 1} end
        ] do
      result = within(2_000, term, &RustyJson.encode(&1, [max_bytes: 1_000] ++ engine))
      assert {:error, %EncodeError{reason: :invalid_key}} = result
      assert {:ok, _text} = within(2_000, term, &RustyJson.encode(&1, [unsupported: :inspect] ++ engine))
    end

    for key <- [["a" | "b"], [[], ?a, [[?b]]], ~c"ab"],
        do: assert(Judge.encode(%{key => 1}, []) == {:ok, ~s({"ab":1})})
  end

  # None of it is in the text, and each list has it 20,000 times.
  test "members that are gathered for nothing, left out, or taken back" do
    keys = Map.new(1..2_000, &{&1, nil})
    object = OrderedObject.new(List.duplicate({"", 1}, 2_000) ++ [{~c"k", 1}])

    for {_, engine} <- Judge.engines(),
        {part, options} <- [
          {object, [sort_keys: true]},
          {object, [maps: :strict, unsupported: :inspect]},
          {object, [key_case: :camel]},
          {keys, [omit: [nil]]},
          {keys, [omit: [nil], sort_keys: true]},
          {%Sparse{}, []},
          {%Sparse{}, [sort_keys: true]},
          {%Empty{}, [omit: [nil]]},
          {%Empty{}, [omit: [nil], maps: :strict]},
          {[List.duplicate(1, 2_000) | 1], [unsupported: fn _ -> 1 end]}
        ] do
      result =
        within(5_000, fn ->
          RustyJson.encode(List.duplicate(part, 20_000), [max_bytes: 100_000] ++ options ++ engine)
        end)

      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end

    # Large ones are no error, and what is taken back counts alike in both engines.
    assert {:ok, "{}"} = Judge.encode(Map.new(1..500_000, &{&1, nil}), omit: [nil], max_bytes: 100)
    lists = List.duplicate([String.duplicate("a", 90_000) | :x], 40)

    assert {:error, %{reason: :max_bytes}} =
             Judge.encode(lists, unsupported: fn _ -> 1 end, max_bytes: 100_000)

    assert {:ok, "[1,1" <> _} = Judge.encode(lists, unsupported: fn _ -> 1 end, max_bytes: 1_000_000)
  end

  # `inspect/2` of a term that holds a part many times has no end.
  test "messages about a struct without an encoder" do
    term = fn -> %Structs.Bare{name: shared()} end

    for {_, engine} <- Judge.engines() do
      [told, explained] =
        within(2_000, term, fn term ->
          {:error, %{reason: :unsupported, message: told}} = :rustyjson.encode(term, engine)
          {:error, error} = RustyJson.encode(term, engine)
          [told, RustyJson.DecodeError.explain(error)]
        end)

      assert told == explained
      assert told =~ "protocol RustyJson.Encoder not implemented for %RustyJson.Test.Structs.Bare{"
      assert byte_size(told) < 10_000
    end

    {:error, message: message} = within(2_000, term, &RustyJson.EctoType.cast(&1, %{column: :text}))
    assert message =~ "cannot be stored as JSON: protocol RustyJson.Encoder not implemented for %"
  end

  # All of them were made before the limit was looked at.
  test "texts of keys" do
    keys = for number <- 1..100, do: %Key{number: number}
    texts = Map.new(keys, &{to_string(&1), 1})

    for {_, engine} <- Judge.engines(),
        options <- [[], [sort_keys: true], [maps: :strict], [omit: [nil]], [redact: ["/a"]]],
        options = [max_bytes: 2_000] ++ options ++ engine,
        object <- [Map.new(keys, &{&1, 1}), OrderedObject.new(Enum.map(keys, &{&1, 1}))] do
      Process.delete(Key)
      assert RustyJson.encode([object], options) == RustyJson.encode([texts], options)
      assert Process.get(Key) in 1..20
    end
  end

  test "texts of keys that have room, and those of members that are left out" do
    [written, left_out] = for value <- [1, nil], do: Map.new(1..20, &{%Key{number: &1}, value})

    for {_, engine} <- Judge.engines(), options <- [[sort_keys: true], [omit: [nil]], [maps: :strict]] do
      {:ok, text} = RustyJson.encode(written, options ++ engine)
      assert RustyJson.encode(written, [max_bytes: byte_size(text)] ++ options ++ engine) == {:ok, text}
    end

    assert RustyJson.encode(left_out, max_bytes: 2, omit: [nil]) == {:ok, "{}"}
  end

  test "iodata that is pushed to a stream of the sandbox" do
    for {_, [_ | _] = engine} <- Judge.engines(), engine[:engine] == :wasm do
      options = [timeout: 200, on_error: :tag] ++ engine

      for call <- [
            fn -> Feed.push(Feed.new(options), endless("1")) end,
            fn -> [endless("1")] |> RustyJson.decode_stream(options) |> Enum.to_list() end,
            fn -> endless("1") |> RustyJson.decode_stream(options) |> Enum.to_list() end
          ] do
        assert within(5_000, call) |> inspect() =~ ":timeout"
      end

      assert {:ok, [ok: 11], _} = Feed.push(Feed.new(options), ["1", [?1 | " "]])
    end
  end

  test "iodata that is decoded" do
    for {_, engine} <- Judge.engines() do
      options = [max_bytes: 1_000] ++ engine

      assert {:error, %{reason: :max_bytes}} =
               within(2_000, fn -> RustyJson.decode(endless("1"), options) end)

      assert {:error, %{reason: :max_bytes}} =
               within(2_000, fn -> RustyJson.decode_partial(endless(""), options) end)

      assert {:error, %{reason: :max_bytes}} =
               within(2_000, fn -> RustyJson.fetch(endless(?1), "/a", options) end)

      assert {:ok, [1]} = RustyJson.decode(["[", [?1 | "]"]], options)
      assert {:ok, 111} = RustyJson.decode(["1", "1", "1"], [max_bytes: 3] ++ engine)
      assert {:error, %{reason: :max_bytes}} = RustyJson.decode(["1", "1", "11"], [max_bytes: 3] ++ engine)
    end
  end

  # Without `max_bytes`, its memory and its time were looked at only after the iodata had become a binary.
  test "iodata in the sandbox, by its memory and its time" do
    calls = [
      &RustyJson.decode(endless("1"), &1),
      &RustyJson.decode(endless([]), &1),
      &RustyJson.decode_partial(endless("1"), &1),
      &hd(RustyJson.decode_many([endless("1")], &1)),
      &RustyJson.encode(%Fragment{encode: fn _ -> endless("1") end}, &1),
      &RustyJson.encode([%Fragment{encode: endless("1")}], [pretty: true] ++ &1),
      &RustyJson.encode(%{endless(?a) => 1}, &1),
      &RustyJson.encode(%Iodata{}, &1),
      &RustyJson.encode([1, %Iodata{}], &1),
      &RustyJson.encode([1, %Iodata{}], [sort_keys: true, unsupported: :inspect] ++ &1),
      &RustyJson.canonicalize(endless("1"), &1)
    ]

    for {_, [engine: :wasm] ++ _ = engine} <- Judge.engines(), call <- calls do
      assert {:error, %SandboxError{reason: reason}} =
               within(2_000, fn -> call.([timeout: 100] ++ engine) end)

      assert reason in [:timeout, :memory_limit]
    end

    for {_, [engine: :wasm] ++ _ = engine} <- Judge.engines() do
      options = [max_memory: 2_097_152] ++ engine
      long = List.duplicate(String.duplicate("1", 1_000), 3_000)
      assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.decode(long, options)

      assert {:error, %SandboxError{reason: :memory_limit}} =
               RustyJson.encode(%Fragment{encode: fn _ -> long end}, options)

      # Each of them fits.
      fragments = List.duplicate(%Fragment{encode: fn _ -> Enum.take(long, 1_500) end}, 3)

      for more <- [[], [pretty: true]] do
        assert {:error, %SandboxError{reason: :memory_limit}} = RustyJson.encode(fragments, more ++ options)
      end
    end
  end

  test "the pieces of a stream in the sandbox" do
    for {_, [engine: :wasm] ++ _ = engine} <- Judge.engines(),
        row <- [%Iodata{}, [%Iodata{}, RustyJson.lazy([1])]] do
      error =
        within(3_000, fn ->
          try do
            [row] |> RustyJson.encode_stream([timeout: 100] ++ engine) |> Stream.run()
          rescue
            error in SandboxError -> error.reason
          end
        end)

      assert error in [:timeout, :memory_limit]
    end
  end

  test "iodata that is formatted" do
    for fun <- [&RustyJson.Formatter.minify/2, &RustyJson.Formatter.pretty_print/2] do
      error = within(2_000, fn -> catch_error(fun.(endless(" 1"), max_bytes: 1_000)) end)
      assert %{reason: :max_bytes, message: "Output longer than 1000 bytes" <> _} = error
    end

    spaces = [List.duplicate(" ", 50_000), "1"]
    assert RustyJson.Formatter.minify(spaces, max_bytes: 10) == "1"
  end

  test "iodata that is pushed as server-sent events" do
    for part <- ["x", ?x, "data: xyz\n"] do
      stream = RustyJson.ServerSentEvents.new(max_bytes: 2_000_000)

      assert {:error, %{reason: :max_bytes, position: 2_000_000}, []} =
               within(5_000, fn -> RustyJson.ServerSentEvents.push(stream, endless(part)) end)
    end

    chunks = List.duplicate(["data: ", [?1 | "\n\n"]], 200_000)
    {:ok, events, _} = RustyJson.ServerSentEvents.push(RustyJson.ServerSentEvents.new(), chunks)
    assert length(events) == 200_000
    assert Enum.uniq(events) == [%{data: "1", event: "message", id: "", retry: nil}]
  end

  # In the sandbox the path had one key more, or less, depending on how the key is written.
  test "the path of a text that is too long is the place of the limit, in each engine" do
    terms = [
      %{"k\"23456789" => 0, "k\"3456789" => nil, "k\"456789" => %{Integer.pow(7, 26) => nil, nil => nil}},
      [
        1,
        %{"a" => String.duplicate("x", 50), b: [~D[2024-02-29], %{1.5 => 2}]},
        String.duplicate("y", 200)
      ],
      for(n <- 1..40, do: {n, n})
    ]

    for term <- terms,
        options <- [[], [pretty: true], [sort_keys: true], [pretty: true, sort_keys: true]],
        options = [unsupported: :inspect] ++ options,
        max <- 1..min(200, byte_size(RustyJson.encode!(term, options)) - 1) do
      [first | others] =
        for {_, engine} <- Judge.engines() do
          {:error, error} = RustyJson.encode(term, [max_bytes: max] ++ options ++ engine)
          {max, options, error.reason, error.path, error.message}
        end

      assert {_, _, :max_bytes, _, _} = first
      for other <- others, do: assert(other == first)
    end

    assert {:error, %{path: "/1/a"}} = RustyJson.encode([1, %{"a" => "xxxxx"}, 2], max_bytes: 10)
  end

  test "an error of a term behind the limit is not told, and one in front of it is" do
    for bad <- [<<20, 128>>, [1, 2 | 3], %{{1, 2} => 3}],
        options <- [[], [pretty: true], [sort_keys: true], [omit: [Date]]],
        term = [String.duplicate("x", 30), %{"k" => bad}],
        max <- [1, 20, 30, 34, 38, 42, 60, 100] do
      [first | others] =
        for {_, engine} <- Judge.engines() do
          {:error, error} = RustyJson.encode(term, [max_bytes: max] ++ options ++ engine)
          {max, options, error.reason, error.path, error.message}
        end

      expected =
        if max <= 30, do: [:max_bytes], else: [:max_bytes, :invalid_utf8, :improper_list, :invalid_key]

      assert elem(first, 2) in expected
      if max == 100, do: assert(elem(first, 2) != :max_bytes)
      for other <- others, do: assert(other == first)
    end
  end

  test "iodata that is a fragment's content, with and without text" do
    for {_, engine} <- Judge.engines(),
        part <- ["", [], [[] | ""], "x"],
        wrap <- [& &1, &[&1, 1], &%{"a" => &1}] do
      result =
        within(2_000, fn ->
          RustyJson.encode(wrap.(%Fragment{encode: endless(part)}), [max_bytes: 1_000] ++ engine)
        end)

      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end
  end

  # A call in slices counts the parts of all of them.
  test "fragments whose parts are many together" do
    fragment = %Fragment{encode: Enum.reduce(1..18, "", fn _, text -> [text, text] end)}

    for {_, engine} <- Judge.engines() do
      result =
        within(5_000, fn ->
          RustyJson.encode(List.duplicate(fragment, 100_000), [max_bytes: 200_000] ++ engine)
        end)

      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end
  end

  test "iodata that is pushed into a feed, and is the source of a stream" do
    for {_, engine} <- Judge.engines(), part <- ["1 ", "", []] do
      options = [max_total_bytes: 1_000] ++ engine
      numbers = List.duplicate(1, if(part == "1 ", do: 500, else: 0))

      assert {:error, %{reason: :max_total_bytes}, ^numbers, _} =
               within(2_000, fn -> options |> Feed.new() |> Feed.push(endless(part)) end)

      tagged =
        within(2_000, fn ->
          endless(part) |> RustyJson.decode_stream([on_error: :tag] ++ options) |> Enum.to_list()
        end)

      {last, values} = List.pop_at(tagged, -1)
      assert {:error, %{reason: :max_total_bytes}} = last
      assert values == Enum.map(numbers, &{:ok, &1})
    end
  end

  test "iodata that is a piece of a stream" do
    for {_, engine} <- Judge.engines(), part <- ["1 ", "", []] do
      options = [max_total_bytes: 1_000] ++ engine
      test = self()

      # The source has no end.
      source = fn ->
        Stream.resource(fn -> nil end, &{[endless(part)], &1}, fn _ -> send(test, :closed) end)
      end

      tagged =
        within(2_000, fn ->
          source.() |> RustyJson.decode_stream([on_error: :tag] ++ options) |> Enum.to_list()
        end)

      assert {{:error, %{reason: :max_total_bytes}}, values} = List.pop_at(tagged, -1)
      assert length(values) == if(part == "1 ", do: 500, else: 0)
      assert_received :closed

      assert {:raised, :max_total_bytes} =
               within(2_000, fn ->
                 try do
                   source.() |> RustyJson.decode_stream(options) |> Stream.run()
                 rescue
                   error in RustyJson.DecodeError -> {:raised, error.reason}
                 end
               end)

      assert_received :closed
    end
  end

  test "maps that hold the same map twice, as the document of a stream" do
    for {_, engine} <- Judge.engines() do
      text =
        within(2_000, fn ->
          document = Enum.reduce(1..60, "x", fn _, map -> %{a: map, b: map} end)

          try do
            document |> RustyJson.encode_stream([max_bytes: 1_000] ++ engine) |> Enum.join()
          rescue
            error in EncodeError -> error.reason
          end
        end)

      assert text == :max_bytes
    end
  end

  test "unsupported: :inspect writes a bounded text" do
    for {_, engine} <- Judge.engines() do
      text = fn term ->
        within(3_000, fn -> RustyJson.encode!(term.(), [unsupported: :inspect] ++ engine) end)
      end

      assert byte_size(text.(fn -> [%Long{}] end)) < 8_300
      assert byte_size(text.(fn -> %{%Long{} => 1} end)) < 8_300
      assert text.(fn -> [[1 | 2]] end) == ~s(["[1 | 2]"])
    end
  end

  test "what is described is a part of a term" do
    for term <- [
          fn -> shared() end,
          fn -> MapSet.new([shared()]) end,
          fn -> %URI{path: shared()} end,
          fn -> %RuntimeError{message: shared()} end,
          fn ->
            {1, shared() |> List.duplicate(100_000) |> Enum.with_index() |> Map.new(fn {t, n} -> {n, t} end)}
          end,
          fn -> List.duplicate(shared(), 100_000) end,
          fn -> [Integer.pow(7, 100_000) | 1] end,
          fn -> String.duplicate("x", 10_000_000) end
        ] do
      text = within(5_000, term, &Unsupported.describe/1)
      assert byte_size(text) < 9_000
      assert String.valid?(text)

      message = within(5_000, term, &EncodeError.new({:invalid_struct, %{~D[2024-02-29] | day: &1}}).message)
      assert byte_size(message) < 9_000
    end

    assert Unsupported.describe(%{"a" => [1, {2}], "b" => "x"}) == ~s(%{"a" => [1, {2}], "b" => "x"})
    assert Unsupported.describe(Enum.to_list(1..100)) =~ ~r/^\[1, 2, .*16, \.\.\.\]$/
  end

  # `inspect/2` shows every digit, however few elements it shows, in quadratic time.
  test "messages about what is no option, no iodata or no pointer" do
    calls = [
      &RustyJson.encode(%Fragment{encode: fn _ -> &1 end}, []),
      &RustyJson.encode(1, pretty: [&1]),
      &RustyJson.encode(1, redact: [[&1]]),
      &RustyJson.encode(1, %{{:a, &1} => 1}),
      &RustyJson.decode("1", [&1]),
      &RustyJson.decode("1", max_bytes: [&1]),
      &RustyJson.decode("1", unknown_options: [&1]),
      &RustyJson.decode("[]", "", array_finish: fn _, _ -> [&1] end),
      &RustyJson.decode_many(&1),
      &RustyJson.decode_many([{&1}]),
      &RustyJson.decode_partial("1", lenient: [&1]),
      &RustyJson.fetch("1", &1),
      &RustyJson.select("1", &1),
      &RustyJson.LogFormatter.new(metadata: [&1]),
      &RustyJson.Schema.json_schema({&1})
    ]

    for part <- [fn -> Bitwise.bsl(1, 2_000_000) end, fn -> {shared(), 1} end], call <- calls do
      message =
        within(2_000, part, fn part ->
          try do
            {:error, error} = call.(part)
            Exception.message(error)
          rescue
            error in ArgumentError -> error.message
          end
        end)

      assert message =~ "..."
      assert byte_size(message) < 2_000
    end
  end

  test "sizes" do
    assert Measure.fits?([1, {2, %{a: "xy"}} | :b], 8, 2)
    refute Measure.fits?([1, {2, %{a: "xy"}} | :b], 5, 2)
    refute Measure.fits?([1, {2, %{a: "xy"}} | :b], 8, 1)
    refute Measure.fits?(Integer.pow(7, 1_000), 8, 100)
    assert Measure.text?(["ab", [?c | "d"]], 4)
    refute Measure.text?(["ab", [?c | "d"]], 3)
    assert Measure.bytes(["abc", [?d | "efg"]], 5) == {"abcde", true}
    assert Measure.bytes("abcdefg", 5) == {"abcde", true}
    assert Measure.text([?é, ["x" | "ü"]], 9) == {:ok, "éxü"}
    assert Measure.text(["éé"], 3) == {:cut, "é"}
    assert Measure.text([?a | :b], 9) == :error
  end

  test "inspect of what users hold is one short line" do
    for term <- [
          Paths.new!(for(n <- 1..1_000, do: "/key#{n}")),
          RustyJson.Feed.new(at: "/" <> String.duplicate("/a", 1_000)),
          RustyJson.Partial.new(),
          RustyJson.Encode.opts(),
          RustyJson.Schema.Shape.of({:list, {:enum, for(n <- 1..500, do: :"enum_name_#{n}")}})
        ] do
      text = inspect(term)
      assert byte_size(text) < 200
      assert text =~ ~r/^#RustyJson\.[\w.]+<.*>$/
    end
  end
end
