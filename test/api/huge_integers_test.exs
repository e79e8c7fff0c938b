defmodule RustyJson.HugeIntegersTest do
  @moduledoc "Structs whose fields hold what is too long for their text: an error at once, whatever the call does with it."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Clock, only: [shortest: 1]

  alias RustyJson.Test.Judge

  defmodule Shown do
    defstruct [:value]

    defimpl Inspect do
      def inspect(%{value: %{in: [{_key, value}]}}, _opts), do: Integer.to_string(value)
      def inspect(%{value: value}, _opts), do: Integer.to_string(value)
    end
  end

  # Elixir makes its digits in 4 seconds.
  @huge Integer.pow(10, 400_000)

  describe "an integer that is too long for the digits of a struct" do
    structs = [
      date: quote(do: %{~D[2024-02-29] | year: @huge}),
      microsecond: quote(do: %{~T[10:00:00.123] | microsecond: {@huge, 6}}),
      zone: quote(do: %{~U[2024-02-29 10:00:00Z] | utc_offset: @huge}),
      uri: quote(do: %URI{scheme: "https", host: "a", port: @huge}),
      exponent: quote(do: %{__struct__: Decimal, sign: 1, coef: 1, exp: @huge})
    ]

    for {name, struct} <- structs do
      test "#{name}: is an error at once, as a value, a key, and described" do
        struct = unquote(struct)

        for {engine, options} <- Judge.engines(),
            {term, more, reasons} <- [
              {struct, [], [:invalid_struct]},
              {[%{"a" => struct}], [max_bytes: 100], [:invalid_struct, :max_bytes]},
              {%{struct => 1}, [], [:invalid_key]}
            ] do
          {took, result} = shortest(fn -> RustyJson.encode(term, more ++ options) end)
          assert {:error, %{reason: reason}} = result
          assert reason in reasons
          assert took < 1_000, "#{engine}: #{took} ms"

          {took, {:ok, text}} =
            shortest(fn -> RustyJson.encode(struct, [unsupported: :inspect] ++ options) end)

          assert took < 1_000 and byte_size(text) < 10_000, "#{engine}: #{took} ms"
        end
      end
    end

    # Two lists with the same string 900 times became 900 MB before any limit was looked at.
    test "a list in a field that takes a string, and in a version" do
      list = List.duplicate(String.duplicate("a", 1_000_000), 900)
      version = %{Version.parse!("1.2.3") | pre: list}

      for {engine, options} <- Judge.engines(), options = [max_bytes: 1_000] ++ options do
        # Before anything is encoded, wasmex looks at how large the term is, which hides other errors.
        hidden = fn reason -> if engine == :wasmex, do: :max_bytes, else: reason end

        for {term, reason} <- [
              {%URI{path: list}, hidden.(:invalid_struct)},
              {%URI{host: "a", port: %URI{path: list}}, hidden.(:invalid_struct)},
              {%URI{path: ["/a"]}, :invalid_struct},
              {%{%URI{path: list} => 1}, hidden.(:invalid_key)},
              {%{%URI{path: ["/a"]} => 1}, :invalid_key},
              {%{version => 1}, hidden.(:invalid_key)}
            ] do
          {took, result} = shortest(fn -> RustyJson.encode(term, options) end)
          assert {:error, %{reason: ^reason}} = result
          assert took < 500
        end

        case RustyJson.encode(version, [unsupported: :inspect] ++ options) do
          {:ok, text} -> assert byte_size(text) < 1_000
          {:error, %{reason: :max_bytes}} -> assert engine == :wasmex
        end
      end
    end

    test "a version as a key, and a struct that shows itself" do
      version = %{Version.parse!("1.2.3") | major: @huge}
      pre = %{Version.parse!("1.2.3") | pre: ["rc", @huge]}

      for {_engine, options} <- Judge.engines() do
        for key <- [version, pre] do
          {took, result} = shortest(fn -> RustyJson.encode(%{key => 1}, options) end)
          assert {:error, %{reason: :invalid_key}} = result
          assert took < 1_000
        end

        for value <- [@huge, %{in: [{:n, @huge}]}] do
          shown = %Shown{value: value}
          {took, result} = shortest(fn -> RustyJson.encode(shown, [unsupported: :inspect] ++ options) end)
          assert result == {:ok, inspect(inspect(Shown))}
          assert took < 1_000
        end
      end
    end

    test "one that is long but does no harm is written" do
      year = Integer.pow(10, 5_000)

      for {_engine, options} <- Judge.engines() do
        assert {:ok, text} = RustyJson.encode(%{~D[2024-02-29] | year: year}, options)
        assert text == ~s("#{year}-02-29")
      end
    end

    test "in a line of a log" do
      for {message, meta} <- [
            {{~c"~p", [@huge]}, %{}},
            {{~c"~p", [[a: @huge]]}, %{}},
            {{:report, %{k: @huge}}, %{report_cb: fn report -> {"~p", [report.k]} end}},
            {{:string, "x"}, %{crash_reason: {%MatchError{term: @huge}, []}}},
            {{:string, "x"}, %{crash_reason: {%KeyError{key: :a, term: %{b: @huge}}, []}}},
            {{:string, "x"}, %{k: %{%{~D[2024-02-29] | year: @huge} => 1}}}
          ] do
        event = %{level: :error, msg: message, meta: Map.put(meta, :time, 0)}
        {took, line} = shortest(fn -> IO.iodata_to_binary(RustyJson.LogFormatter.format(event, %{})) end)
        assert {:ok, _} = RustyJson.decode(line)
        # To show the message would take seconds itself.
        assert took < 1_000
      end
    end
  end
end
