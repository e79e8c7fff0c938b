defmodule RustyJson.EctoRaisesTest do
  @moduledoc """
  A value that makes `Ecto.Type` itself raise. Ecto 3.10 does so for a date whose parts are floats, so another VM has a module in its
  place that does the same.
  """

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.{Judge, OtherVM}

  for {name, engine} <- Judge.engines() do
    test "#{name}: a date whose year is a float is a wrong value" do
      code = """
      {:ok, _} = Application.ensure_all_started(:rustyjson)
      Code.put_compiler_option(:ignore_module_conflict, true)

      defmodule Ecto.Type do
        def embedded_load(:date, %{"year" => year, "month" => month, "day" => day}, :json),
          do: Date.new(to_i(year), to_i(month), to_i(day))

        defp to_i(integer) when is_integer(integer), do: integer
      end

      defmodule Order do
        defstruct [:day]
        def __schema__(:load), do: [day: :date]
        def __schema__(:loaded), do: %__MODULE__{}
      end

      options = [as: Order] ++ #{inspect(unquote(engine))}
      decode = fn year -> RustyJson.decode(~s({"day": {"year": \#{year}, "month": 1, "day": 1}}), options) end
      {:ok, %{day: ~D[2024-01-01]}} = decode.("2024")
      {:error, %RustyJson.DecodeError{reason: :type, path: "/day", position: 8}} = decode.("1.5")
      {:error, %RustyJson.DecodeError{reason: :type}} = decode.("[]")

      {:error, %RustyJson.DecodeError{errors: [%{path: "/day"}]}} =
        RustyJson.decode(~s({"day": {"year": 1.5, "month": 1, "day": 1}}), [errors: :all] ++ options)

      {:ok, partial} = RustyJson.Partial.push(RustyJson.Partial.new(options), ~s({"day": {"year": 1.5, ))

      {:error, %RustyJson.DecodeError{reason: :type, path: "/day"}} =
        RustyJson.Partial.push(partial, ~s("month": 1, "day": 1},))

      IO.puts("as wrong values")
      """

      {text, status} = OtherVM.run(code, [])
      assert status == 0 and text =~ "as wrong values", text
    end
  end
end
