defmodule RustyJson.Neighbours.PhoenixTest do
  @moduledoc """
  `config :phoenix, :json_library, RustyJson`: what Phoenix 1.7 and 1.8 ask of it.

  Read from Phoenix 1.8's sources: `Phoenix.Controller.json/2`, the channel serializers, `Phoenix.ConnTest.json_response/2`
  and `mix phx.digest`. Each test does with the library what that code does.
  """
  use ExUnit.Case, async: true

  @library RustyJson

  defmodule User do
    @moduledoc false
    @derive {RustyJson.Encoder, only: [:id, :name, :inserted_at]}
    defstruct [:id, :name, :inserted_at, :password_hash]
  end

  defp user,
    do:
      struct(User,
        id: 1,
        name: "Åsa </script>",
        inserted_at: ~U[2024-02-29 12:00:00.000000Z],
        password_hash: "x"
      )

  test "a controller sends iodata" do
    body = @library.encode_to_iodata!(%{data: [user()]})

    assert IO.iodata_to_binary(body) ==
             ~s({"data":[{"id":1,"name":"Åsa </script>","inserted_at":"2024-02-29T12:00:00.000000Z"}]})
  end

  test "a struct without an encoder is not sent by accident" do
    assert_raise Protocol.UndefinedError, fn -> @library.encode_to_iodata!(%{data: struct(URI.Error, [])}) end
  end

  test "a channel's message goes out and comes in as an array of five" do
    payload = %{"body" => "hej", "n" => 1.5}
    text = @library.encode_to_iodata!(["1", "2", "room:lobby", "new_msg", payload])
    assert IO.iodata_length(text) > 0
    assert ["1", "2", "room:lobby", "new_msg", ^payload | _] = @library.decode!(IO.iodata_to_binary(text))

    reply = @library.encode_to_iodata!([nil, "2", "room:lobby", "phx_reply", %{status: :ok, response: %{}}])
    assert [nil, "2", _, "phx_reply", %{"status" => "ok", "response" => %{}}] = @library.decode!(reply)
  end

  test "a client's broken message raises" do
    assert_raise RustyJson.DecodeError, fn -> @library.decode!(~s([null,"1","room",)) end
  end

  test "a test decodes the response's body" do
    assert %{"ok" => true} = @library.decode!(~s({"ok":true}))
  end

  # Phoenix.LiveView: commands of `JS` as an attribute, and a diff whose keys are integers and atoms.
  test "LiveView's commands and diffs" do
    ops = [
      ["push", %{event: "save", value: %{id: 1}}],
      ["hide", %{time: 200, to: "#a", transition: [[], [], []]}]
    ]

    assert @library.decode!(@library.encode!(ops)) |> hd() == [
             "push",
             %{"event" => "save", "value" => %{"id" => 1}}
           ]

    diff = %{
      0 => "<b>",
      1 => %{:d => [["x"]], :s => ["<li>", "</li>"]},
      :s => ["a", "b"],
      :p => %{0 => ["c"]}
    }

    text = IO.iodata_to_binary(@library.encode_to_iodata!([nil, "1", "lv:1", "diff", diff]))
    assert [nil, "1", "lv:1", "diff", %{"0" => "<b>", "1" => %{"d" => [["x"]]}}] = @library.decode!(text)
  end

  test "phx.digest writes its manifest part by part" do
    manifest = ~s({"version":#{@library.encode!(1)},"latest":#{@library.encode!(%{"app.js" => "app-1.js"})}})
    assert %{"version" => 1, "latest" => %{"app.js" => "app-1.js"}} = @library.decode!(manifest)
  end

  test "JSON inside a page cannot close its script element" do
    assert @library.encode!(user().name, escape: :html_safe) == ~S("Åsa \u003C\/script>")
  end
end
