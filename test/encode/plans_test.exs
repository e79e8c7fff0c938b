defmodule RustyJson.PlansTest do
  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.Encoder.Plans
  alias RustyJson.Test.{Judge, Trace}

  # Compiled anew in each test: plans belong to the implementation that is loaded.
  defp define(name, derive) do
    Code.compiler_options(ignore_module_conflict: true)
    module = Module.concat(__MODULE__, name)

    Code.compile_string("""
    defmodule #{inspect(module)} do
      #{derive}
      defstruct [:id, :name, :secret]
    end
    """)

    module
  after
    Code.compiler_options(ignore_module_conflict: false)
  end

  defp encode_twice(term, options) do
    first = RustyJson.encode!(term, options)
    # The second time the plan is known, and the first time it was not: both give the same.
    assert RustyJson.encode!(term, options) == first
    first
  end

  for {engine, options} <- Judge.engines() do
    @options options

    test "#{engine}: a learnt plan gives what the implementation gives" do
      module = define(:Learnt, "@derive {RustyJson.Encoder, only: [:name, :id]}")
      user = struct(module, id: 1, name: "a<\u2028\"", secret: "x")

      for options <- [[], [pretty: true], [sort_keys: true], [escape: :html_safe], [maps: :strict]] do
        plain = RustyJson.OrderedObject.new(name: user.name, id: user.id)

        assert encode_twice([user, %{a: user}], @options ++ options) ==
                 RustyJson.encode!([plain, %{a: plain}], @options ++ options)
      end
    end

    test "#{engine}: recompiling a struct leaves no stale plan" do
      module = define(:Changed, "@derive {RustyJson.Encoder, only: [:name]}")
      assert encode_twice([struct(module, id: 1, name: 2)], @options) == ~s([{"name":2}])

      define(:Changed, "@derive {RustyJson.Encoder, only: [:id]}")
      assert encode_twice([struct(module, id: 1, name: 2)], @options) == ~s([{"id":1}])
    end

    test "#{engine}: recompiling a struct that stands in another one leaves no stale plan" do
      outer = define(:Outer, "@derive {RustyJson.Encoder, only: [:id, :name]}")

      for field <- [:id, :secret, :id] do
        inner = define(:Inner, "@derive {RustyJson.Encoder, only: [#{inspect(field)}]}")
        struct = struct(outer, id: 1, name: struct(inner, [{field, 2}]))
        text = ~s({"id":1,"name":{"#{field}":2}})

        for {term, text} <- [{struct, text}, {%{a: struct}, ~s({"a":#{text}})}, {[struct], "[#{text}]"}],
            do: assert(encode_twice(term, @options) == text)
      end

      # The other one, too.
      define(:Outer, "@derive {RustyJson.Encoder, only: [:name]}")
      struct = struct(outer, id: 1, name: struct(Module.concat(__MODULE__, :Inner), id: 2))
      assert encode_twice(struct, @options) == ~s({"name":{"id":2}})
    end

    test "#{engine}: a derived implementation replaced by a hand-written one leaves no stale plan" do
      module = define(:Replaced, "@derive RustyJson.Encoder")
      assert encode_twice([struct(module, id: 1)], @options) =~ ~s("id":1)

      Code.compiler_options(ignore_module_conflict: true)

      Code.compile_string("""
      defimpl RustyJson.Encoder, for: #{inspect(module)} do
        def encode(_struct, _opts), do: "0"
      end
      """)

      Code.compiler_options(ignore_module_conflict: false)
      assert encode_twice([struct(module, id: 1)], @options) == "[0]"
    end

    test "#{engine}: a struct alone is written by the implementation that is loaded, whatever earlier calls found" do
      own = Module.concat([RustyJson.Encoder, __MODULE__, :Alone])

      by_hand = fn text ->
        Code.compiler_options(ignore_module_conflict: true)

        Code.compile_string("""
        defimpl RustyJson.Encoder, for: #{inspect(__MODULE__)}.Alone do
          def encode(_struct, _opts), do: #{inspect(text)}
        end
        """)

        Code.compiler_options(ignore_module_conflict: false)
      end

      for _ <- 1..2 do
        module = define(:Alone, "")
        by_hand.("1")
        assert encode_twice(struct(module, id: 1), @options) == "1"
        by_hand.("2")
        assert encode_twice(struct(module, id: 1), @options) == "2"
        define(:Alone, "@derive {RustyJson.Encoder, only: [:id]}")
        assert encode_twice(struct(module, id: 3), @options) == ~s({"id":3})
        assert encode_twice([struct(module, id: 3)], @options) == ~s([{"id":3}])
        assert encode_twice(struct(module, id: 3), @options) == ~s({"id":3})
      end

      :code.purge(own)
      :code.delete(own)
      :code.purge(own)
      struct = struct(Module.concat(__MODULE__, :Alone))

      for term <- [[struct], struct, %{a: struct}],
          do: assert({:error, %Protocol.UndefinedError{}} = RustyJson.encode(term, @options))
    end

    test "#{engine}: holes, errors and depth inside a planned struct" do
      module = define(:Nested, "@derive {RustyJson.Encoder, only: [:id]}")
      custom = struct(define(:Inner, "@derive {RustyJson.Encoder, only: [:name]}"), name: [<<255>>])
      encode_twice(struct(module, id: 1), @options)

      assert {:error, %RustyJson.EncodeError{path: "/0/id/name/0"}} =
               RustyJson.encode([struct(module, id: custom)], @options)

      fragment = RustyJson.Fragment.new(fn _ -> "[7]" end)
      assert encode_twice([struct(module, id: fragment)], @options) == ~s([{"id":[7]}])
    end
  end

  for {engine, options} <- Judge.engines(), engine in [:native, :built_in] do
    @options options

    test "#{engine}: a struct with a plan, and a list of them, is one call of the library" do
      module = define(:Direct, "@derive {RustyJson.Encoder, only: [:id]}")
      user = struct(module, id: 1, secret: "s")

      for {term, text} <- [{user, ~s({"id":1})}, {[user, user], ~s([{"id":1},{"id":1}])}] do
        assert encode_twice(term, @options) == text
        encode = fn -> assert RustyJson.encode(term, @options) == {:ok, text} end
        # Unless other work keeps it waiting for a millisecond.
        assert Enum.any?(1..10, fn _ ->
                 Trace.calls([{RustyJson.Encode.Part, :by_engine, 2}], encode) == []
               end)
      end

      # What stands in it may still be left to Elixir, or be wrong.
      assert {:ok, ~s({"id":{"id":2}})} = RustyJson.encode(%{user | id: %{user | id: 2}}, @options)
      assert {:error, %{path: "/id"}} = RustyJson.encode(%{user | id: <<255>>}, @options)
      own = define(:"Own_#{@options[:engine]}", "")

      Code.compile_string("""
      defimpl RustyJson.Encoder, for: #{inspect(own)} do
        def encode(_own, _options), do: "3"
      end
      """)

      assert {:ok, ~s({"id":3})} = RustyJson.encode(%{user | id: struct(own)}, @options)
    end
  end

  # The core does not check the plan of a module that is named with the plans.
  test "older plans of a caller count for nothing" do
    module = define(:Older, "@derive {RustyJson.Encoder, only: [:id]}")
    user = struct(module, id: 1, secret: "s")
    assert encode_twice(user, []) == ~s({"id":1})

    require RustyJson.Options.Cache
    alias RustyJson.Options.Cache

    Cache.cached(encode: {{ready, options}, _lists}, plans: plans, sources: sources) = cached = Cache.all()

    plan = Plans.plan([:id, :secret])
    implementation = RustyJson.Encoder.impl_for(user)

    older =
      Cache.cached(cached,
        plans: Map.put(plans || %{}, module, plan),
        sources: Map.put(sources, module, {plan, :own, implementation, nil})
      )

    assert RustyJson.Encode.Text.configured(user, ready, older, options) == {:ok, ~s({"id":1})}
  end

  test "the plan of an implementation that is not loaded yet is learnt" do
    struct = struct(RustyJson.Test.Structs.Only, name: "a")
    implementation = RustyJson.Encoder.impl_for(struct)

    for {_engine, options} <- Judge.engines() do
      Plans.forget()
      :code.purge(implementation)
      :code.delete(implementation)
      encode_twice(struct, options)
      assert Plans.known(RustyJson.Options.encode(options))[struct.__struct__] != nil
    end
  end

  test "the plan runs in the core: from the first list on, the implementation is not called" do
    module = define(:Traced, "@derive {RustyJson.Encoder, only: [:id]}")
    encode = {Module.concat(RustyJson.Encoder, module), :encode, 2}
    structs = for id <- 1..50, do: struct(module, id: id)

    for {_engine, options} <- Judge.engines() do
      Plans.forget()
      assert Trace.calls([encode], fn -> RustyJson.encode!(structs, options) end) == []
      assert Trace.calls([encode], fn -> RustyJson.encode!(structs, options) end) == []

      Plans.forget()
      maps = Enum.map(structs, &%{"key" => &1})
      assert Trace.calls([encode], fn -> RustyJson.encode!(maps, options) end) == []
    end

    options = RustyJson.Options.encode([])
    assert [^encode] = Trace.calls([encode], fn -> RustyJson.Encoder.encode(hd(structs), options) end)
  end

  # All names are there before, so that only the plans that are sent decide.
  test "an engine that is sent plans gets those of the structs in the term" do
    modules = for n <- 1..20, do: define("Sent#{n}", "@derive {RustyJson.Encoder, only: [:id]}")
    plans = Map.new(modules, &{&1, {:id}})
    [first, second | _] = modules
    etf = &:erlang.term_to_binary(&1, minor_version: 2)

    assert Plans.needed(nil, etf.(struct(first))) == nil
    assert Plans.needed(plans, etf.([1, %{"a" => "__struct__"}])) in [nil, %{}]
    assert Plans.needed(plans, etf.(%{"__struct__w" => 1})) in [nil, %{}]
    assert Plans.needed(plans, etf.([struct(first), struct(first), %{}])) == %{first => {:id}}

    assert Plans.needed(plans, etf.([struct(first, id: struct(second)), ~D[2024-02-29]])) ==
             Map.take(plans, [first, second])

    assert Plans.needed(plans, etf.([struct(first), String.duplicate("x", 10_000)])) == plans
    # One that no longer holds: the engine gets none, and all are learnt anew.
    assert Plans.needed(%{plans | second => {:name}}, etf.(struct(first))) == %{first => {:id}}
    assert Plans.needed(%{plans | second => {:name}}, etf.(struct(second))) == nil
  end

  test "a plan lists fields" do
    assert Plans.plan([:a, :b]) == {:a, :b}
  end
end
