defmodule RustyJson.Neighbours.SettingsTest do
  @moduledoc """
  Libraries with a setting for a JSON module that ask for no more than four functions: `:json_library` of Swoosh, Sentry,
  Arangox; `:json_codec` of ExAws; a serializer of OAuth2. What they do with it is the same, so it is here once.
  """
  use ExUnit.Case, async: true

  @library RustyJson

  # Sentry tests its JSON library before it uses it.
  test "a library that is tried first" do
    assert Code.ensure_loaded?(@library)
    assert @library.decode("{}") == {:ok, %{}}
    assert @library.encode(%{}) == {:ok, "{}"}
  end

  test "all that is called is exported, with and without options" do
    for name <- [:encode, :encode!, :encode_to_iodata, :encode_to_iodata!, :decode, :decode!],
        arity <- [1, 2],
        do: assert(function_exported?(@library, name, arity), "#{name}/#{arity}")
  end

  test "an answer that is no JSON is told from one that is" do
    assert {:ok, %{"id" => "1"}} = @library.decode(~s({"id":"1"}))

    for body <- ["", "Bad Gateway", "<html>", "{\"id\":"],
        do: assert({:error, %{position: _}} = @library.decode(body))
  end

  # ExAws passes options on. Sentry encodes its own data, and reports data that it cannot encode.
  test "what goes out" do
    assert @library.encode!(%{"TableName" => "t", "Key" => %{"id" => %{"S" => "1"}}}, []) |> is_binary()
    assert {:error, %Protocol.UndefinedError{}} = @library.encode(%{extra: self()})
    assert {:error, %{__exception__: true}} = @library.encode(%{extra: <<255>>})
  end
end
