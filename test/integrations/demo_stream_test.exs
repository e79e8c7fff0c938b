Code.require_file("../../script/demo.d/stream.exs", __DIR__)

defmodule RustyJson.DemoStreamTest do
  @moduledoc "The page of `script/demo --stream`: its events lead to the whole struct, and clients that misbehave harm nobody else."

  use ExUnit.Case, async: false

  alias Demo.Stream.{Answer, Server, Shown}
  alias RustyJson.ServerSentEvents
  alias RustyJson.Test.Judge

  @moduletag timeout: 300_000
  @events "/live/Elixir.Demo.Stream.Live:events?pace="
  @right ~w(answer retry)

  setup do
    {:ok, server, url} = Server.start(0)
    on_exit(fn -> Server.stop(server) end)
    %URI{port: port} = URI.parse(url)
    {:ok, port: port}
  end

  defp connect(port) do
    {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false])
    socket
  end

  defp get(port, path) do
    socket = connect(port)
    :ok = :gen_tcp.send(socket, "GET #{path} HTTP/1.0\r\nHost: localhost\r\n\r\n")
    socket |> all([]) |> IO.iodata_to_binary() |> String.split("\r\n\r\n", parts: 2)
  end

  defp all(socket, read) do
    case :gen_tcp.recv(socket, 0, 120_000) do
      {:ok, bytes} -> all(socket, [read | bytes])
      {:error, :closed} -> read
    end
  end

  defp events(port, query) do
    [head, body] = get(port, @events <> query)
    assert head =~ "200 OK" and head =~ "text/event-stream"
    for event <- ServerSentEvents.stream([body]), do: {event.event, RustyJson.decode!(event.data)}
  end

  defp of(events, name, act), do: for({^name, %{"act" => ^act} = data} <- events, do: data)

  # As the page does it.
  defp change(["", "set", value], _was), do: value
  defp change(["/" <> pointer, kind, value], was), do: put(was, String.split(pointer, "/"), kind, value)

  defp put(_was, [], "set", value), do: value
  defp put(was, [], "append", text), do: was <> text

  defp put(was, [step | rest], kind, value) when is_map(was),
    do: %{was | step => put(was[step], rest, kind, value)}

  defp put(was, [step | rest], kind, value) do
    {before, behind} = Enum.split(was, String.to_integer(step))
    before ++ [put(List.first(behind), rest, kind, value) | Enum.drop(behind, 1)]
  end

  defp plain(value), do: value |> Shown.value() |> RustyJson.encode!() |> RustyJson.decode!()

  test "events without text" do
    for data <- [
          ~S({"choices":[],"usage":{"total_tokens":9}}),
          ~S({"choices":[{"delta":{"role":"assistant"}}]}),
          ~S({"choices":[{"delta":{"content":null}}]})
        ],
        do: assert(Answer.delta(%{data: data}) == "")

    assert Answer.delta(%{data: ~S({"choices":[{"delta":{"content":"a"}}]})}) == "a"
  end

  test "the page has what it needs in one file", %{port: port} do
    [head, page] = get(port, "/")
    assert head =~ "200 OK" and head =~ "text/html"
    assert page == File.read!(Path.expand("../../script/demo.d/stream/index.html", __DIR__))
    refute page =~ ~r{(src|href)="(?!data:)}
    refute page =~ ~r{https?://}
    refute page =~ "innerHTML"
  end

  test "the changes of an answer lead to the struct that decoding gives", %{port: port} do
    for {_name, [{:engine, engine} | _]} <- Judge.engines() do
      events = events(port, "0&engine=#{engine}")
      assert {"end", %{}} = List.last(events)

      for act <- @right do
        pieces = of(events, "piece", act)
        text = Enum.map_join(pieces, & &1["text"])
        expected = plain(RustyJson.decode!(text, as: Answer.type()))
        assert [%{"value" => ^expected, "mended" => []}] = of(events, "whole", act)

        steps = for piece <- pieces, piece["changes"] != [], do: piece["changes"]
        assert steps |> Enum.concat() |> Enum.reduce(nil, &change/2) == expected
        # It arrives bit by bit.
        assert length(steps) > 20
      end

      assert of(events, "errors", "answer") == []
      assert [%{"errors" => errors, "prompt" => prompt, "mended" => mended}] = of(events, "errors", "broken")
      assert for(error <- errors, do: error["path"]) == ["/pace", "/stops/0/arrival", "/stops/0/nights"]
      assert prompt =~ "3 errors" and prompt =~ "at /stops/0/nights"

      assert for([mend, _position] <- mended, uniq: true, do: mend) ==
               ~w(prose code_fence raw_newlines trailing_commas)
    end
  end

  test "queries that make no sense get the defaults, and other addresses nothing", %{port: port} do
    for path <- [
          "/live/Elixir.System:halt",
          "/live/erlang:halt",
          "/..%2f..%2fdemo",
          "/../stream.exs",
          "/none"
        ] do
      [head, _body] = get(port, path)
      refute head =~ "200 OK"
    end

    assert [{"begin", _} | _] =
             events(port, "0&engine=%00&engine=no_such_engine_1&x=" <> String.duplicate("y", 500))

    assert_raise ArgumentError, fn -> String.to_existing_atom("no_such_engine" <> "_1") end
  end

  test "clients that leave, send nonsense or send nothing", %{port: port} do
    idle = for _ <- 1..5, do: connect(port)

    for _ <- 1..5 do
      socket = connect(port)
      :ok = :gen_tcp.send(socket, "GET #{@events}1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
      {:ok, _start} = :gen_tcp.recv(socket, 0, 60_000)
      :ok = :gen_tcp.close(socket)
    end

    for nonsense <- [
          <<0, 255, 13, 10>>,
          "GET",
          "GET / HTTP/1.1\r\n" <> String.duplicate("a: b\r\n", 5_000) <> "\r\n"
        ] do
      socket = connect(port)
      _sent = :gen_tcp.send(socket, nonsense)
      :gen_tcp.close(socket)
    end

    assert {"end", %{}} = port |> events("0") |> List.last()
    Enum.each(idle, &:gen_tcp.close/1)
    # The processes of those who left end soon, not after the 300 seconds that all events take at this pace.
    assert gone?(100)
  end

  defp gone?(left) do
    if Enum.any?(Process.list(), &serving?/1) and left > 0 do
      Process.sleep(100)
      gone?(left - 1)
    else
      left > 0
    end
  end

  defp serving?(pid) do
    case Process.info(pid, :current_stacktrace) do
      {:current_stacktrace, calls} -> Enum.any?(calls, &(elem(&1, 0) == Demo.Stream.Live))
      nil -> false
    end
  end
end
