defmodule RustyJson.TrafficTest do
  @moduledoc "Requests to Bandit, whose pipeline has RustyJson.PlugParser with the sandbox: each kind gets its status."

  use ExUnit.Case, async: false

  alias RustyJson.Config
  alias RustyJson.Test.{Judge, TrafficPlug}

  @compile {:no_warn_undefined, [Bandit, ThousandIsland]}

  @missing (cond do
              not Code.ensure_loaded?(Bandit) ->
                "Bandit is not among the dependencies"

              not (Judge.available?(:built_in) or Judge.available?(:wasmex)) ->
                "there is no host for the wasm engine"

              true ->
                nil
            end)
  if @missing, do: @moduletag(skip: @missing)

  setup do
    # From Elixir 1.15 on, Mix hides OTP's applications that the project does not name.
    if function_exported?(Mix, :ensure_application!, 1),
      do: Enum.each([:inets, :ssl], &apply(Mix, :ensure_application!, [&1]))

    {:ok, _} = Application.ensure_all_started(:inets)
    Application.put_env(:rustyjson, :policies, policies())
    Config.reload()

    on_exit(fn ->
      Application.delete_env(:rustyjson, :policies)
      Config.reload()
    end)

    server = start_supervised!({Bandit, plug: TrafficPlug, port: 0, ip: :loopback, startup_log: false})
    {:ok, {_address, port}} = ThousandIsland.listener_info(server)
    {:ok, url: "http://127.0.0.1:#{port}"}
  end

  # The patient one is for good documents on a busy machine, the hasty one stops every document of some size.
  defp policies do
    [
      patient: [engine: :wasm, timeout: 30_000, max_bytes: 1_000_000, max_nodes: 100_000],
      hasty: [engine: :wasm, timeout: 1, max_memory: 64 * 1_048_576],
      small: [engine: :wasm, timeout: 30_000, max_memory: 8 * 1_048_576]
    ]
  end

  # The status and the answer of a request that curl sends, or Erlang's client where there is no curl.
  defp request(url, body) do
    if System.find_executable("curl"), do: curl(url, body), else: httpc(url, body)
  end

  defp curl(url, body) do
    file = Path.join(System.tmp_dir!(), "rustyjson_body_#{System.unique_integer([:positive])}")
    File.write!(file, body)

    arguments = [
      "-s",
      "-w",
      "\n%{http_code}",
      "-H",
      "content-type: application/json",
      "--data-binary",
      "@" <> file
    ]

    {output, 0} = System.cmd("curl", arguments ++ [url])
    File.rm(file)
    [answer, status] = String.split(output, ~r/\n(?=\d+\z)/)
    {String.to_integer(status), answer}
  end

  defp httpc(url, body) do
    request = {String.to_charlist(url), [{~c"connection", ~c"close"}], ~c"application/json", body}
    {:ok, {{_, status, _}, _, answer}} = apply(:httpc, :request, [:post, request, [], [body_format: :binary]])
    {status, answer}
  end

  test "good, and with its raw body", %{url: url} do
    body = ~s( {"a": [1, 2.5, null]} )
    assert {200, answer} = request(url <> "/patient", body)
    assert RustyJson.decode!(answer) == %{"params" => %{"a" => [1, 2.5, nil]}, "bytes" => byte_size(body)}
    assert {200, answer} = request(url <> "/patient", "[7]")
    assert RustyJson.decode!(answer)["params"] == %{"_json" => [7]}
    assert {200, _} = request(url <> "/patient", "")
  end

  test "slow, but whole; and cut off", %{url: url} do
    body = RustyJson.encode!(List.duplicate("0123456789", 100))
    parts = for <<part::binary-size(100) <- body>>, do: part
    rest = binary_part(body, 100 * length(parts), rem(byte_size(body), 100))
    assert "HTTP/1.1 200" <> _ = send_slowly(url, byte_size(body), parts ++ [rest])
    assert "" = send_slowly(url, byte_size(body) + 1, parts)
    assert {200, _} = request(url <> "/patient", "[1]")
  end

  defp send_slowly("http://127.0.0.1:" <> port, length, parts) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, String.to_integer(port), [:binary, active: false])

    head =
      "POST /patient HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n"

    :ok = :gen_tcp.send(socket, head <> "content-length: #{length}\r\n\r\n")

    for part <- parts do
      Process.sleep(5)
      :ok = :gen_tcp.send(socket, part)
    end

    :gen_tcp.shutdown(socket, :write)
    answer(socket, "")
  end

  defp answer(socket, read) do
    case :gen_tcp.recv(socket, 0, 60_000) do
      {:ok, bytes} -> answer(socket, read <> bytes)
      {:error, :closed} -> read
    end
  end

  test "broken", %{url: url} do
    assert {400, answer} = request(url <> "/patient", ~s({"a":\n nul}))
    assert answer =~ "Plug.Parsers.ParseError" and answer =~ "line 2, column 2"
    assert {400, _} = request(url <> "/patient", String.duplicate("[", 100_000))
  end

  test "huge", %{url: url} do
    # Longer than `length`, than `max_bytes`, and with more values than `max_nodes`.
    assert {413, _} = request(url <> "/patient", "[\"" <> String.duplicate("a", 6_000_000) <> "\"]")
    assert {413, answer} = request(url <> "/patient", "[\"" <> String.duplicate("a", 1_500_000) <> "\"]")
    assert answer =~ "RequestTooLargeError"
    assert {413, _} = request(url <> "/patient", "[" <> String.duplicate("1,", 200_000) <> "1]")
  end

  test "hostile: the sandbox runs out of time or memory", %{url: url} do
    bomb = "[" <> String.duplicate("[],", 1_300_000) <> "1]"
    assert {413, answer} = request(url <> "/hasty", bomb)
    assert answer =~ "the call took longer than its timeout"
    assert {413, answer} = request(url <> "/small", bomb)
    assert answer =~ "more memory than max_memory"
    assert {200, _} = request(url <> "/patient", "[1]")
  end

  test "a hundred at once while one attacks", %{url: url} do
    bomb = "[" <> String.duplicate("[],", 1_300_000) <> "1]"
    attack = Task.async(fn -> for _ <- 1..5, do: elem(request(url <> "/small", bomb), 0) end)

    good =
      1..100
      |> Task.async_stream(&request(url <> "/patient", ~s({"n":#{&1}})),
        max_concurrency: 100,
        timeout: 120_000
      )
      |> Enum.with_index(1)

    for {{:ok, {status, answer}}, n} <- good do
      assert {status, RustyJson.decode!(answer)["params"]} == {200, %{"n" => n}}
    end

    assert Task.await(attack, 120_000) == List.duplicate(413, 5)
  end
end
