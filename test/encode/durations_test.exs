defmodule RustyJson.DurationsTest do
  @moduledoc "`Duration` (Elixir 1.17): the text that Elixir writes, natively, and the type `:duration`."

  use ExUnit.Case, async: true

  alias RustyJson.Test.{Gen, Judge}

  @compile {:no_warn_undefined, Duration}
  @fields [:year, :month, :week, :day, :hour, :minute, :second]

  if Code.ensure_loaded?(Duration) do
    test "the text is that of Duration.to_iso8601/1" do
      Gen.check(500, &duration/0, fn duration ->
        Judge.assert_encodes(duration, ~s("#{Duration.to_iso8601(duration)}"))
        Judge.assert_encodes([%{at: duration}], ~s([{"at":"#{Duration.to_iso8601(duration)}"}]))
      end)
    end

    test "numbers of more than 64 bits" do
      large = Duration.new!(year: 10 ** 30)
      Judge.assert_encodes(large, ~s("#{Duration.to_iso8601(large)}"))
    end

    test "invalid fields" do
      for change <- [%{year: "x"}, %{microsecond: 5}],
          {_name, engine} <- Judge.engines() do
        broken = Map.merge(Duration.new!(hour: 1), change)
        assert {:error, %RustyJson.EncodeError{reason: :invalid_struct}} = RustyJson.encode([broken], engine)
      end
    end

    test "as a key it is what String.Chars says" do
      duration = Duration.new!(hour: 1)

      for {_name, engine} <- Judge.engines() do
        result = RustyJson.encode(%{duration => 1}, engine)

        if String.Chars.impl_for(duration),
          do: assert(result == {:ok, ~s({"#{duration}":1})}),
          else: assert({:error, %RustyJson.EncodeError{}} = result)
      end
    end

    if Code.ensure_loaded?(JSON) do
      test "as Elixir's JSON writes it" do
        for _ <- 1..100,
            duration = duration(),
            do: assert(RustyJson.encode!(duration) == JSON.encode!(duration))
      end
    end

    test "the type :duration" do
      Gen.check(200, &duration/0, fn duration ->
        text = Duration.to_iso8601(duration)
        {:ok, read} = Duration.from_iso8601(text)

        for {name, engine} <- Judge.engines() do
          assert RustyJson.decode(~s("#{text}"), [as: :duration] ++ engine) == {:ok, read}, "#{name}"

          assert RustyJson.decode(~s(["#{text}",null]), [as: [{:nullable, :duration}]] ++ engine) ==
                   {:ok, [read, nil]}
        end
      end)
    end

    test "what is no duration" do
      for text <- [
            ~s(""),
            ~s("1 day"),
            ~s("P"),
            ~s("PT"),
            ~s("P1X"),
            "1",
            "null",
            ~s("P#{String.duplicate("9", 300)}Y")
          ],
          {name, engine} <- Judge.engines() do
        assert {:error, error} = RustyJson.decode("[#{text}]", [as: [:duration]] ++ engine)
        assert {name, error.reason, error.path} == {name, :type, "/0"}
        assert error.message =~ "Expected a duration"

        assert {:error, %{error_count: 1}} =
                 RustyJson.decode("[#{text}]", [as: [:duration], errors: :all] ++ engine)
      end
    end

    defp duration do
      units = for name <- @fields, Enum.random([true, false]), do: {name, Enum.random(-70..70)}
      digits = Enum.random(0..6)
      Duration.new!([{:microsecond, {Enum.random([0, 0, -1, 1]) * Enum.random(0..999_999), digits}} | units])
    end
  else
    test "the type :duration needs a newer Elixir" do
      assert_raise ArgumentError, "the type :duration needs Elixir 1.17 or newer", fn ->
        RustyJson.decode("1", as: :duration)
      end
    end

    test "a struct of the application that has this name is left to its encoder" do
      for {_name, engine} <- Judge.engines() do
        assert_raise Protocol.UndefinedError, fn ->
          RustyJson.encode!(%{__struct__: Duration, seconds: 1}, engine)
        end
      end
    end

    _ = @fields
    _ = Gen
  end
end
