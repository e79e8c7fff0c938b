defmodule RustyJson.Test.Sweep.Inputs do
  @moduledoc """
  The shapes of the sweep: documents and terms of about as many bytes of JSON as asked for.

  A shape may need options to be read or written at all, such as no limit of depth. `only` names the calls that it is for.
  """

  alias RustyJson.{Fragment, OrderedObject}
  alias RustyJson.Test.Structs

  @type shape :: %{name: atom(), options: keyword(), build: (pos_integer() -> term())}

  # Within the default limit of depth.
  @levels 100
  @endless [max_depth: :infinity]

  @doc "Documents."
  @spec texts() :: [shape()]
  def texts do
    [
      shape(:deep, &list(String.duplicate("[", @levels) <> String.duplicate("]", @levels), &1)),
      shape(:bottomless, &around("[", "", "]", &1), @endless),
      shape(:bottomless_objects, &around(~s({"a":), "1", "}", &1), @endless),
      shape(:only_brackets, &String.duplicate("[", &1), @endless),
      shape(:wide, &object(&1, 16, fn number -> ~s("key#{number + 1_000_000}":1) end)),
      shape(:repeated_keys, &object(&1, 8, fn _ -> ~s("key":1) end)),
      shape(:keys_twice, &object(&1, 16, fn number -> ~s("key#{div(number, 2) + 1_000_000}":1) end)),
      shape(:tags_last, &around(~s({"next":), "null", ~s(,"t":"leaf"}), &1), @endless),
      shape(:tags_missing, &around(~s({"next":), "null", "}", &1), @endless),
      shape(:errors, &list("1", &1)),
      shape(:empty_objects, &list("{}", &1)),
      shape(:long_keys, &list(~s({"#{String.duplicate("k", 900)}":1}), &1)),
      shape(
        :one_long_key,
        &~s({"#{String.duplicate("k", div(&1, 2))}":[#{String.duplicate("1,", div(&1, 4))}1]})
      ),
      shape(:long_numbers, &list(String.duplicate("9", 1_000), &1)),
      shape(:endless_number, &String.duplicate("9", &1)),
      shape(:number_without_field, &~s({"x":#{String.duplicate("9", &1)},"id":1})),
      shape(:long_fractions, &list("0." <> String.duplicate("3", 700), &1)),
      shape(:decimals, &list("-12.5e3", &1)),
      shape(:escapes, &list(~S("a\n\"b\\"), &1)),
      shape(:unicode_escapes, &list(~S("\u00e9\uD83D\uDE00"), &1)),
      shape(:beyond_ascii, &list(~s("é漢😀"), &1)),
      shape(:long_string, &~s("#{String.duplicate("a", &1)}")),
      shape(:patterns, &~s([{"text":"#{String.duplicate("ab", div(&1, 2))}"}])),
      shape(:limits, &around(~s({"next":[), "{}", "]}", &1), @endless),
      shape(:open_string, &("\"" <> String.duplicate("é", div(&1, 2)))),
      shape(:records, &list(~s({"id":1,"name":"x","tags":[1,2],"ok":true}), &1)),
      shape(:lines, &String.duplicate(~s({"id":1,"name":"x","ok":true}\n), div(&1, 30))),
      shape(:white_space, &(String.duplicate(" \n\t\r", div(&1, 4)) <> "1")),
      shape(:breaks_in_strings, &list(~s("a\n\r\n"), &1)),
      shape(
        :commas_too_many,
        &("[1" <> String.duplicate("," <> String.duplicate(" ", 500) <> "1", div(&1, 502)) <> ",]")
      ),
      shape(:prose, &(String.duplicate("[ x {", div(&1, 5)) <> "{}")),
      shape(:fences, &String.duplicate("```", div(&1, 3))),
      shape(:python, &list("None,True,False", &1)),
      shape(:late_error, &(list(~s({"a":"b"}), &1) <> "x")),
      shape(:late_utf8, &("[" <> String.duplicate(~s("é",), div(&1, 5)) <> <<?", 255, ?", ?]>>))
    ]
  end

  @doc "Terms to encode."
  @spec terms() :: [shape()]
  def terms do
    [
      shape(:deep, &many(nested(@levels), &1, 2 * @levels)),
      shape(:bottomless, &nested(div(&1, 2)), @endless),
      shape(:bottomless_maps, &Enum.reduce(1..div(&1, 6), 1, fn _, inner -> %{"a" => inner} end), @endless),
      shape(:wide, &Map.new(1..div(&1, 16), fn number -> {"key#{number + 1_000_000}", 1} end)),
      shape(:wide_integers, &Map.new(1..div(&1, 12), fn number -> {number + 1_000_000, 1} end)),
      shape(:shared, &shared/1),
      shape(:shared_lists, fn size -> Enum.reduce(1..bits(size), "x", fn _, inner -> [inner, inner] end) end),
      shape(:repeated_keys, &OrderedObject.new(List.duplicate({"key", 1}, div(&1, 8)))),
      shape(:long_keys, &many(%{String.duplicate("k", 900) => 1}, &1, 908)),
      shape(:kinds_of_keys, &many(kinds(), &1, 60)),
      shape(:keys_without_text, &[many(1, div(&1, 2), 2), %{{1, 2} => 1}]),
      shape(:long_numbers, &many(Integer.pow(10, 300), &1, 302)),
      shape(:floats, &many(1.2345678901e-7, &1, 16)),
      shape(:escapes, &many("a\n\"b\\", &1, 11)),
      shape(:beyond_ascii, &many("é漢😀", &1, 12)),
      shape(:long_string, &String.duplicate("a\n", div(&1, 3))),
      shape(:invalid_utf8, &many(<<"abcdef", 255>>, &1, 10)),
      shape(:late_utf8, &(many("é", &1, 5) ++ [<<255>>])),
      shape(:improper, &improper(div(&1, 2))),
      shape(:without_json, &many(self(), &1, 20)),
      shape(:lazy, &%{"rows" => RustyJson.lazy(1..div(&1, 6))}),
      shape(:lazy_inside, &many(%{"a" => RustyJson.lazy([1, 2])}, &1, 12)),
      shape(:own_encoders, &many(%Structs.AsText{text: "a"}, &1, 4)),
      shape(:encoders_with_maps, &many(%Structs.Money{amount: 1, currency: "EUR"}, &1, 30)),
      shape(:encoders_that_return_terms, &many(%Structs.AsMap{value: 1}, &1, 12)),
      shape(:nested_encoders, &nested_encoders(div(&1, 12)), @endless),
      shape(:without_encoder, &many(%Structs.Bare{name: "a"}, &1, 30)),
      shape(:fragments, &many(Fragment.new(~s({"a": [1, 2]})), &1, 15)),
      shape(:dates, &many(~D[2024-02-29], &1, 13)),
      # Elixir makes the digits of an integer in quadratic time.
      shape(:long_years, &many(%{~D[2024-02-29] | year: Bitwise.bsl(1, 8 * 20_000)}, &1, 20_000)),
      shape(:records, &many(%{id: 1, name: "x", tags: [1, 2], ok: true, first_name: nil}, &1, 60)),
      shape(:pairs, &many({"key", 1}, &1, 10))
    ]
  end

  defp shape(name, build, options \\ []), do: %{name: name, build: build, options: options}

  ## Documents

  defp list(item, size) do
    count = max(div(size, byte_size(item) + 1), 1)
    "[" <> String.duplicate(item <> ",", count - 1) <> item <> "]"
  end

  defp object(size, width, member),
    do: IO.iodata_to_binary(["{", Enum.map_intersperse(1..div(size, width), ",", member), "}"])

  defp around(open, inner, close, size) do
    levels = div(size, byte_size(open) + byte_size(close))
    String.duplicate(open, levels) <> inner <> String.duplicate(close, levels)
  end

  ## Terms

  defp many(item, size, bytes), do: List.duplicate(item, max(div(size, bytes), 1))
  defp nested(levels), do: Enum.reduce(1..levels, [], fn _, inner -> [inner] end)

  defp nested_encoders(levels),
    do: Enum.reduce(1..min(levels, 60), 1, fn _, inner -> %Structs.AsMap{value: inner} end)

  defp improper(count), do: Enum.reduce(1..count, 2, fn _, tail -> [1 | tail] end)
  defp kinds, do: %{1 => 1, 2.5 => 2, "k" => 3, :k => 4, ~D[2024-02-29] => 5, -7 => nil, ~c"l" => 6}

  # Three levels of twelve, over one string.
  defp shared(size) do
    leaf = String.duplicate("x", max(div(size, 12 * 12 * 12), 1))
    Enum.reduce(1..3, leaf, fn _, inner -> Map.new(1..12, &{&1, inner}) end)
  end

  defp bits(size), do: size |> div(5) |> Integer.digits(2) |> length()
end
