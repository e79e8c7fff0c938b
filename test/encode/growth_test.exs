defmodule RustyJson.GrowthTest do
  @moduledoc """
  Texts that begin with escapes and go on with a long plain run, around every length at which an output buffer grows. jiffy 2.0.0 wrote
  beyond its buffer there (https://github.com/davisp/jiffy/issues/303). `core/tests/all/growth.rs` has every length of memory; here the memory is the
  VM's and the module's, also under AddressSanitizer (`script/test --full --only asan`).
  """

  # In the order of the lengths, so that the buffers that threads keep grow as well.
  use ExUnit.Case, async: false

  alias RustyJson.Test.Judge

  # An escaped character and what becomes of it in each mode; the character that follows in a long run is plain everywhere.
  @modes [
    json: [{"\n", "\\n"}, {<<1>>, "\\u0001"}, {"\"", "\\\""}],
    html_safe: [{"/", "\\/"}, {"\u2028", "\\u2028"}, {"\\", "\\\\"}],
    javascript_safe: [{"\u2029", "\\u2029"}, {<<31>>, "\\u001F"}],
    unicode_safe: [{"é", "\\u00E9"}, {"😀", "\\uD83D\\uDE00"}, {"\t", "\\t"}]
  ]
  # Powers of two, and those and a half: the tape, the module's output and the native library's grow in these steps.
  @boundaries for(power <- 8..16, length <- [Bitwise.bsl(1, power), Bitwise.bsl(3, power - 1)], do: length) ++
                [131_072, 262_144, 524_288, 1_048_576]

  for {engine, options} <- Judge.engines(), {mode, escapes} <- @modes do
    @tag :once
    test "#{engine}, #{mode}: escapes and then a run, at each length at which a buffer grows" do
      options = [escape: unquote(mode)] ++ unquote(options)

      for boundary <- @boundaries, {character, escape} <- unquote(escapes), share <- [8, 2] do
        # The escapes fill an eighth of the text, or half of it.
        count = div(boundary, share * byte_size(escape))
        {source, text} = {String.duplicate(character, count), String.duplicate(escape, count)}

        for around <- around(boundary) do
          run = String.duplicate("x", max(boundary - byte_size(text) + around, 0))
          assert_written([source <> run], ["[\"", text, run, "\"]"], options)
          assert_written(%{(source <> run) => 1}, ["{\"", text, run, "\":1}"], options)
        end
      end
    end
  end

  test "the same with other text before it, in a hole, and in the formatter" do
    for {_engine, options} <- Judge.engines(), boundary <- [256, 4096, 65_536], around <- -20..4 do
      count = div(boundary, 8)
      {source, text} = {String.duplicate("\n", count), String.duplicate("\\n", count)}
      run = String.duplicate("x", boundary - 2 * count + around)
      string = IO.iodata_to_binary([?", text, run, ?"])
      assert_written([1, "é", source <> run, source], [~s([1,"é",), string, ?,, ?", text, ~s("])], options)

      # A function in a fragment is a hole, which Elixir fills.
      fragment = RustyJson.Fragment.new(fn _ -> string end)
      assert_written([fragment, source <> run], [?[, string, ?,, string, ?]], options)

      assert RustyJson.Formatter.minimize("[ " <> string <> " ]") == "[" <> string <> "]"
    end
  end

  # Every length close to the boundary where that is short.
  defp around(boundary) when boundary <= 4096, do: -24..8
  defp around(boundary) when boundary <= 65_536, do: [-17, -16, -13, -4, -2, -1, 0, 1, 3]
  defp around(_boundary), do: [-16, -2, 1]

  # Comparing first keeps a failure short: no difference of megabytes.
  defp assert_written(term, expected, options) do
    {:ok, found} = RustyJson.encode(term, options)
    expected = IO.iodata_to_binary(expected)

    if found != expected,
      do: flunk("another text of #{byte_size(found)} bytes, expected #{byte_size(expected)}")
  end
end
