defmodule RustyJson.UnsupportedTest do
  @moduledoc "`unsupported:`: what is written for terms that have no JSON form."
  use ExUnit.Case, async: true

  alias RustyJson.{EncodeError, Fragment, OrderedObject}
  alias RustyJson.Test.Judge

  defmodule Plain do
    defstruct [:a]
  end

  defmodule Raising do
    defstruct [:how]

    defimpl RustyJson.Encoder do
      def encode(%{how: :raise}, _opts), do: raise("no")
      def encode(%{how: :throw}, _opts), do: throw(:no)
      def encode(%{how: :exit}, _opts), do: exit(:no)
      def encode(%{how: :no_iodata}, _opts), do: [:no]
      def encode(%{how: :atom}, _opts), do: :no
      def encode(%{how: :itself} = self, _opts), do: self
      def encode(%{how: {:inside, term}}, opts), do: RustyJson.Encode.map(%{inside: term}, opts)
    end
  end

  defmodule OddInspect do
    defstruct [:how]

    defimpl Inspect do
      def inspect(%{how: :raise}, _opts), do: raise("no")
      def inspect(%{how: :throw}, _opts), do: throw(:no)
      def inspect(%{how: :bytes}, _opts), do: <<"#odd", 255>>
    end
  end

  defmodule Calls do
    @moduledoc "Its encoder makes calls of its own."
    defstruct [:call]

    defimpl RustyJson.Encoder do
      def encode(%{call: call}, opts), do: call.(opts)
    end
  end

  # The text in every engine.
  defp encode!(term, options \\ []) do
    [first | others] =
      for {_, engine} <- Judge.engines(),
          do: RustyJson.encode!(term, Keyword.put_new(options, :unsupported, :inspect) ++ engine)

    assert Enum.all?(others, &(&1 == first))
    first
  end

  defp errors(term, options) do
    for {_, engine} <- Judge.engines() do
      {:error, error} = RustyJson.encode(term, options ++ engine)
      error
    end
  end

  test "pids, ports, references, functions and bitstrings" do
    port = hd(Port.list())

    for term <- [self(), port, make_ref(), &String.length/1, fn -> 1 end, <<5::3>>] do
      assert RustyJson.decode!(encode!(term)) == inspect(term)
      assert RustyJson.decode!(encode!([1, %{a: {term}}])) == [1, %{"a" => [inspect(term)]}]
    end
  end

  test "improper lists, in every place" do
    assert encode!([1 | 2]) == ~s("[1 | 2]")
    assert encode!([[1 | 2]]) == ~s(["[1 | 2]"])
    assert encode!([1, [2, self() | 3], 4]) == ~s([1,"[2, #{inspect(self())} | 3]",4])
    assert encode!(%{a: [[[1 | 2]] | 3]}) == ~s({"a":"[[[1 | 2]] | 3]"})
    assert encode!({[1 | 2], [], [[]], "x"}, pretty: 0) |> RustyJson.decode!() == ["[1 | 2]", [], [[]], "x"]
    assert encode!([%Plain{} | %Plain{}]) == ~s("[#{inspect(%Plain{})} | #{inspect(%Plain{})}]")
    assert [%{reason: :improper_list} | _] = errors([1 | 2], [])
  end

  test "errors of an encoder's own calls, which are not this one's" do
    deep = [[[[1]]]]

    for call <- [
          fn _ -> RustyJson.encode!(%{x: <<255>>}) end,
          fn _ -> RustyJson.encode!([%Calls{call: fn _ -> RustyJson.encode!(<<255>>) end}]) end,
          fn _ -> RustyJson.encode!(deep, max_depth: 1) end,
          fn _ -> RustyJson.encode!(deep, max_bytes: 2) end,
          fn _ -> RustyJson.encode!(OrderedObject.new(a: 1, a: 2), maps: :strict) end,
          fn _ -> raise RustyJson.SandboxError.new(:timeout) end,
          fn _ -> raise RustyJson.EncodeError.new({:duplicate_key, "a"}) end
        ],
        more <- [[], [max_depth: 5, max_bytes: 1_000, maps: :strict]] do
      term = %Calls{call: call}
      options = [unsupported: :inspect, invalid_utf8: :replace] ++ more
      assert encode!([term, 1], options) == RustyJson.encode!([inspect(term), 1])
      assert encode!(term, options) == RustyJson.encode!(inspect(term))

      assert encode!(%Calls{call: &RustyJson.Encode.value([term], &1)}, options) ==
               RustyJson.encode!([inspect(term)])

      for {_, engine} <- Judge.engines() do
        stream = RustyJson.encode_stream(%{a: term, b: RustyJson.lazy([1])}, options ++ engine)
        assert Enum.join(stream) == RustyJson.encode!(%{a: inspect(term), b: [1]})
      end
    end
  end

  test "this call's limits stay errors inside encoders" do
    deep = [[[[1]]]]
    part = fn term -> [%Calls{call: &RustyJson.Encode.value(term, &1)}] end

    for {term, more, reason} <- [
          {part.(deep), [max_depth: 3], :max_depth},
          {part.(part.(deep)), [max_depth: 3], :max_depth},
          {part.(deep), [max_bytes: 5], :max_bytes},
          {part.(<<255>>), [], :invalid_utf8},
          {part.(OrderedObject.new(a: 1, a: 2)), [maps: :strict], :duplicate_key},
          # Of what stands instead, too.
          {[self()], [max_bytes: 5], :max_bytes}
        ] do
      for error <- errors(term, [unsupported: :inspect] ++ more) do
        assert %RustyJson.EncodeError{reason: ^reason, call: nil} = error
        refute inspect(error) =~ "call"
      end
    end

    # Caught and raised again, it is still the same.
    again = fn opts ->
      try do
        RustyJson.Encode.value(deep, opts)
      rescue
        error -> reraise error, __STACKTRACE__
      end
    end

    assert [%{reason: :max_depth} | _] = errors(%Calls{call: again}, unsupported: :inspect, max_depth: 2)
  end

  test "keys without a text" do
    for more <- [[], [sort_keys: true], [maps: :strict], [pretty: true]] do
      json = encode!(%{{1, 2} => 1, self() => 2, %{a: 1} => 3, "b" => 4, [1 | 2] => 5, <<1::3>> => 6}, more)

      assert RustyJson.decode!(json) ==
               %{
                 "{1, 2}" => 1,
                 inspect(self()) => 2,
                 "%{a: 1}" => 3,
                 "b" => 4,
                 "[1 | 2]" => 5,
                 "<<1::size(3)>>" => 6
               }

      assert encode!(%{%Plain{} => 1}, more) |> RustyJson.decode!() == %{inspect(%Plain{}) => 1}

      assert encode!(%{nil => 1, ~D[2024-02-29] => 2, ~c"ab" => 3}, more) |> RustyJson.decode!() ==
               %{"nil" => 1, "2024-02-29" => 2, "ab" => 3}

      assert encode!(OrderedObject.new([{{1}, 1}, {:a, 2}]), more) |> RustyJson.decode!() ==
               %{"{1}" => 1, "a" => 2}
    end

    assert [%{reason: :invalid_key} | _] = errors(%{{1, 2} => 1}, [])
  end

  test "structs without an encoder" do
    assert encode!(%Plain{a: 1}) == RustyJson.encode!(inspect(%Plain{a: 1}))
    assert encode!([%{a: %Plain{a: 1}}]) == RustyJson.encode!([%{a: inspect(%Plain{a: 1})}])
    assert encode!(%{__struct__: No.Such.Module}) == RustyJson.encode!(inspect(%{__struct__: No.Such.Module}))
    assert encode!(%{__struct__: "text"}) == ~s({"__struct__":"text"})
    assert [%Protocol.UndefinedError{} | _] = errors(%Plain{}, [])
  end

  test "broken structs of the standard library" do
    for broken <- [
          %{~D[2024-02-29] | year: "x"},
          %{~T[10:00:00] | microsecond: nil},
          %{__struct__: DateTime},
          %{URI.parse("http://a") | port: %{}},
          %{MapSet.new([1]) | map: nil},
          %{__struct__: Decimal, coef: [], exp: 1, sign: 1},
          %{__struct__: Fragment, encode: 5},
          %{__struct__: Fragment, encode: [:no, 256]},
          %{__struct__: OrderedObject, values: [{"a", 1} | 2]},
          %{__struct__: OrderedObject, values: [{"a", 1}, 2]},
          %{__struct__: OrderedObject, values: ~c"ab"},
          %{__struct__: OrderedObject, values: 1}
        ],
        term <- [broken, [broken, 1], %{a: broken}] do
      assert [_ | _] = errors(term, [])

      for more <- [[], [sort_keys: true], [pretty: true]] do
        text = encode!(term, more) |> RustyJson.decode!() |> inspect()
        assert text =~ "struct" or text =~ inspect(broken.__struct__)
      end
    end
  end

  test "encoders that raise, throw, exit or return no iodata" do
    for how <- [:raise, :throw, :exit, :no_iodata, :atom, :itself],
        more <- [[], [max_bytes: 10_000], [pretty: true]] do
      struct = %Raising{how: how}
      assert encode!([1, struct, 2], more) |> RustyJson.decode!() == [1, inspect(struct), 2]
    end

    assert encode!(Fragment.new(fn _ -> raise "no" end)) =~ "RustyJson.Fragment"
    # What is inside an encoder that works is replaced there.
    assert encode!(%Raising{how: {:inside, [self(), %Plain{}]}}) ==
             RustyJson.encode!(%{inside: [inspect(self()), inspect(%Plain{})]})
  end

  test "an implementation of Inspect that fails, too" do
    assert encode!(%OddInspect{how: :raise}) |> RustyJson.decode!() |> is_binary()
    assert encode!(%OddInspect{how: :throw}) == ~s("#{inspect(OddInspect)}")
    assert encode!(%OddInspect{how: :bytes}) == ~s("#odd\uFFFD")
  end

  test "a function" do
    to_map = fn
      %Plain{a: a} -> %{plain: a}
      pid when is_pid(pid) -> :pid
      list when is_list(list) -> [:improper]
      _key -> 42
    end

    assert encode!([%Plain{a: [1]}, self(), [1 | 2]], unsupported: to_map) ==
             ~s([{"plain":[1]},"pid",["improper"]])

    assert encode!(%{{1} => 1}, unsupported: to_map) == ~s({"42":1})
    assert encode!(%{{1} => %Plain{}}, unsupported: to_map, sort_keys: true) == ~s({"42":{"plain":null}})
  end

  test "what a function returns is encoded once" do
    for error <- errors([%Plain{}], unsupported: & &1), do: assert(%Protocol.UndefinedError{} = error)

    for error <- errors([%Plain{}], unsupported: fn _ -> [self()] end),
        do: assert(%Protocol.UndefinedError{} = error)

    for error <- errors([%Plain{}], unsupported: fn _ -> [1 | 2] end), do: assert(error.path == "/0")
    for error <- errors(%{{1} => 2}, unsupported: & &1), do: assert(error.reason == :invalid_key)

    for {_, engine} <- Judge.engines() do
      assert_raise RuntimeError, "mine", fn ->
        RustyJson.encode([self()], [unsupported: fn _ -> raise "mine" end] ++ engine)
      end
    end
  end

  test "limits and invalid UTF-8 stay errors" do
    deep = Enum.reduce(1..200, %Raising{how: :raise}, fn _, term -> [term] end)

    for {term, more, reason} <- [
          {deep, [], :max_depth},
          {%Raising{how: {:inside, deep}}, [], :max_depth},
          {%Raising{how: {:inside, String.duplicate("a", 100)}}, [max_bytes: 50], :max_bytes},
          {[self(), self(), self()], [max_bytes: 20], :max_bytes},
          {%Raising{how: {:inside, <<255>>}}, [], :invalid_utf8},
          {%Raising{how: {:inside, %{1 => 1, "1" => 2}}}, [maps: :strict], :duplicate_key}
        ],
        error <- errors(term, [unsupported: :inspect] ++ more),
        do: assert(%EncodeError{reason: ^reason} = error)
  end

  test "what inspect shows is bounded, also of a term that shares its parts" do
    shared = Enum.reduce(1..60, :end, fn _, term -> [term, term] end)

    if Judge.available?(:native) do
      json = RustyJson.encode!(%Plain{a: shared}, unsupported: :inspect, engine: :native)
      assert byte_size(json) < 100_000
    end
  end

  test "streams and lazy arrays" do
    for {_, engine} <- Judge.engines() do
      options = [unsupported: :inspect] ++ engine
      rows = [self(), [1 | 2], %Plain{}, %{{1} => 2}]
      expected = [inspect(self()), "[1 | 2]", inspect(%Plain{}), %{"{1}" => 2}]
      assert rows |> RustyJson.encode_stream(options) |> Enum.join() |> RustyJson.decode!() == expected

      document = %{"rows" => RustyJson.lazy(rows), {1} => self()}
      json = document |> RustyJson.encode_stream(options) |> Enum.join()
      assert RustyJson.decode!(json) == %{"rows" => expected, "{1}" => inspect(self())}
    end
  end

  test "bad values are refused" do
    assert_raise ArgumentError, ~r/:unsupported takes :error, :inspect or a function of one argument/, fn ->
      RustyJson.encode([], unsupported: :ignore)
    end
  end

  ## Random terms

  defp random(0), do: scalar(:rand.uniform(16))

  defp random(depth) do
    case :rand.uniform(16) do
      n when n <= 6 -> random(0)
      7 -> for _ <- 1..:rand.uniform(4), do: random(depth - 1)
      8 -> {random(depth - 1), random(depth - 1)}
      9 -> [random(depth - 1) | random(0)]
      10 -> Map.new(1..:rand.uniform(4), fn _ -> {random(depth - 1), random(depth - 1)} end)
      11 -> %Plain{a: random(depth - 1)}
      12 -> %Raising{how: {:inside, random(depth - 1)}}
      13 -> MapSet.new([random(depth - 1)])
      14 -> OrderedObject.new([{random(0), random(depth - 1)}])
      15 -> %{broken() | __struct__: Enum.random([Date, URI, Decimal, MapSet, Range, Plain | missing()])}
      16 -> %{__struct__: OrderedObject, values: random(depth - 1)}
    end
  end

  # Rarely, because looking for a module that does not exist takes milliseconds.
  defp missing, do: if(:rand.uniform(20) == 1, do: [No.Module], else: [])

  defp scalar(1), do: self()
  defp scalar(2), do: make_ref()
  defp scalar(3), do: fn -> 1 end
  defp scalar(4), do: <<:rand.uniform(7)::3>>
  defp scalar(5), do: :rand.bytes(:rand.uniform(8))
  defp scalar(6), do: %Raising{how: Enum.random([:raise, :throw, :exit, :no_iodata, :atom, :itself])}
  defp scalar(7), do: %OddInspect{how: Enum.random([:raise, :throw, :bytes])}
  defp scalar(8), do: broken()
  defp scalar(9), do: Enum.random([nil, true, :atom, :"ä\n", 1.5, 2 ** 70, -1])
  defp scalar(10), do: Enum.random([~D[2024-02-29], ~U[2024-02-29 10:00:00Z], 1..2, URI.parse("http://a")])
  defp scalar(11), do: ~c"charlist"
  defp scalar(12), do: Enum.random([%{}, [], {}, ""])
  defp scalar(13), do: Enum.random(Port.list())
  defp scalar(14), do: Enum.random([&String.length/1, <<1, 2, 3::4>>, <<0xED, 0xA0, 0x80>>])
  defp scalar(_), do: "text"

  defp broken, do: Map.put(Enum.random([~D[2024-02-29], URI.parse("a"), MapSet.new()]), :year, make_ref())

  defp check_random(n) do
    for _ <- 1..n do
      term = random(4)

      options =
        [invalid_utf8: :replace] ++
          Enum.random([
            [],
            [sort_keys: true],
            [pretty: true],
            [escape: :html_safe],
            [key_case: :camel, omit: [nil], integers: :js_safe],
            [redact: [:year, "text", "/0/*"]]
          ])

      assert {:ok, _} = term |> encode!(options) |> RustyJson.decode(keys: :copy)
    end
  end

  test "an improper list is described as a whole in a stream, too" do
    for {_engine, options} <- RustyJson.Test.Judge.engines(),
        unsupported <- [:inspect, fn list -> %{improper: hd(list)} end],
        list <- [[1 | 2], RustyJson.lazy([1 | 2])],
        term <- [list, %{a: list}, [3, list], RustyJson.lazy([list])] do
      options = [unsupported: unsupported] ++ options
      assert term |> RustyJson.encode_stream(options) |> Enum.join() == RustyJson.encode!(term, options)
    end

    assert [3 | 4] |> RustyJson.encode_stream(unsupported: :inspect) |> Enum.join() == ~s("[3 | 4]")
    assert_raise EncodeError, fn -> [3 | 4] |> RustyJson.encode_stream() |> Enum.join() end
  end

  # Structs without an implementation make the VM look for one, in every folder of the code path before OTP 26.
  @terms if System.otp_release() >= "26", do: 2_000, else: 200
  # A thousand take about a second of processor time.
  @many if System.otp_release() >= "26", do: 200_000, else: 20_000

  test "random terms never fail, and their text always decodes" do
    :rand.seed(:exsss, {17, 2, 1})
    check_random(@terms)
  end

  @tag :heavy
  @tag timeout: :infinity
  test "#{@many} random terms never fail" do
    1..div(@many, 1_000)
    |> Task.async_stream(
      fn part ->
        :rand.seed(:exsss, {17, 2, part + 1})
        check_random(1_000)
      end,
      timeout: :infinity
    )
    |> Stream.run()
  end
end
