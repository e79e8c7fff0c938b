defmodule RustyJson.Neighbours.ObanTest do
  @moduledoc """
  Oban's job arguments are a map column, so with Postgres they go through Postgrex's JSON library: see ecto_test.exs.

  Oban itself (2.19 and newer) takes Elixir's `JSON` or Jason for its notifications, and has no setting for another. What
  matters of a JSON library is that arguments survive: atoms become strings, and everything else comes back as it was.
  """
  use ExUnit.Case, async: true

  defp perform(args),
    do: args |> RustyJson.encode_to_iodata!() |> IO.iodata_to_binary() |> RustyJson.decode!()

  test "arguments as a worker gets them" do
    assert perform(%{id: 1, in: [:a, "b"], scheduled_at: ~U[2024-02-29 00:00:00Z], opts: %{force: true}}) ==
             %{
               "id" => 1,
               "in" => ["a", "b"],
               "scheduled_at" => "2024-02-29T00:00:00Z",
               "opts" => %{"force" => true}
             }
  end

  test "the same arguments give the same text, as unique jobs want" do
    one = Map.new(1..50, &{"key#{&1}", &1})
    two = Map.new(50..1//-1, &{"key#{&1}", &1})
    assert RustyJson.encode!(one) == RustyJson.encode!(two)
  end

  test "an argument that has no JSON fails where the job is inserted" do
    assert_raise Protocol.UndefinedError, fn -> RustyJson.encode_to_iodata!(%{pid: self()}) end
  end
end
