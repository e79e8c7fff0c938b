defmodule RustyJson.Neighbours.EctoTest do
  @moduledoc """
  JSON columns: `config :postgrex, :json_library, RustyJson`, the same for `:myxql` and for SQLite's adapter.

  Read from Postgrex 0.22: its extensions for `json` and `jsonb` put `encode_to_iodata!/1`'s answer behind its length, and
  hand `decode!/1` a binary that may be a part of the socket's buffer. MyXQL calls `encode!/1` and `decode!/1`.
  """
  use ExUnit.Case, async: true

  @library RustyJson

  # Postgrex writes <<length::int32>> first and, for jsonb, a version byte.
  defp json(value) do
    data = @library.encode_to_iodata!(value)
    [<<IO.iodata_length(data)::32>> | data]
  end

  defp jsonb(value) do
    data = @library.encode_to_iodata!(value)
    [<<IO.iodata_length(data) + 1::32, 1>> | data]
  end

  defp load(<<length::32, json::binary-size(length)>>), do: @library.decode!(json)

  defp load_jsonb(<<length::32, 1, json::binary>>) when length == byte_size(json) + 1,
    do: @library.decode!(json)

  @value %{
    "title" => "Ünïcode \u2028",
    "price" => 12.5,
    "big" => 123_456_789_012_345_678_901,
    "tags" => [nil, true]
  }

  test "a json column keeps its value" do
    assert @value |> json() |> IO.iodata_to_binary() |> load() == @value
    assert @value |> jsonb() |> IO.iodata_to_binary() |> load_jsonb() == @value
  end

  # Ecto.Migration: `add :settings, :map, default: %{...}` puts the text into SQL.
  test "the default of a column" do
    default = IO.iodata_to_binary(@library.encode_to_iodata!(%{"it's" => true}))
    assert "'" <> String.replace(default, "'", "''") <> "'" == ~s('{"it''s":true}')
  end

  # Ecto dumps an embed into a map with atom keys, dates and so on in it.
  test "what Ecto dumps of an embedded schema" do
    dumped = %{id: "b1", at: ~N[2024-02-29 12:00:00], day: ~D[2024-02-29], status: :draft, lines: [%{n: 1}]}

    assert dumped |> json() |> IO.iodata_to_binary() |> load() == %{
             "id" => "b1",
             "at" => "2024-02-29T12:00:00",
             "day" => "2024-02-29",
             "status" => "draft",
             "lines" => [%{"n" => 1}]
           }
  end

  test "a short value does not keep the socket's buffer alive" do
    buffer = String.duplicate(" ", 1_000_000) <> ~s({"name":"a short one"})
    row = binary_part(buffer, 1_000_000, byte_size(buffer) - 1_000_000)
    %{"name" => name} = @library.decode!(row)
    assert :binary.referenced_byte_size(name) < 1_000
  end

  test "a schema's struct says what it shows, for API answers" do
    defmodule Post do
      @derive {RustyJson.Encoder, except: [:__meta__, :author]}
      defstruct [:__meta__, :author, :id, :title]
    end

    assert @library.encode!(struct(Post, id: 1, title: "t")) == ~s({"id":1,"title":"t"})
  end
end
