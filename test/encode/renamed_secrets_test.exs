defmodule RustyJson.RenamedSecretsTest do
  @moduledoc "What `redact:` hides in structs whose fields have other names in the text."

  use ExUnit.Case, async: true

  @moduletag :once

  alias RustyJson.{Encode, EncodeError, Fragment}
  alias RustyJson.Test.{Clock, Judge}

  defmodule Own do
    defstruct [:secret]

    defimpl RustyJson.Encoder do
      def encode(%{secret: secret}, opts), do: Encode.map(%{"card" => secret}, opts)
    end
  end

  defmodule Camel do
    @derive {RustyJson.Encoder, key_case: :camel}
    defstruct [:user_info]
  end

  defmodule Named do
    @derive {RustyJson.Encoder, key_case: [user_info: "who/~"]}
    defstruct [:user_info]
  end

  # Many names that are known.
  for number <- 1..30 do
    defmodule Module.concat(__MODULE__, "Known#{number}") do
      @derive {RustyJson.Encoder, key_case: :camel}
      defstruct for field <- 1..30, do: {:"field_x#{field}_of#{number}", 1}
    end
  end

  defmodule Card do
    use RustyJson.Schema, rename: :camel

    schema do
      field(:card_number, :string)
      field(:kind, :string, key: "card kind")
      field(:b, :integer)
    end
  end

  # No atom has such a name, so the core does not know it.
  defmodule Long do
    use RustyJson.Schema

    schema do
      field(:card_number, :any, key: String.duplicate("k", 256))
      field(:b, :integer)
    end
  end

  defp all(term, options) do
    [text] =
      for {_name, engine} <- Judge.engines(), uniq: true, do: RustyJson.encode!(term, options ++ engine)

    text
  end

  # The names that the text has instead of those of the fields are in the process dictionary: it was a `BadMapError`.
  test "an encoder that clears the process dictionary ends the call, and shows no secret" do
    clearing =
      Fragment.new(fn opts ->
        text = Encode.value(%Card{card_number: "4111", kind: "x", b: 1}, opts)
        :erlang.erase()
        text
      end)

    for {_name, engine} <- Judge.engines(),
        term <- [[clearing], [Fragment.new(&Encode.value([clearing], &1))]] do
      assert {:error, %EncodeError{reason: :invalid_iodata} = error} =
               Task.await(
                 Task.async(fn -> RustyJson.encode(term, [redact: ["/0/*", "/0/0/*"]] ++ engine) end)
               )

      assert Exception.message(error) =~ "an encoder cleared the process dictionary"
    end
  end

  test "a pointer goes on in an encoder or a function below a field that a derivation renames" do
    inner = [%Own{secret: "4111"}, Fragment.new(&Encode.value(%{"card" => "4111"}, &1)), %{"card" => "4111"}]

    for module <- [Camel, Named], value <- inner, key_case <- [nil, :camel], pretty <- [false, true] do
      options = [pretty: pretty] ++ if(key_case, do: [key_case: key_case], else: [])
      assert all(struct(module, user_info: value), options) =~ "4111"

      for pointer <- ["/user_info/card", "/*/card"] do
        text = all(struct(module, user_info: value), [redact: [pointer]] ++ options)
        refute text =~ "4111", "#{inspect(module)} #{pointer}: #{text}"
      end
    end

    # Another field keeps its text.
    assert all(%Camel{user_info: %Own{secret: "4111"}}, redact: ["/user/card", "/userInfo/other"]) =~ "4111"
  end

  test "to follow pointers takes no longer for what stands deep down" do
    own = List.duplicate(%Own{secret: "4111"}, 3_000)
    deep = Enum.reduce(1..3_000, own, fn _, inner -> [inner] end)

    call = fn options ->
      fn -> RustyJson.encode!(deep, [max_depth: :infinity, engine: :native] ++ options) end
    end

    if Judge.engines()[:native], do: Clock.ratio(5, call.(redact: ["/a/b", "/0/1/card"]), call.([]))

    assert all([[[%{"a" => [%Own{secret: "4111"}]}]]], redact: ["/0/0/0/a/*/card"]) =~
             ~s({"card":"[REDACTED]"})

    assert all([[[%{"a" => [%Own{secret: "4111"}]}]]], redact: ["/0/0/0/a/1/card", "/0/0/1"]) =~ "4111"
  end

  test "a schema that renames is written by its keys, and hides by the names of its fields" do
    card = %Card{card_number: "4111", kind: "x", b: 1}
    assert all(card, []) == ~s({"cardNumber":"4111","card kind":"x","b":1})
    assert all([card], key_case: :camel, omit: [nil]) == ~s([{"cardNumber":"4111","card kind":"x","b":1}])
    assert RustyJson.decode(all(card, []), as: Card) == {:ok, card}

    for redact <- [[:card_number], ["/card_number"], [contains: ["number"]]] do
      assert all(card, redact: redact) == ~s({"cardNumber":"[REDACTED]","card kind":"x","b":1})
    end
  end

  test "so is a schema with a key that is too long for an atom" do
    long = %Long{card_number: "4111", b: 1}
    key = String.duplicate("k", 256)
    assert all(long, []) == ~s({"#{key}":"4111","b":1})
    assert RustyJson.decode(all(long, []), as: Long) == {:ok, long}

    for redact <- [
          [:card_number],
          ["card_number"],
          ["/0/card_number"],
          ["/*/card_number"],
          ["/0/#{key}"],
          [key],
          [contains: ["number"]]
        ],
        options <- [[], [pretty: true], [sort_keys: true], [unsupported: :inspect]] do
      expected = [%{key => "[REDACTED]", "b" => 1}]
      assert all([long], [redact: redact] ++ options) |> RustyJson.decode!() == expected, inspect(redact)
    end

    for pointer <- ["/0/card_number/card", "/0/#{key}/card"] do
      text = all([%{long | card_number: %Own{secret: "4111"}}], redact: [pointer])
      assert text == ~s([{"#{key}":{"card":"[REDACTED]"},"b":1}])
    end
  end

  @tag :time
  test "a row takes no longer when many structs with other names are known" do
    rows = for _ <- 1..200, do: %Own{secret: %{in: %Own{secret: "4111"}}}
    options = [engine: :native, redact: ["/*/card/in/card"]]

    reductions = fn ->
      {_, before} = Process.info(self(), :reductions)
      refute RustyJson.encode!(rows, options) =~ "4111"
      {_, later} = Process.info(self(), :reductions)
      later - before
    end

    if Judge.engines()[:native] do
      _first = reductions.()
      few = reductions.()
      RustyJson.encode!(for(n <- 1..30, do: struct(Module.concat(__MODULE__, "Known#{n}"))), options)
      assert reductions.() < 1.5 * few
    end
  end
end
