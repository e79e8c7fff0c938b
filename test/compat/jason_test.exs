if Code.ensure_loaded?(Jason) do
  defmodule RustyJson.JasonTest do
    @moduledoc "Comparison with Jason: the same bytes, the same terms, and structs that implement only its protocol."

    use ExUnit.Case, async: true

    alias RustyJson.Test.{Gen, Judge, Structs}

    # The same struct twice, with only the word replaced.
    for library <- [Jason, RustyJson] do
      derived = Module.concat([__MODULE__, library, Derived])
      custom = Module.concat([__MODULE__, library, Custom])

      defmodule derived do
        @derive {Module.concat(library, Encoder), except: [:secret]}
        defstruct [:name, :value, :secret]
      end

      defmodule custom do
        defstruct [:value]
      end

      encode = Module.concat(library, Encode)

      defimpl Module.concat(library, Encoder), for: custom do
        def encode(%{value: value}, opts), do: unquote(encode).map(%{"v" => value, "n" => [value]}, opts)
      end
    end

    @options for(
               escape <- [:json, :html_safe, :javascript_safe, :unicode_safe, :javascript, :unicode],
               maps <- [:naive, :strict],
               pretty <- [
                 false,
                 true,
                 [indent: "\t", line_separator: "\r\n", after_colon: ""]
               ],
               do: [escape: escape, maps: maps, pretty: pretty]
             )

    # Structs in place of some values, for this library.
    defp with_structs(list, library) when is_list(list), do: Enum.map(list, &with_structs(&1, library))

    defp with_structs(map, library) when is_map(map) do
      fields = %{
        name: map_size(map),
        value: Map.new(map, fn {k, v} -> {k, with_structs(v, library)} end),
        secret: 1
      }

      case rem(map_size(map), 3) do
        0 -> struct(Module.concat([__MODULE__, library, Derived]), fields)
        1 -> struct(Module.concat([__MODULE__, library, Custom]), fields)
        2 -> fields.value
      end
    end

    defp with_structs(other, _library), do: other

    # Older OTPs print whole floats from 2^53 on, and some tiny ones, in another notation; their value is the same.
    defp same_floats?, do: String.to_integer(System.otp_release()) >= 28

    defp comparable(term), do: if(same_floats?(), do: term, else: whole(term))

    defp whole(float) when is_float(float), do: 1.5
    defp whole(list) when is_list(list), do: Enum.map(list, &whole/1)
    defp whole(map) when is_map(map), do: Map.new(map, fn {k, v} -> {k, whole(v)} end)
    defp whole(other), do: other

    test "random terms give the same bytes under every option" do
      Gen.check(200, fn -> comparable(Gen.term()) end, fn term ->
        for options <- @options, do: assert(Judge.encode(term, options) == Jason.encode(term, options))
      end)
    end

    test "so do maps of more than 32 keys" do
      Gen.check(60, fn -> comparable(Gen.wide_term()) end, fn term ->
        for options <- Enum.take_every(@options, 5),
            do: assert(Judge.encode(term, options) == Jason.encode(term, options))
      end)
    end

    test "so do structs, derived and with encoders of their own" do
      Gen.check(200, fn -> [comparable(Gen.term())] end, fn term ->
        for options <- Enum.take_every(@options, 5) do
          expected = Jason.encode(with_structs(term, Jason), options)
          assert Judge.encode(with_structs(term, RustyJson), options) == expected
          # Also structs that implement only Jason's protocol.
          assert Judge.encode(with_structs(term, Jason), options) == expected
        end
      end)
    end

    test "random texts, whole and damaged, give the same terms or are refused by both" do
      Gen.check(2_000, fn -> Enum.random([&Gen.damage/1, & &1]).(Gen.text(Gen.term())) end, fn text ->
        case {Jason.decode(text), Judge.decode(text, duplicate_keys: :first)} do
          {{:ok, theirs}, {:ok, ours}} -> assert Judge.same?(theirs, ours)
          {{:error, _}, {:error, _}} -> :ok
        end
      end)
    end

    test "texts are laid out and minified alike" do
      Gen.check(300, fn -> Gen.text(Gen.term()) end, fn text ->
        # RustyJson separates roots that are numbers.
        text = "[" <> text <> "]"
        assert RustyJson.Formatter.pretty_print(text) == Jason.Formatter.pretty_print(text)
        assert RustyJson.Formatter.minimize(text <> text) == Jason.Formatter.minimize(text <> text)
      end)
    end

    describe "a struct that knows Jason's protocol only" do
      defp theirs(value), do: struct(Module.concat([__MODULE__, Jason, Derived]), name: 1, value: value)

      test "may hold what only RustyJson knows" do
        for {value, text} <- [
              {%Structs.Only{name: "a", email: "</"}, ~S({"name":"a","email":"\u003C\/"})},
              {[%{"x" => %Structs.Money{amount: 1, currency: "c"}}], ~S([{"x":{"amount":1,"currency":"c"}}])},
              {{1, MapSet.new([2])}, "[1,[2]]"},
              {theirs({3}), ~S({"name":1,"value":[3]})},
              {URI.parse("ws://h"), ~S("ws:\/\/h")}
            ] do
          assert Judge.encode([theirs(value)], escape: :html_safe) == {:ok, ~s([{"name":1,"value":#{text}}])}
        end
      end

      test "has errors of ours, with a path" do
        assert {:error, %RustyJson.EncodeError{reason: :invalid_utf8, path: "/1"} = error} =
                 Judge.encode([0, theirs(<<255>>)])

        assert error.message == "invalid byte 0xFF in <<255>>"

        assert {:error, %RustyJson.EncodeError{reason: :duplicate_key, message: "duplicate key: a"}} =
                 Judge.encode(theirs(%{"a" => 1, a: 2}), maps: :strict)

        assert {:error, %Protocol.UndefinedError{}} = RustyJson.encode(theirs([self()]))
        assert {:error, %Protocol.UndefinedError{}} = RustyJson.encode(theirs(%Structs.Bare{}))
      end
    end
  end
else
  defmodule RustyJson.JasonTest do
    @moduledoc false
    use ExUnit.Case, async: true

    @tag skip: "the Hex package jason is not among the dependencies"
    test "the same bytes and terms as Jason's"
  end
end
