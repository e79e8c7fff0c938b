defmodule RustyJson.EctoTypeTest do
  @moduledoc "A field that stays text: its callbacks by themselves, and in schemas of the real Ecto where it is installed."
  # Some tests change the configuration.
  use ExUnit.Case, async: false

  alias RustyJson.{EctoType, Fragment}
  alias RustyJson.EctoType.Columns
  alias RustyJson.Test.Judge

  @compile {:no_warn_undefined, [Ecto, Ecto.Type, Ecto.Changeset, Ecto.ParameterizedType]}

  @text EctoType.init([])
  @json EctoType.init(column: :json)

  defp load(value, params), do: EctoType.load(value, &flunk/1, params)
  defp dump(value, params), do: EctoType.dump(value, &flunk/1, params)

  test "a column stays text, and is written as it was" do
    text = ~s( {"b": 1.50, "a": [1e2]} )
    assert {:ok, %Fragment{encode: ^text} = value} = load(text, @text)
    assert dump(value, @text) == {:ok, text}
    assert RustyJson.encode!(%{payload: value}) == ~s({"payload": {"b": 1.50, "a": [1e2]} })
    # Nothing was decoded: this text is no JSON.
    assert {:ok, %Fragment{encode: "{"}} = load("{", @text)
    assert load(%{"a" => 1}, @text) == :error
    assert {EctoType.type(@text), EctoType.type(@json)} == {:string, :map}
  end

  test "terms, fragments and lazy values become text" do
    for {term, text} <- [
          {%{day: ~D[2024-02-29]}, ~s({"day":"2024-02-29"})},
          {"[1]", ~S("[1]")},
          {[1, nil], "[1,null]"},
          {false, "false"},
          {Fragment.new("[1]"), "[1]"},
          {Fragment.new(["[", "1", ?]]), "[1]"},
          {Fragment.new(fn opts -> RustyJson.Encode.value([1], opts) end), "[1]"},
          {%{rows: RustyJson.lazy(Stream.map(1..3, & &1))}, ~s({"rows":[1,2,3]})}
        ] do
      assert EctoType.cast(term, @text) == {:ok, %Fragment{encode: text}}
      assert dump(term, @text) == {:ok, text}
      assert dump(term, @json) == {:ok, %Fragment{encode: text}}
      assert EctoType.text(term) == text
    end

    for params <- [@text, @json] do
      assert EctoType.cast(nil, params) == {:ok, nil}
      assert load(nil, params) == {:ok, nil}
      assert dump(nil, params) == {:ok, nil}
    end

    assert EctoType.text(nil) == nil
  end

  test "invalid JSON is not written, and a changeset says why" do
    for {term, message} <- [
          {Fragment.new("[1,]"),
           "cannot be stored as JSON: Expected value at position 3 (line 1, column 4): Trailing comma"},
          {Fragment.new(""), ~r/\Acannot be stored as JSON: Unexpected end of input/},
          {{:not, self()}, ~r/\Acannot be stored as JSON: /},
          {"\xFF", ~r/\Acannot be stored as JSON: invalid byte 0xFF/}
        ] do
      assert {:error, message: text} = EctoType.cast(term, @text)
      assert text =~ message
      assert dump(term, @text) == :error
      assert dump(term, @json) == :error
    end

    assert_raise RustyJson.EncodeError, fn -> EctoType.text("\xFF") end
  end

  test "the decoded term, in every engine, with its options" do
    value = Fragment.new(~s({"n": 1.5, "a": {"b": [1]}}))

    assert Judge.same("", [], fn options -> EctoType.decode(value, options) end) ==
             {:ok, %{"n" => 1.5, "a" => %{"b" => [1]}}}

    assert EctoType.decode!(value, keys: :atoms!) == %{n: 1.5, a: %{b: [1]}}
    assert EctoType.decode(Fragment.new("[1]"), as: [:integer]) == {:ok, [1]}

    assert {:error, %RustyJson.DecodeError{reason: :type}} =
             EctoType.decode(Fragment.new("[1]"), as: [:string])

    assert RustyJson.fetch(EctoType.text(value), "/a/b/0") == {:ok, 1}

    assert_raise RustyJson.DecodeError, fn -> EctoType.decode!(Fragment.new("[")) end
    assert {:error, %RustyJson.DecodeError{reason: :max_bytes}} = EctoType.decode(value, max_bytes: 5)
    assert EctoType.decode(nil, as: :string) == {:ok, nil}
    assert EctoType.decode(Fragment.new("null")) == {:ok, nil}

    # What a driver has decoded, or what was set.
    assert load(%{"a" => 1}, @json) == {:ok, %{"a" => 1}}
    assert load("text", @json) == {:ok, "text"}
    assert EctoType.decode(%{"a" => 1}) == {:ok, %{"a" => 1}}
    assert EctoType.decode(%{"a" => ~D[2024-02-29]}, as: {:map, :date}) == {:ok, %{"a" => ~D[2024-02-29]}}
  end

  test "equal are the same texts, and texts of the same term" do
    for {left, right, equal?} <- [
          {"[1]", "[1]", true},
          {"[1, 2]", "[1,2]", true},
          {~s({"a":1,"b":2}), ~s({"b":2,"a":1}), true},
          {"1", "1.0", false},
          {"null", nil, false},
          {"[", "[", true},
          {"[", "[ ", false},
          {~s({"a":1,"a":2}), ~s({"a":2}), false}
        ] do
      values = for text <- [left, right], do: text && %Fragment{encode: text}
      assert apply(EctoType, :equal?, values ++ [@text]) == equal?, inspect({left, right})
      assert apply(EctoType, :equal?, Enum.reverse(values) ++ [@text]) == equal?, inspect({left, right})
    end

    assert EctoType.equal?(%{a: 1}, Fragment.new(~s({"a": 1})), @json)
    refute EctoType.equal?(%{a: self()}, Fragment.new("1"), @json)
    assert EctoType.equal?(nil, nil, @json)

    # More digits, and a larger exponent, than decimals have by default.
    for number <- ["0." <> String.duplicate("37", 60), "1e-7000"],
        do: assert(EctoType.equal?(Fragment.new("[1, #{number}]"), Fragment.new("[1,#{number}]"), @text))

    if Code.ensure_loaded?(Decimal) do
      refute EctoType.equal?(Fragment.new("0.1"), Fragment.new("0.1000000000000000055"), @text)
      refute EctoType.equal?(Fragment.new("1e400"), Fragment.new("2e400"), @text)
    end
  end

  test "a misspelt column" do
    assert_raise ArgumentError,
                 "option :column of the field :payload takes :text or :json, got: :jsonb",
                 fn ->
                   EctoType.init(field: :payload, schema: __MODULE__, column: :jsonb)
                 end
  end

  # As Postgrex 0.22 calls the library of its types: see ecto_test.exs.
  test "a driver that leaves the text alone" do
    {:ok, dumped} = dump(%{"n" => 1}, @json)
    data = Columns.encode_to_iodata!(dumped)
    row = <<String.duplicate(" ", 100_000)::binary, 1, IO.iodata_to_binary(data)::binary>>
    <<1, json::binary>> = binary_part(row, 100_000, byte_size(row) - 100_000)

    assert {:ok, %Fragment{encode: text}} = json |> Columns.decode!() |> load(@json)
    assert text == ~s({"n":1})
    assert :binary.referenced_byte_size(text) < 1_000
  end

  test "what is configured for texts that are sent leaves columns alone" do
    configure(encode: [compress: :gzip, redact: ["password"]])
    {:ok, dumped} = dump(%{"password" => 1}, @json)

    for encode <- [&Columns.encode!/1, &Columns.encode_to_iodata!/1],
        term <- [dumped, %{"password" => 1}],
        do: assert(IO.iodata_to_binary(encode.(term)) == ~s({"password":1}))
  end

  test "what is configured for answers does not change what is stored" do
    options = [omit: [nil], key_case: :camel, integers: :js_safe, unsupported: :inspect]
    configure(encode: options)

    term = %{first_name: nil, big: 9_007_199_254_740_993}
    text = ~s({"big":9007199254740993,"first_name":null})
    same = &(&1 |> IO.iodata_to_binary() |> RustyJson.decode!() == RustyJson.decode!(text))

    for {_name, engine} <- Judge.engines() do
      configure(engine: engine[:engine], encode: options)
      assert {:ok, %Fragment{encode: cast}} = EctoType.cast(term, @text)
      assert {:ok, dumped} = dump(term, @text)
      for stored <- [cast, dumped, EctoType.text(term), Columns.encode!(term)], do: assert(same.(stored))
      assert same.(Columns.encode_to_iodata!(term))
      refute EctoType.equal?(%{"a" => nil}, %{}, @text)
      assert {:error, message: _} = EctoType.cast(%{pid: self()}, @text)
    end
  end

  test "canonical form and the way to write structs do not depend on the configuration, either" do
    term = %{none: nil, float: 1.0, day: ~D[2024-02-29], big: 9_007_199_254_740_993}
    {:ok, expected} = RustyJson.encode(term)
    bad = %{text: <<255>>}

    for {_name, engine} <- Judge.engines(),
        encode <- [
          [canonical: true],
          [lean: true],
          [protocol: false],
          [invalid_utf8: :replace]
        ] do
      configure(engine: engine[:engine], encode: encode)
      assert EctoType.cast(term, @text) == {:ok, %Fragment{encode: expected}}
      assert dump(term, @text) == {:ok, expected}
      assert EctoType.text(term) == expected
      assert Columns.encode!(term) == expected
      assert IO.iodata_to_binary(Columns.encode_to_iodata!(term)) == expected
      assert EctoType.equal?(term, Fragment.new(expected), @text)
      assert {:error, message: _} = EctoType.cast(bad, @text)
      assert_raise RustyJson.EncodeError, fn -> Columns.encode!(bad) end
    end

    for validate <- [true, false] do
      configure(decode: [validate_strings: validate])
      assert {:error, message: _} = EctoType.cast(Fragment.new(<<?", 255, ?">>), @text)
      assert dump(Fragment.new(<<?", 255, ?">>), @text) == :error
    end
  end

  test "the atom that the configuration has for null is null, because drivers decode to it" do
    text = ~s({"a":[null,{"b":null}]})

    for {_name, engine} <- Judge.engines() do
      configure(engine: engine[:engine], decode: [null: :null], encode: [null: :null])

      for objects <- [:maps, :ordered_objects] do
        {:ok, loaded} = load(RustyJson.decode!(text, objects: objects), @json)
        assert EctoType.cast(loaded, @json) == {:ok, %Fragment{encode: text}}
        assert dump(loaded, @json) == {:ok, %Fragment{encode: text}}
        assert Columns.encode!(loaded) == text
        assert EctoType.equal?(loaded, Fragment.new(text), @json)
      end

      assert EctoType.cast([:null, nil], @json) == {:ok, %Fragment{encode: ~s([null,"nil"])}}

      # 2^200 parts, without a limit of bytes.
      assert {:error, message: _} =
               EctoType.cast(Enum.reduce(1..200, :null, fn _, part -> [part, part] end), @json)
    end

    configure(decode: [], encode: [])
    assert EctoType.text([:null]) == ~s(["null"])
  end

  test "a type or places that are configured for decoding do not matter to a column" do
    for {_name, engine} <- Judge.engines(), setting <- [as: {:map, :date}, raw: ["/a"]] do
      configure(engine: engine[:engine], decode: [setting])
      assert EctoType.cast(Fragment.new(~s({"a": 1})), @text) == {:ok, Fragment.new(~s({"a": 1}))}
      assert dump([1], @text) == {:ok, "[1]"}
      assert {:error, message: _} = EctoType.cast(Fragment.new("[1,]"), @text)
      assert EctoType.equal?(Fragment.new(~s({"a": [1]})), Fragment.new(~s({"a":[1]})), @text)
    end
  end

  unless Judge.available?(:wasmex) do
    test "an engine that does not answer is an error of the changeset" do
      configure(engine: :wasm, wasm: [host: :wasmex])
      assert {:error, message: "cannot be stored as JSON: " <> _} = EctoType.cast(Fragment.new("[1]"), @text)
      assert {:error, message: "cannot be stored as JSON: " <> _} = EctoType.cast([1], @text)
      assert dump(Fragment.new("[1]"), @text) == :error
    end
  end

  defp configure(settings) do
    kept = for {name, _} <- settings, do: {name, Application.fetch_env(:rustyjson, name)}

    on_exit(fn ->
      for {name, value} <- kept, do: restore(name, value)
      RustyJson.Config.reload()
    end)

    Application.put_all_env(rustyjson: settings)
    RustyJson.Config.reload()
  end

  defp restore(name, {:ok, value}), do: Application.put_env(:rustyjson, name, value)
  defp restore(name, :error), do: Application.delete_env(:rustyjson, name)

  if Code.ensure_loaded?(Ecto.Schema) do
    defmodule Part do
      use Ecto.Schema

      @primary_key false
      embedded_schema do
        field(:payload, EctoType)
      end
    end

    defmodule Event do
      use Ecto.Schema

      schema "events" do
        field(:payload, EctoType)
        field(:settings, EctoType, column: :json)
        field(:history, {:array, EctoType})
        embeds_one(:part, Part)
      end
    end

    test "in a schema of Ecto" do
      payload = Event.__schema__(:type, :payload)
      assert Ecto.Type.type(payload) == :string
      assert :settings |> then(&Event.__schema__(:type, &1)) |> Ecto.Type.type() == :map
      assert Ecto.Type.load(payload, ~s({"a": 1})) == {:ok, %Fragment{encode: ~s({"a": 1})}}
      assert Ecto.Type.dump(payload, %{a: 1}) == {:ok, ~s({"a":1})}
      assert Ecto.Type.dump(payload, nil) == {:ok, nil}
      assert Ecto.Type.format(payload) == "#RustyJson.EctoType<column: :text>"

      history = Event.__schema__(:type, :history)
      assert Ecto.Type.dump(history, [1, "a"]) == {:ok, ["1", ~S("a")]}
      assert Ecto.Type.load(history, ["1"]) == {:ok, [%Fragment{encode: "1"}]}
    end

    test "in a changeset" do
      event = struct(Event, payload: Fragment.new(~s({"a": 1, "b": 2})))

      assert %{changes: changes, valid?: true} =
               Ecto.Changeset.cast(event, %{"payload" => %{"b" => 2, "a" => 1}}, [:payload])

      assert changes == %{}

      assert %{changes: %{payload: %Fragment{encode: ~s({"a":2})}}} =
               Ecto.Changeset.cast(event, %{"payload" => %{"a" => 2}}, [:payload])

      assert %{changes: %{payload: nil}} = Ecto.Changeset.cast(event, %{"payload" => nil}, [:payload])

      assert %{errors: [payload: {message, _}], valid?: false} =
               Ecto.Changeset.cast(event, %{payload: Fragment.new("[")}, [:payload])

      assert message =~ "cannot be stored as JSON: Unexpected end of input"
    end

    test "in an embedded schema it is a part of the document" do
      part = struct(Part, payload: Fragment.new(~s({"a": [1]})))
      json = part |> Ecto.embedded_dump(:json) |> RustyJson.encode!()
      assert json == ~s({"payload":{"a": [1]}})

      loaded = Ecto.embedded_load(Part, RustyJson.decode!(json), :json)
      assert loaded.payload == %Fragment{encode: ~s({"a":[1]})}

      assert {:ok, %{payload: value}} = RustyJson.decode(json, as: Part)
      assert EctoType.decode!(value) == %{"a" => [1]}
    end
  end
end
