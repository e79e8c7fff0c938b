defmodule RustyJson.Test.Lies do
  @moduledoc "Results that no honest guest returns. Each ends in a SandboxError with the reason `:invalid_result`."

  alias RustyJson.Test.Guest

  @doc "Addresses and lengths of results that lie outside the memory, or are empty."
  def places do
    [
      {0, 1},
      {Guest.memory(), 1},
      {Guest.memory() - 1, 2},
      {0x7FFF_FFFF, 10},
      {0xFFFF_FFFF, 1},
      {0xFFFF_FFFF, 10},
      {1, 0xFFFF_FFFF},
      {1024, 0x7FFF_FFFF},
      {0xFFFF_FFFF, 0xFFFF_FFFF},
      {5, 0}
    ]
  end

  @doc "Records that no honest guest returns when it encodes `[self()]`."
  # A hole consists of its position in the text, its position in the term's bytes, and its depth.
  def encode_records do
    [
      {"a hole behind the text", <<2, 1::32-little, 99::32-little, 6::32-little, 1::32-little, "[]">>},
      {"a hole outside the term", <<2, 1::32-little, 1::32-little, 0xFFFF::32-little, 1::32-little, "[]">>},
      {"a hole in the middle of a term", <<2, 1::32-little, 1::32-little, 8::32-little, 1::32-little, "[]">>},
      {"a hole in the version byte", <<2, 1::32-little, 1::32-little, 0::32, 1::32-little, "[]">>},
      {"more holes than the record has",
       <<2, 0xFFFFFFFF::32, 1::32-little, 6::32-little, 1::32-little, "[]">>},
      {"an error without its parts", <<0, 1>>},
      {"a path longer than the record", <<0, 1, 0xFFFFFFFF::32, "x">>},
      {"an unknown error", <<0, 77, 0::32>>}
    ]
  end

  @doc "Records that no honest guest returns for a document of eight bytes."
  def records do
    terms = for {name, etf} <- broken_terms() ++ foreign_terms(), do: {name, <<1, etf::binary>>}
    terms ++ broken_records()
  end

  defp broken_terms do
    [
      {"no term", <<>>},
      {"no version byte", <<97, 1>>},
      {"nothing behind the version byte", <<131>>},
      {"bytes behind the term", <<131, 97, 1, 0>>},
      {"a binary cut short", <<131, 109, 5::32, "abc">>},
      {"NaN", <<131, 70, 0x7FF8_0000_0000_0000::64>>},
      {"infinity", <<131, 70, 0x7FF0_0000_0000_0000::64>>},
      {"negative infinity", <<131, 70, 0xFFF0_0000_0000_0000::64>>},
      {"an integer without digits", <<131, 110, 0, 0>>},
      {"an integer with a bad sign", <<131, 110, 1, 2, 5>>},
      {"an integer longer than the document",
       <<131, 111, 5_000::32, 0, String.duplicate(<<1>>, 5_000)::binary>>},
      {"an integer of 30,000 bytes", <<131, 111, 30_000::32, 0, 1::240_000>>},
      {"an integer longer than the record", <<131, 111, 0xFFFF_FFFF::32, 0, 1>>},
      {"a binary longer than the record", <<131, 109, 0xFFFF_FFFF::32, 97, 1>>},
      {"a list longer than the record", <<131, 108, 0xFFFF_FFFF::32, 97, 1, 106>>},
      {"a map larger than the record", <<131, 116, 0xFFFF_FFFF::32, 97, 1>>},
      {"an empty list with a count", <<131, 108, 0::32, 106>>},
      {"an improper list", <<131, 108, 1::32, 97, 1, 97, 2>>},
      {"a list that ends in a list", <<131, 108, 1::32, 97, 1, 108, 1::32, 97, 1, 106>>},
      {"a map with a key twice", <<131, 116, 2::32, 109, 1::32, "a", 97, 1, 109, 1::32, "a", 97, 2>>},
      {"more values than the document has bytes",
       <<131, 108, 9::32>> <> String.duplicate(<<97, 1>>, 9) <> <<106>>},
      {"200 levels",
       <<131, String.duplicate(<<108, 1::32>>, 200)::binary, 106, String.duplicate(<<106>>, 200)::binary>>}
    ]
  end

  # Terms that no JSON represents, or that do not fit the options.
  defp foreign_terms do
    external = &:erlang.term_to_binary(&1, minor_version: 2)

    [
      {"an atom", external.(:ok)},
      {"a new atom", <<131, 119, 22, "an atom nobody ever saw">>},
      {"an old atom tag", <<131, 100, 4::16, "true">>},
      {"a pid", external.(self())},
      {"a port", external.(hd(Port.list()))},
      {"a reference", external.(make_ref())},
      {"a closure", external.(fn -> :ok end)},
      {"an external function", external.(&:os.cmd/1)},
      {"a bitstring", external.(<<1::3>>)},
      {"a tuple", external.({1, 2})},
      {"a charlist", external.(~c"ab")},
      {"a list of bytes", external.([1, 2, 3])},
      {"a map with an integer key", external.(%{1 => 2})},
      {"a map with an atom key", external.(%{ok: 2})},
      {"a struct", external.(URI.parse("x"))},
      {"a Date that lacks fields", external.(%{__struct__: Date, year: 1})},
      {"a Decimal that no option asked for", external.(%{__struct__: Decimal, sign: 1, coef: 1, exp: 1})},
      {"a float as text", <<131, 99, "1.50000000000000000000e+00", 0, 0, 0, 0, 0>>},
      {"a compressed term", :erlang.term_to_binary(String.duplicate("a", 1000), compressed: 9)},
      {"a compressed term that claims to be enormous",
       <<131, 80, 0x7FFFFFFF::32, :zlib.compress(:binary.copy(<<0>>, 10_000))::binary>>}
    ]
  end

  # An error consists of its code, then offset, line and column, then the path.
  defp broken_records do
    error = fn code, offset, line, column, path ->
      <<0, code, offset::64-little, line::64-little, column::64-little, path::binary>>
    end

    [
      {"an empty record", <<>>},
      {"an unknown status", <<7, 131, 97, 1>>},
      {"a partial result for decode", <<2, 0::32, "null">>},
      {"error code zero", error.(0, 0, 1, 1, "")},
      {"error code 77", error.(77, 0, 1, 1, "")},
      {"error code 99", error.(99, 0, 1, 1, "")},
      {"an offset beyond the document", error.(2, 9, 1, 1, "")},
      {"an offset far beyond the document", error.(2, 0xFFFF_FFFF_FFFF_FFFF, 1, 1, "")},
      {"a line beyond the document", error.(2, 0, 1000, 1, "")},
      {"a column beyond the document", error.(2, 0, 1, 1000, "")},
      {"a path that is invalid UTF-8", error.(2, 0, 1, 1, <<0xFF, 0xFE>>)},
      {"an error without a code", <<0>>},
      {"an error cut short", <<0, 2, 0, 0>>}
    ]
  end
end
