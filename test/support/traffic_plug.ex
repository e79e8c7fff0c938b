defmodule RustyJson.Test.TrafficPlug do
  @moduledoc "A pipeline with RustyJson.PlugParser: the path names the policy. It answers with what it parsed, or with the error."

  @compile {:no_warn_undefined, [Plug.Conn, Plug.Parsers, Plug.Exception]}

  def init(opts), do: opts

  def call(conn, _opts) do
    policy = Enum.find(Map.keys(RustyJson.Config.policies()), &("/#{&1}" == conn.request_path))

    parsers =
      Plug.Parsers.init(
        parsers: [RustyJson.PlugParser],
        length: 5_000_000,
        rustyjson: [policy: policy, raw_body: true]
      )

    conn = Plug.Parsers.call(conn, parsers)
    body = %{params: conn.body_params, bytes: byte_size(conn.assigns.raw_body)}
    Plug.Conn.send_resp(conn, 200, RustyJson.encode!(body))
  rescue
    error -> Plug.Conn.send_resp(conn, Plug.Exception.status(error), Exception.format_banner(:error, error))
  end
end
