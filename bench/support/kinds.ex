defmodule RustyJson.Bench.Kinds do
  @moduledoc "Documents of the kinds that applications send today, from a seed: another seed gives another document of the same kind."

  alias RustyJson.Bench.{Random, Text}

  @chinese String.graphemes("数据解析性能测试文本编码语言模型返回结果用户订单价格时间城市中国上海北京")
  @cyrillic ~w(данные разбор скорость текст ответ заказ цена время город Москва проверка строка)
  @emoji ~w(🚀 🎉 👍🏽 ❤️ 😀)
  @words ~w(the parser reads each token once and returns a list of fields to render in order with care)

  @doc "A list of posts whose text is mostly not ASCII, about 100 KB."
  @spec not_ascii(integer()) :: String.t()
  def not_ascii(seed \\ 21), do: rows(280, seed, &post/2)

  defp post(number, seed) do
    {[a, b, c, d], seed} = Random.take(4, seed)
    {chinese, seed} = picks(@chinese, 60, seed)
    {cyrillic, seed} = picks(@cyrillic, 8, seed)

    {{[
        id: number,
        作者: Enum.join(Enum.slice(chinese, 0, 3)),
        标题: Enum.join(Enum.slice(chinese, 3, 12)),
        正文: Enum.join(chinese) <> "，" <> Enum.at(@emoji, rem(a, 5)),
        город: Enum.at(@cyrillic, rem(b, 12)),
        текст: Enum.join(cyrillic, " "),
        likes: rem(c, 10_000),
        ok: rem(d, 2) == 0
      ]}, seed}
  end

  @doc "An answer of a language model, with a content of 4 KB full of line breaks and quotes."
  @spec chat(integer()) :: String.t()
  def chat(seed \\ 22) do
    {lines, seed} = Enum.map_reduce(1..105, seed, &line/2)
    {[a, b], _seed} = Random.take(2, seed)
    message = {[role: "assistant", content: Enum.join(lines, "\n"), refusal: nil]}

    Text.json(
      {[
         id: "chatcmpl-#{Text.pad(a, 12)}",
         object: "chat.completion",
         created: 1_780_000_000 + rem(b, 1_000_000),
         model: "model-2026-08-01",
         choices: [{[index: 0, message: message, logprobs: nil, finish_reason: "stop"]}],
         usage: {[prompt_tokens: rem(a, 900), completion_tokens: rem(b, 1_200)]}
       ]}
    )
  end

  defp line(number, seed) do
    {words, seed} = picks(@words, 8, seed)
    {if(rem(number, 3) == 0, do: "\tsay \"#{hd(words)}\";", else: "- " <> Enum.join(words, " ")), seed}
  end

  @doc "A webhook whose payload is JSON in a string, about 3 KB."
  @spec webhook(integer()) :: String.t()
  def webhook(seed \\ 23) do
    {[a, b, c], seed} = Random.take(3, seed)
    {items, _} = Enum.map_reduce(1..30, seed, &charge/2)
    inner = Text.json({[object: "event", data: items, livemode: false]})

    Text.json(
      {[
         id: "evt_#{Text.pad(a, 14)}",
         type: "invoice.payment_succeeded",
         created: 1_780_000_000 + rem(b, 99_999),
         request: {[id: "req_#{Text.pad(c, 10)}", url: "https://example.com/hooks?id=#{c}"]},
         payload: inner
       ]}
    )
  end

  defp charge(number, seed) do
    {[a, b], seed} = Random.take(2, seed)

    {{[id: "ch_#{Text.pad(a, 10)}", amount: rem(b, 90_000), line: number, note: "item \"#{rem(a, 99)}\""]},
     seed}
  end

  @doc "One record of a log, about 1 KB."
  @spec log(integer()) :: String.t()
  def log(seed \\ 24) do
    {[a, b, c, d], _seed} = Random.take(4, seed)

    Text.json(
      {[
         time: "2026-11-#{Text.pad(1 + rem(a, 28), 2)}T10:20:30.#{Text.pad(b, 6)}Z",
         severity: "INFO",
         message: "Sent 200 in #{rem(c, 900)}ms for GET /api/v2/orders/#{d}",
         logger: {[application: "shop", module: "Shop.Endpoint", function: "call/2", line: rem(a, 400)]},
         request:
           {[
              method: "GET",
              path: "/api/v2/orders/#{d}",
              id: "F#{Text.pad(d, 16)}",
              remote_ip: "10.1.#{rem(a, 256)}.7"
            ]},
         user: {[id: rem(b, 1_000_000), role: "customer", tenant: "acme-#{rem(c, 40)}"]},
         response: {[status: 200, bytes: rem(d, 90_000), duration_us: rem(c, 900_000), cached: false]},
         trace: {[trace_id: Text.pad(a, 16) <> Text.pad(b, 16), span_id: Text.pad(c, 16), sampled: true]},
         labels: {for(n <- 1..20, do: {"label_#{n}", "value-#{rem(a * n, 977)}"})}
       ]}
    )
  end

  @doc "A configuration with sections inside sections, about 20 KB."
  @spec config(integer()) :: String.t()
  def config(seed \\ 25), do: seed |> section(5) |> elem(0) |> Text.json()

  defp section(seed, 0) do
    {[a, b, c], seed} = Random.take(3, seed)

    {{[enabled: rem(a, 2) == 0, timeout_ms: rem(b, 60_000), name: "unit-#{rem(c, 5_000)}", tags: ["a", "b"]]},
     seed}
  end

  defp section(seed, depth) do
    {parts, seed} = Enum.map_reduce(1..3, seed, fn _, seed -> section(seed, depth - 1) end)
    {{[level: depth] ++ for({part, n} <- Enum.with_index(parts), do: {"section_#{depth}_#{n}", part})}, seed}
  end

  @doc "Rows of small integers, about 130 KB."
  @spec integers(integer()) :: String.t()
  def integers(seed \\ 26), do: rows(1_000, seed, fn _, seed -> picks(Enum.to_list(-50..999), 36, seed) end)

  defp rows(count, seed, row), do: 1..count |> Enum.map_reduce(seed, row) |> elem(0) |> Text.json()

  defp picks(list, count, seed) do
    {numbers, seed} = Random.take(count, seed)
    {for(number <- numbers, do: Enum.at(list, rem(number, length(list)))), seed}
  end
end
