defmodule RustyJson.Sandbox.PartsLiesTest do
  @moduledoc "A guest that returns false parts of a document: the engine rejects answers that no honest guest returns."

  use ExUnit.Case, async: false

  @moduletag :once

  alias RustyJson.{DecodeError, SandboxError}
  alias RustyJson.Test.{Guest, WasmHosts}
  alias RustyJson.Test.Schemas.{Circle, Line, Seventy}

  import RustyJson.Test.WasmHosts, only: [with_guest: 3]

  defmodule Dated do
    @moduledoc false
    use RustyJson.Schema

    schema do
      for number <- 0..6, do: field(:"f#{number}", :integer, default: nil)
      # Its number is that of the kind of dates.
      field(:date, :date, default: nil)
    end
  end

  @options [engine: :wasm, timeout: 10_000, max_memory: 4 * 1_048_576]
  # Ten bytes; the tests ask for two places in them.
  @json ~s({"a":[10]})
  @paths ["/a", "/a/0"]

  for host <- [:built_in, :wasmex] do
    describe "#{host}" do
      @describetag host: host
      if reason = WasmHosts.no_other(host), do: @describetag(skip: reason)

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

      test "only true says that a document is right", %{host: host, options: options} do
        answers(host, true, fn -> assert RustyJson.valid?(@json, options) end)

        for answer <- [false, nil, 1, "true", [true], %{}],
            do: answers(host, answer, fn -> refute RustyJson.valid?(@json, options) end)
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

      # Each is copied: thousands that are the whole text took as many times its size.
      test "copied parts of the text that overlap", %{host: host, options: options} do
        copied = [strings: :copy] ++ options

        for {honest, lies, ask} <- [
              {[[1, 3], [4, 1]], [[[0, 10], [0, 10]], [[0, 9], [9, 1], [1, 1]]],
               &RustyJson.decode(@json, [as: [:raw]] ++ &1)},
              {[{1, 3}, {4, 1}], [[{0, 10}, {0, 10}], [{0, 9}, {9, 1}, {1, 1}]],
               &RustyJson.decode(@json, [raw: ["/*"]] ++ &1)},
              {[0, 1, 3, 1, 4, 1], [[0, 0, 10, 1, 0, 10]],
               &RustyJson.select(@json, ["/a", "/b"], [as: :raw] ++ &1)}
            ] do
          answers(host, honest, fn ->
            assert {:ok, [%{encode: ~s("a")}, %{encode: ":"}]} = ask.(copied)
          end)

          for lie <- lies do
            answers(host, lie, fn ->
              assert {:error, %SandboxError{reason: :invalid_result}} = ask.(copied), inspect(lie)
            end)
          end
        end

        # Those of pointers that lie in each other do overlap.
        answers(host, [0, 5, 4, 1, 6, 2], fn ->
          assert {:ok, [%{encode: "[10]"}, %{encode: "10"}]} =
                   RustyJson.select(@json, @paths, [as: :raw] ++ copied)
        end)
      end

      # The answer as a list of dates says that its date is none. Asked to refuse that date, the guest answers again.
      test "a date that is refused and accepted", %{host: host, options: options} do
        for type <- [Dated, {:nullable, Dated}] do
          answers(host, [7, "2024-02-30"], fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode(~s({"date": "2024-02-30"}), [as: type] ++ options)
          end)
        end
      end

      # A plan has at byte 8 which date is to be refused. The guest does so with the first, and fails when it is asked for the second.
      test "a guest that fails while all errors are looked for", %{host: host, options: options} do
        plan = Guest.input() + byte_size(RustyJson.Options.decode([]).bytes)
        refused = errors(1, 1, [failure(40, 9)])
        answer = <<1, 131, etf([7, "2024-1-30", 7, "2024-1-31"])::binary>>

        # The values that Elixir refuses are named; dates are asked for; the first call.
        fault = """
        (if (i32.load (i32.const #{plan + 8})) (then (unreachable)))
        (if (result i64) (i32.eqz (i32.load8_u (i32.const #{plan + 2})))
          (then (i64.const #{Guest.record(Guest.lie(), byte_size(refused))}))
          (else (i64.const #{Guest.record(Guest.lie() + byte_size(refused), byte_size(answer))})))
        """

        with_guest(host, Guest.wasm(data: refused <> answer, fault: fault, always: true), fn ->
          json = ~s({"date": "2024-1-30", "date": "2024-1-31"})
          dated = [as: Dated, errors: :all] ++ options
          assert {:error, %SandboxError{reason: :trap}} = RustyJson.decode(json, dated)
        end)
      end

      test "errors that nobody asked for", %{host: host, options: options} do
        json = ~s(["x","y"])
        all = [as: [:integer], errors: :all, max_errors: 2] ++ options

        for {total, failures, positions} <- [
              {1, [failure(35, 1)], [1]},
              {2, [failure(35, 1), failure(35, 1)], [1, 1]},
              {9, [failure(35, 1), failure(1, 9)], [1, 9]}
            ] do
          with_guest(host, Guest.wasm(data: errors(total, 0, failures), always: true), fn ->
            assert {:error, %DecodeError{errors: errors, error_count: ^total}} = RustyJson.decode(json, all)
            assert Enum.map(errors, & &1.position) == positions
          end)
        end

        good = [failure(35, 1), failure(35, 5)]

        for lie <- [
              errors(0, 0, []),
              errors(2, 0, [failure(35, 1)]),
              errors(0, 0, [failure(35, 1)]),
              errors(1, 0, good),
              errors(3, 0, good ++ good),
              errors(1_000_000, 0, good),
              errors(0xFFFF_FFFF_FFFF_FFFF, 0, good),
              errors(2, 2, good),
              errors(2, 0, Enum.reverse(good)),
              errors(2, 0, [failure(35, 1), failure(35, 10)]),
              errors(2, 0, [failure(35, 1), failure(0, 5)]),
              errors(2, 0, [failure(35, 1), failure(200, 5)]),
              errors(2, 0, [failure(35, 1), failure(35, 5, <<255>>)]),
              errors(2, 0, [failure(35, 1), failure(35, 5, String.duplicate("x", 5_000))]),
              errors(2, 0, good) <> "x",
              binary_part(errors(2, 0, good), 0, 40),
              <<3, 2::64-little, 0, 0xFFFF_FFFF::32>>,
              <<3>>
            ] do
          with_guest(host, Guest.wasm(data: lie, always: true), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode(json, all),
                   inspect(lie)
          end)
        end

        for asked <- [[], [as: [:integer]], [raw: ["/0"]]] do
          with_guest(host, Guest.wasm(data: errors(1, 0, [failure(35, 1)]), always: true), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} = RustyJson.decode(json, asked ++ options)
          end)
        end
      end

      test "decimals beyond their limits", %{host: host, options: options} do
        digits = Integer.pow(10, 40)

        for {coefficient, exponent} <- [{1, 6_145}, {1, -6_145}, {1, 1_000_000_000}, {digits, 0}] do
          answers(host, [1, coefficient, exponent], fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode("[1.5,1.5]", [as: :decimal] ++ options)
          end)

          decimal = %{__struct__: Decimal, sign: 1, coef: coefficient, exp: exponent}
          record = <<1, 131, decimal(coefficient, exponent)::binary>>

          with_guest(host, Guest.wasm(data: record, always: true), fn ->
            assert {:error, %SandboxError{reason: :invalid_result}} =
                     RustyJson.decode("[1.5,1.5]", [floats: :decimals] ++ options)

            unlimited = [floats: :decimals, max_decimal_exponent: :infinity, max_decimal_digits: 60]
            assert {:ok, ^decimal} = RustyJson.decode("[1.5,1.5]", unlimited ++ options)
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

  # With its fields in the order of the module.
  defp decimal(coefficient, exponent) do
    fields = [{"__struct__", Decimal}, {"sign", 1}, {"coef", coefficient}, {"exp", exponent}]

    for {name, value} <- fields, into: <<116, 4::32>> do
      <<131, value::binary>> = :erlang.term_to_binary(value, minor_version: 2)
      <<119, byte_size(name), name::binary, value::binary>>
    end
  end

  # The record of all errors of a text.
  defp errors(total, left, failures) do
    list = for failure <- failures, into: "", do: <<byte_size(failure)::32-little, failure::binary>>
    <<3, total::64-little, left, length(failures)::32-little, list::binary>>
  end

  defp failure(code, offset, path \\ ""),
    do: <<code, offset::64-little, 1::64-little, 1::64-little, path::binary>>

  # Writes a list as the guest does, and not as a string.
  defp answers(host, answer, test) do
    record = <<1, 131, etf(answer)::binary>>
    with_guest(host, Guest.wasm(data: record, always: true), test)
  end

  defp etf([]), do: <<106>>

  defp etf(list) when is_list(list),
    do: <<108, length(list)::32, Enum.map_join(list, &etf/1)::binary, 106>>

  # As the module writes atoms; before OTP 26 the VM writes them otherwise.
  defp etf(atom) when is_atom(atom),
    do: <<119, byte_size(Atom.to_string(atom)), Atom.to_string(atom)::binary>>

  defp etf(other) do
    <<131, bytes::binary>> = :erlang.term_to_binary(other)
    bytes
  end
end
