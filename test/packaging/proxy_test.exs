defmodule RustyJson.ProxyTest do
  @moduledoc "Precompiled libraries through the proxy of the environment. A server of this test stands for the proxy."
  use ExUnit.Case, async: false

  doctest RustyJson.Build.Proxy

  @moduletag :once

  alias RustyJson.Build
  alias RustyJson.Build.{Archive, Precompiled, Proxy}

  @names ~w(HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy)
  @version "9.9.9"
  # No such host can exist, so only a proxy can answer for it.
  @release "release.invalid"

  setup do
    before = Map.new(@names, &{&1, System.get_env(&1)})
    Enum.each(@names, &System.delete_env/1)
    on_exit(fn -> System.put_env(before) end)
    root = Path.join(System.tmp_dir!(), "rustyjson-proxy-#{System.unique_integer([:positive])}")
    on_exit(fn -> File.rm_rf!(root) end)
    {:ok, root: root}
  end

  # Answers each request with what the function makes of it, and sends the request to the test.
  defp proxy(answer) do
    test = self()
    {:ok, socket} = :gen_tcp.listen(0, [:binary, ip: {127, 0, 0, 1}, active: false, packet: :http_bin])
    {:ok, port} = :inet.port(socket)
    pid = spawn_link(fn -> serve(socket, test, answer) end)
    on_exit(fn -> Process.exit(pid, :kill) end)
    "127.0.0.1:#{port}"
  end

  defp serve(socket, test, answer) do
    {:ok, connection} = :gen_tcp.accept(socket)
    {:ok, {:http_request, method, target, _version}} = :gen_tcp.recv(connection, 0)
    send(test, {:asked, method, target, headers(connection)})
    :gen_tcp.send(connection, answer.(target))
    :gen_tcp.close(connection)
    serve(socket, test, answer)
  end

  defp headers(connection) do
    case :gen_tcp.recv(connection, 0) do
      {:ok, {:http_header, _, name, _, value}} -> [{name, value} | headers(connection)]
      {:ok, :http_eoh} -> []
    end
  end

  defp install(root, scheme) do
    settings = Build.settings([], File.cwd!(), "unused")
    Precompiled.install("#{scheme}://#{@release}/v1", @version, [:native], %{settings | root: root})
  end

  # An archive of a library, and its checksum.
  defp release do
    path = Path.join(System.tmp_dir!(), "rustyjson-proxy-#{System.unique_integer([:positive])}.tar.gz")
    :ok = :erl_tar.create(path, [{~c"priv/native/librustyjson_nif.so", "a library"}], [:compressed])
    bytes = File.read!(path)
    File.rm!(path)
    bytes
  end

  test "an archive comes through HTTP_PROXY, with its name and password", %{root: root} do
    bytes = release()
    name = Archive.name(@version, Build.machine())

    address =
      proxy(fn {:absoluteURI, :http, @release, _port, path} ->
        body = if String.ends_with?(path, ".sha256"), do: Archive.sha256(bytes) <> "  " <> name, else: bytes
        "HTTP/1.1 200 OK\r\ncontent-length: #{byte_size(body)}\r\nconnection: close\r\n\r\n" <> body
      end)

    System.put_env("http_proxy", "http://me:pass%20word@" <> address)
    assert install(root, "http") == :ok
    assert File.read!(Path.join(root, "priv/native/librustyjson_nif.so")) == "a library"

    assert_received {:asked, :GET, {:absoluteURI, :http, @release, _, _}, headers}
    assert {_name, "Basic " <> given} = List.keyfind(headers, :"Proxy-Authorization", 0)
    assert Base.decode64!(given) == "me:pass word"

    # The profile of the application's own requests has no proxy.
    assert {:ok, [proxy: {:undefined, []}]} = :httpc.get_options([:proxy])
  end

  test "https goes through HTTPS_PROXY alone", %{root: root} do
    address = proxy(fn _target -> "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n" end)
    System.put_env("HTTP_PROXY", address)
    assert {:unavailable, _text} = install(root, "https")
    refute_received {:asked, _, _, _}

    System.put_env("HTTPS_PROXY", "http://me:secret@" <> address)
    assert {:unavailable, text} = install(root, "https")
    refute text =~ "secret"
    assert_received {:asked, "CONNECT", {:scheme, @release, "443"}, _headers}
  end

  test "NO_PROXY names hosts without one", %{root: root} do
    address = proxy(fn _target -> "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n" end)
    System.put_env("HTTP_PROXY", address)

    for none <- [
          "*",
          @release,
          "invalid",
          ".invalid",
          "*.invalid",
          "a.example, release.invalid",
          "Release.INVALID:80"
        ] do
      System.put_env("NO_PROXY", none)
      assert {:unavailable, text} = install(root, "http")
      assert text =~ "cannot be read"
      refute_received {:asked, _, _, _}
    end

    for none <- ["", "a.example", "elease.invalid"] do
      System.put_env("NO_PROXY", none)
      assert {:unavailable, text} = install(root, "http")
      assert text =~ "(404)"
      assert_received {:asked, :GET, _, _}
    end
  end

  test "passwords are bytes" do
    for {given, bytes} <- [{"p%E4ss", [?p, 0xE4, ?s, ?s]}, {"%D0%BF", [0xD0, 0xBF]}] do
      environment = &%{"HTTP_PROXY" => "http://me:#{given}@proxy:1"}[&1]
      assert {_profile, [proxy_auth: {~c"me", ^bytes}]} = Proxy.of("http://x", environment)
    end
  end

  test "what is no address is named without its value" do
    for value <- ["http://", "http://:80", "://secret"] do
      error = assert_raise ArgumentError, fn -> Proxy.of("http://x", &%{"HTTP_PROXY" => value}[&1]) end

      assert error.message ==
               "HTTP_PROXY is not the address of a proxy, such as http://proxy.example.com:3128"
    end
  end
end
