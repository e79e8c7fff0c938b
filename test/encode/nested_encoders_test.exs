defmodule RustyJson.NestedEncodersTest do
  @moduledoc "Encoders inside encoders: the text and the layout of the plain term, in time in proportion to their text, within the limits of the call."

  use ExUnit.Case, async: true

  @moduletag :once

  import RustyJson.Test.Clock, only: [shortest: 1]

  alias RustyJson.Lazy
  alias RustyJson.Test.{Clock, Judge}

  defmodule Catches do
    defstruct [:parent]

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts) do
        RustyJson.encode!(%{x: RustyJson.lazy(1..2)})
      catch
        _kind, _reason -> ~s("fallback")
      end
    end
  end

  defmodule Streams do
    defstruct []

    defimpl RustyJson.Encoder do
      def encode(_struct, _opts), do: Enum.join(RustyJson.encode_stream([2]))
    end
  end

  defmodule Limits do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, _opts), do: RustyJson.encode!(value, max_bytes: 7)
    end
  end

  defmodule Boxed do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, opts), do: RustyJson.Encode.map(%{"empty" => %{}, "value" => value}, opts)
    end
  end

  defmodule Mapped do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, _opts), do: %{"value" => value, "list" => []}
    end
  end

  # The same term without encoders and functions.
  defp plain(%Boxed{value: value}), do: %{"empty" => %{}, "value" => plain(value)}
  defp plain(%Mapped{value: value}), do: %{"value" => plain(value), "list" => []}
  defp plain({:written, value}), do: plain(value)
  defp plain(list) when is_list(list), do: Enum.map(list, &plain/1)
  defp plain(%{} = map), do: Map.new(map, fn {key, value} -> {key, plain(value)} end)
  defp plain(other), do: other

  defp own(%module{value: value}), do: struct(module, value: own(value))
  defp own({:written, value}), do: RustyJson.Fragment.new(&RustyJson.Encode.value(own(value), &1))
  defp own(list) when is_list(list), do: Enum.map(list, &own/1)
  defp own(%{} = map), do: Map.new(map, fn {key, value} -> {key, own(value)} end)
  defp own(other), do: other

  describe "lazy arrays of a stream" do
    test "an encoder that catches everything writes what it writes in encode!/2" do
      for {_engine, options} <- Judge.engines() do
        plain = RustyJson.encode!([%Catches{}], options)
        assert plain == ~s([{"x":[1,2]}])
        assert [%Catches{}] |> RustyJson.encode_stream(options) |> Enum.join() == plain
        mixed = [%{"a" => %Catches{}, "b" => RustyJson.lazy(1..2)}]
        assert mixed |> RustyJson.encode_stream(options) |> Enum.join() == ~s([{"a":{"x":[1,2]},"b":[1,2]}])
      end
    end

    test "another stream inside an encoder changes nothing" do
      for {_engine, options} <- Judge.engines() do
        endless = [%{"a" => %Streams{}, "b" => RustyJson.lazy(Stream.cycle([1]))}]
        pieces = endless |> RustyJson.encode_stream(options) |> Enum.take(3)
        assert IO.iodata_to_binary(pieces) =~ ~s({"a":[2],"b":[1,1)
        assert Process.get(Lazy) == nil
      end
    end
  end

  # Each struct had its text laid out again, with those of all others inside it. (wasmex gets the term of each with all that is inside.)
  test "the layout of structs in each other takes as long as that of their text" do
    nested = fn depth ->
      Enum.reduce(1..depth, Enum.to_list(1..20_000), fn _, value -> %Boxed{value: value} end)
    end

    for {name, engine} <- Judge.engines(), name != :wasmex do
      [flat, deep] =
        for depth <- [2, 60], do: fn -> RustyJson.encode!(nested.(depth), [pretty: true] ++ engine) end

      Clock.ratio(6, deep, flat)

      plain = Enum.reduce(1..60, [1, 2.5, ""], fn _, value -> %{"empty" => %{}, "value" => value} end)
      structs = Enum.reduce(1..60, [1, 2.5, ""], fn _, value -> %Boxed{value: value} end)

      for pretty <- [true, [indent: 4], [indent: 1, line_separator: "\r\n", after_colon: ""]] do
        options = [pretty: pretty, sort_keys: true] ++ engine
        assert RustyJson.encode(structs, options) == RustyJson.encode(plain, options)
      end
    end
  end

  test "a layout of encoders and functions in each other is that of the plain term" do
    secret = %{"password" => "x", "open" => [1, %{"password" => nil}]}

    term = [
      %Boxed{value: secret},
      %Mapped{value: [secret, %Boxed{value: {:written, secret}}]},
      %Boxed{value: %Mapped{value: %Boxed{value: [%Mapped{value: "</script>é"}, 1.5, []]}}},
      {:written, [%Mapped{value: secret}, {:written, %Boxed{value: 1}}]},
      %{"a" => %Boxed{value: %{"b" => %Mapped{value: secret}}}}
    ]

    for {_name, engine} <- Judge.engines(),
        pretty <- [true, [indent: 1, after_colon: ""]],
        more <- [
          [],
          [redact: ["password"]],
          [redact: ["/0/value/open", "/2/value", "/4/a/value/b/value/password"]],
          [escape: :html_safe],
          [escape: :unicode_safe, redact: ["open"]],
          [max_bytes: 100],
          [max_bytes: 900],
          [max_bytes: 100_000],
          [max_depth: 4],
          [max_depth: 5, max_bytes: 3_000],
          [unsupported: :inspect, maps: :strict]
        ] do
      options = [pretty: pretty, sort_keys: true] ++ more ++ engine

      case {RustyJson.encode(own(term), options), RustyJson.encode(plain(term), options)} do
        {{:ok, text}, {:ok, text}} ->
          :ok

        {{:error, %{reason: reason}}, {:error, %{reason: reason}}} ->
          assert reason in [:max_bytes, :max_depth]

        {own, plain} ->
          flunk("#{inspect(more)}: #{inspect(own)} and #{inspect(plain)}")
      end
    end
  end

  # Each level looked at all parts of the text inside it, and then copied this text.
  test "encoders in each other under max_bytes take time in proportion to their text" do
    nested = fn depth -> Enum.reduce(1..depth, 1, fn _, value -> %Boxed{value: value} end) end

    for {name, engine} <- Judge.engines(), name != :wasmex do
      options = [max_bytes: 10_000_000, max_depth: :infinity] ++ engine

      calls = fn depth, times ->
        fn -> for(_ <- 1..times, do: RustyJson.encode!(nested.(depth), options)) end
      end

      Clock.ratio(6, calls.(20_000, 1), calls.(1_000, 20))
    end
  end

  # Nothing of such a list, or map, is written before Elixir writes it.
  test "terms that share parts which are left to Elixir end" do
    twice = fn start, again -> Enum.reduce(1..60, start, fn _, part -> again.(part) end) end
    described = twice.([1 | :e], &[&1, &1 | :e])
    written = twice.(%{1 => 1, ~c"k" => 0}, &%{1 => &1, 2 => &1, ~c"k" => 0})

    for {name, engine} <- Judge.engines(), name != :wasmex do
      {took, answer} =
        shortest(fn -> RustyJson.encode(described, [unsupported: :inspect, max_bytes: 10_000] ++ engine) end)

      assert {:ok, "\"[[[" <> _} = answer
      assert took < 1_000

      {took, answer} =
        shortest(fn -> RustyJson.encode(written, [redact: ["none"], max_bytes: 1_000] ++ engine) end)

      assert {:error, %RustyJson.EncodeError{reason: :max_bytes}} = answer
      assert took < 1_000
    end

    # What fits is written by Elixir.
    for {_name, engine} <- Judge.engines() do
      assert RustyJson.encode([[1, [2 | 3]], [4 | 5]], [unsupported: :inspect, max_bytes: 100] ++ engine) ==
               {:ok, ~s([[1,"[2 | 3]"],"[4 | 5]"])}
    end
  end

  test "canonical: true names the limit of the call" do
    for {_engine, options} <- Judge.engines() do
      assert {:error, %{reason: :max_bytes, message: "output larger than 10 bytes", path: ""}} =
               RustyJson.encode(
                 %{a: [String.duplicate("a", 1000)]},
                 [canonical: true, max_bytes: 10] ++ options
               )
    end
  end

  test "an encoder's own call names its own limit, also with canonical: true" do
    for {_engine, options} <- Judge.engines(), limits <- [[], [max_bytes: 100]] do
      assert {:error, %{reason: :max_bytes, message: "output larger than 7 bytes"}} =
               RustyJson.encode([%Limits{value: "12345678"}], [canonical: true] ++ limits ++ options)
    end
  end
end
