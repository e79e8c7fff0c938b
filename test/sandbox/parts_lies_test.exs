defmodule RustyJson.Sandbox.PartsLiesTest do
  @moduledoc "A guest that returns false parts of a document: the engine rejects answers that no honest guest returns."

  use ExUnit.Case, async: false

  alias RustyJson.SandboxError
  alias RustyJson.Test.{Guest, WasmHosts}
  alias RustyJson.Test.Schemas.{Circle, Line, Seventy}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * 1_048_576]
  # Ten bytes; the tests ask for two places in them.
  @json ~s({"a":[10]})
  @paths ["/a", "/a/0"]

  for host <- [:wasmtime, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.missing(host) || Guest.missing(), do: @describetag(skip: reason)

      setup %{host: host}, do: {:ok, options: [host: host] ++ @options}

      test "honest answers are taken", %{host: host, options: options} do
        for {answer, expected} <- [{[0, [10], 1, 10], [[10], 10]}, {[1, 7], [nil, 7]}, {[], [nil, nil]}] do
          answers(host, answer, fn ->
            assert RustyJson.select(@json, @paths, options) == {:ok, expected}
          end)
        end

        answers(host, [0, 5, 4], fn ->
          assert {:ok, [%{encode: "[10]"}, nil]} = RustyJson.select(@json, @paths, [as: :raw] ++ options)
        end)
      end

      test "answers that nobody asked for", %{host: host, options: options} do
        for answer <- [
              nil,
              %{},
              "text",
              [0],
              [0, 1, 1],
              [2, 1],
              [-1, 1],
              [1, 1, 0, 1],
              [0, 1, 0, 1],
              ["0", 1],
              [0, 1, 1, 2, 2, 3],
              [0, List.duplicate(1, 200)]
            ] do
          answers(host, answer, fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.select(@json, @paths, options),
                   inspect(answer)
          end)
        end
      end

      test "values that are not of the type", %{host: host, options: options} do
        json = ~s({"sku": "a", "quantity": 1, "price": 1.5, "date": "2024-01-01", "r": 1.0})

        answers(host, [0, "a", 1, 2, 2, [1, 15, -1]], fn ->
          assert {:ok, %Line{sku: "a", quantity: 2}} = RustyJson.decode(json, [as: Line] ++ options)
        end)

        for {type, answers} <- [
              {Line,
               [
                 nil,
                 [],
                 [0, "a"],
                 [0, 1, 1, 2],
                 [0, "a", 1, "2"],
                 [0, "a", 1, 2, 3, 4],
                 [0, "a", 1, 2, -1, 4],
                 [0, "a", 1, 2, 2],
                 [0, "a", 1, 2, 2, [1, 2]],
                 [0, "a", 1, 2, 2, [2, 3, 4]],
                 [0, "a", 1, 2, 2, [1, -3, 4]],
                 [0, "a", 1, 2, 2, ["1", 3, 4]],
                 [0, "a", 0, "b"],
                 [0, "a", 1, 2, 256, 4],
                 [0, "a", 1, 2, "0", "b"]
               ]},
              {[Line], [[[0, "a", 1, 2], []], [[0, "a", 1, 2], [0, "a"]], [[0, "a", 1, 2, 3, 1]]]},
              {:boolean, [nil, 0, "true"]},
              {:number, ["1", true]},
              {:integer, [1.0, nil]},
              {:any, [[{1, 2}], List.duplicate(1, 400)]},
              {:string, [1, nil, []]},
              {:float, [1]},
              {:date, ["2024-02-30", 1]},
              {:raw, [[0], [0, 0], [0, 1000], [-1, 2], "x"]},
              {[:integer], [1, ["1"], [nil]]},
              {{:map, :integer}, [[1], ["a"], [1, 1], ["a", "b"]]},
              {{:enum, [:a]}, [1, -1, "a", nil, 256]},
              {{:nullable, {:enum, [:a]}}, [1, false]},
              {{:tagged, "t", %{"c" => Circle}},
               [[0], [1, []], [0, []], [-1, [0, 1.0]], [0, [0, 1]], [0, [0, 1.0], 0], [0, [1, "c", 0, 1.0]]]}
            ],
            answer <- answers do
          answers(host, answer, fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode(json, [as: type] ++ options),
                   inspect({type, answer})
          end)
        end
      end

      test "more values than the document has, and deeper ones", %{host: host, options: options} do
        for {answer, type, limits} <- [
              {List.duplicate([], 200), [[:integer]], []},
              {[[[[[[[[]]]]]]]], :any, [max_depth: 3]},
              {[[[[[[[[]]]]]]]], [[[[[[[[:integer]]]]]]]], [max_depth: 2]}
            ] do
          answers(host, answer, fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode("[ [ ] ]", [as: type] ++ limits ++ options)
          end)
        end
      end

      test "a required field of many is missing", %{host: host, options: options} do
        json = RustyJson.encode!(for number <- 0..69, into: %{}, do: {"f#{number}", number})
        fields = Enum.to_list(0..69)

        for missing <- [nil, 0, 63, 64, 69] do
          answer = for number <- List.delete(fields, missing), entry <- [number, number], do: entry
          # Another field twice is not the one that is missing.
          answer = if missing, do: answer ++ [5, 5], else: answer

          answers(host, answer, fn ->
            case RustyJson.decode(json, [as: Seventy] ++ options) do
              {:ok, %Seventy{f0: 0, f63: 63, f64: 64, f69: 69}} -> assert missing == nil
              {:error, %SandboxError{reason: :invalid_result}} -> assert missing != nil
            end
          end)
        end
      end

      test "no atoms come from the answer", %{host: host, options: options} do
        name = "atom_of_a_guest_that_lies_#{host}_#{System.unique_integer([:positive])}"

        for type <- [{:enum, [:a]}, :boolean, :any, {:nullable, :boolean}, :string, Line],
            answer <- [<<119, byte_size(name), name::binary>>, <<118, byte_size(name)::16, name::binary>>] do
          with_guest(host, Guest.wasm(data: <<1, 131, answer::binary>>, always: true), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode(@json, [as: type] ++ options)
          end)
        end

        assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
      end

      test "parts that stay text", %{host: host, options: options} do
        answers(host, [{1, 3}], fn ->
          assert RustyJson.decode(@json, [raw: ["/*"]] ++ options) ==
                   {:ok, [%RustyJson.Fragment{encode: ~s("a")}]}

          # Where no part was asked for there is none.
          assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode(@json, options)
        end)

        for answer <- [[{0, 11}], [{-1, 2}], [{1, 0}], [{11, 1}], [{"1", 2}], [{1}], [{1, 2, 3}]] do
          answers(host, answer, fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode(@json, [raw: ["/*"]] ++ options),
                   inspect(answer)
          end)
        end
      end

      test "places that do not lie in the text", %{host: host, options: options} do
        for answer <- [
              [0, 1],
              [0, 1, 10],
              [0, 0, 11],
              [0, -1, 2],
              [0, 11, 0],
              [0, 1, 0],
              [0, 1, -1],
              [2, 1, 1],
              [1, 1, 1, 0, 1, 1],
              [0, "1", 1],
              [0, 0x1_0000_0000_0000, 1]
            ] do
          answers(host, answer, fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.select(@json, @paths, [as: :raw] ++ options),
                   inspect(answer)
          end)
        end
      end
    end
  end

  # Writes a list as the guest does, and not as a string.
  defp answers(host, answer, test) do
    record = <<1, 131, etf(answer)::binary>>
    with_guest(host, Guest.wasm(data: record, always: true), test)
  end

  defp etf([]), do: <<106>>

  defp etf(list) when is_list(list),
    do: <<108, length(list)::32, Enum.map_join(list, &etf/1)::binary, 106>>

  defp etf(nil), do: <<119, 3, "nil">>

  defp etf(other) do
    <<131, bytes::binary>> = :erlang.term_to_binary(other)
    bytes
  end
end
