defmodule RustyJson.Sandbox.EncodeLiesTest do
  @moduledoc "A guest that returns false results of encode calls with `unsupported:` and the options that shape objects."

  use ExUnit.Case, async: false

  @moduletag :once

  require RustyJson.Engine.Codes

  alias RustyJson.{Encode, Options, SandboxError}
  alias RustyJson.Engine.Codes
  alias RustyJson.Test.{Guest, WasmHosts}
  alias RustyJson.Wasm.{Holes, Judge}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  defmodule Own do
    defstruct [:value]
    defimpl(RustyJson.Encoder, do: def(encode(_own, _opts), do: "[1]"))
  end

  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * 1_048_576]
  @shapes [
    [unsupported: :inspect],
    [redact: ["a", "/0"]],
    [key_case: :camel, omit: [nil, Date]],
    [
      unsupported: :inspect,
      invalid_utf8: :replace,
      redact: ["a"],
      key_case: %{a: "b"},
      omit: [nil],
      integers: :js_safe
    ]
  ]
  # Terms that the core writes itself under all these options.
  @written ["text", 1, 2 ** 70, %{a: 1, b: nil}, [2, 3], {1, <<255>>}, 1.5, nil, :atom]

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

      setup %{host: host}, do: {:ok, options: [host: host] ++ @options}

      test "a term that the core can write is not left to Elixir", %{host: host, options: options} do
        # A string, and the key of a map.
        for claim <- [hole(6, 1), hole(33, 0x8000_0002)] do
          with_guest(host, Guest.wasm(data: claim, always: true), fn ->
            for shape <- @shapes,
                do: assert(invalid?(RustyJson.encode(@written, shape ++ options)), inspect(shape))
          end)
        end
      end

      test "a term that it cannot write is described once, and never deeper than it stands", %{
        host: host,
        options: options
      } do
        # A list of one pid: its bytes start behind the version, the tag of the list and its length.
        with_guest(host, Guest.wasm(data: hole(6, 1), always: true), fn ->
          # Here the guest is asked again for the text, and says again that there is a hole.
          assert {:error, %SandboxError{reason: :invalid_result}} =
                   RustyJson.encode([self()], [unsupported: :inspect] ++ options)
        end)

        # The built-in host knows which term it is.
        right = if host == :built_in, do: hole(0, 0), else: hole(6, 1)

        with_guest(host, Guest.wasm(data: right, always: true), fn ->
          # The replacement has a pid itself, which is an error and not replaced.
          again = [unsupported: fn _ -> [self()] end]
          assert {:error, %Protocol.UndefinedError{}} = RustyJson.encode([self()], again ++ options)
          assert invalid?(RustyJson.encode([self()], [unsupported: :inspect] ++ options))
        end)

        with_guest(host, Guest.wasm(data: hole(6, 2), always: true), fn ->
          assert invalid?(RustyJson.encode([self()], [unsupported: :inspect] ++ options))
        end)
      end

      test "more holes than terms", %{host: host, options: options} do
        twice = <<2, 2::32-little, hole_claim(6, 1)::binary, hole_claim(6, 1)::binary, "[]">>

        with_guest(host, Guest.wasm(data: twice, always: true), fn ->
          for shape <- @shapes do
            result = RustyJson.encode([self()], shape ++ options)
            assert {:error, %SandboxError{reason: :invalid_result}} = result, inspect(shape)
          end
        end)
      end

      # Each was a MatchError or an ArgumentError.
      test "a text without the brackets or quotes that are taken off", %{host: host, options: options} do
        for text <- ["", "n", "{}"] do
          with_guest(host, Guest.wasm(always: true, data: <<1, text::binary>>), fn ->
            assert invalid?(RustyJson.encode([%Own{}, 1], options)), text
            assert invalid?(streamed([1, 2], options)), text
            assert invalid?(streamed([1, 2], [pretty: true] ++ options)), text
            assert invalid?(streamed([1, 2], [redact: ["/0"]] ++ options)), text

            assert invalid?(told(fn -> Encode.key(String.duplicate("k", 100), Options.encode(options)) end)),
                   text
          end)
        end
      end

      test "an error of elements whose path does not start with a number", %{host: host, options: options} do
        for path <- ["/", "/a", "/-1", "/0a"] do
          record = <<0, Codes.encode(:max_depth), byte_size(path)::32-little, path::binary>>

          with_guest(host, Guest.wasm(always: true, data: record), fn ->
            assert invalid?(streamed([1, 2], options)), path
          end)
        end
      end

      test "holes outside the brackets that are taken off", %{host: host, options: options} do
        for at <- [0, 2] do
          # A list of one map of an atom: the built-in host counts holes, and wasmex names the byte of the term.
          start = if host == :built_in, do: 0, else: 6
          record = <<2, 1::32-little, at::32-little, start::32-little, 0::32-little, "[]">>

          with_guest(host, Guest.wasm(always: true, data: record), fn ->
            assert invalid?(streamed([[RustyJson.lazy([1])]], options)), "#{at}"
          end)
        end
      end

      test "an error that a layout cannot have", %{host: host, options: options} do
        record = <<0, Codes.decode(:unknown_atom), 0::64-little, 1::64-little, 1::64-little>>

        with_guest(host, Guest.wasm(always: true, data: record), fn ->
          assert invalid?(RustyJson.encode(%Own{}, [pretty: true] ++ options))
        end)
      end
    end
  end

  # The judge of both hosts, and the one in Elixir: claims at every byte of the term, at every depth, as a value and as a key.
  test "no byte of a term that the core can write starts a hole" do
    etf = :erlang.term_to_binary(@written, minor_version: 2)

    for shape <- @shapes,
        start <- 0..(byte_size(etf) + 1),
        depth <- [0, 1, 2, 200],
        place <- [0, 0x8000_0000] do
      options = Options.encode(shape)
      <<2, body::binary>> = hole(start, depth + place)
      assert {:fault, :invalid_result, _} = Judge.holes(body, etf, options.bytes, options, later())
      assert {:fault, :invalid_result, _} = Holes.find(body, etf, %{}, options.values, later())
    end
  end

  test "a term that the core cannot write is a hole at its place, not deeper" do
    etf = :erlang.term_to_binary([self()], minor_version: 2)
    options = RustyJson.Options.encode(unsupported: :inspect)

    for {depth, fits} <- [{0, true}, {1, true}, {2, false}, {0x7FFF_FFFF, false}] do
      <<2, body::binary>> = hole(6, depth)

      for judged <- [
            Judge.holes(body, etf, options.bytes, options, later()),
            Holes.find(body, etf, %{}, options.values, later())
          ],
          do: assert(match?({:partial, "[]", [_]}, judged) == fits, inspect({depth, judged}))
    end
  end

  defp later, do: System.monotonic_time(:millisecond) + 60_000
  defp invalid?(result), do: match?({:error, %SandboxError{reason: :invalid_result}}, result)

  defp streamed(elements, options),
    do: told(fn -> elements |> RustyJson.encode_stream(options) |> Enum.to_list() end)

  defp told(encode) do
    {:ok, encode.()}
  rescue
    error in SandboxError -> {:error, error}
  end

  defp hole(start, depth), do: <<2, 1::32-little, hole_claim(start, depth)::binary, "[]">>
  defp hole_claim(start, depth), do: <<1::32-little, start::32-little, depth::32-little>>
end
