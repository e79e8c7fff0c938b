defmodule RustyJson.EncoderTest do
  @moduledoc "The protocol: deriving, implementing, and what happens around it."

  use ExUnit.Case, async: true

  alias RustyJson.{Encode, Encoder, Fragment, OrderedObject}
  alias RustyJson.Test.{Judge, OtherVM, Structs}

  defmodule Itself do
    @moduledoc false
    defstruct [:a]

    defimpl RustyJson.Encoder do
      def encode(value, _opts), do: value
    end
  end

  defmodule AsStruct do
    @moduledoc "Its implementation returns another struct."
    defstruct [:date]

    defimpl RustyJson.Encoder do
      def encode(%{date: date}, _opts), do: date
    end
  end

  defmodule Raises do
    @moduledoc false
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_value, _opts), do: raise("broken")
    end
  end

  describe "deriving" do
    test "keeps the order of only:, and leaves out except:" do
      assert Judge.encode(%Structs.Only{name: "a", email: "b", password_hash: "c"}) ==
               {:ok, ~s({"name":"a","email":"b"})}

      assert Judge.encode(%Structs.Except{name: "a", secret: "b"}) == {:ok, ~s({"name":"a"})}
      assert Judge.encode(%Structs.Underscore{_: 1, a: 2}) == {:ok, ~s({"_":1,"a":2})}
    end

    test "an unknown field is an error when the module is compiled" do
      for option <- [:only, :except] do
        code = """
        defmodule RustyJson.EncoderTest.Unknown#{option} do
          @derive {RustyJson.Encoder, #{option}: [:name, :nmae]}
          defstruct [:name]
        end
        """

        message = assert_raise(ArgumentError, fn -> Code.eval_string(code) end).message
        assert message =~ "[:nmae]"
        assert message =~ inspect(option)
      end
    end

    # Each would encode the password.
    test "an option that nobody reads is an error when the module is compiled" do
      for {options, message} <- [
            {"ony: [:name]",
             "unknown option :ony, did you mean :only? `@derive RustyJson.Encoder` takes :only"},
            {"%{only: [:name]}", "takes a keyword list, got: %{only: [:name]}"},
            {"only: [:name], except: [:password]", "takes `:only` or `:except`, not both"},
            {"only: :name", "`:only` takes a list of fields, got: :name"},
            {"only: [:name | :age]", "`:only` takes a list of fields, got: [:name | :age]"},
            {"only: [:name, :name]", "`:only` lists :name twice"},
            {"omit: [nil | 1]", "`:omit` takes a list of nil and modules, got: [nil | 1]"},
            {"only: nil", "`:only` takes a list of fields, got: nil"}
          ] do
        code = """
        defmodule RustyJson.EncoderTest.Misspelt do
          @derive {RustyJson.Encoder, #{options}}
          defstruct [:name, :password]
        end
        """

        assert_raise ArgumentError, ~r/#{Regex.escape(message)}/, fn -> Code.eval_string(code) end
      end
    end

    test "for a struct of someone else" do
      defmodule Foreign do
        defstruct [:a, :b]
      end

      require Protocol
      Protocol.derive(RustyJson.Encoder, Foreign, only: [:b])
      assert Judge.encode(struct(Foreign, a: 1, b: 2)) == {:ok, ~s({"b":2})}
    end

    test "a struct that is encoded anew has no stale fields" do
      define = fn fields ->
        Code.eval_string("""
        Code.compiler_options(ignore_module_conflict: true)
        defmodule RustyJson.EncoderTest.Redefined do
          @derive {RustyJson.Encoder, only: #{inspect(fields)}}
          defstruct [:a, :b]
        end
        Code.compiler_options(ignore_module_conflict: false)
        """)

        Judge.encode([struct(RustyJson.EncoderTest.Redefined, a: 1, b: 2)])
      end

      assert define.([:a]) == {:ok, ~s([{"a":1}])}
      assert define.([:b]) == {:ok, ~s([{"b":2}])}
    end
  end

  describe "implementing" do
    test "maps and structs that come back are encoded in turn" do
      assert Judge.encode([%Structs.AsMap{value: [%AsStruct{date: ~D[2024-02-29]}]}]) ==
               {:ok, ~s([{"value":["2024-02-29"]}])}
    end

    test "a struct that comes back as it went in would never end" do
      assert {:error, %RustyJson.EncodeError{reason: :invalid_iodata, message: message}} =
               Judge.encode(%Itself{})

      assert message =~ ~r/Itself returned its argument/
    end

    test "what it raises reaches the caller" do
      assert_raise RuntimeError, "broken", fn -> RustyJson.encode([%Raises{}]) end
    end

    test "the protocol function works for what the core knows" do
      term = [
        1,
        2.5,
        :a,
        nil,
        "é",
        {1},
        %{a: 1},
        ~D[2024-02-29],
        1..2,
        MapSet.new([1]),
        URI.parse("a:b"),
        ~T[01:02:03]
      ]

      text = fn opts -> [?[, term |> Enum.map(&Encoder.encode(&1, opts)) |> Enum.intersperse(?,), ?]] end
      assert Judge.encode(Fragment.new(text)) == Judge.encode(term)
    end
  end

  describe "terms without a JSON form" do
    test "is Protocol.UndefinedError, with and without a bang" do
      for term <- [self(), make_ref(), fn -> 1 end, <<1::3>>, %Structs.Bare{}] do
        assert {:error, %Protocol.UndefinedError{protocol: RustyJson.Encoder}} = RustyJson.encode([term])
        assert_raise Protocol.UndefinedError, fn -> RustyJson.encode!([term]) end
      end
    end

    test "a key that is not text" do
      for key <- [{1, 2}, %{}, self()], options <- [[], [sort_keys: true], [maps: :strict]] do
        assert {:error, %RustyJson.EncodeError{message: "Map key must be atom, string, or integer"}} =
                 Judge.encode([%{key => 1}], options)
      end
    end

    test "the path leads through implementations" do
      term = %{"a" => [1, %Structs.Money{amount: [<<255>>], currency: 1}]}
      assert {:error, %RustyJson.EncodeError{path: "/a/1/amount/0"}} = Judge.encode(term)
    end
  end

  test "keys by String.Chars, also where they are sorted" do
    term = %{
      ~D[2024-02-29] => 1,
      ~c"list" => %Structs.AsText{text: "<"},
      1.5 => 3,
      Version.parse!("1.2.3") => 4
    }

    sorted = ~S({"1.2.3":4,"1.5":3,"2024-02-29":1,"list":"\u003C"})
    assert Judge.encode(term, sort_keys: true, escape: :html_safe) == {:ok, sorted}
    assert {:ok, text} = Judge.encode(term, escape: :html_safe)
    assert RustyJson.decode!(text) == RustyJson.decode!(sorted)
  end

  test "well-known structs of odd form go by their own modules" do
    assert Judge.encode(1..36_893_488_147_419_103_232) == {:ok, ~s({"first":1,"last":36893488147419103232})}
    assert Judge.encode(OrderedObject.new([{1.0e22, 1}, {:a, 2}])) == {:ok, ~s({"1.0e22":1,"a":2})}
  end

  test "parts of a document know the depth they stand at" do
    part = Fragment.new(&Encode.value(%{b: [1]}, &1))
    assert {:ok, text} = Judge.encode(%{a: [part]}, pretty: true)
    assert text == RustyJson.encode!(%{a: [%{b: [1]}]}, pretty: true)
    assert {:error, %RustyJson.EncodeError{reason: :max_depth}} = Judge.encode(%{a: [part]}, max_depth: 3)
    assert {:ok, _} = Judge.encode(%{a: [part]}, max_depth: 4)
  end

  test "max_bytes counts what implementations write" do
    term = List.duplicate(%Structs.AsText{text: String.duplicate("x", 100)}, 10)
    assert {:error, %RustyJson.EncodeError{reason: :max_bytes}} = Judge.encode(term, max_bytes: 1_000)
    assert {:ok, _} = Judge.encode(term, max_bytes: 2_000)
  end

  test "an implementation that a consolidated protocol does not know is named, as in a notebook" do
    code = """
    types = Protocol.extract_impls(RustyJson.Encoder, :code.get_path())
    {:ok, binary} = Protocol.consolidate(RustyJson.Encoder, types)
    {:module, _} = :code.load_binary(RustyJson.Encoder, ~c"consolidated", binary)

    Code.eval_string("defmodule Late do @derive RustyJson.Encoder; defstruct [:a] end; defmodule Bare do defstruct [:a] end")

    for module <- [Late, Bare] do
      {:error, error} = RustyJson.encode(struct(module))
      IO.puts(Exception.message(error))
    end
    """

    {text, 0} = OtherVM.run(code, [])
    assert text =~ "Late (a struct), the implementation for Late has no effect"
    assert text =~ "consolidate_protocols: false"
    assert text =~ ~r/Bare \(a struct\)[,.] RustyJson.Encoder protocol must always be/i
  end
end
