defmodule RustyJson.KnownOptionsTest do
  @moduledoc "The cache of option lists never changes a result."

  use ExUnit.Case, async: false

  alias RustyJson.{Config, Options}
  alias RustyJson.Encoder.Plans
  alias RustyJson.Options.Cache
  alias RustyJson.Test.Trace

  require Cache

  setup do
    on_exit(fn ->
      Application.delete_env(:rustyjson, :decode)
      Config.reload()
    end)

    Config.reload()
  end

  defp known(function), do: Cache.all() |> Cache.lists(function) |> elem(1)

  defp lists(known),
    do:
      for({name, entries} <- known, {value, rest, {_ready, _options}} <- entries, do: [{name, value} | rest])

  # So many sets of options are kept: this far from a number is one of another instance, for the same place.
  @places 128

  test "a list is remembered, and gives the same options" do
    first = Options.decode(max_depth: 3)
    assert %{max_depth: [{3, [], {_ready, ^first}}]} = known(:decode)
    assert Options.decode(max_depth: 3) == first
    assert {:error, %{reason: :max_depth}} = RustyJson.decode("[[[[]]]]", max_depth: 3)
    assert {:ok, [[[[]]]]} = RustyJson.decode("[[[[]]]]", max_depth: 4)
    assert RustyJson.decode!("[[]]", max_depth: 3) == [[]]
    assert_raise RustyJson.DecodeError, fn -> RustyJson.decode!("[[[[]]]]", max_depth: 3) end
  end

  test "lists with the same first name are told apart, whatever is in them" do
    term = %{"a" => nil, "b" => "/", "c" => 2 ** 53, d: 1}

    lists = [
      [redact: ["a"]],
      [redact: ["b"]],
      [redact: ["a", "b"]],
      [redact: [:a]],
      [redact: [:a], integers: :js_safe],
      [redact: [:d], omit: [nil]],
      [key_case: %{d: "x"}],
      [key_case: %{d: "y"}]
    ]

    texts = for list <- lists, do: RustyJson.encode!(term, list)
    assert for(list <- lists, do: RustyJson.encode!(term, list)) == texts
    assert for(list <- lists, do: RustyJson.encode(term, list)) == Enum.map(texts, &{:ok, &1})
    assert Enum.sort(lists(known(:encode))) == Enum.sort(lists)
    # Atoms and strings are one key.
    assert texts |> Enum.uniq() |> length() == length(lists) - 1
  end

  test "a list with an improper end is refused, whatever is known" do
    assert RustyJson.encode!(%{a: 1}, redact: [:a]) == ~s({"a":"[REDACTED]"})
    assert_raise ArgumentError, fn -> RustyJson.encode!(%{a: 1}, [{:redact, [:a]} | :b]) end
    assert_raise ArgumentError, fn -> RustyJson.encode!(%{a: 1}, redact: [:a | :b]) end
    assert_raise ArgumentError, fn -> RustyJson.encode!(%{a: 1}, omit: [nil | :b]) end
  end

  if :native in Keyword.keys(RustyJson.Test.Judge.engines()) do
    alias RustyJson.Engine.Native.Nif

    test "the native library knows only the numbers that it gave" do
      bytes = Options.encode(escape: :html_safe, engine: :native).bytes
      number = Nif.keep_options(:encode, bytes)
      assert is_integer(number) and Nif.keep_options(:encode, bytes) == number
      assert Nif.encode(["</"], number, nil) == ~S(["\u003C\/"])
      assert Nif.encode(["</"], bytes, nil) == ~S(["\u003C\/"])

      assert Nif.encode(["</"], Nif.keep_options(:encode, Options.encode(engine: :native).bytes), nil) ==
               ~s(["</"])

      # Those of another instance: Elixir then sends the bytes.
      for wrong <- [number + @places, number - 1_000_000, 1, -1, -(2 ** 59), 2 ** 59 - 1],
          do: assert(Nif.encode(["</"], wrong, nil) == :dirty)

      for wrong <- ["", <<0>>, binary_part(bytes, 0, 9)] do
        assert Nif.keep_options(:encode, wrong) == wrong
        assert_raise ArgumentError, fn -> Nif.encode([1], wrong, nil) end
      end
    end

    test "numbers of options of decode are its own, and a call without limits or parts" do
      bytes = Options.decode(floats: :decimals, engine: :native).bytes
      number = Nif.keep_options(:decode, bytes)
      assert is_integer(number) and Nif.keep_options(:decode, bytes) == number
      assert {:ok, [%{coef: 150, exp: -2}]} = Nif.decode("[1.50]", number)
      assert Nif.decode("[1.50]", number) == Nif.decode("[1.50]", bytes)
      assert {:error, {_, 1, 1, 2, "/0"}} = Nif.decode("[", number)

      for wrong <- [number + @places, number - 1_000_000, 1, -1, -(2 ** 59), 2 ** 59 - 1],
          do: assert(Nif.decode("[1.50]", wrong) == :dirty)

      for wrong <- ["", <<0>>, binary_part(bytes, 0, 9), bytes <> <<4>>],
          do: assert(Nif.keep_options(:decode, wrong) == wrong)
    end
  end

  test "maps of options are known too, and are no lists" do
    for _ <- 1..2 do
      assert {:error, %{reason: :max_depth}} = RustyJson.decode("[[[]]]", %{max_depth: 2})
      assert {:ok, [[[]]]} = RustyJson.decode("[[[]]]", %{max_depth: 3})
    end

    assert [_, _] = known(:decode)[%{}]

    for wrong <- [nil, [], %{}, 1],
        do: assert_raise(ArgumentError, fn -> RustyJson.decode("1", [{wrong, 2}]) end)

    assert_raise ArgumentError, fn -> RustyJson.decode("1", [{%{}, %{max_depth: 2}}]) end
  end

  test "what functions with options of their own were given is known" do
    calls = [
      decode_stream: fn -> RustyJson.decode_stream("[1,2]", at: "/*", max_depth: 1) |> Enum.to_list() end,
      parts: fn -> RustyJson.fetch(~s({"a":[1]}), "/a", as: :raw, strings: :copy) end,
      partial: fn -> RustyJson.decode_partial("[1,2", trailing: :drop) end,
      canonicalize: fn -> RustyJson.canonicalize("[1.0]", max_depth: 1) end,
      encode_stream: fn ->
        [1, 2] |> RustyJson.encode_stream(format: :lines, sort_keys: true) |> Enum.to_list()
      end,
      formatter: fn -> RustyJson.Formatter.pretty_print("[1]", indent: 1) end
    ]

    for {function, call} <- calls do
      assert known(function) == %{}
      first = call.()
      assert [_one] = lists(known(function))
      assert call.() == first
      assert [_one] = lists(known(function))
    end

    # A call without options is looked up too, and is learnt once.
    for _ <- 1..3,
        do: {RustyJson.fetch("[1]", "/0"), RustyJson.Formatter.minify("[1]"), RustyJson.canonicalize("1")}

    for function <- [:parts, :formatter, :canonicalize] do
      assert {{_ready, _known}, lists} = Cache.lists(Cache.all(), function)
      assert map_size(lists) == 1
    end

    # The value for what is missing can be anything.
    assert RustyJson.fetch("{}", "/a", missing: {:default, 1}) == {:ok, 1}
    assert [_one] = lists(known(:parts))
  end

  test "decode and encode, and the order of options, are told apart" do
    assert Options.decode(max_depth: 5) != Options.encode(max_depth: 5)
    assert {:ok, %{a: 1}} = RustyJson.decode(~s({"a":1}), keys: :strings, keys: :atoms!)
    assert {:ok, %{"a" => 1}} = RustyJson.decode(~s({"a":1}), keys: :atoms!, keys: :strings)
    assert {:ok, "[\n  1\n]"} = RustyJson.encode([1], pretty: true)
    assert {:ok, "[1]"} = RustyJson.encode([1], pretty: false)
  end

  test "lists of encode with the same first option are told apart" do
    lists =
      for escape <- [:html_safe, :javascript_safe, :json],
          rest <- [[], [pretty: true]],
          do: [escape: escape] ++ rest

    texts = for list <- lists, do: RustyJson.encode!(["<\u2028"], list)
    assert lists(known(:encode)) == lists
    assert for(list <- lists, do: RustyJson.encode!(["<\u2028"], list)) == texts
    assert texts |> Enum.uniq() |> length() == 6
  end

  test "a list that several processes learn at once is kept once" do
    options = Options.encode(maps: :strict)
    for _ <- 1..20, do: Cache.learn(:encode, [maps: :strict], options, Config.number())
    assert %{maps: [_one]} = known(:encode)
  end

  test "options made at run time fill neither the cache nor the memory" do
    before = :persistent_term.info().memory

    for n <- 1..600 do
      assert {:ok, _} = RustyJson.decode("[1]", max_nodes: n + 1)
      assert {:ok, _} = RustyJson.encode([1], max_bytes: n + 9)
      assert {:ok, _} = RustyJson.decode("[1]", raw: ["/a#{n}" <> String.duplicate("/x", 500)])
      assert {:error, _} = RustyJson.decode("[1]", as: {:enum, [:a, :"b#{n}"]})
    end

    big = for n <- 1..20_000, do: :"enum_value_#{n}"
    for n <- 1..20, do: assert({:error, _} = RustyJson.decode("[1]", as: {:enum, Enum.drop(big, n)}))
    for direction <- [:decode, :encode], do: assert(length(lists(known(direction))) <= 16)
    # 16 lists of options for each direction, and 512 types.
    assert :persistent_term.info().memory - before < 4_000_000
  end

  test "reading the configuration again forgets them" do
    assert {:ok, [[]]} = RustyJson.decode("[[]]", max_nodes: 9)
    Application.put_env(:rustyjson, :decode, max_depth: 1)
    Config.reload()
    assert known(:decode) == %{}
    assert {:error, %{reason: :max_depth}} = RustyJson.decode("[[]]", max_nodes: 9)
  end

  test "what is wrong is refused every time" do
    for _ <- 1..3,
        options <- [[max_depth: -1], [nothing: 1], [:max_depth], :no_list, [{:max_depth, 1} | :end]] do
      assert_raise ArgumentError, fn -> RustyJson.decode("1", options) end
    end

    assert known(:decode) == %{}
  end

  test "functions, long lists and large values are not kept" do
    RustyJson.decode("{}", keys: &String.upcase/1)
    RustyJson.decode("1", for(_ <- 1..17, do: {:max_depth, 9}))
    RustyJson.encode([1], pretty: String.duplicate(" ", 65))
    RustyJson.decode("1", %{keys: &String.upcase/1})
    assert {known(:decode), known(:encode)} == {%{}, %{}}
  end

  test "a list of encode stays known while plans of structs are learnt, and not when the configuration is read again" do
    assert {:ok, "[1]"} = RustyJson.encode([1], max_depth: 2)
    options = Options.encode(max_depth: 2)
    assert %{max_depth: [{2, [], {_ready, ^options}}]} = known(:encode)
    Plans.forget()
    assert %{max_depth: [{2, [], {_ready, ^options}}]} = known(:encode)
    assert {:error, %{reason: :max_depth}} = RustyJson.encode([[[]]], max_depth: 2)
    Config.reload()
    assert known(:encode) == %{}
    assert {:error, %{reason: :max_depth}} = RustyJson.encode([[[]]], max_depth: 2)
  end

  test "with a type, a call that finds the list answers as the first one" do
    inputs = [
      ~s([1,2]),
      ["[", "3]"],
      ~s([1,"x","y"]),
      ~s([null]),
      "[1",
      "[" <> String.duplicate("1,", 60) <> "1]"
    ]

    for options <- [[], [errors: :all], [max_bytes: 40], [null: :null], [keys: :atoms], [max_depth: 1]],
        type <- [{:list, :integer}, {:list, {:nullable, :integer}}] do
      Config.reload()
      options = [as: type] ++ options

      first =
        for input <- inputs,
            do:
              (
                Config.reload()
                RustyJson.decode(input, options)
              )

      assert for(input <- inputs, do: RustyJson.decode(input, options)) == first
      # The plan is the one that was prepared.
      assert [{_type, _rest, {{_shape, _plain, _usual}, _options}}] = known(:decode)[:as]
    end
  end

  test "a type that is too long to be kept in a list of options is checked once, and a wrong one each time" do
    names = for n <- 1..2_000, do: :"name_#{n}"
    checks = fn fun -> length(Trace.calls([{RustyJson.Schema.Type, :given!, 1}], fun)) end
    decode = fn type -> RustyJson.decode(~s("name_7"), as: type) end

    # Other tests have filled it.
    :persistent_term.erase(RustyJson.Schema.Shape)
    assert decode.({:enum, names}) == {:ok, :name_7}
    assert checks.(fn -> assert decode.({:enum, Enum.map(names, & &1)}) == {:ok, :name_7} end) == 0

    for _ <- 1..2 do
      refused = fn ->
        assert_raise ArgumentError, ~r/unknown type/, fn -> decode.({:enum, [nil | names]}) end
      end

      assert checks.(refused) == 1
    end
  end

  test "valid?/2 asks the library by number, and in another way where it has none" do
    alias RustyJson.Engine.Native.Nif
    %{bytes: bytes} = Options.decode(engine: :native, max_depth: 2)
    kept = Nif.keep_options(:decode, bytes)
    assert is_integer(kept)
    assert for(json <- ["[[]]", "[[[]]]", "[01]"], do: Nif.valid(json, kept)) == [true, false, false]
    assert Nif.valid("[]", bytes) == :dirty
    # Another instance of the library gave this one.
    assert Nif.valid("[]", kept + @places) == :dirty
  end

  if :built_in in Keyword.keys(RustyJson.Test.Judge.engines()) do
    alias RustyJson.Engine.Native.Nif

    alias RustyJson.Test.KeptOptions

    import KeptOptions, only: [keep: 2, keep: 3]

    @limits KeptOptions.limits()

    test "the built-in host knows calls by number, with their options and limits" do
      assert :ok = RustyJson.start_engine(engine: :wasm, host: :built_in)
      [plain, flat] = for given <- [[], [max_depth: 1]], do: keep(:decode, given)
      assert is_integer(plain) and is_integer(flat) and plain != flat
      assert keep(:decode, []) == plain
      assert keep(:decode, [], put_elem(@limits, 3, true)) not in [plain, flat]

      # The guest is sent the options only where they are not those of the call before.
      for number <- [plain, flat, plain, plain, flat, flat, keep(:decode, [], put_elem(@limits, 3, true))] do
        assert Nif.sandbox_decode("[1]", number) == {:ok, [1]}
        assert match?({:ok, [[]]}, Nif.sandbox_decode("[[]]", number)) == (number != flat)

        assert Nif.sandbox_run(:decode, Options.decode(max_depth: 2).bytes, "[[2]]", @limits, 0) ==
                 {:ok, [[2]]}

        assert {:error, {_, 1, 1, 2, "/0"}} = Nif.sandbox_decode("[", number)
      end

      # Whether a document is right is asked by a number of its own.
      check = KeptOptions.check()
      assert is_integer(check) and check not in [plain, flat]

      for {text, right} <- [{"[1]", true}, {"[[1]]", false}, {"[1", false}, {"[2]", true}] do
        assert match?({:ok, true}, Nif.sandbox_decode(text, check)) == right
        assert match?({:ok, [_]}, Nif.sandbox_decode(text, flat)) == right
      end

      [usual, escaped] = for given <- [[], [escape: :html_safe]], do: keep(:encode, given)

      for {number, text} <- [{usual, ~s(["</"])}, {escaped, ~S(["\u003C\/"])}, {usual, ~s(["</"])}] do
        assert Nif.sandbox_encode(["</"], number, nil) == {:ok, text}
        assert Nif.sandbox_decode("[2]", plain) == {:ok, [2]}
        assert Nif.sandbox_encode(["</"], number, nil) == {:ok, text}
      end
    end

    test "what the built-in host does not know is asked for in another way" do
      [decode, encode] = for function <- [:decode, :encode], do: keep(function, [])

      for wrong <- [decode + @places, encode - 1_000_000, 1, -1, -(2 ** 59), 2 ** 59 - 1, "", nil] do
        assert Nif.sandbox_decode("[1]", wrong) == false
        assert Nif.sandbox_encode([1], wrong, nil) == false
      end

      %{bytes: bytes} = Options.decode(engine: :wasm)

      for wrong <- ["", <<0>>, binary_part(bytes, 0, 9), bytes <> <<0>>, bytes <> <<4, 4>>],
          do: assert(Nif.sandbox_keep(:decode, wrong, @limits) == nil)

      for wrong <- [{}, {1, 2, 3, false}, :none], do: assert(Nif.sandbox_keep(:decode, bytes, wrong) == nil)
      assert_raise ArgumentError, fn -> Nif.sandbox_decode(~c"[1]", decode) end
    end

    @tag :time
    test "limits of kept calls hold" do
      small = {2, 4 * 65_536, 5_000, false, 5_000}
      assert {:fault, :memory_limit, _} = Nif.sandbox_decode(json(200_000), keep(:decode, [], small))
      # Unless other work keeps it waiting for a millisecond.
      assert Enum.any?(1..10, fn _ ->
               match?({:ok, _}, Nif.sandbox_decode(json(200_000), keep(:decode, [])))
             end)

      assert {:fault, :memory_limit, _} = Nif.sandbox_encode([json(90_000)], keep(:encode, [], small), nil)

      # A time of a millisecond is all that there is: no other scheduler gets the call.
      at_once = {2, 64 * 1_048_576, 1, false, 1}
      long = "[" <> String.duplicate("1,", 500_000) <> "1]"
      assert {:fault, :timeout, _} = Nif.sandbox_decode(long, keep(:decode, [], at_once))

      assert {:fault, :timeout, _} =
               Nif.sandbox_encode(Enum.to_list(1..500_000), keep(:encode, [], at_once), nil)

      assert Nif.sandbox_decode(long, keep(:decode, [])) == :later
      assert Nif.sandbox_encode(Enum.to_list(1..500_000), keep(:encode, []), nil) == :later
    end

    defp json(bytes), do: ~s("#{String.duplicate("x", bytes)}")
  end

  test "there is an end to what is kept" do
    for depth <- 1..100, do: assert({:ok, 1} = RustyJson.decode("1", max_depth: depth))
    assert length(lists(known(:decode))) == 16
  end

  test "many processes at once, while the configuration is read again" do
    tasks =
      for n <- 1..8 do
        Task.async(fn ->
          for i <- 1..300,
              do: {:ok, %{"a" => 1}} = RustyJson.decode(~s({"a":1}), max_depth: 1 + rem(n * i, 20))
        end)
      end

    for _ <- 1..20, do: Config.reload()
    Task.await_many(tasks, 60_000)
  end
end
