defmodule RustyJson.Bench.Documents do
  @moduledoc """
  Documents made from a seed: the same bytes on every machine and every OTP.

  The text is written here, not by a library under test, and the random numbers are this module's own for the same
  reason. Shapes: a settlement report (nested transactions, mixed types), a page of an API's answer (strings, URLs,
  Unicode), GeoJSON (nested arrays of floats), plain records, and small or extreme ones.
  """

  import Bitwise

  @type json :: String.t()

  @doc "By name: the committed samples and the larger ones."
  @spec all() :: [{String.t(), (... -> json())}]
  def all do
    [
      {"settlement", fn -> settlement(110) end},
      {"api_response", fn -> api_response(95) end},
      {"geojson", fn -> geojson(76) end},
      {"settlement_10mb", fn -> settlement(15_000) end},
      {"records_10k", fn -> records(10_000) end},
      {"records_40", fn -> records(40) end},
      {"object_1kb", fn -> hd_of(records(1), 8) end},
      {"object_35b", fn -> ~s({"id":1234,"name":"Anna","ok":true}) end},
      {"deep_100", fn -> deep(100) end},
      {"wide_5k", fn -> wide(5_000) end}
    ]
  end

  @doc "A settlement report with this many orders, about 1.1 KB each."
  @spec settlement(pos_integer(), integer()) :: json()
  def settlement(orders, seed \\ 1) do
    {rows, _} = Enum.map_reduce(1..orders, seed, &order/2)

    text(
      {[
         settlementId: "11#{pad(seed, 9)}",
         marketplace: "Amazon.de",
         currency: "EUR",
         periodStart: "2024-01-01T00:00:00Z",
         periodEnd: "2024-01-15T00:00:00Z",
         finalised: true,
         orders: rows
       ]}
    )
  end

  defp order(number, seed) do
    {[a, b, c, d], seed} = randoms(4, seed)
    {items, seed} = Enum.map_reduce(1..(1 + rem(a, 3)), seed, &item/2)

    {{[
        orderId: "#{pad(a, 3)}-#{pad(b, 7)}-#{pad(c, 7)}",
        number: number,
        postedAt:
          "2024-01-#{pad(1 + rem(d, 14), 2)}T#{pad(rem(d >>> 4, 24), 2)}:#{pad(rem(d >>> 9, 60), 2)}:00Z",
        merchantReference: if(rem(b, 4) == 0, do: nil, else: "REF-#{b}"),
        prime: rem(c, 2) == 0,
        items: items,
        total: money(rem(a, 500_000))
      ]}, seed}
  end

  defp item(index, seed) do
    {[a, b, c], seed} = randoms(3, seed)

    {{[
        sku: "SKU-#{pad(a, 8)}",
        title:
          Enum.at(
            ["Ceramic mug, 0.3 l", "Wanderkarte Harz 1:50 000", "Câble USB-C 2 m", "Notebook \"A5\" dotted"],
            rem(b, 4)
          ),
        quantity: 1 + rem(c, 4),
        position: index,
        fees:
          for {type, shift} <- [{"Commission", 0}, {"FBAPerUnitFulfillmentFee", 5}, {"ShippingHB", 9}] do
            {[type: type, amount: money(-rem(b >>> shift, 2_000)), taxed: rem(c >>> shift, 2) == 0]}
          end,
        price: money(rem(c, 90_000))
      ]}, seed}
  end

  defp money(cents),
    do: {:raw, "#{if cents < 0, do: "-"}#{div(abs(cents), 100)}.#{pad(rem(abs(cents), 90) + 10, 2)}"}

  @doc "A page of an API response with this many entries, about 1.3 KB each."
  @spec api_response(pos_integer(), integer()) :: json()
  def api_response(entries, seed \\ 2) do
    {rows, _} = Enum.map_reduce(1..entries, seed, &entry/2)

    text(
      {[
         data: rows,
         page:
           {[number: 1, size: entries, total: entries * 37, next: "https://api.example.com/v2/posts?page=2"]}
       ]}
    )
  end

  @words ~w(schnell naïve 東京 release quota Überblick cache «citation» latency naïveté réseau 🚀 stream commit пример ok)

  defp entry(number, seed) do
    {[a, b, c, d], seed} = randoms(4, seed)

    words =
      for shift <- 0..39,
          do:
            Enum.at(@words, rem(bxor(a >>> rem(shift, 20), b >>> rem(shift * 7, 23)) + shift, length(@words)))

    {{[
        id: 1_000_000_000_000 + a,
        number: number,
        url: "https://api.example.com/v2/posts/#{a}?ref=#{b}&lang=de",
        author:
          {[
             name: "User #{rem(b, 500)}",
             handle: "@user_#{rem(b, 500)}",
             verified: rem(c, 5) == 0,
             avatar: nil
           ]},
        text: Enum.join(words, " ") <> "\n— \"#{hd(words)}\"\t\\#{number}",
        tags: for(n <- 0..rem(c, 6), do: Enum.at(@words, rem(d >>> n, length(@words)))),
        metrics:
          {[views: d, likes: rem(d, 9_999), ratio: {:raw, "0.#{pad(c, 6)}"}, trend: rem(c, 200) - 100]},
        createdAt: "2024-02-#{pad(1 + rem(d, 28), 2)}T10:00:00.#{pad(c, 6)}Z",
        deleted: false
      ]}, seed}
  end

  @doc "GeoJSON with this many polygons of 30 points, about 1.2 KB each."
  @spec geojson(pos_integer(), integer()) :: json()
  def geojson(polygons, seed \\ 3) do
    {rows, _} = Enum.map_reduce(1..polygons, seed, &polygon/2)
    text({[type: "FeatureCollection", features: rows]})
  end

  defp polygon(number, seed) do
    {points, seed} =
      Enum.map_reduce(1..30, seed, fn _, seed ->
        {[a, b], seed} = randoms(2, seed)
        {[coordinate(a, 180), coordinate(b, 90)], seed}
      end)

    {{[
        type: "Feature",
        properties: {[name: "Area #{number}", code: number]},
        geometry: {[type: "Polygon", coordinates: [points ++ [hd(points)]]]}
      ]}, seed}
  end

  defp coordinate(random, limit) do
    {:raw, "#{rem(random, 2 * limit) - limit}.#{pad(random, 6)}#{1 + rem(random, 9)}"}
  end

  @doc "This many similar records with 8 keys, about 160 bytes each."
  @spec records(pos_integer(), integer()) :: json()
  def records(count, seed \\ 4) do
    {rows, _} =
      Enum.map_reduce(1..count, seed, fn number, seed ->
        {[a, b, c], seed} = randoms(3, seed)

        {{[
            id: number,
            name: "Customer #{a}",
            email: "customer.#{a}@example.com",
            score: {:raw, "#{rem(b, 1000)}.#{1 + rem(c, 9)}"},
            active: rem(b, 2) == 0,
            city: Enum.at(["Berlin", "Zürich", "Lyon", "Oslo"], rem(c, 4)),
            visits: rem(c, 100_000),
            note: if(rem(c, 3) == 0, do: nil, else: "note #{b}")
          ]}, seed}
      end)

    text(rows)
  end

  @doc "Objects in objects, this many levels deep."
  @spec deep(pos_integer()) :: json()
  def deep(levels), do: String.duplicate(~s({"a":), levels - 1) <> "{}" <> String.duplicate("}", levels - 1)

  @doc "One object with this many keys."
  @spec wide(pos_integer()) :: json()
  def wide(keys), do: text({for(n <- 1..keys, do: {"key_#{n}", n})})

  # An object with several records, about a kilobyte.
  defp hd_of(record, copies),
    do: text({for(n <- 1..copies, do: {"record#{n}", {:raw, String.slice(record, 1..-2//1)}})})

  ## Text

  defp text(value), do: value |> write() |> IO.iodata_to_binary()

  defp write({:raw, text}), do: text

  defp write({members}),
    do: [?{, Enum.map_intersperse(members, ?,, fn {k, v} -> [string(to_string(k)), ?:, write(v)] end), ?}]

  defp write(list) when is_list(list), do: [?[, Enum.map_intersperse(list, ?,, &write/1), ?]]
  defp write(text) when is_binary(text), do: string(text)
  defp write(integer) when is_integer(integer), do: Integer.to_string(integer)

  defp write(word) when word in [nil, true, false],
    do: if(word == nil, do: "null", else: Atom.to_string(word))

  defp string(text) do
    escaped =
      String.replace(
        text,
        ["\\", "\"", "\n", "\t"],
        &%{"\\" => "\\\\", "\"" => "\\\"", "\n" => "\\n", "\t" => "\\t"}[&1]
      )

    [?", escaped, ?"]
  end

  defp pad(number, digits) do
    number |> abs() |> rem(Integer.pow(10, digits)) |> Integer.to_string() |> String.pad_leading(digits, "0")
  end

  ## Random numbers (splitmix64)

  defp randoms(count, seed), do: Enum.map_reduce(1..count, seed, fn _, seed -> random(seed) end)

  defp random(seed) do
    seed = seed + 0x9E3779B97F4A7C15 &&& 0xFFFFFFFFFFFFFFFF
    z = bxor(seed, seed >>> 30) * 0xBF58476D1CE4E5B9 &&& 0xFFFFFFFFFFFFFFFF
    z = bxor(z, z >>> 27) * 0x94D049BB133111EB &&& 0xFFFFFFFFFFFFFFFF
    {bxor(z, z >>> 31) >>> 33, seed}
  end
end
