defmodule RustyJsonTest do
  @moduledoc "The public functions and how they take options."

  use ExUnit.Case, async: true

  alias RustyJson.Test.{Judge, Trace}

  test "the engine that RUSTYJSON_ENGINE names is the default" do
    case System.get_env("RUSTYJSON_ENGINE") do
      name when name in ["native", "wasm"] -> assert Atom.to_string(RustyJson.engine()) == name
      _ -> assert RustyJson.engine() in [:native, :wasm]
    end
  end

  test "an engine that RUSTYJSON_REQUIRE names is there" do
    for name <- String.split(System.get_env("RUSTYJSON_REQUIRE", ""), ",", trim: true) do
      assert Judge.available?(String.to_atom(name)), "#{name}: #{inspect(Judge.missing())}"
    end
  end

  test "decode and encode, with and without a bang" do
    assert RustyJson.decode("[1]") == {:ok, [1]}
    assert RustyJson.decode!("[1]") == [1]
    assert RustyJson.encode([1]) == {:ok, "[1]"}
    assert RustyJson.encode!([1]) == "[1]"
    assert RustyJson.encode_to_iodata([1]) == {:ok, "[1]"}
    assert RustyJson.encode_to_iodata!([1]) == "[1]"
    assert {:error, %RustyJson.DecodeError{}} = RustyJson.decode("[")
    assert {:error, %RustyJson.EncodeError{}} = RustyJson.encode("\xFF")
    assert_raise RustyJson.DecodeError, fn -> RustyJson.decode!("[") end
    assert_raise RustyJson.EncodeError, fn -> RustyJson.encode!("\xFF") end
    assert_raise RustyJson.EncodeError, fn -> RustyJson.encode_to_iodata!("\xFF") end
  end

  test "an unknown option is named, with those that there are" do
    for fun <- [
          &RustyJson.decode("1", &1),
          &RustyJson.encode(1, &1),
          &RustyJson.decode!("1", &1),
          &RustyJson.encode!(1, &1)
        ] do
      message = message_of(fn -> fun.(no_such_option: 1) end)
      assert message =~ ":no_such_option"
      assert message =~ ":max_depth"
      assert message_of(fn -> fun.(%{no_such_option: 1}) end) == message
    end
  end

  test "a bad value is named, with what the option takes" do
    for {option, value, takes} <- [
          {:keys, :symbols, ":atoms!"},
          {:keys, fn -> 1 end, "function"},
          {:strings, true, ":copy"},
          {:floats, :double, ":decimals"},
          {:objects, :keyword, ":ordered_objects"},
          {:duplicate_keys, :all, ":last"},
          {:max_depth, 0, ":infinity"},
          {:max_depth, -1, ":infinity"},
          {:max_bytes, -1, "integer"},
          {:max_nodes, 1.5, "integer"},
          {:decoding_integer_digit_limit, nil, "integer"},
          {:validate_strings, "yes", "true"},
          {:dirty_threshold, :never, "integer"},
          {:engine, :java, ":wasm"}
        ] do
      message = message_of(fn -> RustyJson.decode("1", [{option, value}]) end)
      assert message =~ inspect(option)
      assert message =~ takes
    end

    for {option, value, takes} <- [
          {:escape, :html, ":html_safe"},
          {:maps, :sorted, ":strict"},
          {:pretty, :yes, "width"},
          {:pretty, [indent: 2, wrong: 1], "width"},
          {:compress, :zip, ":gzip"},
          {:compress, {:gzip, 10}, ":gzip"},
          {:sort_keys, nil, "true"},
          {:protocol, 0, "true"},
          {:scheduler, :fast, ":dirty"}
        ] do
      message = message_of(fn -> RustyJson.encode(1, [{option, value}]) end)
      assert message =~ inspect(option)
      assert message =~ takes
    end
  end

  test "options of the sandbox are refused by the native engine" do
    if Judge.available?(:native) do
      for option <- [timeout: 100, max_memory: 1_000_000, isolation: :fresh, host: :built_in] do
        message = message_of(fn -> RustyJson.decode("1", [option, engine: :native]) end)
        assert message =~ inspect(elem(option, 0))
      end
    end
  end

  test "a named engine is never replaced by another" do
    for {name, reason} <- Judge.missing(), {name, options} <- [{name, chosen(name)}] do
      outcome =
        try do
          RustyJson.decode("1", options)
        rescue
          error -> {:raised, error}
        end

      assert elem(outcome, 0) in [:error, :raised], "#{name} is missing (#{reason}) but answered"
    end
  end

  defp chosen(:native), do: [engine: :native]
  defp chosen(host), do: [engine: :wasm, host: host]

  test "compress: :gzip can be read by others, and is the same from every engine" do
    term = Enum.map(1..1000, &%{"id" => &1, "name" => "a name"})
    plain = RustyJson.encode!(term)

    for compress <- [:gzip, {:gzip, 0}, {:gzip, 1}, {:gzip, 9}] do
      assert {:ok, bytes} = Judge.encode(term, compress: compress)
      assert :zlib.gunzip(bytes) == plain
    end

    assert {:ok, bytes} = Judge.encode([RustyJson.Fragment.new(fn _ -> "1" end)], compress: :gzip)
    assert :zlib.gunzip(bytes) == "[1]"
  end

  test "Decoder.parse is decode" do
    assert RustyJson.Decoder.parse("{\"a\":1}", keys: :strings) == {:ok, %{"a" => 1}}
    assert RustyJson.Decoder.parse("[", []) == RustyJson.decode("[")
  end

  test "what the options ask for is done in the core: only a function for keys walks the term again" do
    text = ~s([{"a":[1,2.5,{"b":"c"}],"d":{"e":null}}])
    walk = {RustyJson.Decode.Input, :keys, 2}
    steps = fn options -> length(Trace.calls([walk], fn -> RustyJson.decode!(text, options) end)) end

    for options <- [
          [],
          [keys: :atoms, floats: :decimals],
          [keys: :intern, strings: :copy],
          [keys: :copy, objects: :ordered_objects],
          [duplicate_keys: :error, max_bytes: 1_000, max_nodes: 100]
        ],
        {_engine, engine} <- Judge.engines(),
        do: assert(steps.(options ++ engine) <= 1)

    assert steps.(keys: & &1) > 5
  end

  defp message_of(fun) do
    assert_raise(ArgumentError, fun).message
  end
end
