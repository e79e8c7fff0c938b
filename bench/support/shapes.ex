defmodule RustyJson.Bench.Shapes do
  @moduledoc """
  Further documents from a seed, shaped like the real things they are named after: as terms, in a fixed order of keys,
  and as JSON text through `RustyJson.Bench.Text`.
  """

  alias RustyJson.Bench.{Random, Text}

  @kinds [
    {"Order", "ItemPrice", "Principal"},
    {"Order", "ItemPrice", "Tax"},
    {"Order", "ItemFees", "Commission"},
    {"Order", "ItemFees", "FBAPerUnitFulfillmentFee"},
    {"Order", "ItemWithheldTax", "MarketplaceFacilitatorTax-Principal"},
    {"Refund", "ItemPrice", "Principal"},
    {"other-transaction", "other-transaction", "Subscription Fee"}
  ]
  @titles [
    "Ceramic mug, 0.3 l, dishwasher safe",
    "Wanderkarte Harz 1:50 000",
    "Câble USB-C 2 m, charge rapide 60 W",
    "Notebook \"A5\" dotted, 192 pages",
    "旅行用電源アダプター"
  ]
  @day 86_400

  @doc "A settlement report of about this many bytes; amounts are strings, as in the source, or numbers."
  @spec settlement(pos_integer(), integer()) :: String.t()
  def settlement(bytes, seed \\ 11) do
    sample = byte_size(settlement_of(200, seed))
    settlement_of(max(1, div(bytes * 200, sample)), seed)
  end

  defp settlement_of(transactions, seed) do
    {rows, _} = Enum.map_reduce(1..transactions, seed, &transaction/2)

    Text.json(
      {[
         payload:
           {[
              settlementId: "1149" <> Text.pad(seed, 7),
              settlementStartDate: "2024-01-01T00:00:00+00:00",
              settlementEndDate: "2024-01-15T00:00:00+00:00",
              depositDate: "2024-01-17T00:00:00+00:00",
              totalAmount: {:raw, "184223.07"},
              currency: "EUR",
              transactions: rows
            ]}
       ]}
    )
  end

  defp transaction(number, seed) do
    {[a, b, c, d], seed} = Random.take(4, seed)
    {items, seed} = Enum.map_reduce(1..(1 + rem(a, 3)), seed, &item/2)

    {{[
        transactionType: elem(Enum.at(@kinds, rem(a, 7)), 0),
        orderId: "#{Text.pad(a, 3)}-#{Text.pad(b, 7)}-#{Text.pad(c, 7)}",
        merchantOrderId:
          if(rem(b, 3) == 0, do: nil, else: "#{Text.pad(c, 3)}-#{Text.pad(d, 7)}-#{Text.pad(a, 7)}"),
        shipmentId: "D" <> Text.letters(d, 8),
        marketplaceName: Enum.at(~w(Amazon.de Amazon.fr Amazon.it Amazon.es), rem(c, 4)),
        fulfillmentId: if(rem(d, 2) == 0, do: "AFN", else: "MFN"),
        postedDateTime: Text.time(1_704_067_200 + rem(b, 14 * @day)),
        lineNumber: number,
        items: items,
        total: {[currencyCode: "EUR", currencyAmount: Text.money(rem(a, 50_000) - 5_000)]}
      ]}, seed}
  end

  defp item(index, seed) do
    {[a, b, c], seed} = Random.take(3, seed)

    {{[
        orderItemCode: 10_000_000_000_000 + a * 1_000 + rem(b, 1_000),
        sku: "#{Text.letters(a, 2)}-#{Text.letters(b, 4)}-#{Text.letters(c, 4)}",
        title: Enum.at(@titles, rem(b, 5)),
        quantityPurchased: index + rem(c, 3),
        promotionId: if(rem(a, 5) == 0, do: "PAWS-V2-#{Text.pad(c, 8)}-1", else: ""),
        priceAmount: {:raw, Text.money(rem(c, 90_000))},
        amounts: for(shift <- 0..rem(c, 4), do: amount(rem(a + shift, 7), b + shift))
      ]}, seed}
  end

  defp amount(kind, random) do
    {_, type, description} = Enum.at(@kinds, kind)

    {[
       amountType: type,
       amountDescription: description,
       amount: Text.money(rem(random, 9_000) - 3_000),
       taxable: rem(random, 2) == 0
     ]}
  end

  @doc "The rows of a flat settlement file after parsing. Every field is a string or nil, like the columns of the source."
  @spec rows(pos_integer(), integer()) :: [map()]
  def rows(count, seed \\ 12) do
    {rows, _} = Enum.map_reduce(1..count, seed, &row/2)
    rows
  end

  defp row(_number, seed) do
    {[a, b, c], seed} = Random.take(3, seed)
    {type, kind, description} = Enum.at(@kinds, rem(a, 7))

    {%{
       "settlement-id" => "11490000012",
       "currency" => "EUR",
       "transaction-type" => type,
       "order-id" => "#{Text.pad(a, 3)}-#{Text.pad(b, 7)}-#{Text.pad(c, 7)}",
       "merchant-order-id" => if(rem(b, 3) == 0, do: nil, else: "#{Text.pad(c, 3)}-#{Text.pad(b, 7)}"),
       "shipment-id" => "D" <> Text.letters(b, 8),
       "marketplace-name" => "Amazon.de",
       "amount-type" => kind,
       "amount-description" => description,
       "amount" => Text.money(rem(c, 9_000) - 3_000),
       "fulfillment-id" => "AFN",
       "posted-date" => "2024-01-#{Text.pad(1 + rem(a, 14), 2)}",
       "posted-date-time" => Text.time(1_704_067_200 + rem(b, 14 * @day)),
       "order-item-code" => Integer.to_string(10_000_000_000_000 + a),
       "sku" => "#{Text.letters(a, 2)}-#{Text.letters(b, 4)}",
       "quantity-purchased" => Integer.to_string(1 + rem(c, 4))
     }, seed}
  end

  @doc "A log record like those of a content delivery network."
  @spec log() :: String.t()
  def log do
    Text.json(
      {[
         timestamp: 25_469_139_677_502,
         zone_id: 123_456,
         zone_plan: 1,
         http:
           {[
              protocol: 2,
              status: 200,
              host_status: 503,
              up_status: 520,
              method: 1,
              content_type: "text/html",
              user_agent:
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_8_5) AppleWebKit/537.36 (KHTML, like Gecko) " <>
                  "Chrome/33.0.1750.146 Safari/537.36",
              referer: "https://www.example.com/",
              request_uri: "/cdn-cgi/trace"
            ]},
         origin: {[ip: "1.2.3.4", port: 8_000, hostname: "www.example.com", protocol: 2]},
         country: 238,
         cache_status: 3,
         server_ip: "192.168.1.1",
         server_name: "metal.example.com",
         remote_ip: "10.1.2.3",
         bytes_dlv: 123_456,
         ray_id: "10c73629cce30078-LAX"
       ]}
    )
  end

  @doc "A list of this many small objects, about 46 bytes each."
  @spec large_list(pos_integer()) :: String.t()
  def large_list(count),
    do: Text.json(for n <- 1..count, do: {[id: n, name: "item #{n}", value: {:raw, "#{n}.5"}]})

  @doc "This many objects with the same keys."
  @spec like(pos_integer(), pos_integer()) :: String.t()
  def like(objects, keys), do: Text.json(for(n <- 1..objects, do: object("field_", n, keys)))

  @doc "This many objects with 5 keys. Each object has different keys."
  @spec unlike(pos_integer()) :: String.t()
  def unlike(objects), do: Text.json(for(n <- 1..objects, do: object("field_#{n}_", n, 5)))

  @doc "One object with this many keys."
  @spec single(pos_integer()) :: String.t()
  def single(keys), do: Text.json(object("field_", 1, keys))

  defp object(prefix, n, keys), do: {for(k <- 1..keys, do: {"#{prefix}#{k}", value(k, n)})}

  defp value(k, n) when rem(k, 2) == 0, do: n * k
  defp value(k, n), do: "value #{rem(n, 97)} #{k}"
end
