defmodule RustyJson.BoundedTextsTest do
  @moduledoc "Terms and iodata that hold the same part many times: limits hold before anything is made of them, and the error is that of the place."

  use ExUnit.Case, async: true

  import RustyJson.Test.Shared, only: [endless: 1, in_time: 2, in_time: 3, shared: 0]

  alias RustyJson.{EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.{Clock, Judge, OtherVM}

  defmodule Iodata do
    defstruct []

    defimpl(RustyJson.Encoder,
      do: def(encode(_, _), do: Enum.reduce(1..60, "", fn _, text -> [text, text] end))
    )
  end

  defmodule Sparse do
    @derive {RustyJson.Encoder, omit: [nil]}
    defstruct for(number <- 1..1_000, do: :"f#{number}")
  end

  defmodule Empty do
    @derive RustyJson.Encoder
    defstruct for(number <- 1..1_000, do: :"f#{number}")
  end

  test "iodata of an encoder, of a function fragment, and in a key" do
    for {_, engine} <- Judge.engines(),
        term <- [
          fn -> %Iodata{} end,
          fn -> [%Iodata{}] end,
          fn -> %Fragment{encode: fn _ -> endless("x") end} end,
          fn -> %{endless(?x) => 1} end
        ] do
      result = in_time(2_000, fn -> RustyJson.encode(term.(), [max_bytes: 1_000] ++ engine) end)
      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end
  end

  # In a VM of its own: Elixir before 1.18 has no such protocol, and other tests rely on that.
  @protocol ~S"""
  unless Code.ensure_loaded?(JSON.Encoder) do
    defmodule JSON do
      def encode_to_iodata!(text), do: [?", text, ?"]
    end

    defprotocol JSON.Encoder do
      def encode(value, encoder)
    end
  end
  """

  @foreign @protocol <>
             ~S"""
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

  @tag :once
  test "iodata of another library's encoder, of which something is hidden or left out" do
    run_foreign(@foreign)
  end

  # The text of each is read again, with those of all structs inside: what an encoder gets of these is hidden already.
  @nested @protocol <>
            ~S"""
            defmodule Nested do
              defstruct [:text, :inner]
            end

            defimpl JSON.Encoder, for: Nested do
              def encode(%{inner: nil, text: text}, encoder), do: [~S({"secret":), encoder.(text, encoder), "}"]
              def encode(%{inner: inner}, encoder), do: [~S({"i":), encoder.(inner, encoder), "}"]
            end

            defmodule Quoted do
              defstruct [:inner]
            end

            defimpl JSON.Encoder, for: Quoted do
              def encode(%{inner: inner}, encoder),
                do: [?", inner |> encoder.(encoder) |> IO.iodata_to_binary() |> Base.encode16(), ?"]
            end

            {:ok, _} = Application.ensure_all_started(:rustyjson)

            nested = fn levels, text ->
              Enum.reduce(1..levels//1, struct(Nested, text: text), fn _, inner -> struct(Nested, inner: inner) end)
            end

            for engine <- ENGINES do
              quoted = struct(Quoted, inner: nested.(2, "password"))
              text = RustyJson.encode!(quoted, [redact: [:secret]] ++ engine)
              ~S({"i":{"i":{"secret":"[REDACTED]"}}}) = text |> String.trim(~S(")) |> Base.decode16!()

              text = String.duplicate("x", 50_000)

              for options <- [[redact: [:other]], [omit: [nil]], [integers: :js_safe]],
                  options = [max_bytes: 60_000] ++ options ++ engine do
                # As many as the default of `:max_depth` allows.
                {:ok, _} = RustyJson.encode([nested.(125, text)], options)
                deep = [nested.(800, text)]
                {:error, %RustyJson.EncodeError{reason: :max_bytes}} = RustyJson.encode(deep, [max_depth: :infinity] ++ options)
              end
            end

            IO.puts("all of them")
            """

  @tag :once
  test "structs of another library's encoder in each other, whose text is read at each level" do
    run_foreign(@nested)
  end

  defp run_foreign(code) do
    engines = inspect(for {_name, options} <- Judge.engines(), do: options)
    task = Task.async(fn -> code |> String.replace("ENGINES", engines) |> OtherVM.run([]) end)

    case Task.yield(task, 50_000) || Task.shutdown(task, :brutal_kill) do
      {:ok, {output, status}} -> assert {status, output =~ "all of them"} == {0, true}, output
      nil -> flunk("no end")
    end
  end

  # `String.Chars` inspects a list that is no text.
  @tag :once
  test "a key that is a list of something else" do
    # wasmex takes no term of so many parts.
    for {name, engine} <- Judge.engines(),
        name != :wasmex,
        term <- [
          fn -> %{[shared()] => 1} end,
          fn -> [%OrderedObject{values: [{[?a | shared()], 1}]}] end,
          fn -> %{[Integer.pow(2, 4_000_000)] => 1} end
        ] do
      result = in_time(2_000, term, &RustyJson.encode(&1, [max_bytes: 1_000] ++ engine))
      assert {:error, %EncodeError{reason: :invalid_key}} = result
      assert {:ok, _text} = in_time(2_000, term, &RustyJson.encode(&1, [unsupported: :inspect] ++ engine))
    end

    for key <- [["a" | "b"], [[], ?a, [[?b]]], ~c"ab"],
        do: assert(Judge.encode(%{key => 1}, []) == {:ok, ~s({"ab":1})})
  end

  # None of it is in the text, and each list has it 20,000 times.
  @tag :time
  @tag :once
  test "members that are gathered for nothing or left out, and elements of improper lists" do
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
          {List.duplicate(1, 2_000) ++ 1, [unsupported: fn _ -> 1 end]}
        ] do
      result =
        in_time(5_000, fn ->
          RustyJson.encode(List.duplicate(part, 20_000), [max_bytes: 100_000] ++ options ++ engine)
        end)

      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end

    # Large ones are no error.
    assert {:ok, "{}"} = Judge.encode(Map.new(1..500_000, &{&1, nil}), omit: [nil], max_bytes: 100)

    lists = List.duplicate([String.duplicate("a", 90_000), [1, 2] | :x], 100)
    assert {:ok, "[1,1" <> _} = Judge.encode(lists, unsupported: fn _ -> 1 end, max_bytes: 1_000)
  end

  # An improper list was written before its end was seen, and then taken back.
  @tag :once
  test "nothing of an improper list is written" do
    number = Integer.pow(7, 400_000)

    for {_, engine} <- Judge.engines(),
        list <- [[number | :x], [[[number]], number | 1], [%{a: [number | 1], b: number} | %{}]],
        wrap <- [& &1, &[&1], &%{a: {1, &1}}, &%{"a" => %{"b" => [[], &1]}}],
        more <- [[], [redact: ["/0/1/b", "/a/1/1/b"]], [sort_keys: true], [pretty: true]] do
      options = [unsupported: fn _ -> 1 end, max_bytes: 1_000_000] ++ more ++ engine
      term = wrap.(List.duplicate(list, 20))
      result = in_time(2_000, fn -> RustyJson.encode(term, options) end)
      assert result == RustyJson.encode(wrap.(List.duplicate(1, 20)), options)
    end

    # So nothing in it is an error.
    for inside <- [<<255>>, Enum.reduce(1..200, 1, fn _, list -> [list] end), String.duplicate("x", 2_000)] do
      assert {:ok, "[1,[2]]"} =
               Judge.encode([[3, inside | 4], [2]], unsupported: fn _ -> 1 end, max_bytes: 1_000)
    end
  end

  # Each of the parts that Elixir asks for had a count of its own.
  @tag :time
  @tag :once
  test "what leaves no text counts for all parts of a call together" do
    sparse = %{~c"k" => Map.new(1..100_000, &{&1, nil})}
    odd = Map.new(1..10_000, &{~c"#{&1}", nil})
    # Of 2^16 parts.
    empty = Enum.reduce(1..16, "", fn _, part -> [part, part] end)
    improper = %{~c"k" => [Enum.to_list(1..100_000) ++ :x]}

    for {name, engine} <- Judge.engines(),
        name != :wasmex,
        {part, options} <- [
          {sparse, [redact: ["none"], omit: [nil]]},
          {[sparse], [omit: [nil], sort_keys: true]},
          {improper, [redact: ["none"], unsupported: fn _ -> 1 end]},
          {odd, [omit: [nil]]},
          {%OrderedObject{values: Map.to_list(odd)}, [omit: [nil]]},
          {%Fragment{encode: [empty | "1"]}, [pretty: true]}
        ] do
      options = [max_bytes: 10_000] ++ options ++ engine
      assert {:ok, _text} = RustyJson.encode(List.duplicate(part, 5), options)
      result = in_time(3_000, fn -> RustyJson.encode(List.duplicate(part, 500), options) end)
      assert {:error, %EncodeError{reason: :max_bytes, path: "/" <> _}} = result
    end
  end

  # Each level wrote all that is inside it, which was taken back at the key that only Elixir knows.
  @tag :once
  test "maps in each other with keys that only Elixir knows take time in proportion to their text" do
    nested = fn levels ->
      Enum.reduce(1..levels, String.duplicate("x", 1_000_000), fn _, inner -> %{1 => inner, ~c"k" => 0} end)
    end

    for {name, engine} <- Judge.engines(), name != :wasmex do
      options = [redact: ["none"], max_depth: :infinity] ++ engine
      [flat, deep] = for levels <- [1, 500], do: fn -> RustyJson.encode!(nested.(levels), options) end
      calls = fn run, times -> fn -> for(_ <- 1..times, do: run.()) end end
      Clock.ratio(6, deep, calls.(flat, 20))
    end
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
        in_time(2_000, fn ->
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
        in_time(5_000, fn ->
          RustyJson.encode(List.duplicate(fragment, 100_000), [max_bytes: 200_000] ++ engine)
        end)

      assert {:error, %EncodeError{reason: :max_bytes}} = result
    end
  end
end
