defmodule RustyJson.Test.Gen do
  @moduledoc """
  A seeded generator of JSON-able terms, JSON texts and damage to them: the same seed gives the same sequence on every
  machine. `RUSTYJSON_SEED` and `RUSTYJSON_RUNS` choose another sequence and another length.
  """

  @seed 20_240_115

  @doc "Calls the function with this many generated values, and reports the seed of one that fails."
  def check(runs, generator, fun) do
    first = env("RUSTYJSON_SEED", @seed)

    for seed <- first..(first + env("RUSTYJSON_RUNS", runs) - 1) do
      :rand.seed(:exsss, {seed, 1, 1})
      value = generator.()

      try do
        fun.(value)
      rescue
        error ->
          shown = inspect(value, limit: 60, printable_limit: 1000)
          reraise "seed #{seed}: #{shown}\n#{Exception.message(error)}", __STACKTRACE__
      end
    end

    :ok
  end

  defp env(name, default) do
    case Integer.parse(System.get_env(name, "")) do
      {number, ""} -> number
      _ -> default
    end
  end

  @doc "A term that survives encoding and decoding."
  def term(depth \\ 5) do
    case Enum.random(1..if(depth > 0, do: 12, else: 8)) do
      1 -> Enum.random([nil, true, false])
      2 -> integer()
      3 -> float()
      n when n in 4..6 -> string()
      n when n in 7..8 -> Enum.random([0, 1, "", [], %{}, -1, 1.5])
      n when n in 9..10 -> for(_ <- count(), do: term(depth - 1))
      _ -> for(_ <- count(), into: %{}, do: {string(), term(depth - 1)})
    end
  end

  @doc "A term whose objects can have more members than a small map."
  def wide_term, do: for(_ <- 1..Enum.random(30..80), into: %{}, do: {string(), term(1)})

  # Usually few; sometimes about 32, where maps change their representation.
  defp count do
    case Enum.random(1..20) do
      1 -> 1..Enum.random(31..40)
      n when n in 2..4 -> 1..0//1
      _ -> 1..Enum.random(1..6)
    end
  end

  @doc "An integer, often near a power of two."
  def integer do
    case Enum.random(1..4) do
      1 -> Enum.random(-300..300)
      2 -> Integer.pow(2, Enum.random(0..200)) * Enum.random([1, -1]) + Enum.random(-2..2)
      3 -> :rand.uniform(Integer.pow(2, 63)) * Enum.random([1, -1])
      4 -> Integer.pow(10, Enum.random(0..60)) * Enum.random([1, -1]) + Enum.random(-1..1)
    end
  end

  @doc "A finite float: any bits, or one with few digits."
  def float do
    case Enum.random(1..3) do
      1 -> Enum.random([0.0, -0.0, 1.0, 0.1, 1.0e22, 1.0e-7, 5.0e-324, 1.7976931348623157e308])
      2 -> Enum.random(-1_000_000..1_000_000) / Enum.random([1, 10, 100, 1000, 3])
      3 -> bits()
    end
  end

  defp bits do
    case <<:rand.uniform(0x1_0000_0000_0000_0000) - 1::64>> do
      <<float::float>> -> float
      _nan_or_infinity -> bits()
    end
  end

  @doc "UTF-8 text, often about as long as a vector is wide."
  def string do
    length = Enum.random([0, 1, 3, 5, 8, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100])
    length = Enum.random(0..length)
    plain = Enum.random([true, true, false])
    for _ <- 1..length//1, into: "", do: <<character(plain)::utf8>>
  end

  defp character(true), do: Enum.random(?a..?z)

  defp character(false) do
    case Enum.random(1..10) do
      1 -> Enum.random(0..0x1F)
      2 -> Enum.random([?", ?\\, ?/, ?<, 0x7F, 0x2028, 0x2029])
      3 -> Enum.random(0x80..0x7FF)
      4 -> Enum.random(0x800..0xD7FF)
      5 -> Enum.random(0xE000..0xFFFF)
      6 -> Enum.random(0x10000..0x10FFFF)
      _ -> Enum.random(0x20..0x7E)
    end
  end

  @doc "The term as JSON, with random white space, escapes and repeated keys."
  def text(term), do: term |> write() |> IO.iodata_to_binary()

  defp write(list) when is_list(list),
    do: [space(), "[", list |> Enum.map(&write/1) |> Enum.intersperse(","), space(), "]", space()]

  defp write(map) when is_map(map) do
    members =
      for {key, value} <- repeat(Enum.to_list(map)), do: [space(), quoted(key), space(), ":", write(value)]

    [space(), "{", Enum.intersperse(members, ","), space(), "}", space()]
  end

  defp write(text) when is_binary(text), do: [space(), quoted(text), space()]
  defp write(nil), do: [space(), "null", space()]

  defp write(float) when is_float(float),
    do: [space(), :erlang.float_to_binary(float, scientific: 20), space()]

  defp write(other), do: [space(), to_string(other), space()]

  # An earlier member with the same key does not count.
  defp repeat([{key, _} | _] = members) do
    if Enum.random(1..10) == 1, do: [{key, Enum.random([1, "x", [nil]])} | members], else: members
  end

  defp repeat([]), do: []

  defp space, do: Enum.random(["", "", "", "", " ", "\n", "\t", "\r\n", "  \n    "])

  defp quoted(text), do: ["\"", for(<<char::utf8 <- text>>, do: quoted_character(char)), "\""]

  defp quoted_character(char) when char < 0x20 or char in [?", ?\\], do: unit(char)

  defp quoted_character(char) do
    cond do
      Enum.random(1..12) > 1 -> <<char::utf8>>
      char < 0x10000 -> unit(char)
      true -> Enum.map(:unicode.characters_to_binary([char], :utf8, :utf16) |> units(), &unit/1)
    end
  end

  defp units(<<high::16, low::16>>), do: [high, low]

  defp unit(code) do
    digits = code |> Integer.to_string(16) |> String.pad_leading(4, "0")
    ["\\u", Enum.random([digits, String.downcase(digits)])]
  end

  @doc "The text with a little damage: bytes changed, removed, doubled or inserted, or the end cut off."
  def damage(text), do: Enum.reduce(1..Enum.random(1..3), text, fn _, text -> damage_once(text) end)

  defp damage_once(""), do: "["

  defp damage_once(text) do
    at = Enum.random(0..(byte_size(text) - 1))
    before = binary_part(text, 0, at)
    <<byte, rest::binary>> = binary_part(text, at, byte_size(text) - at)

    case Enum.random(1..6) do
      1 -> before
      2 -> before <> rest
      3 -> <<before::binary, byte, byte, rest::binary>>
      4 -> <<before::binary, Enum.random(0..255), rest::binary>>
      5 -> <<before::binary, interesting(), byte, rest::binary>>
      6 -> <<before::binary, interesting(), rest::binary>>
    end
  end

  defp interesting, do: Enum.random(~c([]{}:,"\\ntfu0.eE+-x'/) ++ [0, 0x1F, 0x7F, 0x80, 0xC3, 0xED, 0xFF])
end
