defmodule RustyJson.PatternsTest do
  @moduledoc """
  Patterns of strings. The judge is Elixir's `Regex`, which backtracks: as the core's answer and as that of the table in Elixir, a string
  matches when it matches there.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Schema.{Automaton, Pattern}
  alias RustyJson.Test.{Clock, Gen, Judge}

  # Each of these takes exponential or quadratic time where matching goes back.
  defmodule Nested do
    @moduledoc false
    use RustyJson.Schema
    schema(do: field(:text, :string, pattern: "^(a+)+$"))
  end

  defmodule Anywhere do
    @moduledoc false
    use RustyJson.Schema
    schema(do: field(:text, :string, pattern: "(ab)*(ab)*(a|b)*c"))
  end

  defp automaton(source) do
    assert {:ok, automaton} = Pattern.compile(source)
    automaton
  end

  defp matches?(source, text), do: source |> automaton() |> Automaton.matches?(text)

  test "what matches" do
    for {source, good, bad} <- [
          {"", ["", "a"], []},
          {"a", ["a", "bab"], ["", "b"]},
          {"^a", ["ab"], ["ba"]},
          {"a$", ["ba"], ["ab", "a\n"]},
          {"^$", [""], ["a", "\n"]},
          {"$^", [""], ["a"]},
          {"a^", [], ["a", "aa"]},
          {"^(a|bc)*$", ["", "abc", "bcbca"], ["b", "ac"]},
          {"^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]},
          {"^a{2}$", ["aa"], ["a", "aaa"]},
          {"^a{2,}$", ["aa", "aaaaa"], ["a"]},
          {"^a+?b??$", ["a", "aab"], ["b"]},
          {"^.$", ["a", "é", "😀", "\u2027"], ["", "ab", "\n", "\r", "\u2028", "\u2029"]},
          {"^[^a-c]$", ["d", "é", "\n"], ["a", "b", "c"]},
          {"^[à-ÿ]$", ["é", "ÿ"], ["e", "Ā"]},
          {"^[\u0800-\u{10FFFF}]$", ["\u0800", "\u{10000}", "\u{10FFFF}", "\uD7FF", "\uE000"], ["\u07FF"]},
          {"^\\d\\D\\w\\W\\s\\S$", ["1a_- x", "1é1é\u00A0é"], ["1a_- \u3000"]},
          {"^\\u00e9\\x41\\u{1F600}\\t\\/\\.$", ["éA😀\t/."], ["éA😀\t/x"]},
          {"^\\uD83D\\uDE00[\\ud83d\\ude00-\\uD83D\\uDE4F]$", ["😀😀", "😀🙏"], ["😀", "😀🚀"]},
          {"^[\\]\\-\\\\^]+$", ["]-\\^"], ["a"]},
          {"^[\\w-]+$", ["a-1"], ["."]},
          {"^[-a]+[a-]$", ["-a-a"], ["b"]},
          {"^[]$", [], ["", "a"]},
          {"^[^]$", ["\n", "a"], [""]},
          {"^(?:ab)+$", ["abab"], ["aba"]},
          {"(^a|b)c", ["ac", "xbc"], ["xac"]}
        ] do
      for text <- good, do: assert(matches?(source, text), "#{inspect(text)} matches #{source}")
      for text <- bad, do: refute(matches?(source, text), "#{inspect(text)} does not match #{source}")
    end
  end

  test "what is not supported says why" do
    for {source, reason} <- [
          {"(a", "a group is not closed"},
          {"a)", "a closing parenthesis has no opening one"},
          {"[a", "a class is not closed"},
          {"*", "* has nothing to repeat"},
          {"a**", "a repetition cannot be repeated"},
          {"^*", "^ and $ cannot be repeated"},
          {"a{2,1}", "numbers in order"},
          {"a{x", "{ needs a backslash"},
          {"}", "} needs a backslash"},
          {"(?=a)", "only groups (...) and (?:...)"},
          {"(?<n>a)", "only groups (...) and (?:...)"},
          {"(a)\\1", "\\1 is not supported"},
          {"\\bword", "\\b is not supported"},
          {"\\p{L}", "\\p is not supported"},
          {"[z-a]", "not in order"},
          {"^[\\w-.]+$", "a - in a class stands between a set and another member"},
          {"[\\d-z]", "a - in a class stands between a set and another member"},
          {"[a-\\d]", "a - in a class stands between a set and another member"},
          {"\\uD800", "an escape names no character"},
          {"\\uDE00\\uD83D", "an escape names no character"},
          {"\\uD83D\\u0041", "an escape names no character"},
          {"\\x+1", "an escape names no character"},
          {"\\u{+41}", "an escape names no character"},
          {"\\u-041", "an escape names no character"},
          {"\\u{110000}", "an escape names no character"},
          {"\\", "a backslash has nothing behind it"},
          {String.duplicate("a", 10_001), "longer than 10000 bytes"}
        ] do
      assert {:error, message} = Pattern.compile(source)
      assert message =~ reason
    end
  end

  @tag :time
  test "patterns that are hostile end in time" do
    for source <- [
          "((((a{100}){100}){100}){100})",
          "(a|b)*a(a|b){30}",
          "[ab]*a[ab]{14}c",
          ".{1,1000}x.{1,1000}",
          String.duplicate("(a?", 3_000) <> String.duplicate(")", 3_000),
          String.duplicate("a?", 4_000),
          String.duplicate("(", 9_999),
          "(" <> Enum.map_join(1..2_000, "|", &"a#{&1}") <> ")*",
          "((a*)*)*",
          "(((a?){50}){50})",
          # What these repeat matches the empty string alone, and makes no states.
          "(((){9999}){9999}){9999}",
          "((a{0}){999999}){999999}",
          # Each end leads to the next one.
          "^" <> String.duplicate("$", 9_000),
          Enum.map_join(1..2_000, "|", fn _ -> "$" end) <> "|a.{8}b"
        ] do
      {micros, result} = :timer.tc(fn -> Pattern.compile(source) end)
      assert match?({:ok, _}, result) or match?({:error, _}, result)
      with {:ok, automaton} <- result, do: assert(byte_size(automaton) <= 66_000)
      assert micros < 15_000_000, "#{String.slice(source, 0, 40)} took #{micros} µs"
    end
  end

  # Each class of bytes leads through the nodes of the empty groups, which no state keeps.
  test "nodes that are walked through count, too" do
    letters = Enum.map_join(?a..?z, "|", &<<&1>>)

    for source <- [
          "^[a-z]{0,20}[a-z](?:){0,9000}(?:#{letters})!$",
          "^[a-z]{0,100}[a-z](?:){0,9000}(?:#{letters})!$",
          "^[a-z]{0,100}(?:#{letters})(?:){0,9000}$"
        ] do
      assert {:error, "it takes too long to prepare"} = Pattern.compile(source)
    end
  end

  ## Against another implementation

  @letters ["a", "b", "-", "é", "😀", "\n"]

  defp pattern(depth) do
    case Enum.random(1..if(depth > 0, do: 12, else: 6)) do
      n when n <= 3 -> Enum.random(["a", "b", "-", "é", "😀", "."])
      4 -> Enum.random(["[ab]", "[^a]", "[a-é]", "[^é😀]", "\\w", "\\W", "\\d"])
      5 -> Enum.random(["^", "$"])
      6 -> ""
      n when n in 7..8 -> pattern(depth - 1) <> pattern(depth - 1)
      9 -> "(#{pattern(depth - 1)}|#{pattern(depth - 1)})"
      _ -> "(?:#{pattern(depth - 1)})" <> Enum.random(["*", "+", "?", "{2}", "{1,2}", "{0,3}", "*?"])
    end
  end

  defp text, do: Enum.map_join(1..Enum.random(0..8)//1, fn _ -> Enum.random(@letters) end)

  # In Unicode mode, with ECMAScript's meaning of `.`, `$` and `\\w`.
  defp judge(source) do
    source
    |> String.replace(".", "[^\\n\\r\\x{2028}\\x{2029}]")
    |> String.replace("\\w", "[A-Za-z0-9_]")
    |> String.replace("\\W", "[^A-Za-z0-9_]")
    |> String.replace("\\d", "[0-9]")
    |> Regex.compile!([:unicode, :dollar_endonly])
  end

  test "automata say what a regular expression says" do
    Gen.check(1_500, fn -> {pattern(4), for(_ <- 1..12, do: text())} end, fn {source, texts} ->
      with {:ok, automaton} <- Pattern.compile(source) do
        regex = judge(source)

        for text <- texts,
            do:
              assert(
                Automaton.matches?(automaton, text) == Regex.match?(regex, text),
                inspect({source, text})
              )
      else
        {:error, reason} -> flunk(reason)
      end
    end)
  end

  test "the core says the same" do
    Gen.check(60, fn -> {pattern(4), for(_ <- 1..6, do: text())} end, fn {source, texts} ->
      name = Module.concat(__MODULE__, "P#{System.unique_integer([:positive])}")

      Code.eval_quoted(
        quote do
          defmodule unquote(name) do
            use RustyJson.Schema
            schema(do: field(:text, :string, pattern: unquote(source)))
          end
        end
      )

      for text <- texts do
        json = RustyJson.encode!(%{text: text}, escape: Enum.random([:json, :unicode_safe]))
        result = Judge.same(json, [as: name], &RustyJson.decode(json, &1))
        assert match?({:ok, _}, result) == Regex.match?(judge(source), text), inspect({source, text})
      end
    end)
  end

  ## By the clock

  test "long strings take the same time per byte, whatever the pattern is" do
    for {module, text} <- [
          {Nested, "a"},
          {Anywhere, "ab"}
        ],
        {name, chosen} <- Judge.engines() do
      patient = if name == :native, do: [], else: [timeout: 60_000]
      json = fn times -> ~s({"text": "#{String.duplicate(text, times)}!"}) end
      options = [as: module] ++ patient ++ chosen
      {short, long} = {json.(100_000), json.(1_000_000)}
      assert {:error, %{reason: :pattern}} = RustyJson.decode(long, options)
      Clock.ratio(25, fn -> RustyJson.decode(long, options) end, fn -> RustyJson.decode(short, options) end)
    end
  end
end
