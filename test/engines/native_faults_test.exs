defmodule RustyJson.NativeFaultsTest do
  @moduledoc "Calls that must neither end the VM nor leak: terms that are not data, purged code."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{Fragment, OrderedObject}
  alias RustyJson.Test.{Judge, Structs}

  @moduletag timeout: 300_000
  @heavy System.get_env("RUSTYJSON_HEAVY") == "1"

  describe "terms that have no JSON" do
    for {name, term} <- [
          {"a pid", quote(do: self())},
          {"a reference", quote(do: make_ref())},
          {"a port", quote(do: hd(Port.list()))},
          {"a function", quote(do: &:os.cmd/1)},
          {"a closure", quote(do: fn -> :ok end)},
          {"a bitstring", quote(do: <<1::3>>)},
          {"a long bitstring", quote(do: <<0::size(80_001)>>)},
          {"an improper list", quote(do: [1 | 2])},
          {"an improper list of strings", quote(do: ["a" | "b"])},
          {"a Date with a pid", quote(do: %{~D[2024-01-01] | year: self()})},
          {"a Time with a bitstring", quote(do: %{~T[00:00:00] | microsecond: <<1::3>>})},
          {"a DateTime without a zone",
           quote(do: %{~U[2024-01-01 00:00:00Z] | utc_offset: nil, zone_abbr: self()})},
          {"a Decimal with a function", quote(do: %{__struct__: Decimal, sign: 1, coef: &is_atom/1, exp: 0})},
          {"a Decimal with a huge exponent of the wrong kind",
           quote(do: %{__struct__: Decimal, sign: [], coef: 1, exp: <<1::1>>})},
          {"a MapSet that is none", quote(do: %{MapSet.new() | map: self()})},
          {"a Range that is none", quote(do: %{(1..2) | first: make_ref()})},
          {"a URI with a port that is none", quote(do: %{URI.parse("http://a") | port: self()})},
          {"an OrderedObject with an improper list", quote(do: %OrderedObject{values: [{"a", 1} | 2]})},
          {"an OrderedObject of no pairs", quote(do: %OrderedObject{values: [1, {2}, self()]})},
          {"a Fragment of no iodata", quote(do: %Fragment{encode: self()})},
          {"a derived struct with a reference", quote(do: %Structs.All{a: make_ref()})}
        ] do
      test name do
        term = unquote(term)

        for {engine, options} <- Judge.engines(),
            within <- [
              term,
              [term],
              [1, [term, 2]],
              %{"a" => term},
              %{a: %{b: {1, term}}},
              %Structs.All{a: term}
            ],
            more <- [[], [pretty: true], [sort_keys: true], [protocol: false], [lean: true]] do
          assert refused?(within, more ++ options),
                 "#{engine}: #{inspect(within)} #{inspect(more)}"
        end

        for {_engine, options} <- Judge.engines(),
            do: assert(RustyJson.encode([1, "a"], options) == {:ok, ~s([1,"a"])})
      end
    end

    test "keys that are none" do
      for {_engine, options} <- Judge.engines(),
          key <- [self(), make_ref(), {1}, %{}, [self()], <<1::3>>, &is_atom/1] do
        assert refused?(%{key => 1}, options)
        assert refused?([%{key => 1, "a" => 2}], [sort_keys: true] ++ options)
        assert refused?([%{key => 1, "a" => 2}], [maps: :strict] ++ options)
      end
    end
  end

  describe "large ones" do
    test "integers of a hundred thousand bits" do
      integer = Integer.pow(7, 36_000)
      text = Integer.to_string(integer)

      for {_engine, options} <- Judge.engines() do
        assert RustyJson.encode([integer, -integer], options) == {:ok, "[#{text},-#{text}]"}
        assert {:error, %{reason: :integer_digits}} = RustyJson.decode(text, options)
        short = binary_part(text, 0, 20_000)

        assert RustyJson.decode(short, [decoding_integer_digit_limit: 0] ++ options) ==
                 {:ok, String.to_integer(short)}
      end
    end

    @wide [floats: :decimals, max_decimal_digits: :infinity, max_decimal_exponent: :infinity]

    # OTP 25 allows larger integers; the limit here is the same in every VM. Reading the largest takes seconds, rejecting is quick.
    test "integers beyond the largest" do
      digits = String.duplicate("9", 1_262_594)

      for {text, options} <- [
            {"[1, #{digits}]", []},
            {"[1, -#{digits}]", []},
            {"[1, 1.#{digits}]", @wide},
            {"[1, #{digits}e-5]", @wide}
          ] do
        {:error, error} = Judge.decode_quietly(text, [decoding_integer_digit_limit: 0] ++ options)
        assert {error.reason, error.position, error.path} == {:number_out_of_range, 4, "/1"}
      end

      zeros = "[0.#{String.duplicate("0", 1_300_000)}1]"

      assert {:ok, [%{coef: 1, exp: -1_300_001}]} =
               Judge.decode_quietly(zeros, [decoding_integer_digit_limit: 0] ++ @wide)
    end

    test "nesting of a million" do
      depth = 1_000_000
      term = Enum.reduce(1..depth, [], fn _, inner -> [inner] end)
      text = String.duplicate("[", depth + 1) <> String.duplicate("]", depth + 1)

      for {_engine, options} <- Judge.engines() do
        assert {:error, %{reason: :max_depth}} = RustyJson.encode(term, options)
        assert {:error, %{reason: :max_depth}} = RustyJson.decode(text, options)
        assert RustyJson.encode(term, [max_depth: :infinity] ++ options) == {:ok, text}
        assert {:ok, [[[_]]]} = RustyJson.decode(text, [max_depth: :infinity] ++ options)
      end
    end

    @tag :heavy
    test "strings of 100 MB" do
      for {engine, options} <- Judge.engines(), part <- ["0123456789", "\n\"éé12345"] do
        text = String.duplicate(part, 10_000_000)

        options =
          if engine == :native, do: options, else: [max_memory: 1_500_000_000, timeout: 60_000] ++ options

        assert {:ok, json} = RustyJson.encode(text, options)
        assert {:ok, ^text} = RustyJson.decode(json, options)
        :erlang.garbage_collect()
      end
    end

    test "atoms as long as they may be" do
      for {_engine, options} <- Judge.engines(), char <- ["a", "é", "漢", "😀"] do
        name = String.duplicate(char, 255)
        atom = String.to_atom(name)
        assert RustyJson.decode(~s({"#{name}":1}), [keys: :atoms] ++ options) == {:ok, %{atom => 1}}
        assert RustyJson.encode(%{atom => atom}, options) == {:ok, ~s({"#{name}":"#{name}"})}

        assert {:error, %{reason: :atom_too_long}} =
                 RustyJson.decode(~s({"#{name}#{char}":1}), [keys: :atoms] ++ options)
      end
    end
  end

  # Appending to a binary with one owner grows it in place, and can move it.
  test "binaries that are shared, and changed by appends" do
    for {_engine, options} <- Judge.engines() do
      begin = Enum.reduce(1..2_000, "[", fn i, text -> text <> ~s("#{String.duplicate("x", 70)}#{i}",) end)
      text = begin <> "0]"
      {:ok, first} = RustyJson.decode(text, options)
      copies = for string <- first, is_binary(string), do: :binary.copy(string)

      tasks =
        for n <- 1..8 do
          Task.async(fn ->
            other = Enum.reduce(1..500, begin, fn i, text -> text <> "#{n}#{i}," end) <> "0]"
            {:ok, list} = RustyJson.decode(other, options)
            hd(list) <> "y"
          end)
        end

      # Decoded parts of the input are unchanged, even after the input has moved.
      assert Task.await_many(tasks, 60_000) == List.duplicate(hd(first) <> "y", 8)
      _ = begin <> String.duplicate("z", 1_000_000)
      assert Enum.filter(first, &is_binary/1) == copies
      assert {:ok, json} = RustyJson.encode(first, options)
      longer = json <> "longer"
      assert {:ok, ^first} = RustyJson.decode(json, options)
      assert binary_part(longer, 0, byte_size(json)) == json
    end
  end

  # Only the module that holds the library must stay. All others can be replaced while calls run.
  test "modules are loaded anew and purged while calls run" do
    keep = [RustyJson.Engine.Native.Nif]
    {:ok, modules} = :application.get_key(:rustyjson, :modules)

    # To load one takes 15 ms beside such calls, so each run takes some of them.
    modules =
      for {module, number} <- Enum.with_index(modules -- keep),
          @heavy or rem(number, 5) == rem(ExUnit.configuration()[:seed], 5),
          not protocol?(module) and :code.which(module) != :non_existing,
          do: module

    assert modules != []

    term = %{"a" => [1, 2.5, %Structs.All{a: ~D[2024-01-01], b: %Structs.Money{amount: 1, currency: "x"}}]}
    text = RustyJson.encode!(term)

    workers =
      for {_engine, options} <- Judge.engines() do
        Task.async(fn -> work(term, text, RustyJson.decode!(text), options) end)
      end

    for _ <- 1..2, module <- modules do
      # A soft purge spares processes that still run old code; OTP's hard purge would kill them.
      if :code.soft_purge(module), do: :code.load_file(module)
    end

    for worker <- workers, do: send(worker.pid, :stop)
    for calls <- Task.await_many(workers, 60_000), do: assert(calls > 0)
    for {_engine, options} <- Judge.engines(), do: assert(RustyJson.encode(term, options) == {:ok, text})
  end

  defp refused?(term, options) do
    match?({:error, %{__exception__: true}}, RustyJson.encode(term, options))
  rescue
    _ -> true
  end

  defp protocol?(module), do: Code.ensure_loaded?(module) and function_exported?(module, :__protocol__, 1)

  defp work(term, text, decoded, options, calls \\ 0) do
    {:ok, ^text} = RustyJson.encode(term, options)
    {:ok, ^decoded} = RustyJson.decode(text, options)

    receive do
      :stop -> calls + 1
    after
      0 -> work(term, text, decoded, options, calls + 1)
    end
  end
end
