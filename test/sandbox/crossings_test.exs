defmodule RustyJson.Sandbox.CrossingsTest do
  @moduledoc """
  Encode goes back and forth between Elixir and the guest. Whatever a guest that was taken over returns, a call ends within its
  timeout and its `max_bytes`, and no result is longer than an honest guest could make it.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  require RustyJson.Engine.Codes

  alias RustyJson.{DecodeError, Encode, EncodeError, Fragment, OrderedObject, SandboxError}
  alias RustyJson.Engine.Codes
  alias RustyJson.Test.{Clock, Guest, Trace, WasmHosts}
  alias RustyJson.Wasm.Judge

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  defmodule Own do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, opts), do: RustyJson.Encode.map(%{value: value}, opts)
    end
  end

  defmodule Slow do
    defstruct [:value]

    defimpl RustyJson.Encoder do
      def encode(%{value: value}, opts) do
        Process.sleep(20)
        RustyJson.Encode.value(value, opts)
      end
    end
  end

  # The whole term is one hole, at depth 0.
  @root <<2, 1::32-little, 0::32-little, 1::32-little, 0::32-little>>
  @options [engine: :wasm, timeout: 10_000]
  @page 65_536
  @modules [built_in: RustyJson.Wasm.Host.BuiltIn, wasmex: RustyJson.Wasm.Host.Wasmex]

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [host: host] ++ @options}
      end

      test "a guest that leaves all of the term to Elixir again and again", %{host: host, options: options} do
        object = OrderedObject.new([{~c"k", 1}])

        with_guest(host, Guest.wasm(always: true, data: @root), fn ->
          for given <- [
                [],
                [maps: :strict],
                [sort_keys: true],
                [pretty: true],
                [lean: true],
                [protocol: false]
              ],
              term <- [
                1,
                "text",
                [1],
                [[]],
                {1},
                %{"a" => 1},
                %{~c"k" => 1},
                object,
                MapSet.new([1]),
                1..2,
                :a
              ],
              do: refused(term, given ++ options)

          # The core leaves these to Elixir once; Elixir's result is not left to it again.
          for term <- [%Own{value: 1}, ~D[2024-02-29]], do: refused(term, options)
          refused(%{~c"k" => %{~D[2024-02-29] => 1}}, [maps: :strict] ++ options)
          refused(Fragment.new(&RustyJson.Encode.value([1], &1)), options)
        end)
      end

      test "parts share the time of the call", %{options: options} do
        options = Keyword.put(options, :timeout, 200)

        # Without a common deadline this would take at least two seconds.
        Clock.within(1_000, fn ->
          assert {:error, %SandboxError{reason: reason, message: message}} =
                   RustyJson.encode(List.duplicate(%Slow{value: 1}, 100), options)

          assert reason in [:timeout, :busy] and message =~ "200 ms"
        end)
      end

      # Each part had a timeout of its own where an encoder's function was called with options of no call.
      test "parts of RustyJson.Encode share the time of that function", %{options: options} do
        opts = RustyJson.Options.encode(Keyword.put(options, :timeout, 200))
        parts = List.duplicate(%Slow{value: 1}, 100)

        for encode <- [&Encode.value/2, &Encode.keyword([a: &1], &2), &Encode.struct(%Own{value: &1}, &2)] do
          Clock.within(1_000, fn ->
            assert %SandboxError{reason: reason} = catch_error(encode.(parts, opts))
            assert reason in [:timeout, :busy]
          end)
        end
      end

      # The guest runs for a while and then reports an atom that does not exist. Elixir calls it a second time.
      test "the steps of keys: :atoms share the time of the call", %{host: host, options: options} do
        failure = <<0, Codes.decode(:unknown_atom), 0::64-little, 1::64-little, 1::64-little>>

        with_guest(host, slow(failure, <<1, 7::32-little, "no_atom">>), fn ->
          decode = fn -> RustyJson.decode("!!!!!!!!!!", [keys: :atoms] ++ options) end
          crossings = Trace.arguments({@modules[host], :run, 4}, decode)
          assert [first, second] = for([:decode, _, _, given] <- crossings, do: given.sandbox.timeout)
          assert first in 9_000..10_000
          assert second < first - 10
        end)
      end

      test "a text with holes that is longer than max_bytes", %{host: host, options: options} do
        record =
          <<2, 1::32-little, 0::32-little, 6::32-little, 0::32-little, String.duplicate("a", 60)::binary>>

        with_guest(host, Guest.wasm(always: true, data: record), fn ->
          refused([self()], [max_bytes: 50] ++ options)
        end)
      end

      test "texts, paths and lists longer than an honest guest's", %{host: host, options: options} do
        for {name, start} <- [
              text: <<1>>,
              compressed: <<1>>,
              text_with_hole: <<2, 1::32-little, 0::32-little, 6::32-little, 1::32-little>>,
              holes: <<2, 500_000::32-little>>,
              path: <<0, Codes.encode(:max_depth), 7_000_000::32-little>>,
              payload: <<0, Codes.encode(:invalid_utf8), 0::32-little>>
            ] do
          with_guest(host, long(start), fn ->
            compress = if name == :compressed, do: [compress: :gzip], else: []
            Clock.within(1_000, fn -> refused([self()], compress ++ options) end)
          end)
        end
      end

      test "errors of decode with longer paths, and longer lists of keys", %{host: host, options: options} do
        failure = <<0, 2, 0::64-little, 1::64-little, 1::64-little>>

        with_guest(host, long(failure), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode("!!", options)
        end)

        short = Guest.wasm(always: true, data: failure <> String.duplicate("a", 4_097))

        with_guest(host, short, fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode("!!", options)
        end)
      end

      # A short call looked up 131,071 empty names, which took 15 ms of a normal scheduler.
      test "more names of keys than the document has", %{host: host, options: options} do
        keys =
          "(i32.store8 (i32.const #{4 * @page}) (i32.const 1)) (i64.const #{Guest.record(4 * @page, 524_288)})"

        failure = <<0, Codes.decode(:unclosed_array), 0::64-little, 1::64-little, 1::64-little>>

        with_guest(host, Guest.wasm(memory: 16, data: failure, keys: keys), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} =
                   RustyJson.decode("!", [keys: :atoms!] ++ options)
        end)
      end

      test "what is compressed", %{host: host, options: options} do
        with_guest(host, long(<<1>>), fn -> refused(%Own{value: 1}, [compress: :gzip] ++ options) end)
      end

      test "an invalid escape where there is none", %{host: host, options: options} do
        record = <<0, Codes.decode(:invalid_unicode_escape), 0::64-little, 1::64-little, 1::64-little>>

        with_guest(host, Guest.wasm(data: record), fn ->
          assert {:error, %DecodeError{reason: :invalid_unicode_escape}} = RustyJson.decode("!", options)
        end)
      end

      test "every error of encode has a message", %{host: host, options: options} do
        for {reason, code} <- Enum.with_index(Codes.all(:encode), 1),
            payload <- ["", "a", <<0xFF>>, <<0xFF, "a">>] do
          with_guest(host, Guest.wasm(always: true, data: <<0, code, 0::32, payload::binary>>), fn ->
            assert {:error, %EncodeError{reason: ^reason} = error} = RustyJson.encode([{1}], options)
            assert error.message != "" and inspect(error) =~ inspect(reason)
          end)
        end
      end
    end
  end

  test "names of keys: no more than the document has, and until the deadline" do
    unknown =
      &Judge.first_unknown(
        for(name <- &1, into: "", do: <<byte_size(name)::32-little, name::binary>>),
        &2,
        &3
      )

    later = System.monotonic_time(:millisecond) + 10_000

    for open <- [~s({"":), ~s({"":{"a":), ~s({"":{"a":{"")] do
      names = tl(String.split(open, "{")) |> Enum.map(&(&1 |> String.trim(":") |> String.trim("\"")))
      assert unknown.(names, byte_size(open), later) == nil
      assert {:fault, :invalid_result, _} = unknown.(names ++ [""], byte_size(open), later)
    end

    assert unknown.(["a", "rustyjson_no_such_atom"], 100, later) == 1
    assert unknown.(["a"], 100, later - 20_000) == {:fault, :timeout, ""}
    assert {:fault, :invalid_result, _} = Judge.first_unknown(<<2::32-little, "a">>, 100, later)
  end

  test "every error at every place has a message" do
    document = ~s({"\\u12\xFF\\"é\\) <> <<0xFF>>
    options = RustyJson.Options.decode([])

    for {name, code} <- Enum.with_index(Codes.all(:decode), 1), place <- 0..byte_size(document) do
      error = DecodeError.new({code, place, 1, 1, ""}, document, options)

      # One reason stands for all types, for all that is not closed, and for lengths and counts; the message says which it is.
      reason =
        case to_string(name) do
          "type_" <> _ -> :type
          "unclosed_" <> _ -> :unexpected_end
          "min_items" -> :min_length
          "max_items" -> :max_length
          _ -> name
        end

      assert error.reason == reason
      assert String.printable?(error.message)
      assert String.starts_with?(DecodeError.explain(error), error.message)
      assert inspect(error) =~ inspect(reason)
    end
  end

  # A record of seven megabytes that starts with these bytes.
  defp long(start) do
    fault = "(i64.const #{Guest.record(Guest.lie(), 7_000_000)})"
    Guest.wasm(always: true, data: start, fault: fault, memory: div(8_000_000, @page))
  end

  # Decoding fails after some hundredths of a second; listing these keys takes no time.
  defp slow(failure, names) do
    count = """
    (global.set $left (i64.const 200000000))
    (loop $again
      (global.set $left (i64.sub (global.get $left) (i64.const 1)))
      (br_if $again (i64.ne (global.get $left) (i64.const 0))))
    (i64.const #{Guest.record(Guest.lie(), byte_size(failure))})
    """

    keys = """
    (if (result i64) (i64.eq (local.get 2) (i64.const -1))
      (then (i64.const #{Guest.record(Guest.lie() + byte_size(failure), byte_size(names))}))
      (else (i64.const #{Guest.record(Guest.lie(), byte_size(failure))})))
    """

    left = "(global $left (mut i64) (i64.const 0))"
    Guest.wasm(data: failure <> names, fault: count, keys: keys, extra: left)
  end

  defp refused(term, options) do
    assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.encode(term, options),
           inspect({term, options})
  end
end
