defmodule RustyJson.Sandbox.RepeatedKeysTest do
  @moduledoc """
  The guest first decodes without a search for repeated keys. The runtime refuses a map that has one twice, and the host asks
  the guest to resolve them.
  """

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Guest, WasmHosts}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  # What a guest says that leaves two members with the same key in a map.
  @twice <<131, 116, 2::32, 109, 1::32, "a", 97, 1, 109, 1::32, "a", 97, 2>>
  # The document triggers the fault. It is long enough for any of the answers.
  @text "!" <> String.duplicate(" ", 40)

  @documents [
    ~s({"a":1,"a":2}),
    ~s([{"a":1},{"a":1,"b":2,"a":3}]),
    ~s({"a":{"b":1,"b":2},"a":{"b":3,"c":4,"b":5}}),
    ~s({"a":1,"\\u0061":2}),
    ~s({"a":1,"a":2,}),
    ~s({"a":1,"a":[tru]}),
    ~s({"__struct__":1,"__struct__":2}),
    ~s({"":1,"":2,"b":null})
  ]

  @replaced [
    ~s({"a":{"rustyjson_no_such_1":1},"a":1}),
    ~s([{"a":{"rustyjson_no_such_2":1},"a":1}]),
    ~s({"a":{"a":{"rustyjson_no_such_3":1},"a":2},"a":1}),
    ~s({"a":{"rustyjson_no_such_4":1},"a":1,"b":tru}),
    ~s({"a":1,"a":{"rustyjson_no_such_5":1}}),
    ~s({"a":{"b":1e999,"rustyjson_no_such_6":1},"a":2}),
    ~s({"b":[{"a":{"rustyjson_no_such_7":1},"a":1}],"a":{"b":1,"b":2}}),
    ~s({"a":1,"a":2,"b":{"a":3,"a":4}}),
    ~s({"a":{"rustyjson_no_such_8":1e400},"a":1})
  ]

  defmodule Held do
    use RustyJson.Schema

    schema do
      field(:a, :any)
      field(:b, :any)
    end
  end

  # Names of keys contain those of routes, so these are letters.
  defp routes do
    [
      decode: &RustyJson.decode/2,
      decode_many: &RustyJson.decode_many(["[]", &1], &2),
      valid: &RustyJson.valid?/2,
      select: &RustyJson.select(&1, ["/b", "/0", "/a"], &2),
      fetch: &RustyJson.fetch(&1, "/b", &2),
      raw: &RustyJson.decode(&1, [raw: ["/c"]] ++ &2),
      map: &RustyJson.decode(&1, [as: {:map, :any}] ++ &2),
      struct: &RustyJson.decode(&1, [as: Held] ++ &2),
      either: &RustyJson.decode(&1, [as: :any, errors: :all] ++ &2),
      fetch_typed: &RustyJson.fetch(&1, "/b", [as: [:any]] ++ &2),
      partial: &RustyJson.decode_partial/2,
      partial_typed: &RustyJson.decode_partial(&1, [as: {:map, :any}] ++ &2),
      pieces: &partial/2,
      pieces_typed: &partial(&1, [as: Held] ++ &2),
      lines: &pushed(&1, [format: :lines] ++ &2),
      lines_typed: &pushed(&1, [format: :lines, as: {:map, :any}] ++ &2),
      array: &pushed(&1, [format: :array] ++ &2),
      values: &pushed(&1, [format: :values] ++ &2),
      at: &pushed(&1, [at: "/*"] ++ &2),
      rows: &pushed(&1, [at: "", select: ["/b", "/0/a", "/a"]] ++ &2),
      rows_of_lines: &pushed(&1, [format: :lines, select: ["/a/b", "/b"]] ++ &2)
    ]
  end

  defp pushed(document, options) do
    feed = RustyJson.Feed.new(options)
    {one, two} = String.split_at(document, 9)

    halves =
      case RustyJson.Feed.push(feed, one) do
        {:ok, items, feed} -> [items | told(RustyJson.Feed.push(feed, two <> "\n"))]
        failed -> told(failed)
      end

    {told(RustyJson.Feed.push(feed, document <> "\n")), halves}
  end

  defp accepted?(answer), do: answer != false and not (inspect(answer) =~ "Error")

  defp told(answer), do: answer |> Tuple.to_list() |> Enum.reject(&is_struct(&1, RustyJson.Feed))

  defp partial(document, options) do
    document
    |> String.graphemes()
    |> Enum.reduce_while({:ok, RustyJson.Partial.new(options)}, fn piece, {:ok, partial} ->
      case RustyJson.Partial.push(partial, piece) do
        {:ok, partial} -> {:cont, {:ok, partial}}
        {:error, _error} = failed -> {:halt, failed}
      end
    end)
    |> then(fn answer -> with {:ok, partial} <- answer, do: RustyJson.Partial.value(partial) end)
  end

  # More keys than a small map has, one of them twice, first and last.
  defp documents do
    many = for n <- 1..40, do: ~s("k#{n}":#{n})
    large = for n <- 1..5_000, do: ~s("key#{n}":[#{n}])

    @documents ++
      for members <- [many, large],
          repeat <- [hd(members), List.last(members)],
          do: "{" <> Enum.join(members ++ [repeat], ",") <> "}"
  end

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.missing(host), do: @describetag(skip: reason)

      setup %{host: host} do
        {:ok, options: [engine: :wasm, host: host]}
      end

      test "are resolved as in the native engine", %{options: options} do
        for document <- documents(),
            duplicates <- [:last, :first, :error],
            more <- [[], [objects: :ordered_objects], [keys: :atoms], [isolation: :fresh]] do
          given = [duplicate_keys: duplicates] ++ more
          native = Keyword.drop(given, [:isolation]) ++ [engine: :native]

          assert RustyJson.decode(document, given ++ options) == RustyJson.decode(document, native),
                 "#{String.slice(document, 0, 80)} #{inspect(given)}"
        end
      end

      test "beside keys that are not existing atoms", %{options: options} do
        for document <- [
              ~s({"a":1,"a":2}),
              ~s({"a":1,"a":2,"rustyjson_no_such_atom":1}),
              ~s({"a":1,"a":2,"rustyjson_no_such_atom":1]),
              ~s({"a":1,"a":2,"b":})
            ] do
          given = [keys: :atoms!]

          assert RustyJson.decode(document, given ++ options) ==
                   RustyJson.decode(document, [engine: :native] ++ given)
        end
      end

      # It makes no difference on which route, and whether a piece ends in the document.
      test "beside names in values that they replace", %{host: host, options: options} do
        for {document, number} <- Enum.with_index(@replaced),
            duplicates <- [:last, :first, :error],
            {keys, floats} <- [atoms!: :native, atoms: :native, atoms!: :decimals, atoms: :decimals],
            {route, run} <- routes() do
          given = [keys: keys, duplicate_keys: duplicates, floats: floats]
          name = Enum.join([host, route, duplicates, floats, number], "_")
          # An atom that was made is there for all calls after.
          document = if keys == :atoms, do: String.replace(document, ~r/no_such_\d/, name), else: document

          assert run.(document, given ++ options) == run.(document, [engine: :native] ++ given),
                 "#{route} #{document} #{inspect(given)}"
        end

        # Each route takes one of these.
        for {route, run} <- routes(), keys <- [:atoms, :atoms!] do
          documents = ["{}", "[]", ~s({"b":1}), ~s({"a":1,"b":[1,{"b":2}]})]
          assert Enum.any?(documents, &accepted?(run.(&1, [keys: keys] ++ options))), "#{route}"
        end
      end

      test "in many documents, and in parts of one", %{options: options} do
        native = [engine: :native]
        documents = documents() ++ ["1", "[", ~s({"b":0})]

        for given <- [[], [duplicate_keys: :first], [duplicate_keys: :error], [keys: :atoms!]] do
          assert RustyJson.decode_many(documents, given ++ options) ==
                   RustyJson.decode_many(documents, given ++ native)
        end

        for document <- documents,
            duplicates <- [:last, :first, :error],
            given = [duplicate_keys: duplicates],
            pointer <- ["", "/a", "/a/b", "/0/a", "/1/a", "/k1", "/key5000/0"] do
          assert RustyJson.fetch(document, pointer, given ++ options) ==
                   RustyJson.fetch(document, pointer, given ++ native),
                 "#{String.slice(document, 0, 80)} #{pointer}"
        end
      end

      if reason = Guest.missing(), do: @tag(skip: reason)

      test "a guest that gives them again", %{host: host, options: options} do
        with_guest(host, Guest.wasm(data: <<1, @twice::binary>>), fn ->
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode(@text, options)
          assert RustyJson.decode("x", options) == {:ok, nil}
        end)
      end

      if reason = Guest.missing(), do: @tag(skip: reason)

      # Also in the largest of small maps, in a large map, below other terms, and with keys in any order.
      test "no answer with repeated keys becomes a map", %{host: host, options: options} do
        for {size, below?} <- [{2, true}, {32, false}, {33, false}, {1_000, true}] do
          keys = [size | Enum.to_list(2..size)]
          map = <<116, size::32, for(n <- keys, into: <<>>, do: <<109, 2::32, n::16, 97, 0>>)::binary>>
          etf = if below?, do: <<131, 108, 2::32, 97, 0, map::binary, 106>>, else: <<131, map::binary>>

          with_guest(host, Guest.wasm(data: <<1, etf::binary>>), fn ->
            text = "!" <> String.duplicate(" ", 5 * size + 40)
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode(text, options)
          end)
        end
      end

      if reason = Guest.missing(), do: @tag(skip: reason)

      test "a guest that refuses then what it had decoded", %{host: host, options: options} do
        # An error without a path at offset 0, in line and column 1.
        failure = <<0, 1, 0::64-little, 1::64-little, 1::64-little>>
        assert {:error, %SandboxError{reason: :invalid_result}} = asked_again(host, failure, options)
      end

      if reason = Guest.missing(), do: @tag(skip: reason)

      test "what a guest gives when it is asked again is judged too", %{host: host, options: options} do
        for {lie, record} <- [
              no_status: <<9, 131, 97, 42>>,
              pid: <<1, 131, 88, 119, 1, "a", 1::32, 0::32, 0::32>>,
              atom: <<1, 131, 119, 5, "admin">>,
              too_many: <<1, 131, 108, 900::32, 97, 42, 106>>
            ] do
          assert {:error, %SandboxError{reason: :invalid_result}} = asked_again(host, record, options),
                 "#{lie}"
        end

        assert asked_again(host, <<1, 131, 97, 42>>, options) == {:ok, 42}
      end

      if reason = Guest.missing(), do: @tag(skip: reason)

      test "a guest that then traps, grows or does not end", %{host: host, options: options} do
        for {fault, reason} <- [trap: :trap, grow: :memory_limit, loop: :timeout] do
          guest = [
            data: <<1, @twice::binary>>,
            fault: record(1 + byte_size(@twice)),
            resolve: Guest.fault(fault)
          ]

          limits = [timeout: 200, max_memory: 4 * 1_048_576]

          with_guest(host, Guest.wasm(guest), fn ->
            assert {:error, %SandboxError{reason: ^reason}} = RustyJson.decode(@text, limits ++ options)
            assert RustyJson.decode("x", options) == {:ok, nil}
          end)
        end
      end
    end
  end

  # Decodes with a guest that first leaves a key twice in a map, and gives this record when it is asked again.
  defp asked_again(host, record, options) do
    guest = [
      data: <<1, @twice::binary, record::binary>>,
      fault: record(1 + byte_size(@twice)),
      answer: {Guest.lie() + 1 + byte_size(@twice), byte_size(record)},
      resolve: Guest.answer()
    ]

    with_guest(host, Guest.wasm(guest), fn -> RustyJson.decode(@text, options) end)
  end

  defp record(length), do: "(i64.const #{Guest.record(Guest.lie(), length)})"
end
