defmodule RustyJson.PlugLaterTest do
  @moduledoc "RustyJson.PlugParser where Plug was not there when RustyJson was compiled, as in most runs of these tests."
  use ExUnit.Case, async: true

  alias RustyJson.{PlugParser, SandboxError}

  # As Plug.Conn.read_body/2.
  def read_body(conn, _opts, text), do: {:ok, text, conn}

  test "parses bodies: nothing of it is left out" do
    opts =
      PlugParser.init(body_reader: {__MODULE__, :read_body, [~s({"a": [1]})]}, rustyjson: [keys: :strings])

    assert PlugParser.parse(%{}, "application", "json", %{}, opts) == {:ok, %{"a" => [1]}, %{}}
    assert PlugParser.parse(%{}, "text", "plain", %{}, opts) == {:next, %{}}
  end

  # Plug reads this field of an exception for which it has no implementation.
  test "errors of the sandbox have the status of their reason" do
    for {reason, status} <- [timeout: 413, memory_limit: 413, busy: 503, unavailable: 503, trap: 500] do
      assert SandboxError.new(reason).plug_status == status
      raised = assert_raise SandboxError, "x", fn -> raise SandboxError, reason: reason, message: "x" end
      assert raised.plug_status == status
    end

    assert_raise SandboxError, "x", fn -> raise SandboxError, "x" end
  end
end
