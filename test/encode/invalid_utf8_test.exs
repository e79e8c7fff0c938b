defmodule RustyJson.InvalidUtf8Test do
  @moduledoc "`invalid_utf8: :replace`: U+FFFD for each maximal subpart, in strings, keys and the text of encoders."
  use ExUnit.Case, async: true

  alias RustyJson.Test.Judge

  @replacement "\uFFFD"

  defmodule Note do
    defstruct [:text]

    defimpl RustyJson.Encoder do
      def encode(%{text: text}, opts), do: RustyJson.Encode.map(%{text: text, again: {text}}, opts)
    end
  end

  defmodule Derived do
    @derive RustyJson.Encoder
    defstruct [:text]
  end

  # A naive twin of `String.replace_invalid/1`, which Elixir has from 1.16 on: Table 3-7 of the Unicode standard, as patterns.
  defp naive(bytes), do: bytes |> characters([]) |> Enum.reverse() |> IO.iodata_to_binary()

  defp characters(<<char::utf8, rest::binary>>, done), do: characters(rest, [<<char::utf8>> | done])
  defp characters(<<>>, done), do: done
  defp characters(bytes, done), do: bytes |> rest() |> characters([@replacement | done])

  defp rest(<<a, b, c, rest::binary>>)
       when (a == 0xF0 and b in 0x90..0xBF and c in 0x80..0xBF) or
              (a in 0xF1..0xF3 and b in 0x80..0xBF and c in 0x80..0xBF) or
              (a == 0xF4 and b in 0x80..0x8F and c in 0x80..0xBF),
       do: rest

  defp rest(<<a, b, rest::binary>>)
       when (a == 0xE0 and b in 0xA0..0xBF) or (a in 0xE1..0xEC and b in 0x80..0xBF) or
              (a == 0xED and b in 0x80..0x9F) or (a in 0xEE..0xEF and b in 0x80..0xBF) or
              (a == 0xF0 and b in 0x90..0xBF) or (a in 0xF1..0xF3 and b in 0x80..0xBF) or
              (a == 0xF4 and b in 0x80..0x8F),
       do: rest

  defp rest(<<_, rest::binary>>), do: rest

  if Code.ensure_loaded?(String) and function_exported?(String, :replace_invalid, 1) do
    defp repaired(string) do
      repaired = String.replace_invalid(string)
      assert repaired == naive(string)
      repaired
    end
  else
    defp repaired(string), do: naive(string)
  end

  # What a string of all kinds of bytes is made of: each of them begins, continues or ends another row of the table.
  @edges [0x00, 0x22, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1] ++
           [0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]

  defp check(strings) do
    expected = Enum.map(strings, &repaired/1)

    for {_name, engine} <- Judge.engines() do
      json = RustyJson.encode!(strings, [invalid_utf8: :replace] ++ engine)
      assert RustyJson.decode!(json) == expected
      assert json == RustyJson.encode!(expected, engine)
    end
  end

  test "all strings of two bytes" do
    check(for a <- 0..255, b <- 0..255, do: <<a, b>>)
  end

  test "all strings of three bytes" do
    for a <- 0x80..0xFF//8 do
      check(for first <- a..(a + 7), b <- 0..255, c <- @edges, do: <<first, b, c>>)
    end

    # Behind a byte that ends what was before it, the rest is a string of two.
    check(for a <- [0x00, 0x22, 0x41], b <- 0..255, c <- 0..255, do: <<a, b, c>>)
  end

  @tag :heavy
  test "all strings of three bytes, without leaving any out" do
    for a <- 0..255, b <- 0..255//32 do
      check(for second <- b..(b + 31), c <- 0..255, do: <<a, second, c>>)
    end
  end

  test "all strings of four of the bytes where something changes" do
    bytes = [0x22, 0x80, 0x8F, 0x90, 0xBF, 0xC2, 0xE0, 0xED, 0xF0, 0xF4]
    check(for a <- bytes, b <- bytes, c <- bytes, d <- bytes, do: <<a, b, c, d>>)
  end

  test "random strings, short and long" do
    :rand.seed(:exsss, {1, 2, 3})

    strings =
      for n <- 1..600 do
        bytes = for _ <- 1..:rand.uniform(n), do: random_part()
        IO.iodata_to_binary(bytes)
      end

    check(strings)
  end

  defp random_part do
    case :rand.uniform(6) do
      1 -> :rand.uniform(256) - 1
      2 -> Enum.random(@edges)
      3 -> "é€😀"
      4 -> binary_part("😀", 0, :rand.uniform(3))
      5 -> "plain text, \"quoted\" "
      6 -> ?\n
    end
  end

  test "every mode of escapes writes the text of the repaired string" do
    string = "a\xFF<é\xE2\x82/\u2028\xF0\x9F"

    for escape <- [:json, :html_safe, :javascript_safe, :unicode_safe], {_, engine} <- Judge.engines() do
      options = [escape: escape] ++ engine

      assert RustyJson.encode!([string, %{string => 1}], [invalid_utf8: :replace] ++ options) ==
               RustyJson.encode!([naive(string), %{naive(string) => 1}], options)
    end
  end

  test "long strings, which take more than a time slice" do
    string = String.duplicate("ab\xFF", 100_000)

    for {_, engine} <- Judge.engines() do
      json = RustyJson.encode!(%{string => string}, [invalid_utf8: :replace] ++ engine)
      assert json == ~s({"#{naive(string)}":"#{naive(string)}"})
    end
  end

  test "keys, structs, encoders, fragments and streams" do
    term = %{
      "k\xFF" => 1,
      note: %Note{text: "n\xFE"},
      derived: %Derived{text: "d\xFE"},
      function: RustyJson.Fragment.new(&RustyJson.Encode.string("f\xFE", &1)),
      ordered: RustyJson.OrderedObject.new([{"o\xFE", 1}])
    }

    expected = %{
      "k\uFFFD" => 1,
      "note" => %{"text" => "n\uFFFD", "again" => ["n\uFFFD"]},
      "derived" => %{"text" => "d\uFFFD"},
      "function" => "f\uFFFD",
      "ordered" => %{"o\uFFFD" => 1}
    }

    for {_, engine} <- Judge.engines(), pretty <- [false, true] do
      options = [invalid_utf8: :replace, pretty: pretty] ++ engine
      assert term |> RustyJson.encode!(options) |> RustyJson.decode!() == expected

      stream = [term, RustyJson.lazy([term])] |> RustyJson.encode_stream(options) |> Enum.join()
      assert RustyJson.decode!(stream) == [expected, [expected]]
    end
  end

  test "without the option they are errors, at the same place as before" do
    for {_, engine} <- Judge.engines() do
      assert {:error, %{reason: :invalid_utf8, path: "/1"}} = RustyJson.encode(["a", "\n\xFF"], engine)
      assert {:error, %{reason: :invalid_utf8}} = RustyJson.encode(%{"\xFF" => 1}, engine)
    end
  end

  test "keys that become the same are a repeated key for maps: :strict, and sorted as they are written" do
    for {_, engine} <- Judge.engines() do
      options = [invalid_utf8: :replace] ++ engine
      assert {:error, error} = RustyJson.encode(%{"\xFF" => 1, "\xFE" => 2}, [maps: :strict] ++ options)
      assert {error.reason, error.message} == {:duplicate_key, "duplicate key: \uFFFD"}

      sorted = RustyJson.encode!(%{"a\xFF" => 1, "a€" => 2}, [sort_keys: true] ++ options)
      assert sorted == ~s({"a€":2,"a\uFFFD":1})
    end
  end

  describe "integers: :js_safe" do
    @largest 9_007_199_254_740_991

    test "integers that JavaScript would round are strings" do
      for sign <- [1, -1], {_, engine} <- Judge.engines() do
        options = [integers: :js_safe] ++ engine
        safe = [0, 1, 1_000_000_000, @largest - 1, @largest]
        exact = [@largest + 1, @largest + 2, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64, 2 ** 200]

        for n <- safe, do: assert(RustyJson.encode!(sign * n, options) == "#{sign * n}")
        for n <- exact, do: assert(RustyJson.encode!([sign * n], options) == ~s(["#{sign * n}"]))
        for n <- exact, do: assert(RustyJson.encode!([sign * n], engine) == "[#{sign * n}]")
      end
    end

    test "in every place" do
      big = @largest + 1

      term = %{
        big => [big, {big}, MapSet.new([big])],
        range: 0..big,
        odd_range: 1..(2 ** 70),
        derived: %Derived{text: big},
        note: %Note{text: big},
        float: 1.0e300
      }

      expected = %{
        "#{big}" => ["#{big}", ["#{big}"], ["#{big}"]],
        "range" => %{"first" => 0, "last" => "#{big}"},
        "odd_range" => %{"first" => 1, "last" => "#{2 ** 70}"},
        "derived" => %{"text" => "#{big}"},
        "note" => %{"text" => "#{big}", "again" => ["#{big}"]},
        "float" => 1.0e300
      }

      for {_, engine} <- Judge.engines(), more <- [[], [sort_keys: true], [pretty: true]] do
        options = [integers: :js_safe] ++ more ++ engine
        assert term |> RustyJson.encode!(options) |> RustyJson.decode!() == expected
      end
    end
  end

  test "bad values are refused" do
    assert_raise ArgumentError, ~r/:invalid_utf8 takes :error or :replace/, fn ->
      RustyJson.encode([], invalid_utf8: :ignore)
    end

    assert_raise ArgumentError, ~r/:integers takes :exact or :js_safe/, fn ->
      RustyJson.encode([], integers: :strings)
    end
  end
end
