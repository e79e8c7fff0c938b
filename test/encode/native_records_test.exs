defmodule RustyJson.NativeRecordsTest do
  @moduledoc "The native records of OTP 29 have no JSON form, as pids have none."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.Test.Judge

  if String.to_integer(System.otp_release()) < 29, do: @moduletag(skip: "this VM has no native records")

  @source ~S"""
  -module(rustyjson_native_records).
  -export([point/1, empty/0]).
  -record #point{x = 1, y = 2}.
  -record #empty{}.
  point(Y) -> #point{y = Y}.
  empty() -> #empty{}.
  """

  setup_all do
    path = Path.join(System.tmp_dir!(), "rustyjson_native_records.erl")
    File.write!(path, @source)
    {:ok, module, code} = :compile.file(String.to_charlist(path), [:binary])
    File.rm!(path)
    {:module, ^module} = :code.load_binary(module, ~c"native_records", code)
    {:ok, records: [module.point([self(), %{k: {1, 2}}]), module.empty()]}
  end

  test "as values", %{records: records} do
    for record <- records,
        term <- [record, [1, record, 2], %{"a" => %{b: record, c: 1}}],
        {engine, options} <- Judge.engines(),
        more <- [[], [pretty: true], [sort_keys: true], [maps: :strict], [protocol: false], [lean: true]] do
      assert {:error, %Protocol.UndefinedError{protocol: RustyJson.Encoder, value: ^record}} =
               RustyJson.encode(term, more ++ options),
             "#{engine} #{inspect(more)}"
    end
  end

  test "as keys", %{records: records} do
    for record <- records, {_engine, options} <- Judge.engines(), more <- [[], [sort_keys: true]] do
      assert {:error, %{reason: :invalid_key}} = RustyJson.encode(%{record => 1}, more ++ options)
      assert {:error, %{reason: :invalid_key}} = RustyJson.encode([%{"a" => 1, record => 1}], more ++ options)
    end
  end

  test "beside other terms that Elixir encodes", %{records: [record | _]} do
    for {_engine, options} <- Judge.engines() do
      term = fn record ->
        [%{~c"k" => ~D[2024-02-29]}, RustyJson.Fragment.new(fn _ -> "1" end), record, MapSet.new([2])]
      end

      assert RustyJson.encode(term.(0), options) == {:ok, ~s([{"k":"2024-02-29"},1,0,[2]])}
      assert {:error, %Protocol.UndefinedError{value: ^record}} = RustyJson.encode(term.(record), options)
    end
  end
end
