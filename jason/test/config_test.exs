defmodule JasonConfigTest do
  # Settings are global.
  use ExUnit.Case, async: false

  setup do
    before = Application.get_all_env(:rustyjson)

    on_exit(fn ->
      for {name, _value} <- Application.get_all_env(:rustyjson), do: Application.delete_env(:rustyjson, name)
      for name <- [:policy, :decoding_integer_digit_limit], do: Application.delete_env(:jason, name)
      Application.put_all_env(rustyjson: before)
      RustyJson.Config.reload()
    end)
  end

  defp configure(settings) do
    Application.put_all_env(rustyjson: settings)
    RustyJson.Config.reload()
  end

  test "limits hold, and say so" do
    configure(decode: [max_depth: 2, max_bytes: 100], encode: [max_depth: 2, max_bytes: 50])
    assert {:error, %Jason.DecodeError{position: 2, message: message}} = Jason.decode("[[[1]]]")
    assert message =~ "2"
    assert {:error, %Jason.DecodeError{}} = Jason.decode(String.duplicate(" ", 101))
    assert {:error, %Jason.EncodeError{message: "nesting deeper than 2"}} = Jason.encode([[[]]])
    assert {:error, %Jason.EncodeError{}} = Jason.encode(String.duplicate("x", 50))

    for pretty <- [true, [indent: "\t"]] do
      assert {:error, %Jason.EncodeError{message: "nesting deeper than 2"}} =
               Jason.encode([[[]]], pretty: pretty)

      assert {:error, %Jason.EncodeError{}} = Jason.encode(List.duplicate(1, 15), pretty: pretty)
    end
  end

  test "a text that is too long is not looked through for decimals" do
    if Code.ensure_loaded?(Decimal) do
      configure(decode: [max_bytes: 100])
      text = "[" <> String.duplicate("1e1,", 1_000_000) <> "1]"
      {:reductions, before} = Process.info(self(), :reductions)
      assert {:error, %Jason.DecodeError{position: 0}} = Jason.decode(text, floats: :decimals)
      {:reductions, later} = Process.info(self(), :reductions)
      assert later - before < 100_000
    end
  end

  # As `floats: :decimals` has it, for which Decimal need not be there.
  test "a text that becomes longer is within max_bytes if it was before" do
    given = %{keys: :strings, strings: :reference, floats: :native, objects: :maps}

    for engine <- [:native, :wasm] do
      configure(engine: engine, decode: [max_bytes: 5])
      assert Jason.Decimals.with_fractions("[1e2]") == "[1.0e2]"
      decode = &RustyJson.Standin.decode_changed(&1, given, fn "[1e2]" -> "[1.0e3]" end)
      assert decode.("[1e2]") == {:ok, [1000.0]}
      assert {:error, %RustyJson.DecodeError{reason: :max_bytes}} = decode.("[1e20]")
    end
  end

  test "options of RustyJson for the form of texts do not" do
    configure(
      decode: [keys: :atoms, duplicate_keys: :error, null: :null],
      encode: [sort_keys: true, escape: :html_safe]
    )

    assert Jason.decode!(~S({"a":null,"a":1})) == %{"a" => nil}
    assert Jason.encode!("/<") == ~S("/<")
    assert Jason.encode!(Jason.OrderedObject.new(b: 1, a: 2)) == ~S({"b":1,"a":2})
  end

  test "the comparison of libraries says that it is no other one" do
    path = Path.join(System.tmp_dir!(), "rustyjson-standin-#{System.unique_integer([:positive])}.json")
    File.write!(path, "[null]")
    on_exit(fn -> File.rm!(path) end)

    output =
      ExUnit.CaptureIO.capture_io(fn -> assert RustyJson.CLI.Compare.run([path], [:decode], 1) == 0 end)

    assert output =~ ~r/compared: Jason 1.4.5 \(stand-in\);/
  end

  test "one line puts all calls into the sandbox, and a policy of the stand-in alone too" do
    for settings <- [[engine: :wasm, wasm: [timeout: 1]], [policies: [packages: [engine: :wasm, timeout: 1]]]] do
      if settings[:policies], do: Application.put_env(:jason, :policy, :packages)
      configure([engine: :native] |> Keyword.merge(settings))
      long = "[" <> String.duplicate("[1],", 500_000) <> "1]"
      assert {:error, %Jason.DecodeError{message: message, position: 0}} = Jason.decode(long)
      assert message =~ "1 ms"
      assert {:error, %Jason.EncodeError{}} = Jason.encode(List.duplicate([1], 1_000_000))

      for format <- [&Jason.Formatter.pretty_print/1, &Jason.Formatter.minimize/1] do
        error = assert_raise Jason.DecodeError, fn -> format.(long) end
        assert Exception.message(error) =~ "1 ms"
      end

      assert {:error, %Jason.EncodeError{}} = Jason.encode(Jason.Fragment.new(long), pretty: [indent: "\t"])
      for {name, _} <- settings, do: Application.delete_env(:rustyjson, name)
    end
  end

  test "Jason's own setting" do
    Application.put_env(:jason, :decoding_integer_digit_limit, 3)
    configure([])
    assert {:error, %Jason.DecodeError{token: "1234", position: 1}} = Jason.decode("[1234]")
    assert Jason.decode!("123") == 123
  end

  test "Jason's own setting can be no limit, or one that no text reaches" do
    digits = String.duplicate("1", 2_000)

    for limit <- [:infinity, nil, 0xFFFF_FFFF + 2] do
      Application.put_env(:jason, :decoding_integer_digit_limit, limit)
      configure([])
      assert Jason.decode!("[#{digits}]") == [String.to_integer(digits)]
    end

    for limit <- [-1, "1024"] do
      Application.put_env(:jason, :decoding_integer_digit_limit, limit)
      configure([])
      assert_raise ArgumentError, ~r/:decoding_integer_digit_limit/, fn -> Jason.decode("1") end
    end
  end
end
