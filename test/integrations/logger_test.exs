defmodule RustyJson.Neighbours.LoggerTest do
  @moduledoc """
  Log lines as JSON: `config :logger_json, encoder: RustyJson`.

  Read from LoggerJSON 7.0: `encode_to_iodata!/2` with the options `[]` unless `:encoder_opts` says otherwise, a line feed
  behind it; and the protocol `RustyJson.Encoder`, found by `Module.concat(RustyJson, "Encoder")`, which has to have
  `impl_for/1`. A formatter of one's own, as below, needs nothing but RustyJson.
  """
  use ExUnit.Case, async: true

  defmodule Formatter do
    @moduledoc "A formatter for `:logger` handlers: one JSON object per line, for any metadata."

    def format(%{level: level, msg: message, meta: meta}, _config) do
      fields = %{
        time: time(meta.time),
        level: level,
        message: text(message),
        metadata: clean(Map.drop(meta, [:time]))
      }

      [RustyJson.encode_to_iodata!(fields, sort_keys: true), ?\n]
    end

    defp time(microseconds), do: DateTime.from_unix!(microseconds, :microsecond)

    defp text({:string, chardata}), do: chardata |> IO.chardata_to_string()
    defp text({:report, report}), do: inspect(report)
    defp text({format, arguments}), do: format |> :io_lib.format(arguments) |> IO.chardata_to_string()

    # A log line must not fail, so terms without a JSON form are inspected.
    defp clean(map) when is_map(map) and not is_struct(map),
      do: Map.new(map, fn {k, v} -> {"#{k}", clean(v)} end)

    defp clean(value) when is_number(value) or is_atom(value), do: value
    defp clean(value) when is_binary(value), do: if(String.valid?(value), do: value, else: inspect(value))
    defp clean(%module{} = value) when module in [Date, DateTime, NaiveDateTime, Time], do: value
    defp clean(value), do: inspect(value)
  end

  test "an event is one line, and valid JSON whatever it carries" do
    event = %{
      level: :error,
      msg: {:string, ["line one\n", "\"two\" \u2028"]},
      meta: %{time: 1_709_208_000_000_000, pid: self(), mfa: {M, :f, 1}, bytes: <<255>>, n: 1.0e22}
    }

    line = event |> Formatter.format(%{}) |> IO.iodata_to_binary()
    assert [json, ""] = String.split(line, "\n")

    assert %{
             "level" => "error",
             "message" => "line one\n\"two\" \u2028",
             "time" => "2024-02-29T12:00:00.000000Z",
             "metadata" => %{
               "bytes" => "<<255>>",
               "mfa" => "{M, :f, 1}",
               "n" => 1.0e22,
               "pid" => "#PID<" <> _
             }
           } = RustyJson.decode!(json)
  end

  test "what LoggerJSON asks of the encoder and of its protocol" do
    assert IO.iodata_to_binary([RustyJson.encode_to_iodata!(%{"severity" => "info"}, []), "\n"]) ==
             ~s({"severity":"info"}\n)

    protocol = Module.concat(RustyJson, "Encoder")
    assert protocol.impl_for(%{}) != nil
    assert protocol.impl_for(Date.utc_today()) != nil
  end
end
